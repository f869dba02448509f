"""Readers for the file formats of the public data sets.

Each takes a dict of role to path and the reading policies, and returns `Parts`; ``resources/public.tsv`` names them.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqkern.core.errors import SequenceError
from seqkern.core.text_files import open_lines
from seqkern.core.tsv import read_cells
from seqkern.core.types import PathLike
from seqkern.formats.states import read_letters_and_states, read_state_records, with_states
from seqkern.sequences.fasta import read_records, unique_ids
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data, FeatureTable
from seqkern.study import tables
from seqkern.study.several_sequences import TextColumns, encode_columns, read_table_text

LIAO_NOBLE = {
    "0": "",
    "1": "positive-train",
    "2": "negative-train",
    "3": "positive-test",
    "4": "negative-test",
}
LOOPS = ("a1", "a2", "a3", "b1", "b2", "b3")
SCOP_FAMILY = re.compile(r"(?<!\S)[a-l](\.\d+){3}(?!\S)")

Paths = Mapping[str, PathLike]
"""The files of a data set, by their roles."""


@dataclass(frozen=True)
class Parts:
    """The samples of a public data set, text columns about them, and their roles for each task if there are several."""

    X: Data  # The n samples
    columns: dict[str, list[str]]  # length n: Text about them: ``label``, ``group``, ``split``, …
    roles: dict[str, list[str]] | None = None  # For each task the role of each sample, such as ``positive-train``


def header_label(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read FASTA with the label as ``label=`` in the headers."""
    reading = read_records(paths["sequences"], **policies)
    return Parts(reading.sequences, tables.columns_of_headers(reading, {"label": "label"}, paths["sequences"]))


def header_fold(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read FASTA with the class as ``fold=`` in the headers."""
    reading = read_records(paths["sequences"], **policies)
    return Parts(reading.sequences, tables.columns_of_headers(reading, {"label": "fold"}, paths["sequences"]))


def genome_windows(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read FASTA with ``chr_num=``, ``strand=``, ``position=`` and ``label=``; ids are derived from the position."""
    reading = read_records(paths["sequences"], **policies | {"ids": "number"})
    fields = {"label": "label", "chromosome": "chr_num", "strand": "strand", "position": "position"}
    columns = tables.columns_of_headers(reading, fields, paths["sequences"])
    places = zip(columns["chromosome"], columns["position"], columns["strand"], strict=True)
    ids, repeats = unique_ids([":".join(place) for place in places], policies.get("ids", "header"), paths["sequences"])
    counts = {key: count for key, count in reading.sequences.counts.items() if key != "repeated ids"}
    counts |= {"repeated ids": repeats} if repeats else {}
    return Parts(reading.sequences.replace(ids=ids, counts=counts), columns)


def train_test(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read two FASTA files, training and test, with the label as the first word of each header."""
    reading = read_records([paths["train"], paths["test"]], **policies)
    split = np.array(["train", "test"])[reading.sources].tolist()
    return Parts(reading.sequences, tables.columns_of_first_words(reading) | {"split": split})


def train_test_by_class(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read four FASTA files: positive and negative, training and test."""
    roles = ("positive-train", "negative-train", "positive-test", "negative-test")
    reading = read_records([paths[role] for role in roles], **policies)
    label, _, split = np.char.partition(np.array(roles)[reading.sources], "-").T
    return Parts(reading.sequences, {"label": label.tolist(), "split": split.tolist()})


def tables_of_parts(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read the tables ``train``, ``dev`` and ``test`` with columns sequence and label.

    This is the format of benchmarks of DNA language models.
    """
    texts = []
    for part, path in paths.items():
        header, *rows = read_cells(path)
        if header != ["sequence", "label"]:
            raise SequenceError(
                f"has the columns {', '.join(header)}", file=path, remedy="give the columns sequence and label"
            )
        names = [f"{part}-{number} {label}" for number, (_, label) in enumerate(rows, start=1)]
        texts.append(_as_fasta(names, [sequence for sequence, _ in rows], path))
    reading = read_records(texts, **policies)
    labels = [header.rsplit(None, 1)[1] for header in reading.headers]
    return Parts(reading.sequences, {"label": labels, "split": np.array(list(paths))[reading.sources].tolist()})


def comma_separated(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read lines of ``class, name, sequence``, as in the UCI repository."""
    path = paths["table"]
    with open_lines(path) as (lines, _):
        rows = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
    for number, row in enumerate(rows, start=1):
        if len(row) != 3:
            raise SequenceError(f"line {number} is not 'class, name, sequence'", file=path, remedy="correct the line")
    labels, names, strings = map(list, zip(*rows, strict=True))
    sequences, kept = encoded(names, strings, policies, path)
    return Parts(sequences, {"label": [labels[i] for i in kept]})


def coiled_coil(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read a table with sequences, groups and heptads; heptads become the track ``annotation`` (ASCII)."""
    path = paths["table"]
    header, *rows = read_cells(path)
    column = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    sequences, kept = encoded(column["name"], column["sequence"], policies, path)
    heptads = np.frombuffer("".join(column["heptad"][i] for i in kept).encode("ascii"), dtype=np.uint8)
    sequences = sequences.replace(tracks={"annotation": heptads})
    columns = {"label": column["oligomer"], "group": column["group"]}
    return Parts(sequences, {key: [values[i] for i in kept] for key, values in columns.items()})


def classes_beside(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read FASTA and a file with one class per line, in the same order."""
    reading = read_records(paths["sequences"], **policies)
    with open_lines(paths["classes"]) as (lines, _):
        classes = [line.strip() for line in lines if line.strip()]
    if len(classes) != len(reading.sequences):
        raise SequenceError(
            f"has {len(classes)} classes for {len(reading.sequences)} sequences",
            file=paths["classes"],
            remedy="give one line for each sequence, and do not skip records",
        )
    return Parts(reading.sequences, {"label": classes})


def families_by_table(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read FASTA with the SCOP family in its headers (``a.1.1.1``), and a table of roles.

    The table has one column for each held-out family, with the numbers of `LIAO_NOBLE`.
    """
    reading = read_records(paths["sequences"], **policies)
    found = [SCOP_FAMILY.search(header) for header in reading.headers]
    if None in found:
        record = reading.sequences.ids[found.index(None)]
        raise SequenceError(
            "has no SCOP family in its header", file=paths["sequences"], record=record, remedy="add it (a.1.1.1)"
        )
    header, rows = tables.rows_of_ids(paths["roles"], reading.sequences.ids, left_out=reading.left_out)
    families = zip(header[1:], list(zip(*rows, strict=True))[1:], strict=True)
    roles = {name: [LIAO_NOBLE[cell] for cell in cells] for name, cells in families}
    return Parts(reading.sequences, {"family": [match[0] for match in found if match]}, roles)


def receptors(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read T-cell receptors of many epitopes from a table with columns epitope, part, label (±1) and six loops.

    A sample is a receptor: its loops are the sequence views a1, a2 and a3 (CDR1 to CDR3 of the α chain), b1, b2 and
    b3 (β chain). Each epitope with a training part is a task. A receptor listed for several epitopes is one sample in
    several tasks; one listed twice for the same epitope is two samples.
    """
    path = paths["table"]
    cells = read_table_text(path, {loop: loop for loop in LOOPS}).columns
    missing = [name for name in ("epitope", "part", "label") if name not in cells]
    if missing:
        raise SequenceError(f"has no column {missing[0]!r}", file=path, remedy="add it")
    places: dict[tuple[Any, ...], int] = {}
    listed: Counter[tuple[str, ...]] = Counter()
    roles: dict[str, dict[int, str]] = {epitope: {} for epitope in sorted(set(cells["epitope"]))}
    rows = zip(cells["epitope"], cells["part"], cells["label"], *(cells[loop] for loop in LOOPS), strict=True)
    for epitope, part, label, *loops in rows:
        listed[epitope, *loops] += 1
        place = places.setdefault((listed[epitope, *loops], *loops), len(places))
        roles[epitope][place] = f"{'positive' if label == '1' else 'negative'}-{part}"
    strings = dict(zip(LOOPS, map(list, zip(*(key[1:] for key in places), strict=True)), strict=True))
    ids = [str(number) for number in range(1, len(places) + 1)]
    text = TextColumns(ids, strings, {loop: f"{path}: column {loop!r}" for loop in LOOPS})
    given = {name: value for name, value in policies.items() if name in ("unknown", "gaps")}
    read = encode_columns(text, dict.fromkeys(LOOPS, "protein"), **given)
    kept = [int(record) - 1 for record in read.sequences.ids]
    tasks = {epitope: [own.get(place, "") for place in kept] for epitope, own in roles.items()}
    return Parts(read.sequences, {}, {name: own for name, own in tasks.items() if "positive-train" in own})


def expression(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read a feature table with the columns ``sample`` and ``label``."""
    X, columns = tables.read_features(paths["table"], ids=policies.get("ids", "header"))
    return Parts(X, columns)


def class_and_numbers(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read comma-separated rows without a header: the class, then the features."""
    with open_lines(paths["table"]) as (lines, _):
        rows = [line.strip().split(",") for line in lines if line.strip()]
    values = np.array([row[1:] for row in rows], dtype=np.float64)
    return Parts(FeatureTable(values), {"label": [row[0].removesuffix(".0") for row in rows]})


def dissimilarities(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read a square table of dissimilarities that follows a column of classes."""
    X, columns = tables.read_similarities(paths["table"], "dissimilarities")
    return Parts(X, columns)


def encoded(
    names: Sequence[str], strings: Sequence[str], policies: dict[str, Any], path: PathLike
) -> tuple[SequenceSet, list[int]]:
    """Encode strings under the FASTA policies; return the sequences kept and their indices in `names`.

    >>> X, kept = encoded(["d1", "d2"], ["ACNT", "ACGT"], {"alphabet": "dna", "unknown": "skip"}, "donors.csv")
    >>> X.ids, kept
    (['d2'], [1])
    """
    numbered = [f"{name} {row}" for row, name in enumerate(names)]
    reading = read_records(_as_fasta(numbered, strings, path), **policies)
    return reading.sequences, [int(header.rsplit(None, 1)[1]) for header in reading.headers]


def _as_fasta(headers: Sequence[str], strings: Sequence[str], path: PathLike) -> io.StringIO:
    """Return records as an in-memory FASTA file whose name is used in messages."""
    text = io.StringIO("".join(f">{header}\n{string}\n" for header, string in zip(headers, strings, strict=True)))
    text.name = str(path)
    return text


# Readers for the public sets of chains with residue states, which become the track ``states``.
#
# Each takes a dict of role to path and the reading policies, and returns `Parts`, as in `adapters`.


def rs126(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read residues, then states H, E, T and C, each ending in ``*``; turns count as coil.

    The chains 1PRC-C, -H, -L and -M of a membrane complex are left out: the other 126 are the set of Rost and
    Sander.
    """
    records, name = read_state_records(paths["states"])
    ids, letters, states = [], [], []
    for record in records:
        parts = "".join(record.lines).split("*")
        if len(parts) != 3 or parts[2]:
            raise SequenceError(
                "does not consist of residues and states, each ending in *",
                file=name,
                record=record.id,
                remedy="correct the record",
            )
        if not record.id.startswith("1PRC-"):
            ids.append(record.id[:6])
            letters.append(parts[0])
            states.append(parts[1].replace("T", "C"))
    X, kept = encoded(ids, letters, policies, name)
    return Parts(with_states(X, [states[i] for i in kept], name), {})


def cb513(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read the three-state labels from a table with residues, three and eight states, and a mask."""
    return _cb513(paths, policies, "dssp3")


def cb513_dssp(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read DSSP's eight states from the table that `cb513` reads."""
    return _cb513(paths, policies, "dssp8")


def _cb513(paths: Paths, policies: dict[str, Any], column: str) -> Parts:
    """Read the columns ``input``, ``cb513_mask`` and one of states: cells of values separated by blanks.

    Only residues with mask 1 are used. Rows of one chain, which show parts of it under different masks, form one
    group.
    """
    path = paths["table"]
    with open_lines(path) as (lines, name):
        header, *rows = ([cell.split() for cell in line.split(",")] for line in lines if line.strip())
    place = {cell[0]: j for j, cell in enumerate(header)}
    letters, states, groups = [], [], []
    number: dict[str, int] = {}
    for row, cells in enumerate(rows, start=1):
        chain, own, mask = (cells[place[key]] for key in ("input", column, "cb513_mask"))
        if not len(chain) == len(own) == len(mask):
            lengths = f"{len(chain)} residues, {len(own)} states and {len(mask)} mask values"
            raise SequenceError(
                f"has {lengths}",
                file=name,
                record=str(row),
                remedy="give one state and one mask value for each residue",
            )
        letters.append("".join(chain))
        states.append("".join(state if float(seen) else "?" for state, seen in zip(own, mask, strict=True)))
        groups.append(str(number.setdefault(letters[-1], len(number) + 1)))
    X, kept = encoded([str(i) for i in range(1, len(rows) + 1)], letters, policies, name)
    return Parts(with_states(X, [states[i] for i in kept], name), {"group": [groups[i] for i in kept]})


def jpred4(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read residues and states in two lines, with the official fold as ``fold=`` in the header; ``-`` is coil."""
    reading = read_letters_and_states(paths["states"], **policies)
    return Parts(reading.sequences, tables.columns_of_headers(reading, {"fold": "fold"}, paths["states"]))


def qian_sejnowski(paths: Paths, policies: dict[str, Any]) -> Parts:
    """Read two files of lines with a residue and a state (h, e or _).

    A chain stands between ``<>`` and ``<end>`` or the next ``<>``.
    """
    ids, letters, states, split = [], [], [], []
    for part in ("train", "test"):
        for number, pairs in enumerate(_letters_in_lines(paths[part]), start=1):
            ids.append(f"{part}{number}")
            letters.append("".join(letter for letter, _ in pairs))
            states.append("".join(state for _, state in pairs))
            split.append(part)
    X, kept = encoded(ids, letters, policies, ", ".join(map(str, paths.values())))
    return Parts(with_states(X, [states[i] for i in kept], paths["train"]), {"split": [split[i] for i in kept]})


def _letters_in_lines(path: PathLike) -> Iterator[list[list[str]]]:
    """Yield the (residue, state) pairs of each chain in a file of one residue per line."""
    with open_lines(path) as (lines, name):
        chain: list[list[str]] = []
        for number, line in enumerate(lines, start=1):
            cells = line.split("#")[0].split()
            if cells in (["<>"], ["<end>"], ["end"]):
                if chain:
                    yield chain
                chain = []
            elif len(cells) == 2 and len(cells[0]) == len(cells[1]) == 1:
                chain.append(cells)
            elif cells:
                raise SequenceError(f"line {number} is not a residue and a state", file=name, remedy="correct the line")
        if chain:
            yield chain
