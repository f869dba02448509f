"""Pictures that are written as SVG directly: what profiles and logos share.

matplotlib takes 80 to 290 times as long for them and makes files 6 to 8 times as large: it places each letter by
itself, where one text element holds a row of letters, and one outline serves all its places in a logo.
"""

import base64
import math
import struct
import zlib

import numpy as np
import numpy.typing as npt

from seqkern.core.markup import Markup, tag
from seqkern.figures.colours import FONT


def picture(parts: object, size: tuple[float, float], label: str, *, font_size: int, style: str = "") -> Markup:
    """Return an SVG element that may also stand in a file of its own.

    Parameters
    ----------
    parts : object
        What `escape` takes.
    size : (float, float)
        Width and height, in the picture's own measure.
    label : str
        What is shown, for readers who do not see it.
    font_size : int
        Of text, in the picture's own measure.
    style : str
        More of its style.

    Returns
    -------
    Markup
    """
    width, height = (f"{one:g}" for one in size)
    return tag(
        "svg",
        parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
        font_family=FONT,
        font_size=str(font_size),
        style=f"background: #fff{style}",
    )


def pixels(colours: npt.NDArray[np.uint8], place: tuple[float, float], size: tuple[float, float]) -> Markup:
    """Return an image of cells with sharp edges, embedded as PNG: a rectangle for each would take much more room.

    Parameters
    ----------
    colours : ndarray of uint8, shape (rows, columns, 3)
        Of each cell.
    place, size : (float, float)
        Left and upper edge; width and height.

    Returns
    -------
    Markup
    """
    rows, columns, _ = colours.shape
    lines = np.zeros((rows, 1 + 3 * columns), dtype=np.uint8)  # each begins with its filter: none
    lines[:, 1:] = colours.reshape(rows, -1)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    data = b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    text = base64.b64encode(b"\x89PNG\r\n\x1a\n" + data).decode()
    x, y, width, height = (f"{one:g}" for one in (*place, *size))
    return tag(
        "image",
        href=f"data:image/png;base64,{text}",
        x=x,
        y=y,
        width=width,
        height=height,
        preserveAspectRatio="none",
        style="image-rendering: pixelated",
    )


def axis_scale(low: float, high: float) -> tuple[float, float, list[tuple[float, str]]]:
    """Return an axis that covers some values.

    Parameters
    ----------
    low, high : float
        The smallest and the largest value.

    Returns
    -------
    low, high : float
        The ends of the axis, a little wider.
    ticks : list of (float, str)
        Round values between them, with their texts.

    Examples
    --------
    >>> axis_scale(0.0, 1.0)
    (-0.04, 1.04, [(0.0, '0'), (0.5, '0.5'), (1.0, '1')])
    """
    if not high > low:
        low, high = -1.0, 1.0
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step = next(step * factor for factor in (0.5, 1, 2, 5, 10) if (high - low) / (step * factor) <= 4)
    ticks = [step * i for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    room = 0.04 * (high - low)
    return low - room, high + room, [(tick, f"{tick:.3g}".replace("-", "\N{MINUS SIGN}")) for tick in ticks]


def as_file(svg: Markup) -> Markup:
    """Return an SVG element as the text of a file.

    Parameters
    ----------
    svg : Markup
        With its name space.

    Returns
    -------
    Markup
    """
    return Markup(f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}\n')
