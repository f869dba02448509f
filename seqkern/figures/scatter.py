"""Predicted against true values."""

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.matplotlib_svg import render

MOST_POINTS = 400


def scatter_panel(true: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64], label: str) -> Markup:
    """Return predicted against true values; of many, evenly spaced ones in the order of the true value.

    Parameters
    ----------
    true, predicted : ndarray of float64, shape (n,)
        Of each sample.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """
    order = np.argsort(true, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_POINTS)).astype(int))]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        ends = [float(np.nanmin([true, predicted])), float(np.nanmax([true, predicted]))]
        axes.plot(ends, ends, color="#999999", linewidth=0.6, dashes=(2, 2))
        x, y = np.round(true[chosen], 6), np.round(predicted[chosen], 6)
        axes.plot(x, y, ".", color="#0b3d66", markersize=2, alpha=0.6)
        axes.locator_params(nbins=4)
        axes.set(xlabel="true value", ylabel="predicted value")

    return render(draw, (2.0, 2.0), label)
