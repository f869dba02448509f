"""The ε-path of a P-SVM of a study: the weights of all columns for decreasing ε, as rows of a table."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.convergence import ignoring_unconverged
from seqkern.models.feature_source import FeatureSource
from seqkern.models.fitted import FittedMethod
from seqkern.solvers.base import ConstantColumnWarning

MOST_COLUMNS = 300
"""Columns up to which a path is computed: a figure cannot show more."""
MOST_ROWS = 3000
N_EPSILONS, SMALLEST = 25, 0.01


def path_rows(fitted: FittedMethod) -> list[dict[str, Any]]:
    """Return the ε-path on the training set, if a P-SVM was fitted to a matrix of few columns.

    Parameters
    ----------
    fitted : FittedMethod
        The method, fitted on a training set.

    Returns
    -------
    list of dict
        For each ε, from the largest on, and each column that is selected at any: ``epsilon``, in units of ε_max;
        ``feature``, its name, of a Gram matrix the sample's id; ``column``, counted from 1; ``weight``, its α; and
        ``used``, the ε of the fit in the same units. Empty for other solvers, and for larger matrices.
    """
    # imported here: most methods need neither
    from seqkern.solvers.psvm.psvm import PotentialSVM
    from seqkern.solvers.psvm.psvm_path import psvm_path

    solver, K = fitted.solver, fitted.part.train
    shape = getattr(K, "shape", (0, 0))
    small = len(shape) == 2 and shape[0] <= MOST_ROWS and 0 < shape[1] <= MOST_COLUMNS
    if not (isinstance(solver, PotentialSVM) and small and hasattr(K, "dtype")):
        return []
    largest = float(solver.report_["epsilon_max"])
    if largest <= 0:
        return []
    used = float(solver.report_["epsilon"]) / largest
    smallest = used if 0 < used < SMALLEST else SMALLEST
    # the fit itself has warned already, and what stops early is hardly visible
    with ignoring_unconverged(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        path = psvm_path(solver, K, fitted.y, n_epsilons=N_EPSILONS, smallest=smallest)  # type: ignore[arg-type]
    columns = np.unique(np.concatenate(path.supports)).astype(np.int64)
    names = _names(fitted, columns)
    rows = []
    unit = largest if solver.epsilon_scale == "absolute" else 1.0
    for epsilon, support, alpha in zip(path.epsilons / unit, path.supports, path.alphas, strict=True):
        weights = np.zeros(len(columns))
        weights[np.searchsorted(columns, support)] = alpha
        rows += [
            {"epsilon": float(epsilon), "feature": name, "column": column, "weight": weight, "used": used}
            for name, column, weight in zip(names, (columns + 1).tolist(), weights.tolist(), strict=True)
        ]
    return rows


def _names(fitted: FittedMethod, columns: npt.NDArray[np.int64]) -> list[str]:
    """Return the names of columns: features, or training samples."""
    if isinstance(fitted.source, FeatureSource):
        return fitted.source.names(columns, fitted.rows, fitted.y)
    return [str(fitted.labels.ids[j]) for j in columns]
