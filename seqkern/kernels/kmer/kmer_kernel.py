"""Base of all k-mer kernels: one or several k, weights, policies, choice of the algorithm, features."""

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import product, repeat
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, flag, integer, numbers
from seqkern.core.types import Floats, Ints
from seqkern.kernels.capabilities import Products, Tables, capability
from seqkern.kernels.common_parameters import SUMMED, short_rule, zero_rule
from seqkern.kernels.features import Features, alphabet_of
from seqkern.kernels.gradients import KernelGradient, Square
from seqkern.kernels.kernel_operator import CombinedImplicit, Implicit, SparseImplicit
from seqkern.kernels.kmer import _kmers as loops
from seqkern.kernels.kmer.kmers import (
    CODE_LIMIT,
    SMALL_SPACE,
    Counted,
    Occurrences,
    check_code_space,
    check_lengths,
    codes_fit,
    find_kmers,
    find_wide_kmers,
    find_windows,
    first_of_pairs,
    unfold,
)
from seqkern.kernels.occurrences import KmerWeights, Labelled, Sums, Tallied, Tally, merge, spell, spread
from seqkern.kernels.planner import Cost, Workload, cheapest, make_plan
from seqkern.kernels.prepared import Plan
from seqkern.kernels.products.product import WIDEST, Block, FeatureKernel, SparseBlock, Term, TermBlocks, dense_block
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


MOST_NAMES = 1 << 24
LARGEST_K = 10_000
# Bytes for each entry of the compressed rows (feature and count), each feature (of weights) and meanwhile for each
# k-mer, by its code: of 4 bytes, the same sorted, where most k-mers do not occur, and of 8 bytes sorted.
KEPT_BYTES, WEIGHT_BYTES, CODE_BYTES, RANKED_BYTES, WIDE_BYTES = 8, 8, 4, 12, 28


class KmerKernel(FeatureKernel):
    """Base of the k-mer kernels: a weighted sum over k.

    A family adds the parameters `k` and `algorithm`, and implements `_costs` and `_members`.

    Attributes
    ----------
    length_name : str
        Name of k in messages.
    """

    length_name = "k"
    if TYPE_CHECKING:  # each family declares them

        @property
        def k(self) -> Any:
            """Length of the k-mers, or a list of lengths."""

        @property
        def algorithm(self) -> Any:
            """Algorithm; results are identical."""

    weights: list[float] | None = numbers(
        default=None,
        low=0,
        remedy="give one weight for each k",
        doc="Weight of the kernel of each k; 1 by default.",
    )
    presence: bool = flag(default=False, doc="Set non-zero features to 1 (presence instead of counts).")
    reverse_complement: bool = flag(
        default=False, doc="Treat a k-mer and its reverse complement as one feature. DNA and RNA only."
    )
    short: Literal["error", "zero"] = short_rule("the (largest) k", "no k-mers")
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence without any k-mer")

    def _costs(self, work: Any, size: int, k: int) -> dict[str, Cost]:
        """Return the Cost of each feasible algorithm for one k over `size` letters.

        `work` comes from `_workload`.
        """
        raise NotImplementedError

    def _members(self, X: SequenceSet, k: int, algorithm: Any, others: Iterator[Any]) -> Iterator[tuple[int, Block]]:
        """Yield (factor, block) for one k; `others` yields the block to match for each, or None.

        `algorithm` is the entry of `_choices` for this k.
        """
        raise NotImplementedError

    def _out_of_reach(self, k: int) -> tuple[str, str]:
        """Return problem and remedy, for the message on a k without a feasible algorithm."""
        name = self.length_name
        return f"kernel {self.name!r} with {name}={k} has features beyond 62 bits", f"choose a smaller {name}"

    def _lengths(self) -> list[int]:
        """Return k as a list."""
        return [self.k] if np.ndim(self.k) == 0 else list(self.k)

    def _weights(self) -> list[float]:
        """Return the weight of each k."""
        return [1.0] * len(self._lengths()) if self.weights is None else list(self.weights)

    def _own_tunable(self) -> dict[str, float]:
        several = len(self._lengths()) > 1
        return {f"weights__{i}": float(weight) for i, weight in enumerate(self._weights())} if several else {}

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        alone: Any = copy.copy(self)
        length = self._lengths()[int(name.rpartition("__")[2])]
        alone.k, alone.weights, alone.short, alone.normalize = [length], None, "zero", False
        return alone(at.X)

    def _check_parameters(self) -> None:
        ks, weights = self._lengths(), self._weights()
        if not ks or len(set(ks)) != len(ks):
            raise ParameterError(f"k={self.k!r} is not possible", remedy="give distinct integers")
        if len(weights) != len(ks):
            raise ParameterError(
                f"weights has {len(weights)} numbers, k has {len(ks)}", remedy="give one weight for each k"
            )

    def _workload(self, X: SequenceSet, Y: SequenceSet | None = None) -> Workload:
        """Return the Workload of `X` (against `Y`)."""
        return Workload.of(X, Y)

    def _choose(self, work: Any, size: int, k: int) -> tuple[str, dict[str, Cost]]:
        """Return the algorithm for one k, and the Costs of all candidates."""
        costs = self._costs(work, size, k)
        if not costs:
            check_code_space(size, k, self.length_name)
            problem, remedy = self._out_of_reach(k)
            raise ParameterError(problem, remedy=remedy)
        wanted = cheapest(costs) if self.algorithm == "auto" else self.algorithm
        if wanted not in costs:
            raise ParameterError(
                f"kernel {self.name!r} with {self.length_name}={k} is not feasible with algorithm={wanted}",
                remedy=f"choose {' or '.join(f'algorithm={name}' for name in (*costs, 'auto'))}",
            )
        return wanted, costs

    def _plan(self, X: Any, Y: Any) -> Plan:
        size = X.alphabet.size
        work = self._workload(X, Y)
        # Columns are prepared first, before the rows are known, so they alone determine the choice.
        own = work if Y is None else self._workload(Y)
        chosen = [self._choose(own, size, k) for k in self._lengths()]
        costs = [found for _, found in chosen] if Y is None else [self._costs(work, size, k) for k in self._lengths()]
        return make_plan([name for name, _ in chosen], costs, work.output(self.n_threads))

    def _prepare(self, X: SequenceSet, like: TermBlocks | None) -> TermBlocks:
        self._check_sequences(X)
        choices, others = (self._choices(X), repeat(None)) if like is None else (like.choices, iter(like.blocks))
        terms = [
            Term(weight, list(self._members(X, k, choice, others)), self._divisor(X, k, choice))
            for k, weight, choice in zip(self._lengths(), self._weights(), choices, strict=True)
        ]
        return TermBlocks(terms, self._scale(), choices, X)

    def _choices(self, X: SequenceSet) -> list[Any]:
        """Return the argument of `_members` for each k, valid for `X` and sets compared with it: the algorithm."""
        work = self._workload(X)
        return [self._choose(work, X.alphabet.size, k)[0] for k in self._lengths()]

    def _min_length(self) -> int:
        """Return the largest k, the minimum length of a sequence."""
        return max(self._lengths())

    def _check_sequences(self, X: SequenceSet) -> None:
        """Raise ShortError for a sequence that is too short."""
        if self.short == "error":
            check_lengths(X, max(self._lengths()), self.length_name)

    def _divisor(self, X: SequenceSet, k: int, algorithm: Any) -> int:
        """Return the divisor of the sum of the members for one k."""
        return 1

    def _scale(self) -> float:
        """Return the factor of the sum over k."""
        return 1.0

    def _check_explicit(self) -> None:
        """Raise ParameterError unless the kernel has explicit features."""

    def _counts(self, X: SequenceSet, k: int) -> Counted:
        """Return the feature counts of `X` for one k."""
        raise NotImplementedError

    @capability
    def features(self) -> Features:
        """The counts of the features, times the roots of the weights of each k."""
        self._check_explicit()
        if type(self)._counts is KmerKernel._counts:
            return super().features
        return Features(self, self._weighted_counts, self._feature_names, self._implicit_bytes)

    @capability
    def implicit(self) -> Products:
        """The counts of the features, with the weights of each k."""
        if type(self)._counts is KmerKernel._counts:
            return super().implicit
        self._check_explicit()
        return Products(self, self._implicit, self._implicit_bytes)

    def _implicit(self, X: SequenceSet) -> Implicit:
        self._check_sequences(X)
        parts = []
        for k in self._lengths():
            counted = self._counts(X, k)
            parts.append(SparseImplicit(counted.start, counted.feature, counted.count, counted.n_features))
        return CombinedImplicit(parts, [weight * self._scale() for weight in self._weights()])

    def _implicit_bytes(self, X: SequenceSet) -> int:
        """Return the bytes that counting, the counts and the feature weights take."""
        total = most = 0
        for k in self._lengths():
            codes = (np.maximum(X.lengths - self._window(k) + 1, 0) * self._features_of_window(X, k)).astype(np.int64)
            every, space = int(codes.sum()), min(self._space(X.alphabet.size, k), CODE_LIMIT)
            ranked = space > 2 * every + SMALL_SPACE
            features = min(every, space) if ranked else space
            total += int(np.minimum(codes, features).sum()) * KEPT_BYTES + features * WEIGHT_BYTES
            most = max(most, every * ((RANKED_BYTES if space <= 2**32 else WIDE_BYTES) if ranked else CODE_BYTES))
        return total + most

    def _window(self, k: int) -> int:
        """Return the number of residues of a window for one k."""
        return k

    def _features_of_window(self, X: SequenceSet, k: int) -> float:
        """Return the approximate number of features of one window."""
        return 1

    def _space(self, size: int, k: int) -> int:
        """Return the number of features for one k over `size` letters."""
        return size**k

    def _names_of(self, alphabet: Alphabet, k: int) -> list[str]:
        """Return the names of the features for one k, in the order of their codes."""
        return ["".join(kmer) for kmer in product(alphabet.letters, repeat=k)]

    def _weighted_counts(self, X: SequenceSet) -> "csr_matrix":
        """Return the features: a column for each k-mer over the letters, in alphabetical order, one k after the other.

        Of pairs of k-mers, one distance after the other. Raises ParameterError if there are too many.
        """
        # imported here: slows start-up
        from scipy.sparse import csr_matrix, hstack

        self._check_sequences(X)
        check_code_space(X.alphabet.size, max(self._lengths()), self.length_name)
        parts = []
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            counted = self._counts(X, k)
            columns = counted.feature
            if counted.vocabulary is not None:
                columns = counted.vocabulary[columns].astype(np.int64)
            values = np.sqrt(weight * self._scale()) * counted.count
            shape = len(X), self._space(X.alphabet.size, k)
            parts.append(csr_matrix((values, columns, counted.start), shape=shape))
        features = hstack(parts, format="csr")
        features.sort_indices()
        return features

    def _feature_names(self, X: Any) -> list[str]:
        """Return the names of the features, such as k-mers; raise ParameterError if they are too many."""
        known = alphabet_of(self, X)
        count = sum(self._space(known.size, k) for k in self._lengths())
        if count > MOST_NAMES:
            raise ParameterError(f"{count} feature names are too many", remedy="choose a smaller k")
        return [name for k in self._lengths() for name in self._names_of(known, k)]


# Sums over the k-mers of support sequences: tables that give decisions by look-up.

LARGEST_TABLE = 1 << 24
AT_ONCE = 1 << 22
"""Residues whose k-mers are added at a time: their codes and weights take some 100 MB."""


def sum_kmers(
    support: SequenceSet,
    coefficients: npt.ArrayLike,
    length: int,
    both_strands: bool,
    own_weights: Callable[[SequenceSet], Ints | None] = lambda some: None,
) -> Floats:
    """Return Σ_j c_j times the occurrences of each k-mer in z_j, indexed by k-mer code.

    With `both_strands`, the table has entries only for `first_of_pairs`.

    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> sum_kmers(as_sequences(["AAC", "GT"], "dna"), [1.0, 0.5], 1, both_strands=True)
    array([2.5, 1.5])
    """
    coefficients = np.asarray(coefficients, dtype=np.float64)
    used = np.flatnonzero(coefficients)
    sums = np.zeros(support.alphabet.size**length)
    parts = np.cumsum(support.lengths[used]) // AT_ONCE
    for part in np.split(used, np.flatnonzero(np.diff(parts)) + 1):
        some = support.take(part)
        found = find_kmers(some, length, strands="canonical" if both_strands else "one")
        worth = np.repeat(coefficients[part], np.diff(found.start))
        own = own_weights(some)
        if own is not None:
            worth *= own
        sums += np.bincount(found.codes[0], weights=worth, minlength=len(sums))
    return sums[first_of_pairs(support.alphabet, length)] if both_strands else sums


def whole_table(sums: Sums, alphabet: Alphabet, length: int, both_strands: bool) -> Floats:
    """Return the sums from `sum_kmers` as a table over all k-mers, float64 (letters^length,)."""
    size = len(first_of_pairs(alphabet, length)) if both_strands else alphabet.size**length
    if sums.shape != (size,):
        raise ValueError(f"a tally of shape {sums.shape}, not ({size},)")
    return unfold(sums, alphabet, length) if both_strands else sums.astype(np.float64)


class TalliedSpectrum(Tallied):
    """Σ_j c_j·K(x, z_j) of kernels that count common k-mers."""

    def __init__(
        self,
        lengths: Sequence[int],
        weights: Sequence[float],
        tally: Iterator[Sums],
        alphabet: Alphabet,
        both_strands: bool,
    ) -> None:
        self.weights = [
            (length, weight * whole_table(next(tally), alphabet, length, both_strands))
            for length, weight in zip(lengths, weights, strict=True)
        ]
        self.alphabet, self.both_strands = alphabet, both_strands

    def values(self, X: SequenceSet) -> Floats:
        """Return the sum for each record; see `Tallied.values`."""
        total = np.zeros(len(X))
        for length, table in self.weights:
            found = find_kmers(X, length)
            owner = np.repeat(np.arange(len(X)), np.diff(found.start))
            total += np.bincount(owner, weights=table[found.codes[0]], minlength=len(X))
        return total

    def attributions(self, X: SequenceSet) -> Floats:
        """Share the weight of each occurrence among its residues; see `Tallied.attributions`."""
        residues = int(X.lengths.sum())
        shares = np.zeros(residues)
        for length, table in self.weights:
            shares += spread(table[find_kmers(X, length).codes[0]], find_windows(X, length), range(length), residues)
        return shares

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return the weights of the k-mers of `X`; see `Tallied.kmer_weights`."""
        parts = []
        for length, table in self.weights:
            found = find_kmers(X, length, strands="canonical" if self.both_strands else "one")
            distinct = np.unique(found.codes[0])
            parts.append((spell(distinct, length, self.alphabet), table[distinct]))
        return merge(parts)

    def tables(self) -> list[tuple[int, Floats]]:
        """Return the weight of every k-mer on the given strand."""
        return self.weights


LONGEST_SCANNED = 5
"""Largest k whose weights are summed along long sequences, by tables over all k-mers."""


class WindowSums:
    """Sums over the k-mers of windows of one length; weights rounded to integers of 62 bits in all add up exactly."""

    def __init__(self, tables: Sequence[tuple[int, Floats]], length: int, size: int) -> None:
        self.size, self.length, self.k = size, length, max(k for k, _ in tables)
        # at each position the k-mers that begin there; those in the last k − 1 letters are in the tail
        table, tail = np.zeros(size**self.k), np.zeros(size ** (self.k - 1))
        for k, weights in tables:
            table += np.repeat(weights, size ** (self.k - k))
            for before in range(self.k - k):
                tail += np.tile(np.repeat(weights, size ** (self.k - 1 - k - before)), size**before)
        most = length * np.abs(table).max() + np.abs(tail).max()
        if not np.isfinite(most):
            raise ParameterError("the weights of k-mers are not finite", remedy="train the model again")
        self.unit = 2.0 ** (np.frexp(most)[1] - 62)
        self.table, self.tail = (np.rint(one / self.unit).astype(np.int64) for one in (table, tail))

    def scan(self, codes: npt.NDArray[np.uint8], starts: Ints, n_threads: int | None = None) -> Floats:
        """Return the sums of windows without masked residues, as `WindowValues.scan`."""
        sums = np.empty(len(starts), dtype=np.int64)
        starts = np.ascontiguousarray(starts)
        loops.window_sums(codes, self.size, self.k, self.length, self.table, self.tail, starts, sums)
        return sums * self.unit


# The spectrum kernel: shared k-mers (Leslie, Eskin, Noble, PSB 2002).


class SpectrumKernel(KmerKernel):
    r"""Spectrum kernel: the k-mers that two sequences share.

    It ignores where a k-mer occurs. It suits sequences of any length and alphabet whose classes differ in composition
    or in short exact motifs.

    Notes
    -----
    With Φ_u(x) the number of occurrences of the k-mer u in x,

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    Complexity: O(|x|) per sequence to count its k-mers. A pair then takes O(b^k) with dense vectors over the b letters
    of the alphabet, or time proportional to the k-mers in common with posting lists.

    Definiteness: positive semi-definite.

    References
    ----------
    Leslie, Eskin, Noble: The spectrum kernel: a string kernel for SVM protein classification. Pacific Symposium on
    Biocomputing 7, 2002.

    Examples
    --------
    ACG occurs twice in the first sequence, so it adds 2·2 to K(x, x), and 2·1 to K(x, y):

    >>> from seqkern.kernels import SpectrumKernel
    >>> SpectrumKernel(3, normalize=False)(["ACGTACG", "TACG"])
    array([[7., 3.],
           [3., 2.]])
    >>> SpectrumKernel(3)(["ACGTACG", "TACG"]).round(2)
    array([[1. , 0.8],
           [0.8, 1. ]])

    The features are the counts of the k-mers:

    >>> kernel = SpectrumKernel(1, alphabet="dna")
    >>> kernel.features.names()
    ['A', 'C', 'G', 'T']
    >>> kernel.features(["GATTACA", "CAT"]).toarray()
    array([[3., 1., 1., 2.],
           [1., 1., 0., 1.]])
    """

    name = "spectrum"
    summary = "Counts the k-mers that two sequences share."

    k: int | list[int] = integer(
        default=3,
        low=1,
        high=LARGEST_K,
        summed=True,
        kw_only=False,
        doc=f"Length of the k-mers. {SUMMED}; k = 1, …, d gives the mixed spectrum kernel of degree d.",
    )
    presence: bool = changed(default=False, doc="Φ_u(x) is 1 if u occurs, instead of a count.")
    algorithm: str = choice(
        default="auto",
        choices=("auto", "dense", "index", "wide"),
        execution=True,
        doc="Algorithm: products of dense vectors over all k-mers; posting lists of k-mers packed "
        "into 64 bits; or posting lists of k-mers as text, for those that need more bits. Results "
        "are identical.",
    )

    tested_with = (
        {},
        {"k": [1, 2, 4], "weights": [0.5, 2, 0.3], "normalize": False},
        {"k": 4, "reverse_complement": True},
        {"k": [2, 9], "presence": True},
        {"k": 2, "alphabet": "HEC"},
    )

    def _costs(self, work: Workload, size: int, k: int) -> dict[str, Cost]:
        costs = {}
        if codes_fit(size, k):
            costs["index"] = work.index(work.match**k, size**k)
        if size**k <= WIDEST:
            costs["dense"] = work.dense(size**k, work.common**k)
        return costs | {"wide": work.index(work.match**k, work.letters) + work.text(k)}

    def _members(self, X: SequenceSet, k: int, algorithm: str, others: Iterator[Any]) -> Iterator[tuple[int, Block]]:
        if algorithm == "dense":
            yield 1, dense_block(self._find(X, k), self.presence)
            next(others)
        else:
            yield 1, SparseBlock(self._counts(X, k, algorithm), next(others))

    def _find(self, X: SequenceSet, k: int) -> Occurrences:
        """Return the Occurrences of the k-mers."""
        return find_kmers(X, k, strands="canonical" if self.reverse_complement else "one")

    def _counts(self, X: SequenceSet, k: int, algorithm: str = "index") -> Counted:
        found = find_wide_kmers(X, k, self.reverse_complement) if algorithm == "wide" else self._find(X, k)
        return found.count().once(self.presence)

    @property
    def tables(self) -> Tables:
        """Sums of the coefficients for each k-mer; none with presence, or if there are too many k-mers."""
        return Tables(
            self._tally,
            lambda tally, alphabet: TalliedSpectrum(
                self._lengths(), self._weights(), tally, alphabet, self.reverse_complement
            ),
            pairs=lambda size: ("canonical" if self.reverse_complement else "one", self._equal_pairs()),
            at_positions=None if self.presence or max(self._lengths()) > LONGEST_SCANNED else self._along,
        )

    def _equal_pairs(self) -> list[tuple[int, Sequence[float] | Floats]]:
        """Return the value of two k-mers by their Hamming distance, for each k: only equal ones have one."""
        return [(k, [weight] + [0.0] * k) for k, weight in zip(self._lengths(), self._weights(), strict=True)]

    def _along(self, support: SequenceSet, coefficients: Floats) -> WindowSums:
        """Return the sums over the k-mers of windows."""
        tables = self.tables.weights(support, coefficients)
        if tables is None:
            raise ParameterError(f"an alphabet of {support.alphabet.size} letters has too many k-mers for tables")
        return WindowSums(tables, int(support.lengths[0]) if len(support) else 0, support.alphabet.size)

    def _tally(self, support: SequenceSet, coefficients: Floats) -> Tally | None:
        size = support.alphabet.size
        if self.presence or any(size**k > LARGEST_TABLE for k in self._lengths()):
            return None
        return [sum_kmers(support, coefficients, k, self.reverse_complement) for k in self._lengths()]

    def _labelled(self, X: SequenceSet, support: SequenceSet, k: int, every: bool = False) -> Labelled:
        """Return the labelled k-mers of both sets; with `every`, possibly including k-mers that do not occur."""
        if codes_fit(X.alphabet.size, k):
            mine, theirs = self._find(X, k), self._find(support, k)
            if every and mine.space <= SMALL_SPACE:
                return Labelled.by_code(mine.codes[0], mine.start, theirs.codes[0], theirs.start, mine.space)
            return Labelled.of(mine.codes[0], mine.start, theirs.codes[0], theirs.start)
        wide, others = (find_wide_kmers(Z, k, self.reverse_complement) for Z in (X, support))
        return Labelled.of(wide.texts, wide.start, others.texts, others.start)

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Share the weight of each occurrence among its residues; with `presence`, first among all occurrences."""
        self._check_sequences(X)
        residues = int(X.lengths.sum())
        shares = np.zeros(residues)
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            found = self._labelled(X, support, k, every=True)
            values = weight * found.weights(coefficients, self.presence)[found.labels]
            if self.presence:
                values /= found.occurrences()
            shares += spread(values, find_windows(X, k), range(k), residues)
        return shares

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> KmerWeights:
        parts = []
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            found = self._labelled(X, support, k)
            kmers = spell(found.distinct, k, X.alphabet)
            parts.append((kmers, weight * found.weights(coefficients, self.presence)))
        return merge(parts)
