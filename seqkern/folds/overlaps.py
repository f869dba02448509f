"""Pairs of sequences that overlap: one contained in another (exact), or similar in an alignment (a screen)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.core.progress import progress_bar
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from Bio.Align import PairwiseAligner  # slow to import
    from scipy.sparse import csr_array  # likewise

CHUNK = 1 << 21
POSTINGS = 64


def chance_length(X: SequenceSet) -> int:
    """Return the smallest length at which fewer than one record is expected in another by chance.

    Each of n records can start at no more than T places of T residues in all: n T / |A|^length < 1.

    Parameters
    ----------
    X : SequenceSet
        The records.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.folds.overlaps import chance_length
    >>> chance_length(SequenceSet.from_strings(["ACGTACGTAC"] * 10, "dna"))
    5
    """
    places = float(len(X)) * float(X.lengths.sum())
    return max(1, int(np.ceil(np.log(places + 1.0) / np.log(X.alphabet.size))))


class _Rolling:
    """Hashes of any stretch of a chunk of residues: Σ value(residue_i)·B^(i − start) modulo 2⁶⁴."""

    base = 0x9E3779B97F4A7C15
    values = np.random.default_rng(1).integers(0, 2**63, 256).astype(np.uint64) * np.uint64(2) + np.uint64(1)

    def __init__(self, size: int) -> None:
        inverse = pow(self.base, -1, 2**64)
        self.power, self.inverse = (self._powers(base, size + 1) for base in (self.base, inverse))

    @staticmethod
    def _powers(base: int, size: int) -> npt.NDArray[np.uint64]:
        powers = np.full(size, base, dtype=np.uint64)
        powers[0] = 1
        return np.multiply.accumulate(powers)

    def load(self, codes: npt.NDArray[np.uint8]) -> None:
        """Set the residues that `hash` refers to."""
        self.sums = np.zeros(len(codes) + 1, dtype=np.uint64)
        np.cumsum(self.values[codes] * self.power[: len(codes)], out=self.sums[1:])

    def hash(self, start: npt.NDArray[np.int64], length: npt.NDArray[np.int64] | int) -> npt.NDArray[np.uint64]:
        """Return the hash of `length` residues from each of `start`."""
        return (self.sums[start + length] - self.sums[start]) * self.inverse[start]


def _chunks(X: SequenceSet) -> Iterator[tuple[int, int]]:
    """Yield (first, last) records of a compact set so that a chunk has about CHUNK residues."""
    first = 0
    while first < len(X):
        last = max(first + 1, int(np.searchsorted(X.stops, X.starts[first] + CHUNK, side="right")))
        yield first, last
        first = last


def contained_pairs(short: SequenceSet, long: SequenceSet, min_length: int) -> list[tuple[int, int]]:
    """Return the pairs (i, j) in which record i of `short` is a proper part of record j of `long`.

    Every record of `short` is found by a hash of its first `min_length` residues at all places of `long`; the
    candidates are narrowed by a hash of its whole length, and the rest compared residue by residue.

    Parameters
    ----------
    short, long : SequenceSet
        Compact sets; no two records of `short` are identical.
    min_length : int
        Shorter records are ignored.

    Returns
    -------
    list of (int, int)
        Sorted.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.folds.overlaps import contained_pairs
    >>> X = SequenceSet.from_strings(["GATTACA", "CCGATTACATT", "TTTTTTT"], "dna")
    >>> contained_pairs(X, X, min_length=5)
    [(0, 1)]
    """
    lengths = short.lengths
    sought = np.flatnonzero((lengths >= min_length) & (lengths < long.lengths.max()))
    if not len(sought):
        return []
    rolling = _Rolling(CHUNK + max(int(lengths.max()), int(long.lengths.max())))
    anchor, whole = (np.zeros(len(short), dtype=np.uint64) for _ in range(2))
    for first, last in _chunks(short):
        rolling.load(short.codes[short.starts[first] : short.stops[last - 1]])
        rows = sought[(sought >= first) & (sought < last)]
        start = short.starts[rows] - short.starts[first]
        anchor[rows], whole[rows] = rolling.hash(start, min_length), rolling.hash(start, lengths[rows])
    anchors, number = np.unique(anchor[sought], return_inverse=True)
    by_length = [
        (int(length), number[lengths[sought] == length], sought[lengths[sought] == length])
        for length in np.unique(lengths[sought])
    ]
    pairs: set[tuple[int, int]] = set()
    for first, last in _chunks(long):
        begin = long.starts[first]
        rolling.load(long.codes[begin : long.stops[last - 1]])
        place, record, which = _anchored(rolling, anchors, long, first, last, min_length)
        room = long.stops[record] - begin - place
        for length, numbers, rows in by_length:
            fits = (room >= length) & (long.lengths[record] > length) & np.isin(which, numbers)
            hashes = rolling.hash(place[fits], length)
            rows = rows[np.argsort(whole[rows], kind="stable")]
            low, high = (np.searchsorted(whole[rows], hashes, side=side) for side in ("left", "right"))
            for hit in np.flatnonzero(high > low):
                at, j = place[fits][hit] + begin, int(record[fits][hit])
                letters = long.codes[at : at + length]
                for i in rows[low[hit] : high[hit]].tolist():
                    if np.array_equal(short.codes[short.starts[i] : short.stops[i]], letters):
                        pairs.add((i, j))
    return sorted(pairs)


def _anchored(
    rolling: _Rolling, anchors: npt.NDArray[np.uint64], long: SequenceSet, first: int, last: int, width: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the places of a chunk that start with an anchor, their records, and the anchors."""
    begin = long.starts[first]
    heads = np.maximum(long.lengths[first:last] - width + 1, 0)
    record = np.repeat(np.arange(first, last), heads)
    offset = np.arange(len(record)) - np.repeat(np.cumsum(heads) - heads, heads)
    place = long.starts[record] - begin + offset
    hashes = rolling.hash(place, width)
    # a bit table in cache rejects most places before the binary search
    table = np.zeros(1 << 22, dtype=bool)
    table[anchors >> np.uint64(42)] = True
    near = np.flatnonzero(table[hashes >> np.uint64(42)])
    which = np.searchsorted(anchors, hashes[near])
    which[which == len(anchors)] = 0
    good = anchors[which] == hashes[near]
    return place[near[good]], record[near[good]], which[good]


def similar_pairs(own: SequenceSet, other: SequenceSet, identity: float) -> list[tuple[int, int, float]]:
    """Return pairs of similar records.

    The identity of a pair is the number of identical residues in the best alignment without end-gap costs
    (match 1, mismatch and gapped residue −1) divided by the length of the shorter record; letters outside the alphabet
    never match. This is a screen: only pairs that share at least half the distinct
    k-mers expected at that identity are aligned, so pairs near the limit can be missed. k is chosen so that a k-mer
    occurs in about `POSTINGS` records. Below an identity of 0.5 many pairs pass, and it can take minutes.

    Parameters
    ----------
    own, other : SequenceSet
        Compact sets of the same size: a set and itself, or its reverse complements.
    identity : float
        Minimum identity to report.

    Returns
    -------
    list of (int, int, float)
        Record of `own`, a later record of `other`, and their identity.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.folds.overlaps import similar_pairs
    >>> X = SequenceSet.from_strings(["MKVLAAGIVGLPNVGK", "MKVLAAGIVALPNVGK", "WWHCDEQRTYSFMPNE"], "protein")
    >>> similar_pairs(X, X, identity=0.9)
    [(0, 1, 0.9375)]
    """
    from scipy.sparse import csr_array  # imported here for fast start-up

    size = own.alphabet.size
    k = max(2, int(np.ceil(np.log(max(own.lengths.sum() / POSTINGS, 2.0)) / np.log(size))))
    left, right = (csr_array(_kmer_presence(X, k)) for X in (own, other))
    distinct = np.diff(left.indptr), np.diff(right.indptr)
    columns = csr_array(right.T)
    pairs = []
    step = max(1, CHUNK // max(1, len(own)))
    for first in range(0, len(own), step):
        shared = (left[first : first + step] @ columns).tocoo()
        i, j = shared.coords[0] + first, shared.coords[1]
        needed = np.minimum(distinct[0][i], distinct[1][j]) * (identity**k / 2)
        good = (i < j) & (shared.data >= needed)
        pairs.append(np.stack([i[good], j[good]], axis=1))
    return _aligned(own, other, np.concatenate(pairs), identity)


def _kmer_presence(X: SequenceSet, k: int) -> csr_array:
    """Return a sparse 0/1 matrix, records × k-mers, of the k-mers without masked residues."""
    from scipy.sparse import csr_array  # imported here for fast start-up

    size = X.alphabet.size
    n_windows = len(X.codes) - k + 1
    value, good = np.zeros(max(n_windows, 0), dtype=np.int64), np.ones(max(n_windows, 0), dtype=bool)
    for shift in range(k if n_windows > 0 else 0):
        codes = X.codes[shift : shift + n_windows]
        value = value * size + codes
        good &= codes != MASK
    record = np.repeat(np.arange(len(X)), X.lengths)[: max(n_windows, 0)]
    good &= np.arange(len(record)) + k <= X.stops[record]
    entries = np.unique(np.stack([record[good], value[good]], axis=1), axis=0)
    ones = np.ones(len(entries), dtype=np.int32)
    return csr_array((ones, (entries[:, 0], entries[:, 1])), shape=(len(X), size**k))


def _aligned(
    own: SequenceSet, other: SequenceSet, pairs: npt.NDArray[np.int64], identity: float
) -> list[tuple[int, int, float]]:
    """Align candidate pairs; return those with at least the identity, as (i, j, identity)."""
    from Bio.Align import PairwiseAligner  # imported here for fast start-up

    aligner = PairwiseAligner(
        mode="global", match_score=1, mismatch_score=-1, gap_score=-1, end_gap_score=0, wildcard="*"
    )
    found = []
    for i, j in progress_bar(pairs.tolist(), "aligning similar sequences"):
        share = _identity(aligner, own.string(i), other.string(j))
        if share >= identity:
            found.append((i, j, share))
    return found


def _identity(aligner: PairwiseAligner, a: str, b: str) -> float:
    """Return the number of identical residues of the best alignment divided by the length of the shorter string."""
    same = 0
    for (from_a, to_a), (from_b, to_b) in zip(*aligner.align(a, b)[0].aligned, strict=True):
        one, two = (np.frombuffer(s.encode(), np.uint8) for s in (a[from_a:to_a], b[from_b:to_b]))
        same += int(np.count_nonzero((one == two) & (one != ord("*"))))
    return same / min(len(a), len(b))
