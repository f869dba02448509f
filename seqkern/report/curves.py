"""ROC and precision-recall curves: numbers and pictures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from seqkern.evaluation.fold_tables import FoldResult
from seqkern.evaluation.ranking import mean_roc_curve, precision_recall_curve, roc_curve
from seqkern.report.figure_files import collected_figures, collecting, render, unit_axes
from seqkern.report.markup import COLOURS, INK, MARKERS, Markup, tag
from seqkern.report.page_frame import short
from seqkern.sequences.labels import Labels

# The numbers behind the curves: ROC corners and their mean, precision-recall points, counts of families.

FloatArray = npt.NDArray[np.float64]

SNAP = 400  # places on an axis that can be told apart in a small panel


def roc_points(
    positive: npt.NDArray[np.bool_], decision: FloatArray
) -> tuple[FloatArray, FloatArray] | tuple[None, None]:
    """Return the false and true positive rates at the ROC curve's corners; None, None without both classes.

    Equal decision values are one step, and NaN is left out.
    """
    positive, decision = _known(positive, decision)
    if not positive.any() or positive.all():
        return None, None
    curve = roc_curve(positive, decision)
    return curve.false, curve.true


def pr_points(
    positive: npt.NDArray[np.bool_], decision: FloatArray
) -> tuple[FloatArray, FloatArray] | tuple[None, None]:
    """Return recall and precision at the precision-recall curve's points; None, None without both classes.

    Between two points precision is not linear in recall: draw steps that rise before the point
    (``drawstyle="steps-pre"``). The area under these steps is the average precision.

    >>> recall, precision = pr_points(np.array([True, False, True, False]), np.array([4.0, 3.0, 2.0, 1.0]))
    >>> recall.tolist(), precision.round(2).tolist()
    ([0.0, 0.5, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.67, 0.5])
    """
    positive, decision = _known(positive, decision)
    if not positive.any() or positive.all():
        return None, None
    curve = precision_recall_curve(positive, decision)
    return curve.recall, curve.precision


def _known(positive: npt.NDArray[np.bool_], decision: FloatArray) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Return the labels and decision values of the samples that have a decision."""
    known = ~np.isnan(decision)
    return positive[known], decision[known]


def area(x: FloatArray, y: FloatArray) -> float:
    """Return the area under a piecewise linear curve with rising x.

    >>> area(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))
    0.75
    """
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def simplified(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return a curve snapped to a fine grid, without the points on a line through their neighbours.

    >>> x, y = simplified([0, 0.25, 0.5, 1], [0, 0.5, 1, 1])
    >>> x.tolist(), y.tolist()
    ([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    """
    points = np.column_stack([np.round(np.asarray(v) * SNAP).astype(int) for v in (x, y)])
    points = points[np.append(True, np.any(np.diff(points, axis=0), axis=1))]
    steps = np.diff(points, axis=0)
    turns = steps[:-1, 0] * steps[1:, 1] != steps[:-1, 1] * steps[1:, 0]
    points = points[np.concatenate(([True], turns, [True]))] if len(points) > 2 else points
    return points[:, 0] / SNAP, points[:, 1] / SNAP


def mean_curve(curves: Iterable[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Return the mean ROC curve: the mean true positive rate on a grid of false positive rates, from (0, 0)."""
    mean = mean_roc_curve(curves)
    return np.append(0, mean.false), np.append(0, mean.true)


def at_least(values: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.int64]]:
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
AXES: "dict[Kind, tuple[str, str]]" = {
    "roc": ("false positive rate", "true positive rate"),
    "pr": ("recall", "precision"),
}
PATTERNS = (("solid", ""), ("dashed", "9 4"), ("dotted", "2.5 3"))
"""Styles of lines in a legend and in SVG; with the colours they make 24."""

SIDE = 400
LEFT, TOP, RIGHT, BOTTOM = 62, 12, 14, 54


class Line(NamedTuple):
    """A ROC curve (false, true rates) and a precision-recall curve (recall, precision) of the same decisions."""

    roc: "tuple[FloatArray, FloatArray]"
    pr: "tuple[FloatArray, FloatArray]"


@dataclass(frozen=True)
class MethodLines:
    """The curves of one method: the mean first, then one for each fold, None where a fold has none."""

    name: str  # Of the method
    lines: "list[Line | None]"  # The mean first, then one for each fold; None where a fold has none


def style_of(number: int) -> tuple[str, str, str]:
    """Return the colour, CSS line style and SVG dashes of a method, given its number from 0.

    >>> style_of(0), style_of(8)[1:]
    (('#0072b2', 'solid', ''), ('dashed', '9 4'))
    """
    pattern = PATTERNS[number // len(COLOURS) % len(PATTERNS)]
    return COLOURS[number % len(COLOURS)], *pattern


def seen_corners(x: npt.ArrayLike, y: npt.ArrayLike) -> npt.NDArray[np.int64]:
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


def mean_steps(curves: "Iterable[tuple[FloatArray, FloatArray]]", grid: int = 101) -> "tuple[FloatArray, FloatArray]":
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


def plot(methods: "Sequence[MethodLines]", kind: "Kind", label: str) -> Markup:
    """Return the mean curves of all methods as SVG; the first method lies on top."""
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


def script_data(methods: "Sequence[MethodLines]", names: Sequence[str]) -> dict[str, Any]:
    """Return the data for the page's script: all corners, in units of 1/10000."""
    listed = []
    for i, method in enumerate(methods):
        lines = [{kind: _flat(getattr(line, kind)) if line else [] for kind in AXES} for line in method.lines]
        listed.append({"name": method.name, "colour": style_of(i)[0], "lines": lines})
    return {"names": list(names), "methods": listed}


def _flat(curve: "tuple[FloatArray, FloatArray]") -> list[int]:
    """Return the visible corners as [x, y, x, y, …]."""
    kept = seen_corners(*curve)
    points = np.column_stack([np.round(np.asarray(v)[kept] * 1e4).astype(int) for v in curve])
    return [int(value) for value in points.ravel()]


def _path(curve: "tuple[FloatArray, FloatArray]", kind: "Kind") -> str:
    """Return a curve as SVG path commands; precision-recall curves become steps."""
    flat = _flat(curve)
    points = [(SIDE * x / 1e4, SIDE * (1 - y / 1e4)) for x, y in zip(flat[::2], flat[1::2], strict=True)]
    (x, y), *rest = points
    if kind == "roc":
        return f"M{x:g} {y:g}" + "".join(f"L{x:g} {y:g}" for x, y in rest)
    return f"M{x:g} {y:g}" + "".join(f"V{y:g}H{x:g}" for x, y in rest)


def _frame(kind: "Kind") -> Markup:
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


# ROC curves, and precision-recall curves beside them.

MOST_NAMED = 6
"""Classes up to which each has a colour and a name."""


def roc_panel(
    curves: Sequence[tuple[FloatArray, FloatArray]], mean: tuple[FloatArray, FloatArray], label: str
) -> Markup:
    """Return a small ROC plot: thin lines are folds (or families), the thick line is their mean."""

    def draw(figure: Figure) -> None:
        axes = unit_axes(figure)
        width = 0.7 if len(curves) <= 12 else 0.35
        for curve in curves:
            axes.plot(*simplified(*curve), color="#7fa7c9", linewidth=width)
        axes.plot(*simplified(*mean), color="#0b3d66", linewidth=1.8)
        axes.set(xlabel="false positive rate", ylabel="true positive rate")

    return render(draw, (2.0, 2.0), label)


def class_roc_panel(curves: Sequence[tuple[str, tuple[FloatArray, FloatArray]]], label: str) -> Markup:
    """Return a small ROC plot with one line for each class against the rest."""

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
    """Return links to figure files with the mean curves of all methods, or None if no figures are being collected."""
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


# Precision-recall curves of a few rankings in one plot, with the precision of a random ranking.

STYLES = ("solid", "dashed", "dashdot", "dotted")
CHANCE = "#999999"


def precision_figure(curves: Sequence[tuple[str, tuple[FloatArray, FloatArray]]], chance: float, label: str) -> Markup:
    """Return a plot of precision against recall."""

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


# A file with the ROC curves of one cross-validated method.

Curve = tuple[FloatArray, FloatArray]


def roc_picture(results: Sequence[FoldResult], labels: Labels) -> bytes | None:
    """Return an SVG file of the ROC curves; None for real labels, or if no fold has a curve.

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
    with collected_figures() as files:
        if binary:
            (_, found), *_ = curves
            roc_panel(found, mean_curve(found), f"ROC curves of {len(found)} folds and their mean")
        else:
            class_roc_panel([(name, mean_curve(found)) for name, found in curves], "mean ROC curve of each class")
    return next(content for name, content in files.items() if name.endswith(".svg"))


def _curves(results: Sequence[FoldResult], name: str, column: str) -> list[Curve]:
    """Return a class's ROC curve in each fold that has one."""
    found = []
    for result in results:
        positive = np.array([str(row["label"]) == name for row in result.decisions])
        false, true = roc_points(positive, np.array([row[column] for row in result.decisions], dtype=np.float64))
        if false is not None and true is not None:
            found.append((false, true))
    return found
