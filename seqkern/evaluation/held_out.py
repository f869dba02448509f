"""Held-out decision values, from classifiers not trained on the samples, and models fitted to them.

A model's decision values for its own training samples are too far from zero. Probabilities, thresholds and layers
therefore use decision values from a classifier trained on folds without the sample.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.errors import FoldError, LabelError, ParameterError
from seqkern.core.types import Bools, Floats, Indices
from seqkern.evaluation.calibration import METHODS, VARIANCE, Calibration
from seqkern.evaluation.selection import Numbers, inner_folds
from seqkern.formats.residues import Residues
from seqkern.sequences.labels import UNLABELLED
from seqkern.solvers.contract import Solver
from seqkern.solvers.thresholds import PLAIN, Threshold, parse_rule

if TYPE_CHECKING:
    from seqkern.solvers.layers.chain import Layers


def held_out_decisions(
    data: Numbers, kernel: str, solver: Solver, *, folds: int = 5, seed: int = 1
) -> tuple[Floats, int, int]:
    """Return each sample's decision value from the solver trained on folds without it, and counts of the fits.

    The values have the shape (n + m,), or (n + m, classes), for n samples and m neighbours in the same chains. They
    are NaN for a fold whose training set lacks a class.
    """
    labels, chains = data.labels, data.residues
    several = labels.kind == "multiclass"
    y: Any = labels.targets() if several else labels.signs()
    missing = [name for name, count in labels.class_counts().items() if several and not count]
    if missing:
        raise LabelError(
            f"no sample of class {missing[0]!r} to classify", remedy="give more samples, or remove the class"
        )
    rows = len(y) if chains is None else len(chains)
    values = np.full((rows, len(labels.classes)) if several else rows, np.nan)
    return _held_out(values, lambda _, new: solver.decision_function(new.test), data, kernel, solver, y, folds, seed)


def held_out_residuals(
    data: Numbers, kernel: str, solver: Solver, *, folds: int = 5, seed: int = 1
) -> tuple[Floats, int, int]:
    """Return errors of held-out predictions over their standard deviations, as `held_out_decisions`, and the counts."""
    y: Any = data.labels.targets()

    def residuals(rows: Indices, block: Any) -> Floats:
        variances: Any = solver.variances(block.test, block.test_diagonal)
        with np.errstate(divide="ignore", invalid="ignore"):  # exact predictions without variance
            return np.asarray((y[rows] - solver.decision_function(block.test)) / np.sqrt(variances.observed))

    found, n_folds, failed = _held_out(np.full(len(y), np.nan), residuals, data, kernel, solver, y, folds, seed)
    return found[~np.isnan(found)], n_folds, failed


def _held_out(
    values: Floats,
    of: Callable[[Indices, Any], Floats],
    data: Numbers,
    kernel: str,
    solver: Solver,
    y: Any,
    folds: int,
    seed: int,
) -> tuple[Floats, int, int]:
    """Fill in the values of the held-out rows of each fold, with the solver fitted without them; return counts too."""
    labels, chains = data.labels, data.residues
    try:
        parts = list(inner_folds(labels, folds, seed, labels.groups))
    except FoldError as error:
        raise FoldError(
            "a class has only one sample (or group), but probabilities, thresholds and layers need folds",
            remedy="give more samples, or remove probabilities, thresholds and layers",
        ) from error
    not_converged = 0
    for train, held_out in parts:
        decided = _with_neighbours(held_out, chains, len(y))
        block = data.at(kernel, decided, like=train)
        groups = None if labels.groups is None else np.asarray(labels.groups)[train]
        solver.fit(block.train, y[train], groups)
        values[decided] = of(decided, block)
        del block  # frees memory before the next one
        not_converged += solver.count_not_converged()
    return values, len(parts), not_converged


def fit_postprocessing(
    decisions: Floats, positive: Bools, n_folds: int, *, calibration: str | None = None, threshold: str | None = None
) -> tuple[Calibration | None, Threshold | None]:
    """Return the fitted calibration and the fitted threshold of the positive class, None for each not requested."""
    check_postprocessing(calibration, threshold)
    known = ~np.isnan(decisions)
    decisions, positive = decisions[known], positive[known]
    return (
        None if calibration is None else METHODS[calibration].fit(decisions, positive, n_folds),
        None if threshold in (None, PLAIN) else Threshold.fit(decisions, positive, str(threshold)),
    )


def fit_layers(
    layers: Sequence[Any],
    data: Numbers,
    kernel: str,
    solver: Solver,
    *,
    folds: int,
    seed: int,
    lap: Callable[[str], None] = lambda stage: None,
) -> "tuple[Layers, int, int]":
    """Return layers fitted to the `held_out_decisions` of residues, the number of fits, and of unconverged ones.

    Each layer except the first is fitted to the previous layer's output for chains held out of that layer's fit.
    """
    chains = data.residues
    if data.labels.groups is None and chains is not None:
        data = data.with_groups(chains.record[: len(data.labels)].astype(str))
    labels = data.labels
    scores, n_fits, failed = held_out_decisions(data, kernel, solver, folds=folds, seed=seed)
    lap("hold out")
    parts = [
        (_with_neighbours(train, chains, len(labels)), _with_neighbours(held_out, chains, len(labels)))
        for train, held_out in inner_folds(labels, folds, seed, labels.groups)
    ]
    from seqkern.solvers.layers.chain import Layers  # imported here: most methods have no layers

    y = np.full(len(scores), UNLABELLED, dtype=np.int64)
    y[: len(labels)] = labels.y
    fitted = Layers(layers).fit(scores, chains, y, parts, labels.classes)
    lap("layers")
    return fitted, n_fits, failed + fitted.count_not_converged()


def neighbours(residues: Residues, rows: Indices, *parts: Indices) -> Indices:
    """Return the samples in the same chains as the given samples that belong to no set of a split.

    Their labels are unknown or unused; layers use their scores, as for residues with unknown states.
    """
    beside = np.isin(residues.record, residues.record[rows])
    for part in parts:
        beside[part] = False
    return np.flatnonzero(beside)


def _with_neighbours(rows: Indices, chains: Residues | None, n: int) -> Indices:
    """Return `rows`, all below n, followed by the rows from n on in the same chains."""
    if chains is None or len(chains) == n:
        return rows
    return np.concatenate((rows, n + np.flatnonzero(np.isin(chains.record[n:], chains.record[rows]))))


def check_postprocessing(calibration: str | None, threshold: str | None, layers: Sequence[Any] = ()) -> None:
    """Raise ParameterError for an unknown calibration method or threshold rule; layers exclude both."""
    if layers and (calibration is not None or threshold not in (None, PLAIN)):
        raise ParameterError(
            "--layers replace the decisions that --calibration and --threshold use",
            remedy="remove --calibration and --threshold; for probabilities add the layer probabilities",
        )
    if calibration is not None and calibration not in (*METHODS, VARIANCE):
        known = ", ".join((*METHODS, VARIANCE))
        raise ParameterError(f"unknown calibration {calibration!r}", remedy=f"choose from: {known}")
    if threshold not in (None, PLAIN):
        parse_rule(str(threshold))
