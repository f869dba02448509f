"""Features at positions: K(x, y) = Σ_u Σ_p Σ_q E(|p − q|), over the positions p and q of u in x and in y.

E is any table of weights by distance; `distance_weights` has the usual ones. A kernel passes the code and position of
every occurrence of a feature to a `PositionBlock`, a member of a `Term` of the product engine. With

    block = PositionBlock(found, positions, lambda length: distance_weights("gaussian", length, 2.0))

K is exact: weights are rounded to multiples of 2^-59, an error below 10^-18, and summed as integers. The sum of two
records is thus the same in any order, of the occurrences and of the records, and for the two ways to compute it: by
posting lists, visited at near positions only, or (`smooth`) by tables of one row's features smoothed over all
positions, in which the occurrences of the columns are looked up.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels.kmer import _positions
from seqkern.kernels.kmer.kmers import Codes, Occurrences, find_windows, per_record, rank_codes
from seqkern.kernels.planner import CODE_NS, RANK_BYTES, RANK_NS, Cost, Workload
from seqkern.sequences.sequence_set import SequenceSet

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

Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Weigh = Callable[[int], Floats]
Located = tuple[Occurrences, Int32s]
"""Occurrences of features, and their positions in the records."""
Gathered = tuple[Int64s, Int32s, Floats, Floats]
"""Starts of the posting lists, their positions and coefficients, and the weights of distances."""


def distance_weights(form: str | None, length: int, sigma: float = 1.0) -> Floats:
    """Return the weights of the distances 0, 1, …, less than `length`, while they are above 0.

    Parameters
    ----------
    form : {"specific", "linear", "exponential", "gaussian"}
        [d = 0]; max(0, 1 − d/σ); exp(−d/σ); exp(−d²/σ²).
    length : int
        Length of the longest sequence, an upper bound of distances.
    sigma : float
        σ, in residues.

    Returns
    -------
    ndarray of float64, shape (distances,)
        At most 1 each.

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
    """Return the start of each window of `k` unmasked residues within its record.

    Parameters
    ----------
    X : SequenceSet
        The records.
    k : int
        Residues of a window.

    Returns
    -------
    ndarray of int32, shape (windows,)
        Counted from 0, in the order of `seqkern.kernels.kmer.kmers.find_kmers`.
    """
    starts = find_windows(X, k)
    offsets = per_record(X.lengths)
    return (starts - offsets[np.searchsorted(offsets, starts, side="right") - 1]).astype(np.int32)


def position_costs(work: Workload, agree: float, space: int, lists: int, reach: int) -> dict[str, Cost]:
    """Return the Costs of a `PositionBlock`, by posting lists (``index``) and by smoothed features (``dense``).

    Parameters
    ----------
    work : Workload
        The matrix.
    agree : float
        Probability that two windows have a given feature in common.
    space : int
        How many features there can be.
    lists : int
        Features that start at one position.
    reach : int
        Distances with a weight.

    Returns
    -------
    dict of str to Cost
    """
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

    Parameters
    ----------
    found : Occurrences
        The codes of features, in one row; a record has a feature at a position once.
    positions : ndarray of int32, shape (occurrences,)
        Not negative.
    weigh : callable
        ``weigh(length)`` returns E(0), E(1), …, float64, for distances less than `length`; it may stop when all further
        weights are 0. All are within −1 … 1.
    like : PositionBlock, optional
        The columns that these rows will be compared with; features that it lacks are dropped. By default the block
        serves as columns, and as rows of itself.
    smooth : bool
        Use smoothed features if those of a row fit into memory, instead of posting lists.

    Attributes
    ----------
    squares : ndarray of float64, shape (n,)
        K(x, x).

    Raises
    ------
    ParameterError
        If a weight is outside −1 … 1.
    SequenceError
        If a record has too many pairs of occurrences for exact sums.
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

    def accumulate(
        self, row: int, cols: "PositionBlock", first: int, last: int, factor: int, upper: bool, sums: Floats
    ) -> None:
        """Add K(rows, columns) to `sums`.

        Parameters
        ----------
        row, cols, first, last, factor, upper, sums
            As in `Block.accumulate`.
        """
        fixed = self._fixed if len(self._fixed) > len(cols._fixed) else cols._fixed
        n_features = len(cols.vocabulary) if cols.smooth else 0
        most = min(MOST_SMOOTHED, (self._most_distinct(row, len(sums)) + 1) * cols.length) if cols.smooth else 0
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
            row,
            first,
            last,
            upper,
            np.empty((last - first, 2), dtype=np.int64),
            sums,
        )

    def _most_distinct(self, row: int, n_rows: int) -> int:
        """Return the largest number of occurrences among some rows, an upper bound of their features."""
        return int(np.diff(self.start[row : row + n_rows + 1]).max(initial=0))

    def gather(self, first: int, coefficients: Floats) -> Gathered:
        """Return posting lists of Σ_j coefficients[j]·[record first + j has the feature there], for `apply`.

        Parameters
        ----------
        first, coefficients
            As in `FoldingBlock.gather`.
        """
        bounds = np.empty_like(self._bounds)
        position = np.empty(self._bounds[-1], dtype=np.int32)
        merged = np.empty(self._bounds[-1])
        n = _positions.merge_records(self._bounds, *self._lists, first, coefficients, bounds, position, merged)
        return bounds, position[:n].copy(), merged[:n].copy(), self._weights

    def apply(self, first: int, gathered: Gathered, out: Floats) -> None:
        """Write Σ_j coefficients[j]·K(record first + i, z_j) to out[i].

        Parameters
        ----------
        first, gathered, out
            As in `FoldingBlock.apply`.
        """
        values = self._weigh(first, len(out), gathered)
        record = np.repeat(np.arange(len(out)), np.diff(self.start[first : first + len(out) + 1]))
        out[:] = np.bincount(record, weights=values, minlength=len(out))

    def shares(self, gathered: Gathered) -> Floats:
        """Return the contribution of each occurrence of the block to `apply`.

        Parameters
        ----------
        gathered
            The result of `gather`.

        Returns
        -------
        ndarray of float64, shape (occurrences,)
        """
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
    """Return the contribution of each occurrence to Σ_j coefficients[j]·K(x, z_j).

    Parameters
    ----------
    mine, theirs : (Occurrences, ndarray of int32)
        Codes and positions, as a `PositionBlock` takes them, of the sequences x and of the m sequences z_j.
    weigh : callable
        The weights of distances, as a `PositionBlock` takes them.
    coefficients : ndarray of float64, shape (m,)
        One for each of the sequences z_j.

    Returns
    -------
    list of two ndarrays of float64
        For the occurrences of `mine`, and for those of `theirs`.
    """
    columns = PositionBlock(*theirs, weigh)
    rows = PositionBlock(*mine, weigh, columns)
    gathered = columns.gather(0, coefficients)
    return [block.shares(gathered) for block in (rows, columns)]


def mean_shares(mine: Located, theirs: Located, weigh: Weigh, coefficients: Floats) -> tuple[Codes, Floats]:
    """Return the mean contribution of an occurrence of each feature.

    Parameters
    ----------
    mine, theirs, weigh, coefficients
        As in `occurrence_shares`.

    Returns
    -------
    distinct : ndarray of uint32 or uint64, shape (features,)
        The codes of both, ascending.
    means : ndarray of float64, shape (features,)
        The mean of the `occurrence_shares` of each.
    """
    codes = np.concatenate((mine[0].codes[0], theirs[0].codes[0]))
    distinct, number = np.unique(codes, return_inverse=True)
    values = np.concatenate(occurrence_shares(mine, theirs, weigh, coefficients))
    return distinct, np.bincount(number, weights=values, minlength=len(distinct)) / np.bincount(number)


def _as_fixed(weights: Floats) -> Int64s:
    """Return weights as the fixed-point numbers of `_positions.h`, int64 (distances, 2), zeros at the end left out."""
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
    """Return for each of my codes, ascending, its place among theirs, or −1; int32."""
    labels = np.full(len(mine), -1, dtype=np.int32)
    if len(theirs):
        place = np.minimum(np.searchsorted(theirs, mine), len(theirs) - 1)
        same = theirs[place] == mine
        labels[same] = place[same]
    return labels
