"""Products with the kernel matrix of a kernel that depends on Hamming distances alone, by a transform.

K = Φ·G·Φᵀ, Φ the counts of l-mers and G[a, b] = c[h(a, b)], plus c[h(a, reverse complement of b)] on both strands. The
passes over the records go through lists of codes, one for each part of the table that fits into the second-level
cache (`_lmer_lists`); `spread` is `lmer_transform.LmerTransform`.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.kernels.kernel_operator import Floats, KernelOperator, Table, check_length
from seqkern.kernels.kmer.hamming import _lmer_lists
from seqkern.kernels.kmer.hamming.hamming_squares import own_values
from seqkern.kernels.kmer.hamming.lmer_tables import PART_BITS, check_table, part_bits
from seqkern.kernels.kmer.hamming.lmer_transform import LmerTransform
from seqkern.kernels.scaled_operator import ScaledOperator
from seqkern.sequences.sequence_set import SequenceSet

LARGEST_LIST = 2**32 - 1
LARGEST_WINDOW_WEIGHT = 255
LOOK_UPS_TO_COPY = 4  # entries of the table that are copied in the time of one look-up
THREADED_WINDOWS = 1 << 20  # fewer are not worth a thread
NO_WEIGHTS = np.zeros(0, dtype=np.uint8)

Codes = npt.NDArray[np.uint16 | np.uint32]
Lists = tuple[Codes, npt.NDArray[np.uint8], npt.NDArray[np.uint32], npt.NDArray[np.int64], int, int, int]


class HammingOperator(KernelOperator):
    """Products with Σ over pairs of l-mers (a of x, b of y) of u(a)·v(b)·values[h(a, b)].

    Single precision tables take half the memory. With u = 2⁻²⁴, λ the eigenvalues of G and first-order terms only, an
    entry of K·v then differs from the exact one by at most (4·l + 4)·u·max|λ|·‖Φ_i‖·‖Φᵀ·v‖, Φ_i the counts of the given
    strand and Φᵀ·v those of both, where both count: one rounding for each of the 4·l stages of the transform, which is
    orthogonal up to a power of two, and four more for the table, the strands, the eigenvalues and their product.

    Parameters
    ----------
    X : SequenceSet
        The n records.
    length : int
        l.
    values : sequence of float, length l + 1
        What a pair of l-mers adds, by Hamming distance.
    both_strands : bool
        Whether each pair adds the value of a and the reverse complement of b, too.
    window_weights : ndarray of int64, shape (windows,), optional
        The weight of each l-mer, in the order of `find_windows`; by default 1.
    squares : ndarray of float64, shape (n,), optional
        K(x, x), if known, or not needed.
    n_threads : int, optional
        By default, all cores. The result is the same to the last bit.
    """

    def __init__(
        self,
        X: SequenceSet,
        length: int,
        values: Sequence[float],
        *,
        both_strands: bool = False,
        window_weights: npt.NDArray[np.int64] | None = None,
        squares: Floats | None = None,
        n_threads: int | None = None,
    ) -> None:
        size = X.alphabet.size
        check_table(size, length)
        complement = X.alphabet.complement_codes[:size] if both_strands else None
        self.transform = LmerTransform(size, length, values, complement)
        self.n_weights, self.n_threads = size**length, n_threads
        self.tables: object = object()
        self.counts: dict[str, int] = {}
        self.folded = length if self.transform.is_dna and both_strands and length % 2 else 0
        self.space = self.n_weights // (2 if self.folded else 1)
        self._list_codes(X, length, size, _as_bytes(window_weights))
        if squares is None:
            threads = GIVEN_THREADS.get() or n_threads
            squares = own_values(X, length, values, both_strands, window_weights, threads)
        self.squares = squares

    def _list_codes(self, X: SequenceSet, length: int, size: int, given: npt.NDArray[np.uint8]) -> None:
        longest = np.zeros(max(0, int(X.lengths.max(initial=0)) - length + 1), dtype=np.int64)
        windows = float(np.maximum(X.lengths - length + 1, 0).mean()) if len(X) else 0.0
        self.bits = part_bits(self.space, windows)
        where = X.codes, X.starts, X.stops, length, size, self.folded, self.bits, longest
        numbers = np.zeros(((self.space - 1) >> self.bits) + 1, dtype=np.int64)
        _lmer_lists.count_codes(*where, numbers)
        if numbers.max(initial=0) > LARGEST_LIST:
            raise SequenceError(
                f"{numbers.sum()} l-mers are too many for one operator", remedy="train on fewer sequences"
            )
        self.base = np.concatenate(([0], np.cumsum(numbers)))
        self.codes: Codes = np.empty(self.base[-1], dtype=np.uint16 if self.bits <= PART_BITS else np.uint32)
        self.window_weights = np.empty(len(given), dtype=np.uint8)
        self.ends = np.empty((len(numbers), len(X) + 1), dtype=np.uint32)
        _lmer_lists.list_codes(*where, self.base[:-1].copy(), given, self.codes, self.window_weights, self.ends)

    def __len__(self) -> int:
        return self.ends.shape[1] - 1

    def take(self, rows: npt.ArrayLike) -> ScaledOperator:
        """Return the operator of some records, as a view with the same tables.

        Parameters
        ----------
        rows : array_like of int, shape (m,)
            Which records.

        Returns
        -------
        ScaledOperator
        """
        return ScaledOperator(self, np.ascontiguousarray(rows, dtype=np.int64))

    def with_tables(self, dtype: npt.DTypeLike) -> HammingOperator:
        """Return the same products with tables of another precision.

        Parameters
        ----------
        dtype : {numpy.float64, numpy.float32}
            Of the tables.

        Returns
        -------
        HammingOperator
        """
        out = copy.copy(self)
        out.dtype, out.counts = np.dtype(dtype), dict(self.counts)
        return out

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        """Return the table of the l-mers.

        Parameters
        ----------
        coefficients : array_like of float64, shape (n,)
            One for each record; records with zero cost no time.

        Returns
        -------
        ndarray of `dtype`, shape (n_weights,)
        """
        values = np.ascontiguousarray(coefficients, dtype=np.float64)
        check_length(values, len(self), "coefficients")
        rows = np.flatnonzero(values)
        table = (np.zeros if self.folded else np.empty)(self.n_weights, dtype=self.dtype)
        parts = len(self.ends)

        def collect(first: int, last: int) -> None:
            scratch = np.empty(min(self.space, 1 << self.bits))
            _lmer_lists.collect(*self._lists(), rows, values, first, last, scratch, table)

        self._share(collect, parts, len(rows))
        return table

    def spread(self, table: Table) -> None:
        """Multiply a table by G, in place.

        Parameters
        ----------
        table : ndarray of `dtype`, shape (n_weights,)
            As from `collect`; changed.
        """
        check_length(table, self.n_weights, "table")
        self.transform.multiply(table, self._threads(self.n_weights))

    def dots(self, weights: Table, out: Floats | None = None, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """Return the sums of weights over the l-mers of records.

        Parameters
        ----------
        weights : ndarray of `dtype`, shape (n_weights,)
            A table after `spread`.
        out : ndarray of float64, shape (n,), optional
            Where to write; by default a new array.
        rows : ndarray of int64, shape (m,), optional
            Which records; by default all. n is m otherwise.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        check_length(weights, self.n_weights, "weights")
        rows = np.arange(len(self)) if rows is None else check_rows(rows, len(self))
        out = np.empty(len(rows)) if out is None else out
        check_length(out, len(rows), "out")
        weights = np.ascontiguousarray(weights)
        # the parts of the table are copied, unless few l-mers are looked up
        copied = len(self.codes) * len(rows) * LOOK_UPS_TO_COPY > self.space * len(self)

        def dots(first: int, last: int) -> None:
            scratch = np.empty(min(self.space, 1 << self.bits) if copied else 0)
            _lmer_lists.dots(*self._lists(), rows[first:last], weights, scratch, out[first:last])

        self._share(dots, len(rows), len(rows))
        return out

    def _lists(self) -> Lists:
        return self.codes, self.window_weights, self.ends, self.base, self.folded, self.bits, self.space

    def _threads(self, work: float) -> int:
        """Return how many threads so many windows, or entries of a table, are worth."""
        threads = available_threads(GIVEN_THREADS.get() or self.n_threads)
        return max(1, min(threads, int(work // THREADED_WINDOWS)))

    def _share(self, work: Callable[[int, int], None], items: int, rows: int) -> None:
        """Call ``work(first, last)`` for ranges of `items`, one for each thread."""
        threads = min(items, self._threads(len(self.codes) * rows / max(1, len(self))))
        if threads <= 1:
            work(0, items)
            return
        bounds = np.linspace(0, items, threads + 1).astype(int).tolist()
        in_threads([lambda first=a, last=b: work(first, last) for a, b in itertools.pairwise(bounds)], threads)


def check_rows(rows: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """Return numbers of records, checked: compiled code does not check them.

    Parameters
    ----------
    rows : ndarray of int, shape (m,)
        Which records.
    n : int
        How many there are.

    Returns
    -------
    ndarray of int64, shape (m,)
    """
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    if np.any((rows < 0) | (rows >= n)):
        raise IndexError(f"rows are numbers from 0 to {n - 1}")
    return rows


def _as_bytes(weights: npt.NDArray[np.int64] | None) -> npt.NDArray[np.uint8]:
    if weights is None:
        return NO_WEIGHTS
    if weights.max(initial=0) > LARGEST_WINDOW_WEIGHT or weights.min(initial=0) < 0:
        raise ParameterError(
            f"weights of l-mers beyond {LARGEST_WINDOW_WEIGHT} are not possible", remedy="choose smaller weights"
        )
    return weights.astype(np.uint8)
