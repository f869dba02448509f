"""Sequences that are contained in others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from seqkern.sequences.sequence_set import SequenceSet

CHUNK = 1 << 21


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
