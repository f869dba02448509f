"""Splits into training and test sets as files, shared by all kernels and solvers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import whole_number
from seqkern.core.errors import FoldError, check_known
from seqkern.core.tsv import format_cell, read_tsv, write_tsv
from seqkern.core.types import Array, Bools, Codes, Ids, Indices, Ints, PathLike
from seqkern.evaluation.fold_methods import (
    DEV,
    FIVE,
    GIVEN_SETS,
    METHODS,
    OF_VARIANTS,
    PARTS,
    RARE_STATE,
    Samples,
    development,
    inner_groups,
    options_of,
    parts_of,
)
from seqkern.formats.residues import Residues
from seqkern.sequences.labels import Labels
from seqkern.sequences.sampling import merge_groups
from seqkern.sequences.tables import Data

# One division of samples into a training and a test set.


@dataclass(frozen=True, eq=False)
class Split:
    """One division of the samples into a training and a test set.

    Attributes
    ----------
    name : str
        Name of the split.
    train : ndarray of int64
        The training rows, sorted.
    test : ndarray of int64
        The test rows, sorted and disjoint from `train`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.evaluation import Split
    >>> split = Split("1", train=np.array([0, 2, 3]), test=np.array([1, 4]))
    >>> split.name, split.test.tolist()
    ('1', [1, 4])
    """

    name: str
    train: Indices
    test: Indices


# Checks that the residues of a chain are in one set of a split, and in one group of the inner folds.


def check_whole(split: "Split", chains: npt.ArrayLike | None, ids: Ids, file: PathLike | None = None) -> None:
    """Raise FoldError if a chain has residues in both sets of a split."""
    if chains is None:
        return
    numbers = np.asarray(chains)
    divided = split.test[np.isin(numbers[split.test], numbers[split.train])]
    if len(divided):
        raise FoldError(
            f"is in the test set of split {split.name!r}, but other residues of its chain are in the training set",
            file=file,
            record=ids[divided[0]],
            remedy="keep chains whole, for example with the fold method grouped",
        )


def groups_of_chains(
    splits: "Sequence[Split]", groups: Indices | None, chains: Indices, ids: Ids, path: PathLike
) -> Indices:
    """Return the groups of residues, by default their chains."""
    used = np.unique(np.concatenate([rows for split in splits for rows in (split.train, split.test)]))
    chains = chains[used]
    if groups is None:
        groups = np.full(len(ids), -1, dtype=np.int64)
        groups[used] = np.unique(chains, return_inverse=True)[1]
    _, first, number = np.unique(chains, return_index=True, return_inverse=True)
    own = groups[used]
    divided = used[own != own[first[number]]]
    if len(divided):
        raise FoldError(
            "belongs to another group than the preceding residues of its chain",
            file=path,
            record=ids[divided[0]],
            remedy="create the folds again",
        )
    return groups


# Similarity groups, relaxed where folds require it: a class with too few groups is split by single samples.

LEAST = 3
"""Number of a class's groups that inner folds need: two in each training set, for solvers with their own folds."""


def relaxed_groups(
    similar: npt.ArrayLike,
    others: npt.ArrayLike | None,
    labels: Labels,
    trainings: Sequence[Indices] | None = None,
    least: int = LEAST,
) -> tuple[Indices | None, tuple[str, ...]]:
    """Return similarity groups that leave every class enough groups to split.

    If similarity leaves a class with fewer than `least` groups, and it would have more without, the samples of
    the class are taken out of their similarity groups.
    """
    n = len(labels)
    groups = merge_groups(n, similar)
    y = np.zeros(n, dtype=np.int64) if labels.kind in ("real", "none") else labels.y.astype(np.int64)
    sets = [np.arange(n)] if trainings is None else trainings
    alone = merge_groups(n, np.arange(n) if others is None else others)
    reasons = []
    for code in np.unique(y[y >= 0]):
        merged = merge_groups(n, alone, groups)
        members = [rows[y[rows] == code] for rows in sets]
        count, single = min((len(np.unique(merged[rows])), len(np.unique(alone[rows]))) for rows in members)
        if count >= min(least, single):
            continue
        rows = np.flatnonzero(y == code)
        groups[rows] = groups.max() + 1 + np.arange(len(rows))
        name = "the task" if labels.kind in ("real", "none") else f"class {labels.classes[code]!r}"
        reasons.append(
            f"{name} has {count} group{'s' * (count != 1)} of similar samples, too few to split: its samples are split "
            "as if they were not similar"
        )
    groups = merge_groups(n, groups)
    return (groups if groups.max(initial=-1) + 1 < n else None), tuple(reasons)


# Splits into training and test sets, stored as files and shared by all kernels and solvers.
#
# `make_folds` calls one of the splitters, checks that every set is suitable for training or scoring, and returns a
# `FoldSet`; `write_folds` and `read_folds` store it as a TSV: one row for each sample, one column for each split.

GROUP = "group"
RESERVED = ("id", GROUP)
UNCHANGED = (*GIVEN_SETS, "leave-one-group-out", *OF_VARIANTS)
"""Fold methods whose sets do not depend on the similarity of samples."""


@dataclass(frozen=True, eq=False)
class FoldSet:
    """All splits of one task.

    Attributes
    ----------
    task : str
        The name of the task.
    ids : tuple of str, length n
        The ids of the samples, in order.
    splits : tuple of Split
        At least one split.
    groups : ndarray of int64, shape (n,), optional
        Samples that an inner loop must keep together share a number; −1 for an unused sample.
    remarks : tuple of str
        Classes whose similar samples could not be kept together; not stored.
    dev : ndarray of bool, shape (n,), optional
        The development part of the training sets: the inner loop trains on the rest and validates on it.

    Examples
    --------
    >>> from seqkern.evaluation import make_folds
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(["a", "b", "c", "d"], ["donor", "decoy"] * 2)
    >>> foldset = make_folds(labels, k=2, seed=1)
    >>> [(split.name, len(split.train), len(split.test)) for split in foldset]
    [('1', 2, 2), ('2', 2, 2)]
    """

    task: str
    ids: tuple[str, ...]
    splits: "tuple[Split, ...]"
    groups: Indices | None = None
    remarks: tuple[str, ...] = ()
    dev: Bools | None = None

    def __len__(self) -> int:
        return len(self.splits)

    def __iter__(self) -> "Iterator[Split]":
        return iter(self.splits)

    def inner_labels(self, labels: Labels) -> Labels:
        """Return labels with the data for an inner loop: groups and the development part, if any.

        Parameters
        ----------
        labels : Labels
            Labels of the same samples.

        Returns
        -------
        Labels
        """
        groups = labels.groups if self.groups is None else self.groups
        return replace(labels, groups=groups, dev=self.dev)


def make_folds(
    labels: Labels,
    X: Data | None = None,
    method: str = "stratified",
    *,
    task: str = "all",
    roles: npt.ArrayLike | None = None,
    links: npt.ArrayLike | None = None,
    similar: npt.ArrayLike | None = None,
    chains: npt.ArrayLike | None = None,
    **options: Any,
) -> "FoldSet":
    """Split labelled samples into training and test sets.

    Samples without a label are in neither set.

    Parameters
    ----------
    labels : Labels
        Labels of the n samples.
    X : SequenceSet, FeatureTable or SimilarityTable, optional
        The data, for the default gap of `locus`: the length of the longest sequence.
    method : str
        ``stratified``, ``grouped``, ``five_by_two``, ``predefined``, ``locus``, ``leave-one-out``,
        ``leave-one-group-out`` or ``liao-noble``; of variants of one parent ``position``, ``position-blocks``,
        ``mutations`` or ``value``.
    task : str
        Name of the task.
    roles : array_like of str, shape (n,), optional
        The task's own sets, for `predefined` and `liao-noble`: ``train``, ``dev``, ``test`` or nothing.
    links : array_like, shape (n,), optional
        Groups of similar samples to be kept together in any case. Predefined sets and chromosomes are never changed.
    similar : array_like, shape (n,), optional
        Groups of similar samples to be kept together where every class has enough of them (see
        `seqkern.evaluation.folds`); `leave-one-group-out` keeps them together in inner folds only.
    chains : array_like of int, shape (n,), optional
        The chain of each sample, if samples are residues. No method divides a chain; given groups are kept together by
        every method that draws at random.
    **options : object
        Parameters of the method: `k` and `seed` (stratified, grouped, locus, position; five_by_two has only `seed`,
        position-blocks only `k`), `gap`, `block`, `train`, `test` (locus: bases, or names of chromosomes), `parent`
        (position, position-blocks, mutations: its residues; default: the consensus), `most` (mutations: their largest
        number in training), `share` (value: of the samples, that are tested).

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
        If a class or the groups have fewer members than folds, a set lacks a class, or given sets divide a chain.

    Examples
    --------
    Remote homologs: one fold for each group, so that no family is in both sets of a split.

    >>> from seqkern.evaluation import make_folds
    >>> from seqkern.sequences.labels import make_labels
    >>> families = ["a.1", "a.1", "a.2", "a.2", "a.3", "a.3"]
    >>> labels = make_labels(list("abcdef"), ["globin", "other"] * 3, groups=families)
    >>> for split in make_folds(labels, method="leave-one-group-out"):
    ...     print(split.name, split.train.tolist(), split.test.tolist())
    a.1 [2, 3, 4, 5] [0, 1]
    a.2 [0, 1, 4, 5] [2, 3]
    a.3 [0, 1, 2, 3] [4, 5]
    """
    known = options_of(method)
    check_known(f"option of fold method {method!r}", options, known)
    used = np.flatnonzero(labels.used())
    samples = Samples(
        labels.take(used),
        X,
        str(task),
        None if roles is None else np.asarray(roles, dtype=str)[used],
        None if links is None else np.asarray(links)[used],
        None if chains is None else np.asarray(chains)[used],
        used,
    )
    inner: Samples = samples
    remarks: tuple[str, ...] = ()
    if similar is None:
        splits = _splits(samples, used, method, options)
    else:
        alike = np.asarray(similar)[used]
        splits, remarks = _splits_of_groups(samples, used, method, options, alike)
        places = np.full(len(labels), -1, dtype=np.int64)
        places[used] = np.arange(len(used))
        trainings = [places[split.train] for split in splits]
        kept, more = relaxed_groups(alike, inner_groups(samples, method, options), samples.labels, trainings)
        inner, remarks = replace(samples, links=kept), tuple(dict.fromkeys(remarks + more))
    groups = _expanded(inner_groups(inner, method, options), used, len(labels), -1)
    dev = _expanded(development(samples, method), used, len(labels), False)
    foldset = FoldSet(str(task), tuple(labels.ids), tuple(splits), groups, remarks, dev)
    _check_development(foldset, labels)
    return foldset


def _expanded(values: Array | None, used: Indices, n: int, absent: Any) -> Array | None:
    """Expand values of the used samples to all n samples, with `absent` for the others."""
    if values is None:
        return None
    found = np.full(n, absent, dtype=values.dtype)
    found[used] = values
    return found


def _splits(samples: Samples, used: Indices, method: str, options: Mapping[str, Any]) -> "list[Split]":
    """Return the checked splits of the samples in the rows `used`, with row numbers among all samples."""
    splitter, single_tests = METHODS[method]
    labels, task = samples.labels, samples.task
    of_residues = samples.chains is not None
    splits = []
    for name, train, test in splitter(samples, **options):
        if name in RESERVED:
            raise FoldError(f"invalid name {name!r} for a split of task {task!r}", remedy="rename the group or fold")
        _check_part(labels, task, name, "training", train, of_residues=of_residues)
        _check_part(labels, task, name, "test", test, every_class=not single_tests, of_residues=of_residues)
        check_whole(Split(name, train, test), samples.chains, labels.ids)
        splits.append(Split(name, used[train], used[test]))
    return splits


def _splits_of_groups(
    samples: Samples, used: Indices, method: str, options: Mapping[str, Any], similar: Indices
) -> "tuple[list[Split], tuple[str, ...]]":
    """Return splits that keep similar samples together where possible, and the reasons where not."""
    outer: Indices | None = None
    remarks: tuple[str, ...] = ()
    if method == "leave-one-out":
        outer = similar
    elif method not in UNCHANGED:
        others = samples.undivided(method) if method == "stratified" else inner_groups(samples, method, options)
        k = options.get("k", FIVE)
        least = FIVE - 1 if method == "five_by_two" or not isinstance(k, int) else k
        outer, remarks = relaxed_groups(similar, others, samples.labels, least=least)
    try:
        return _splits(replace(samples, links=outer), used, method, options), remarks
    except FoldError as error:
        if outer is None:
            raise
        splits = _splits(samples, used, method, options)
        return splits, (f"similar samples could not be kept together: {error.problem}",)


def _check_part(
    labels: Labels,
    task: str,
    name: str,
    part: str,
    rows: Indices,
    *,
    every_class: bool = True,
    of_residues: bool = False,
    file: PathLike | None = None,
) -> None:
    """Raise FoldError if a set of a split is empty, or lacks a class although every class is required."""
    where = f"the {part} set of split {name!r} of task {task!r}"
    if not len(rows):
        raise FoldError(f"{where} is empty", file=file, remedy="choose other folds")
    classes = labels.classes if every_class else ()
    missing = np.setdiff1d(np.arange(len(classes)), labels.y[rows])
    if len(missing):
        alone = ": only one class" if len(classes) - len(missing) == 1 else ""
        remedy = "use fewer or other folds (stratified folds contain every class), or remove the class"
        raise FoldError(
            f"{where} has no sample of class {classes[missing[0]]!r}{alone}",
            file=file,
            remedy=f"use other folds, {RARE_STATE}" if of_residues else remedy,
        )


def _check_development(foldset: "FoldSet", labels: Labels, file: PathLike | None = None) -> None:
    """Raise FoldError unless every class is in the development part and in the rest of each training set."""
    if foldset.dev is None:
        return
    for split in foldset:
        dev = foldset.dev[split.train]
        for part, rows in (("development", split.train[dev]), ("training", split.train[~dev])):
            _check_part(labels, foldset.task, split.name, part, rows, file=file)


def write_folds(path: PathLike, foldset: "FoldSet") -> None:
    r"""Write splits to a TSV.

    Columns are `id`, `group` if the inner loop has groups to keep together, then one for each split, with
    train, dev, test or nothing. Samples of a development part are training samples too.

    Parameters
    ----------
    path : path-like
        The file; its stem should be the name of the task, which `read_folds` derives from it.
    foldset : FoldSet
        The splits.

    Raises
    ------
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from seqkern.evaluation import FoldSet, Split, write_folds
    >>> split = Split("1", train=np.array([0, 1]), test=np.array([2]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "globins.tsv"
    ...     write_folds(file, FoldSet("globins", ("HBA", "HBB", "MYG"), (split,)))
    ...     print(file.read_text().replace("\t", " "), end="")
    id 1
    HBA train
    HBB train
    MYG test
    """
    columns: list[list[Any]] = []
    for split in foldset:
        column = np.full(len(foldset.ids), "", dtype=object)
        column[split.train], column[split.test] = PARTS
        if foldset.dev is not None:
            column[split.train[foldset.dev[split.train]]] = DEV
        columns.append(column.tolist())
    names = [split.name for split in foldset]
    if foldset.groups is not None:
        names.insert(0, GROUP)
        columns.insert(0, ["" if group < 0 else group for group in foldset.groups.tolist()])
    write_tsv(path, ["id", *names], zip(foldset.ids, *columns, strict=True))


def read_folds(
    path: PathLike, ids: Sequence[str], labels: Labels | None = None, chains: npt.ArrayLike | None = None
) -> "FoldSet":
    """Read a file of `write_folds`, for the samples `ids`.

    Parameters
    ----------
    path : path-like
        The file; its stem is the task's name.
    ids : sequence of str
        The ids of the samples; the file must contain the same ones, in any order.
    labels : Labels, optional
        Labels of the samples; if given, the sets are checked for training and testing.
    chains : array_like of int, shape (n,), optional
        The chain of each sample, if samples are residues: no split may divide one, nor may the groups of the inner
        loop. In a file without groups, chains become the groups.

    Returns
    -------
    FoldSet
        With rows in the order of `ids`.

    Raises
    ------
    FileError
        If the file is missing or not a table.
    FoldError
        If it is not a table of folds, or belongs to other samples; with `labels` also if a sample without a label is in
        a set, a training set lacks a class, or a test set is empty; with `chains` if one is divided.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern.evaluation import make_folds, read_folds, write_folds
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(["a", "b", "c", "d"], ["donor", "decoy"] * 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folds(Path(folder) / "sites.tsv", make_folds(labels, k=2, seed=1))
    ...     foldset = read_folds(Path(folder) / "sites.tsv", labels.ids, labels)
    >>> foldset.task, [split.name for split in foldset]
    ('sites', ['1', '2'])
    """
    file, names_of_samples = Path(path), tuple(ids)
    rows = read_tsv(file)
    names = [name for name in rows[0] if name not in RESERVED] if rows else []
    if not names or "id" not in rows[0]:
        raise FoldError("is not a table of folds", file=file, remedy="add a column id and one for each split")
    order = _rows_of_samples(names_of_samples, [row["id"] for row in rows], file)
    columns: list[npt.NDArray[np.str_]] = []
    groups: Indices | None = None
    for name in names:
        cells = [row[name] for row in rows]
        for odd in set(cells) - {"", DEV, *PARTS}:
            record = rows[cells.index(odd)]["id"]
            raise FoldError(f"is marked {odd!r}", file=file, record=record, remedy="use train, dev, test or nothing")
        columns.append(np.array(cells)[order])
    splits = [Split(name, *parts_of(column)) for name, column in zip(names, columns, strict=True)]
    dev = _development(columns, names_of_samples, file)
    if GROUP in rows[0]:
        numbers = [_group_number(row[GROUP], file, row["id"]) for row in rows]
        groups = np.array(numbers, dtype=np.int64)[order]
    if chains is not None:
        for split in splits:
            check_whole(split, chains, names_of_samples, file)
        groups = groups_of_chains(splits, groups, np.asarray(chains), names_of_samples, file)
    if labels is not None:
        of_residues = chains is not None
        for split in splits:
            _check_labels(labels, split, file)
            _check_part(labels, file.stem, split.name, "training", split.train, of_residues=of_residues, file=file)
            _check_part(labels, file.stem, split.name, "test", split.test, every_class=False, file=file)
    foldset = FoldSet(file.stem, names_of_samples, tuple(splits), groups, dev=dev)
    if labels is not None:
        _check_development(foldset, labels, file)
    return foldset


def _development(columns: Sequence[npt.NDArray[np.str_]], ids: Ids, file: Path) -> Bools | None:
    """Return a mask of the samples marked dev.

    Raise FoldError if a sample is marked dev in some splits and as a training sample in others.
    """
    cells = np.array(columns)
    dev: Bools = (cells == DEV).any(axis=0)
    odd = np.flatnonzero(dev & (cells == PARTS[0]).any(axis=0))
    if len(odd):
        raise FoldError(
            "is marked dev in one split and train in another",
            file=file,
            record=ids[odd[0]],
            remedy="mark it dev in both",
        )
    return dev if dev.any() else None


def _rows_of_samples(ids: Ids, named: list[str], path: Path) -> Indices:
    """Return the row of each sample in a table; raise FoldError unless it lists each sample once, and no others."""
    ids = list(map(format_cell, ids))
    place = {name: row for row, name in enumerate(named)}
    if len(place) < len(named):
        twice = next(name for row, name in enumerate(named) if place[name] != row)
        raise FoldError("duplicate id", file=path, record=twice, remedy="list every sample once")
    strange = place.keys() - set(ids)
    if strange:
        first = min(strange, key=place.__getitem__)
        raise FoldError("is not in the data set", file=path, record=first, remedy="create the folds again")
    if len(place) < len(ids):
        absent = next(name for name in ids if name not in place)
        raise FoldError("has no row in the file", file=path, record=absent, remedy="create the folds again")
    return np.array([place[name] for name in ids], dtype=np.int64)


def _check_labels(labels: Labels, split: "Split", path: Path) -> None:
    """Raise FoldError if a sample of a split has no label."""
    rows = np.concatenate((split.train, split.test))
    y = labels.y[rows]
    bare = rows[np.isnan(y) if labels.kind == "real" else y < 0]
    if len(bare):
        raise FoldError(
            f"has no label, but is in split {split.name!r}",
            file=path,
            record=labels.ids[bare[0]],
            remedy="create the folds again",
        )


def _group_number(text: str, path: Path, record: str) -> int:
    """Return a cell of the group column as a number, −1 if empty."""
    if not text:
        return -1
    number = whole_number(text)
    if number is None:
        raise FoldError(
            f"has a group {text!r} that is not a number", file=path, record=record, remedy="create the folds again"
        )
    return number


def composition_rows(foldset: "FoldSet", labels: Labels) -> list[tuple[str | int, ...]]:
    """Count the samples of each class in the sets of each split.

    Parameters
    ----------
    foldset : FoldSet
        The splits.
    labels : Labels
        Labels of the same samples.

    Returns
    -------
    list of tuple
        (task, split, class, number in training, number in test); real labels form one class ``all``. With a development
        part, also the number in it.

    Examples
    --------
    >>> from seqkern.evaluation import composition_rows, make_folds
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(["a", "b", "c", "d"], ["donor", "decoy"] * 2)
    >>> for row in composition_rows(make_folds(labels, k=2, seed=1), labels):
    ...     print(*row)
    all 1 decoy 1 1
    all 1 donor 1 1
    all 2 decoy 1 1
    all 2 donor 1 1
    """
    real = labels.kind == "real"
    y = np.zeros(len(labels), np.int64) if real else labels.y
    rows: list[tuple[str | int, ...]] = []
    for split in foldset:
        parts = [split.train, split.test]
        if foldset.dev is not None:
            parts.append(split.train[foldset.dev[split.train]])
        for c, name in enumerate(("all",) if real else labels.classes):
            rows.append((foldset.task, split.name, name, *(int((y[part] == c).sum()) for part in parts)))
    return rows


def write_composition(path: PathLike, rows: Iterable[Sequence[str | int]]) -> None:
    r"""Write the result of `composition_rows` to a TSV.

    Parameters
    ----------
    path : path-like
        The file.
    rows : iterable of tuple
        Rows for all tasks of a data set.

    Raises
    ------
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern.evaluation import write_composition
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_composition(Path(folder) / "composition.tsv", [("all", "1", "donor", 120, 30)])
    ...     print((Path(folder) / "composition.tsv").read_text().replace("\t", " "), end="")
    task split class train test
    all 1 donor 120 30
    """
    listed = [tuple(row) for row in rows]
    header = ("task", "split", "class", *PARTS, DEV)[: max(map(len, listed), default=5)]
    write_tsv(path, header, [row + (0,) * (len(header) - len(row)) for row in listed])


# Folds of residues as folds of their chains, to detect leakage between training and test sets.
#
# Windows of neighbouring residues overlap, and short ones occur in many chains by chance; neither is leakage. A test
# chain is a leak if a homolog, or other residues of the chain, are in the training set.


def chain_folds(foldset: FoldSet, residues: Residues) -> FoldSet:
    """Return a FoldSet of the chains: each is in the sets that contain its residues, possibly in both."""
    splits = (Split(s.name, *(np.unique(residues.record[rows]) for rows in (s.train, s.test))) for s in foldset)
    return FoldSet(foldset.task, tuple(residues.chains.ids), tuple(splits))


def chain_labels(identical: Ints, residues: Residues) -> Labels:
    """Return Labels of the chains that distinguish identical chains with different states.

    Identical chains are compared only at residues with known states in both, since parts of a chain may be
    masked.
    """
    chains = residues.chains
    states = np.zeros(len(chains.codes), dtype=np.uint8)
    states[residues.positions()] = residues.states()
    y = np.zeros(len(chains), dtype=np.int64)
    first: dict[int, Codes] = {}
    for i, number in enumerate(identical.tolist()):
        own = states[chains.starts[i] : chains.stops[i]]
        known = first.setdefault(number, own)
        y[i] = np.any((own != known) & (own != 0) & (known != 0))
    return Labels(list(chains.ids), y, "multiclass", ("same", "other"))
