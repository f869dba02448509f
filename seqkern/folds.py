"""Splits into training and test parts as files, shared by all kernels and solvers.

`make_folds` calls one of the splitters, checks that every part can be learned from and scored, and returns a
`FoldSet`; `write_folds` and `read_folds` keep it as a TSV: one row for each unit, one column for each split.
"""

import inspect
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .archive import atomic_write
from .errors import FileError, FoldError, LabelError, unknown_name
from .parameters import check_integer
from .splitters import deal, liao_noble, locus_blocks, merge_groups, natural_key

__all__ = [
    "METHODS",
    "FoldSet",
    "Split",
    "composition_rows",
    "liao_noble",
    "make_folds",
    "read_folds",
    "write_composition",
    "write_folds",
]

PARTS = ("train", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """One division of the units: rows to train on and rows to test on (int64, sorted, disjoint)."""

    name: str
    train: np.ndarray
    test: np.ndarray

    @classmethod
    def from_roles(cls, name, roles):
        """Return the split whose rows are marked ``train``, ``test`` or nothing in `roles`."""
        roles = np.asarray(roles)
        return cls(str(name), np.flatnonzero(roles == "train"), np.flatnonzero(roles == "test"))


@dataclass(frozen=True, eq=False)
class FoldSet:
    """All splits of one task.

    Attributes
    ----------
    task : str
    ids : tuple of str, length n
        The ids of the units, in order.
    splits : tuple of Split
    """

    task: str
    ids: tuple
    splits: tuple

    def __len__(self):
        return len(self.splits)

    def __iter__(self):
        return iter(self.splits)


def make_folds(labels, X=None, method="stratified", *, task="all", roles=None, links=None, **options):
    """Divide labelled units into training and test parts.

    Units without a label are in neither part.

    Parameters
    ----------
    labels : Labels
    X : SequenceSet, FeatureTable or SimilarityTable, optional
        The data; `locus` takes its default gap, the longest sequence, from it.
    method : str
        ``stratified``, ``grouped``, ``predefined``, ``locus``, ``leave-one-out``, ``leave-one-group-out`` or
        ``liao-noble``.
    task : str
        The task's name.
    roles : array_like of str, shape (n,), optional
        The task's own parts, for `predefined` and `liao-noble`: ``train``, ``test`` or nothing.
    links : array_like, shape (n,), optional
        Groups of units that the leakage check found alike, to be kept together. Predefined parts and
        chromosomes are never changed.
    **options
        Parameters of the method: `k` and `seed` (stratified, grouped, locus), `gap`, `block`, `train`, `test`
        (locus: bases, or names of chromosomes).

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
        If a class or the groups have fewer members than folds, or a part lacks a class.
    """
    if method not in METHODS:
        raise unknown_name("fold method", method, METHODS)
    splitter, single_tests = METHODS[method]
    known = [p.name for p in inspect.signature(splitter).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise unknown_name(f"option of fold method {method!r}", name, known)
    used = np.flatnonzero(~np.isnan(labels.y) if labels.kind == "real" else labels.y >= 0)
    units = _Units(
        labels.take(used),
        X,
        str(task),
        None if roles is None else np.asarray(roles, dtype=str)[used],
        None if links is None else np.asarray(links)[used],
    )
    splits = []
    for split in splitter(units, **options):
        _check_classes(units, split, need_test=not single_tests)
        splits.append(Split(split.name, used[split.train], used[split.test]))
    return FoldSet(str(task), tuple(labels.ids), tuple(splits))


@dataclass(frozen=True)
class _Units:
    """The labelled units of a task: what a splitter may look at."""

    labels: object
    X: object
    task: str
    roles: object
    links: object

    def __len__(self):
        return len(self.labels)

    def classes(self):
        """Return the class codes, zeros for real labels."""
        return np.zeros(len(self), np.int64) if self.labels.kind == "real" else self.labels.y

    def groups(self, *partitions):
        """Return the given partitions merged with the links, or None if there are none at all."""
        partitions = [part for part in (*partitions, self.links) if part is not None]
        return merge_groups(len(self), *partitions) if partitions else None

    def column(self, field, method):
        """Return a column of the labels; LabelError if it is missing, or a cell of it is empty."""
        values = getattr(self.labels, field)
        remedy = f"give every unit a {field.removesuffix('s')}, or choose another fold method"
        if values is None:
            raise LabelError(
                f"task {self.task!r} has no column {field!r}, which the fold method {method!r} needs",
                remedy=remedy,
            )
        empty = np.flatnonzero(values == "") if values.dtype.kind == "U" else ()
        if len(empty) and field != "folds":
            record = self.labels.ids[empty[0]]
            raise LabelError(f"its {field.removesuffix('s')} is empty", record=record, remedy=remedy)
        return values


def _dealt(units, k, seed, groups):
    """Return k splits, after checking that every class has a member (a group) for each fold."""
    check_integer("k", k, 2)
    y, labels = units.classes(), units.labels
    for code in np.unique(y):
        inside = y == code
        members = int(inside.sum()) if groups is None else len(np.unique(groups[inside]))
        if members < k:
            name = "the task" if labels.kind == "real" else f"class {labels.classes[code]!r}"
            what = "unit" if groups is None else "group"
            raise FoldError(
                f"{name} has {members} {what}{'s' * (members != 1)} for {k} folds in task {units.task!r}",
                remedy=f"choose k of at most {members}"
                if members > 1
                else "give more, or leave the class out",
            )
    return _parted([str(f + 1) for f in range(k)], deal(y, k, seed, groups))


def _parted(names, fold):
    """Return one split for each name, its test part the units with that fold number; −1 is unused."""
    used = fold >= 0
    return [
        Split(name, np.flatnonzero(used & (fold != f)), np.flatnonzero(fold == f))
        for f, name in enumerate(names)
    ]


def _stratified(units, *, k=5, seed=0):
    """Each fold has its share of each class; real labels are divided at random."""
    return _dealt(units, k, seed, units.groups())


def _grouped(units, *, k=5, seed=0):
    """No group is divided; the shares of the classes are as even as that allows."""
    groups = units.column("groups", "grouped")
    return _dealt(units, k, seed, units.groups(groups))


def _predefined(units):
    """Use the task's own parts, or the column of folds: names of parts, or of folds each tested once."""
    if units.roles is not None:
        return [_own_parts(units, "1")]
    folds = units.column("folds", "predefined")
    names = sorted(set(folds.tolist()) - {""}, key=natural_key)
    if set(names) == set(PARTS):
        return [Split.from_roles("1", folds)]
    if len(names) < 2:
        raise FoldError(
            f"the column of folds of task {units.task!r} names {len(names)} fold",
            remedy="name at least two folds, or train and test",
        )
    number = {name: f for f, name in enumerate(names)}
    return _parted(names, np.array([number.get(name, -1) for name in folds.tolist()]))


def _liao_noble(units):
    """Use the family's positive and negative, training and test parts."""
    if units.roles is None:
        raise LabelError(
            f"task {units.task!r} has no parts of the Liao-Noble protocol",
            remedy="give the data set's labels a family and a superfamily",
        )
    return [_own_parts(units, units.task)]


def _own_parts(units, name):
    """Return the split that the task brings with it."""
    roles = np.char.replace(np.char.replace(np.asarray(units.roles, str), "positive-", ""), "negative-", "")
    odd = sorted(set(roles.tolist()) - {"", *PARTS})
    if odd:
        raise FoldError(f"task {units.task!r} has a part {odd[0]!r}", remedy="use train, test or nothing")
    return Split.from_roles(name, roles)


def _locus(units, *, k=5, seed=0, gap=None, block=0, train=None, test=None):
    """Keep windows near one another together, or train on some chromosomes and test on others."""
    chromosome, position = units.column("chromosome", "locus"), units.column("position", "locus")
    if (train is None) != (test is None):
        raise FoldError(
            "folds by chromosome need both parts", remedy="name the chromosomes under train and under test"
        )
    if train is not None:
        return [_by_chromosome(units, chromosome, train, test)]
    if gap is None:
        if not hasattr(units.X, "lengths"):
            raise FoldError(
                "the gap between loci is not known", remedy="give gap, at least the length of a window"
            )
        gap = int(units.X.lengths.max())
    return _dealt(units, k, seed, units.groups(locus_blocks(chromosome, position, gap, block)))


def _by_chromosome(units, chromosome, train, test):
    """Return the split that trains on some chromosomes and tests on others."""
    parts = [
        {str(name) for name in (part if isinstance(part, list | tuple) else [part])} for part in (train, test)
    ]
    both = parts[0] & parts[1]
    if both:
        raise FoldError(f"chromosome {min(both)!r} is both in train and in test", remedy="name it once")
    known = set(chromosome.tolist())
    for name in sorted(parts[0] | parts[1]):
        if name not in known:
            raise unknown_name(f"chromosome in task {units.task!r}", name, known)
    return Split("1", *(np.flatnonzero(np.isin(chromosome, sorted(part))) for part in parts))


def _leave_one_out(units):
    """Test each unit (each set of linked units) once, alone."""
    groups = units.groups()
    return _each_group(np.arange(len(units)) if groups is None else groups, None)


def _leave_one_group_out(units):
    """Test each group once, alone."""
    groups = units.column("groups", "leave-one-group-out")
    merged = units.groups(groups)
    named = units.links is None
    return _each_group(groups if named else merged, natural_key if named else None)


def _each_group(groups, key):
    """Return one split for each group: numbered, or sorted and named by `key`."""
    values, group = np.unique(groups, return_inverse=True)
    if len(values) < 2:
        raise FoldError("there is one group only", remedy="give at least two, or choose another method")
    if key is None:
        return _parted([str(f + 1) for f in range(len(values))], group)
    order = sorted(range(len(values)), key=lambda f: key(values[f]))
    rank = np.argsort(order)
    return _parted([str(values[f]) for f in order], rank[group])


# name: (splitter, whether a test part of one class is in the nature of the method)
METHODS = {
    "stratified": (_stratified, False),
    "grouped": (_grouped, False),
    "predefined": (_predefined, False),
    "locus": (_locus, False),
    "leave-one-out": (_leave_one_out, True),
    "leave-one-group-out": (_leave_one_group_out, True),
    "liao-noble": (_liao_noble, False),
}


def _check_classes(units, split, need_test):
    """Raise FoldError if a part of the split is empty or lacks a class."""
    classes = () if units.labels.kind == "real" else units.labels.classes
    where = f"part of split {split.name!r} of task {units.task!r}"
    for part, rows in (("training", split.train), ("test", split.test)):
        if not len(rows):
            raise FoldError(f"the {part} {where} is empty", remedy="choose other folds")
        missing = np.setdiff1d(np.arange(len(classes)), units.labels.y[rows])
        if len(missing) and (part == "training" or need_test):
            alone = ": one class only" if len(classes) - len(missing) == 1 else ""
            raise FoldError(
                f"the {part} {where} has no unit of class {classes[missing[0]]!r}{alone}",
                remedy="take fewer or other folds (stratified ones hold every class), or leave the class out",
            )


def write_folds(path, foldset):
    """Write the splits to a TSV: a column `id`, then one column for each split with train, test or nothing.

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
    with atomic_write(path, "w") as file:
        file.write("\t".join(["id", *(split.name for split in foldset)]) + "\n")
        file.writelines("\t".join(cells) + "\n" for cells in zip(foldset.ids, *columns, strict=True))


def read_folds(path, ids):
    """Read what `write_folds` wrote, for the units `ids`.

    Parameters
    ----------
    path : path-like
        The file; its stem is the task's name.
    ids : sequence of str
        The ids of the units; the file must name the same ones, in any order.

    Returns
    -------
    FoldSet
        Its rows in the order of `ids`.

    Raises
    ------
    FileError
        If the file is missing or not text.
    FoldError
        If it is no table of folds, or made for other units.
    """
    path, ids = Path(path), tuple(ids)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise FileError("no such file", file=path, remedy="make it with: seqkern folds") from error
    except (OSError, UnicodeDecodeError) as error:
        raise FileError("cannot be read as a table of folds", file=path, remedy="make it again") from error
    header, *rows = [line.split("\t") for line in lines] or [[]]
    if header[:1] != ["id"] or len(header) < 2 or len(set(header)) < len(header):
        raise FoldError("no table of folds: the header needs id and one name for each split", file=path)
    place = {name: i for i, name in enumerate(ids)}
    cells = np.full((len(ids), len(header) - 1), None, dtype=object)
    for row in rows:
        record = row[0]
        if len(row) != len(header):
            raise FoldError(f"{len(row)} cells for {len(header)} columns", file=path, record=record)
        if record not in place:
            raise FoldError(
                "is not in the data set",
                file=path,
                record=record,
                remedy="make the folds again for this data set",
            )
        if cells[place[record], 0] is not None:
            raise FoldError("occurs twice", file=path, record=record, remedy="name every unit once")
        odd = set(row[1:]) - {"", *PARTS}
        if odd:
            raise FoldError(
                f"cell {min(odd)!r}", file=path, record=record, remedy="use train, test or nothing"
            )
        cells[place[record]] = row[1:]
    absent = np.flatnonzero(np.equal(cells[:, 0], None))
    if len(absent):
        raise FoldError(
            "has no row here",
            file=path,
            record=ids[absent[0]],
            remedy="make the folds again for this data set",
        )
    splits = tuple(Split.from_roles(name, cells[:, c]) for c, name in enumerate(header[1:]))
    return FoldSet(path.stem, ids, splits)


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
    with atomic_write(path, "w") as file:
        file.write("task\tsplit\tclass\ttrain\ttest\n")
        file.writelines("\t".join(map(str, row)) + "\n" for row in rows)
