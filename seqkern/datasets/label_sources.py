"""Where labels come from: header fields, the header's first word, a file for each class, a table, that of sites, or
a file of the states of residues.

Every source ends as columns of text, one value for each unit; `labels_of_columns` makes Labels of them.
"""

import re
from collections import Counter

from seqkern.core.errors import LabelError, unknown_name
from seqkern.core.text_files import check_columns, read_cells, source_name
from seqkern.sequences.labels import make_labels

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
KEYS = ("from", "file", "id", "kind", "positive", "classes", *PROTOCOL, *COLUMNS)
FIELD = re.compile(r"([A-Za-z_][\w.-]*)=([^\s,;]+)")


def check_options(options):
    """Return the ``labels`` entry of a data set with the names of columns filled in.

    Raises
    ------
    ParameterError
        For an unknown key or source, with the nearest known one.
    """
    for key in options:
        if key not in KEYS:
            raise unknown_name("key of labels", key, KEYS)
    if options.get("from") not in (None, *SOURCES):
        raise unknown_name("source of labels", options["from"], SOURCES)
    return {"label": "label", **options}


def wanted_columns(options):
    """Return a dict of meaning (label, group, …) to the name of its column or field."""
    return {key: str(options[key]) for key in COLUMNS if key in options}


def header_fields(header):
    """Return the ``key=value`` fields of a header line as a dict.

    Examples
    --------
    >>> header_fields(" chr_num=1, strand=+, position=180699, label=-1")
    {'chr_num': '1', 'strand': '+', 'position': '180699', 'label': '-1'}
    """
    return dict(FIELD.findall(header))


def columns_of_headers(reading, options, file):
    """Return the wanted columns from the ``key=value`` fields of FASTA headers.

    Raises
    ------
    LabelError
        If a record lacks a field.
    """
    wanted = wanted_columns(options)
    columns = {meaning: [] for meaning in wanted}
    for name, header in zip(reading.sequences.ids, reading.headers, strict=True):
        fields = header_fields(header)
        for meaning, field in wanted.items():
            if field not in fields:
                raise LabelError(
                    f"its header has no field {field}=…",
                    file=file,
                    record=name,
                    remedy=f"fields there: {', '.join(fields) or 'none'}",
                )
            columns[meaning].append(fields[field])
    return columns


def columns_of_first_words(reading):
    """Return the label column from the first word of each header, as in ``>1`` and ``>0``."""
    return {"label": [header.split(None, 1)[0] if header.strip() else "" for header in reading.headers]}


def columns_of_table(source, ids, options, left_out=(), unit="sequence"):
    """Return the wanted columns of a table of labels, in the order of `ids`.

    Parameters
    ----------
    source, ids, left_out, unit
        As in `rows_of_ids`.
    options : dict
        ``id`` names the column of ids (by default the first), the others the columns wanted.

    Raises
    ------
    LabelError
        If a column is missing, or as `rows_of_ids`.
    """
    header, rows = rows_of_ids(source, ids, options.get("id"), left_out, unit)
    columns = {}
    for meaning, column in wanted_columns(options).items():
        if column not in header:
            raise no_column(column, header, source_name(source))
        columns[meaning] = [row[header.index(column)] for row in rows]
    return columns


def rows_of_ids(source, ids, id_column=None, left_out=(), unit="sequence"):
    """Return the rows of a table that belong to units, one for each.

    Parameters
    ----------
    source : path-like
        Tab-separated with a header line.
    ids : list of str
        The units.
    id_column : str, optional
        By default the first column.
    left_out : iterable of str
        Ids that the table may hold though there is no sequence: a policy left them out.
    unit : str
        What a unit is called in messages.

    Returns
    -------
    header : list of str
    rows : list of list of str
        In the order of `ids`.

    Raises
    ------
    LabelError
        If the column is missing, an id is repeated, or ids and units do not match.
    """
    header, *rows = read_cells(source)
    name = source_name(source)
    id_column = header[0] if id_column is None else str(id_column)
    if id_column not in header:
        raise no_column(id_column, header, name)
    check_columns(header, name)
    keys = [row[header.index(id_column)] for row in rows]
    table = dict(zip(keys, rows, strict=True))
    if len(table) < len(rows):
        twice = Counter(keys).most_common(1)[0][0]
        raise LabelError("has two rows of labels", file=name, record=twice, remedy="leave one out")
    known = set(ids) | set(left_out)
    strange = [key for key in keys if key not in known]
    if strange:
        matching = len(keys) - len(strange)
        how_many = f"{matching or 'none'} of the {len(keys)} ids here are among the {len(ids)} {unit}s"
        raise LabelError(
            f"label without a {unit} ({how_many})",
            file=name,
            record=strange[0],
            remedy=f"leave it out or add the {unit}" if matching else f"give the table of labels of these {unit}s",
        )
    for key in ids:
        if key not in table:
            raise LabelError(f"{unit} without a label", file=name, record=key, remedy="add a row for it")
    return header, [table[key] for key in ids]


def no_column(column, columns, file):
    """Return a LabelError for a column that a table does not have."""
    shown = ", ".join(list(columns)[:12]) or "none"
    return LabelError(f"has no column {column!r}", file=file, remedy=f"name the column in labels; there are: {shown}")


def labels_of_columns(ids, columns, options, file=None):
    """Return Labels of a set of columns.

    Parameters
    ----------
    ids : list of str, length n
    columns : dict of str to list of str
        ``label`` and any of ``group``, ``fold``, ``chromosome``, ``strand``, ``position``.
    options : dict
        ``kind``, ``positive`` and ``classes`` as in `seqkern.sequences.labels.make_labels`.
    file : path-like, optional
        Named in messages.

    Raises
    ------
    LabelError
        If the labels do not make a task, or a position is not a whole number.
    """
    extra = unit_columns(ids, columns, file)
    chosen = {key: options[key] for key in ("kind", "positive", "classes") if options.get(key) is not None}
    return make_labels(ids, columns["label"], file=file, **chosen, **extra)


def unit_columns(ids, columns, file=None):
    """Return groups, folds and places of columns of text, as `Labels` takes them.

    Raises
    ------
    LabelError
        If a position is not a whole number.
    """
    extra = {name: columns[key] for key, name in MEANINGS.items() if key in columns}
    if "position" in extra:
        extra["position"] = [_position(*pair, file) for pair in zip(ids, extra["position"], strict=True)]
    return extra


def _position(name, text, file):
    """Return a position as an int."""
    try:
        position = int(text)
    except ValueError:
        position = None
    if position is None or abs(position) >= 2**62:
        raise LabelError(
            f"position {text!r} is not a whole number",
            file=file,
            record=name,
            remedy="give the place in bases",
        )
    return position
