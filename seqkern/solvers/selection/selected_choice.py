"""The inner cross-validation of the classifier on selected features: number of features, and predictor."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seqkern.core.convergence import unconverged
from seqkern.core.errors import ParameterError
from seqkern.folds.splitters import deal
from seqkern.kernels.vectors import _vector
from seqkern.solvers.base import Solver
from seqkern.solvers.selection.selectors.scaling import ExpressionScaler
from seqkern.solvers.selection.selectors.selector import Selector
from seqkern.solvers.solver_specs import make_solver

Split: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

LEAVE_ONE_OUT = "leave_one_out"
SEED = 0
"""Seed of the inner folds."""


@dataclass(frozen=True)
class Chosen:
    """The choice of an inner cross-validation.

    Attributes
    ----------
    size : int
        F, the number of features.
    predictor : Solver
        One of those to choose from, not fitted.
    error : float, optional
        The mean inner error; None if there was no choice.
    not_converged : int
        Number of unconverged fits behind the error.
    """

    size: int
    predictor: Solver
    error: float | None = None
    not_converged: int = 0


def inner_parts(y: npt.ArrayLike, folds: int | str, groups: npt.ArrayLike | None = None) -> list[Split]:
    """Return the training and test rows of each inner fold.

    Parameters
    ----------
    y : array_like, shape (n,)
        Classes.
    folds : {"leave_one_out"} or int
        Leave-one-out; or this many stratified folds, fewer if the rarest class has fewer rows. The draw depends on the
        order of the rows.
    groups : array_like, shape (n,), optional
        Groups stay together: leave-one-group-out, or folds of whole groups.

    Returns
    -------
    list of (ndarray of int64, ndarray of int64)
        Training rows and test rows.

    Raises
    ------
    ParameterError
        If no fold has all classes in its training set.
    """
    y = np.unique(y, return_inverse=True)[1]
    groups = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    classes = range(int(y.max()) + 1)
    rarest = min(len(np.unique(groups[y == c])) for c in classes)
    remedy = "give one number of features and one predictor, or more records"
    if rarest < 2:
        raise ParameterError("a class of a training set has only one record (or group)", remedy=remedy)
    fold = groups if folds == LEAVE_ONE_OUT else deal(y, min(int(folds), rarest), SEED, groups)
    parts = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]
    parts = [(train, test) for train, test in parts if len(np.unique(y[train])) == len(classes)]
    if not parts:
        raise ParameterError("no inner fold has all classes in its training set", remedy=remedy)
    return parts


def choose(
    K: npt.NDArray[np.float64],
    y: npt.NDArray[np.int64],
    groups: npt.ArrayLike | None,
    pairs: Sequence[tuple[int, Solver]],
    selector: Selector,
    scaler: ExpressionScaler | None,
    *,
    around: int,
    folds: int | str,
) -> Chosen:
    """Return the pair with the smallest inner error, the first in ties.

    Parameters
    ----------
    K : ndarray of float64, shape (n, d)
        Features, not scaled.
    y : ndarray of int64, shape (n,)
        Places of classes.
    groups : array_like, shape (n,), optional
        Rows of one group stay in one fold.
    pairs : sequence of (int, Solver)
        F and the predictor, in the order of preference.
    selector : Selector
        Copies are fitted on the training set of each fold.
    scaler : ExpressionScaler, optional
        Likewise.
    around : int
        The error of F is the mean of those of F − a, F and F + a, as far as they exist.
    folds : {"leave_one_out"} or int
        As in `inner_parts`.

    Returns
    -------
    Chosen

    Raises
    ------
    ParameterError
        As `inner_parts`.
    """
    near = {size: {min(max(one, 1), K.shape[1]) for one in (size - around, size, size + around)} for size, _ in pairs}
    sizes = sorted(set.union(*near.values()))
    predictors = list({id(predictor): predictor for _, predictor in pairs}.values())
    groups = None if groups is None else np.asarray(groups)
    wrong: Counter[tuple[int, int]] = Counter()
    failed: Counter[tuple[int, int]] = Counter()
    tested = 0
    for train, test in inner_parts(y, folds, groups):
        tested += len(test)
        for key, errors, not_converged in part_errors(K, y, groups, train, test, selector, scaler, sizes, predictors):
            wrong[key] += errors
            failed[key] += not_converged
    means = [np.mean([wrong[one, id(predictor)] for one in near[size]]) / tested for size, predictor in pairs]
    best = int(np.argmin(means))
    size, predictor = pairs[best]
    return Chosen(size, predictor, float(means[best]), sum(failed[one, id(predictor)] for one in near[size]))


def part_errors(
    K: npt.NDArray[np.float64],
    y: npt.NDArray[np.int64],
    groups: npt.NDArray[Any] | None,
    train: npt.NDArray[np.int64],
    test: npt.NDArray[np.int64],
    selector: Selector,
    scaler: ExpressionScaler | None,
    sizes: Sequence[int],
    predictors: Sequence[Solver],
) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Yield the errors of each number of features and predictor in one inner fold.

    Scaler, selector and predictors learn from the training rows; an unconverged selector counts once for each F and
    predictor.

    Parameters
    ----------
    K : ndarray of float64, shape (n, d)
        Features, not scaled.
    y : ndarray of int64, shape (n,)
        Places of classes.
    groups : ndarray, shape (n,), optional
        For predictors that split their training set.
    train, test : ndarray of int64
        Rows of the two parts of the fold.
    selector : Selector
        A copy is fitted.
    scaler : ExpressionScaler, optional
        A copy is fitted.
    sizes : sequence of int
        Numbers of features, ascending.
    predictors : sequence of Solver
        Copies are fitted.

    Yields
    ------
    key : (int, int)
        F and the id of the predictor.
    errors : int
        Number of misclassified test rows.
    not_converged : int
        Fits that did not converge.
    """
    known, new, codes = K[train], K[test], y[train]
    own = None if groups is None else groups[train]
    if scaler is not None:
        scaler = clone(scaler)
        known, new = scaler.fit_transform(known), scaler.transform(new)
    with unconverged():
        selector = selector.inner(scaled=scaler is not None)
        selector.set_params(n_features=sizes[-1])
        selector.fit(known, codes)
    order = best_features(selector)
    for size in sizes:
        some, held_out = known[:, order[:size]], new[:, order[:size]]
        gram = products(some, some)
        for predictor in predictors:
            predicted, failed = np.bincount(codes).argmax(), int(selector.not_converged_ > 0)
            if len(order):
                classifier: Any = learn(predictor, some, codes, own, gram)
                predicted = classifier.predict(products(held_out, some) if classifier.input == "gram" else held_out)
                failed = failed or classifier.count_not_converged()
            yield (size, id(predictor)), int(np.sum(predicted != y[test])), failed


def best_features(selector: Selector) -> npt.NDArray[np.int64]:
    """Return the selected features, the best first.

    Parameters
    ----------
    selector : Selector
        A fitted one.

    Returns
    -------
    ndarray of int64, shape (F,)
        Columns.
    """
    chosen = selector.get_support(indices=True)
    return chosen[np.argsort(selector.ranking_[chosen])]


def learn(
    predictor: Solver,
    values: npt.NDArray[np.float64],
    y: npt.NDArray[Any],
    groups: npt.ArrayLike | None = None,
    gram: npt.NDArray[np.float64] | None = None,
) -> Solver:
    """Return a fitted copy of a predictor, whose report says whether it converged.

    Parameters
    ----------
    predictor : Solver
        A binary solver learns several classes as in `make_solver`.
    values : ndarray of float64, shape (n, F)
        The selected features.
    y : ndarray, shape (n,)
        Classes.
    groups : array_like, shape (n,), optional
        For predictors that split their training set.
    gram : ndarray of float64, shape (n, n), optional
        The linear kernel of `values`, if it is known already.

    Returns
    -------
    Solver
    """
    classifier = make_solver(clone(predictor), "binary" if len(np.unique(y)) == 2 else "multiclass")
    if classifier.input == "gram":
        values = products(values, values) if gram is None else gram
    with unconverged():
        return classifier.fit(values, y, groups)


def products(rows: npt.NDArray[np.float64], others: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the linear kernel; the bits of an entry do not depend on other rows.

    Parameters
    ----------
    rows : ndarray of float64, shape (m, F)
        Features.
    others : ndarray of float64, shape (n, F)
        Features.

    Returns
    -------
    ndarray of float64, shape (m, n)
    """
    out = np.empty((len(rows), len(others)))
    _vector.products(np.ascontiguousarray(rows), np.ascontiguousarray(others.T), out)
    return out
