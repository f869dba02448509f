"""The report: numbers against naive ones; a page that is well-formed, safe, complete and reproducible."""

import html
import itertools
import json
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from report_sample import HOSTILE, Shape, demo, family_shape, naive_auc, write_study

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, FileError
from seqkern.core.file_kinds import GRAM
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.methods.study_results import Method, Ranking, StudyResults, unit_scores
from seqkern.report import build_report
from seqkern.report.curves import area, at_least, mean_curve, roc_points
from seqkern.report.markup import Markup, escape, tag, text_of
from seqkern.report.outcomes import hard_cases, outcome
from seqkern.report.page_frame import number
from seqkern.report.sections.curves_and_errors import hard_section
from seqkern.report.sections.findings import caveats, headline_sentence
from seqkern.report.sections.fitting import edge_choices
from seqkern.report.view import View

SMALL = {"spectrum": {"kernel": "spectrum", "k": 3}}
ONE = {"svm": {"solver": "csvc", "C": 1}}


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory):
    """A study like the demo: two data sets, one failed combination, leaks."""
    shapes = demo()
    shapes["donor"].leaks = (
        ("all", "1", "identical", "donor_1", "donor_7", 1.0),
        ("all", "2", "contained", "donor_2", "donor_8", 1.0),
        ("all", "", "conflict", "donor_3", "donor_9", 1.0),
    )
    folder = tmp_path_factory.mktemp("demo") / "demo"
    return write_study(folder, shapes, study="demo", skip={("donor", "mismatch", "psvm")})


@pytest.fixture(scope="module")
def demo_page(demo_folder):
    return build_report(demo_folder, demo_folder / "report").read_text(encoding="utf-8")


class Page(HTMLParser):
    """What a page is made of; raises where tags do not match."""

    VOID = frozenset({"meta", "br", "img", "hr", "input", "link"})

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, name, attributes):
        self.tags.append((name, dict(attributes)))
        if name not in self.VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.tags.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.words.append(data)

    def all(self, name):
        return [attributes for tag_name, attributes in self.tags if tag_name == name]

    @property
    def text(self):
        return " ".join("".join(self.words).split())


# ---- numbers -----------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=30))
def test_the_area_under_the_roc_corners_is_the_share_of_ordered_pairs(items):
    positive, decision = (np.array(column) for column in zip(*items, strict=True))
    false, true = roc_points(positive, decision.astype(float))
    expected = naive_auc(positive, decision)
    if expected is None:
        assert false is None
    else:
        assert area(false, true) == pytest.approx(expected)
        assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)


def test_mean_curve_averages_the_true_positive_rates():
    perfect = np.array([0.0, 0, 1]), np.array([0.0, 1, 1])
    guessing = np.array([0.0, 1]), np.array([0.0, 1])
    x, y = mean_curve([perfect, guessing])
    assert np.allclose(y[1:], (1 + x[1:]) / 2)
    assert (x[0], y[0]) == (0, 0)


@given(st.lists(st.floats(0, 1), max_size=20), st.floats(0, 1))
def test_at_least_counts(values, x):
    places, counts = at_least([*values, np.nan])
    steps = [count for place, count in zip(places[::2], counts[::2], strict=True) if place <= x]
    expected = sum(value > x for value in values)
    assert (steps[-1] if steps else len(values)) == expected


# ---- tables ------------------------------------------------------------------------------------------------


def test_summary_holds_naive_means_and_deviations(demo_folder, demo_page):
    rows = {(r["dataset"], r["kernel"], r["solver"]): r for r in read_tsv(demo_folder / "report/summary.tsv")}
    for dataset, count in (("donor", 5), ("superfamily", 6)):
        metrics = read_tsv(demo_folder / "evaluate" / dataset / "spectrum5/svm/metrics.tsv")
        values = [float(row["auc"]) for row in metrics]
        row = rows[dataset, "spectrum5", "svm"]
        assert int(row["values"]) == len(values) == count
        assert float(row["auc_mean"]) == pytest.approx(sum(values) / count)
        assert float(row["auc_sd"]) == pytest.approx(np.std(values, ddof=1))
    missing = rows["donor", "mismatch", "psvm"]
    assert (missing["values"], missing["auc_mean"], missing["auc_sd"]) == ("0", "", "")


def test_families_and_metrics_tables_hold_every_row(demo_folder, demo_page):
    families = read_tsv(demo_folder / "report/families.tsv")
    assert len(families) == 5 + 6 * 6
    donor = next(row for row in families if row["dataset"] == "donor")
    rows = read_tsv(demo_folder / "evaluate/donor" / donor["kernel"] / donor["solver"] / "metrics.tsv")
    assert float(donor["auc"]) == pytest.approx(np.mean([float(row["auc"]) for row in rows]))
    metrics = read_tsv(demo_folder / "report/metrics.tsv")
    assert len(metrics) == 5 * 5 + 6 * 6
    one = next(
        r for r in metrics if (r["dataset"], r["kernel"], r["solver"], r["split"]) == ("donor", "mismatch", "svm", "3")
    )
    source = read_tsv(demo_folder / "evaluate/donor/mismatch/svm/metrics.tsv")[2]
    assert {key: one[key] for key in source} == source


def test_tasks_with_several_splits_are_averaged_first(tmp_path):
    shape = Shape(tasks=("a", "b"), splits=("1", "2"))
    dataset = StudyResults(write_study(tmp_path / "s", {"d": shape}, SMALL, ONE)).datasets[0]
    units = unit_scores(dataset)
    metrics = dataset.metrics
    assert list(units["unit"]) == ["a", "b"]
    assert units["auc"][0] == pytest.approx(metrics[metrics["task"] == "a"]["auc"].mean())


def _with_aucs(tmp_path, table):
    """Return the data set of a study whose methods have these AUCs: {kernel: [values]}."""
    kernels = {name: {"kernel": "spectrum", "k": 3} for name in table}
    folder = write_study(tmp_path / "s", {"d": Shape()}, kernels, ONE)
    for name, values in table.items():
        rows = [("all", str(i), 1, 1, value) for i, value in enumerate(values, start=1)]
        path = folder / "evaluate/d" / name / "svm/metrics.tsv"
        write_tsv(path, ["task", "split", "n_train", "n_test", "auc"], rows)
    return StudyResults(folder).datasets[0]


def test_ranking_marks_the_best_and_those_within_one_deviation(tmp_path):
    table = {"a": [0.7] * 5, "b": [0.8, 0.9, 0.8, 0.9, 0.85], "c": [0.82] * 5}
    ranking = Ranking(_with_aucs(tmp_path, table))
    assert [method.kernel for method in ranking.order] == ["b", "c", "a"]
    assert [method.kernel for method in ranking.best] == ["b"]
    assert [method.kernel for method in ranking.within] == ["c"]


def test_equal_digits_share_the_first_place(tmp_path):
    dataset = _with_aucs(tmp_path, {"a": [0.9001] * 5, "b": [0.9004] * 5})
    assert len(Ranking(dataset).best) == 2
    assert "share the highest AUC, 0.900" in text_of(headline_sentence(View(dataset, "d1")))


def test_a_mean_over_fewer_folds_is_not_ranked_first(tmp_path):
    dataset = _with_aucs(tmp_path, {"a": [0.99, 0.99, None, None, None], "b": [0.8, 0.81, 0.8, 0.81, 0.8]})
    view = View(dataset, "d1")
    assert [method.kernel for method in view.ranking.best] == ["b"]
    assert "b with svm has the highest AUC" in text_of(headline_sentence(view))
    told = " ".join(text_of(sentence) for sentence in caveats(view))
    assert "fewer than 5 folds for a with svm; combinations with fewer scores than others are not ranked first" in told


# ---- outcomes ----------------------------------------------------------------------------------------------


def test_the_only_test_part_is_no_fold(tmp_path):
    leaks = (("all", "1", "identical", "d_1", "d_7", 1.0),)
    folder = write_study(tmp_path / "s", {"d": Shape(splits=("1",), n=20, leaks=leaks)}, SMALL, ONE)
    view = View(StudyResults(folder).datasets[0], "d1")
    told = [text_of(sentence) for sentence in caveats(view)]
    assert any("the test set has fewer than 10 positives" in sentence for sentence in told)
    assert any("scores may be too optimistic" in sentence for sentence in told)
    assert not any("fold" in sentence for sentence in told)


def test_confusion_counts_every_decision(tmp_path):
    shape = Shape("multiclass", classes=("x", "y", "z"), n=90)
    folder = write_study(tmp_path / "s", {"d": shape}, SMALL, ONE)
    dataset = StudyResults(folder).datasets[0]
    method = Method("spectrum", "svm")
    table = dataset.decisions(method)
    result = outcome(dataset, table)
    rows = read_tsv(folder / "evaluate/d/spectrum/svm/decisions.tsv")
    naive = [[sum((r["label"], r["predicted"]) == (a, b) for r in rows) for b in "xyz"] for a in "xyz"]
    assert result.confusion.tolist() == naive
    assert [name for name, _ in result.curves] == ["x", "y", "z"]
    hard = {name for _, name, *_ in hard_cases(dataset, table)}
    assert hard
    assert all(row["label"] != row["predicted"] for row in rows if row["id"] in hard)


def test_hard_cases_are_ranked_by_the_share_of_the_other_class(demo_folder):
    dataset = StudyResults(demo_folder).datasets[0]
    table = dataset.decisions(Method("spectrum3", "svm"))
    cases = hard_cases(dataset, table, count=3)
    unit, name, label, value, share = cases[0]
    part = table[table["split"] == unit]
    others = part[part["label"] != label]["decision"]
    assert label == "donor"
    assert share == pytest.approx(np.mean([other >= value for other in others]))
    assert name in set(part["id"])
    assert [case[2] for case in cases] == ["donor"] * 3 + ["decoy"] * 3


def test_single_sequence_test_parts_are_pooled(tmp_path):
    shape = Shape(splits=tuple(map(str, range(1, 25))), n=24)
    folder = write_study(tmp_path / "s", {"d": shape}, SMALL, ONE)
    rows = [("all", str(i + 1), f"u{i}", ("decoy", "donor")[i % 2], float(i), "donor") for i in range(24)]
    path = folder / "evaluate/d/spectrum/svm"
    write_tsv(path / "decisions.tsv", ["task", "split", "id", "label", "decision", "predicted"], rows)
    scores = [("all", str(i + 1), 23, 1, None, float(i % 2)) for i in range(24)]
    write_tsv(path / "metrics.tsv", ["task", "split", "n_train", "n_test", "auc", "accuracy"], scores)
    dataset = StudyResults(folder).datasets[0]
    result = outcome(dataset, dataset.decisions(Method("spectrum", "svm")))
    assert result.pooled
    assert Ranking(dataset).metric == "accuracy"
    page = Page(build_report(folder, folder / "report").read_text(encoding="utf-8"))
    assert "pools the test sets" in page.text
    assert "AUC, pooled 0.542" in page.text


def test_edge_choices_need_three_numbers_and_a_majority(tmp_path):
    solvers = {"svm": {"solver": "csvc", "C": [1, 2, 3], "w": [1, 2], "mode": ["a", "b", "c"]}}
    folder = write_study(tmp_path / "s", {"d": Shape()}, SMALL, solvers)
    rows = [("all", str(i), "C", value, 0.9) for i, value in enumerate([3, 3, 3, 1, 2])]
    rows += [("all", str(i), "C", 1, 1.0) for i in range(9)]
    rows += [("all", str(i), name, value, 0.9) for i in range(4) for name, value in (("w", 2), ("mode", "a"))]
    path = folder / "evaluate/d/spectrum/svm/choices.tsv"
    write_tsv(path, ["task", "split", "parameter", "value", "inner_score"], rows)
    assert edge_choices(StudyResults(folder).datasets[0]) == {("spectrum", "svm", "C"): "largest"}


@pytest.mark.parametrize(
    ("inner", "hint"),
    [({"metric": "span"}, ", the negative span estimate: nearer 0 is better; not"), ({}, "best score; not")],
)
def test_the_sign_of_the_inner_score_is_told(tmp_path, inner, hint):
    solvers = {"svm": {"solver": "csvc", "C": [1, 2, 3]}}
    folder = write_study(tmp_path / "s", {"d": Shape()}, SMALL, solvers)
    with (folder / "config.yaml").open("a", encoding="utf-8") as file:
        file.write(f"inner: {inner}\n")
    rows = [("all", str(i), "C", 2, -0.109) for i in range(4)]
    path = folder / "evaluate/d/spectrum/svm/choices.tsv"
    write_tsv(path, ["task", "split", "parameter", "value", "inner_score"], rows)
    html = build_report(folder, folder / "report").read_text(encoding="utf-8")
    assert hint in html
    assert ("The inner score is its negative: nearer 0 is better." in Page(html).text) == bool(inner)


def test_the_end_of_the_domain_is_not_an_edge(tmp_path):
    solvers = {"glvq": {"solver": "relational_glvq", "n_prototypes": [1, 2, 3]}}
    folder = write_study(tmp_path / "s", {"d": Shape()}, SMALL, solvers)
    path = folder / "evaluate/d/spectrum/glvq/choices.tsv"
    for value, found in ((1, {}), (3, {("spectrum", "glvq", "n_prototypes"): "largest"})):
        rows = [("all", str(i), "n_prototypes", value, 0.9) for i in range(4)]
        write_tsv(path, ["task", "split", "parameter", "value", "inner_score"], rows)
        assert edge_choices(StudyResults(folder).datasets[0]) == found


def test_a_kernel_chosen_by_the_inner_loop_is_told(tmp_path):
    kernels = {f"s{k}": {"kernel": "spectrum", "k": k} for k in (2, 3, 4)} | {"best": {"choose": ["s2", "s3", "s4"]}}
    folder = write_study(tmp_path / "s", {"d": Shape()}, kernels, ONE)
    text = Page(build_report(folder, folder / "report").read_text(encoding="utf-8")).text
    assert "one of {s2, s3, s4}" in text
    chosen = [row for row in read_tsv(folder / "evaluate/d/best/svm/choices.tsv") if row["parameter"] == "kernel"]
    counted = {name: sum(row["value"] == name for row in chosen) for name in ("s2", "s3", "s4")}
    assert sum(counted.values()) == 5
    for name, count in counted.items():
        assert (f"{name} × {count}" in text) == (count > 0)


def test_a_good_ranking_with_one_predicted_class_is_a_caveat(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape()}, SMALL, ONE)
    columns = ["task", "split", "n_train", "n_test", "auc", "sensitivity", "specificity"]
    path = folder / "evaluate/d/spectrum/svm/metrics.tsv"
    for sensitivity, expected in ((0.0, True), (0.5, False)):
        write_tsv(path, columns, [("all", "1", 9, 9, 0.9, sensitivity, 1.0)])
        view = View(StudyResults(folder).datasets[0], "d1")
        found = any(
            "predicted the same class for nearly all of them" in text_of(sentence) for sentence in caveats(view)
        )
        assert found is expected


@pytest.mark.parametrize(
    ("auc", "sensitivity", "specificity", "told"),
    [(1.0, 0.27, 1.0, True), (0.9, 0.95, 0.5, True), (1.0, 0.7, 1.0, False), (0.7, 0.27, 1.0, False)],
)
def test_a_high_auc_with_uneven_classes_is_a_caveat_with_a_remedy(tmp_path, auc, sensitivity, specificity, told):
    solvers = {"svm": {"solver": "csvc", "C": 1}, "psvm": {"solver": "psvc"}}
    folder = write_study(tmp_path / "s", {"d": Shape()}, SMALL, solvers)
    columns = ["task", "split", "n_train", "n_test", "auc", "sensitivity", "specificity"]
    for solver, values in (("svm", (0.9, 0.9, 0.9)), ("psvm", (auc, sensitivity, specificity))):
        path = folder / "evaluate/d/spectrum" / solver / "metrics.tsv"
        write_tsv(path, columns, [("all", "1", 9, 9, *values)])
    found = [text_of(sentence) for sentence in caveats(View(StudyResults(folder).datasets[0], "d1"))]
    found = [sentence for sentence in found if "one class is recognised far better" in sentence]
    assert len(found) == told
    for sentence in found:
        assert sentence.startswith("d: spectrum with psvm: the AUC is at least 0.8")
        assert f"(sensitivity {sensitivity:.3f}, specificity {specificity:.3f})" in sentence
        assert "metric: balanced_accuracy" in sentence
        assert "The P-SVM adds the mean of the labels" in sentence
        assert "class_weight" not in sentence


def test_flawless_predictions_are_said_of_one_method(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape()}, SMALL, {"svm": ONE["svm"], "other": ONE["svm"]})
    for solver in ("svm", "other"):
        place = folder / "evaluate/d/spectrum" / solver
        rows = read_tsv(place / "decisions.tsv")
        if solver == "other":
            for row in rows:
                row["decision"] = float(row["label"] == "donor")
            write_tsv(place / "decisions.tsv", list(rows[0]), rows)
        auc = 1.0 if solver == "other" else 0.53
        columns = ["task", "split", "n_train", "n_test", "auc"]
        write_tsv(place / "metrics.tsv", columns, [("all", "1", 9, 9, auc)])
    text = text_of(hard_section(View(StudyResults(folder).datasets[0], "d1")))
    assert "spectrum with other ranked no test sequence wrongly" in text
    assert "No test sequence" not in text


# ---- the page ----------------------------------------------------------------------------------------------


def test_page_is_well_formed_and_needs_nothing_from_outside(demo_folder, demo_page):
    page = Page(demo_page)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [attributes["href"] for attributes in page.all("a")]
    inside = [target for target in targets if target.startswith("#")]
    assert all(target[1:] in ids for target in inside)
    assert all(target.startswith(("#", "https://example.org/")) for target in targets)
    assert len(inside) < len(targets)
    files = re.findall(r"<li><code>([\w.]+)</code>", demo_page)
    assert {"summary.tsv", "methods.txt", "seqkern_mqc.tsv", "costs.tsv"} < set(files)
    assert all((demo_folder / "report" / name).is_file() for name in files)
    assert {attributes["type"] for attributes in page.all("script")} == {"module", "application/json"}
    assert not any("src" in attributes for attributes in page.all("script"))
    assert not page.all("link") + page.all("iframe")
    for _, attributes in page.tags:
        for key, value in attributes.items():
            if key in ("src", "xlink:href"):
                assert value.startswith(("#", "data:image/png;base64,"))
    assert not re.search(r"url\((?!#)|@import", demo_page)


def test_page_can_be_read_by_everyone(demo_page):
    page = Page(demo_page)
    levels = [int(name[1]) for name, _ in page.tags if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert len(page.all("caption")) == len(page.all("table")) > 10
    assert all(a.get("role") == "img" and a.get("aria-label") for a in page.all("svg"))
    assert all("scope" in attributes for attributes in page.all("th"))
    assert page.all("html")[0]["lang"] == "en"
    assert any(attributes.get("name") == "viewport" for attributes in page.all("meta"))


def test_page_says_what_was_found(demo_folder, demo_page):
    text = Page(demo_page).text
    ranking = Ranking(StudyResults(demo_folder).datasets[1])
    best = ranking.best[0]
    assert f"{best.kernel} with {best.solver} has the highest AUC, {ranking.score(best).mean:.3f}" in text
    assert "1 combination of 6 gave no result and is shown as missing: mismatch with psvm." in text
    assert "1 test sequence is identical to a training sequence (in 1 fold)" in text
    assert "1 sequence occurs with two different labels." in text
    assert "fewer than 10 positives" in text
    assert "k = 5, m = 1" in text


@pytest.mark.drawn
def test_two_runs_give_the_same_bytes_and_other_costs_their_own_files(demo_folder, demo_page, tmp_path):
    copy = shutil.copytree(demo_folder, tmp_path / "demo")
    for path in copy.rglob("cost.json"):
        path.write_text(path.read_text().replace("0.01", "7.77").replace("0.5", "8.88"), encoding="utf-8")
    build_report(copy, copy / "report")
    first, second = demo_folder / "report", copy / "report"
    names = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert {path.suffix for path in names} == {".bib", ".html", ".pdf", ".svg", ".tsv", ".txt", ".yaml"}
    other = [str(name) for name in names if (second / name).read_bytes() != (first / name).read_bytes()]
    assert other == ["costs.tsv"]
    rows = read_tsv(second / "costs.tsv")
    assert {row["cpu_seconds"] for row in rows if row["stage"] == "gram"} == {"8.88"}


def test_the_same_costs_give_the_same_bytes(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape(n=40)}, SMALL, ONE)
    first, second = (build_report(folder, folder / name).parent for name in ("report", "again"))
    assert (second / "costs.tsv").read_bytes() == (first / "costs.tsv").read_bytes()


@pytest.mark.drawn
@pytest.mark.parametrize("kind", ["binary", "multiclass", "real"])
def test_hostile_names_are_only_text(tmp_path, kind):
    classes = {"binary": HOSTILE[:2], "multiclass": HOSTILE}.get(kind, ())
    leaks = tuple(("all", "1", "identical", name, HOSTILE[0], 1.0) for name in HOSTILE)
    shape = Shape(kind, classes=tuple(classes), ids=tuple(HOSTILE), n=120, leaks=leaks)
    shape.entry = {"title": HOSTILE[0], "fasta": HOSTILE[1]}
    folder = write_study(tmp_path / "s", {"d": shape}, SMALL, ONE, study=HOSTILE[0])
    page = build_report(folder, folder / "report").read_text(encoding="utf-8")
    parsed = Page(page)
    assert "<script>" not in page
    assert page.count("<script ") == page.count("</script>")
    assert page.count("</style>") == 1
    assert "\x07" not in page
    assert html.escape(HOSTILE[0]) in page
    for name in HOSTILE[1:-1]:
        assert name in parsed.text


@pytest.mark.nightly
@pytest.mark.drawn
def test_many_families_stay_small(tmp_path):
    families = tuple(f"{a}.{b}" for a in range(1, 7) for b in range(1, 11))
    kernels = {f"spectrum{k}": {"kernel": "spectrum", "k": k} for k in range(1, 4)}
    folder = write_study(tmp_path / "s", {"edd": family_shape(families, n=320, share=0.2)}, kernels)
    path = build_report(folder, folder / "report")
    page = Page(path.read_text(encoding="utf-8"))
    assert path.stat().st_size < 1_500_000
    assert "over 60 families" in page.text
    assert "Number of families with ROC50 ≥ x" in page.text
    assert len(read_tsv(folder / "report/families.tsv")) == 60 * 3 * 2


def test_three_data_sets_are_set_side_by_side(tmp_path):
    kernels = {"a": {"kernel": "spectrum", "k": 1}, "b": {"kernel": "spectrum", "k": 2}}
    shapes = {name: Shape(skill=1 + i) for i, name in enumerate(("x", "y", "z"))}
    folder = write_study(tmp_path / "s", shapes, kernels, ONE, skip={("y", "a", "svm")})
    page = Page(build_report(folder, folder / "report").read_text(encoding="utf-8"))
    means = {(r["dataset"], r["kernel"]): r["auc_mean"] for r in read_tsv(folder / "report/summary.tsv")}
    values = [float(means[name, "b"]) for name in "xyz"]
    found = f"all 3 data sets: kernel b with svm has the highest mean AUC, {np.mean(values):.3f}"
    assert f"{found} (standard deviation {np.std(values, ddof=1):.3f} over data sets)." in page.text
    assert "All data sets" not in Page(build_report(folder, folder / "r", _without(folder, "z")).read_text()).text


def test_methods_that_a_data_set_does_not_have_are_not_missing_there(tmp_path):
    kernels = {"a": {"kernel": "spectrum", "k": 1}, "b": {"kernel": "spectrum", "k": 2}}
    folder = write_study(tmp_path / "s", {name: Shape(n=40) for name in ("x", "y", "z")}, kernels, ONE)

    def table_of(**own):
        config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
        for name, names in own.items():
            config["datasets"][name]["kernels"] = names
        text = Page(build_report(folder, folder / "r", config).read_text(encoding="utf-8")).text
        return text.partition("All data sets")[2].partition("better than chance there.")[2].partition("The data")[0]

    table, apart = table_of(x=["a"], y=["a", "b"], z=["b"]), table_of(x=["a"], y=["b"], z=["b"])
    assert table.count("–") >= 4  # b of x, a of z, and both means
    assert "missing" not in table
    assert apart.count("b with svm") == 1
    assert "a with svm" not in apart


def test_a_combination_that_does_not_suit_is_named(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape()}, SMALL, ONE)
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    config["kernels"]["aligned"] = {"kernel": "local_alignment", "solvers": ["lvq"]}
    config["solvers"]["lvq"] = {"solver": "gmlvq"}
    config["datasets"]["d"]["kernels"] = ["spectrum", "aligned"]
    config["kernels"]["spectrum"]["solvers"] = ["svm"]
    config["kernels"]["aligned"]["solvers"].append("svm")
    page = Page(build_report(folder, folder / "report", config).read_text(encoding="utf-8"))
    said = "not run: aligned with lvq, because the solver takes the features of a kernel, and the kernel has none"
    assert said in page.text


def _without(folder, name):
    """Return the configuration of a study without one data set."""
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    del config["datasets"][name]
    return config


def test_regression_has_errors_instead_of_roc(tmp_path):
    folder = write_study(tmp_path / "s", {"scale": Shape("real")}, SMALL)
    page = Page(build_report(folder, folder / "report").read_text(encoding="utf-8"))
    assert "the lowest RMSE" in page.text
    assert "Predicted and true values" in page.text
    assert "AUC" not in page.text


# ---- what is missing or wrong ------------------------------------------------------------------------------


def test_what_is_missing_is_said(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape()}, SMALL, ONE)
    for part in (
        "evaluate",
        "gram",
        "folds/d/leakage.tsv",
        "folds/d/composition.tsv",
        "datasets/d/units.tsv",
    ):
        path = folder / part
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    text = Page(build_report(folder, folder / "report").read_text(encoding="utf-8")).text
    for sentence in (
        "No combination of kernel and solver gave a result.",
        "1 combination of 1 gave no result and is shown as missing: spectrum with svm.",
        "it is unknown whether training and test sets share sequences.",
        "The composition of the folds was not found.",
    ):
        assert sentence in text
    assert read_tsv(folder / "report/metrics.tsv") == []


def test_without_a_summary_or_a_configuration_the_folders_tell(tmp_path):
    folder = write_study(tmp_path / "study", {"d": Shape()}, SMALL, ONE)
    (folder / "config.yaml").unlink()
    (folder / "datasets/d/summary.json").unlink()
    text = Page(build_report(folder, folder / "report").read_text(encoding="utf-8")).text
    assert "spectrum with svm has an AUC of" in text
    assert "No summary of this data set was found." in text


def test_without_a_configuration_a_kernel_may_lack_a_solver(tmp_path):
    kernels = {"a": {"kernel": "spectrum", "k": 1}, "b": {"kernel": "spectrum", "k": 2}}
    folder = write_study(tmp_path / "study", {"d": Shape()}, kernels, skip={("d", "a", "psvm")})
    (folder / "config.yaml").unlink()
    page = Page(build_report(folder, folder / "report").read_text(encoding="utf-8"))
    assert len(StudyResults(folder).datasets[0].methods) == 3
    assert not any(a.get("title") == "this combination gave no result" for a in page.all("span"))


@pytest.mark.parametrize(
    ("part", "text", "problem"),
    [
        ("evaluate/d/spectrum/svm/metrics.tsv", "task\tsplit\n", "has no column 'n_train'"),
        ("evaluate/d/spectrum/svm/decisions.tsv", "", "is not a table"),
        ("datasets/d/summary.json", "{", "is not JSON"),
        ("datasets/d/summary.json", "[]", "is not a JSON object"),
        ("config.yaml", "a: [", "is not YAML"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, part, text, problem):
    folder = write_study(tmp_path / "s", {"d": Shape()}, SMALL, ONE)
    (folder / part).write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=re.escape(problem)) as caught:
        build_report(folder, folder / "report")
    assert str(caught.value.file).endswith(part)
    assert caught.value.remedy


def test_no_results_are_an_error(tmp_path):
    with pytest.raises(FileError, match="no such folder"):
        build_report(tmp_path / "none", tmp_path / "out")
    with pytest.raises(FileError, match="holds no data sets"):
        build_report(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_command_line_prints_the_path(tmp_path, capsys):
    folder = write_study(tmp_path / "s", {"d": Shape()}, SMALL, ONE)
    assert main(["report", str(folder), "-o", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'out' / 'index.html'}\n"
    config = {"study": "renamed", "datasets": {"d": {}}, "kernels": SMALL, "solvers": ONE}
    assert main(["report", str(folder), "--study", json.dumps(config)]) == 0
    assert "<h1>renamed</h1>" in (folder / "report/index.html").read_text(encoding="utf-8")
    (folder / "config.yaml").unlink()
    assert main(["report", str(folder)]) == 0
    assert "<h1>renamed</h1>" in (folder / "report/index.html").read_text(encoding="utf-8")
    assert main(["report", str(folder), "--study", "{"]) == 1
    assert "seqkern: --study is not JSON" in capsys.readouterr().err
    assert issubclass(ConfigError, ValueError)


# ---- markup ------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.text())
def test_escaped_text_comes_back_and_holds_no_markup(text):
    safe = escape(text)
    assert not set("<>\"'") & set(safe)
    clean = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)
    assert html.unescape(safe) == clean


def test_tags_escape_texts_and_attributes_but_not_markup():
    assert tag("b", "<", Markup("<i></i>"), title='"') == '<b title="&quot;">&lt;<i></i></b>'
    assert tag("br") == "<br>"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.12345, 3, "0.123"), (-0.0001, 3, "0.000"), (-1.5, 1, "−1.5"), (12345, 0, "12,345")],
)
def test_numbers_have_fixed_digits(value, digits, text):
    assert number(value, digits) == text
    assert "no value" in number(float("nan"))


def test_what_a_kernel_touched_is_told(tmp_path):
    folder = write_study(tmp_path / "study", {"one": Shape(n=20)}, kernels=SMALL, solvers=ONE)
    assert "Treated specially" not in build_report(folder, tmp_path / "before").read_text(encoding="utf-8")
    side = folder / "gram" / "one" / "spectrum" / "gram.json"
    side.write_text(json.dumps({**GRAM.stamp(), "counts": {"zero diagonals": 3}}))
    page = build_report(folder, tmp_path / "after").read_text(encoding="utf-8")
    assert "Special cases for spectrum</dt><dd>zero diagonals: 3</dd>" in page
