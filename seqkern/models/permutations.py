"""The permutation test of a whole procedure: folds, choices and training are repeated on permuted labels.

Kernel matrices of kernels that learn nothing are shared by all permutations, also by processes: each is a fork of the
one that computed them. Every permutation has a seed of its own, so that the result does not depend on their number.
"""

import math
import multiprocessing
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from seqkern.core.checkpoint import Checkpoint
from seqkern.core.checks import check_integer
from seqkern.core.errors import FoldError, LabelError
from seqkern.core.threads import available_threads, given_threads
from seqkern.evaluation.fold_tables import FoldResult
from seqkern.evaluation.label_permutation import PermutationTest, permutation_test, permuted
from seqkern.folds import Split
from seqkern.models.cross_validation import cross_validate
from seqkern.models.data import Data
from seqkern.models.held_gram import HeldGram
from seqkern.models.method import Method
from seqkern.sequences.labels import Labels

STATISTICS = {"binary": ("auc", "accuracy"), "multiclass": ("auc", "accuracy"), "real": ("r2",)}
"""The scores to test by, the first that has a value."""


def procedure_test(
    method: Method,
    data: Data,
    make_splits: Callable[[Labels], Sequence[Split]],
    results: Sequence[FoldResult],
    n: int,
    *,
    seed: int = 1,
    n_processes: int | None = None,
    progress: Callable[[Sequence[int]], Iterator[int]] = iter,
    finished: Checkpoint | None = None,
) -> PermutationTest:
    """Test a cross-validated score against those of the same procedure on permuted labels.

    Parameters
    ----------
    method : Method
        The method; with several candidates the inner loop is part of the procedure.
    data : Data
        Kernels that learn from labels are fitted again on permuted ones.
    make_splits : callable
        Returns the outer folds of some labels.
    results : sequence of FoldResult
        On the true labels.
    n : int
        Number of permutations.
    seed : int, default 1
        Of the permutations.
    n_processes : int, optional
        At most; default: the number of cores. Fewer where their fits do not fit into memory beside each other, for a
        choice among many kernels; where processes cannot be forked, one.
    progress : callable, optional
        Wraps the numbers of the permutations, in the order in which they are done.
    finished : Checkpoint, optional
        Keeps the scores of finished permutations, for a run after one that was killed. Its identity includes the design
        of the folds.

    Returns
    -------
    PermutationTest
        By the AUC (for several classes its mean), or R² of real labels.

    Raises
    ------
    ParameterError
        If `n` is not positive.
    LabelError
        If the procedure has no score on the true labels.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.models.cross_validation import OuterFolds
    >>> from seqkern.models.training_data import training_data
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACAC", "AACA", "GGTG", "TGGT", "CAAC", "GTTG"] * 2, "dna")
    >>> method = Method(SpectrumKernel(2), "csvc:C=1")
    >>> data = training_data(method, X, make_labels(X.ids, ["a", "a", "b", "b", "a", "b"] * 2))
    >>> make_splits = OuterFolds(folds=2).splits
    >>> results = cross_validate(method, data, make_splits(data.labels))
    >>> procedure_test(method, data, make_splits, results, 19, n_processes=1).p
    0.05
    """
    check_integer("permutations", n, 1)
    metric = next((name for name in STATISTICS[data.labels.kind] if not math.isnan(mean_score(results, name))), None)
    if metric is None:
        raise LabelError("no fold has a score to test", remedy="choose folds whose test sets hold every class")
    task = partial(_score, method, data, make_splits, metric, seed)
    null = {}
    for i in range(n):
        known = None if finished is None else finished.get(f"{metric} {seed} {i}")
        if known is not None:
            null[i] = known
    workers = available_threads(n_processes)
    held = next((source.held for source in data.sources.values() if isinstance(source, HeldGram)), None)
    workers = workers if held is None else held.divide(workers)
    for i, score in _scores(task, [i for i in range(n) if i not in null], workers, progress):
        null[i] = score
        if finished is not None:
            finished.put(f"{metric} {seed} {i}", score)
    return permutation_test(metric, mean_score(results, metric), [null[i] for i in range(n)])


def mean_score(results: Sequence[FoldResult], metric: str) -> float:
    """Return the mean over folds of a score; NaN if no fold has it.

    Parameters
    ----------
    results : sequence of FoldResult
        Of the folds.
    metric : str
        The name of the score.

    Returns
    -------
    float
    """
    known = [float(value) for result in results if (value := result.metrics.get(metric)) is not None]
    known = [value for value in known if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _score(
    method: Method, data: Data, make_splits: Callable[[Labels], Sequence[Split]], metric: str, seed: int, i: int
) -> float:
    """Return the score on one permutation; NaN if its labels allow no folds."""
    chains = None if data.residues is None else data.residues.record[: len(data.labels)]
    labels = permuted(data.labels, np.random.default_rng([seed, i]), chains)
    try:
        with warnings.catch_warnings(), given_threads(1):
            warnings.simplefilter("ignore")
            return mean_score(cross_validate(method, replace(data, labels=labels), make_splits(labels)), metric)
    except (FoldError, LabelError):
        return math.nan


def _scores(
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
    """Send the scores of some permutations, or the error that ended them, from a process of their own."""
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
    """Return what a process sent, or raise its error."""
    try:
        found = pipe.recv()
    except EOFError as error:
        raise ChildProcessError("a process of the permutation test was killed") from error
    if isinstance(found, Exception):
        raise found
    return float(found)


def as_record(test: PermutationTest) -> dict[str, Any]:
    """Return a test as JSON for the record of a model.

    Parameters
    ----------
    test : PermutationTest
        The test.

    Returns
    -------
    dict
    """
    return {
        "metric": test.metric,
        "permutations": len(test.null),
        "observed": test.observed,
        "mean": test.mean,
        "p": test.p,
    }
