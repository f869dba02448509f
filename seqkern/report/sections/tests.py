"""Sections on tests between methods: scores over many tasks, and significant differences."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.intervals import FORMULAS
from seqkern.evaluation.many_task_tests import MOST_EXACT, Comparison, FriedmanTest, cliques
from seqkern.evaluation.single_task_tests import CLEAR_HALVES, PairTest
from seqkern.methods.compared import (
    LEVEL,
    Compared,
    ComparedChains,
    SingleTaskTests,
    is_significant,
    lead,
    verdict,
    why_untested,
)
from seqkern.methods.study_results import Method, unit_scores
from seqkern.report import page_frame as frame
from seqkern.report.curves import at_least
from seqkern.report.markup import Markup, escape
from seqkern.report.plots import families_figure, rank_figure
from seqkern.report.sentences import enumerate_names, footnote, metric
from seqkern.report.view import METHOD, View, section

# Results over many tasks, such as families: how many tasks reach each score.

MOST_LINES = 16


@section("families", "")
def families_section(view: View) -> dict[str, Any] | None:
    """Make the cumulative curves; None for a single task or real labels."""
    if not view.dataset.several or view.dataset.kind == "real" or not view.ranking.order:
        return None
    return {"title": f"Scores over {view.words}", **_curves(view)}


def _curves(view: View) -> dict[str, Any]:
    """Return the cumulative curves of AUC and ROC50, and which methods are left out."""
    ranking, units = view.ranking, unit_scores(view.dataset)
    methods, which = drawn(ranking.order)
    figures = []
    for name in ("auc", "roc50"):
        if name in ranking.scores and not (name == "roc50" and view.few_negatives):
            values = units.set_index(["kernel", "solver"])[name]
            series = {method: values.loc[[tuple(method)]].tolist() for method in methods}
            title, what = metric(name).name, f"umber of {view.words} with"
            lines = [(*method, *at_least(scores)) for method, scores in series.items()]
            label = f"{view.dataset.name}: n{what} {title} of at least x, {len(lines)} methods"
            svg = families_figure(lines, title, view.words, label, view.numbers, view.dataset.transductive)
            figures.append((svg, f"N{what} {title} ≥ x"))
    return {"figures": figures, "which": which, "note": footnote(methods, view.dataset.transductive)}


def drawn(order: list[Method]) -> tuple[list[Method], str]:
    """Return the methods (best first) whose curves are drawn, and a sentence naming the others; empty if all are
    drawn.
    """
    if len(order) <= MOST_LINES:
        return order, ""
    best: dict[str, Method] = {}
    for method in order:
        best.setdefault(method.kernel, method)
    methods = list(best.values())[:MOST_LINES]
    rest = len(best) - len(methods)
    few = f", for the best {len(methods)} of {len(best)} kernels" if rest else ""
    return methods, f"For each kernel, only the solver with the better mean is shown{few}. "


# Mean ranks of many methods over many tasks: Friedman's test in words, and the critical-difference diagram.
#
# Demšar 2006, J. Mach. Learn. Res. 7:1-30, figure 1.

MOST_DRAWN = 40


def _ranks(compared: Compared, name: str, transductive: Collection[str]) -> dict[str, Any]:
    """Return Friedman's test and the diagram: no test for few methods or tasks, no diagram for many methods."""
    test, difference = compared.friedman, compared.critical_difference
    if test is None or difference is None:
        return {"test": None}
    score, sets = metric(compared.key).name, groups(test, difference)
    found = {"test": test, "difference": difference, "score": score, "figure": None, "infinite": math.isinf(test.f)}
    if len(test.methods) <= MOST_DRAWN:
        named = [
            f"{frame.short(kernel, 22)}{frame.mark(kernel, transductive)}, {frame.short(solver, 10)}"
            for kernel, solver in test.methods
        ]
        label = f"{name}: critical-difference diagram by {score}, {len(named)} methods"
        found["figure"] = rank_figure(named, test.ranks.tolist(), sets, difference, label)
    best = compared.methods[min(range(len(test.ranks)), key=lambda i: test.ranks[i])]
    joined = any(len(members) == len(test.methods) for members in sets)
    return found | {"best": frame.method_name(best, transductive), "joined": joined}


def groups(test: FriedmanTest, difference: float) -> list[list[int]]:
    """Return sets of methods, as indices into ``test.methods``, that the diagram joins.

    It joins all of them if Friedman's test finds no significant difference.
    """
    if test.p > LEVEL:
        return [test.ranks.argsort(kind="stable").tolist()]
    return cliques(test.ranks, difference)


def shown_p(p: float) -> str:
    """Return a p-value as plain text: three decimals, or below 0.001 with an exponent, ``1.2e-05``.

    >>> shown_p(0.0312), shown_p(0.000012)
    ('0.031', '1.2e-05')
    """
    return frame.fixed(p) if p >= 0.001 else f"{p:.1e}"


# Scores of each method on one task with 95% intervals, as a table of the page and rows of ``intervals.tsv``.

BY_CHAIN = "chains"
WAYS = {
    "bootstrap": "bootstrap (2,000 draws, BCa)",
    BY_CHAIN: "the variation between chains (all residues pooled)",
}
COLUMNS = ("dataset", "kernel", "solver", "metric", "value", "se", "low", "high", "how")


def _compared(view: View) -> ComparedChains | SingleTaskTests | None:
    """Return the comparison that holds the intervals of a data set with one task; None if there is none."""
    first = next(iter(view.comparisons.values()), None)
    return first if isinstance(first, (ComparedChains, SingleTaskTests)) else None


def _how(compared: ComparedChains | SingleTaskTests, name: str) -> str:
    """Return the origin of a metric's intervals: by chain, a formula, or the bootstrap."""
    return BY_CHAIN if isinstance(compared, ComparedChains) else FORMULAS.get(name, "bootstrap")


def interval_rows(view: View) -> Iterator[dict[str, object]]:
    """Yield the rows of ``intervals.tsv``, as dicts."""
    compared = _compared(view)
    if compared is None:
        return
    for method, found in compared.intervals.items():
        for name, one in found.items():
            cells = (view.dataset.name, *method, name, *one, _how(compared, name))
            yield dict(zip(COLUMNS, cells, strict=True))


def intervals_table(view: View) -> Markup | None:
    """Return the table of scores with intervals; None where there are none."""
    compared, transductive = _compared(view), view.dataset.transductive
    if compared is None or not compared.intervals:
        return None
    found = compared.intervals
    names = list(next(iter(found.values())))
    rows = [[frame.method_name(method, transductive), *map(_interval, own.values())] for method, own in found.items()]
    ways = dict.fromkeys(WAYS.get(how, how) for how in (_how(compared, name) for name in names))
    caption = f"{view.dataset.name}: scores with 95% intervals ({enumerate_names(ways)})"
    columns = [METHOD, *(frame.Column(metric(n).name, hint=metric(n).sentence) for n in names)]
    return frame.table([caption, footnote(list(found), transductive)], columns, rows, class_="dense")


def _interval(one: ScoreInterval) -> Markup:
    """Return a table cell with a score and the ends of its interval."""
    ends = "" if one.low != one.low else f" ({frame.number(one.low)} to {frame.number(one.high)})"
    return Markup(f"{frame.number(one.score)}{ends}")


# Tables of tested pairs of methods: the best against each other method, and every pair.

MOST_PAIRS = 500
"""Maximum number of pairs that each have a row."""


def pair_tables(
    compared: Compared | SingleTaskTests,
    name: str,
    columns: list[frame.Column | str],
    cells: Callable[[Any], list[object]],
    transductive: Collection[str] = (),
) -> list[Markup]:
    """Return the table of the best method against each other method, and a folded table of every pair."""
    score, best = metric(compared.key).name, compared.methods[0]
    names: dict[object, Markup] = {method: frame.method_name(method, transductive) for method in compared.methods}
    against = [one for one in compared.found if one.first == best]
    caption: list[object] = [f"{name}: ", names[best], f", by {score}, against each other method"]
    columns = [frame.Column("Against", False), *columns]
    content = [frame.table(caption, columns, [[names[one.second], *cells(one)] for one in against], class_="text")]
    if len(against) < len(compared.found) <= MOST_PAIRS:
        rows = [[names[one.first], names[one.second], *cells(one)] for one in compared.found]
        whole = frame.table(f"{name}: every pair by {score}", [METHOD, *columns], rows, class_="text")
        by = f" by {score}" if isinstance(compared, SingleTaskTests) else ""
        content.append(frame.details(f"All {len(rows)} pairs{by}", whole))
    return content


# Methods compared on one task, sample by sample: which test, why, and its result for each pair.

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
    " With so few test samples of a class, p is somewhat too small (docs/type_one_error.md); treat a p just below 0.05"
    " with caution."
)
DRAWN = (
    " In simulations, this test finds a difference in average precision where there is none in up to 8 of 100 cases "
    "(docs/type_one_error.md); treat a p just below 0.05 with caution."
)
METRICS = "p is corrected for the number of pairs of methods, not for the {} metrics compared."
TRAINED = "The tests compare these trained classifiers only; p does not reflect variation between training sets."
FOLDS = (
    f"{TRAINED} Because the training sets of the folds overlap, p can be somewhat too small. Scores of "
    f"folds are not independent, so no t-test of them is made."
)
HALVES = (
    "In simulations, this test finds a difference where there is none in 5 (accuracy) to 8 (AUC) of 100 cases "
    "(docs/type_one_error.md); treat a p just below 0.05 with caution."
)
CAVEATS = {"single": TRAINED, "folds": FOLDS, "five_by_two": HALVES}


def contrary(key: str, ahead: int, means: Sequence[float], medians: Sequence[float]) -> str:
    """Return a clause that says where the averages contradict a rank test; empty where they agree.

    >>> contrary("auc", 1, means=(0.91, 0.90), medians=(0.93, 0.95))
    '; but the median points the other way (0.930 against 0.950)'
    """
    sign = ahead if metric(key).higher else -ahead
    against = [
        f"the {name} points the other way ({frame.fixed(first)} against {frame.fixed(second)})"
        for name, (first, second) in (("median", medians), ("mean", means))
        if sign * (first - second) < -1e-12
    ]
    return "; but " + " and ".join(against) if against else ""


def test_sentences(task_tests: SingleTaskTests) -> str:
    """Return sentences on the question that the test answers, as plain text."""
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
    """Return the sources of error that the p-values of these tests leave out, as plain text; empty if none."""
    return CAVEATS.get(task_tests.shape, "")


def several_metrics(found: Mapping[str, Compared | SingleTaskTests]) -> str:
    """Return a note that p is not corrected for several metrics, as plain text; empty for one metric."""
    return METRICS.format(len(found)) if len(found) > 1 else ""


def _single_task_tests(task_tests: SingleTaskTests, view: View) -> dict[str, Any]:
    """Return sentences and tables about one SingleTaskTests."""
    transductive = view.dataset.transductive
    has_interval = task_tests.test in ("delong", "bootstrap")
    columns: list[frame.Column | str] = [frame.Column("Result", False), "difference"]
    columns += [*(["95% interval"] if has_interval else []), "p", "p after Holm"]
    cells = partial(_cells, task_tests, has_interval)
    return {
        "asks": test_sentences(task_tests),
        "pairs": pairs_sentence(task_tests) + footnote(task_tests.methods, transductive),
        "tables": pair_tables(task_tests, view.dataset.name, columns, cells, transductive),
    }


def pairs_sentence(task_tests: SingleTaskTests) -> str:
    """Return a sentence on the number of pairs that differ significantly."""
    count = sum(map(is_significant, task_tests.found))
    differ = "differs" if count == 1 else "differ"
    pairs, score = frame.plural(len(task_tests.found), "pair"), metric(task_tests.key).name
    if len(task_tests.found) == 1:
        return f"The two methods {'differ' if count else 'do not differ'} significantly in {score} (at {LEVEL})."
    return (
        f"Of {pairs} of methods, {count or 'none'} {differ} significantly in {score} (corrected p of at most {LEVEL})."
    )


def test_notes(task_tests: SingleTaskTests, one: PairTest) -> str:
    """Return further findings of a test, as plain text: counts, omissions, the reason for a missing p; may be empty."""
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
    """Return the reason why a pair has no p-value."""
    if one.test != "five_by_two_f":
        return "too few samples of a class in a test set have decisions of both"
    if one.difference != one.difference:
        return "a half has no score of one of them"
    return "the difference is the same on both halves of each repeat"


def _cells(task_tests: SingleTaskTests, has_interval: bool, one: PairTest) -> list[object]:
    """Return the cells of one pair: result, difference, its interval, both p-values."""
    values = {"medians": one.test == "signed_rank", "notes": test_notes(task_tests, one)}
    outcome = frame.render("tests", "pair", {"one": one, "word": strong(verdict(one), one, "b"), **values})
    ends = frame.number(None) if one.low != one.low else Markup(f"{frame.number(one.low)} to {frame.number(one.high)}")
    corrected = strong(exponent(one.p_holm), one)
    return [outcome, frame.number(one.difference), *([ends] if has_interval else []), exponent(one.p), corrected]


def strong(text: str, one: Comparison | PairTest, element: str = "strong") -> Markup:
    """Return a text, emphasised if two methods differ significantly."""
    return Markup(f"<{element}>{escape(text)}</{element}>") if is_significant(one) else escape(text)


def exponent(p: float) -> Markup:
    """Return a p-value with three decimals, or a small one as a power of ten; a dash for NaN."""
    if p != p or p >= 0.001:
        return frame.number(p)
    mantissa, power = shown_p(p).split("e")
    return Markup(f"{mantissa}·10<sup>\N{MINUS SIGN}{-int(power)}</sup>")


# Section on tests between methods: significant differences in words, and every pair.

CHAINS = (
    "Each chain counts once, with the share of its residues predicted correctly, because residues of the same chain "
    "are not independent. Chains are assumed to be unrelated. The tests compare these trained classifiers only; p does"
    " not reflect variation between training sets."
)


@section(
    "comparisons",
    "Differences between methods",
    "every pair of methods: difference, p value, correction for the number of pairs",
)
def comparisons_section(view: View) -> dict[str, Any] | None:
    """Find the tests between all pairs of methods; None for too few tasks or methods."""
    found = list(view.comparisons.values())
    tests = [one for one in found if isinstance(one, SingleTaskTests)]
    compared = view.comparisons.get(view.ranking.headline)
    over_tasks = compared if not tests and isinstance(compared, Compared) else None
    why = None
    if not tests and over_tasks is None:
        why = None if view.dataset.several or found else why_untested(view.dataset, view.ranking)
        if why is None:
            return None
    return {
        "why": why,
        "tests": [_single_task_tests(one, view) for one in tests],
        "caveat": caveat(tests[0]) if tests else "",
        "several": several_metrics(view.comparisons),
        "verdicts": verdicts(over_tasks, view.dataset.name, view.dataset.transductive) if over_tasks else None,
        "others": [(metric(one.key).name, _count(one)) for one in found if compared and one.key != compared.key],
        "intervals": intervals_table(view),
    }


def verdicts(compared: Compared, name: str, transductive: Collection[str] = ()) -> Markup:
    """Return paragraphs and tables about one Compared."""
    columns: list[frame.Column | str] = [frame.Column("Result", False), "median difference", "p", "p after Holm"]
    content = {
        "compared": compared,
        "name": name,
        "score": metric(compared.key).name,
        "differ": is_significant(compared.found[0]),
        "count": _count(compared),
        "exact": compared.tasks <= MOST_EXACT,
        "most_exact": MOST_EXACT,
        "dependence": dependence(compared),
        "footnote": footnote(compared.methods, transductive),
        "tables": pair_tables(compared, name, columns, partial(_verdict_cells, compared), transductive),
        **_ranks(compared, name, transductive),
        **{"level": LEVEL, "most_drawn": MOST_DRAWN, "shown_p": shown_p},
    }
    return frame.render("tests", "verdicts", content)


def dependence(compared: Compared) -> str:
    """Return a text on the independence that a signed-rank test assumes."""
    if isinstance(compared, ComparedChains):
        return CHAINS
    return f"If {compared.words} share test samples, they are not independent, and p is too small."


def _count(compared: Compared | SingleTaskTests) -> str:
    """Return a sentence on the number of pairs that differ significantly."""
    count = sum(map(is_significant, compared.found))
    differ = "differs" if count == 1 else "differ"
    return f"{count or 'none'} {differ} significantly (corrected p of at most {LEVEL})"


def _verdict_cells(compared: Compared, one: Comparison) -> list[object]:
    """Return the cells of one pair: result in words, median difference, both p-values."""
    corrected = strong(exponent(one.p_holm), one)
    return [result(compared, one), frame.number(one.test.median), exponent(one.test.p), corrected]


def result(compared: Compared, one: Comparison) -> Markup:
    """Return the result of a test in words: ``better in 48 of 60 families, worse in 10, equal in 2``."""
    test, word = one.test, verdict(one)
    if not test.tasks:
        return Markup(f"no {compared.word} with a score of both")
    side = "worse" if word == "worse" else "better"
    counts = {"better": test.wins, "worse": test.losses, "equal": test.ties}
    text = f" in {counts.pop(side)} of {frame.plural(test.tasks, compared.word, compared.words)}"
    text += "".join(f", {name} in {count}" for name, count in counts.items() if count)
    if test.left_out:
        text += f"; {test.left_out} without a score of both left out"
    if not is_significant(one):
        return Markup(f"{word}: {side}{text}")
    return Markup(f"<b>{word}</b>{text}{contrary(compared.key, lead(one), *compared.averages(one))}")
