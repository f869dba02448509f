"""``seqkern compare``: the right test for what was given, words that are true, one line for what is wrong."""

import csv
import io

import numpy as np
import pytest
from report_sample import Shape, family_shape, write_study
from test_report import Page

from seqkern.cli.main import main
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.evaluation import delong_test, holm
from seqkern.methods.compared import COLUMNS, ranked_order, read_paired_decisions
from seqkern.methods.study_results import Method, Ranking, StudyResults
from seqkern.report import build_report
from seqkern.report.sentences import metric

KERNELS = {name: {"kernel": "spectrum", "k": 3} for name in ("poor", "good", "best")}
ONE = {"svm": {"solver": "csvc", "C": 1}}
HALVES = tuple(f"{repeat}.{half}" for repeat in range(1, 6) for half in (1, 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    shapes = {
        "folds": Shape(n=400, skill=0.5),
        "single": Shape(n=200, splits=("1",)),
        "classes": Shape(kind="multiclass", classes=("a", "b", "c")),
        "numbers": Shape(kind="real"),
        "families": family_shape(tuple(f"f{i}" for i in range(8)), n=60, share=0.2),
        "few": family_shape(tuple("xyz"), n=60, share=0.2),
    }
    folder = write_study(tmp_path_factory.mktemp("compare") / "s", shapes, KERNELS, ONE)
    _halve(folder, "halves", {"poor": 0.6, "good": 0.61, "best": 0.9})
    return folder


def _halve(folder, name, means, n=20):
    """Add a data set with five times two halves whose AUCs lie around these means."""
    rng = np.random.default_rng(5)
    orders = [rng.permutation(n) for _ in range(5)]
    places = [(f"{r + 1}.{h + 1}", i) for r in range(5) for h in (0, 1) for i in orders[r][h * n // 2 :][: n // 2]]
    for kernel, mean in means.items():
        place = folder / "evaluate" / name / kernel / "svm"
        rows = [("all", split, f"u{i}", "ab"[i % 2], rng.normal(), "a") for split, i in places]
        write_tsv(place / "decisions.tsv", ["task", "split", "id", "label", "decision", "predicted"], rows)
        rows = [("all", split, n // 2, n // 2, mean + 0.02 * rng.normal()) for split in HALVES]
        write_tsv(place / "metrics.tsv", ["task", "split", "n_train", "n_test", "auc"], rows)


def compare(capsys, *words):
    """Return (exit code, output, complaint)."""
    code = main(["compare", *map(str, words)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def table(text):
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        ("folds", ["folds: 3 methods on 400 test samples, 5 folds", "DeLong's test asks", "within each test set"]),
        (
            "folds",
            [
                "5 folds; positive class: donor ==",
                "McNemar's test (mid-p) asks",
                "p can be somewhat too small. Scores of folds are not independent, so no t-test of them is made",
            ],
        ),
        ("single", ["one test set", "DeLong's test asks", "McNemar's test", "these trained classifiers only"]),
        ("classes", ["By accuracy. McNemar's test"]),
        ("numbers", ["By absolute error. Wilcoxon's signed-rank test", "smaller error on"]),
        ("families", ["8 families", "Wilcoxon's signed-rank test of each pair", "Friedman's test over 8 families"]),
        ("few", ["With 3 families the smallest possible p is 0.250, or 0.750 after correction", "(exact)"]),
    ],
)
def test_each_shape_has_its_test(folder, capsys, dataset, words):
    code, text, _ = compare(capsys, folder, "--dataset", dataset)
    assert code == 0
    flat = " ".join(text.split())
    for word in words:
        assert word in flat


def test_five_by_two_has_its_f(folder, capsys):
    paths = [folder / "evaluate/halves" / kernel / "svm" for kernel in KERNELS]
    code, text, _ = compare(capsys, *paths)
    assert code == 0
    assert "halves: 3 methods on 20 test samples, five times two halves" in text
    assert "Alpaydin's F test of 5×2 cross-validation asks" in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert any(line.startswith("best with svm is better than poor with svm") for line in lines)
    assert any(line.startswith("good with svm does not differ significantly from poor with svm") for line in lines)
    assert "by 0.3" in text


def test_better_is_said_where_the_corrected_p_says_so_and_nowhere_else(folder, capsys):
    _, text, _ = compare(capsys, folder)
    verdicts = [line for line in text.splitlines() if "Holm = " in line]
    assert len(verdicts) > 20
    for line in verdicts:
        assert ("is better than" in line) == (float(line.split("Holm = ")[1]) <= 0.05)
        assert ("does not differ significantly from" in line) != ("is better than" in line)
    assert any("is better than" in line for line in verdicts)


def test_the_numbers_are_those_of_the_decisions(folder, capsys):
    code, text, _ = compare(capsys, folder, "--dataset", "folds", "--metric", "auc", "--format", "tsv")
    assert code == 0
    rows = table(text)
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 3
    p = []
    for row in rows:
        tables = [
            read_tsv(folder / "evaluate/folds" / row[name] / "svm/decisions.tsv") for name in ("kernel", "other_kernel")
        ]
        labels, folds = ([unit[name] for unit in tables[0]] for name in ("label", "split"))
        decisions = [[float(unit["decision"]) for unit in part] for part in tables]
        test = delong_test(np.array(labels) == "donor", *decisions, folds=folds)
        assert float(row["difference"]) == pytest.approx(test.difference, abs=1e-9)
        assert float(row["p"]) == pytest.approx(test.p, rel=1e-6)
        p.append(test.p)
    assert [float(row["p_holm"]) for row in rows] == pytest.approx(holm(p), rel=1e-6)


def test_folders_of_methods_give_what_the_study_gives(folder, capsys):
    paths = [folder / "evaluate/folds" / kernel / "svm" for kernel in KERNELS]
    _, whole, _ = compare(capsys, folder, "--dataset", "folds", "--format", "tsv")
    code, text, _ = compare(capsys, *paths, "--format", "tsv")
    assert code == 0
    assert text == whole


def test_the_report_has_the_same_rows(tmp_path, capsys):
    shapes = {"folds": Shape(n=300), "families": family_shape(tuple("abc"), n=60, share=0.2)}
    folder = write_study(tmp_path / "s", shapes, KERNELS, ONE)
    html = build_report(folder, tmp_path / "r").read_text(encoding="utf-8")
    rows = [row for row in read_tsv(tmp_path / "r/comparisons.tsv") if row["dataset"] == "folds"]
    _, text, _ = compare(capsys, folder, "--dataset", "folds", "--format", "tsv")
    assert rows == table(text)
    page = Page(html)
    assert "McNemar's test (mid-p) asks whether" in page.text
    assert "folds: scores with 95% intervals (DeLong, bootstrap (2,000 draws, BCa) and Wilson)" in page.text
    intervals = read_tsv(tmp_path / "r/intervals.tsv")
    assert {row["metric"] for row in intervals} == {"auc", "roc50", "average_precision", "accuracy"}
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in intervals)
    assert {row["dataset"] for row in intervals} == {"folds"}
    assert "critical-difference diagram by AUC, 3 methods" in html
    assert "significantly better than" in page.text


def test_one_task_of_several_unit_by_unit(folder, capsys):
    code, text, _ = compare(capsys, folder, "--dataset", "families", "--task", "f1")
    assert code == 0
    assert "one test set" in text
    assert "DeLong's test" in text


def test_against_a_control(folder, capsys):
    _, text, _ = compare(capsys, folder, "--dataset", "families", "--control", "poor")
    lines = [line for line in text.splitlines() if "Holm = " in line]
    assert len(lines) == 2
    assert all("poor with svm" in line for line in lines)
    _, tsv, _ = compare(capsys, folder, "--dataset", "families", "--control", "poor/svm", "--format", "tsv")
    assert {row["kernel"] for row in table(tsv)} == {"poor"}


def test_several_studies_and_data_sets_as_tasks(tmp_path, capsys):
    shapes = {name: Shape(n=60) for name in "stu"}
    folders = [write_study(tmp_path / name, shapes, KERNELS, ONE, study=name, seed=i) for i, name in enumerate("ab")]
    code, text, _ = compare(capsys, *folders)
    assert code == 0
    for title in ("a: s: 3 methods", "b: u: 3 methods", "all data sets: 3 methods on 6 data sets"):
        assert title in text


def test_without_a_summary_the_positive_class_is_that_of_higher_decisions(folder):
    study = StudyResults(folder)
    dataset = next(dataset for dataset in study.datasets if dataset.name == "folds")
    known = read_paired_decisions(dataset)
    dataset.tasks = {}
    guessed = read_paired_decisions(dataset)
    assert np.array_equal(known.labels, guessed.labels)
    assert np.array_equal(known.decisions[Method("best", "svm")], guessed.decisions[Method("best", "svm")])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere: no such folder; check the path"),
        (["{s}/report_of_nothing"], "no such folder"),
        (["{s}/evaluate/folds"], "holds neither a study nor an evaluated method; give results/STUDY"),
        (
            ["{s}/evaluate/folds/poor/svm"],
            "nothing to compare (folds: 1 method with a score); evaluate at least two methods",
        ),
        (["{s}", "{s}/evaluate/folds/poor/svm"], "is an evaluated method, others are studies; give one kind only"),
        (["{s}/evaluate/folds/poor/svm"] * 2, "is given twice"),
        (["{s}", "--dataset", "fold"], "unknown data set 'fold'; did you mean 'folds'?"),
        (["{s}", "--dataset", "folds", "--metric", "mcc"], "unknown metric for this comparison 'mcc'"),
        (["{s}", "--dataset", "families", "--metric", "acc"], "unknown metric 'acc'"),
        (["{s}", "--dataset", "classes", "--metric", "auc"], "DeLong's test of the AUC needs two classes; choose"),
        (["{s}", "--dataset", "folds", "--control", "goods"], "unknown control 'goods'"),
        (["{s}", "--dataset", "families", "--task", "f9"], "unknown task 'f9'; did you mean 'f"),
        (
            ["{s}/evaluate/folds/poor/svm", "{s}/evaluate/single/poor/svm"],
            "have no test unit in common; compare methods",
        ),
        (
            ["{s}/evaluate/folds/poor/svm", "{t}/good/svm"],
            "is in test set 'x' of good with svm, in '1' of poor with svm; compare",
        ),
    ],
)
def test_what_is_wrong_is_one_line_with_a_remedy(folder, tmp_path, capsys, words, message):
    for name in ("metrics.tsv", "decisions.tsv"):  # the same units in another test set
        rows = read_tsv(folder / "evaluate/folds/good/svm" / name)
        write_tsv(tmp_path / "good/svm" / name, list(rows[0]), [row | {"split": "x"} for row in rows])
    code, out, complaint = compare(capsys, *(word.format(s=folder, t=tmp_path) for word in words))
    assert code == 1
    assert out == ""
    assert message in complaint
    assert complaint.count("\n") == 1


def test_overlapping_test_parts_have_no_test(folder, tmp_path, capsys):
    paths = []
    for kernel in ("poor", "good"):
        paths.append(tmp_path / kernel / "svm")
        rows = [("all", s, f"u{i}", "ab"[i % 2], float(i), "b") for s in "12" for i in range(8 - 2 * (s == "1"))]
        write_tsv(paths[-1] / "decisions.tsv", ["task", "split", "id", "label", "decision", "predicted"], rows)
        write_tsv(
            paths[-1] / "metrics.tsv",
            ["task", "split", "n_train", "n_test", "auc"],
            [("all", s, 4, 6, 0.5) for s in "12"],
        )
    code, _, complaint = compare(capsys, *paths)
    assert code == 1
    assert "the test sets overlap, so there is no valid test of a difference; use folds that" in complaint
    code, _, complaint = compare(capsys, *paths, "--metric", "auc")
    assert code == 1
    assert "the test sets overlap" in complaint


def _evaluated(folder, splits, metric, seed=0):
    """Write a method evaluated on 20 units in these test sets, with values of one metric."""
    rng = np.random.default_rng(seed)
    rows = [("all", s, f"u{i}", "ab"[i % 2], rng.normal(), "ab"[rng.integers(2)]) for i, s in enumerate(splits)]
    write_tsv(folder / "decisions.tsv", ["task", "split", "id", "label", "decision", "predicted"], rows)
    rows = [("all", s, 19, 1, 0.5) for s in dict.fromkeys(splits)]
    write_tsv(folder / "metrics.tsv", ["task", "split", "n_train", "n_test", metric], rows)
    return folder


def test_leave_one_out_has_no_test_and_says_why(tmp_path, capsys):
    paths = [_evaluated(tmp_path / name / "svm", range(20), "accuracy", i) for i, name in enumerate(("one", "two"))]
    for words in ((), ("--metric", "auc"), ("--metric", "accuracy")):
        code, out, complaint = compare(capsys, *paths, *words)
        assert (code, out) == (1, "")
        assert "tested alone or only with their own class, as in leave-one-out" in complaint
        assert complaint.count("\n") == 1


def test_other_folds_are_told_before_a_metric_that_is_missing(tmp_path, capsys):
    alone = _evaluated(tmp_path / "one/svm", range(20), "accuracy")
    folds = _evaluated(tmp_path / "two/svm", [i // 2 % 5 for i in range(20)], "auc")
    code, _, complaint = compare(capsys, alone, folds)
    assert code == 1
    assert "of one with svm; compare methods that were evaluated on the same folds" in complaint
    halves = _evaluated(tmp_path / "four/svm", [f"1.{i % 2 + 1}" for i in range(20)], "auc")
    code, _, complaint = compare(capsys, folds, halves)
    assert code == 1
    assert "evaluated on the same folds" in complaint
    lacking = _evaluated(tmp_path / "three/svm", [i // 2 % 5 for i in range(20)], "accuracy")
    code, _, complaint = compare(capsys, folds, lacking)
    assert code == 1
    assert "1 method with a score: no auc for three with svm" in complaint


def test_the_report_says_why_nothing_is_tested(tmp_path):
    shape = Shape(n=40, splits=tuple(map(str, range(40))))
    folder = write_study(tmp_path / "s", {"alone": shape}, KERNELS, ONE)
    page = Page(build_report(folder, tmp_path / "r").read_text(encoding="utf-8"))
    assert "No test was made: most samples are tested alone or only with their own class" in page.text
    assert read_tsv(tmp_path / "r/comparisons.tsv") == []


def test_methods_stand_in_the_order_of_what_is_shown(tmp_path, capsys):
    folder = write_study(tmp_path / "s", {"d": Shape(n=200)}, KERNELS, ONE)
    place = folder / "evaluate/d/best/svm"  # the best ranking, the worst classes
    rows = [row | {"predicted": "donor"} for row in read_tsv(place / "decisions.tsv")]
    write_tsv(place / "decisions.tsv", list(rows[0]), rows)
    for kernel, accuracy in {"poor": 0.8, "good": 0.7, "best": 0.25}.items():
        place = folder / "evaluate/d" / kernel / "svm"
        rows = [row | {"accuracy": accuracy} for row in read_tsv(place / "metrics.tsv")]
        write_tsv(place / "metrics.tsv", list(rows[0]), rows)
    for key in ("accuracy", "auc"):
        _, text, _ = compare(capsys, folder, "--metric", key)
        lines = [line.split() for line in text.splitlines() if "95% interval" in line]
        shown = [float(line[3]) for line in lines]
        assert len(shown) == 3
        assert shown == sorted(shown, reverse=True)
        assert (lines[0][0] == "best") == (key == "auc")
    _, tsv, _ = compare(capsys, folder, "--metric", "accuracy", "--format", "tsv")
    assert next((row["kernel"], row["other_kernel"]) for row in table(tsv)) == ("poor", "good")


def test_tasks_are_compared_in_the_order_of_the_metric(folder):
    dataset = next(dataset for dataset in StudyResults(folder).datasets if dataset.name == "families")
    ranking = Ranking(dataset)
    for key in ("auc", "median_rfp", "mcc"):
        sign = -1 if metric(key).higher else 1
        means = [sign * ranking.score(method, key).mean for method in ranked_order(ranking, key)]
        assert means == sorted(means)


def test_macro_auc_is_shown_without_a_test(folder, capsys):
    _, text, _ = compare(capsys, folder, "--dataset", "classes")
    flat = " ".join(text.split())
    ranking = Ranking(next(dataset for dataset in StudyResults(folder).datasets if dataset.name == "classes"))
    shown = ", ".join(f"{m.kernel} with svm {ranking.score(m, 'auc').mean:.3f}" for m in ranking.order)
    assert f"Macro AUC (not tested): {shown}." in flat
    assert flat.count("By ") == flat.count("By accuracy") == 1
    _, text, _ = compare(capsys, folder, "--dataset", "folds")
    assert "Macro AUC" not in text


def test_studies_have_a_column_of_their_own(tmp_path, capsys):
    folders = [
        write_study(tmp_path / place, {"sites": Shape(n=60)}, KERNELS, ONE, study=name)
        for place, name in (("one", "mine"), ("two", "yours"), ("three", "yours"))
    ]
    _, tsv, _ = compare(capsys, *folders[:2], "--format", "tsv")
    rows = table(tsv)
    assert tuple(rows[0]) == ("study", *COLUMNS)
    assert {(row["study"], row["dataset"]) for row in rows} == {("mine", "sites"), ("yours", "sites")}
    _, text, _ = compare(capsys, *folders)
    flat = " ".join(text.split())
    assert flat.startswith("Methods are compared within each data set of each study.")
    assert f"{folders[1]}: sites: 3 methods" in flat
    _, text, _ = compare(capsys, folders[0])
    assert text.startswith("sites: 3 methods")
    _, text, _ = compare(capsys, *(place / "evaluate/sites/poor/svm" for place in folders[:2]))
    assert "one/evaluate/sites/poor with svm" in text
    assert "two/evaluate/sites/poor with svm" in text
