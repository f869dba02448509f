"""The importance of letters and k-mers at every position as a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.matplotlib_svg import DIVERGING_MAP, render

TOP_WORDS = 12
ROW, BAR, REST = 0.165, 0.75, 0.62
WIDTH = 9.2


class Importance(Protocol):
    """What a heat map is drawn of; see `seqkern.explain.poim.Importance`."""

    @property
    def length(self) -> int:
        """Residues of a window."""

    @property
    def matrices(self) -> Mapping[int, npt.NDArray[np.float64]]:
        """By number of residues: the importance of each k-mer at each position."""

    def words(self, order: int) -> list[str]:
        """Return the k-mers of a length.

        Parameters
        ----------
        order : int
            Their residues.

        Returns
        -------
        list of str
            In the order of the columns of `matrices`.
        """

    def position_weights(self) -> npt.NDArray[np.float64]:
        """Return the importance of each position."""


def top_words(matrix: npt.NDArray[np.float64], words: Sequence[str], most: int = TOP_WORDS) -> list[int]:
    """Return the columns of a matrix with the largest absolute values, the largest first.

    Parameters
    ----------
    matrix : ndarray of float64, shape (positions, k-mers)
        What each k-mer at each position matters.
    words : sequence of str
        The k-mers; of equal values, the first in the alphabet comes first.
    most : int
        How many, at most.

    Returns
    -------
    list of int

    Examples
    --------
    >>> top_words(np.array([[0.1, -0.9, 0.3], [0.5, 0.2, 0.3]]), ["AC", "GT", "TT"], most=2)
    [1, 0]
    """
    strength = np.abs(matrix).max(axis=0, initial=0.0)
    return sorted(range(len(words)), key=lambda column: (-strength[column], words[column]))[:most]


def heat_map(importance: Importance, label: str, *, first: int = 1, section: tuple[int, int] | None = None) -> Markup:
    """Return the heat map as inline SVG.

    One block of rows for each order: all letters, then of longer k-mers those that matter most in what is drawn, each
    at the position where it starts. Above it, how much each position matters: the sum over letters.

    Parameters
    ----------
    importance : Importance
        What is drawn.
    label : str
        What is shown, for readers who do not see it.
    first : int, default 1
        What the first position is called: its offset from the site, or 1.
    section : (int, int), optional
        First and last position to be drawn, by their names; by default all.

    Returns
    -------
    Markup
        SVG.
    """
    last = first + importance.length - 1
    low, high = (first, last) if section is None else (max(first, section[0]), min(last, section[1]))
    cut = slice(low - first, high - first + 1)
    blocks = []
    for order, matrix in importance.matrices.items():
        words, shown = importance.words(order), matrix[cut]
        most = len(words) if order == 1 else TOP_WORDS
        columns = list(range(len(words))) if order == 1 else top_words(shown, words, most)
        blocks.append((order, [words[column] for column in columns], shown[:, columns].T))
    weights = importance.position_weights()[cut]
    heights = [BAR, *(ROW * len(words) for _, words, _ in blocks)]

    def draw(figure: Figure) -> None:
        grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
        top = figure.add_subplot(grid[0])
        top.bar(np.arange(low, high + 1), weights, width=0.85, color="#777777", linewidth=0)
        top.set(ylim=(0, None), ylabel="sum")
        top.locator_params(axis="y", nbins=2)
        axes = [top]
        for place, (order, words, values) in enumerate(blocks, start=1):
            axes.append(figure.add_subplot(grid[place], sharex=top))
            _block(figure, axes[-1], axes, order, words, values, low)
        for ax in axes[:-1]:
            ax.tick_params(labelbottom=False)
        for ax in axes:
            if first <= 0 and low <= 0 <= high:
                ax.axvline(-0.5, color="#1c1c1c", linewidth=0.6, dashes=(3, 2))
        top.set_xlim(low - 0.5, high + 0.5)
        locator: Any = top.xaxis.get_major_locator()
        locator.set_params(integer=True, nbins=18)
        axes[-1].set_xlabel("offset from the site" if first <= 0 else "position")

    return render(draw, (WIDTH, REST + sum(heights) + 0.06 * len(heights)), label)


def _block(
    figure: Figure,
    ax: Axes,
    axes: list[Axes],
    order: int,
    words: Sequence[str],
    values: npt.NDArray[np.float64],
    low: int,
) -> None:
    """Draw the k-mers of one order, each a row that starts at the name `low`."""
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    ends = (low - 0.5, low + values.shape[1] - 0.5, len(words) - 0.5, -0.5)
    image = ax.imshow(
        values, cmap=DIVERGING_MAP, vmin=-most, vmax=most, aspect="auto", interpolation="none", extent=ends
    )
    ax.set_yticks(range(len(words)), words, fontsize=6.5, family="monospace")
    ax.tick_params(axis="y", length=0)
    ax.set_ylabel("letter" if order == 1 else f"{order} letters")
    bar = figure.colorbar(image, ax=ax, pad=0.01, aspect=max(4, 5 * len(words) / 4), fraction=0.03)
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(labelsize=6.5)
    bar.ax.locator_params(nbins=3)
