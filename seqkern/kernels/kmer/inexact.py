"""Shared by kernels with inexact matching, in which a window counts for several features (Leslie and Kuang 2004).

Three exact algorithms give the same integers:

- ``neighbours``: the features of every distinct window are listed, and counted into posting lists.
- ``dense``: they are counted into vectors over all features.
- ``trie``: nothing is listed; each block of the matrix is a walk through the tree of all features.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, fixed
from seqkern.kernels.kmer import _trie
from seqkern.kernels.kmer.hamming.hamming_additive import distinct_windows, letters_of
from seqkern.kernels.kmer.kmer_kernel import KmerKernel
from seqkern.kernels.kmer.kmers import MOST_CODES, Counted, Occurrences, check_code_space, check_lengths, find_windows
from seqkern.kernels.kmer.neighbourhoods import Lists, Rule, Windows, decode
from seqkern.kernels.kmer.trie import MOST_FEATURES, TrieBlock, trie_cost
from seqkern.kernels.one_entry_cache import OneEntryCache
from seqkern.kernels.planner import SAMPLE_RECORDS, WINDOW_BYTES, Cost, Workload
from seqkern.kernels.products import _fold
from seqkern.kernels.products.dense import WIDEST, Counts, DenseBlock, present
from seqkern.kernels.products.product import Block
from seqkern.kernels.products.sparse import SparseBlock
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

SAMPLE_WINDOWS, LEAST_SAMPLE, SAMPLE_FEATURES = 2048, 64, 1 << 18
LEAST_FEATURES = 1e-6
LISTED_SHARE = 0.8  # of the longest lists, whose length is only estimated
CACHE = OneEntryCache()


@dataclass(frozen=True)
class InexactWorkload(Workload):
    """A Workload with statistics of a sample of its windows.

    Attributes
    ----------
    features : float
        How many features a window counts for, on average.
    shared : float
        How many features two windows share, on average.
    commonest : float
        Share of the windows that count for the commonest feature.
    """

    features: float
    shared: float
    commonest: float

    @classmethod
    def sampled(cls, work: Workload, rule: Rule, windows: Windows) -> Self:
        """Return a Workload with the statistics of a sample.

        Parameters
        ----------
        work : Workload
            Workload of the matrix; of both strands if both count.
        rule : Rule
            Which features a window counts for.
        windows : Windows
            Those of some records.

        Returns
        -------
        InexactWorkload
        """
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

    A family has the attributes `k`, `presence`, `reverse_complement`, `short` and `algorithm`, and writes `_rule`; if
    the rule depends on more than the alphabet, also `_rule_of` and `_windows`.

    Attributes
    ----------
    fewer_features : str
        Remedy if a window has too many.
    """

    fewer_features = "choose parameters that allow fewer differences"

    weights: None = fixed(None)
    reverse_complement: bool = changed(
        default=False,
        doc="Count each feature on both strands: K = ½·Ψ(x)·Ψ(y) with Ψ(x) = Φ(x) + Φ(reverse "
        "complement of x). DNA and RNA only.",
    )
    algorithm: str = choice(
        default="auto",
        choices=("auto", "dense", "neighbours", "trie"),
        execution=True,
        doc="Algorithm: dense vectors over all features, posting lists of those that occur, or a walk "
        "through the trie of all features. Results are identical.",
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
        """Return which strands' windows are counted."""
        return "both" if self.reverse_complement else "one"

    def _scale(self) -> float:
        return 0.5 if self.reverse_complement else 1.0

    def _check_sequences(self, X: SequenceSet) -> None:
        check_code_space(X.alphabet.size, self.min_length(), self.length_name)
        if self.short == "error":
            check_lengths(X, self.min_length(), self.length_name)

    def _workload(self, X: SequenceSet, Y: SequenceSet | None = None) -> InexactWorkload:
        check_code_space(X.alphabet.size, self.min_length(), self.length_name)
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
        return Windows.of(X, self.min_length(), self._strands())

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
        return self.min_length()

    def _features_of_window(self, X: SequenceSet, k: int) -> float:
        return (2 if self.reverse_complement else 1) * self._workload(X).features

    def _counts(self, X: SequenceSet, k: int) -> Counted:
        windows = self._windows(X)
        counted = Lists.of(self._rule_of(X), windows.residues).count(windows.count())
        if self.presence:
            counted.count[:] = 1
        return counted

    # ---- explanations ---------------------------------------------------------------------------

    def _learned(self, support: SequenceSet) -> Counted:
        """Return the Counted of the features of the support."""
        return CACHE.get(support, self.identity(), lambda: self._counts(support, self.k))

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Share the contribution of a feature for each window that counts for it; with `presence`, for all windows
        together.
        """
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

    def _kmer_weights(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> tuple[list[str], npt.NDArray[np.float64]]:
        """Return the distinct windows, of both strands the smaller, and what one alone would add for all features."""
        distinct = distinct_windows(X, support, self.min_length(), self.reverse_complement)
        number = np.arange(len(distinct), dtype=np.int32).reshape(-1, 1)
        strands = [distinct, X.alphabet.complement_codes[distinct[:, ::-1]]] if self.reverse_complement else [distinct]
        residues = np.ascontiguousarray(np.concatenate(strands))
        lists = Lists.of(self._rule_of(X), residues)
        found = np.hstack([number + len(distinct) * strand for strand in range(len(strands))]).astype(np.uint32)
        start = np.arange(len(distinct) + 1) * len(strands)
        counted = lists.count(Occurrences(found.reshape(1, -1), start, max(1, len(residues))).count())
        if self.presence:
            counted.count[:] = 1
        learned = _weights(self._learned(support), coefficients, lists.codes)
        weights = np.empty(len(distinct))
        _fold.apply_sparse(counted.start, counted.feature, counted.count, 0, learned, weights)
        return [row.tobytes().decode() for row in letters_of(X.alphabet)[distinct]], self._scale() * weights


def _weights(counted: Counted, coefficients: npt.ArrayLike, codes: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Return Σ_j coefficients[j]·Φ_u(z_j) of the features u with these codes, float64 (codes,), from the counts Φ."""
    weights = np.zeros(counted.n_features + 1)  # the last one is for features that do not occur
    coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
    _fold.gather_sparse(counted.start, counted.feature, counted.count, 0, coefficients, weights)
    if counted.vocabulary is None:
        return weights[codes.astype(np.int64)]
    place = np.searchsorted(counted.vocabulary, codes)
    found = np.append(counted.vocabulary, 0)[place] == codes
    return weights[np.where(found & (place < counted.n_features), place, counted.n_features)]
