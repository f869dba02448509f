"""What training and test parts share: identical sequences, sequences inside others, and similar ones.

`find_links` looks once at all units of a data set; `leakage_rows` then says which links cross a split.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.core.checks import check_integer, check_real
from seqkern.core.tsv import write_tsv
from seqkern.folds.overlaps import chance_length, contained_pairs, similar_pairs
from seqkern.folds.splitters import merge_groups
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable

KINDS = ("identical", "contained", "similar", "conflict")
HEADER = ("task", "split", "kind", "test_id", "train_id", "identity")


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

    Letters outside the alphabet count as one further letter. Rows of a feature table are compared for
    identity only, units of a similarity table not at all.

    Parameters
    ----------
    X : SequenceSet, FeatureTable or SimilarityTable
    contained : bool
        Whether to look for sequences that lie inside others.
    min_length : int, optional
        Shorter sequences are not looked for inside others. By default the length at which fewer than one such
        pair is expected by chance among letters drawn evenly.
    identity : float, optional
        Also look for pairs whose identity is at least this: see `similar_pairs`, which can miss some.
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
    used = labels.used()
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
    write_tsv(path, HEADER, rows)
