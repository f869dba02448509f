"""The mismatch kernel: k-mers with up to m mismatches (Leslie, Eskin, Cohen, Weston, Noble 2004).

Two k-mers at Hamming distance h share c(h) neighbours, so it is a `HammingKernel`. It adds three algorithms on the
neighbours, which support presence:

- ``dense``: vectors over all k-mers. Counts are spread to neighbours position by position (`smoothing`).
- ``neighbours``: posting lists of all neighbours of all k-mers.
- ``trie``: a walk through the trie of all k-mers, if the others need too much memory.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed, choice, integer
from seqkern.core.types import Bools, Floats
from seqkern.kernels.capabilities import Products, Tables, capability
from seqkern.kernels.common_parameters import SUMMED
from seqkern.kernels.kernel import algorithms
from seqkern.kernels.kmer import _kmers, _tables
from seqkern.kernels.kmer.hamming import LARGEST_LENGTH, LARGEST_TABLE
from seqkern.kernels.kmer.hamming_kernel import HammingKernel
from seqkern.kernels.kmer.inexact import MOST_FEATURES, TrieBlock, trie_cost
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K
from seqkern.kernels.kmer.kmers import (
    MOST_CODES,
    Codes,
    Counted,
    Occurrences,
    Windows,
    check_code_space,
    codes_fit,
    find_kmers,
    find_windows,
    mismatch_rule,
)
from seqkern.kernels.occurrences import KmerWeights, merge, spell
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import (
    PANEL,
    WIDEST,
    Block,
    Counts,
    DenseBlock,
    FeatureKernel,
    SparseBlock,
    TermBlocks,
    dense_block,
)
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

# Explanation of decisions of the mismatch kernel with `presence`.
#
# Φ_u(x) is 1 if a k-mer of x is within m mismatches of the k-mer u, on either strand with reverse complement. The
# weight of u is shared equally by the k-mers of x that match it, and the share of a k-mer equally by its residues that
# agree with u.


def attribute(kernel: HammingKernel, m: int, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
    """Return each residue's share of Σ_j coefficients[j]·K(x, z_j), not normalised."""
    shares = np.zeros(int(X.lengths.sum()))
    for k, weight in zip(kernel._lengths(), kernel._weights(), strict=True):
        learned = FeatureWeights(kernel, m, support, coefficients, k, weight)
        found = find_kmers(X, k, strands=kernel._strands())
        agree = agreements(k, m, X.alphabet.size)
        agree = agree / agree.sum(axis=1, keepdims=True)
        parts = [np.zeros((0, k))]
        for first, last in zip(found.start[:-1], found.start[1:], strict=True):
            near = neighbours(found.codes[0, first:last], k, m, X.alphabet.size)
            distinct, place, often = np.unique(near, return_inverse=True, return_counts=True)
            values = learned.of(distinct) / often
            parts.append(values[place.reshape(near.shape)] @ agree)
        values = np.concatenate(parts)
        starts = find_windows(X, k)
        if kernel.reverse_complement:  # of each window first the other strand, read from its end
            values = values[0::2, ::-1] + values[1::2]
        for position in range(k):
            shares += np.bincount(starts + position, weights=values[:, position], minlength=len(shares))
    return shares


def kmer_weights(
    kernel: HammingKernel, m: int, X: SequenceSet, support: SequenceSet, coefficients: Floats
) -> KmerWeights:
    """Return the k-mers of both sets, and the contribution of a single occurrence of each.

    If the kernel uses both strands, a k-mer stands for itself and its reverse complement, the smaller of the two.
    """
    parts = []
    for k, weight in zip(kernel._lengths(), kernel._weights(), strict=True):
        learned = FeatureWeights(kernel, m, support, coefficients, k, weight)
        kmers = np.unique(
            np.concatenate(
                [
                    find_kmers(Z, k, strands="canonical" if kernel.reverse_complement else "one").codes[0]
                    for Z in (X, support)
                ]
            )
        )
        size, weights = X.alphabet.size, np.zeros(len(kmers))
        for i, kmer in enumerate(kmers):
            strands = np.array([kmer], dtype=kmers.dtype)
            if kernel.reverse_complement:
                strands = np.append(strands, reverse_codes(strands, k, X.alphabet))
            weights[i] = learned.of(np.unique(neighbours(strands, k, m, size))).sum()
        parts.append((spell(kmers, k, X.alphabet), weights))
    return merge(parts)


class FeatureWeights:
    """The weight of each feature: Σ_j coefficients[j]·Φ_u(z_j), times the weight of k and the kernel's scale."""

    def __init__(
        self,
        kernel: HammingKernel,
        m: int,
        support: SequenceSet,
        coefficients: Floats,
        k: int,
        weight: float,
    ) -> None:
        check_code_space(support.alphabet.size, k)
        found = find_kmers(support, k, strands=kernel._strands())
        near = neighbours(found.codes[0], k, m, support.alphabet.size)
        counted = Occurrences(near.reshape(1, -1), found.start * near.shape[1], found.space).count()
        owner = np.repeat(np.arange(len(support)), np.diff(counted.start))
        sums = np.bincount(counted.feature, weights=coefficients[owner], minlength=counted.n_features)
        vocabulary = np.arange(counted.n_features) if counted.vocabulary is None else counted.vocabulary
        self.codes, self.weights = vocabulary.astype(np.uint64), weight * kernel._scale() * sums

    def of(self, codes: Codes) -> Floats:
        """Return the weights of the features with these codes; 0 for features absent from the support."""
        if not len(self.codes):
            return np.zeros(len(codes))
        codes = codes.astype(np.uint64)
        place = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[place] == codes, self.weights[place], 0.0)


def neighbours(codes: Codes, k: int, m: int, size: int) -> Codes:
    """Return the codes of all k-mers within `m` mismatches of each k-mer, shape (n, neighbours)."""
    count = len(agreements(k, m, size))
    near = np.empty((len(codes), count), dtype=codes.dtype)
    _kmers.list_neighbours(np.ascontiguousarray(codes), k, m, size, near)
    return near


def agreements(k: int, m: int, size: int) -> Bools:
    """Return the positions where a k-mer agrees with each of its neighbours, bool (neighbours, k)."""
    rows = [[True] * k]

    def change(row: list[bool], first: int, left: int) -> None:
        for position in range(first, k if left else first):
            changed = [*row[:position], False, *row[position + 1 :]]
            for _ in range(size - 1):
                rows.append(changed)
                change(changed, position + 1, left - 1)

    change(rows[0], 0, m)
    return np.array(rows)


def reverse_codes(codes: Codes, k: int, alphabet: Alphabet) -> Codes:
    """Return the codes of the reverse complements of k-mers."""
    size, rest, result = codes.dtype.type(alphabet.size), codes.copy(), np.zeros_like(codes)
    for _ in range(k):
        rest, digit = np.divmod(rest, size)
        result = result * size + alphabet.complement_codes[digit].astype(codes.dtype)
    return result


# Dense counts of k-mers with up to m mismatches, computed from exact k-mer counts.


class Smoothed:
    """Occurrences of k-mers, each counted for all k-mers within m mismatches; for `dense_block`."""

    def __init__(self, found: Occurrences, size: int, m: int) -> None:
        self.found, self.size, self.m = found, size, m
        self.space, self.most = found.space, found.most

    def __len__(self) -> int:
        return len(self.found)

    def tally(self, row: int, tables: Counts) -> None:
        """Add the counts to `tables`; see `seqkern.kernels.products.product.Tally`."""
        self.found.tally(row, tables)
        if self.m:
            planes = np.empty(self.m * tables[0].size, dtype=tables.dtype)
            _tables.smooth(_product.level(), tables, self.m, self.size, planes)


class OneStrand:
    """Reduced counts of k-mers of both strands: twice their products are the products of the full counts.

    The entries are the k-mers that come before their reverse complements, and each palindromic k-mer twice.
    """

    def __init__(self, smoothed: Smoothed, k: int, alphabet: Alphabet) -> None:
        self.smoothed, self.most = smoothed, smoothed.most
        self._order, self._own = _one_strand(k, alphabet)
        self.space = len(self._order)

    def __len__(self) -> int:
        return len(self.smoothed)

    def tally(self, row: int, tables: Counts) -> None:
        """Add the counts to `tables`; see `seqkern.kernels.products.product.Tally`."""
        whole = np.zeros((len(tables), self.smoothed.space, PANEL), dtype=tables.dtype)
        self.smoothed.tally(row, whole)
        _tables.choose_smoothed(whole, self._order, self._own, tables)


def _one_strand(k: int, alphabet: Alphabet) -> tuple[npt.NDArray[np.int32], int]:
    """Return the k-mer codes in the order of `OneStrand`, and the number of halved entries."""
    codes = np.arange(alphabet.size**k)
    reverse, rest = np.zeros_like(codes), codes.copy()
    for _ in range(k):
        rest, last = np.divmod(rest, alphabet.size)
        reverse = reverse * alphabet.size + alphabet.complement_codes[last]
    own = codes[codes == reverse]
    return np.concatenate((codes[codes < reverse], own, own)).astype(np.int32), 2 * len(own)


class MismatchKernel(HammingKernel):
    r"""Mismatch kernel: shared k-mers with up to m mismatches.

    It suits diverged sequences, such as remote homologs, in which exact k-mers are rarely conserved.

    Notes
    -----
    With Φ_u(x) the number of k-mers a of x that differ from u in at most m positions,

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    Complexity: a k-mer has N = Σ_{i≤m} C(k, i)·(b − 1)^i neighbours, b the size of the alphabet. A pair takes
    O(|x|·|y|) by Hamming distances, O(b^k) with dense vectors, or time proportional to the shared neighbours with
    posting lists (O(N·|x|) per sequence to build them). For large N, the walk through the trie of k-mers needs little
    memory.

    Definiteness: positive semi-definite.

    References
    ----------
    Leslie, Eskin, Cohen, Weston, Noble: Mismatch string kernels for discriminative protein classification.
    Bioinformatics 20, 2004.

    Examples
    --------
    ACG has ten neighbours within one mismatch, and shares four of them with ACT:

    >>> from seqkern.kernels import MismatchKernel
    >>> MismatchKernel(3, 1, normalize=False)(["ACG"], ["ACG", "ACT", "TTT"])
    array([[10.,  4.,  0.]])
    >>> MismatchKernel(3, 1)(["ACG"], ["ACG", "ACT", "TTT"])
    array([[1. , 0.4, 0. ]])
    """

    name = "mismatch"
    summary = "Counts the k-mers that two sequences share, allowing up to m mismatches."

    k: int | list[int] = integer(
        default=5, low=1, high=LARGEST_K, summed=True, kw_only=False, doc=f"Length of the k-mers. {SUMMED}."
    )
    m: int = integer(default=1, low=0, kw_only=False, doc="Allowed mismatches, from 0 to k − 1.")
    reverse_complement: bool = changed(
        default=False,
        doc="Count mismatches of each pair of k-mers on both strands: K = ½·Ψ(x)·Ψ(y) with Ψ(x) = "
        "Φ(x) + Φ(reverse complement of x). DNA and RNA only.",
    )
    algorithm: str = choice(
        default="auto",
        choices=("auto", "dense", "subsets", "transform", "neighbours", "diagonals", "pairs", "trie"),
        execution=True,
        doc="Algorithm; results are identical. `presence` needs ``dense``, ``neighbours`` or ``trie``.",
    )

    tested_with = (
        {"k": 4, "m": 1},
        {"k": [3, 5], "m": 2, "weights": [0.5, 0.7], "normalize": False},
        {"k": 4, "m": 1, "reverse_complement": True},
        {"k": 4, "m": 1, "reverse_complement": True, "presence": True},
        {"k": 3, "m": 1, "presence": True},
        {"k": 3, "m": 0, "alphabet": "HEC"},
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("m", self.m, 0, min(self._lengths()) - 1)
        if self.presence and self.algorithm in algorithms(HammingKernel):
            raise ParameterError(
                f"{self.algorithm} does not support presence",
                remedy="choose algorithm=dense, algorithm=neighbours or algorithm=trie",
            )

    def _pair_weights(self, size: int, l: int) -> list[int]:  # noqa: E741
        return [shared_neighbours(size, l, self.m, h) for h in range(l + 1)]

    def _costs(self, work: Workload, size: int, k: int) -> dict[str, Cost]:
        if k > LARGEST_LENGTH and not codes_fit(size, k):
            return {}
        shared = self._pair_weights(size, k)
        costs = {} if self.presence else super()._costs(work, size, k)
        work = self._feature_work(work)
        # The Hamming distance of two random windows is binomial.
        expected = sum(comb(k, h) * (1 - work.match) ** h * work.match ** (k - h) * shared[h] for h in range(k + 1))
        common = sum(comb(k, h) * (1 - work.common) ** h * work.common ** (k - h) for h in range(self.m + 1))
        width = size**k
        if width <= WIDEST:
            folded = self.reverse_complement and not self.presence
            costs["dense"] = work.dense(width, common, smoothing=k * self.m, folded=folded)
        if codes_fit(size, k) and work.col_letters * shared[0] <= MOST_CODES:
            costs["neighbours"] = work.index(expected / shared[0], width, shared[0])
        if codes_fit(size, k) and shared[0] <= MOST_FEATURES:
            costs["trie"] = trie_cost(work, shared[0], expected)
        return {name: costs[name] for name in algorithms(type(self)) if name in costs}

    def _out_of_reach(self, k: int) -> tuple[str, str]:
        return (
            f"two k-mers with k={k}, m={self.m} share too many neighbours: their number, or the features, are beyond "
            "62 bits",
            "choose a smaller k or m",
        )

    def _members(self, X: SequenceSet, k: int, algorithm: str, others: Iterator[Any]) -> Iterator[tuple[int, Block]]:
        if algorithm == "neighbours":
            yield 1, SparseBlock(self._counts(X, k), next(others))
        elif algorithm == "dense":
            yield self._dense_block(X, k)
            next(others)
        elif algorithm == "trie":
            rule, windows = mismatch_rule(X.alphabet.size, k, self.m), Windows.of(X, k, self._strands())
            yield 1, TrieBlock(rule, windows, self.presence)
            next(others)
        else:
            yield from super()._members(X, k, algorithm, others)

    def _fold(self, columns: TermBlocks, coefficients: Floats) -> Callable[[TermBlocks], Floats] | None:
        if self.presence:
            return FeatureKernel._fold(self, columns, coefficients)
        return super()._fold(columns, coefficients)

    @capability
    def operator(self) -> Products:
        """Products by a transform of tables, or with the features if these are explicit."""
        self._check_explicit()

        def chosen(X: SequenceSet) -> Products:
            return self.implicit if self._is_explicit(X.alphabet.size) else self._by_table()

        return Products(self, lambda X: chosen(X).make(X), lambda X: chosen(X).bytes(X), lambda X: chosen(X).cost(X))

    def _is_explicit(self, size: int) -> bool:
        """Return whether products use feature counts: with `presence`, or if the table of k-mers is too large."""
        return self.presence or size ** max(self._lengths()) > LARGEST_TABLE

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        if self.presence:
            return attribute(self, self.m, X, support, coefficients)
        return super()._attribute(X, support, coefficients)

    def _kmer_weights(
        self, X: SequenceSet, support: SequenceSet, coefficients: Floats
    ) -> KmerWeights | tuple[list[str], Floats]:
        if self.presence:
            return kmer_weights(self, self.m, X, support, coefficients)
        return super()._kmer_weights(X, support, coefficients)

    def _dense_block(self, X: SequenceSet, k: int) -> tuple[int, DenseBlock]:
        """Return the features as dense vectors, and the factor of their products.

        With both strands, a k-mer and its reverse complement have equal counts Ψ: one of them suffices, counted
        twice. The
        count of a palindromic k-mer is stored twice instead, as Ψ/2.
        """
        found, size = find_kmers(X, k, strands=self._strands()), X.alphabet.size
        smoothed = Smoothed(found, size, self.m)
        if self.presence or not self.reverse_complement:
            return 1, dense_block(smoothed, self.presence)
        return 2, dense_block(OneStrand(smoothed, k, X.alphabet))

    @property
    def tables(self) -> Tables:
        """T for each k; none with presence."""
        return Tables() if self.presence else super().tables

    def _features_of_window(self, X: SequenceSet, k: int) -> int:
        return (2 if self._strands() == "both" else 1) * shared_neighbours(X.alphabet.size, k, self.m, 0)

    def _counts(self, X: SequenceSet, k: int) -> Counted:
        found = find_kmers(X, k, strands=self._strands())
        neighbours = shared_neighbours(X.alphabet.size, k, self.m, 0)
        if found.codes.size * neighbours > MOST_CODES:
            raise SequenceError(
                f"{found.codes.size} k-mers with {neighbours} neighbours each are too many",
                remedy="choose a smaller m, or fewer sequences",
            )
        codes = np.empty((found.codes.shape[1], neighbours), dtype=found.codes.dtype)
        _kmers.list_neighbours(found.codes[0], k, self.m, X.alphabet.size, codes)
        every = Occurrences(codes.reshape(1, -1), found.start * neighbours, found.space)
        return every.count().once(self.presence)


@lru_cache(maxsize=4096)
def shared_neighbours(size: int, k: int, m: int, h: int) -> int:
    """Return the number of k-mers within `m` mismatches of both of two k-mers at Hamming distance `h`.

    At the h positions where the two differ, i residues match the first k-mer, j the second, and the others neither; at
    the k − h others, t residues are changed.
    """
    total = 0
    for i in range(h + 1):
        for j in range(h + 1 - i):
            here = comb(h, i) * comb(h - i, j) * (size - 2) ** (h - i - j)
            changes = min(m - h + min(i, j), k - h)
            total += here * sum(comb(k - h, t) * (size - 1) ** t for t in range(changes + 1))
    return total
