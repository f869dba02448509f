"""Evaluation of a method on a fold: fit, decide, score.

One call of `evaluate_fold` is one outer fold: the inner loop chooses hyperparameters on the training set
only, the solver is fitted on the whole training set, and the test set is classified once.
"""

import math
import multiprocessing
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.archive import canonical_json
from seqkern.core.checkpoint import Checkpoint
from seqkern.core.checks import check_integer
from seqkern.core.convergence import ignoring_unconverged, unconverged
from seqkern.core.errors import FoldError, LabelError, check_known
from seqkern.core.progress import Clock
from seqkern.core.threads import available_threads, given_threads
from seqkern.core.types import Ints
from seqkern.evaluation.chance import PermutationTest, permutation_test, permuted
from seqkern.evaluation.estimates import biased_scores
from seqkern.evaluation.fold_methods import BY_POSITION, GIVEN_SETS, OF_VARIANTS, fewer_folds, options_of
from seqkern.evaluation.fold_tables import (
    FIT_COLUMNS,
    SPECTRUM_COLUMNS,
    FoldResult,
    choice_rows,
    decision_rows,
    inner_rows,
)
from seqkern.evaluation.folds import Split, make_folds
from seqkern.evaluation.metrics import brier, codes_of, log_loss, predictive_scores, scores
from seqkern.evaluation.residue_results import residue_scores
from seqkern.evaluation.selection import Choice
from seqkern.gram.stored_matrix import spectrum
from seqkern.methods.feature_model import chosen_features, interval_rows, significance_record
from seqkern.methods.fitted import FittedMethod
from seqkern.methods.method import Method
from seqkern.methods.model import Decisions
from seqkern.methods.sources import Block, Callbacks, FitData
from seqkern.sequences.labels import Labels
from seqkern.sequences.tables import Data as Samples
from seqkern.solvers.checking import ConstantColumnWarning
from seqkern.solvers.costs import BOUNDS

if TYPE_CHECKING:
    from seqkern.solvers.psvm.path import SignificanceTest

# The ε-path of a P-SVM of a study: the weights of all columns for decreasing ε, as rows of a table.

MOST_COLUMNS = 300
"""Maximum number of columns for which a path is computed: a figure cannot show more."""
MOST_ROWS = 3000
N_EPSILONS, SMALLEST = 25, 0.01


def path_rows(fitted: FittedMethod) -> list[dict[str, Any]]:
    """Return the ε-path on the training set if a P-SVM was fitted to a matrix of few columns, else an empty list.

    There is a row for each ε, largest first, and each column selected at any: ``epsilon``, in units of ε_max;
    ``feature``, its name or sample id; ``column``, counted from 1; ``weight``, its α; and ``used``, the ε of
    the fit in the same units.
    """
    # imported here: most methods need neither
    from seqkern.solvers.psvm.path import psvm_path
    from seqkern.solvers.psvm.psvm import PotentialSVM

    solver, K = fitted.solver, fitted.block.train
    shape = getattr(K, "shape", (0, 0))
    small = len(shape) == 2 and shape[0] <= MOST_ROWS and 0 < shape[1] <= MOST_COLUMNS
    if not (isinstance(solver, PotentialSVM) and small and hasattr(K, "dtype")):
        return []
    largest = float(solver.report_["epsilon_max"])
    if largest <= 0:
        return []
    used = float(solver.report_["epsilon"]) / largest
    smallest = used if 0 < used < SMALLEST else SMALLEST
    # the fit itself has warned already, and what stops early is hardly visible
    with ignoring_unconverged(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        path = psvm_path(solver, K, fitted.y, n_epsilons=N_EPSILONS, smallest=smallest)  # type: ignore[arg-type]
    columns = np.unique(np.concatenate(path.supports)).astype(np.int64)
    names = fitted.column_names(columns)
    rows = []
    unit = largest if solver.epsilon_scale == "absolute" else 1.0
    for epsilon, support, alpha in zip(path.epsilons / unit, path.supports, path.alphas, strict=True):
        weights = np.zeros(len(columns))
        weights[np.searchsorted(columns, support)] = alpha
        rows += [
            {"epsilon": float(epsilon), "feature": name, "column": column, "weight": weight, "used": used}
            for name, column, weight in zip(names, (columns + 1).tolist(), weights.tolist(), strict=True)
        ]
    return rows


REPORTED_ROWS = 1500
"""Number of training samples above which a spectrum is estimated: computing it would take longer than training."""


def evaluate_fold(
    method: Method,
    data: FitData,
    split: Split,
    *,
    task: str = "all",
    selection_bias: bool = False,
    significance: "SignificanceTest | None" = None,
    path: bool = False,
    choice: Choice | None = None,
) -> FoldResult:
    """Choose, train and test on one fold, and return its results."""
    callbacks = _FoldCallbacks()
    # whether each fit converged, and how many columns it left out, are columns of fits.tsv
    with warnings.catch_warnings(), unconverged():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        fitted = method.fit(data, split.train, ahead=split.test, callbacks=callbacks, choice=choice)
    decided = fitted.decide(split.test)
    callbacks.lap("predict")
    bounds = _bounds(fitted)
    if bounds:
        callbacks.lap("bounds")
    place = {"task": task, "split": split.name}
    tested = data.labels.take(split.test)
    deviations = decided.deviations if tested.kind == "real" else None
    rows = decision_rows(tested, *decided[:3], deviations, decided.tail)
    features, intervals, bias = _feature_tables(fitted, split, selection_bias, significance)
    learned = fitted.block.learned | ({} if fitted.layers is None else fitted.layers.learned())
    best = fitted.solver.best_params_
    fit = {key: fitted.solver.report_.get(key) for key in FIT_COLUMNS} | {
        "inner_not_converged": fitted.inner_not_converged,
        "weights_converged": fitted.kernel_converged if fitted.block.learned else None,
    }
    tables = {
        "decisions": rows,
        "choices": choice_rows(fitted.choice, data.sources, best, fitted.threshold, learned),
        "inner": inner_rows(fitted.choice),
        "features": features,
        "intervals": intervals,
        "exemplars": fitted.exemplars(),
        "bias": bias,
        "path": path_rows(fitted) if path else [],
        "cost": callbacks.clock.laps,
    }
    return FoldResult(
        metrics=place | {"n_train": len(split.train), "n_test": len(split.test)} | _scores(data, split.test, decided),
        fit=fit | callbacks.eigenvalues | place | bounds,
        **{name: [place | row for row in own] for name, own in tables.items()},
    )


class _FoldCallbacks(Callbacks):
    """Callbacks that time each stage, and compute the spectrum of a matrix specific to the training set.

    The spectrum is computed before the transforms, which may repair the matrix; a shared matrix's is
    stored with it.
    """

    def __init__(self) -> None:
        self.clock = Clock()
        self.eigenvalues: dict[str, Any] = {}

    def lap(self, stage: str) -> None:
        """Record the time of a stage."""
        self.clock.lap(stage)

    def kernel_values(self, block: Block, learns: bool) -> None:
        """Record the values of `SPECTRUM_COLUMNS`, the spectrum of the kernel matrix."""
        if not learns:
            return
        self.lap("kernel")
        found = spectrum(block.train, exact_rows=REPORTED_ROWS)
        self.lap("spectrum")
        kind = "all" if found.exact else "estimated"
        self.eigenvalues = dict(zip(SPECTRUM_COLUMNS, (found.smallest, found.negative_share, kind), strict=True))


def _bounds(fitted: FittedMethod) -> dict[str, Any]:
    """Return the solver's bounds of the leave-one-out error, if any, with the reason for a missing bound."""
    kernel = fitted.source.kernel
    learned = fitted.source.learns or (kernel is not None and kernel.traits.data_dependent)
    if learned or not fitted.solver.traits.bounds or fitted.y is None:  # a kernel that learns has seen what is left out
        return {}
    found = fitted.solver.leave_one_out(fitted.block.train, fitted.y)
    if found is None:
        return {}
    remarks = [fitted.solver.report_.get("remark"), found.remark]
    own = {"remark": "; ".join(filter(None, remarks))} if found.remark else {}
    return own | {name: getattr(found, name) for name in BOUNDS}


def _feature_tables(
    fitted: FittedMethod, split: Split, selection_bias: bool, significance: "SignificanceTest | None"
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the rows of selected features, of coefficients with intervals, and of biased scores.

    They are empty for solvers without features.
    """
    source, solver, classes = fitted.source, fitted.solver, fitted.labels.classes
    if source.gives != "features" or source.X is None or fitted.y is None:
        return [], [], []
    tested = None
    if significance is not None:
        tested = significance_record(significance, solver, fitted.block.train, fitted.y, fitted.search.seed)
    features = chosen_features(solver, fitted.kernel, source.X, classes, tested)
    intervals = interval_rows(solver, fitted.kernel, source.X, classes)
    if not (selection_bias and solver.traits.selects):
        return features, intervals, []
    labels = fitted.data.labels
    targets = labels.take(split.test).targets()
    assert targets is not None
    assert fitted.ahead is not None
    parts = fitted.block.train, fitted.block.test[np.searchsorted(fitted.ahead, split.test)]
    classify = fitted.postprocessing.codes if labels.kind == "binary" else None
    bias = biased_scores(solver, parts, (fitted.y, targets), labels, split.test, classify)
    return features, intervals, [bias]


def _scores(data: FitData, rows: Ints, decided: Decisions) -> dict[str, Any]:
    """Return the scores of a test set, with the scores of probabilities and predicted distributions, if any."""
    labels: Labels = data.labels.take(rows)
    found = scores(labels.kind, labels.y, decided.decisions, codes_of(labels.kind, decided.predicted))
    if decided.probabilities is not None:
        found["brier"] = brier(labels.y, decided.probabilities)
        found["log_loss"] = log_loss(labels.y, decided.probabilities)
    if labels.kind == "real" and decided.deviations is not None:
        found |= predictive_scores(labels.y, decided.decisions, decided.deviations, decided.tail)
    return found | residue_scores(data.residues, rows, labels, decided.predicted)


# Cross-validation of one method on labelled samples, as in `seqkern cv`: outer folds, and the method on each.

OUTER_METHODS = ("stratified", "grouped", "locus", "leave-one-out", "leave-one-group-out", "predefined", *OF_VARIANTS)
"""The fold methods that need only labels and their columns."""


@dataclass(frozen=True)
class OuterFolds:
    """The settings of the outer folds.

    `method` is one of `OUTER_METHODS`, by default ``grouped`` for samples in groups, else ``stratified``;
    repeats are drawn with different seeds, from `seed` on.
    """

    # One of `OUTER_METHODS`; default: ``grouped`` where samples belong together, else ``stratified``
    method: str | None = None
    folds: int = 5  # Their number, for methods that draw folds
    repeats: int = 1  # How often they are drawn, with other seeds
    seed: int = 1  # Of the first repeat
    parent: str | None = None  # Residues of the parent of variants; default: their consensus

    def chosen(self, labels: Labels) -> str:
        """Return the fold method for some labels."""
        if self.method is not None:
            return self.method
        return "stratified" if labels.groups is None else "grouped"

    def splits(self, labels: Labels, X: Samples | None = None, chains: Ints | None = None) -> list[Split]:
        """Return the outer folds, repeat by repeat, named 1, 2, …; with several repeats 1.1, 1.2, …."""
        check_integer("repeats", self.repeats, 1)
        method = self.chosen(labels)
        check_known("fold method", [method], OUTER_METHODS)
        drawn = {"k", "seed"} <= set(options_of(method))
        splits: list[Split] = []
        for repeat in range(self.repeats if drawn else 1):
            found = make_folds(labels, X, method, chains=chains, **self._options(method, labels, repeat))
            several = self.repeats > 1 and drawn
            splits += [replace(one, name=f"{repeat + 1}.{one.name}") if several else one for one in found]
        return splits

    def inner_labels(self, labels: Labels, X: Samples | None = None, chains: Ints | None = None) -> Labels:
        """Return the labels for the inner loops, with the development part of given sets, or positions as groups."""
        method = self.chosen(labels)
        if method not in (*GIVEN_SETS, *BY_POSITION):
            return labels
        foldset = make_folds(labels, X, method, chains=chains, **self._options(method, labels))
        return replace(labels, groups=foldset.groups if method in BY_POSITION else labels.groups, dev=foldset.dev)

    def _options(self, method: str, labels: Labels, repeat: int = 0) -> dict[str, Any]:
        """Return the options of a fold method."""
        k = fewer_folds(self.folds, labels) if self.method is None else self.folds
        options = {"k": k, "seed": self.seed + repeat, "parent": self.parent}
        return {name: value for name, value in options.items() if name in options_of(method) and value is not None}


def cross_validate(
    method: Method,
    data: FitData,
    splits: Iterable[Split],
    *,
    task: str = "all",
    selection_bias: bool = False,
    fit_cache: Checkpoint | None = None,
    choices: Sequence[Choice] = (),
) -> list[FoldResult]:
    """Choose, train and test on each fold; every choice is made within the training set, or was (`choices`)."""
    results = []
    for place, split in enumerate(splits):
        choice = choices[place] if choices else None
        key = canonical_json([task, selection_bias, split.name, split.train.tolist(), split.test.tolist()])
        row = None if fit_cache is None else fit_cache.get(key)
        if row:
            result = FoldResult(**row)
        else:
            result = evaluate_fold(method, data, split, task=task, selection_bias=selection_bias, choice=choice)
        if fit_cache is not None and not row:
            fit_cache.put(key, asdict(result))
        results.append(result)
    return results


def check_splits(method: Method, labels: Labels, splits: Sequence[Split]) -> None:
    """Raise an error, before any kernel is computed, if the method cannot be trained on a training set."""
    for split in splits:
        method.check(labels.take(split.train), place=f"fold {split.name}")


# The permutation test of a whole procedure: folds, choices and training are repeated on permuted labels.
#
# Matrices of kernels that learn nothing are shared by all permutations, also by processes, which are forks of
# the one that computed them. Every permutation has its own seed, so that its score depends neither on the
# number of permutations nor on that of processes.

STATISTICS = {"binary": ("auc", "accuracy"), "multiclass": ("auc", "accuracy"), "real": ("r2",)}
"""Scores to test by, by kind of labels; the first that has a value is used."""


def procedure_test(
    method: Method,
    data: FitData,
    make_splits: Callable[[Labels], Sequence[Split]],
    results: Sequence[FoldResult],
    n: int,
    *,
    seed: int = 1,
    n_processes: int | None = None,
    progress: Callable[[Sequence[int]], Iterator[int]] = iter,
    fit_cache: Checkpoint | None = None,
    shares: bool = False,
) -> PermutationTest:
    """Test a cross-validated score against the scores of the same procedure on permuted labels.

    The score is the AUC (for several classes its mean), or R² for real labels. `shares`: the folds share fits.
    """
    check_integer("permutations", n, 1)
    metric = next((name for name in STATISTICS[data.labels.kind] if not math.isnan(mean_score(results, name))), None)
    if metric is None:
        raise LabelError("no fold has a score to test", remedy="choose folds whose test sets hold every class")
    task = partial(_score, method, data, make_splits, metric, seed, shares)
    null = {}
    for i in range(n):
        known = None if fit_cache is None else fit_cache.get(f"{metric} {seed} {i}")
        if known is not None:
            null[i] = known
    workers = available_threads(n_processes)
    held = next((source.held for source in data.sources.values() if source.held is not None), None)
    workers = workers if held is None else held.divide(workers)
    for i, score in _permutation_scores(task, [i for i in range(n) if i not in null], workers, progress):
        null[i] = score
        if fit_cache is not None:
            fit_cache.put(f"{metric} {seed} {i}", score)
    return permutation_test(metric, mean_score(results, metric), [null[i] for i in range(n)])


def mean_score(results: Sequence[FoldResult], metric: str) -> float:
    """Return the mean over folds of a score; NaN if no fold has it."""
    known = [float(value) for result in results if (value := result.metrics.get(metric)) is not None]
    known = [value for value in known if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _score(
    method: Method,
    data: FitData,
    make_splits: Callable[[Labels], Sequence[Split]],
    metric: str,
    seed: int,
    shares: bool,
    i: int,
) -> float:
    """Return the score on one permutation; NaN if its labels allow no folds."""
    chains = None if data.residues is None else data.residues.record[: len(data.labels)]
    labels = permuted(data.labels, np.random.default_rng([seed, i]), chains)
    try:
        with warnings.catch_warnings(), given_threads(1):
            warnings.simplefilter("ignore")
            data, splits = replace(data, labels=labels), make_splits(labels)
            choices = method.choose_for_folds(data, splits) if shares else ()
            return mean_score(cross_validate(method, data, splits, choices=choices), metric)
    except (FoldError, LabelError):
        return math.nan


def _permutation_scores(
    task: Callable[[int], float],
    numbers: Sequence[int],
    n_processes: int | None,
    progress: Callable[[Sequence[int]], Iterator[int]],
) -> Iterator[tuple[int, float]]:
    """Yield the number and the score of each permutation."""
    workers = min(len(numbers), available_threads(n_processes))
    if workers <= 1 or sys.platform != "linux":
        for i in progress(numbers):
            yield i, task(i)
        return
    # one pipe for each process, no threads and no locks: an interruption at any moment leaves nothing that waits
    context = multiprocessing.get_context("fork")
    processes, pipes = [], []
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # in the processes for good
        for first in range(workers):
            reader, writer = context.Pipe(duplex=False)
            pipes.append(reader)
            own = numbers[first::workers]
            process = context.Process(target=_work, args=(task, own, writer, pipes), daemon=True)
            process.start()
            processes.append(process)
            writer.close()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for place, i in enumerate(progress(numbers)):
            yield i, _received(pipes[place % workers])
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _work(
    task: Callable[[int], float], numbers: Sequence[int], writer: Connection, readers: Sequence[Connection]
) -> None:
    """Send the scores of some permutations, or the error that ended them, from a separate process."""
    for reader in readers:
        reader.close()  # or a process whose parent was killed would wait for it
    try:
        for i in numbers:
            writer.send(task(i))
    except BrokenPipeError:
        return
    except Exception as error:
        writer.send(error)


def _received(pipe: Connection) -> float:
    """Return the score sent by a process, or raise its error."""
    try:
        found = pipe.recv()
    except EOFError as error:
        raise ChildProcessError("a process of the permutation test was killed") from error
    if isinstance(found, Exception):
        raise found
    return float(found)


def as_record(test: PermutationTest) -> dict[str, Any]:
    """Return a test as JSON for the record of a model."""
    return {
        "metric": test.metric,
        "permutations": len(test.null),
        "observed": test.observed,
        "mean": test.mean,
        "p": test.p,
    }
