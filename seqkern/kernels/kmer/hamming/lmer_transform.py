"""Tables over all l-mers times a matrix that depends on Hamming distances alone.

The matrix is diagonal in every product of orthogonal bases of the letters whose first vector is constant; its
eigenvalues are sums of Krawtchouk polynomials (`eigenvalues`). For DNA the basis is the 4 × 4 Hadamard matrix, and the
transform needs additions only; other alphabets take reflections (`eigenvalues.reflect`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import in_threads
from seqkern.kernels.kernel_operator import Table
from seqkern.kernels.kmer.hamming import _hamming_additive, _lmer_transform
from seqkern.kernels.kmer.hamming.eigenvalues import eigenvalues, reflect

DNA_COMPLEMENT = [3, 2, 1, 0]


class LmerTransform:
    """Multiplication by G[a, b] = values[h(a, b)], plus values[h(a, reverse complement of b)] on both strands.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    length : int
        Length of the l-mers.
    values : sequence of float, length + 1
        Of each Hamming distance.
    complement : ndarray of uint8, shape (size,), optional
        The complement of each letter, if both strands count.

    Attributes
    ----------
    eigenvalues : ndarray of float64, shape (length + 1,)
        Without the other strand; see `eigenvalues`.
    is_dna : bool
        Whether there are four letters, and the complement, if any, reverses their order.
    """

    def __init__(
        self, size: int, length: int, values: Sequence[float], complement: npt.NDArray[np.uint8] | None = None
    ) -> None:
        self.size, self.length, self.complement = size, length, complement
        self.eigenvalues = eigenvalues(size, length, values)
        self.is_dna = size == 4 and (complement is None or complement.tolist() == DNA_COMPLEMENT)

    def multiply(self, table: Table, n_threads: int = 1, level: int | None = None) -> None:
        """Multiply a table by G, in place.

        Parameters
        ----------
        table : ndarray of float64 or float32, shape (size^length,)
            By code, the first letter is the most significant digit.
        n_threads : int
            Any number gives the same bits.
        level : int, optional
            Of vector instructions; by default the highest.
        """
        if self.is_dna:
            self._multiply_dna(table, n_threads, _hamming_additive.highest_level() if level is None else level)
            return
        if self.complement is not None:
            table += self._other_strand(table, self.complement)
        work = np.asarray(table, dtype=np.float64)
        reflect(work, self.size, self.length)
        _hamming_additive.scale(work, self.size, 1, self.eigenvalues, self.eigenvalues, work)
        reflect(work, self.size, self.length)
        if work is not table:
            table[:] = work

    def _multiply_dna(self, table: Table, n_threads: int, level: int) -> None:
        if self.complement is not None:
            tile = np.empty(_lmer_transform.TILE_SIZE**2, dtype=table.dtype)
            _lmer_transform.fold_strands(table, self.length, tile)
        low = min(self.length, _lmer_transform.ROW)
        high, width = self.length - low, 4**low
        # the squares of both Hadamard matrices; a power of two, so that nothing is rounded
        factors = (self.eigenvalues / 4**self.length).astype(table.dtype)

        def rows(first: int, last: int) -> None:
            _lmer_transform.transform_rows(table, low, first, last, level)

        def columns(first: int, last: int) -> None:
            strip = np.empty(4**high * _lmer_transform.STRIP_COLUMNS, dtype=table.dtype)
            _lmer_transform.multiply_columns(table, high, width, first, last, factors, strip, level)

        for work, items in ((rows, 4**high), (columns, width), (rows, 4**high)):
            bounds = [items * thread // n_threads for thread in range(n_threads + 1)]
            if n_threads == 1:
                work(0, items)
            else:
                spans = itertools.pairwise(bounds)
                in_threads([lambda a=a, b=b, work=work: work(a, b) for a, b in spans], n_threads)

    def _other_strand(self, table: Table, complement: npt.NDArray[np.uint8]) -> Table:
        """Return the table with each l-mer replaced by its reverse complement."""
        cube = table.reshape((self.size,) * self.length).transpose()
        for axis in range(self.length):
            cube = np.take(cube, complement, axis=axis)
        return np.ascontiguousarray(cube).reshape(-1)
