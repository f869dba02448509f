"""The section on tests between methods: significant differences in words, and every pair."""

from collections.abc import Collection
from functools import partial

from seqkern.core.markup import Markup, tag
from seqkern.evaluation.wilcoxon import MOST_EXACT, Comparison
from seqkern.figures.html_table import Column
from seqkern.figures.numbers import number, plural
from seqkern.report.compared import LEVEL, Compared, ComparedChains, SingleTaskTests, is_significant, lead
from seqkern.report.comparisons import why_untested
from seqkern.report.pair_tables import pair_tables
from seqkern.report.sections.intervals import intervals_table
from seqkern.report.sections.rank_diagram import rank_parts
from seqkern.report.sections.single_task_tests import caveat, exponent, several_metrics, single_task_parts
from seqkern.report.sentences import footnote, metric
from seqkern.report.verdict_words import contrary, verdict
from seqkern.report.view import View, method_name, paragraph

CHAINS = (
    "Each chain counts once, with the share of its residues predicted correctly, because residues of the "
    "same chain are not independent. Chains are assumed to be unrelated. The tests compare these trained "
    "classifiers only; p does not reflect variation between training sets."
)
EVERY = "All numbers, of every metric compared, are in comparisons.tsv."


def comparisons_section(view: View) -> Markup | None:
    """Return the tests between all pairs of methods; None for too few tasks or methods.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None where there is nothing to show.
    """
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
    """Return paragraphs and tables about one Compared.

    Parameters
    ----------
    compared : Compared
        The methods, compared over tasks or chains.
    name : str
        Of the data set, for captions.
    transductive : collection of str
        Kernels that have a mark.

    Returns
    -------
    list of Markup
        Paragraphs, tables of pairs, and the diagram of ranks.
    """
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
        *pair_tables(compared, name, columns, partial(_cells, compared), transductive=transductive),
        *rank_parts(compared, name, transductive),
        paragraph(EVERY, class_="note"),
    ]


def dependence(compared: Compared) -> str:
    """Return what is independent of what in a signed-rank test, as plain text.

    Parameters
    ----------
    compared : Compared
        The methods, compared over tasks or chains.

    Returns
    -------
    str
    """
    if isinstance(compared, ComparedChains):
        return CHAINS
    return f"If {compared.words} share test samples, they are not independent, and p is too small."


def _count(compared: Compared | SingleTaskTests) -> str:
    """Return how many pairs differ significantly."""
    count = sum(map(is_significant, compared.found))
    differ = "differs" if count == 1 else "differ"
    return f"{count or 'none'} {differ} significantly (corrected p of at most {LEVEL})"


def _cells(compared: Compared, one: Comparison) -> list[object]:
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
    """Return what a test found, in words: ``better in 48 of 60 families, worse in 10, equal in 2``.

    Parameters
    ----------
    compared : Compared
        The methods, compared over tasks or chains.
    one : Comparison
        What the test of two methods found.

    Returns
    -------
    str or list[Markup or str]
    """
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
    """Return a sentence on how many methods the best one is significantly better than; nothing without tests.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or str
        Empty without tests.
    """
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
