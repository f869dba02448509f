"""The statistics D2, D2S and D2* of alignment-free comparison (Reinert, Chew, Sun, Waterman 2009)."""

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import choice, flag, integer
from seqkern.core.types import Floats, Ints
from seqkern.kernels.capabilities import capability
from seqkern.kernels.common_parameters import short_rule, zero_rule
from seqkern.kernels.features import Features
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.kmer import _tables
from seqkern.kernels.kmer.kmers import check_lengths, find_kmers
from seqkern.kernels.planner import Workload
from seqkern.kernels.prepared import Plan
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import PRODUCT_NS
from seqkern.kernels.vectors import _vector
from seqkern.sequences.sequence_set import SequenceSet

# K-mer counts minus the expected counts under each sequence's own background model.

Table = npt.NDArray[np.float64]

NOTHING = 1e-12  # of the expected count: a smaller difference is a rounding error


def count_table(X: SequenceSet, k: int) -> Table:
    """Return the count of each k-mer in each record, float64 (n, letters^k); for k = 0, 1."""
    if k == 0:
        return np.ones((len(X), 1))
    found = find_kmers(X, k)
    cells = np.repeat(np.arange(len(X)) * found.space, np.diff(found.start)) + found.codes[0].astype(np.int64)
    return np.bincount(cells, minlength=len(X) * found.space).reshape(len(X), found.space).astype(np.float64)


def chances(X: SequenceSet, k: int, order: int) -> Table:
    """Return the probability of each k-mer under the Markov chain of each record, float64 (n, letters^k).

    The chain has the frequencies of the record: for its first `order` residues the frequencies of all k-mers of that
    length, then the shares of residues after each context. A record without a k-mer of order + 1 residues has
    probabilities of 0.
    """
    n, size = len(X), X.alphabet.size
    contexts = size**order
    steps = count_table(X, order + 1).reshape(n, contexts, size)
    steps = _shares(steps)
    found = _shares(count_table(X, order))
    for length in range(order, k):
        found = found.reshape(n, size ** (length - order), contexts, 1) * steps[:, None]
    return found.reshape(n, size**k)


def centred_counts(X: SequenceSet, k: int, order: int, both_strands: bool) -> tuple[Table, Table]:
    """Return k-mer counts minus the expected counts, and the expected counts, both float64 (n, letters^k)."""
    counts = count_table(X, k)
    expected = counts.sum(axis=1, keepdims=True) * chances(X, k, order)
    if both_strands:
        other = reverse_complements(X, k)
        counts, expected = counts + counts[:, other], expected + expected[:, other]
    centred = counts - expected
    centred[np.abs(centred) <= NOTHING * np.maximum(counts, expected)] = 0.0
    return centred, expected


def reverse_complements(X: SequenceSet, k: int) -> Ints:
    """Return the code of the reverse complement of each k-mer, int64 (letters^k,)."""
    size = X.alphabet.size
    codes, found = np.arange(size**k), np.zeros(size**k, dtype=np.int64)
    complement = np.asarray(X.alphabet.complement_codes).astype(np.int64)
    for _ in range(k):
        found = found * size + complement[codes % size]
        codes = codes // size
    return found


def _shares(counts: Table) -> Table:
    """Return counts divided by their sums over the last axis; 0 where the sum is 0."""
    sums = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)


MOST_KMERS = 1 << 16
COUNT_NS, CHANCE_NS = 5.0, 4.0  # a window; a k-mer of a record
SUM_NS = (4.0, 2.4, 1.8)  # a k-mer of a pair in D2S, for each level of instructions
SCRATCH = 4  # tables of a set at a time


class KmerTable:
    """Payload with a table of features (n, k-mers), and K of each record with itself."""

    def __init__(self, values: Floats, squares: Floats) -> None:
        self.values, self.squares = values, squares
        self._columns: Floats | None = None

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> Self:
        """Return the records `start` to `stop`, as a view."""
        view = type(self)(self.values[start:stop], self.squares[start:stop])
        view._columns = self.columns()[:, start:stop]
        return view

    def columns(self) -> Floats:
        """Return the features as columns, float64 (k-mers, n), made once."""
        if self._columns is None:
            self._columns = np.ascontiguousarray(self.values.T)
        return self._columns

    def diagonal(self) -> Floats:
        """Return K of each record with itself, float64 (n,)."""
        return self.squares


class D2Kernel(SequenceKernel):
    r"""D2, D2S and D2*: shared k-mers, relative to the number expected from the composition of the sequences.

    It suits regulatory sequences and genomes that are compared without an alignment: common k-mers of a background
    that differs from one sequence to the next count less. The background is a Markov chain of each sequence, with its
    own frequencies. For ``statistic="d2"`` it is the spectrum kernel, and no background is used.

    Notes
    -----
    With X_w the number of occurrences of the k-mer w in x, n the number of all its k-mers, p_w the probability of w
    under the background of x, and X̃_w = X_w − n·p_w, and Y, m and q alike for y,

    .. math:: D_2 = \sum_w X_w Y_w, \quad D_2^S = \sum_w X̃_w Ỹ_w / \sqrt{X̃_w^2 + Ỹ_w^2},
        \quad D_2^* = \sum_w X̃_w Ỹ_w / \sqrt{n p_w · m q_w}

    Normalised, they are K(x, y) / sqrt(K(x, x)·K(y, y)); the dissimilarities d2 and d2* of the papers are ½ (1 − K).
    That of D2S has another divisor, the square root of Σ X̃²/sqrt(X̃² + Ỹ²) · Σ Ỹ²/sqrt(X̃² + Ỹ²), which depends on the
    pair: its matrices may have negative eigenvalues, and seqkern does not compute it.

    Complexity: O(|x| + b^k) per sequence over the b letters of the alphabet, and O(b^k) per pair; D2S takes square
    roots and divisions, about ten times as long as the others.

    Definiteness: positive semi-definite. D2 and D2* are products of features. D2S is not a product of finitely many,
    but a·b/sqrt(a² + b²) is sign(a)·sign(b) times (1/a² + 1/b²)^(−1/2), a Laplace transform in 1/a² + 1/b².

    References
    ----------
    Reinert, Chew, Sun, Waterman: Alignment-free sequence comparison (I): statistics and power. Journal of Computational
    Biology 16, 2009.

    Wan, Reinert, Sun, Waterman: Alignment-free sequence comparison (II): theoretical power of comparison statistics.
    Journal of Computational Biology 17, 2010.

    Examples
    --------
    >>> from seqkern.kernels import D2Kernel
    >>> D2Kernel(2)(["ACGTACG", "ACGTTTG", "TTTTTTA"]).round(2)
    array([[1.  , 0.57, 0.17],
           [0.57, 1.  , 0.3 ],
           [0.17, 0.3 , 1.  ]])
    """

    name = "d2"
    summary = "Counts the k-mers that two sequences share, less those that their composition makes likely."

    k: int = integer(default=3, low=1, high=16, kw_only=False, doc="Length of the k-mers.")
    statistic: Literal["d2", "d2s", "d2star"] = choice(default="d2s", doc="D2, D2S or D2*.")
    order: int = integer(default=0, low=0, doc="Order of the background, a Markov chain; below k.")
    reverse_complement: bool = flag(default=False, doc="Count the k-mers of both strands. DNA and RNA only.")
    short: Literal["error", "zero"] = short_rule("k", "no k-mers")
    zero_diagonal: Literal["error", "zero"] = zero_rule(
        "a sequence in which no k-mer is more or less frequent than expected"
    )

    tested_with = (
        {},
        {"k": 2, "statistic": "d2star", "order": 1, "normalize": False},
        {"statistic": "d2", "reverse_complement": True},
        {"k": 2, "order": 1, "alphabet": "HEC"},
    )

    def _check_parameters(self) -> None:
        if self.order >= self.k:
            raise ParameterError(f"order={self.order} is not below k={self.k}", remedy="choose a smaller order")

    def _check_sequences(self, X: SequenceSet) -> None:
        """Raise ParameterError for too many k-mers, or ShortError for a sequence that is too short."""
        size = X.alphabet.size
        if size**self.k > MOST_KMERS:
            longest = max(k for k in range(1, self.k) if size**k <= MOST_KMERS)
            raise ParameterError(
                f"kernel {self.name!r} with k={self.k} has {size**self.k} k-mers",
                remedy=f"choose k of at most {longest} for the alphabet {X.alphabet.name}, or the kernel spectrum",
            )
        if self.short == "error":
            check_lengths(X, self.k)

    def _min_length(self) -> int:
        """Return k, the minimum length of a sequence."""
        return self.k

    def _table(self, X: SequenceSet) -> Floats:
        """Return the features X_w, X̃_w, or X̃_w / sqrt(n·p_w), float64 (n, k-mers)."""
        if self.statistic == "d2":
            counts = count_table(X, self.k)
            return counts + counts[:, reverse_complements(X, self.k)] if self.reverse_complement else counts
        centred, expected = centred_counts(X, self.k, self.order, self.reverse_complement)
        if self.statistic == "d2star":
            np.divide(centred, np.sqrt(expected), out=centred, where=expected > 0)
        return centred

    @capability
    def features(self) -> Features:
        """The table of centred counts."""
        if self.statistic == "d2s":
            raise ParameterError(
                "kernel 'd2' with statistic=d2s has no explicit features", remedy="choose statistic=d2star or d2"
            )
        return Features(self, self._checked_table)

    def _checked_table(self, X: SequenceSet) -> Floats:
        self._check_sequences(X)
        return self._table(X)

    def _prepare(self, X: SequenceSet, like: KmerTable | None) -> KmerTable:
        self._check_sequences(X)
        values = np.ascontiguousarray(self._table(X))
        squares = np.zeros(len(X))
        if self.statistic == "d2s":
            for i, row in enumerate(values):
                _tables.d2s_sums(row[None], row[:, None], squares[i : i + 1, None], _product.level())
        else:
            _vector.squares(values, squares)
        return KmerTable(values, squares)

    def _block(self, rows: KmerTable, cols: KmerTable, out: Floats) -> None:
        if self.statistic == "d2s":
            _tables.d2s_sums(rows.values, cols.columns(), out, _product.level())
        else:
            _vector.products(rows.values, cols.columns(), out)

    def _plan(self, X: Any, Y: Any) -> Plan:
        work = Workload.of(X, Y)
        kmers, level = X.alphabet.size**self.k, _product.level()
        each = SUM_NS[level] if self.statistic == "d2s" else PRODUCT_NS[level]
        counting = COUNT_NS * work.letters + CHANCE_NS * work.records * kmers
        seconds = (counting + each * work.pairs * kmers) * 1e-9
        total = work.output(self.n_threads)
        reason = f"{kmers} k-mers of each sequence and each pair, {seconds:.2g} s"
        return Plan("dense", total.seconds + seconds, total.bytes + 8 * SCRATCH * work.records * kmers, reason)
