"""Splits into training and test parts as files, shared by all kernels and solvers.

`make_folds` calls one of the splitters, checks that every part can be learned from and scored, and returns a
`FoldSet`; `write_folds` and `read_folds` keep it as a TSV: one row for each unit, one column for each split.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seqkern.core.errors import FoldError, unknown_name
from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.folds.methods import METHODS, inner_groups, options_of
from seqkern.folds.units import PARTS, RARE_STATE, Units
from seqkern.folds.whole_chains import check_whole, groups_of_chains

GROUP = "group"
RESERVED = ("id", GROUP)


@dataclass(frozen=True, eq=False)
class Split:
    """One division of the units: rows to train on and rows to test on (int64, sorted, disjoint)."""

    name: str
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class FoldSet:
    """All splits of one task.

    Attributes
    ----------
    task : str
    ids : tuple of str, length n
        The ids of the units, in order.
    splits : tuple of Split
    groups : ndarray of int64, shape (n,), optional
        Units that an inner loop must keep together share a number; −1 is a unit that is not used.
    """

    task: str
    ids: tuple
    splits: tuple
    groups: np.ndarray | None = None

    def __len__(self):
        return len(self.splits)

    def __iter__(self):
        return iter(self.splits)


def make_folds(labels, X=None, method="stratified", *, task="all", roles=None, links=None, chains=None, **options):
    """Divide labelled units into training and test parts.

    Units without a label are in neither part.

    Parameters
    ----------
    labels : Labels
    X : SequenceSet, FeatureTable or SimilarityTable, optional
        The data; `locus` takes its default gap, the longest sequence, from it.
    method : str
        ``stratified``, ``grouped``, ``five_by_two``, ``predefined``, ``locus``, ``leave-one-out``,
        ``leave-one-group-out`` or ``liao-noble``.
    task : str
        The task's name.
    roles : array_like of str, shape (n,), optional
        The task's own parts, for `predefined` and `liao-noble`: ``train``, ``test`` or nothing.
    links : array_like, shape (n,), optional
        Groups of units that the leakage check found alike, to be kept together. Predefined parts and
        chromosomes are never changed.
    chains : array_like of int, shape (n,), optional
        Where units are residues, the chain of each. No method divides one; given groups are kept together by every
        method that draws.
    **options
        Parameters of the method: `k` and `seed` (stratified, grouped, locus; five_by_two has `seed` alone), `gap`,
        `block`, `train`, `test` (locus: bases, or names of chromosomes).

    Returns
    -------
    FoldSet

    Raises
    ------
    ParameterError
        For an unknown method or option, with the nearest known one.
    LabelError
        If the labels lack what the method needs (groups, folds, positions).
    FoldError
        If a class or the groups have fewer members than folds, a part lacks a class, or given parts divide a chain.
    """
    known = options_of(method)
    for name in options:
        if name not in known:
            raise unknown_name(f"option of fold method {method!r}", name, known)
    splitter, single_tests = METHODS[method]
    used = np.flatnonzero(labels.used())
    units = Units(
        labels.take(used),
        X,
        str(task),
        None if roles is None else np.asarray(roles, dtype=str)[used],
        None if links is None else np.asarray(links)[used],
        None if chains is None else np.asarray(chains)[used],
    )
    of_residues = chains is not None
    splits = []
    for name, train, test in splitter(units, **options):
        if name in RESERVED:
            raise FoldError(f"a split of task {task!r} cannot be called {name!r}", remedy="rename the group or fold")
        _check_part(units.labels, units.task, name, "training", train, of_residues=of_residues)
        _check_part(units.labels, units.task, name, "test", test, every_class=not single_tests, of_residues=of_residues)
        splits.append(Split(name, used[train], used[test]))
        check_whole(splits[-1], chains, labels.ids)
    groups = inner_groups(units, method, options)
    if groups is not None:
        whole = np.full(len(labels), -1, dtype=np.int64)
        whole[used] = groups
        groups = whole
    return FoldSet(str(task), tuple(labels.ids), tuple(splits), groups)


def _check_part(labels, task, name, part, rows, *, every_class=True, of_residues=False, file=None):
    """Raise FoldError if a part of a split is empty or, where it must hold every class, lacks one."""
    where = f"the {part} part of split {name!r} of task {task!r}"
    if not len(rows):
        raise FoldError(f"{where} is empty", file=file, remedy="choose other folds")
    classes = labels.classes if every_class else ()
    missing = np.setdiff1d(np.arange(len(classes)), labels.y[rows])
    if len(missing):
        alone = ": one class only" if len(classes) - len(missing) == 1 else ""
        remedy = "take fewer or other folds (stratified ones hold every class), or leave the class out"
        raise FoldError(
            f"{where} has no unit of class {classes[missing[0]]!r}{alone}",
            file=file,
            remedy=f"take other folds, {RARE_STATE}" if of_residues else remedy,
        )


def write_folds(path, foldset):
    """Write the splits to a TSV.

    Columns are `id`, `group` where the inner loop has groups to keep together, then one for each split, with
    train, test or nothing.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    columns = []
    for split in foldset:
        column = np.full(len(foldset.ids), "", dtype=object)
        column[split.train], column[split.test] = PARTS
        columns.append(column.tolist())
    names = [split.name for split in foldset]
    if foldset.groups is not None:
        names.insert(0, GROUP)
        columns.insert(0, ["" if group < 0 else group for group in foldset.groups.tolist()])
    write_tsv(path, ["id", *names], zip(foldset.ids, *columns, strict=True))


def read_folds(path, ids, labels=None, chains=None):
    """Read what `write_folds` wrote, for the units `ids`.

    Parameters
    ----------
    path : path-like
        The file; its stem is the task's name.
    ids : sequence of str
        The ids of the units; the file must name the same ones, in any order.
    labels : Labels, optional
        Of the units: then the parts must be such that they can be learned from and tested.
    chains : array_like of int, shape (n,), optional
        Where units are residues, the chain of each: no split may divide one, nor may the groups of the inner loop. A
        file without groups has chains as such.

    Returns
    -------
    FoldSet
        Its rows in the order of `ids`.

    Raises
    ------
    FileError
        If the file is missing or no table.
    FoldError
        If it is no table of folds, or made for other units; with `labels` also if a unit without a label is in
        a part, a training part lacks a class, or a test part is empty; with `chains` if one is divided.
    """
    path, ids = Path(path), tuple(ids)
    rows = read_tsv(path)
    names = [name for name in rows[0] if name not in RESERVED] if rows else []
    if not names or "id" not in rows[0]:
        raise FoldError("no table of folds", file=path, remedy="give a column id and one for each split")
    order = _rows_of_units(ids, [row["id"] for row in rows], path)
    splits, groups = [], None
    for name in names:
        cells = [row[name] for row in rows]
        for odd in set(cells) - {"", *PARTS}:
            record = rows[cells.index(odd)]["id"]
            raise FoldError(f"is marked {odd!r}", file=path, record=record, remedy="use train, test or nothing")
        cells = np.array(cells)[order]
        splits.append(Split(name, *(np.flatnonzero(cells == part) for part in PARTS)))
    if GROUP in rows[0]:
        numbers = [_group_number(row[GROUP], path, row["id"]) for row in rows]
        groups = np.array(numbers, dtype=np.int64)[order]
    if chains is not None:
        for split in splits:
            check_whole(split, chains, ids, path)
        groups = groups_of_chains(splits, groups, np.asarray(chains), ids, path)
    if labels is not None:
        for split in splits:
            _check_labels(labels, split, path)
            _check_part(
                labels, path.stem, split.name, "training", split.train, of_residues=chains is not None, file=path
            )
            _check_part(labels, path.stem, split.name, "test", split.test, every_class=False, file=path)
    return FoldSet(path.stem, ids, tuple(splits), groups)


def _rows_of_units(ids, named, path):
    """Return int64: the row of each unit in a table; FoldError unless it names each once, and no other."""
    place = {name: row for row, name in enumerate(named)}
    if len(place) < len(named):
        twice = next(name for row, name in enumerate(named) if place[name] != row)
        raise FoldError("occurs twice", file=path, record=twice, remedy="name every unit once")
    strange = place.keys() - set(ids)
    if strange:
        first = min(strange, key=place.get)
        raise FoldError("is not in the data set", file=path, record=first, remedy="make the folds again")
    if len(place) < len(ids):
        absent = next(name for name in ids if name not in place)
        raise FoldError("has no row here", file=path, record=absent, remedy="make the folds again")
    return np.array([place[name] for name in ids], dtype=np.int64)


def _check_labels(labels, split, path):
    """Raise FoldError for a unit without a label in a part of a split."""
    rows = np.concatenate((split.train, split.test))
    y = labels.y[rows]
    bare = rows[np.isnan(y) if labels.kind == "real" else y < 0]
    if len(bare):
        raise FoldError(
            f"has no label, and is in a part of split {split.name!r}",
            file=path,
            record=labels.ids[bare[0]],
            remedy="make the folds again",
        )


def _group_number(text, path, record):
    """Return a cell of the column of groups as a number, −1 where it is empty."""
    if not text:
        return -1
    if not text.isdecimal():
        raise FoldError(f"its group {text!r} is no number", file=path, record=record, remedy="make the folds again")
    return int(text)


def composition_rows(foldset, labels):
    """Return (task, split, class, train, test) for each split and class; real labels are a class ``all``."""
    real = labels.kind == "real"
    y = np.zeros(len(labels), np.int64) if real else labels.y
    return [
        (foldset.task, split.name, name, int((y[split.train] == c).sum()), int((y[split.test] == c).sum()))
        for split in foldset
        for c, name in enumerate(("all",) if real else labels.classes)
    ]


def write_composition(path, rows):
    """Write `composition_rows` (of all tasks of a data set) to a TSV."""
    write_tsv(path, ("task", "split", "class", "train", "test"), rows)
