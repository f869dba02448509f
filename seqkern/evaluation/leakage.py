"""Leakage between training and test sets: identical sequences, sequences contained in others, and similar ones.

`find_links` compares all samples of a data set once; `leakage_rows` then lists the links that cross a split.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer, check_real
from seqkern.core.tsv import write_tsv
from seqkern.core.types import Bools, Codes, Floats, Indices, Ints, PathLike
from seqkern.evaluation.folds import UNCHANGED, FoldSet, Split
from seqkern.formats.residues import Residues
from seqkern.sequences.joining import compared
from seqkern.sequences.labels import Labels
from seqkern.sequences.sampling import merge_groups
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.similarity import (
    Library,
    SimilarGroups,
    chance_length,
    digests,
    find_library,
    find_similar,
    group_pairs,
)
from seqkern.sequences.tables import Data, FeatureTable

# Search for sequences that are contained in others.

CHUNK = 1 << 21


class _Rolling:
    """Hashes of arbitrary stretches of a chunk of residues: Σ value(residue_i)·B^(i − start) modulo 2⁶⁴."""

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

    def load(self, codes: Codes) -> None:
        """Set the residues that `hash` refers to."""
        self.sums = np.zeros(len(codes) + 1, dtype=np.uint64)
        np.cumsum(self.values[codes] * self.power[: len(codes)], out=self.sums[1:])

    def hash(self, start: Ints, length: Ints | int) -> npt.NDArray[np.uint64]:
        """Return the hash of the `length` residues from each of `start`."""
        return (self.sums[start + length] - self.sums[start]) * self.inverse[start]


def _chunks(X: SequenceSet) -> Iterator[tuple[int, int]]:
    """Yield (first, last) records of a compact set so that a chunk has about CHUNK residues."""
    first = 0
    while first < len(X):
        last = max(first + 1, int(np.searchsorted(X.stops, X.starts[first] + CHUNK, side="right")))
        yield first, last
        first = last


def contained_pairs(
    short: SequenceSet, long: SequenceSet, min_length: int, *, turned: bool = False
) -> list[tuple[int, int]]:
    """Return the pairs (i, j) in which record i of `short` is a proper part of record j of `long` (or `turned`).

    A hash of the first `min_length` residues of every record of `short` is looked up at all places of `long`;
    candidates are filtered by a hash of the whole record, and the remaining ones are compared residue by residue.

    >>> from seqkern import SequenceSet
    >>> from seqkern.evaluation.leakage import contained_pairs
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
        part = long.take(slice(first, last))
        part = part.reverse_complement() if turned else part.compact()
        rolling.load(part.codes)
        place, record, which = _anchored(rolling, anchors, part, min_length)
        room = part.stops[record] - place
        for length, numbers, rows in by_length:
            fits = (room >= length) & (part.lengths[record] > length) & np.isin(which, numbers)
            hashes = rolling.hash(place[fits], length)
            rows = rows[np.argsort(whole[rows], kind="stable")]
            low, high = (np.searchsorted(whole[rows], hashes, side=side) for side in ("left", "right"))
            for hit in np.flatnonzero(high > low):
                at, j = place[fits][hit], first + int(record[fits][hit])
                letters = part.codes[at : at + length]
                for i in rows[low[hit] : high[hit]].tolist():
                    if np.array_equal(short.codes[short.starts[i] : short.stops[i]], letters):
                        pairs.add((i, j))
    return sorted(pairs)


def _anchored(
    rolling: "_Rolling", anchors: npt.NDArray[np.uint64], part: SequenceSet, width: int
) -> tuple[Ints, Ints, Ints]:
    """Return the places of a chunk that start with an anchor, with their records and anchors."""
    heads = np.maximum(part.lengths - width + 1, 0)
    record = np.repeat(np.arange(len(part)), heads)
    place = part.starts[record] + np.arange(len(record)) - np.repeat(np.cumsum(heads) - heads, heads)
    hashes = rolling.hash(place, width)
    # a bit table in cache rejects most places before the binary search
    table = np.zeros(1 << 22, dtype=bool)
    table[anchors >> np.uint64(42)] = True
    near = np.flatnonzero(table[hashes >> np.uint64(42)])
    which = np.searchsorted(anchors, hashes[near])
    which[which == len(anchors)] = 0
    good = anchors[which] == hashes[near]
    return place[near[good]], record[near[good]], which[good]


KINDS = ("identical", "contained", "similar", "overlapping", "conflict")
SIMILAR = ("task", "samples", "similar", "groups", "largest", "links_cut", "searched", "together", "remarks")
HEADER = ("task", "split", "kind", "test_id", "train_id", "identity")


@dataclass(frozen=True, eq=False)
class Links:
    """Links between identical, contained and similar samples of a data set."""

    # shape (n,): Identical samples share a class; classes are numbered in the order of their first samples
    identical: Indices
    # shape (m, 2): Classes: the first is contained in the second, similar to it, or shares a stretch with it
    pairs: Indices
    kind: npt.NDArray[np.int8]  # shape (m,): The place in `KINDS` of ``contained``, ``similar`` or ``overlapping``
    # shape (m,): Share of identical residues in the shorter sequence; of overlapping ones those of the stretch
    identity: Floats
    aligned: bool = True  # False if the set was too large to align similar sequences
    library: Library | None = None  # The variants of one parent, where similarity was sought without a limit
    remark: str = ""  # What was not compared, if anything

    def of(self, *kinds: str) -> Bools:
        """Return which pairs are of these kinds."""
        return np.isin(self.kind, [KINDS.index(kind) for kind in kinds])

    def groups(self) -> Indices:
        """Return the group of each sample, shape (n,): samples linked directly or indirectly share a group."""
        first = np.unique(self.identical, return_index=True)[1]
        return merge_groups(len(self.identical), self.identical, pairs=first[self.pairs])

    def similar(self, classes: npt.ArrayLike | None = None) -> SimilarGroups:
        """Return the groups of `groups`, after cutting links in groups that are too large for balanced folds."""
        if self.library is not None:
            return SimilarGroups(self.identical, library=self.library)
        return group_pairs(self.identical, self.pairs, self.identity, classes, aligned=self.aligned)


def find_links(
    X: Data,
    *,
    contained: bool = True,
    min_length: int | None = None,
    identity: float | str | None = None,
    reverse_complement: bool = False,
    n_threads: int | None = None,
    queries: int = 0,
) -> Links:
    """Find identical, contained and similar samples.

    All letters outside the alphabet count as one additional letter. Rows of a feature table are compared only for
    identity, samples of a similarity table not at all.

    >>> from seqkern import SequenceSet
    >>> from seqkern.evaluation.leakage import find_links
    >>> links = find_links(SequenceSet.from_strings(["GATTACA", "CCGATTACATT", "TTTTTTT"], "dna"))
    >>> links.pairs.tolist(), links.of("contained").tolist()
    ([[0, 1]], [True])
    """
    automatic = identity == "auto"
    limit: Any = None if automatic else identity
    if limit is not None:
        check_real("identity", limit, 0, 1, open_low=True)
    if min_length is not None:
        check_integer("min_length", min_length, 1)
    if not isinstance(X, SequenceSet):
        classes = _identical_rows(X.values) if isinstance(X, FeatureTable) else np.arange(len(X))
        return Links(classes, np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int8), np.zeros(0))
    X = compared(X).replace(tracks={}).compact()
    keys = digests(X)
    if reverse_complement:
        other = digests(X, turned=True)
        keys = np.where(keys < other, keys, other)
    classes = merge_groups(len(X), keys)
    first = np.unique(classes, return_index=True)[1]
    own = X if len(first) == len(X) else X.take(first)
    inner: list[tuple[int, int]] = []
    if contained and len(own) and own.lengths.min() < own.lengths.max():
        shortest = chance_length(own) if min_length is None else min_length
        for turned in (False, True)[: 1 + reverse_complement]:
            inner += contained_pairs(own, own, shortest, turned=turned)
    ends = np.unique(np.array(inner, dtype=np.int64).reshape(-1, 2), axis=0)
    links = Links(classes, ends, np.full(len(ends), KINDS.index("contained"), dtype=np.int8), np.ones(len(ends)))
    if identity is None:
        return links
    strands = None if automatic and not reverse_complement else reverse_complement
    queries = int((first < queries).sum())
    found = find_similar(own, identity=limit, both_strands=strands, n_threads=n_threads, queries=queries)
    # both are sorted, and there may be very many similar pairs
    keys = found.pairs @ (len(own), 1)
    new = ~np.isin(keys, np.sort(ends, axis=1) @ (len(own), 1))
    at = np.searchsorted(keys[new], ends @ (len(own), 1))
    kinds = np.where(found.shared[new], *(np.int8(KINDS.index(kind)) for kind in ("overlapping", "similar")))
    return Links(
        classes,
        np.insert(found.pairs[new], at, ends, axis=0),
        np.insert(kinds, at, links.kind),
        np.insert(found.identity[new], at, links.identity),
        found.aligned,
        find_library(X) if automatic else None,
        found.remark,
    )


def _identical_rows(values: Floats) -> Indices:
    """Return the class of each row of a table, in order of first appearance; identical rows share a class."""
    seen: dict[bytes, int] = {}
    values = np.ascontiguousarray(values) + 0.0  # -0 becomes 0
    return np.array([seen.setdefault(row.tobytes(), len(seen)) for row in values], dtype=np.int64)


def leakage_rows(links: Links, foldset: FoldSet, labels: Labels) -> list[tuple[str, str, str, str, str, float]]:
    """Return the links that cross each split, and identical samples with different labels.

    A row is (task, split, kind, test_id, train_id, identity): for each test sample and kind, the most similar
    training sample. A ``conflict`` row, for identical samples with several labels, has an empty split.
    """
    ids = foldset.ids
    rows: list[tuple[str, str, str, str, str, float]] = []
    for first, second in _conflicts(links.identical, labels):
        rows.append((foldset.task, "", "conflict", ids[first], ids[second], 1.0))
    for split in foldset:
        rows += [
            (foldset.task, split.name, kind, ids[test], ids[train], share)
            for kind, test, train, share in _crossing(links, split)
        ]
    return rows


def _conflicts(classes: Indices, labels: Labels) -> list[tuple[int, int]]:
    """Return (first sample, first sample with another label) for each class of identical samples with several
    labels.
    """
    first: dict[int, int] = {}
    conflicts: dict[int, tuple[int, int]] = {}
    used = labels.used()
    for sample in np.flatnonzero(used).tolist():
        c = int(classes[sample])
        if labels.y[first.setdefault(c, sample)] != labels.y[sample]:
            conflicts.setdefault(c, (first[c], sample))
    return sorted(conflicts.values())


def _crossing(links: Links, split: Split) -> list[tuple[str, int, int, float]]:
    """Return (kind, test sample, training sample, identity) of a split, by kind and test sample."""
    classes = links.identical
    example = np.full(int(classes.max()) + 1, -1, dtype=np.int64)
    example[classes[split.train[::-1]]] = split.train[::-1]
    copied = split.test[example[classes[split.test]] >= 0]
    best = {(0, int(test)): (-1.0, int(example[classes[test]])) for test in copied}
    tested = np.zeros(len(example), dtype=bool)
    tested[classes[split.test]] = True
    ranked = split.test[np.argsort(classes[split.test], kind="stable")]
    for near, far in (links.pairs.T, links.pairs.T[::-1]):
        for m in np.flatnonzero(tested[near] & (example[far] >= 0)):
            found = (-float(links.identity[m]), int(example[far[m]]))
            low, high = np.searchsorted(classes[ranked], (near[m], near[m] + 1))
            for test in ranked[low:high].tolist():
                key = (int(links.kind[m]), test)
                best[key] = min(best.get(key, found), found)
    return [(KINDS[kind], test, train, -share) for (kind, test), (share, train) in sorted(best.items())]


def similar_row(task: str, found: SimilarGroups, grouping: str, remarks: Sequence[str] = ()) -> tuple[str | int, ...]:
    """Return the row of a task for `write_similar`; of a library of variants only identical ones are together."""
    counts = len(found.groups), found.n_related, found.n_groups, found.largest, found.links_cut
    if found.library is not None:
        grouping, remarks = grouping if found.n_related else "", (found.library.describe(), *remarks)
    return task, *counts, "" if found.aligned else "stretches", grouping, "; ".join(remarks)


def write_similar(path: PathLike, rows: Iterable[Sequence[str | int]]) -> None:
    """Write the groups of similar samples of each task, rows from `similar_row`, to a TSV."""
    write_tsv(path, SIMILAR, rows)


def write_leakage(path: PathLike, rows: Iterable[Sequence[str | float]]) -> None:
    """Write the result of `leakage_rows` to a TSV."""
    write_tsv(path, HEADER, rows)


# Similar samples that the folds of a task keep together, described in words and as arguments of `make_folds`.


def codes_of(labels: Labels) -> Ints | None:
    """Return the class of each sample, −1 if unlabelled; None if the labels are not classes."""
    return labels.y.astype(np.int64) if labels.kind in ("binary", "multiclass") else None


def groups_of(
    grouping: bool | str, links: "Links", labels: Labels, residues: Residues | None, of_sequences: bool
) -> SimilarGroups:
    """Return the groups of similar samples of a task, or of their chains."""
    if grouping == "auto" and not of_sequences and residues is None:
        return SimilarGroups(np.arange(len(links.identical)))
    if grouping != "auto":
        return SimilarGroups(links.groups(), aligned=links.aligned)
    return links.similar(codes_of(labels) if residues is None else None)


def grouping_arguments(grouping: bool | str, groups: SimilarGroups, residues: Residues | None) -> dict[str, Any]:
    """Return the arguments of `make_folds` that keep similar samples together."""
    if not grouping or (grouping == "auto" and not groups):
        return {}
    numbers = groups.groups if residues is None else groups.groups[residues.record]
    return {"similar" if grouping == "auto" else "links": numbers}


def grouping_place(grouping: bool | str, method: str, options: Mapping[str, Any]) -> str:
    """Return the folds that keep similar samples together: ``folds``, ``inner folds``, or an empty string."""
    if not grouping:
        return ""
    return "inner folds" if method in UNCHANGED or "train" in options else "folds"


def similarity_messages(
    tasks: Sequence[tuple[SimilarGroups, Sequence[Any]]], unit: str, random: bool = True
) -> Iterator[str]:
    """Yield messages on similar samples: their number, the groups kept together, the first reason for an exception.

    Of a library of variants the harder fold methods are named if its folds are `random`.
    """
    # tasks share their samples and differ in the links that were cut
    groups, row = max(tasks, key=lambda task: task[0].links_cut)
    where = row[-2]
    ending = f"kept together in {where}; --allow-similar to split them" if where else "only reported"
    if groups.library is not None:
        yield groups.describe() if random else groups.library.describe()
        return
    if groups:
        yield groups.describe(unit, ending)
    reasons = dict.fromkeys(row[-1] for _, row in tasks if row[-1])
    yield from list(reasons)[:1]
    if len(reasons) > 1:
        yield f"and so in {len(reasons) - 1} more task{'s' * (len(reasons) > 2)}"
