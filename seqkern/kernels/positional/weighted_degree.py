"""Weighted degree kernels, with and without shifts (Rätsch & Sonnenburg 2004; Rätsch et al. 2005)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.parameters import changed, integer, numbers
from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels import _blocks
from seqkern.kernels.capabilities import Products, Tables, Traits, capability
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.kmer.kmers import codes_fit, find_kmers, find_wide_kmers
from seqkern.kernels.kmer.oligo import window_positions
from seqkern.kernels.occurrences import spell
from seqkern.kernels.planner import Workload
from seqkern.kernels.positional import _position_weights as loops
from seqkern.kernels.positional._weighted_degree import share
from seqkern.kernels.positional.degree_features import (
    SMALL,
    DegreePayload,
    WeighsDegrees,
    degree_cost,
    implicit_bytes_of,
    implicit_of,
    implicit_seconds_of,
    largest_sum,
    make_sum,
    positions_are_definite,
)
from seqkern.kernels.prepared import Plan, Prepared
from seqkern.sequences.sequence_set import SequenceSet, as_sequences

MOST_WORDS = 1 << 22  # occurrences, of all lengths


def _at_kmers(X: SequenceSet, k: int, table: Floats) -> tuple[Array, Floats]:
    """Return the k-mers of `X`, codes or texts, and the entries of `table` (n, lengths, residues) at their
    positions.
    """
    kmers: Array
    if codes_fit(X.alphabet.size, k):
        found = find_kmers(X, k)
        kmers, start = found.codes[0], found.start
    else:
        wide = find_wide_kmers(X, k)
        kmers, start = wide.texts, wide.start
    records = np.repeat(np.arange(len(X)), np.diff(start))
    return kmers, table[records, k - 1, window_positions(X, k)]


# Decisions of weighted degree SVMs as weights of k-mers at positions: Σ_j c_j·K(x, z_j) without the z_j.
#
# A k-mer of x at position p is compared with the same k-mer of z_j at position q, with a weight for its length and one
# for the pair (p, q), a *placement*: the same position, or one within the shift. So
#
#     f(x) = Σ_j c_j·K(x, z_j) = Σ_k Σ_p w_k[p, k-mer of x at p].
#
# K-mers of up to `prefix` letters are in one table for each position p, over all k-mers of that length, with the sum of
# all lengths and placements (and, for k-mers before a masked residue, over all shorter k-mers). Longer ones are in one
# trie for each position q of the support, without collisions and with compressed paths; each placement (p, q) walks the
# trie of q with the residues from p on. Support sequences are not visited; more of them only add k-mers to the tries.
# See `_position_weights.h` and `_position_tries.h`.

TABLE_BITS = 16
MANY, MANY_TABLE_BITS = 1 << 15, 18  # of so many sequences most windows would walk a trie: larger tables pay
PLACEMENT_BYTES = 128  # of one while k-mers are found and sorted
WORD_BITS = 57
BLOCK, LEAST_BLOCK = 1 << 20, 1 << 12  # windows per block, as each block reads all tables
LARGEST_SPAN = 1 << 31
LARGEST_TABLE_LENGTH = 8
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
    """Weights of k-mers at positions, computed from support sequences.

    If the kernel is normalised, `coefficients` are c_j/√K(z_j, z_j).

    References
    ----------
    Sonnenburg, Rätsch, Rieck: Large scale learning with string kernels. In: Large Scale Kernel Machines, MIT Press
    2007.
    """

    def __init__(
        self, kernel: WeighsDegrees, support: SequenceSet, coefficients: npt.ArrayLike, prefix: int | None = None
    ) -> None:
        self.alphabet = support.alphabet
        self.length = int(support.lengths[0]) if len(support) else 0
        length_weights, shifts = kernel.length_weights(), kernel.shifts(self.length)
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
        self._placements = find_placements(self.length, self.degree, kernel.start_weights(self.length), shifts)
        self._n_threads = kernel.n_threads
        self._tables = self._make() if self.length else None

    @staticmethod
    def bytes_for(
        m: int, length: int, degree: int, size: int, prefix: int | None = None, placements: int | None = None
    ) -> int:
        """Return an upper bound of the memory of weights from `m` support sequences, in bytes."""
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

    def values(self, X: Any, n_threads: int | None = None) -> Floats:
        """Return Σ_j c_j·K(x, z_j), not normalised in x, of each record."""
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

    def scan(self, codes: npt.NDArray[np.uint8], starts: npt.ArrayLike, n_threads: int | None = None) -> Floats:
        """Return the values of the windows ``codes[start : start + length]`` of one long sequence, as `values` does.

        Codes outside the alphabet are masked residues; their k-mers add nothing.
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

    def table(self, k: int) -> Floats:
        """Return w_k, the contribution of each k-mer of length `k` (1 to 8) at each position, shape (length,
        size^k).
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


def fold(kernel: WeighsDegrees, support: SequenceSet, coefficients: Floats) -> Callable[[Any], Floats] | None:
    """Return ``values(payload)`` for `Kernel._fold`; None if the matrix is expected to be faster, or memory is short.

    The choice must not depend on the number of sequences to predict, so that a value depends on its own sequence only:
    the number is assumed to equal the support sequences', and to be `LEAST_NEW` at least.
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
    weights = PositionWeights(kernel, support, coefficients, prefix)
    return lambda payload: weights.values(payload.X)


def longest_in_tables(m: int, bits: int) -> int:
    """Return the length of the k-mers in a table, given the number of support sequences and bits per residue."""
    return (TABLE_BITS if m < MANY else MANY_TABLE_BITS) // bits


def letter_bits(size: int) -> int:
    """Return the number of bits of a packed residue."""
    return max(1, (size - 1).bit_length())


def find_placements(length: int, degree: int, start_weights: npt.ArrayLike, shifts: Ints) -> Array:
    """Return the compared pairs of a window position and a support position."""
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


def largest_shifts(length: int, shifts: Ints) -> Ints:
    """Return the shifts, limited so that at least one residue remains."""
    return np.minimum(shifts, np.arange(length - 1, -1, -1))


def count_placements(length: int, shifts: Ints) -> int:
    """Return the number of compared pairs of positions."""
    return length + 2 * int(largest_shifts(length, shifts).sum())


def blocks(starts: Ints, count: int) -> Iterator[slice]:
    """Yield slices of at most `count` windows whose starts span less than `LARGEST_SPAN` residues."""
    first = 0
    while first < len(starts):
        last = min(first + count, int(np.searchsorted(starts, starts[first] + LARGEST_SPAN)))
        yield slice(first, last)
        first = last


LARGEST_DEGREE = LARGEST_SHIFT = 10_000
EXACT = 2**52


class WeightedDegreeKernel(SequenceKernel):
    r"""Weighted degree kernel: k-mers that match at the same position.

    It suits sequences of one length cut around a site, such as splice sites.

    Notes
    -----
    With weights β_k of the lengths and γ_i of the positions,

    .. math:: K(x, y) = \sum_{k=1}^{d} β_k \sum_i γ_i [x_i..x_{i+k−1} = y_i..y_{i+k−1}]

    Complexity: O(d·L) per pair of sequences of length L. Matches are bits of machine words, 64 positions at a time, and
    lengths beyond the longest match are skipped.

    Definiteness: positive semi-definite.

    References
    ----------
    Rätsch, Sonnenburg: Accurate splice site prediction for Caenorhabditis elegans. In: Kernel Methods in Computational
    Biology, MIT Press, 2004.

    Examples
    --------
    Of the three k-mers of one residue and the two of two residues, ACG and ACT share three:

    >>> from seqkern.kernels import WeightedDegreeKernel
    >>> WeightedDegreeKernel(degree=2, normalize=False)(["ACG"], ["ACG", "ACT", "TTT"]).round(3)
    array([[2.667, 1.667, 0.   ]])
    """

    name = "weighted_degree"
    summary = "Compares two sequences position by position; longer matching stretches count more."
    traits = Traits(equal_lengths=True, kmers_vary=True)
    _most_block_columns = 1024

    degree: int = integer(default=20, low=1, high=LARGEST_DEGREE, kw_only=False, doc="d, the largest length of k-mers.")
    weights: list[float] | None = numbers(
        default=None, low=0, length="degree", doc="β_1, …, β_d; by default 2(d − k + 1)/(d(d + 1))."
    )
    position_weights: list[float] | None = numbers(
        default=None,
        low=0,
        doc="γ_i, the weight of each position at which a k-mer can start, one for each residue; 1 by default.",
    )
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence of masked residues only")

    tested_with = (
        {},
        {"degree": 3, "weights": [0.5, 2, 0.3], "normalize": False},
        {"degree": 5, "position_weights": [1 + i % 3 for i in range(24)]},
        {"degree": 2, "alphabet": "HEC"},
    )

    def length_weights(self) -> Floats:
        """Return β_1, …, β_d, float64 (d,)."""
        if self.weights is not None:
            return np.array(self.weights, dtype=np.float64)
        k = np.arange(1, self.degree + 1)
        return 2.0 * (self.degree - k + 1) / (self.degree * (self.degree + 1))

    def start_weights(self, length: int) -> Floats:
        """Return γ_i, the weight of a k-mer that starts at position i.

        Parameters
        ----------
        length : int
            Residues of the sequences.

        Returns
        -------
        ndarray of float64, shape (length,)
        """
        if self.position_weights is None:
            return np.ones(length)
        return np.array(self.position_weights, dtype=np.float64)

    def shifts(self, length: int) -> Ints:
        """Return the largest shift at each position: zeros.

        Parameters
        ----------
        length : int
            Residues of the sequences.

        Returns
        -------
        ndarray of int64, shape (length,)
        """
        return np.zeros(length, dtype=np.int64)

    def _min_length(self) -> int:
        """Return 1, the length of the shortest k-mer."""
        return 1

    def common_length(self, X: SequenceSet, length: int | None = None) -> int:
        """Return the length of the sequences, checked; 0 for none.

        Parameters
        ----------
        X : SequenceSet
            Sequences of one length, as `coerce` returns them.
        length : int, optional
            Length of the sequences to compare with.

        Returns
        -------
        int

        Raises
        ------
        SequenceError
            If the lengths differ, or are too long for exact sums.
        ParameterError
            If a list of weights or shifts has another length.
        """
        if not len(X):
            return length or 0
        own = int(X.lengths[0])
        if length not in (None, own):
            raise SequenceError(
                f"has {own} residues, the sequences it is compared with have {length}",
                record=X.ids[0],
                remedy="trim all sequences to one length",
            )
        if own * self.degree * (self.degree + 1) >= EXACT:
            raise SequenceError(
                f"has {own} residues, too many for exact sums with degree={self.degree}",
                record=X.ids[0],
                remedy="trim all sequences, or choose a smaller degree",
            )
        for name, values in self._lists().items():
            if len(values) != own:
                raise ParameterError(
                    f"{name} has {len(values)} numbers, and the sequences have {own} residues",
                    remedy="give one number for each position",
                )
        return own

    def _lists(self) -> dict[str, list[Any]]:
        """Return the given parameters that are lists with one number for each position."""
        return {} if self.position_weights is None else {"position_weights": self.position_weights}

    def _prepare(self, X: SequenceSet, like: DegreePayload | None) -> DegreePayload:
        if like is not None and len(like):
            return DegreePayload(X, self.common_length(X, like.length), like.sums, like.total)
        length = self.common_length(X)
        given = None if self.weights is None else self.length_weights()
        starts = None if self.position_weights is None else self.start_weights(length)
        if starts is not None and np.all(starts == 1):
            starts = None
        shifts = self.shifts(length)
        total = largest_sum(length, self.degree, given, starts, shifts)
        return DegreePayload(X, length, make_sum(X, length, self.degree, given, starts, shifts), total)

    def _block(self, rows: DegreePayload, cols: DegreePayload, out: Floats) -> float | None:
        return rows.fill(cols, out)

    def _normalised_block(self, rows: Prepared, cols: Prepared, out: Floats) -> float | None:
        near = rows.payload.bound(cols.payload, normalised=True) < SMALL and 1 / SMALL < rows.payload.total < SMALL
        if not near and _blocks.far_diagonals(rows.raw_diagonal, cols.raw_diagonal):
            return super()._normalised_block(rows, cols, out)
        return rows.payload.fill(cols.payload, out, rows.raw_diagonal, cols.raw_diagonal)

    def _fill_single(self, rows: Prepared, cols: Prepared, out: npt.NDArray[np.float32]) -> bool:
        return self.normalize and rows.payload.fill_single(cols.payload, out)

    def _plan(self, X: Any, Y: Any) -> Plan:
        length = self.common_length(X)
        weighted = self.position_weights is not None and set(self.position_weights) != {1}
        cost, reason = degree_cost(X, Y, self.degree, int(self.shifts(length).max(initial=0)), weighted)
        total = cost + Workload.of(X, Y).output(self.n_threads)
        return Plan("masks", total.seconds, total.bytes, reason)

    @property
    def tables(self) -> Tables:
        """Weights of k-mers at positions; K(x, x) is the same for all sequences without shifts."""
        return Tables(
            at_positions=lambda support, coefficients: PositionWeights(self, support, coefficients),
            constant_diagonal=lambda length: not self.shifts(length).any(),
        )

    @capability
    def implicit(self) -> Products:
        """Feature vectors that are walked, not stored."""
        return Products(
            self,
            lambda X: implicit_of(self, X),
            lambda X: implicit_bytes_of(self, X),
            lambda X: implicit_seconds_of(self, X),
        )

    def _fold(self, columns: DegreePayload, coefficients: Floats) -> Callable[[DegreePayload], Floats] | None:
        return fold(self, columns.X, coefficients)

    def _check_parameters(self) -> None:
        lengths = {name: len(values) for name, values in self._lists().items()}
        if len(set(lengths.values())) > 1:
            listed = " and ".join(f"{name} {length} numbers" for name, length in lengths.items())
            raise ParameterError(f"{listed} do not fit", remedy="give one number for each position")

    # ---- explanations: contributions of occurrences to Σ_j c_j·K(x, z_j) ----------------------

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Share the weight of each common k-mer equally among its residues."""
        length = int(X.lengths.max(initial=0))
        shares = np.zeros((len(X), length))
        weights = self.length_weights()
        for i, places in enumerate(self._places(X, support, coefficients, min(self.degree, length))):
            share(places, weights, shares[i])
        return shares.ravel()

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> tuple[list[str], Floats]:
        """Return the mean contribution of each k-mer's occurrences in `X` and `support`, at their positions.

        Long k-mers are omitted if there were more than `MOST_WORDS` occurrences of all lengths.
        """
        length = int(X.lengths.max(initial=0))
        letters = int(X.lengths.sum() + support.lengths.sum())
        longest = max(1, min(self.degree, length, MOST_WORDS // max(1, letters)))
        tables = []
        for Z in (X, support):
            tables.append(np.zeros((len(Z), longest, length)))
            for i, places in enumerate(self._places(Z, support, coefficients, longest)):
                tables[-1][i] = places
        names, means = [], []
        for k, weight in enumerate(self.length_weights()[:longest], 1):
            found = [_at_kmers(Z, k, table) for Z, table in zip((X, support), tables, strict=True)]
            words, values = (np.concatenate(part) for part in zip(*found, strict=True))
            distinct, number = np.unique(words, return_inverse=True)
            sums = np.bincount(number, weights=values, minlength=len(distinct))
            names += spell(distinct, k, X.alphabet)
            means.append(weight * sums / np.bincount(number, minlength=len(distinct)))
        return names, np.concatenate(means)

    def _places(self, X: SequenceSet, support: SequenceSet, coefficients: Floats, lengths: int) -> Iterator[Floats]:
        """Yield the contributions of each record's k-mers by position, without β_k; float64 (lengths, residues)."""
        length = self.common_length(X, self.common_length(support) or None)
        sums = make_sum(X, length, self.degree, None, self.start_weights(length), self.shifts(length))
        mine, theirs = (DegreePayload(Z, length, sums) for Z in (X, support))
        coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
        for i in range(len(X)):
            yield mine.places(i, theirs, coefficients, lengths)


class ShiftedWeightedDegreeKernel(WeightedDegreeKernel):
    r"""Weighted degree kernel with shifts: k-mers also match at nearby positions.

    It suits sequences of one length cut around a site, in which signals move by a few residues.

    Notes
    -----
    Over k-mers inside the sequences, with δ_s = 1/(2(s + 1)), so that a k-mer at the same position in both counts once,

    .. math::

        K(x, y) = \sum_{k=1}^{d} β_k \sum_i γ_i \sum_{s=0}^{S(i)} δ_s
        ([x_{i+s}..x_{i+s+k−1} = y_i..y_{i+k−1}] + [x_i..x_{i+k−1} = y_{i+s}..y_{i+s+k−1}])

    Complexity: O(S·d·L) per pair of sequences of length L, 64 positions at a time.

    Definiteness: positive semi-definite with one shift and no position weights; otherwise it depends on shifts and
    weights.

    References
    ----------
    Rätsch, Sonnenburg, Schölkopf: RASE: recognition of alternatively spliced exons in C. elegans. Bioinformatics 21
    (Suppl. 1), 2005.

    Examples
    --------
    A shift by one position is found:

    >>> from seqkern.kernels import ShiftedWeightedDegreeKernel, WeightedDegreeKernel
    >>> x, y = ["CAGGTC"], ["TCAGGT"]
    >>> WeightedDegreeKernel(degree=3)(x, y).round(2)
    array([[0.09]])
    >>> ShiftedWeightedDegreeKernel(degree=3, shift=1)(x, y).round(2)
    array([[0.28]])
    """

    name = "shifted_weighted_degree"
    traits = replace(WeightedDegreeKernel.traits, definite=None)
    summary = "Compares two sequences position by position, and a few positions to the left and right."

    shift: int | list[int] = integer(
        default=10,
        low=0,
        high=LARGEST_SHIFT,
        several=True,
        kw_only=False,
        doc="S, the largest shift, or a list with one shift for each position.",
    )
    position_weights: list[float] | None = changed(
        default=None,
        doc="γ_i, the weight of each position; a pair of k-mers has the weight of the one nearer to "
        "the start; 1 by default.",
    )

    tested_with = (
        {},
        {"degree": 3, "shift": 2, "weights": [0.5, 2, 0.3], "normalize": False},
        {"degree": 4, "shift": [min(i // 3, 5) for i in range(24)]},
        {"degree": 2, "shift": 30, "alphabet": "HEC"},
    )

    def shifts(self, length: int) -> Ints:
        """Return S(i), the largest shift at each position.

        Parameters
        ----------
        length : int
            Residues of the sequences.

        Returns
        -------
        ndarray of int64, shape (length,)
        """
        return np.full(length, self.shift) if np.ndim(self.shift) == 0 else np.array(self.shift, dtype=np.int64)

    def _traits(self, declared: Traits) -> Traits:
        return replace(declared, definite=self._is_definite)

    def _is_definite(self) -> bool:
        """Whether every Gram matrix is: the matrix of the weights of two positions is.

        With one shift for all positions and no position weights its entries w(|i − j|) form a sum of cosines
        that is non-negative everywhere (Rogosinski & Szegő 1928).
        """
        if not self._lists():
            return True
        length = len(next(iter(self._lists().values())))
        return positions_are_definite(self.start_weights(length), self.shifts(length))

    def _lists(self) -> dict[str, list[Any]]:
        return super()._lists() | ({} if np.ndim(self.shift) == 0 else {"shift": cast(list[int], self.shift)})
