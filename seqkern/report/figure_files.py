"""Figures of matplotlib: as SVG for a page, and as files beside it."""

import hashlib
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from seqkern.report.markup import DIVERGING, Markup, as_file, escape, join, tag

# Files of a page's figures: each as SVG and as PDF beside the page, with links at the figure.

FOLDER = "figures"
"""Name of the folder beside the page."""
FORMS = "SVG", "PDF"

_FILES: ContextVar[dict[str, bytes] | None] = ContextVar("figure files", default=None)


@contextmanager
def collected_figures() -> Iterator[dict[str, bytes]]:
    """Collect every figure drawn in the context, and give each links to its files."""
    files: dict[str, bytes] = {}
    token = _FILES.set(files)
    try:
        yield files
    finally:
        _FILES.reset(token)


def collecting() -> bool:
    """Return whether figures are being collected."""
    return _FILES.get() is not None


def file_links(figure: Figure, layout: Any, svg: Markup, label: str) -> Markup:
    """Store a drawn figure as files, and return links to them; empty if no figures are collected."""
    if (files := _FILES.get()) is None:
        return Markup("")
    from matplotlib.backends.backend_pdf import FigureCanvasPdf  # only where a figure is stored: 0.1 s

    name = file_name(label)
    width, height = 72 * figure.get_size_inches()
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}pt" height="{height:g}pt" '
    files[f"{name}.svg"] = as_file(Markup(svg.replace("<svg ", opening, 1))).encode()
    files[f"{name}.pdf"] = saved(figure, layout, FigureCanvasPdf, ("CreationDate", "Creator", "Producer"))
    links = [tag("a", one, href=f"{FOLDER}/{name}.{one.lower()}", aria_label=f"{one} file: {label}") for one in FORMS]
    return tag("span", join(" ", links), class_="files")


def file_name(label: str) -> str:
    """Return the name of a figure's files: letters, digits and hyphens only, unique for each label.

    >>> file_name("donors: ROC curves")
    'donors-roc-curves-1e4d9d'
    """
    plain = re.sub("[^a-z0-9]+", "-", label.lower()).strip("-")[:70].rstrip("-")
    return f"{plain}-{hashlib.blake2b(label.encode(), digest_size=3).hexdigest()}".lstrip("-")


# Conversion of matplotlib figures to SVG for a page: equal numbers give equal bytes.

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "seqkern",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#555555",
    "axes.labelcolor": "#222222",
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
DIVERGING_MAP = LinearSegmentedColormap.from_list("diverging", DIVERGING)


def render(draw: Callable[[Figure], object], size: tuple[float, float], label: str) -> Markup:
    """Return a figure as inline SVG, with links to its files if figures are collected; `size` is in inches.

    >>> svg = render(lambda figure: figure.add_subplot().plot([0, 1], [1, 0]), (2.0, 2.0), "a falling line")
    >>> svg.startswith("<svg viewBox="), 'aria-label="a falling line"' in svg
    (True, True)
    """
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # Text stays text in the SVG: a glyph that the font for measuring lacks is the browser's business.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        layout = figure.get_layout_engine()
        figure.set_layout_engine(None)
        svg = inline(saved(figure, layout, FigureCanvasSVG, ("Date", "Creator", "Format", "Type")).decode(), label)
        return Markup(svg + file_links(figure, layout, svg, label))


def saved(figure: Figure, layout: Any, canvas: Any, dated: Sequence[str]) -> bytes:
    """Return a figure's file without metadata that differ in equal figures; savefig alone would draw it twice."""
    layout.execute(canvas(figure).figure)  # which measures texts as the figure's canvas does
    file = io.BytesIO()
    figure.savefig(file, format=figure.canvas.get_default_filetype(), metadata=dict.fromkeys(dated))
    return file.getvalue()


def inline(svg: str, label: str) -> Markup:
    """Return matplotlib's SVG file as an element of a page: no header, no style, unique ids."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    prefix = "f" + hashlib.blake2b(label.encode(), digest_size=5).hexdigest()
    # matplotlib's names of clip paths depend on when memory is freed: they are numbered as they come
    used = dict.fromkeys(re.findall(r"(?:#)([\w.-]+)", svg))
    names = {name: f"{prefix}-{number}" for number, name in enumerate(used)}
    svg = re.sub(r' id="([^"]*)"', lambda found: f' id="{names[found[1]]}"' if found[1] in names else "", svg)
    svg = re.sub(r'(url\(#|href="#)([\w.-]+)', lambda found: found[1] + names[found[2]], svg)
    view, *_ = re.findall(r'viewBox="[^"]*"', svg)
    opening = f'<svg {view} xmlns:xlink="http://www.w3.org/1999/xlink" role="img" aria-label="{escape(label)}">'
    svg = re.sub(r"<svg[^>]*>", lambda _: opening, svg, count=1)
    svg = re.sub(r"<g>\s*</g>", "", svg)
    return Markup(re.sub(r">\s+<", "><", svg).strip())


# Square axes from 0 to 1, for ROC curves and reliability diagrams.


def unit_axes(figure: Figure) -> Axes:
    """Return square axes from 0 to 1 with the diagonal."""
    axes = figure.add_subplot()
    axes.set(xlim=(-0.01, 1), ylim=(0, 1.01), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], aspect="equal")
    axes.set(xticklabels=["0", "0.5", "1"], yticklabels=["0", "0.5", "1"])
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.6, dashes=(2, 2))
    return axes
