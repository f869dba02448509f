"""The inner loop: choose a solver's hyperparameters, and one of several kernels, on a training set only.

Kernel values come from a function of row numbers, so that a kernel with fitting is fitted on
each inner training set, and nothing outside the training set is accessible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice, check_integer
from seqkern.core.errors import FoldError, ParameterError, unknown_name
from seqkern.evaluation import metrics, ranking
from seqkern.evaluation.candidates import Candidate
from seqkern.evaluation.leave_one_out import BoundTrials, check_bound, whole_part
from seqkern.evaluation.refinement import refine
from seqkern.evaluation.trials import KEPT_BYTES, Finished, Trials, pair_resolution
from seqkern.folds.splitters import deal
from seqkern.sequences.labels import Labels
from seqkern.solvers.bound_names import BOUNDS
from seqkern.solvers.free_parameters import Limits

Pair = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any]], tuple[Any, Any]]
"""``pair(train, test, y_train)`` returns the input of a solver for training and for testing."""
MakeSolver = Callable[[dict[str, Any], str], Any]
"""``make_solver(spec, kind)`` returns a new solver; its methods besides `fit` depend on the kind of labels."""
Measure = Callable[[npt.NDArray[Any], npt.NDArray[np.float64], npt.NDArray[Any]], float]
"""A score of labels, decision values and predictions; larger is better."""

AUTO = {"binary": "auc", "multiclass": "macro_auc", "real": "r2"}


def _on_decisions(function: Callable[..., float]) -> Measure:
    """Return the measure as a function of decision values."""
    return lambda y, decisions, predicted: function(y, decisions)


def _on_predictions(function: Callable[..., float]) -> Measure:
    """Return the measure as a function of predictions."""
    return lambda y, decisions, predicted: function(y, predicted)


def _no_folds(y: npt.NDArray[Any], decisions: npt.NDArray[np.float64], predicted: npt.NDArray[Any]) -> float:
    """Return NaN: the place of a bound among the measures, see `BoundTrials`."""
    return math.nan


_MACRO_AUC = _on_decisions(metrics.macro_auc)
_CLASSES: dict[str, Measure] = {
    "balanced_accuracy": _on_predictions(metrics.balanced_accuracy),
    "mcc": _on_predictions(metrics.matthews_correlation),
    "accuracy": _on_predictions(metrics.accuracy),
}
# for each kind of labels: name → function of (labels, decisions, predictions); larger is better
METRICS: dict[str, dict[str, Measure]] = {
    "binary": {
        "auc": _on_decisions(ranking.roc_auc),
        "roc50": _on_decisions(ranking.roc_n),
        **_CLASSES,
    },
    "multiclass": {
        "auc": _MACRO_AUC,
        "macro_auc": _MACRO_AUC,
        **_CLASSES,
        # other names of accuracy for three or eight states of residues
        "q3": _CLASSES["accuracy"],
        "q8": _CLASSES["accuracy"],
    },
    "real": {
        "r2": _on_predictions(metrics.r2),
        "rmse": lambda y, decisions, predicted: -metrics.rmse(y, predicted),
    },
}
# What decides between equally good candidates that are equally simple.
TIES: dict[str, tuple[str, ...]] = {
    "binary": ("auc", "balanced_accuracy"),
    "multiclass": ("macro_auc", "balanced_accuracy"),
    "real": (),
}


@dataclass(frozen=True, eq=False)
class Choice:
    """The choice of the inner loop.

    Attributes
    ----------
    kernel : str or None
        The name of the chosen kernel.
    spec : dict
        The chosen solver specification.
    score : float
        Their mean score over the inner folds; NaN if there was only one candidate.
    candidates : list of (str, dict)
        All candidates: the name of a kernel and a solver specification.
    scores : ndarray of float64, shape (n_candidates, n_folds)
        The score of each on each inner fold; no columns if there was nothing to choose.
    not_converged : int
        Number of fits of the inner folds, including nested ones, that did not converge.
    n_fits : int
        Number of fits of the inner folds.
    worst_gap : float or None
        The largest gap among those that did not converge, including nested fits.
    decisions : ndarray of float64, shape (n,), or None
        The chosen candidate's decision about each sample, by the classifier of the inner fold without it; NaN
        where there is none. None unless the labels are binary and there was something to choose.
    n_folds : int
        Number of inner folds, including those that could not be scored.
    tied : list of int
        The candidates whose score equals the best, as indices.

    Examples
    --------
    >>> import numpy as np
    >>> candidates = [("spectrum", {"solver": "csvc", "C": 1}), ("spectrum", {"solver": "csvc", "C": 10})]
    >>> choice = Choice(*candidates[1], 0.92, candidates, np.array([[0.85, 0.89], [0.91, 0.93]]))
    >>> choice.place, choice.spec["C"]
    (1, 10)
    """

    kernel: Any
    spec: dict[str, Any]
    score: float
    candidates: list[Candidate]
    scores: npt.NDArray[np.float64]
    not_converged: int = 0
    n_fits: int = 0
    worst_gap: float | None = None
    decisions: npt.NDArray[np.float64] | None = None
    n_folds: int = 0
    tied: list[int] = field(default_factory=list)

    @property
    def place(self) -> int:
        """The index of the chosen candidate."""
        return self.candidates.index((self.kernel, self.spec))


RULES = ("best", "one_standard_error")
"""The rule of choice: see `select`."""


def select(
    pairs: Mapping[str, Pair],
    labels: Labels,
    candidates: Sequence[Candidate] | Sequence[dict[str, Any]],
    make_solver: MakeSolver,
    *,
    folds: int = 3,
    metric: str = "auto",
    seed: int = 0,
    groups: npt.ArrayLike | None = None,
    rule: str = "best",
    limits: Sequence[Limits] = (),
    finished: Finished | None = None,
    kept_bytes: int = KEPT_BYTES,
) -> Choice:
    """Choose among kernels and solver specifications by cross-validation within a training set.

    Inner folds are stratified, and keep groups together if there are any. With a development part (`Labels.dev`) there
    is one fold: it is what candidates are scored on, and the rest is what they are fitted to. A class with fewer
    members (or groups) than `folds` reduces their number, to at least two. An inner fold is skipped if a missing class
    prevents training or scoring.

    Of candidates with equal scores the simplest wins: the one whose solver has the smallest `complexity`; then the best
    by the metrics of `TIES`, in order, then the first. One that predicts a single class loses against others. Scores
    are equal if they differ by at most a ten-thousandth, or AUCs by one pair of samples in one fold: the tolerance of a
    fit can do as much.

    The rule ``one_standard_error`` (Breiman et al., Classification and Regression Trees, 1984) accepts a slightly lower
    score for simplicity: of the candidates with the best one's kernel and a mean less than one standard error below
    the best mean, the simplest is chosen. The standard error is that of the best mean over the inner folds.

    Parameters
    ----------
    pairs : mapping of str to callable
        For each kernel, ``pair(train, valid, y_train)`` returns ``(K_train, K_valid)``: kernel values of the
        inner training rows among themselves and of the validation rows against them, or an Implicit of each. Rows
        are indices into the training set.
    labels : Labels
        Labels of the training set.
    candidates : sequence of (str, dict), or sequence of dict
        The name of a kernel and a specification for `make_solver`; a bare specification is tried with every kernel.
    make_solver : callable
        ``make_solver(spec, kind)`` returns a new solver.
    folds : int, default 3
        Maximum number of inner folds.
    metric : str, default "auto"
        ``auto`` is auc (several classes: macro_auc, real labels: r2); else one of `METRICS` for the labels, or an
        estimate of the leave-one-out error, ``span``, ``xi_alpha`` or ``radius_margin``: then each candidate is fitted
        once, to the whole training set, and scored by the negative of its estimate. There are no folds.
    seed : int, default 0
        Seed of the folds.
    groups : array_like, shape (n,), optional
        Samples to keep together share a group; default: `labels.groups`; solvers that split their training set also
        get them.
    rule : {"best", "one_standard_error"}
        The rule of choice.
    limits : sequence of Limits, optional
        Parameters that are refined around the best of `candidates`, see `seqkern.evaluation.refinement`.
    finished : Finished, optional
        Keeps finished fits, for a run after one that was killed.
    kept_bytes : int
        Matrices of all inner folds that are kept for a refinement; larger ones are computed again.

    Returns
    -------
    Choice

    Raises
    ------
    ParameterError
        If there is no kernel or no specification, or the metric does not match the labels.
    FoldError
        If a class has only one member (or group), or no inner fold can be scored.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.solvers import make_solver
    >>> x = np.array([0.1, 0.2, 0.4, 0.8, 1.0, 0.9, 1.1, 1.4, 1.7, 0.7])
    >>> K = np.outer(x, x) + 1
    >>> labels = make_labels(list("abcdefghij"), ["decoy"] * 5 + ["donor"] * 5, positive="donor")
    >>> pairs = {"linear": lambda train, valid, y: (K[np.ix_(train, train)], K[np.ix_(valid, train)])}
    >>> choice = select(pairs, labels, [{"solver": "csvc", "C": C} for C in (0.1, 10)], make_solver, seed=1)
    >>> choice.spec["C"], choice.scores.shape
    (0.1, (2, 3))
    """
    candidates = _with_kernels(candidates, list(pairs))
    if not candidates:
        raise ParameterError("no solver to choose from", remedy="give at least one")
    by_bound = metric in BOUNDS
    if by_bound:
        check_bound(metric, labels.kind, [make_solver(spec, labels.kind) for _, spec in candidates])
    names = dict.fromkeys([AUTO[labels.kind] if metric == "auto" else metric, *TIES[labels.kind]])
    measures = {name: _metric(name, labels.kind) for name in names}
    check_integer("inner folds", folds, 2)
    check_integer("seed", seed, 0)
    check_choice("rule", rule, RULES)
    if len(candidates) == 1:
        return Choice(*candidates[0], math.nan, candidates, np.empty((1, 0)))
    groups = labels.groups if groups is None else groups
    parts = whole_part(len(labels)) if by_bound else list(inner_folds(labels, folds, seed, groups))
    trials = (BoundTrials if by_bound else Trials)(
        pairs,
        labels,
        make_solver,
        parts,
        measures,
        groups=None if groups is None else np.asarray(groups),
        resolution=pair_resolution(labels, parts) if next(iter(measures)) == "auc" and labels.kind == "binary" else 0.0,
        refines=bool(limits),
        finished=finished,
        kept_bytes=kept_bytes,
    )
    trials.add(candidates)
    if not trials.usable.any():
        raise FoldError(
            "no inner fold can be scored",
            remedy="give more samples, reduce the inner folds, or choose another inner metric",
        )
    best = refine(trials, limits)
    if rule == "one_standard_error":
        error = standard_error(trials.scores()[0, best])
        kernel = trials.candidates[best][0]
        best = trials.simplest([c for c in trials.tied(error) if trials.candidates[c][0] == kernel])
    return Choice(
        *trials.candidates[best],
        float(trials.means()[0, best]),
        trials.candidates,
        trials.scores()[0],
        trials.not_converged,
        trials.n_fits,
        max(trials.gaps, default=None),
        trials.decisions(best),
        len(parts),
        trials.tied(),
    )


def standard_error(scores: npt.NDArray[np.float64]) -> float:
    """Return the standard error of the mean of some scores.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        Such as those of the inner folds.

    Returns
    -------
    float
        0 for a single score.
    """
    return float(np.std(scores, ddof=1) / math.sqrt(len(scores))) if len(scores) > 1 else 0.0


def _with_kernels(
    candidates: Sequence[Candidate] | Sequence[dict[str, Any]], kernels: Sequence[str]
) -> list[Candidate]:
    """Return candidates as pairs of a kernel's name and a specification, grouped by kernel."""
    listed: list[Any] = list(candidates)
    if all(isinstance(candidate, dict) for candidate in listed):
        return [(kernel, spec) for kernel in kernels for spec in listed]
    return listed


def inner_folds(
    labels: Labels, folds: int, seed: int, groups: npt.ArrayLike | None = None
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Return the inner folds of a training set; one with a development part is divided once, into the rest and that.

    Folds whose training set lacks a class are skipped. Samples without a label are in every training part, and in no
    validation part.

    Parameters
    ----------
    labels : Labels
        Labels of the n samples of the training set.
    folds : int
        Maximum number: a class with fewer members (or groups) reduces it.
    seed : int
        Seed of the split.
    groups : array_like, shape (n,), optional
        Samples of one group stay in one fold.

    Yields
    ------
    train, valid : ndarray of int64
        Rows within the training set.

    Raises
    ------
    FoldError
        If a class has only one member (or group).
    """
    if labels.dev is not None and labels.dev.any():
        yield np.flatnonzero(~labels.dev), np.flatnonzero(labels.dev)
        return
    used = labels.used()
    if not used.all():
        own, spare = np.flatnonzero(used), np.flatnonzero(~used)
        groups = None if groups is None else np.asarray(groups)[used]
        for train, valid in inner_folds(labels.take(own), folds, seed, groups):
            yield np.union1d(own[train], spare), own[valid]
        return
    y = np.zeros(len(labels), dtype=np.int64) if labels.kind == "real" else labels.y
    groups = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    classes = np.unique(y)
    rarest = min(len(np.unique(groups[y == c])) for c in classes)
    if rarest < 2:
        raise FoldError(
            "a class of the training set has only one sample (or group), so hyperparameters cannot be chosen",
            remedy="give more samples, or one value for each parameter of the solver",
        )
    k = min(folds, rarest)
    fold = deal(y, k, seed, groups)
    for f in range(k):
        train, valid = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        if len(valid) and len(np.unique(y[train])) == len(classes):
            yield train, valid


def _metric(name: str, kind: str) -> Measure:
    """Return the scoring function; ParameterError for a name that does not match the kind of labels."""
    known, bounds = METRICS[kind], BOUNDS if kind == "binary" else ()
    if name in bounds:
        return _no_folds
    name = AUTO[kind] if name == "auto" else name
    if name not in known:
        raise unknown_name(f"inner metric for {kind} labels", name, [*known, *bounds, "auto"])
    return known[name]
