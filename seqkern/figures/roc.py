"""ROC curves, and precision-recall curves beside them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.colours import COLOURS, MARKERS
from seqkern.figures.curves import FloatArray, simplified
from seqkern.figures.figure_files import collecting
from seqkern.figures.matplotlib_svg import render
from seqkern.figures.names import short
from seqkern.figures.overlay import AXES, MethodLines, style_of
from seqkern.figures.unit_axes import unit_axes

MOST_NAMED = 6
"""Classes up to which each has a colour and a name."""


def roc_panel(
    curves: Sequence[tuple[FloatArray, FloatArray]], mean: tuple[FloatArray, FloatArray], label: str
) -> Markup:
    """Return a small ROC plot: thin lines are folds (or families), the thick one is their mean.

    Parameters
    ----------
    curves : sequence of (false, true)
        Rates at the corners of each.
    mean : (false, true)
        Rates of their mean.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """

    def draw(figure: Figure) -> None:
        axes = unit_axes(figure)
        width = 0.7 if len(curves) <= 12 else 0.35
        for curve in curves:
            axes.plot(*simplified(*curve), color="#7fa7c9", linewidth=width)
        axes.plot(*simplified(*mean), color="#0b3d66", linewidth=1.8)
        axes.set(xlabel="false positive rate", ylabel="true positive rate")

    return render(draw, (2.0, 2.0), label)


def class_roc_panel(curves: Sequence[tuple[str, tuple[FloatArray, FloatArray]]], label: str) -> Markup:
    """Return a small ROC plot with one line for each class against the rest.

    Parameters
    ----------
    curves : sequence of (str, (false, true))
        Name of each class, and the rates at the corners of its curve.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """

    def draw(figure: Figure) -> None:
        axes = unit_axes(figure)
        for i, (name, curve) in enumerate(curves):
            if len(curves) > MOST_NAMED:
                axes.plot(*simplified(*curve), color="#7fa7c9", linewidth=0.5)
                continue
            style: dict[str, Any] = {
                "color": COLOURS[i],
                "marker": MARKERS[i],
                "markersize": 3,
                "markevery": (5 + 3 * i, 25),
            }
            axes.plot(*np.round(curve, 4), linewidth=1.2, label=short(name, 14), **style)
        axes.set(xlabel="false positive rate", ylabel="true positive rate")
        if len(curves) <= MOST_NAMED:
            axes.legend(loc="lower right", fontsize=6.5, handlelength=1.8, borderpad=0.1, labelspacing=0.25)

    return render(draw, (2.0, 2.0), label)


def overlay_links(methods: Sequence[MethodLines], label: str) -> Markup | None:
    """Return links to the mean curves of all methods as files; None where no figures are collected.

    Parameters
    ----------
    methods : sequence of MethodLines
        As on the page.
    label : str
        What is shown.

    Returns
    -------
    Markup or None
    """
    if not collecting():
        return None

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2)
        for axes, (kind, titles) in zip(panels, AXES.items(), strict=True):
            for i, method in reversed(list(enumerate(methods))):
                colour, style, _ = style_of(i)
                line = method.lines[0]
                if line is not None:
                    steps = "steps-pre" if kind == "pr" else "default"
                    named = {"label": short(method.name, 40), "drawstyle": steps}
                    axes.plot(*getattr(line, kind), color=colour, linestyle=style, linewidth=1.2, **named)
            axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel=titles[0], ylabel=titles[1], aspect="equal")
        panels[0].plot([0, 1], [0, 1], color="#999999", linewidth=0.6, dashes=(2, 2))
        handles, names = panels[1].get_legend_handles_labels()
        figure.legend(handles[::-1], names[::-1], loc="outside lower center", ncols=2, fontsize=7)

    drawn = render(draw, (7.0, 3.6 + 0.085 * len(methods)), label)
    return Markup(drawn[drawn.index("</svg>") + len("</svg>") :])
