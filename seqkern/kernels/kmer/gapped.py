"""Gapped k-mer kernels, as in gkm-SVM and LS-GKM, for any alphabet."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.parameters import changed, choice, fixed, flag, integer, real
from seqkern.core.types import Ints
from seqkern.kernels.capabilities import Traits, capability
from seqkern.kernels.common_parameters import short_rule, zero_rule
from seqkern.kernels.features import Features, alphabet_of
from seqkern.kernels.kmer.hamming import LARGEST_LENGTH, as_numbers, gapped_weights
from seqkern.kernels.kmer.hamming_kernel import HammingKernel
from seqkern.kernels.kmer.kmer_kernel import MOST_NAMES
from seqkern.kernels.kmer.kmers import CODE_LIMIT, find_kmers, find_windows
from seqkern.sequences.sequence_set import SequenceSet

# Explicit features of kernels on gapped k-mers: a subset of a window's positions and the residues there.

if TYPE_CHECKING:  # a mixin of its subclasses; scipy slows start-up
    from scipy.sparse import csr_matrix

    from seqkern.kernels.kmer.hamming_kernel import HammingKernel as Base
else:
    Base = object

ENTRY_BYTES = 40  # of a window's feature while the matrix is made
GAP = "*"


class SubsetFeatures(Base):
    """Mixin of kernels on windows of one length: explicit features.

    A family implements `_feature_values`, and has the members of `HammingKernel`.
    """

    def _feature_values(self) -> dict[int, float]:
        """Return the value of an occurring feature by its number of residues.

        Raises ParameterError if the kernel is not a dot product of such features.
        """
        raise NotImplementedError

    @capability
    def features(self) -> Features:
        """The gapped k-mers, if the kernel is a dot product of their counts."""
        self._feature_values()
        return Features(self, self._subset_features, self._subset_names, self._subset_bytes)

    def _subset_features(self, X: SequenceSet) -> "csr_matrix":
        """Return a column for each subset of positions and choice of letters.

        Subsets are in the order of `itertools.combinations`, letters in alphabetical order.
        """
        # imported here: slows start-up
        from scipy.sparse import csr_matrix, hstack

        self._check_sequences(X)
        values = self._feature_values()
        (k,) = self._lengths()
        self._check_feature_count(X, values)
        weights = self._window_weights(X, k)
        strands = 2 if self.reverse_complement else 1
        parts = []
        for j, value in values.items():
            subsets = list(combinations(range(k), j))
            found = find_kmers(X, k, subsets, self._strands())
            each = np.ones(found.codes.shape[1]) if weights is None else np.repeat(weights, strands)
            each = np.repeat(np.sqrt(self._scale()) * value * each, len(subsets))
            columns = found.codes.T.reshape(-1).astype(np.int64)
            part = csr_matrix((each, columns, found.start * len(subsets)), shape=(len(X), found.space))
            part.sum_duplicates()
            parts.append(part)
        return hstack(parts, format="csr")

    def _subset_bytes(self, X: SequenceSet) -> int:
        """Return the peak memory of computing the features, in bytes."""
        (k,) = self._lengths()
        entries = int(X.lengths.sum()) * sum(comb(k, j) for j in self._feature_values())
        return ENTRY_BYTES * entries * (2 if self.reverse_complement else 1)

    def _check_feature_count(self, X: SequenceSet, values: dict[int, float]) -> None:
        """Raise ParameterError, before computing them, if there are too many features."""
        count, need = self._count_features(X.alphabet.size, values), self._subset_bytes(X)
        if count >= CODE_LIMIT or need > available_memory():
            raise ParameterError(
                f"{count:.3g} features need about {format_bytes(need)} of memory",
                remedy="choose shorter k-mers, or use the kernel without explicit features",
            )

    def _count_features(self, size: int, values: dict[int, float]) -> int:
        (k,) = self._lengths()
        return sum(comb(k, j) * size**j for j in values)

    def _subset_names(self, X: Any) -> list[str]:
        """Return the gapped k-mers of the columns, with ``*`` for a gap."""
        letters, values = alphabet_of(self, X).letters, self._feature_values()
        (k,) = self._lengths()
        count = self._count_features(len(letters), values)
        if count > MOST_NAMES:
            raise ParameterError(f"{count:.3g} feature names are too many", remedy="choose shorter k-mers")
        return [
            _with_gaps(chosen, positions, k)
            for j in values
            for positions in combinations(range(k), j)
            for chosen in product(letters, repeat=j)
        ]


def _with_gaps(chosen: tuple[str, ...], positions: tuple[int, ...], k: int) -> str:
    """Return the chosen residues at their positions in a k-mer, with gaps elsewhere."""
    letters = [GAP] * k
    for letter, position in zip(chosen, positions, strict=True):
        letters[position] = letter
    return "".join(letters)


LARGEST_WEIGHT = 50  # of an l-mer at the centre
HALVING = 50  # residues over which the weight of an l-mer halves


class GappedKmerKernel(SubsetFeatures, HammingKernel):
    r"""Gapped k-mer kernel: shared l-mers that need to match at k positions only.

    This is the family of gkm-SVM and LS-GKM, for any alphabet. It suits degenerate motifs, such as binding sites in
    regulatory DNA.

    With the normalised kernel as its base, ``RBFKernel(gamma=0.5, base=…)`` is exp(γ(K − 1)) for γ = 1, as in LS-GKM:
    ``{kernel: rbf, gamma: 0.5, base: {kernel: gapped_kmer, l: 11, k: 7, d: 3, estimator: truncated, reverse_complement:
    true}}``.

    Notes
    -----
    With N_h(x, y) the number of pairs of l-mers of x and y at Hamming distance h,

    .. math:: K(x, y) = \sum_{h=0}^{l} c_h N_h(x, y)

    For ``estimator="count"``, c_h = C(l − h, k): the features are the gapped k-mers, and K is the dot product of their
    counts. The other estimators choose c_h so that K is, up to a factor, the dot product of *l-mer* counts estimated
    from gapped k-mer counts. These estimates are robust when l-mers are too long to occur twice.

    Complexity: O(|x|·|y|) per pair by Hamming distances, many window pairs at once. For large alphabets, a sum of
    spectrum kernels over at most C(l, k) subsets of positions for ``count``.

    Definiteness: positive semi-definite, unless `d` cuts off distances with non-zero c_h; always with `clip`.

    References
    ----------
    Ghandi, Lee, Mohammad-Noori, Beer: Enhanced regulatory sequence prediction using gapped k-mer features. PLoS
    Computational Biology 10, 2014.

    Lee: LS-GKM: a new gkm-SVM for large-scale datasets. Bioinformatics 32, 2016.

    Examples
    --------
    Of the six ways to choose two of four positions, ACGT and ACGA agree in three:

    >>> from seqkern.kernels import GappedKmerKernel
    >>> GappedKmerKernel(l=4, k=2, normalize=False)(["ACGT"], ["ACGT", "ACGA", "ACTA", "TTTT"])
    array([[6., 3., 1., 0.]])
    >>> GappedKmerKernel(l=3, k=2, alphabet="dna").features.names()[:3]
    ['AA*', 'AC*', 'AG*']

    With the estimator that LS-GKM has by default, on both strands:

    >>> lsgkm = GappedKmerKernel(l=6, k=4, d=2, estimator="truncated", reverse_complement=True)
    >>> lsgkm(["GATTACA"], ["GATTACA", "TGTAATC", "GATCACA"]).round(2)
    array([[1.  , 1.  , 0.28]])
    """

    name = "gapped_kmer"
    traits = Traits(definite=None)
    summary = "Counts the gapped k-mers that two sequences share: k residues out of l in a row."
    length_name = "l"

    l: int = integer(default=10, low=1, high=LARGEST_LENGTH, kw_only=False, doc="Length of the l-mers.")  # noqa: E741
    k: int = integer(default=6, low=1, high="l", kw_only=False, doc="Fixed positions of a gapped k-mer.")
    d: int | None = integer(
        default=None,
        low=0,
        high="l",
        doc="Largest Hamming distance that counts; by default all. A limit can make the kernel indefinite.",
    )
    estimator: Literal["count", "full", "truncated"] = choice(
        default="count",
        doc="c_h, the share of a pair of l-mers at distance h: the number of gapped k-mers they share; "
        "the weights of estimated l-mer counts; or these weights truncated to positive values, "
        "the default of LS-GKM.",
    )
    center_weighted: bool = flag(
        default=False,
        doc="Weight l-mers by position, for sites expected at the centre: l-mer i (from 0) of n has "
        "weight min(50, ⌊50·2^(−|i − ⌊n/2⌋| / 50) + 1⌋).",
    )
    clip: bool = flag(
        default=False,
        doc="Set the negative eigenvalues of the matrix c[h(a, b)] over all l-mers to zero, which changes the c_h a "
        "little, in the same way for all data: the kernel is then positive semi-definite with any `d`.",
    )
    weights: None = fixed(None)
    presence: bool = fixed(False)
    reverse_complement: bool = changed(
        default=False,
        doc="Count each pair of l-mers twice: with the distance to the second l-mer and to its "
        "reverse complement. DNA and RNA only.",
    )
    short: Literal["error", "zero"] = short_rule("`l`", "no l-mers")
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence without any l-mer")
    algorithm: str = changed(
        default="auto",
        doc="Algorithm (see `seqkern.kernels.kmer.hamming_kernel`); results are identical. "
        "``diagonals`` does not support `center_weighted`.",
    )

    tested_with = (
        {"l": 6, "k": 4},
        {"l": 7, "k": 5, "d": 2, "normalize": False},
        {"l": 5, "k": 3, "reverse_complement": True},
        {"l": 5, "k": 3, "estimator": "full"},
        {"l": 6, "k": 4, "d": 3, "estimator": "truncated", "reverse_complement": True},
        {"l": 5, "k": 3, "center_weighted": True},
        {"l": 4, "k": 2, "estimator": "truncated", "center_weighted": True, "reverse_complement": True},
        {"l": 5, "k": 3, "d": 1, "clip": True},
        {"l": 4, "k": 3, "alphabet": "HEC"},
    )

    def _traits(self, declared: Traits) -> Traits:
        return replace(declared, definite=self.clip or not self._is_cut())

    def _is_cut(self) -> bool:
        """Return whether `d` excludes a distance with a nonzero weight."""
        return self.d is not None and self.d < (self.l - self.k if self.estimator == "count" else self.l)

    @property
    def weighs_windows(self) -> bool:  # type: ignore[override]  # likewise
        """Whether the l-mers of a sequence differ in weight."""
        return self.center_weighted

    def _lengths(self) -> list[int]:
        return [self.l]

    def _pair_weights(self, size: int, l: int) -> list[int] | list[float]:  # noqa: E741
        return list(gapped_weights(size, l, self.k, self.d, self.estimator, self.clip))

    def _window_weights(self, X: SequenceSet, l: int) -> Ints | None:  # noqa: E741
        return center_weights(X, l) if self.center_weighted else None

    def _feature_values(self) -> dict[int, float]:
        if self.estimator != "count" or self._is_cut():
            raise ParameterError(
                f"the kernel of estimator={self.estimator}, d={self.d} is not a product of gapped k-mer counts",
                remedy="choose estimator=count without d",
            )
        return {self.k: 1.0}


def center_weights(X: SequenceSet, l: int) -> Ints:  # noqa: E741
    """Return the weight of each l-mer, int64 (windows,), by its distance from the centre of its record.

    Windows with a masked residue keep their place, so that the centre does not move.
    """
    windows = find_windows(X, l)
    ends = np.cumsum(X.lengths)
    record = np.searchsorted(ends, windows, side="right")
    place = windows - (ends - X.lengths)[record]
    distance = np.abs(place - (X.lengths[record] - l + 1) // 2)
    weights = np.floor(LARGEST_WEIGHT * np.exp2(-distance / HALVING) + 1)
    return np.minimum(LARGEST_WEIGHT, weights).astype(np.int64)


# The wildcard kernel: k-mers with positions that match anything (Leslie and Kuang 2004).


class WildcardKernel(SubsetFeatures, HammingKernel):
    r"""Wildcard kernel: shared k-mers with up to m wildcards.

    It suits motifs with a few variable positions: unlike mismatches, wildcards are part of the pattern and cost a
    factor.

    Notes
    -----
    The features u are k-mers of letters and up to m wildcards. Φ_u(x) is λ^j times the number of k-mers of x that match
    u at all positions but its j wildcards, and

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    So two k-mers with g matches add Σ_{j≤m} λ^{2j}·C(g, k − j).

    Complexity: O(|x|·|y|) per pair by Hamming distances, many window pairs at once. For large alphabets, a sum of
    spectrum kernels over Σ_{j≤m} C(k, j) subsets of positions.

    Definiteness: positive semi-definite.

    References
    ----------
    Leslie, Kuang: Fast string kernels using inexact matching for protein sequences. Journal of Machine Learning
    Research 5, 2004.

    Examples
    --------
    ACG matches itself in ``ACG``, ``AC*``, ``A*G`` and ``*CG``, and ATG in ``A*G`` alone, which counts 0.5²:

    >>> from seqkern.kernels import WildcardKernel
    >>> WildcardKernel(k=3, m=1, decay=0.5, normalize=False)(["ACG"], ["ACG", "ATG", "TTG"])
    array([[1.75, 0.25, 0.  ]])
    """

    name = "wildcard"
    summary = "Counts the k-mers that two sequences share, with up to m wildcards that match any residue."

    k: int = integer(default=5, low=1, high=LARGEST_LENGTH, kw_only=False, doc="Length of the k-mers.")
    m: int = integer(default=1, low=0, high="k", kw_only=False, doc="Wildcards allowed.")
    decay: float = real(default=0.5, low=0, high=1, doc="λ, the factor for each wildcard.")
    weights: None = fixed(None)
    presence: bool = fixed(False)
    reverse_complement: bool = changed(
        default=False,
        doc="Count each pair of k-mers twice: with the matches to the second k-mer and to its reverse "
        "complement. DNA and RNA only.",
    )

    tested_with = (
        {"k": 4, "m": 1},
        {"k": 5, "m": 3, "decay": 0.7, "normalize": False},
        {"k": 4, "m": 2, "decay": 1, "reverse_complement": True},
        {"k": 4, "m": 1, "decay": 0.3, "reverse_complement": True},
        {"k": 3, "m": 2, "alphabet": "HEC"},
    )

    def _lengths(self) -> list[int]:
        return [self.k]

    def _pair_weights(self, size: int, l: int) -> list[int] | list[float]:  # noqa: E741
        square = Fraction(float(self.decay)) ** 2
        return as_numbers(sum(square**j * comb(l - h, l - j) for j in range(self.m + 1)) for h in range(l + 1))

    def _feature_values(self) -> dict[int, float]:
        return {self.k - j: float(self.decay) ** j for j in range(self.m + 1)}
