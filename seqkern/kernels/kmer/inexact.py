"""Kernels with inexact matching: near k-mers, gaps, likely substitutions, profiles."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice
from seqkern.core.errors import NoKmersError, ParameterError
from seqkern.core.parameters import changed, fixed, integer, real, share, text
from seqkern.core.types import Floats
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.common_parameters import algorithm_choice, short_rule, zero_rule
from seqkern.kernels.kmer import _trie
from seqkern.kernels.kmer.hamming_operator import distinct_windows, letters_of
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K, KmerKernel
from seqkern.kernels.kmer.kmers import (
    MOST_CODES,
    Counted,
    Lists,
    Occurrences,
    Rule,
    Windows,
    check_code_space,
    check_lengths,
    cost_rule,
    decode,
    find_windows,
    place_rule,
    subsequence_rule,
)
from seqkern.kernels.planner import POSTING_NS, SAMPLE_RECORDS, WINDOW_BYTES, Cost, Workload, _distinct
from seqkern.kernels.prepared import OneEntryCache
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import WIDEST, Block, Counts, DenseBlock, IntegerSums, Span, SparseBlock, present
from seqkern.kernels.profile_tracks import SEARCHED_RECORDS, ProfileTracks
from seqkern.kernels.substitution_scores import matrix_names, matrix_probabilities, uniform_probabilities
from seqkern.sequences.alphabets import PROTEIN, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

# Features that are never stored: a walk through the trie of all features (Leslie and Kuang 2004).
#
# The walk is depth-first and carries the windows that remain at each node. Memory is bounded by windows times depth,
# regardless of the number of features.

MOST_FEATURES = 2.0**36  # for one window, about an hour
LIVE_NS = 30.0  # a window that reaches a leaf, and its path
TRIE_WINDOW_BYTES = 500
BLOCK_ROWS = 512  # one walk for each block of rows


class TrieBlock:
    """Feature counts of n records under a rule, never stored; with `presence`, 1 instead of counts."""

    least_block_rows = BLOCK_ROWS

    def __init__(self, rule: Rule, windows: Windows, presence: bool = False) -> None:
        counted = windows.count()
        self.rule, self.presence = rule, presence
        self.start = counted.start
        record = np.repeat(np.arange(len(counted), dtype=np.int32), np.diff(counted.start))
        self._windows = windows.residues[counted.feature], record, counted.count
        self.squares = np.zeros(len(counted), dtype=np.int64)
        rounded = np.zeros(len(counted))
        _trie.square(rule.compiled, *self._windows, presence, self.squares, rounded)
        self.largest = float(rounded.max(initial=0.0))

    def accumulate(self, cols: "TrieBlock", span: Span, sums: IntegerSums) -> None:
        """Add factor · Φ(rows)·Φ(columns) to `sums`.

        Each call is one walk.
        """
        sides = (*self._windows, self.start, *cols._windows, cols.start)
        _trie.multiply(self.rule.compiled, cols.rule.compiled, *sides, self.presence, *span, sums)
        if span.upper:  # the walk skips products of a record with itself, and so all nodes with a single record
            own = np.arange(max(span.row, span.first), min(span.row + len(sums), span.last))
            sums[own - span.row, own - span.first] += (span.factor * self.squares[own]).astype(sums.dtype)


def trie_cost(work: Workload, features: float, shared: float) -> Cost:
    """Return the Cost of a TrieBlock."""
    blocks = -(-work.rows // BLOCK_ROWS)
    walked = work.col_letters * ((blocks + 1) / 2 if work.symmetric else blocks) + work.letters
    agree = shared / features
    row_counts = work.rows * _distinct(work.row_letters / max(1, work.rows), agree)
    col_counts = work.cols * _distinct(work.col_letters / max(1, work.cols), agree)
    met = row_counts * col_counts * shared / (2 if work.symmetric else 1)
    seconds = (LIVE_NS * features * walked + POSTING_NS * met) * 1e-9
    return Cost(seconds, int(work.letters * TRIE_WINDOW_BYTES))


# Base of the kernels with inexact matching, in which a window counts for several features (Leslie and Kuang 2004).
#
# Three exact algorithms give the same integers:
#
# - ``neighbours``: the features of every distinct window are listed, and counted into posting lists.
# - ``dense``: the features are counted into vectors over all features.
# - ``trie``: nothing is listed; each block of the matrix is a walk through the trie of all features.

SAMPLE_WINDOWS, LEAST_SAMPLE, SAMPLE_FEATURES = 2048, 64, 1 << 18
LEAST_FEATURES = 1e-6
LISTED_SHARE = 0.8  # of the longest lists, whose length is only estimated
CACHE = OneEntryCache()


@dataclass(frozen=True)
class InexactWorkload(Workload):
    """A Workload with statistics of a sample of its windows.

    `features` is the mean number of features of a window, `shared` the mean number that two windows share, and
    `commonest` the share of the windows that count for the commonest feature.
    """

    features: float  # How many features a window counts for, on average
    shared: float  # How many features two windows share, on average
    commonest: float  # Share of the windows that count for the commonest feature

    @classmethod
    def sampled(cls, work: Workload, rule: Rule, windows: Windows) -> Self:
        """Return a Workload with the statistics of the sampled `windows`."""
        some = windows.residues[windows.label[:: max(1, len(windows.label) // SAMPLE_WINDOWS)]]
        features = max(rule.guess(some), LEAST_FEATURES)
        n = int(min(len(some), SAMPLE_FEATURES // max(1.0, features)))
        shared, commonest = features**2 / rule.space, min(1.0, features / rule.space)
        if n >= LEAST_SAMPLE:
            some = np.ascontiguousarray(some[:: len(some) // n])
            listed = Lists.of(rule, some).feature
            features, counts = max(len(listed) / len(some), LEAST_FEATURES), np.bincount(listed)
            shared = float(counts @ (counts - 1)) / (len(some) * (len(some) - 1))
            commonest = float(counts.max(initial=0)) / len(some)
        return cls(**vars(work), features=features, shared=shared, commonest=commonest)


class InexactKernel(KmerKernel):
    """Base of the kernels in which a rule decides which features a window counts for.

    A family has the attributes `k`, `presence`, `reverse_complement`, `short` and `algorithm`, and implements
    `_rule`; if
    the rule depends on more than the alphabet, also `_rule_of` and `_windows`.
    """

    fewer_features = "choose parameters that allow fewer differences"

    weights: None = fixed(None)
    reverse_complement: bool = changed(
        default=False,
        doc="Count each feature on both strands: K = ½·Ψ(x)·Ψ(y) with Ψ(x) = Φ(x) + Φ(reverse "
        "complement of x). DNA and RNA only.",
    )
    algorithm: str = algorithm_choice(
        "dense",
        "neighbours",
        "trie",
        doc=": dense vectors over all features, posting lists of those that occur, or a walk through the trie of all",
    )

    def _rule(self, alphabet: Alphabet) -> Rule:
        """Return the Rule over an alphabet."""
        raise NotImplementedError

    def _rule_of(self, X: SequenceSet) -> Rule:
        """Return the Rule for the windows of `X`."""
        return self._rule(X.alphabet)

    def _sample(self, X: SequenceSet) -> SequenceSet:
        """Return a representative sample of the records of `X`."""
        return X.take(slice(None, None, max(1, len(X) // SAMPLE_RECORDS)))

    def _strands(self) -> Literal["one", "both"]:
        """Return the strands whose windows are counted."""
        return "both" if self.reverse_complement else "one"

    def _scale(self) -> float:
        return 0.5 if self.reverse_complement else 1.0

    def _check_sequences(self, X: SequenceSet) -> None:
        check_code_space(X.alphabet.size, self._min_length(), self.length_name)
        if self.short == "error":
            check_lengths(X, self._min_length(), self.length_name)

    def _workload(self, X: SequenceSet, Y: SequenceSet | None = None) -> InexactWorkload:
        check_code_space(X.alphabet.size, self._min_length(), self.length_name)
        work = super()._workload(X, Y)
        work = work.both_strands() if self.reverse_complement else work
        some = self._sample(X if Y is None else Y)
        sampled = InexactWorkload.sampled(work, self._rule_of(some), self._windows(some))
        if sampled.features > MOST_FEATURES:
            raise ParameterError(
                f"a k-mer of kernel {self.name!r} would count for about {sampled.features:.2g} features",
                remedy=self.fewer_features,
            )
        return sampled

    def _costs(self, work: InexactWorkload, size: int, k: int) -> dict[str, Cost]:
        space = size**k
        costs = {"trie": trie_cost(work, work.features, work.shared)}
        if max(work.col_letters, work.row_letters) * work.features <= LISTED_SHARE * MOST_CODES:
            costs["neighbours"] = work.index(work.shared / work.features, space, work.features)
            if space <= WIDEST:
                lists = Cost(0.0, int(WINDOW_BYTES * work.letters * work.features))
                costs["dense"] = work.dense(space, work.commonest, work.features) + lists
        return costs

    def _members(self, X: SequenceSet, k: int, algorithm: str, others: Iterator[Any]) -> Iterator[tuple[int, Block]]:
        other = next(others)
        if algorithm == "neighbours":
            yield 1, SparseBlock(self._counts(X, k), other)
        elif algorithm == "dense":
            yield 1, self._dense_block(X)
        else:
            yield 1, TrieBlock(self._rule_of(X), self._windows(X), self.presence)

    def _windows(self, X: SequenceSet) -> Windows:
        """Return the Windows of a set."""
        return Windows.of(X, self._min_length(), self._strands())

    def _dense_block(self, X: SequenceSet) -> DenseBlock:
        """Return the features as dense vectors."""
        rule, windows = self._rule_of(X), self._windows(X)
        lists, counted = Lists.of(rule, windows.residues, ranked=False), windows.count()

        def tally(row: int, tables: Counts) -> None:
            lists.tally(counted, row, tables)

        # A window counts for a feature once.
        most = int(np.diff(windows.start).max(initial=0))
        return DenseBlock(len(X), rule.space, present(tally) if self.presence else tally, most)

    def _window(self, k: int) -> int:
        return self._min_length()

    def _features_of_window(self, X: SequenceSet, k: int) -> float:
        return (2 if self.reverse_complement else 1) * self._workload(X).features

    def _counts(self, X: SequenceSet, k: int) -> Counted:
        windows = self._windows(X)
        return Lists.of(self._rule_of(X), windows.residues).count(windows.count()).once(self.presence)

    # ---- explanations ---------------------------------------------------------------------------

    def _learned(self, support: SequenceSet) -> Counted:
        """Return the feature counts of the support."""
        return CACHE.get(support, self.identity(), lambda: self._counts(support, self.k))

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Share the contribution of a feature for each matching window; with `presence`, for all windows together."""
        self._check_sequences(X)
        rule, windows = self._rule_of(X), self._windows(X)
        lists = Lists.of(rule, windows.residues)
        weights = _weights(self._learned(support), coefficients, lists.codes)
        strands = 2 if self.reverse_complement else 1
        shares = np.zeros(int(X.lengths.sum()))
        _trie.share(
            rule.compiled,
            windows.residues,
            windows.start,
            windows.label,
            np.repeat(find_windows(X, rule.length), strands),
            (np.arange(len(windows.label)) % 2 < strands - 1).astype(np.uint8),  # those of the other strand first
            lists.start,
            lists.feature,
            decode(lists.codes, rule.k, rule.size),
            self._scale() * weights,
            self.presence,
            np.zeros(lists.n_features, dtype=np.int32),
            np.empty(2 * (rule.k + 1) * (rule.length + 1) + rule.length),
            shares,
        )
        return shares

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> tuple[list[str], Floats]:
        """Return the distinct windows (the smaller of both strands) and the total contribution of one occurrence of
        each.
        """
        distinct = distinct_windows(X, support, self._min_length(), self.reverse_complement)
        number = np.arange(len(distinct), dtype=np.int32).reshape(-1, 1)
        strands = [distinct, X.alphabet.complement_codes[distinct[:, ::-1]]] if self.reverse_complement else [distinct]
        residues = np.ascontiguousarray(np.concatenate(strands))
        lists = Lists.of(self._rule_of(X), residues)
        found = np.hstack([number + len(distinct) * strand for strand in range(len(strands))]).astype(np.uint32)
        start = np.arange(len(distinct) + 1) * len(strands)
        every = Occurrences(found.reshape(1, -1), start, max(1, len(residues)))
        counted = lists.count(every.count()).once(self.presence)
        learned = _weights(self._learned(support), coefficients, lists.codes)
        weights = np.empty(len(distinct))
        _product.apply_sparse(counted.start, counted.feature, counted.count, 0, learned, weights)
        return [row.tobytes().decode() for row in letters_of(X.alphabet)[distinct]], self._scale() * weights


def _weights(counted: Counted, coefficients: npt.ArrayLike, codes: npt.NDArray[np.uint64]) -> Floats:
    """Return Σ_j coefficients[j]·Φ_u(z_j) of the features u with these codes, float64 (codes,), from the counts Φ."""
    weights = np.zeros(counted.n_features + 1)  # the last one is for features that do not occur
    coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
    _product.gather_sparse(counted.start, counted.feature, counted.count, 0, coefficients, weights)
    if counted.vocabulary is None:
        return weights[codes.astype(np.int64)]
    place = np.searchsorted(counted.vocabulary, codes)
    found = np.append(counted.vocabulary, 0)[place] == codes
    return weights[np.where(found & (place < counted.n_features), place, counted.n_features)]


# The gappy kernel: k-mers with gaps inside windows of g residues (Leslie and Kuang 2004).


class GappyKernel(InexactKernel):
    r"""Gappy kernel: shared k-mers with gaps inside windows of g residues.

    It suits related sequences with short insertions and deletions. A window contains u if deleting g − k of its
    residues leaves u. It counts once, however many ways there are to do so.

    Notes
    -----
    With Φ_u(x) the number of windows of g residues of x that contain the k-mer u with gaps,

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    Complexity: a window contains up to C(g, k) k-mers. Listing them takes O(C(g, k)·|x|) per sequence. A pair then
    takes O(b^k) with dense vectors over the b letters of the alphabet, or time proportional to the shared k-mers with
    posting lists.

    Definiteness: positive semi-definite.

    Explanations share what a window adds for a k-mer equally among all ways to find the k-mer in the window, and among
    the k residues of each way.

    References
    ----------
    Leslie, Kuang: Fast string kernels using inexact matching for protein sequences. Journal of Machine Learning
    Research 5, 2004.

    Examples
    --------
    The window ACG holds AC, AG and CG; AGG holds AG and GG, CAG holds CA, CG and AG:

    >>> from seqkern.kernels import GappyKernel
    >>> GappyKernel(g=3, k=2, normalize=False)(["ACG"], ["ACG", "AGG", "CAG"])
    array([[3., 1., 2.]])
    """

    name = "gappy"
    summary = "Counts the k-mers that two sequences share, allowing gaps inside windows of g residues."
    length_name = "g"

    g: int = integer(default=6, low=1, high=LARGEST_K, kw_only=False, doc="Residues in a window.")
    k: int = integer(
        default=4, low=1, high="g", kw_only=False, doc="Residues in a feature. With k = g this is the spectrum kernel."
    )
    short: Literal["error", "zero"] = short_rule("g", "no windows")
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence without any window")

    tested_with = (
        {"g": 5, "k": 3},
        {"g": 6, "k": 4, "normalize": False, "reverse_complement": True},
        {"g": 6, "k": 4, "presence": True},
        {"g": 4, "k": 4, "presence": True, "reverse_complement": True},
        {"g": 4, "k": 2, "alphabet": "HEC"},
    )

    def _min_length(self) -> int:
        """Return g, the minimum length of a sequence."""
        return self.g

    def _rule(self, alphabet: Alphabet) -> Rule:
        return subsequence_rule(alphabet.size, self.g, self.k)


# The substitution kernel: shared k-mers, allowing likely substitutions (Leslie and Kuang 2004).

COST_UNITS = 2.0**32
LARGEST_SIGMA = 1000


class SubstitutionKernel(InexactKernel):
    r"""Substitution kernel: shared k-mers, allowing likely substitutions of residues.

    It suits diverged proteins: conservative substitutions cost less than others.

    Notes
    -----
    With P(a | u) the probability of residue a where u was, and Φ_u(x) the number of k-mers a of x with −Σ_i ln P(a_i |
    u_i) < σ,

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    Logarithms are rounded to multiples of 2^−32 and added as integers, so that the order of summation never matters.

    Complexity: with N features per k-mer, O(N·|x|) per sequence to list them. A pair then takes O(b^k) with dense
    vectors over the b letters of the alphabet, time proportional to the shared features with posting lists, or a walk
    through the trie of k-mers, which stores no lists.

    Definiteness: positive semi-definite.

    Explanations share what a k-mer adds for u equally among its residues that match u, or among all if none does.

    References
    ----------
    Leslie, Kuang: Fast string kernels using inexact matching for protein sequences. Journal of Machine Learning
    Research 5, 2004.

    Examples
    --------
    Isoleucine often replaces leucine, tryptophan hardly ever:

    >>> from seqkern.kernels import SubstitutionKernel
    >>> SubstitutionKernel(k=3, sigma=5, alphabet="protein")(["KLV"], ["KIV", "KWV"]).round(2)
    array([[0.45, 0.  ]])
    """

    name = "substitution"
    summary = "Counts the k-mers that two sequences share, allowing likely substitutions of residues."

    k: int = integer(default=4, low=1, high=LARGEST_K, kw_only=False, doc="Length of the k-mers.")
    sigma: float = real(
        default=6.0,
        low=0,
        high=LARGEST_SIGMA,
        open_low=True,
        kw_only=False,
        doc="σ: a k-mer counts for u if its −ln P given u is below it. At most e^σ k-mers count for one u.",
    )
    matrix: str | list[list[float]] | None = text(
        default=None,
        rows=True,
        doc='Source of P: a substitution matrix of Biopython by name; ``"uniform"``; or scores, one '
        "row for each letter in the order of the alphabet, from whose implied target frequencies "
        'P follows. By default BLOSUM62 for proteins, else ``"uniform"``.',
    )
    kept: float = share(
        0.9,
        'With ``matrix="uniform"``, the probability that a residue is kept; all others are equally likely.',
        open_low=True,
    )
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence that counts for no feature")

    tested_with = (
        {},
        {"k": 3, "sigma": 4.5, "kept": 0.7, "normalize": False, "reverse_complement": True},
        {
            "k": 4,
            "sigma": 5,
            "matrix": [[5, -4, -1, -4], [-4, 5, -4, -1], [-1, -4, 5, -4], [-4, -1, -4, 5]],
            "alphabet": "dna",
            "presence": True,
        },
        {"k": 3, "sigma": 5.5, "alphabet": "protein"},
        {"k": 4, "sigma": 3.5, "kept": 0.7, "alphabet": "HEC"},
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.kept == 1:
            raise ParameterError("kept=1 is not possible", remedy="give a number below 1, or choose kernel spectrum")
        if isinstance(self.matrix, str):
            check_choice("matrix", self.matrix, ("uniform", *matrix_names()))
        elif self.matrix is not None and np.ndim(self.matrix) != 2:
            raise ParameterError(
                f"matrix={self.matrix!r} is not possible", remedy="give the name of a matrix, or rows of scores"
            )

    def probabilities(self, alphabet: Alphabet) -> Floats:
        """Return the probability P[a, u] of letter a where u was."""
        matrix = self.matrix or ("BLOSUM62" if alphabet == PROTEIN else "uniform")
        if isinstance(matrix, str) and matrix == "uniform":
            return uniform_probabilities(alphabet.size, self.kept)
        rows = matrix if isinstance(matrix, str) else tuple(tuple(float(score) for score in row) for row in matrix)
        return matrix_probabilities(alphabet, rows)

    def _rule(self, alphabet: Alphabet) -> Rule:
        limit = round(self.sigma * COST_UNITS)
        costs = np.rint(-np.log(self.probabilities(alphabet)) * COST_UNITS)
        return cost_rule(np.minimum(costs, limit).astype(np.int64), self.k, limit)


# The profile kernel: k-mers that are likely under a sequence's profile (Kuang et al. 2005).
#
# Unlike in the mismatch kernel, the profile of the sequence decides which residues may differ: a position counts for
# the k-mers whose residues cost less than σ in total, with a residue's cost −ln of its probability. The algorithms are
# those of `inexact`; the features of a position are found by descending the trie of all k-mers while the best possible
# completion stays below σ.

UNIT = 2.0**32  # costs are multiples of 1 / UNIT, so that their sums are exact


class ProfileKernel(ProfileTracks, InexactKernel):
    r"""Profile kernel: the k-mers that the profiles of two sequences make likely.

    It suits remote homologs among proteins with PSSMs. The profile p is the track ``profile``, a positive probability
    for each letter at each position. `seqkern.formats` reads it from files or builds it by search; with
    ``search=training`` the kernel searches itself. The sequence x matters only through its masked residues: a window of
    k residues that covers one counts for nothing.

    With σ = 7.5 and k = 5 a position counts for about 40 k-mers on PSSMs of PSI-BLAST, with σ = 9 for 400; every
    further 1.5 takes ten times the time and memory. Profiles built by search come from HMMER and are flatter (0.59 bits
    per position): with σ = 8 a position counts for about 50 k-mers, with σ = 8.5 for 120.

    Notes
    -----
    With Φ_u(x) the number of positions j of x at which −Σ_i ln p_{j+i}(u_i) < σ, over all possible k-mers u,

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    Costs −ln p are rounded to multiples of 2^−32; the sums are exact.

    Complexity: with N k-mers per position, O(N·|x|) per sequence to list them. A pair then takes O(b^k) with dense
    vectors over the b letters of the alphabet, time proportional to the shared k-mers with posting lists, or a walk
    through the trie of k-mers, which stores no lists. Searches, where needed, come on top.

    Definiteness: positive semi-definite.

    References
    ----------
    Kuang, Ie, Wang, Wang, Siddiqi, Freund, Leslie: Profile-based string kernels for remote homology detection and motif
    extraction. Journal of Bioinformatics and Computational Biology 3, 2005.

    Examples
    --------
    Two nucleotides that the profile allows at the second place make AC and AG features of both sequences:

    >>> import numpy as np
    >>> from seqkern.kernels import ProfileKernel
    >>> from seqkern.sequences.sequence_set import SequenceSet
    >>> X = SequenceSet.from_strings(["AC", "AG"], "dna")
    >>> first, second = [0.97, 0.01, 0.01, 0.01], [0.01, 0.49, 0.49, 0.01]
    >>> X = X.replace(tracks={"profile": np.array([first, second] * 2, dtype=np.float32)})
    >>> ProfileKernel(k=2, sigma=1, normalize=False)(X)
    array([[2., 2.],
           [2., 2.]])
    """

    name = "profile"
    traits = Traits(tracks=("profile",), data_dependent=None)
    summary = "Counts the k-mers that two sequences share according to their profiles."
    fewer_features = "choose a smaller sigma, or a smaller k"

    k: int = integer(default=5, low=1, high=LARGEST_K, kw_only=False, doc="Length of the k-mers.")
    sigma: float = real(
        default=7.5,
        low=0,
        high=1e6,
        open_low=True,
        kw_only=False,
        doc="σ: k-mers with −Σ ln p below it count.",
    )
    search: Literal["training"] | None = changed(
        default=None,
        doc="Source of the profiles: tracks of the sequences; or a search of every sequence against "
        "the training sequences that `fit` keeps (`seqkern.formats.profile_sources`), so that no profile "
        "depends on a sequence outside the training set. A search against a few thousand "
        "training sequences takes about a tenth of a CPU second per sequence, once for each "
        "training set; profiles are cached.",
    )
    reverse_complement: bool = fixed(False)
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence none of whose places counts for any k-mer")
    algorithm: str = changed(
        default="auto",
        doc="Algorithm: dense vectors over all k-mers, posting lists, or a walk through the trie of "
        "all k-mers. Results are identical.",
    )

    tested_with = (
        {"k": 3, "sigma": 5},
        {"k": 4, "sigma": 6.5, "presence": True, "normalize": False},
        {"k": 2, "sigma": 4, "alphabet": "protein"},
        {"k": 2, "sigma": 5, "search": "training", "iterations": 1, "alphabet": "protein"},
    )

    def _rule_of(self, X: SequenceSet) -> Rule:
        X = self.with_profiles(X)
        profile = X.tracks["profile"][X.positions()]
        costs = np.rint(-UNIT * np.log(profile, dtype=np.float64))
        # A probability rounded above 1 costs nothing.
        return place_rule(np.maximum(costs, 0).astype(np.int64), self.k, int(np.ceil(self.sigma * UNIT)))

    def _sample(self, X: SequenceSet) -> SequenceSet:
        if self.search is None:
            return super()._sample(X)
        return X.take(slice(None, None, max(1, len(X) // SEARCHED_RECORDS)))

    def _windows(self, X: SequenceSet) -> Windows:
        return Windows.of_places(X, self.k)

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> tuple[list[str], Floats]:
        raise NoKmersError(
            f"kernel {self.name!r} counts k-mers that the sequences need not contain",
            remedy="choose a kernel based on k-mers, such as spectrum",
        )
