"""Coefficients of features with their confidence intervals, one panel for each class."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.colours import COLOURS
from seqkern.figures.matplotlib_svg import render
from seqkern.figures.names import short
from seqkern.figures.residues import state_title

PANELS = 3


def coefficients_figure(
    means: Mapping[str, Mapping[str, Mapping[str, float]]], features: Sequence[str], label: str
) -> Markup:
    """Return the coefficients with their intervals as inline SVG, one panel for each class, all on one scale.

    Parameters
    ----------
    means : mapping of str to mapping
        Of classes to {feature: its means over the splits}: ``weight``, ``low``, ``high``, ``full_low``, ``full_high``,
        and ``chosen``, the number of splits that chose it.
    features : sequence of str
        In the order in which they are drawn.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """
    columns = min(len(means), PANELS)
    rows = -(-len(means) // columns)
    place = {feature: i for i, feature in enumerate(features)}

    def draw(figure: Figure) -> None:
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes in grid.ravel()[len(means) :]:
            axes.set_visible(False)
        for axes, (state, own) in zip(grid.ravel(), means.items(), strict=False):
            axes.axvline(0, color="#1c1c1c", linewidth=0.6)
            for feature, one in own.items():
                y = place[feature]
                axes.plot([one["full_low"], one["full_high"]], [y, y], color="#c9c5bb", linewidth=4)
                if one["chosen"]:
                    axes.plot([one["low"], one["high"]], [y, y], color=COLOURS[0], linewidth=1)
                    axes.plot([one["weight"]], [y], color=COLOURS[0], marker="o", markersize=3)
            axes.set_title(state_title(state), fontsize=8.5)
            axes.set_yticks(range(len(features)), [short(f, 12) for f in features], fontsize=6.5, family="monospace")
            axes.tick_params(axis="y", length=0)
            axes.set_ylim(len(features) - 0.4, -0.6)
        for axes in grid[-1]:
            axes.set_xlabel("coefficient")

    return render(draw, (2.6 * columns, rows * (0.125 * len(features) + 0.35) + 0.4), label)
