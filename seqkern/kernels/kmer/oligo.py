"""The oligo kernel: shared k-mers with positional uncertainty (Meinicke, Tech, Morgenstern, Merkl 2004)."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import fixed, integer, real
from seqkern.core.types import Floats
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.common_parameters import SUMMED, algorithm_choice
from seqkern.kernels.gradients import KernelGradient, Square
from seqkern.kernels.kmer import _positions
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K, KmerKernel
from seqkern.kernels.kmer.kmers import (
    MOST_CODES,
    Codes,
    Occurrences,
    codes_fit,
    find_kmers,
    find_windows,
    per_record,
    rank_codes,
)
from seqkern.kernels.occurrences import KmerWeights, merge, spell, spread
from seqkern.kernels.planner import CODE_NS, RANK_BYTES, RANK_NS, Cost, Workload
from seqkern.kernels.products.product import Block, Span
from seqkern.sequences.sequence_set import SequenceSet

# Features at positions: K(x, y) = Σ_u Σ_p Σ_q E(|p − q|), over the positions p and q of u in x and in y.
#
# E is any table of weights by distance; `distance_weights` has the usual ones. A kernel passes the code and position of
# every occurrence of a feature to a `PositionBlock`, a member of a `Term` of the product engine. With
#
#     block = PositionBlock(found, positions, lambda length: distance_weights("gaussian", length, 2.0))
#
# K is exact: weights are rounded to multiples of 2^-59, an error below 10^-18, and summed as integers. So the sum of
# two records does not depend on the order of occurrences and records, nor on the algorithm: posting lists, visited at
# nearby positions only, or (`smooth`) tables of one row's features smoothed over all positions, in which the
# occurrences of the columns are looked up.

FORMS = ("specific", "linear", "exponential", "gaussian")
HIGH_BITS, LOW_BITS = 29, 30
LEAST_WEIGHT = 60 * math.log(2)  # a weight of less than exp(−this) is rounded to 0
MOST_SMOOTHED = 1 << 22  # entries, of 16 bytes
SORT_NS = 20.0  # an occurrence: sorted by record, feature and position
SEARCH_NS = 80.0  # an occurrence of a row: its window found in a posting list
NEAR_NS = 1.3  # a posting in a window
SMOOTH_NS = 0.5  # a smoothed feature at one position
LOOKUP_NS = 1.0  # an occurrence of a column, looked up in the cache
CACHE_BYTES = 1 << 21  # reading as many again doubles the time

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Weigh = Callable[[int], Floats]
Located = tuple[Occurrences, Int32s]
"""Occurrences of features, and their positions in the records."""
Gathered = tuple[Int64s, Int32s, Floats, Floats]
"""Starts of the posting lists, their positions and coefficients, and the weights of distances."""


def distance_weights(form: str | None, length: int, sigma: float = 1.0) -> Floats:
    """Return the weights of the distances 0, 1, …, below `length`, up to the last weight above 0.

    Forms: ``specific`` is [d = 0], ``linear`` max(0, 1 − d/σ), ``exponential`` exp(−d/σ), ``gaussian`` exp(−d²/σ²).

    References
    ----------
    Bodenhofer, Schwarzbauer, Ionescu, Hochreiter: Modeling position specificity in sequence kernels by fuzzy
    equivalence relations. IFSA/EUSFLAT 2009.
    """
    if form == "specific":
        return np.ones(min(length, 1))
    reach = {"linear": 1.0, "exponential": LEAST_WEIGHT, "gaussian": math.sqrt(LEAST_WEIGHT)}[str(form)]
    shares = [d / sigma for d in range(int(min(length, reach * sigma + 1)))]
    if form == "linear":
        weights = [1 - share for share in shares if share < 1]
    else:
        weights = [math.exp(-share if form == "exponential" else -share * share) for share in shares]
    return np.array(weights, dtype=np.float64)


def window_positions(X: SequenceSet, k: int) -> Int32s:
    """Return the start of each window of `k` unmasked residues within its record."""
    starts = find_windows(X, k)
    offsets = per_record(X.lengths)
    return (starts - offsets[np.searchsorted(offsets, starts, side="right") - 1]).astype(np.int32)


def position_costs(work: Workload, agree: float, space: int, lists: int, reach: int) -> dict[str, Cost]:
    """Return the Costs of a `PositionBlock`, by posting lists (``index``) and by smoothed features (``dense``)."""
    rows, cols = lists * work.row_letters, lists * work.col_letters
    length = max(1.0, work.col_letters / max(1, work.cols))
    near = min(1.0, 2 * reach / length)
    make = lists * work.letters * (CODE_NS + RANK_NS + SORT_NS)
    index = rows * SEARCH_NS + rows * work.col_letters * agree * near * NEAR_NS
    per_col = cols / max(1, work.cols)
    read = 16 * per_col * length + 4 * min(space, cols)  # bytes, of one smoothed row and of where its features are
    lookup = LOOKUP_NS * (1 + read / CACHE_BYTES)
    smooth = rows * min(2 * reach, length) * SMOOTH_NS + work.pairs * per_col * lookup
    size = int(lists * work.letters * (RANK_BYTES + 32))
    return {
        "index": Cost((make + index) * 1e-9, size),
        "dense": Cost((make + smooth) * 1e-9, size + 16 * MOST_SMOOTHED),
    }


class PositionBlock:
    """Features of n records at positions, as a block of a `Term` like `RealSparseBlock`.

    `weigh(length)` returns E(0), E(1), … within −1 … 1 for distances less than `length`; it may stop when all further
    weights are 0. With `like`, the block serves as rows for these columns, and features that they lack are dropped.
    """

    real = True

    def __init__(
        self,
        found: Occurrences,
        positions: Int32s,
        weigh: Weigh,
        like: "PositionBlock | None" = None,
        smooth: bool = False,
    ) -> None:
        self.start, self.smooth, self._n_found = found.start, smooth, len(positions)
        ranks, vocabulary = rank_codes(found.codes.reshape(-1))
        self.length = int(positions.max(initial=-1)) + 1
        self._weights = np.ascontiguousarray(weigh(self.length), dtype=np.float64)
        self._fixed = _as_fixed(self._weights)
        features = ranks.astype(np.int32)
        order = np.arange(len(features), dtype=np.int32)
        records = np.repeat(np.arange(len(found), dtype=np.int32), np.diff(found.start))
        by_position = _sorted_by(positions, order, self.length)
        by_feature = _sorted_by(features, by_position, len(vocabulary))
        self._order = _sorted_by(records, by_feature, len(found))
        self._feature, self._position = features[self._order], positions[self._order]
        self.squares = np.empty(len(found))
        pairs = np.empty(len(found), dtype=np.int64)
        _positions.squares(self.start, self._feature, self._position, self._fixed, self.squares, pairs)
        if pairs.max(initial=0) >= _positions.LIMIT:
            raise SequenceError(
                f"a sequence has {pairs.max()} pairs of occurrences of one feature, too many for exact sums",
                remedy="cut it into shorter parts, or choose a smaller sigma",
            )
        if like is None:
            self.vocabulary = vocabulary
            self._bounds = per_record(np.bincount(features, minlength=len(vocabulary)))
            self._lists = positions[by_feature], records[by_feature]
        else:
            self._relabel(_labels(vocabulary, like.vocabulary), records)

    def _relabel(self, labels: Int32s, records: Int32s) -> None:
        """Renumber the features as in the columns, and drop those absent there."""
        features = labels[self._feature]
        kept = features >= 0
        self._order, self._feature, self._position = self._order[kept], features[kept], self._position[kept]
        self.start = per_record(np.bincount(records[self._order], minlength=len(self.squares)))

    def accumulate(self, cols: "PositionBlock", span: Span, sums: Floats) -> None:
        """Add K(rows, columns) to `sums`."""
        fixed = self._fixed if len(self._fixed) > len(cols._fixed) else cols._fixed
        n_features = len(cols.vocabulary) if cols.smooth else 0
        most = min(MOST_SMOOTHED, (self._most_distinct(span.row, len(sums)) + 1) * cols.length) if cols.smooth else 0
        _positions.pair_sums(
            self.start,
            self._feature,
            self._position,
            cols.start,
            cols._feature,
            cols._position,
            cols._bounds,
            *cols._lists,
            fixed,
            np.zeros(n_features, dtype=np.int32),
            np.empty((most, 2), dtype=np.int64),
            cols.length,
            span.row,
            span.first,
            span.last,
            span.upper,
            np.empty((span.last - span.first, 2), dtype=np.int64),
            sums,
        )

    def _most_distinct(self, row: int, n_rows: int) -> int:
        """Return the largest number of occurrences in any of the rows, an upper bound of the distinct features of
        each.
        """
        return int(np.diff(self.start[row : row + n_rows + 1]).max(initial=0))

    def gather(self, first: int, coefficients: Floats) -> Gathered:
        """Return posting lists of Σ_j coefficients[j]·[record first + j has the feature there], for `apply`."""
        bounds = np.empty_like(self._bounds)
        position = np.empty(self._bounds[-1], dtype=np.int32)
        merged = np.empty(self._bounds[-1])
        n = _positions.merge_records(self._bounds, *self._lists, first, coefficients, bounds, position, merged)
        return bounds, position[:n].copy(), merged[:n].copy(), self._weights

    def apply(self, first: int, gathered: Gathered, out: Floats) -> None:
        """Write Σ_j coefficients[j]·K(record first + i, z_j) to out[i]."""
        values = self._weigh(first, len(out), gathered)
        record = np.repeat(np.arange(len(out)), np.diff(self.start[first : first + len(out) + 1]))
        out[:] = np.bincount(record, weights=values, minlength=len(out))

    def shares(self, gathered: Gathered) -> Floats:
        """Return the contribution of each occurrence of the block to `apply`."""
        values = np.zeros(self._n_found)
        values[self._order] = self._weigh(0, len(self.squares), gathered)
        return values

    def _weigh(self, first: int, n_rows: int, gathered: Gathered) -> Floats:
        """Return the contribution of each occurrence of some rows."""
        bounds, position, merged, theirs = gathered
        weights = self._weights if len(self._weights) > len(theirs) else theirs
        values = np.empty(self.start[first + n_rows] - self.start[first])
        _positions.weigh(
            self.start, self._feature, self._position, first, n_rows, bounds, position, merged, weights, values
        )
        return values


def occurrence_shares(mine: Located, theirs: Located, weigh: Weigh, coefficients: Floats) -> list[Floats]:
    """Return the contribution of each occurrence in `mine` and in `theirs` to Σ_j coefficients[j]·K(x, z_j)."""
    columns = PositionBlock(*theirs, weigh)
    rows = PositionBlock(*mine, weigh, columns)
    gathered = columns.gather(0, coefficients)
    return [block.shares(gathered) for block in (rows, columns)]


def mean_shares(mine: Located, theirs: Located, weigh: Weigh, coefficients: Floats) -> tuple[Codes, Floats]:
    """Return the ascending feature codes of both sets, and the mean `occurrence_shares` of each feature."""
    codes = np.concatenate((mine[0].codes[0], theirs[0].codes[0]))
    distinct, number = np.unique(codes, return_inverse=True)
    values = np.concatenate(occurrence_shares(mine, theirs, weigh, coefficients))
    return distinct, np.bincount(number, weights=values, minlength=len(distinct)) / np.bincount(number)


def _as_fixed(weights: Floats) -> Int64s:
    """Return weights as the fixed-point numbers of `_positions.h`, int64 (distances, 2), without trailing zeros."""
    if not np.all(np.abs(weights) <= 1):
        raise ParameterError("weights of distances must lie between -1 and 1", remedy="divide them by the largest")
    scaled = weights * 2.0**HIGH_BITS
    high = np.rint(scaled)
    fixed = np.stack((high, np.rint((scaled - high) * 2.0**LOW_BITS)), axis=1).astype(np.int64)
    return np.ascontiguousarray(fixed[: np.max(np.flatnonzero(fixed.any(axis=1)), initial=-1) + 1])


def _sorted_by(keys: Int32s, order: Int32s, n_keys: int) -> Int32s:
    """Return `order`, int32, sorted stably by keys[order]."""
    result = np.empty_like(order)
    _positions.sort_by(keys, order, np.empty(n_keys + 1, dtype=np.int64), result)
    return result


def _labels(mine: Codes, theirs: Codes) -> Int32s:
    """Return the index of each code of `mine` in `theirs` (both ascending), or −1 if it is absent."""
    labels = np.full(len(mine), -1, dtype=np.int32)
    if len(theirs):
        place = np.minimum(np.searchsorted(theirs, mine), len(theirs) - 1)
        same = theirs[place] == mine
        labels[same] = place[same]
    return labels


class OligoKernel(KmerKernel):
    r"""Oligo kernel: shared k-mers, with tolerance for their positions.

    It suits signals near a fixed site, such as translation starts, whose distance to the site varies. Positions are
    counted from the start of a sequence. Small σ compares equal positions only; large σ approaches the spectrum kernel.

    Notes
    -----
    Over the positions p in x and q in y at which the k-mer u starts,

    .. math:: K(x, y) = \sum_u \sum_p \sum_q \exp(−(p − q)^2 / 4σ^2)

    The weights of distances are rounded to multiples of 2^−59; their sums are exact.

    Complexity: per pair, proportional to the pairs of occurrences of a common k-mer within reach of σ (at most |x|·|y|)
    with posting lists, or O(|y|) once the k-mers of x are smoothed over all positions.

    Definiteness: positive semi-definite.

    References
    ----------
    Meinicke, Tech, Morgenstern, Merkl: Oligo kernels for datamining on biological sequences: a case study on
    prokaryotic translation initiation sites. BMC Bioinformatics 5, 2004.

    Examples
    --------
    A shift by one residue costs each of the three common dimers a factor exp(−1/4σ²):

    >>> from seqkern.kernels import OligoKernel
    >>> OligoKernel(k=2, sigma=1, normalize=False)(["GATC"], ["GATC", "CGATC"]).round(3)
    array([[3.   , 2.336]])
    """

    name = "oligo"
    summary = "Counts the k-mers that two sequences share; the farther apart their positions, the less they count."
    traits = Traits(kmers_vary=True)

    k: int | list[int] = integer(
        default=3, low=1, high=LARGEST_K, summed=True, kw_only=False, doc=f"Length of the k-mers. {SUMMED}."
    )
    sigma: float = real(
        default=5.0, low=0, open_low=True, kw_only=False, doc="σ, the tolerance of positions in residues."
    )
    presence: bool = fixed(False)
    reverse_complement: bool = fixed(False)
    algorithm: str = algorithm_choice(
        "dense", "index", doc=": the k-mers of one sequence smoothed over all positions, or posting lists"
    )

    tested_with = (
        {"k": 2, "sigma": 3},
        {"k": [1, 3], "sigma": 0.8, "weights": [0.5, 2], "normalize": False},
        {"k": 1, "sigma": 1e6, "alphabet": "HEC"},
    )

    def _check_explicit(self) -> None:
        raise ParameterError(
            f"kernel {self.name!r} has no explicit features",
            remedy="choose kernel spectrum, or a solver that takes a Gram matrix",
        )

    def _costs(self, work: Workload, size: int, k: int) -> dict[str, Cost]:
        if not codes_fit(size, k):
            return {}
        return position_costs(work, work.match**k, size**k, 1, len(self._weigh(work.longest)))

    def _members(self, X: SequenceSet, k: int, algorithm: str, others: Iterator[Any]) -> Iterator[tuple[int, Block]]:
        yield 1, PositionBlock(*_occurrences(X, k), self._weigh, next(others), smooth=algorithm == "dense")

    def _own_tunable(self) -> dict[str, float]:
        return {**super()._own_tunable(), "sigma": float(self.sigma)}

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        if name != "sigma":
            return super()._derivative(name, at)
        slopes = OligoSlopes(**{**self.get_params(deep=False), "normalize": False})
        return slopes(at.X) / float(self.sigma)

    def _weigh(self, length: int) -> Floats:
        """Return the weights of the distances below `length`."""
        return distance_weights("gaussian", length, 2.0 * self.sigma)

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Share the contribution of each occurrence equally among its residues."""
        self._check_sequences(X)
        residues = int(X.lengths.sum())
        total = np.zeros(residues)
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            shares, _ = occurrence_shares(_occurrences(X, k), _occurrences(support, k), self._weigh, coefficients)
            total += spread(weight * shares, find_windows(X, k), range(k), residues)
        return total

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> KmerWeights:
        """Return the mean contribution of each k-mer's occurrences in `X` and `support`."""
        parts = []
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            distinct, means = mean_shares(_occurrences(X, k), _occurrences(support, k), self._weigh, coefficients)
            parts.append((spell(distinct, k, X.alphabet), weight * means))
        return merge(parts)


class OligoSlopes(OligoKernel):
    """The derivative of the oligo kernel with respect to ln σ; not a kernel itself."""

    def _weigh(self, length: int) -> Floats:
        weights = super()._weigh(length)
        return weights * (np.arange(len(weights)) / float(self.sigma)) ** 2 / 2


def _occurrences(X: SequenceSet, k: int) -> tuple[Occurrences, npt.NDArray[np.int32]]:
    """Return the Occurrences of the k-mers, and their starts within the records."""
    if X.lengths.sum() > MOST_CODES:
        raise SequenceError(
            f"{X.lengths.sum()} residues are too many for one matrix",
            remedy="compute the matrix for fewer sequences at a time",
        )
    return find_kmers(X, k), window_positions(X, k)
