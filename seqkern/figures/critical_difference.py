"""The critical-difference diagram: mean ranks of methods, and which of them do not differ significantly.

Demšar 2006, J. Mach. Learn. Res. 7:1-30, figure 1.
"""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.matplotlib_svg import render
from seqkern.figures.numbers import fixed

ROW, BAR = 0.19, 0.11  # inches


def rank_figure(
    names: list[str], ranks: Sequence[float], sets: list[list[int]], difference: float, label: str
) -> Markup:
    """Return the critical-difference diagram: a scale of ranks, a name for each method, a bar for each set.

    Parameters
    ----------
    names : list of str
        Of the methods.
    ranks : sequence of float
        Mean rank of each.
    sets : list of list of int
        Methods that a bar joins.
    difference : float
        The critical one, drawn to scale above.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """
    order = sorted(range(len(names)), key=lambda i: ranks[i])
    half = (len(order) + 1) // 2
    k, top = len(names), 0.55
    below = 0.12 + BAR * len(sets)
    height = top + below + ROW * half + 0.1

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))
        left, right = 2.2, 4.4  # of the scale, in inches

        def place(rank: float) -> float:
            return left + (rank - 1) * (right - left) / (k - 1)

        axes.set(xlim=(0, 6.6), ylim=(height, 0))
        axes.axis("off")
        style: dict[str, Any] = {"color": "#333333", "linewidth": 0.8}
        axes.plot([left, right], [top, top], **style)
        step = 1 if k <= 12 else 5
        for rank in sorted({1, k, *range(step, k, step)} if step > 1 else range(1, k + 1)):
            axes.plot([place(rank)] * 2, [top - 0.07, top], **style)
            axes.text(place(rank), top - 0.1, str(rank), ha="center", va="bottom", fontsize=7.5)
        width = min(difference, k - 1)
        axes.plot([left, place(1 + width)], [0.22, 0.22], color="#0b3d66", linewidth=1.2, marker="|", markersize=6)
        more = "" if width == difference else " (wider than the scale)"
        text = f"critical difference {fixed(difference, 2)}{more}"
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
            text = f"{names[i]}  {fixed(ranks[i], 2)}" if first else f"{fixed(ranks[i], 2)}  {names[i]}"
            axes.text(
                edge + (-0.05 if first else 0.05), y, text, ha="right" if first else "left", va="center", fontsize=8
            )

    return render(draw, (6.6, height), label)
