"""The states of one protein's residues as a picture: letters, true and predicted states, how sure each is.

As text for a terminal, or as SVG: helices are rounded boxes, strands arrows, turns arcs, the rest a line. What colours
say, shapes say too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from seqkern.core.errors import SequenceError
from seqkern.core.markup import Markup, tag

HELIX, STRAND, TURN, COIL = "helix", "strand", "turn", "coil"
SHAPES = {
    **dict.fromkeys("HGI", HELIX),
    **dict.fromkeys("EB", STRAND),
    **dict.fromkeys("TS", TURN),
    **dict.fromkeys("CLP_- ", COIL),
}
"""What a state is drawn as, by its letter (capital); another letter is a grey box that holds it."""

COMMON = "HEC"
"""States whose shape needs no letter: rarer ones of the same shape are paler and hold theirs."""

NAMES = dict(
    zip("HGIEBTSC", ("helix", "3-10 helix", "π helix", "strand", "bridge", "turn", "bend", "coil"), strict=True)
)

UNKNOWN = "?"
COLOURS: dict[str | None, str] = {
    HELIX: "#d55e00",
    STRAND: "#0072b2",
    TURN: "#7a5c00",
    COIL: "#555555",
    None: "#8a8a8a",
}
PALE: dict[str | None, str] = {HELIX: "#f3b48a", STRAND: "#8fc3e6"}
ANSI: dict[str | None, str] = {HELIX: "38;5;166", STRAND: "38;5;32", TURN: "38;5;94", COIL: "38;5;244", None: "38;5;90"}
WRONG = "#fbe9b7"

CELL, LEFT, RIGHT, TOP = 15, 84, 12, 10
LINE = 17
BARS = 18
FONT = "font-family:system-ui,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif"


@dataclass(frozen=True)
class Track:
    """What is drawn of one chain.

    Attributes
    ----------
    name : str
        Of the chain.
    letters : str
        The sequence.
    predicted : str
        One letter for each state; `UNKNOWN` where there is no prediction.
    true : str, optional
        Likewise; `UNKNOWN` where the state is not known.
    sure : sequence of float, optional
        How sure each prediction is, from 0 to 1.

    Raises
    ------
    SequenceError
        If these are not all of one length.

    Examples
    --------
    >>> track = Track("1abc", "GSAEELLAKG", predicted="CCCHHHHHCC", true="CCHHHHHHCC")
    >>> track.head()
    '1abc: 10 residues, 90.0 % of the states right'
    >>> for line in track_text(track).splitlines()[3:]:
    ...     print(line)
    residue    GSAEELLAKG
    true       CCHHHHHHCC
    predicted  CCCHHHHHCC
    wrong        x
    """

    name: str
    letters: str
    predicted: str
    true: str | None = None
    sure: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for line in (self.predicted, self.true, self.sure):
            if line is not None and len(line) != len(self.letters):
                raise SequenceError(
                    f"{len(line)} states or values for {len(self.letters)} residues",
                    record=self.name,
                    remedy="give one for each",
                )

    def right(self) -> float | None:
        """Return the share of residues whose state is predicted rightly; None where no true state is known."""
        known = [(a, b) for a, b in zip(self.true or "", self.predicted, strict=False) if UNKNOWN not in (a, b)]
        return sum(a == b for a, b in known) / len(known) if known else None

    def head(self) -> str:
        """Return what stands above the picture."""
        right = self.right()
        share = "" if right is None else f", {100 * right:.1f} % of the states right"
        return f"{self.name}: {len(self.letters)} residues{share}"


def track_text(track: Track, width: int = 60, colour: bool = False) -> str:
    """Return a track as lines of text.

    Parameters
    ----------
    track : Track
        What is shown.
    width : int, default 60
        Residues of a line.
    colour : bool, default False
        Whether states are coloured, for a terminal that shows it.

    Returns
    -------
    str
    """
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
    """Return the numbers of every tenth residue, each ending above it."""
    text = [" "] * (stop - start)
    for number in range(start + 10 - start % 10, stop + 1, 10):
        name = str(number)
        place = number - start - len(name)
        if place >= 0:
            text[place : place + len(name)] = name
    return "".join(text)


def _coloured(states: str, colour: bool) -> str:
    """Return states, each run of one in its colour."""
    if not colour:
        return states
    runs = ("".join(run) for _, run in groupby(states))
    return "".join(run if run[0] == UNKNOWN else f"\x1b[{ANSI[shape_of(run[0])]}m{run}\x1b[0m" for run in runs)


def shape_of(state: str) -> str | None:
    """Return what a state is drawn as.

    Parameters
    ----------
    state : str
        Its letter, in either case.

    Returns
    -------
    str or None
        ``helix``, ``strand``, ``turn`` or ``coil``; None for a box with its letter.
    """
    return SHAPES.get(state.upper())


def _differs(true: str, predicted: str) -> bool:
    """Tell whether a prediction is wrong, as far as both are known."""
    return UNKNOWN not in (true, predicted) and true != predicted


def track_svg(track: Track, width: int = 60) -> Markup:
    """Return a track as SVG, a file of its own or part of a page; it scales with the room that there is.

    Parameters
    ----------
    track : Track
        What is drawn.
    width : int, default 60
        Residues of a row.

    Returns
    -------
    Markup
    """
    rows: list[object] = []
    y = TOP
    lanes = [("true", track.true)] if track.true is not None else []
    lanes.append(("predicted", track.predicted))
    for start in range(0, len(track.letters), width):
        part = slice(start, min(start + width, len(track.letters)))
        rows.append(_letters(track.letters[part], start, y))
        top = y + 32
        if track.true is not None:
            rows.append(_mistakes(track.true[part], track.predicted[part], top, LINE * len(lanes)))
        for name, states in lanes:
            rows += [_label(name, top + 12), *_segments(states, part, top)]
            top += LINE
        if track.sure is not None:
            rows += [_label("confidence", top + 16), _bars(track, part, top + 3 + BARS)]
            top += BARS + 3
        y = top + 18
    legend, high = _legend(track, width, y)
    return tag(
        "svg",
        tag("title", track.head()),
        rows,
        legend,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {LEFT + CELL * width + RIGHT} {high}",
        role="img",
        aria_label=f"Track of states, {track.head()}",
        style=FONT,
    )


def _text(
    x: object, y: float, text: object, size: float = 12, anchor: str = "middle", colour: str = "#1c1c1c"
) -> Markup:
    """Return a text."""
    return tag("text", text, x=x, y=y, font_size=size, text_anchor=anchor, fill=colour)


def _label(name: str, y: float) -> Markup:
    """Return the name of a line of a row, left of it."""
    return _text(LEFT - 10, y, name, 11, "end", "#5a5a5a")


def _letters(letters: str, start: int, y: float) -> list[Markup]:
    """Return the letters of a row with the number of every tenth above."""
    places = range(start + 1, start + len(letters) + 1)
    centres = " ".join(f"{LEFT + CELL * (i + 0.5):g}" for i in range(len(letters)))
    numbers = [_text(LEFT + CELL * (n - start - 0.5), y + 8, n, 9.5, colour="#5a5a5a") for n in places if n % 10 == 0]
    return [_label(str(start + 1), y + 24), *numbers, _text(centres, y + 24, letters)]


def _mistakes(true: str, predicted: str, y: int, height: int) -> Markup | None:
    """Return a tint behind the residues whose state is not that which was predicted."""
    pairs = zip(true, predicted, strict=True)
    path, x = [], LEFT
    for wrong, run in groupby(_differs(a, b) for a, b in pairs):
        wide = CELL * len(list(run))
        if wrong:
            path.append(f"M{x} {y - 1}h{wide}v{height}h{-wide}z")
        x += wide
    return _path("".join(path), fill=WRONG)


def _path(d: str, **attributes: object) -> Markup | None:
    """Return a path; nothing of an empty one."""
    return tag("path", d=d, **attributes) if d else None


def _segments(states: str, part: slice, y: int) -> Iterator[Markup]:
    """Yield the shapes of the segments of one row; a segment that goes on in the next row has no end here."""
    place = 0
    for state, run in groupby(states):
        first, place = place, place + len(list(run))
        a, b = max(first, part.start), min(place, part.stop)
        if a < b and state != UNKNOWN:
            x, wide = LEFT + CELL * (a - part.start), CELL * (b - a)
            yield tag(
                "g",
                tag("title", f"{name_of(state)}, {first + 1}–{place}"),
                _shape(state, x, y, wide, (a == first, b == place)),
            )


def _shape(state: str, x: int, y: int, wide: int, ends: tuple[bool, bool]) -> object:
    """Return the drawing of one segment, `wide` from `x` on; `ends` tells which of its ends are real."""
    shape = shape_of(state)
    named = state.upper() not in COMMON and shape != COIL
    colour = PALE.get(shape, COLOURS[shape]) if named else COLOURS[shape]
    middle = y + 8
    if shape == COIL:
        return _path(f"M{x} {middle}h{wide}", stroke=colour, stroke_width=1.6, fill="none")
    if shape == TURN:
        arc = f"M{x} {middle + 3}q{wide / 2:g} -14 {wide} 0"
        dashes = "3 2" if state.upper() == "S" else None
        return _path(arc, stroke=colour, stroke_width=1.8, fill="none", stroke_dasharray=dashes)
    drawn = [_path(_arrow(x, middle, wide, ends[1]) if shape == STRAND else _box(x, y, wide, ends), fill=colour)]
    if named:
        drawn.append(_text(x + wide / 2, middle + 3.5, state, 9.5, colour="#ffffff" if shape is None else "#1c1c1c"))
    return drawn


def _box(x: int, y: int, wide: int, ends: tuple[bool, bool]) -> str:
    """Return the outline of a box, round at its real ends."""
    left, right = (6 if end else 0 for end in ends)
    return (
        f"M{x + left + 0.5} {y + 2}h{wide - left - right - 1}q{right} 0 {right} {min(right, 6)}v{12 - 2 * right}"
        f"q0 {right} {-right} {right}h{-(wide - left - right - 1)}q{-left} 0 {-left} {-left}v{-(12 - 2 * left)}"
        f"q0 {-left} {left} {-left}z"
    )


def _arrow(x: float, middle: int, wide: int, end: bool) -> str:
    """Return the outline of an arrow to the right; without a head where the strand goes on in the next row."""
    head = min(10, wide - 2) if end else 0
    x, shaft = x + 0.5, wide - head - 1
    if not end:
        return f"M{x} {middle - 4}h{shaft}v8h{-shaft}z"
    return f"M{x} {middle - 4}h{shaft}v-4l{head} 8l{-head} 8v-4h{-shaft}z"


def _bars(track: Track, part: slice, foot: int) -> list[Markup | None]:
    """Return one bar for each residue, as high as its prediction is sure, above a line."""
    assert track.sure is not None
    bars = []
    for i, (sure, state) in enumerate(zip(track.sure[part], track.predicted[part], strict=True)):
        if state != UNKNOWN:
            high = round(BARS * float(sure), 1)
            bars.append(f"M{LEFT + CELL * i + 2} {foot}v{-high}h{CELL - 4}v{high}z")
    base = _path(f"M{LEFT} {foot}h{CELL * (part.stop - part.start)}", stroke="#b5b0a5", stroke_width=0.8)
    return [_path("".join(bars), fill="#7c8894"), base]


def _legend(track: Track, width: int, y: int) -> tuple[Markup, int]:
    """Return what the shapes mean, and how high that is."""
    found = {s for s in (track.true or "") + track.predicted if s != UNKNOWN}
    there = sorted(found, key=lambda s: ("HGIEBTSC".find(s.upper()) % 99, s))
    entries: list[tuple[str, Callable[[int, int], object]]] = [(name_of(state), _sample(state)) for state in there]
    if track.true is not None:
        entries.append(("predicted wrongly", lambda x, y: _path(f"M{x} {y}h30v16h-30z", fill=WRONG)))
    x = LEFT
    drawn: list[object] = []
    for name, draw in entries:
        wide = 60 + round(6.4 * len(name))
        if x + wide > LEFT + CELL * width and x > LEFT:
            x, y = LEFT, y + 20
        drawn += [draw(x, y), _text(x + 36, y + 12, name, 11, "start", "#5a5a5a")]
        x += wide
    return tag("g", drawn), y + 22


def _sample(state: str) -> Callable[[int, int], object]:
    """Return what draws a short segment of a state at a place."""
    return lambda x, y: _shape(state, x, y, 30, (True, True))


def name_of(state: str) -> str:
    """Return the name of a state, with its letter.

    Parameters
    ----------
    state : str
        Its letter, in either case.

    Returns
    -------
    str
    """
    return f"{NAMES.get(state.upper(), shape_of(state) or 'state')} ({state})"


def track_page(tracks: list[Track], width: int = 60) -> Markup:
    """Return a page of HTML with the tracks of several chains, one below the other.

    Parameters
    ----------
    tracks : list of Track
        What is drawn.
    width : int, default 60
        Residues of a row.

    Returns
    -------
    Markup
    """
    style = "body{margin:2rem auto;max-width:66rem;padding:0 1rem;" + FONT + "}h2{font-size:1rem}svg{width:100%}"
    parts = [tag("section", tag("h2", track.head()), track_svg(track, width)) for track in tracks]
    head = tag(
        "head", tag("meta", charset="utf-8"), tag("title", "Predicted states"), Markup(f"<style>{style}</style>")
    )
    return Markup("<!DOCTYPE html>\n" + tag("html", head, tag("body", parts), lang="en") + "\n")
