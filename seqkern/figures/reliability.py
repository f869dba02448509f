"""Reliability diagrams: observed shares against probabilities."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.evaluation.reliability import Bin
from seqkern.figures.colours import COLOURS, MARKERS
from seqkern.figures.matplotlib_svg import render
from seqkern.figures.names import short
from seqkern.figures.unit_axes import unit_axes


def reliability_panel(bins: Sequence[Bin], label: str) -> Markup:
    """Return a small plot of observed shares against probabilities.

    Parameters
    ----------
    bins : sequence of Bin
        The points, by rising probability.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """

    def draw(figure: Figure) -> None:
        axes = unit_axes(figure)
        x, y = [one.predicted for one in bins], [one.observed for one in bins]
        axes.vlines(x, [one.low for one in bins], [one.high for one in bins], color="#7fa7c9", linewidth=0.9)
        axes.plot(x, y, color="#0b3d66", linewidth=1.2, marker="o", markersize=2.5)
        axes.set(xlabel="probability", ylabel="share of positives")

    return render(draw, (2.0, 2.0), label)


def class_reliability_panel(lines: Sequence[tuple[str, Sequence[Bin]]], label: str) -> Markup:
    """Return a small plot of observed shares against probabilities with one line for each class.

    Parameters
    ----------
    lines : sequence of (str, sequence of Bin)
        Name and points of each class.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """

    def draw(figure: Figure) -> None:
        axes = unit_axes(figure)
        for i, (name, bins) in enumerate(lines):
            x, y = [one.predicted for one in bins], [one.observed for one in bins]
            style: dict[str, Any] = {
                "color": COLOURS[i % 8],
                "marker": MARKERS[i % 8],
                "markersize": 2.5,
                "linewidth": 1.0,
            }
            axes.plot(x, y, label=short(name, 14), **style)
        axes.set(xlabel="probability", ylabel="share of the class")
        if len(lines) <= len(COLOURS):
            axes.legend(loc="upper left", fontsize=6.5, handlelength=1.8, borderpad=0.1, labelspacing=0.2)

    return render(draw, (2.0, 2.0), label)
