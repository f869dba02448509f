"""What was predicted wrongly: confused classes, sequences that are hard to get right."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number
from seqkern.report.dataset_results import Method
from seqkern.report.outcomes import hard_cases
from seqkern.report.view import View, method_name, paragraph


def confusion_section(view: View) -> Markup | None:
    """Return confusion matrices of a multi-class data set, the best method's open, the others' folded.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None unless there are several classes.
    """
    shown = {m: result.confusion for m, result in view.outcomes.items() if result.confusion is not None}
    if not shown:
        return None
    intro = (
        "Rows are true classes, columns predicted ones, over the test parts of all splits. Numbers on the "
        "diagonal are right; the shade is the share of the row."
    )
    task = next(iter(view.dataset.tasks), None)
    classes = [] if task is None else view.dataset.classes(task)
    tables = [_confusion(view, method, matrix, classes) for method, matrix in shown.items()]
    rest = details(f"The other {len(tables) - 1} combinations", tables[1:]) if tables[1:] else None
    return view.section("confusion", "Which classes are confused", paragraph(intro), tables[0], rest)


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
    columns: list[Column | str] = [Column("True class ↓, predicted →", False), *names, Column("Recognised")]
    caption = [f"{view.dataset.name}: confusion matrix of ", method_name(method)]
    return table(caption, columns, rows, class_="confusion")


HARD = {
    "binary": (
        "The last column is the share of sequences of the other class, in the same test part, on whose wrong "
        "side it is ranked: a positive below them or a negative above them.",
        "Decision value",
        "Ranked wrongly against",
    ),
    "multiclass": (
        "The surest mistakes: how far the predicted class's decision value lies above that of the true class.",
        "Predicted",
        "Margin",
    ),
    "real": ("The largest differences between predicted and true value.", "Predicted", "Difference"),
}


def hard_section(view: View) -> Markup:
    """Return the sequences that the best method finds hardest, and where all predictions are.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup
        The section.
    """
    method = next((m for m in view.ranking.best if m in view.outcomes), next(iter(view.outcomes), None))
    decisions = None if method is None else view.dataset.decisions(method)
    if method is None or decisions is None:
        text = "No predictions were found."
        return view.section("predictions", "Predictions", paragraph(text, class_="missing"))
    path = f"evaluate/{view.dataset.name}/<kernel>/<solver>/decisions.tsv"
    where = paragraph("Every prediction is in the results folder, in ", tag("code", path), ".")
    cases = hard_cases(view.dataset, decisions)
    if not cases:
        done = "predicted" if view.dataset.kind == "multiclass" else "ranked"
        right = paragraph(method_name(method), f" {done} no test {view.sample_text('sequence')} wrongly.")
        return view.section("predictions", "Predictions", right, where)
    meaning, middle, last = map(view.sample_text, HARD[view.dataset.kind])
    share = view.dataset.kind == "binary"
    rows = [
        [
            name,
            label,
            unit,
            value if isinstance(value, str) else number(value),
            Markup(f"{number(100 * wrong, 1)} %") if share else number(wrong),
        ]
        for unit, name, label, value, wrong in cases
    ]
    columns: list[Column | str] = [
        Column(view.sample_text("Sequence"), False),
        Column("True value" if view.dataset.kind == "real" else "True class", False),
        Column(view.word.capitalize(), False),
        Column(middle, view.dataset.kind != "multiclass"),
        Column(last),
    ]
    caption = ["Hardest for ", method_name(method), ", when it was in the test part"]
    intro = paragraph(
        "A look at these often shows wrong labels, unusual members, or what a kernel cannot see. ", meaning
    )
    return view.section("predictions", "Predictions", intro, table(caption, columns, rows, class_="ids"), where)
