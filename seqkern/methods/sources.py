"""Sources of the kernel values of a training and a test set.

A kernel without fitting has one Gram matrix for all folds, which is sliced. A kernel fitted to data is fitted on each
training set, so that ``fit`` never sees a test sequence; if its matrix can be derived from the matrices of other
kernels (`Kernel.stored_form`), these are sliced and only the last step is fitted. Solvers without a Gram matrix get
feature vectors, and each part takes its own.

Each source declares what it `gives`, matching a solver's `input`. Training the final model first calls
`compute_whole`, so that data too large for memory are rejected before the inner loop.
"""

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

import numpy as np

from seqkern.core.convergence import unconverged
from seqkern.core.errors import GramError, ParameterError, TooLargeError
from seqkern.core.memory import (
    available_memory,
    default_limit_text,
    format_bytes,
    memory_left,
    more_memory,
    parse_bytes,
)
from seqkern.core.progress import COMMON_CORE, tell
from seqkern.core.threads import given_threads
from seqkern.core.types import Array, Floats, Indices, Targets
from seqkern.evaluation.halving import Work
from seqkern.formats.residues import Residues
from seqkern.gram.compute import compute_gram
from seqkern.gram.matrix import GramMatrix, GramRows, is_whole_map
from seqkern.gram.transforms.gram_transform import GramTransform, build_transform, fit_chain, naming_rows
from seqkern.kernels.blocks import fill
from seqkern.kernels.capabilities import required
from seqkern.kernels.composite import add_counts
from seqkern.kernels.decisions import DeferredImplicit, is_deferred
from seqkern.kernels.features import FeatureBlocks
from seqkern.kernels.kernel import Kernel, StoredForm
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.kernels.kernel_specs import solver_input
from seqkern.kernels.prepared import Prepared
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable, SimilarityTable
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import FitWork, dense_algebra
from seqkern.solvers.solver_specs import build_solver, make_solver

if TYPE_CHECKING:
    from seqkern.study.kernel_entries import KernelEntry
    from seqkern.study.solver_entries import SolverEntry

# The solver's input for a training set, and for the samples that a solver fitted on it classifies.


@dataclass(eq=False)
class Block:
    """A solver's input for a training set and, optionally, for samples to be classified.

    >>> Block(np.eye(2)).test is None
    True
    """

    train: Any  # Gram matrix K(train, train), features, or an Implicit
    test: Any = None  # The same of the samples to be classified, such as K(test, train); None without them
    # shape (l,): K(x, x) of the training set, before the transforms; empty for features
    diagonal: Floats = field(default_factory=lambda: np.zeros(0))
    test_diagonal: Floats | None = None  # shape (n,): K(x, x) of the test samples, after the transforms
    learned: dict[str, float] = field(default_factory=dict)  # Fitted values of the kernel to report (`Kernel.learned`)
    transforms: list[GramTransform] = field(default_factory=list)  # Fitted
    kernel: Kernel | None = None  # Fitted on the training set; None if the block does not need it
    counts: dict[str, int] = field(default_factory=dict)  # Of the kernel's policies; known for all samples only
    joined: Any = None  # The fitted last step from the matrices of several kernels (see `StoredForm`), if there was one


# Memory for the Gram matrices of a fit: its requirement, and whether a stored matrix is read by rows instead.

FEWER = "train on fewer samples (folds: {method: grouped, train_size: …})"
BY_ROWS = (
    "choose a solver that reads a stored matrix by rows, without transforms and repair: csvc or svr with a finite C, "
    "psvc, psvr or one_class_svm"
)
"""Alternative remedy for a stored matrix."""
TRANSFORMED = 2
"""Number of matrices besides the input of a chain of transforms that exist at the same time."""
JOINED = 2
"""Number of matrices besides the inputs of a join of kernels that exist at the same time."""
ROWS_SHARE = 3 / 4
"""Share of the limit for the rows that a solver keeps."""
ROW_WORK_BYTES = 256 * 2**20
"""Bytes of blocks in transit, and of everything but matrices, in a fit by rows."""


def no_bytes(n: int) -> int:
    """Return 0, the default for the memory that a solver needs besides a matrix of n samples."""
    return 0


@dataclass(frozen=True)
class HeldKernel:
    """The memory requirements of one kernel in a choice among many kernels.

    `stored` identifies the kernels from whose matrices it is made, empty if it is fitted on each training set;
    `work` is the memory in bytes for computing a matrix of all samples besides the matrix.
    """

    # Identities of the kernels of whose matrices it is made; none if it is fitted on each training set
    stored: tuple[str, ...]
    transforms: int = 0  # Number of transforms of a training set's matrix
    work: int = 0  # Bytes that computing a matrix of all samples takes besides it

    @classmethod
    def of(cls, kernel: Kernel, X: Any, transforms: int = 0) -> "HeldKernel":
        """Return the memory requirements of a kernel with `transforms` after its stored form's."""
        form = kernel.stored_form
        parts = [kernel] if form is None else form.kernels
        own = 0 if form is None else int(form.learns and form.join is None)
        work = max(part.plan(X).bytes for part in parts)
        stored = () if form is None else tuple(part.identity() for part in parts)
        return cls(stored, transforms + own, int(work))


@dataclass(frozen=True)
class MemoryBudget:
    """Memory for the matrices of a fit, and the requirements of its solvers.

    Fits of up to `limit` bytes slice a stored matrix; larger ones read it by rows if the solvers can. If they
    cannot, slices may take up to `most` bytes, and a larger fit is refused. ``beside(n)`` returns the bytes
    that the solvers need besides a matrix of n training samples; `without` says what to train instead
    (`Solver.without_matrix`).

    >>> memory_budget = MemoryBudget(limit=10**9, most=2 * 10**9, accepts_rows=True)
    >>> memory_budget.by_rows(10_000, 1000), memory_budget.by_rows(20_000, 1000)
    (False, True)
    """

    limit: int  # Bytes within which matrices are sliced; a larger fit reads a stored matrix by rows, if its solvers can
    # Bytes within which they are sliced if the solvers cannot read rows; a larger fit is refused. Equal to the limit
    # where this has no exceptions, as for a choice among many kernels
    most: int
    accepts_rows: bool = False  # Whether all solvers can be fitted on rows of a stored matrix
    # ``beside(n)`` returns the bytes that the solvers need besides a matrix of n training samples
    beside: Callable[[int], int] = no_bytes
    without: str = ""  # What to train instead: `Solver.without_matrix`

    @classmethod
    def of(
        cls,
        memory_limit: int | str | None,
        accepts_rows: bool,
        beside: Callable[[int], int] = no_bytes,
        without: str = "",
    ) -> "MemoryBudget":
        """Return the room within a limit; by default half of the available memory, and all of it at most."""
        if memory_limit is not None:
            limit = parse_bytes(memory_limit)
            return cls(limit, max(limit, available_memory()), accepts_rows, beside, without)
        available = available_memory()
        return cls(available // 2, available, accepts_rows, beside, without)

    @property
    def for_rows(self) -> int:
        """Bytes for a solver's cache of rows."""
        return int(self.limit * ROWS_SHARE)

    def slice_bytes(self, n_train: int, n_test: int, matrices: int = 1, transforms: int = 0, work: int = 0) -> int:
        """Return the peak memory in bytes of a fit on slices of matrices, without the process itself."""
        one = 8 * n_train * (n_train + n_test)
        made = one * (matrices + JOINED * (matrices > 1) + TRANSFORMED * (transforms > 0))
        return made + max(self.beside(n_train), work)

    def held_bytes(self, n: int, kernels: "Iterable[HeldKernel]") -> tuple[int, int]:
        """Return the bytes of all kernels' matrices over n samples, and of the largest fit besides them."""
        every = list(kernels)
        stored = {identity for one in every for identity in one.stored}
        return 8 * n * n * len(stored), max((self.fit_bytes(one, n, 0) for one in every), default=0)

    def holds(self, n: int, kernels: "Iterable[HeldKernel]") -> bool:
        """Return whether the matrices of all kernels over n samples, and the largest fit, are within the limit."""
        return sum(self.held_bytes(n, kernels)) <= self.limit

    def fit_bytes(self, kernel: "HeldKernel", n_train: int, n_test: int) -> int:
        """Return the bytes of a fit with a kernel besides the matrices that are kept."""
        return self.slice_bytes(n_train, n_test, max(1, len(kernel.stored)), kernel.transforms, kernel.work)

    def row_bytes(self, n_train: int) -> int:
        """Return the peak memory in bytes of a fit on rows of a stored matrix, without the process itself."""
        return min(self.for_rows, 4 * n_train**2) + ROW_WORK_BYTES

    def by_rows(self, n_train: int, n_test: int) -> bool:
        """Return whether a stored matrix is read by rows: if the solvers can, and slices exceed the limit."""
        return self.accepts_rows and self.slice_bytes(n_train, n_test) > self.limit

    def check(self, need: int, n_train: int, n_test: int, *, stored: bool) -> None:
        """Raise GramError, with a remedy, unless a fit on slices fits in memory."""
        if need > self.most:
            left, size = memory_left(), format_bytes(self.most)
            remedy = f"raise it to {format_bytes(need)}" if self.most == self.limit else left.remedy
            more = f"{remedy}, {BY_ROWS}" if stored else remedy
            what = f"the limit is {size}" if self.most == self.limit else f"{size} are left {left.place}"
            error = TooLargeError(
                f"a solver that needs the kernel values of {n_train} training and {n_test} test samples at once takes "
                f"{format_bytes(need)} of memory, but {what}",
                remedy=f"{more}, or {FEWER}",
                more=more,
            )
            error.suggest(self.without)
            raise error


# Observers of a method's fitting.


class Callbacks:
    """Observer of `Method.fit`, without influence on it; this base class does nothing."""

    def lap(self, stage: str) -> None:
        """Note the end of a stage: ``choose``, ``hold out``, ``layers``, ``kernel`` or ``train``."""

    def kernel_values(self, block: Block, learns: bool) -> None:
        """Observe a block before the transforms; `learns`: each training set has its own matrix."""

    def training_matrix(
        self, K: Floats, kernel: Kernel | None, transforms: list[GramTransform], solver: Solver
    ) -> None:
        """Observe the Gram matrix, after the transforms, before a solver is fitted on it.

        For solvers on features, K is the features or an Implicit.
        """


NO_CALLBACKS = Callbacks()
"""The observer that does nothing."""


Samples = SequenceSet | FeatureTable | SimilarityTable

OUTPUT_NS = 2.0
"""Nanoseconds of writing, normalising and mirroring a matrix entry, for any kernel."""
SLICE_NS = 1.5
"""Nanoseconds of reading an entry of a stored matrix, and copying it."""
FEATURE_NS = 8.0
"""Nanoseconds of computing a byte of features."""
FEATURE_COPY_NS = 0.5
"""Nanoseconds of copying a byte of features, or of a product with it."""
FIT_SECONDS = 4e-3
"""CPU seconds of a fit, decisions and scores, however few samples there are."""
RECORD_BYTES = 160
"""Memory of a solver for each record in addition to its feature vector, including temporary copies."""


class Source:
    """Base class of all sources: a subclass defines `block`, and `compute_whole` for training on all samples."""

    gives: ClassVar[str] = "gram"
    learns: bool = False  # Whether each training set has its own matrix
    repeatable: bool = True  # Whether samples can be classified that were not known when the solver was fitted
    grams: Sequence[GramMatrix] = ()
    held: "HeldMatrices | None" = None
    _whole: Block | None = None
    _latest: tuple[tuple[bytes, bytes], Kernel] | None = None  # A training set with its labels, and its fitted kernel

    def __init__(
        self,
        kernel: Kernel | None = None,
        X: Samples | None = None,
        transforms: Sequence[GramTransform] = (),
        *,
        ids: Sequence[str] | None = None,
        n_threads: int | None = None,
        memory_budget: MemoryBudget | None = None,
    ) -> None:
        self.kernel, self.X, self.transforms = kernel, X, transforms
        self.ids = X.ids if ids is None and X is not None else ids
        self.n_threads, self.memory_budget = n_threads, memory_budget

    def predicted(self) -> tuple[float, float | None]:
        """Return the predicted CPU seconds of the values of all samples, and of one product; None for a Gram matrix."""
        if self.kernel is None or self.X is None:
            return 0.0, None
        form = self.kernel.stored_form
        parts = [self.kernel] if form is None else form.kernels
        output = len(parts) * len(self.X) ** 2 * OUTPUT_NS * 1e-9
        return sum(part.plan(self.X).seconds for part in parts) + output, None

    def block(self, train: Indices, test: Indices, y: Targets = None) -> Block:
        """Return the Block of a training and a test set, before the transforms."""
        raise NotImplementedError

    def at(
        self, rows: Indices, like: Indices | None = None, y: Targets = None, callbacks: Callbacks = NO_CALLBACKS
    ) -> Block:
        """Return the Block of samples for a solver trained on `like`; without `like`, of `rows` as a training set.

        `y` are the targets of the training set.
        """
        train, test = (rows, rows[:0]) if like is None else (like, rows)
        whole = self._whole if like is None and is_all(train, self.n_samples) else None
        block = self.block(train, test, y) if whole is None else whole
        callbacks.kernel_values(block, self.learns)
        done = self._transformed(block, self.transforms, train, test)
        return replace(done, diagonal=block.diagonal, test=None if like is None else done.test)

    @property
    def refitted(self) -> bool:
        """Whether the values are computed anew for each training set."""
        return self.kernel is not None and self.kernel.traits.data_dependent and self.kernel.stored_form is None

    @property
    def n_samples(self) -> int:
        """The number of samples of the source; 0 if unknown."""
        return len(self.grams[0].row_diagonal) if self.X is None and self.grams else len(self.X or ())

    def compute_whole(self, y: Targets = None, **options: Any) -> None:
        """Compute and keep the Block of all samples in advance; raise GramError if it does not fit into memory."""
        raise NotImplementedError

    def check_memory(self, n_train: int, n_test: int) -> None:
        """Raise GramError, before any work, if a fit does not fit into memory; by default it does."""

    def fitted_kernel(self, train: Indices, y: Targets = None) -> Kernel:
        """Return the kernel for a training set: a copy that is fitted, or the kernel itself if it learns nothing."""
        if self.kernel is None or self.X is None:
            raise ParameterError(
                "the source has only kernel values, so no model can be created from it",
                remedy="also give it the kernel and the samples",
            )
        if not self.kernel.traits.data_dependent:
            return self.kernel
        key = train.tobytes(), b"" if y is None else np.asarray(y).tobytes()
        if self._latest is None or self._latest[0] != key:  # the choice of a kernel has fitted the one that it chose
            self._latest = key, copy.deepcopy(self.kernel).fit(self.units(train), y)
        return self._latest[1]

    def units(self, rows: Indices) -> Samples:
        """Return the samples in some rows; the set itself if the rows are all of them."""
        assert self.X is not None
        return self.X if is_all(rows, len(self.X)) else self.X.take(rows)

    def _transformed(self, block: Block, transforms: Sequence[GramTransform], train: Indices, test: Indices) -> Block:
        """Return a Block after transforms, which are fitted on the training matrix only."""
        if not len(transforms):
            return block
        with given_threads(self.n_threads):
            with naming_rows(self._ids(train)):
                fitted, K_train, diagonal = fit_chain(transforms, block.train, block.diagonal)
            K_test, test_diagonal = block.test, block.test_diagonal
            with naming_rows(self._ids(test)):
                for transform in fitted if len(test) else ():
                    K_test, test_diagonal = transform.transform(K_test, test_diagonal)
        K_test = None if K_test is None else np.ascontiguousarray(K_test)
        block = replace(block, train=K_train, test=K_test, transforms=fitted)
        return replace(block, diagonal=diagonal, test_diagonal=test_diagonal)

    def _ids(self, rows: Indices) -> list[str] | None:
        """Return the ids of some samples; None if unknown."""
        return None if self.ids is None else [self.ids[row] for row in rows]

    def _derived(
        self, part: Kernel | StoredForm, slices: Iterator[Block], train: Indices, test: Indices, y: Targets
    ) -> Block:
        """Return the Block of a kernel or StoredForm; `slices` gives its kernels' Blocks, in order."""
        if isinstance(part, Kernel):
            return next(slices)
        parts = [self._derived(inner, slices, train, test, y) for inner in part.parts]
        block = parts[0] if part.join is None else self._joined(part.join, parts, train, test, y)
        if not part.transforms:
            return block
        chain = [build_transform(item) for item in part.transforms]
        return replace(self._transformed(block, chain, train, test), transforms=[], joined=None, kernel=None)

    def _joined(self, join: Any, parts: list[Block], train: Indices, test: Indices, y: Targets) -> Block:
        """Return the Block that `join` (see StoredForm) makes from several Blocks."""
        columns = [part.diagonal for part in parts]
        with naming_rows(self._ids(train)):
            joined = join.learn_from([part.train for part in parts], y)
            K_train, diagonal = joined.combine([part.train for part in parts], columns, columns)
        with naming_rows(self._ids(test)):
            rows = [part.test_diagonal for part in parts]
            K_test, test_diagonal = joined.combine([part.test for part in parts], rows, columns)
        learned = {name: value for part in parts for name, value in part.learned.items()}
        return Block(K_train, K_test, diagonal, test_diagonal, learned | joined.learned(), joined=joined)


class StoredGram(Source):
    """Slices of Gram matrices over all samples, and the kernel derived from them."""

    def __init__(
        self,
        grams: GramMatrix | list[GramMatrix],
        transforms: Sequence[GramTransform] = (),
        *,
        form: StoredForm | None = None,
        kernel: Kernel | None = None,
        X: Samples | None = None,
        **options: Any,
    ) -> None:
        super().__init__(kernel, X, transforms, **options)
        self.grams = grams if isinstance(grams, list) else [grams]
        self.form, self.learns = form, form is not None and form.learns

    @cached_property
    def _on_disk(self) -> bool:
        """Whether the kernel's own matrix is in a file that rows can be read from."""
        values = self.grams[0].values
        own = not self.learns and not len(self.transforms)
        return own and is_whole_map(values) and bool(values.flags.c_contiguous)

    def _by_rows(self, n_train: int, n_test: int) -> bool:
        """Return whether solvers get rows of the file instead of slices."""
        return self.memory_budget is not None and self._on_disk and self.memory_budget.by_rows(n_train, n_test)

    def check_memory(self, n_train: int, n_test: int) -> None:
        """Check that slices fit into memory, unless the matrix is read by rows."""
        if self.memory_budget is None or self._by_rows(n_train, n_test):
            return
        need = self.memory_budget.slice_bytes(n_train, n_test, len(self.grams), len(self.transforms) + self.learns)
        self.memory_budget.check(need, n_train, n_test, stored=any(is_whole_map(gram.values) for gram in self.grams))

    def block(self, train: Indices, test: Indices, y: Targets = None) -> Block:
        """Return slices of the matrices, or rows that are read from the file, none of them kept in memory."""
        if self._by_rows(len(train), len(test)):
            assert self.memory_budget is not None
            values, diagonal, size = self.grams[0].values, self.grams[0].row_diagonal, self.memory_budget.for_rows
            assert isinstance(values, np.memmap)
            K_train, K_test = (GramRows(values, rows, train, size) for rows in (train, test))
            return Block(K_train, K_test, diagonal[train], diagonal[test])
        self.check_memory(len(train), len(test))
        slices = (sliced(gram, train, test) for gram in self.grams)
        return next(slices) if self.form is None else self._derived(self.form, slices, train, test, y)

    def compute_whole(self, y: Targets = None, **options: Any) -> None:
        """Keep the values of all samples, without a copy if the matrix is the kernel's own."""
        gram, every = self.grams[0], np.arange(self.n_samples)
        if self.learns or is_whole_map(gram.values):
            block = self.block(every, every[:0], y)
        else:
            block = Block(gram.values, diagonal=gram.row_diagonal)
        # what was fitted on the matrices need not be fitted again on newly computed ones
        kernel = self.fitted_kernel(every, y) if block.joined is None else block.joined.fit_parts(self.X, y)
        self._whole = replace(block, kernel=kernel, counts=add_counts(gram.meta["counts"] for gram in self.grams))


def sliced(gram: GramMatrix, train: Indices, test: Indices) -> Block:
    """Return the Block of the training and test rows of one square matrix."""
    diagonal = gram.row_diagonal
    return Block(gram.slice(train, train), gram.slice(test, train), diagonal[train], diagonal[test])


class FittedKernel(Source):
    """Kernel values from a kernel fitted on each training set."""

    kernel: Kernel
    X: Samples

    def __init__(self, kernel: Kernel, X: Samples, transforms: Sequence[GramTransform] = (), **options: Any) -> None:
        super().__init__(kernel, X, transforms, **options)
        self.learns = kernel.traits.data_dependent

    def check_memory(self, n_train: int, n_test: int) -> None:
        """Check that the matrices fit into memory."""
        memory_budget = MemoryBudget.of(None, accepts_rows=False) if self.memory_budget is None else self.memory_budget
        need = memory_budget.slice_bytes(n_train, n_test, transforms=len(self.transforms))
        memory_budget.check(need, n_train, n_test, stored=False)

    def block(self, train: Indices, test: Indices, y: Targets = None) -> Block:
        """Return the values of a kernel fitted on the training set."""
        self.check_memory(len(train), len(test))
        kernel = self.fitted_kernel(train, y)
        columns = kernel.prepare(self.units(train))
        rows = kernel.prepare(self.X.take(test), like=columns) if len(test) else None
        K_train = self._filled(kernel, columns, columns)
        block = Block(K_train, K_train[:0], columns.diagonal, np.zeros(0), kernel.learned(), kernel=kernel)
        if rows is not None:
            block.test, block.test_diagonal = self._filled(kernel, rows, columns), rows.diagonal
        return block

    def _filled(self, kernel: Kernel, rows: Prepared, columns: Prepared) -> Floats:
        """Return the kernel matrix between two prepared sets."""
        out = np.empty((len(rows), len(columns)))
        fill(kernel, rows, columns, out, n_threads=self.n_threads)
        return out

    def compute_whole(self, y: Targets = None, **options: Any) -> None:
        """Fit the kernel on all samples, and compute its matrix over them."""
        kernel = self.fitted_kernel(np.arange(len(self.X)), y)
        gram = compute_gram(kernel, self.X, n_threads=self.n_threads, **options)
        known = {"learned": kernel.learned(), "kernel": kernel, "counts": gram.meta["counts"]}
        self._whole = Block(gram.values, diagonal=gram.row_diagonal, **known)


class ImplicitSource(Source):
    """Implicit feature vectors, never stored, for solvers that need no Gram matrix."""

    gives = "implicit"
    kernel: Kernel
    X: Samples

    def __init__(
        self,
        kernel: Kernel,
        X: Samples,
        transforms: Sequence[GramTransform] = (),
        memory_limit: int | str | None = None,
    ) -> None:
        super().__init__(kernel, X)
        required(kernel, self.gives)
        check_no_transforms(transforms)
        self.repeatable = not kernel.traits.data_dependent  # else features are numbered for one training set
        size = DeferredImplicit.bytes_for(kernel, X) if self._defers(X) else getattr(kernel, self.gives).bytes(X)
        limit, need = MemoryBudget.of(memory_limit, False).limit, size + RECORD_BYTES * len(X)
        if need > limit:
            raise GramError(
                f"training on {len(X)} samples without a Gram matrix needs {format_bytes(need)} of memory, but the "
                f"limit is {format_bytes(limit)}{default_limit_text(memory_limit)}",
                remedy=f"{more_memory(memory_limit)}, use shorter k-mers, or use fewer samples",
            )

    def _defers(self, X: Samples) -> TypeGuard[SequenceSet]:
        """Return whether the feature vectors of samples are computed for each pass."""
        return self.gives == "implicit" and is_deferred(X)

    def _make(self, kernel: Kernel, X: Samples) -> KernelOperator:
        """Return the solver's input for some samples."""
        made: KernelOperator = DeferredImplicit(kernel, X) if self._defers(X) else getattr(kernel, self.gives)(X)
        return made

    @cached_property
    def whole(self) -> KernelOperator:
        """The solver input for all samples, for a kernel without fitting."""
        return self._make(self.kernel, self.X)

    def predicted(self) -> tuple[float, float | None]:
        """Return the predicted CPU seconds of the values of all samples, and of one product."""
        products = getattr(self.kernel, self.gives)
        return products.bytes(self.X) * FEATURE_NS * 1e-9, products.cost(self.X)

    def block(self, train: Indices, test: Indices, y: Targets = None) -> Block:
        """Return the Implicits of a training and a test set."""
        if not self.kernel.traits.data_dependent:
            K_train, K_test, kernel, learned = self.whole.take(train), self.whole.take(test), None, {}
        else:
            kernel = self.fitted_kernel(train, y)
            both = self._make(kernel, self.X.take(np.concatenate((train, test))))
            K_train, K_test = (both.take(rows) for rows in np.split(np.arange(len(both)), [len(train)]))
            learned = kernel.learned()
        return Block(K_train, K_test, K_train.squares, K_test.squares, learned, kernel=kernel)

    def compute_whole(self, y: Targets = None, **options: Any) -> None:
        """Fit the kernel on all samples, and compute their feature vectors."""
        kernel = self.fitted_kernel(np.arange(len(self.X)), y)
        K = self._make(kernel, self.X) if kernel.traits.data_dependent else self.whole
        self._whole = Block(K, None, K.squares, None, kernel.learned(), kernel=kernel, counts=K.counts)


def check_no_transforms(transforms: Sequence[GramTransform]) -> None:
    """Raise ParameterError if there are transforms of a Gram matrix but no such matrix."""
    if len(transforms):
        raise ParameterError(
            "transforms need a Gram matrix, but this solver is trained without one",
            remedy="remove transforms and repair (the kernel has normalize=true), or choose a solver such as csvc",
        )


def check_source(source: Source, wanted: str, accepts_operator: bool = False) -> None:
    """Raise ParameterError unless a source provides the solvers' input: otherwise features could be mistaken for K."""
    if source.gives != wanted and not (accepts_operator and source.gives == "operator"):
        raise ParameterError(
            f"the solver needs {wanted}, but the source gives {source.gives}",
            remedy="use ImplicitSource for a solver without a Gram matrix, StoredGram or FittedKernel for others",
        )


def is_all(rows: Indices, n: int) -> bool:
    """Return whether `rows` are all n rows, in order."""
    return len(rows) == n and bool(np.array_equal(rows, np.arange(n)))


# Gram matrices computed when first needed, and kept for the next request: for choosing among many kernels.


def computed_samples(n: int, n_all: int, whole: bool) -> int:
    """Return the number of samples in the matrix that a request for n samples computes.

    A matrix of all samples also serves the other training sets, but not a subset of half of them.
    """
    return n_all if whole and 5 * n >= 3 * n_all else n


class HeldMatrices:
    """The matrices of several kernels over the samples of the last request, or over all samples (`whole`).

    The folds of an inner loop repeatedly request parts of the same samples: the first request computes a
    matrix, further requests are slices of it. Kernels composed of the same kernels share their matrices. A
    request for other samples replaces the matrices that are not over all samples. If `memory_budget` does not suffice,
    or several take more than `most_bytes`, the oldest matrices are dropped; if a single matrix does not fit beside its
    slices, the slices are computed without it.
    """

    def __init__(
        self,
        X: "Samples",
        whole: bool = False,
        memory_budget: "MemoryBudget | None" = None,
        n_threads: int | None = None,
        most_bytes: int | None = None,
    ) -> None:
        self.X = X
        self.whole = whole
        self.most_bytes = most_bytes
        self.memory_budget = MemoryBudget.of(None, accepts_rows=False) if memory_budget is None else memory_budget
        self.n_threads = n_threads
        self.rows = np.zeros(0, dtype=np.int64)
        self.place = np.full(len(X), -1, dtype=np.int64)
        self._matrices: dict[str, GramMatrix] = {}
        self._room = 0
        self._expected = 0, 0

    def expect(self, kernels: "Sequence[HeldKernel]") -> None:
        """Compute matrices of all samples at the first request if all given kernels' matrices fit in memory."""
        self._expected = self.memory_budget.held_bytes(len(self.X), kernels)
        self.whole = self.memory_budget.holds(len(self.X), kernels)

    def check_all(self) -> None:
        """Raise TooLargeError unless the largest fit on all samples fits into memory by itself."""
        self.memory_budget.check(self._expected[1], len(self.X), 0, stored=False)

    def divide(self, processes: int) -> int:
        """Divide the memory among forked processes with separate fits.

        Return how many of them have room for a fit, at least 1.
        """
        matrices, fit = self._expected
        limit = self.memory_budget.limit - (matrices if self.whole else 0)  # matrices of all samples are shared
        processes = max(1, min(processes, limit // max(1, fit)))
        if not self.whole:
            self.memory_budget = replace(self.memory_budget, limit=limit // processes)
        return processes

    def include(self, rows: Indices, need: int) -> None:
        """Prepare for a request: drop matrices without some of the samples, or that leave no room for the fit."""
        if 2 * len(rows) < len(self.rows) or not (self.place[rows] >= 0).all():
            n = len(self.X)
            self.rows = np.arange(n) if computed_samples(len(rows), n, self.whole) == n else np.unique(rows)
            self._matrices = {key: one for key, one in self._matrices.items() if len(one.values) == n}
            self.place[:] = -1
            self.place[self.rows] = np.arange(len(self.rows))
        self._room = self.memory_budget.limit - need
        self._forget(0)

    def _forget(self, size: int) -> None:
        """Drop the oldest matrices until there is room for `size` bytes beside the others."""
        most = self._room if self.most_bytes is None else min(self._room, self.most_bytes)
        while self._matrices and sum(one.values.nbytes for one in self._matrices.values()) + size > most:
            del self._matrices[next(iter(self._matrices))]

    def matrix(self, kernel: Kernel) -> GramMatrix | None:
        """Return the matrix of a kernel over the included samples, or over all; None if it does not fit in memory."""
        key, size = kernel.identity(), 8 * len(self.rows) ** 2
        if key not in self._matrices:
            if size > self._room:
                return None
            self._forget(size)
            limit, X = self.memory_budget.limit, self.X.take(self.rows)
            self._matrices[key] = compute_gram(kernel, X, memory_limit=limit, n_threads=self.n_threads)
        return self._matrices[key]

    def block(self, kernel: Kernel, train: Indices, test: Indices) -> Block:
        """Return the values of a kernel that learns nothing: slices of its matrix if there is room for it."""
        gram = self.matrix(kernel)
        if gram is None:
            return self.fitted(kernel).block(train, test)
        if len(gram.values) == len(self.X):
            return sliced(gram, train, test)
        return sliced(gram, self.place[train], self.place[test])

    def fitted(self, kernel: Kernel) -> FittedKernel:
        """Return the source of a kernel's values without a kept matrix."""
        return FittedKernel(kernel, self.X, n_threads=self.n_threads, memory_budget=self.memory_budget)


class HeldGram(Source):
    """Kernel values from the kept matrices; for a combination, from the matrices of its parts.

    A kernel without a `stored_form`, and the transforms, are fitted on each training set.
    """

    kernel: Kernel
    X: Samples
    held: HeldMatrices

    def __init__(self, kernel: Kernel, held: HeldMatrices, transforms: Sequence[GramTransform] = ()) -> None:
        super().__init__(kernel, held.X, transforms, n_threads=held.n_threads)
        self.held, self.form = held, kernel.stored_form
        self.learns = kernel.traits.data_dependent if self.form is None else self.form.learns

    @cached_property
    def fitted(self) -> FittedKernel:
        """The source of the kernel's values without a kept matrix."""
        return self.held.fitted(self.kernel)

    @cached_property
    def takes(self) -> "HeldKernel":
        """The memory requirements of the kernel."""
        return HeldKernel.of(self.kernel, self.X, len(self.transforms))

    def check_memory(self, n_train: int, n_test: int) -> None:
        """Raise GramError unless a fit without kept matrices fits in memory."""
        self.held.memory_budget.check(self._need(n_train, n_test), n_train, n_test, stored=False)

    def _need(self, n_train: int, n_test: int) -> int:
        """Return the bytes of memory of a fit besides the kept matrices."""
        return self.held.memory_budget.fit_bytes(self.takes, n_train, n_test)

    def block(self, train: Indices, test: Indices, y: Targets = None) -> Block:
        """Return slices of the kept matrices, or the values of a kernel fitted on the training set."""
        self.check_memory(len(train), len(test))
        self.held.include(np.concatenate((train, test)), self._need(len(train), len(test)))
        if self.form is None:
            return self.fitted.block(train, test, y)
        # each is sliced before the next is computed, which may take its place
        slices = (self.held.block(kernel, train, test) for kernel in self.form.kernels)
        return self._derived(self.form, slices, train, test, y)

    def compute_whole(self, y: Targets = None, **options: Any) -> None:
        """Raise TooLargeError unless any kernel can be fitted to all samples; matrices are computed on demand."""
        self.held.check_all()


# Products with the kernel matrix instead of the matrix.


class OperatorSource(ImplicitSource):
    """Products with the kernel matrix, for solvers that accept them.

    The parameters are as for `ImplicitSource`; ParameterError is raised if a kernel has no products.
    """

    gives = "operator"


# Explicit feature vectors of a training and a test set, for solvers on features.


class FeatureSource(Source):
    """Feature vectors of a kernel, normalised like the kernel.

    The feature vectors of a kernel without fitting are computed once and sliced; a kernel with fitting is
    fitted on each training set.
    """

    gives = "features"
    kernel: Kernel
    X: Samples

    def predicted(self) -> tuple[float, float | None]:
        """Return the predicted CPU seconds of the values of all samples, and of one product."""
        size = int(self.kernel.features.bytes(self.X))
        return size * FEATURE_NS * 1e-9, size * FEATURE_COPY_NS * 1e-9

    def __init__(
        self,
        kernel: Kernel,
        X: Samples,
        transforms: Sequence[GramTransform] = (),
        *,
        sparse: bool = True,
        blocks: bool = False,
        memory_limit: int | str | None = None,
    ) -> None:
        super().__init__(kernel, X)
        required(kernel, "features")
        check_no_transforms(transforms)
        self.sparse, self.blocks = sparse, blocks
        self.memory_limit, self.limit = memory_limit, MemoryBudget.of(memory_limit, False).limit
        self.counts: dict[str, int] = {}

    @cached_property
    def whole(self) -> Any:
        """The feature vectors of all samples, for a kernel without fitting."""
        return self.of(self.kernel, self.X, self.counts)

    def of(self, kernel: Kernel, X: Samples, counts: dict[str, int] | None = None) -> Any:
        """Return the feature vectors of samples for a fitted kernel; see `feature_vectors`.

        FeatureBlocks, if requested, are computed on demand.
        """
        if self.blocks:
            blocks = kernel.features.blocks(X, counts)
            return blocks.sparse if self.sparse and blocks.sparse is not None else blocks
        vectors: Any = kernel.features.normalised(X, counts)
        if self.sparse or isinstance(vectors, np.ndarray):
            return vectors
        need = 8 * vectors.shape[0] * vectors.shape[1]
        if need > self.limit:
            raise GramError(
                f"{vectors.shape[1]} features of {vectors.shape[0]} samples need {format_bytes(need)} of memory, "
                f"but the limit is {format_bytes(self.limit)}{default_limit_text(self.memory_limit)}",
                remedy="choose shorter k-mers, or a solver for sparse features such as linear_svc",
            )
        return vectors.toarray()

    def block(self, train: Indices, test: Indices, y: Targets = None) -> Block:
        """Return the feature vectors of a training and a test set, the latter None without samples."""
        kernel, wanted = None, [train, test] if len(test) else [train]
        if self.kernel.traits.data_dependent:
            kernel = self.fitted_kernel(train, y)
            parts = [self.of(kernel, self.X.take(rows)) for rows in wanted]
        elif isinstance(self.whole, FeatureBlocks):
            parts = [self.whole.take(rows) for rows in wanted]
        else:
            parts = [self.whole[rows] for rows in wanted]
        return Block(parts[0], parts[1] if len(test) else None, kernel=kernel)

    def compute_whole(self, y: Targets = None, **options: Any) -> None:
        """Fit the kernel on all samples, and compute their features."""
        kernel = self.fitted_kernel(np.arange(len(self.X)), y)
        vectors = self.of(kernel, self.X, self.counts) if kernel.traits.data_dependent else self.whole
        self._whole = Block(vectors, kernel=kernel, counts=self.counts)

    def _transformed(self, block: Block, transforms: Sequence[GramTransform], train: Indices, test: Indices) -> Block:
        """Return a Block with FeatureBlocks stored if they fit in memory together.

        The features of a test set are not stored if their products with weights take less memory, because a solver
        decides by products.
        """
        memory = min(self.limit, available_memory() // 2)
        kept: list[Any] = []
        for part in (block.train, block.test):
            if isinstance(part, FeatureBlocks) and not (kept and part.has_products):
                part = part.keep(memory)
                memory -= part.nbytes if part.stored else 0
            kept.append(part)
        return replace(block, train=kept[0], test=kept[1])


def feature_form(specs: Sequence[Any]) -> dict[str, bool]:
    """Return the form of features, `sparse` and `blocks` of `FeatureSource`, that suits all solvers of a grid.

    >>> feature_form(["linear_svc:C=1"])["sparse"]
    True
    """
    solvers = [build_solver(spec) for spec in specs]
    return {
        "sparse": all(solver.traits.sparse for solver in solvers),
        "blocks": all(solver.traits.blocks for solver in solvers),
    }


# The predicted work of choosing a kernel.


def predicted_work(
    sources: Mapping[str, Source],
    candidates: Sequence[tuple[Any, dict[str, Any]]],
    kind: str,
    n: int,
    n_classes: int,
    sizes: Sequence[float],
    more: int = 0,
) -> dict[str, Work]:
    """Return the work of each kernel on n samples, and of its solvers on inner training sets of the given sizes.

    A refinement tries `more` specifications.
    """
    found = {}
    for name in dict.fromkeys(kernel for kernel, _ in candidates):
        source, specs = sources[name], [spec for kernel, spec in candidates if kernel == name]
        (values, product), share = source.predicted(), n / max(1, source.n_samples)
        power = 1 if source.gives != "gram" else 2
        solvers = [make_solver(spec, kind) for spec in specs]
        work = FitWork(source.n_samples, n_classes, None, source.gives, product)
        values, fits, fixed, inputs = values * share**power, 0.0, 0.0, 0.0
        for size, times in Counter(map(math.ceil, sizes)).items():
            each, least = (sum(one.fit_cost(work.part(m, n_classes)).seconds for one in solvers) for m in (size, 1))
            fits += times * max(0.0, each - least) / len(solvers)
            fixed += times * (FIT_SECONDS + least / len(solvers))
            entries = size * n if product is None else 0  # solvers with one kernel share their matrices
            inputs += times * entries * SLICE_NS * 1e-9
            for one in source.transforms:
                inputs += times * dense_algebra(1, one.fit_cubes(size)) * size * entries
            inputs += times * values * size * (2 * n - size) / n**2 if source.refitted else 0.0
        values = 0.0 if source.refitted else values
        values, fits, fixed, inputs = (COMMON_CORE * one for one in (values, fits, fixed, inputs))
        found[name] = Work(values, fits, fixed, inputs, power, len(specs), more)
    return found


# A method's data: labels, and the source of each kernel's values.


@dataclass(frozen=True, eq=False)
class FitData:
    """The data of a `Method`, for fitting and for classification.

    Labels are NaN or missing for unused samples. `unlabelled` samples are in every training set and in no test
    set, for solvers that learn from them; by default there are none: a sample outside a task is not an
    unlabelled sample.

    Training on chains of residues may need neighbouring residues without a label, which follow the labelled
    samples. They are used by layers only: their kernel values come from the sources that `beyond` makes, so that
    matrices of the labelled samples can be computed as a whole.
    """

    labels: Labels  # Labels of all samples; NaN or no label for unused samples
    sources: Mapping[str, Source]  # The source of each kernel's values, by the kernel's name
    residues: Residues | None = None  # The residue of each sample, if samples are windows around residues
    # Samples without a label that solvers which accept them learn from: they are in every training set, and in no test
    # set. Default: none; a sample outside a task is not one that waits for its label
    unlabelled: Indices | None = None
    beyond: Callable[[], Mapping[str, Source]] | None = None  # Returns the sources of labelled samples and neighbours
    rows: Indices | None = None  # The rows of the samples in the sources; None: all, in order
    # Receives the warnings of kernels that did not converge; None: they are shown
    unconverged: list[Warning] | None = None

    def at(self, kernel: str, rows: Indices, like: Indices | None = None, callbacks: Callbacks = NO_CALLBACKS) -> Block:
        """Return the Block of samples for a solver trained on `like`; without `like`, of `rows` as a training set."""
        y = self.labels.take(rows if like is None else like).targets()
        rows, like = self.in_sources(rows), None if like is None else self.in_sources(like)
        if self.unconverged is None:
            return self.sources[kernel].at(rows, like, y, callbacks)
        with unconverged() as failed:
            block = self.sources[kernel].at(rows, like, y, callbacks)
        self.unconverged.extend(failed)
        return block

    def in_sources(self, rows: Indices) -> Indices:
        """Return the rows of samples in the sources."""
        return rows if self.rows is None else self.rows[rows]

    def take(self, rows: Indices, neighbours: Indices | None = None) -> "FitData":
        """Return the data of some samples, followed by neighbouring residues, whose labels are not used."""
        seen = rows if neighbours is None else np.concatenate((rows, neighbours))
        return replace(
            self,
            labels=self.labels.take(rows),
            sources=self._beyond if len(seen) and seen.max() >= len(self.labels) else self.sources,
            residues=None if self.residues is None else self.residues.take(seen),
            unlabelled=None,
            rows=self.in_sources(seen),
        )

    def with_groups(self, groups: Array | None) -> "FitData":
        """Return the same samples in other groups."""
        return replace(self, labels=replace(self.labels, groups=groups))

    @cached_property
    def _beyond(self) -> Mapping[str, Source]:
        assert self.beyond is not None
        return self.beyond()


def make_source(
    kernel: Kernel,
    X: Samples,
    transforms: Sequence[GramTransform] = (),
    *,
    gives: str = "gram",
    form: Mapping[str, bool] | None = None,
    grams: Sequence[GramMatrix] = (),
    memory_limit: int | str | None = None,
    held: HeldMatrices | None = None,
    **options: Any,
) -> Source:
    """Return the source of a kernel's values in the form required by the solvers.

    `grams` are matrices over all samples; without any, the kernel is fitted on each training set.

    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> make_source(SpectrumKernel(2), as_sequences(["ACA", "CCA"], "dna"), gives="implicit").gives
    'implicit'
    """
    if gives == "features":
        return FeatureSource(kernel, X, transforms, memory_limit=memory_limit, **(form or {}))
    if gives != "gram":
        products = OperatorSource if gives == "operator" else ImplicitSource
        return products(kernel, X, transforms, memory_limit)
    if len(grams):
        return StoredGram(list(grams), transforms, form=kernel.stored_form, kernel=kernel, X=X, **options)
    if held is not None:
        return HeldGram(kernel, held, transforms)
    return FittedKernel(kernel, X, transforms, **options)


def fitting(
    members: "Sequence[tuple[KernelEntry, SolverEntry]]", X: Samples, memory_limit: int | str | None
) -> "list[tuple[KernelEntry, SolverEntry]]":
    """Return the kernels, each with its solver, that fit in memory by themselves, after a line about each other one.

    Raise GramError if none fits. The number of threads makes no difference.
    """
    limit = MemoryBudget.of(memory_limit, False).limit
    with given_threads(1):
        needs = [_bytes_alone(entry, X, solver) for entry, solver in members]
    if min(needs) > limit:
        least = format_bytes(min(needs))
        raise GramError(
            f"no kernel of the portfolio fits in memory: the smallest needs {least} of memory, but the limit is "
            f"{format_bytes(limit)}{default_limit_text(memory_limit)}",
            remedy=f"raise it to {least}" if memory_limit is not None else more_memory(memory_limit),
        )
    for (entry, _), need in zip(members, needs, strict=True):
        if need > limit:
            what = f"it needs {format_bytes(need)} of memory, and the limit is {format_bytes(limit)}"
            tell(f"{entry.name} is left out: {what}")
    return [one for one, need in zip(members, needs, strict=True) if need <= limit]


def _bytes_alone(entry: "KernelEntry", X: Samples, solver: "SolverEntry") -> int:
    """Return the memory of training with one kernel."""
    kernel, n = entry.kernel, len(X)
    gives = solver_input(kernel, solver.input, solver.accepts_operator, X, entry.transforms)
    if gives == "gram":
        budget = MemoryBudget(0, 0, beside=lambda n: max(one.gram_bytes(n) for one in solver.grid))
        return budget.fit_bytes(HeldKernel.of(kernel, X, len(entry.transforms)), n, 0)
    if gives == "implicit" and is_deferred(X):
        return DeferredImplicit.bytes_for(kernel, X) + RECORD_BYTES * n
    return int(getattr(kernel, gives).bytes(X)) + RECORD_BYTES * n
