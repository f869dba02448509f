"""Sources of the kernel values of a training and a test set.

A kernel without fitting has one Gram matrix for all folds, which is sliced. A kernel fitted to data is fitted on each
training set, so that ``fit`` never sees a test sequence; if its matrix can be derived from the matrices of other
kernels (`Kernel.stored_form`), these are sliced and only the last step is fitted. Solvers without a Gram matrix get
feature vectors, and each part takes its own.

Each source declares what it `gives`, matching a solver's `input`. Training the final model first calls
`compute_whole`, so that data too large for memory are rejected before the inner loop.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError, ParameterError, TooLargeError
from seqkern.core.memory import (
    available_memory,
    default_limit_text,
    format_bytes,
    memory_left,
    more_memory,
    parse_bytes,
)
from seqkern.core.threads import given_threads
from seqkern.formats.residues import Residues
from seqkern.gram.compute import compute_gram
from seqkern.gram.matrix import GramMatrix, GramRows, is_whole_map
from seqkern.gram.transforms.gram_transform import GramTransform, build_transform, fit_chain, naming_rows
from seqkern.kernels.blocks import fill
from seqkern.kernels.composite import add_counts
from seqkern.kernels.decisions import DeferredImplicit, is_deferred
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.kernels.kernel import Kernel, StoredForm, feature_vectors, name_features
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.kernels.prepared import Prepared
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable, SimilarityTable
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import EXPECTED_PRODUCTS
from seqkern.solvers.solver_specs import build_solver

# The output of a source for a training set and, optionally, a test set.


class Values(NamedTuple):
    """Kernel values of a training set (l, l) and a test set (n, l), and their diagonals, before the transforms.

    `joined` is the last step from the matrices of several kernels (see `StoredForm`), if there was one.

    >>> Values(np.eye(2), np.zeros((1, 2)), np.ones(2), np.ones(1), {}).test.shape
    (1, 2)
    """

    train: Any  # K(train, train)
    test: Any  # K(test, train)
    train_diagonal: npt.NDArray[np.float64]  # K(x, x) of the training set
    test_diagonal: npt.NDArray[np.float64] | None  # K(x, x) of the test set
    learned: dict[str, float]  # Fitted values of the kernel to report (`Kernel.learned`)
    joined: Any = None  # The last step from the matrices of several kernels (see `StoredForm`), if there was one


@dataclass(eq=False)
class Part:
    """The output of a source for a training set and, optionally, a test set.

    `train` and `test` are the solver's input; `diagonal` is K(x, x) of the training set before the transforms,
    empty for features.

    >>> Part(np.eye(2)).test is None
    True
    """

    train: Any  # Input of the solver: a Gram matrix after the transforms, features, or an Implicit
    test: Any = None  # The same of the test set; None without one
    learned: dict[str, float] = field(default_factory=dict)  # Fitted values of the kernel to report
    # shape (l,): K(x, x) of the training set, before the transforms; empty for features
    diagonal: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    transforms: list[GramTransform] = field(default_factory=list)  # Fitted
    kernel: Kernel | None = None  # Fitted on the training set; None if not needed to compute the part
    # Counts of the kernel's policies; known for a part of `compute_whole`
    counts: dict[str, int] = field(default_factory=dict)
    # shape (n,): K(x, x) of the test set, after the transforms; None where no solver asks for it
    test_diagonal: npt.NDArray[np.float64] | None = None
    joined: Any = None  # As in `Values`: what a model needs not learn again


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
        form = kernel.stored_form()
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
        fits = (self.slice_bytes(n, 0, max(1, len(one.stored)), one.transforms, one.work) for one in every)
        return 8 * n * n * len(stored), max(fits, default=0)

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


class Watch:
    """Observer of `Method.fit`, without influence on it; this base class does nothing."""

    def lap(self, stage: str) -> None:
        """Note the end of a stage: ``choose``, ``hold out``, ``layers``, ``kernel`` or ``train``."""

    def kernel_values(self, values: Values, learns: bool) -> None:
        """Observe kernel values before the transforms; `learns`: each training set has its own matrix."""

    def training_matrix(
        self, K: npt.NDArray[np.float64], kernel: Kernel | None, transforms: list[GramTransform], solver: Solver
    ) -> None:
        """Observe the Gram matrix, after the transforms, before a solver is fitted on it.

        For solvers on features, K is the features or an Implicit.
        """


NOBODY = Watch()
"""The watch that does nothing."""


Samples = SequenceSet | FeatureTable | SimilarityTable

RECORD_BYTES = 160
"""Memory of a solver for each record in addition to its feature vector, including temporary copies."""


class Source:
    """Base class of all sources: a subclass defines `pair`, and `part` and `compute_whole` if it provides more."""

    gives: ClassVar[str] = "gram"
    learns: bool = False
    kernel: Kernel | None = None
    X: Samples | None = None

    @property
    def predicted_seconds(self) -> float:
        """Predicted CPU seconds of the matrix of all samples; 0 if only its values are known."""
        return 0.0 if self.kernel is None or self.X is None else self.kernel.plan(self.X).seconds

    def pair(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> tuple[Any, Any]:
        """Return the solver input for a training and a test set."""
        raise NotImplementedError

    def part(
        self,
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64] | None = None,
        y: npt.NDArray[Any] | None = None,
        watch: Watch = NOBODY,
    ) -> Part:
        """Return the Part of the given rows, with everything that a model of them needs."""
        K_train, K_test = self.pair(train, train[:0] if test is None else test, y)
        return Part(K_train, None if test is None else K_test)

    def beside(
        self, train: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> Any:
        """Return the input with which a solver fitted on the Part of `train` classifies other rows.

        Raise ParameterError if it has to be computed together with the training set.
        """
        return self.part(train, rows, y).test

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Compute and keep the Part of all samples in advance; raise GramError if it does not fit into memory."""
        raise NotImplementedError

    def check_memory(self, n_train: int, n_test: int) -> None:
        """Raise GramError, before any work, if a fit does not fit into memory; by default it does."""

    def fitted_kernel(self, train: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None) -> Kernel:
        """Return a copy of the kernel, fitted on a training set."""
        if self.kernel is None or self.X is None:
            raise ParameterError(
                "the source has only kernel values, so no model can be created from it",
                remedy="also give it the kernel and the samples",
            )
        return copy.deepcopy(self.kernel).fit(self.units(train), y)

    def units(self, rows: npt.NDArray[np.int64]) -> Samples:
        """Return the samples in some rows; the set itself if the rows are all of them."""
        assert self.X is not None
        return self.X if is_all(rows, len(self.X)) else self.X.take(rows)


class GramSource(Source):
    """Base class of the sources of Gram matrices: a subclass defines `values`."""

    transforms: Sequence[GramTransform] = ()
    ids: Sequence[str] | None = None
    n_threads: int | None = None
    _whole: "Whole | None" = None

    def values(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> Values:
        """Return the kernel values of a training and a test set, before the transforms."""
        raise NotImplementedError

    def pair(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return K(train, train) and K(test, train), after the transforms."""
        after = self._after(self.transforms, self.values(train, test, y), train, test)[1]
        return after.train, after.test

    def part(
        self,
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64] | None = None,
        y: npt.NDArray[Any] | None = None,
        watch: Watch = NOBODY,
    ) -> Part:
        """Return the Part of the given rows."""
        rows = train[:0] if test is None else test
        if self._whole is not None and test is None and is_all(train, len(self._whole.values.train)):
            values, kernel, counts = self._whole
        else:
            values, kernel, counts = self.values(train, rows, y), None, {}
        watch.kernel_values(values, self.learns)
        fitted, after = self._after(self.transforms, values, train, rows)
        K_test = None if test is None else after.test
        own, joined = after.test_diagonal, values.joined
        return Part(after.train, K_test, values.learned, values.train_diagonal, fitted, kernel, counts, own, joined)

    def _after(
        self,
        transforms: Sequence[GramTransform],
        values: Values,
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64],
    ) -> tuple[list[GramTransform], Values]:
        """Return the transforms, fitted on the training matrix only, and the Values after applying them."""
        if not len(transforms):
            return [], values
        with given_threads(self.n_threads):
            with naming_rows(self._ids(train)):
                fitted, K_train, train_diagonal = fit_chain(transforms, values.train, values.train_diagonal)
            K_test = values.test
            test_diagonal: npt.NDArray[np.float64] | None = values.test_diagonal
            with naming_rows(self._ids(test)):
                for transform in fitted if len(test) else ():
                    K_test, test_diagonal = transform.transform(K_test, test_diagonal)
        return fitted, Values(K_train, np.ascontiguousarray(K_test), train_diagonal, test_diagonal, values.learned)

    def _ids(self, rows: npt.NDArray[np.int64]) -> list[str] | None:
        """Return the ids of some samples; None if unknown."""
        return None if self.ids is None else [self.ids[row] for row in rows]

    def _of(
        self,
        part: Kernel | StoredForm,
        slices: Iterator[Values],
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64],
        y: npt.NDArray[Any] | None,
    ) -> Values:
        """Return the Values of a kernel or StoredForm; `slices` gives its kernels' Values, in order."""
        if isinstance(part, Kernel):
            return next(slices)
        parts = [self._of(inner, slices, train, test, y) for inner in part.parts]
        values = parts[0] if part.join is None else self._joined(part.join, parts, train, test, y)
        return self._after([build_transform(item) for item in part.transforms], values, train, test)[1]

    def _joined(
        self,
        join: Any,
        parts: list[Values],
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64],
        y: npt.NDArray[Any] | None,
    ) -> Values:
        """Return the Values that `join` (see StoredForm) makes from the Values of several parts."""
        columns = [part.train_diagonal for part in parts]
        with naming_rows(self._ids(train)):
            joined = join.learn_from([part.train for part in parts], y)
            K_train, train_diagonal = joined.combine([part.train for part in parts], columns, columns)
        with naming_rows(self._ids(test)):
            rows = [part.test_diagonal for part in parts]
            K_test, test_diagonal = joined.combine([part.test for part in parts], rows, columns)
        learned = {name: value for part in parts for name, value in part.learned.items()}
        return Values(K_train, K_test, train_diagonal, test_diagonal, learned | joined.learned(), joined)


class Whole(NamedTuple):
    """The kernel values of all samples, the fitted kernel, and the counts of its policies.

    >>> Whole(Values(np.eye(2), np.zeros((0, 2)), np.ones(2), np.ones(0), {}), None, {}).counts
    {}
    """

    values: Values
    kernel: Kernel | None
    counts: dict[str, int]


class StoredGram(GramSource):
    """Slices of Gram matrices over all samples, and the kernel derived from them."""

    def __init__(
        self,
        grams: GramMatrix | list[GramMatrix],
        transforms: Sequence[GramTransform] = (),
        *,
        form: StoredForm | None = None,
        ids: Sequence[str] | None = None,
        n_threads: int | None = None,
        kernel: Kernel | None = None,
        X: Samples | None = None,
        memory_budget: MemoryBudget | None = None,
    ) -> None:
        self.grams = grams if isinstance(grams, list) else [grams]
        self.ids = X.ids if ids is None and X is not None else ids
        self.transforms = transforms
        self.form = form
        self.learns = form is not None and form.learns
        self.n_threads = n_threads
        self.kernel = kernel
        self.X = X
        self.memory_budget = memory_budget

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

    def values(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> Values:
        """Return the Values of a training and a test set, as slices of the matrices."""
        if self.memory_budget is not None and self._by_rows(len(train), len(test)):
            return self._rows(self.grams[0], train, test, self.memory_budget.for_rows)
        self.check_memory(len(train), len(test))
        slices = (sliced(gram, train, test) for gram in self.grams)
        return next(slices) if self.form is None else self._of(self.form, slices, train, test, y)

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Keep the values of all samples, without a copy if the matrix is the kernel's own."""
        every = np.arange(len(self.grams[0].row_diagonal))
        values = self.values(every, every[:0], y) if self.learns else self._whole_values(self.grams[0], every)
        # what was fitted on the matrices need not be fitted again on newly computed ones
        joined = values.joined
        kernel = self.fitted_kernel(every, y) if joined is None else joined.fit_parts(self.X, y)
        self._whole = Whole(values, kernel, add_counts(gram.meta["counts"] for gram in self.grams))

    def _whole_values(self, gram: GramMatrix, every: npt.NDArray[np.int64]) -> Values:
        """Return the Values of all samples."""
        if is_whole_map(gram.values):
            return self.values(every, every[:0])
        none = np.zeros((0, len(every)))
        return Values(gram.values, none, gram.row_diagonal, none[:, 0], {})

    @staticmethod
    def _rows(
        gram: GramMatrix, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], memory_budget: int
    ) -> Values:
        """Return the Values of one stored matrix as rows read from its file, none of them kept in memory."""
        assert isinstance(gram.values, np.memmap)
        diagonal = gram.row_diagonal
        K_train, K_test = (
            GramRows(gram.values, train, train, memory_budget),
            GramRows(gram.values, test, train, memory_budget),
        )
        return Values(K_train, K_test, diagonal[train], diagonal[test], {})


def sliced(gram: GramMatrix, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64]) -> Values:
    """Return the Values of the training and test rows of one square matrix."""
    diagonal = gram.row_diagonal
    return Values(gram.slice(train, train), gram.slice(test, train), diagonal[train], diagonal[test], {})


class FittedKernel(GramSource):
    """Kernel values from a kernel fitted on each training set."""

    kernel: Kernel
    X: Samples

    def __init__(
        self,
        kernel: Kernel,
        X: Samples,
        transforms: Sequence[GramTransform] = (),
        n_threads: int | None = None,
        memory_budget: MemoryBudget | None = None,
    ) -> None:
        self.kernel = kernel
        self.X = X
        self.transforms = transforms
        self.learns = kernel.data_dependent
        self.ids = X.ids
        self.n_threads = n_threads
        self.memory_budget = memory_budget

    def check_memory(self, n_train: int, n_test: int) -> None:
        """Check that the matrices fit into memory."""
        memory_budget = MemoryBudget.of(None, accepts_rows=False) if self.memory_budget is None else self.memory_budget
        need = memory_budget.slice_bytes(n_train, n_test, transforms=len(self.transforms))
        memory_budget.check(need, n_train, n_test, stored=False)

    def values(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> Values:
        """Return the Values of a kernel fitted on the training set."""
        self.check_memory(len(train), len(test))
        X_train = self.X.take(train)
        kernel = copy.deepcopy(self.kernel).fit(X_train, y)
        columns = kernel.prepare(X_train)
        rows = kernel.prepare(self.X.take(test), like=columns) if len(test) else None
        K_train = self._filled(kernel, columns, columns)
        if rows is None:
            return Values(K_train, K_train[:0], columns.diagonal, np.zeros(0), kernel.learned())
        return Values(K_train, self._filled(kernel, rows, columns), columns.diagonal, rows.diagonal, kernel.learned())

    def _filled(self, kernel: Kernel, rows: Prepared, columns: Prepared) -> npt.NDArray[np.float64]:
        """Return the kernel matrix between two prepared sets."""
        out = np.empty((len(rows), len(columns)))
        fill(kernel, rows, columns, out, n_threads=self.n_threads)
        return out

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Fit the kernel on all samples, and compute its matrix over them."""
        kernel = copy.deepcopy(self.kernel).fit(self.X, y)
        gram = compute_gram(kernel, self.X, n_threads=self.n_threads, **options)
        none = np.zeros((0, len(self.X)))
        values = Values(gram.values, none, gram.row_diagonal, none[:, 0], kernel.learned())
        self._whole = Whole(values, kernel, gram.meta["counts"])


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
        self._check(kernel)
        check_no_transforms(transforms)
        limit = available_memory() // 2 if memory_limit is None else parse_bytes(memory_limit)
        need = self._bytes(kernel, X) + RECORD_BYTES * len(X)
        if need > limit:
            raise GramError(
                f"training on {len(X)} samples without a Gram matrix needs {format_bytes(need)} of memory, but the "
                f"limit is {format_bytes(limit)}{default_limit_text(memory_limit)}",
                remedy=f"{more_memory(memory_limit)}, use shorter k-mers, or use fewer samples",
            )
        self.kernel = kernel
        self.X = X
        self._part: Part | None = None

    def _check(self, kernel: Kernel) -> None:
        """Raise ParameterError unless the kernel provides implicit feature vectors."""
        kernel.check_implicit()

    def _bytes(self, kernel: Kernel, X: Samples) -> int:
        """Return the bytes of memory that a kernel's implicit feature vectors of `X` take."""
        return DeferredImplicit.bytes_for(kernel, X) if is_deferred(X) else kernel.implicit_bytes(X)

    def _make(self, kernel: Kernel, X: Samples) -> KernelOperator:
        """Return the solver input for some samples: an Implicit, deferred if `X` is."""
        return DeferredImplicit(kernel, X) if is_deferred(X) else kernel.implicit(X)

    @cached_property
    def whole(self) -> KernelOperator:
        """The solver input for all samples, for a kernel without fitting."""
        return self._make(self.kernel, self.X)

    def pair(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> tuple[KernelOperator, KernelOperator]:
        """Return the Implicits of a training and a test set."""
        part = self.part(train, test, y)
        return part.train, part.test

    def part(
        self,
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64] | None = None,
        y: npt.NDArray[Any] | None = None,
        watch: Watch = NOBODY,
    ) -> Part:
        """Return the Part of the given rows."""
        if self._part is not None and test is None and is_all(train, len(self.X)):
            return self._part
        rows = train[:0] if test is None else test
        if not self.kernel.data_dependent:
            K_train, K_test, kernel = self.whole.take(train), self.whole.take(rows), None
        else:
            kernel = copy.deepcopy(self.kernel).fit(self.X.take(train), y)
            both = self._make(kernel, self.X.take(np.concatenate((train, rows))))
            places = np.arange(len(both))
            K_train, K_test = both.take(places[: len(train)]), both.take(places[len(train) :])
        learned = {} if kernel is None else kernel.learned()
        made = Part(K_train, None if test is None else K_test, learned, K_train.squares, kernel=kernel)
        made.test_diagonal = K_test.squares
        return made

    def beside(
        self, train: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> KernelOperator:
        """Return the Implicit of some rows."""
        if self.kernel.data_dependent:
            raise ParameterError(
                f"feature vectors of kernel {self.kernel.name!r} that are not stored belong to one training set "
                "and the rows computed with it",
                remedy="give these rows (ahead) when fitting the method",
            )
        return self.whole.take(rows)

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Fit the kernel on all samples, and compute their feature vectors."""
        kernel = copy.deepcopy(self.kernel).fit(self.X, y)
        K = self._make(kernel, self.X) if kernel.data_dependent else self.whole
        self._part = Part(K, None, kernel.learned(), K.squares, kernel=kernel, counts=K.counts)


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


def is_all(rows: npt.NDArray[np.int64], n: int) -> bool:
    """Return whether `rows` are all n rows, in order."""
    return len(rows) == n and bool(np.array_equal(rows, np.arange(n)))


# Gram matrices computed when first needed, and kept for the next request: for choosing among many kernels.


class HeldMatrices:
    """The matrices of several kernels over the samples of the last request.

    The folds of an inner loop repeatedly request parts of the same samples: the first request computes a
    matrix, further requests are slices of it. Kernels composed of the same kernels share their matrices. A
    request for other samples replaces all matrices. If `memory_budget` does not suffice, the oldest matrices are
    dropped; if a single matrix does not fit beside its slices, the slices are computed without it.
    """

    def __init__(
        self,
        X: "Samples",
        whole: bool = False,
        memory_budget: "MemoryBudget | None" = None,
        n_threads: int | None = None,
    ) -> None:
        self.X = X
        self.whole = whole
        self.memory_budget = MemoryBudget.of(None, accepts_rows=False) if memory_budget is None else memory_budget
        self.n_threads = n_threads
        self.rows = np.zeros(0, dtype=np.int64)
        self.place = np.full(len(X), -1, dtype=np.int64)
        self._matrices: dict[str, GramMatrix] = {}
        self._most = 0
        self._expected = 0, 0

    def expect(self, kernels: "Sequence[HeldKernel]") -> None:
        """Compute matrices of all samples at the first request if all given kernels' matrices fit in memory."""
        self._expected = self.memory_budget.held_bytes(len(self.X), kernels)
        self.whole = sum(self._expected) <= self.memory_budget.limit

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

    def include(self, rows: npt.NDArray[np.int64], need: int) -> None:
        """Prepare for a request: drop matrices without some of the samples, or that leave no room for the fit."""
        if not (self.place[rows] >= 0).all():
            self._matrices.clear()
            self.rows = np.arange(len(self.X)) if self.whole else np.unique(rows)
            self.place[:] = -1
            self.place[self.rows] = np.arange(len(self.rows))
        self._most = max(0, self.memory_budget.limit - need) // max(1, 8 * len(self.rows) ** 2)
        self._forget(self._most)

    def _forget(self, most: int) -> None:
        """Drop the oldest matrices until at most `most` remain."""
        while len(self._matrices) > most:
            del self._matrices[next(iter(self._matrices))]

    def matrix(self, kernel: Kernel) -> GramMatrix | None:
        """Return the matrix of a kernel over the included samples; None if it does not fit in memory."""
        key = kernel.identity()
        if key not in self._matrices:
            if not self._most:
                return None
            self._forget(self._most - 1)
            limit, X = self.memory_budget.limit, self.X.take(self.rows)
            self._matrices[key] = compute_gram(kernel, X, memory_limit=limit, n_threads=self.n_threads)
        return self._matrices[key]

    def values(self, kernel: Kernel, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64]) -> "Values":
        """Return the values of a kernel that learns nothing: slices of its matrix if there is room for it."""
        gram = self.matrix(kernel)
        if gram is None:
            return FittedKernel(kernel, self.X, n_threads=self.n_threads, memory_budget=self.memory_budget).values(
                train, test
            )
        return sliced(gram, self.place[train], self.place[test])


class HeldGram(GramSource):
    """Kernel values from the kept matrices; for a combination, from the matrices of its parts.

    A kernel without a `stored_form`, and the transforms, are fitted on each training set.
    """

    kernel: Kernel
    X: "Samples"

    def __init__(self, kernel: Kernel, held: "HeldMatrices", transforms: Sequence[GramTransform] = ()) -> None:
        self.kernel = kernel
        self.held = held
        self.X = held.X
        self.transforms = transforms
        self.n_threads = held.n_threads
        self.ids = held.X.ids
        self.form = kernel.stored_form()
        self.learns = kernel.data_dependent if self.form is None else self.form.learns

    @cached_property
    def takes(self) -> "HeldKernel":
        """The memory requirements of the kernel."""
        return HeldKernel.of(self.kernel, self.X, len(self.transforms))

    def check_memory(self, n_train: int, n_test: int) -> None:
        """Raise GramError unless a fit without kept matrices fits in memory."""
        self.held.memory_budget.check(self._need(n_train, n_test), n_train, n_test, stored=False)

    def _need(self, n_train: int, n_test: int) -> int:
        """Return the bytes of memory of a fit besides the kept matrices."""
        takes = self.takes
        return self.held.memory_budget.slice_bytes(
            n_train, n_test, max(1, len(takes.stored)), takes.transforms, takes.work
        )

    def values(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> "Values":
        """Return the Values of a training and a test set."""
        self.check_memory(len(train), len(test))
        self.held.include(np.concatenate((train, test)), self._need(len(train), len(test)))
        if self.form is None:
            memory_budget = self.held.memory_budget
            return FittedKernel(self.kernel, self.X, n_threads=self.n_threads, memory_budget=memory_budget).values(
                train, test, y
            )
        # each is sliced before the next is computed, which may take its place
        slices = (self.held.values(kernel, train, test) for kernel in self.form.kernels)
        return self._of(self.form, slices, train, test, y)

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Raise TooLargeError unless any kernel can be fitted to all samples; matrices are computed on demand."""
        self.held.check_all()


# Products with the kernel matrix instead of the matrix.


class OperatorSource(ImplicitSource):
    """Products with the kernel matrix, for solvers that accept them.

    The parameters are as for `ImplicitSource`; ParameterError is raised if a kernel has no products.
    """

    gives = "operator"

    @property
    def predicted_seconds(self) -> float:
        """Predicted CPU seconds of the products of a fit on all samples."""
        return EXPECTED_PRODUCTS * self.kernel.operator_cost(self.X)

    def _check(self, kernel: Kernel) -> None:
        kernel.check_operator()

    def _bytes(self, kernel: Kernel, X: "Samples") -> int:
        return kernel.operator_bytes(X)

    def _make(self, kernel: Kernel, X: "Samples") -> KernelOperator:
        return kernel.operator(X)


# Explicit feature vectors of a training and a test set, for solvers on features.


class FeatureSource(Source):
    """Feature vectors of a kernel, normalised like the kernel.

    The feature vectors of a kernel without fitting are computed once and sliced; a kernel with fitting is
    fitted on each training set.
    """

    gives = "features"
    kernel: Kernel
    X: Samples

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
        kernel.check_features()
        check_no_transforms(transforms)
        self.kernel = kernel
        self.X = X
        self.sparse = sparse
        self.blocks = blocks
        self.memory_limit = memory_limit
        self.limit = available_memory() // 2 if memory_limit is None else parse_bytes(memory_limit)
        self.counts: dict[str, int] = {}
        self._whole: tuple[Kernel, Any] | None = None

    @cached_property
    def whole(self) -> Any:
        """The feature vectors of all samples, for a kernel without fitting."""
        return self.of(self.kernel, self.X, self.counts)

    def of(self, kernel: Kernel, X: Samples, counts: dict[str, int] | None = None) -> Any:
        """Return the feature vectors of samples for a fitted kernel; see `feature_vectors`.

        FeatureBlocks, if requested, are computed on demand.
        """
        if self.blocks:
            blocks = kernel.feature_blocks(X, counts)
            return blocks.sparse if self.sparse and blocks.sparse is not None else blocks
        vectors: Any = feature_vectors(kernel, X, counts)
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

    def pair(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> tuple[Any, Any]:
        """Return the feature vectors of a training and a test set."""
        part = self.part(train, test, y)
        return part.train, part.test

    def part(
        self,
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64] | None = None,
        y: npt.NDArray[Any] | None = None,
        watch: Watch = NOBODY,
    ) -> Part:
        """Return the Part of a training set, with a test set if given."""
        rows = [train] if test is None else [train, test]
        made, counts = None, {}
        if self._whole is not None and test is None and is_all(train, len(self.X)):
            made, whole = self._whole
            parts, counts = [whole], self.counts
        elif self.kernel.data_dependent:
            made = self.fitted(train, y)
            parts = [self.of(made, self.X.take(part)) for part in rows]
        elif isinstance(self.whole, FeatureBlocks):
            parts = [self.whole.take(part) for part in rows]
        else:
            parts = [self.whole[part] for part in rows]
        kept = self.kept(*parts)
        return Part(kept[0], None if test is None else kept[1], kernel=made, counts=counts)

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Fit the kernel on all samples, and compute their features."""
        kernel = self.fitted_kernel(np.arange(len(self.X)), y)
        vectors = self.of(kernel, self.X, self.counts) if kernel.data_dependent else self.whole
        self._whole = kernel, vectors

    def kept(self, *parts: Any) -> tuple[Any, ...]:
        """Return the features of several parts, with FeatureBlocks stored if they fit in memory together.

        The features of a test set are not stored if their products with weights take less memory, because a solver
        decides by products.
        """
        memory_budget = min(self.limit, available_memory() // 2)
        out = []
        for place, part in enumerate(parts):
            if isinstance(part, FeatureBlocks) and not (place and part.has_products):
                part = part.keep(memory_budget)
                memory_budget -= part.nbytes if part.stored else 0
            out.append(part)
        return tuple(out)

    def fitted(self, train: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None) -> Kernel:
        """Return the kernel fitted on a training set; the kernel itself if it needs no fitting."""
        return self.fitted_kernel(train, y) if self.kernel.data_dependent else self.kernel

    def names(
        self, columns: npt.NDArray[np.int64], train: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> list[str]:
        """Return the names of the given feature columns for a training set."""
        return name_features(self.fitted(train, y), self.X, columns)


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


# A method's data: labels, and the source of each kernel's values.


@dataclass(frozen=True, eq=False)
class FitData:
    """The data of a `Method`, for fitting and for classification.

    Labels are NaN or missing for unused samples. `unlabelled` samples are in every training set and in no test
    set, for solvers that learn from them; by default there are none: a sample outside a task is not an
    unlabelled sample.
    """

    labels: Labels  # Labels of all samples; NaN or no label for unused samples
    sources: Mapping[str, Source]  # The source of each kernel's values, by the kernel's name
    residues: Residues | None = None  # The residue of each sample, if samples are windows around residues
    # Samples without a label that solvers which accept them learn from: they are in every training set, and in no test
    # set. Default: none; a sample outside a task is not one that waits for its label
    unlabelled: npt.NDArray[np.int64] | None = None

    def source(self, name: str, rows: npt.NDArray[np.int64] | None = None) -> Source:
        """Return the source of a kernel's values for samples that include `rows` (default: those with labels)."""
        return self.sources[name]


@dataclass(frozen=True, eq=False)
class TrainingData(FitData):
    """The training samples, followed by neighbouring residues without a label.

    The matrix of the training samples is computed as a whole. The neighbours are used by layers only: their
    kernel values come from the separate sources `beyond`, created only for such layers.
    """

    # Returns the sources of all samples, including those without a label, by the names of the kernels
    beyond: Callable[[], Mapping[str, Source]] | None = None

    def source(self, name: str, rows: npt.NDArray[np.int64] | None = None) -> Source:
        """Return the source of a kernel's values for samples that include `rows` (default: those with labels)."""
        if rows is None or not len(rows) or rows.max() < len(self.labels):
            return self.sources[name]
        return self._beyond[name]

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
    n_threads: int | None = None,
    held: HeldMatrices | None = None,
    memory_budget: MemoryBudget | None = None,
) -> Source:
    """Return the source of a kernel's values in the form required by the solvers.

    `grams` are matrices over all samples; without any, the kernel is fitted on each training set.

    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> make_source(SpectrumKernel(2), as_sequences(["ACA", "CCA"], "dna"), gives="implicit").gives
    'implicit'
    """
    if gives == "operator":
        return OperatorSource(kernel, X, transforms, memory_limit=memory_limit)
    if gives == "implicit":
        return ImplicitSource(kernel, X, transforms, memory_limit=memory_limit)
    if gives == "features":
        return FeatureSource(kernel, X, transforms, memory_limit=memory_limit, **(form or {}))
    if len(grams):
        stored = kernel.stored_form()
        return StoredGram(
            list(grams), transforms, form=stored, n_threads=n_threads, kernel=kernel, X=X, memory_budget=memory_budget
        )
    if held is not None:
        return HeldGram(kernel, held, transforms)
    return FittedKernel(kernel, X, transforms, n_threads, memory_budget)
