"""Methods compared on one task, sample by sample: which test, why, and what it says of each pair."""

from collections.abc import Collection, Mapping
from functools import partial

from seqkern.core.markup import Markup, tag
from seqkern.evaluation.single_task_tests import CLEAR_HALVES, PairTest
from seqkern.figures.html_table import Column
from seqkern.figures.numbers import number, plural
from seqkern.report.compared import LEVEL, Compared, SingleTaskTests, is_significant, lead
from seqkern.report.pair_tables import pair_tables
from seqkern.report.sections.rank_diagram import shown_p
from seqkern.report.sentences import footnote, metric
from seqkern.report.verdict_words import contrary, verdict
from seqkern.report.view import paragraph

TESTS = {
    "delong": "DeLong's test",
    "mcnemar": "McNemar's test (mid-p)",
    "bootstrap": "a bootstrap test",
    "signed_rank": "Wilcoxon's signed-rank test",
    "five_by_two_f": "Alpaydin's F test of 5×2 cross-validation",
}
ASKS = {
    "delong": "whether two AUCs on the same test samples differ",
    "mcnemar": "whether two methods are equally accurate, from the samples that only one predicts correctly",
    "bootstrap": "whether two scores differ by more than they vary when test samples are resampled with replacement",
    "signed_rank": "whether the absolute errors of one method tend to be smaller, sample by sample",
    "five_by_two_f": "whether the differences between two methods on ten halves of the data are due to chance",
}
DIRECTION = (
    f" It does not say which method is better; a method is called better only if it is ahead on at least "
    f"{CLEAR_HALVES} of the ten halves."
)
FEW = 10
FEW_OF_A_CLASS = (
    " With so few test samples of a class, p is somewhat too small (docs/type_one_error.md); treat a p just "
    "below 0.05 with caution."
)
DRAWN = (
    " In simulations, this test finds a difference in average precision where there is none in up to 8 of "
    "100 cases (docs/type_one_error.md); treat a p just below 0.05 with caution."
)
METRICS = "p is corrected for the number of pairs of methods, not for the {} metrics compared."
TRAINED = "The tests compare these trained classifiers only; p does not reflect variation between training sets."
FOLDS = (
    f"{TRAINED} Because the training sets of the folds overlap, p can be somewhat too small. Scores of "
    f"folds are not independent, so no t-test of them is made."
)
HALVES = (
    "In simulations, this test finds a difference where there is none in 5 (accuracy) to 8 (AUC) of 100 "
    "cases (docs/type_one_error.md); treat a p just below 0.05 with caution."
)
CAVEATS = {"single": TRAINED, "folds": FOLDS, "five_by_two": HALVES}


def test_sentences(task_tests: SingleTaskTests) -> str:
    """Return what the test asks, as plain text.

    Parameters
    ----------
    task_tests : SingleTaskTests
        The methods, compared on one task.

    Returns
    -------
    str
    """
    text = f"{TESTS[task_tests.test]} asks {ASKS[task_tests.test]}."
    text = text[0].upper() + text[1:]
    if task_tests.test == "five_by_two_f":
        text += DIRECTION
    if task_tests.parts > 1 and task_tests.test in ("delong", "bootstrap"):
        text += " Samples are ranked within each test set, and the scores of the test sets are averaged."
    if task_tests.test == "delong" and task_tests.fewest is not None and task_tests.fewest < FEW:
        text += FEW_OF_A_CLASS
    if task_tests.key == "average_precision" and task_tests.test == "bootstrap":
        text += DRAWN
    return text + " p is corrected for the number of pairs (Holm)."


def caveat(task_tests: SingleTaskTests) -> str:
    """Return what the p of these tests leaves out, as plain text; empty where nothing is to be said.

    Parameters
    ----------
    task_tests : SingleTaskTests
        The methods, compared on one task.

    Returns
    -------
    str
    """
    return CAVEATS.get(task_tests.shape, "")


def several_metrics(found: Mapping[str, Compared | SingleTaskTests]) -> str:
    """Return that p is not corrected for metrics, as plain text; empty for one metric.

    Parameters
    ----------
    found : dict of str to Compared or SingleTaskTests
        What was compared, by metric.

    Returns
    -------
    str
    """
    return METRICS.format(len(found)) if len(found) > 1 else ""


def single_task_parts(task_tests: SingleTaskTests, name: str, transductive: Collection[str] = ()) -> list[Markup]:
    """Return paragraphs and tables about one SingleTaskTests.

    Parameters
    ----------
    task_tests : SingleTaskTests
        The methods, compared on one task.
    name : str
        Of the data set, for captions.
    transductive : collection of str
        Kernels that have a mark.

    Returns
    -------
    list of Markup
        Paragraphs, and tables of pairs.
    """
    interval = [Column("95 % interval")] if _has_interval(task_tests) else []
    columns: list[Column | str] = [Column("Result", False), "difference", *interval, "p", "p after Holm"]
    by, cells = f" by {metric(task_tests.key).name}", partial(_cells, task_tests)
    return [
        paragraph(test_sentences(task_tests)),
        paragraph(pairs_sentence(task_tests), footnote(task_tests.methods, transductive)),
        *pair_tables(task_tests, name, columns, cells, transductive=transductive, by=by),
    ]


def pairs_sentence(task_tests: SingleTaskTests) -> str:
    """Return a sentence on how many pairs differ significantly.

    Parameters
    ----------
    task_tests : SingleTaskTests
        The methods, compared on one task.

    Returns
    -------
    str
    """
    count = sum(map(is_significant, task_tests.found))
    differ = "differs" if count == 1 else "differ"
    pairs, score = plural(len(task_tests.found), "pair"), metric(task_tests.key).name
    if len(task_tests.found) == 1:
        return f"The two methods {'differ' if count else 'do not differ'} significantly in {score} (at {LEVEL})."
    return (
        f"Of {pairs} of methods, {count or 'none'} {differ} significantly in {score} (corrected p of at most {LEVEL})."
    )


def pair_test_values(one: PairTest) -> str:
    """Return the two scores that a test compared: ``"0.912 against 0.870"``.

    Parameters
    ----------
    one : PairTest
        What the test of two methods found.

    Returns
    -------
    str
    """
    medians = "median errors " if one.test == "signed_rank" else ""
    return f"{medians}{number(one.value)} against {number(one.other_value)}"


def test_notes(task_tests: SingleTaskTests, one: PairTest) -> str:
    """Return what else a test found, as plain text: counts, what was left out, why there is no p; may be empty.

    Parameters
    ----------
    task_tests : SingleTaskTests
        The methods, compared on one task.
    one : PairTest
        What the test of two methods found.

    Returns
    -------
    str
        Clauses with semicolons between them.
    """
    notes = {
        "mcnemar": f"{one.wins} of {one.units} correct only by the first, {one.losses} only by the second",
        "signed_rank": f"smaller error on {one.wins} of {one.units} samples, larger on {one.losses}",
        "five_by_two_f": f"ahead on {one.wins} halves, behind on {one.losses}",
        "exchange": "p from a permutation of ranks, because the estimated variance is 0",
    }
    text = notes.get(one.test, "")
    if one.test == "signed_rank" and is_significant(one):
        text += contrary(task_tests.key, lead(one), (one.mean, one.other_mean), (one.value, one.other_value))
    found = [text] if text else []
    if one.left_out:
        found.append(f"{one.left_out} without decisions of both methods left out")
    if one.p != one.p:
        found.append(f"no test: {_why_no_p(one)}")
    return "; ".join(found)


def _why_no_p(one: PairTest) -> str:
    """Return why a pair has no p."""
    if one.test != "five_by_two_f":
        return "too few samples of a class in a test set have decisions of both"
    if one.difference != one.difference:
        return "a half has no score of one of them"
    return "the difference is the same on both halves of each repeat"


def _cells(task_tests: SingleTaskTests, one: PairTest) -> list[object]:
    """Return the cells of one pair: result, difference, its interval, both p-values."""
    word, notes = verdict(one), test_notes(task_tests, one)
    result = [tag("b", word) if is_significant(one) else word, ": ", Markup(pair_test_values(one))]
    result += [", ", notes] if notes else []
    interval = []
    if _has_interval(task_tests):
        interval = [number(None) if one.low != one.low else Markup(f"{number(one.low)} to {number(one.high)}")]
    corrected = exponent(one.p_holm)
    strong = tag("strong", corrected) if is_significant(one) else corrected
    return [result, number(one.difference), *interval, exponent(one.p), strong]


def _has_interval(task_tests: SingleTaskTests) -> bool:
    """Tell whether the test gives an interval of the difference."""
    return task_tests.test in ("delong", "bootstrap")


def exponent(p: float) -> Markup:
    """Return a p-value with three decimals, a small one as a power of ten; a dash for NaN.

    Parameters
    ----------
    p : float
        The p-value.

    Returns
    -------
    Markup
    """
    if p != p or p >= 0.001:
        return number(p)
    mantissa, power = shown_p(p).split("e")
    return Markup(f"{mantissa}·10<sup>\N{MINUS SIGN}{-int(power)}</sup>")
