"""The report of a study of many families: means, cumulative curves, tests between methods, in words that are true."""

import numpy as np
import pytest
from report_sample import Shape, family_shape, write_study
from scipy.stats import PermutationMethod, wilcoxon
from test_report import Page

from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.methods.compared import Compared
from seqkern.methods.study_results import Method, StudyResults
from seqkern.report import build_report
from seqkern.report.markup import text_of
from seqkern.report.plots import families_figure, line_style
from seqkern.report.sections.tests import MOST_LINES, comparisons_section, drawn, exponent, result
from seqkern.report.view import View

FAMILIES = tuple(f"1.{i}" for i in range(1, 13))
RNG = np.random.default_rng(4)
POOR = np.round(RNG.uniform(0.5, 0.7, 12), 3)
GOOD = np.round(POOR + RNG.uniform(0.02, 0.2, 12), 3)
AUCS = {"good": GOOD, "even": GOOD + np.resize([0.01, -0.011], 12), "poor": np.append(POOR[:10], [GOOD[10], np.nan])}


def study(folder, table, families=FAMILIES, kernels=None, profiles=None):
    """Write a study whose methods have these AUCs on the families; ROC50 is their square, the median RFP 1 − AUC."""
    kernels = kernels or {name: {"kernel": "spectrum", "k": 3} for name in table}
    solvers = {"svm": {"solver": "csvc", "C": 1}}
    shape = family_shape(families, n=40, share=0.2)
    shape.entry |= {"profiles": profiles} if profiles else {}
    write_study(folder, {"edd": shape}, kernels, solvers)
    for name, aucs in table.items():
        rows = [
            (family, "1", 20, 20, auc, auc**2, 1 - auc)
            for family, auc in zip(families, aucs, strict=True)
            if auc == auc
        ]
        columns = ["task", "split", "n_train", "n_test", "auc", "roc50", "median_rfp"]
        write_tsv(folder / "evaluate/edd" / name / "svm/metrics.tsv", columns, rows)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = study(tmp_path_factory.mktemp("families") / "s", AUCS)
    build_report(folder, folder / "report")
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return Page((folder / "report/index.html").read_text(encoding="utf-8"))


def test_the_summary_holds_means_and_medians(folder):
    summary = {row["kernel"]: row for row in read_tsv(folder / "report/summary.tsv")}
    poor = AUCS["poor"][:11]
    found = [
        float(summary["poor"][name]) for name in ("auc_mean", "roc50_mean", "median_rfp_mean", "median_rfp_median")
    ]
    assert found == pytest.approx([np.mean(poor), np.mean(poor**2), np.mean(1 - poor), np.median(1 - poor)])


def test_every_pair_is_in_the_table_of_comparisons(folder):
    rows = read_tsv(folder / "report/comparisons.tsv")
    assert [row["metric"] for row in rows] == ["auc"] * 3 + ["roc50"] * 3 + ["median_rfp"] * 3
    row = next(row for row in rows if (row["kernel"], row["other_kernel"]) == ("good", "poor"))
    counts = [int(row[name]) for name in ("tasks", "left_out", "wins", "ties", "losses")]
    assert counts == [11, 1, 10, 1, 0]
    assert float(row["p"]) == pytest.approx(2 / 2**10)
    assert float(row["effect"]) == 1
    assert float(row["median_difference"]) == pytest.approx(np.median(GOOD[:11] - AUCS["poor"][:11]))
    even = next(row for row in rows if (row["kernel"], row["other_kernel"]) == ("good", "even"))
    assert float(even["p"]) == pytest.approx(naive_p(GOOD - AUCS["even"]))
    assert float(even["p_holm"]) == float(even["p"])
    # by the share of false positives less is better: the same one wins, and the differences turn round
    lower = next(row for row in rows if (row["metric"], row["other_kernel"]) == ("median_rfp", "poor"))
    assert (lower["wins"], lower["effect"], lower["p"]) == (row["wins"], row["effect"], row["p"])
    assert float(lower["median_difference"]) == pytest.approx(-float(row["median_difference"]))


def naive_p(differences):
    """p from all signs of the differences."""
    return wilcoxon(np.round(differences, 6), method=PermutationMethod(n_resamples=2**12)).pvalue


def test_the_words_are_true(page):
    assert "Of 3 pairs of methods, 2 differ significantly (corrected p of at most 0.05)." in page.text
    assert "better in 10 of 11 families, equal in 1; 1 without a score of both left out" in page.text
    assert "no significant difference: better in 6 of 12 families, worse in 6" in page.text
    assert "By ROC50: 2 differ" in page.text
    assert "All 3 pairs" in page.text
    assert "Number of families with AUC ≥ x" in page.text


TRANSDUCTIVE = {
    "inductive": {"kernel": "spectrum", "k": 3},
    "own": {"kernel": "profile", "search": "training"},
    "windows": {"kernel": "pssm_window"},
    "sum": {"kernel": "sum", "parts": [{"kernel": "spectrum"}, {"kernel": "profile"}]},
    "map": {"kernel": "pairwise", "base": {"kernel": "profile_alignment"}},
    "choice": {"choose": ["inductive", "windows"]},
}
MARKED = ("windows", "sum", "map", "choice")


def marked_study(folder, profiles, kernels=TRANSDUCTIVE):
    table = {name: GOOD - i / 20 for i, name in enumerate(reversed(kernels))}
    return study(folder, table, kernels=kernels, profiles=profiles)


def test_methods_that_know_test_sequences_have_a_mark(tmp_path):
    folder = marked_study(tmp_path / "s", {"search": "all", "transductive": True})
    html = build_report(folder, folder / "report").read_text(encoding="utf-8")
    for name in TRANSDUCTIVE:
        assert (f"<b>{name}</b>† with <b>svm</b>" in html) == (name in MARKED)
    text = Page(html).text
    assert "Number of families with AUC ≥ x. † transductive: profiles were built with the test" in text
    (view,) = (View(dataset, "d1") for dataset in StudyResults(folder).datasets)
    assert view.dataset.transductive == set(MARKED)
    words = text_of(comparisons_section(view))
    assert "significantly (corrected p of at most 0.05). † transductive: profiles were built with the test" in words
    assert "edd: choice† with svm, by AUC, against" in words


@pytest.mark.parametrize("profiles", [None, {"search": "other.fa"}, {"files": "pssms"}])
def test_without_profiles_of_test_sequences_no_method_has_a_mark(tmp_path, profiles):
    assert StudyResults(marked_study(tmp_path / "all", profiles)).datasets[0].transductive == set()
    folder = marked_study(tmp_path / "s", profiles, {name: TRANSDUCTIVE[name] for name in ("own", "windows")})
    assert "†" not in build_report(folder, folder / "report").read_text(encoding="utf-8")


@pytest.mark.drawn
def test_the_legend_marks_long_names_too():
    long = "x" * 40
    series = [(name, "svm", [0, 0.5, 1], [2, 1, 0]) for name in (long, "short")]
    numbers = {(name, "svm"): place for place, (name, *_) in enumerate(series)}
    draw = families_figure(series, "AUC", "families", "label", numbers, {long})
    assert str(draw).count("†") == 1


def test_few_families_cannot_tell_anything(tmp_path):
    few = FAMILIES[:6]
    table = {name: aucs[:6] for name, aucs in AUCS.items()}
    text = Page(build_report(study(tmp_path / "six", table, few), tmp_path / "r").read_text(encoding="utf-8")).text
    assert "Of 3 pairs of methods, none differ significantly" in text
    assert "With 6 families and this many pairs, no difference can be significant" in text
    table = {name: aucs[:5] for name, aucs in list(AUCS.items())[:2]}
    text = Page(build_report(study(tmp_path / "five", table, few[:5]), tmp_path / "r").read_text(encoding="utf-8")).text
    assert "signed-rank" not in text
    assert read_tsv(tmp_path / "r/comparisons.tsv") == []


def test_methods_without_common_families_are_told_so(tmp_path):
    table = {"good": GOOD[:12], "half": np.append(POOR[:6], [np.nan] * 6), "rest": np.append([np.nan] * 6, POOR[6:])}
    view = View(StudyResults(study(tmp_path / "s", table)).datasets[0], "d1")
    pairs = {(one.first.kernel, one.second.kernel): one for one in view.comparisons["auc"].found}
    (pair,) = (one for names, one in pairs.items() if set(names) == {"half", "rest"})
    assert result(view.comparisons["auc"], pair) == "no family with a score of both"
    assert "no family with a score of both" in comparisons_section(view)


def test_the_verdict_follows_the_ranks_not_the_order():
    first, second = Method("a", "s"), Method("b", "s")
    compared = Compared({first: [0.5] * 9 + [0.9], second: [0.6] * 9 + [0.8]}, "auc", "family", "families")
    assert text_of(result(compared, compared.found[0])) == "worse in 9 of 10 families, better in 1"
    assert compared.standing(first) == (0, 1)
    assert compared.standing(second) == (1, 0)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.5, "0.500"),
        (0.0123, "0.012"),
        (0.001, "0.001"),
        (0.00054, "5.4·10<sup>−4</sup>"),
        (3e-12, "3.0·10<sup>−12</sup>"),
    ],
)
def test_small_p_values_keep_two_digits(p, text):
    assert exponent(p) == text


def test_of_many_methods_each_kernel_is_drawn_once():
    few = [Method(f"k{i}", solver) for i in range(8) for solver in "ab"]
    assert drawn(few) == (few, "")
    methods, words = drawn([*few, Method("k8", "a")])
    assert methods == [Method(f"k{i}", "a") for i in range(9)]
    assert words == "For each kernel, only the solver with the better mean is shown. "
    methods, words = drawn([Method(f"k{i}", solver) for solver in "ab" for i in range(20)])
    assert len(methods) == MOST_LINES
    assert "for the best 16 of 20 kernels" in words


def test_no_two_lines_look_alike():
    assert len({line_style(number) for number in range(64)}) == 64


def test_methods_are_compared_over_data_sets_too(tmp_path):
    kernels = {name: {"kernel": "spectrum", "k": 1} for name in ("strong", "weak")}
    names = "stuvwx"
    folder = write_study(tmp_path / "s", {name: Shape(n=30) for name in names}, kernels, {"svm": {"solver": "csvc"}})
    for i, name in enumerate(names):
        for kernel, auc in (("strong", 0.9 + i / 100), ("weak", 0.8 + i / 200)):
            path = folder / "evaluate" / name / kernel / "svm/metrics.tsv"
            write_tsv(path, ["task", "split", "n_train", "n_test", "auc"], [("all", "1", 20, 10, auc)])
    page = Page(build_report(folder, folder / "report").read_text(encoding="utf-8"))
    assert "better in 6 of 6 data sets" in page.text
    (row,) = (row for row in read_tsv(folder / "report/comparisons.tsv") if row["dataset"] == "all")
    assert (row["dataset"], row["kernel"], float(row["p_holm"])) == ("all", "strong", 2 / 2**6)
