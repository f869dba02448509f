"""Weights of selected features, a dot for each training set that selected them."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.colours import NEGATIVE, PALE, POSITIVE
from seqkern.figures.matplotlib_svg import render
from seqkern.figures.names import short


def feature_weights_figure(weights: Mapping[str, Sequence[float]], label: str) -> Markup:
    """Return the weights of features as inline SVG, one line for each.

    Parameters
    ----------
    weights : mapping of str to sequence of float
        Of each feature, from top to bottom, its weight in each training set that selected it.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axvline(0, color="#1c1c1c", linewidth=0.6)
        for place, values in enumerate(weights.values()):
            middle = sum(values) / len(values)
            axes.barh(place, middle, height=0.62, color=PALE, zorder=1)
            colours = [POSITIVE if value > 0 else NEGATIVE for value in values]
            axes.scatter(values, [place] * len(values), c=colours, s=10, zorder=2, linewidths=0)
        axes.set_yticks(range(len(weights)), [short(name, 24) for name in weights], fontsize=7, family="monospace")
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(weights) - 0.4, -0.6)
        axes.set_xlabel("weight of a unit of the feature (dots: training sets; bars: means)")

    return render(draw, (5.2, 0.17 * len(weights) + 0.6), label)
