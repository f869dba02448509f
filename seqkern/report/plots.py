"""Charts of scores, ranks, calibration, weights, residues and families."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from seqkern.core.types import Floats, Ints
from seqkern.evaluation.calibration import Bin
from seqkern.formats.background import PROPERTIES, Composition, ks_distance
from seqkern.report.drawing import (
    COLOURS,
    DARK,
    DASHES,
    INK,
    LIGHT,
    MARKERS,
    NEGATIVE,
    PALE,
    POSITIVE,
    SOFT,
    Axis,
    Panel,
    Point,
    Style,
    axis_scale,
    colour_bar,
    drawn_line,
    legend,
    legend_size,
    listed,
    panels,
    picture,
    scaled,
    shades,
    span,
    stroke,
    text,
    unit,
)
from seqkern.report.figure_files import chart
from seqkern.report.markup import Markup, tag
from seqkern.report.page_frame import fixed, mark, number, short
from seqkern.report.profile_pictures import NAMES, shape_of

SMALL = (144.0, 144.0)
"""Width and height of a small panel."""
BAND = "#c9c5bb"
"""Colour of wide bars behind lines."""


def state_title(state: str) -> str:
    """Return the name of a state with its letter, or the name that the data give it.

    >>> state_title("H"), state_title("membrane")
    ('helix (H)', 'membrane')
    """
    known = NAMES.get(state.upper(), shape_of(state)) if len(state) == 1 else None
    return f"{known} ({state})" if known else short(state, 18)


def with_legend(
    drawn: Sequence[Panel], entries: Sequence[tuple[str, Style]], columns: int, size: tuple[float, float], label: str
) -> Markup:
    """Return panels with a legend below them as a chart; `size` is without the legend."""
    width, height = legend_size(entries, columns)
    parts = legend(entries, (max(4.0, (size[0] - width) / 2), size[1] + 4), columns)
    return chart([*(panel.drawn() for panel in drawn), *parts], (size[0], size[1] + height + 8), label)


# Figure of scores with their intervals: one row for each method, reference lines, and baselines.

ROW, TOP, FOOT, FONT_SIZE = 19, 22, 40, 12
VALUE = 48
"""Width of the column of values, at the right."""
LETTER, BOLD = 6.6, 7.5
"""Mean width of a letter, regular and bold."""
MARKS = {
    "better": Style(POSITIVE, 0, "", "o", 9),
    "not better": Style(POSITIVE, 0, "", "o", 9, "#fff"),
    "reference": Style(SOFT, 0, "", "D", 8.4),
    "baseline": Style(SOFT, 0, "", "D", 8.4, "#fff"),
}
UNCLEAR = Style(POSITIVE, 0, "", "o", 9, PALE)
"""Marks of rows; any other is `UNCLEAR`."""


@dataclass(frozen=True)
class Row:
    """A method or baseline in the figure: its name, score, interval, and mark.

    >>> picture = dot_intervals([Row("spectrum with csvc", 0.91, 0.88, 0.93, "better")], "AUC", {0.5: "chance"}, "AUCs")
    >>> ">chance<" in picture, ">0.910<" in picture
    (True, True)
    """

    name: str  # What stands beside it
    score: float  # The score and the ends of its interval; NaN where there is none
    low: float  # The score and the ends of its interval; NaN where there is none
    high: float  # The score and the ends of its interval; NaN where there is none
    # Against chance: a filled, an empty or a grey dot; a filled diamond for a reference method, or an open one
    mark: str
    strong: bool = False  # Whether the name is bold
    number: int = 0  # Of the method in the study, for its colour
    hint: str | None = None  # What the method is, shown when the pointer rests on its name


def dot_intervals(
    rows: Sequence[Row],
    title: str,
    lines: dict[float, str],
    label: str,
    *,
    width: int = 560,
    ends: tuple[float, float] | None = None,
    beside: Sequence[Row] = (),
) -> Markup:
    """Return the figure as SVG, with rows from top to bottom and dashed, named `lines`.

    Its axis also holds the rows of the figures `beside` it, so that all can be compared.
    """
    longest, every = int(0.42 * width / BOLD), [*rows, *beside]
    names = [short(row.name, longest) for row in rows]
    left = 8 + max((BOLD if row.strong else LETTER) * min(len(row.name), longest) for row in every)
    values = [(row.score, row.low, row.high) for row in every]
    low, high, ticks = axis_scale(*span(values, list(lines), [] if ends is None else ends[1]))
    if ends is not None:
        room = 0.02 * (high - low)
        low, high = max(low, ends[0] - room), min(high, ends[1] + room)
    box = left + 8, TOP, width - VALUE - left - 16, ROW * len(rows)
    panel = Panel(box, Axis(low, high), listed(names, edge=0.5))
    parts = panel.inside
    for value, name in ticks:
        if low <= value <= high:
            panel.upright(value, PALE, 0.5)
            parts.append(text(name, (panel.points(value, 0)[0], panel.bottom + 15), fill=SOFT))
    parts.append(text(title, ((left + width - VALUE) / 2, panel.bottom + 33)))
    for value, name in lines.items():
        place, half = panel.points(value, 0)[0], LETTER * len(name) / 2
        parts.append(stroke(SOFT, [(place, TOP - 5), (place, panel.bottom)], width=1.2, dashes="4 3"))
        parts.append(text(name, (min(max(place, left + half), width - half), TOP - 9), fill=SOFT))
    for i, row in enumerate(rows):
        trivial = row.mark in ("reference", "baseline")
        colour, base = SOFT if trivial else COLOURS[row.number % 8], TOP + ROW * (i + 0.5) + 0.35 * FONT_SIZE
        content = [row.hint and tag("title", row.hint), names[i]]
        parts.append(text(content, (left, base), "end", fill=SOFT if trivial else INK, bold=row.strong, italic=trivial))
        panel.line([row.low, row.high], [i, i], Style(colour, 1.6))
        for end in (row.low, row.high):
            panel.line([end, end], [i - 0.16, i + 0.16], Style(colour, 1.2))
        panel.line([row.score], [i], MARKS.get(row.mark, UNCLEAR)._replace(colour=colour))
        parts.append(text(number(row.score), (width - 2, base), "end", bold=row.strong))
    return picture(parts, (width, panel.bottom + FOOT), label, font_size=FONT_SIZE)


# The critical-difference diagram: mean ranks of methods, and which methods show no significant difference.
#
# Demšar 2006, J. Mach. Learn. Res. 7:1-30, figure 1.

RANK_ROW, BAR = 13.7, 8.0
SCALE_TOP, SCALE = 40.0, (158.4, 316.8)
"""Height of the scale of ranks, and its ends."""


def rank_figure(
    names: list[str], ranks: Sequence[float], sets: list[list[int]], difference: float, label: str
) -> Markup:
    """Return the critical-difference diagram, whose bars join methods without a significant difference."""
    order = sorted(range(len(names)), key=lambda i: ranks[i])
    half, k, (left, right) = (len(order) + 1) // 2, len(names), SCALE
    first_row = SCALE_TOP + 9 + BAR * len(sets)

    def place(rank: float) -> float:
        return left + (rank - 1) * (right - left) / (k - 1)

    step = 1 if k <= 12 else 5
    ticks = sorted({1, k, *range(step, k, step)} if step > 1 else range(1, k + 1))
    scale = [(left, SCALE_TOP), (right, SCALE_TOP)]
    parts = [stroke(INK, scale, *([(place(at), SCALE_TOP - 5), (place(at), SCALE_TOP)] for at in ticks), width=0.8)]
    parts += [text(str(rank), (place(rank), SCALE_TOP - 8), size=7.5) for rank in ticks]
    end = place(1 + min(difference, k - 1))
    parts.append(stroke(DARK, [(left, 16), (end, 16)], *([(at, 13), (at, 19)] for at in (left, end)), width=1.2))
    told = f"critical difference {fixed(difference, 2)}"
    if difference > k - 1:
        parts.append(text(f"{told} (wider than the scale)", ((left + right) / 2, 10), size=7.5))
    else:
        parts.append(text(told, (end + 6, 18.6), "start", size=7.5))
    for bar, members in enumerate(sets):
        y, own = SCALE_TOP + 7 + BAR * bar, [ranks[i] for i in members]
        parts.append(stroke(NEGATIVE, [(place(min(own)) - 2, y), (place(max(own)) + 2, y)], width=2.6))
    for place_in_order, i in enumerate(order):
        first = place_in_order < half
        y = first_row + RANK_ROW * ((place_in_order if first else len(order) - 1 - place_in_order) + 0.6)
        x, edge, away = place(ranks[i]), *((left - 6, -4) if first else (right + 6, 4))
        parts.append(stroke("#888888", [(x, SCALE_TOP), (x, y), (edge, y)]))
        parts += drawn_line(np.array([(x, SCALE_TOP)]), Style(INK, 0, "", "o", 2))
        pair = (names[i], fixed(ranks[i], 2)) if first else (fixed(ranks[i], 2), names[i])
        parts.append(text("\u2002".join(pair), (edge + away, y + 2.8), "end" if first else "start"))
    return chart(parts, (475.2, first_row + RANK_ROW * half + 7), label)


# Square panels from 0 to 1: reliability diagrams, and the coverage of prediction intervals.


def unit_panel(x: str, y: str, size: Point = SMALL) -> Panel:
    """Return a small panel whose axes go from 0 to 1, with the diagonal."""
    (panel,) = panels(size, [(unit(x), unit(y))], square=True)
    panel.guide([0, 1], [0, 1])
    return panel


def reliability_panel(bins: Sequence[Bin], label: str) -> Markup:
    """Return a small plot of observed frequencies against predicted probabilities."""
    panel = unit_panel("probability", "share of positives")
    x, y = [one.predicted for one in bins], [one.observed for one in bins]
    panel.segments(x, [one.low for one in bins], [one.high for one in bins], LIGHT, 0.9)
    panel.line(x, y, Style(marker="o", size=2.5))
    return chart(panel.drawn(), SMALL, label)


def class_reliability_panel(lines: Sequence[tuple[str, Sequence[Bin]]], label: str) -> Markup:
    """Return a small plot of observed frequencies against predicted probabilities, with one line for each class."""
    panel = unit_panel("probability", "share of the class")
    entries = [
        (short(name, 14), Style(COLOURS[i % 8], 1, "", MARKERS[i % 8], 2.5)) for i, (name, _) in enumerate(lines)
    ]
    for (_, style), (_, bins) in zip(entries, lines, strict=True):
        panel.line([one.predicted for one in bins], [one.observed for one in bins], style)
    if len(lines) <= len(COLOURS):
        panel.legend(entries, "upper left")
    return chart(panel.drawn(), SMALL, label)


def coverage_panel(levels: Sequence[float], observed: Sequence[float], label: str) -> Markup:
    """Return a small plot of the share of true values within prediction intervals against their level."""
    panel = unit_panel("level of the interval", "share within")
    panel.line([0, *levels, 1], [0, *observed, 1], Style(marker="o", size=2))
    return chart(panel.drawn(), SMALL, label)


# Scatter plots of predicted against true values.

MOST_POINTS = 400


def scatter_panel(true: Floats, predicted: Floats, label: str) -> Markup:
    """Return a plot of predicted against true values.

    Of many samples, only evenly spaced ones in the order of the true value are drawn.
    """
    order = np.argsort(true, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_POINTS)).astype(int))]
    ends = span(true, predicted)
    (panel,) = panels(SMALL, [(scaled(*ends, "true value", most=4), scaled(*ends, "predicted value", most=4))])
    panel.guide(ends, ends)
    panel.line(true[chosen], predicted[chosen], Style(DARK, 0, "", ".", 2))
    return chart(panel.drawn(), SMALL, label)


# Figure of how many families (tasks, data sets) reach each score, one curve for each method.


def families_figure(
    series: Sequence[tuple[str, str, Floats, Ints]],
    metric_name: str,
    many: str,
    label: str,
    numbers: Mapping[Any, int],
    transductive: Collection[str] = (),
) -> Markup:
    """Return the curves "number of families with at least this score" of several methods.

    `numbers` of the methods give their colours, dashes and markers.
    """
    solvers = list(dict.fromkeys(item[1] for item in series))
    width = 28 if len(solvers) == 1 else 24
    names = [f"{short(item[0], width)}{mark(item[0], transductive)}" for item in series]
    if len(solvers) > 1:
        names = [f"{name}, {short(item[1], 10)}" for name, item in zip(names, series, strict=True)]
    columns = 2 if max(map(len, names)) <= 28 else 1  # as wide as the figure
    low = min(float(np.min(x[1:-1], initial=1)) for _, _, x, _ in series)
    low = min(float(np.floor(10 * low)) / 10, 0.9)
    most = float(max(np.max(count) for *_, count in series))
    size = 302.4, 223.0
    x_axis = scaled(low, 1, f"{metric_name} of at least", exact=True)
    y_axis = scaled(0, 1.04 * most or 1, f"number of {many}", exact=True, whole=True)
    (panel,) = panels(size, [(x_axis, y_axis)])
    entries = [(name, line_style(numbers[item[:2]])) for name, item in zip(names, series, strict=True)]
    for line, (_, _, x, count) in reversed(list(enumerate(series))):  # the first one lies on top
        # markers at heights of their own, so that they do not hide one another where lines run together
        gap = max(len(x) // 6, 1)
        first = (2 * line * gap) // len(series) % gap
        start = max(0, int(np.searchsorted(x, low, side="right")) - 1)
        panel.line(np.maximum(x[start:], low), count[start:], entries[line][1], ((first - start - 1) % gap + 1, gap))
    return with_legend([panel], entries, columns, size, label)


def line_style(number: int) -> Style:
    """Return the line style of a method, given its number in the study; those of the first 224 differ."""
    return Style(COLOURS[number % 8], 1.3, DASHES[number // 8 % 4], MARKERS[number % 7])


# Feature coefficients with their confidence intervals, one panel for each class.

PANELS = 3


def coefficients_figure(
    means: Mapping[str, Mapping[str, Mapping[str, float]]], features: Sequence[str], label: str
) -> Markup:
    """Return the coefficients with their intervals as SVG, one panel for each class, all on one scale."""
    columns = min(len(means), PANELS)
    rows = -(-len(means) // columns)
    place = {feature: i for i, feature in enumerate(features)}
    found = [
        one[name] for own in means.values() for one in own.values() for name in ("weight", "full_low", "full_high")
    ]
    axes = scaled(*span(0, found), "coefficient"), listed([short(feature, 12) for feature in features])
    size = 187.2 * columns, rows * (9 * len(features) + 25.2) + 28.8
    drawn = panels(size, [axes] * len(means), columns, [state_title(state) for state in means], shared=True)
    for panel, own in zip(drawn, means.values(), strict=True):
        panel.upright(0)
        for feature, one in own.items():
            y = place[feature]
            panel.line([one["full_low"], one["full_high"]], [y, y], Style(BAND, 4))
            if one["chosen"]:
                panel.line([one["low"], one["high"]], [y, y], Style(COLOURS[0], 1))
                panel.line([one["weight"]], [y], Style(COLOURS[0], 0, "", "o", 3))
    return chart([panel.drawn() for panel in drawn], size, label)


# Histograms comparing peaks with their background: length, GC content and repeats.

BINS = 30


def match_picture(peaks: Composition, background: Composition) -> Markup:
    """Return histograms of peaks and background side by side, as SVG."""
    styles = {"peaks": Style("#b9cfe4", 6), "background": Style(COLOURS[1])}
    axes, titles, shares = [], [], []
    for name, title in PROPERTIES.items():
        both = getattr(peaks, name), getattr(background, name)
        low, high = min(one.min() for one in both), max(one.max() for one in both)
        edges = np.linspace(low, high, BINS + 1) if high > low else np.linspace(low - 0.5, low + 0.5, 4)
        shares.append((edges, [np.histogram(values, edges)[0] / len(values) for values in both]))
        axes.append((scaled(edges[0], edges[-1], title), scaled(0, 1.04 * max(map(np.max, shares[-1][1])), exact=True)))
        titles.append(f"KS distance {ks_distance(*both):.4f}")
    axes[0] = axes[0][0], axes[0][1]._replace(label="share of regions")
    size = 518.4, 158.4
    drawn = panels(size, axes, titles=titles)
    for i, (panel, (edges, (own, other))) in enumerate(zip(drawn, shares, strict=True)):
        panel.bars((edges[:-1], np.zeros(len(own))), (edges[1:], own), styles["peaks"].colour)
        panel.line(np.repeat(edges, 2), [0, *np.repeat(other, 2), 0], styles["background"])
        if i == 0:
            panel.legend(list(styles.items()), "upper right")
    return chart([panel.drawn() for panel in drawn], size, "Length, GC content and repeats of peaks and background")


# Importance of the letters around a residue.

END = "end"
"""Label, among letters, of positions beyond an end of the chain."""
LETTER_ROW = 9.7
STATE_PANELS = 4


class LetterImportance(NamedTuple):
    """The importance of letters around a residue for its state, with values of shape (states, letters, places)."""

    values: Floats  # shape (states, letters, places)
    states: list[str]
    letters: list[str]
    places: Ints  # Distances from the residue

    @property
    def inside(self) -> list[bool]:
        """Return, for each letter, whether it stands for a residue of the chain."""
        return [letter != END for letter in self.letters]


def letters_figure(importance: LetterImportance, label: str) -> Markup:
    """Return heat maps of letters and places around a residue, one for each state, all on the same scale."""
    values, states = importance.values, importance.states
    columns = min(len(states), STATE_PANELS if len(states) > 3 else 3)
    rows = -(-len(states) // columns)
    most = float(np.quantile(np.abs(values[:, importance.inside]), 0.995)) or 1.0
    step = 5 if len(importance.places) > 11 else 2
    ticks = [(p, str(p).replace("-", "\N{MINUS SIGN}")) for p in importance.places.tolist() if p % step == 0]
    x = Axis(importance.places[0] - 0.5, importance.places[-1] + 0.5, "place from the residue", ticks)
    size = 662.4, rows * (LETTER_ROW * len(importance.letters) + 25.2) + 21.6
    letters = listed(importance.letters, edge=0.5)
    drawn = panels(
        (size[0] - 42, size[1]), [(x, letters)] * len(states), columns, list(map(state_title, states)), shared=True
    )
    for panel, matrix in zip(drawn, values, strict=True):
        panel.image(shades(np.clip(matrix / most, -1, 1)))
        panel.upright(0, INK, 0.5, "1 1")
    ends = [f"{end:.2g}".replace("-", "\N{MINUS SIGN}") for end in np.linspace(-most, most, 5)]
    names = [f"≤ {ends[0]}", *ends[1:4], f"≥ {ends[4]}"]
    height = max(panel.bottom for panel in drawn) - drawn[0].top
    bar = colour_bar((size[0] - 40, drawn[0].top), (7, height), names, 6.5)
    return chart([*(panel.drawn() for panel in drawn), *bar], size, label)
