"""Decisions about samples by classifiers that were not trained on them, and what is fitted to these.

The decisions about a model's own training samples are too far from zero. Probabilities, thresholds and layers therefore
come from decisions about each sample by a classifier trained on folds without it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FoldError, LabelError, ParameterError
from seqkern.evaluation.calibration import METHODS, IsotonicCalibration, SigmoidCalibration
from seqkern.evaluation.selection import MakeSolver, Pair, inner_folds
from seqkern.layers import Layers
from seqkern.residues import Residues
from seqkern.sequences.labels import UNLABELLED, Labels
from seqkern.solvers.thresholds import Threshold, parse_rule


def held_out_decisions(
    pair: Pair,
    labels: Labels,
    spec: dict[str, Any],
    make_solver: MakeSolver,
    *,
    folds: int = 5,
    seed: int = 1,
    chains: Residues | None = None,
) -> tuple[npt.NDArray[np.float64], int, int]:
    """Return the decision about each sample by classifiers trained on folds without it.

    Parameters
    ----------
    pair : callable
        ``pair(train, test, y_train)`` returns what a solver trains on and decides about, as those of
        `seqkern.models.sources`.
    labels : Labels
        Of classes; samples of one group stay in one fold.
    spec : dict
        Of the solver.
    make_solver : callable
        ``make_solver(spec, kind)`` returns a new solver.
    folds : int, default 5
        At most; a class with fewer samples lowers their number, to two at least.
    seed : int, default 1
        Of the folds.
    chains : Residues, optional
        Of the samples, followed by those of m neighbours of theirs that are neither trained on nor tested: each is
        decided about with the samples of its chain.

    Returns
    -------
    decisions : ndarray of float64, shape (n + m,), or (n + m, classes) for several classes
        NaN for the samples of a fold without which a class is missing.
    n_folds : int
        How many folds gave decisions.
    not_converged : int
        How many fits did not converge.

    Raises
    ------
    LabelError
        If the labels are not classes, or there are several and one has no sample.
    FoldError
        If a class is too small to be divided into folds.
    """
    several = labels.kind == "multiclass"
    y = labels.y if several else labels.signs()
    missing = [name for name, count in labels.class_counts().items() if several and not count]
    if missing:
        raise LabelError(
            f"no unit of class {missing[0]!r} to decide about", remedy="give more units, or leave the class out"
        )
    rows = len(y) if chains is None else len(chains)
    decisions = np.full((rows, len(labels.classes)) if several else rows, np.nan)
    n_folds, not_converged = 0, 0
    try:
        parts = list(inner_folds(labels, folds, seed, labels.groups))
    except FoldError as error:
        raise FoldError(
            "a class has one unit (or group) only, and probabilities, thresholds and layers need folds",
            remedy="give more units, or do without probabilities, thresholds and layers",
        ) from error
    for train, held_out in parts:
        decided = _with_neighbours(held_out, chains, len(y))
        K_train, K_held_out = pair(train, decided, y[train])
        groups = None if labels.groups is None else np.asarray(labels.groups)[train]
        solver = make_solver(spec, labels.kind).fit(K_train, y[train], groups)
        decisions[decided] = solver.decision_function(K_held_out)
        del K_train, K_held_out  # before there are the next ones
        n_folds += 1
        not_converged += solver.count_not_converged()
    return decisions, n_folds, not_converged


def fit_afterwards(
    decisions: npt.NDArray[np.float64],
    positive: npt.NDArray[np.bool_],
    n_folds: int,
    *,
    calibration: str | None = None,
    threshold: str | None = None,
) -> tuple[SigmoidCalibration | IsotonicCalibration | None, Threshold | None]:
    """Return what turns decisions into probabilities, and the threshold above which they mean the positive class.

    Parameters
    ----------
    decisions : ndarray of float64, shape (n,)
        As `held_out_decisions` returns them; NaN is left out.
    positive : ndarray of bool, shape (n,)
        Which samples are positive.
    n_folds : int
        How many folds gave decisions, for the record of the calibration.
    calibration : {"platt", "isotonic"}, optional
        How decisions become probabilities; by default they do not.
    threshold : str, optional
        A rule of `seqkern.solvers.thresholds`, such as ``"mcc"``; by default there is no threshold.

    Returns
    -------
    calibration : SigmoidCalibration, IsotonicCalibration or None
        Fitted.
    threshold : Threshold or None
        Fitted.

    Raises
    ------
    ParameterError
        For an unknown method or rule.
    LabelError
        If a class has no sample with a decision.
    """
    check_afterwards(calibration, threshold)
    known = ~np.isnan(decisions)
    decisions, positive = decisions[known], positive[known]
    return (
        None if calibration is None else METHODS[calibration].fit(decisions, positive, n_folds),
        None if threshold is None else Threshold.fit(decisions, positive, threshold),
    )


def fit_held_out(
    pair: Pair,
    labels: Labels,
    spec: dict[str, Any],
    make_solver: MakeSolver,
    *,
    folds: int,
    seed: int,
    calibration: str | None = None,
    threshold: str | None = None,
) -> tuple[SigmoidCalibration | IsotonicCalibration | None, Threshold | None, int, int]:
    """Return what `fit_afterwards` does, fitted to `held_out_decisions`, and how many fits that took.

    Parameters
    ----------
    pair, labels, spec, make_solver, folds, seed : object
        As in `held_out_decisions`.
    calibration, threshold : str, optional
        As in `fit_afterwards`.

    Returns
    -------
    calibration : SigmoidCalibration, IsotonicCalibration or None
        As `fit_afterwards` returns it; None, without a fit, where neither is wanted.
    threshold : Threshold or None
        Likewise.
    n_fits : int
        How many fits there were.
    not_converged : int
        How many of them did not converge.

    Raises
    ------
    LabelError, FoldError
        As `held_out_decisions`.
    ParameterError
        As `fit_afterwards`.
    """
    if calibration is None and threshold is None:
        return None, None, 0, 0
    decided, n_fits, failed = held_out_decisions(pair, labels, spec, make_solver, folds=folds, seed=seed)
    wanted = {"calibration": calibration, "threshold": threshold}
    return *fit_afterwards(decided, labels.signs() > 0, n_fits, **wanted), n_fits, failed


def fit_layers(
    layers: Sequence[Any],
    pair: Pair,
    labels: Labels,
    spec: dict[str, Any],
    make_solver: MakeSolver,
    *,
    chains: Residues | None,
    folds: int,
    seed: int,
    lap: Callable[[str], None] = lambda stage: None,
) -> tuple[Layers, int, int]:
    """Return layers fitted to `held_out_decisions` about residues, and how many fits that took.

    Each layer but the first is fitted to what copies of the one before, fitted without a fold's chains, give for these.

    Parameters
    ----------
    layers : sequence
        Specs, as `seqkern.layers.build_layers` takes them.
    pair, labels, spec, make_solver, folds, seed : object
        As in `held_out_decisions`; samples without groups are kept together by chain.
    chains : Residues or None
        Of the samples, and after them of `neighbours` that layers see, as they do in new chains, and are not fitted to;
        None where samples are not residues, if no layer needs chains.
    lap : callable, optional
        Told the name of each stage when it is over.

    Returns
    -------
    layers : Layers
        Fitted.
    n_fits : int
        How many fits of the solver there were.
    not_converged : int
        How many fits, those of the layers among them, did not converge.

    Raises
    ------
    LabelError, FoldError
        As `held_out_decisions` and `Layers.fit`.
    """
    if labels.groups is None and chains is not None:
        labels = replace(labels, groups=chains.record[: len(labels)].astype(str))
    scores, n_fits, failed = held_out_decisions(pair, labels, spec, make_solver, folds=folds, seed=seed, chains=chains)
    lap("hold out")
    parts = [
        (_with_neighbours(train, chains, len(labels)), _with_neighbours(held_out, chains, len(labels)))
        for train, held_out in inner_folds(labels, folds, seed, labels.groups)
    ]
    y = np.full(len(scores), UNLABELLED, dtype=np.int64)
    y[: len(labels)] = labels.y
    fitted = Layers(layers).fit(scores, chains, y, parts, labels.classes)
    lap("layers")
    return fitted, n_fits, failed + fitted.count_not_converged()


def neighbours(residues: Residues, rows: npt.NDArray[np.int64], *parts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the samples that stand in the chains of some samples and in none of the parts of a split.

    Their labels are not known, or not to be used: layers look at their scores, as they do where no label is known.

    Parameters
    ----------
    residues : Residues
        Of all samples.
    rows : ndarray of int64
        The samples whose chains they stand in.
    *parts : ndarray of int64
        The samples of each part.

    Returns
    -------
    ndarray of int64
        Rows of samples, sorted.
    """
    beside = np.isin(residues.record, residues.record[rows])
    for part in parts:
        beside[part] = False
    return np.flatnonzero(beside)


def _with_neighbours(rows: npt.NDArray[np.int64], chains: Residues | None, n: int) -> npt.NDArray[np.int64]:
    """Return some of the first n rows, and after them those of the rest that stand in the same chains."""
    if chains is None or len(chains) == n:
        return rows
    return np.concatenate((rows, n + np.flatnonzero(np.isin(chains.record[n:], chains.record[rows]))))


def check_afterwards(calibration: str | None, threshold: str | None, layers: Sequence[Any] = ()) -> None:
    """Raise ParameterError unless a method of calibration and a rule for a threshold are known, or None.

    Parameters
    ----------
    calibration : {"platt", "isotonic"} or None
        How decisions become probabilities.
    threshold : str or None
        A rule of `seqkern.solvers.thresholds`.
    layers : sequence, optional
        Where there are some, they take the place of both, which have to be None.

    Raises
    ------
    ParameterError
        With what is known.
    """
    if layers and (calibration is not None or threshold is not None):
        raise ParameterError(
            "--layers decide after the solver, --calibration and --threshold of its decisions alone",
            remedy="for probabilities add the layer probabilities, and leave out --calibration and --threshold",
        )
    if calibration is not None and calibration not in METHODS:
        raise ParameterError(f"calibration {calibration!r} is not known", remedy=f"choose from: {', '.join(METHODS)}")
    if threshold is not None:
        parse_rule(threshold)
