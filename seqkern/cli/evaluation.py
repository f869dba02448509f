"""One method on the outer splits of a data set: which folds are finished, and the work on the others.

Finished folds are kept in the folder ``.finished`` of the output, so that a stopped job loses one fold at most, and
several jobs can each compute a share of the folds. What only computing needs is loaded only if a fold is missing. A
fold is computed by one job at a time; the tables say which evaluation they are of, so that a late share computes none.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.pooled import INNER, InnerLoops, check_pooled
from seqkern.core.archive import canonical_json, check_writable
from seqkern.core.checkpoint import Checkpoint
from seqkern.core.errors import ParameterError

if TYPE_CHECKING:
    from seqkern.cli.outer_splits import OuterSplits
    from seqkern.gram import GramMatrix
    from seqkern.kernels.kernel import Kernel
    from seqkern.models.data import Data
    from seqkern.models.method import Method
    from seqkern.models.sources import Source
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.study.kernel_entries import KernelEntry
    from seqkern.study.reading import AnyKernel
    from seqkern.study.solver_entries import SolverEntry


class Evaluation:
    """The folds of one method.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of ``seqkern evaluate``.
    splits : OuterSplits
        The data set and its splits.
    kernel : KernelEntry, KernelChoice or AutoKernel
        The kernel, or several of which the inner loop chooses one.
    solver : SolverEntry
        The solver, its grid and layers.
    output : Path
        Folder for the tables.
    """

    def __init__(
        self, args: argparse.Namespace, splits: OuterSplits, kernel: AnyKernel, solver: SolverEntry, output: Path
    ) -> None:
        # imported here to keep --help fast
        from seqkern.models.search import Search
        from seqkern.study.auto_kernel import AutoKernel
        from seqkern.study.feasible import check_layers
        from seqkern.study.stored_grams import check_stored

        dataset = splits.dataset
        check_layers(solver.layers, dataset)
        if args.gram:
            check_stored(dataset, args.dataset)
        self.args, self.splits, self.solver, self.output = args, splits, solver, output
        self.entries: Sequence[KernelEntry] = kernel.candidates
        budget = None
        if isinstance(kernel, AutoKernel):
            real = any(task.labels.kind == "real" for task in dataset.tasks.values())
            sequences = cast("SequenceSet", dataset.X)
            self.entries = kernel.resolve(sequences, solver.input, real, solver.accepts_operator)
            budget = kernel.seconds / max(len(fold_set.splits) for fold_set in splits.fold_sets.values())
        # layers take the place of both
        self.calibration = None if solver.has_layers else args.calibration
        self.threshold = None if solver.has_layers else args.threshold
        self.candidates = solver.candidates([entry.name for entry in self.entries], args.inner_draws, args.seed)
        self.significance = args.significance
        if self.significance is not None:
            self.significance.check([spec for _, spec in self.candidates])
            for task in splits.fold_sets:
                self.significance.check_kind(splits.labels(task).kind)
        self.search = Search(
            args.inner_folds,
            args.inner_metric,
            args.seed,
            args.inner_rule,
            budget=budget,
            clusters=args.inner_clusters,
        )
        check_pooled(args, self.search, self.candidates)
        _check_grams(args.gram, [entry.kernel for entry in self.entries], solver.input)
        self._table = output / (INNER if args.inner_only else "metrics.tsv")
        check_writable(self._table)
        self.done = Checkpoint(output / ".finished", self._identity)

    @property
    def _identity(self) -> str:
        """What the results depend on besides labels and splits."""
        # imported here to keep --help fast
        from seqkern.gram.side_file import stored_dtype

        how = {"calibration": self.calibration, "threshold": self.threshold, "layers": self.solver.layers.specs()}
        how |= {"dtypes": [stored_dtype(path) for path in self.args.gram]}
        how |= {"selection_bias": self.args.selection_bias, "inner_only": self.args.inner_only}
        if self.significance is not None:
            how |= {"significance": self.significance.to_dict(), "seed": self.args.seed}
        return canonical_json([self._inner_identity, how])

    @cached_property
    def _inner_identity(self) -> str:
        """What inner loops depend on besides labels and splits."""
        # imported here to keep --help fast
        from seqkern.core.build import build_digest

        kernels = [[entry.name, entry.kernel.identity(), entry.transform_specs] for entry in self.entries]
        made = [build_digest(), self.splits.dataset.X.digest(), *kernels]
        return canonical_json([made, self.candidates, asdict(self.search)])

    @cached_property
    def _loops(self) -> InnerLoops:
        """The inner loops, for a choice over several tasks."""
        return InnerLoops(self.candidates, self.splits.dataset, self._inner_identity)

    @cached_property
    def _choices(self) -> list[Any]:
        """The choice for each split that was made over several tasks, or None."""
        keys = self.splits.keys
        if not self.args.pooled:
            return [None] * len(keys)
        pooled = self._loops.pooled(self.args.pooled, keys)
        return [pooled[key] for key in keys]

    @cached_property
    def keys(self) -> list[str]:
        """The key of each fold among the finished ones."""
        return [
            key if choice is None else canonical_json([key, choice.place, choice.tasks, choice.mean_rank])
            for key, choice in zip(self.splits.keys, self._choices, strict=True)
        ]

    # ---- the work ----------------------------------------------------------------------------------------

    @cached_property
    def method(self) -> Method:
        """The method, checked on every training set."""
        # imported here to keep --help fast
        from seqkern.models.method import Method

        method = Method(
            {entry.name: entry.kernel for entry in self.entries},
            self.candidates,
            transforms={entry.name: entry.transforms for entry in self.entries},
            layers=self.solver.layers.specs(),
            calibration=self.calibration,
            threshold=self.threshold,
            search=self.search,
        )
        for task, split in self.splits.work:
            with self.splits.naming(task, split):
                method.check(self.splits.labels(task).take(split.train), place=f"split {split.name!r}")
        return method

    @cached_property
    def data(self) -> dict[str, Data]:
        """The kernel values and labels of each task."""
        # imported here to keep --help fast
        from seqkern.models.data import Data

        sources, dataset = self._sources(), self.splits.dataset
        return {
            task: Data(self.splits.labels(task), sources, dataset.residues, dataset.tasks[task].unlabelled())
            for task in self.splits.fold_sets
        }

    def _sources(self) -> dict[str, Source]:
        """Return the sources of kernel values, such as the given Gram matrices; what they need fits into memory."""
        # imported here to keep --help fast
        from seqkern.gram import open_gram

        X, given = self.splits.dataset.X, self.args.gram
        paths = iter(given)
        grams: dict[str, list[GramMatrix]] = {}
        for entry in self.entries:
            form = entry.kernel.stored_form() if given else None
            kernels = () if form is None else form.kernels
            grams[entry.name] = [open_gram(next(paths), X, kernel=one) for one in kernels]
        held = self.search.budget is not None and self.method.input == "gram"
        limit = self.args.memory if given or held else None  # features have no other form within a limit
        sources = self.method.sources(X, grams=grams, memory_limit=limit, n_threads=self.args.threads)
        for task, split in self.splits.work:
            with self.splits.naming(task, split):
                for source in sources.values():
                    source.check_room(len(split.train), len(split.test))
        return sources

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Keep the finished folds while this job runs; the last job removes them when the tables are written."""
        # imported here to keep --help fast
        from seqkern.core.locks import FolderLock

        lock = FolderLock(self.done.folder)
        with contextlib.suppress(OSError):  # whoever writes the folds will say so
            lock.acquire(shared=True)
        try:
            yield
            if lock.is_alone() is not False and self.is_gathered():
                self.done.clear()
        finally:
            lock.release()

    @cached_property
    def _name(self) -> str:
        """The digest of what the tables depend on."""
        return blake2b(canonical_json([self._identity, self.keys]).encode(), digest_size=16).hexdigest()

    def is_gathered(self) -> bool:
        """Return whether the tables of this evaluation are written."""
        try:
            cost = json.loads((self.output / "cost.json").read_text(encoding="utf-8"))
            return bool(cost["evaluation"] == self._name) and self._table.is_file()
        except (OSError, ValueError, RecursionError, KeyError, TypeError):
            return False

    def finish(self, place: int) -> Any:
        """Return the result of a fold, which is computed and kept unless it was before.

        Parameters
        ----------
        place : int
            Which of the splits.

        Returns
        -------
        dict
        """
        # imported here to keep --help fast
        from seqkern.core.locks import alone_in

        with alone_in(self.done.folder / f"fold-{place}", temporary=True):  # another job may compute it
            found = self.done.get(self.keys[place])
            if found is None:
                found = self._compute(place)
                self.done.put(self.keys[place], found)
        return found

    def _compute(self, place: int) -> Any:
        """Return the result of a fold."""
        # imported here to keep --help fast
        from seqkern.core.threads import given_threads
        from seqkern.models.crossval import evaluate_fold

        task, split = self.splits.work[place]
        with self.splits.naming(task, split), given_threads(self.args.threads):
            method = self.method
            if self.args.inner_only:
                return self._loops.run(method, self.data[task], task, split, self.keys[place])
            choice, bias = self._choices[place], self.args.selection_bias
            how = {"choice": choice, "selection_bias": bias, "significance": self.significance}
            how["path"] = place == 0  # one example is enough
            return asdict(evaluate_fold(method, self.data[task], split, task=task, **how))

    def write(self, finished: Sequence[Any]) -> None:
        """Write the tables.

        Parameters
        ----------
        finished : sequence of dict
            The result of every fold.
        """
        # imported here to keep --help fast
        from seqkern.core.cost import write_cost
        from seqkern.core.locks import alone_in
        from seqkern.evaluation.fold_tables import FoldResult, write_results
        from seqkern.evaluation.residue_results import write_residue_results

        with alone_in(self.output):
            if self.args.inner_only:
                self._loops.write(self.output, finished)
            else:
                results = [FoldResult(**row) for row in finished]
                write_results(self.output, results)
                if self.splits.dataset.residues is not None:
                    write_residue_results(self.output, self.splits.dataset, results)
            laps = [lap for one in finished for lap in one["cost"]]
            write_cost(self.output / "cost.json", laps, evaluation=self._name)


def _check_grams(grams: Sequence[str], kernels: Sequence[Kernel], wanted: str) -> None:
    """Raise ParameterError unless there is no Gram matrix, or one for each kernel that can be stored."""
    if grams and wanted != "gram":
        raise ParameterError(
            "the solver is trained without a Gram matrix", file=grams[0], remedy="remove --gram, or choose csvc"
        )
    forms = [kernel.stored_form() for kernel in kernels]
    learning = [kernel.name for kernel, form in zip(kernels, forms, strict=True) if form is None]
    needed = sum(len(form.kernels) for form in forms if form is not None)
    if grams and not needed:
        raise ParameterError(
            f"kernel {learning[0]!r} is fitted to data: a Gram matrix over all samples would include the test sets",
            file=grams[0],
            remedy="remove --gram; the kernel is fitted on each training set",
        )
    if grams and len(grams) != needed:
        raise ParameterError(
            f"{len(grams)} Gram matrices for {needed} kernels that need one",
            remedy="give one for each kernel, in order",
        )
