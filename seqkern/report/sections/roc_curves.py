"""The section of ROC and precision-recall curves; of numbers, predicted against true values."""

import numpy as np

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.curves import area, mean_curve
from seqkern.figures.numbers import number, spread
from seqkern.figures.overlay import AXES, MethodLines, plot, script_data, style_of
from seqkern.figures.page import json_script
from seqkern.figures.panels import panel, small_multiples
from seqkern.figures.roc import class_roc_panel, overlay_links, roc_panel
from seqkern.figures.scatter import MOST_POINTS, scatter_panel
from seqkern.report.curve_lines import curve_lines
from seqkern.report.dataset_results import Method
from seqkern.report.outcomes import Outcome
from seqkern.report.view import View, method_name, paragraph

TITLES = {"roc": "ROC", "pr": "Precision and recall"}


def curves_section(view: View) -> Markup | None:
    """Return the curves of all methods in one plot of each kind, and a panel for each method, the best first.

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
        text = "The ROC curve is not defined: no test set holds both classes."
        return view.section("roc", "ROC curves", paragraph(text, class_="missing"))
    if view.dataset.kind == "multiclass":
        lines = f"Each class is ranked against all others; curves are averaged over the {view.words} and the classes."
    elif any(result.pooled for result in shown.values()):
        lines = "The curve pools the test sets of all splits, because single ones hold one class only."
    else:
        lines = f"Curves are averaged over the {view.words}."
    intro = (
        "A ROC curve shows the share of positives found (TPR) against the share of negatives called positive (FPR); "
        "the diagonal is guessing. Where positives are rare, precision (the share of true positives among those called "
        f"positive) is more informative. {lines}"
    )
    panels = [_roc(view, method, result) for method, result in shown.items()]
    single = details(f"ROC curves of each method, {len(panels)} panels", tag("div", panels, class_="panels"))
    return view.section("roc", "ROC and precision–recall curves", paragraph(intro), _overlay(view), single)


def _overlay(view: View) -> Markup:
    """Return both plots with a legend, whose checkboxes the page's script shows."""
    methods, names = curve_lines(view)
    label = f"{view.dataset.name}: {names[0]}, {len(methods)} methods"
    plots = [
        tag(
            "figure",
            tag("figcaption", TITLES[kind]),
            tag(
                "div",
                plot(methods, kind, f"{TITLES[kind]} curves of {label}"),
                tag("output", class_="tip", hidden=True),
                class_="plot",
                role="group",
                aria_label=f"{TITLES[kind]} curves; arrow keys move along a curve and to the next one",
                data_kind=kind,
            ),
        )
        for kind in AXES
    ]
    return tag(
        "div",
        tag("div", plots, class_="plots"),
        _legend(view, methods),
        _lines_choice(view, names) if len(names) > 1 else None,
        overlay_links(methods, f"{view.dataset.name}: ROC and precision-recall curves of all methods"),
        json_script(script_data(methods, names)),
        class_="curves",
    )


def _legend(view: View, methods: list[MethodLines]) -> Markup:
    """Return the names of the methods with their lines, and a checkbox for each."""
    items = []
    for i, method in enumerate(methods):
        colour, style, _ = style_of(i)
        swatch = tag("span", class_="swatch", style=f"border-top: 3px {style} {colour}")
        box = tag("input", type="checkbox", name="method", checked=True, hidden=True)
        items.append(tag("li", tag("label", box, " ", swatch, " ", method.name)))
    every = tag("button", "All or none", type="button", data_all="method", hidden=True)
    legend = tag("legend", f"Methods of {view.dataset.name}, the best first ", every)
    return tag("fieldset", legend, tag("ul", items), class_="legend")


def _lines_choice(view: View, names: list[str]) -> Markup:
    """Return checkboxes of the mean and of each fold, which the page's script shows."""
    items = [
        tag("li", tag("label", tag("input", type="checkbox", name="line", checked=not i), " ", name))
        for i, name in enumerate(names)
    ]
    what = "classes" if view.dataset.kind == "multiclass" else view.words
    every = tag("button", f"All {what} or none", type="button", data_all="line")
    legend = tag("legend", "Mean or single ", what, " ", every)
    return tag("fieldset", legend, tag("ul", items), class_="legend controls", hidden=True)


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
