"""Probabilities of decision values: Platt's sigmoid, fitted on decisions about units that were not trained on.

P(positive | f) = 1 / (1 + exp(A·f + B)), with A and B of greatest likelihood for targets drawn in by a prior of one
unit more of each class. The decisions about a model's own training units are too far from zero; therefore each unit is
decided about by a machine trained on folds without it.

References
----------
Platt: Probabilistic outputs for support vector machines. In: Advances in Large Margin Classifiers, MIT Press 1999.
Lin, Lin, Weng: A note on Platt's probabilistic outputs for support vector machines. Machine Learning 68:267, 2007.
"""

import math
from dataclasses import dataclass

import numpy as np

from .errors import FoldError, LabelError
from .evaluation.selection import inner_folds

STEPS, SMALLEST_STEP, RIDGE, ROUNDING = 100, 1e-10, 1e-12, 1e-13


@dataclass(frozen=True)
class Calibration:
    """A sigmoid from decision values to probabilities of the positive class.

    Attributes
    ----------
    slope, intercept : float
        A (negative where larger decisions mean the positive class) and B.
    folds : int
        How many folds gave decisions.
    n : int
        The number of decisions that it was fitted to.
    """

    slope: float
    intercept: float
    folds: int
    n: int

    def __post_init__(self):
        for value in (self.slope, self.intercept):
            if not isinstance(value, (int, float)) or not math.isfinite(value):
                raise LabelError(f"a calibration by {value!r} is not possible", remedy="calibrate again")

    def probabilities(self, decisions):
        """Return the probability of the positive class, float64 (n,), of each decision value."""
        return sigmoid(self.slope * np.asarray(decisions, dtype=np.float64) + self.intercept)

    def record(self):
        """Return what a model keeps: a JSON dict, the arguments of this class."""
        return {"slope": self.slope, "intercept": self.intercept, "folds": self.folds, "n": self.n}


def sigmoid(z):
    """Return 1 / (1 + exp(z)), float64, without overflow."""
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, small, 1.0) / (1.0 + small)


def fit_sigmoid(decisions, positive):
    """Return A and B of the sigmoid that decision values are most likely under.

    Parameters
    ----------
    decisions : ndarray of float64, shape (n,)
    positive : ndarray of bool, shape (n,)

    Returns
    -------
    slope, intercept : float

    Raises
    ------
    LabelError
        If a class has no unit.
    """
    f, positive = np.asarray(decisions, dtype=np.float64), np.asarray(positive, dtype=bool)
    n_positive, n_negative = np.count_nonzero(positive), np.count_nonzero(~positive)
    if not n_positive or not n_negative:
        raise LabelError("one class only: nothing to calibrate on", remedy="give units of both classes")
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    scale = float(np.abs(f).max()) or 1.0
    f = f / scale
    point = np.array([0.0, math.log((n_negative + 1) / (n_positive + 1))])
    loss = _loss(point, f, targets)
    for _ in range(STEPS):
        p = sigmoid(point[0] * f + point[1])
        gradient = np.array([f @ (targets - p), (targets - p).sum()])
        weight = p * (1 - p)
        cross = f @ weight
        hessian = np.array([[f * f @ weight, cross], [cross, weight.sum()]]) + RIDGE * np.eye(2)
        direction = -np.linalg.solve(hessian, gradient)
        if np.abs(direction).max() <= ROUNDING * (1 + np.abs(point).max()):
            break
        step = 1.0
        while step >= SMALLEST_STEP:
            new = point + step * direction
            new_loss = _loss(new, f, targets)
            if new_loss <= loss * (1 + ROUNDING) + 1e-4 * step * (gradient @ direction):
                break
            step /= 2
        point, loss = new, new_loss
    return float(point[0] / scale), float(point[1])


def _loss(point, f, targets):
    """Return the negative log likelihood."""
    z = point[0] * f + point[1]
    return float(np.sum(targets * z + np.logaddexp(0.0, -z)))


def held_out_decisions(pair, labels, spec, make_solver, *, folds=5, seed=1):
    """Return the decision about each unit by machines trained on folds without it.

    Parameters
    ----------
    pair : callable
        ``pair(train, test, y_train)`` returns what a solver trains on and decides about, as those of
        `seqkern.evaluation.sources`.
    labels : Labels
        Binary; units of one group stay in one fold.
    spec : dict
        Of the solver.
    make_solver : callable
        ``make_solver(spec, kind)`` returns a new solver.
    folds, seed : int

    Returns
    -------
    decisions : ndarray of float64, shape (n,)
        NaN for the units of a fold without which a class is missing.
    n_folds : int
        How many folds gave decisions.

    Raises
    ------
    LabelError
        If the labels are not binary.
    FoldError
        If a class is too small to be divided into folds.
    """
    y = labels.signs()
    decisions, n_folds = np.full(len(y), np.nan), 0
    try:
        parts = list(inner_folds(labels, folds, seed, labels.groups))
    except FoldError as error:
        raise FoldError(
            "a class has one unit (or group) only, and probabilities need folds",
            remedy="give more units, or train without --calibrate",
        ) from error
    for train, held_out in parts:
        K_train, K_held_out = pair(train, held_out, y[train])
        machine = make_solver(spec, labels.kind).fit(K_train, y[train])
        decisions[held_out] = machine.decision_function(K_held_out)
        n_folds += 1
    return decisions, n_folds


def calibrate(pair, labels, spec, make_solver, *, folds=5, seed=1):
    """Return the Calibration of a solver on some units.

    Parameters
    ----------
    pair, labels, spec, make_solver, folds, seed
        As for `held_out_decisions`.

    Raises
    ------
    LabelError, FoldError
        As `held_out_decisions` and `fit_sigmoid`.
    """
    decisions, n_folds = held_out_decisions(pair, labels, spec, make_solver, folds=folds, seed=seed)
    known = ~np.isnan(decisions)
    slope, intercept = fit_sigmoid(decisions[known], labels.signs()[known] > 0)
    return Calibration(slope, intercept, n_folds, int(np.count_nonzero(known)))
