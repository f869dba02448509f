"""What a model decides about samples, and what follows from decision values."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqkern.core.errors import ModelError

if TYPE_CHECKING:
    from seqkern.solvers.base import Solver


class Decisions(NamedTuple):
    """What is decided about n samples.

    Attributes
    ----------
    decisions : ndarray of float64, shape (n,), or (n, classes) for several classes
        Binary: higher for the positive class. Real: the predicted number.
    predicted : ndarray, shape (n,)
        Codes of classes, int64; of real labels the numbers.
    probabilities : ndarray of float64, shape (n,), or (n, classes) for several classes, or None
        Of the positive class, or of each; None where nothing gives any.

    Examples
    --------
    >>> found = Decisions(np.array([-0.5, 2.0]), np.array([0, 1]), None)
    >>> found.predicted
    array([0, 1])
    """

    decisions: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray | None

    def take(self, rows: np.ndarray) -> "Decisions":
        """Return what is decided about some of the samples."""
        probabilities = None if self.probabilities is None else self.probabilities[rows]
        return Decisions(self.decisions[rows], self.predicted[rows], probabilities)


def codes_of_decisions(kind: str, decisions: np.ndarray, threshold: float = 0.0) -> np.ndarray:
    """Return the predictions that follow from the decision values of a solver, shape (n,).

    Parameters
    ----------
    kind : {"binary", "multiclass", "real", "none"}
    decisions : ndarray of float64, shape (n,) or (n, classes)
    threshold : float
        Of two classes: above it a sample is positive.

    Returns
    -------
    ndarray, shape (n,)
        int64, the place of the class among the solver's; of real labels the decisions themselves.

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
    """Raise ModelError for a solver that projects on components, and predicts nothing."""
    if not hasattr(solver, "predict"):
        raise ModelError("projects on components, and predicts nothing", remedy="take its decisions")
