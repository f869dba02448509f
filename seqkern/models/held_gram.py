"""Gram matrices computed when first needed, and kept for the next request: for choosing among many kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.memory import available_memory, parse_bytes
from seqkern.gram import compute_gram
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.models.parts import Values
from seqkern.models.sources import GramSource, StoredGram, Units


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
    memory_limit : int or str, optional
        As for `seqkern.gram.compute_gram`; for all matrices together, of which the oldest are forgotten.
    n_threads : int, optional
        Default: the number of cores.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> held = HeldMatrices(as_sequences(["AC", "AA", "CC"], "dna"))
    >>> held.include(np.array([0, 2]))
    >>> held.place.tolist(), held.matrix(SpectrumKernel(1, normalize=False)).values.tolist()
    ([0, -1, 1], [[2.0, 2.0], [2.0, 4.0]])
    """

    def __init__(
        self,
        X: Units,
        whole: bool = False,
        memory_limit: int | str | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.X = X
        self.whole = whole
        self.memory_limit = memory_limit
        self.n_threads = n_threads
        self.rows = np.zeros(0, dtype=np.int64)
        self.place = np.full(len(X), -1, dtype=np.int64)
        self._matrices: dict[str, GramMatrix] = {}

    def include(self, rows: npt.NDArray[np.int64]) -> None:
        """Prepare for a request; matrices without some of these samples are forgotten.

        Parameters
        ----------
        rows : ndarray of int64
            The samples.
        """
        if (self.place[rows] >= 0).all():
            return
        self._matrices.clear()
        self.rows = np.arange(len(self.X)) if self.whole else np.unique(rows)
        self.place[:] = -1
        self.place[self.rows] = np.arange(len(self.rows))

    def matrix(self, kernel: Kernel) -> GramMatrix:
        """Return the matrix of a kernel over the samples included.

        Parameters
        ----------
        kernel : Kernel
            It learns nothing.

        Returns
        -------
        GramMatrix

        Raises
        ------
        GramError
            If the matrix does not fit into memory; before any work.
        """
        key = kernel.identity()
        if key not in self._matrices:
            limit = available_memory() // 2 if self.memory_limit is None else parse_bytes(self.memory_limit)
            while self._matrices and 8 * len(self.rows) ** 2 * (len(self._matrices) + 1) > limit:
                del self._matrices[next(iter(self._matrices))]
            self._matrices[key] = compute_gram(
                kernel, self.X.take(self.rows), memory_limit=limit, n_threads=self.n_threads
            )
        return self._matrices[key]


class HeldGram(GramSource):
    """Kernel values from matrices that are kept; those of a combination from the matrices of its parts.

    Parameters
    ----------
    kernel : Kernel
        With a `stored_form`.
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
        assert self.form is not None
        self.learns = self.form.learns

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
        assert self.form is not None
        self.held.include(np.concatenate((train, test)))
        grams = [self.held.matrix(kernel) for kernel in self.form.kernels]
        place = self.held.place
        return StoredGram(grams, form=self.form, n_threads=self.n_threads).values(place[train], place[test], y)

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Do nothing: matrices are computed when they are needed.

        Parameters
        ----------
        y, **options : object
            As for `Source.compute_whole`.
        """
