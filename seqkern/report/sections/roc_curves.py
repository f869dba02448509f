"""The section of ROC curves; of numbers, predicted against true values."""

import numpy as np

from seqkern.core.markup import Markup, tag
from seqkern.figures.curves import area, mean_curve
from seqkern.figures.numbers import number, spread
from seqkern.figures.panels import panel, small_multiples
from seqkern.figures.roc import class_roc_panel, roc_panel
from seqkern.figures.scatter import MOST_POINTS, scatter_panel
from seqkern.report.dataset_results import Method
from seqkern.report.outcomes import Outcome
from seqkern.report.view import View, method_name, paragraph


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
