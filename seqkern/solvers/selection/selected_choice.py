"""How many features, and which predictor: the inner cross-validation of the classifier on selected features."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from seqkern.core.convergence import unconverged
from seqkern.core.errors import ParameterError
from seqkern.folds.splitters import deal
from seqkern.kernels.vectors import _vector
from seqkern.solvers.base import Solver
from seqkern.solvers.specs import make_solver

LEAVE_ONE_OUT = "leave_one_out"
SEED = 0
"""Of the inner folds: they are the same for the same rows in the same order."""


@dataclass(frozen=True)
class Chosen:
    """What was chosen.

    Attributes
    ----------
    size : int
        F, the number of features.
    predictor : Solver
    error : float, optional
        The mean inner error; None if there was no choice.
    not_converged : int
        Of the fits that gave the error, how many did not converge.
    """

    size: int
    predictor: Solver
    error: float | None = None
    not_converged: int = 0


def inner_parts(y, folds, groups=None):
    """Return (training rows, test rows), int64, of each inner fold.

    Parameters
    ----------
    y : array_like, shape (n,)
        Classes.
    folds : {"leave_one_out"} or int
        Each row by itself; or so many stratified folds, fewer if the rarest class has not so many rows. Which rows
        are in one fold is drawn once for all: in another order of the rows it may be others.
    groups : array_like, shape (n,), optional
        They stay together: each group by itself, and folds of whole groups.

    Raises
    ------
    ParameterError
        Where a class would be missing from training parts: no fold is left.
    """
    y = np.unique(y, return_inverse=True)[1]
    groups = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    classes = range(int(y.max()) + 1)
    rarest = min(len(np.unique(groups[y == c])) for c in classes)
    remedy = "give one number of features and one predictor, or more records"
    if rarest < 2:
        raise ParameterError("a class of a training part has one record (or group) alone", remedy=remedy)
    fold = groups if folds == LEAVE_ONE_OUT else deal(y, min(folds, rarest), SEED, groups)
    parts = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]
    parts = [(train, test) for train, test in parts if len(np.unique(y[train])) == len(classes)]
    if not parts:
        raise ParameterError("no inner fold has all classes in its training part", remedy=remedy)
    return parts


def choose(K, y, groups, pairs, selector, scaler, *, around, folds):
    """Return the Chosen pair: that with the least inner error, the first of equal ones.

    Parameters
    ----------
    K : ndarray of float64, shape (n, d)
        Not scaled.
    y : ndarray of int64, shape (n,)
    groups : array_like, shape (n,), optional
    pairs : list of (int, Solver)
        F and the predictor, in the order of preference.
    selector : Selector
    scaler : ExpressionScaler, optional
    around : int
        The error of F is the mean of those of F − a, F and F + a, as far as there are so many features.
    folds
        As in `inner_parts`.
    """
    near = {size: {min(max(one, 1), K.shape[1]) for one in (size - around, size, size + around)} for size, _ in pairs}
    sizes = sorted(set.union(*near.values()))
    predictors = list({id(predictor): predictor for _, predictor in pairs}.values())
    groups = None if groups is None else np.asarray(groups)
    wrong, failed, tested = Counter(), Counter(), 0
    for train, test in inner_parts(y, folds, groups):
        tested += len(test)
        for key, errors, not_converged in part_errors(K, y, groups, train, test, selector, scaler, sizes, predictors):
            wrong[key] += errors
            failed[key] += not_converged
    means = [np.mean([wrong[one, id(predictor)] for one in near[size]]) / tested for size, predictor in pairs]
    best = int(np.argmin(means))
    size, predictor = pairs[best]
    return Chosen(size, predictor, float(means[best]), sum(failed[one, id(predictor)] for one in near[size]))


def part_errors(K, y, groups, train, test, selector, scaler, sizes, predictors):
    """Yield ((F, id of the predictor), wrong predictions of the test rows, fits that did not converge).

    Scaler, selector and predictors learn from the training rows; a selector that stops early counts once for each F
    and predictor.
    """
    known, new, codes = K[train], K[test], y[train]
    own = None if groups is None else groups[train]
    if scaler is not None:
        scaler = clone(scaler)
        known, new = scaler.fit_transform(known), scaler.transform(new)
    with unconverged():
        selector = selector.inner(scaled=scaler is not None).set_params(n_features=sizes[-1]).fit(known, codes)
    order = best_features(selector)
    for size in sizes:
        some, held_out = known[:, order[:size]], new[:, order[:size]]
        gram = products(some, some)
        for predictor in predictors:
            predicted, failed = np.bincount(codes).argmax(), int(selector.not_converged_ > 0)
            if len(order):
                machine = learn(predictor, some, codes, own, gram)
                predicted = machine.predict(products(held_out, some) if machine.input == "gram" else held_out)
                failed = failed or machine.count_not_converged()
            yield (size, id(predictor)), int(np.sum(predicted != y[test])), failed


def best_features(selector):
    """Return the features that a selector chose, the best first, int64."""
    chosen = selector.get_support(indices=True)
    return chosen[np.argsort(selector.ranking_[chosen])]


def learn(predictor, values, y, groups=None, gram=None):
    """Return a copy of a predictor, fitted to features or to their Gram matrix; its report tells of convergence."""
    machine = make_solver(clone(predictor), "binary" if len(np.unique(y)) == 2 else "multiclass")
    if machine.input == "gram":
        values = products(values, values) if gram is None else gram
    with unconverged():
        return machine.fit(values, y, groups)


def products(rows, others):
    """Return the linear kernel, float64 (m, n); each entry has its own bits, whatever the other rows are."""
    out = np.empty((len(rows), len(others)))
    _vector.products(np.ascontiguousarray(rows), np.ascontiguousarray(others.T), out)
    return out
