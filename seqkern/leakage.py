"""What training and test parts share: identical sequences, sequences inside others, and similar ones.

`find_links` looks once at all units of a data set; `leakage_rows` then says, for each split, which links cross
it. The first two checks are exact. The third is a screen: it aligns only the pairs that share enough k-mers.
"""

from dataclasses import dataclass

import numpy as np

from .alphabets import MASK
from .archive import atomic_write
from .parameters import check_integer, check_real
from .sequences import SequenceSet
from .splitters import merge_groups
from .tables import FeatureTable

KINDS = ("identical", "contained", "similar", "conflict")
HEADER = ("task", "split", "kind", "test_id", "train_id", "identity")
CHUNK = 1 << 21
POSTINGS = 64


@dataclass(frozen=True, eq=False)
class Links:
    """Which units of a data set are alike.

    Attributes
    ----------
    identical : ndarray of int64, shape (n,)
        Identical units share a class; classes are numbered in the order of their first units.
    pairs : ndarray of int64, shape (m, 2)
        Classes: the first lies inside the second, or is similar to it.
    kinds : ndarray of str, shape (m,)
        ``contained`` or ``similar``.
    identity : ndarray of float64, shape (m,)
        Share of identical letters in the shorter sequence.
    """

    identical: np.ndarray
    pairs: np.ndarray
    kinds: np.ndarray
    identity: np.ndarray

    def groups(self):
        """Return int64 (n,): groups of units to keep together, linked directly or through others."""
        first = np.unique(self.identical, return_index=True)[1]
        return merge_groups(len(self.identical), self.identical, pairs=first[self.pairs])


def find_links(X, *, contained=True, min_length=None, identity=None, reverse_complement=False):
    """Find identical, contained and similar units.

    Letters outside the alphabet count as one further letter; in alignments they are identical to nothing. Rows
    of a feature table are compared for identity only, units of a similarity table not at all.

    Parameters
    ----------
    X : SequenceSet, FeatureTable or SimilarityTable
    contained : bool
        Whether to look for sequences that lie inside others.
    min_length : int, optional
        Shorter sequences are not looked for inside others. By default the length at which fewer than one such
        pair is expected by chance among letters drawn evenly.
    identity : float, optional
        Also look for pairs whose identity is at least this. Identity is the number of identical letters in
        the best alignment without end-gap costs (match 1, mismatch and gap letter −1), over the length of the
        shorter sequence. This is a screen: only pairs are aligned that share at least half the distinct k-mers
        expected at that identity, so that pairs near the limit can be missed; k follows from the size of the
        data.
    reverse_complement : bool
        Whether a sequence is also compared with the reverse complements of the others.

    Returns
    -------
    Links

    Raises
    ------
    ParameterError
        If a parameter is outside its domain, or the alphabet has no complement.
    """
    if identity is not None:
        check_real("identity", identity, 0, 1, open_low=True)
    if min_length is not None:
        check_integer("min_length", min_length, 1)
    if not isinstance(X, SequenceSet):
        return _links(_identical_rows(X.values) if isinstance(X, FeatureTable) else np.arange(len(X)), [])
    mirrored = X.reverse_complement() if reverse_complement else None
    classes = _identical_sequences(X, mirrored)
    first = np.unique(classes, return_index=True)[1]
    own = X.take(first).compact()
    others = [own] + ([mirrored.take(first).compact()] if reverse_complement else [])
    found = {}
    if contained:
        shortest = chance_length(own) if min_length is None else min_length
        for other in others:
            for pair in contained_pairs(own, other, shortest):
                found[pair] = ("contained", 1.0)
    if identity is not None:
        for other in others:
            for i, j, share in similar_pairs(own, other, identity):
                old = found.get((i, j), found.get((j, i), ("similar", 0.0)))
                if old[0] == "similar" and share > old[1]:
                    found[i, j] = ("similar", share)
    return _links(classes, sorted((*pair, *what) for pair, what in found.items()))


def _links(classes, rows):
    """Return Links of classes and of (first, second, kind, identity) rows."""
    return Links(
        classes,
        np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2),
        np.array([row[2] for row in rows], dtype="U9"),
        np.array([row[3] for row in rows], dtype=np.float64),
    )


def _numbered(keys):
    """Return int64: equal keys share a number, numbered in the order of appearance."""
    seen = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)


def _identical_rows(values):
    """Return the class of each row of a table."""
    values = np.ascontiguousarray(values) + 0.0  # -0 becomes 0
    return _numbered(row.tobytes() for row in values)


def _identical_sequences(X, mirrored):
    """Return the class of each record; with `mirrored`, a record and its reverse complement are one class."""
    keys = _letters(X)
    return _numbered(keys if mirrored is None else map(min, keys, _letters(mirrored)))


def _letters(X):
    """Yield the codes of each record as bytes."""
    for start, stop in zip(X.starts.tolist(), X.stops.tolist(), strict=True):
        yield X.codes[start:stop].tobytes()


def chance_length(X):
    """Return the least length at which fewer than one record is expected inside another by chance.

    Of n records, each fits at no more than T places of T letters in all: n T / |A|^length < 1.
    """
    places = float(len(X)) * float(X.lengths.sum())
    return max(1, int(np.ceil(np.log(places + 1.0) / np.log(X.alphabet.size))))


class _Rolling:
    """Hashes of any stretch of a chunk of letters: Σ value(letter_i)·B^(i − start) modulo 2⁶⁴."""

    base = 0x9E3779B97F4A7C15
    values = np.random.default_rng(1).integers(0, 2**63, 256).astype(np.uint64) * np.uint64(2) + np.uint64(1)

    def __init__(self, size):
        inverse = pow(self.base, -1, 2**64)
        self.power, self.inverse = (self._powers(base, size + 1) for base in (self.base, inverse))

    @staticmethod
    def _powers(base, size):
        powers = np.full(size, base, dtype=np.uint64)
        powers[0] = 1
        return np.multiply.accumulate(powers)

    def load(self, codes):
        """Take the letters that `hash` refers to."""
        self.sums = np.zeros(len(codes) + 1, dtype=np.uint64)
        np.cumsum(self.values[codes] * self.power[: len(codes)], out=self.sums[1:])

    def hash(self, start, length):
        """Return the hash of `length` letters from each of `start`."""
        return (self.sums[start + length] - self.sums[start]) * self.inverse[start]


def _chunks(X):
    """Yield (first, last) records of a compact set so that a chunk has about CHUNK letters."""
    first = 0
    while first < len(X):
        last = max(first + 1, int(np.searchsorted(X.stops, X.starts[first] + CHUNK, side="right")))
        yield first, last
        first = last


def contained_pairs(short, long, min_length):
    """Return the pairs (i, j) for which record i of `short` is a proper part of record j of `long`.

    Every record of `short` is found by a hash of its first `min_length` letters at all places of `long`, the
    places are narrowed by a hash of its whole length, and what remains is compared letter by letter.

    Parameters
    ----------
    short, long : SequenceSet
        Compact sets; no two records of `short` are identical.
    min_length : int
        Records shorter than this are left out.

    Returns
    -------
    list of (int, int)
        Sorted.
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
    pairs = set()
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


def _anchored(rolling, anchors, long, first, last, width):
    """Return the places of a chunk that start with an anchor, their records, and which anchor it is."""
    begin = long.starts[first]
    heads = np.maximum(long.lengths[first:last] - width + 1, 0)
    record = np.repeat(np.arange(first, last), heads)
    offset = np.arange(len(record)) - np.repeat(np.cumsum(heads) - heads, heads)
    place = long.starts[record] - begin + offset
    hashes = rolling.hash(place, width)
    # a bit table in cache turns most places away before the binary search
    table = np.zeros(1 << 22, dtype=bool)
    table[anchors >> np.uint64(42)] = True
    near = np.flatnonzero(table[hashes >> np.uint64(42)])
    which = np.searchsorted(anchors, hashes[near])
    which[which == len(anchors)] = 0
    good = anchors[which] == hashes[near]
    return place[near[good]], record[near[good]], which[good]


def similar_pairs(own, other, identity):
    """Return (i, j, identity) for the records i of `own` and j of `other` that pass the screen, i before j.

    See `find_links` for what identity means and which pairs are aligned.
    """
    from scipy.sparse import csr_array

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


def _kmer_presence(X, k):
    """Return a sparse 0/1 matrix, records × k-mers, of the k-mers without masked letters."""
    from scipy.sparse import csr_array

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


def _aligned(own, other, pairs, identity):
    """Align candidate pairs; return those that reach the identity, as (i, j, identity)."""
    from Bio.Align import PairwiseAligner
    from tqdm import tqdm

    aligner = PairwiseAligner(
        mode="global", match_score=1, mismatch_score=-1, gap_score=-1, end_gap_score=0, wildcard="*"
    )
    found = []
    for i, j in tqdm(pairs.tolist(), desc="leakage: aligning", unit="pair", disable=None, leave=False):
        a, b = own.string(i), other.string(j)
        same = 0
        for (from_a, to_a), (from_b, to_b) in zip(*aligner.align(a, b)[0].aligned, strict=True):
            one, two = (np.frombuffer(s.encode(), np.uint8) for s in (a[from_a:to_a], b[from_b:to_b]))
            same += int(np.count_nonzero((one == two) & (one != ord("*"))))
        share = same / min(len(a), len(b))
        if share >= identity:
            found.append((i, j, share))
    return found


def leakage_rows(links, foldset, labels):
    """Return what crosses each split, and identical units with different labels.

    Parameters
    ----------
    links : Links
    foldset : FoldSet
    labels : Labels

    Returns
    -------
    list of tuple
        (task, split, kind, test_id, train_id, identity). For each split, test unit and kind the most similar
        training unit (of equals the first); for each set of identical units that carry several labels one row
        ``conflict`` with an empty split, naming the first unit and the first that differs from it.
    """
    ids = foldset.ids
    rows = []
    for first, second in _conflicts(links.identical, labels):
        rows.append((foldset.task, "", "conflict", ids[first], ids[second], 1.0))
    for split in foldset:
        rows += [
            (foldset.task, split.name, kind, ids[test], ids[train], share)
            for kind, test, train, share in _crossing(links, split)
        ]
    return rows


def _conflicts(classes, labels):
    """Return (first unit, first unit labelled otherwise) for each class with several labels."""
    first, conflicts = {}, {}
    used = ~np.isnan(labels.y) if labels.kind == "real" else labels.y >= 0
    for unit in np.flatnonzero(used).tolist():
        c = int(classes[unit])
        if labels.y[first.setdefault(c, unit)] != labels.y[unit]:
            conflicts.setdefault(c, (first[c], unit))
    return sorted(conflicts.values())


def _crossing(links, split):
    """Return (kind, test unit, training unit, identity) of a split, by kind and test unit."""
    classes = links.identical
    example = np.full(int(classes.max()) + 1, -1, dtype=np.int64)
    example[classes[split.train[::-1]]] = split.train[::-1]
    copied = split.test[example[classes[split.test]] >= 0]
    best = {(0, int(test)): (-1.0, int(example[classes[test]])) for test in copied}
    tested = np.zeros(len(example), dtype=bool)
    tested[classes[split.test]] = True
    for near, far in (links.pairs.T, links.pairs.T[::-1]):
        for m in np.flatnonzero(tested[near] & (example[far] >= 0)):
            found = (-float(links.identity[m]), int(example[far[m]]))
            for test in split.test[classes[split.test] == near[m]].tolist():
                key = (KINDS.index(links.kinds[m]), test)
                best[key] = min(best.get(key, found), found)
    return [(KINDS[kind], test, train, -share) for (kind, test), (share, train) in sorted(best.items())]


def write_leakage(path, rows):
    """Write `leakage_rows` (of all tasks of a data set) to a TSV.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    with atomic_write(path, "w") as file:
        file.write("\t".join(HEADER) + "\n")
        file.writelines("\t".join([*row[:5], f"{row[5]:.10g}"]) + "\n" for row in rows)
