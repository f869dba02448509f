"""What kernels with inexact matching share: a word of a sequence counts for several features (Leslie and Kuang 2004).

Three exact ways lead to the same integers:

- ``neighbours``: the features of every distinct word are listed, and counted into posting lists.
- ``dense``: they are counted into vectors over all features.
- ``trie``: nothing is listed; each block of the matrix is a walk through the tree of all features.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, fixed
from seqkern.kernels.kmer import _trie
from seqkern.kernels.kmer.hamming.hamming_additive import distinct_words, letters_of
from seqkern.kernels.kmer.kmer_kernel import KmerKernel
from seqkern.kernels.kmer.kmers import MOST_CODES, Occurrences, check_code_space, check_lengths, find_windows
from seqkern.kernels.kmer.neighbourhoods import Lists, Words, as_letters
from seqkern.kernels.kmer.trie import MOST_FEATURES, TrieBlock, trie_cost
from seqkern.kernels.one_entry_cache import Latest
from seqkern.kernels.planner import SAMPLE_RECORDS, WINDOW_BYTES, Cost, Workload
from seqkern.kernels.products import _fold
from seqkern.kernels.products.dense import WIDEST, DenseBlock
from seqkern.kernels.products.sparse import SparseBlock

SAMPLE_WORDS, LEAST_SAMPLE, SAMPLE_FEATURES = 2048, 64, 1 << 18
LEAST_FEATURES = 1e-6
LISTED_SHARE = 0.8  # of the longest lists: how long they become is only estimated
LATEST = Latest()


@dataclass(frozen=True)
class InexactWorkload(Workload):
    """A Workload, and what a sample of its words says.

    Attributes
    ----------
    features : float
        How many features a word counts for, on average.
    shared : float
        How many features two words share, on average.
    commonest : float
        Share of the words that count for the commonest feature.
    """

    features: float
    shared: float
    commonest: float

    @classmethod
    def sampled(cls, work, rule, words):
        """Return `work` with what some of the Words of a sample say."""
        some = words.letters[words.label[:: max(1, len(words.label) // SAMPLE_WORDS)]]
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
    """Base of the kernels on words that count for features by a rule.

    A family has the attributes `k`, `presence`, `reverse_complement`, `short` and `algorithm`, and writes `_rule`; one
    whose rule depends on more than the alphabet writes `_rule_of` and `_words`. `fewer_features` is the remedy where a
    word has too many.
    """

    fewer_features = "choose parameters that let fewer letters differ"

    weights: None = fixed(None)
    reverse_complement: bool = changed(
        default=False,
        doc="A feature counts on both strands: with Ψ(x) = Φ(x) + Φ(reverse complement of x), K = ½·Ψ(x)·Ψ(y). DNA "
        "and RNA only.",
    )
    algorithm: str = choice(
        default="auto",
        choices=("auto", "dense", "neighbours", "trie"),
        execution=True,
        doc="How to compute: vectors over all features, posting lists of those that occur, or a walk through the tree "
        "of all features that lists none. The numbers are the same.",
    )

    def _rule(self, alphabet):
        """Return the Rule over an alphabet."""
        raise NotImplementedError

    def _rule_of(self, X):
        """Return the Rule for the words of `X`."""
        return self._rule(X.alphabet)

    def _sample(self, X):
        """Return some records of `X` that stand for all."""
        return X.take(slice(None, None, max(1, len(X) // SAMPLE_RECORDS)))

    def _strands(self):
        """Return which strands' words are counted."""
        return "both" if self.reverse_complement else "one"

    def _scale(self):
        return 0.5 if self.reverse_complement else 1.0

    def _check_sequences(self, X):
        check_code_space(X.alphabet.size, self.min_length(), self.length_name)
        if self.short == "error":
            check_lengths(X, self.min_length(), self.length_name)

    def _workload(self, X, Y=None):
        check_code_space(X.alphabet.size, self.min_length(), self.length_name)
        work = super()._workload(X, Y)
        work = work.both_strands() if self.reverse_complement else work
        some = self._sample(X if Y is None else Y)
        work = InexactWorkload.sampled(work, self._rule_of(some), self._words(some))
        if work.features > MOST_FEATURES:
            raise ParameterError(
                f"a word of kernel {self.name!r} would count for about {work.features:.2g} features",
                remedy=self.fewer_features,
            )
        return work

    def _costs(self, work, size, k):
        space = size**k
        costs = {"trie": trie_cost(work, work.features, work.shared)}
        if max(work.col_letters, work.row_letters) * work.features <= LISTED_SHARE * MOST_CODES:
            costs["neighbours"] = work.index(work.shared / work.features, space, work.features)
            if space <= WIDEST:
                lists = Cost(0.0, int(WINDOW_BYTES * work.letters * work.features))
                costs["dense"] = work.dense(space, work.commonest, work.features) + lists
        return costs

    def _members(self, X, k, algorithm, others):
        other = next(others)
        if algorithm == "neighbours":
            yield 1, SparseBlock(self._counts(X, k), other)
        elif algorithm == "dense":
            yield 1, self._dense_block(X)
        else:
            yield 1, TrieBlock(self._rule_of(X), self._words(X), self.presence)

    def _words(self, X):
        """Return the Words of a set."""
        return Words.of(X, self.min_length(), self._strands())

    def _dense_block(self, X):
        """Return the features as dense vectors."""
        rule, words = self._rule_of(X), self._words(X)
        lists, counted = Lists.of(rule, words.letters, ranked=False), words.count()

        def fill(row, counts):
            lists.tally(counted, row, counts)
            if self.presence:
                np.minimum(counts, 1, out=counts)

        return DenseBlock(len(X), rule.space, fill)

    def _window(self, k):
        return self.min_length()

    def _features_of_window(self, X, k):
        return (2 if self.reverse_complement else 1) * self._workload(X).features

    def _counts(self, X, k):
        words = self._words(X)
        counted = Lists.of(self._rule_of(X), words.letters).count(words.count())
        if self.presence:
            counted.count[:] = 1
        return counted

    # ---- explanations ---------------------------------------------------------------------------

    def _learned(self, support):
        """Return the Counted of the features of the support."""
        return LATEST.get(support, self.identity(), lambda: self._counts(support, self.k))

    def _attribute(self, X, support, coefficients):
        """Share what a feature adds for each window that counts for it; under `presence`, for all windows together."""
        self._check_sequences(X)
        rule, words = self._rule_of(X), self._words(X)
        lists = Lists.of(rule, words.letters)
        weights = _weights(self._learned(support), coefficients, lists.codes)
        strands = 2 if self.reverse_complement else 1
        shares = np.zeros(int(X.lengths.sum()))
        _trie.share(
            rule.compiled,
            words.letters,
            words.start,
            words.label,
            np.repeat(find_windows(X, rule.length), strands),
            (np.arange(len(words.label)) % 2 < strands - 1).astype(np.uint8),  # the other strand's words come first
            lists.start,
            lists.feature,
            as_letters(lists.codes, rule.k, rule.size),
            self._scale() * weights,
            self.presence,
            np.zeros(lists.n_features, dtype=np.int32),
            np.empty(2 * (rule.k + 1) * (rule.length + 1) + rule.length),
            shares,
        )
        return shares

    def _word_weights(self, X, support, coefficients):
        """Return the distinct windows, of both strands the smaller, and what one alone would add for all features."""
        words = distinct_words(X, support, self.min_length(), self.reverse_complement)
        number = np.arange(len(words), dtype=np.int32).reshape(-1, 1)
        strands = [words, X.alphabet.complement_codes[words[:, ::-1]]] if self.reverse_complement else [words]
        letters = np.ascontiguousarray(np.concatenate(strands))
        lists = Lists.of(self._rule_of(X), letters)
        found = np.hstack([number + len(words) * strand for strand in range(len(strands))]).astype(np.uint32)
        start = np.arange(len(words) + 1) * len(strands)
        counted = lists.count(Occurrences(found.reshape(1, -1), start, max(1, len(letters))).count())
        if self.presence:
            counted.count[:] = 1
        learned = _weights(self._learned(support), coefficients, lists.codes)
        weights = np.empty(len(words))
        _fold.apply_sparse(counted.start, counted.feature, counted.count, 0, learned, weights)
        return [row.tobytes().decode() for row in letters_of(X.alphabet)[words]], self._scale() * weights


def _weights(counted, coefficients, codes):
    """Return Σ_j coefficients[j]·Φ_u(z_j) of the features u with these codes, float64 (codes,), from the counts Φ."""
    weights = np.zeros(counted.n_features + 1)  # the last one is of features that do not occur
    coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
    _fold.gather_sparse(counted.start, counted.feature, counted.count, 0, coefficients, weights)
    if counted.vocabulary is None:
        return weights[codes.astype(np.int64)]
    place = np.searchsorted(counted.vocabulary, codes)
    found = np.append(counted.vocabulary, 0)[place] == codes
    return weights[np.where(found & (place < counted.n_features), place, counted.n_features)]
