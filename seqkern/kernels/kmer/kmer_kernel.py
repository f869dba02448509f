"""What all kernels on k-mers share: one or several k, weights, policies, the choice of an algorithm, features."""

from itertools import product, repeat
from typing import Literal

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, flag, numbers
from seqkern.kernels.implicit import CombinedImplicit, SparseImplicit
from seqkern.kernels.kmer.kmers import SMALL_SPACE, check_code_space, check_lengths
from seqkern.kernels.planner import Workload, cheapest, make_plan
from seqkern.kernels.products.product import FeatureKernel, Term, TermBlocks
from seqkern.sequences.alphabets import as_alphabet

MOST_NAMES = 1 << 24
LARGEST_K = 10_000
# Bytes for each entry of the compressed rows: kept (feature and count), while its code is sorted, and while it is not;
# and for each feature, of weights.
KEPT_BYTES, RANKED_BYTES, CODE_BYTES, WEIGHT_BYTES = 8, 48, 8, 8


class KmerKernel(FeatureKernel):
    """Base of the kernels on k-mers, a weighted sum over k.

    A family has the parameters `k` and `algorithm` besides those here, and writes `_costs` and `_members`;
    `length_name` is what messages call a k.
    """

    length_name = "k"

    weights: list[float] | None = numbers(
        default=None,
        low=0,
        remedy="give a list, one for each k",
        doc="Weight of the kernel of each k; by default 1 each.",
    )
    presence: bool = flag(default=False, doc="Features are 1 where they are not 0.")
    reverse_complement: bool = flag(
        default=False, doc="A k-mer and its reverse complement are one feature. DNA and RNA only."
    )
    short: Literal["error", "zero"] = choice(
        default="error",
        doc="What to do about sequences shorter than the (largest) k: refuse them, or let them have no k-mers.",
    )
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="What to do, when normalising, about a sequence without any k-mer: refuse it, or give it a row of zeros.",
    )

    def _costs(self, work, size, k):
        """Return a dict from algorithm to Cost for one k over `size` letters; only of what is feasible."""
        raise NotImplementedError

    def _members(self, X, k, algorithm, others):
        """Yield (factor, block) for one k; `others` yields for each block the one to be made like, or None."""
        raise NotImplementedError

    def _out_of_reach(self, k):
        """Return the problem and the remedy, two str, for a k without any feasible algorithm."""
        name = self.length_name
        return f"kernel {self.name!r} with {name}={k} has features beyond 62 bits", f"choose a smaller {name}"

    def _lengths(self):
        """Return k as a list."""
        return [self.k] if np.ndim(self.k) == 0 else list(self.k)

    def _weights(self):
        """Return the weight of each k."""
        return [1.0] * len(self._lengths()) if self.weights is None else list(self.weights)

    def _check_parameters(self):
        ks, weights = self._lengths(), self._weights()
        if not ks or len(set(ks)) != len(ks):
            raise ParameterError(f"k={self.k!r} is not possible", remedy="give distinct integers")
        if len(weights) != len(ks):
            raise ParameterError(f"{len(weights)} weights for {len(ks)} k", remedy="give one for each k")

    def _workload(self, X, Y=None):
        """Return the Workload of `X` (against `Y`)."""
        return Workload.of(X, Y)

    def _choose(self, work, size, k):
        """Return the algorithm for one k, and a dict of the candidates' Costs."""
        costs = self._costs(work, size, k)
        if not costs:
            check_code_space(size, k, self.length_name)
            problem, remedy = self._out_of_reach(k)
            raise ParameterError(problem, remedy=remedy)
        wanted = cheapest(costs) if self.algorithm == "auto" else self.algorithm
        if wanted not in costs:
            raise ParameterError(
                f"kernel {self.name!r} with {self.length_name}={k} is out of reach of algorithm={wanted}",
                remedy=f"choose {' or '.join(f'algorithm={name}' for name in (*costs, 'auto'))}",
            )
        return wanted, costs

    def plan(self, X, Y=None):
        """Return the Plan for this kernel on `X` (against `Y`)."""
        self.check_parameters()
        X, Y = self.coerce(X), None if Y is None else self.coerce(Y)
        size = X.alphabet.size
        work = self._workload(X, Y)
        # The columns are prepared first, before the rows are known: the choice is for them alone.
        own = work if Y is None else self._workload(Y)
        names = [self._choose(own, size, k)[0] for k in self._lengths()]
        costs = [self._costs(work, size, k) for k in self._lengths()]
        return make_plan(names, costs, work.output(self.n_threads))

    def _prepare(self, X, like):
        self._check_sequences(X)
        choices, others = (self._choices(X), repeat(None)) if like is None else (like.choices, iter(like.blocks))
        terms = [
            Term(weight, list(self._members(X, k, choice, others)), self._divisor(X, k, choice))
            for k, weight, choice in zip(self._lengths(), self._weights(), choices, strict=True)
        ]
        return TermBlocks(terms, self._scale(), choices, X)

    def _choices(self, X):
        """Return for each k what `_members` is told for `X`, and for sets made like it: the algorithm."""
        work = self._workload(X)
        return [self._choose(work, X.alphabet.size, k)[0] for k in self._lengths()]

    def min_length(self):
        """Return the largest k: a shorter sequence lacks k-mers that the kernel counts."""
        return max(self._lengths())

    def _check_sequences(self, X):
        """Raise for a sequence that is too short."""
        if self.short == "error":
            check_lengths(X, max(self._lengths()), self.length_name)

    def _divisor(self, X, k, algorithm):
        """Return what the sum of the members has to be divided by."""
        return 1

    def _scale(self):
        """Return what multiplies the sum over k."""
        return 1.0

    def _check_explicit(self):
        """Raise ParameterError unless there are explicit features."""

    def _counts(self, X, k):
        """Return the Counted of the features for one k."""
        raise NotImplementedError

    @classmethod
    def has_implicit(cls):
        """Tell whether the family counts features."""
        return cls._counts is not KmerKernel._counts

    def check_implicit(self):
        """Raise ParameterError unless there are explicit features."""
        super().check_implicit()
        self._check_explicit()

    @classmethod
    def has_features(cls):
        """Tell whether the family counts features, or has `features` of its own."""
        return cls.features is not KmerKernel.features or cls._counts is not KmerKernel._counts

    def check_features(self):
        """Raise ParameterError unless there are explicit features."""
        super().check_features()
        self._check_explicit()

    def _implicit(self, X):
        self._check_sequences(X)
        parts = []
        for k in self._lengths():
            counted = self._counts(X, k)
            parts.append(SparseImplicit(counted.start, counted.feature, counted.count, counted.n_features))
        return CombinedImplicit(parts, [weight * self._scale() for weight in self._weights()])

    def implicit_bytes(self, X):
        """Return the memory that counting, the counts and the weights of features take."""
        X = self.coerce(X)
        total = most = 0
        for k in self._lengths():
            windows = int(np.maximum(X.lengths - self._window(k) + 1, 0).sum())
            entries = int(windows * self._features_of_window(X, k))
            space = self._space(X.alphabet.size, k)
            ranked = space > 2 * entries + SMALL_SPACE
            total += entries * KEPT_BYTES + min(space, entries if ranked else space) * WEIGHT_BYTES
            most = max(most, entries * (RANKED_BYTES if ranked else CODE_BYTES))
        return total + most

    def _window(self, k):
        """Return how many letters a window of one k has."""
        return k

    def _features_of_window(self, X, k):
        """Return for about how many features one window counts."""
        return 1

    def _space(self, size, k):
        """Return how many features there are for one k over `size` letters."""
        return size**k

    def _names_of(self, alphabet, k):
        """Return the names of the features for one k, in the order of their codes."""
        return ["".join(kmer) for kmer in product(alphabet.letters, repeat=k)]

    def features(self, X):
        """Return the explicit features.

        Parameters
        ----------
        X : SequenceSet or list of str, n records

        Returns
        -------
        scipy.sparse.csr_matrix of float64, shape (n, features)
            One column for each k-mer over the letters, in alphabetical order (for each pair of k-mers, distance after
            distance), one k after the other. The matrix times its transpose is the kernel matrix, not normalised.

        Raises
        ------
        ParameterError
            If there are none: at positions, or of annotation letters that are not named; or if there are too many.
        """
        # loaded only where used: costs start-up
        from scipy.sparse import csr_matrix, hstack

        self.check_parameters()
        self._check_explicit()
        X = self.coerce(X)
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

    def feature_names(self, alphabet=None):
        """Return the names that the columns of `features` stand for, a list of str.

        Parameters
        ----------
        alphabet : str or Alphabet, optional
            By default the kernel's own.

        Raises
        ------
        ParameterError
            If neither is given, or there are too many.
        """
        self._check_explicit()
        alphabet = self.alphabet if alphabet is None else alphabet
        if alphabet is None:
            raise ParameterError("the names of features depend on the alphabet", remedy="give alphabet=…")
        alphabet = as_alphabet(alphabet)
        count = sum(self._space(alphabet.size, k) for k in self._lengths())
        if count > MOST_NAMES:
            raise ParameterError(f"{count} names of features are too many", remedy="choose a smaller k")
        return [name for k in self._lengths() for name in self._names_of(alphabet, k)]
