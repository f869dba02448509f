"""Mean ranks of many methods over many tasks: Friedman's test in words, and the critical-difference diagram.

Demšar 2006, J. Mach. Learn. Res. 7:1-30, figure 1.
"""

import math

from seqkern.core.markup import Markup, number, plural, tag
from seqkern.evaluation.friedman import cliques
from seqkern.report.comparisons import LEVEL
from seqkern.report.figures import render, short
from seqkern.report.view import method_name, paragraph
from seqkern.report.words import footnote, mark, metric

MOST_DRAWN = 40
ROW, BAR = 0.19, 0.11  # inches


def rank_parts(compared, name, transductive=()):
    """Return a paragraph on Friedman's test and the diagram; nothing where it was not made.

    Parameters
    ----------
    compared : Compared
    name : str
        Of the data set, for captions.
    transductive : collection of str
        Kernels that have a mark.
    """
    test = compared.friedman
    if test is None:
        return []
    score = metric(compared.key).name
    over = plural(test.tasks, compared.word, compared.words)
    how = "exact" if test.exact else "Iman and Davenport"
    differ = "differ" if test.p <= LEVEL else "do not differ"
    found = [
        f"Friedman's test asks whether the mean ranks of all {len(test.methods)} methods by {score} over "
        f"{over} differ by more than chance: χ² = {number(test.statistic, 2)}",
        "" if math.isinf(test.f) else f", F = {number(test.f, 2)}",
        f", p = {shown_p(test.p)} ({how}): they {differ} beyond chance.",
    ]
    if test.left_out:
        found.append(
            f" {plural(test.left_out, compared.word, compared.words)} without a score of every method left out."
        )
    parts = [paragraph(Markup("".join(found)))]
    if len(test.methods) > MOST_DRAWN:
        text = f"Of more than {MOST_DRAWN} methods no diagram is drawn; the mean ranks are in comparisons.tsv."
        return [*parts, paragraph(text, class_="note")]
    sets = groups(compared)
    best = compared.methods[min(range(len(test.ranks)), key=lambda i: test.ranks[i])]
    caption = [
        f"{name}: mean rank of each method by {score}, 1 the best; best of all ",
        method_name(best, transductive),
        ". ",
        diagram_sentence(compared),
        footnote(compared.methods, transductive),
    ]
    names = [f"{short(kernel, 22)}{mark(kernel, transductive)}, {short(solver, 10)}" for kernel, solver in test.methods]
    label = f"{name}: critical-difference diagram by {score}, {len(names)} methods"
    svg = rank_figure(names, test.ranks, sets, compared.critical_difference, label)
    return [*parts, tag("figure", svg, tag("figcaption", caption), class_="wide")]


def groups(compared):
    """Return sets of methods, as indices, that the diagram joins: all of them where Friedman's test finds nothing."""
    if compared.friedman.p > LEVEL:
        return [compared.friedman.ranks.argsort(kind="stable").tolist()]
    return cliques(compared.friedman.ranks, compared.critical_difference)


def diagram_sentence(compared):
    """Return what the bars of the diagram mean."""
    if compared.friedman.p > LEVEL:
        return "Friedman's test finds no difference, so that no two methods are told apart, and one bar joins all."
    sentence = (
        f"A bar joins methods whose mean ranks differ by no more than Nemenyi's critical difference, "
        f"{number(compared.critical_difference, 2)}: they are not told apart. Methods that no bar joins differ beyond "
        f"chance (at {LEVEL}, over all pairs together)."
    )
    if any(len(members) == len(compared.methods) for members in groups(compared)):
        sentence += " Here one bar joins all: the ranks as a whole differ, but of no two methods can it be said."
    return sentence


def shown_p(p):
    """Return a p-value as plain text, a small one with an exponent."""
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


def rank_figure(names, ranks, sets, difference, label):
    """Return the critical-difference diagram: a scale of ranks, a name for each method, a bar for each set.

    Parameters
    ----------
    names : list of str
    ranks : sequence of float
        Mean rank of each.
    sets : list of list of int
        Methods that a bar joins.
    difference : float
        Drawn to scale above.
    label : str
    """
    order = sorted(range(len(names)), key=lambda i: ranks[i])
    half = (len(order) + 1) // 2
    k, top = len(names), 0.55
    below = 0.12 + BAR * len(sets)
    height = top + below + ROW * half + 0.1

    def draw(figure):
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))
        left, right = 2.2, 4.4  # of the scale, in inches

        def place(rank):
            return left + (rank - 1) * (right - left) / (k - 1)

        axes.set(xlim=(0, 6.6), ylim=(height, 0))
        axes.axis("off")
        style = {"color": "#333333", "linewidth": 0.8}
        axes.plot([left, right], [top, top], **style)
        step = 1 if k <= 12 else 5
        for rank in sorted({1, k, *range(step, k, step)} if step > 1 else range(1, k + 1)):
            axes.plot([place(rank)] * 2, [top - 0.07, top], **style)
            axes.text(place(rank), top - 0.1, str(rank), ha="center", va="bottom", fontsize=7.5)
        width = min(difference, k - 1)
        axes.plot([left, place(1 + width)], [0.22, 0.22], color="#0b3d66", linewidth=1.2, marker="|", markersize=6)
        more = "" if width == difference else " (wider than the scale)"
        text = f"critical difference {difference:.2f}{more}"
        axes.text(place(1 + width) + 0.08, 0.22, text, ha="left", va="center", fontsize=7.5)
        for bar, members in enumerate(sets):
            ends = [place(min(ranks[i] for i in members)) - 0.03, place(max(ranks[i] for i in members)) + 0.03]
            y = top + 0.1 + BAR * bar
            axes.plot(ends, [y, y], color="#d55e00", linewidth=2.6, solid_capstyle="butt")
        for place_in_order, i in enumerate(order):
            first = place_in_order < half
            row = place_in_order if first else len(order) - 1 - place_in_order
            y, x = top + below + ROW * (row + 0.6), place(ranks[i])
            edge = left - 0.08 if first else right + 0.08
            axes.plot([x, x, edge], [top, y, y], color="#888888", linewidth=0.6)
            axes.plot([x], [top], ".", color="#333333", markersize=4)
            text = f"{names[i]}  {ranks[i]:.2f}" if first else f"{ranks[i]:.2f}  {names[i]}"
            axes.text(
                edge + (-0.05 if first else 0.05), y, text, ha="right" if first else "left", va="center", fontsize=8
            )

    return render(draw, (6.6, height), label)
