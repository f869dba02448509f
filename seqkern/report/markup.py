"""HTML built by Python calls, in which text is escaped unless it is `Markup`."""

import base64
import html
import math
import re
import struct
import zlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

VOID = frozenset({"br", "hr", "img", "link", "meta", "input", "wbr"})
# Control characters are not allowed in HTML or SVG text, but a FASTA header may contain them.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """A text that is already HTML.

    >>> escape("p < 0.05 & q"), escape(Markup("<b>p</b>"))
    ('p &lt; 0.05 &amp; q', '<b>p</b>')
    """

    __slots__ = ()

    def __html__(self) -> str:
        """Return the text for Jinja, which then does not escape it."""
        return self


def clean(text: object) -> str:
    r"""Return a text with its control characters, which HTML does not allow, replaced by a visible sign.

    >>> clean("a\x00b")
    'a�b'
    """
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


def escape(value: object) -> Markup:
    """Return a value as HTML: None is empty, Markup is unchanged, lists are joined, all else is escaped text.

    >>> escape(["k < 4", Markup("<br>"), None])
    'k &lt; 4<br>'
    """
    if value is None:
        return Markup("")
    if isinstance(value, Markup):
        return value
    if hasattr(value, "__html__"):
        return Markup(value.__html__())
    if isinstance(value, (list, tuple)):
        return Markup("".join(map(escape, value)))
    return Markup(html.escape(clean(value), quote=True))


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an HTML element.

    ``class_`` and ``for_`` lose their underscore, ``aria_label`` becomes ``aria-label``; None and False omit an
    attribute, True writes it without a value.

    >>> tag("td", "AUC > 0.9", class_="best")
    '<td class="best">AUC &gt; 0.9</td>'
    """
    text = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        text.append(f" {key}" if value is True else f' {key}="{escape(str(value))}"')
    text.append(">")
    if name not in VOID:
        text.append(escape(children))
        text.append(f"</{name}>")
    return Markup("".join(text))


def join(separator: object, items: Iterable[object]) -> Markup:
    """Return the items, each escaped, joined with a separator.

    >>> join(tag("br"), ["A < C", "G"])
    'A &lt; C<br>G'
    """
    return Markup(escape(separator).join(map(escape, items)))


def details(summary: object, *children: object) -> Markup:
    """Return a collapsible section of a page, with a summary that is shown while it is closed.

    >>> details("Folds", tag("p", "five"))
    '<details><summary>Folds</summary><p>five</p></details>'
    """
    return tag("details", tag("summary", summary), children)


def text_of(value: object) -> str:
    """Return the plain text of HTML, without tags and escapes, white space as a browser shows it.

    >>> text_of(tag("b", "p < 0.05"))
    'p < 0.05'
    """
    return re.sub(r"[ \n]+", " ", html.unescape(re.sub(r"<[^>]*>", "", escape(value))))


# Helpers for pictures that are written directly as SVG, shared by profiles and logos.
#
# matplotlib takes 80 to 290 times as long for them, and its files are 6 to 8 times as large: it places each letter
# separately, while here one text element holds a row of letters, and one outline serves all its places in a logo.

# Colours, markers and dashes of all figures, and the fonts of the figures not drawn by matplotlib.

# Okabe and Ito's colours, told apart with any colour vision; markers and dashes repeat what they say.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00", "#56b4e9", "#000000", "#e69f00")
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))

POSITIVE, NEGATIVE = COLOURS[:2]
"""Colours of evidence for the positive class, and against it."""

DIVERGING = ("#5c2600", NEGATIVE, "#f7c9a8", "#ffffff", "#a9cfe6", POSITIVE, "#00304d")
"""Colours from far below zero to far above."""

INK, SOFT, PALE = "#1c1c1c", "#5a5a5a", "#c9c4b8"
FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"


def picture(parts: object, size: tuple[float, float], label: str, *, font_size: int, style: str = "") -> Markup:
    """Return an SVG element that also works as a separate file."""
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
    """Return an image of sharp-edged cells, embedded as PNG, which is much smaller than a rectangle for each cell."""
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
    """Return the ends and ticks of an axis that covers the values from low to high.

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
    """Return an SVG element as the content of a file."""
    return Markup(f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}\n')
