"""Mean ranks of many methods over many tasks: Friedman's test in words, and the critical-difference diagram.

Demšar 2006, J. Mach. Learn. Res. 7:1-30, figure 1.
"""

import math
from collections.abc import Collection

from seqkern.core.markup import Markup, tag
from seqkern.evaluation.friedman import FriedmanTest, cliques
from seqkern.figures.critical_difference import rank_figure
from seqkern.figures.names import mark, short
from seqkern.figures.numbers import fixed, number, plural
from seqkern.report.compared import LEVEL, Compared
from seqkern.report.sentences import footnote, metric
from seqkern.report.view import method_name, paragraph

MOST_DRAWN = 40


def rank_parts(compared: Compared, name: str, transductive: Collection[str] = ()) -> list[Markup]:
    """Return a paragraph on Friedman's test and the diagram; nothing where it was not made.

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
        A paragraph, and a figure or a note.
    """
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
    """Return sets of methods, as indices, that the diagram joins: all of them where Friedman's test finds nothing.

    Parameters
    ----------
    test : FriedmanTest
        Of all methods.
    difference : float
        The critical difference of mean ranks.

    Returns
    -------
    list of list of int
        Places of the methods in ``test.methods``.
    """
    if test.p > LEVEL:
        return [test.ranks.argsort(kind="stable").tolist()]
    return cliques(test.ranks, difference)


def diagram_sentence(test: FriedmanTest, difference: float) -> str:
    """Return what the bars of the diagram mean.

    Parameters
    ----------
    test : FriedmanTest
        Of all methods.
    difference : float
        The critical difference of mean ranks.

    Returns
    -------
    str
    """
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
    """Return a p-value as plain text, a small one with an exponent.

    Parameters
    ----------
    p : float
        The p-value.

    Returns
    -------
    str
        Three decimals, or from 0.001 down ``1.2e-05``.

    Examples
    --------
    >>> shown_p(0.0312), shown_p(0.000012)
    ('0.031', '1.2e-05')
    """
    return fixed(p) if p >= 0.001 else f"{p:.1e}"
