"""Train and test a method on every fold of every task.

One call of `evaluate_fold` is one outer fold: the inner loop chooses hyperparameters on the training part
alone, the solver is fitted on the whole training part, and the test part is decided once.
"""

import functools
import warnings
from dataclasses import dataclass, replace

import numpy as np

from seqkern.core.convergence import telling, unconverged
from seqkern.core.cost import Clock
from seqkern.evaluation.feature_source import chosen_features, interval_rows
from seqkern.evaluation.fold_tables import (
    FIT_COLUMNS,
    SPECTRUM_COLUMNS,
    FoldResult,
    choice_rows,
    decision_rows,
    inner_rows,
)
from seqkern.evaluation.held_out import fit_held_out, fit_layers, neighbours
from seqkern.evaluation.metrics import brier, codes_of, scores
from seqkern.evaluation.residue_results import residue_scores
from seqkern.evaluation.selection import select
from seqkern.evaluation.selection_bias import biased_scores
from seqkern.evaluation.sources import check_source
from seqkern.gram.spectrum import spectrum
from seqkern.layers import Layers
from seqkern.layers.chain import as_decisions
from seqkern.solvers import common_input, make_solver
from seqkern.solvers.base import ConstantColumnWarning

EXACT_UNITS = 1500
"""Of larger training parts the spectrum is estimated: else it would take longer than training."""


@dataclass(frozen=True)
class InnerLoop:
    """What is done within each training part besides training.

    Attributes
    ----------
    folds : int
        Of the cross-validation that chooses among candidates.
    metric : str
        What it maximises.
    seed : int
    rule : {"best", "one_standard_error"}
        How it chooses (see `seqkern.evaluation.selection.select`).
    calibration : {"platt", "isotonic"}, optional
        How decisions become probabilities, where labels are binary; fitted to decisions about held-out units.
    threshold : str, optional
        Rule for the decision above which a unit is predicted to be positive (see thresholds.py), where labels are
        binary; by default 0.
    """

    folds: int = 3
    metric: str = "auto"
    seed: int = 1
    rule: str = "best"
    calibration: str | None = None
    threshold: str | None = None


def evaluate_fold(
    task, split, sources, candidates, inner, *, groups=None, selection_bias=False, residues=None, layers=()
):
    """Choose, train and test on one fold.

    Parameters
    ----------
    task : Task
    split : Split
        Row indices of the training and the test part.
    sources : dict of str to StoredGram, FittedKernel or ImplicitSource
        The kernels to choose among, by name; each gives kernel values for index arrays.
    candidates : list of (str, dict), or list of dict
        The name of a kernel and a solver specification each, to choose among; a specification alone is tried with
        every kernel.
    inner : InnerLoop
    groups : ndarray of int, shape (n,), optional
        For all units, by default those of the labels: units of one group stay together in the inner folds.
    selection_bias : bool
        Whether to compute also the inflated scores of features chosen with a look at the test part, for solvers that
        take features (`seqkern.evaluation.selection_bias`).
    residues : Residues, optional
        Which residue each unit of the data set is: then the scores of states are computed too.
    layers : list, optional
        Specs of the layers that follow the solver (`seqkern.layers`), most of which need residues; they are fitted to
        decisions about held-out units, and give decisions, predictions and, if the last one does, probabilities:
        calibration and threshold of the inner loop are not asked for then. Layers that look at neighbours are shown the
        decisions about whole chains, also where no label is known.

    Returns
    -------
    FoldResult

    Raises
    ------
    ParameterError
        For solvers that take something else than the sources give.
    """
    taken = common_input([item if isinstance(item, dict) else item[1] for item in candidates])
    for source in sources.values():
        check_source(source, taken)
    clock = Clock()
    # whether each fit converged, and how many columns it left out, are columns of fits.tsv
    with warnings.catch_warnings(), unconverged():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        labels = task.labels if groups is None else replace(task.labels, groups=groups)
        y = labels.signs() if labels.kind == "binary" else labels.y
        train_labels = labels.take(split.train)
        make = functools.partial(make_solver, classes=labels.classes)
        inner_weights = []
        choice = select(
            {name: _within(source, split.train, inner_weights) for name, source in sources.items()},
            train_labels,
            candidates,
            make,
            folds=inner.folds,
            metric=inner.metric,
            seed=inner.seed,
            rule=inner.rule,
        )
        clock.lap("choose")
        pair = _within(sources[choice.kernel], split.train, inner_weights)
        held_out = {"folds": inner.folds, "seed": inner.seed}
        calibration = threshold = layered = None
        fitted_to, decided = _seen_by_layers(layers, residues, split)
        if layers:
            wider = _within(sources[choice.kernel], fitted_to, inner_weights)
            chains = None if residues is None else residues.take(fitted_to)
            layered, _, held_out_failed = fit_layers(
                layers, wider, train_labels, choice.spec, make, chains=chains, lap=clock.lap, **held_out
            )
        else:
            afterwards = {"calibration": inner.calibration, "threshold": inner.threshold}
            calibration, threshold, _, held_out_failed = fit_held_out(
                pair, train_labels, choice.spec, make, **held_out, **(afterwards if labels.kind == "binary" else {})
            )
            clock.lap("hold out")
        with unconverged() as weights:
            asked = replace(split, test=decided)
            K_train, K_test, eigenvalues, learned = _matrices(sources[choice.kernel], asked, y[split.train], clock)
        solver = make(choice.spec, labels.kind).fit(K_train, y[split.train], train_labels.groups)
        clock.lap("train")
    failed = choice.not_converged + held_out_failed + len(inner_weights) + solver.report_.get("inner_not_converged", 0)
    told = {"inner_not_converged": failed, "weights_converged": not weights if learned else None, **eigenvalues}
    decisions = solver.decision_function(K_test) if labels.kind != "real" else solver.predict(K_test)
    tested = np.searchsorted(decided, split.test)
    if layered is not None:
        chains = None if residues is None else residues.take(decided)
        found = _after_layers(layered, decisions, chains, labels.kind)
        decisions, predicted, probabilities = (None if values is None else values[tested] for values in found)
    else:
        predicted = solver.predict(K_test) if threshold is None else decisions > threshold.value
        probabilities = None if calibration is None else calibration.probabilities(decisions)
    clock.lap("predict")
    features, intervals, bias = [], [], []
    if taken == "features":
        features = chosen_features(sources[choice.kernel], solver, split, y[split.train], labels.classes)
        intervals = interval_rows(sources[choice.kernel], solver, split, y[split.train], labels.classes)
        if selection_bias and solver.selects:
            parts, above = (y[split.train], y[split.test]), None if threshold is None else threshold.value
            bias = [biased_scores(solver, (K_train, K_test[tested]), parts, labels, split.test, above)]
    from_layers = {} if layered is None else layered.learned()
    place = {"task": task.name, "split": split.name}
    test = labels.take(split.test)
    sizes = {"n_train": len(split.train), "n_test": len(split.test)}
    return FoldResult(
        decisions=[place | row for row in decision_rows(test, decisions, predicted, probabilities)],
        metrics=place
        | sizes
        | _scores(labels.kind, test.y, decisions, predicted, probabilities)
        | residue_scores(residues, split.test, test, predicted),
        choices=[
            place | row for row in choice_rows(choice, sources, solver.chosen(), threshold, learned | from_layers)
        ],
        fit=place | {key: solver.report_.get(key) for key in FIT_COLUMNS if key not in place} | told,
        inner=[place | row for row in inner_rows(choice)],
        features=[place | row for row in features],
        intervals=[place | row for row in intervals],
        bias=[place | row for row in bias],
        cost=[place | row for row in clock.laps],
    )


def _matrices(source, split, y_train, clock):
    """Return what a solver takes of both parts, a dict of `SPECTRUM_COLUMNS`, and what the kernel learned.

    The former is empty unless the kernel has a matrix of its own for each training part: of one for all the spectrum is
    told beside it. The transforms come after: what they repair is not hidden.
    """
    if not getattr(source, "learns", False):
        rows = split.train, split.test, y_train
        *parts, learned = source.parts(*rows) if hasattr(source, "parts") else (*source.pair(*rows), {})
        clock.lap("kernel")
        return *parts, {}, learned
    values = source.values(split.train, split.test, y_train)
    clock.lap("kernel")
    found = spectrum(values.train, exact_units=EXACT_UNITS)
    clock.lap("spectrum")
    kind = "all" if found.exact else "estimated"
    parts = source.transformed(values, split.train, split.test)[:2]
    clock.lap("kernel")
    eigenvalues = dict(zip(SPECTRUM_COLUMNS, (found.smallest, found.negative_share, kind), strict=True))
    return *parts, eigenvalues, values.learned


def _seen_by_layers(layers, residues, split):
    """Return the units that layers are fitted to, the training part first, and those that they decide about, sorted.

    Both are whole chains for layers that look at neighbours, which see all of a new chain too.
    """
    if residues is None or not Layers(layers).needs_chains():
        return split.train, split.test
    parts = split.train, split.test
    around_train, around_test = (neighbours(residues, part, *parts) for part in parts)
    return np.concatenate((split.train, around_train)), np.union1d(split.test, around_test)


def _after_layers(layered, decisions, chains, kind):
    """Return decisions, predictions and probabilities (None if there are none) as a solver of this kind gives them."""
    decided = layered.decide(decisions, chains)
    probabilities = decided.probabilities
    if probabilities is not None and kind == "binary":
        probabilities = probabilities[:, 1]
    return as_decisions(decided.scores, kind), decided.predicted, probabilities


def _scores(kind, labels, decisions, predicted, probabilities):
    """Return the scores of a test part, the Brier score where there are probabilities."""
    found = scores(kind, labels, decisions, codes_of(kind, predicted))
    return found if probabilities is None else found | {"brier": brier(labels, probabilities)}


def _within(source, rows, told):
    """Return the `pair` of a source for rows that count within the training part `rows`; see `telling`."""
    return telling(lambda train, valid, y_train: source.pair(rows[train], rows[valid], y_train), told)
