"""Histograms of peaks and of their background: length, GC content and repeats."""

import numpy as np
from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.colours import COLOURS
from seqkern.figures.matplotlib_svg import render
from seqkern.genome.composition import Composition
from seqkern.genome.match_table import PROPERTIES, ks_distance

BINS = 30


def match_picture(peaks: Composition, background: Composition) -> Markup:
    """Return histograms of both, side by side.

    Parameters
    ----------
    peaks, background : Composition
        Of the regions.

    Returns
    -------
    Markup
        SVG.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, len(PROPERTIES))
        for axis, (name, title) in zip(axes, PROPERTIES.items(), strict=True):
            both = getattr(peaks, name), getattr(background, name)
            low, high = min(one.min() for one in both), max(one.max() for one in both)
            edges = np.linspace(low, high, BINS + 1) if high > low else np.linspace(low - 0.5, low + 0.5, 4)
            for values, label, colour in zip(both, ("peaks", "background"), COLOURS, strict=False):
                weights = np.full(len(values), 1 / len(values))
                axis.hist(values, edges, weights=weights, histtype="step", label=label, color=colour, linewidth=1.2)
            axis.set(xlabel=title, title=f"KS distance {ks_distance(*both):.4f}")
            axis.title.set_fontsize(7.5)
        axes[0].set_ylabel("share of regions")
        axes[0].legend(fontsize=7, handlelength=1.4)

    return render(draw, (7.2, 2.2), "Length, GC content and repeats of peaks and background")
