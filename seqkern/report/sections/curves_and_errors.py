"""Sections on decisions: curves, reliability, each test set, confusion, hard samples."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.calibration import Bin, reliability
from seqkern.evaluation.metrics import LEVEL, LEVELS, brier, interval_coverage, log_loss, predictive_scores
from seqkern.methods.study_results import DatasetResults, Method, numbers, positive_class, rows_by_value
from seqkern.report import plots
from seqkern.report.curves import (
    LARGE,
    Kind,
    Line,
    MethodLines,
    area,
    class_roc_panel,
    mean_curve,
    overlay_links,
    plot,
    roc_panel,
    script_data,
    style_of,
)
from seqkern.report.markup import Markup, clean, escape
from seqkern.report.outcomes import (
    Outcome,
    Thresholds,
    hard_cases,
    mean_line,
    sequence_cell,
    stored_sequences,
    thresholds,
)
from seqkern.report.page_frame import Column, listing, method_name, number, panel, render, table
from seqkern.report.view import View, section

if TYPE_CHECKING:
    import pandas as pd

# ROC and precision-recall curves of a data set's methods; for real labels, predicted against true values.

MOST_LINES = 1000
"""Maximum number of curves of all methods together; with more, the page keeps only the means."""


def curve_lines(view: View) -> tuple[list[MethodLines], list[str]]:
    """Return the curves of all methods, best first, and the names of a method's lines: mean first, then folds.

    Instead of folds the lines may be families or classes.
    """
    found: dict[str, dict[str, Line]] = {}
    numbers = {clean(f"{method.kernel} with {method.solver}"): number for method, number in view.numbers.items()}
    for method, outcome in view.outcomes.items():
        if outcome.curves:
            lines = {clean(name): line for name, line in outcome.curves}
            found[clean(f"{method.kernel} with {method.solver}")] = lines
    units = list(dict.fromkeys(name for lines in found.values() for name in lines))
    if len(found) * len(units) > MOST_LINES or len(units) == 1:
        units = []
    methods = [
        MethodLines(name, [mean_line(list(lines.values())), *(lines.get(unit) for unit in units)], numbers[name])
        for name, lines in found.items()
    ]
    most, multiclass = max(map(len, found.values()), default=0), view.dataset.kind == "multiclass"
    mean = f"mean of {most} {'classes' if multiclass else view.words}" if most > 1 or multiclass else view.word
    if any(outcome.pooled for outcome in view.outcomes.values()):
        mean = "all test sets pooled"
    return methods, [mean, *(unit if multiclass else f"{view.word} {unit}" for unit in units)]


@section("roc", "ROC and precision–recall curves")
def curves_section(view: View) -> dict[str, Any] | None:
    """Draw the curves of all methods in one plot of each kind, and a panel for each method, the best first."""
    name, kind = view.dataset.name, view.dataset.kind
    if not view.outcomes:
        return None
    if kind == "real":
        panels = [one for item in view.outcomes.items() if (one := _scatter(view, *item)) is not None]
        return {"title": "Predicted and true values", "points": plots.MOST_POINTS, "panels": panels}
    shown = {method: result for method, result in view.outcomes.items() if result.curves}
    if not shown:
        return {"title": "ROC curves", "missing": "The ROC curve is not defined: no test set holds both classes."}
    methods, names = curve_lines(view)
    label = f"{names[0]}, {len(methods)} methods"
    titles: dict[Kind, str] = {"roc": "ROC", "pr": "Precision and recall"}
    return {
        "pooled": any(result.pooled for result in shown.values()),
        "titles": titles,
        "plots": {key: plot(methods, key, f"{title} curves of {name}: {label}") for key, title in titles.items()},
        "methods": [(method.name, *style_of(method.number)[:2]) for method in methods],
        "names": names,
        "links": overlay_links(methods, f"{name}: ROC and precision-recall curves of all methods"),
        "data": script_data(methods, names),
        "panels": [_roc(view, method, result) for method, result in shown.items()],
    }


def _panel(svg: Markup, method: Method, **content: object) -> Markup:
    """Return a figure of one method, with what the caption's block shows."""
    return panel(
        svg, render("curves_and_errors", "caption", {"method": method, "score": None, "shown": None, **content})
    )


def best_panel(view: View) -> Markup | None:
    """Return the figure of the first screen: the curves of the best method, or its predictions of numbers."""
    method = next((one for one in view.ranking.best if one in view.outcomes), None)
    if method is None:
        return None
    result = view.outcomes[method]
    return _roc(view, method, result, LARGE) if result.curves else _scatter(view, method, result)


def _scatter(view: View, method: Method, result: Outcome) -> Markup | None:
    """Return a panel of predicted against true values; None for classes."""
    if result.points is None:
        return None
    label = f"{view.dataset.name}: predicted against true value, kernel {method.kernel}, solver {method.solver}"
    score = view.ranking.score(method)
    return _panel(plots.scatter_panel(*result.points, label), method, name=view.metric.name, score=score)


def _roc(view: View, method: Method, result: Outcome, size: tuple[float, float] = plots.SMALL) -> Markup:
    """Return one ROC panel."""
    curves, score = [line.roc for _, line in result.curves], view.ranking.score(method, "auc")
    label = f"{view.dataset.name}: ROC curves of kernel {method.kernel} with solver {method.solver}, {len(curves)}"
    words = "classes" if view.dataset.kind == "multiclass" else view.words
    if view.dataset.kind == "multiclass":
        svg = class_roc_panel([(name, line.roc) for name, line in result.curves], f"{label} classes", size)
    else:
        svg = roc_panel(curves, mean_curve(curves), f"{label} curves and their mean", view.numbers[method], size)
    pooled = float(np.mean([area(false, true) for false, true in curves]))
    shown = f"{len(curves)} {words} and their mean" if size == LARGE and len(curves) > 1 else None
    return _panel(svg, method, name="AUC", score=score if score.n else None, pooled=pooled, shown=shown)


# Calibration of each method's probabilities: reliability diagrams and Brier scores.


@section("probabilities", "Probabilities")
def reliability_section(view: View) -> dict[str, Any] | None:
    """Draw a reliability diagram for each method with probabilities, the best first; None where there are none."""
    dataset, panels = view.dataset, []
    p: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    for method in view.outcomes:
        table = dataset.decisions(method) if dataset.has_probabilities(method) else None
        if table is None:
            continue
        label = f"{dataset.name}: reliability of kernel {method.kernel} with solver {method.solver}"
        if dataset.kind == "multiclass":
            names = [name.removeprefix("probability:") for name in table.columns if name.startswith("probability:")]
            p = table[[f"probability:{name}" for name in names]].to_numpy(dtype=float)
            labels = table["label"].map({name: i for i, name in enumerate(names)}).to_numpy()
            lines = [(name, reliability(labels == i, p[:, i])) for i, name in enumerate(names)]
            svg = plots.class_reliability_panel(lines, f"{label}, by class")
            constant = 1 - sum(float((labels == i).mean()) ** 2 for i in range(len(names)))
        else:
            p, labels = numbers(table["probability"]).to_numpy(), _positive(dataset, table)
            svg = plots.reliability_panel(shown_bins(dataset, labels, p), label)
            constant = float(labels.mean() * (1 - labels.mean()))
        panels.append(_panel(svg, method, brier=brier(labels, p), constant=constant, loss=log_loss(labels, p)))
    return {"panels": panels} if panels else None


def shown_bins(dataset: DatasetResults, positive: npt.NDArray[np.bool_], p: npt.NDArray[np.float64]) -> list[Bin]:
    """Return the Bins of two classes; for residues without intervals, which would assume independent samples."""
    bins = reliability(positive, p)
    return [one._replace(low=one.observed, high=one.observed) for one in bins] if dataset.residues else bins


def _positive(dataset: DatasetResults, table: "pd.DataFrame") -> npt.NDArray[np.bool_]:
    """Return whether each row's label is the positive class of its task."""
    names = {task: positive_class(dataset, rows) for task, rows in rows_by_value(table, "task")}
    return (table["label"] == table["task"].map(names)).to_numpy()


@section("prediction-intervals", "Prediction intervals")
def prediction_intervals_section(view: View) -> dict[str, Any] | None:
    """Draw a calibration curve for each method that predicts standard deviations; None without any."""
    panels = []
    for method in view.outcomes if view.dataset.kind == "real" else ():
        table = view.dataset.decisions(method)
        if table is None or "sd" not in table:
            continue
        label, mean, sd = (numbers(table[name]).to_numpy() for name in ("label", "decision", "sd"))
        tail = np.nan_to_num(numbers(table["tail"]).to_numpy()) if "tail" in table else 0.0
        shares = [interval_coverage(label, mean, sd, level, tail) for level in LEVELS]
        name = f"{view.dataset.name}: coverage of intervals, kernel {method.kernel} with solver {method.solver}"
        values = predictive_scores(label, mean, sd, tail)
        panels.append(_panel(plots.coverage_panel(LEVELS, shares, name), method, level=LEVEL, **values))
    if not panels:
        return None
    metrics, trivial = view.headline.baselines.metrics, None
    if "nlpd" in metrics:
        own = metrics[metrics["baseline"] == "mean"]
        trivial = [own["nlpd"].mean(), own["coverage_90"].mean()]
    return {"panels": panels, "trivial": trivial, "level": LEVEL}


# Confusion matrices: for several classes of each method, for two at a threshold that can be moved.

MOST_METHODS = 24
"""Maximum number of methods with movable thresholds on the page."""
TRUE_CLASS = Column("True class ↓, predicted →", False)


@section("confusion", "Confusion matrix")
def confusion_section(view: View) -> dict[str, Any] | None:
    """Make confusion matrices: the best method's open, the others' folded.

    None for real labels, and without decisions.
    """
    if view.dataset.kind == "binary":
        return _binary_content(view)
    found = {method: one.confusion for method, one in view.outcomes.items() if one.confusion is not None}
    classes = view.dataset.classes(next(iter(view.dataset.tasks), ""))
    tables = [_confusion(view, method, matrix, classes) for method, matrix in found.items()]
    return {"tables": tables} if tables else None


def _confusion(view: View, method: Method, matrix: npt.NDArray[np.int64], classes: list[str]) -> Markup:
    """Return one confusion matrix."""
    names, rows = classes or [str(i + 1) for i in range(len(matrix))], []
    for i, (name, row) in enumerate(zip(names, matrix.tolist(), strict=True)):
        total = sum(row)
        recall = Markup(f"{number(100 * row[i] / total, 1)}%") if total else number(None)
        rows.append([name, *(_cell(count, total, i == j) for j, count in enumerate(row)), recall])
    caption = [f"{view.dataset.name}: confusion matrix of ", method_name(method)]
    return table(caption, [TRUE_CLASS, *names, Column("Recall")], rows, class_="confusion fixed")


def _cell(count: int, total: int, right: bool = False, name: str | None = None) -> Markup:
    """Return a cell of the matrix, shaded by its share of the true class; the page's script fills one with a name."""
    share, digits = count / total if total else 0, 2 if name is None else 3
    found = f' data-count="{name}"' if name else ""
    style = f'class="num cell{" right" * right}" style="--share:{share:.{digits}f}"{found}'
    return Markup(f"<td {style}>{number(count, 0)}</td>")


def _binary_content(view: View) -> dict[str, Any] | None:
    """Return the best method's matrix, counts for the page's script, and the counts of all methods."""
    found: dict[Method, Thresholds] = {}
    for method in view.outcomes:
        decisions = view.dataset.decisions(method)
        counts = None if decisions is None else thresholds(view.dataset, decisions)
        if counts is not None:
            found[method] = counts
    if not found:
        return None
    method, counts = next(iter(found.items()))
    (tp, fp), positives, negatives = counts.predicted, counts.positives, counts.negatives
    names = view.dataset.classes(next(iter(view.dataset.tasks), "")) if not view.dataset.several else []
    negative, positive = names if len(names) == 2 else ("negative", "positive")
    rows = [
        [positive, _cell(tp, positives, True, "tp"), _cell(positives - tp, positives, name="fn")],
        [negative, _cell(fp, negatives, name="fp"), _cell(negatives - fp, negatives, True, "tn")],
    ]
    chosen = Markup(f'<span class="chosen">{escape(f"{method.kernel} with {method.solver}")}</span>')
    caption = [f"{view.dataset.name}: ", chosen]
    return {
        "tables": None,
        "movable": list(found)[:MOST_METHODS],
        "matrix": table(caption, [TRUE_CLASS, positive, negative], rows, class_="confusion fixed"),
        "shares": {
            "sensitivity": percent(tp, positives),
            "specificity": percent(negatives - fp, negatives),
            "precision": percent(tp, tp + fp),
            "accuracy": percent(tp + negatives - fp, positives + negatives),
        },
        "data": [vars(one) for one in list(found.values())[:MOST_METHODS]],
        "several": len(view.dataset.units) > 1,
    }


def percent(part: int, whole: int) -> str:
    """Return a share as a percentage."""
    return f"{100 * part / whole:.1f}%" if whole else "–"


HARD = {
    "binary": (
        "Misordered: the share of opposite-class samples in the same test set that are ranked on the wrong side of "
        "this one.",
        "Decision value",
        "Share of the opposite class misordered",
    ),
    "multiclass": (
        "The margin is the decision value of the predicted class minus that of the true class.",
        "Predicted",
        "Margin",
    ),
    "real": ("They have the largest differences between predicted and true value.", "Predicted", "Difference"),
}


@section("predictions", "Hard cases")
def hard_section(view: View) -> dict[str, Any]:
    """Find the samples that the best method finds hardest."""
    method = next((m for m in view.ranking.best if m in view.outcomes), next(iter(view.outcomes), None))
    decisions = None if method is None else view.dataset.decisions(method)
    if method is None or decisions is None:
        return {"title": "Predictions", "missing": "No predictions were found."}
    kind, rows = view.dataset.kind, []
    cases = hard_cases(view.dataset, decisions)
    sequences = stored_sequences(view.dataset, (case[1] for case in cases))
    for unit, name, label, value, wrong in cases:
        row = {
            Column(view.sample_text("Sequence") if not sequences else "Name", False): name,
            Column("True value" if kind == "real" else "True class", False): label,
            Column(view.word.capitalize(), False): unit,
            Column(HARD[kind][1], kind != "multiclass"): value if isinstance(value, str) else number(value),
            HARD[kind][2]: Markup(f"{number(100 * wrong, 1)}%") if kind == "binary" else number(wrong),
        }
        if sequences:
            column = Column("Window" if view.dataset.residues else "Sequence", False)
            row[column] = sequence_cell(sequences[name]) if name in sequences else number(None)
        rows.append(row)
    caption = ["Hardest for ", method_name(method), ", each predicted when it was in the test set"]
    return {
        "method": method,
        "meaning": view.sample_text(HARD[kind][0]),
        "table": listing(caption, rows, "ids"),
    }
