"""The sections made of figures: ROC curves, scatter plots, Gram matrices."""

import numpy as np

from seqkern.core.markup import Markup, tag
from seqkern.figures.curves import area, mean_curve
from seqkern.figures.gram import MOST_NAMED, gram_figure
from seqkern.figures.names import short
from seqkern.figures.numbers import number, spread
from seqkern.figures.panels import panel, small_multiples
from seqkern.figures.roc import class_roc_panel, roc_panel
from seqkern.figures.scatter import MOST_POINTS, scatter_panel
from seqkern.report.dataset_results import DatasetResults, Method
from seqkern.report.outcomes import Outcome
from seqkern.report.sections.thumbnails import thumbnail
from seqkern.report.view import View, method_name, paragraph
from seqkern.study.kernel_entries import KernelChoice


def curves_section(view: View) -> Markup | None:
    """Return one ROC panel (or scatter plot) for each method, the best first.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None where there is nothing to show.
    """
    if not view.outcomes:
        return None
    if view.dataset.kind == "real":
        return _scatter_section(view)
    shown = {method: result for method, result in view.outcomes.items() if result.curves}
    if not shown:
        text = "The ROC curve is not defined: no test part holds both classes."
        return view.section("roc", "ROC curves", paragraph(text, class_="missing"))
    multiclass = view.dataset.kind == "multiclass"
    pooled = any(result.pooled for result in shown.values())
    lines = f"Each thin line is one {view.word}, the thick one their mean."
    if multiclass:
        lines = f"Each line is one class against all the others, averaged over the {view.words}."
    elif pooled:
        lines = "The curve pools the test parts of all splits, because single ones hold one class only."
    intro = view.sample_text(
        "Going down the list of test sequences, from the most to the least confident prediction, a ROC curve "
        "rises with every true positive and moves right with every false one. The more it hugs the upper "
        f"left corner the better; the dotted diagonal is guessing. {lines}"
    )
    panels = [_roc(view, method, result) for method, result in shown.items()]
    return view.section("roc", "ROC curves", paragraph(intro), small_multiples(panels, "combinations"))


def _roc(view: View, method: Method, result: Outcome) -> Markup:
    """Return one ROC panel."""
    curves = [curve for _, curve in result.curves]
    score = view.ranking.score(method, "auc")
    label = f"{view.dataset.name}: ROC curves of kernel {method.kernel} with solver {method.solver}"
    if view.dataset.kind == "multiclass":
        svg = class_roc_panel(result.curves, f"{label}, {len(curves)} classes")
    else:
        mean = mean_curve(curves)
        svg = roc_panel(curves, mean, f"{label}, {len(curves)} curves and their mean")
    if score.n:
        return panel(svg, method_name(method), tag("br"), "AUC ", spread(score.mean, score.sd))
    areas = [area(false, true) for false, true in curves]
    return panel(svg, method_name(method), tag("br"), "AUC, pooled ", number(float(np.mean(areas))))


def _scatter_section(view: View) -> Markup:
    """Return predicted against true values of each method."""
    shown = {m: result.points for m, result in view.outcomes.items() if result.points is not None}
    intro = view.sample_text(
        "Each point is one test sequence; on the dotted line the prediction is right. Of more than "
        f"{MOST_POINTS} points, that many are shown, evenly spread over the true values."
    )
    panels = []
    for method, points in shown.items():
        score = view.ranking.score(method)
        what = "predicted against true value"
        label = f"{view.dataset.name}: {what}, kernel {method.kernel}, solver {method.solver}"
        caption = [method_name(method), tag("br"), f"{view.metric.name} ", spread(score.mean, score.sd)]
        panels.append(panel(scatter_panel(*points, label), caption))
    return view.section("roc", "Predicted and true values", paragraph(intro), small_multiples(panels, "combinations"))


def gram_section(view: View) -> Markup | None:
    """Return the thumbnails of the Gram matrices; None of residues, for which none is stored.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None for residues.
    """
    if view.dataset.residues:
        return None
    panels, notes, shown_by = [], [], _shown_by(view.dataset)
    for kernel in view.dataset.kernels:
        other = shown_by.get(kernel, kernel)
        if other != kernel:
            how = f"the matrix of {other}, of which it is another transform."
            if view.dataset.learns(kernel):
                how = f"made from the matrix of {other}."
            notes.append(tag("li", tag("b", kernel), f": {how}"))
            continue
        picture = thumbnail(view.dataset, kernel)
        if picture is None:
            notes.append(tag("li", tag("b", kernel), ": ", _why_none(view, kernel)))
            continue
        label = f"{view.dataset.name}: Gram matrix of kernel {kernel}, sorted by {view.data_text(picture.sorted_by)}"
        size = f"{number(picture.total, 0)} × {number(picture.total, 0)}"
        some = f", {number(picture.sampled, 0)} evenly spaced ones read" if picture.sampled < picture.total else ""
        names = [short(name, 24) for name, _, _ in picture.bands[: MOST_NAMED + 1]]
        classes = f" ({', '.join(names)})" if 0 < len(names) <= MOST_NAMED else ""
        details = [size, f", sorted by {view.data_text(picture.sorted_by)}{classes}", some]
        caption = [tag("b", kernel), tag("br"), details]
        panels.append(panel(gram_figure(picture, label), caption))
    intro = view.data_text(
        "A Gram matrix holds the kernel's similarity of every two sequences. Each pixel is the mean over a "
        "block of them; brighter is more similar. Sequences of one class (or family) stand together: a "
        "kernel that sees the classes shows bright squares along the diagonal. The colour bar covers all but "
        "the most extreme 1 % of the pixels."
    )
    listed = tag("ul", notes) if notes else None
    shown = small_multiples(panels, "kernels", "panels grams") if panels else None
    return view.section("gram", "Gram matrices", paragraph(intro), shown, listed)


def _shown_by(dataset: DatasetResults) -> dict[str, str]:
    """Return, for each kernel that has a stored matrix, the kernel whose picture shows it.

    That is the one under whose name it is kept, or else the first of the data set's that has this matrix; a kernel
    that learns from the training part is none of these: its own matrices are others.
    """
    homes = {kernel: dataset.gram_home(kernel) for kernel in dataset.kernels}
    shown: dict[str | None, str] = {}
    kernels = [kernel for kernel in dataset.kernels if homes[kernel] is not None]
    for kernel in sorted(kernels, key=lambda kernel: kernel != homes[kernel]):
        if not dataset.learns(kernel):
            shown.setdefault(homes[kernel], kernel)
    return {kernel: shown.get(homes[kernel], kernel) for kernel in kernels}


def _why_none(view: View, kernel: str) -> Markup | str:
    """Return why a kernel has no thumbnail."""
    entry = view.dataset.kernel(kernel)
    if isinstance(entry, KernelChoice):
        names = ", ".join(one.name for one in entry.candidates)
        return f"the inner loop chose one of {names} for each training part."
    if view.dataset.learns(kernel):
        return "this kernel learns from the training part: there is one matrix for each, and none for all."
    return tag("span", "no Gram matrix for all units was found.", class_="missing")
