"""Histograms of peaks and of their background: length, GC content and repeats."""

import numpy as np
from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.colours import COLOURS
from seqkern.figures.matplotlib_svg import render
from seqkern.figures.svg import as_file
from seqkern.genome.composition import Composition
from seqkern.genome.match_table import PROPERTIES, ks_distance

BINS = 30
SIZE = (7.2, 2.2)
"""In inches."""


def match_picture(peaks: Composition, background: Composition) -> Markup:
    """Return histograms of both, side by side.

    Parameters
    ----------
    peaks, background : Composition
        Of the regions.

    Returns
    -------
    Markup
        The text of an SVG file.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, len(PROPERTIES))
        for axis, (name, title) in zip(axes, PROPERTIES.items(), strict=True):
            both = getattr(peaks, name), getattr(background, name)
            low, high = min(one.min() for one in both), max(one.max() for one in both)
            edges = np.linspace(low, high, BINS + 1) if high > low else np.linspace(low - 0.5, low + 0.5, 4)
            styles = {"color": "#b9cfe4", "histtype": "stepfilled"}, {"color": COLOURS[1], "histtype": "step"}
            for values, label, style in zip(both, ("peaks", "background"), styles, strict=True):
                axis.hist(values, edges, weights=np.full(len(values), 1 / len(values)), label=label, **style)
            axis.set(xlabel=title, title=f"KS distance {ks_distance(*both):.4f}")
            axis.title.set_fontsize(7.5)
        axes[0].set_ylabel("share of regions")
        axes[0].legend(fontsize=7, handlelength=1.4)

    svg = render(draw, SIZE, "Length, GC content and repeats of peaks and background")
    width, height = (f"{72 * inches:g}pt" for inches in SIZE)
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    return as_file(Markup(svg.replace("<svg ", opening, 1)))
