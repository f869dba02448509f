"""ROC and precision-recall curves: numbers and pictures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.types import Bools, Floats, Ints
from seqkern.evaluation.fold_tables import FoldResult
from seqkern.evaluation.ranking import mean_roc_curve, precision_recall_curve, roc_curve
from seqkern.report import drawing as draw
from seqkern.report.figure_files import chart, collecting
from seqkern.report.markup import Markup, tag
from seqkern.report.page_frame import short
from seqkern.report.plots import SMALL, unit_panel, with_legend
from seqkern.sequences.labels import Labels

# The numbers behind the curves: ROC corners and their mean, precision-recall points, counts of families.

Curve = tuple[Floats, Floats]
Corners = Curve | tuple[None, None]

SNAP = 400  # places on an axis that can be told apart in a small panel


def roc_points(positive: Bools, decision: Floats) -> Corners:
    """Return the false and true positive rates at the ROC curve's corners; None, None without both classes.

    Equal decision values are one step, and NaN is left out.
    """
    return _corners(roc_curve, positive, decision)


def pr_points(positive: Bools, decision: Floats) -> Corners:
    """Return recall and precision at the precision-recall curve's points; None, None without both classes.

    Between two points precision is not linear in recall: draw steps that rise before the point.
    The area under these steps is the average precision.

    >>> recall, precision = pr_points(np.array([True, False, True, False]), np.array([4.0, 3.0, 2.0, 1.0]))
    >>> recall.tolist(), precision.round(2).tolist()
    ([0.0, 0.5, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.67, 0.5])
    """
    return _corners(precision_recall_curve, positive, decision)


def _corners(curve: Any, positive: Bools, decision: Floats) -> Corners:
    """Return the coordinates of a curve of the samples that have a decision; None, None without both classes."""
    known = ~np.isnan(decision)
    positive, decision = positive[known], decision[known]
    if not positive.any() or positive.all():
        return None, None
    x, y, *_ = curve(positive, decision)
    return x, y


def area(x: Floats, y: Floats) -> float:
    """Return the area under a piecewise linear curve with rising x.

    >>> area(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))
    0.75
    """
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def mean_curve(curves: Iterable[Curve]) -> Curve:
    """Return the mean ROC curve: the mean true positive rate on a grid of false positive rates, from (0, 0)."""
    mean = mean_roc_curve(curves)
    return np.append(0, mean.false), np.append(0, mean.true)


def at_least(values: npt.ArrayLike) -> tuple[Floats, Ints]:
    """Return the corners (x, count) of the curve "number of values ≥ x" from x = 0 to 1; NaN is left out.

    >>> x, count = at_least([0.9, 0.7])
    >>> x.tolist(), count.tolist()
    ([0.0, 0.7, 0.7, 0.9, 0.9, 1.0], [2, 2, 1, 1, 0, 0])
    """
    known = np.sort(np.asarray(values, dtype=float))
    known = known[~np.isnan(known)]
    x = np.concatenate(([0.0], np.repeat(np.clip(known, 0, 1), 2), [1.0]))
    count = np.repeat(np.arange(len(known), -1, -1), 2)
    return x, count


# Curves of several methods in one plot: a static picture, and the data for the page's script.

Kind = Literal["roc", "pr"]
AXES: dict[Kind, tuple[str, str]] = {
    "roc": ("false positive rate", "true positive rate"),
    "pr": ("recall", "precision"),
}
PATTERNS = (("solid", ""), ("dashed", "9 4"), ("dotted", "2.5 3"), ("double", "12 3 2 3"))
"""Styles of lines in a legend and in SVG, like `DASHES`; with the colours they make 32."""

SIDE = 400
LEFT, TOP, RIGHT, BOTTOM = 62, 12, 14, 54


class Line(NamedTuple):
    """A ROC curve (false, true rates) and a precision-recall curve (recall, precision) of the same decisions."""

    roc: Curve
    pr: Curve


@dataclass(frozen=True)
class MethodLines:
    """The curves of one method: the mean first, then one for each fold, None where a fold has none."""

    name: str  # Of the method
    lines: list[Line | None]  # The mean first, then one for each fold; None where a fold has none
    number: int = 0  # Of the method in the study, for its colour


def style_of(number: int) -> tuple[str, str, str]:
    """Return the colour, CSS line style and SVG dashes of a method, given its number from 0.

    >>> style_of(0), style_of(8)[1:]
    (('#0072b2', 'solid', ''), ('dashed', '9 4'))
    """
    pattern = PATTERNS[number // len(draw.COLOURS) % len(PATTERNS)]
    return draw.COLOURS[number % len(draw.COLOURS)], *pattern


def seen_corners(x: npt.ArrayLike, y: npt.ArrayLike) -> Ints:
    """Return the indices of a curve's visible corners: where it turns and reaches another pixel.

    The first and last corners are always included.

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


def simplified(x: npt.ArrayLike, y: npt.ArrayLike) -> Curve:
    """Return the visible corners of a curve.

    >>> x, y = simplified([0, 0.25, 0.5, 1], [0, 0.5, 1, 1])
    >>> x.tolist(), y.tolist()
    ([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    """
    kept = seen_corners(x, y)
    return np.asarray(x, dtype=float)[kept], np.asarray(y, dtype=float)[kept]


def mean_steps(curves: Iterable[Curve], grid: int = 101) -> Curve:
    """Return the mean precision on a recall grid, for precision-recall curves that are step functions.

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
    """Return the mean curves of all methods as SVG; the first method lies on top."""
    panel = draw.Panel((0, 0, SIDE, SIDE), draw.Axis(0, 1), draw.Axis(0, 1))
    paths = []
    for i, method in enumerate(methods):
        if line := method.lines[0]:
            points = panel.points(*simplified(*getattr(line, kind)))
            path = draw.outline((draw.stepped(points) if kind == "pr" else points).tolist())
            colour, _, dashes = style_of(method.number)
            more = {"stroke_dasharray": dashes or None, "data_method": i}
            paths.append(tag("path", d=path, stroke=colour, class_="mean", **more))
    moved = {"transform": f"translate({LEFT} {TOP})"}
    area = tag("g", paths[::-1], class_="area", fill="none", **moved)
    dot = tag("circle", class_="dot", r=5, style="display:none", **moved)
    size = LEFT + SIDE + RIGHT, TOP + SIDE + BOTTOM
    return draw.picture([tag("g", _frame(panel, kind), class_="frame", **moved), area, dot], size, label, font_size=15)


def script_data(methods: Sequence[MethodLines], names: Sequence[str]) -> dict[str, Any]:
    """Return the data for the page's script: all corners, in units of 1/10000."""
    listed = []
    for method in methods:
        lines = [{kind: _flat(getattr(line, kind)) if line else [] for kind in AXES} for line in method.lines]
        listed.append({"name": method.name, "colour": style_of(method.number)[0], "lines": lines})
    return {"names": list(names), "methods": listed}


def _flat(curve: Curve) -> list[int]:
    """Return the visible corners as [x, y, x, y, …]."""
    points = np.round(1e4 * np.column_stack(simplified(*curve))).astype(int)
    return [int(value) for value in points.ravel()]


def _frame(panel: draw.Panel, kind: Kind) -> list[Markup]:
    """Return axes, grid and titles of a plot."""
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = panel.points(share, share).tolist()
        parts += [
            draw.stroke("#e4e1da", [(x, 0), (x, SIDE)], [(0, y), (SIDE, y)], width=1),
            draw.text(f"{share:g}", (x, SIDE + 18)),
            draw.text(f"{share:g}", (-8, y + 5), "end"),
        ]
    if kind == "roc":
        parts.append(draw.stroke(draw.GUIDE, [(0, SIDE), (SIDE, 0)], width=1, dashes="3 4"))
    across, up = AXES[kind]
    parts.append(draw.stroke(draw.INK, [(0, 0), (0, SIDE), (SIDE, SIDE)], width=1))
    return [*parts, draw.text(across, (SIDE / 2, SIDE + 42)), draw.text(up, (16 - LEFT, SIDE / 2), turn=-90)]


# ROC curves, and precision-recall curves beside them.

LARGE = (200.0, 200.0)
"""Width and height of a plot that stands alone."""
MOST_NAMED = 6
"""Classes up to which each has a colour and a name."""


def roc_panel(curves: Sequence[Curve], mean: Curve, label: str, number: int = 0, size: draw.Point = SMALL) -> Markup:
    """Return a small ROC plot: thin lines are folds (or families), the thick line is their mean."""
    colour, panel = style_of(number)[0], unit_panel(*AXES["roc"], size)
    thin = draw.Style(colour, 0.6 if len(curves) <= 12 else 0.3)
    for curve in curves:
        panel.line(*simplified(*curve), thin)
    panel.line(*simplified(*mean), draw.Style(colour, 2.2))
    return chart(panel.drawn(), size, label)


def class_roc_panel(curves: Sequence[tuple[str, Curve]], label: str, size: draw.Point = SMALL) -> Markup:
    """Return a small ROC plot with one line for each class against the rest."""
    panel, few = unit_panel(*AXES["roc"], size), len(curves) <= MOST_NAMED
    entries = []
    for i, (name, curve) in enumerate(curves):
        style = draw.Style(draw.COLOURS[i], 1.2, "", draw.MARKERS[i], 3) if few else draw.Style(draw.LIGHT, 0.5)
        panel.line(*(curve if few else simplified(*curve)), style, (5 + 3 * i, 25))
        entries.append((short(name, 14), style))
    if few:
        panel.legend(entries, "lower right")
    return chart(panel.drawn(), size, label)


def overlay_links(methods: Sequence[MethodLines], label: str) -> Markup | None:
    """Return the button that saves the mean curves of all methods, or None if no figures are being collected."""
    if not collecting():
        return None
    size = 504.0, 250.0
    drawn = draw.panels(size, [(draw.unit(x), draw.unit(y)) for x, y in AXES.values()], square=True)
    drawn[0].guide([0, 1], [0, 1])
    styles = [draw.Style(colour, 1.2, dashes) for colour, _, dashes in (style_of(method.number) for method in methods)]
    shown = [(method, style) for method, style in zip(methods, styles, strict=True) if method.lines[0]]
    for panel, kind in zip(drawn, AXES, strict=True):
        for method, style in reversed(shown):
            panel.line(*simplified(*getattr(method.lines[0], kind)), style, steps=kind == "pr")
    figure = with_legend(drawn, [(short(method.name, 40), style) for method, style in shown], 2, size, label)
    return Markup(figure.partition("</svg>")[2])


# The ROC curves of one cross-validated method.


def roc_picture(results: Sequence[FoldResult], labels: Labels) -> Markup | None:
    """Return the ROC curves as SVG; None for real labels, or if no fold has a curve.

    For two classes it has a curve for each fold and their mean, for several classes the mean curve of each class.
    """
    if labels.kind == "real":
        return None
    binary = labels.kind == "binary"
    classes = labels.classes[1:] if binary else labels.classes
    curves = [(name, _curves(results, name, "decision" if binary else f"decision:{name}")) for name in classes]
    curves = [(name, found) for name, found in curves if found]
    if not curves:
        return None
    if binary:
        (_, found), *_ = curves
        return roc_panel(found, mean_curve(found), f"ROC curves of {len(found)} folds and their mean", size=LARGE)
    means = [(name, mean_curve(found)) for name, found in curves]
    return class_roc_panel(means, "mean ROC curve of each class", LARGE)


def _curves(results: Sequence[FoldResult], name: str, column: str) -> list[Curve]:
    """Return a class's ROC curve in each fold that has one."""
    found = []
    for result in results:
        positive = np.array([str(row["label"]) == name for row in result.decisions])
        false, true = roc_points(positive, np.array([row[column] for row in result.decisions], dtype=np.float64))
        if false is not None and true is not None:
            found.append((false, true))
    return found
