"""Plots of scores, calibration, weights and families."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from seqkern.evaluation.calibration import Bin
from seqkern.formats.background import PROPERTIES, Composition, ks_distance
from seqkern.report.figure_files import render, unit_axes
from seqkern.report.markup import (
    COLOURS,
    DASHES,
    INK,
    MARKERS,
    NEGATIVE,
    PALE,
    POSITIVE,
    SOFT,
    Markup,
    as_file,
    axis_scale,
    picture,
    tag,
)
from seqkern.report.page_frame import fixed, mark, number, short
from seqkern.report.residue_figures import state_title

# Figure of scores with their intervals: one row for each method, reference lines, and trivial baselines.

ROW, TOP, FOOT, FONT_SIZE = 19, 22, 40, 12
VALUE = 48
"""Width of the column of values, at the right."""
LETTER, BOLD = 6.6, 7.5
"""Mean width of a letter, regular and bold."""


@dataclass(frozen=True)
class Row:
    """A method or baseline in the figure: its name, score, interval, and mark.

    >>> picture = dot_intervals([Row("spectrum with csvc", 0.91, 0.88, 0.93, "better")], "AUC", {0.5: "chance"}, "AUCs")
    >>> picture.count("<circle"), ">chance<" in picture, ">0.910<" in picture
    (1, True, True)
    """

    name: str  # What stands beside it
    score: float  # The score and the ends of its interval; NaN where there is none
    low: float  # The score and the ends of its interval; NaN where there is none
    high: float  # The score and the ends of its interval; NaN where there is none
    mark: str  # Against chance: a filled, an empty or a grey dot; or a diamond
    strong: bool = False  # Whether the name is bold


def dot_intervals(
    rows: Sequence[Row],
    title: str,
    lines: dict[float, str],
    label: str,
    *,
    width: int = 560,
    ends: tuple[float, float] | None = None,
) -> Markup:
    """Return the figure as SVG, with rows from top to bottom and dashed, named `lines`."""
    longest = int(0.42 * width / BOLD)
    names = [short(row.name, longest) for row in rows]
    left = 8 + max((BOLD if row.strong else LETTER) * len(name) for row, name in zip(rows, names, strict=True))
    values = [v for row in rows for v in (row.score, row.low, row.high) if v == v]
    values += [*lines, *(() if ends is None else ends[1:])]
    low, high, ticks = axis_scale(min(values), max(values))
    if ends is not None:
        room = 0.02 * (high - low)
        low, high = max(low, ends[0] - room), min(high, ends[1] + room)

    def x(value: float) -> float:
        return round(left + 8 + (value - low) / (high - low) * (width - VALUE - left - 16), 1)

    bottom = TOP + ROW * len(rows)
    middle = (left + width - VALUE) / 2
    parts: list[Markup] = [_axis(x, [tick for tick in ticks if low <= tick[0] <= high], bottom, title, middle)]
    for value, name in lines.items():
        parts.append(_line(x(value), name, bottom, (left, width)))
    for i, (row, name) in enumerate(zip(rows, names, strict=True)):
        parts.append(_row(row, name, x, TOP + ROW * (i + 0.5), left, width))
    return picture(parts, (width, bottom + FOOT), label, font_size=FONT_SIZE)


def _axis(x: Any, ticks: list[tuple[float, str]], bottom: float, title: str, middle: float) -> Markup:
    """Return grid lines with their values, and the title below."""
    parts = [
        [
            tag("line", x1=x(v), x2=x(v), y1=TOP, y2=bottom, stroke=PALE, stroke_width="0.5"),
            tag("text", text, x=x(v), y=bottom + 15, text_anchor="middle", fill=SOFT),
        ]
        for v, text in ticks
    ]
    return tag("g", parts, tag("text", title, x=middle, y=bottom + 33, text_anchor="middle", fill=INK))


def _line(place: float, name: str, bottom: float, room: tuple[float, float]) -> Markup:
    """Return a dashed line with its name above, shifted if it would leave the figure."""
    half = LETTER * len(name) / 2
    centre = min(max(place, room[0] + half), room[1] - half)
    style = {"stroke": NEGATIVE, "stroke_width": "1.2", "stroke_dasharray": "4 3"}
    return tag(
        "g",
        tag("line", x1=place, x2=place, y1=TOP - 5, y2=bottom, **style),
        tag("text", name, x=round(centre, 1), y=TOP - 9, text_anchor="middle", fill=NEGATIVE),
    )


def _row(row: Row, name: str, x: Any, y: float, left: float, width: int) -> Markup:
    """Return the name of a row, its interval, its mark and its value."""
    trivial = row.mark == "baseline"
    colour = SOFT if trivial else POSITIVE
    text = y + FONT_SIZE * 0.35
    weight = {"font_weight": "700"} if row.strong else {}
    style = {"font_style": "italic"} if trivial else {}
    parts = [tag("text", name, x=left, y=text, text_anchor="end", fill=SOFT if trivial else INK, **weight, **style)]
    if row.low == row.low:
        ends = {"x1": x(row.low), "x2": x(row.high), "y1": y, "y2": y}
        parts.append(tag("line", **ends, stroke=colour, stroke_width="1.6"))
        parts += [
            tag("line", x1=x(end), x2=x(end), y1=y - 3, y2=y + 3, stroke=colour, stroke_width="1.2")
            for end in (row.low, row.high)
        ]
    parts.append(_mark(row.mark, x(row.score), y, colour))
    parts.append(tag("text", number(row.score), x=width - 2, y=text, text_anchor="end", fill=INK, **weight))
    return tag("g", parts)


def _mark(mark: str, x: float, y: float, colour: str) -> Markup:
    """Return the dot of a method, or the diamond of a baseline."""
    if mark == "baseline":
        points = f"{x},{y - 5} {x + 5},{y} {x},{y + 5} {x - 5},{y}"
        return tag("polygon", points=points, fill="#fff", stroke=colour, stroke_width="1.5")
    fill = {"better": colour, "not better": "#fff"}.get(mark, PALE)
    return tag("circle", cx=x, cy=y, r="4.5", fill=fill, stroke=colour, stroke_width="1.5")


# The critical-difference diagram: mean ranks of methods, and which methods show no significant difference.
#
# Demšar 2006, J. Mach. Learn. Res. 7:1-30, figure 1.

RANK_ROW, BAR = 0.19, 0.11  # inches


def rank_figure(
    names: list[str], ranks: Sequence[float], sets: list[list[int]], difference: float, label: str
) -> Markup:
    """Return the critical-difference diagram, whose bars join methods without a significant difference."""
    order = sorted(range(len(names)), key=lambda i: ranks[i])
    half = (len(order) + 1) // 2
    k, top = len(names), 0.55
    below = 0.12 + BAR * len(sets)
    height = top + below + RANK_ROW * half + 0.1

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))
        left, right = 2.2, 4.4  # of the scale, in inches

        def place(rank: float) -> float:
            return left + (rank - 1) * (right - left) / (k - 1)

        axes.set(xlim=(0, 6.6), ylim=(height, 0))
        axes.axis("off")
        style: dict[str, Any] = {"color": "#333333", "linewidth": 0.8}
        axes.plot([left, right], [top, top], **style)
        step = 1 if k <= 12 else 5
        for rank in sorted({1, k, *range(step, k, step)} if step > 1 else range(1, k + 1)):
            axes.plot([place(rank)] * 2, [top - 0.07, top], **style)
            axes.text(place(rank), top - 0.1, str(rank), ha="center", va="bottom", fontsize=7.5)
        width = min(difference, k - 1)
        axes.plot([left, place(1 + width)], [0.22, 0.22], color="#0b3d66", linewidth=1.2, marker="|", markersize=6)
        more = "" if width == difference else " (wider than the scale)"
        text = f"critical difference {fixed(difference, 2)}{more}"
        axes.text(place(1 + width) + 0.08, 0.22, text, ha="left", va="center", fontsize=7.5)
        for bar, members in enumerate(sets):
            ends = [place(min(ranks[i] for i in members)) - 0.03, place(max(ranks[i] for i in members)) + 0.03]
            y = top + 0.1 + BAR * bar
            axes.plot(ends, [y, y], color="#d55e00", linewidth=2.6, solid_capstyle="butt")
        for place_in_order, i in enumerate(order):
            first = place_in_order < half
            row = place_in_order if first else len(order) - 1 - place_in_order
            y, x = top + below + RANK_ROW * (row + 0.6), place(ranks[i])
            edge = left - 0.08 if first else right + 0.08
            axes.plot([x, x, edge], [top, y, y], color="#888888", linewidth=0.6)
            axes.plot([x], [top], ".", color="#333333", markersize=4)
            text = f"{names[i]}  {fixed(ranks[i], 2)}" if first else f"{fixed(ranks[i], 2)}  {names[i]}"
            axes.text(
                edge + (-0.05 if first else 0.05), y, text, ha="right" if first else "left", va="center", fontsize=8
            )

    return render(draw, (6.6, height), label)


# Reliability diagrams: observed frequencies against predicted probabilities.


def reliability_panel(bins: Sequence[Bin], label: str) -> Markup:
    """Return a small plot of observed frequencies against predicted probabilities."""

    def draw(figure: Figure) -> None:
        axes = unit_axes(figure)
        x, y = [one.predicted for one in bins], [one.observed for one in bins]
        axes.vlines(x, [one.low for one in bins], [one.high for one in bins], color="#7fa7c9", linewidth=0.9)
        axes.plot(x, y, color="#0b3d66", linewidth=1.2, marker="o", markersize=2.5)
        axes.set(xlabel="probability", ylabel="share of positives")

    return render(draw, (2.0, 2.0), label)


def class_reliability_panel(lines: Sequence[tuple[str, Sequence[Bin]]], label: str) -> Markup:
    """Return a small plot of observed frequencies against predicted probabilities, with one line for each class."""

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


# Calibration of prediction intervals: observed against nominal coverage.


def coverage_panel(levels: Sequence[float], observed: Sequence[float], label: str) -> Markup:
    """Return a small plot of the share of true values within prediction intervals against their level."""

    def draw(figure: Figure) -> None:
        axes = unit_axes(figure)
        axes.plot([0, *levels, 1], [0, *observed, 1], color="#0b3d66", linewidth=1.2, marker="o", markersize=2.0)
        axes.set(xlabel="level of the interval", ylabel="share within")

    return render(draw, (2.0, 2.0), label)


# Scatter plots of predicted against true values.

MOST_POINTS = 400


def scatter_panel(true: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64], label: str) -> Markup:
    """Return a plot of predicted against true values.

    Of many samples, only evenly spaced ones in the order of the true value are drawn.
    """
    order = np.argsort(true, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_POINTS)).astype(int))]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        ends = [float(np.nanmin([true, predicted])), float(np.nanmax([true, predicted]))]
        axes.plot(ends, ends, color="#999999", linewidth=0.6, dashes=(2, 2))
        x, y = np.round(true[chosen], 6), np.round(predicted[chosen], 6)
        axes.plot(x, y, ".", color="#0b3d66", markersize=2, alpha=0.6)
        axes.locator_params(nbins=4)
        axes.set(xlabel="true value", ylabel="predicted value")

    return render(draw, (2.0, 2.0), label)


# Figure of how many families (tasks, data sets) reach each score, one curve for each method.


def families_figure(
    series: Sequence[tuple[str, str, npt.NDArray[np.float64], npt.NDArray[np.int64]]],
    metric_name: str,
    many: str,
    label: str,
    transductive: Collection[str] = (),
) -> Markup:
    """Return the curves "number of families with at least this score" of several methods.

    The first eight kernels have colours and filled markers, the others thin grey lines with open markers; dashes
    distinguish solvers. Up to sixteen kernels and four solvers, no two methods look alike.
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
    """Return the line style for a kernel's rank and a solver's number."""
    shape: dict[str, Any] = {"linestyle": DASHES[solver % 4], "marker": MARKERS[rank % 8], "markersize": 4}
    if rank < len(COLOURS):
        return shape | {"color": COLOURS[rank], "linewidth": 1.3, "zorder": 3 - rank / 100}
    return shape | {"color": "#8a8a8a", "linewidth": 0.7, "markerfacecolor": "white", "markeredgewidth": 0.7}


# Feature coefficients with their confidence intervals, one panel for each class.

PANELS = 3


def coefficients_figure(
    means: Mapping[str, Mapping[str, Mapping[str, float]]], features: Sequence[str], label: str
) -> Markup:
    """Return the coefficients with their intervals as inline SVG, one panel for each class, all on one scale."""
    columns = min(len(means), PANELS)
    rows = -(-len(means) // columns)
    place = {feature: i for i, feature in enumerate(features)}

    def draw(figure: Figure) -> None:
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes in grid.ravel()[len(means) :]:
            axes.set_visible(False)
        for axes, (state, own) in zip(grid.ravel(), means.items(), strict=False):
            axes.axvline(0, color="#1c1c1c", linewidth=0.6)
            for feature, one in own.items():
                y = place[feature]
                axes.plot([one["full_low"], one["full_high"]], [y, y], color="#c9c5bb", linewidth=4)
                if one["chosen"]:
                    axes.plot([one["low"], one["high"]], [y, y], color=COLOURS[0], linewidth=1)
                    axes.plot([one["weight"]], [y], color=COLOURS[0], marker="o", markersize=3)
            axes.set_title(state_title(state), fontsize=8.5)
            axes.set_yticks(range(len(features)), [short(f, 12) for f in features], fontsize=6.5, family="monospace")
            axes.tick_params(axis="y", length=0)
            axes.set_ylim(len(features) - 0.4, -0.6)
        for axes in grid[-1]:
            axes.set_xlabel("coefficient")

    return render(draw, (2.6 * columns, rows * (0.125 * len(features) + 0.35) + 0.4), label)


# P-SVM weights against ε: which columns are selected, and in what order, as ε decreases.

TICKS = tuple(scale * 10.0**-power for power in range(7) for scale in (1, 0.3))


def epsilon_path_figure(
    epsilons: Sequence[float], weights: Mapping[str, Sequence[float]], named: Sequence[str], used: float, label: str
) -> Markup:
    """Return the weights of all columns against ε, in units of ε_max, as inline SVG."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axhline(0, color="#1c1c1c", linewidth=0.6)
        for name, values in weights.items():
            if name not in named:
                axes.plot(epsilons, values, color=PALE, linewidth=0.7, zorder=1)
        for i, name in enumerate(named):
            colour, dash = COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]
            axes.plot(epsilons, weights[name], color=colour, linestyle=dash, linewidth=1.2, label=short(name))
        if used > 0:
            axes.axvline(used, color=SOFT, linestyle=":", linewidth=1)
            axes.annotate(
                "ε of the fit", (used, 1.01), xycoords=("data", "axes fraction"), ha="center", fontsize=7, color=SOFT
            )
        axes.set_xscale("log")
        axes.set_xlim(epsilons[0], epsilons[-1])
        ticks = [tick for tick in TICKS if epsilons[-1] <= tick <= epsilons[0]]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("ε / ε_max (smaller to the right: more columns are selected)")
        axes.set_ylabel("weight α")
        figure.legend(loc="outside right upper", fontsize=7)

    return render(draw, (6.6, 3.0), label)


# Weights of selected features, with a dot for each training set that selected the feature.


def feature_weights_figure(weights: Mapping[str, Sequence[float]], label: str) -> Markup:
    """Return the weights of features as inline SVG, one row for each feature."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axvline(0, color="#1c1c1c", linewidth=0.6)
        for place, values in enumerate(weights.values()):
            middle = sum(values) / len(values)
            axes.barh(place, middle, height=0.62, color=PALE, zorder=1)
            colours = [POSITIVE if value > 0 else NEGATIVE for value in values]
            axes.scatter(values, [place] * len(values), c=colours, s=10, zorder=2, linewidths=0)
        axes.set_yticks(range(len(weights)), [short(name, 24) for name in weights], fontsize=7, family="monospace")
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(weights) - 0.4, -0.6)
        axes.set_xlabel("weight of a unit of the feature (dots: training sets; bars: means)")

    return render(draw, (5.2, 0.17 * len(weights) + 0.6), label)


# Histograms comparing peaks with their background: length, GC content and repeats.

BINS = 30
SIZE = (7.2, 2.2)
"""Width and height of the figure, in inches."""


def match_picture(peaks: Composition, background: Composition) -> Markup:
    """Return an SVG file with histograms of peaks and background side by side."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, len(PROPERTIES))
        for axis, (name, title) in zip(axes, PROPERTIES.items(), strict=True):
            both = getattr(peaks, name), getattr(background, name)
            low, high = min(one.min() for one in both), max(one.max() for one in both)
            edges = np.linspace(low, high, BINS + 1) if high > low else np.linspace(low - 0.5, low + 0.5, 4)
            styles = {"color": "#b9cfe4", "histtype": "stepfilled"}, {"color": COLOURS[1], "histtype": "step"}
            for values, label, style in zip(both, ("peaks", "background"), styles, strict=True):
                axis.hist(values, edges, weights=np.full(len(values), 1 / len(values)), label=label, **style)
            axis.set(xlabel=title, title=f"KS distance {ks_distance(*both):.4f}")
            axis.title.set_fontsize(7.5)
        axes[0].set_ylabel("share of regions")
        axes[0].legend(fontsize=7, handlelength=1.4)

    svg = render(draw, SIZE, "Length, GC content and repeats of peaks and background")
    width, height = (f"{72 * inches:g}pt" for inches in SIZE)
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    return as_file(Markup(svg.replace("<svg ", opening, 1)))


# A Gram matrix as a small picture, sorted by class.

ROWS_AT_ONCE = 16
LEVELS = 48
MOST_NAMED = 6
"""Maximum number of classes that are named."""


@dataclass
class Thumbnail:
    """A small picture of a Gram matrix, with the bands of its classes."""

    picture: npt.NDArray[np.float64]  # shape (p, p): Block means
    bands: list[tuple[str, float, float]]  # Name, first and last place of each class, in pixels
    total: int  # How many samples there are, and how many stand for all
    sampled: int  # How many samples there are, and how many stand for all
    sorted_by: str  # What their order is by, in words


def block_means(
    matrix: npt.NDArray[np.floating[Any]], order: npt.NDArray[np.int64], pixels: int = 160, cap: int = 1600
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], int]:
    """Return a small picture of a square matrix, block edges, and the number of rows read.

    Pixels are block means, read a few rows at a time; of more than `cap` rows, evenly spaced ones are sampled.
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
    """Return a class name cut to the height of its band; empty if the band is too low for letters."""
    name, first, last = band
    letters = int(26 * (last - first) / side)
    return short(name, letters) if len(name) <= letters or letters > 4 else ""


def gram_figure(thumbnail: Thumbnail, label: str) -> Markup:
    """Return a Gram matrix's thumbnail as SVG, with its classes named and a colour bar."""
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
