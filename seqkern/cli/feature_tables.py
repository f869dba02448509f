"""Feature tables on the command line, for `seqkern train` and `seqkern predict`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from seqkern.cli.common import FASTA_POLICIES, OF_TABLE, refuse_unused
from seqkern.core.errors import LabelError, ModelError

if TYPE_CHECKING:
    from seqkern.core.types import PathLike
    from seqkern.sequences.tables import FeatureTable
    from seqkern.study.dataset import Dataset


def table_dataset(args: argparse.Namespace, more: Mapping[str, str], *, missing: bool = False) -> Dataset:
    """Return the Dataset of a feature table and its labels, for ``seqkern train``.

    Labels are in a column of the table or in a separate table.
    """
    # imported here to keep --help fast
    from seqkern.study.dataset import make_dataset

    refuse_unused(args, OF_TABLE, {**FASTA_POLICIES, "alphabet": None})
    options = {"label": args.label_field, **more}
    if args.labels in ("header", "first-word"):
        raise LabelError(
            f"a feature table has no {args.labels} to take labels from",
            file=args.fasta[0],
            remedy="remove --labels to use a column of the table (--label-field), or give a table of labels",
        )
    check_label_column(args.labels or args.fasta[0], args.label_field, exact=not args.labels)
    if args.labels:
        options |= {"from": "tsv", "file": args.labels}
    if args.positive:
        options["positive"] = args.positive
    policy = "keep" if missing else "error"
    return make_dataset("train", {"features": args.fasta[0], "labels": options, "missing": policy})


def check_label_column(path: str, column: str, *, exact: bool = False) -> None:
    """Raise LabelError if the label file is FASTA or a table without the label column.

    In a feature table the name must match exactly (`exact`), because another column may be a feature.
    """
    # imported here to keep --help fast
    from seqkern.core.text_files import open_lines
    from seqkern.core.tsv import is_excel, read_cells
    from seqkern.study.tables import label_column

    if path == "-":
        return
    first = ""
    if not is_excel(path):
        with open_lines(path) as (lines, _):
            first = next(lines)
    name = path
    if first.startswith(">"):
        raise LabelError(
            "is FASTA, not a table",
            file=name,
            remedy="give a table with the columns id and label; for FASTA use --labels header to read labels from "
            "headers",
        )
    columns = read_cells(path)[0]
    if len(columns) == 1 and len(columns[0].replace("|", " ").split()) > 1:
        raise LabelError(
            f"has one column, {columns[0][:40]!r}",
            file=name,
            remedy="separate the cells by tabs, commas or semicolons, not by spaces or |",
        )
    if (column if exact else label_column(columns, column)) not in columns:
        some = ", ".join(columns[:8]) + (", …" if len(columns) > 8 else "")
        raise LabelError(
            f"has no label column {column!r}",
            file=name,
            remedy=f"name it with --label-field, or give another table with --labels; columns: {some} (from the first "
            "line, which must name the columns)",
        )


def read_table(path: PathLike, names: Sequence[str], *, missing: bool = False) -> FeatureTable:
    """Return a table of new samples with the features that a model was trained on, in the model's order."""
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.core.text_files import source_name
    from seqkern.core.tsv import read_cells
    from seqkern.sequences.tables import FeatureTable
    from seqkern.study.tables import id_column_of, read_features

    header = read_cells(path)[0]
    of_ids = id_column_of(header)
    if header[0].startswith(">"):
        raise ModelError(
            "is FASTA, but the model was trained on a feature table",
            file=source_name(path),
            remedy="give a table with the same columns as in training, or a model of sequences",
        )
    known, given = set(names), set(header) - {of_ids}
    lacking = next((name for name in names if name not in given), None)
    if lacking is not None:
        raise ModelError(
            f"lacks column {lacking!r}, a feature of the model",
            file=source_name(path),
            remedy="give a table with the same columns as in training",
        )
    policy: Literal["error", "keep"] = "keep" if missing else "error"
    X, _ = read_features(path, [name for name in header if name not in known and name != of_ids], missing=policy)
    places = {name: j for j, name in enumerate(X.columns)}
    order = np.array([places[name] for name in names], dtype=np.int64)
    return FeatureTable(X.values[:, order], X.ids, names, X.counts, policy)
