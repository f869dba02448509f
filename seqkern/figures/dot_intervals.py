"""Scores with their intervals, a row for each method, with marked lines and trivial baselines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seqkern.core.markup import Markup, tag
from seqkern.figures.colours import INK, NEGATIVE, PALE, POSITIVE, SOFT
from seqkern.figures.names import short
from seqkern.figures.numbers import number
from seqkern.figures.svg import axis_scale, picture

ROW, TOP, FOOT, FONT_SIZE = 19, 22, 40, 12
VALUE = 48
"""Width of the column of values, at the right."""
LETTER, BOLD = 6.6, 7.5
"""Width of a letter, on average."""


@dataclass(frozen=True)
class Row:
    """A method or a baseline.

    Attributes
    ----------
    name : str
        What stands beside it.
    score, low, high : float
        The score and the ends of its interval; NaN where there is none.
    mark : {"better", "not better", "untested", "baseline"}
        Against chance: a filled, an empty or a grey dot; or a diamond.
    strong : bool
        Whether the name is bold.

    Examples
    --------
    >>> picture = dot_intervals([Row("spectrum with csvc", 0.91, 0.88, 0.93, "better")], "AUC", {0.5: "chance"}, "AUCs")
    >>> picture.count("<circle"), ">chance<" in picture, ">0.910<" in picture
    (1, True, True)
    """

    name: str
    score: float
    low: float
    high: float
    mark: str
    strong: bool = False


def dot_intervals(
    rows: Sequence[Row],
    title: str,
    lines: dict[float, str],
    label: str,
    *,
    width: int = 560,
    ends: tuple[float, float] | None = None,
) -> Markup:
    """Return the picture.

    Parameters
    ----------
    rows : sequence of Row
        From top to bottom.
    title : str
        Of the axis.
    lines : dict of float to str
        Where dashed lines stand, and what they are called.
    label : str
        What is shown, for readers who do not see it.
    width : int, default 560
        In the picture's own measure; text is 12 high.
    ends : (float, float), optional
        Beyond which no score can lie, such as 0 and 1; the axis reaches to the second.

    Returns
    -------
    Markup
        SVG.
    """
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
    """Return a dashed line with its name above, moved where it would leave the picture."""
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
