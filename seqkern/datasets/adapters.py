"""Readers of the public data sets' own formats.

Each takes a dict of role to path and the policies of reading, and returns `Parts`; `ADAPTERS` names them all but those
of chains with states (`residue_adapters`).
"""

import io
import re
from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import SequenceError
from seqkern.core.text_files import open_lines, read_cells
from seqkern.datasets.label_sources import columns_of_first_words, columns_of_headers, rows_of_ids
from seqkern.datasets.table_files import read_features, read_similarities
from seqkern.sequences.fasta import read_records
from seqkern.sequences.record_ids import unique_ids
from seqkern.sequences.tables import FeatureTable

LIAO_NOBLE = {
    "0": "",
    "1": "positive-train",
    "2": "negative-train",
    "3": "positive-test",
    "4": "negative-test",
}
SCOP_FAMILY = re.compile(r"(?<!\S)[a-l](\.\d+){3}(?!\S)")


@dataclass(frozen=True)
class Parts:
    """Units, columns of text about them, and the roles of each task where there are several."""

    X: object
    columns: dict
    roles: dict | None = None


def header_label(paths, policies):
    """FASTA with ``label=`` in its headers."""
    reading = read_records(paths["sequences"], **policies)
    return Parts(reading.sequences, columns_of_headers(reading, {"label": "label"}, paths["sequences"]))


def header_fold(paths, policies):
    """FASTA with the class as ``fold=`` in its headers."""
    reading = read_records(paths["sequences"], **policies)
    return Parts(reading.sequences, columns_of_headers(reading, {"label": "fold"}, paths["sequences"]))


def genome_windows(paths, policies):
    """FASTA with ``chr_num=``, ``strand=``, ``position=`` and ``label=``; ids are made of the place."""
    reading = read_records(paths["sequences"], **policies | {"ids": "number"})
    fields = {"label": "label", "chromosome": "chr_num", "strand": "strand", "position": "position"}
    columns = columns_of_headers(reading, fields, paths["sequences"])
    places = zip(columns["chromosome"], columns["position"], columns["strand"], strict=True)
    ids, repeats = unique_ids([":".join(place) for place in places], policies.get("ids", "header"), paths["sequences"])
    counts = {key: count for key, count in reading.sequences.counts.items() if key != "repeated ids"}
    counts |= {"repeated ids": repeats} if repeats else {}
    return Parts(reading.sequences.replace(ids=ids, counts=counts), columns)


def train_test(paths, policies):
    """Two FASTA files, training and test, with the label as the header's first word."""
    reading = read_records([paths["train"], paths["test"]], **policies)
    split = np.array(["train", "test"])[reading.sources].tolist()
    return Parts(reading.sequences, columns_of_first_words(reading) | {"split": split})


def train_test_by_class(paths, policies):
    """Four FASTA files: positive and negative, training and test."""
    roles = ("positive-train", "negative-train", "positive-test", "negative-test")
    reading = read_records([paths[role] for role in roles], **policies)
    label, _, split = np.char.partition(np.array(roles)[reading.sources], "-").T
    return Parts(reading.sequences, {"label": label.tolist(), "split": split.tolist()})


def comma_separated(paths, policies):
    """Lines of ``class, name, sequence``, as the UCI repository has them."""
    path = paths["table"]
    with open_lines(path) as (lines, _):
        rows = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
    for number, row in enumerate(rows, start=1):
        if len(row) != 3:
            raise SequenceError(f"line {number} is not 'class, name, sequence'", file=path, remedy="mend it")
    labels, names, strings = map(list, zip(*rows, strict=True))
    sequences, kept = encoded(names, strings, policies, path)
    return Parts(sequences, {"label": [labels[i] for i in kept]})


def coiled_coil(paths, policies):
    """A table with sequence, group and heptads; these become the track ``annotation`` (ASCII)."""
    path = paths["table"]
    header, *rows = read_cells(path)
    column = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    sequences, kept = encoded(column["name"], column["sequence"], policies, path)
    heptads = np.frombuffer("".join(column["heptad"][i] for i in kept).encode("ascii"), dtype=np.uint8)
    sequences = sequences.replace(tracks={"annotation": heptads})
    columns = {"label": column["oligomer"], "group": column["group"]}
    return Parts(sequences, {key: [values[i] for i in kept] for key, values in columns.items()})


def classes_beside(paths, policies):
    """FASTA and a file with one class a line, in the same order."""
    reading = read_records(paths["sequences"], **policies)
    with open_lines(paths["classes"]) as (lines, _):
        classes = [line.strip() for line in lines if line.strip()]
    if len(classes) != len(reading.sequences):
        raise SequenceError(
            f"has {len(classes)} classes for {len(reading.sequences)} sequences",
            file=paths["classes"],
            remedy="it needs one line for each sequence; leave out no record",
        )
    return Parts(reading.sequences, {"label": classes})


def families_by_table(paths, policies):
    """FASTA with the SCOP family in its headers (``a.1.1.1``), and a table of roles.

    The table has one column for each family held out, its numbers as in `LIAO_NOBLE`.
    """
    reading = read_records(paths["sequences"], **policies)
    found = [SCOP_FAMILY.search(header) for header in reading.headers]
    if None in found:
        record = reading.sequences.ids[found.index(None)]
        raise SequenceError("names no SCOP family", file=paths["sequences"], record=record, remedy="add it (a.1.1.1)")
    header, rows = rows_of_ids(paths["roles"], reading.sequences.ids, left_out=reading.left_out)
    families = zip(header[1:], list(zip(*rows, strict=True))[1:], strict=True)
    roles = {name: [LIAO_NOBLE[cell] for cell in cells] for name, cells in families}
    return Parts(reading.sequences, {"family": [match[0] for match in found]}, roles)


def expression(paths, policies):
    """A feature table with the columns ``sample`` and ``label``."""
    X, columns = read_features(paths["table"], ids=policies.get("ids", "header"))
    return Parts(X, columns)


def class_and_numbers(paths, policies):
    """Comma-separated: the class, then the features, without a header."""
    with open_lines(paths["table"]) as (lines, _):
        rows = [line.strip().split(",") for line in lines if line.strip()]
    values = np.array([row[1:] for row in rows], dtype=np.float64)
    return Parts(FeatureTable(values), {"label": [row[0].removesuffix(".0") for row in rows]})


def dissimilarities(paths, policies):
    """A square table of dissimilarities behind a column of classes."""
    X, columns = read_similarities(paths["table"], "dissimilarities")
    return Parts(X, columns)


def encoded(names, strings, policies, path):
    """Return (SequenceSet, rows kept) of names and strings, under the policies that hold for FASTA."""
    rows = zip(names, range(len(names)), strings, strict=True)
    text = io.StringIO("".join(f">{name} {row}\n{string}\n" for name, row, string in rows))
    text.name = str(path)
    reading = read_records(text, **policies)
    return reading.sequences, [int(header.rsplit(None, 1)[1]) for header in reading.headers]


ADAPTERS = {
    function.__name__: function
    for function in (
        header_label,
        header_fold,
        genome_windows,
        train_test,
        train_test_by_class,
        comma_separated,
        coiled_coil,
        classes_beside,
        families_by_table,
        expression,
        class_and_numbers,
        dissimilarities,
    )
}
