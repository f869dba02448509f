"""Shared by multi-class solvers built from binary classifiers: training, warm starts, reports, state."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.base import ClassSolver
from seqkern.solvers.contract import Solver
from seqkern.solvers.estimator import clone
from seqkern.solvers.feature_rows import take_rows
from seqkern.solvers.multiclass.meta_solver import MetaSolver
from seqkern.solvers.solver_specs import solver_from_state

Task: TypeAlias = tuple[npt.NDArray[np.int64], Callable[[npt.NDArray[np.int64]], npt.NDArray[Any]]]
"""Indices of the classes of a binary classifier, and the function from class indices to its labels."""


class BinaryEnsemble(MetaSolver, ClassSolver):  # type: ignore[override]  # constants of other solvers are those of the binary one
    """Base of solvers that train several binary classifiers; a subclass implements `tasks` and `_decide`.

    Attributes
    ----------
    machines_ : list of Solver
        One for each task, restricted to the columns `support_`.
    """

    targets = ("multiclass",)

    def tasks(self, classes: npt.NDArray[Any]) -> Iterator[Task]:
        """Yield the rows and labels of each binary classifier.

        Parameters
        ----------
        classes : ndarray, shape (c,)
            All classes, sorted.

        Yields
        ------
        places : ndarray of int64
            Indices in `classes` of its classes.
        code : callable
            Converts class indices, int64, into two labels; the second gets decisions above zero.
        """
        raise NotImplementedError

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the labels of one classifier do not suit the parameters of the binary solver."""
        classes, codes = np.unique(y, return_inverse=True)
        for places, code in self.tasks(classes):
            rows = np.isin(codes, places)
            labels = code(codes[rows])
            try:
                self.binary.check_labels(labels, None if groups is None else np.asarray(groups)[rows])
            except ParameterError as error:
                second = labels == np.unique(labels)[-1]
                positive, others = np.asarray(y)[rows][second][0], np.unique(np.asarray(y)[rows][~second])
                rest = others[0] if len(others) == 1 else "the rest"
                raise ParameterError(f"{positive} against {rest}: {error.problem}", remedy=error.remedy) from error

    def fit_after(
        self, previous: Solver | None, K: Any, y: npt.ArrayLike | None = None, groups: npt.ArrayLike | None = None
    ) -> Self:
        """Fit, with optional warm starts from the classifiers of `previous`. See `fit`."""
        self._starts = getattr(previous, "_trained", ()) if type(previous) is type(self) else ()
        try:
            return self.fit(K, y, groups)
        finally:
            del self._starts

    def _fit(self, K: Any, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Train the classifiers."""
        tasks = list(self.tasks(self.classes_))
        chain = hasattr(self, "_starts")  # sequential fits
        starts = self._starts if chain and len(self._starts) == len(tasks) else [None] * len(tasks)
        records = self.input == "gram" or isinstance(K, KernelOperator)
        self._trained, columns = [], []
        for (places, code), start in zip(tasks, starts, strict=True):
            rows = np.flatnonzero(np.isin(y, places))
            own_groups = None if groups is None else np.asarray(groups)[rows]
            classifier, data = clone(self.binary), (self._of(K, rows, len(y)), code(y[rows]), own_groups)
            self._trained.append(classifier.fit_after(start, *data) if chain else classifier.fit(*data))
            columns.append(rows[classifier.support_] if records else classifier.support_)
        self.support_ = np.unique(np.concatenate(columns))
        size = len(self.support_)
        self.machines_ = [
            classifier.renumber(np.searchsorted(self.support_, own), size)
            for classifier, own in zip(self._trained, columns, strict=True)
        ]
        return summary([classifier.report_ for classifier in self.machines_])

    def _of(self, K: Any, rows: npt.NDArray[np.int64], n: int) -> Any:
        """Return the input of the binary solver for some of the n records; `K` itself for all."""
        if len(rows) == n:
            return K
        if self.input == "gram" and not isinstance(K, KernelOperator):
            return K[np.ix_(rows, rows)]
        return take_rows(K, rows)

    def __getstate__(self) -> dict[str, Any]:
        """Drop the warm-start data."""
        return {key: value for key, value in vars(self).items() if key not in ("_trained", "_starts")}

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the states of the classifiers."""
        headers, arrays = [], {}
        for number, classifier in enumerate(self.machines_):
            header, own = classifier.state()
            headers.append(header)
            arrays.update(nest(str(number), own))
        return {"machines": headers}, arrays

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.machines_ = [
            solver_from_state(one, unnest(str(number), arrays)) for number, one in enumerate(header["machines"])
        ]


def against_rest(place: int, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return labels of one class against the others.

    Parameters
    ----------
    place : int
        Index of the class.
    codes : ndarray of int64, shape (n,)
        Class indices of the rows.

    Returns
    -------
    ndarray of int64, shape (n,)
        1 for the rows of the class, −1 for the others.
    """
    return np.where(codes == place, 1, -1)


def summary(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the joint report of several classifiers: the worst of each value, and sums of iterations and objectives.

    Parameters
    ----------
    reports : sequence of dict
        `report_` of each classifier.

    Returns
    -------
    dict
        ``residual``, ``gap`` and ``constant_columns`` are the largest; ``iterations``, ``objective`` and
        ``inner_not_converged`` are sums; ``converged`` holds only if all converged; ``machines`` (int) counts them.
    """
    worst = {
        key: max(report[key] for report in reports if report.get(key) is not None)
        for key in ("constant_columns", "gap")
        if any(report.get(key) is not None for report in reports)
    }
    inner = [report["inner_not_converged"] for report in reports if "inner_not_converged" in report]
    remarks = [report["remark"] for report in reports if "remark" in report]
    return {
        **worst,
        **({"remark": remarks[0]} if remarks else {}),
        **({"inner_not_converged": sum(inner)} if inner else {}),
        "converged": all(report["converged"] for report in reports),
        "iterations": sum(report["iterations"] for report in reports),
        "residual": max(report["residual"] for report in reports),
        "objective": sum(report["objective"] for report in reports),
        "machines": len(reports),
    }


def squashed(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return s / (3 (1 + |s|)), of the order of the numbers s but within ±1/3, so that it only breaks ties.

    Parameters
    ----------
    values : ndarray of float64
        The numbers s.

    Returns
    -------
    ndarray of float64, of the shape of `values`
    """
    return values / (3 * (1 + np.abs(values)))
