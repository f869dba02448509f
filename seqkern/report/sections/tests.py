"""Sections on tests between methods."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.intervals import FORMULAS
from seqkern.evaluation.many_task_tests import MOST_EXACT, Comparison, FriedmanTest, cliques
from seqkern.evaluation.single_task_tests import CLEAR_HALVES, PairTest
from seqkern.report.compared import (
    LEVEL,
    Compared,
    ComparedChains,
    SingleTaskTests,
    contrary,
    is_significant,
    lead,
    verdict,
    why_untested,
)
from seqkern.report.markup import Markup, details, tag
from seqkern.report.page_frame import Column, fixed, mark, number, plural, short, table
from seqkern.report.plots import rank_figure
from seqkern.report.sentences import enumerate_names, footnote, metric
from seqkern.report.view import View, method_name, paragraph

# Mean ranks of many methods over many tasks: Friedman's test in words, and the critical-difference diagram.
#
# Demšar 2006, J. Mach. Learn. Res. 7:1-30, figure 1.

MOST_DRAWN = 40


def rank_parts(compared: Compared, name: str, transductive: Collection[str] = ()) -> list[Markup]:
    """Return a paragraph on Friedman's test and the diagram; nothing where it was not made."""
    test, difference = compared.friedman, compared.critical_difference
    if test is None or difference is None:
        return []
    score = metric(compared.key).name
    over = plural(test.tasks, compared.word, compared.words)
    how = "exact" if test.exact else "Iman and Davenport"
    differ = "differ" if test.p <= LEVEL else "do not differ"
    found = [
        f"Friedman's test asks whether the mean ranks of all "
        f"{len(test.methods)} methods by {score} over {over} differ: χ² = {number(test.statistic, 2)}",
        "" if math.isinf(test.f) else f", F = {number(test.f, 2)}",
        f", p = {shown_p(test.p)} ({how}): they {differ} significantly.",
    ]
    if test.left_out:
        found.append(
            f" {plural(test.left_out, compared.word, compared.words)} without a score of every method left out."
        )
    parts = [paragraph(Markup("".join(found)))]
    if len(test.methods) > MOST_DRAWN:
        text = f"No diagram is drawn for more than {MOST_DRAWN} methods; mean ranks are in comparisons.tsv."
        return [*parts, paragraph(text, class_="note")]
    sets = groups(test, difference)
    best = compared.methods[min(range(len(test.ranks)), key=lambda i: test.ranks[i])]
    caption = [
        f"{name}: mean rank of each method by {score} (1 is best); the best is ",
        method_name(best, transductive),
        ". ",
        diagram_sentence(test, difference),
        footnote(compared.methods, transductive),
    ]
    names = [f"{short(kernel, 22)}{mark(kernel, transductive)}, {short(solver, 10)}" for kernel, solver in test.methods]
    label = f"{name}: critical-difference diagram by {score}, {len(names)} methods"
    svg = rank_figure(names, test.ranks.tolist(), sets, difference, label)
    return [*parts, tag("figure", svg, tag("figcaption", caption), class_="wide")]


def groups(test: FriedmanTest, difference: float) -> list[list[int]]:
    """Return sets of methods, as indices into ``test.methods``, that the diagram joins.

    It joins all of them if Friedman's test finds no significant difference.
    """
    if test.p > LEVEL:
        return [test.ranks.argsort(kind="stable").tolist()]
    return cliques(test.ranks, difference)


def diagram_sentence(test: FriedmanTest, difference: float) -> str:
    """Return a sentence that explains the bars of the diagram."""
    if test.p > LEVEL:
        return "Friedman's test finds no significant difference, so one bar joins all methods."
    sentence = (
        f"A bar joins methods whose mean ranks differ by no more than Nemenyi's critical difference, "
        f"{number(difference, 2)}: no significant difference. Methods that "
        f"no bar joins differ significantly (at {LEVEL}, over all pairs together)."
    )
    if any(len(members) == len(test.methods) for members in groups(test, difference)):
        sentence += " Here one bar joins all methods: the ranks differ overall, but no pair differs significantly."
    return sentence


def shown_p(p: float) -> str:
    """Return a p-value as plain text: three decimals, or below 0.001 with an exponent, ``1.2e-05``.

    >>> shown_p(0.0312), shown_p(0.000012)
    ('0.031', '1.2e-05')
    """
    return fixed(p) if p >= 0.001 else f"{p:.1e}"


# Scores of each method on one task with 95 % intervals, as a table of the page and rows of ``intervals.tsv``.

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
    compared = _compared(view)
    if compared is None or not compared.intervals:
        return None
    found = compared.intervals
    names = list(next(iter(found.values())))
    rows = [
        [method_name(method, view.dataset.transductive), *map(_cell, own.values())] for method, own in found.items()
    ]
    owners = [_how(compared, name) for name in names]
    ways = dict.fromkeys(WAYS.get(how, how) for how in owners)
    caption = [
        f"{view.dataset.name}: scores with 95 % intervals ({enumerate_names(ways)})",
        footnote(list(found), view.dataset.transductive),
    ]
    columns: list[Column | str] = [
        Column("Kernel with solver", False),
        *(Column(metric(n).name, hint=metric(n).sentence) for n in names),
    ]
    return table(caption, columns, rows, class_="dense")


def _cell(one: ScoreInterval) -> Markup:
    """Return a table cell with a score and the ends of its interval."""
    if one.low != one.low:
        return number(one.score)
    return Markup(f"{number(one.score)} ({number(one.low)} to {number(one.high)})")


# Tables of tested pairs of methods: the best against each other method, and every pair.

MOST_PAIRS = 500
"""Maximum number of pairs that each have a row."""


def pair_tables(
    compared: Compared | SingleTaskTests,
    name: str,
    columns: list[Column | str],
    cells: Callable[[Any], list[object]],
    *,
    transductive: Collection[str] = (),
    by: str = "",
) -> list[Markup]:
    """Return the table of the best method against each other method, and a folded table of every pair."""
    score, best = metric(compared.key).name, compared.methods[0]
    names: dict[object, Markup] = {method: method_name(method, transductive) for method in compared.methods}
    against = [one for one in compared.found if one.first == best]
    caption: list[object] = [f"{name}: ", names[best], f", by {score}, against each other method"]
    columns = [Column("Against", False), *columns]
    content = [table(caption, columns, [[names[one.second], *cells(one)] for one in against], class_="text")]
    if len(against) < len(compared.found) <= MOST_PAIRS:
        rows = [[names[one.first], names[one.second], *cells(one)] for one in compared.found]
        columns = [Column("Kernel with solver", False), *columns]
        whole = table(f"{name}: every pair by {score}", columns, rows, class_="text")
        content.append(details(f"All {len(rows)} pairs{by}", whole))
    return content


# Section on methods compared on one task, sample by sample: which test, why, and its result for each pair.

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


def single_task_parts(task_tests: SingleTaskTests, name: str, transductive: Collection[str] = ()) -> list[Markup]:
    """Return paragraphs and tables about one SingleTaskTests."""
    interval = [Column("95 % interval")] if _has_interval(task_tests) else []
    columns: list[Column | str] = [Column("Result", False), "difference", *interval, "p", "p after Holm"]
    by, cells = f" by {metric(task_tests.key).name}", partial(_cells, task_tests)
    return [
        paragraph(test_sentences(task_tests)),
        paragraph(pairs_sentence(task_tests), footnote(task_tests.methods, transductive)),
        *pair_tables(task_tests, name, columns, cells, transductive=transductive, by=by),
    ]


def pairs_sentence(task_tests: SingleTaskTests) -> str:
    """Return a sentence on the number of pairs that differ significantly."""
    count = sum(map(is_significant, task_tests.found))
    differ = "differs" if count == 1 else "differ"
    pairs, score = plural(len(task_tests.found), "pair"), metric(task_tests.key).name
    if len(task_tests.found) == 1:
        return f"The two methods {'differ' if count else 'do not differ'} significantly in {score} (at {LEVEL})."
    return (
        f"Of {pairs} of methods, {count or 'none'} {differ} significantly in {score} (corrected p of at most {LEVEL})."
    )


def pair_test_values(one: PairTest) -> str:
    """Return the two scores that a test compared: ``"0.912 against 0.870"``."""
    medians = "median errors " if one.test == "signed_rank" else ""
    return f"{medians}{number(one.value)} against {number(one.other_value)}"


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
    """Return whether the test gives an interval of the difference."""
    return task_tests.test in ("delong", "bootstrap")


def exponent(p: float) -> Markup:
    """Return a p-value with three decimals, or a small one as a power of ten; a dash for NaN."""
    if p != p or p >= 0.001:
        return number(p)
    mantissa, power = shown_p(p).split("e")
    return Markup(f"{mantissa}·10<sup>\N{MINUS SIGN}{-int(power)}</sup>")


# Section on tests between methods: significant differences in words, and every pair.

CHAINS = (
    "Each chain counts once, with the share of its residues predicted correctly, because residues of the "
    "same chain are not independent. Chains are assumed to be unrelated. The tests compare these trained "
    "classifiers only; p does not reflect variation between training sets."
)
EVERY = "All numbers, of every metric compared, are in comparisons.tsv."


def comparisons_section(view: View) -> Markup | None:
    """Return the tests between all pairs of methods; None for too few tasks or methods."""
    name, title = view.dataset.name, "Differences between methods"
    task_tests = [one for one in view.comparisons.values() if isinstance(one, SingleTaskTests)]
    if task_tests:
        tables = [single_task_parts(one, name, view.dataset.transductive) for one in task_tests]
        notes = f"{caveat(task_tests[0])} {several_metrics(view.comparisons)} {EVERY}"
        first = paragraph(standing(view))
        return view.section(
            "comparisons", title, first, *tables, intervals_table(view), paragraph(notes, class_="note")
        )
    compared = view.comparisons.get(view.ranking.headline)
    if not isinstance(compared, Compared):
        why = None if view.dataset.several or view.comparisons else why_untested(view.dataset, view.ranking)
        if why is None:
            return None
        return view.section("comparisons", title, paragraph(f"No test was made: {why}."))
    others = [one for key, one in view.comparisons.items() if key != compared.key]
    sentences = [f" By {metric(one.key).name}: {_count(one)}." for one in others]
    sentences += [" ", several_metrics(view.comparisons)] if sentences else []
    content = verdicts(compared, name, view.dataset.transductive)
    more = paragraph(sentences) if sentences else None
    return view.section("comparisons", title, paragraph(standing(view)), *content, more, intervals_table(view))


def verdicts(compared: Compared, name: str, transductive: Collection[str] = ()) -> list[Markup]:
    """Return paragraphs and tables about one Compared."""
    score = metric(compared.key).name
    exact = "exact" if compared.tasks <= MOST_EXACT else f"exact up to {MOST_EXACT} differences, else approximate"
    intro = (
        f"Wilcoxon's signed-rank test asks whether one method's {score} tends to be higher than another's over "
        f"{compared.tasks} {compared.words}. Ties are ranked as the smallest differences and then dropped (Pratt). "
        f"p is {exact}, with Holm's correction for the number of pairs. {dependence(compared)}"
    )
    if len(compared.found) == 1:
        found = f"The two methods {'' if is_significant(compared.found[0]) else 'do not '}differ significantly."
    else:
        found = f"Of {len(compared.found)} pairs of methods, {_count(compared)}."
    if compared.hopeless:
        found += (
            f" With {compared.tasks} {compared.words} and this many pairs, no difference can be significant, "
            "not even for a method that is always better."
        )
    found += footnote(compared.methods, transductive)
    columns: list[Column | str] = [Column("Result", False), "median difference", "p", Column("p after Holm")]
    return [
        paragraph(intro),
        paragraph(found),
        *pair_tables(compared, name, columns, partial(_verdict_cells, compared), transductive=transductive),
        *rank_parts(compared, name, transductive),
        paragraph(EVERY, class_="note"),
    ]


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
    test = one.test
    p, corrected = exponent(test.p), exponent(one.p_holm)
    return [
        result(compared, one),
        number(test.median),
        p,
        tag("strong", corrected) if is_significant(one) else corrected,
    ]


def result(compared: Compared, one: Comparison) -> str | list[Markup | str]:
    """Return the result of a test in words: ``better in 48 of 60 families, worse in 10, equal in 2``."""
    test = one.test
    if not test.tasks:
        return f"no {compared.word} with a score of both"
    counts = {"better": test.wins, "worse": test.losses, "equal": test.ties}
    word = verdict(one)
    side = "worse" if word == "worse" else "better"
    total = plural(test.tasks, compared.word, compared.words)
    rest = [f", {name} in {count}" for name, count in counts.items() if count and name != side]
    rest += [f"; {test.left_out} without a score of both left out"] if test.left_out else []
    found = [f" in {counts[side]} of {total}", *rest]
    if not is_significant(one):
        return [f"{word}: {side}", *found]
    return [tag("b", word), *found, contrary(compared.key, lead(one), *compared.averages(one))]


def standing(view: View) -> Markup | str:
    """Return a sentence on how many methods the best one is significantly better than; nothing without tests."""
    compared = view.comparisons.get(view.ranking.headline)
    if compared is None or not compared.found:
        return ""
    best, others = compared.methods[0], len(compared.methods) - 1
    better, worse = compared.standing(best)
    if better:
        found = f"is significantly better than {f'{better} of the {others} others' if others > 1 else 'the other'}"
    else:
        found = f"is not significantly better than {f'any of the {others} others' if others > 1 else 'the other'}"
    beaten = f", {'and' if better else 'but'} worse than {worse if others > 1 else 'it'}" if worse else ""
    name = method_name(best, view.dataset.transductive)
    note = footnote([best], view.dataset.transductive)
    return Markup(f"{name} {found}{beaten}.{note}")
