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

from seqkern.core.archive import atomic_write
from seqkern.report.drawing import Point, as_file, picture
from seqkern.report.markup import Markup, tag

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from matplotlib.artist import Artist
    from matplotlib.transforms import Transform

    from seqkern.core.types import PathLike

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
    files[f"{name}.pdf"] = drawn(svg)
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


def write_picture(path: PathLike, svg: Markup) -> None:
    """Write a chart as the file's ending says: .svg, .png or .pdf."""
    form = str(path).rpartition(".")[2].lower()
    with atomic_write(path) as file:
        file.write(as_file(svg).encode() if form == "svg" else drawn(svg, form))


def drawn(svg: Markup, form: str = "pdf") -> bytes:
    """Return a chart as PDF or PNG: its outlines, its texts with their font, and its images."""
    # imported here: only where a PDF is written, as Matplotlib takes 0.4 s
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.transforms import Affine2D

    root = ElementTree.fromstring(svg)
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    with matplotlib.rc_context(PDF_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # such as Chinese ones
        scale = 3 if form == "png" else 1  # dots in a point
        figure = Figure(figsize=(width / 72, height / 72), dpi=72 * scale)
        place = Affine2D().scale(scale, -scale).translate(0, scale * height)  # y coordinates of figures go upwards
        shapes = {f"#{one.get('id')}": one for one in root.iter() if one.get("id")}
        for order, (element, where, size) in enumerate(_elements(root, place, 0, shapes)):
            if make := WRITERS.get(element.tag.rpartition("}")[2]):
                artist = make(element, where, size)
                artist.set_zorder(order)
                figure.add_artist(artist)
        file = io.BytesIO()
        more: dict[str, Any] = {"facecolor": "white"} if form == "png" else {}
        unsaid = ("Software",) if form == "png" else ("CreationDate", "Creator", "Producer")
        figure.savefig(file, format=form, metadata=dict.fromkeys(unsaid), **more)
    return file.getvalue()


def _elements(
    element: Element, place: Transform, size: float, shapes: dict[str, Element]
) -> Iterator[tuple[Element, Transform, float]]:
    """Yield the elements of a chart, each with the place of its coordinates in the figure and the size of its font."""
    # imported here: only where a file is drawn
    from matplotlib.transforms import Affine2D

    kind, size = element.tag.rpartition("}")[2], float(element.get("font-size", size))
    if kind == "use":
        numbers = map(float, re.findall(r"[-\d.e]+", element.attrib["transform"].partition("(")[2]))
        element, place = shapes[element.attrib["href"]], Affine2D.from_values(*numbers) + place
    elif kind == "svg":
        place = Affine2D().translate(float(element.get("x", 0)), float(element.get("y", 0))) + place
    yield element, place, size
    for one in () if kind == "defs" else element:
        yield from _elements(one, place, size, shapes)


def _outline(element: Element, place: Transform, _: float) -> Artist:
    """Return an outline."""
    # imported here: only where a file is drawn
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    points, codes = [(0.0, 0.0)], []
    for kind, text in re.findall("([MLHVQZ])([^A-Z]*)", element.attrib["d"]):
        x, y = points[-1]
        numbers = [*map(float, text.split())]
        if kind in "HVZ":
            numbers = {"H": [*numbers, y], "V": [x, *numbers], "Z": [x, y]}[kind]
        points += zip(numbers[::2], numbers[1::2], strict=True)
        code = {"M": Path.MOVETO, "Q": Path.CURVE3, "Z": Path.CLOSEPOLY}.get(kind, Path.LINETO)
        codes += [code] * (len(numbers) // 2)
    dashes = [float(length) for length in element.get("stroke-dasharray", "").split()]
    width = float(element.get("stroke-width", 1))
    return PathPatch(
        Path(points[1:], codes),
        facecolor=element.get("fill", "#000"),
        edgecolor=element.get("stroke", "none"),
        linewidth=width,
        linestyle=(0, [length / width for length in dashes]) if dashes else "-",
        transform=place,
    )


def _circle(element: Element, place: Transform, _: float) -> Artist:
    """Return a dot."""
    # imported here: only where a file is drawn
    from matplotlib.patches import Circle

    x, y, radius = (float(element.attrib[name]) for name in ("cx", "cy", "r"))
    return Circle((x, y), radius, facecolor=element.get("fill", "#000"), edgecolor="none", transform=place)


def _text(element: Element, place: Transform, size: float) -> Artist:
    """Return a text."""
    # imported here: only where a file is drawn
    from matplotlib.text import Text
    from matplotlib.transforms import IdentityTransform

    turn = re.findall(r"rotate\((\S+)", element.get("transform", "rotate(0 "))
    x, y = place.transform((float(element.attrib["x"]), float(element.attrib["y"])))
    return Text(
        x,
        y,
        element.text or "",
        color=element.get("fill", "#000"),
        fontsize=size,
        family="DejaVu Sans Mono" if element.get("font-family") else "DejaVu Sans",
        horizontalalignment=ANCHORS[element.get("text-anchor", "start")],
        rotation=-float(*turn),
        rotation_mode="anchor",
        transform=IdentityTransform(),
    )


def _image(element: Element, place: Transform, _: float) -> Artist:
    """Return an image."""
    # imported here: only where a file is drawn
    from matplotlib.image import BboxImage, imread
    from matplotlib.transforms import Bbox

    x, y, wide, high = (float(element.attrib[name]) for name in ("x", "y", "width", "height"))
    image = BboxImage(Bbox(place.transform([(x, y + high), (x + wide, y)])), interpolation="none")
    image.set_data(imread(io.BytesIO(b64decode(element.attrib["href"].partition(",")[2]))))
    return image


WRITERS = {"path": _outline, "circle": _circle, "text": _text, "image": _image}
"""What makes an artist of each kind of element."""
