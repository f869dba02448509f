"""Tables of a data set: columns, sources of labels, tasks, features and similarities."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice, check_flag, check_int, check_integer, check_name, read_number
from seqkern.core.errors import (
    ConfigError,
    FoldError,
    LabelError,
    ParameterError,
    SequenceError,
    check_known,
    unknown_name,
)
from seqkern.core.text_files import source_name
from seqkern.core.tsv import check_columns, read_cells
from seqkern.core.types import Ids, PathLike, Source
from seqkern.sequences.fasta import Reading, unique_ids
from seqkern.sequences.labels import Labels, make_labels, natural_key
from seqkern.sequences.tables import FeatureTable, SimilarityTable

# Label sources: header fields, first words of headers, files per class, tables, sites, or residue states.
#
# Every source gives columns of text, one value for each sample; `labels_of_columns` converts them to Labels.

SOURCES = ("files", "header", "first_word", "tsv", "column", "sites", "states")
MEANINGS = {
    "group": "groups",
    "fold": "folds",
    "chromosome": "chromosome",
    "strand": "strand",
    "position": "position",
}
TAXONOMY = ("family", "superfamily", "scop_fold")
PROTOCOL = ("min_family", "min_rest", "whole_families")
COLUMNS = ("label", *MEANINGS, *TAXONOMY)
ID_NAMES = ("id", "name", "record")
NAMES_OF_VARIANTS = (*ID_NAMES, "mutant", "variant", "mutation", "mutations")
NO_NAME = r"[-+.0-9eE]+|(?i:nan|inf)|[A-Za-z*-]{12,}"
"""Numbers, and words so long that they may be sequences."""
LABEL_NAMES = ("label", "class", "y", "effect")
KEYS = ("from", "file", "id", "kind", "positive", "classes", *PROTOCOL, *COLUMNS)
Columns = Mapping[str, Sequence[str] | npt.NDArray[np.str_]]
"""Text about samples, by its meaning: one value for each sample."""
NAMED = "name it with --label-field (of seqkern train, cv and audit; in a study in labels)"
FIELD = re.compile(r"([A-Za-z_][\w.-]*)=([^\s,;]+)")


def check_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Check the ``labels`` entry of a data set and fill in the column of labels.

    Parameters
    ----------
    options : mapping of str to object
        Keys among `KEYS`; ``from`` is one of `SOURCES`.

    Returns
    -------
    dict of str to object

    Raises
    ------
    ParameterError
        For an unknown key or source, with the nearest known one.

    Examples
    --------
    >>> check_options({"from": "tsv", "file": "donors.tsv", "group": "gene"})
    {'label': 'label', 'from': 'tsv', 'file': 'donors.tsv', 'group': 'gene'}
    """
    check_known("key of labels", options, KEYS)
    if options.get("from") not in (None, *SOURCES):
        raise unknown_name("source of labels", options["from"], SOURCES)
    return {"label": "label", **options}


def wanted_columns(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the requested columns or fields by meaning, such as ``label`` or ``group``.

    >>> wanted_columns({"label": "class", "group": "gene", "kind": "binary"})
    {'label': 'class', 'group': 'gene'}
    """
    return {key: str(options[key]) for key in COLUMNS if key in options}


def header_fields(header: str) -> dict[str, str]:
    """Return the ``key=value`` fields of a header line as a dict.

    >>> header_fields(" chr_num=1, strand=+, position=180699, label=-1")
    {'chr_num': '1', 'strand': '+', 'position': '180699', 'label': '-1'}
    """
    return dict(FIELD.findall(header))


def check_fields_once(reading: Reading, names: Collection[str], file: PathLike) -> None:
    """Raise LabelError for the first header that gives two values for a requested field."""
    for name, header in zip(reading.sequences.ids, reading.headers, strict=True):
        fields = FIELD.findall(header)
        if len(dict(fields)) == len(fields):
            continue
        found = [field for field in dict.fromkeys(fields) if field[0] in names]
        twice = next((field for field, count in Counter(field for field, _ in found).items() if count > 1), None)
        if twice is not None:
            values = " and ".join(f"{twice}={value}" for field, value in found if field == twice)
            raise LabelError(f"has {values} in its header", file=file, record=name, remedy="remove all but one of them")


def columns_of_headers(reading: Reading, options: Mapping[str, Any], file: PathLike) -> dict[str, list[str]]:
    """Return the requested columns from the ``key=value`` fields of FASTA headers."""
    wanted = wanted_columns(options)
    if not wanted:
        return {}
    check_fields_once(reading, wanted.values(), file)
    columns: dict[str, list[str]] = {meaning: [] for meaning in wanted}
    for name, header in zip(reading.sequences.ids, reading.headers, strict=True):
        fields = header_fields(header)
        for meaning, field in wanted.items():
            if field not in fields:
                raise LabelError(
                    f"has no field {field}=… in its header",
                    file=file,
                    record=name,
                    remedy=f"{NAMED}; fields in the header: {', '.join(fields) or 'none'}",
                )
            columns[meaning].append(fields[field])
    return columns


def columns_of_first_words(reading: Reading) -> dict[str, list[str]]:
    """Return the label column from the first word of each header, as in ``>1`` and ``>0``."""
    return {"label": [header.split(None, 1)[0] if header.strip() else "" for header in reading.headers]}


def columns_of_table(
    source: Source, ids: Ids, options: Mapping[str, Any], left_out: Iterable[str] = (), unit: str = "sequence"
) -> dict[str, list[str]]:
    """Return the requested columns of a table of labels, in the order of `ids`."""
    header, rows = rows_of_ids(source, ids, options.get("id"), left_out, unit)
    columns: dict[str, list[str]] = {}
    for meaning, column in wanted_columns(options).items():
        if meaning == "label":
            column = label_column(header, column)
        if column not in header:
            raise no_column(column, header, source_name(source))
        columns[meaning] = [row[header.index(column)] for row in rows]
    return columns


def rows_of_ids(
    source: Source, ids: Ids, id_column: str | None = None, left_out: Iterable[str] = (), unit: str = "sequence"
) -> tuple[list[str], list[list[str]]]:
    """Return a table's header and its row for each sample, in the order of `ids`; `left_out` ids may be present."""
    header, *rows = read_cells(source)
    name = source_name(source)
    id_column = id_column_of(header, rows, ids) if id_column is None else str(id_column)
    if id_column not in header:
        raise no_column(id_column, header, name)
    check_columns(header, name)
    keys = [row[header.index(id_column)] for row in rows]
    table = dict(zip(keys, rows, strict=True))
    if len(table) < len(rows):
        twice = Counter(keys).most_common(1)[0][0]
        raise LabelError("has two rows of labels", file=name, record=twice, remedy="remove one of them")
    known = set(ids) | set(left_out)
    strange = [key for key in keys if key not in known]
    if strange:
        matching = len(keys) - len(strange)
        first = strange[0].split(None, 1)[0] if strange[0].strip() else ""
        if first != strange[0] and first in known:
            raise LabelError(
                f"has a label but no {unit}; there is {first!r}, since an id is the first word of a header",
                file=name,
                record=strange[0],
                remedy=f"write {first!r} in the table",
            )
        how_many = f"{matching or 'none'} of the {len(keys)} ids in the table are among the {len(ids)} {unit}s"
        raise LabelError(
            f"has a label but no {unit} ({how_many})",
            file=name,
            record=strange[0],
            remedy=f"remove it or add the {unit}"
            if matching
            else f"give the table of labels for these {unit}s, such as {next(iter(ids), '')!r}",
        )
    for key in ids:
        if key not in table:
            raise LabelError("has no label", file=name, record=key, remedy="add a row for it")
    return header, [table[key] for key in ids]


def id_column_of(header: Sequence[str], rows: Sequence[Sequence[str]] = (), ids: Iterable[str] = ()) -> str:
    """Return the name of the id column: id, name or record, in any letter case, else the first column.

    If several of these exist, the one that contains most ids of the samples is taken.

    >>> id_column_of(["label", "ID"]), id_column_of(["clone", "label"])
    ('ID', 'clone')
    """
    named = [column for known in ID_NAMES for column in header if column.strip().lower() == known]
    candidates = list(dict.fromkeys([*named, header[0]]))
    known_ids = set(ids)

    def matches(column: str) -> int:
        place = header.index(column)
        return sum(row[place] in known_ids for row in rows)

    return max(candidates, key=matches) if len(candidates) > 1 else candidates[0]


def column_of_names(columns: Mapping[str, Sequence[str]], used: Sequence[str], known: str | None = None) -> str | None:
    """Return the column with another name in each row, besides the `used` ones; None without one.

    The `known` one comes first, then those that are called id, name, mutant or alike, then others of text.

    >>> column_of_names({"clone": ["a", "b"], "id": ["3", "3"], "sequence": ["MK", "ML"]}, ["sequence"])
    'clone'
    """
    of_names = {name: cells for name, cells in columns.items() if all(cells) and len(set(cells)) == len(cells)}
    fitting = [name for name in of_names if name not in used]
    named = [name for one in (known, *NAMES_OF_VARIANTS) for name in fitting if one in (name, name.lower())]
    of_text = [name for name in fitting if not any(map(re.compile(NO_NAME).fullmatch, of_names[name]))]
    return next(iter(named + of_text), None)


def label_column(header: Sequence[str], wanted: str) -> str:
    """Return the name of the label column; class, y or effect also match the default ``label``, in any letter case.

    >>> label_column(["id", "Class"], "label"), label_column(["id", "Class"], "kind")
    ('Class', 'kind')
    """
    if wanted in header or wanted != "label":
        return wanted
    return next((column for known in LABEL_NAMES for column in header if column.strip().lower() == known), wanted)


def no_column(column: str, columns: Iterable[str], file: PathLike | None) -> LabelError:
    """Return the error for a column missing from a table."""
    shown = _some(list(columns)) or "none"
    remedy = f"{NAMED}; columns: {shown} (from the first line, which must name the columns)"
    return LabelError(f"has no column {column!r}", file=file, remedy=remedy)


def labels_of_columns(
    ids: Ids,
    columns: Columns,
    options: Mapping[str, Any],
    file: PathLike | None = None,
    order: Sequence[str] | None = None,
) -> Labels:
    """Return Labels from columns of text, with the `order` of the classes as for `make_labels`.

    >>> columns = {"label": ["donor", "decoy"], "position": ["60", "213"]}
    >>> labels = labels_of_columns(["d1", "d2"], columns, {"positive": "donor"})
    >>> labels.y.tolist(), labels.position.tolist()
    ([1, 0], [60, 213])
    """
    extra = unit_columns(ids, columns, file)
    chosen = {key: options[key] for key in ("kind", "positive", "classes") if options.get(key) is not None}
    return make_labels(ids, columns["label"], order=order, file=file, **chosen, **extra)


def unit_columns(ids: Ids, columns: Columns, file: PathLike | None = None) -> dict[str, Any]:
    """Return groups, folds and positions from columns of text, for `Labels`."""
    extra: dict[str, Any] = {name: columns[key] for key, name in MEANINGS.items() if key in columns}
    if "position" in extra:
        extra["position"] = [_position(*pair, file) for pair in zip(ids, extra["position"], strict=True)]
    return extra


def _position(name: str, text: str, file: PathLike | None) -> int:
    """Return a position as an int; raise LabelError if it is not an integer."""
    try:
        position = check_int(text)
    except ValueError:
        position = None
    if position is None or abs(position) >= 2**62:
        raise LabelError(
            f"position {text!r} is not an integer",
            file=file,
            record=name,
            remedy="give the position in bases",
        )
    return position


# Readers for feature tables and square tables of similarities or dissimilarities.

MISSING = ("", "na", "nan", "?")
"""Cells without a value, in any case."""


def read_features(
    source: Source,
    unit_columns: Iterable[str] = ("label",),
    *,
    id_column: str | None = None,
    ids: str = "header",
    missing: str = "error",
) -> tuple[FeatureTable, dict[str, list[str]]]:
    r"""Read a feature table and its descriptive columns, such as label or group.

    The table has a header line, one row for each sample, and one column for each feature.

    >>> import io
    >>> table, columns = read_features(io.StringIO("sample\tlabel\tGC\nd1\tdonor\t0.41\nd2\tdecoy\t0.58\n"))
    >>> table.ids, table.columns, columns
    (['d1', 'd2'], ('GC',), {'label': ['donor', 'decoy']})
    """
    header, *rows = read_cells(source)
    name = source_name(source)
    check_header(header, rows, name)
    id_column = id_column_of(header) if id_column is None else id_column
    if id_column not in header:
        raise SequenceError(f"has no column {id_column!r}", file=name, remedy=f"columns: {_some(header)}")
    cells = dict(zip(header, zip(*rows, strict=True), strict=True))
    names, counts = unique_names(list(cells.pop(id_column)), ids, name)
    columns = {key: list(cells.pop(key)) for key in unit_columns if key in cells}
    if not cells:
        raise SequenceError("has no feature columns", file=name, remedy="add columns of numbers")
    check_choice("missing", missing, ("error", "keep"))
    values = _numbers(list(zip(*cells.values(), strict=True)), names, list(cells), name, kept=missing == "keep")
    gaps = int(np.isnan(values).sum())
    counts |= {"missing values": gaps} if gaps else {}
    return FeatureTable(values, names, cells, counts, "keep" if gaps else "error"), columns


def read_similarities(
    source: Source, kind: str = "similarities", unit_columns: Collection[str] = ("label",), *, ids: str = "header"
) -> tuple[SimilarityTable, dict[str, list[str]]]:
    r"""Read a square table of similarities or dissimilarities, and its columns that describe samples.

    With a header line, each row has an id, descriptive columns, then one number for each row, under the names of the
    rows in order. Without one: optionally a class, then one number for each row; ids are the row numbers.

    >>> import io
    >>> table, columns = read_similarities(io.StringIO("globin\t3\t1\nkinase\t1\t3\n"))
    >>> table, columns
    (SimilarityTable(2 rows of 2, similarities), {'label': ['globin', 'kinase']})
    """
    rows = read_cells(source)
    name = source_name(source)
    with_class = len(rows[0]) == len(rows) + 1
    bare = len(rows[0]) == len(rows) and not isnan(read_number(rows[0][0]))
    if (bare or with_class) and not any(isnan(read_number(cell)) for cell in rows[0][1:]):
        names = [str(i) for i in range(1, len(rows) + 1)]
        columns = {"label": [row[0] for row in rows]} if with_class else {}
        cells = [row[int(with_class) :] for row in rows]
        return _square(_numbers(cells, names, names, name), names, kind, name), columns
    header, *rows = rows
    check_header(header, rows, name)
    n_units = 1 + sum(key in unit_columns for key in header[1:])
    columns = {key: [row[j] for row in rows] for j, key in enumerate(header[1:n_units], start=1)}
    given = [row[0] for row in rows]
    for i, (row_name, column_name) in enumerate(zip(given, header[n_units:], strict=False), start=1):
        if row_name != column_name:
            raise SequenceError(
                f"column {i} of the square is {column_name!r}",
                file=name,
                record=row_name,
                remedy="use the same ids in the same order for rows and columns",
            )
    if len(header) - n_units != len(rows):
        raise SequenceError(
            f"has {len(rows)} rows and {len(header) - n_units} columns of values",
            file=name,
            remedy="give one column for each row",
        )
    names, counts = unique_names(given, ids, name)
    values = _numbers([row[n_units:] for row in rows], names, names, name)
    return _square(values, names, kind, name, counts), columns


def _square(
    values: npt.NDArray[np.float64], names: Sequence[str], kind: str, file: str, counts: dict[str, int] | None = None
) -> SimilarityTable:
    """Return the SimilarityTable; raise SequenceError for a negative dissimilarity."""
    negative = np.argwhere(values < 0)
    if kind == "dissimilarities" and len(negative):
        i, j = negative[0]
        raise SequenceError(
            f"column {names[j]!r}: {values[i, j]:g} is not a dissimilarity",
            file=file,
            record=names[i],
            remedy="give non-negative values, or name the table under similarities",
        )
    return SimilarityTable(values, names, kind=kind, counts=counts)


def check_header(header: Sequence[str], rows: Sequence[Sequence[str]], name: str) -> None:
    """Raise SequenceError for repeated column names or a table without rows."""
    check_columns(header, name)
    if not rows:
        raise SequenceError("has a header line but no rows", file=name, remedy="check how the file was created")


def unique_names(given: list[str], policy: str, name: str) -> tuple[list[str], dict[str, int]]:
    """Return unique ids under the policy for repeated ids, and counts."""
    if policy != "number" and "" in given:
        raise SequenceError(
            f"row {given.index('') + 1} has no id", file=name, remedy="add one, or set ids to number (--ids number)"
        )
    names, repeats = unique_ids(given, policy, file=name)
    return names, {"repeated ids": repeats} if repeats else {}


def _numbers(
    rows: Sequence[Sequence[str]], names: Sequence[str], columns: Sequence[str], file: str, *, kept: bool = False
) -> npt.NDArray[np.float64]:
    """Return cells as float64; raise SequenceError for one that is not a finite number.

    Missing cells become NaN if `kept`.
    """
    values = np.array([[read_number(cell) for cell in row] for row in rows])
    for i, j in np.argwhere(np.isnan(values)):
        gap = rows[i][j].strip().lower() in MISSING
        if gap and kept:
            values[i, j] = np.nan
            continue
        complete = "; to complete it by the training set: missing: keep and transforms: [impute]" if gap else ""
        raise SequenceError(
            f"column {columns[j]!r}: {rows[i][j]!r} is not a finite number",
            file=file,
            record=names[i],
            remedy=f"fill it in, remove the row, or name the column under labels{complete}",
        )
    return values


def _some(names: Sequence[str]) -> str:
    """Return a few names for a message."""
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


# The Liao-Noble protocol: one task for each family, with its superfamily as the positive class.

ROLES = ("", "positive-train", "negative-train", "positive-test", "negative-test")


def liao_noble(
    superfamily: npt.ArrayLike,
    family: npt.ArrayLike,
    seed: int,
    *,
    min_family: int = 10,
    min_rest: int = 5,
    fold: npt.ArrayLike | None = None,
    whole_families: bool = False,
) -> dict[str, npt.NDArray[np.str_]]:
    """Return the roles of all samples in the Liao-Noble protocol, with one task for each held-out family.

    Positive test samples are the family, positive training samples the rest of its superfamily. Negatives are the
    samples outside the superfamily, or, if `fold` is given, outside the fold (samples of the fold but not of the
    superfamily are then unused, since they may be related); they are split at random in the ratio of the
    positives. The split of a family depends only on the seed and its name.

    Parameters
    ----------
    superfamily, family : array_like of str, shape (n,)
        Superfamily and family of each sample.
    seed : int
        Seed for splitting the negatives, not negative.
    min_family : int
        Minimum number of members of a held-out family.
    min_rest : int
        Minimum number of other members of its superfamily.
    fold : array_like of str, shape (n,), optional
        The structural fold of each sample.
    whole_families : bool
        Split the negatives by whole families (as near to the ratio as possible). Split singly, as in the paper,
        most negative test samples have close homologs in the training set and the positive ones have none: a classifier
        that only recognises known sequences then ranks the positives first.

    Returns
    -------
    dict of str to ndarray of str
        For each family, in natural order, the role of each sample: one of `ROLES`.

    Raises
    ------
    ParameterError
        If the seed or a limit is outside its domain.
    LabelError
        If a family is in two superfamilies, or a superfamily in two folds.
    FoldError
        If no family is large enough.

    References
    ----------
    Liao & Noble 2003, J. Comput. Biol. 10:857-868.

    Examples
    --------
    >>> superfamily, family = ["s1", "s1", "s1", "s1", "s2", "s2"], ["a", "a", "b", "b", "c", "c"]
    >>> roles = liao_noble(superfamily, family, seed=1, min_family=2, min_rest=2)
    >>> roles["a"].tolist()[:4]
    ['positive-test', 'positive-test', 'positive-train', 'positive-train']
    >>> sorted(roles["a"].tolist()[4:])
    ['negative-test', 'negative-train']
    """
    check_integer("seed", seed, 0)
    check_integer("min_family", min_family, 1)
    check_integer("min_rest", min_rest, 1)
    check_flag("whole_families", whole_families)
    superfamily, family = np.asarray(superfamily), np.asarray(family)
    region = superfamily if fold is None else np.asarray(fold)
    _one_parent(family, superfamily, "family", "superfamilies")
    _one_parent(superfamily, region, "superfamily", "folds")
    tasks = {}
    for name in sorted(np.unique(family).tolist(), key=natural_key):
        test = family == name
        above = superfamily == superfamily[test][0]
        n_test, n_train = int(test.sum()), int((above & ~test).sum())
        if n_test < min_family or n_train < min_rest:
            continue
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        negatives = rng.permutation(np.flatnonzero(region != region[test][0]))
        cut = len(negatives) - round(len(negatives) * n_train / (n_test + n_train))
        if whole_families:
            negatives, cut = _by_family(negatives, family, cut)
        roles = np.full(len(family), "", dtype="U14")
        roles[above] = "positive-train"
        roles[test] = "positive-test"
        roles[negatives[:cut]] = "negative-test"
        roles[negatives[cut:]] = "negative-train"
        tasks[name] = roles
    if not tasks:
        raise FoldError(
            f"no family has {min_family} members and a superfamily with {min_rest} others",
            remedy="lower min_family or min_rest",
        )
    return tasks


def _by_family(
    rows: npt.NDArray[np.int64], family: npt.NDArray[np.str_], cut: int
) -> tuple[npt.NDArray[np.int64], int]:
    """Return the samples ordered by family, and the family boundary nearest to `cut`."""
    names, first, sizes = np.unique(family[rows], return_index=True, return_counts=True)
    order = np.argsort(first)
    borders = np.cumsum(sizes[order])[:-1]
    rank = np.argsort(order)[np.searchsorted(names, family[rows])]
    nearest = borders[np.argmin(np.abs(borders - cut))] if len(borders) else cut
    return rows[np.argsort(rank, kind="stable")], int(nearest)


def _one_parent(child: npt.NDArray[Any], parent: npt.NDArray[Any], kind: str, parents: str) -> None:
    """Raise LabelError if a child group belongs to two parent groups."""
    pairs = np.unique(np.stack([child.astype(str), parent.astype(str)], axis=1), axis=0)
    twice = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
    if len(twice):
        first, second = pairs[twice[0]].tolist(), pairs[twice[0] + 1].tolist()
        raise LabelError(
            f"{kind} {first[0]!r} is in the {parents} {first[1]!r} and {second[1]!r}",
            remedy="correct the classification: each group must have one parent",
        )


# Tasks defined by a table: for each task, the positive and negative samples for training and for testing.

UNUSED = "unused"
GIVEN_ROLES = (*ROLES[1:], "positive-dev", "negative-dev", UNUSED)
TASK_COLUMNS = ("task", "family")


@dataclass(frozen=True)
class TaskTable:
    """A table of tasks named in a data set's entry.

    >>> TaskTable.parse({"file": "tasks.tsv"})
    TaskTable(file='tasks.tsv')
    """

    file: str  # As written in the entry

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> TaskTable:
        """Return the table of tasks of an entry."""
        check_known("key of tasks", given, ["file"])
        if not given:
            raise ConfigError("tasks have no file", remedy="add file: tasks.tsv")
        return cls(str(given["file"]))

    def roles(self, ids: Ids, base_dir: PathLike = ".", left_out: Collection[str] = ()) -> dict[str, list[str]]:
        """Return the role of each sample in each task, by task, in the order of the table."""
        path = Path(base_dir) / self.file
        places = {record: i for i, record in enumerate(ids)}
        tasks: dict[str, list[str]] = {}
        seen: dict[tuple[str, str], int] = {}
        skipped = set(left_out)
        for line, record, task, role in _rows(path):
            where = f"line {line}: "
            if record not in places and record in skipped:
                continue
            if record not in places:
                raise LabelError(
                    f"{where}there is no sequence {record!r}", file=path, remedy="remove the line, or add the sequence"
                )
            if role not in GIVEN_ROLES:
                error = unknown_name("role", role, GIVEN_ROLES)
                raise LabelError(where + error.problem, file=path, remedy=error.remedy)
            if (record, task) in seen:
                problem = f"{where}{record!r} has a role in task {task!r} already, in line {seen[record, task]}"
                raise LabelError(problem, file=path, remedy="remove one of them")
            if task not in tasks:
                _check_task(task, where, path)
            seen[record, task] = line
            tasks.setdefault(task, [""] * len(ids))[places[record]] = "" if role == UNUSED else role
        for task, given in tasks.items():
            _check_roles(task, given, path)
        return tasks


def parse_tasks(given: str | Mapping[str, str] | None) -> str | TaskTable | None:
    """Return the tasks of a data set's entry."""
    return TaskTable.parse(given) if isinstance(given, Mapping) else given


def _rows(path: Path) -> Iterator[tuple[int, str, str, str]]:
    """Yield the line number, id, task and role of each row."""
    header, *rows = read_cells(path)
    column = next((name for name in TASK_COLUMNS if name in header), TASK_COLUMNS[0])
    for name in ("id", column, "role"):
        if name not in header:
            raise LabelError(f"has no column {name!r}", file=path, remedy="give the columns id, task and role")
    if not rows:
        raise LabelError("has a header line but no rows", file=path, remedy="check how the file was created")
    chosen = [header.index(name) for name in ("id", column, "role")]
    for line, row in enumerate(rows, start=2):
        record, task, role = (row[place].strip() for place in chosen)
        yield line, record, task, role


def _check_task(task: str, where: str, path: Path) -> None:
    """Raise LabelError unless a task's name can be used as a file name."""
    try:
        check_name("task", task)
    except ParameterError as error:
        raise LabelError(where + error.problem, file=path, remedy=error.remedy) from error


def _check_roles(task: str, given: Collection[str], path: Path) -> None:
    """Raise LabelError unless a task has training and test samples of both classes."""
    missing = [role for role in ROLES[1:] if role not in given]
    if missing:
        raise LabelError(
            f"task {task!r} has no sample with the role {missing[0]}",
            file=path,
            remedy="each task needs positive and negative samples to train on and to test",
        )
