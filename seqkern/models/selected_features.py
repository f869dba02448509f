"""The features that a fitted solver selected, and the coefficients of all of them, as rows of tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.fold_tables import SIGNIFICANCE_COLUMNS
from seqkern.kernels.explicit import known_names
from seqkern.solvers.kinds import ClassSolver
from seqkern.solvers.psvm.significance_test import SignificanceTest

if TYPE_CHECKING:
    from seqkern.models.feature_source import FeatureSource
    from seqkern.solvers.base import Solver

MOST_LISTED = 2000
"""Maximum number of features listed for a solver that does not select, if they have names."""


def chosen_features(
    source: "FeatureSource",
    solver: "Solver",
    train: npt.NDArray[np.int64],
    y_train: npt.NDArray[Any] | None,
    classes: Sequence[str] = (),
    significance: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return the features that a fitted solver selected, as rows of a table.

    Parameters
    ----------
    source : FeatureSource
        The source of the features.
    solver : Solver
        Fitted on the training set.
    train : ndarray of int64
        The rows of the training set.
    y_train : ndarray
        Their labels.
    classes : sequence of str, optional
        The names of the classes whose indices are the labels.
    significance : mapping, optional
        As from `significance_record`.

    Returns
    -------
    list of dict
        As from `feature_rows`. For a solver that does not select: all, if they are not too many and have weights and
        names; else none.
    """
    columns, weights = ranked_features(solver)
    names = None
    if not solver.selects:
        if not 0 < len(columns) <= MOST_LISTED or weights[0] is None:
            return []
        names = known_names(source.fitted(train, y_train), source.X)
        if names is None:
            return []
    names = source.names(columns, train, y_train) if names is None else [names[j] for j in columns]
    several = solver.weights_by_class() is not None
    return feature_rows(
        solver,
        names,
        columns,
        [classes[int(code)] for code in cast(ClassSolver, solver).classes_] if several else (),
        significance,
    )


def significance_record(
    test: SignificanceTest, solver: "Solver", K: Any, y: npt.NDArray[Any] | None, seed: int
) -> dict[str, Any]:
    """Return the p-values of the features that a fitted P-SVM selected, as JSON.

    Parameters
    ----------
    test : SignificanceTest
        The statistic, and the number of permutations.
    solver : Solver
        Fitted.
    K : ndarray or csr_array, shape (l, N)
        The features of the training set.
    y : ndarray
        Their labels.
    seed : int
        Seed of the permutations.

    Returns
    -------
    dict
        The test; ``n_tested``; and lists of the same length: ``columns`` (from 0), ``p``, and ``p_corrected`` for
        all tested features by the maximum statistic.
    """
    # imported here: models without the test do not need it
    from seqkern.solvers.psvm.psvm_significance import psvm_significance

    how: dict[str, Any] = {"statistic": test.statistic, "n_permutations": test.permutations, "seed": seed}
    found = psvm_significance(cast(Any, solver), K, cast(Any, y), **how)
    lists = {"columns": found.columns.tolist(), "p": found.p.tolist(), "p_corrected": found.max_statistic.tolist()}
    return {**test.to_dict(), "n_tested": found.n_tested, **lists}


def interval_rows(
    source: "FeatureSource",
    solver: "Solver",
    train: npt.NDArray[np.int64],
    y_train: npt.NDArray[Any] | None,
    classes: Sequence[str],
) -> list[dict[str, Any]]:
    """Return the confidence intervals of a fitted solver for the coefficients of the features, as a table.

    Parameters
    ----------
    source, solver, train, y_train, classes : object
        As for `chosen_features`.

    Returns
    -------
    list of dict
        Empty for a solver without intervals; else for each class, or the second of two, and each feature: ``class``,
        ``feature``, ``column`` (from 1), ``selected`` (1 or 0), ``weight``, ``low`` and ``high``, as if the selection
        had been known before, and ``full_weight``, ``full_low`` and ``full_high``, with all features.
    """
    found = solver.intervals()
    if found is None:
        return []
    names = source.names(np.arange(found.shape[1]), train, y_train)
    owners = classes[1:] if len(found) == 1 else [classes[int(code)] for code in cast(ClassSolver, solver).classes_]
    keys = ("weight", "low", "high", "full_weight", "full_low", "full_high")
    return [
        {"class": owner, "feature": name, "column": column, "selected": int(np.isfinite(own[0]))}
        | {key: None if np.isnan(value) else value for key, value in zip(keys, own.tolist(), strict=True)}
        for owner, rows in zip(owners, found, strict=True)
        for column, (name, own) in enumerate(zip(names, rows, strict=True), start=1)
    ]


def feature_rows(
    solver: "Solver",
    names: Sequence[str],
    columns: npt.NDArray[np.int64],
    classes: Sequence[str] = (),
    significance: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return the features that a fitted solver selected, as rows of a table.

    Parameters
    ----------
    solver : Solver
        Fitted on features.
    names : sequence of str
        Names of the features, as from `ranked_features`.
    columns : ndarray of int64
        Their columns, from 0.
    classes : sequence of str, optional
        The names of the classes, for a solver of `weights_by_class`.
    significance : mapping, optional
        As from `significance_record`; the rows then have ``p`` and ``p_corrected``.

    Returns
    -------
    list of dict
        ``feature`` (its name), ``column`` (counted from 1), ``rank`` (1 for the best), ``weight`` (see
        `Solver.selected_weights`) and ``class``, best first: by absolute weight, or in the order of a
        solver that ranks features itself. With weights by class there is one row for each class in turn;
        else ``class`` is None.
    """
    weights = ranked_features(solver)[1]
    tested = {}
    if significance is not None:
        lists = (significance[key] for key in ("columns", *SIGNIFICANCE_COLUMNS))
        tested = {column: dict(zip(SIGNIFICANCE_COLUMNS, p, strict=True)) for column, *p in zip(*lists, strict=True)}
    return [
        {"feature": name, "column": column, "rank": rank, "weight": weight, "class": label} | tested.get(column - 1, {})
        for rank, (name, column, own) in enumerate(zip(names, (columns + 1).tolist(), weights, strict=True), start=1)
        for label, weight in (zip(classes, own, strict=True) if isinstance(own, list) else [(None, own)])
    ]


def ranked_features(solver: "Solver") -> tuple[npt.NDArray[np.int64], list[Any]]:
    """Return the columns that a fitted solver selected, best first, and their weights.

    Parameters
    ----------
    solver : Solver
        Fitted on features.

    Returns
    -------
    columns : ndarray of int64, shape (m,)
        Counted from 0.
    weights : list
        A number for each column, None without weights, or a list of one for each class.
    """
    columns = np.asarray(solver.selected_columns(), dtype=np.int64)
    weights, by_class = solver.selected_weights(), solver.weights_by_class()
    if by_class is not None:
        order = np.argsort(-np.abs(by_class).max(axis=0), kind="stable")
        return columns[order], by_class[:, order].T.tolist()
    if weights is None:
        return columns, [None] * len(columns)
    if solver.linear() is None:  # its own ranking precedes the weights
        return columns, weights.tolist()
    order = np.argsort(-np.abs(weights), kind="stable")
    return columns[order], weights[order].tolist()
