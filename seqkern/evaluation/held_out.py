"""Held-out decision values, from classifiers not trained on the samples, and what is fitted to them.

Decision values of a model's own training samples are too far from zero. Probabilities, thresholds and layers therefore
use decision values from a classifier trained on folds without the sample.
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
from seqkern.solvers.thresholds import PLAIN, Threshold, parse_rule


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
    """Return the decision value of each sample from a classifier trained on folds without it.

    Parameters
    ----------
    pair : callable
        ``pair(train, test, y_train)`` returns the input of a solver for training and for testing, such as those of
        `seqkern.models.sources`.
    labels : Labels
        Labels that are classes; samples of one group stay in one fold.
    spec : dict
        Spec of the solver.
    make_solver : callable
        ``make_solver(spec, kind)`` returns a new solver.
    folds : int, default 5
        Maximum number of folds; a class with fewer samples reduces it, to at least two.
    seed : int, default 1
        Seed of the folds.
    chains : Residues, optional
        Chains of the samples, followed by those of m neighbours that are neither trained on nor tested: each is
        classified with the samples of its chain.

    Returns
    -------
    decisions : ndarray of float64, shape (n + m,), or (n + m, classes) for several classes
        NaN for the samples of a fold whose training set lacks a class.
    n_folds : int
        Number of folds that gave decision values.
    not_converged : int
        Number of fits that did not converge.

    Raises
    ------
    LabelError
        If the labels are not classes, or one of several classes has no samples.
    FoldError
        If a class is too small for folds.
    """
    several = labels.kind == "multiclass"
    y: Any = labels.targets() if several else labels.signs()
    missing = [name for name, count in labels.class_counts().items() if several and not count]
    if missing:
        raise LabelError(
            f"no sample of class {missing[0]!r} to classify", remedy="give more samples, or remove the class"
        )
    rows = len(y) if chains is None else len(chains)
    decisions = np.full((rows, len(labels.classes)) if several else rows, np.nan)
    n_folds, not_converged = 0, 0
    try:
        parts = list(inner_folds(labels, folds, seed, labels.groups))
    except FoldError as error:
        raise FoldError(
            "a class has only one sample (or group), but probabilities, thresholds and layers need folds",
            remedy="give more samples, or remove probabilities, thresholds and layers",
        ) from error
    for train, held_out in parts:
        decided = _with_neighbours(held_out, chains, len(y))
        K_train, K_held_out = pair(train, decided, y[train])
        groups = None if labels.groups is None else np.asarray(labels.groups)[train]
        solver = make_solver(spec, labels.kind).fit(K_train, y[train], groups)
        decisions[decided] = solver.decision_function(K_held_out)
        del K_train, K_held_out  # frees memory before the next ones
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
    """Return the calibration of decision values to probabilities, and the threshold of the positive class.

    Parameters
    ----------
    decisions : ndarray of float64, shape (n,)
        From `held_out_decisions`; NaN is ignored.
    positive : ndarray of bool, shape (n,)
        Which samples are positive.
    n_folds : int
        Number of folds that gave decision values, for the record of the calibration.
    calibration : {"platt", "isotonic"}, optional
        Method of calibration; default: none.
    threshold : str, optional
        A rule of `seqkern.solvers.thresholds`, such as ``"mcc"``; default, and ``"none"``: no threshold.

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
        If a class has no samples with decision values.
    """
    check_afterwards(calibration, threshold)
    known = ~np.isnan(decisions)
    decisions, positive = decisions[known], positive[known]
    return (
        None if calibration is None else METHODS[calibration].fit(decisions, positive, n_folds),
        None if threshold in (None, PLAIN) else Threshold.fit(decisions, positive, str(threshold)),
    )


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
    """Return layers fitted to `held_out_decisions` about residues, and the number of fits.

    Each layer but the first is fitted to output of the previous layer for chains held out of its fit.

    Parameters
    ----------
    layers : sequence
        Specs, as for `seqkern.layers.build_layers`.
    pair, labels, spec, make_solver, folds, seed : object
        As for `held_out_decisions`; samples without groups are kept together by chain.
    chains : Residues or None
        Residues of the samples, followed by those of `neighbours`, which layers see, as in new chains, but are not
        fitted to; None if samples are not residues and no layer needs chains.
    lap : callable, optional
        Called with the name of each finished stage.

    Returns
    -------
    layers : Layers
        Fitted.
    n_fits : int
        Number of fits of the solver.
    not_converged : int
        Number of fits, including layers, that did not converge.

    Raises
    ------
    LabelError, FoldError
        As for `held_out_decisions` and `Layers.fit`.
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
    """Return the samples in the same chains as the given samples that are in no set of a split.

    Their labels are unknown or unused: layers use their scores, as for residues with unknown states.

    Parameters
    ----------
    residues : Residues
        All residues.
    rows : ndarray of int64
        The samples whose chains are used.
    *parts : ndarray of int64
        The samples of each set.

    Returns
    -------
    ndarray of int64
        Indices of samples, sorted.
    """
    beside = np.isin(residues.record, residues.record[rows])
    for part in parts:
        beside[part] = False
    return np.flatnonzero(beside)


def _with_neighbours(rows: npt.NDArray[np.int64], chains: Residues | None, n: int) -> npt.NDArray[np.int64]:
    """Return some of the first n rows, followed by the other rows in the same chains."""
    if chains is None or len(chains) == n:
        return rows
    return np.concatenate((rows, n + np.flatnonzero(np.isin(chains.record[n:], chains.record[rows]))))


def check_afterwards(calibration: str | None, threshold: str | None, layers: Sequence[Any] = ()) -> None:
    """Raise ParameterError for an unknown method of calibration or threshold rule other than None.

    Parameters
    ----------
    calibration : {"platt", "isotonic"} or None
        Method of calibration.
    threshold : str or None
        A rule of `seqkern.solvers.thresholds`.
    layers : sequence, optional
        If given, they replace both, which must be None.

    Raises
    ------
    ParameterError
        With the known names.
    """
    if layers and (calibration is not None or threshold not in (None, PLAIN)):
        raise ParameterError(
            "--layers replace the decisions that --calibration and --threshold use",
            remedy="remove --calibration and --threshold; for probabilities add the layer probabilities",
        )
    if calibration is not None and calibration not in METHODS:
        raise ParameterError(f"unknown calibration {calibration!r}", remedy=f"choose from: {', '.join(METHODS)}")
    if threshold not in (None, PLAIN):
        parse_rule(str(threshold))
