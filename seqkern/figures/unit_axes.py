"""Axes from 0 to 1 both ways, of ROC curves and reliability diagrams."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure


def unit_axes(figure: Figure) -> Axes:
    """Return square axes from 0 to 1 with the line of guessing.

    Parameters
    ----------
    figure : Figure
        Gets the axes.

    Returns
    -------
    Axes
    """
    axes = figure.add_subplot()
    axes.set(xlim=(-0.01, 1), ylim=(0, 1.01), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], aspect="equal")
    axes.set_xticklabels(["0", "0.5", "1"])
    axes.set_yticklabels(["0", "0.5", "1"])
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.6, dashes=(2, 2))
    return axes
