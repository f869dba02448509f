"""Products with the kernel matrix of a kernel that depends on Hamming distances alone, by a transform.

K = Φ·G·Φᵀ, with Φ the counts of l-mers and G[a, b] = c[h(a, b)], plus c[h(a, reverse complement of b)] on both
strands. The passes over the records read lists of codes, one for each part of the table that fits into the
second-level cache (`_tables`); `spread` is `lmer_transform.LmerTransform`.
"""

import copy
import itertools
import math
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, reduce
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.memory import format_bytes
from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels.capabilities import Tables
from seqkern.kernels.kernel_operator import KernelOperator, Table, check_length
from seqkern.kernels.kmer import _hamming, _kmers, _tables
from seqkern.kernels.kmer import _tables as loops
from seqkern.kernels.kmer.hamming import (
    CLASSES,
    LISTS_IN_MEMORY,
    LONG_RECORD,
    NO_COMPLEMENT,
    PART_BITS,
    STORED_LISTS,
    HammingBlock,
    Walks,
    as_weights,
    check_table,
    eigenvalues,
    list_sizes,
    own_costs,
    reflect,
    residue_factors,
)
from seqkern.kernels.kmer.kmer_kernel import LARGEST_TABLE, sum_kmers, whole_table
from seqkern.kernels.kmer.kmers import find_kmers, find_windows, first_of_pairs, reverse_complements
from seqkern.kernels.occurrences import KmerWeights, Sums, Tallied, Tally
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import TermBlocks
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

# K(x, x) of many records, for kernels that depend on Hamming distances alone.
#
# Records of similar length are compared with themselves side by side, one in each vector lane (`_hamming`). Few or
# very long records, and windows with weights, go through `HammingBlock`. Both ways give the same bits.

Counts = npt.NDArray[np.int64]


def own_values(
    X: SequenceSet,
    length: int,
    values: Sequence[float],
    both_strands: bool,
    window_weights: Counts | None = None,
    n_threads: int | None = None,
) -> Floats:
    """Return K(x, x) of each record."""
    if window_weights is not None:
        return _squares_by_pairs(X, length, values, both_strands, window_weights)
    windows = np.zeros(len(X), dtype=np.int64)
    _kmers.count_windows(X.codes, X.starts, X.stops, length, X.alphabet.size, False, windows)
    out = np.zeros(len(X))
    rows, places = np.flatnonzero(windows), X.lengths - length + 1
    rows = rows[np.argsort(places[rows], kind="stable")]
    lanes = _hamming.lanes(_product.level())
    groups: list[Counts] = []
    others: list[Counts] = []
    for first in range(0, len(rows), lanes):
        group = rows[first : first + lanes]
        together, single = own_costs(places[group], X.alphabet.size, length, values, both_strands)
        many = places[group[-1]] + length - 1 < LONG_RECORD and together < single
        (groups if many else others).append(group)

    def compare(group: Counts) -> None:
        out[group] = _squares_of_group(X, group, length, values, both_strands, windows[group])

    in_threads([lambda group=group: compare(group) for group in groups], n_threads)
    if others:
        rest = np.concatenate(others)
        out[rest] = _squares_by_pairs(X.take(rest), length, values, both_strands)
    return out


def _squares_by_pairs(
    X: SequenceSet, length: int, values: Sequence[float], both_strands: bool, window_weights: Counts | None = None
) -> Floats:
    block = HammingBlock(
        X,
        length,
        values,
        strands="both" if both_strands else "one",
        algorithm="pairs",
        window_weights=window_weights,
    )
    return block.squares.astype(np.float64)


def _squares_of_group(
    X: SequenceSet, group: Counts, length: int, values: Sequence[float], both_strands: bool, windows: Counts
) -> Floats:
    """Return K(x, x) of a group of records, at most one for each vector lane."""
    weights, _ = as_weights(values, length)
    walks = Walks(length, weights.tolist(), True)
    totals = np.zeros((int(walks.passes[:, 1].sum()), len(group)), dtype=np.int64)
    complement = X.alphabet.complement_codes if both_strands else NO_COMPLEMENT
    _hamming.own_pairs(
        X.codes,
        X.starts[group],
        X.stops[group],
        length,
        X.alphabet.size,
        complement,
        _product.level(),
        walks.passes,
        totals,
    )
    at = 0
    for classes in walks.passes[:, 1].tolist():
        _separate_classes(totals[at : at + classes])
        at += classes
    order = walks.order.tolist()
    totals[order[0]] += windows  # each window and itself, at distance 0
    left = windows**2 * (2 if both_strands else 1) - sum(totals[place] for place in order if place >= 0)
    out: Array = np.zeros(len(group), dtype=weights.dtype)
    for distance, place in enumerate(order):
        out += left * weights[length] if place < 0 else totals[place] * weights[distance]
    return out.astype(np.float64)


def _separate_classes(totals: Counts) -> None:
    """Convert the counts of each class m, which include all codes with m's bits, into counts of the code m alone."""
    for bit in (1, 2, 4):
        for code in range(min(CLASSES, len(totals))):
            if not code & bit and code | bit < len(totals):
                totals[code] -= totals[code | bit]


# Products of tables over all l-mers with a matrix that depends on Hamming distances alone.
#
# The matrix is diagonal in every product of orthogonal bases of the letters whose first vector is constant; its
# eigenvalues are sums of Krawtchouk polynomials (`eigenvalues`). For DNA the basis is the 4 × 4 Hadamard matrix, and
# the transform needs additions only; other alphabets use reflections (`eigenvalues.reflect`).

DNA_COMPLEMENT = [3, 2, 1, 0]


class LmerTransform:
    """Multiplication by G[a, b] = values[h(a, b)], plus values[h(a, reverse complement of b)] on both strands."""

    def __init__(
        self, size: int, length: int, values: Sequence[float], complement: npt.NDArray[np.uint8] | None = None
    ) -> None:
        self.size, self.length, self.complement = size, length, complement
        self.eigenvalues = eigenvalues(size, length, values)
        self.is_dna = size == 4 and (complement is None or complement.tolist() == DNA_COMPLEMENT)

    def multiply(self, table: Table, n_threads: int = 1, level: int | None = None) -> None:
        """Multiply a table by G, in place; in its index, the first letter is the most significant digit."""
        self.fold(table)
        if self.is_dna:
            self._multiply_dna(table, n_threads, _tables.highest_level() if level is None else level)
            return
        work = np.asarray(table, dtype=np.float64)
        self.reflect(work)
        _tables.scale(work, self.size, 1, self.eigenvalues, self.eigenvalues, work)
        self.reflect(work)
        if work is not table:
            table[:] = work

    def fold(self, table: Table) -> None:
        """Add to each entry that of the reverse complement, in place, if both strands count."""
        if self.complement is not None and self.is_dna:
            _tables.fold_strands(table, self.length, np.empty(_tables.TILE_SIZE**2, dtype=table.dtype))
        elif self.complement is not None:
            table += self._other_strand(table, self.complement)

    def reflect(self, table: Floats) -> None:
        """Turn a table into one over the eigenvectors, in place, or back, up to a factor; see `eigenvalues`."""
        if self.is_dna:
            _tables.transform_rows(table, self.length, 0, 1)
        else:
            reflect(table, self.size, self.length)

    def _multiply_dna(self, table: Table, n_threads: int, level: int) -> None:
        low = min(self.length, _tables.ROW)
        high, width = self.length - low, 4**low
        # the squares of both Hadamard matrices; a power of two, so that nothing is rounded
        factors = (self.eigenvalues / 4**self.length).astype(table.dtype)

        def rows(first: int, last: int) -> None:
            _tables.transform_rows(table, low, first, last, level)

        def columns(first: int, last: int) -> None:
            strip = np.empty(4**high * _tables.STRIP_COLUMNS, dtype=table.dtype)
            _tables.multiply_columns(table, high, width, first, last, factors, strip, level)

        for work, items in ((rows, 4**high), (columns, width), (rows, 4**high)):
            spans = itertools.pairwise([items * thread // n_threads for thread in range(n_threads + 1)])
            in_threads([lambda a=a, b=b, work=work: work(a, b) for a, b in spans], n_threads)

    def _other_strand(self, table: Table, complement: npt.NDArray[np.uint8]) -> Table:
        """Return the table with each l-mer replaced by its reverse complement."""
        cube = table.reshape((self.size,) * self.length).transpose()
        for axis in range(self.length):
            cube = np.take(cube, complement, axis=axis)
        return np.ascontiguousarray(cube).reshape(-1)


LARGEST_LIST = 2**32 - 1
DEFINITE = 1e-9  # Share of the largest eigenvalue up to which a negative one is a rounding error
LARGEST_WINDOW_WEIGHT = 255
LOOK_UPS_TO_COPY = 4  # entries of the table that are copied in the time of one look-up
THREADED_WINDOWS = 1 << 20  # fewer are not worth a thread
NO_WEIGHTS = np.zeros(0, dtype=np.uint8)

Codes = npt.NDArray[np.uint16 | np.uint32]
Lists = tuple[Codes, npt.NDArray[np.uint8], npt.NDArray[np.uint32], Ints, int, int, int]


class HammingOperator(KernelOperator):
    """Products with Σ over pairs of l-mers (a of x, b of y) of u(a)·v(b)·values[h(a, b)].

    Single precision tables take half the memory. With u = 2⁻²⁴, λ the eigenvalues of G and first-order terms only, an
    entry of K·v then differs from the exact one by at most (4·l + 4)·u·max|λ|·‖Φ_i‖·‖Φᵀ·v‖, with Φ_i the counts of the
    given strand and Φᵀ·v the counts of both, if both are used: one rounding for each of the 4·l stages of the
    transform, which is orthogonal up to a power of two, and four more for the table, the strands, the eigenvalues
    and their product.
    """

    def __init__(self, kernel: "HammingAdditive", X: SequenceSet, length: int, squares: "Floats | None" = None) -> None:
        size, both_strands = X.alphabet.size, kernel.reverse_complement
        values = kernel._pair_weights(size, length)
        check_table(size, length)
        complement = X.alphabet.complement_codes[:size] if both_strands else None
        self.transform = LmerTransform(size, length, values, complement)
        self.n, self.n_weights, self.n_threads = len(X), size**length, kernel.n_threads
        self.tables: object = object()
        self.alphabet = X.alphabet
        self.counts: dict[str, int] = {}
        self.folded = length if self.transform.is_dna and both_strands and length % 2 else 0
        self.space = self.n_weights // (2 if self.folded else 1)
        self.lmers, levels = self, self.transform.eigenvalues
        self.definite = levels.min() > -DEFINITE * levels.max()
        self.bits, _, _, need = list_sizes(size, length, X.lengths, both_strands)
        longest = np.zeros(max(0, int(X.lengths.max(initial=0)) - length + 1), dtype=np.int64)
        where = length, size, self.folded, self.bits, longest
        numbers = np.zeros(((self.space - 1) >> self.bits) + 1, dtype=np.int64)
        _tables.count_codes(X.codes, X.starts, X.stops, *where, numbers)
        if numbers.max(initial=0) > LARGEST_LIST:
            raise SequenceError(
                f"{numbers.sum()} l-mers are too many for one operator", remedy="train on fewer sequences"
            )
        self.base = np.concatenate(([0], np.cumsum(numbers)))
        self._make_room(need > LISTS_IN_MEMORY)
        self.window_weights: npt.NDArray[np.uint8] = NO_WEIGHTS
        cursor, found, threads = self.base[:-1].copy(), [], GIVEN_THREADS.get() or self.n_threads
        chunks = 1 if self.pages is None else -(-need // STORED_LISTS)
        for first, last in itertools.pairwise(np.linspace(0, len(X), chunks + 1).astype(int).tolist()):
            some = X.take(slice(first, last))
            weights = kernel._window_weights(some, length)
            if weights is not None and not len(self.window_weights):
                self.window_weights = np.empty(self.base[-1], dtype=np.uint8)
            given, own, base = _as_bytes(weights), self.window_weights, self.base
            _tables.list_codes(
                some.codes, some.starts, some.stops, *where, base, cursor, first, given, self.codes, own, self.ends
            )
            self._release()
            if squares is None:
                found.append(own_values(some, length, values, both_strands, weights, threads))
        self.squares = np.concatenate(found) if squares is None else squares
        self._lists: Lists = self.codes, self.window_weights, self.ends, self.base, self.folded, self.bits, self.space

    def _make_room(self, stored: bool) -> None:
        """Make the arrays of the lists, in memory or in a temporary file that is mapped into memory."""
        shape = len(self.base) - 1, self.n + 1
        kind = np.dtype(np.uint16 if self.bits <= PART_BITS else np.uint32)
        before = 4 * math.prod(shape)
        size = before + kind.itemsize * int(self.base[-1])
        self.pages = _temporary_pages(size) if stored else None
        memory = np.empty(size, dtype=np.uint8) if self.pages is None else self.pages
        self.ends = np.frombuffer(memory, np.uint32, math.prod(shape)).reshape(shape)
        self.codes: Codes = np.frombuffer(memory, kind, self.base[-1], before)

    def _release(self) -> None:
        """Leave stored lists to the system's cache of files."""
        if self.pages is not None:
            self.pages.madvise(mmap.MADV_DONTNEED)

    def __len__(self) -> int:
        return self.n

    def compact(self, table: Table) -> Table:
        """Return the entries of a table from `collect` that can differ from 0."""
        return table.reshape(-1, 2, 1 << self.folded)[:, 0].ravel() if self.folded else table

    def whole(self, entries: Table) -> Table:
        """Return the table, float64, of which `compact` keeps these entries."""
        if not self.folded:
            return np.array(entries, dtype=np.float64)
        table = np.zeros(self.n_weights)
        table.reshape(-1, 2, 1 << self.folded)[:, 0] = entries.reshape(-1, 1 << self.folded)
        return table

    def smooth(self, table: Table, strength: float) -> None:
        """Multiply a table by (1 + κ·C·G)⁻¹, in place, with κ = strength / trace of G, up to a factor.

        C is the covariance of the counts of l-mers in random records, of equally frequent letters, in units of the
        variance of a count. A product of functions of s adjacent positions, none constant at the first and the last
        of them, has nearly the same sum over a record at all l − s + 1 places in an l-mer: two of them differ by the
        distance of the places, as a share of the windows.
        """
        size, length = self.transform.size, self.transform.length
        # by the number of positions on which a function depends
        factors = self.transform.eigenvalues[
            reduce(np.add.outer, [np.minimum(np.arange(size), 1, dtype=np.int8)] * length).reshape(-1)
        ]
        factors *= strength * (1 if self.transform.complement is None else 2) / factors.sum()
        windows = max(length, self.base[-1] / max(1, len(self)))
        self.transform.fold(table)
        self.transform.reflect(table)
        table[0] /= 1 + windows * factors[0]
        for span in range(1, length + 1):
            first, shape = size**span // size**2, (size ** (span - 1), size)
            places = [table[: size ** (span + j)].reshape(*shape, -1)[first:, 1:, 0] for j in range(length - span + 1)]
            apart = np.abs(np.subtract.outer(np.arange(len(places)), np.arange(len(places))))
            common, axes = np.linalg.eigh(1 - apart / windows)
            values = axes.T @ np.stack([place.reshape(-1) for place in places])
            values /= 1 + np.outer(common, factors[: size**span].reshape(shape)[first:, 1:])
            for place, mixed in zip(places, axes @ values, strict=True):
                place[...] = mixed.reshape(place.shape)
        self.transform.reflect(table)

    def tally(self, table: Table) -> Tally:
        """Return the sums of a TableModel, as from `add_windows`, for a table of coefficients."""
        whole, both = table.copy(), self.transform.complement is not None
        self.transform.fold(whole)
        return [whole[first_of_pairs(self.alphabet, self.transform.length)] if both else whole]

    def with_tables(self, dtype: npt.DTypeLike) -> "HammingOperator":
        """Return the same operator with tables of precision `dtype`."""
        out = copy.copy(self)
        out.dtype, out.counts = np.dtype(dtype), dict(self.counts)
        return out

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        """Return the table Φᵀ·coefficients over all l-mers; records with coefficient 0 cost no time."""
        values = np.ascontiguousarray(coefficients, dtype=np.float64)
        check_length(values, len(self), "coefficients")
        rows = np.flatnonzero(values)
        table = (np.zeros if self.folded else np.empty)(self.n_weights, dtype=self.dtype)

        def collect(first: int, last: int) -> None:
            scratch = np.empty(min(self.space, 1 << self.bits))
            for part in range(first, last):
                _tables.collect(*self._lists, rows, values, part, part + 1, scratch, table)
                self._release()

        self._share(collect, len(self.ends), len(rows))
        return table

    def spread(self, table: Table) -> None:
        """Multiply a table by G, in place."""
        check_length(table, self.n_weights, "table")
        self.transform.multiply(table, self._threads(self.n_weights))

    def dots(self, weights: Table, out: "Floats | None" = None, rows: Ints | None = None) -> "Floats":
        """Return the sum of the weights of each record's l-mers."""
        check_length(weights, self.n_weights, "weights")
        rows = np.arange(len(self)) if rows is None else check_rows(rows, len(self))
        out = np.empty(len(rows)) if out is None else out
        check_length(out, len(rows), "out")
        weights = np.ascontiguousarray(weights)
        # the parts of the table are copied, unless few l-mers are looked up
        copied = self.base[-1] * len(rows) * LOOK_UPS_TO_COPY > self.space * len(self)
        step = len(self.ends) if self.pages is None else 1
        out[:] = 0
        for part in range(0, len(self.ends), step):

            def dots(first: int, last: int, part: int = part) -> None:
                scratch = np.empty(min(self.space, 1 << self.bits) if copied else 0)
                _tables.dots(*self._lists, rows[first:last], weights, part, part + step, scratch, out[first:last])

            self._share(dots, len(rows), len(rows))
            self._release()
        return out

    def _threads(self, work: float) -> int:
        """Return the number of threads to use for `work` windows or table entries."""
        threads = available_threads(GIVEN_THREADS.get() or self.n_threads)
        return max(1, min(threads, int(work // THREADED_WINDOWS)))

    def _share(self, work: Callable[[int, int], None], items: int, rows: int) -> None:
        """Call ``work(first, last)`` for ranges of `items`, one for each thread."""
        threads = max(1, min(items, self._threads(self.base[-1] * rows / max(1, len(self)))))
        bounds = np.linspace(0, items, threads + 1).astype(int).tolist()
        in_threads([lambda first=a, last=b: work(first, last) for a, b in itertools.pairwise(bounds)], threads)


def _temporary_pages(size: int) -> mmap.mmap:
    """Return a temporary file of `size` bytes, mapped into memory; it has no name."""
    folder = tempfile.gettempdir()
    if shutil.disk_usage(folder).free < size:
        text = f"lists of l-mers need {format_bytes(size)} of disk, more than is free"
        raise SequenceError(text, file=folder, remedy="set TMPDIR to a folder on a larger disk")
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        if hasattr(os, "posix_fallocate"):  # a full disk must be noticed here: a write to a page cannot fail
            os.posix_fallocate(file.fileno(), 0, size)
        return mmap.mmap(file.fileno(), size)


def check_rows(rows: Ints, n: int) -> Ints:
    """Return record numbers as int64 after a range check, which compiled code lacks."""
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    if np.any((rows < 0) | (rows >= n)):
        raise IndexError(f"rows are numbers from 0 to {n - 1}")
    return rows


def _as_bytes(weights: Ints | None) -> npt.NDArray[np.uint8]:
    if weights is None:
        return NO_WEIGHTS
    if weights.max(initial=0) > LARGEST_WINDOW_WEIGHT or weights.min(initial=0) < 0:
        raise ParameterError(
            f"weights of l-mers beyond {LARGEST_WINDOW_WEIGHT} are not possible", remedy="choose smaller weights"
        )
    return weights.astype(np.uint8)


# Decisions of Hamming distance kernels from sums over the support windows; see `hamming_additive`.


class HammingTallied(Tallied):
    """Σ_j c_j·K(x, z_j), computed from the tables T of each window length."""

    def __init__(self, kernel: "HammingAdditive", tally: Iterator[Sums], alphabet: Alphabet) -> None:
        self.kernel, self.alphabet = kernel, alphabet
        self.tally = [next(tally) for _ in kernel._lengths()]

    @cached_property
    def weights(self) -> "list[tuple[int, Floats]]":
        """Pairs (length, W) for each window length."""
        lengths, weights = self.kernel._lengths(), self.kernel._weights()
        return [
            (length, self.kernel._spread(self._whole(number), self.alphabet.size, length, weight))
            for number, (length, weight) in enumerate(zip(lengths, weights, strict=True))
        ]

    def _whole(self, number: int) -> "Floats":
        """Return the table T over all l-mers for one length."""
        length = self.kernel._lengths()[number]
        return whole_table(self.tally[number], self.alphabet, length, self.kernel.reverse_complement)

    def values(self, X: SequenceSet) -> "Floats":
        """Return the sum for each record; see `Tallied.values`."""
        return self.kernel._look_up(X, self.weights)

    def attributions(self, X: SequenceSet) -> "Floats":
        """Return the contribution of each residue; see `Tallied.attributions`."""
        shares = np.zeros(int(X.lengths.sum()))
        for number, (length, weight) in enumerate(zip(self.kernel._lengths(), self.kernel._weights(), strict=True)):
            shares += weight * self.kernel._shares_by_table(X, self._whole(number), length)
        return shares

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return the weights of the windows of `X`; see `Tallied.kmer_weights`."""
        return KmerWeights(*self.kernel._weights_of_windows(X, X.take([]), self.weights))

    def tables(self) -> "list[tuple[int, Floats]] | None":
        """Return the table W of each length, or None if windows differ in weight."""
        return None if self.kernel.weighs_windows else self.weights


def add_windows(kernel: "HammingAdditive", support: SequenceSet, coefficients: npt.ArrayLike, length: int) -> "Floats":
    """Return the table T: Σ_j c_j times the windows of z_j, by l-mer.

    If both strands count, the table has entries only for `first_of_pairs`, the sums of both strands.
    """
    both, alphabet = kernel.reverse_complement, support.alphabet
    sums = sum_kmers(support, coefficients, length, both, lambda some: kernel._window_weights(some, length))
    if both:
        first = first_of_pairs(alphabet, length)
        sums[first == reverse_complements(alphabet, length)[first]] *= 2  # its own reverse complement: on both strands
    return sums


# Decision functions of Hamming distance kernels, folded into one table and attributed to residues.
#
# Such a kernel is Σ_l weight_l · Σ_{a ∈ x, b ∈ z} u(a)·v(b)·c[h(a, b)] over windows a, b of l residues, h their Hamming
# distance; with reverse complement each pair adds c of the distance of a to the reverse complement of b. A decision
# Σ_j coef_j·K(x, z_j) is then a sum over the windows of x alone, Σ_a u(a)·W[a], with a table W over all l-mers,
#
#     W[a] = Σ_b T[b]·c[h(a, b)],   T[b] = Σ_j coef_j · (weight of b's occurrences in z_j).
#
# The sum over b is a product with a matrix that depends on Hamming distances only. All those matrices have common
# eigenvectors, products of one function of each position: constant, or of sum zero. The matrix of distance h has the
# eigenvalue of a Krawtchouk polynomial, by the number i of positions where the function is not constant,
#
#     κ_h(i) = Σ_s (−1)^s·(b − 1)^(h − s)·C(i, s)·C(l − i, h − s).
#
# One reflection for each position transforms T to this basis, a product for each l-mer follows, and the same
# reflections transform back: O(l·b^l) for any number of sequences. The share of a residue of a window is such a sum too
# (`residue_factors`).
#
# If the table would be too large, attributions are summed along the diagonals of x against all sequences z_j.

if TYPE_CHECKING:  # a mixin of its subclasses
    from seqkern.kernels.kmer.kmer_kernel import KmerKernel as Base
else:
    Base = object


LARGEST_WINDOW = 255


class HammingAdditive(Base):
    """Mixin for kernels that compare windows by Hamming distance only.

    A family implements `_pair_weights` (c[0], …, c[l]) and, where windows differ in weight, `_window_weights`. It has
    `_lengths`, `_weights` and `reverse_complement` as in `KmerKernel`, and its payloads have `sequences`.

    References
    ----------
    Shrikumar, Prakash, Kundaje: GkmExplain. Bioinformatics 35, 2019: the contribution of two windows is shared equally
    by the positions where they match.
    """

    weighs_windows = False

    def _pair_weights(self, size: int, l: int) -> list[int] | list[float]:  # noqa: E741
        """Return the contribution of a pair of windows of `l` residues at distance h = 0, …, l, for `size` letters."""
        raise NotImplementedError

    def _window_weights(self, X: SequenceSet, l: int) -> Ints | None:  # noqa: E741
        """Return a weight for each window, in the order of `kmers.find_windows`; None if all are 1."""
        return None

    def _fold(self, columns: TermBlocks, coefficients: Floats) -> Callable[[TermBlocks], Floats] | None:
        support = cast(SequenceSet, columns.sequences).take(slice(columns.start, columns.stop))
        tables = self._weight_tables(support, coefficients)
        if tables is None:
            return super()._fold(columns, coefficients)

        def values(payload: TermBlocks) -> Floats:
            X = cast(SequenceSet, payload.sequences).take(slice(payload.start, payload.stop))
            return self._look_up(X, tables)

        return values

    def _look_up(self, X: SequenceSet, tables: Sequence[tuple[int, Floats]]) -> Floats:
        """Return Σ_a u(a)·W[a] over the windows a of each record."""
        sums = np.zeros(len(X))
        for length, table in tables:
            found = find_kmers(X, length)
            worth = table[found.codes[0]] * own_weights(self, X, length, len(found.codes[0]))
            sums += np.bincount(owners(found.start), weights=worth, minlength=len(X))
        return sums

    @property
    def tables(self) -> Tables:
        """T for each window length; none if it would be too large."""
        return Tables(
            self._tallies,
            lambda tally, alphabet: HammingTallied(self, tally, alphabet),
            by_kmer=lambda support, c: None if self.weighs_windows else self._weight_tables(support, c),
            pairs=None if self.weighs_windows else self._pairs_by_distance,
        )

    def _pairs_by_distance(self, size: int) -> "tuple[str, list[tuple[int, Sequence[float] | Floats]]]":
        """Return the strands that count, and the value of two windows by their Hamming distance for each length."""
        lengths = zip(self._lengths(), self._weights(), strict=True)
        values: list[tuple[int, Sequence[float] | Floats]]
        values = [(l, weight * np.array(self._pair_weights(size, l), dtype=np.float64)) for l, weight in lengths]  # noqa: E741
        return "both" if self.reverse_complement else "one", values

    def _tallies(self, support: SequenceSet, coefficients: Floats) -> Tally | None:
        if not self._has_tables(support.alphabet.size):
            return None
        return [add_windows(self, support, coefficients, length) for length in self._lengths()]

    def _has_tables(self, size: int) -> bool:
        """Return whether tables over all l-mers of `size` letters are small enough."""
        return all(size**length <= LARGEST_TABLE for length in self._lengths())

    def _weight_tables(self, support: SequenceSet, coefficients: Floats) -> list[tuple[int, Floats]] | None:
        """Return (length, W) for each length of windows; None if a table would be too large."""
        if not self._has_tables(support.alphabet.size):
            return None
        return [
            (length, self._table(support, coefficients, length, weight))
            for length, weight in zip(self._lengths(), self._weights(), strict=True)
        ]

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        shares = np.zeros(int(X.lengths.sum()))
        cells = float(len(shares)) * float(support.lengths.sum()) * (2 if self.reverse_complement else 1)
        for length, weight in zip(self._lengths(), self._weights(), strict=True):
            space = X.alphabet.size**length
            if space <= LARGEST_TABLE and length**2 * space <= cells:
                shares += weight * self._shares_by_table(X, self._tally(support, coefficients, length), length)
            else:
                shares += weight * self._shares_by_diagonals(X, support, coefficients, length)
        return shares

    def _kmer_weights(
        self, X: SequenceSet, support: SequenceSet, coefficients: Floats
    ) -> KmerWeights | tuple[list[str], Floats]:
        size = X.alphabet.size
        tables = [
            (length, self._table(support, coefficients, length, weight) if size**length <= LARGEST_TABLE else None)
            for length, weight in zip(self._lengths(), self._weights(), strict=True)
        ]
        return self._weights_of_windows(X, support, tables, coefficients)

    def _weights_of_windows(
        self,
        X: SequenceSet,
        support: SequenceSet,
        tables: Sequence[tuple[int, Floats | None]],
        coefficients: npt.ArrayLike = (),
    ) -> tuple[list[str], Floats]:
        """Return the distinct windows of both sets and their weights, computed from the support where a table is
        None.
        """
        kmers, weights = [], []
        for (length, table), weight in zip(tables, self._weights(), strict=True):
            found = distinct_windows(X, support, length, self.reverse_complement)
            if table is not None:
                places = X.alphabet.size ** np.arange(length - 1, -1, -1)
                sums = table[found @ places]
            else:
                others = OtherWindows(self, support, coefficients, length, length)
                values = np.array(self._pair_weights(X.alphabet.size, length)[::-1], dtype=np.float64)
                sums = np.empty(len(found))
                loops.word_sums(others.marks, others.windows, found, least_matches(values), values, sums)
                sums *= weight
            kmers += [row.tobytes().decode() for row in letters_of(X.alphabet)[found]]
            weights.append(sums)
        return kmers, np.concatenate(weights)

    def _table(self, support: SequenceSet, coefficients: npt.ArrayLike, length: int, weight: float) -> Floats:
        """Return the table W times `weight`, float64 (size^length,)."""
        operator = HammingOperator(self, support, length, squares=np.zeros(len(support)))  # K(x, x) is not needed
        return np.asarray(operator.weights(weight * np.asarray(coefficients, dtype=np.float64)))

    def _spread(self, table: Floats, size: int, length: int, weight: float) -> Floats:
        """Turn T into W times `weight`, in place, and return it."""
        reflect(table, size, length)
        factors = weight * eigenvalues(size, length, self._pair_weights(size, length))
        loops.scale(table, size, 1, factors, factors, table)
        reflect(table, size, length)
        return table

    def _tally(self, support: SequenceSet, coefficients: npt.ArrayLike, length: int) -> Floats:
        """Return the table T, float64 (size^length,)."""
        sums = add_windows(self, support, coefficients, length)
        return whole_table(sums, support.alphabet, length, self.reverse_complement)

    def _shares_by_table(self, X: SequenceSet, tally: Floats, length: int) -> Floats:
        """Return each residue's share, using one table for each position of a window; overwrites `tally`, the
        table T.
        """
        size = X.alphabet.size
        reflect(tally, size, length)
        same, other = residue_factors(size, length, self._pair_weights(size, length))
        codes, starts = find_kmers(X, length).codes[0], find_windows(X, length)
        own = own_weights(self, X, length, len(codes))
        shares, table = np.zeros(int(X.lengths.sum())), np.empty_like(tally)
        for position in range(length):
            loops.scale(tally, size, size ** (length - 1 - position), same, other, table)
            reflect(table, size, length)
            shares += np.bincount(starts + position, weights=table[codes] * own, minlength=len(shares))
        return shares

    def _shares_by_diagonals(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.ArrayLike, length: int
    ) -> Floats:
        """Return each residue's share by comparing every window with every other."""
        if length > LARGEST_WINDOW:
            raise ParameterError(
                f"windows of {length} residues cannot be explained", remedy=f"choose up to {LARGEST_WINDOW} residues"
            )
        others = OtherWindows(self, support, coefficients, length, int(X.lengths.max(initial=length)))
        values = np.array(self._pair_weights(X.alphabet.size, length)[::-1], dtype=np.float64)
        shares = values / np.maximum(1, np.arange(length + 1))
        shares[0] = 0
        own, starts = np.zeros(int(X.lengths.sum())), find_windows(X, length)
        own[starts] = own_weights(self, X, length, len(starts))
        residues, whole = np.zeros(len(own)), np.zeros(len(own))
        ends = np.cumsum(X.lengths)
        for i, (start, stop) in enumerate(zip(ends - X.lengths, ends, strict=True)):
            if stop - start >= length:
                record = slice(start, stop)
                loops.share(
                    others.marks,
                    others.windows,
                    others.pad,
                    X.codes[X.starts[i] : X.stops[i]],
                    own[record],
                    length,
                    least_matches(values),
                    shares,
                    values[0],
                    residues[record],
                    whole[record],
                )
        for position in range(length if values[0] else 0):
            residues[position:] += whole[: len(whole) - position] / length
        return residues


class OtherWindows:
    """The windows of support sequences, concatenated, on both strands if the kernel uses both.

    `marks` (letters + 1, width) is 1 where a residue is the letter; its last row is empty. `windows` (width,) is the
    weight of the window that starts there, times the coefficient of its sequence. `pad` empty places precede them, and
    `pad` + LANE_COUNT follow.
    """

    def __init__(
        self, kernel: HammingAdditive, support: SequenceSet, coefficients: npt.ArrayLike, length: int, pad: int
    ) -> None:
        alphabet = support.alphabet
        codes, starts = support.codes[support.positions()], find_windows(support, length)
        total, self.pad = len(codes), pad
        strands = 2 if kernel.reverse_complement else 1
        record = np.repeat(np.arange(len(support)), support.lengths)[starts]
        worth = np.asarray(coefficients, dtype=np.float64)[record]
        worth *= own_weights(kernel, support, length, len(starts))
        self.windows = np.zeros(2 * pad + strands * total + loops.LANE_COUNT)
        self.marks = np.zeros((alphabet.size + 1, len(self.windows)), dtype=np.uint8)
        self.windows[pad + starts] = worth
        if strands == 2:
            codes = np.concatenate((codes, alphabet.complement_codes[codes[::-1]]))
            self.windows[pad + 2 * total - length - starts] = worth
        for code in range(alphabet.size):
            self.marks[code, pad : pad + len(codes)] = codes == code


def own_weights(kernel: HammingAdditive, X: SequenceSet, length: int, windows: int) -> Floats:
    """Return the weights of the windows of `X`, float64 (windows,)."""
    weights = kernel._window_weights(X, length)
    return np.ones(windows) if weights is None else np.asarray(weights, dtype=np.float64)


def owners(start: Ints) -> Ints:
    """Return the record of each item; the items of record i are ``start[i]`` to ``start[i + 1]``."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def least_matches(values: Floats) -> int:
    """Return the minimum number of matches at which a pair contributes, or length + 1 if none does."""
    return int(np.flatnonzero(values)[0]) if np.any(values) else len(values)


def distinct_windows(X: SequenceSet, support: SequenceSet, length: int, both_strands: bool) -> npt.NDArray[np.uint8]:
    """Return the distinct windows of two sets in ascending order, codes of shape (windows, length).

    With `both_strands`, the smaller of each window and its reverse complement is taken.
    """
    parts = []
    for part in (X, support):
        codes, starts = part.codes[part.positions()], find_windows(part, length)
        windows = codes[starts[:, None] + np.arange(length)]
        if both_strands:
            reverse = part.alphabet.complement_codes[windows[:, ::-1]]
            unlike = windows != reverse
            first = unlike.argmax(axis=1)[:, None]
            smaller = np.take_along_axis(windows, first, 1) <= np.take_along_axis(reverse, first, 1)
            windows = np.where(smaller, windows, reverse)
        parts.append(windows)
    return np.unique(np.concatenate(parts), axis=0)


def letters_of(alphabet: Alphabet) -> npt.NDArray[np.uint8]:
    """Return the ASCII code of each letter of an alphabet."""
    return np.frombuffer(alphabet.letters.encode(), dtype=np.uint8)
