"""How many families (tasks, data sets) reach each score, one curve for each method."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.colours import COLOURS, DASHES, MARKERS
from seqkern.figures.matplotlib_svg import render
from seqkern.figures.names import mark, short


def families_figure(
    series: Sequence[tuple[str, str, npt.NDArray[np.float64], npt.NDArray[np.int64]]],
    metric_name: str,
    many: str,
    label: str,
    transductive: Collection[str] = (),
) -> Markup:
    """Return the curve "number of families with at least this score" of several methods.

    The first eight kernels have colours and filled markers, the others thin grey lines with open markers; solvers have
    dashes. No two methods look alike up to sixteen kernels and four solvers.

    Parameters
    ----------
    series : sequence of (kernel, solver, x, count)
        Names, and the corners of the curve as `at_least` returns them; the best first.
    metric_name : str
        Of the score.
    many : str
        What is counted: ``"families"``.
    label : str
        What is shown, for readers who do not see it.
    transductive : collection of str
        Kernels that have a mark in the legend.

    Returns
    -------
    Markup
        SVG.
    """
    kernels = list(dict.fromkeys(item[0] for item in series))
    solvers = list(dict.fromkeys(item[1] for item in series))
    width = 28 if len(solvers) == 1 else 24
    names = [f"{short(item[0], width)}{mark(item[0], transductive)}" for item in series]
    if len(solvers) > 1:
        names = [f"{name}, {short(item[1], 10)}" for name, item in zip(names, series, strict=True)]
    columns = 2 if max(map(len, names)) <= 28 else 1  # as wide as the figure

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for line, (kernel, solver, x, count) in enumerate(series):
            rank = kernels.index(kernel)
            # markers at heights of their own, so that they do not hide one another where lines run together
            gap = max(len(x) // 6, 1)
            first = (2 * line * gap) // len(series) % gap
            style = _line_style(rank, solvers.index(solver)) | {"markevery": (first, gap)}
            axes.plot(np.round(x, 4), count, label=names[line], **style)
        low = min(float(np.min(x[1:-1], initial=1)) for _, _, x, _ in series)
        low = min(np.floor(10 * low) / 10, 0.9)
        axes.set(xlim=(low, 1), xlabel=f"{metric_name} of at least", ylabel=f"number of {many}")
        axes.set_ylim(bottom=0)
        locator: Any = axes.yaxis.get_major_locator()
        locator.set_params(integer=True)
        figure.legend(loc="outside lower center", ncols=columns, fontsize=7.5, handlelength=3, columnspacing=1.2)

    rows = -(-len(series) // columns)
    return render(draw, (4.2, 3.1 + 0.17 * rows), label)


def _line_style(rank: int, solver: int) -> dict[str, Any]:
    """Return the style of a line by its kernel's rank and its solver's number."""
    shape: dict[str, Any] = {"linestyle": DASHES[solver % 4], "marker": MARKERS[rank % 8], "markersize": 4}
    if rank < len(COLOURS):
        return shape | {"color": COLOURS[rank], "linewidth": 1.3, "zorder": 3 - rank / 100}
    return shape | {"color": "#8a8a8a", "linewidth": 0.7, "markerfacecolor": "white", "markeredgewidth": 0.7}
