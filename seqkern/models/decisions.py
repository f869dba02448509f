"""Decisions of a model about samples, and what follows from decision values."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ModelError

if TYPE_CHECKING:
    from seqkern.solvers.base import Solver


class Decisions(NamedTuple):
    """Decisions about n samples.

    Attributes
    ----------
    decisions : ndarray of float64, shape (n,), or (n, classes) for several classes
        Binary: higher for the positive class. Real: the predicted number.
    predicted : ndarray, shape (n,)
        Class codes, int64; for real labels the numbers.
    probabilities : ndarray of float64, shape (n,), or (n, classes) for several classes, or None
        Of the positive class, or of each class; None without calibration.

    Examples
    --------
    >>> found = Decisions(np.array([-0.5, 2.0]), np.array([0, 1]), None)
    >>> found.predicted
    array([0, 1])
    """

    decisions: npt.NDArray[np.float64]
    predicted: npt.NDArray[Any]
    probabilities: npt.NDArray[np.float64] | None

    def take(self, rows: npt.NDArray[np.int64]) -> "Decisions":
        """Return the decisions about some of the samples.

        Parameters
        ----------
        rows : ndarray of int64
            Which of the n samples.

        Returns
        -------
        Decisions
        """
        probabilities = None if self.probabilities is None else self.probabilities[rows]
        return Decisions(self.decisions[rows], self.predicted[rows], probabilities)


def codes_of_decisions(kind: str, decisions: npt.NDArray[np.float64], threshold: float = 0.0) -> npt.NDArray[Any]:
    """Return the predictions from the decision values of a solver, shape (n,).

    Parameters
    ----------
    kind : {"binary", "multiclass", "real", "none"}
        The kind of labels that the solver was trained on.
    decisions : ndarray of float64, shape (n,) or (n, classes)
        Decision values of the solver.
    threshold : float, default 0
        For two classes: samples above it are positive.

    Returns
    -------
    ndarray, shape (n,)
        int64, the index into the solver's classes; for real labels the decision values themselves.

    Examples
    --------
    >>> codes_of_decisions("binary", np.array([-0.5, 2.0]))
    array([0, 1])
    """
    if kind == "real":
        return decisions
    if kind == "multiclass":
        return np.argmax(decisions, axis=1)
    return (decisions > threshold).astype(np.int64)


def check_predicts(solver: "Solver") -> None:
    """Raise ModelError for a solver that projects on components and does not predict.

    Parameters
    ----------
    solver : Solver
        Fitted or not.

    Raises
    ------
    ModelError
        If it has no `predict`.
    """
    if not hasattr(solver, "predict"):
        raise ModelError("projects on components and does not predict", remedy="use its decision values")
