"""A Gram matrix as a small picture with the classes sorted."""

from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.matplotlib_svg import render
from seqkern.figures.names import short

ROWS_AT_ONCE = 16
LEVELS = 48
MOST_NAMED = 6
"""Classes up to which they are named."""


@dataclass
class Thumbnail:
    """A picture of a Gram matrix.

    Attributes
    ----------
    picture : ndarray of float64, shape (p, p)
        Block means.
    bands : list of (str, float, float)
        Name, first and last place of each class, in pixels.
    total, sampled : int
        How many samples there are, and how many stand for all.
    sorted_by : str
        What their order is by, in words.

    Examples
    --------
    >>> picture, edges, sampled = block_means(np.eye(6), order=np.array([0, 2, 4, 1, 3, 5]), pixels=2)
    >>> thumbnail = Thumbnail(picture, [("donor", 0.0, 1.0), ("decoy", 1.0, 2.0)], 6, sampled, "class")
    >>> thumbnail.picture.round(2).tolist()
    [[0.33, 0.0], [0.0, 0.33]]
    """

    picture: npt.NDArray[np.float64]
    bands: list[tuple[str, float, float]]
    total: int
    sampled: int
    sorted_by: str


def block_means(
    matrix: npt.NDArray[np.floating[Any]], order: npt.NDArray[np.int64], pixels: int = 160, cap: int = 1600
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], int]:
    """Return a small picture of a square matrix: means of blocks, read a few rows at a time.

    Parameters
    ----------
    matrix : ndarray or memmap of float, shape (n, n)
        Such as a Gram matrix.
    order : ndarray of int64, shape (n,)
        The order of rows and columns in the picture.
    pixels : int, default 160
        Most pixels on a side.
    cap : int, default 1600
        Of more rows than this, as many evenly spaced ones stand for all.

    Returns
    -------
    picture : ndarray of float64, shape (p, p)
        Block means.
    edges : ndarray of int64, shape (p + 1,)
        Pixel i stands for rows ``order[edges[i]:edges[i + 1]]``.
    sampled : int
        How many rows were read.
    """
    n = len(order)
    side = min(n, pixels)
    chosen = np.arange(n) if n <= cap else np.unique(np.linspace(0, n - 1, cap).round().astype(np.int64))
    edges = np.linspace(0, n, side + 1).round().astype(np.int64)
    pixel = np.searchsorted(edges, chosen, side="right") - 1
    starts = np.searchsorted(pixel, np.arange(side))
    size = np.diff(np.append(starts, len(chosen)))
    rows = order[chosen]
    picture = np.zeros((side, side))
    for first in range(0, len(rows), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        values = np.asarray(matrix[rows[part]], dtype=np.float64)[:, rows]
        np.add.at(picture, pixel[part], np.add.reduceat(values, starts, axis=1))
    return picture / np.outer(size, size), edges, len(chosen)


def _fitting(band: tuple[str, float, float], side: int) -> str:
    """Return the name of a class, cut to the height of its band; empty where that is too low for letters."""
    name, first, last = band
    letters = int(26 * (last - first) / side)
    return short(name, letters) if len(name) <= letters or letters > 4 else ""


def gram_figure(thumbnail: Thumbnail, label: str) -> Markup:
    """Return a Gram matrix's thumbnail with its classes named and a colour bar.

    Parameters
    ----------
    thumbnail : Thumbnail
        What is drawn.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """
    picture = thumbnail.picture
    off = picture[~np.eye(len(picture), dtype=bool)] if len(picture) > 1 else picture.ravel()
    low, high = np.quantile(off, [0.005, 0.995])
    high = high if high > low else low + 1e-9

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        colours = ListedColormap(matplotlib.colormaps["viridis"](np.linspace(0, 1, LEVELS)))
        image = axes.imshow(picture, cmap=colours, vmin=low, vmax=high, interpolation="none")
        for side in ("top", "right"):
            axes.spines[side].set_visible(True)
        axes.set_xticks([])
        axes.set_yticks([])
        if 1 < len(thumbnail.bands) <= MOST_NAMED:
            middle = [(first + last) / 2 - 0.5 for _, first, last in thumbnail.bands]
            names = [_fitting(band, len(picture)) for band in thumbnail.bands]
            axes.set_yticks(middle, names, rotation=90, va="center", fontsize=7)
            axes.tick_params(length=0)
            for _, first, _ in thumbnail.bands[1:]:
                axes.axhline(first - 0.5, color="white", linewidth=0.7)
                axes.axvline(first - 0.5, color="white", linewidth=0.7)
        bar = figure.colorbar(image, ax=axes, shrink=0.85, aspect=18, extend="both", pad=0.03)
        bar.outline.set_linewidth(0.5)
        assert bar.solids is not None
        bar.solids.set_edgecolor("face")
        bar.set_ticks(np.linspace(low, high, 4).tolist())
        bar.set_ticklabels([f"{value:.2f}" for value in np.linspace(low, high, 4)])
        bar.ax.tick_params(labelsize=7)

    return render(draw, (2.5, 2.0), label)
