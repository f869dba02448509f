"""Precision-recall curves of a few rankings in one plot, with the line of chance."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.colours import COLOURS
from seqkern.figures.curves import FloatArray
from seqkern.figures.matplotlib_svg import render

STYLES = ("solid", "dashed", "dashdot", "dotted")
CHANCE = "#999999"


def precision_figure(curves: Sequence[tuple[str, tuple[FloatArray, FloatArray]]], chance: float, label: str) -> Markup:
    """Return a plot of precision against recall.

    Parameters
    ----------
    curves : sequence of (str, (recall, precision))
        Name of each ranking, and the points of its curve; the most important first.
    chance : float
        Precision of a random ranking.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for i, (name, (recall, precision)) in enumerate(curves):
            axes.plot(
                np.round(recall, 4),
                np.round(precision, 4),
                color=COLOURS[i % len(COLOURS)],
                linestyle=STYLES[i % len(STYLES)],
                linewidth=1.8 if i == 0 else 1.1,
                drawstyle="steps-pre",
                label=name,
            )
        axes.axhline(chance, color=CHANCE, linewidth=0.8, dashes=(2, 2), label="chance")
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.03), xlabel="recall", ylabel="precision")
        figure.legend(loc="outside lower center", ncols=2, fontsize=7)

    return render(draw, (4.4, 3.4), label)
