"""Curves of several methods in one plot: a picture that needs nothing, and the numbers for the page's script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.markup import Markup, tag
from seqkern.figures.colours import COLOURS, INK
from seqkern.figures.curves import SNAP, FloatArray

Kind = Literal["roc", "pr"]
AXES: dict[Kind, tuple[str, str]] = {
    "roc": ("false positive rate", "true positive rate"),
    "pr": ("recall", "precision"),
}
PATTERNS = (("solid", ""), ("dashed", "9 4"), ("dotted", "2.5 3"))
"""Of lines, for a legend and for SVG; with the colours they make 24 styles."""

SIDE = 400
LEFT, TOP, RIGHT, BOTTOM = 62, 12, 14, 54


class Line(NamedTuple):
    """A ROC curve (false, true rates) and a precision-recall curve (recall, precision) of the same decisions."""

    roc: tuple[FloatArray, FloatArray]
    pr: tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class MethodLines:
    """The curves of one method: the mean, and those of single folds.

    Attributes
    ----------
    name : str
        Of the method.
    lines : list of Line or None
        The mean first, then one for each fold; None where a fold has none.
    """

    name: str
    lines: list[Line | None]


def style_of(number: int) -> tuple[str, str, str]:
    """Return colour, CSS line style and SVG dashes of a method.

    Parameters
    ----------
    number : int
        Of the method, from 0.

    Returns
    -------
    (str, str, str)

    Examples
    --------
    >>> style_of(0), style_of(8)[1:]
    (('#0072b2', 'solid', ''), ('dashed', '9 4'))
    """
    pattern = PATTERNS[number // len(COLOURS) % len(PATTERNS)]
    return COLOURS[number % len(COLOURS)], *pattern


def seen_corners(x: npt.ArrayLike, y: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return which corners of a curve can be seen: those in another pixel than the last, where the curve turns.

    Parameters
    ----------
    x, y : array_like of float, shape (corners,)
        Where its corners are, from 0 to 1.

    Returns
    -------
    ndarray of int64
        Indices, the first and the last corner among them.

    Examples
    --------
    >>> seen_corners([0, 0.25, 0.5, 0.5001, 1], [0, 0.5, 1, 1, 1]).tolist()
    [0, 2, 4]
    """
    pixels = np.column_stack([np.round(np.asarray(v) * SNAP).astype(np.int64) for v in (x, y)])
    kept = np.flatnonzero(np.append(True, np.any(np.diff(pixels, axis=0), axis=1)))
    steps = np.diff(pixels[kept], axis=0)
    turns = steps[:-1, 0] * steps[1:, 1] != steps[:-1, 1] * steps[1:, 0]
    if len(kept) > 2:
        kept = kept[np.concatenate(([True], turns, [True]))]
    return np.append(kept[:-1], len(pixels) - 1) if len(kept) > 1 else kept


def mean_steps(curves: Iterable[tuple[FloatArray, FloatArray]], grid: int = 101) -> tuple[FloatArray, FloatArray]:
    """Return the mean precision at each recall of a grid, of precision-recall curves that are steps.

    Parameters
    ----------
    curves : iterable of (recall, precision)
        Corners of each, recall rising.
    grid : int, default 101
        Places from 0 to 1.

    Returns
    -------
    recall, precision : ndarray of float64, shape (grid,)

    Examples
    --------
    >>> recall, precision = mean_steps([(np.array([0.0, 0.5, 1.0]), np.array([1.0, 1.0, 0.5]))], grid=5)
    >>> recall.tolist(), precision.tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [1.0, 1.0, 1.0, 0.5, 0.5])
    """
    places = np.linspace(0, 1, grid)
    values = [
        precision[np.minimum(np.searchsorted(recall, places - 1e-12), len(recall) - 1)] for recall, precision in curves
    ]
    return places, np.mean(values, axis=0)


def plot(methods: Sequence[MethodLines], kind: Kind, label: str) -> Markup:
    """Return the mean curves of all methods as SVG.

    Parameters
    ----------
    methods : sequence of MethodLines
        Drawn with the style of their place; the first lies on top.
    kind : {"roc", "pr"}
        Which curves.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
    """
    paths = []
    for i, method in enumerate(methods):
        colour, _, dashes = style_of(i)
        line = method.lines[0]
        if line is not None:
            path = _path(getattr(line, kind), kind)
            paths.append(
                tag("path", d=path, stroke=colour, stroke_dasharray=dashes or None, data_method=i, class_="mean")
            )
    area = tag("g", paths[::-1], class_="area", transform=f"translate({LEFT} {TOP})", fill="none")
    dot = tag("circle", class_="dot", r=5, transform=f"translate({LEFT} {TOP})", style="display:none")
    return tag(
        "svg",
        _frame(kind),
        area,
        dot,
        viewBox=f"0 0 {LEFT + SIDE + RIGHT} {TOP + SIDE + BOTTOM}",
        role="img",
        aria_label=label,
    )


def script_data(methods: Sequence[MethodLines], names: Sequence[str]) -> dict[str, Any]:
    """Return what the page's script needs: all corners, in 1/10000.

    Parameters
    ----------
    methods : sequence of MethodLines
        As for `plot`.
    names : sequence of str
        Of the lines of a method, the mean first.

    Returns
    -------
    dict of str to Any
    """
    listed = []
    for i, method in enumerate(methods):
        lines = [{kind: _flat(getattr(line, kind)) if line else [] for kind in AXES} for line in method.lines]
        listed.append({"name": method.name, "colour": style_of(i)[0], "lines": lines})
    return {"names": list(names), "methods": listed}


def _flat(curve: tuple[FloatArray, FloatArray]) -> list[int]:
    """Return the corners that can be seen as [x, y, x, y, …]."""
    kept = seen_corners(*curve)
    points = np.column_stack([np.round(np.asarray(v)[kept] * 1e4).astype(int) for v in curve])
    return [int(value) for value in points.ravel()]


def _path(curve: tuple[FloatArray, FloatArray], kind: Kind) -> str:
    """Return a curve as the commands of a path; of precision and recall, as steps."""
    flat = _flat(curve)
    points = [(SIDE * x / 1e4, SIDE * (1 - y / 1e4)) for x, y in zip(flat[::2], flat[1::2], strict=True)]
    (x, y), *rest = points
    if kind == "roc":
        return f"M{x:g} {y:g}" + "".join(f"L{x:g} {y:g}" for x, y in rest)
    return f"M{x:g} {y:g}" + "".join(f"V{y:g}H{x:g}" for x, y in rest)


def _frame(kind: Kind) -> Markup:
    """Return axes, grid and titles of a plot."""
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = LEFT + SIDE * share, TOP + SIDE * (1 - share)
        parts += [
            tag("path", d=f"M{x:g} {TOP}V{TOP + SIDE}M{LEFT} {y:g}H{LEFT + SIDE}", stroke="#e4e1da"),
            tag("text", f"{share:g}", x=f"{x:g}", y=TOP + SIDE + 18, text_anchor="middle"),
            tag("text", f"{share:g}", x=LEFT - 8, y=f"{y + 5:g}", text_anchor="end"),
        ]
    if kind == "roc":
        parts.append(
            tag("path", d=f"M{LEFT} {TOP + SIDE}L{LEFT + SIDE} {TOP}", stroke="#8a8a8a", stroke_dasharray="3 4")
        )
    across, up = AXES[kind]
    middle = TOP + SIDE / 2
    parts += [
        tag("path", d=f"M{LEFT} {TOP}V{TOP + SIDE}H{LEFT + SIDE}", stroke=INK),
        tag("text", across, x=LEFT + SIDE / 2, y=TOP + SIDE + 42, text_anchor="middle"),
        tag("text", up, transform=f"translate(16 {middle:g}) rotate(-90)", text_anchor="middle"),
    ]
    return tag("g", parts, font_size=15, fill=INK, class_="frame")
