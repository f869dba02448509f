"""Figures of matplotlib as SVG for a page: the same numbers give the same bytes."""

import hashlib
import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from seqkern.core.markup import Markup, escape
from seqkern.figures.colours import DIVERGING
from seqkern.figures.figure_files import file_links

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
    """Return a figure as inline SVG, with links to its files where figures are collected.

    Parameters
    ----------
    draw : callable
        Gets the Figure.
    size : (float, float)
        In inches.
    label : str
        What the figure shows, for readers who do not see it; also makes the ids in it unique.

    Returns
    -------
    Markup

    Examples
    --------
    >>> svg = render(lambda figure: figure.add_subplot().plot([0, 1], [1, 0]), (2.0, 2.0), "a falling line")
    >>> svg.startswith("<svg viewBox="), 'aria-label="a falling line"' in svg
    (True, True)
    """
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # Text stays text in the SVG: a glyph that the font for measuring lacks is the browser's business.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
        svg = inline(text.getvalue(), label)
        return Markup(svg + file_links(figure, svg, label))


def inline(svg: str, label: str) -> Markup:
    """Return matplotlib's SVG file as an element of a page: no header, no style, ids that are unique.

    Parameters
    ----------
    svg : str
        The file's text.
    label : str
        What the figure shows, for readers who do not see it.

    Returns
    -------
    Markup
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    prefix = "f" + hashlib.blake2b(label.encode(), digest_size=5).hexdigest()
    # matplotlib's names of clip paths depend on when memory is freed: they are numbered as they come
    used = dict.fromkeys(re.findall(r"(?:#)([\w.-]+)", svg))
    names = {name: f"{prefix}-{number}" for number, name in enumerate(used)}
    svg = re.sub(r' id="([^"]*)"', lambda found: f' id="{names[found[1]]}"' if found[1] in names else "", svg)
    svg = re.sub(r'(url\(#|href="#)([\w.-]+)', lambda found: found[1] + names[found[2]], svg)
    view = re.search(r'viewBox="[^"]*"', svg)
    assert view is not None
    opening = f'<svg {view[0]} xmlns:xlink="http://www.w3.org/1999/xlink" role="img" aria-label="{escape(label)}">'
    svg = re.sub(r"<svg[^>]*>", lambda _: opening, svg, count=1)
    svg = re.sub(r"<g>\s*</g>", "", svg)
    return Markup(re.sub(r">\s+<", "><", svg).strip())
