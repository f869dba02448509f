"""Sources of the kernel values of a training and a test set.

A kernel without fitting has one Gram matrix for all folds, which is sliced. A kernel fitted to
data is fitted on each training set, so that ``fit`` never sees a test sequence; if its matrix can be derived
from those of other kernels (`Kernel.stored_form`), these are sliced and only the last step is fitted.
Solvers without a Gram matrix get feature vectors, from which each part takes its own.

Each source declares what it `gives`, matching a solver's `input`. Training the final model first calls
`compute_whole`, so that data too large for memory are rejected before the inner loop.
"""

import copy
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError, ParameterError
from seqkern.core.memory import (
    available_memory,
    default_limit_words,
    format_bytes,
    more_memory,
    parse_bytes,
)
from seqkern.core.threads import given_threads
from seqkern.gram import compute_gram
from seqkern.gram.gram_rows import GramRows
from seqkern.gram.mapped import is_whole_map
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.transforms import build_transform, fit_chain, naming_rows
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.blocks import fill
from seqkern.kernels.composite import add_counts
from seqkern.kernels.deferred import DeferredImplicit, is_deferred
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.kernels.prepared import Prepared
from seqkern.kernels.stored_form import StoredForm
from seqkern.models.parts import Part, Values
from seqkern.models.room import Room
from seqkern.models.watch import NOBODY, Watch
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable, SimilarityTable

Units = SequenceSet | FeatureTable | SimilarityTable

RECORD_BYTES = 160
"""Memory of a solver for each record in addition to its feature vector, including temporary copies."""


class Source:
    """Base of all sources: a subclass defines `pair`, and `part` and `compute_whole` if it provides more.

    Attributes
    ----------
    gives : {"gram", "features", "implicit", "operator"}
        Matches a solver's `input`; "operator" suits all that accept products.
    learns : bool
        Whether each training set has its own matrix, before the transforms.
    kernel : Kernel or None
        Not fitted; None if only its values are known, so that it cannot become a model.
    X : SequenceSet or table, or None
        All samples; None if only kernel values are known.

    Examples
    --------
    >>> class Given(Source):
    ...     def pair(self, train, test, y=None):
    ...         return np.eye(4)[np.ix_(train, train)], np.eye(4)[np.ix_(test, train)]
    >>> Given().part(np.arange(3), np.arange(3, 4)).test
    array([[0., 0., 0.]])
    """

    gives: ClassVar[str] = "gram"
    learns: bool = False
    kernel: Kernel | None = None
    X: Units | None = None

    @property
    def predicted_seconds(self) -> float:
        """Predicted CPU seconds of the matrix of all samples; 0 if only its values are known."""
        return 0.0 if self.kernel is None or self.X is None else self.kernel.plan(self.X).seconds

    def pair(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> tuple[Any, Any]:
        """Return the solver input for a training and a test set.

        Parameters
        ----------
        train : ndarray of int64
            Rows of the training set.
        test : ndarray of int64
            Rows to classify.
        y : ndarray, optional
            Labels of the training set.

        Returns
        -------
        train, test : ndarray, csr_array, FeatureBlocks or Implicit
            In the form that the source `gives`.
        """
        raise NotImplementedError

    def part(
        self,
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64] | None = None,
        y: npt.NDArray[Any] | None = None,
        watch: Watch = NOBODY,
    ) -> Part:
        """Return the Part of some rows, with what a model of them needs.

        Parameters
        ----------
        train : ndarray of int64
            Rows of the training set.
        test : ndarray of int64, optional
            Rows to classify.
        y : ndarray, optional
            Labels of the training set.
        watch : Watch, optional
            Observes the kernel values before the transforms, if they are computed as a matrix.

        Returns
        -------
        Part
        """
        K_train, K_test = self.pair(train, train[:0] if test is None else test, y)
        return Part(K_train, None if test is None else K_test)

    def beside(
        self, train: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> Any:
        """Return the input for a solver, fitted on the Part of `train`, to classify some rows.

        Parameters
        ----------
        train : ndarray of int64
            Rows of the training set.
        rows : ndarray of int64
            Rows to classify.
        y : ndarray, optional
            Labels of the training set.

        Returns
        -------
        ndarray, csr_array, FeatureBlocks or Implicit
            In the form that the source `gives`.

        Raises
        ------
        ParameterError
            If this requires computing it together with the training set.
        """
        return self.part(train, rows, y).test

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Compute and keep the Part of all samples in advance.

        Parameters
        ----------
        y : ndarray, optional
            Their labels.
        **options : object
            ``memory_limit`` and ``progress``, as for `seqkern.gram.compute_gram`, for sources of Gram matrices.

        Raises
        ------
        GramError
            If it does not fit into memory.
        """
        raise NotImplementedError

    def check_room(self, n_train: int, n_test: int) -> None:
        """Check, before any work, that a fit fits into memory; by default it does.

        Parameters
        ----------
        n_train, n_test : int
            Samples of the training and the test set.

        Raises
        ------
        GramError
            If it does not.
        """

    def fitted_kernel(self, train: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None) -> Kernel:
        """Return a copy of the kernel, fitted on a training set.

        Parameters
        ----------
        train : ndarray of int64
            Rows of the training set.
        y : ndarray, optional
            Their labels.

        Returns
        -------
        Kernel

        Raises
        ------
        ParameterError
            If only values of the kernel are known.
        """
        if self.kernel is None or self.X is None:
            raise ParameterError(
                "the source has only kernel values, so no model can be created from it",
                remedy="also give it the kernel and the samples",
            )
        return copy.deepcopy(self.kernel).fit(self.units(train), y)

    def units(self, rows: npt.NDArray[np.int64]) -> Units:
        """Return some samples; the set itself if these are all.

        Parameters
        ----------
        rows : ndarray of int64
            Which of them.

        Returns
        -------
        SequenceSet or table
        """
        assert self.X is not None
        return self.X if is_all(rows, len(self.X)) else self.X.take(rows)


class GramSource(Source):
    """Base of the sources of Gram matrices: a subclass defines `values`.

    Attributes
    ----------
    transforms : sequence of GramTransform
        Fitted on each training set.
    ids : list of str or None
        Ids of all samples, for errors.
    n_threads : int or None
        None: the number of cores.

    Examples
    --------
    >>> class Identity(GramSource):
    ...     def values(self, train, test, y=None):
    ...         K = np.eye(4)
    ...         parts = K[np.ix_(train, train)], K[np.ix_(test, train)]
    ...         return Values(*parts, np.ones(len(train)), np.ones(len(test)), {})
    >>> Identity().pair(np.arange(3), np.arange(3, 4))[1]
    array([[0., 0., 0.]])
    """

    transforms: Sequence[GramTransform] = ()
    ids: Sequence[str] | None = None
    n_threads: int | None = None
    _whole: "Whole | None" = None

    def values(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> Values:
        """Return the kernel values of a training and a test set, before the transforms.

        Parameters
        ----------
        train : ndarray of int64
            Rows of the training set.
        test : ndarray of int64
            Rows to classify.
        y : ndarray, optional
            Labels of the training set.

        Returns
        -------
        Values
        """
        raise NotImplementedError

    def pair(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return K(train, train) and K(test, train), after the transforms.

        Parameters
        ----------
        train, test, y : object
            As for `Source.pair`.

        Returns
        -------
        train, test : ndarray of float64, shapes (l, l) and (n, l)
        """
        after = self._after(self.transforms, self.values(train, test, y), train, test)[1]
        return after.train, after.test

    def part(
        self,
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64] | None = None,
        y: npt.NDArray[Any] | None = None,
        watch: Watch = NOBODY,
    ) -> Part:
        """Return the Part of some rows.

        Parameters
        ----------
        train, test, y, watch : object
            As for `Source.part`.

        Returns
        -------
        Part
        """
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
        """Return transforms, fitted on the training matrix only, and the Values after them."""
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
        """Return the Values of a kernel or StoredForm; `slices` gives those of the kernels, in order."""
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
        """Return the Values that `join` (see StoredForm) makes of those of several parts."""
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

    Examples
    --------
    >>> Whole(Values(np.eye(2), np.zeros((0, 2)), np.ones(2), np.ones(0), {}), None, {}).counts
    {}
    """

    values: Values
    kernel: Kernel | None
    counts: dict[str, int]


class StoredGram(GramSource):
    """Slices of Gram matrices over all samples, and the kernel derived from them.

    Parameters
    ----------
    grams : GramMatrix or list of GramMatrix
        Square, over all samples of the data set: of the kernel itself, or those of ``form.kernels``.
    transforms : sequence of GramTransform, optional
        Fitted on each training set.
    form : StoredForm, optional
        How the kernel follows from the matrices; default: it is the kernel of the one matrix.
    ids : list of str, optional
        Ids of all samples, for errors; default: those of `X`.
    n_threads : int, optional
        Default: the number of cores.
    kernel : Kernel, optional
        The kernel of these values, for a model of new samples.
    X : SequenceSet or table, optional
        All samples, for a model of new samples.
    room : Room, optional
        Memory for slices; if they take more, the kernel's own matrix in a file is read by rows, by solvers that can
        (`seqkern.gram.gram_rows`). Default: slices.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> gram = compute_gram(SpectrumKernel(1, normalize=False), as_sequences(["AC", "AA", "CC"], "dna"))
    >>> StoredGram(gram).pair(np.array([0, 1]), np.array([2]))
    (array([[2., 2.],
           [2., 4.]]), array([[2., 0.]]))
    """

    def __init__(
        self,
        grams: GramMatrix | list[GramMatrix],
        transforms: Sequence[GramTransform] = (),
        *,
        form: StoredForm | None = None,
        ids: Sequence[str] | None = None,
        n_threads: int | None = None,
        kernel: Kernel | None = None,
        X: Units | None = None,
        room: Room | None = None,
    ) -> None:
        self.grams = grams if isinstance(grams, list) else [grams]
        self.ids = X.ids if ids is None and X is not None else ids
        self.transforms = transforms
        self.form = form
        self.learns = form is not None and form.learns
        self.n_threads = n_threads
        self.kernel = kernel
        self.X = X
        self.room = room

    @cached_property
    def _on_disk(self) -> bool:
        """Whether the kernel's own matrix is in a file, from which rows can be read."""
        values = self.grams[0].values
        own = not self.learns and not len(self.transforms)
        return own and is_whole_map(values) and bool(values.flags.c_contiguous)

    def _by_rows(self, n_train: int, n_test: int) -> bool:
        """Return whether solvers get rows of the file instead of slices."""
        return self.room is not None and self._on_disk and self.room.by_rows(n_train, n_test)

    def check_room(self, n_train: int, n_test: int) -> None:
        """Check that slices fit into memory, unless the matrix is read by rows.

        Parameters
        ----------
        n_train, n_test : object
            As for `Source.check_room`.
        """
        if self.room is None or self._by_rows(n_train, n_test):
            return
        need = self.room.slice_bytes(n_train, n_test, len(self.grams), len(self.transforms) + self.learns)
        self.room.check(need, n_train, n_test, stored=any(is_whole_map(gram.values) for gram in self.grams))

    def values(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> Values:
        """Return the Values of a training and a test set, slices of the matrices.

        Parameters
        ----------
        train, test, y : object
            As for `GramSource.values`.

        Returns
        -------
        Values
        """
        if self.room is not None and self._by_rows(len(train), len(test)):
            return self._rows(self.grams[0], train, test, self.room.for_rows)
        self.check_room(len(train), len(test))
        slices = (sliced(gram, train, test) for gram in self.grams)
        return next(slices) if self.form is None else self._of(self.form, slices, train, test, y)

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Keep the values of all samples, without a copy if the matrix is the kernel's own.

        Parameters
        ----------
        y, **options : object
            As for `Source.compute_whole`.
        """
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
    def _rows(gram: GramMatrix, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], room: int) -> Values:
        """Return the Values of one stored matrix, none of which is in memory."""
        assert isinstance(gram.values, np.memmap)
        diagonal = gram.row_diagonal
        K_train, K_test = GramRows(gram.values, train, train, room), GramRows(gram.values, test, train, room)
        return Values(K_train, K_test, diagonal[train], diagonal[test], {})


def sliced(gram: GramMatrix, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64]) -> Values:
    """Return the Values of one matrix.

    Parameters
    ----------
    gram : GramMatrix
        Square.
    train, test : ndarray of int64
        Its rows that are the training and the test set.

    Returns
    -------
    Values
    """
    diagonal = gram.row_diagonal
    return Values(gram.slice(train, train), gram.slice(test, train), diagonal[train], diagonal[test], {})


class FittedKernel(GramSource):
    """Kernel values from a kernel fitted on each training set.

    Parameters
    ----------
    kernel : Kernel
        Copied before fitting.
    X : SequenceSet or table
        All samples of the data set.
    transforms : sequence of GramTransform, optional
        Fitted on each training set.
    n_threads : int, optional
        Default: the number of cores.
    room : Room, optional
        Memory for the matrices; default: all that is available.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> source = FittedKernel(SpectrumKernel(1, normalize=False), as_sequences(["AC", "AA", "CC"], "dna"))
    >>> source.pair(np.array([0, 1]), np.array([2]))[1]
    array([[2., 0.]])
    """

    kernel: Kernel
    X: Units

    def __init__(
        self,
        kernel: Kernel,
        X: Units,
        transforms: Sequence[GramTransform] = (),
        n_threads: int | None = None,
        room: Room | None = None,
    ) -> None:
        self.kernel = kernel
        self.X = X
        self.transforms = transforms
        self.learns = kernel.data_dependent
        self.ids = X.ids
        self.n_threads = n_threads
        self.room = room

    def check_room(self, n_train: int, n_test: int) -> None:
        """Check that the matrices fit into memory.

        Parameters
        ----------
        n_train, n_test : object
            As for `Source.check_room`.
        """
        room = Room.of(None, accepts_rows=False) if self.room is None else self.room
        need = room.slice_bytes(n_train, n_test, transforms=len(self.transforms))
        room.check(need, n_train, n_test, stored=False)

    def values(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> Values:
        """Return the Values of a kernel fitted on the training set.

        Parameters
        ----------
        train, test, y : object
            As for `GramSource.values`.

        Returns
        -------
        Values

        Raises
        ------
        GramError
            If the matrices do not fit into memory; before any work.
        """
        self.check_room(len(train), len(test))
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
        """Fit the kernel on all samples, and compute their matrix.

        Parameters
        ----------
        y, **options : object
            As for `Source.compute_whole`.
        """
        kernel = copy.deepcopy(self.kernel).fit(self.X, y)
        gram = compute_gram(kernel, self.X, n_threads=self.n_threads, **options)
        none = np.zeros((0, len(self.X)))
        values = Values(gram.values, none, gram.row_diagonal, none[:, 0], kernel.learned())
        self._whole = Whole(values, kernel, gram.meta["counts"])


class ImplicitSource(Source):
    """Feature vectors that are never stored, for solvers that need no Gram matrix.

    Parameters
    ----------
    kernel : Kernel
        Copied before fitting.
    X : SequenceSet or table
        All samples of the data set.
    transforms : sequence of GramTransform, optional
        Must be empty.
    memory_limit : int or str, optional
        Bytes, or text such as ``"2GB"``; default: half of the available memory.

    Raises
    ------
    ParameterError
        If the kernel does not support this, or there are transforms, which need a matrix.
    GramError
        If the feature vectors and their weights do not fit into memory; before any work.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> source = ImplicitSource(SpectrumKernel(1), as_sequences(["AC", "AA", "CC"], "dna"))
    >>> [len(part) for part in source.pair(np.array([0, 1]), np.array([2]))]
    [2, 1]
    """

    gives = "implicit"
    kernel: Kernel
    X: Units

    def __init__(
        self,
        kernel: Kernel,
        X: Units,
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
                f"limit is {format_bytes(limit)}{default_limit_words(memory_limit)}",
                remedy=f"{more_memory(memory_limit)}, use shorter k-mers, or use fewer samples",
            )
        self.kernel = kernel
        self.X = X
        self._part: Part | None = None

    def _check(self, kernel: Kernel) -> None:
        """Raise ParameterError unless a kernel gives what solvers get."""
        kernel.check_implicit()

    def _bytes(self, kernel: Kernel, X: Units) -> int:
        """Return the memory that it takes."""
        return DeferredImplicit.bytes_for(kernel, X) if is_deferred(X) else kernel.implicit_bytes(X)

    def _make(self, kernel: Kernel, X: Units) -> KernelOperator:
        """Return what solvers get of some samples."""
        return DeferredImplicit(kernel, X) if is_deferred(X) else kernel.implicit(X)

    @cached_property
    def whole(self) -> KernelOperator:
        """What solvers get of all samples, for a kernel without fitting."""
        return self._make(self.kernel, self.X)

    def pair(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> tuple[KernelOperator, KernelOperator]:
        """Return the Implicits of a training and a test set.

        Parameters
        ----------
        train, test, y : object
            As for `Source.pair`.

        Returns
        -------
        train, test : Implicit, or KernelOperator
        """
        part = self.part(train, test, y)
        return part.train, part.test

    def part(
        self,
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64] | None = None,
        y: npt.NDArray[Any] | None = None,
        watch: Watch = NOBODY,
    ) -> Part:
        """Return the Part of some rows.

        Parameters
        ----------
        train, test, y, watch : object
            As for `Source.part`.

        Returns
        -------
        Part
        """
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
        """Return the Implicit of some rows.

        Parameters
        ----------
        train, rows, y : object
            As for `Source.beside`.

        Returns
        -------
        Implicit, or KernelOperator

        Raises
        ------
        ParameterError
            If the kernel is fitted to data.
        """
        if self.kernel.data_dependent:
            raise ParameterError(
                f"feature vectors of kernel {self.kernel.name!r} that are not stored belong to one training set "
                "and the rows computed with it",
                remedy="give these rows (ahead) when fitting the method",
            )
        return self.whole.take(rows)

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Fit the kernel on all samples, and compute their feature vectors.

        Parameters
        ----------
        y, **options : object
            As for `Source.compute_whole`.
        """
        kernel = copy.deepcopy(self.kernel).fit(self.X, y)
        K = self._make(kernel, self.X) if kernel.data_dependent else self.whole
        self._part = Part(K, None, kernel.learned(), K.squares, kernel=kernel, counts=K.counts)


def check_no_transforms(transforms: Sequence[GramTransform]) -> None:
    """Raise ParameterError if there are transforms of a Gram matrix but no such matrix.

    Parameters
    ----------
    transforms : sequence of GramTransform
        Must be empty.

    Raises
    ------
    ParameterError
        If there are transforms.
    """
    if len(transforms):
        raise ParameterError(
            "transforms need a Gram matrix, but this solver is trained without one",
            remedy="remove transforms and repair (the kernel has normalize=true), or choose a solver such as csvc",
        )


def check_source(source: Source, wanted: str, accepts_operator: bool = False) -> None:
    """Raise ParameterError unless a source provides the input of solvers: else features could be mistaken for K.

    Parameters
    ----------
    source : Source
        A source of kernel values.
    wanted : {"gram", "features", "implicit"}
        The `input` of the solvers.
    accepts_operator : bool
        Whether they also accept products with the kernel matrix.

    Raises
    ------
    ParameterError
        If it provides something else.
    """
    if source.gives != wanted and not (accepts_operator and source.gives == "operator"):
        raise ParameterError(
            f"the solver needs {wanted}, but the source gives {source.gives}",
            remedy="use ImplicitSource for a solver without a Gram matrix, StoredGram or FittedKernel for others",
        )


def is_all(rows: npt.NDArray[np.int64], n: int) -> bool:
    """Return whether rows are all of n, in order.

    Parameters
    ----------
    rows : ndarray of int64
        Some rows.
    n : int
        Their number.

    Returns
    -------
    bool
    """
    return len(rows) == n and bool(np.array_equal(rows, np.arange(n)))
