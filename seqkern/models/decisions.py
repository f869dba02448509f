"""What a model decides about samples, and what follows from decision values."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

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

    decisions: npt.NDArray[np.float64]
    predicted: npt.NDArray[Any]
    probabilities: npt.NDArray[np.float64] | None

    def take(self, rows: npt.NDArray[np.int64]) -> "Decisions":
        """Return what is decided about some of the samples.

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
    """Return the predictions that follow from the decision values of a solver, shape (n,).

    Parameters
    ----------
    kind : {"binary", "multiclass", "real", "none"}
        Of the labels that the solver was trained on.
    decisions : ndarray of float64, shape (n,) or (n, classes)
        Of the solver.
    threshold : float, default 0
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
    """Raise ModelError for a solver that projects on components, and predicts nothing.

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
        raise ModelError("projects on components, and predicts nothing", remedy="take its decisions")
