"""Files of a page's figures: each as SVG and as PDF beside the page, with a button at the figure that saves it."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

from seqkern.report.drawing import Point, as_file, picture
from seqkern.report.markup import Markup, tag

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from matplotlib.artist import Artist

FOLDER = "figures"
"""Name of the folder beside the page."""

_FILES: ContextVar[dict[str, bytes] | None] = ContextVar("figure files", default=None)


@contextmanager
def collected_figures() -> Iterator[dict[str, bytes]]:
    """Collect every chart drawn in the context, and give each a button that saves it from the page alone."""
    files: dict[str, bytes] = {}
    token = _FILES.set(files)
    try:
        yield files
    finally:
        _FILES.reset(token)


def collecting() -> bool:
    """Return whether figures are being collected."""
    return _FILES.get() is not None


def chart(parts: object, size: Point, label: str) -> Markup:
    """Return a chart as SVG, with a button that saves it if figures are collected.

    >>> chart([], (144, 72), "no lines").startswith("<svg xmlns=")
    True
    """
    svg = picture(parts, size, label, unit="pt")
    return Markup(svg + file_links(svg, label))


def file_links(svg: Markup, label: str) -> Markup:
    """Store a chart as files, and return the button that saves it; empty if no figures are collected."""
    if (files := _FILES.get()) is None:
        return Markup("")
    name = file_name(label)
    files[f"{name}.svg"] = as_file(svg).encode()
    files[f"{name}.pdf"] = pdf(svg)
    where = f"also {FOLDER}/{name}.svg and .pdf"
    button = tag("button", "Save SVG", type="button", hidden=True, title=where, aria_label=f"Save SVG: {label}")
    return tag("span", button, class_="files", data_save=name)


def file_name(label: str) -> str:
    """Return the name of a figure's files: letters, digits and hyphens only, unique for each label.

    >>> file_name("donors: ROC curves")
    'donors-roc-curves-1e4d9d'
    """
    plain = re.sub("[^a-z0-9]+", "-", label.lower()).strip("-")[:70].rstrip("-")
    return f"{plain}-{hashlib.blake2b(label.encode(), digest_size=3).hexdigest()}".lstrip("-")


# Conversion of charts to PDF: equal charts give equal bytes.

PDF_STYLE: dict[Any, Any] = {"text.parse_math": False, "figure.facecolor": "none"}
ANCHORS: dict[str, Literal["left", "center", "right"]] = {"start": "left", "middle": "center", "end": "right"}


def pdf(svg: Markup) -> bytes:
    """Return a chart as PDF: its outlines, its texts with their font, and its images."""
    # imported here: only where a PDF is written, as Matplotlib takes 0.4 s
    import matplotlib
    from matplotlib.figure import Figure

    root = ElementTree.fromstring(svg)
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    with matplotlib.rc_context(PDF_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # such as Chinese ones
        figure = Figure(figsize=(width / 72, height / 72), dpi=72)  # a dot is a point
        for order, element in enumerate(root.iter()):
            if make := WRITERS.get(element.tag.rpartition("}")[2]):
                artist = make(element, height, float(root.attrib["font-size"]))
                artist.set_zorder(order)
                figure.add_artist(artist)
        file = io.BytesIO()
        figure.savefig(file, format="pdf", metadata=dict.fromkeys(("CreationDate", "Creator", "Producer")))
    return file.getvalue()


def _outline(element: Element, height: float, _: float) -> Artist:
    """Return an outline of a figure, whose y coordinates go upwards."""
    # imported here: only where a PDF is written
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    points, codes = [(0.0, 0.0)], []
    for kind, numbers in re.findall("([MLHV])([^MLHV]*)", element.attrib["d"]):
        x, y = points[-1]
        first, *second = map(float, numbers.split())
        points.append((x if kind == "V" else first, y if kind == "H" else [first, *second][-1]))
        codes.append(Path.MOVETO if kind == "M" else Path.LINETO)
    dashes = [float(length) for length in element.get("stroke-dasharray", "").split()]
    width = float(element.get("stroke-width", 1))
    return PathPatch(
        Path(points[1:], codes),
        facecolor=element.get("fill", "#000"),
        edgecolor=element.get("stroke", "none"),
        linewidth=width,
        linestyle=(0, [length / width for length in dashes]) if dashes else "-",
        transform=Affine2D().scale(1, -1).translate(0, height),
    )


def _text(element: Element, height: float, size: float) -> Artist:
    """Return a text of a figure."""
    # imported here: only where a PDF is written
    from matplotlib.text import Text
    from matplotlib.transforms import IdentityTransform

    turn = re.findall(r"rotate\((\S+)", element.get("transform", "rotate(0 "))
    return Text(
        float(element.attrib["x"]),
        height - float(element.attrib["y"]),
        element.text or "",
        color=element.get("fill", "#000"),
        fontsize=float(element.get("font-size", size)),
        family="DejaVu Sans Mono" if element.get("font-family") else "DejaVu Sans",
        horizontalalignment=ANCHORS[element.get("text-anchor", "start")],
        rotation=-float(*turn),
        rotation_mode="anchor",
        transform=IdentityTransform(),
    )


def _image(element: Element, height: float, _: float) -> Artist:
    """Return an image of a figure."""
    # imported here: only where a PDF is written
    from matplotlib.image import BboxImage, imread
    from matplotlib.transforms import Bbox

    x, y, wide, high = (float(element.attrib[name]) for name in ("x", "y", "width", "height"))
    image = BboxImage(Bbox.from_bounds(x, height - y - high, wide, high), interpolation="none")
    image.set_data(imread(io.BytesIO(b64decode(element.attrib["href"].partition(",")[2]))))
    return image


WRITERS = {"path": _outline, "text": _text, "image": _image}
"""What makes an artist of each kind of element."""
