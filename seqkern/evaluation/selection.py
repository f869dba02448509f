"""The inner loop: choose a solver's hyperparameters on a training part alone.

Kernel values come from a function of row numbers, so that a kernel that learns from data is fitted anew on
each inner training part, and nothing outside the training part can be reached.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..errors import FoldError, ParameterError, unknown_name
from ..folds.splitters import deal
from ..parameters import check_integer
from . import metrics, ranking

AUTO = {"binary": "auc", "multiclass": "macro_auc", "real": "r2"}


def _on_decisions(function):
    return lambda y, decisions, predicted: function(y, decisions)


def _on_predictions(function):
    return lambda y, decisions, predicted: function(y, predicted)


_CLASSES = {
    "balanced_accuracy": _on_predictions(metrics.balanced_accuracy),
    "mcc": _on_predictions(metrics.matthews_correlation),
    "accuracy": _on_predictions(metrics.accuracy),
}
# for each kind of labels: name → function of (labels, decisions, predictions); more is better
METRICS = {
    "binary": {
        "auc": _on_decisions(ranking.roc_auc),
        "roc50": _on_decisions(ranking.roc_n),
        **_CLASSES,
    },
    "multiclass": {
        "auc": _on_decisions(metrics.macro_auc),
        "macro_auc": _on_decisions(metrics.macro_auc),
        **_CLASSES,
    },
    "real": {
        "r2": _on_predictions(metrics.r2),
        "rmse": lambda y, decisions, predicted: -metrics.rmse(y, predicted),
    },
}


@dataclass(frozen=True, eq=False)
class Choice:
    """What the inner loop chose.

    Attributes
    ----------
    spec : dict
        The chosen solver specification.
    score : float
        Its mean over the inner folds; NaN where there was one specification only and nothing to choose.
    specs : list of dict
        All that were compared.
    scores : ndarray of float64, shape (n_specs, n_folds)
        The score of each on each inner fold; no columns where there was nothing to choose.
    """

    spec: dict
    score: float
    specs: list
    scores: np.ndarray


def select(pair, labels, specs, make_solver, *, folds=3, metric="auto", seed=0, groups=None):
    """Choose among solver specifications by cross-validation within a training part.

    Inner folds are stratified, and keep groups together where there are any. A class with fewer members (or
    groups) than `folds` lowers their number, to two at least. An inner fold is left out where a class is
    missing so that it cannot be trained on or scored. Of equal scores the simplest specification wins: the
    one whose solver has the least `complexity`, then the first of the list.

    Parameters
    ----------
    pair : callable
        ``pair(train, valid, y_train)`` returns ``(K_train, K_valid)``: kernel values of the inner training
        rows among themselves and of the validation rows against them. Rows count within the training part.
    labels : Labels
        Of the training part.
    specs : list of dict
        The grid, each a specification for `make_solver`.
    make_solver : callable
        ``make_solver(spec, kind)`` returns a new solver.
    folds : int
    metric : str
        ``auto`` is auc (several classes: macro_auc, real labels: r2); else one of `METRICS` for the labels.
    seed : int
    groups : array_like, shape (n,), optional
        Units to keep together, by default `labels.groups`.

    Returns
    -------
    Choice

    Raises
    ------
    ParameterError
        If there is no specification, or the metric does not suit the labels.
    FoldError
        If a class has one member (or group) only, or no inner fold can be scored.
    """
    specs = list(specs)
    if not specs:
        raise ParameterError("no solver to choose from", remedy="give at least one")
    score = _metric(metric, labels.kind)
    check_integer("inner folds", folds, 2)
    check_integer("seed", seed, 0)
    if len(specs) == 1:
        return Choice(specs[0], math.nan, specs, np.empty((1, 0)))
    y = labels.signs() if labels.kind == "binary" else labels.y
    columns = []
    for train, valid in inner_folds(labels, folds, seed, labels.groups if groups is None else groups):
        K_train, K_valid = pair(train, valid, y[train])
        column = []
        for spec in specs:
            solver = make_solver(spec, labels.kind).fit(K_train, y[train])
            predicted = solver.predict(K_valid)
            decisions = predicted if labels.kind == "real" else solver.decision_function(K_valid)
            if labels.kind == "binary":
                predicted = np.asarray(predicted) > 0
            column.append(score(labels.y[valid], decisions, predicted))
        columns.append(column)
    scores = np.array(columns, dtype=np.float64).T.reshape(len(specs), len(columns))
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    if not scores.shape[1]:
        raise FoldError(
            "no inner fold can be scored", remedy="give more units, fewer inner folds or another inner metric"
        )
    means = scores.mean(axis=1)
    # scores that differ by rounding errors only are equal
    sizes = [make_solver(spec, labels.kind).complexity() for spec in specs]
    best = min(range(len(specs)), key=lambda s: (-round(float(means[s]), 12), sizes[s], s))
    return Choice(specs[best], float(means[best]), specs, scores)


def inner_folds(labels, folds, seed, groups=None):
    """Yield (train, valid) int64 rows of the inner folds of a training part.

    Folds whose training part lacks a class are left out.

    Parameters
    ----------
    labels : Labels
    folds : int
    seed : int
    groups : array_like, shape (n,), optional

    Raises
    ------
    FoldError
        If a class has one member (or group) only.
    """
    y = np.zeros(len(labels), dtype=np.int64) if labels.kind == "real" else labels.y
    groups = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    classes = np.unique(y)
    rarest = min(len(np.unique(groups[y == c])) for c in classes)
    if rarest < 2:
        raise FoldError(
            "a class of the training part has one unit (or group) only, and hyperparameters are to be chosen",
            remedy="give more units, or one value for each parameter of the solver",
        )
    k = min(folds, rarest)
    fold = deal(y, k, seed, groups)
    for f in range(k):
        train, valid = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        if len(valid) and len(np.unique(y[train])) == len(classes):
            yield train, valid


def _metric(name, kind):
    """Return the scoring function; ParameterError for a name that does not suit the kind of labels."""
    known = METRICS[kind]
    name = AUTO[kind] if name == "auto" else name
    if name not in known:
        raise unknown_name(f"inner metric for {kind} labels", name, [*known, "auto"])
    return known[name]
