"""Gram matrices computed when first needed, and kept for the next request: for choosing among many kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.gram import compute_gram
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.models.parts import Values
from seqkern.models.sources import GramSource, StoredGram, Units


class HeldGram(GramSource):
    """Kernel values of a kernel that learns nothing; the matrix of the last request is kept.

    The folds of an inner loop ask for parts of the same samples again and again: the first request computes their
    matrix, the others are slices of it. A request for other samples replaces it.

    Parameters
    ----------
    kernel : Kernel
        Its `stored_form` is itself.
    X : SequenceSet or table
        All samples.
    transforms : sequence of GramTransform, optional
        Fitted on each training set.
    whole : bool
        Whether to compute the matrix of all samples at the first request.
    n_threads : int, optional
        Default: the number of cores.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> source = HeldGram(SpectrumKernel(1, normalize=False), as_sequences(["AC", "AA", "CC"], "dna"))
    >>> source.pair(np.array([0, 1]), np.array([2]))
    (array([[2., 2.],
           [2., 4.]]), array([[2., 0.]]))
    """

    kernel: Kernel
    X: Units

    def __init__(
        self,
        kernel: Kernel,
        X: Units,
        transforms: Sequence[GramTransform] = (),
        *,
        whole: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.X = X
        self.transforms = transforms
        self.whole = whole
        self.n_threads = n_threads
        self.ids = X.ids
        self._place = np.full(len(X), -1, dtype=np.int64)
        self._held: StoredGram | None = None

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
            If the matrix does not fit into memory; before any work.
        """
        rows = np.union1d(train, test)
        if self._held is None or (self._place[rows] < 0).any():
            self._hold(np.arange(len(self.X)) if self.whole else rows)
        assert self._held is not None
        return self._held.values(self._place[train], self._place[test], y)

    def compute_whole(self, y: npt.NDArray[Any] | None = None, **options: Any) -> None:
        """Do nothing: the matrix of all samples is computed when it is needed.

        Parameters
        ----------
        y, **options : object
            As for `Source.compute_whole`.
        """

    def _hold(self, rows: npt.NDArray[np.int64]) -> None:
        """Compute the matrix of some samples."""
        self._held = None  # frees memory first
        self._held = StoredGram(compute_gram(self.kernel, self.X.take(rows), n_threads=self.n_threads))
        self._place[:] = -1
        self._place[rows] = np.arange(len(rows))
