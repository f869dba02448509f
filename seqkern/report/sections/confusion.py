"""Which classes are confused: of several classes for each method, of two at a threshold that can be moved."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number
from seqkern.figures.page import json_script
from seqkern.report.dataset_results import Method
from seqkern.report.thresholds import Thresholds, thresholds
from seqkern.report.view import View, method_name, paragraph

MOST_METHODS = 24
"""Whose thresholds the page can move."""


def confusion_section(view: View) -> Markup | None:
    """Return confusion matrices: the best method's open, the others' folded.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None of real labels, and where there are no decisions.
    """
    if view.dataset.kind == "binary":
        return _binary_section(view)
    shown = {m: result.confusion for m, result in view.outcomes.items() if result.confusion is not None}
    if not shown:
        return None
    intro = (
        "Rows are true classes, columns predicted ones, over the test sets of all splits. Counts on the diagonal "
        "are correct; the shade is the share of the row."
    )
    task = next(iter(view.dataset.tasks), None)
    classes = [] if task is None else view.dataset.classes(task)
    tables = [_confusion(view, method, matrix, classes) for method, matrix in shown.items()]
    rest = details(f"Confusion matrices of the other {len(tables) - 1} methods", tables[1:]) if tables[1:] else None
    return view.section("confusion", "Confusion matrix", paragraph(intro), tables[0], rest)


def _confusion(view: View, method: Method, matrix: npt.NDArray[np.int64], classes: Sequence[str]) -> Markup:
    """Return one confusion matrix."""
    names = classes or [str(i + 1) for i in range(len(matrix))]
    rows = []
    for i, name in enumerate(names):
        total = int(matrix[i].sum())
        cells = []
        for j, count in enumerate(matrix[i]):
            share = count / total if total else 0
            mark = "num cell right" if i == j else "num cell"
            cells.append(tag("td", number(int(count), 0), class_=mark, style=f"--share:{share:.2f}"))
        recall = Markup(f"{number(100 * matrix[i, i] / total, 1)} %") if total else number(None)
        rows.append([name, *cells, recall])
    columns: list[Column | str] = [Column("True class ↓, predicted →", False), *names, Column("Recall")]
    caption = [f"{view.dataset.name}: confusion matrix of ", method_name(method)]
    return table(caption, columns, rows, class_="confusion fixed")


def _binary_section(view: View) -> Markup | None:
    """Return the matrix of the best method, controls for the page's script, and the counts of all methods."""
    found = {}
    for method in view.outcomes:
        decisions = view.dataset.decisions(method)
        counts = None if decisions is None else thresholds(view.dataset, decisions)
        if counts is not None:
            found[method] = counts
    if not found:
        return None
    best, counts = next(iter(found.items()))
    pooled = f" Test samples of all {view.words} are counted together." if len(view.dataset.units) > 1 else ""
    intro = (
        "Counts over all test sets, at each classifier's own threshold. A higher threshold gives "
        f"fewer false positives and misses more positives.{pooled}"
    )
    movable = list(found.items())[:MOST_METHODS]
    box = tag(
        "div",
        _controls(view, [method for method, _ in movable]),
        _matrix(view, best, counts),
        json_script([one.for_script() for _, one in movable]),
        class_="threshold",
    )
    rest = details(f"Counts of all {len(found)} methods", _all_counts(view, found)) if len(found) > 1 else None
    return view.section("confusion", "Confusion matrix", paragraph(intro), box, rest)


def _controls(view: View, methods: list[Method]) -> Markup:
    """Return the choice of a method and the slider, which the page's script shows."""
    options = [tag("option", f"{m.kernel} with {m.solver}", value=i) for i, m in enumerate(methods)]
    slider = tag("input", type="range", min=0, max=1, value=0, step=1, id=f"{view.anchor}-threshold")
    return tag(
        "div",
        tag("label", "Method ", tag("select", options)),
        tag("label", "Threshold ", slider),
        tag("button", "Reset", type="button"),
        tag("output", for_=f"{view.anchor}-threshold"),
        class_="controls",
        hidden=True,
    )


def _matrix(view: View, method: Method, counts: Thresholds) -> Markup:
    """Return the matrix of two classes with the shares that are read off it."""
    (tp, fp), positives, negatives = counts.predicted, counts.positives, counts.negatives
    names = view.dataset.classes(next(iter(view.dataset.tasks), "")) if not view.dataset.several else []
    negative, positive = names if len(names) == 2 else ("negative", "positive")
    rows = [
        [positive, _cell("tp", tp, positives, True), _cell("fn", positives - tp, positives)],
        [negative, _cell("fp", fp, negatives), _cell("tn", negatives - fp, negatives, True)],
    ]
    columns: list[Column | str] = [Column("True class ↓, predicted →", False), positive, negative]
    shares = (
        ("sensitivity", tp, positives),
        ("specificity", negatives - fp, negatives),
        ("precision", tp, tp + fp),
        ("accuracy", tp + negatives - fp, positives + negatives),
    )
    facts = [
        tag("div", tag("dt", name.capitalize()), tag("dd", _percent(part, whole), data_count=name))
        for name, part, whole in shares
    ]
    caption = [f"{view.dataset.name}: ", tag("span", f"{method.kernel} with {method.solver}", class_="chosen")]
    return tag("div", table(caption, columns, rows, class_="confusion fixed"), tag("dl", facts), class_="matrix")


def _cell(name: str, count: int, total: int, right: bool = False) -> Markup:
    """Return a cell of the matrix, shaded by its share of the true class."""
    share = f"--share:{count / total if total else 0:.3f}"
    mark = "num cell right" if right else "num cell"
    return tag("td", number(count, 0), class_=mark, style=share, data_count=name)


def _percent(part: int, whole: int) -> Markup:
    """Return a share as percent."""
    return Markup(f"{100 * part / whole:.1f} %") if whole else Markup("–")


def _all_counts(view: View, found: dict[Method, Thresholds]) -> Markup:
    """Return the counts of all methods as a table."""
    rows = []
    for method, one in found.items():
        (tp, fp), fn = one.predicted, one.positives - one.predicted[0]
        counts = [number(count, 0) for count in (tp, fn, fp, one.negatives - fp)]
        shares = (_percent(tp, one.positives), _percent(one.negatives - fp, one.negatives), _percent(tp, tp + fp))
        rows.append([method_name(method), *counts, *shares])
    titles = ("True positives", "False negatives", "False positives", "True negatives")
    columns: list[Column | str] = [Column("Method", False), *titles, "Sensitivity", "Specificity", "Precision"]
    return table(f"{view.dataset.name}: counts as predicted, best method first", columns, rows)
