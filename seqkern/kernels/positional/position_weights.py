"""Decisions of weighted degree SVMs as weights of k-mers at positions: Σ_j c_j·K(x, z_j) without the z_j.

A k-mer of x at position p counts against the same k-mer of z_j at position q, with a weight for its length and one for
the pair (p, q), a *placement*: the same position, or one within the shift. So

    f(x) = Σ_j c_j·K(x, z_j) = Σ_k Σ_p w_k[p, k-mer of x at p].

k-mers of up to `prefix` letters are in one table for each position p, over all k-mers of so many letters, with the sum
of all lengths and placements (and, for k-mers before a masked residue, over all shorter k-mers). Longer ones are in one
trie for each position q of the support, without collisions and with compressed paths; each placement (p, q) walks the
trie of q with the residues from p on. Support sequences are not visited; more of them only add k-mers to the tries. See
`_position_weights.h` and `_position_tries.h`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.kernels.positional import _position_weights as loops
from seqkern.kernels.positional.weighs_degrees import WeighsDegrees
from seqkern.sequences.sequence_set import SequenceSet, as_sequences

TABLE_BITS = 16
MANY, MANY_TABLE_BITS = 1 << 15, 18  # of so many sequences most windows would walk a trie: larger tables pay
PLACEMENT_BYTES = 128  # of one while k-mers are found and sorted
WORD_BITS = 57
BLOCK, LEAST_BLOCK = 1 << 20, 1 << 12  # windows per block, as each block reads all tables
LARGEST_SPAN = 1 << 31
LARGEST_TABLE_LENGTH = 3
# CPU seconds, measured: for a window of the support in a table and in a trie, for an entry of a table, for a window
# that looks up a table and walks a trie, and by the kernel matrix for two windows.
FILL_SECONDS = 3e-9
BRANCH_SECONDS = 60e-9
ENTRY_SECONDS = 2e-9
LOOK_SECONDS = 2e-9
WALK_SECONDS = 6e-9
PAIR_SECONDS = 2.5e-11
LEAST_NEW = 10_000


class PositionWeights:
    """Weights of k-mers at positions, made from support sequences.

    Parameters
    ----------
    support : SequenceSet, m sequences of one length
    coefficients : ndarray of float64, shape (m,)
        c_j; if the kernel is normalised, divided by √K(z_j, z_j).
    length_weights : ndarray of float64, shape (degree,)
        β_k.
    start_weights : ndarray of float64, shape (length,)
        γ_i.
    shifts : ndarray of int64, shape (length,)
        The largest shift at each position.
    prefix : int, optional
        Length of the k-mers in a table; by default such that a table fits into the cache.
    n_threads : int, optional
        By default all cores.

    Attributes
    ----------
    alphabet : Alphabet
    length : int
        Residues in a window.
    degree : int
        Length of the longest k-mers, at most that of a window.
    bytes : int
        Memory of tables and tries.

    Raises
    ------
    ParameterError
        If the tables do not fit into memory.

    References
    ----------
    Sonnenburg, Rätsch, Rieck: Large scale learning with string kernels. In: Large Scale Kernel Machines, MIT Press
    2007.
    """

    def __init__(
        self,
        support: SequenceSet,
        coefficients: npt.ArrayLike,
        length_weights: npt.NDArray[np.float64],
        start_weights: npt.NDArray[np.float64],
        shifts: npt.NDArray[np.int64],
        *,
        prefix: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.alphabet = support.alphabet
        self.length = int(support.lengths[0]) if len(support) else 0
        self.degree = min(len(length_weights), self.length)
        self._bits = letter_bits(self.alphabet.size)
        self.prefix = min(self.degree, longest_in_tables(len(support), self._bits) if prefix is None else prefix)
        self._length_weights = np.array(length_weights[: self.degree], dtype=np.float64)
        placements = count_placements(self.length, shifts)
        need = self.bytes_for(len(support), self.length, self.degree, self.alphabet.size, self.prefix, placements)
        if need > available_memory():
            raise ParameterError(
                f"tables of {self.length} positions and k-mers of up to {self.degree} residues from {len(support)} "
                f"sequences take up to {format_bytes(need)} of memory",
                remedy="choose a smaller degree, or shorter or fewer sequences",
            )
        self._support = support.compact()
        self._coefficients = np.array(coefficients, dtype=np.float64)
        self._placements = find_placements(self.length, self.degree, start_weights, shifts)
        self._n_threads = n_threads
        self._tables = self._make() if self.length else None

    @staticmethod
    def bytes_for(
        m: int, length: int, degree: int, size: int, prefix: int | None = None, placements: int | None = None
    ) -> int:
        """Return an upper bound of the bytes of weights from `m` support sequences.

        Parameters
        ----------
        m : int
            Support sequences.
        length : int
            Residues of each.
        degree : int
            The longest k-mers.
        size : int
            Of the alphabet.
        prefix : int, optional
            As for the class.
        placements : int, optional
            From `count_placements`; by default those without shifts.

        Returns
        -------
        int
        """
        bits, degree = letter_bits(size), min(degree, length)
        prefix = min(degree, longest_in_tables(m, bits) if prefix is None else prefix)
        total = (length + 1) * loops.table_entries(bits, prefix) * 8 + 2 * m * length
        total += PLACEMENT_BYTES * (length if placements is None else placements)
        if degree > prefix:
            # At most one branch for each path, and a node for each machine word of residues on it.
            nodes = m * (2 + (degree - prefix - 1) // (WORD_BITS // bits))
            total += length * (nodes * loops.NODE_BYTES + -(-(1 << bits * prefix) // 64) * loops.ROOT_BYTES)
        return total

    def _threads(self, n_threads: int | None = None) -> int:
        return available_threads(n_threads or GIVEN_THREADS.get() or self._n_threads)

    def _make(self) -> Any:
        """Return the compiled tables."""
        letters = loops.Letters(self._support.codes, self.alphabet.size, self._bits)
        support = loops.Support(letters, self._coefficients, self.length, self.prefix)
        tables = np.empty((self.length, loops.table_entries(self._bits, self.prefix)))
        by_place = np.sort(self._placements, order=("here", "there"), kind="stable")
        cuts = np.searchsorted(by_place["here"], np.arange(self.length + 1))

        def fill(place: int) -> None:
            here = by_place[cuts[place] : cuts[place + 1]]
            loops.fill_table(support, here.view(np.uint8), self._length_weights, tables[place])

        threads = self._threads()
        in_threads([lambda place=place: fill(place) for place in range(self.length)], threads)
        tail = np.empty(1 << self._bits * self.prefix)
        loops.fill_tail(support, tables, tail)
        tries = []
        if self.degree > self.prefix:
            parts = np.array_split(np.arange(self.length), 4 * threads)
            made = in_threads(
                [lambda part=part: loops.make_tries(support, part.tolist(), self.degree) for part in parts], threads
            )
            tries = [trie for part in made for trie in part]
        self.bytes = tables.nbytes + tail.nbytes + sum(roots.nbytes + nodes.nbytes for roots, nodes in tries)
        cumulative = np.concatenate(([0.0], np.cumsum(self._length_weights)))
        return loops.Tables(self._bits, self.prefix, tables, tail, cumulative, tries, self._placements)

    def values(self, X: Any, n_threads: int | None = None) -> npt.NDArray[np.float64]:
        """Return Σ_j c_j·K(x, z_j), not normalised in x, of each record.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            Each of `length` residues.
        n_threads : int, optional
            Does not change the result.

        Returns
        -------
        ndarray of float64, shape (n,)

        Raises
        ------
        SequenceError
            If a record has another length, or the set another alphabet.
        """
        X = as_sequences(X, self.alphabet)
        odd = np.flatnonzero(X.lengths != self.length)
        if len(odd) and len(self._coefficients):
            raise SequenceError(
                f"has {X.lengths[odd[0]]} residues, the model has {self.length}",
                record=X.ids[odd[0]],
                remedy="trim all sequences to the length of the training sequences",
            )
        if self._tables is None:
            return np.zeros(len(X))
        X = X.compact()
        return self.scan(X.codes, X.starts, n_threads)

    def scan(
        self, codes: npt.NDArray[np.uint8], starts: npt.ArrayLike, n_threads: int | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the values of windows of one long sequence, as `values` does.

        Parameters
        ----------
        codes : ndarray of uint8, shape (residues,)
            Codes outside the alphabet are masked residues; their k-mers add nothing.
        starts : array_like of int64, shape (n,)
            Where the windows start, ascending: a window is ``codes[start : start + length]``.
        n_threads : int, optional
            Does not change the result.

        Returns
        -------
        ndarray of float64, shape (n,)

        Raises
        ------
        SequenceError
            If a window extends beyond the sequence, or the starts do not ascend.
        """
        starts = np.ascontiguousarray(starts, dtype=np.int64)
        if len(starts) and (starts[0] < 0 or starts[-1] + self.length > len(codes) or np.any(np.diff(starts) < 0)):
            raise SequenceError(
                f"windows of {self.length} residues extend beyond {len(codes)} residues, or are not in order",
                remedy="remove windows outside the sequence, and sort the rest",
            )
        out = np.zeros(len(starts))
        if self._tables is None:
            return out
        letters = loops.Letters(np.ascontiguousarray(codes, dtype=np.uint8), self.alphabet.size, self._bits)
        threads = self._threads(n_threads)
        spans = blocks(starts, max(LEAST_BLOCK, min(BLOCK, -(-len(starts) // threads))))
        in_threads(
            [lambda span=span: loops.scan(self._tables, letters, starts[span], out[span]) for span in spans], threads
        )
        return out

    def table(self, k: int) -> npt.NDArray[np.float64]:
        """Return w_k, the contribution of each k-mer of length `k` at each position.

        Parameters
        ----------
        k : int
            From 1 to 3; zero above the degree.

        Returns
        -------
        ndarray of float64, shape (length, size^k)
            K-mers in alphabetical order; zero where a k-mer would extend beyond the end.

        Raises
        ------
        ParameterError
            If `k` is not from 1 to 3.
        """
        if not 1 <= k <= LARGEST_TABLE_LENGTH:
            raise ParameterError(f"k={k!r} is not possible", remedy=f"give 1 to {LARGEST_TABLE_LENGTH}")
        size, n = self.alphabet.size, len(self._coefficients)
        weights = np.zeros((self.length, size**k))
        if k > self.degree:
            return weights
        codes = self._support.codes.reshape(n, self.length)
        sums = np.zeros_like(weights)
        for place in range(self.length - k + 1):
            window = codes[:, place : place + k]
            whole = np.all(window < size, axis=1)
            words = window[whole] @ size ** np.arange(k - 1, -1, -1)
            sums[place] = np.bincount(words, weights=self._coefficients[whole], minlength=size**k)
        for here, there, longest, weight in self._placements:
            if longest >= k:
                weights[here] += weight * sums[there]
        return self._length_weights[k - 1] * weights


def of_kernel(
    kernel: WeighsDegrees, support: SequenceSet, coefficients: npt.ArrayLike, prefix: int | None = None
) -> PositionWeights:
    """Return the PositionWeights of a weighted degree kernel.

    Parameters
    ----------
    kernel : WeightedDegreeKernel
        Shifted or not.
    support, coefficients, prefix
        As for `PositionWeights`.

    Returns
    -------
    PositionWeights
    """
    length = int(support.lengths[0]) if len(support) else 0
    return PositionWeights(
        support,
        coefficients,
        kernel.length_weights(),
        kernel.start_weights(length),
        kernel.shifts(length),
        prefix=prefix,
        n_threads=kernel.n_threads,
    )


def fold(
    kernel: WeighsDegrees, support: SequenceSet, coefficients: npt.NDArray[np.float64]
) -> Callable[[Any], npt.NDArray[np.float64]] | None:
    """Return ``values(payload)`` for `Kernel._fold`; None if the matrix is expected to be faster, or memory is short.

    The choice must not depend on the number of sequences to predict, so that a value depends on its own sequence only:
    as many as support sequences are assumed, and `LEAST_NEW` at least.

    Parameters
    ----------
    kernel : WeightedDegreeKernel
        Shifted or not.
    support : SequenceSet, m sequences of one length
        z_j.
    coefficients : ndarray of float64, shape (m,)
        c_j.

    Returns
    -------
    callable or None
    """
    m, length, size = len(support), int(support.lengths[0]) if len(support) else 0, support.alphabet.size
    degree = min(kernel.degree, length)
    placements = count_placements(length, kernel.shifts(length))
    bits = letter_bits(size)
    prefix = min(degree, longest_in_tables(m, bits), max(1, (8 * m).bit_length() // bits))
    deep = degree > prefix
    entries = length * loops.table_entries(bits, prefix)
    making = m * placements * FILL_SECONDS + m * length * deep * BRANCH_SECONDS + entries * ENTRY_SECONDS
    new = max(m, LEAST_NEW)
    values = new * (length * LOOK_SECONDS + placements * deep * WALK_SECONDS)
    if making + values > new * m * placements * PAIR_SECONDS:
        return None
    if PositionWeights.bytes_for(m, length, degree, size, prefix, placements) > available_memory() // 2:
        return None
    weights = of_kernel(kernel, support, coefficients, prefix)
    return lambda payload: weights.values(payload.X)


def longest_in_tables(m: int, bits: int) -> int:
    """Return the length of the k-mers in a table.

    Parameters
    ----------
    m : int
        Support sequences.
    bits : int
        Of a packed residue.

    Returns
    -------
    int
    """
    return (TABLE_BITS if m < MANY else MANY_TABLE_BITS) // bits


def letter_bits(size: int) -> int:
    """Return the number of bits of a packed residue.

    Parameters
    ----------
    size : int
        Of the alphabet.

    Returns
    -------
    int
    """
    return max(1, (size - 1).bit_length())


def find_placements(
    length: int, degree: int, start_weights: npt.ArrayLike, shifts: npt.NDArray[np.int64]
) -> npt.NDArray[Any]:
    """Return the pairs of positions of a window and the support that are compared.

    Parameters
    ----------
    length : int
        Residues of a window.
    degree : int
        The longest k-mers.
    start_weights : array_like of float64, shape (length,)
        γ_i.
    shifts : ndarray of int64, shape (length,)
        The largest shift at each position.

    Returns
    -------
    ndarray of PLACEMENT
        By `there`, then `here`.
    """
    most = largest_shifts(length, shifts)
    i = np.repeat(np.arange(length), most + 1)
    s = np.arange(len(i)) - np.repeat(np.cumsum(most + 1) - most - 1, most + 1)
    weight = np.where(s > 0, 0.5 / (s + 1), 1.0) * np.asarray(start_weights, dtype=np.float64)[i]
    apart = s > 0
    found = np.zeros(len(i) + np.count_nonzero(apart), dtype=loops.PLACEMENT)
    found["here"] = np.concatenate((i + s, i[apart]))
    found["there"] = np.concatenate((i, (i + s)[apart]))
    found["weight"] = np.concatenate((weight, weight[apart]))
    found["longest"] = np.minimum(degree, length - np.maximum(found["here"], found["there"]))
    found = found[np.lexsort((found["here"], found["there"]))]
    return found[found["weight"] != 0]


def largest_shifts(length: int, shifts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the shifts, limited so that at least one residue remains.

    Parameters
    ----------
    length : int
        Residues of a window.
    shifts : ndarray of int64, shape (length,)
        The largest shift at each position.

    Returns
    -------
    ndarray of int64, shape (length,)
    """
    return np.minimum(shifts, np.arange(length - 1, -1, -1))


def count_placements(length: int, shifts: npt.NDArray[np.int64]) -> int:
    """Return the number of pairs of positions compared.

    Parameters
    ----------
    length : int
        Residues of a window.
    shifts : ndarray of int64, shape (length,)
        The largest shift at each position.

    Returns
    -------
    int
    """
    return length + 2 * int(largest_shifts(length, shifts).sum())


def blocks(starts: npt.NDArray[np.int64], count: int) -> Iterator[slice]:
    """Cut windows into blocks, less than `LARGEST_SPAN` residues apart.

    Parameters
    ----------
    starts : ndarray of int64, shape (n,)
        Starts of the windows, ascending.
    count : int
        Maximum windows in a block.

    Yields
    ------
    slice
        Range of windows.
    """
    first = 0
    while first < len(starts):
        last = min(first + count, int(np.searchsorted(starts, starts[first] + LARGEST_SPAN)))
        yield slice(first, last)
        first = last
