"""Decisions about units by machines that were not trained on them, and what is fitted to these.

The decisions about a model's own training units are too far from zero. Probabilities, thresholds and layers therefore
come from decisions about each unit by a machine trained on folds without it.
"""

from dataclasses import replace

import numpy as np

from seqkern.core.errors import FoldError, LabelError, ParameterError
from seqkern.evaluation.calibration import METHODS
from seqkern.evaluation.selection import inner_folds
from seqkern.layers import Layers
from seqkern.sequences.labels import UNLABELLED
from seqkern.solvers.thresholds import Threshold, parse_rule


def held_out_decisions(pair, labels, spec, make_solver, *, folds=5, seed=1, chains=None):
    """Return the decision about each unit by machines trained on folds without it.

    Parameters
    ----------
    pair : callable
        ``pair(train, test, y_train)`` returns what a solver trains on and decides about, as those of
        `seqkern.models.sources`.
    labels : Labels
        Of classes; units of one group stay in one fold.
    spec : dict
        Of the solver.
    make_solver : callable
        ``make_solver(spec, kind)`` returns a new solver.
    folds, seed : int
    chains : Residues, optional
        Of the units, followed by those of m neighbours of theirs that are neither trained on nor tested: each is
        decided about with the units of its chain.

    Returns
    -------
    decisions : ndarray of float64, shape (n + m,), or (n + m, classes) for several classes
        NaN for the units of a fold without which a class is missing.
    n_folds : int
        How many folds gave decisions.
    not_converged : int
        How many fits did not converge.

    Raises
    ------
    LabelError
        If the labels are no classes, or there are several and one has no unit.
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
        machine = make_solver(spec, labels.kind).fit(K_train, y[train], groups)
        decisions[decided] = machine.decision_function(K_held_out)
        del K_train, K_held_out  # before there are the next ones
        n_folds += 1
        not_converged += machine.count_not_converged()
    return decisions, n_folds, not_converged


def fit_afterwards(decisions, positive, n_folds, *, calibration=None, threshold=None):
    """Return what turns decisions into probabilities, and the threshold above which they mean the positive class.

    Parameters
    ----------
    decisions : ndarray of float64, shape (n,)
        As `held_out_decisions` returns them; NaN is left out.
    positive : ndarray of bool, shape (n,)
    n_folds : int
    calibration : {"platt", "isotonic"}, optional
    threshold : str, optional
        A rule of `seqkern.solvers.thresholds`.

    Returns
    -------
    calibration : SigmoidCalibration, IsotonicCalibration or None
    threshold : Threshold or None

    Raises
    ------
    ParameterError
        For an unknown method or rule.
    LabelError
        If a class has no unit with a decision.
    """
    check_afterwards(calibration, threshold)
    known = ~np.isnan(decisions)
    decisions, positive = decisions[known], positive[known]
    return (
        None if calibration is None else METHODS[calibration].fit(decisions, positive, n_folds),
        None if threshold is None else Threshold.fit(decisions, positive, threshold),
    )


def fit_held_out(pair, labels, spec, make_solver, *, folds, seed, calibration=None, threshold=None):
    """Return what `fit_afterwards` does, fitted to `held_out_decisions`, and how many fits that took.

    Returns
    -------
    calibration, threshold
        As `fit_afterwards` returns them; None, without a fit, where neither is wanted.
    n_fits, not_converged : int
    """
    if calibration is None and threshold is None:
        return None, None, 0, 0
    decided, n_fits, failed = held_out_decisions(pair, labels, spec, make_solver, folds=folds, seed=seed)
    wanted = {"calibration": calibration, "threshold": threshold}
    return *fit_afterwards(decided, labels.signs() > 0, n_fits, **wanted), n_fits, failed


def fit_layers(layers, pair, labels, spec, make_solver, *, chains, folds, seed, lap=lambda stage: None):
    """Return layers fitted to `held_out_decisions` about residues, and how many fits that took.

    Each layer but the first is fitted to what copies of the one before, fitted without a fold's chains, give for these.

    Parameters
    ----------
    layers : list
        Specs, as `seqkern.layers.build_layers` takes them.
    pair, labels, spec, make_solver, folds, seed
        As in `held_out_decisions`; units without groups are kept together by chain.
    chains : Residues or None
        Of the units, and after them of `neighbours` that layers see, as they do in new chains, and are not fitted to;
        None where units are no residues, if no layer needs chains.
    lap : callable, optional
        Told the name of each stage when it is over.

    Returns
    -------
    layers : Layers
    n_fits, not_converged : int

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
        [_with_neighbours(part, chains, len(labels)) for part in both]
        for both in inner_folds(labels, folds, seed, labels.groups)
    ]
    y = np.full(len(scores), UNLABELLED, dtype=np.int64)
    y[: len(labels)] = labels.y
    fitted = Layers(layers).fit(scores, chains, y, parts, labels.classes)
    lap("layers")
    return fitted, n_fits, failed + fitted.count_not_converged()


def neighbours(residues, rows, *parts):
    """Return the units that stand in the chains of some units and in none of the parts of a split, int64, sorted.

    Their labels are not known, or not to be used: layers look at their scores, as they do where no label is known.

    Parameters
    ----------
    residues : Residues
        Of all units.
    rows : ndarray of int64
    parts : ndarrays of int64
    """
    beside = np.isin(residues.record, residues.record[rows])
    for part in parts:
        beside[part] = False
    return np.flatnonzero(beside)


def _with_neighbours(rows, chains, n):
    """Return some of the first n rows, and after them those of the rest that stand in the same chains."""
    if chains is None or len(chains) == n:
        return rows
    return np.concatenate((rows, n + np.flatnonzero(np.isin(chains.record[n:], chains.record[rows]))))


def check_afterwards(calibration, threshold, layers=()):
    """Raise ParameterError unless a method of calibration and a rule for a threshold are known, or None.

    They are None where there are layers, which take the place of both.
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
