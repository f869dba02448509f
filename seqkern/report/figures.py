"""Figures as SVG for the page: the same numbers give the same bytes."""

import hashlib
import io
import re
import warnings

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from seqkern.core.markup import Markup, clean, escape
from seqkern.report.curves import simplified
from seqkern.report.words import mark

STYLE = {
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
# Okabe and Ito's colours, told apart with any colour vision; markers and dashes repeat what they say.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00", "#56b4e9", "#000000", "#e69f00")
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
LEVELS = 48
MOST_NAMED = 6
MOST_POINTS = 400


def render(draw, size, label):
    """Return a figure as inline SVG.

    Parameters
    ----------
    draw : callable
        Gets the Figure.
    size : (float, float)
        In inches.
    label : str
        What the figure shows, for readers who do not see it; also makes the ids in it unique.
    """
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # Text stays text in the SVG: a glyph that the font for measuring lacks is the browser's business.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return inline(text.getvalue(), label)


def inline(svg, label):
    """Return matplotlib's SVG file as an element of a page: no header, no style, ids that are unique."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    prefix = "f" + hashlib.blake2b(label.encode(), digest_size=5).hexdigest()
    # matplotlib's names of clip paths depend on when memory is freed: they are numbered as they come
    names = dict.fromkeys(re.findall(r"(?:#)([\w.-]+)", svg))
    names = {name: f"{prefix}-{number}" for number, name in enumerate(names)}
    svg = re.sub(r' id="([^"]*)"', lambda found: f' id="{names[found[1]]}"' if found[1] in names else "", svg)
    svg = re.sub(r'(url\(#|href="#)([\w.-]+)', lambda found: found[1] + names[found[2]], svg)
    view = re.search(r'viewBox="[^"]*"', svg)[0]
    opening = f'<svg {view} xmlns:xlink="http://www.w3.org/1999/xlink" role="img" aria-label="{escape(label)}">'
    svg = re.sub(r"<svg[^>]*>", lambda _: opening, svg, count=1)
    svg = re.sub(r"<g>\s*</g>", "", svg)
    return Markup(re.sub(r">\s+<", "><", svg).strip())


def short(text, length=16):
    """Return a text cut in its middle where it is too long for a figure."""
    text = clean(text)
    half = (length - 1) // 2
    return text if len(text) <= length else f"{text[:half]}…{text[-half:]}"


def _unit_axes(figure):
    """Return square axes from 0 to 1 with the line of guessing."""
    axes = figure.add_subplot()
    axes.set(xlim=(-0.01, 1), ylim=(0, 1.01), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], aspect="equal")
    axes.set_xticklabels(["0", "0.5", "1"])
    axes.set_yticklabels(["0", "0.5", "1"])
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.6, dashes=(2, 2))
    return axes


def roc_panel(curves, mean, label):
    """Return a small ROC plot: thin lines are folds (or families), the thick one is their mean.

    Parameters
    ----------
    curves : list of (false, true)
    mean : (false, true)
    label : str
    """

    def draw(figure):
        axes = _unit_axes(figure)
        width = 0.7 if len(curves) <= 12 else 0.35
        for curve in curves:
            axes.plot(*simplified(*curve), color="#7fa7c9", linewidth=width)
        axes.plot(*simplified(*mean), color="#0b3d66", linewidth=1.8)
        axes.set(xlabel="false positive rate", ylabel="true positive rate")

    return render(draw, (2.0, 2.0), label)


def reliability_panel(bins, label):
    """Return a small plot of observed shares against probabilities.

    Parameters
    ----------
    bins : list of seqkern.evaluation.reliability.Bin
    label : str
    """

    def draw(figure):
        axes = _unit_axes(figure)
        x, y = [one.predicted for one in bins], [one.observed for one in bins]
        axes.vlines(x, [one.low for one in bins], [one.high for one in bins], color="#7fa7c9", linewidth=0.9)
        axes.plot(x, y, color="#0b3d66", linewidth=1.2, marker="o", markersize=2.5)
        axes.set(xlabel="probability", ylabel="share of positives")

    return render(draw, (2.0, 2.0), label)


def class_reliability_panel(lines, label):
    """Return a small plot of observed shares against probabilities with one line for each class.

    Parameters
    ----------
    lines : list of (str, list of seqkern.evaluation.reliability.Bin)
    label : str
    """

    def draw(figure):
        axes = _unit_axes(figure)
        for i, (name, bins) in enumerate(lines):
            x, y = [one.predicted for one in bins], [one.observed for one in bins]
            style = {"color": COLOURS[i % 8], "marker": MARKERS[i % 8], "markersize": 2.5, "linewidth": 1.0}
            axes.plot(x, y, label=short(name, 14), **style)
        axes.set(xlabel="probability", ylabel="share of the class")
        if len(lines) <= len(COLOURS):
            axes.legend(loc="upper left", fontsize=6.5, handlelength=1.8, borderpad=0.1, labelspacing=0.2)

    return render(draw, (2.0, 2.0), label)


def class_roc_panel(curves, label):
    """Return a small ROC plot with one line for each class against the rest.

    Parameters
    ----------
    curves : list of (str, (false, true))
    label : str
    """

    def draw(figure):
        axes = _unit_axes(figure)
        for i, (name, curve) in enumerate(curves):
            if len(curves) > MOST_NAMED:
                axes.plot(*simplified(*curve), color="#7fa7c9", linewidth=0.5)
                continue
            style = {"color": COLOURS[i], "marker": MARKERS[i], "markersize": 3, "markevery": (5 + 3 * i, 25)}
            axes.plot(*np.round(curve, 4), linewidth=1.2, label=short(name, 14), **style)
        axes.set(xlabel="false positive rate", ylabel="true positive rate")
        if len(curves) <= MOST_NAMED:
            axes.legend(loc="lower right", fontsize=6.5, handlelength=1.8, borderpad=0.1, labelspacing=0.25)

    return render(draw, (2.0, 2.0), label)


def families_figure(series, metric_name, many, label, transductive=()):
    """Return the curve "number of families with at least this score" of several methods.

    The first eight kernels have colours and filled markers, the others thin grey lines with open markers; solvers have
    dashes. No two methods look alike up to sixteen kernels and four solvers.

    Parameters
    ----------
    series : list of (kernel, solver, x, count)
        The best first.
    metric_name : str
    many : str
        What is counted: ``"families"``.
    label : str
    transductive : collection of str
        Kernels that have a mark in the legend.
    """
    kernels = list(dict.fromkeys(item[0] for item in series))
    solvers = list(dict.fromkeys(item[1] for item in series))
    width = 28 if len(solvers) == 1 else 24
    names = [f"{short(item[0], width)}{mark(item[0], transductive)}" for item in series]
    if len(solvers) > 1:
        names = [f"{name}, {short(item[1], 10)}" for name, item in zip(names, series, strict=True)]
    columns = 2 if max(map(len, names)) <= 28 else 1  # as wide as the figure

    def draw(figure):
        axes = figure.add_subplot()
        for line, (kernel, solver, x, count) in enumerate(series):
            rank = kernels.index(kernel)
            # markers at heights of their own, so that they do not hide one another where lines run together
            gap = max(len(x) // 6, 1)
            first = (2 * line * gap) // len(series) % gap
            style = _line_style(rank, solvers.index(solver)) | {"markevery": (first, gap)}
            axes.plot(np.round(x, 4), count, label=names[line], **style)
        low = min(float(np.min(x[1:-1], initial=1)) for _, _, x, _ in series)
        low = min(np.floor(10 * low) / 10, 0.9)
        axes.set(xlim=(low, 1), xlabel=f"{metric_name} of at least", ylabel=f"number of {many}")
        axes.set_ylim(bottom=0)
        axes.yaxis.get_major_locator().set_params(integer=True)
        figure.legend(loc="outside lower center", ncols=columns, fontsize=7.5, handlelength=3, columnspacing=1.2)

    rows = -(-len(series) // columns)
    return render(draw, (4.2, 3.1 + 0.17 * rows), label)


def _line_style(rank, solver):
    """Return the style of a line by its kernel's rank and its solver's number."""
    shape = {"linestyle": DASHES[solver % 4], "marker": MARKERS[rank % 8], "markersize": 4}
    if rank < len(COLOURS):
        return shape | {"color": COLOURS[rank], "linewidth": 1.3, "zorder": 3 - rank / 100}
    return shape | {"color": "#8a8a8a", "linewidth": 0.7, "markerfacecolor": "white", "markeredgewidth": 0.7}


def _fitting(band, side):
    """Return the name of a class, cut to the height of its band; empty where that is too low for letters."""
    name, first, last = band
    letters = int(26 * (last - first) / side)
    return short(name, letters) if len(name) <= letters or letters > 4 else ""


def gram_figure(thumbnail, label):
    """Return a Gram matrix's thumbnail with its classes named and a colour bar."""
    picture = thumbnail.picture
    off = picture[~np.eye(len(picture), dtype=bool)] if len(picture) > 1 else picture.ravel()
    low, high = np.quantile(off, [0.005, 0.995])
    high = high if high > low else low + 1e-9

    def draw(figure):
        axes = figure.add_subplot()
        colours = ListedColormap(matplotlib.colormaps["viridis"](np.linspace(0, 1, LEVELS)))
        image = axes.imshow(picture, cmap=colours, vmin=low, vmax=high, interpolation="none")
        for side in ("top", "right"):
            axes.spines[side].set_visible(True)
        axes.set_xticks([])
        axes.set_yticks([])
        if 1 < len(thumbnail.bands) <= MOST_NAMED:
            middle = [(first + last) / 2 - 0.5 for _, first, last in thumbnail.bands]
            names = [_fitting(band, len(picture)) for band in thumbnail.bands]
            axes.set_yticks(middle, names, rotation=90, va="center", fontsize=7)
            axes.tick_params(length=0)
            for _, first, _ in thumbnail.bands[1:]:
                axes.axhline(first - 0.5, color="white", linewidth=0.7)
                axes.axvline(first - 0.5, color="white", linewidth=0.7)
        bar = figure.colorbar(image, ax=axes, shrink=0.85, aspect=18, extend="both", pad=0.03)
        bar.outline.set_linewidth(0.5)
        bar.solids.set_edgecolor("face")
        bar.set_ticks(np.linspace(low, high, 4))
        bar.set_ticklabels([f"{value:.2f}" for value in np.linspace(low, high, 4)])
        bar.ax.tick_params(labelsize=7)

    return render(draw, (2.5, 2.0), label)


def scatter_panel(true, predicted, label):
    """Return predicted against true values; of many, evenly spaced ones in the order of the true value."""
    order = np.argsort(true, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_POINTS)).astype(int))]

    def draw(figure):
        axes = figure.add_subplot()
        ends = [float(np.nanmin([true, predicted])), float(np.nanmax([true, predicted]))]
        axes.plot(ends, ends, color="#999999", linewidth=0.6, dashes=(2, 2))
        x, y = np.round(true[chosen], 6), np.round(predicted[chosen], 6)
        axes.plot(x, y, ".", color="#0b3d66", markersize=2, alpha=0.6)
        axes.locator_params(nbins=4)
        axes.set(xlabel="true value", ylabel="predicted value")

    return render(draw, (2.0, 2.0), label)
