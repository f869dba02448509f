"""Sections on decisions: curves, confusion, hard samples, reliability, intervals."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.calibration import Bin, reliability
from seqkern.evaluation.metrics import LEVEL, LEVELS, brier, interval_coverage, log_loss, negative_log_density
from seqkern.methods.poim import load_positions
from seqkern.report.curves import (
    AXES,
    Line,
    MethodLines,
    area,
    class_roc_panel,
    mean_curve,
    mean_steps,
    overlay_links,
    plot,
    pr_points,
    roc_panel,
    roc_points,
    script_data,
    style_of,
)
from seqkern.report.dataset_results import DatasetResults, Method, numbers, positive_class, rows_by_value
from seqkern.report.markup import Markup, clean, details, tag
from seqkern.report.outcomes import (
    HardCase,
    Outcome,
    Thresholds,
    hard_cases,
    sequence_cell,
    stored_sequences,
    thresholds,
)
from seqkern.report.page_frame import Column, json_script, number, panel, small_multiples, spread, table
from seqkern.report.plots import MOST_POINTS, class_reliability_panel, coverage_panel, reliability_panel, scatter_panel
from seqkern.report.view import View, method_name, paragraph

if TYPE_CHECKING:
    import pandas as pd


# ROC and precision-recall curves of a data set's methods, from their decisions.

MOST_LINES = 1000
"""Maximum number of curves of all methods together; with more, the page keeps only the means."""


def curve_lines(view: View) -> tuple[list[MethodLines], list[str]]:
    """Return the curves of all methods, best first, and the names of a method's lines: mean first, then folds.

    Instead of folds the lines may be families or classes.
    """
    found: dict[str, dict[str, Line]] = {}
    for method, outcome in view.outcomes.items():
        table = view.dataset.decisions(method)
        if table is not None and outcome.curves:
            lines = dict(_lines(view, table, outcome.pooled))
            if lines:
                found[clean(f"{method.kernel} with {method.solver}")] = lines
    units = list(dict.fromkeys(name for lines in found.values() for name in lines))
    if len(found) * len(units) > MOST_LINES or len(units) == 1:
        units = []
    methods = [
        MethodLines(name, [_mean(list(lines.values())), *(lines.get(unit) for unit in units)])
        for name, lines in found.items()
    ]
    return methods, [_mean_name(view, found), *(_unit_name(view, unit) for unit in units)]


def _lines(view: View, table: "pd.DataFrame", pooled: bool) -> Iterator[tuple[str, Line]]:
    """Yield (name, Line) of each class, or of each split of each unit, in which both classes occur."""
    dataset = view.dataset
    if dataset.kind == "multiclass":
        yield from _class_lines(dataset, table)
        return
    for unit, rows in rows_by_value(table, "task" if pooled else dataset.unit(table)):
        positive = positive_class(dataset, rows)
        if pooled:
            parts = [(unit, rows)]
        else:
            splits = list(rows_by_value(rows, "split"))
            parts = [(unit if len(splits) == 1 else f"{unit}, split {split}", part) for split, part in splits]
        for name, part in parts:
            line = _line(part, positive, "decision")
            if line is not None:
                yield clean(name), line


def _class_lines(dataset: DatasetResults, table: "pd.DataFrame") -> Iterator[tuple[str, Line]]:
    """Yield (class, Line) of each class against the others, averaged over the splits."""
    for name in dataset.classes(table["task"].iloc[0]) or sorted(set(table["label"])):
        if f"decision:{name}" in table:
            lines = [_line(part, name, f"decision:{name}") for _, part in rows_by_value(table, "split")]
            known = [line for line in lines if line is not None]
            if known:
                yield clean(name), _mean(known)


def _line(rows: "pd.DataFrame", positive: str, column: str) -> Line | None:
    """Return the curves of one column of decisions; None unless both classes occur."""
    labels, decision = (rows["label"] == positive).to_numpy(), rows[column].to_numpy(float)
    false, true = roc_points(labels, decision)
    recall, precision = pr_points(labels, decision)
    if false is None or true is None or recall is None or precision is None:
        return None
    return Line((false, true), (recall, precision))


def _mean(lines: list[Line]) -> Line:
    """Return the mean of several lines; a single line itself."""
    if len(lines) == 1:
        return lines[0]
    return Line(mean_curve(line.roc for line in lines), mean_steps(line.pr for line in lines))


def _mean_name(view: View, found: dict[str, dict[str, Line]]) -> str:
    """Return the name of the mean of all lines."""
    most = max((len(lines) for lines in found.values()), default=0)
    if view.dataset.kind == "multiclass":
        return f"mean of {most} classes"
    if any(outcome.pooled for outcome in view.outcomes.values()):
        return "all test sets pooled"
    return f"mean of {most} {view.words}" if most > 1 else view.word


def _unit_name(view: View, unit: str) -> str:
    """Return the name of one line."""
    return unit if view.dataset.kind == "multiclass" else f"{view.word} {unit}"


# ROC and precision-recall curves; for real labels, predicted against true values.

TITLES = {"roc": "ROC", "pr": "Precision and recall"}


def curves_section(view: View) -> Markup | None:
    """Return the curves of all methods in one plot of each kind, and a panel for each method, the best first."""
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
    """Return plots of predicted against true values for each method."""
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


# Confusion matrices: for several classes of each method, for two at a threshold that can be moved.

MOST_METHODS = 24
"""Maximum number of methods with movable thresholds on the page."""


def confusion_section(view: View) -> Markup | None:
    """Return confusion matrices: the best method's open, the others' folded.

    Return None for real labels, and without decisions.
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
    """Return the best method's matrix, controls for the page's script, and the counts of all methods."""
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
    """Return the method selector and the threshold slider, which the page's script shows."""
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
    """Return the matrix of two classes with the shares derived from it."""
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
    """Return a share as a percentage."""
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


# Test samples that the best method finds hardest, with their sequences.

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


def hard_section(view: View) -> Markup:
    """Return the samples that the best method finds hardest, and a link to all predictions."""
    method = next((m for m in view.ranking.best if m in view.outcomes), next(iter(view.outcomes), None))
    decisions = None if method is None else view.dataset.decisions(method)
    if method is None or decisions is None:
        text = "No predictions were found."
        return view.section("predictions", "Predictions", paragraph(text, class_="missing"))
    where = paragraph("All predictions are in the tables ", tag("code", "decisions.tsv"), _files_link(), ".")
    cases = hard_cases(view.dataset, decisions)
    if not cases:
        done = "predicted" if view.dataset.kind == "multiclass" else "ranked"
        right = paragraph(method_name(method), f" {done} no test {view.sample_text('sequence')} wrongly.")
        return view.section("predictions", "Hard cases", right, where)
    intro = paragraph(
        "Hard cases are often mislabelled, unusual, or beyond what the kernel can see. ",
        view.sample_text(HARD[view.dataset.kind][0]),
    )
    return view.section("predictions", "Hard cases", intro, *_cases(view, method, cases), where)


def _files_link() -> Markup:
    """Return a link to the list of files."""
    return Markup(f" ({tag('a', 'all files', href='#files')})")


def _cases(view: View, method: Method, cases: list[HardCase]) -> list[Markup | None]:
    """Return the table of hard cases, and an explanation of the shades in its sequences."""
    kind = view.dataset.kind
    sequences = stored_sequences(view.dataset, (case[1] for case in cases))
    cell, legend = _shading(view)
    rows = []
    for unit, name, label, value, wrong in cases:
        shown = [value if isinstance(value, str) else number(value)]
        shown.append(Markup(f"{number(100 * wrong, 1)} %") if kind == "binary" else number(wrong))
        sequence = [cell(sequences[name]) if name in sequences else number(None)] if sequences else []
        rows.append([name, label, unit, *shown, *sequence])
    columns: list[Column | str] = [
        Column(view.sample_text("Sequence") if not sequences else "Name", False),
        Column("True value" if kind == "real" else "True class", False),
        Column(view.word.capitalize(), False),
        Column(HARD[kind][1], kind != "multiclass"),
        Column(HARD[kind][2]),
    ]
    if sequences:
        columns.append(Column("Window" if view.dataset.residues else "Sequence", False))
    caption = ["Hardest for ", method_name(method), ", each predicted when it was in the test set"]
    return [table(caption, columns, rows, class_="ids"), legend if sequences else None]


def _shading(view: View) -> tuple[Callable[[str], Markup], Markup | None]:
    """Return a function from sequences to cells, and an explanation of the shades if position importance is known."""
    path, entry = view.dataset.folder("importance") / "importance.npz", view.dataset.entry.importance
    if entry is None or not path.exists():
        return sequence_cell, None
    positions = load_positions(path)
    importance = positions.importance
    matrix, letters = importance.matrices[1], importance.alphabet.letters
    largest, centre = float(abs(matrix).max()), 1 - positions.first if positions.has_site else None

    def shaded(sequence: str) -> Markup:
        if len(sequence) != importance.length:
            return sequence_cell(sequence)
        places = [letters.find(letter) for letter in sequence]
        weights = [float(row[code]) if code >= 0 else 0.0 for row, code in zip(matrix, places, strict=True)]
        return sequence_cell(sequence, weights, largest, centre)

    model = method_name((entry.kernel, entry.solver))
    sides = positions.classes or ("a smaller value", "a larger value")
    blue, orange = tag("i", "blue", class_="for"), tag("i", "orange", class_="against")
    signs = [blue, f" speaks for {sides[1]}, ", orange, f" for {sides[0]}"]
    link = view.link("importance of positions", "importance")
    return shaded, paragraph("Shades: ", link, " in the model of ", model, "; ", signs, ".", class_="note shades")


# Calibration of each method's probabilities: reliability diagrams and Brier scores.

SEVERAL = (
    "Each line is a class; each point is a tenth of the test sequences, grouped by their probability of "
    "this class: the observed share (vertical) against the predicted probability (horizontal). Calibrated "
    "probabilities lie on the diagonal. They were learned from the training data, never from "
    "test sequences. The Brier score is the mean over sequences of the summed squared errors of all "
    "probabilities; lower is better. The constant is the score of always predicting the class frequencies."
)
INTRO = (
    "Each point is a tenth of the test sequences, grouped by their probability: the observed share of "
    "positives (vertical{}) against the predicted probability (horizontal). Calibrated probabilities lie on "
    "the diagonal. They were learned from the training data, never from test sequences. The "
    "Brier score is the mean squared error of the probabilities; lower is better. The constant is the score "
    "of always predicting the share of positives."
)
INTERVALS = {
    False: ", with a 95 % interval",
    True: "; without intervals, because residues of the same chain are not independent",
}


def reliability_section(view: View) -> Markup | None:
    """Return a reliability diagram for each method with probabilities, the best first; None where there are none."""
    panels = []
    for method in view.outcomes:
        table = view.dataset.decisions(method) if view.dataset.has_probabilities(method) else None
        if table is None:
            continue
        if view.dataset.kind == "multiclass":
            panels.append(_several(view, method, table))
            continue
        p = numbers(table["probability"]).to_numpy()
        positive = _positive(view.dataset, table)
        bins = shown_bins(view.dataset, positive, p)
        share = positive.mean()
        label = f"{view.dataset.name}: reliability of kernel {method.kernel} with solver {method.solver}"
        constant = number(float(share * (1 - share)))
        scores = [
            "Brier ",
            number(brier(positive, p)),
            f" (constant {constant}), log loss ",
            number(log_loss(positive, p)),
        ]
        panels.append(panel(reliability_panel(bins, label), [method_name(method), tag("br"), *scores]))
    if not panels:
        return None
    intro = SEVERAL if view.dataset.kind == "multiclass" else INTRO.format(INTERVALS[view.dataset.residues])
    return view.section(
        "probabilities", "Probabilities", paragraph(view.sample_text(intro)), small_multiples(panels, "combinations")
    )


def shown_bins(dataset: DatasetResults, positive: npt.NDArray[np.bool_], p: npt.NDArray[np.float64]) -> list[Bin]:
    """Return the Bins of two classes; for residues without intervals, which would assume independent samples."""
    bins = reliability(positive, p)
    return [one._replace(low=one.observed, high=one.observed) for one in bins] if dataset.residues else bins


def _several(view: View, method: Method, table: "pd.DataFrame") -> Markup:
    """Return the diagram of a method with probabilities of several classes."""
    names = [column.removeprefix("probability:") for column in table.columns if column.startswith("probability:")]
    shares = table[[f"probability:{name}" for name in names]].to_numpy(dtype=float)
    code = {name: i for i, name in enumerate(names)}
    labels = table["label"].map(code).to_numpy()
    lines = [(name, reliability(labels == i, shares[:, i])) for i, name in enumerate(names)]
    label = f"{view.dataset.name}: reliability of kernel {method.kernel} with solver {method.solver}, by class"
    constant = 1 - sum(float((labels == i).mean()) ** 2 for i in range(len(names)))
    losses = number(brier(labels, shares)), number(log_loss(labels, shares))
    scores = ["Brier ", losses[0], f" (constant {number(constant)}), log loss ", losses[1]]
    caption = [method_name(method), tag("br"), *scores]
    return panel(class_reliability_panel(lines, label), caption)


def _positive(dataset: DatasetResults, table: "pd.DataFrame") -> npt.NDArray[np.bool_]:
    """Return whether each row's label is the positive class of its task."""
    names = {task: positive_class(dataset, rows) for task, rows in rows_by_value(table, "task")}
    return (table["label"] == table["task"].map(names)).to_numpy()


# Calibration of prediction intervals for real labels: nominal against observed coverage.

PREDICTION_INTERVALS_INTRO = (
    "Each point is the share of test sequences whose true value lies within the central prediction interval (vertical) "
    "against the level of the interval (horizontal). True intervals lie on the diagonal; below it they are too narrow. "
    "The negative log predictive density (NLPD) counts both the errors and whether their size was predicted; lower is "
    "better."
)


def prediction_intervals_section(view: View) -> Markup | None:
    """Return a calibration curve for each method that predicts standard deviations; None without any."""
    if view.dataset.kind != "real":
        return None
    panels = []
    for method in view.outcomes:
        table = view.dataset.decisions(method)
        if table is None or "sd" not in table:
            continue
        labels, means, deviations = (numbers(table[name]).to_numpy() for name in ("label", "decision", "sd"))
        shares = [interval_coverage(labels, means, deviations, level) for level in LEVELS]
        label = f"{view.dataset.name}: coverage of intervals, kernel {method.kernel} with solver {method.solver}"
        covered = interval_coverage(labels, means, deviations)
        density = negative_log_density(labels, means, deviations)
        scores = [f"{LEVEL:.0%} interval: ", number(covered), ", NLPD ", number(density)]
        panels.append(panel(coverage_panel(LEVELS, shares, label), [method_name(method), tag("br"), *scores]))
    if not panels:
        return None
    trivial = _trivial(view)
    return view.section(
        "prediction-intervals",
        "Prediction intervals",
        paragraph(view.sample_text(PREDICTION_INTERVALS_INTRO + trivial)),
        small_multiples(panels, "combinations"),
    )


def _trivial(view: View) -> str:
    """Return a sentence on predicting the training labels' mean and variance; empty where not evaluated."""
    metrics = view.headline.baselines.metrics
    if "nlpd" not in metrics:
        return ""
    density, covered = metrics.loc[metrics["baseline"] == "mean", ["nlpd", "coverage_90"]].mean()
    return (
        f" Predicting mean and variance of the training labels for every sample has an NLPD of {density:.3g}, and "
        f"{covered:.3g} of the values lie within its {LEVEL:.0%} intervals."
    )
