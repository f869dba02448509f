"""What the decisions of one method look like: ROC curves, confusions, and the units hardest to get right."""

from dataclasses import dataclass, field

import numpy as np

from .curves import mean_curve, roc_points
from .files import numbers


@dataclass
class Outcome:
    """What one method's decisions look like.

    Attributes
    ----------
    curves : list of (str, (false, true))
        Named by unit; for several classes by class, averaged over the splits.
    pooled : bool
        Whether the curves are of all splits together, because single ones hold one class only.
    confusion : ndarray of int, shape (classes, classes), or None
        Rows are true, columns predicted classes, over all splits.
    points : (true, predicted) or None
        Of real labels.
    hard : list of tuple
        The units hardest to get right: (unit, id, label, decision or prediction, how wrong), positives before
        negatives if binary.
    """

    curves: list = field(default_factory=list)
    pooled: bool = False
    confusion: np.ndarray | None = None
    points: tuple | None = None
    hard: list = field(default_factory=list)


def outcome(dataset, table, count=10):
    """Return the Outcome of a table of decisions; `count` hard cases of each class."""
    if dataset.kind == "real":
        return _real_outcome(dataset, table, count)
    if dataset.kind == "multiclass":
        return _multiclass_outcome(dataset, table, count)
    result, hard = Outcome(), ([], [])
    for unit, rows in table.groupby(dataset.unit(table), sort=False):
        curves = _split_curves(rows, _positive_class(dataset, rows), "decision")
        result.curves += [(unit, curve) for curve in curves]
        for side, found in zip(hard, _hard_ranks(dataset, unit, rows, count), strict=True):
            side += found
    if not result.curves:
        result.pooled = True
        for task, rows in table.groupby("task", sort=False):
            false, true = _points(rows, _positive_class(dataset, rows), "decision")
            result.curves += [] if false is None else [(task, (false, true))]
    for side in hard:
        result.hard += sorted(side, key=lambda case: (-case[-1], case[1]))[:count]
    return result


def _positive_class(dataset, rows):
    """Return the name of the positive class of the task that the rows belong to."""
    classes = dataset.classes(rows["task"].iloc[0])
    return classes[-1] if classes else max(rows["label"])


def _points(rows, positive, column):
    return roc_points((rows["label"] == positive).to_numpy(), rows[column].to_numpy())


def _split_curves(rows, positive, column):
    """Return the curves of the splits in which both classes occur."""
    curves = [_points(part, positive, column) for _, part in rows.groupby("split", sort=False)]
    return [(false, true) for false, true in curves if false is not None]


def _hard_ranks(dataset, unit, rows, count):
    """Return (positives, negatives) with the share of the other class of their test part ranked on the wrong side."""
    positive_class = _positive_class(dataset, rows)
    cases = ([], [])
    for _, part in rows.groupby("split", sort=False):
        positive = (part["label"] == positive_class).to_numpy()
        decision = part["decision"].to_numpy()
        for found, side, sign in zip(cases, (positive, ~positive), (1, -1), strict=True):
            others = np.sort(sign * decision[~side])
            if not side.any() or not len(others):
                continue
            share = 1 - np.searchsorted(others, sign * decision[side]) / len(others)
            names = part[["id", "label"]].to_numpy()[side]
            worst = np.argsort(-share, kind="stable")[:count]
            found += [(unit, *names[i], decision[side][i], share[i]) for i in worst if share[i] > 0]
    return cases


def _multiclass_outcome(dataset, table, count):
    """Return curves of each class against the rest, the confusion matrix, and the surest mistakes."""
    classes = dataset.classes(table["task"].iloc[0]) or sorted(set(table["label"]))
    result = Outcome(confusion=np.zeros((len(classes), len(classes)), dtype=int))
    code = {name: i for i, name in enumerate(classes)}
    known = table[table["label"].isin(code) & table["predicted"].isin(code)]
    np.add.at(result.confusion, (known["label"].map(code), known["predicted"].map(code)), 1)
    columns = [f"decision:{name}" for name in classes]
    if not all(column in table for column in columns):
        return result
    for name, column in zip(classes, columns, strict=True):
        curves = _split_curves(table, name, column)
        if curves:
            result.curves.append((name, mean_curve(curves)))
    wrong = known[known["label"] != known["predicted"]]
    values = wrong[columns].to_numpy()
    rows = np.arange(len(wrong))
    margin = values[rows, wrong["predicted"].map(code)] - values[rows, wrong["label"].map(code)]
    order = np.lexsort((wrong["id"].to_numpy().astype(str), -margin))[: 2 * count]
    unit, chosen = dataset.unit(wrong), wrong[["id", "label", "predicted"]].to_numpy()
    result.hard = [(unit.iloc[i], *chosen[i], margin[i]) for i in order]
    return result


def _real_outcome(dataset, table, count):
    """Return true and predicted values and the largest residuals."""
    true = numbers(table["label"]).to_numpy()
    predicted = table["decision"].to_numpy()
    residual = np.abs(true - predicted)
    order = np.lexsort((table["id"].to_numpy().astype(str), -residual))[: 2 * count]
    unit = dataset.unit(table)
    hard = [(unit.iloc[i], table["id"].iloc[i], f"{true[i]:g}", predicted[i], residual[i]) for i in order]
    return Outcome(points=(true, predicted), hard=hard)
