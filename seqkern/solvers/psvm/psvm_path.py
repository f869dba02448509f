"""P-SVM solutions for many values of ε, and the choice of ε by cross-validation.

ε decreases from the value at which nothing is selected; each solution is the warm start of the next. Cross-validation
computes such a path in every training set, with newly standardised columns and ε in units of the part's own ε_max; for
a Gram matrix it leaves out rows and columns together.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.convergence import warn_unconverged
from seqkern.core.errors import LabelError, ParameterError
from seqkern.core.threads import one_thread
from seqkern.folds.splitters import deal
from seqkern.solvers.base import Solver
from seqkern.solvers.estimator import clone
from seqkern.solvers.psvm.potential.columns import Columns
from seqkern.solvers.psvm.potential.dual import Dual
from seqkern.solvers.psvm.potential.minimiser import minimise
from seqkern.solvers.psvm.potential.storage import columns_of
from seqkern.solvers.psvm.psvm import PotentialSVM
from seqkern.solvers.solver_specs import solver_from_state

DIGITS = 12
"""Tolerance for equal mean errors, because of rounding."""


@dataclass(frozen=True)
class Path:
    """Solutions for decreasing ε.

    Attributes
    ----------
    epsilons : ndarray of float64, shape (p,)
        In the units of the solver's `epsilon_scale`.
    epsilon_max : float
        ‖K̃ᵀy‖_∞, absolute.
    supports : list of ndarray of int64
        For each ε the columns with α ≠ 0.
    alphas : list of ndarray of float64
        Their α.
    means, scales : ndarray of float64, shape (N,)
        Of all columns; a scale of zero marks a constant one.
    intercept : float
        Mean of y.
    reports : list of dict
        The report of `PSVC` for each ε; ``iterations`` count from the previous solution.

    Examples
    --------
    >>> from seqkern.solvers import PSVC
    >>> from seqkern.solvers.psvm.psvm_path import psvm_path
    >>> X = [[3.0, 1.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]  # counts of three k-mers
    >>> path = psvm_path(PSVC(kernel="features"), X, [1, 1, 0, 0], epsilons=[1, 0.5, 0.1])
    >>> path.supports
    [array([], dtype=int64), array([0]), array([0, 2])]
    >>> path.decision_function(X)[:2].round(2)
    array([[0.  , 0.6 , 0.94],
           [0.  , 0.2 , 0.77]])
    >>> path.solver(1).support_
    array([0])
    """

    epsilons: npt.NDArray[np.float64]
    epsilon_max: float
    supports: list[npt.NDArray[np.int64]]
    alphas: list[npt.NDArray[np.float64]]
    means: npt.NDArray[np.float64]
    scales: npt.NDArray[np.float64]
    intercept: float
    reports: list[dict[str, Any]]
    _solver: PotentialSVM

    def __len__(self) -> int:
        return len(self.epsilons)

    def solver(self, place: int) -> Solver:
        """Return the fitted solver of one ε, equal to that of `fit` up to the tolerance.

        Parameters
        ----------
        place : int
            Which of `epsilons`.

        Returns
        -------
        PSVC or PSVR
        """
        support = self.supports[place]
        spec = {**self._solver.spec(), "epsilon": float(self.epsilons[place])}
        arrays = {"support": support, "alpha": self.alphas[place]}
        arrays |= {"mean": self.means[support], "scale": self.scales[support]}
        if hasattr(self._solver, "classes_"):
            arrays["classes"] = self._solver.classes_
        size = len(support)
        report = {**self.reports[place], "n_support": size, "support_share": size / len(self.means)}
        header = {"spec": spec, "columns": len(self.means), "report": report, "learned": {"intercept": self.intercept}}
        return solver_from_state(header, arrays)

    def decision_function(self, K: Any) -> npt.NDArray[np.float64]:
        """Return the decisions on new rows for every ε.

        Parameters
        ----------
        K : matrix, shape (m, N)
            As the solver's `decision_function` takes it.

        Returns
        -------
        ndarray of float64, shape (m, p)
        """
        return np.column_stack([self.solver(place).decision_function(K) for place in range(len(self))])


@dataclass(frozen=True)
class CrossValidatedPath:
    """A path on all rows, and the errors of its solutions on held-out rows.

    Attributes
    ----------
    path : Path
        On all rows.
    folds : ndarray of int64, shape (l,)
        The fold of each row.
    decisions : ndarray of float64, shape (l, p)
        Decisions on every row for every ε, by the path of the other folds.
    losses : ndarray of float64, shape (l, p)
        Misclassification, 0 or 1; or the squared error.
    errors, standard_errors : ndarray of float64, shape (p,)
        The mean loss for each ε, and its standard error, from the variance between the parts' means.
    chosen : int
        Index of the chosen ε.
    solver : Solver
        Fitted on all rows with the chosen ε.
    """

    path: Path
    folds: npt.NDArray[np.int64]
    decisions: npt.NDArray[np.float64]
    losses: npt.NDArray[np.float64]
    errors: npt.NDArray[np.float64]
    standard_errors: npt.NDArray[np.float64]
    chosen: int
    solver: Solver


def psvm_path(
    solver: PotentialSVM,
    K: Any,
    y: npt.ArrayLike,
    *,
    epsilons: npt.ArrayLike | None = None,
    n_epsilons: int = 20,
    smallest: float = 0.01,
) -> Path:
    """Return the solutions of the P-SVM for decreasing ε.

    Parameters
    ----------
    solver : PSVC or PSVR
        Its parameters, except `epsilon`, are used; it is not changed.
    K : matrix, shape (l, N)
        As `solver.fit` takes it.
    y : array_like, shape (l,)
        Classes, or real values.
    epsilons : array_like of float, optional
        In units of `solver.epsilon_scale`; they are sorted from the largest to the smallest.
    n_epsilons : int
        Number of values without `epsilons`: a geometric sequence from ε_max, where nothing is selected.
    smallest : float
        The last of them, in units of ε_max.

    Returns
    -------
    Path

    Raises
    ------
    ParameterError, GramError, LabelError
        As `solver.fit` does; and for bad `epsilons`.

    Warns
    -----
    ConvergenceWarning
        With the number of values of ε for which it did not converge.

    Examples
    --------
    >>> from seqkern.solvers import PSVR
    >>> from seqkern.solvers.psvm.psvm_path import psvm_path
    >>> X = [[3.0, 1.0], [2.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> path = psvm_path(PSVR(kernel="features"), X, [7.0, 4.0, 1.0, 2.0], epsilons=[0.5, 0.2, 0.01])
    >>> for epsilon, support in zip(path.epsilons, path.supports):
    ...     print(epsilon, support)
    0.5 [0]
    0.2 [0 1]
    0.01 [0 1]
    """
    with one_thread():
        solver, columns, target = prepared(solver, K, y)
        return _path(solver, columns, target, _grid(solver, columns, target, epsilons, n_epsilons, smallest))


def psvm_path_cv(
    solver: PotentialSVM,
    K: Any,
    y: npt.ArrayLike,
    *,
    folds: int | str | npt.ArrayLike = 5,
    epsilons: npt.ArrayLike | None = None,
    n_epsilons: int = 20,
    smallest: float = 0.01,
    rule: Literal["best", "one_standard_error"] = "best",
    seed: int = 1,
) -> CrossValidatedPath:
    """Return a path and its ε chosen by cross-validation.

    Parameters
    ----------
    solver, K, y, n_epsilons, smallest
        As for `psvm_path`.
    epsilons : array_like of float, optional
        As for `psvm_path`. In units of "max" they are of ε_max in each part.
    folds : int, "leave_one_out" or array_like, shape (l,)
        The number of parts, drawn at random, those of classes with a like share of each; or the name of the part
        that each row belongs to, for groups that must stay together.
    rule : {"best", "one_standard_error"}
        The ε with the smallest error, the largest in ties; or the largest within one standard error of it.
    seed : int
        Seed of the random folds.

    Returns
    -------
    CrossValidatedPath

    Raises
    ------
    ParameterError, GramError, LabelError
        As for `psvm_path`; LabelError too, if a training set has members of one class only.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import PSVC
    >>> from seqkern.solvers.psvm.psvm_path import psvm_path_cv
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 30))
    >>> X[:, 4] += 5 * y  # one informative feature of thirty
    >>> found = psvm_path_cv(PSVC(kernel="features"), X, y, n_epsilons=6)
    >>> found.path.epsilons.round(3)
    array([1.   , 0.398, 0.158, 0.063, 0.025, 0.01 ])
    >>> found.errors
    array([0.5, 0. , 0. , 0. , 0. , 0.1])
    >>> found.solver.support_
    array([4])
    """
    check_choice("rule", rule, ("best", "one_standard_error"))
    with one_thread():
        solver, columns, target = prepared(solver, K, y)
        grid = _grid(solver, columns, target, epsilons, n_epsilons, smallest)
        numbers = _fold_numbers(folds, target, _is_classifier(solver), seed)
        decisions = np.empty((len(target), len(grid)))
        for number in range(numbers.max() + 1):
            train, test = np.flatnonzero(numbers != number), np.flatnonzero(numbers == number)
            decisions[test] = _left_out(solver, columns, target, grid, train, test)
        path = _path(solver, columns, target, grid)
    if _is_classifier(solver):
        losses = ((decisions > 0) != (target[:, None] > 0)).astype(np.float64)
    else:
        losses = (decisions - target[:, None]) ** 2
    errors = losses.mean(axis=0)
    means = np.array([losses[numbers == number].mean(axis=0) for number in range(numbers.max() + 1)])
    standard_errors = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    best = int(np.argmin(errors.round(DIGITS)))  # the first of equal ones has the largest ε
    if rule == "one_standard_error":
        best = int(np.argmax(errors <= errors[best] + standard_errors[best]))
    return CrossValidatedPath(path, numbers, decisions, losses, errors, standard_errors, best, path.solver(best))


def prepared(solver: PotentialSVM, K: Any, y: npt.ArrayLike) -> tuple[PotentialSVM, Columns, npt.NDArray[np.float64]]:
    """Return the input of a path, after all checks.

    Parameters
    ----------
    solver : PSVC or PSVR
        It is not changed.
    K : matrix, shape (l, N)
        As `solver.fit` takes it.
    y : array_like, shape (l,)
        Classes, or real values.

    Returns
    -------
    solver : PSVC or PSVR
        A copy with the classes set.
    columns : Columns
        Those of K.
    target : ndarray of float64, shape (l,)
        Classes as −1 and 1.

    Raises
    ------
    ParameterError
        If `solver` is not a P-SVM, or has a parameter outside its domain.
    GramError, LabelError
        As `solver.fit` does.
    """
    if not isinstance(solver, PotentialSVM):
        raise ParameterError(f"{solver!r} is not a P-SVM", remedy="give a PSVC or a PSVR")
    solver = clone(solver)
    K, target = solver.checked_data(K, y)
    return (
        solver,
        columns_of(K, square=solver.input == "gram", cache_size=solver.cache_size),
        cast("npt.NDArray[np.float64]", target),
    )


def _is_classifier(solver: Solver) -> bool:
    """Return whether the solver learns classes."""
    return "real" not in solver.targets


def _grid(
    solver: PotentialSVM,
    columns: Columns,
    target: npt.NDArray[np.float64],
    epsilons: npt.ArrayLike | None,
    n_epsilons: int,
    smallest: float,
) -> npt.NDArray[np.float64]:
    """Return the values of ε, the largest first, in the solver's units."""
    if epsilons is None:
        check_integer("n_epsilons", n_epsilons, 2)
        check_real("smallest", smallest, 0, 1, open_low=True)
        shares = np.geomspace(1, smallest, n_epsilons)
        if solver.epsilon_scale == "max":
            return shares
        return shares * np.abs(columns.products(target - target.mean())).max()
    epsilons = np.sort(np.asarray(epsilons, dtype=np.float64).ravel())[::-1]
    if not len(epsilons):
        raise ParameterError("epsilons is empty", remedy="give at least one value")
    for epsilon in epsilons:
        check_real("epsilons", epsilon, 0)
    return epsilons


def _path(
    solver: PotentialSVM, columns: Columns, target: npt.NDArray[np.float64], grid: npt.NDArray[np.float64]
) -> Path:
    """Return the Path of one matrix."""
    intercept = float(np.mean(target))
    dual = Dual(columns, target - intercept, 0.0, float(solver.C))
    unit = dual.epsilon_max if solver.epsilon_scale == "max" else 1.0
    supports, alphas, reports, found = [], [], [], None
    for epsilon in grid:
        problem = replace(dual, epsilon=float(epsilon) * unit)
        found = minimise(problem, tol=solver.tol, max_iter=solver.max_iter, start=found)
        support = np.flatnonzero(found.alpha).astype(np.int64)
        supports.append(support)
        alphas.append(found.alpha[support])
        reports.append(
            {
                **found.report,
                "epsilon": problem.epsilon,
                "epsilon_max": dual.epsilon_max,
                "n_at_bound": int(np.sum(np.abs(found.alpha) == solver.C)),
                "constant_columns": int(np.sum(columns.scales == 0)),
            }
        )
    missed = [report["gap"] for report in reports if not report["converged"]]
    if missed:
        gaps = [gap for gap in missed if gap is not None]
        worst = f" (gap {max(gaps):.3g} at most)" if gaps else ""
        text = f"for {len(missed)} of {len(grid)} values of epsilon the P-SVM did not converge{worst}"
        warn_unconverged(text, stacklevel=3)
    return Path(grid, dual.epsilon_max, supports, alphas, columns.means, columns.scales, intercept, reports, solver)


def _left_out(
    solver: PotentialSVM,
    columns: Columns,
    target: npt.NDArray[np.float64],
    grid: npt.NDArray[np.float64],
    train: npt.NDArray[np.int64],
    test: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Return the decisions on the rows `test` of the path learned from the rows `train`."""
    if _is_classifier(solver) and len(np.unique(target[train])) < 2:
        raise LabelError(
            "a training set of the cross-validation has labels of one class only",
            remedy="choose folds with samples of both classes in at least two of them",
        )
    square = solver.input == "gram"
    path = _path(solver, columns.part(train, train if square else None), target[train], grid)
    union = np.unique(np.concatenate(path.supports))
    values = columns.values(test, train[union] if square else union) - path.means[union]
    out = np.full((len(test), len(grid)), path.intercept)
    for place, (support, alpha) in enumerate(zip(path.supports, path.alphas, strict=True)):
        out[:, place] += values[:, np.searchsorted(union, support)] @ (alpha / path.scales[support])
    return out


def _fold_numbers(
    folds: int | str | npt.ArrayLike, target: npt.NDArray[np.float64], classes: bool, seed: int
) -> npt.NDArray[np.int64]:
    """Return the part of each row, int64, numbered from 0."""
    size = len(target)
    if isinstance(folds, str):
        check_choice("folds", folds, ("leave_one_out",))
        return np.arange(size)
    if np.ndim(folds) == 0:
        check_integer("folds", folds, 2, size)
        check_integer("seed", seed, 0)
        return deal(target if classes else np.zeros(size, dtype=np.int64), int(np.asarray(folds)), seed)
    names, numbers = np.unique(np.asarray(folds), return_inverse=True)
    if len(numbers) != size:
        raise ParameterError(f"folds has {len(numbers)} rows, and K has {size}")
    if len(names) < 2:
        raise ParameterError("folds has one part only", remedy="give two parts or more")
    return numbers
