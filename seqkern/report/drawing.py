"""Figures drawn as SVG: elements, and charts with axes, lines, marks, bars, images and legends.

Coordinates are points, y downwards. A chart has outlines of straight lines, texts and images only, so that
`seqkern.report.figure_files` can write it as PDF too.
"""

import base64
import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.types import Floats
from seqkern.report.markup import Markup, tag

Point = tuple[float, float]
Values = npt.ArrayLike

# Okabe and Ito's colours, told apart with any colour vision; markers and dashes repeat what they say.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00", "#56b4e9", "#000000", "#e69f00")
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*")
DASHES = ("", "5 2", "1.3 1.6", "7 2 1.3 2")

POSITIVE, NEGATIVE = COLOURS[:2]
"""Colours of evidence for the positive class, and against it."""
DIVERGING = ("#5c2600", NEGATIVE, "#f7c9a8", "#ffffff", "#a9cfe6", POSITIVE, "#00304d")
"""Colours from far below zero to far above."""
INK, SOFT, PALE = "#1c1c1c", "#5a5a5a", "#c9c4b8"
DARK, LIGHT, GUIDE = "#0b3d66", "#7fa7c9", "#999999"
"""Colours of the line that matters, of the others, and of a line to compare with."""
FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"
FONT_SIZE = 8.0


# Elements of a figure.


def picture(
    parts: object, size: Point, label: str, *, font_size: float = FONT_SIZE, style: str = "", unit: str = ""
) -> Markup:
    """Return an SVG element that also works as a separate file."""
    width, height = (f"{one:g}" for one in size)
    return tag(
        "svg",
        parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width + unit,
        height=height + unit,
        role="img",
        aria_label=label,
        font_family=FONT,
        font_size=f"{font_size:g}",
        style=f"background: #fff{style}",
    )


def as_file(svg: Markup) -> Markup:
    """Return an SVG element as the content of a file."""
    return Markup(f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}\n')


def coordinate(value: float) -> str:
    """Return a coordinate as short text.

    >>> coordinate(12.5), coordinate(3.0), coordinate(-0.001)
    ('12.5', '3', '0')
    """
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def outline(points: Iterable[Sequence[float]]) -> str:
    """Return a line through some points as the data of an SVG path.

    >>> outline([(0, 1.5), (2, 3), (4, 3)])
    'M0 1.5L2 3H4'
    """
    (x, y), *rest = ((coordinate(x), coordinate(y)) for x, y in points)
    steps = [f"M{x} {y}"]
    for following in rest:
        across, up = following[0] != x, following[1] != y
        x, y = following
        if across or up:
            steps.append(f"L{x} {y}" if across and up else f"V{y}" if up else f"H{x}")
    return "".join(steps)


def rectangle(left: float, top: float, right: float, bottom: float) -> list[Point]:
    """Return the corners of a rectangle, the first one twice."""
    return [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]


def stroke(colour: str, *lines: Iterable[Sequence[float]], width: float = 0.6, dashes: str = "") -> Markup:
    """Return lines, which are not filled."""
    path = "".join(map(outline, lines))
    return tag("path", d=path, fill="none", stroke=colour, stroke_width=f"{width:g}", stroke_dasharray=dashes or None)


def fill(colour: str, *lines: Iterable[Sequence[float]], **attributes: object) -> Markup:
    """Return filled shapes."""
    return tag("path", d="".join(map(outline, lines)), fill=colour, **attributes)


def text(
    content: object,
    place: Point,
    anchor: str = "middle",
    *,
    size: float | None = None,
    fill: str = INK,
    turn: float = 0,
    mono: bool = False,
    bold: bool = False,
    italic: bool = False,
) -> Markup:
    """Return a text whose baseline begins, ends or has its middle at a place; `turn` is in degrees."""
    x, y = map(coordinate, place)
    return tag(
        "text",
        content,
        x=x,
        y=y,
        text_anchor=None if anchor == "start" else anchor,
        font_size=None if size is None else f"{size:g}",
        font_family="monospace" if mono else None,
        font_weight="700" if bold else None,
        font_style="italic" if italic else None,
        fill=fill,
        transform=f"rotate({turn:g} {x} {y})" if turn else None,
    )


def text_width(content: str, size: float, mono: bool = False) -> float:
    """Return about the width of a text, or a little more."""
    return (0.62 if mono else 0.56) * size * len(content)


def pixels(colours: npt.NDArray[np.uint8], place: Point, size: Point) -> Markup:
    """Return an image of sharp-edged cells, embedded as PNG, which is much smaller than a rectangle for each cell."""
    rows, columns, _ = colours.shape
    lines = np.zeros((rows, 1 + 3 * columns), dtype=np.uint8)  # each begins with its filter: none
    lines[:, 1:] = colours.reshape(rows, -1)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    data = b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    encoded = base64.b64encode(b"\x89PNG\r\n\x1a\n" + data).decode()
    x, y, width, height = map(coordinate, (*place, *size))
    return tag(
        "image",
        href=f"data:image/png;base64,{encoded}",
        x=x,
        y=y,
        width=width,
        height=height,
        preserveAspectRatio="none",
        style="image-rendering: pixelated",
    )


def shades(shares: Floats) -> npt.NDArray[np.uint8]:
    """Return RGB colours, uint8 (n, m, 3), for numbers from −1 to 1.

    >>> shades(np.array([[0.0, 1.0]])).tolist()
    [[[255, 255, 255], [0, 48, 77]]]
    """
    anchors = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in DIVERGING])
    places = np.linspace(-1, 1, len(anchors))
    return np.stack([np.interp(shares, places, anchor) for anchor in anchors.T], axis=-1).round().astype(np.uint8)


def colour_bar(place: Point, size: Point, names: Sequence[str], font_size: float) -> list[Markup]:
    """Return a colour scale with evenly spaced names at its right, from the bottom to the top."""
    (left, top), (width, height) = place, size
    steps = np.linspace(0.92 * font_size + top, top + height, len(names))[::-1]
    return [
        pixels(shades(np.linspace(1, -1, 64)[:, None]), place, size),
        *(
            text(name, (left + width + 3, y - 0.12 * font_size), "start", size=font_size, fill=SOFT)
            for name, y in zip(names, steps.tolist(), strict=True)
        ),
    ]


# Scales and axes.


def axis_scale(low: float, high: float, most: int = 4) -> tuple[float, float, list[tuple[float, str]]]:
    """Return the ends and ticks of an axis that covers the values from low to high, with `most` steps or fewer.

    >>> axis_scale(0.0, 1.0)
    (-0.04, 1.04, [(0.0, '0'), (0.5, '0.5'), (1.0, '1')])
    """
    if not high > low:
        low, high = -1.0, 1.0
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step = next(step * factor for factor in (0.5, 1, 2, 5, 10) if (high - low) / (step * factor) <= most)
    ticks = [step * i for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    room = 0.04 * (high - low)
    return low - room, high + room, [(tick, f"{tick:.6g}".replace("-", "\N{MINUS SIGN}")) for tick in ticks]


class Axis(NamedTuple):
    """An axis: the values at its left (bottom) and right (top) end, its name, ticks and their font."""

    low: float
    high: float
    label: str = ""
    ticks: Sequence[tuple[float, str]] = ()
    size: float = 7.0
    mono: bool = False
    turn: float = 0  # Degrees by which the names of ticks are turned

    def shares(self, values: Values) -> Floats:
        """Return the places of values, 0 at the first end of the axis and 1 at the other."""
        return (np.asarray(values, float) - self.low) / (self.high - self.low)

    @property
    def room(self) -> float:
        """Width of the widest tick's name."""
        return max((text_width(name, self.size, self.mono) for _, name in self.ticks), default=0.0)


def span(*values: Values) -> Point:
    """Return the smallest and the largest of the finite values.

    >>> span(0, [np.nan, 3], [[-1.5]])
    (-1.5, 3.0)
    """
    known = np.concatenate([np.ravel(np.asarray(one, float)) for one in values])
    known = known[np.isfinite(known)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def scaled(
    low: float, high: float, label: str = "", *, exact: bool = False, whole: bool = False, most: int = 6
) -> Axis:
    """Return an axis for values from low to high: with some room, or exactly; with ticks at whole numbers, or any."""
    start, stop, ticks = axis_scale(low, high, most)
    ticks = [tick for tick in ticks if not whole or tick[0] == round(tick[0])]
    return Axis(low if exact else start, high if exact else stop, label, ticks)


def unit(label: str) -> Axis:
    """Return an axis from 0 to 1."""
    return Axis(-0.01, 1.01, label, [(0, "0"), (0.5, "0.5"), (1, "1")])


def listed(names: Sequence[str], size: float = 6.5, edge: float = 0.6) -> Axis:
    """Return an axis of rows with names, the first one at the top."""
    return Axis(len(names) - 1 + edge, -edge, "", list(enumerate(names)), size=size, mono=True)


# Charts.


class Style(NamedTuple):
    """The looks of a line and its marks; without width it has no line, without a marker no marks."""

    colour: str = DARK
    width: float = 1.2
    dashes: str = ""
    marker: str = ""
    size: float = 4.0
    fill: str = ""  # Of the marks; empty for the colour


def _ring(n: int, turn: float = 0, radii: Sequence[float] = (1,)) -> Floats:
    """Return a closed line through n points around (0, 0), the first one to the right, with radii in turn."""
    angles = np.radians(turn + 360 * np.arange(n) / n)
    points = np.resize(radii, n)[:, None] * np.stack((np.cos(angles), -np.sin(angles)), axis=1)
    return np.concatenate((points, points[:1]))


SHAPES = {
    ".": _ring(6),
    "o": _ring(16),
    "s": _ring(4, 45, [1.2]),
    "^": _ring(3, 90, [1.2]),
    "v": _ring(3, -90, [1.2]),
    "D": _ring(4, 0, [1.2]),
    "P": _ring(12, -15, [1.25, 1.25, 0.5]),
    "X": _ring(12, 30, [1.25, 1.25, 0.5]),
    "*": _ring(10, 90, [1.4, 0.6]),
}
"""Outlines of the markers, for a size of 2."""


def drawn_line(points: Floats, style: Style) -> Iterable[Markup]:
    """Yield a line and its marks; no mark at a point that is not finite."""
    if style.width and len(points):
        yield stroke(style.colour, points.tolist(), width=style.width, dashes=style.dashes)
    shape = SHAPES.get(style.marker, np.zeros(0)) * style.size / 2
    marks = [(shape + point).tolist() for point in points if style.marker and np.isfinite(point).all()]
    if marks:
        edge = {"stroke": style.colour, "stroke_width": f"{max(0.7, style.size / 6):.2g}"}
        yield fill(style.fill or style.colour, *marks, **edge)


def stepped(points: Floats) -> Floats:
    """Return a line that first rises or falls, then goes to the right, in place of each slope.

    >>> stepped(np.array([[0, 0], [1, 2]])).tolist()
    [[0, 0], [0, 2], [1, 2]]
    """
    return np.stack((np.repeat(points[:, 0], 2)[:-1], np.repeat(points[:, 1], 2)[1:]), axis=1)


def legend(
    entries: Sequence[tuple[str, Style]], place: Point, columns: int = 1, width: float = 0, size: float = 7
) -> list[Markup]:
    """Return the names of lines and a sample of each, column by column; columns are as wide as given or needed."""
    rows, width = -(-len(entries) // columns), width or legend_size(entries, 1, size)[0]
    parts: list[Markup] = []
    for i, (name, style) in enumerate(entries):
        left, middle = place[0] + width * (i // rows), place[1] + 1.5 * size * (i % rows + 0.5)
        ends = np.array([(left, middle), (left + 2.4 * size, middle)])
        parts += drawn_line(ends, style._replace(marker=""))
        parts += drawn_line(ends.mean(axis=0, keepdims=True), style._replace(width=0))
        parts.append(text(name, (left + 3 * size, middle + 0.35 * size), "start", size=size))
    return parts


def legend_size(entries: Sequence[tuple[str, Style]], columns: int = 1, size: float = 7) -> Point:
    """Return the width and height of a legend."""
    widest = max(text_width(name, size) for name, _ in entries)
    return columns * (4.4 * size + widest), 1.5 * size * -(-len(entries) // columns)


class Panel:
    """A box with two axes, and what is drawn in it."""

    def __init__(self, box: tuple[float, float, float, float], x: Axis, y: Axis, title: str = "") -> None:
        self.left, self.top, self.width, self.height = box
        self.x, self.y, self.title = x, y, title
        self.bottom, self.right = self.top + self.height, self.left + self.width
        self.inside: list[Markup] = []
        self.names = (True, True)

    def points(self, x: Values, y: Values) -> Floats:
        """Return the coordinates of some points, shape (n, 2)."""
        across, up = self.x.shares(x), self.y.shares(y)
        return np.stack(np.broadcast_arrays(self.left + self.width * across, self.bottom - self.height * up), axis=-1)

    def line(self, x: Values, y: Values, style: Style, every: tuple[int, int] = (0, 1), *, steps: bool = False) -> None:
        """Draw a line with its marks, as slopes or as steps; it has a gap at points that are not finite."""
        points = self.points(x, y)
        for part in np.split(points, np.flatnonzero(~np.isfinite(points).all(axis=1))):
            kept = part[np.isfinite(part).all(axis=1)]
            self.inside += drawn_line(stepped(kept) if steps else kept, style._replace(marker=""))
        self.inside += drawn_line(points[every[0] :: every[1]], style._replace(width=0))

    def guide(self, x: Values, y: Values) -> None:
        """Draw a dashed line to compare with."""
        self.line(x, y, Style(GUIDE, 0.6, "1.2 1.2"))

    def across(self, y: float, colour: str = INK, width: float = 0.6, dashes: str = "") -> None:
        """Draw a horizontal line."""
        self.line([self.x.low, self.x.high], [y, y], Style(colour, width, dashes))

    def upright(self, x: float, colour: str = INK, width: float = 0.6, dashes: str = "") -> None:
        """Draw a vertical line."""
        self.line([x, x], [self.y.low, self.y.high], Style(colour, width, dashes))

    def segments(self, x: Values, low: Values, high: Values, colour: str, width: float) -> None:
        """Draw a vertical line at each x, from low to high."""
        pairs = zip(self.points(x, low).tolist(), self.points(x, high).tolist(), strict=True)
        self.inside.append(stroke(colour, *pairs, width=width))

    def bars(self, low: tuple[Values, Values], high: tuple[Values, Values], colour: str) -> None:
        """Draw rectangles, given two opposite corners (x, y) of each."""
        corners = zip(self.points(*low).tolist(), self.points(*high).tolist(), strict=True)
        self.inside.append(fill(colour, *(rectangle(*start, *end) for start, end in corners)))

    def image(self, colours: npt.NDArray[np.uint8]) -> None:
        """Fill the box with cells."""
        self.inside.append(pixels(colours, (self.left, self.top), (self.width, self.height)))

    def legend(self, entries: Sequence[tuple[str, Style]], corner: str, size: float = 6.5) -> None:
        """Draw a legend in a corner, such as "lower right"."""
        width, height = legend_size(entries, 1, size)
        left = self.left + 2 if "left" in corner else self.right - width
        self.inside += legend(entries, (left, self.top if "upper" in corner else self.bottom - height - 2), 1, 0, size)

    def drawn(self, *, closed: bool = False) -> Markup:
        """Return what is drawn, with the axes, or a closed frame."""
        frame = [(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)]
        edge = rectangle(self.left, self.top, self.right, self.bottom) if closed else frame
        parts = [*self.inside, stroke(SOFT, edge), *self._ticks()]
        middle, centre = self.left + self.width / 2, self.top + self.height / 2
        if self.title:
            parts.append(text(self.title, (middle, self.top - 4), size=8.5))
        if self.names[0] and self.x.label:
            parts.append(text(self.x.label, (middle, self.bottom + below(self.x) - 2.5)))
        if self.names[1] and self.y.label:
            parts.append(text(self.y.label, (self.left - beside(self.y) + FONT_SIZE, centre), turn=-90))
        return tag("g", parts)

    def _ticks(self) -> Iterable[Markup]:
        """Yield the ticks and their names."""
        mono, size = self.y.mono, self.y.size
        x = self.left + self.width * self.x.shares([value for value, _ in self.x.ticks])
        y = self.bottom - self.height * self.y.shares([value for value, _ in self.y.ticks])
        marks = [*([(at, self.bottom), (at, self.bottom + 2.5)] for at in x.tolist())]
        marks += [] if mono else [[(self.left - 2.5, at), (self.left, at)] for at in y.tolist()]
        if marks:
            yield stroke(SOFT, *marks)
        if self.names[0]:
            turn, own = self.x.turn, self.x.size
            crowded = len(self.x.ticks) * (self.x.room + own / 2) > self.width + self.x.room and not turn
            for (_, name), at in list(zip(self.x.ticks, x.tolist(), strict=True))[:: 2 if crowded else 1]:
                place = (at + own / 2, self.bottom + own) if turn else (at, self.bottom + 3.5 + own)
                yield text(name, place, "end" if turn else "middle", size=own, turn=turn)
        if self.names[1]:
            for (_, name), at in zip(self.y.ticks, y.tolist(), strict=True):
                yield text(name, (self.left - 4.5, at + 0.35 * size), "end", size=size, mono=mono)


def beside(y: Axis) -> float:
    """Return the width of what stands at the left of an axis."""
    return y.room + 6 + (11 if y.label else 0)


def below(x: Axis) -> float:
    """Return the height of what stands below an axis."""
    return (0.75 * x.room + 6 if x.turn else 6 + x.size if x.ticks else 2) + (11 if x.label else 0)


def panels(
    size: Point,
    axes: Sequence[tuple[Axis, Axis]],
    columns: int = 0,
    titles: Sequence[str] = (),
    *,
    shared: bool = False,
    square: bool = False,
) -> list[Panel]:
    """Return panels that fill a figure row by row; shared axes are named at the left and at the bottom only."""
    columns = columns or len(axes)
    rows = -(-len(axes) // columns)
    side, foot, head = max(beside(y) for _, y in axes), max(below(x) for x, _ in axes), 13.0 if titles else 5.0
    own_side, own_foot = (9.0, 5.0) if shared else (side + 8, foot)
    width = (size[0] - side - 7 - own_side * (columns - 1)) / columns
    height = (size[1] - foot - head * rows - own_foot * (rows - 1)) / rows
    if square:
        width = height = min(width, height)
    found = []
    for i, (x, y) in enumerate(axes):
        row, column = divmod(i, columns)
        box = side + column * (width + own_side), head + row * (height + head + own_foot), width, height
        panel = Panel(box, x, y, titles[i] if titles else "")
        panel.names = (not shared or i + columns >= len(axes), not shared or column == 0)
        found.append(panel)
    return found
