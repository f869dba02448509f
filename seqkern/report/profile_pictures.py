"""Prediction profiles and states of residues as pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from seqkern.core.errors import SequenceError
from seqkern.core.types import Floats, Ints
from seqkern.report import drawing as draw
from seqkern.report.markup import Markup, tag
from seqkern.sequences.joining import Stretch

# Prediction profiles as SVG: the contribution of each residue of a sequence to the decision value, as a curve.
#
# As in KeBABS, the contributions s_i are a step function over the positions, with a dashed line at −b/L, the bias
# shared among the L residues. As f(x) = Σ_i (s_i + b/L), the decision value is the area above that line minus the
# area below. Long sequences continue in further rows; very long ones are drawn in bins. If a sample has several
# sequences, each has its name above, a line at its start, and its own positions.

PER_ROW = 100
MOST_LETTERS = 1200
STEP = 9.6
LEFT, RIGHT, TOP = 62.0, 12.0, 8.0
HEIGHT, ROW = 110.0, 152.0
WEAK = 0.15


def profile(
    contributions: Floats,
    letters: str,
    bias: float,
    label: str,
    ends: tuple[float, ...] = (),
    views: Sequence[Stretch] = (),
) -> Markup:
    """Return one sequence's profile as an SVG element that also works as a separate file."""
    values, size = np.asarray(contributions, dtype=np.float64), len(contributions)
    letters, numbers = _blanked(letters, views), _numbers(size, views)
    share = -bias / max(1, size)
    width = bin_width(size)
    if width > 1:
        edges = np.arange(0, size, width)
        values = np.add.reduceat(values, edges) / np.diff([*edges, size])
        letters, numbers, views = "", np.arange(1, size + 1)[edges], ()
    low, high, ticks = draw.axis_scale(min(0.0, share, *values, *ends), max(0.0, share, *values, *ends))
    rows: list[Markup] = []
    for first in range(0, max(1, len(values)), PER_ROW):
        part = slice(first, first + PER_ROW)
        n = len(values[part])
        box = draw.Panel((LEFT, 0, STEP * n, HEIGHT), draw.Axis(0, max(1, n)), draw.Axis(low, high, ticks=ticks))
        row = [*_curve(box, values[part], share), *_letters(values[part], letters[part], max(abs(low), abs(high)))]
        row += [*_positions(numbers[part], first if width > 1 else None), *_view_marks(views, first, n)]
        rows.append(tag("g", row, transform=f"translate(0 {TOP + ROW * len(rows):g})"))
    longest = min(PER_ROW, max(1, len(values)))
    return draw.picture(rows, (LEFT + STEP * longest + RIGHT, TOP + ROW * len(rows)), label, font_size=10)


def bin_width(size: int) -> int:
    """Return the number of residues per step of the curve, which shows their mean."""
    return max(1, -(-size // MOST_LETTERS))


def _curve(box: draw.Panel, values: Floats, share: float) -> Iterator[Markup]:
    """Yield the step curve of a row, filled up to zero, with its axis and the line at `share`."""
    zero, line = (float(box.points(0, value)[1]) for value in (0, share))
    yield draw.stroke(draw.SOFT, [(LEFT, 0), (LEFT, HEIGHT)])

    def steps(heights: Floats) -> list[list[float]]:
        return box.points(np.repeat(np.arange(len(values) + 1), 2)[1:-1], np.repeat(heights, 2)).tolist()

    if len(values):
        for part, colour in ((np.maximum(values, 0), draw.POSITIVE), (np.minimum(values, 0), draw.NEGATIVE)):
            yield draw.fill(colour, [(LEFT, zero), *steps(part), (box.right, zero)], opacity="0.75")
        yield draw.stroke(draw.INK, steps(values), width=0.8)
    yield draw.stroke(draw.SOFT, [(LEFT, zero), (box.right, zero)])
    yield draw.stroke(draw.INK, [(LEFT, line), (box.right, line)], width=1, dashes="4 3")
    for tick, name in box.y.ticks:
        y = float(box.points(0, tick)[1])
        yield draw.stroke(draw.SOFT, [(LEFT - 3, y), (LEFT, y)])
        yield draw.text(name, (LEFT - 6, y + 3.5), "end", fill=draw.SOFT)


def _positions(numbers: Ints, first: int | None) -> Iterator[Markup]:
    """Yield the first and every tenth position of a row, or the position of every tenth bin, counted from `first`."""
    for i, position in enumerate(numbers.tolist()):
        starts = i == 0 or (first is None and position == 1)
        if position and (starts or (position if first is None else first + i) % 10 == 0):
            name = f"{position:,}"
            yield draw.text(name, (LEFT + STEP * (i + 0.5), HEIGHT + 28), fill=draw.SOFT)


def _blanked(letters: str, views: Sequence[Stretch]) -> str:
    """Return the residues with blanks between the joined sequences."""
    if not views:
        return letters
    out = [" "] * len(letters)
    for view in views:
        out[view.start : view.stop] = letters[view.start : view.stop]
    return "".join(out)


def _numbers(size: int, views: Sequence[Stretch]) -> Ints:
    """Return the position of each residue in its sequence, from 1; 0 between joined sequences."""
    if not views:
        return np.arange(1, size + 1)
    numbers = np.zeros(size, dtype=np.int64)
    for view in views:
        numbers[view.start : view.stop] = np.arange(1, view.stop - view.start + 1)
    return numbers


def _view_marks(views: Sequence[Stretch], first: int, size: int) -> list[Markup]:
    """Return, for one row, a line at the start of each joined sequence, and its name."""
    parts = []
    for view in views:
        if first <= view.start < first + size:
            x = LEFT + STEP * (view.start - first)
            parts.append(draw.stroke(draw.SOFT, [(x, -6), (x, HEIGHT + 16)], width=1, dashes="2 2"))
            parts.append(draw.text(view.name, (x + 3, 2), "start", bold=True))
    return parts


def _letters(values: Floats, letters: str, largest: float) -> list[Markup]:
    """Return the residues below the curve, in the colours of their contributions; weak ones are grey."""
    groups: dict[str, list[tuple[int, str]]] = {draw.SOFT: [], draw.POSITIVE: [], draw.NEGATIVE: []}
    for place, letter in enumerate(letters):
        value = values[place]
        colour = draw.SOFT if abs(value) < WEAK * largest else draw.POSITIVE if value > 0 else draw.NEGATIVE
        groups[colour].append((place, letter))
    parts = []
    for colour, found in groups.items():
        if found:
            x = " ".join(f"{LEFT + STEP * (place + 0.5):g}" for place, _ in found)
            style = {"text_anchor": "middle", "fill": colour, "font_weight": None if colour == draw.SOFT else "700"}
            shown = "".join(letter for _, letter in found)
            parts.append(tag("text", shown, class_="letters", x=x, y=f"{HEIGHT + 14:g}", **style))
    return parts


# Pictures of the states of one protein's residues: letters, true and predicted states, and confidences.
#
# The output is text for a terminal, or SVG: helices are rounded boxes, strands arrows, turns arcs, the rest a line.
# Shapes repeat what colours show.

HELIX, STRAND, TURN, COIL = "helix", "strand", "turn", "coil"
SHAPES = {
    **dict.fromkeys("HGI", HELIX),
    **dict.fromkeys("EB", STRAND),
    **dict.fromkeys("TS", TURN),
    **dict.fromkeys("CLP_- ", COIL),
}
"""Shape of a state, by its capital letter; another state is a grey box with its letter."""

COMMON = "HEC"
"""States whose shape needs no letter; rarer states of the same shape are paler and show theirs."""

NAMES = dict(
    zip("HGIEBTSC", ("helix", "3-10 helix", "π helix", "strand", "bridge", "turn", "bend", "coil"), strict=True)
)

UNKNOWN = "?"


class Look(NamedTuple):
    """The colours of a shape: in pictures, of its rarer states there, and in a terminal."""

    colour: str
    pale: str
    terminal: str


LOOKS: dict[str | None, Look] = {
    HELIX: Look("#d55e00", "#f3b48a", "38;5;166"),
    STRAND: Look("#0072b2", "#8fc3e6", "38;5;32"),
    TURN: Look("#7a5c00", "#7a5c00", "38;5;94"),
    COIL: Look("#555555", "#555555", "38;5;244"),
    None: Look("#8a8a8a", "#8a8a8a", "38;5;90"),
}
WRONG = "#fbe9b7"

CELL, TRACK_LEFT, TRACK_RIGHT, TRACK_TOP = 15, 84, 12, 10
LINE = 17
BARS = 18
FONT = "font-family:system-ui,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif"


@dataclass(frozen=True)
class Track:
    """A chain to be drawn: its residues, predicted states and, optionally, true states and confidences (0 to 1)."""

    name: str  # Of the chain
    letters: str  # The sequence
    predicted: str  # One letter for each state; `UNKNOWN` where there is no prediction
    true: str | None = None  # Likewise; `UNKNOWN` where the state is not known
    sure: Sequence[float] | None = None  # How sure each prediction is, from 0 to 1

    def __post_init__(self) -> None:
        for line in (self.predicted, self.true, self.sure):
            if line is not None and len(line) != len(self.letters):
                raise SequenceError(
                    f"{len(line)} states or values for {len(self.letters)} residues",
                    record=self.name,
                    remedy="give one for each",
                )

    def right(self) -> float | None:
        """Return the share of correctly predicted residues, or None if no true state is known."""
        known = [(a, b) for a, b in zip(self.true or "", self.predicted, strict=False) if UNKNOWN not in (a, b)]
        return sum(a == b for a, b in known) / len(known) if known else None

    def head(self) -> str:
        """Return the heading above the picture: name, length and accuracy."""
        right = self.right()
        share = "" if right is None else f", {100 * right:.1f}% of the states right"
        return f"{self.name}: {len(self.letters)} residues{share}"


def track_text(track: Track, width: int = 60, colour: bool = False) -> str:
    """Return a track as lines of text."""
    lines = [track.head(), ""]
    count = len(track.letters)
    for start in range(0, count, width):
        stop = min(start + width, count)
        part = slice(start, stop)
        ruler = _ruler(start, stop)
        lines += [f"{'':11}{ruler}".rstrip()] if ruler.strip() else []
        lines.append(f"{'residue':11}{track.letters[part]}")
        if track.true is not None:
            lines.append(f"{'true':11}{_coloured(track.true[part], colour)}")
        lines.append(f"{'predicted':11}{_coloured(track.predicted[part], colour)}")
        if track.sure is not None:
            digits = "".join(str(min(int(10 * value), 9)) for value in track.sure[part])
            known = zip(digits, track.predicted[part], strict=True)
            lines.append(f"{'confidence':11}{''.join(' ' if s == UNKNOWN else digit for digit, s in known)}".rstrip())
        if track.true is not None:
            pairs = zip(track.true[part], track.predicted[part], strict=True)
            lines.append(f"{'wrong':11}{''.join('x' if _differs(a, b) else ' ' for a, b in pairs)}".rstrip())
        lines.append("")
    return "\n".join(lines)


def _ruler(start: int, stop: int) -> str:
    """Return the numbers of every tenth residue, each ending above its residue."""
    line = [" "] * (stop - start)
    for number in range(start + 10 - start % 10, stop + 1, 10):
        name = str(number)
        place = number - start - len(name)
        if place >= 0:
            line[place : place + len(name)] = name
    return "".join(line)


def _coloured(states: str, colour: bool) -> str:
    """Return the states as text, each run of one state in its colour."""
    if not colour:
        return states
    runs = ("".join(run) for _, run in groupby(states))
    return "".join(
        run if run[0] == UNKNOWN else f"\x1b[{LOOKS[shape_of(run[0])].terminal}m{run}\x1b[0m" for run in runs
    )


def shape_of(state: str) -> str | None:
    """Return the shape of a state, or None for a box with its letter."""
    return SHAPES.get(state.upper())


def _differs(true: str, predicted: str) -> bool:
    """Return whether a prediction is wrong; False if either state is unknown."""
    return UNKNOWN not in (true, predicted) and true != predicted


def track_svg(track: Track, width: int = 60) -> Markup:
    """Return a track as SVG that scales with the available width, for a separate file or a page."""
    parts: list[Markup] = []
    y = TRACK_TOP
    lanes = [] if track.true is None else [("true", track.true)]
    lanes.append(("predicted", track.predicted))
    for start in range(0, len(track.letters), width):
        part = slice(start, min(start + width, len(track.letters)))
        parts += _residues(track.letters[part], start, y)
        top = y + 32
        if track.true is not None:
            pairs = zip(track.true[part], track.predicted[part], strict=True)
            wrong = [i for i, (true, predicted) in enumerate(pairs) if _differs(true, predicted)]
            parts += _columns(wrong, top - 1, top - 1 + LINE * len(lanes))
        for name, states in lanes:
            parts += [_label(name, top + 12), *_segments(states, part, top)]
            top += LINE
        if track.sure is not None:
            parts += [_label("confidence", top + 16), *_bars(track.sure[part], track.predicted[part], top + 3 + BARS)]
            top += BARS + 3
        y = top + 18
    legend, high = _legend(track, width, y)
    return tag(
        "svg",
        tag("title", track.head()),
        parts,
        legend,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {TRACK_LEFT + CELL * width + TRACK_RIGHT} {high}",
        role="img",
        aria_label=f"Track of states, {track.head()}",
        style=FONT,
    )


def _label(name: str, y: float) -> Markup:
    """Return the label to the left of a line of a row."""
    return draw.text(name, (TRACK_LEFT - 10, y), "end", size=11, fill=draw.SOFT)


def _residues(letters: str, start: int, y: float) -> Iterator[Markup]:
    """Yield the residues of a row, with the number of every tenth one above."""
    yield _label(str(start + 1), y + 24)
    for n in range(start + 10 - start % 10, start + len(letters) + 1, 10):
        yield draw.text(n, (TRACK_LEFT + CELL * (n - start - 0.5), y + 8), size=9.5, fill=draw.SOFT)
    centres = " ".join(f"{TRACK_LEFT + CELL * (i + 0.5):g}" for i in range(len(letters)))
    yield tag("text", letters, x=centres, y=y + 24, font_size=12, text_anchor="middle", fill=draw.INK)


def _columns(places: Sequence[int], top: float, bottom: float) -> Iterator[Markup]:
    """Yield a tint behind some residues of a row."""
    if places:
        left = [TRACK_LEFT + CELL * place for place in places]
        yield draw.fill(WRONG, *(draw.rectangle(x, top, x + CELL, bottom) for x in left))


def _segments(states: str, part: slice, y: int) -> Iterator[Markup]:
    """Yield the shapes of the segments of one row; a segment that continues in the next row has no end here."""
    place = 0
    for state, run in groupby(states):
        first, place = place, place + len(list(run))
        a, b = max(first, part.start), min(place, part.stop)
        if a < b and state != UNKNOWN:
            x, wide = TRACK_LEFT + CELL * (a - part.start), CELL * (b - a)
            title = tag("title", f"{name_of(state)}, {first + 1}–{place}")
            yield tag("g", title, _shape(state, x, y, wide, (a == first, b == place)))


def _shape(state: str, x: int, y: int, wide: int, ends: tuple[bool, bool] = (True, True)) -> list[Markup]:
    """Return the drawing of one segment, `wide` wide from `x`; `ends` marks which of its two ends are real."""
    shape, middle = shape_of(state), y + 8
    named = state.upper() not in COMMON and shape != COIL
    colour = LOOKS[shape].pale if named else LOOKS[shape].colour
    if shape == COIL:
        return [draw.stroke(colour, [(x, middle), (x + wide, middle)], width=1.6)]
    if shape == TURN:
        arc, dashes = f"M{x} {middle + 3}q{wide / 2:g} -14 {wide} 0", "3 2" if state.upper() == "S" else None
        return [tag("path", d=arc, stroke=colour, stroke_width=1.8, fill="none", stroke_dasharray=dashes)]
    drawn = tag("path", d=_arrow(x, middle, wide, ends[1]) if shape == STRAND else _box(x, y, wide, ends), fill=colour)
    name = draw.text(state, (x + wide / 2, middle + 3.5), size=9.5, fill="#fff" if shape is None else draw.INK)
    return [drawn, name] if named else [drawn]


def _box(x: int, y: int, wide: int, ends: tuple[bool, bool]) -> str:
    """Return the outline of a box, round at its real ends."""
    left, right = (6 if end else 0 for end in ends)
    return (
        f"M{x + left + 0.5} {y + 2}h{wide - left - right - 1}q{right} 0 {right} {min(right, 6)}v{12 - 2 * right}"
        f"q0 {right} {-right} {right}h{-(wide - left - right - 1)}q{-left} 0 {-left} {-left}v{-(12 - 2 * left)}"
        f"q0 {-left} {left} {-left}z"
    )


def _arrow(x: float, middle: int, wide: int, end: bool) -> str:
    """Return the outline of an arrow to the right, without a head if the strand continues in the next row."""
    head = min(10, wide - 2) if end else 0
    x, shaft = x + 0.5, wide - head - 1
    if not end:
        return f"M{x} {middle - 4}h{shaft}v8h{-shaft}z"
    return f"M{x} {middle - 4}h{shaft}v-4l{head} 8l{-head} 8v-4h{-shaft}z"


def _bars(sure: Sequence[float], predicted: str, foot: int) -> list[Markup]:
    """Return one bar for each predicted residue, with the confidence of its prediction as height, above a line."""
    bars = [
        draw.rectangle(TRACK_LEFT + CELL * i + 2, foot - BARS * float(value), TRACK_LEFT + CELL * (i + 1) - 2, foot)
        for i, (value, state) in enumerate(zip(sure, predicted, strict=True))
        if state != UNKNOWN
    ]
    base = [(TRACK_LEFT, foot), (TRACK_LEFT + CELL * len(predicted), foot)]
    return [draw.fill("#7c8894", *bars), draw.stroke("#b5b0a5", base, width=0.8)]


def _legend(track: Track, width: int, y: int) -> tuple[Markup, int]:
    """Return the legend of the shapes, and the y coordinate below it."""
    found = {s for s in (track.true or "") + track.predicted if s != UNKNOWN}
    states = sorted(found, key=lambda s: ("HGIEBTSC".find(s.upper()) % 99, s))
    x, drawn = TRACK_LEFT, []
    for state in [*states, *[None] * (track.true is not None)]:
        name = "predicted wrongly" if state is None else name_of(state)
        wide = 60 + round(6.4 * len(name))
        if x + wide > TRACK_LEFT + CELL * width and x > TRACK_LEFT:
            x, y = TRACK_LEFT, y + 20
        drawn.append(
            draw.fill(WRONG, draw.rectangle(x, y, x + 30, y + 16)) if state is None else _shape(state, x, y, 30)
        )
        drawn.append(draw.text(name, (x + 36, y + 12), "start", size=11, fill=draw.SOFT))
        x += wide
    return tag("g", drawn), y + 22


def name_of(state: str) -> str:
    """Return the name of a state, with its letter."""
    return f"{NAMES.get(state.upper(), shape_of(state) or 'state')} ({state})"
