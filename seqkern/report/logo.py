"""Sequence logos as SVG: stacked letters at every position, with heights proportional to their values.

`logo_figure` draws the importance of letters, up and down from zero, and below it the information content of windows
(Schneider, Stephens: Sequence logos: a new way to display consensus sequences. Nucleic Acids Research 18, 1990), both
over one axis of positions. Each letter is one path, reused at all its places.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.core.package_files import resource_rows
from seqkern.core.types import Floats, Ints
from seqkern.report import drawing as draw
from seqkern.report.markup import Markup, tag
from seqkern.sequences.alphabets import Alphabet

if TYPE_CHECKING:
    from seqkern.methods.poim import Importance

# Letter outlines for logos: capitals from a table, other characters from matplotlib.
#
# Importing matplotlib takes a quarter of a second, more than everything else that `seqkern explain` does for a few
# sequences.


def letter_outline(letter: str) -> str:
    """Return a letter as an SVG path that fills the square from (0, 0) to (1, 1); narrow letters stay narrow.

    >>> letter_outline("I")
    'M0.266 0.000L0.734 0.000L0.734 1.000L0.266 1.000L0.266 0.000Z'
    """
    return _capitals().get(letter) or drawn_outline(letter)


@cache
def _capitals() -> dict[str, str]:
    """Return the outlines of A to Z."""
    return {row["letter"]: row["outline"] for row in resource_rows("letter_outlines.tsv")}


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
    return next((colour for group, colour in AMINO_ACIDS.items() if letter in group), draw.SOFT)


def information(counts: Ints) -> Floats:
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
    importance: Floats,
    counts: Ints | None,
    label: tuple[str, Alphabet],
    *,
    first: int = 1,
    section: tuple[int, int] | None = None,
    names: tuple[str, str] = ("importance", "bits"),
) -> Markup:
    """Return the logos of importance and of letter counts, if given, as SVG that can also be a file of its own."""
    name, alphabet = label
    length = len(importance)
    start, stop = (0, length) if section is None else (max(0, section[0] - first), min(length, section[1] - first + 1))
    step = step_of(stop - start)
    prefix = "g" + hashlib.blake2b(name.encode(), digest_size=5).hexdigest()
    logos = [(importance[start:stop], HEIGHTS["importance"], names[0], 0.0)]
    if counts is not None:
        bits, most = information(counts)[start:stop], float(np.log2(alphabet.size))
        tall = bits.sum(axis=1).max(initial=0.0) >= FLAT * most
        logos.append((bits, HEIGHTS["information"], names[1], most if tall else 0.0))
    parts, y = [glyphs(alphabet, prefix)], TOP
    positions = range(first + start, first + stop)
    total = TOP + sum(height for _, height, *_ in logos) + GAP * (len(logos) - 1) + AXIS
    if 0 in positions and first <= 0:
        left = LEFT + step * positions.index(0)
        parts.append(draw.fill("#efece4", draw.rectangle(left, TOP - 6, left + step, total - AXIS + 4)))
    for values, height, title, top in logos:
        parts.append(panel(values, height, title, top, step, alphabet, prefix, y))
        parts.append(axis(positions, step, y + height))
        y += height + GAP
    parts.append(axis_title(positions, first, step, total))
    return wide_picture(parts, (LEFT + step * len(positions) + RIGHT, total), name)


def step_of(positions: int) -> float:
    """Return the width of a position in the figure, given the number of positions drawn."""
    return float(np.clip(WIDTH / max(1, positions), *STEPS))


def glyphs(alphabet: Alphabet, prefix: str) -> Markup:
    """Return SVG definitions of the letters: paths in a unit square, y downwards."""
    paths = [
        tag("path", id=f"{prefix}{code}", d=letter_outline(letter), fill=letter_colour(letter, alphabet))
        for code, letter in enumerate(alphabet.letters)
    ]
    return tag("defs", paths)


def wide_picture(parts: list[Markup], size: tuple[float, float], label: str) -> Markup:
    """Return a picture that a narrow page scrolls, not shrinks."""
    return draw.picture(parts, size, label, font_size=11, style=f"; min-width: {0.75 * size[0]:.0f}px")


def axis_title(positions: range, first: int, step: float, y: float) -> Markup:
    """Return the title of the axis of positions, whose bottom is at y."""
    where = "offset from the site" if first <= 0 else "position"
    return draw.text(where, (LEFT + step * len(positions) / 2, y - 6), fill=draw.SOFT)


def tick_marks(marks: Iterable[tuple[float, str]]) -> list[Markup]:
    """Return the tick marks of a vertical axis, with their numbers."""
    parts = []
    for y, name in marks:
        parts.append(draw.stroke(draw.SOFT, [(LEFT - 3, y), (LEFT, y)], width=0.7))
        parts.append(draw.text(name, (LEFT - 6, y + 3.8), "end", fill=draw.SOFT))
    return parts


def axis_name(name: str, y: float) -> Markup:
    """Return the name of a vertical axis, or of a block of rows, placed beside it."""
    return draw.text(name, (16, y), turn=-90)


def panel(
    values: Floats,
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
    low, high, ticks = draw.axis_scale(low, high)
    scale = height / (high - low)

    def y(value: float) -> float:
        return top + scale * (high - value)

    parts = [draw.stroke(draw.SOFT, [(LEFT, top), (LEFT, top + height)], width=0.7)]
    parts += [*tick_marks([(y(tick), mark) for tick, mark in ticks]), axis_name(name, top + height / 2)]
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
                    width, left, tall, above = map(draw.coordinate, (0.94 * step, x + 0.03 * step, scale * size, upper))
                    shape = f"matrix({width} 0 0 {tall} {left} {above})"
                    parts.append(tag("use", href=f"#{prefix}{code}", transform=shape))
    parts.append(draw.stroke(draw.INK, [(LEFT, y(0)), (LEFT + step * len(values), y(0))], width=0.8))
    return tag("g", parts)


def axis(positions: Sequence[int], step: float, y: float) -> Markup:
    """Return ticks and names of positions below a logo."""
    every, offsets, parts = 5 if step >= 11 else 10, positions[0] < 1, []
    for place, position in enumerate(positions):
        if position % every and (offsets or position != 1):
            continue
        x = LEFT + step * (place + 0.5)
        name = f"{position:+d}" if offsets and position else str(position)
        parts.append(draw.stroke(draw.SOFT, [(x, y + 2), (x, y + 5)], width=0.7))
        parts.append(draw.text(name.replace("-", "\N{MINUS SIGN}"), (x, y + 16), size=10, fill=draw.SOFT))
    return tag("g", parts)


# Heat map of the importance of letters and k-mers at every position, aligned with the logos above it.

TOP_KMERS = 12
ROW, BARS, BARS_GAP, HEATMAP_AXIS = 12.0, 54.0, 10.0, 40.0
SCALE, HEATMAP_RIGHT = 8.0, 58.0
"""Width of a block's colour scale, and of the room for it and its numbers."""


def top_kmers(matrix: Floats, words: Sequence[str], most: int = TOP_KMERS) -> list[int]:
    """Return the columns of a matrix (positions, k-mers) with the largest absolute values, the largest first.

    >>> top_kmers(np.array([[0.1, -0.9, 0.3], [0.5, 0.2, 0.3]]), ["AC", "GT", "TT"], most=2)
    [1, 0]
    """
    strength = np.abs(matrix).max(axis=0, initial=0.0)
    return sorted(range(len(words)), key=lambda column: (-strength[column], words[column]))[:most]


def heat_map(importance: Importance, label: str, *, first: int = 1, section: tuple[int, int] | None = None) -> Markup:
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
        x = LEFT - step * low
        parts.append(draw.stroke(draw.INK, [(x, TOP), (x, bottom)], width=1, dashes="3 2"))
    total = bottom + HEATMAP_AXIS
    parts += [axis(positions, step, bottom), axis_title(positions, first, step, total)]
    return wide_picture(parts, (end + HEATMAP_RIGHT, total), label)


def _bars(weights: Floats, step: float) -> Markup:
    """Return a bar for each position, with their axis."""
    most, ticks = draw.axis_scale(0.0, float(weights.max(initial=0.0)))[1:]
    scale, base = BARS / most, TOP + BARS
    heights = (scale * np.maximum(0.0, weights)).tolist()
    bars = [
        draw.rectangle(LEFT + step * (place + 0.08), base - height, LEFT + step * (place + 0.92), base)
        for place, height in enumerate(heights)
    ]
    marks = tick_marks([(base - scale * tick, name) for tick, name in ticks if tick >= 0])
    return tag("g", [draw.fill("#777777", *bars), axis_name("sum", TOP + BARS / 2), *marks])


def _block(values: Floats, words: Sequence[str], name: str, step: float, length: int, top: float) -> Markup:
    """Return the heat map rows of the k-mers of one order, with the colour scale."""
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    height = ROW * len(words)
    parts = [
        draw.pixels(draw.shades(values / most), (LEFT, top), (step * values.shape[1], height)),
        axis_name(name, top + height / 2),
    ]
    for row, word in enumerate(words):
        parts.append(draw.text(word, (LEFT - 4, top + ROW * (row + 0.75)), "end", size=9, mono=True))
    ends = [f"{share * most:.2g}".replace("-", "\N{MINUS SIGN}") for share in (-1, 0, 1)]
    return tag("g", parts, draw.colour_bar((LEFT + step * length + 8, top), (SCALE, height), ends, 9))


# Heat map of all single-residue variants of a sequence, below a logo of the worth of each residue.

LOGO, MUTATIONS_ROW, MUTATIONS_GAP, BELOW = 130.0, 16.0, 14.0, 62.0
KEY_WIDTH, KEY_HEIGHT = 120.0, 8.0


def worth(delta: Floats, codes: npt.NDArray[np.uint8]) -> Floats:
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
    delta: Floats, codes: npt.NDArray[np.uint8], label: tuple[str, Alphabet], *, first: int = 1
) -> Markup:
    """Return the logo and the heat map of variant effects as an SVG element; dots are the residues as they are."""
    name, alphabet = label
    step, prefix = step_of(len(delta)), "mutations"
    dot = min(1.6, step / 4)
    top, height = TOP + LOGO + MUTATIONS_GAP, MUTATIONS_ROW * alphabet.size
    most = float(np.nanmax(np.abs(delta), initial=0.0)) or 1.0
    parts: list[Markup] = [glyphs(alphabet, prefix)]
    parts.append(panel(worth(delta, codes), LOGO, "mean loss", 0.0, step, alphabet, prefix, TOP))
    parts.append(draw.pixels(draw.shades(np.nan_to_num(delta.T) / most), (LEFT, top), (step * len(delta), height)))
    for code, letter in enumerate(alphabet.letters):
        y = top + MUTATIONS_ROW * (code + 0.5)
        parts.append(draw.text(letter, (LEFT - 8, y + 3.5), "end"))
        parts += [
            tag(
                "circle",
                cx=draw.coordinate(LEFT + step * (place + 0.5)),
                cy=draw.coordinate(y),
                r=draw.coordinate(dot),
                fill=draw.SOFT,
            )
            for place in np.flatnonzero(codes == code).tolist()
        ]
    parts.append(axis(range(first, first + len(delta)), step, top + height))
    y = top + height + 38
    parts.append(draw.pixels(draw.shades(np.linspace(-1, 1, 64)[None]), (LEFT, y), (KEY_WIDTH, KEY_HEIGHT)))
    for share, mark, anchor in ((0, f"{-most:.3g}", "start"), (1, f"{most:.3g}", "end"), (0.5, "delta", "middle")):
        parts.append(draw.text(mark, (LEFT + KEY_WIDTH * share, y + 19), anchor, fill=draw.SOFT))
    return wide_picture(parts, (LEFT + max(step * len(delta), KEY_WIDTH) + RIGHT, top + height + BELOW), name)
