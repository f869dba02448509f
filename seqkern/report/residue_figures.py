"""Figures of residues: segment lengths, accuracy near chain ends, and the importance of letters around a residue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from seqkern.report.figure_files import DIVERGING_MAP, render
from seqkern.report.markup import COLOURS, DASHES, MARKERS, Markup
from seqkern.report.page_frame import short
from seqkern.report.profile_pictures import NAMES, shape_of

END = "end"
"""Label, among letters, of positions beyond an end of the chain."""
LONGEST: dict[str | None, int] = {"helix": 36, "strand": 18}
OTHER_LONGEST = 24
"""Maximum segment length to draw, in residues, for states whose shape is not in `LONGEST`."""
LETTER_ROW = 0.135
PANELS = 4


class LetterImportance(NamedTuple):
    """The importance of letters around a residue for its state, with values of shape (states, letters, places)."""

    values: npt.NDArray[np.float64]  # shape (states, letters, places)
    states: list[str]
    letters: list[str]
    places: npt.NDArray[np.int64]  # Distances from the residue

    @property
    def inside(self) -> list[bool]:
        """Return, for each letter, whether it stands for a residue of the chain."""
        return [letter != END for letter in self.letters]


def state_title(state: str) -> str:
    """Return the name of a state with its letter, or the name that the data give it.

    >>> state_title("H"), state_title("membrane")
    ('helix (H)', 'membrane')
    """
    known = NAMES.get(state.upper(), shape_of(state)) if len(state) == 1 else None
    return f"{known} ({state})" if known else short(state, 18)


def lengths_figure(
    state: str,
    true: npt.NDArray[np.int64],
    predicted: Sequence[tuple[str, npt.NDArray[np.int64]]],
    label: str,
) -> Markup:
    """Return a plot of the number of segments of one state with at least each length, on a log scale.

    True segments are bars, predicted ones lines. Such cumulative counts never increase with length; plain counts
    would be 0 for some lengths, which a logarithmic axis cannot show.
    """
    longest = LONGEST.get(shape_of(state) if len(state) == 1 else None, OTHER_LONGEST)
    x = np.arange(1, longest + 1)

    def counted(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        counts = (lengths[:, None] >= x).sum(axis=0).astype(float)
        return np.where(counts > 0, counts, np.nan)

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.bar(x, counted(true), width=0.9, color="#c9c5bb", linewidth=0, label="true")
        for i, (name, lengths) in enumerate(predicted):
            axes.plot(x, counted(lengths), label=short(name, 22), **_line(i, 1.2))
        axes.set_xticks([1, *range(longest // 3, longest + 1, longest // 3)])
        axes.set(title=state_title(state), xlabel="minimum length (residues)", ylabel="segments")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("")
        axes.set_ylim(0.8, 20 * axes.dataLim.y1)  # with room for the legend
        axes.title.set_fontsize(8.5)
        lines, names = axes.get_legend_handles_labels()
        order = sorted(range(len(names)), key=lambda i: not isinstance(lines[i], BarContainer))
        handles = [lines[i] for i in order]
        axes.legend(
            handles, [names[i] for i in order], loc="upper right", fontsize=6.5, handlelength=2.2, borderpad=0.1
        )

    return render(draw, (3.0, 2.3), label)


def ends_figure(series: Sequence[tuple[str, npt.NDArray[np.float64]]], distances: Sequence[int], label: str) -> Markup:
    """Return a plot of the accuracy by the distance to the N end and to the C end of the chain."""
    x = np.arange(len(distances))

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        for end, axes in enumerate((left, right)):
            for i, (name, shares) in enumerate(series):
                axes.plot(x, np.round(shares[end], 4), label=None if end else short(name, 34), **_line(i, 1.4))
            axes.set_xticks(x, _ranges(distances), fontsize=6.5, rotation=45)
            axes.set_xlim(-0.5, len(x) - 0.5)
        right.invert_xaxis()
        left.set(xlabel="residues from the N end", ylabel="share of residues right")
        right.set(xlabel="residues from the C end")
        figure.legend(loc="outside lower center", ncols=2, fontsize=7.5, handlelength=3, columnspacing=1.2)

    return render(draw, (7.6, 2.8 + 0.17 * -(-len(series) // 2)), label)


def _ranges(distances: Sequence[int]) -> list[str]:
    """Return the names of ranges, given the start of each."""
    ends: list[int | None] = [*(first - 1 for first in distances[1:]), None]
    names: dict[int | None, str] = {None: "≥ {}"}
    return [str(a) if a == b else names.get(b, "{}–{}").format(a, b) for a, b in zip(distances, ends, strict=True)]


def _line(i: int, width: float) -> dict[str, Any]:
    """Return the line style of method number i: colour, dashes and marker each identify it."""
    style: dict[str, Any] = {
        "color": COLOURS[i % len(COLOURS)],
        "linestyle": DASHES[i % len(DASHES)],
        "linewidth": width,
    }
    return style | {"marker": MARKERS[i % len(MARKERS)], "markersize": 3, "markevery": (i % 4, 4)}


def letters_figure(importance: LetterImportance, label: str) -> Markup:
    """Return heat maps of letters and places around a residue, one for each state, all on the same scale."""
    values, states = importance.values, importance.states
    columns = min(len(states), PANELS if len(states) > 3 else 3)
    rows = -(-len(states) // columns)
    most = float(np.quantile(np.abs(values[:, importance.inside]), 0.995)) or 1.0
    ends = (importance.places[0] - 0.5, importance.places[-1] + 0.5, len(importance.letters) - 0.5, -0.5)
    step = 5 if len(importance.places) > 11 else 2

    def draw(figure: Figure) -> None:
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes in grid.ravel()[len(states) :]:
            axes.set_visible(False)
        for axes, state, matrix in zip(grid.ravel(), states, values, strict=False):
            image = axes.imshow(
                matrix, cmap=DIVERGING_MAP, vmin=-most, vmax=most, aspect="auto", interpolation="none", extent=ends
            )
            axes.set_title(state_title(state), fontsize=8.5)
            axes.set_yticks(range(len(importance.letters)), importance.letters, fontsize=6.5, family="monospace")
            axes.set_xticks([p for p in importance.places.tolist() if p % step == 0])
            axes.tick_params(axis="y", length=0)
            axes.axvline(0, color="#1c1c1c", linewidth=0.5, dashes=(2, 2))
        for axes in grid[-1]:
            axes.set_xlabel("place from the residue")
        bar = figure.colorbar(image, ax=grid, pad=0.01, aspect=28, fraction=0.03, extend="both")
        bar.outline.set_linewidth(0.5)
        bar.ax.tick_params(labelsize=6.5)

    return render(draw, (9.2, rows * (LETTER_ROW * len(importance.letters) + 0.35) + 0.3), label)
