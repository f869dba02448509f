"""Gram matrices computed when first needed, and kept for the next request: for choosing among many kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.gram import compute_gram
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.models.parts import Values
from seqkern.models.room import HeldKernel, Room
from seqkern.models.sources import FittedKernel, GramSource, Units, sliced


class HeldMatrices:
    """The matrices of several kernels over the samples of the last request.

    The folds of an inner loop ask for parts of the same samples again and again: the first request computes a matrix,
    the others are slices of it. Kernels made of the same kernels share their matrices. A request for other samples
    replaces all matrices.

    Parameters
    ----------
    X : SequenceSet or table
        All samples.
    whole : bool
        Whether to compute matrices of all samples at the first request, since all of them fit into memory.
    room : Room, optional
        Memory for the matrices and for a fit on slices of them; the oldest matrices are forgotten. Where a single one
        does not fit beside the slices, these are computed without it. Default: half of the available memory.
    n_threads : int, optional
        Default: the number of cores.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> held = HeldMatrices(as_sequences(["AC", "AA", "CC"], "dna"))
    >>> held.include(np.array([0, 2]), need=0)
    >>> held.place.tolist(), held.matrix(SpectrumKernel(1, normalize=False)).values.tolist()
    ([0, -1, 1], [[2.0, 2.0], [2.0, 4.0]])
    """

    def __init__(
        self,
        X: Units,
        whole: bool = False,
        room: Room | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.X = X
        self.whole = whole
        self.room = Room.of(None, accepts_rows=False) if room is None else room
        self.n_threads = n_threads
        self.rows = np.zeros(0, dtype=np.int64)
        self.place = np.full(len(X), -1, dtype=np.int64)
        self._matrices: dict[str, GramMatrix] = {}
        self._most = 0
        self._expected = 0, 0

    def expect(self, kernels: Sequence[HeldKernel]) -> None:
        """Compute matrices of all samples at the first request if those of all kernels fit into memory.

        Parameters
        ----------
        kernels : sequence of HeldKernel
            Those that are compared.
        """
        self._expected = self.room.held_bytes(len(self.X), kernels)
        self.whole = sum(self._expected) <= self.room.limit

    def check_all(self) -> None:
        """Raise TooLargeError unless the largest fit on all samples fits into memory by itself."""
        self.room.check(self._expected[1], len(self.X), 0, stored=False)

    def divide(self, processes: int) -> int:
        """Divide the memory among processes that will be forks of this one, each of which fits to samples of its own.

        Parameters
        ----------
        processes : int
            How many are wanted.

        Returns
        -------
        int
            How many have room for a fit, at least 1.
        """
        matrices, fit = self._expected
        limit = self.room.limit - (matrices if self.whole else 0)  # matrices of all samples are shared
        processes = max(1, min(processes, limit // max(1, fit)))
        if not self.whole:
            self.room = replace(self.room, limit=limit // processes)
        return processes

    def include(self, rows: npt.NDArray[np.int64], need: int) -> None:
        """Prepare for a request; matrices without some of these samples, or that leave no room for it, are forgotten.

        Parameters
        ----------
        rows : ndarray of int64
            The samples.
        need : int
            Bytes that the fit on them takes besides the matrices.
        """
        if not (self.place[rows] >= 0).all():
            self._matrices.clear()
            self.rows = np.arange(len(self.X)) if self.whole else np.unique(rows)
            self.place[:] = -1
            self.place[self.rows] = np.arange(len(self.rows))
        self._most = max(0, self.room.limit - need) // max(1, 8 * len(self.rows) ** 2)
        self._forget(self._most)

    def _forget(self, most: int) -> None:
        """Forget the oldest matrices, except so many."""
        while len(self._matrices) > most:
            del self._matrices[next(iter(self._matrices))]

    def matrix(self, kernel: Kernel) -> GramMatrix | None:
        """Return the matrix of a kernel over the samples included; None if there is no room for it.

        Parameters
        ----------
        kernel : Kernel
            It learns nothing.

        Returns
        -------
        GramMatrix or None
        """
        key = kernel.identity()
        if key not in self._matrices:
            if not self._most:
                return None
            self._forget(self._most - 1)
            limit, X = self.room.limit, self.X.take(self.rows)
            self._matrices[key] = compute_gram(kernel, X, memory_limit=limit, n_threads=self.n_threads)
        return self._matrices[key]

    def values(self, kernel: Kernel, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64]) -> Values:
        """Return the values of a kernel that learns nothing: slices of its matrix if there is room for it.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        train, test : ndarray of int64
            Rows of the training and the test set, which are included.

        Returns
        -------
        Values
        """
        gram = self.matrix(kernel)
        if gram is None:
            return FittedKernel(kernel, self.X, n_threads=self.n_threads, room=self.room).values(train, test)
        return sliced(gram, self.place[train], self.place[test])


class HeldGram(GramSource):
    """Kernel values from matrices that are kept; those of a combination from the matrices of its parts.

    Parameters
    ----------
    kernel : Kernel
        Without a `stored_form` it is fitted on each training set.
    held : HeldMatrices
        Of all kernels that are compared.
    transforms : sequence of GramTransform, optional
        Fitted on each training set.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> held = HeldMatrices(as_sequences(["AC", "AA", "CC"], "dna"))
    >>> HeldGram(SpectrumKernel(1, normalize=False), held).pair(np.array([0, 1]), np.array([2]))
    (array([[2., 2.],
           [2., 4.]]), array([[2., 0.]]))
    """

    kernel: Kernel
    X: Units

    def __init__(self, kernel: Kernel, held: HeldMatrices, transforms: Sequence[GramTransform] = ()) -> None:
        self.kernel = kernel
        self.held = held
        self.X = held.X
        self.transforms = transforms
        self.n_threads = held.n_threads
        self.ids = held.X.ids
        self.form = kernel.stored_form()
        self.learns = kernel.data_dependent if self.form is None else self.form.learns

    @cached_property
    def takes(self) -> HeldKernel:
        """What it takes of memory."""
        return HeldKernel.of(self.kernel, self.X, len(self.transforms))

    def check_room(self, n_train: int, n_test: int) -> None:
        """Check that a fit without matrices that are kept fits into memory.

        Parameters
        ----------
        n_train, n_test : int
            As for `Source.check_room`.
        """
        self.held.room.check(self._need(n_train, n_test), n_train, n_test, stored=False)

    def _need(self, n_train: int, n_test: int) -> int:
        """Return the bytes of a fit besides the matrices that are kept."""
        takes = self.takes
        return self.held.room.slice_bytes(n_train, n_test, max(1, len(takes.stored)), takes.transforms, takes.work)

    def values(
        self, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y: npt.NDArray[Any] | None = None
    ) -> Values:
        """Return the Values of a training and a test set.

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
            If a matrix does not fit into memory; before any work.
        """
        self.check_room(len(train), len(test))
        self.held.include(np.concatenate((train, test)), self._need(len(train), len(test)))
        if self.form is None:
            room = self.held.room
            return FittedKernel(self.kernel, self.X, n_threads=self.n_threads, room=room).values(train, test, y)
        # each is sliced before the next is computed, which may take its place
        slices = (self.held.values(kernel, train, test) for kernel in self.form.kernels)
        return self._of(self.form, slices, train, test, y)

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Check that any of the kernels can be fitted to all samples; matrices are computed when they are needed.

        Parameters
        ----------
        y, **options : object
            As for `Source.compute_whole`.
        """
        self.held.check_all()
