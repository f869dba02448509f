"""Decisions of a model about samples, and what follows from decision values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ModelError

if TYPE_CHECKING:
    from seqkern.evaluation.calibration import IsotonicCalibration, SigmoidCalibration
    from seqkern.solvers.base import Solver
    from seqkern.solvers.thresholds import Threshold
    from seqkern.solvers.variances import Variances

BY_PROBABILITY = "probability"
"""In the record of a model whose predictions follow its probabilities."""


@dataclass(frozen=True)
class Cut:
    """What makes a decision about two classes positive: a threshold, a probability above 0.5, or a decision above 0.

    Attributes
    ----------
    threshold : Threshold or None
        Decisions above it are positive.
    calibration : SigmoidCalibration, IsotonicCalibration or None
        Without a threshold, decisions with a probability above 0.5 are positive.

    Examples
    --------
    >>> Cut().codes(np.array([-0.5, 2.0])), Cut().words
    (array([0, 1]), 'decision values above zero')
    """

    threshold: "Threshold | None" = None
    calibration: "SigmoidCalibration | IsotonicCalibration | None" = None

    def codes(self, decisions: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return 1 for positive decisions, else 0.

        Parameters
        ----------
        decisions : ndarray of float64, shape (n,)
            Of the solver.

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        if self.threshold is None and self.calibration is not None:
            return (self.calibration.probabilities(decisions) > 0.5).astype(np.int64)
        return (decisions > (0.0 if self.threshold is None else self.threshold.value)).astype(np.int64)

    @property
    def words(self) -> str:
        """What is positive, in words."""
        if self.threshold is not None:
            return f"decision values above {self.threshold.value:.10g}, the model's threshold for {self.threshold.rule}"
        return "decision values above zero" if self.calibration is None else "probabilities above 0.5"


class Decisions(NamedTuple):
    """Decisions about n samples.

    Attributes
    ----------
    decisions : ndarray of float64, shape (n,), or (n, classes) for several classes
        Binary: higher for the positive class. Real: the predicted number.
    predicted : ndarray, shape (n,)
        Class codes, int64; for real labels the numbers.
    probabilities : ndarray of float64, shape (n,), or (n, classes) for several classes, or None
        Of the positive class, or of each class; None without calibration, unless the solver gives them.
    variances : Variances or None
        Of the decisions; None unless the solver gives them.

    Examples
    --------
    >>> found = Decisions(np.array([-0.5, 2.0]), np.array([0, 1]), None)
    >>> found.predicted
    array([0, 1])
    """

    decisions: npt.NDArray[np.float64]
    predicted: npt.NDArray[Any]
    probabilities: npt.NDArray[np.float64] | None
    variances: "Variances | None" = None

    @property
    def deviations(self) -> npt.NDArray[np.float64] | None:
        """Standard deviations of observations with the predicted numbers, float64 (n,); None without variances."""
        return None if self.variances is None else np.sqrt(self.variances.observed)

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
        variances = None if self.variances is None else self.variances.take(rows)
        return Decisions(self.decisions[rows], self.predicted[rows], probabilities, variances)


def check_finite(decisions: npt.NDArray[np.float64], ids: Sequence[str] | npt.NDArray[Any]) -> None:
    """Raise ModelError for the first sample whose decision is not a finite number.

    Parameters
    ----------
    decisions : ndarray of float64, shape (n,) or (n, classes)
        Of a model.
    ids : sequence of str, length n
        Ids of the samples.

    Raises
    ------
    ModelError
        With the record.
    """
    if np.isfinite(decisions).all():
        return
    values = decisions.reshape(len(decisions), -1)
    row, column = np.unravel_index(int(np.argmin(np.isfinite(values))), values.shape)
    raise ModelError(
        f"the decision is {values[row, column]:g}: the model's weights, or the values of the record, are too large",
        record=str(ids[int(row)]),
        remedy="train the model again, or remove the record",
    )


def codes_of_decisions(kind: str, decisions: npt.NDArray[np.float64], cut: Cut | None = None) -> npt.NDArray[Any]:
    """Return the predictions from the decision values of a solver, shape (n,).

    Parameters
    ----------
    kind : {"binary", "multiclass", "real", "none"}
        The kind of labels that the solver was trained on.
    decisions : ndarray of float64, shape (n,) or (n, classes)
        Decision values of the solver.
    cut : Cut, optional
        For two classes, what is positive; default: decisions above 0.

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
    return (Cut() if cut is None else cut).codes(decisions)


def find_probabilities(
    solver: "Solver",
    calibration: "SigmoidCalibration | IsotonicCalibration | None",
    decisions: npt.NDArray[np.float64],
    variances: "Variances | None",
) -> npt.NDArray[np.float64] | None:
    """Return the probabilities of a calibration; without one, those of a solver with variances, or None.

    Parameters
    ----------
    solver : Solver
        Fitted.
    calibration : SigmoidCalibration, IsotonicCalibration or None
        Of its decision values.
    decisions : ndarray of float64, shape (n,) or (n, classes)
        Its decision values.
    variances : Variances or None
        Theirs.

    Returns
    -------
    ndarray of float64, shape (n,), or None
        Of the positive class.
    """
    if calibration is not None:
        return calibration.probabilities(decisions)
    if variances is None:
        return None
    own = solver.probabilities(decisions, variances)
    return None if own is None else np.ascontiguousarray(own[:, 1])


def cut_of_record(
    record: Mapping[str, Any],
    threshold: "Threshold | None",
    calibration: "SigmoidCalibration | IsotonicCalibration | None",
) -> Cut:
    """Return what makes a decision of a model positive.

    Parameters
    ----------
    record : mapping
        Of the model.
    threshold, calibration : Threshold, SigmoidCalibration or IsotonicCalibration, or None
        Its own.

    Returns
    -------
    Cut
    """
    return Cut(threshold, calibration if record.get("predicted_by") == BY_PROBABILITY else None)


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
