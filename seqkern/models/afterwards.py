"""What follows the choice of a solver: probabilities and the threshold of the positive class, on held-out decisions.

Which class is predicted is defined here once:

1. A threshold rule that was asked for wins: positive is what lies above the threshold.
2. Else, with probabilities, positive is what has a probability above 0.5.
3. Else, after a search, or for classes of unequal size, the threshold with the best balanced accuracy is fitted; or
   with the best accuracy or MCC, if the hyperparameters were chosen by one of these. A search has held-out decisions
   anyway, and what it chooses by their ranking may have all of them on one side of 0.
4. Else positive is a decision above 0; so it is with the rule ``none``, for a solver that sets its own threshold, and
   if there are too few samples to hold some out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SeqkernError
from seqkern.evaluation.balance import unequal
from seqkern.evaluation.calibration import IsotonicCalibration, SigmoidCalibration
from seqkern.evaluation.held_out import check_afterwards, fit_afterwards, held_out_decisions
from seqkern.models.decisions import BY_PROBABILITY, Cut
from seqkern.solvers.thresholds import PLAIN, SCORES, Threshold

if TYPE_CHECKING:
    from seqkern.evaluation.selection import Choice, MakeSolver, Pair
    from seqkern.models.search import Search
    from seqkern.sequences.labels import Labels


@dataclass(frozen=True)
class Afterwards:
    """What was fitted to held-out decisions.

    Attributes
    ----------
    calibration : SigmoidCalibration, IsotonicCalibration or None
        The calibration of decision values.
    threshold : Threshold or None
        The threshold of the positive class; None: see `by_probability`, else 0.
    by_probability : bool
        Whether the positive class is predicted where its probability is above 0.5.
    unset : str or None
        Why the threshold is 0 where it would be fitted by default.
    n_fits, not_converged : int
        Number of additional fits, and of those that did not converge.

    Examples
    --------
    >>> Afterwards().cut.codes(np.array([-0.5, 2.0]))
    array([0, 1])
    """

    calibration: SigmoidCalibration | IsotonicCalibration | None = None
    threshold: Threshold | None = None
    by_probability: bool = False
    unset: str | None = None
    n_fits: int = 0
    not_converged: int = 0

    @property
    def cut(self) -> Cut:
        """What makes a decision positive."""
        return Cut(self.threshold, self.calibration if self.by_probability else None)

    def record(self) -> dict[str, Any]:
        """Return the entries of a model's record."""
        fits = {"calibration": self.calibration, "threshold": self.threshold}
        found: dict[str, Any] = {name: fit.record() for name, fit in fits.items() if fit is not None}
        if self.by_probability:
            found["predicted_by"] = BY_PROBABILITY
        return found if self.unset is None else found | {"threshold_unset": self.unset}


def default_rule(labels: Labels, choice: Choice, make_solver: MakeSolver, metric: str = "auto") -> str | None:
    """Return the threshold rule where none was asked for; None for the decision 0.

    Parameters
    ----------
    labels : Labels
        Labels of the training set.
    choice : Choice
        With the chosen solver.
    make_solver : callable
        As for `held_out_decisions`.
    metric : str
        By which the choice was made.

    Returns
    -------
    str or None
    """
    searched = choice.scores.shape[1] > 0
    if not searched and not unequal(labels):
        return None
    if make_solver(choice.spec, labels.kind).sets_threshold:
        return None
    if isinstance(choice.spec.get("class_weight"), Mapping):  # these weights say what errors cost
        return None
    return metric if metric in SCORES else SCORES[0]


def fit_after_choice(
    pair: Pair,
    labels: Labels,
    choice: Choice,
    make_solver: MakeSolver,
    search: Search,
    *,
    calibration: str | None = None,
    threshold: str | None = None,
) -> Afterwards:
    """Return calibration and threshold, fitted to held-out decisions: those of the inner loop, if there was one.

    Parameters
    ----------
    pair, labels, make_solver : object
        As for `held_out_decisions`.
    choice : Choice
        With the chosen solver.
    search : Search
        The folds.
    calibration, threshold : str, optional
        As asked for.

    Returns
    -------
    Afterwards

    Raises
    ------
    LabelError, FoldError
        As for `held_out_decisions`, if something was asked for: a threshold by default is never an error.
    ParameterError
        As for `seqkern.evaluation.held_out.fit_afterwards`.
    """
    check_afterwards(calibration, threshold)
    if labels.kind != "binary":
        return Afterwards()
    asked = calibration is not None or threshold not in (None, PLAIN)
    rule = threshold
    if threshold is None and calibration is None:
        rule = default_rule(labels, choice, make_solver, search.metric)
    if calibration is None and rule in (None, PLAIN):
        return Afterwards()
    by_probability = calibration is not None and threshold is None
    try:
        decisions, n_folds, n_fits, failed = _held_out(pair, labels, choice, make_solver, search)
        fits = fit_afterwards(decisions, labels.signs() > 0, n_folds, calibration=calibration, threshold=rule)
    except SeqkernError as error:
        if asked:
            raise
        return Afterwards(unset=error.problem)
    return Afterwards(*fits, by_probability, n_fits=n_fits, not_converged=failed)


def _held_out(
    pair: Pair, labels: Labels, choice: Choice, make_solver: MakeSolver, search: Search
) -> tuple[npt.NDArray[np.float64], int, int, int]:
    """Return the held-out decisions, the number of their folds, and the number of fits and of those not converged."""
    if choice.decisions is not None:
        return choice.decisions, choice.n_folds, 0, 0
    decisions, n_folds, failed = held_out_decisions(
        pair, labels, choice.spec, make_solver, folds=search.folds, seed=search.seed
    )
    return decisions, n_folds, n_folds, failed
