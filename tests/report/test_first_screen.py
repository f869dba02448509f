"""The first screen: what is best, against chance and baselines; stars; the same number everywhere."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from report_sample import Shape, family_shape, naive_auc, write_study
from residue_sample import write_residue_study
from test_report import Page

from seqkern.core.errors import FileError
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.evaluation.single_task_tests import pair_tests
from seqkern.methods.compared import as_method, read_paired_decisions
from seqkern.methods.study_results import StudyResults
from seqkern.report import build_report
from seqkern.report.drawing import POSITIVE, SOFT
from seqkern.report.markup import text_of
from seqkern.report.page_frame import number, rounded, spread
from seqkern.report.plots import Row, dot_intervals
from seqkern.report.sections.findings import caveats, headline_sentence
from seqkern.report.view import View

ONE = {"svm": {"solver": "csvc", "C": 1}}
TWO = {"weak": {"kernel": "spectrum", "k": 1}, "strong": {"kernel": "spectrum", "k": 3}}


def first_view(folder):
    return View(StudyResults(folder).datasets[0], "d1")


def page_of(folder):
    return Page(build_report(folder, folder / "report").read_text(encoding="utf-8"))


def decide_at_random(folder, seed=1):
    """Replace all decisions of the first data set by noise, with the scores that they give."""
    rng = np.random.default_rng(seed)
    for path in sorted((folder / "evaluate").glob("*/*/*/decisions.tsv")):
        rows = read_tsv(path)
        scores = []
        for place in dict.fromkeys((row["task"], row["split"]) for row in rows):
            part = [row for row in rows if (row["task"], row["split"]) == place]
            values = rng.normal(size=len(part))
            for row, value in zip(part, values, strict=True):
                row |= {"decision": value, "predicted": "donor" if value > 0 else "decoy"}
            auc = naive_auc(np.array([row["label"] == "donor" for row in part]), values)
            scores.append((*place, 1, len(part), auc))
        write_tsv(path, list(rows[0]), rows)
        write_tsv(path.parent / "metrics.tsv", ["task", "split", "n_train", "n_test", "auc"], scores)


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """A study of 24 methods that decide at random."""
    kernels = {f"kernel{i}": {"kernel": "spectrum", "k": 1 + i % 6} for i in range(12)}
    solvers = {name: ONE["svm"] for name in ("a", "b")}
    folder = write_study(tmp_path_factory.mktemp("noise") / "s", {"d": Shape(n=80)}, kernels, solvers)
    decide_at_random(folder)
    return folder


def test_noise_is_said_to_be_no_better_than_chance_first_of_all_and_has_no_stars(noise):
    view = first_view(noise)
    best = view.ranking.score(view.ranking.best[0]).mean
    assert best > 0.55
    page = page_of(noise)
    text = page.text
    found = text.index("Main findings")
    sentence = re.search(r"The best of 24 methods, kernel.*?methods\)\.", text[found:])[0]
    assert "is not significantly better than chance: AUC" in sentence
    assert text.index("not significantly better than chance") < text.index("Caveats")
    low, high = map(float, re.search(r"\[(\S+), (\S+)\]", sentence).groups())
    assert low < 0.5 < high
    assert "No star is given: no method is significantly better than chance." in page.text
    cells = [attributes for attributes in page.all("td") if "best" in (attributes.get("class") or "")]
    assert not cells


def write_baseline(folder, name="composition", skill=0.3, dataset="d"):
    """Write a baseline on the folds of the first method, with decisions a little better than noise."""
    rng = np.random.default_rng(9)
    source = next(iter(sorted((folder / "evaluate" / dataset).glob("*/*/decisions.tsv"))))
    rows, scores = read_tsv(source), []
    for task, split in dict.fromkeys((row["task"], row["split"]) for row in rows):
        part = [row for row in rows if (row["task"], row["split"]) == (task, split)]
        positive = np.array([row["label"] in ("donor", "family") for row in part])
        values = rng.normal(size=len(part)) + skill * positive
        for row, value in zip(part, values, strict=True):
            row |= {"decision": float(value), "predicted": "donor" if value > 0 else "decoy"}
        scores.append((name, task, split, 1, len(part), naive_auc(positive, values)))
    home = folder / "baseline" / dataset
    write_tsv(home / "decisions.tsv", ["baseline", *rows[0]], [{"baseline": name} | row for row in rows])
    write_tsv(home / "metrics.tsv", ["baseline", "task", "split", "n_train", "n_test", "auc"], scores)


def test_a_good_method_is_compared_with_chance_the_baseline_and_the_next_best(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=400, skill=0.4)}, TWO, ONE)
    for path in (folder / "evaluate/d/strong/svm").glob("decisions.tsv"):
        rows = read_tsv(path)
        for row in rows:
            row["decision"] = float(row["decision"]) + 3 * (row["label"] == "donor")
        write_tsv(path, list(rows[0]), rows)
    scores = [("all", str(i), 1, 1, 0.98) for i in range(1, 6)]
    write_tsv(folder / "evaluate/d/strong/svm/metrics.tsv", ["task", "split", "n_train", "n_test", "auc"], scores)
    text = text_of(headline_sentence(first_view(folder)))
    assert "strong with svm has the highest AUC, 0.980 [" in text
    assert (
        "it is significantly better than chance (p\N{NO-BREAK SPACE}<\N{NO-BREAK SPACE}0.001) and the runner-up" in text
    )
    write_baseline(folder)
    text = text_of(headline_sentence(first_view(folder)))
    words = r"Against the best trivial baseline, a linear model of length and composition \(0\.\d+\): "
    assert re.search(words + r"significantly better\.", text)
    assert "length and composition" in page_of(folder).text


def test_a_method_that_length_and_composition_explain_is_said_to_be_so(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=400, skill=0.8)}, {"weak": TWO["weak"]}, ONE)
    write_baseline(folder, skill=0.8)
    text = text_of(headline_sentence(first_view(folder)))
    words = (
        r"significantly better than chance \(.*\)\. Against the best trivial baseline, a linear model of length and "
    )
    assert re.search(words + r"composition \(0\.744\): not significantly better\.", text)
    told = " ".join(text_of(one) for one in caveats(first_view(folder)))
    assert "the best method, weak with svm, is not significantly better than a trivial baseline" in told


def test_a_feature_that_is_the_label_is_a_caveat(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=400, skill=0.8)}, {"weak": TWO["weak"]}, ONE)
    path = folder / "datasets" / "d" / "summary.json"
    leak = "feature '<b>' alone separates the classes: is it the label?"
    assert "is it the label" not in " ".join(caveats(first_view(folder)))
    path.write_text(json.dumps({**json.loads(path.read_text()), "leaks": [leak]}))
    assert leak in " ".join(text_of(one) for one in caveats(first_view(folder)))


def test_a_baseline_that_is_better_is_said_to_be_so(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=400, skill=0.8)}, {"weak": TWO["weak"]}, ONE)
    write_baseline(folder, name="pwm", skill=3)
    text = text_of(headline_sentence(first_view(folder)))
    words = (
        r"−0\.2\d\d AUC over the best reference method, a position weight matrix \(0\.97\d\): significantly worse \("
    )
    assert re.search(words + r"95% interval −0\.\d+ to −0\.\d+\)\.", text)
    told = " ".join(text_of(one) for one in caveats(first_view(folder)))
    assert "a position weight matrix, a reference method, is significantly better than the best method" in told
    page = page_of(folder).text
    assert "1 baseline" in page
    assert "Adds up the log odds of each residue or base at its position" in page


def test_other_baselines_do_not_weaken_the_test_against_the_best(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=400, skill=1.2)}, {"weak": TWO["weak"]}, ONE)
    write_baseline(folder, name="kmers", skill=0.8)
    alone = first_view(folder).headline.against_baselines[False]
    place = folder / "baseline/d"
    for file in ("decisions.tsv", "metrics.tsv"):
        rows = read_tsv(place / file)
        worse = [row | {"baseline": name} for name in ("nearest", "alignment", "pwm") for row in rows]
        write_tsv(place / file, list(rows[0]), rows + worse)
    together = first_view(folder).headline.against_baselines[False]
    assert (alone.name, together.name) == ("kmers", "kmers")
    assert list(alone.signs.values()) == list(together.signs.values()) == [1]


def test_gains_over_reference_methods_and_trivial_baselines_are_apart(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=400, skill=0.8)}, TWO, ONE)
    write_baseline(folder, name="composition", skill=0.2)
    place = folder / "baseline/d"
    trivial = {file: read_tsv(place / file) for file in ("decisions.tsv", "metrics.tsv")}
    write_baseline(folder, name="kmers", skill=0.1)
    for file, rows in trivial.items():
        write_tsv(place / file, list(rows[0]), rows + read_tsv(place / file))
    view = first_view(folder)
    assert {kind: one.name for kind, one in view.headline.against_baselines.items()} == {
        False: "kmers",
        True: "composition",
    }
    found, best = view.headline.against_baselines[False], view.ranking.best[0]
    score = view.headline.baseline_entries["kmers"].score
    assert found.gains[best].score == pytest.approx(view.ranking.score(best).mean - score)
    (pair,) = [one for one in naive_gain_tests(view, "kmers") if one.second == best]
    wider = 2.2414 / 1.95996  # two methods: 0.975 becomes 0.9875
    assert found.gains[best].high - found.gains[best].score == pytest.approx(
        wider * (pair.difference - pair.low), rel=1e-4
    )
    text = text_of(headline_sentence(view))
    assert text.index("over the best reference method, a linear model of 6-mers") < text.index("best trivial baseline")
    assert "simultaneous 95% interval +0." in text


def test_gains_over_families_have_the_interval_of_their_mean(tmp_path):
    shape = family_shape(tuple(f"f{i}" for i in range(12)))
    shape.skill = 2.0
    folder = write_study(tmp_path / "s", {"d": shape}, TWO, ONE)
    write_baseline(folder, name="alignment", skill=0.5)
    view = first_view(folder)
    found, best = view.headline.against_baselines[False], view.ranking.best[0]
    own, other = (np.array(one, dtype=float) for one in (view.headline._task_values()[best], baseline_aucs(folder)))
    mean, low, high = (getattr(found.gains[best], name) for name in ("score", "low", "high"))
    assert mean == pytest.approx((own - other).mean())
    half = 2.5931 * (own - other).std(ddof=1) / math.sqrt(12)  # Student's 0.9875 quantile for 11 degrees of freedom
    assert (low, high) == pytest.approx((mean - half, mean + half), rel=1e-3)
    ahead = int((own > other).sum())
    assert f"ahead in {ahead} of 12 families (simultaneous 95% interval of the mean +" in text_of(
        headline_sentence(view)
    )


def baseline_aucs(folder):
    """Return the AUCs of a baseline in the order of the tasks."""
    return [float(row["auc"]) for row in read_tsv(folder / "baseline/d/metrics.tsv")]


def naive_gain_tests(view, name):
    """Return the tests of one baseline with each method, from the decisions."""
    paired = read_paired_decisions(view.dataset, baselines=view.headline.baselines)
    own = {m: p for m, p in paired.predicted.items() if m.solver or m.kernel == name}
    return pair_tests(replace(paired, predicted=own), "auc", control=as_method(name))


@pytest.mark.parametrize("families", [3, 6, 12])
def test_families_are_tested_whatever_their_number(tmp_path, families):
    shape = family_shape(tuple(f"f{i}" for i in range(families)))
    shape.skill = 2.0
    folder = write_study(tmp_path / "s", {"d": shape}, TWO, ONE)
    assert "significantly better than chance (p" in text_of(headline_sentence(first_view(folder)))


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Shape("multiclass", classes=("x", "y", "z"), n=150, skill=2.0), "has the highest AUC"),
        (Shape("real", n=150, skill=3.0), "has the lowest RMSE"),
    ],
)
def test_other_labels_have_their_own_test(tmp_path, shape, words):
    folder = write_study(tmp_path / "s", {"d": shape}, TWO, ONE)
    text = text_of(headline_sentence(first_view(folder)))
    assert words in text
    assert "significantly better than chance" in text


def test_samples_tested_alone_have_no_test_against_chance(tmp_path):
    shape = Shape(splits=tuple(map(str, range(1, 25))), n=24)
    folder = write_study(tmp_path / "s", {"d": shape}, {"weak": TWO["weak"]}, ONE)
    rows = [("all", str(i + 1), f"u{i}", ("decoy", "donor")[i % 2], float(i), "donor") for i in range(24)]
    place = folder / "evaluate/d/weak/svm"
    write_tsv(place / "decisions.tsv", ["task", "split", "id", "label", "decision", "predicted"], rows)
    scores = [("all", str(i + 1), 23, 1, None, float(i % 2)) for i in range(24)]
    write_tsv(place / "metrics.tsv", ["task", "split", "n_train", "n_test", "auc", "accuracy"], scores)
    assert "chance" not in text_of(headline_sentence(first_view(folder)))
    assert "No test against chance:" in page_of(folder).text


def test_a_method_that_predicts_one_class_has_no_star_for_classes(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=300, skill=2.0)}, TWO, ONE)
    for name, predicted in (("weak", "decoy"), ("strong", None)):
        place = folder / "evaluate/d" / name / "svm"
        rows = read_tsv(place / "decisions.tsv")
        rows = [row | ({"predicted": predicted} if predicted else {}) for row in rows]
        write_tsv(place / "decisions.tsv", list(rows[0]), rows)
        specificity = 1.0 if predicted else 0.9
        metrics = [row | {"specificity": specificity} for row in read_tsv(place / "metrics.tsv")]
        write_tsv(place / "metrics.tsv", list(metrics[0]), metrics)
    headline = first_view(folder).headline
    may = {method.kernel: headline.may_be_best(method, "specificity") for method in headline.methods}
    assert may == {"weak": False, "strong": True}
    html = build_report(folder, folder / "report").read_text(encoding="utf-8")
    assert not re.search(r"★</span> <strong>1\.000", html)
    assert re.search(r"★</span> <strong>0\.900", html)
    assert "among those that predict more than one class in most test sets" in html


@pytest.mark.parametrize(("weight", "advised"), [({}, True), ({"class_weight": "balanced"}, False)])
def test_what_is_configured_is_not_advised(tmp_path, weight, advised):
    solver = {"svm": {"solver": "csvc", "C": 1, **weight}}
    folder = write_study(tmp_path / "s", {"d": Shape(n=300, skill=2.0)}, {"weak": TWO["weak"]}, solver)
    place = folder / "evaluate/d/weak/svm/metrics.tsv"
    rows = [row | {"sensitivity": 0.01, "specificity": 1.0} for row in read_tsv(place)]
    write_tsv(place, list(rows[0]), rows)
    told = " ".join(text_of(sentence) for sentence in caveats(first_view(folder)))
    assert "balanced accuracy" in told
    assert ("class_weight: balanced" in told) == advised


@pytest.mark.parametrize("value", [0.8155, 0.9385, 0.0125, 1.0005])
def test_one_value_has_one_rounding(value):
    near = [value, np.nextafter(value, 0), np.nextafter(value, 2), sum([value / 7] * 7)]
    assert len({number(one) for one in near}) == 1
    assert len({spread(one, one) for one in near}) == 1
    assert len({rounded(one) for one in near}) == 1


def test_the_picture_draws_every_row_and_line():
    rows = [Row("a" * 60, 0.9, 0.8, 0.95, "better", True), Row("b<", 0.5, np.nan, np.nan, "not better")]
    rows.append(Row("length", 0.6, 0.4, 0.7, "baseline"))
    svg = dot_intervals(rows, "AUC", {0.5: "chance"}, "label", ends=(0.0, 1.0))
    marks = [svg.count(f'fill="{fill}" stroke="{edge}"') for fill, edge in ((POSITIVE, POSITIVE), ("#fff", POSITIVE))]
    assert (marks, svg.count(f'fill="#fff" stroke="{SOFT}"'), svg.count("stroke-dasharray")) == ([1, 1], 1, 1)
    assert "b&lt;" in svg
    places = [float(x) for x in re.findall(r'(?: x="|[MLH])([-.0-9]+)', svg)]
    assert min(places) >= 0
    assert max(places) <= 560


def test_a_single_method_has_no_link_to_tests(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=400, skill=2.0)}, {"weak": TWO["weak"]}, ONE)
    page = page_of(folder)
    assert "weak with svm has an AUC of" in page.text
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert {one["href"][1:] for one in page.all("a") if one["href"].startswith("#")} <= ids


def test_a_baseline_of_other_folds_is_named(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape()}, TWO, ONE)
    write_baseline(folder)
    path = folder / "baseline/d/decisions.tsv"
    rows = [row | {"split": str(1 + int(row["split"]) % 5)} for row in read_tsv(path)]
    write_tsv(path, list(rows[0]), rows)
    with pytest.raises(FileError, match="run seqkern baseline again"):
        page_of(folder)


def test_residues_are_compared_with_the_majority_class_by_chain(tmp_path):
    folder = write_residue_study(tmp_path / "s", chains=24)
    source = folder / "evaluate/chains/window/svm"
    for file in ("decisions.tsv", "metrics.tsv"):
        rows = read_tsv(source / file)
        common = "H"
        if file == "decisions.tsv":
            rows = [row | {"predicted": common} for row in rows]
        else:
            rows = [row | {"q3": "0.3", "accuracy": "0.3"} for row in rows]
        rows = [{"baseline": "majority"} | row for row in rows]
        write_tsv(folder / "baseline/chains" / file, list(rows[0]), rows)
    text = text_of(headline_sentence(first_view(folder)))
    assert "has the highest Q3" in text
    assert "significantly better than the majority class (p" in text
    assert "Significantly better than the majority class" in page_of(folder).text


def change(folder, name, edit):
    """Edit every row of a table of each method."""
    for path in sorted((folder / "evaluate").glob(f"*/*/*/{name}")):
        rows = [edit(row, path) for row in read_tsv(path)]
        write_tsv(path, list(rows[0]), rows)


def test_a_method_below_chance_is_called_worse(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(skill=2)}, TWO, ONE)
    change(folder, "decisions.tsv", lambda row, path: row | {"decision": -float(row["decision"])})
    change(folder, "metrics.tsv", lambda row, path: row | {"auc": 1 - float(row["auc"])})
    said = text_of(headline_sentence(first_view(folder)))
    assert "is significantly worse than chance: AUC 0.0" in said
    assert "not significantly better" not in said


def test_the_best_methods_of_a_tie_are_all_named(tmp_path):
    solvers = {"a": ONE["svm"], "b": ONE["svm"]}
    folder = write_study(tmp_path / "s", {"d": Shape(skill=0, share=0.5)}, {"one": TWO["weak"]}, solvers)
    for name in ("decisions.tsv", "metrics.tsv"):
        home = folder / "evaluate" / "d" / "one"
        (home / "b" / name).write_bytes((home / "a" / name).read_bytes())
    said = text_of(headline_sentence(first_view(folder)))
    assert said.startswith("The best of 2 methods, one with a and one with b, are not significantly better")


def test_a_picture_without_marks_has_no_empty_caption(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape()}, TWO, ONE)
    for path in (folder / "evaluate").glob("*/*/*/decisions.tsv"):
        path.unlink()
    assert "<figcaption></figcaption>" not in build_report(folder, folder / "report").read_text(encoding="utf-8")


@pytest.mark.parametrize(("kind", "title"), [("real", "Predicted and true values"), ("multiclass", "Confusion matrix")])
def test_several_tasks_that_are_not_binary_have_a_page(tmp_path, kind, title):
    shape = Shape(kind, tasks=("t1", "t2"), splits=("1",), classes=("a", "b", "c", "d"))
    path = build_report(write_study(tmp_path / "s", {"d": shape}, TWO, ONE), tmp_path / "report")
    assert title in path.read_text(encoding="utf-8")


def test_families_that_the_folds_kept_together_count_once(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=200, share=0.5)}, {"one": TWO["weak"]}, ONE)
    path = folder / "evaluate" / "d" / "one" / "svm" / "decisions.tsv"
    rng, rows, groups = np.random.default_rng(8), read_tsv(path), {}
    for place in dict.fromkeys((row["task"], row["split"]) for row in rows):
        part = [row for row in rows if (row["task"], row["split"]) == place]
        for label in ("decoy", "donor"):  # in each fold, of each class three families
            level = rng.normal(size=3) + 0.7 * (label == "donor")
            for i, row in enumerate(row for row in part if row["label"] == label):
                groups[row["id"]] = f"{place}{label}{i % 3}"
                row["decision"] = level[i % 3] + 0.1 * rng.normal()
    write_tsv(path, list(rows[0]), rows)
    before = first_view(folder).headline.entries
    number_of = {name: i for i, name in enumerate(dict.fromkeys(groups.values()))}
    write_tsv(folder / "folds" / "d" / "all.tsv", ["id", "group"], [(i, number_of[g]) for i, g in groups.items()])
    after = first_view(folder).headline.entries
    (one,), (other,) = before.values(), after.values()
    assert one.p <= 0.05 < other.p
    assert other.low < one.low
    assert one.high < other.high


def test_a_caveat_says_that_tests_between_methods_ignore_groups(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=200, share=0.5)}, TWO, ONE)
    assert "independent" not in " ".join(caveats(first_view(folder)))
    rows = [(f"d_{i}", i // 4) for i in range(200)]
    write_tsv(folder / "folds" / "d" / "all.tsv", ["id", "group"], rows)
    found = text_of(caveats(first_view(folder))[-1])
    assert found.startswith("d: the folds keep related sequences together, but the tests between methods treat")


def test_the_first_screen_says_what_next_and_the_table_for_multiqc_has_every_method(tmp_path):
    shape = Shape(n=200, skill=2, entry={"fasta": {"decoy": "other.fa", "donor": "sites.fa"}})
    folder = write_study(tmp_path / "s", {"d": shape}, TWO, {"svm": {"solver": "csvc", "C": [1, 10]}})
    page = page_of(folder).text
    assert "seqkern train sites.fa other.fa \\ --kernel" in page
    options = "--kernel spectrum:k=3 \\ --solver 'csvc:C=[1,10]' --search"
    kernel = first_view(folder).ranking.best[0].kernel
    assert options.replace("k=3", f"k={TWO[kernel]['k']}") in page
    assert "seqkern explain d.seqkern new.fa -o explained" in page
    assert "Positive class: donor." in page
    head, *rows = (folder / "report/seqkern_mqc.tsv").read_text().partition("Sample")[2].splitlines()
    means = {f"d, {r['kernel']} with {r['solver']}": r["auc_mean"] for r in read_tsv(folder / "report/summary.tsv")}
    assert head == "\tAUC\tAUC SD"
    assert {row.split("\t")[0]: row.split("\t")[1] for row in rows} == means
