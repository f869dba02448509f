"""Sources of labels: header fields, the header's first word, one file per class, a table, the table of sites, or
a file of residue states.

Every source gives columns of text, one value for each sample; `labels_of_columns` converts them to Labels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError, unknown_name
from seqkern.core.table_cells import check_columns, read_cells
from seqkern.core.text_files import source_name
from seqkern.core.types import Ids, PathLike, Source
from seqkern.core.values import check_integer
from seqkern.sequences.fasta import Reading
from seqkern.sequences.labels import Labels, make_labels

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
LABEL_NAMES = ("label", "class", "y")
KEYS = ("from", "file", "id", "kind", "positive", "classes", *PROTOCOL, *COLUMNS)
Columns = Mapping[str, Sequence[str] | npt.NDArray[np.str_]]
"""Text about samples, by its meaning: one value for each sample."""
NAMED = "name another in labels (of seqkern train, cv and audit: --label-field)"
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
    for key in options:
        if key not in KEYS:
            raise unknown_name("key of labels", key, KEYS)
    if options.get("from") not in (None, *SOURCES):
        raise unknown_name("source of labels", options["from"], SOURCES)
    return {"label": "label", **options}


def wanted_columns(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the requested columns or fields.

    Parameters
    ----------
    options : mapping of str to object
        The ``labels`` entry.

    Returns
    -------
    dict of str to str
        By meaning: ``label``, ``group``, ….

    Examples
    --------
    >>> wanted_columns({"label": "class", "group": "gene", "kind": "binary"})
    {'label': 'class', 'group': 'gene'}
    """
    return {key: str(options[key]) for key in COLUMNS if key in options}


def header_fields(header: str) -> dict[str, str]:
    """Return the ``key=value`` fields of a header line as a dict.

    Parameters
    ----------
    header : str
        Without ``>``; a comma, a semicolon or a blank ends a value.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> header_fields(" chr_num=1, strand=+, position=180699, label=-1")
    {'chr_num': '1', 'strand': '+', 'position': '180699', 'label': '-1'}
    """
    return dict(FIELD.findall(header))


def check_fields_once(reading: Reading, names: Collection[str], file: PathLike) -> None:
    """Raise LabelError for the first header that gives two values for a field that is read.

    Parameters
    ----------
    reading : Reading
        n records with their headers.
    names : collection of str
        The fields.
    file : path-like
        Used in the message.

    Raises
    ------
    LabelError
        With the field and its values.
    """
    for name, header in zip(reading.sequences.ids, reading.headers, strict=True):
        found = [field for field in dict.fromkeys(FIELD.findall(header)) if field[0] in names]
        twice = next((field for field, count in Counter(field for field, _ in found).items() if count > 1), None)
        if twice is not None:
            values = " and ".join(f"{twice}={value}" for field, value in found if field == twice)
            raise LabelError(f"has {values} in its header", file=file, record=name, remedy="remove all but one of them")


def columns_of_headers(reading: Reading, options: Mapping[str, Any], file: PathLike) -> dict[str, list[str]]:
    """Return the requested columns from the ``key=value`` fields of FASTA headers.

    Parameters
    ----------
    reading : Reading
        n records with their headers.
    options : mapping of str to object
        The ``labels`` entry: names of fields by meaning.
    file : path-like
        Used in messages.

    Returns
    -------
    dict of str to list of str, length n

    Raises
    ------
    LabelError
        If a record lacks a field, or has two values for it.
    """
    wanted = wanted_columns(options)
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
    """Return the label column from the first word of each header, as in ``>1`` and ``>0``.

    Parameters
    ----------
    reading : Reading
        n records with their headers.

    Returns
    -------
    dict of str to list of str, length n
        Only ``label``; an empty header gives an empty label.
    """
    return {"label": [header.split(None, 1)[0] if header.strip() else "" for header in reading.headers]}


def columns_of_table(
    source: Source, ids: Ids, options: Mapping[str, Any], left_out: Iterable[str] = (), unit: str = "sequence"
) -> dict[str, list[str]]:
    """Return the requested columns of a table of labels, in the order of `ids`.

    Parameters
    ----------
    source : path-like
        As for `rows_of_ids`.
    ids : list of str, length n
        The samples.
    options : mapping of str to object
        ``id`` gives the column of ids (default: `id_column_of`), the others the requested columns.
    left_out, unit
        As for `rows_of_ids`.

    Returns
    -------
    dict of str to list of str, length n
        By meaning.

    Raises
    ------
    LabelError
        If a column is missing, or as for `rows_of_ids`.
    """
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
    """Return the rows of a table for the given samples, one for each.

    Parameters
    ----------
    source : path-like
        As for `seqkern.core.text_files.read_cells`, with a header line.
    ids : list of str, length n
        The samples.
    id_column : str, optional
        Default: `id_column_of`.
    left_out : iterable of str
        Ids of sequences that a policy left out, which the table may contain.
    unit : str
        Noun for a sample in messages.

    Returns
    -------
    header : list of str
        The names of the columns.
    rows : list of list of str, length n
        The cells of each sample, in the order of `ids`.

    Raises
    ------
    LabelError
        If the column is missing, an id is duplicated, or ids and samples do not match.
    """
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
    """Return the name of the column of ids: id, name or record, in any case, else the first column.

    Of several of these, the one that holds most ids of the samples.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    rows : sequence of sequence of str
        The cells.
    ids : iterable of str
        The samples.

    Returns
    -------
    str

    Examples
    --------
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


def label_column(header: Sequence[str], wanted: str) -> str:
    """Return the name of the column of labels.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    wanted : str
        The name asked for; instead of ``label``, the default, also class or y, in any case.

    Returns
    -------
    str
        `wanted` if there is none.

    Examples
    --------
    >>> label_column(["id", "Class"], "label"), label_column(["id", "Class"], "kind")
    ('Class', 'kind')
    """
    if wanted in header or wanted != "label":
        return wanted
    return next((column for known in LABEL_NAMES for column in header if column.strip().lower() == known), wanted)


def no_column(column: str, columns: Iterable[str], file: PathLike | None) -> LabelError:
    """Return the error for a column missing from a table.

    Parameters
    ----------
    column : str
        The requested column.
    columns : iterable of str
        The existing columns.
    file : path-like or None
        Used in the message.

    Returns
    -------
    LabelError
        To be raised by the caller.
    """
    shown = ", ".join(list(columns)[:12]) or "none"
    return LabelError(f"has no column {column!r}", file=file, remedy=f"{NAMED}; columns: {shown}")


def labels_of_columns(ids: Ids, columns: Columns, options: Mapping[str, Any], file: PathLike | None = None) -> Labels:
    """Return Labels from columns of text.

    Parameters
    ----------
    ids : list of str, length n
        The samples.
    columns : mapping of str to sequence of str, length n
        ``label`` and any of ``group``, ``fold``, ``chromosome``, ``strand``, ``position``.
    options : mapping of str to object
        ``kind``, ``positive`` and ``classes`` as for `seqkern.sequences.labels.make_labels`.
    file : path-like, optional
        Used in messages.

    Returns
    -------
    Labels

    Raises
    ------
    LabelError
        If the labels do not define a task, or a position is not an integer.

    Examples
    --------
    >>> columns = {"label": ["donor", "decoy"], "position": ["60", "213"]}
    >>> labels = labels_of_columns(["d1", "d2"], columns, {"positive": "donor"})
    >>> labels.y.tolist(), labels.position.tolist()
    ([1, 0], [60, 213])
    """
    extra = unit_columns(ids, columns, file)
    chosen = {key: options[key] for key in ("kind", "positive", "classes") if options.get(key) is not None}
    return make_labels(ids, columns["label"], file=file, **chosen, **extra)


def unit_columns(ids: Ids, columns: Columns, file: PathLike | None = None) -> dict[str, Any]:
    """Return groups, folds and positions from columns of text, for `Labels`.

    Parameters
    ----------
    ids : list of str, length n
        The samples.
    columns : mapping of str to sequence of str, length n
        By meaning; other columns are ignored.
    file : path-like, optional
        Used in messages.

    Returns
    -------
    dict of str to sequence, length n
        Positions as int, others as text.

    Raises
    ------
    LabelError
        If a position is not an integer.
    """
    extra: dict[str, Any] = {name: columns[key] for key, name in MEANINGS.items() if key in columns}
    if "position" in extra:
        extra["position"] = [_position(*pair, file) for pair in zip(ids, extra["position"], strict=True)]
    return extra


def _position(name: str, text: str, file: PathLike | None) -> int:
    """Return a position as an int."""
    try:
        position = check_integer(text)
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
