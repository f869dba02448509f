"""Tables of features on the command line, for `seqkern train` and `seqkern predict`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from seqkern.core.errors import LabelError, ModelError

if TYPE_CHECKING:
    from seqkern.core.types import PathLike
    from seqkern.datasets import Dataset
    from seqkern.sequences.tables import FeatureTable


def table_dataset(args: argparse.Namespace) -> Dataset:
    """Return the Dataset of a table of features and its labels, for ``seqkern train``.

    Labels are in a column of the table, or in a table of their own.

    Parameters
    ----------
    args : Namespace
        With ``fasta``, ``labels``, ``label_field`` and ``positive`` of ``seqkern train``.

    Returns
    -------
    Dataset

    Raises
    ------
    LabelError
        If nothing says which column holds labels, or they do not fit.
    SequenceError, FileError
        As for `seqkern.datasets.make_dataset`.
    """
    # loaded when a verb runs: its help needs none of it
    from seqkern.datasets import make_dataset

    options = {"label": args.label_field}
    if args.labels in ("header", "first-word"):
        raise LabelError(
            f"a table has no {args.labels} with labels",
            file=args.fasta[0],
            remedy="leave out --labels for a column of the table (--label-field), or name a table of labels",
        )
    check_label_column(args.labels or args.fasta[0], args.label_field)
    if args.labels:
        options |= {"from": "tsv", "file": args.labels}
    if args.positive:
        options["positive"] = args.positive
    return make_dataset("train", {"features": args.fasta[0], "labels": options})


def check_label_column(path: str, column: str) -> None:
    """Refuse a file of labels that is FASTA, or a table without a column for labels.

    Parameters
    ----------
    path : str
        A table; standard input is not looked at.
    column : str
        Name of the column that is wanted.

    Raises
    ------
    LabelError
        If it is one of these.
    """
    # loaded when a verb runs: its help needs none of it
    from seqkern.core.text_files import open_lines

    if path == "-":
        return
    with open_lines(path) as (lines, name):
        first = next(lines)
    if first.startswith(">"):
        raise LabelError(
            "is FASTA, not a table",
            file=name,
            remedy="give a table: its first column is the id; of FASTA, --labels header takes labels from the headers",
        )
    columns = first.rstrip("\r\n").split("\t")
    if len(columns) > 1 and column not in columns:  # without any tab, the reader says so
        some = ", ".join(columns[:8]) + (", …" if len(columns) > 8 else "")
        raise LabelError(
            f"has no column {column!r} with labels",
            file=name,
            remedy=f"name it with --label-field, or give another table with --labels; columns here: {some}",
        )


def read_table(path: PathLike, names: Sequence[str]) -> FeatureTable:
    """Return the new samples with the features that a model was trained on.

    Parameters
    ----------
    path : path-like
        The first column is the id. Other columns besides the features are left out.
    names : sequence of str, length d
        The model's features, in order.

    Returns
    -------
    FeatureTable
        Of d columns.

    Raises
    ------
    ModelError
        If a feature is missing.
    SequenceError, FileError
        As `seqkern.datasets.table_files.read_features`.
    """
    # loaded when a verb runs: its help needs none of it
    import numpy as np

    # loaded when the verb runs: its help needs none of it
    from seqkern.core.text_files import read_cells, source_name
    from seqkern.datasets.table_files import read_features
    from seqkern.sequences.tables import FeatureTable

    header = read_cells(path)[0]
    if header[0].startswith(">"):
        raise ModelError(
            "is FASTA, and the model was trained on a table of features",
            file=source_name(path),
            remedy="give a table with the columns of the training one, or a model of sequences",
        )
    known, given = set(names), set(header[1:])
    missing = next((name for name in names if name not in given), None)
    if missing is not None:
        raise ModelError(
            f"has no column {missing!r}, a feature that the model was trained on",
            file=source_name(path),
            remedy="give a table with the columns of the training one",
        )
    X, _ = read_features(path, [name for name in header[1:] if name not in known])
    places = {name: j for j, name in enumerate(X.columns)}
    order = np.array([places[name] for name in names], dtype=np.int64)
    return FeatureTable(X.values[:, order], X.ids, names, X.counts)
