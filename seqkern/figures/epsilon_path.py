"""Weights of a P-SVM against ε: which columns it selects, in what order, as ε decreases."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from seqkern.core.markup import Markup
from seqkern.figures.colours import COLOURS, DASHES, PALE, SOFT
from seqkern.figures.matplotlib_svg import render
from seqkern.figures.names import short

TICKS = tuple(scale * 10.0**-power for power in range(7) for scale in (1, 0.3))


def epsilon_path_figure(
    epsilons: Sequence[float], weights: Mapping[str, Sequence[float]], named: Sequence[str], used: float, label: str
) -> Markup:
    """Return the weights of all columns against ε as inline SVG.

    Parameters
    ----------
    epsilons : sequence of float
        In units of ε_max, from the largest on.
    weights : mapping of str to sequence of float
        Of each column, a weight for each ε.
    named : sequence of str
        The columns that are drawn in colour, with a legend; the others are grey.
    used : float
        The ε of the fit, drawn as a vertical line.
    label : str
        What is shown, for readers who do not see it.

    Returns
    -------
    Markup
        SVG.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axhline(0, color="#1c1c1c", linewidth=0.6)
        for name, values in weights.items():
            if name not in named:
                axes.plot(epsilons, values, color=PALE, linewidth=0.7, zorder=1)
        for i, name in enumerate(named):
            colour, dash = COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]
            axes.plot(epsilons, weights[name], color=colour, linestyle=dash, linewidth=1.2, label=short(name))
        if used > 0:
            axes.axvline(used, color=SOFT, linestyle=":", linewidth=1)
            axes.annotate(
                "ε of the fit", (used, 1.01), xycoords=("data", "axes fraction"), ha="center", fontsize=7, color=SOFT
            )
        axes.set_xscale("log")
        axes.set_xlim(epsilons[0], epsilons[-1])
        ticks = [tick for tick in TICKS if epsilons[-1] <= tick <= epsilons[0]]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("ε / ε_max (smaller to the right: more columns are selected)")
        axes.set_ylabel("weight α")
        figure.legend(loc="outside right upper", fontsize=7)

    return render(draw, (6.6, 3.0), label)
