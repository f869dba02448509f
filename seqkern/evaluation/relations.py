"""Overlaps of two parts: copies, relations, duplicates and clusters, and the numbers of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.types import Bools, Floats, Ints
from seqkern.evaluation.leakage import Links, find_links
from seqkern.sequences.labels import UNLABELLED
from seqkern.sequences.sampling import choose_by_hash, connected, merge_groups
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.similarity import (
    Nearest,
    by_spaced_seeds,
    digests,
    longest_across,
    longest_kmer,
    match_chance,
    nearest_across,
)

# The sequences of an audit: the test part, followed by the training part.


@dataclass(frozen=True, eq=False)
class Parts:
    """Two parts of a data set.

    Attributes
    ----------
    X : SequenceSet, n records
        The test sequences, followed by the training sequences. Ids may occur in both parts.
    n_test : int
        Number of test sequences.
    names : tuple of str, length n or 0
        The class of each record, empty text where it is not known; of no length without labels.

    Examples
    --------
    >>> parts = make_parts(["ACGT", "TTTT"], ["GGGG"], ["1", "0"], ["1"], alphabet="dna")
    >>> parts.n_train, parts.n_test, parts.classes, parts.codes.tolist()
    (2, 1, ('0', '1'), [1, 1, 0])
    """

    X: SequenceSet
    n_test: int
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part, count in (("training", self.n_train), ("test", self.n_test)):
            if count < 1:
                raise SequenceError(f"the {part} part has no sequences", remedy="give at least one for each part")

    @property
    def n_train(self) -> int:
        """Number of training sequences."""
        return len(self.X) - self.n_test

    @cached_property
    def is_test(self) -> Bools:
        """Bool (n,): which records are test sequences."""
        return np.arange(len(self.X)) < self.n_test

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes of all records, sorted; empty without labels."""
        return tuple(sorted(set(self.names) - {""}))

    @cached_property
    def codes(self) -> Ints:
        """Int64 (n,): the place of each record's class in `classes`, −1 where it is not known."""
        number = {name: code for code, name in enumerate(self.classes)}
        if not self.names:
            return np.full(len(self.X), UNLABELLED, dtype=np.int64)
        return np.array([number.get(name, UNLABELLED) for name in self.names], dtype=np.int64)


def make_parts(
    train: SequenceSet | Sequence[str],
    test: SequenceSet | Sequence[str],
    train_labels: Sequence[object] | None = None,
    test_labels: Sequence[object] | None = None,
    *,
    alphabet: str | None = None,
) -> Parts:
    """Return the Parts of two sets of sequences.

    Parameters
    ----------
    train, test : SequenceSet or sequence of str
        The sequences, of one alphabet.
    train_labels, test_labels : sequence, optional
        The class of each sequence; empty text or None where it is not known.
    alphabet : str, optional
        Alphabet of texts; default: detected.

    Returns
    -------
    Parts

    Raises
    ------
    SequenceError
        If a part is empty, or the alphabets differ.

    Examples
    --------
    >>> make_parts(["MKV"], ["MKV", "MKL"]).X.strings()
    ['MKV', 'MKL', 'MKV']
    """
    sets = [X if isinstance(X, SequenceSet) else SequenceSet.from_strings(X, alphabet) for X in (test, train)]
    if sets[0].alphabet != sets[1].alphabet:
        found = f"training sequences are {sets[1].alphabet.name}, test sequences {sets[0].alphabet.name}"
        raise SequenceError(found, remedy="convert one of them, or name the alphabet of both")
    tests, trained = (X.replace(tracks={}).compact() for X in sets)
    X = SequenceSet.from_offsets(
        np.concatenate((tests.codes, trained.codes)),
        np.concatenate(([0], np.cumsum(np.concatenate((tests.lengths, trained.lengths))))),
        [*tests.ids, *trained.ids],
        tests.alphabet,
    )
    if train_labels is None and test_labels is None:
        return Parts(X, len(tests))
    given = [
        [""] * len(own) if labels is None else ["" if name is None else str(name).strip() for name in labels]
        for own, labels in ((tests, test_labels), (trained, train_labels))
    ]
    return Parts(X, len(tests), (*given[0], *given[1]))


# Detection of identical sequences and reverse complements by digests.


class Copies:
    """The classes of identical sequences of a set, and of their reverse complements.

    `exact` numbers the classes in the order of their first records; `turned` is the class of each record's reverse
    complement, −1 where no record is its reverse complement, or where a record equals its own.

    >>> copies = Copies(SequenceSet.from_strings(["AACC", "GGTT", "AACC", "ACGT"], "dna"), True)
    >>> copies.exact.tolist(), copies.turned.tolist()
    ([0, 1, 0, 2], [1, 0, 1, -1])
    """

    def __init__(self, X: SequenceSet, both_strands: bool) -> None:
        keys = digests(X)
        self.exact: Ints = merge_groups(len(X), keys)
        self.turned: Ints = np.full(len(X), -1, dtype=np.int64)
        if both_strands and len(X):
            known, first = np.unique(keys, return_index=True)
            mirrored = digests(X, turned=True)
            place = np.minimum(np.searchsorted(known, mirrored), len(known) - 1)
            found = self.exact[first[place]]
            self.turned = np.where((known[place] == mirrored) & (found != self.exact), found, -1)

    def first_in(self, parts: Parts, sought: Ints) -> Ints:
        """Return the first training row of the class `sought` (`exact` or `turned`) for each test sequence; −1 if
        none.
        """
        first = np.full(int(self.exact.max()) + 2, -1, dtype=np.int64)  # the last place is that of class −1
        trained = self.exact[parts.n_test :]
        first[trained[::-1]] = np.arange(len(trained))[::-1]
        return first[sought[: parts.n_test]]


# The overlap of each test sequence with the training set, and its nearest relative there.

KINDS = ("identical", "reverse_complement", "contained", "similar", "shared_kmer")
"""Ways in which two sequences overlap, the strongest first."""
K = {"dna": 30, "rna": 30, "protein": 12}
OTHER_K = 12
"""Minimum length of a shared stretch that counts, for alphabets other than those in `K`."""


@dataclass(frozen=True, eq=False)
class Relations:
    """The overlaps of each test sequence with the training sequences.

    Attributes
    ----------
    has : ndarray of bool, shape (n_test, 5)
        Whether a test sequence overlaps with some training sequence in each of `KINDS`.
    row : ndarray of int64, shape (n_test,)
        The nearest relative, as a row of the training part: by the strongest kind; −1 without overlap.
    identity : ndarray of float64, shape (n_test,)
        Share of identical residues in the shorter of the two, in the alignment or in the shared stretch; 0 without
        overlap.
    stretch : ndarray of int64, shape (n_test,)
        Residues of the longest stretch shared with any training sequence; 0 below k.
    k : int
        Minimum length of a shared stretch that counts.
    both_strands : bool
        Whether sequences were also compared with reverse complements.
    limit : float or None
        Identity above which sequences are similar; None for the default, which depends on their lengths.
    aligned : bool
        False if the parts were too large for alignments.
    links : Links
        The links of all sequences, within the parts too.

    Examples
    --------
    >>> from seqkern.evaluation.relations import make_parts
    >>> parts = make_parts(["GATTACAGATTACA", "CCCTCTTTGTCA"], ["TGTAATCTGTAATC", "ACGCATCCGGGA"], alphabet="dna")
    >>> relations = find_relations(parts)
    >>> relations.kinds(), relations.row.tolist()
    (['reverse_complement', ''], [0, -1])
    """

    has: Bools
    row: Ints
    identity: Floats
    stretch: Ints
    k: int
    both_strands: bool
    links: Links
    limit: float | None = None
    aligned: bool = True

    @property
    def overlaps(self) -> Bools:
        """Bool (n_test,): which test sequences overlap with training in any way."""
        return np.asarray(self.has.any(axis=1))

    def kinds(self) -> list[str]:
        """Return the strongest kind of each test sequence, empty without overlap."""
        strongest = np.where(self.overlaps, self.has.argmax(axis=1), len(KINDS))
        return [(*KINDS, "")[place] for place in strongest.tolist()]


def find_relations(
    parts: Parts,
    *,
    k: int | None = None,
    identity: float | None = None,
    both_strands: bool | None = None,
    n_threads: int | None = None,
) -> Relations:
    """Find the overlaps of each test sequence with the training sequences.

    Parameters
    ----------
    parts : Parts
        The sequences.
    k : int, optional
        Minimum length of a shared stretch that counts. Default: `K`.
    identity : float, optional
        Identity above which sequences are similar. Default: as for `seqkern.sequences.find_similar`.
    both_strands : bool, optional
        Whether to compare also with reverse complements. Default: for DNA.
    n_threads : int, optional
        Default: all cores.

    Returns
    -------
    Relations

    Raises
    ------
    ParameterError
        If an option is outside its domain, or the alphabet has no complement.
    """
    X, n = parts.X, parts.n_test
    both = X.alphabet.name == "dna" if both_strands is None else both_strands
    length = kmer_length(X, k)
    limit = "auto" if identity is None else identity
    links = find_links(X, identity=limit, reverse_complement=both, n_threads=n_threads, queries=n)
    copies = Copies(X, both)
    has = np.zeros((n, len(KINDS)), dtype=bool)
    row, share = np.full(n, -1, dtype=np.int64), np.zeros(n)
    candidates = [
        (copies.first_in(parts, copies.exact), np.ones(n)),
        (copies.first_in(parts, copies.turned), np.ones(n)),
        (_nearest(links, n, "contained").row, np.ones(n)),
    ]
    if by_spaced_seeds(X, match_chance(X), 1 + both, identity):
        near = _nearest(links, n, "contained", "similar")
    else:
        near = nearest_across(X, n, identity=identity, both_strands=both, n_threads=n_threads)
    stretches = longest_across(X, n, length, both_strands=both, n_threads=n_threads)
    shorter = np.minimum(X.lengths[:n], X.lengths[n:][stretches.row])
    candidates += [(near.row, near.identity), (stretches.row, stretches.length / np.maximum(shorter, 1))]
    for place, (found, shares) in enumerate(candidates):
        has[:, place] = found >= 0
        new = (found >= 0) & (row < 0)
        row[new], share[new] = found[new], shares[new]
    return Relations(has, row, share, stretches.length, length, both, links, identity, near.aligned)


def _nearest(links: Links, n_test: int, *kinds: str) -> Nearest:
    """Return the most identical training sequence of each test sequence by some kinds of links; copies are similar."""
    classes = links.identical
    example = np.full(int(classes.max()) + 1, -1, dtype=np.int64)
    example[classes[n_test:][::-1]] = np.arange(len(classes) - n_test)[::-1]
    tested, near = np.zeros(len(example), dtype=bool), links.of(*kinds)
    tested[classes[:n_test]] = True
    own = np.flatnonzero(tested & (example >= 0) & ("similar" in kinds))
    sides = [np.flatnonzero(near & tested[a] & (example[b] >= 0)) for a, b in (links.pairs.T, links.pairs.T[::-1])]
    query, other = (
        np.concatenate((own, *(links.pairs[rows, abs(end - turn)] for turn, rows in enumerate(sides))))
        for end in (0, 1)
    )
    share = np.concatenate((np.ones(len(own)), *(links.identity[rows] for rows in sides)))
    order = np.lexsort((example[other], -share, query))
    found, first = np.unique(query[order], return_index=True)
    row, best = np.full(len(example), -1, dtype=np.int64), np.zeros(len(example))
    row[found], best[found] = example[other[order[first]]], share[order[first]]
    return Nearest(row[classes[:n_test]], best[classes[:n_test]], links.aligned)


def kmer_length(X: SequenceSet, k: int | None) -> int:
    """Return the minimum length of a shared stretch that counts: `k`, or a default for the alphabet.

    >>> kmer_length(SequenceSet.from_strings(["ACGT"], "dna"), None)
    30
    """
    most = longest_kmer(X)
    if k is None:
        return min(K.get(X.alphabet.name, OTHER_K), most)
    check_integer("k", k, 3)
    if k > most:
        raise ParameterError(f"k={k} is too large for this alphabet", remedy=f"choose at most {most}")
    return k


# The sequences used for training and testing: all of them, or a deterministic subset of a large part.

MOST, MOST_TEST = 9000, 2000
"""Maximum number of sequences of both parts, and of test sequences: a kernel's Gram matrix then takes 650 MB."""
LEAST_SHARE = 4
"""Divisor of a class's equal share of the training sequences that gives its minimum number, if it has as many."""


class Chosen(NamedTuple):
    """The rows used for testing and training, sorted, both counted from the first test sequence.

    >>> Chosen(np.array([0]), np.array([1, 2])).train.tolist()
    [1, 2]
    """

    test: Ints  # Sorted; both count from the first test sequence
    train: Ints  # Sorted; both count from the first test sequence


def choose_rows(parts: Parts, relations: Relations) -> Chosen:
    """Return the rows of the labelled sequences, or of a subset if a part has more than `MOST`.

    Test sequences are those with the smallest hashes of their residues. The training set keeps their nearest relatives,
    so that an overlap has its effect, then the smallest hashes of each class, then the smallest of all.
    """
    known = parts.codes >= 0
    test = choose_by_hash(parts.X, np.flatnonzero(known & parts.is_test), MOST_TEST)
    train = np.flatnonzero(known & ~parts.is_test)
    room = MOST - len(test)
    if len(train) <= room:
        return Chosen(test, train)
    kept = np.zeros(len(parts.X), dtype=bool)
    near = relations.row[test]
    kept[choose_by_hash(parts.X, np.intersect1d(near[near >= 0] + parts.n_test, train), room // 2)] = True
    codes = parts.codes[train]
    for code in np.unique(codes):
        kept[choose_by_hash(parts.X, train[codes == code], room // (2 * LEAST_SHARE * len(parts.classes)))] = True
    rest = train[~kept[train]]
    kept[choose_by_hash(parts.X, rest, room - int(kept.sum()))] = True
    return Chosen(test, np.flatnonzero(kept))


# The overlap among the sequences of each part, and clusters over both parts.

WITHIN = KINDS[:4]
"""The kinds sought within a part; any two sequences of one locus may share a k-mer."""


@dataclass(frozen=True, eq=False)
class Within:
    """The relatives of each sequence in its own part.

    `has` and `conflict`, bool (n, 4), say for each of `WITHIN` whether another sequence of the same part is a relative,
    and whether one of these has another label. Near-duplicates of both parts share a `cluster`, linked directly or not.
    """

    has: Bools  # shape (n, 4): Whether another sequence of the same part is a relative in each of `WITHIN`
    conflict: Bools  # shape (n, 4): Whether one of these relatives has another label
    cluster: Ints  # shape (n,): Near-duplicates of both parts share a number, linked directly or indirectly


def find_within(parts: Parts, relations: Relations) -> Within:
    """Find relatives within each part, and clusters over both."""
    links, copies = relations.links, Copies(parts.X, relations.both_strands)
    pairs = links.pairs[links.of("contained", "similar")]
    has, conflict = (np.zeros((len(parts.X), len(WITHIN)), dtype=bool) for _ in range(2))
    for test in (True, False):
        rows = np.flatnonzero(parts.is_test == test)
        codes = parts.codes[rows]
        exact, turned = _Classes(copies.exact, rows, codes), copies.turned[rows]
        has[rows, 0], conflict[rows, 0] = exact.count[copies.exact[rows]] > 1, exact.differs(copies.exact[rows], codes)
        has[rows, 1] = (turned >= 0) & (exact.count[turned] > 0)
        conflict[rows, 1] = has[rows, 1] & exact.differs(turned, codes)
        classes = _Classes(links.identical, rows, codes)
        for place, kind in enumerate(WITHIN[2:], start=2):
            own = links.pairs[links.of(kind)]
            own = own[np.all(classes.count[own] > 0, axis=1)]
            has[rows, place], conflict[rows, place] = classes.linked(own, links.identical[rows], codes)
    return Within(has, conflict, _clusters(parts, relations, links.identical, pairs))


class _Classes:
    """The sizes and labels of classes of identical sequences within one part."""

    def __init__(self, number: Ints, rows: Ints, codes: Ints) -> None:
        size = int(number.max()) + 2  # the last place is that of class −1
        own = number[rows]
        self.count = np.bincount(own, minlength=size)
        known = codes >= 0
        self.low, self.high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
        np.minimum.at(self.low, own[known], codes[known])
        np.maximum.at(self.high, own[known], codes[known])

    def differs(self, classes: Ints, codes: Ints) -> Bools:
        """Return whether a member of each sample's class has a label other than the sample's, `codes`."""
        known = (codes >= 0) & (self.high[classes] >= 0)
        return known & ((self.low[classes] != codes) | (self.high[classes] != codes))

    def linked(self, pairs: Ints, classes: Ints, codes: Ints) -> tuple[Bools, Bools]:
        """Return whether each sample's class is in a pair, and whether the other class has another label."""
        inside = np.zeros(len(self.count), dtype=bool)
        inside[pairs] = True
        low, high = np.full(len(self.count), np.iinfo(np.int64).max), np.full(len(self.count), -1)
        for a, b in (pairs.T, pairs.T[::-1]):
            np.minimum.at(low, a, self.low[b])
            np.maximum.at(high, a, self.high[b])
        known = (codes >= 0) & (high[classes] >= 0)
        return inside[classes], known & ((low[classes] != codes) | (high[classes] != codes))


def _clusters(parts: Parts, relations: Relations, classes: Ints, pairs: Ints) -> Ints:
    """Return the cluster of near-duplicates of each sequence, within and across the parts."""
    tests = np.flatnonzero(relations.has[:, : len(WITHIN)].any(axis=1))
    across = np.stack((classes[tests], classes[parts.n_test :][relations.row[tests]]), axis=1)
    nodes = connected(int(classes.max()) + 1, np.concatenate((pairs, across)))
    return merge_groups(len(classes), nodes[classes])


# Counts of an audit: a row for each kind of overlap, each overlapping test sequence, and each cluster.

THRESHOLDS = {"dna": (0.95, 0.9, 0.8), "rna": (0.95, 0.9, 0.8)}
OTHER_THRESHOLDS = (0.9, 0.7, 0.5)
"""Identities to the nearest training relative that are counted, for other alphabets."""
ANY = "any"

FindingRow = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """The number of sequences that overlap in one way.

    `limit` is the length of a shared stretch, or the identity, above which a sequence counts. `strongest` counts the
    test
    sequences that overlap in no stronger way, `conflicts` those whose nearest training relative has another label.

    >>> Finding("identical", None, 3, 3, 1).test
    3
    """

    kind: str  # One of `seqkern.evaluation.relations.KINDS`, ``identity_0.9`` or another threshold, or ``any``
    # The length of a shared stretch, or the identity, from which a sequence counts; None without one
    limit: float | None
    test: int  # Test sequences that overlap with training in this way
    strongest: int | None  # Those that overlap in no stronger way
    conflicts: int  # Those whose nearest training relative has another label
    # Sequences with such a relative in their own part; None where it is not looked for
    within_training: int | None = None
    conflicts_within_training: int | None = None  # Those of them with a relative of another label
    within_test: int | None = None  # Sequences with such a relative in their own part; None where it is not looked for
    conflicts_within_test: int | None = None  # Those of them with a relative of another label


def count_findings(parts: Parts, relations: Relations, within: Within | None = None) -> list[Finding]:
    """Return the counts for each kind of overlap, each threshold of identity, and any overlap."""
    conflict = conflicts(parts, relations)
    place = np.where(relations.overlaps, relations.has.argmax(axis=1), -1)
    rows = []
    for number, kind in enumerate(KINDS):
        own = relations.has[:, number]
        if kind == "reverse_complement" and not relations.both_strands:
            continue
        more: tuple[int, ...] = ()
        if within is not None and kind in WITHIN:
            flags = (within.has[:, number], within.conflict[:, number])
            more = tuple(int((flag & side).sum()) for side in (~parts.is_test, parts.is_test) for flag in flags)
        limit = {"similar": relations.limit, "shared_kmer": relations.k}.get(kind)
        strongest, differ = int((place == number).sum()), int((own & conflict).sum())
        rows.append(Finding(kind, limit, int(own.sum()), strongest, differ, *more))
    rows.append(Finding(ANY, None, int(relations.overlaps.sum()), None, int(conflict.sum())))
    near = relations.has[:, : len(WITHIN)].any(axis=1)
    for limit in THRESHOLDS.get(parts.X.alphabet.name, OTHER_THRESHOLDS):
        own = near & (relations.identity >= limit - 1e-9)
        rows.append(Finding(f"identity_{limit:g}", limit, int(own.sum()), None, int((own & conflict).sum())))
    return rows


def conflicts(parts: Parts, relations: Relations) -> Bools:
    """Return a mask of the test sequences labelled differently than their nearest training relative."""
    own, other = parts.codes[: parts.n_test], parts.codes[parts.n_test :][relations.row]
    return relations.overlaps & (own >= 0) & (other >= 0) & (own != other)


def overlap_rows(parts: Parts, relations: Relations) -> Iterator[FindingRow]:
    """Yield a row for each test sequence that overlaps with training."""
    kinds, ids = relations.kinds(), parts.X.ids
    for test in np.flatnonzero(relations.overlaps).tolist():
        train = parts.n_test + int(relations.row[test])
        yield {
            "test_id": ids[test],
            "test_label": parts.names[test] if parts.names else "",
            "kind": kinds[test],
            "train_id": ids[train],
            "train_label": parts.names[train] if parts.names else "",
            "identity": float(relations.identity[test]),
            "stretch": int(relations.stretch[test]) or None,
            "kinds": " ".join(kind for kind, has in zip(KINDS, relations.has[test], strict=True) if has),
        }


def cluster_rows(parts: Parts, within: Within) -> list[FindingRow]:
    """Return a row for each cluster of near-duplicates, the largest first."""
    sizes = np.bincount(within.cluster)
    order, ends = np.argsort(within.cluster, kind="stable"), np.cumsum(sizes)
    rows: list[FindingRow] = []
    for number in np.argsort(-sizes, kind="stable").tolist():
        if sizes[number] < 2:
            break
        own = order[ends[number] - sizes[number] : ends[number]]
        first = next(iter(own[~parts.is_test[own]].tolist()), int(own[0]))
        labels = Counter(parts.names[row] or "unknown" for row in own.tolist()) if parts.names else Counter[str]()
        rows.append(
            {
                "cluster": len(rows) + 1,
                "training": int((~parts.is_test[own]).sum()),
                "test": int(parts.is_test[own].sum()),
                "classes": len(set(labels) - {"unknown"}),
                "labels": ", ".join(f"{name} {count}" for name, count in sorted(labels.items())),
                "first": parts.X.ids[first],
            }
        )
    return rows
