"""Sequence logos as SVG: stacked letters at every position, with heights proportional to their values.

`logo_figure` draws the importance of letters, up and down from zero, and below it the information content of windows
(Schneider, Stephens: Sequence logos: a new way to display consensus sequences. Nucleic Acids Research 18, 1990), both
over one axis of positions. Each letter is one path, reused at all its places.
"""

import csv
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt
from matplotlib.colors import to_hex

from seqkern.core.package_files import open_resource
from seqkern.report.figure_files import DIVERGING_MAP
from seqkern.report.markup import DIVERGING, INK, SOFT, Markup, axis_scale, picture, pixels, tag
from seqkern.sequences.alphabets import Alphabet

# Letter outlines for logos: capitals from a table, other characters from matplotlib.
#
# Importing matplotlib takes a quarter of a second, more than everything else that `seqkern explain` does for a few
# sequences.


def outline(letter: str) -> str:
    """Return a letter as an SVG path that fills the square from (0, 0) to (1, 1); narrow letters stay narrow.

    >>> outline("I")
    'M0.266 0.000L0.734 0.000L0.734 1.000L0.266 1.000L0.266 0.000Z'
    """
    return _capitals().get(letter) or drawn_outline(letter)


@cache
def _capitals() -> dict[str, str]:
    """Return the outlines of A to Z."""
    with open_resource("letter_outlines.tsv") as file:
        return {row["letter"]: row["outline"] for row in csv.DictReader(file, delimiter="\t")}


@lru_cache
def drawn_outline(letter: str) -> str:
    """Return the outline of any character, in bold DejaVu Sans."""
    # imported here: the table mostly has the letters
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    path = TextPath((0, 0), letter, size=100, prop=FontProperties(family="DejaVu Sans", weight="bold"))
    box = path.get_extents()
    middle, width, height = (box.x0 + box.x1) / 2, max(box.width, 0.55 * box.height), box.height
    commands = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
    text = []
    for vertices, code in path.iter_segments(simplify=False):
        points = vertices.reshape(-1, 2)
        places = [((x - middle) / width + 0.5, (y - box.y1) / -height) for x, y in points]
        numbers = "" if code == Path.CLOSEPOLY else " ".join(f"{x + 0.0:.3f} {y + 0.0:.3f}" for x, y in places)
        text.append(commands[code] + numbers)
    return "".join(text)


NUCLEOTIDES = {"A": "#0b8043", "C": "#1f5fa8", "G": "#e69500", "T": "#c8262e", "U": "#c8262e"}
AMINO_ACIDS = {"GSTYC": "#0b8043", "NQ": "#8e3b9e", "KRH": "#1f5fa8", "DE": "#c8262e", "AVLIPWFM": "#1c1c1c"}
WIDTH, STEPS = 880.0, (5.0, 22.0)
LEFT, RIGHT, TOP = 74.0, 14.0, 24.0
HEIGHTS = {"importance": 150.0, "information": 84.0}
GAP, AXIS = 34.0, 40.0
LEAST = 0.3
FLAT = 0.125
"""Share of the most information that a letter may have, below which the second logo has an axis of its own scale."""


def letter_colour(letter: str, alphabet: Alphabet) -> str:
    """Return a letter's CSS colour: conventional for nucleotides, by chemistry for amino acids, else one colour."""
    if set(alphabet.letters) <= set(NUCLEOTIDES):
        return NUCLEOTIDES[letter]
    return next((colour for group, colour in AMINO_ACIDS.items() if letter in group), SOFT)


def information(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return each letter's information content at each position, in bits, shape (L, letters).

    It is share × (log2 letters − entropy − small-sample correction), or 0 if that is negative.

    >>> information(np.array([[100, 0, 0, 0], [25, 25, 25, 25]])).sum(axis=1).round(2)
    array([1.98, 0.  ])
    """
    size, total = counts.shape[1], counts.sum(axis=1)
    share = counts / np.maximum(total, 1)[:, None]
    entropy = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)
    correction = (size - 1) / (2 * np.log(2) * np.maximum(total, 1))
    return share * np.maximum(np.log2(size) - entropy - correction, 0.0)[:, None]


def logo_figure(
    importance: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64] | None,
    label: tuple[str, Alphabet],
    *,
    first: int = 1,
    section: tuple[int, int] | None = None,
    names: tuple[str, str] = ("importance", "bits"),
) -> Markup:
    """Return the logos of importance and of letter counts, if given, as SVG that can also be a file of its own."""
    text, alphabet = label
    length = len(importance)
    start, stop = (0, length) if section is None else (max(0, section[0] - first), min(length, section[1] - first + 1))
    step = step_of(stop - start)
    prefix = "g" + hashlib.blake2b(text.encode(), digest_size=5).hexdigest()
    panels = [(importance[start:stop], HEIGHTS["importance"], names[0], 0.0)]
    if counts is not None:
        bits, most = information(counts)[start:stop], float(np.log2(alphabet.size))
        tall = bits.sum(axis=1).max(initial=0.0) >= FLAT * most
        panels.append((bits, HEIGHTS["information"], names[1], most if tall else 0.0))
    parts, y = [glyphs(alphabet, prefix)], TOP
    positions = range(first + start, first + stop)
    total = TOP + sum(height for _, height, *_ in panels) + GAP * (len(panels) - 1) + AXIS
    if first <= 0 <= first + length - 1 and 0 in positions:
        x = LEFT + step * (0 - positions[0])
        band = {"x": short(x), "y": short(TOP - 6), "width": short(step), "height": short(total - TOP - AXIS + 10)}
        parts.append(tag("rect", fill="#efece4", **band))
    for values, height, name, top in panels:
        parts.append(panel(values, height, name, top, step, alphabet, prefix, y))
        parts.append(axis(positions, step, y + height))
        y += height + GAP
    where = "offset from the site" if first <= 0 else "position"
    middle = LEFT + step * len(positions) / 2
    parts.append(tag("text", where, x=short(middle), y=short(total - 6), text_anchor="middle", fill=SOFT))
    width = LEFT + step * len(positions) + RIGHT
    return picture(parts, (width, total), text, font_size=11, style=f"; min-width: {0.75 * width:.0f}px")


def short(value: float) -> str:
    """Return a coordinate as short text.

    >>> short(12.5), short(3.0)
    ('12.5', '3')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def step_of(positions: int) -> float:
    """Return the width of a position in the figure, given the number of positions drawn."""
    return float(np.clip(WIDTH / max(1, positions), *STEPS))


def glyphs(alphabet: Alphabet, prefix: str) -> Markup:
    """Return SVG definitions of the letters: paths in a unit square, y downwards."""
    paths = [
        tag("path", id=f"{prefix}{code}", d=outline(letter), fill=letter_colour(letter, alphabet))
        for code, letter in enumerate(alphabet.letters)
    ]
    return tag("defs", paths)


def tick_marks(marks: Iterable[tuple[float, str]]) -> list[Markup]:
    """Return the tick marks of a vertical axis, with their numbers."""
    parts = []
    for y, text in marks:
        parts.append(tag("path", d=f"M{LEFT - 3:g} {short(y)}h3", stroke=SOFT, stroke_width="0.7"))
        parts.append(tag("text", text, x=f"{LEFT - 6:g}", y=short(y + 3.8), text_anchor="end", fill=SOFT))
    return parts


def axis_name(name: str, y: float) -> Markup:
    """Return the name of a vertical axis, or of a block of rows, placed beside it."""
    turned = {"x": "16", "y": short(y), "text_anchor": "middle", "transform": f"rotate(-90 16 {short(y)})"}
    return tag("text", name, fill=INK, **turned)


def panel(
    values: npt.NDArray[np.float64],
    height: float,
    name: str,
    most: float,
    step: float,
    alphabet: Alphabet,
    prefix: str,
    top: float,
) -> Markup:
    """Return one logo with its vertical axis; negative heights hang below zero."""
    low = float(np.minimum(values, 0).sum(axis=1).min(initial=0.0))
    high = float(np.maximum(values, 0).sum(axis=1).max(initial=most))
    low, high, ticks = axis_scale(low, high)
    scale = height / (high - low)

    def y(value: float) -> float:
        return top + scale * (high - value)

    end = LEFT + step * len(values)
    parts = [tag("path", d=f"M{LEFT:g} {short(top)}V{short(top + height)}", stroke=SOFT, stroke_width="0.7")]
    parts += [*tick_marks([(y(tick), text) for tick, text in ticks]), axis_name(name, top + height / 2)]
    for place, row in enumerate(values):
        x = LEFT + step * place
        for side in (1, -1):  # the strongest letter lies farthest from zero
            codes = [code for code in np.argsort(np.abs(row), kind="stable") if side * row[code] > 0]
            base = 0.0
            for code in codes:
                size = abs(row[code])
                base += size
                if scale * size >= LEAST:
                    upper = y(base) if side > 0 else y(size - base)
                    width, left = short(0.94 * step), short(x + 0.03 * step)
                    shape = f"matrix({width} 0 0 {short(scale * size)} {left} {short(upper)})"
                    parts.append(tag("use", href=f"#{prefix}{code}", transform=shape))
    parts.append(tag("path", d=f"M{LEFT:g} {short(y(0))}H{short(end)}", stroke=INK, stroke_width="0.8"))
    return tag("g", parts)


def axis(positions: Sequence[int], step: float, y: float) -> Markup:
    """Return ticks and names of positions below a logo."""
    every, offsets, parts = 5 if step >= 11 else 10, positions[0] < 1, []
    for place, position in enumerate(positions):
        if position % every and (offsets or position != 1):
            continue
        x = LEFT + step * (place + 0.5)
        name = f"{position:+d}" if offsets and position else str(position)
        parts.append(tag("path", d=f"M{short(x)} {short(y + 2)}v3", stroke=SOFT, stroke_width="0.7"))
        text = name.replace("-", "\N{MINUS SIGN}")
        parts.append(tag("text", text, x=short(x), y=short(y + 16), text_anchor="middle", fill=SOFT, font_size="10"))
    return tag("g", parts)


# Heat map of the importance of letters and k-mers at every position, aligned with the logos above it.

TOP_KMERS = 12
ROW, BARS, BARS_GAP, HEATMAP_AXIS = 12.0, 54.0, 10.0, 40.0
SCALE, HEATMAP_RIGHT = 8.0, 58.0
"""Width of a block's colour scale, and of the room for it and its numbers."""


class Importance(Protocol):
    """The importance that a heat map shows; see `seqkern.methods.poim.Importance`."""

    @property
    def length(self) -> int:
        """Number of residues of a window."""

    @property
    def matrices(self) -> Mapping[int, npt.NDArray[np.float64]]:
        """Importance of each k-mer at each position, by length of the k-mer."""

    def words(self, order: int) -> list[str]:
        """Return the k-mers of length `order`, in the order of the columns of `matrices`."""

    def position_weights(self) -> npt.NDArray[np.float64]:
        """Return the importance of each position."""


def top_kmers(matrix: npt.NDArray[np.float64], words: Sequence[str], most: int = TOP_KMERS) -> list[int]:
    """Return the columns of a matrix (positions, k-mers) with the largest absolute values, the largest first.

    >>> top_kmers(np.array([[0.1, -0.9, 0.3], [0.5, 0.2, 0.3]]), ["AC", "GT", "TT"], most=2)
    [1, 0]
    """
    strength = np.abs(matrix).max(axis=0, initial=0.0)
    return sorted(range(len(words)), key=lambda column: (-strength[column], words[column]))[:most]


def heat_map(importance: "Importance", label: str, *, first: int = 1, section: tuple[int, int] | None = None) -> Markup:
    """Return the heat map as an SVG element that can also be a file of its own.

    There is one block of rows for each order: all letters, then the most important longer k-mers in the section
    drawn, each at the position where it starts. Bars above show the importance of each position: the sum over
    letters.
    """
    last = first + importance.length - 1
    low, high = (first, last) if section is None else (max(first, section[0]), min(last, section[1]))
    cut, positions = slice(low - first, high - first + 1), range(low, high + 1)
    step = step_of(len(positions))
    parts, y = [_bars(importance.position_weights()[cut], step)], TOP + BARS + BARS_GAP
    for order, matrix in importance.matrices.items():
        words, shown = importance.words(order), matrix[cut]
        if not len(shown):  # no k-mer begins so near to the end
            continue
        columns = list(range(len(words))) if order == 1 else top_kmers(shown, words)
        name = "letter" if order == 1 else f"{order} letters"
        parts.append(_block(shown[:, columns].T, [words[column] for column in columns], name, step, len(positions), y))
        y += ROW * len(columns) + BARS_GAP
    bottom, end = y - BARS_GAP, LEFT + step * len(positions)
    if first <= 0 and low <= 0 <= high:
        x = short(LEFT - step * low)
        parts.append(tag("path", d=f"M{x} {TOP:g}V{short(bottom)}", stroke=INK, stroke_dasharray="3 2"))
    parts.append(axis(positions, step, bottom))
    where = "offset from the site" if first <= 0 else "position"
    middle = {"x": short((LEFT + end) / 2), "y": short(bottom + HEATMAP_AXIS - 6), "text_anchor": "middle"}
    parts.append(tag("text", where, fill=SOFT, **middle))
    size = end + HEATMAP_RIGHT, bottom + HEATMAP_AXIS
    return picture(parts, size, label, font_size=11, style=f"; min-width: {0.75 * size[0]:.0f}px")


def _bars(weights: npt.NDArray[np.float64], step: float) -> Markup:
    """Return a bar for each position, with their axis."""
    most, ticks = axis_scale(0.0, float(weights.max(initial=0.0)))[1:]
    scale, base = BARS / most, TOP + BARS
    width = short(0.84 * step)
    bars = "".join(
        f"M{short(LEFT + step * (place + 0.08))} {base:g}v{short(-scale * max(0.0, weight))}h{width}V{base:g}Z"
        for place, weight in enumerate(weights.tolist())
    )
    marks = tick_marks([(base - scale * tick, text) for tick, text in ticks if tick >= 0])
    return tag("g", [tag("path", d=bars, fill="#777777"), axis_name("sum", TOP + BARS / 2), *marks])


def _block(
    values: npt.NDArray[np.float64], words: Sequence[str], name: str, step: float, length: int, top: float
) -> Markup:
    """Return the heat map rows of the k-mers of one order, with the colour scale."""
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    height = ROW * len(words)
    parts = [
        pixels(colours(values / most), (LEFT, top), (step * values.shape[1], height)),
        axis_name(name, top + height / 2),
    ]
    for row, word in enumerate(words):
        place = {"x": f"{LEFT - 4:g}", "y": short(top + ROW * (row + 0.75)), "text_anchor": "end"}
        parts.append(tag("text", word, font_size="9", font_family="monospace", fill=INK, **place))
    left = LEFT + step * length + 8
    parts.append(pixels(colours(np.linspace(1, -1, 64)[:, None]), (left, top), (SCALE, height)))
    for share, y in ((1, top + 7), (0, top + height / 2 + 3), (-1, top + height - 1)):
        text = f"{share * most:.2g}".replace("-", "\N{MINUS SIGN}")
        parts.append(tag("text", text, x=short(left + SCALE + 3), y=short(y), font_size="9", fill=SOFT))
    return tag("g", parts)


def colours(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """Return RGB colours, uint8 (n, m, 3), for numbers from −1 to 1.

    >>> colours(np.array([[0.0, 1.0]])).tolist()
    [[[255, 255, 255], [0, 48, 77]]]
    """
    anchors = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in DIVERGING])
    places = np.linspace(-1, 1, len(anchors))
    return np.stack([np.interp(shares, places, anchor) for anchor in anchors.T], axis=-1).round().astype(np.uint8)


# Heat map of all single-residue variants of a sequence, below a logo of the worth of each residue.

LOGO, MUTATIONS_ROW, MUTATIONS_GAP, BELOW = 130.0, 16.0, 14.0, 62.0
KEY_WIDTH, KEY_STEPS = 120.0, 24


def worth(delta: npt.NDArray[np.float64], codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return the worth of each residue, (L, letters): the mean loss over its variants, in the residue's column.

    >>> worth(np.array([[np.nan, -1.0, -2.0, 0.0]]), np.array([0], dtype=np.uint8))
    array([[1., 0., 0., 0.]])
    """
    out = np.zeros(delta.shape)
    known = ~np.isnan(delta)
    means = -np.where(known, delta, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    rows = np.flatnonzero(codes < delta.shape[1])
    out[rows, codes[rows]] = means[rows] + 0.0
    return out


def mutation_figure(
    delta: npt.NDArray[np.float64], codes: npt.NDArray[np.uint8], label: tuple[str, Alphabet], *, first: int = 1
) -> Markup:
    """Return the logo and the heat map of variant effects as an SVG element."""
    text, alphabet = label
    step = float(np.clip(WIDTH / max(1, len(delta)), *STEPS))
    top, height = TOP + LOGO + MUTATIONS_GAP, MUTATIONS_ROW * alphabet.size
    most = float(np.nanmax(np.abs(delta), initial=0.0)) or 1.0
    prefix = "mutations"
    parts: list[Markup] = [glyphs(alphabet, prefix)]
    parts.append(panel(worth(delta, codes), LOGO, "mean loss", 0.0, step, alphabet, prefix, TOP))
    for code, letter in enumerate(alphabet.letters):
        y = top + MUTATIONS_ROW * (code + 0.72)
        parts.append(tag("text", letter, x=f"{LEFT - 8:g}", y=f"{y:.4g}", text_anchor="end", fill=INK))
    for place, row in enumerate(delta):
        for code, value in enumerate(row.tolist()):
            x, y = LEFT + step * place, top + MUTATIONS_ROW * code
            if code == codes[place]:
                middle = {"cx": f"{x + step / 2:.6g}", "cy": f"{y + ROW / 2:.6g}"}
                parts.append(tag("circle", r=f"{min(1.6, step / 4):.3g}", fill=SOFT, **middle))
            elif value == value:
                box = {"x": f"{x:.6g}", "y": f"{y:.6g}", "width": f"{step:.5g}", "height": f"{ROW:g}"}
                parts.append(tag("rect", fill=_colour(value / most), **box))
    parts.append(axis(range(first, first + len(delta)), step, top + height))
    width = LEFT + max(step * len(delta), KEY_WIDTH) + RIGHT
    parts += _key(top + height + 38, most)
    size = (width, top + height + BELOW)
    return picture(parts, size, text, font_size=11, style=f"; min-width: {0.75 * width:.0f}px")


def _colour(share: float) -> str:
    """Return the colour of a value between −1 and 1."""
    return to_hex(DIVERGING_MAP((share + 1) / 2))


def _key(y: float, most: float) -> list[Markup]:
    """Return the colour scale."""
    width = KEY_WIDTH / KEY_STEPS
    parts = [
        tag(
            "rect",
            x=f"{LEFT + width * i:g}",
            y=f"{y:g}",
            width=f"{width:g}",
            height="8",
            fill=_colour(2 * i / (KEY_STEPS - 1) - 1),
        )
        for i in range(KEY_STEPS)
    ]
    for at, text, anchor in ((0, f"{-most:.3g}", "start"), (1, f"{most:.3g}", "end"), (0.5, "delta", "middle")):
        place = {"x": f"{LEFT + KEY_WIDTH * at:g}", "y": f"{y + 19:g}", "text_anchor": anchor}
        parts.append(tag("text", text, fill=SOFT, **place))
    return parts
