"""Samples with several sequences from text: the columns of a table, or FASTA files with equal ids.

Both are first text, one column of sequences for each view; then the policies decide, and each column is encoded in its
own alphabet, as FASTA is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqkern.core.checks import check_choice
from seqkern.core.errors import SequenceError, unknown_name
from seqkern.core.table_cells import check_columns, read_cells
from seqkern.core.text_files import source_name
from seqkern.core.types import Source
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.fasta import read_records, records_of
from seqkern.sequences.joining import join_views
from seqkern.sequences.record_ids import unique_ids
from seqkern.sequences.sequence_set import SequenceSet

MISSING = ("error", "skip", "keep")
"""The policies for a sample that lacks one of its sequences, the default first."""


@dataclass(frozen=True)
class TextColumns:
    """The sequences of samples as text, before the policies.

    Attributes
    ----------
    ids : list of str, length n
        Of the samples.
    sequences : dict of str to list of str, length n
        For each view the sequence of each sample, empty where it is missing.
    files : dict of str to str
        The source of each view, for messages.
    columns : dict of str to list of str, length n
        The other columns of the table.
    headers : list of str, length n
        The header of each sample in the first FASTA file that has it; empty for tables.
    """

    ids: list[str]
    sequences: dict[str, list[str]]
    files: dict[str, str]
    columns: dict[str, list[str]] = field(default_factory=dict)
    headers: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SequencesRead:
    """Samples with several sequences.

    Attributes
    ----------
    sequences : SequenceSet, n records
        With a sequence view for each sequence.
    columns : dict of str to list of str, length n
        The other columns of the table.
    headers : list of str, length n
        As of `TextColumns`.
    left_out : list of str
        The ids of the samples that a policy left out.
    """

    sequences: SequenceSet
    columns: dict[str, list[str]]
    headers: list[str]
    left_out: list[str]


def read_table_text(
    source: Source, columns: Mapping[str, str], id_column: str | None = None, ids: str = "header"
) -> TextColumns:
    r"""Read the columns of a table.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        As for `seqkern.core.table_cells.read_cells`, with a header line.
    columns : mapping of str to str
        The column of each view.
    id_column : str, optional
        The column of ids; by default rows are numbered from 1.
    ids : {"header", "number", "suffix"}
        Treatment of repeated ids, as for `seqkern.read_fasta`; with ``"number"`` rows are numbered in any case.

    Returns
    -------
    TextColumns

    Raises
    ------
    FileError, SequenceError
        If it cannot be read, a column is missing (with the nearest name), or an id is repeated.

    Examples
    --------
    >>> import io
    >>> text = read_table_text(io.StringIO("a\tb\tlabel\nCAV\tCASS\t1\nCAL\t\t0\n"), {"alpha": "a", "beta": "b"})
    >>> text.ids, text.sequences, text.columns["label"]
    (['1', '2'], {'alpha': ['CAV', 'CAL'], 'beta': ['CASS', '']}, ['1', '0'])
    """
    header, *rows = read_cells(source)
    name, id_column = source_name(source), None if ids == "number" else id_column
    if header[0].startswith(">"):
        raise SequenceError(
            f"is FASTA, not a table with the columns {', '.join(columns.values())}",
            file=name,
            remedy="give a table (TSV or CSV), or a FASTA file for each sequence with --view NAME=FILE",
        )
    check_columns(header, name)
    if not rows:
        raise SequenceError("has a header line but no rows", file=name, remedy="check how the file was created")
    for column in [*columns.values(), *([] if id_column is None else [id_column])]:
        if column not in header:
            error = unknown_name("column", column, header)
            raise SequenceError(error.problem, file=name, remedy=error.remedy)
    cells = dict(zip(header, (list(map(str.strip, values)) for values in zip(*rows, strict=True)), strict=True))
    given = [""] * len(rows) if id_column is None else cells[id_column]
    policy = "number" if id_column is None else ids
    if policy != "number" and "" in given:
        raise SequenceError(f"row {given.index('') + 1} has no id", file=name, remedy="add one, or add --ids number")
    names, _ = unique_ids(given, policy, file=name)
    sequences = {view: cells[column] for view, column in columns.items()}
    return TextColumns(
        names, sequences, {view: f"{name}: column {column!r}" for view, column in columns.items()}, cells
    )


def read_fasta_text(sources: Mapping[str, Source], ids: str = "header") -> TextColumns:
    r"""Read FASTA files, and match their records by id.

    Parameters
    ----------
    sources : mapping of str to path-like
        The file of each view, as for `seqkern.read_fasta`.
    ids : {"header", "number", "suffix"}
        The id of a record, as for `seqkern.read_fasta`.

    Returns
    -------
    TextColumns
        Samples in the order in which their ids occur, file after file.

    Raises
    ------
    FileError, SequenceError
        If a file cannot be read, or an id is repeated in it.

    Examples
    --------
    >>> import io
    >>> text = read_fasta_text({"heavy": io.StringIO(">a\nQVQL\n>b\nEVQ\n"), "light": io.StringIO(">b\nDIQ\n")})
    >>> text.ids, text.sequences
    (['a', 'b'], {'heavy': ['QVQL', 'EVQ'], 'light': ['', 'DIQ']})
    """
    found: dict[str, dict[str, str]] = {}
    headers: dict[str, str] = {}
    for view, source in sources.items():
        name = source_name(source)
        records = list(records_of(source))
        if not records:
            raise SequenceError("has no records", file=name, remedy="check how the file was created")
        names, _ = unique_ids([header.split(None, 1)[0] for header, _ in records], ids, file=name)
        found[view] = dict(zip(names, (letters for _, letters in records), strict=True))
        headers = {**dict(zip(names, (header for header, _ in records), strict=True)), **headers}
    every = list(dict.fromkeys(key for own in found.values() for key in own))
    sequences = {view: [own.get(key, "") for key in every] for view, own in found.items()}
    files = {view: source_name(source) for view, source in sources.items()}
    return TextColumns(every, sequences, files, headers=[headers[key] for key in every])


def encode_columns(
    text: TextColumns,
    alphabets: Mapping[str, str | Alphabet | None],
    *,
    missing: str = "error",
    unknown: str = "mask",
    gaps: str = "error",
) -> SequencesRead:
    """Encode samples with several sequences, under the policies.

    Parameters
    ----------
    text : TextColumns
        The sequences.
    alphabets : mapping of str to Alphabet or str
        Of each view; guessed from its letters where there is none.
    missing : {"error", "skip", "keep"}
        A sample that lacks a sequence: refuse it, leave it out, or keep it with an empty sequence. A sample without any
        sequence is always refused.
    unknown, gaps : str
        As for `seqkern.read_fasta`; with ``unknown="skip"`` the whole sample is left out.

    Returns
    -------
    SequencesRead

    Raises
    ------
    SequenceError
        If the policies refuse a sample.

    Examples
    --------
    >>> text = TextColumns(["r1", "r2"], {"a": ["CAV", ""], "b": ["CASS", "CAWS"]}, {"a": "t.tsv", "b": "t.tsv"})
    >>> read = encode_columns(text, {"a": "protein", "b": "protein"}, missing="keep")
    >>> read.sequences.strings(), read.sequences.counts
    (['CAV*CASS', '*CAWS'], {"empty sequences in the view 'a'": 1})
    """
    check_choice("missing", missing, MISSING)
    bare = np.array([[not letters for letters in column] for column in text.sequences.values()])
    _check_bare(text, bare)
    if missing == "error":
        _check_missing(text, bare)
    kept = np.flatnonzero(~bare.any(axis=0)) if missing == "skip" else np.arange(len(text.ids))
    counts = {"samples without a sequence in a view left out": len(text.ids) - len(kept)}
    found = {
        view: _encoded(text, view, kept, alphabets.get(view), {"unknown": unknown, "gaps": gaps})
        for view in text.sequences
    }
    whole = np.array([i for i in kept if all(i in own.place for own in found.values())], dtype=np.int64)
    if not len(whole):
        raise SequenceError(
            "every sample was left out", file=_source(text), remedy="correct the sequences, or change the policies"
        )
    counts["samples with unknown letters left out"] = len(kept) - len(whole)
    for view, own in found.items():
        counts[f"empty sequences in the view {view!r}"] = sum(not text.sequences[view][i] for i in whole)
        for what, count in own.counts.items():
            if not what.startswith("records "):
                counts[what] = counts.get(what, 0) + count
    X = join_views({view: own.of(whole) for view, own in found.items()}, ids=[text.ids[i] for i in whole])
    chosen = set(whole.tolist())
    return SequencesRead(
        X.replace(counts={what: count for what, count in counts.items() if count}),
        {name: [values[i] for i in whole] for name, values in text.columns.items()},
        [text.headers[i] for i in whole] if text.headers else [],
        [key for i, key in enumerate(text.ids) if i not in chosen],
    )


@dataclass(frozen=True)
class _Encoded:
    """The sequences of one view that are not missing, the place of each sample among them, and counts."""

    sequences: SequenceSet
    place: dict[int, int]
    counts: dict[str, int]

    def of(self, rows: Iterable[int]) -> SequenceSet:
        """Return the sequences of some samples."""
        return self.sequences.take(np.array([self.place[i] for i in rows], dtype=np.int64))


@dataclass
class _Cells:
    """The cells of a column that are not empty, as records named by their row."""

    name: str
    letters: Sequence[str]
    rows: Sequence[int]
    counts: dict[str, int] = field(default_factory=dict)

    def records(self) -> Iterator[tuple[str, str]]:
        """Yield row and letters."""
        return ((str(i), self.letters[i]) for i in self.rows)


def _encoded(
    text: TextColumns, view: str, kept: Iterable[int], alphabet: str | Alphabet | None, policies: dict[str, Any]
) -> _Encoded:
    """Return the sequences of one view; empty ones at the end, where they share no residue."""
    letters, file = text.sequences[view], text.files[view]
    rows = [int(i) for i in kept]
    full = [i for i in rows if letters[i]]
    if not full:
        raise SequenceError("has no sequence", file=file, remedy=f"remove the view {view!r}")
    try:
        X = read_records([_Cells(file, letters, full)], alphabet, empty="skip", **policies).sequences
    except SequenceError as error:
        if error.record is not None:
            error.record = text.ids[int(error.record)]
        raise
    place = {int(row): i for i, row in enumerate(X.ids)}
    gone = len(X.codes)
    starts, stops = np.append(X.starts, gone), np.append(X.stops, gone)
    place |= {i: len(X) for i in rows if not letters[i]}
    return _Encoded(SequenceSet(X.codes, starts, stops, [*X.ids, ""], X.alphabet), place, X.counts)


def _source(text: TextColumns) -> str:
    """Return all sources, for messages."""
    return ", ".join(dict.fromkeys(file.partition(": column ")[0] for file in text.files.values()))


def _check_bare(text: TextColumns, bare: Any) -> None:
    """Raise SequenceError for a sample without any sequence."""
    none = np.flatnonzero(bare.all(axis=0))
    if len(none):
        more = f" (and {len(none) - 1} more)" if len(none) > 1 else ""
        raise SequenceError(
            f"row {none[0] + 1} has no sequence in any of {', '.join(text.sequences)}{more}",
            file=_source(text),
            record=text.ids[none[0]],
            remedy="remove the sample",
        )


def _check_missing(text: TextColumns, bare: Any) -> None:
    """Raise SequenceError for a sample that lacks a sequence."""
    view, i = next(zip(*np.nonzero(bare), strict=True), (None, None))
    if view is None or i is None:
        return
    name = list(text.sequences)[view]
    has = next(file for file, column in zip(text.files.values(), text.sequences.values(), strict=True) if column[i])
    of_fasta = "" if text.columns else f", but it is in {has}"
    lacking = int(bare.any(axis=0).sum())
    remedy = "add it, or add --missing skip (leaves such samples out) or --missing keep (an empty sequence)"
    if lacking == len(text.ids) and not text.columns:
        remedy = (
            "give the records of a sample one id in all files; or, where they are in the same order, add --ids number"
        )
    raise SequenceError(
        f"has no sequence in the view {name!r}{of_fasta} ({lacking} of {len(text.ids)} samples lack one)",
        file=text.files[name],
        record=text.ids[i],
        remedy=remedy,
    )
