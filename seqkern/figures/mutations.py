"""All single-residue variants of a sequence as a heat map, below a logo of what each residue is worth."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.colors import to_hex

from seqkern.core.markup import Markup, tag
from seqkern.figures.colours import INK, SOFT
from seqkern.figures.logo import LEFT, RIGHT, STEPS, TOP, WIDTH, axis, glyphs, panel
from seqkern.figures.matplotlib_svg import DIVERGING_MAP
from seqkern.figures.svg import picture
from seqkern.sequences.alphabets import Alphabet

LOGO, ROW, GAP, BELOW = 130.0, 16.0, 14.0, 62.0
KEY_WIDTH, KEY_STEPS = 120.0, 24


def worth(delta: npt.NDArray[np.float64], codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return what each residue is worth: the mean loss over its variants, in the column of the residue.

    Parameters
    ----------
    delta : ndarray of float64, shape (L, letters)
        Effect of each variant; NaN where there is none.
    codes : ndarray of uint8, shape (L,)
        Residues of the sequence.

    Returns
    -------
    ndarray of float64, shape (L, letters)

    Examples
    --------
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
    """Return the heat map and the logo as an SVG element.

    Parameters
    ----------
    delta : ndarray of float64, shape (L, letters)
        Effect of each variant; NaN where there is none.
    codes : ndarray of uint8, shape (L,)
        Residues of the sequence; those of the alphabet are marked by a dot.
    label : (str, Alphabet)
        What is shown, for readers who do not see it; the alphabet.
    first : int, default 1
        What the first position is called.

    Returns
    -------
    Markup
    """
    text, alphabet = label
    step = float(np.clip(WIDTH / max(1, len(delta)), *STEPS))
    top, height = TOP + LOGO + GAP, ROW * alphabet.size
    most = float(np.nanmax(np.abs(delta), initial=0.0)) or 1.0
    prefix = "mutations"
    parts: list[Markup] = [glyphs(alphabet, prefix)]
    parts.append(panel(worth(delta, codes), LOGO, "mean loss", 0.0, step, alphabet, prefix, TOP))
    for code, letter in enumerate(alphabet.letters):
        y = top + ROW * (code + 0.72)
        parts.append(tag("text", letter, x=f"{LEFT - 8:g}", y=f"{y:.4g}", text_anchor="end", fill=INK))
    for place, row in enumerate(delta):
        for code, value in enumerate(row.tolist()):
            x, y = LEFT + step * place, top + ROW * code
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
    """Return the scale of the colours."""
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
