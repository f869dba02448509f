"""``seqkern audit``: the overlap of a training and a test set, and its effect on scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from seqkern.cli.output import check_result_folder, log_counts, naming_file, result_folder
from seqkern.cli.requests_studies import AuditRequest
from seqkern.cli.wrong_files import bases_beside_proteins, check_twice
from seqkern.core.archive import atomic_write
from seqkern.core.errors import LabelError, ParameterError, SequenceError
from seqkern.core.threads import given_threads
from seqkern.core.tsv import check_columns, read_cells
from seqkern.evaluation.relations import Parts
from seqkern.methods.audited import Audit, audit, audited_splits
from seqkern.report.audit_page import PLACE, render_page, write_tables
from seqkern.sequences.fasta import Reading, read_records, unique_ids
from seqkern.sequences.labels import is_unknown
from seqkern.sequences.similarity import kept_segments
from seqkern.study.tables import check_fields_once, header_fields, id_column_of, label_column, no_column


def run(request: AuditRequest) -> None:
    """Run ``seqkern audit``."""
    output = Path(request.output)
    check_result_folder(request)
    if request.folds:
        _audit_folds(request, output)
        return
    parts, title = _read(request)
    kept = kept_segments(output.with_name(f".{output.name}.parts"))
    with naming_file(", ".join(request.files)), given_threads(request.threads), kept:
        found = _audit(request, parts, scores=not request.no_scores)
    page = render_page(found, title)
    with result_folder(request):
        write_tables(output, [((), found)])
        with atomic_write(output / "index.html", "w") as file:
            file.write(page)
    print(output / "index.html")
    print(found.verdict, *filter(None, [found.relations.links.remark]), sep="\n")


def _audit(request: AuditRequest, parts: Parts, scores: bool) -> Audit:
    """Return the audit of two parts with the options given."""
    return audit(
        parts,
        k=request.k,
        identity=request.identity,
        both_strands=False if request.one_strand else None,
        scores=scores,
        memory_limit=request.memory,
        n_threads=request.threads,
    )


def _audit_folds(request: AuditRequest, output: Path) -> None:
    """Audit the splits of a data set, and write their tables."""
    if len(request.files) > 1:
        raise ParameterError(f"{len(request.files)} files with --folds", remedy="give the folder of one data set")
    with given_threads(request.threads):
        found = audited_splits(request.files[0], request.folds, lambda parts: _audit(request, parts, scores=False))
    with result_folder(request):
        write_tables(output, found.audits, PLACE)
    for place, one in found.audits:
        print(f"{' '.join(place)}: {one.verdict}")
    for remark in found.remarks:
        print(remark)


# The sequences and labels of ``seqkern audit``.

TRAIN, TEST = "train", "test"
CLASSES = ("positive", "negative")


def _read(request: AuditRequest) -> tuple[Parts, str]:
    """Return the parts of the audit, with labels if there are any, and the title of the page."""
    part_field, policies = request.part, request.policies
    fasta, table = _sorted_files(list(request.files), request.labels, part_field)
    check_twice(fasta)
    # an id may occur in both parts
    whole = {"ids": "suffix"} if policies["ids"] == "header" else {}
    reading = read_records(fasta, request.alphabet, **{**policies, **whole})
    first_words = [header.split(None, 1)[0] if header.strip() else "" for header in reading.headers]
    cells = None if table is None else _Table(table, first_words)
    if part_field is not None:
        found = _header_values(reading, part_field, fasta) if cells is None else cells.column(part_field, first_words)
        is_test, used = np.array([text == TEST for text in found]), np.isin(found, (TRAIN, TEST))
        where = fasta[0] if table is None else table
        if not used.any():
            raise LabelError(f"no {part_field} is train or test", file=where, remedy="write these words in it")
    else:
        is_test, used = reading.sources >= len(fasta) // 2, np.ones(len(first_words), dtype=bool)
    rows = np.concatenate((np.flatnonzero(used & is_test), np.flatnonzero(used & ~is_test)))
    n_test = int((used & is_test).sum())
    if cells is not None:
        _check_shared_ids(reading, first_words, rows, n_test, cells.file)
    names = _names(reading, first_words, fasta, request.labels, request.label_field, cells)
    ids: list[str] = []
    for side, file in ((rows[:n_test], fasta[-1]), (rows[n_test:], fasta[0])):
        ids += unique_ids([first_words[row] for row in side.tolist()], policies["ids"], file=file)[0]
    X = reading.sequences.take(rows).compact().replace(ids=ids)
    if request.alphabet is None:
        _check_kinds(Parts(X, n_test), fasta)
    parts = Parts(X, n_test, () if names is None else tuple(names[row] for row in rows.tolist()))
    title = " and ".join(Path(file).name for file in fasta[:: max(1, len(fasta) // 2)])
    counts = {what: count for what, count in reading.sequences.counts.items() if what != "repeated ids"}
    log_counts(counts, ", ".join(fasta))
    return parts, title


def _check_shared_ids(reading: Reading, ids: list[str], rows: npt.NDArray[np.int64], n_test: int, table: str) -> None:
    """Raise an error if an id of the table names one sequence in training and another in the test part."""
    known = {ids[row]: row for row in rows[n_test:].tolist()}
    text = reading.sequences.string
    shared = [row for row in rows[:n_test].tolist() if ids[row] in known and text(row) != text(known[ids[row]])]
    if shared:
        many = f"{len(shared)} ids name" if len(shared) > 1 else "an id names"
        raise LabelError(
            f"{many} different sequences in training and test, so the table cannot give their labels",
            file=table,
            record=ids[shared[0]],
            remedy="rename them in one of the files, or give labels in the headers (--labels header)",
        )


def _sorted_files(files: list[str], labels: str | None, part_field: str | None) -> tuple[list[str], str | None]:
    """Return the files of sequences, and the table of labels or None."""
    wanted = (1,) if part_field is not None else (2, 4)
    table = None if labels in (None, "header", "first-word") else labels
    if len(files) - 1 in wanted and labels is None and len(files) not in wanted:
        table = files.pop()
    if len(files) not in wanted:
        what = "one file of sequences" if part_field else "two (training, test), or four (positives and negatives)"
        raise ParameterError(f"{len(files)} files of sequences given", remedy=f"give {what}; --labels names the table")
    return files, table


def _names(
    reading: Reading, ids: list[str], files: list[str], labels: str | None, field: str, cells: _Table | None
) -> list[str] | None:
    """Return the label of each record, empty text if it is unknown; None without labels."""
    if cells is not None:
        found = cells.column(label_column(cells.header, field), ids)
    elif labels == "header":
        found = _header_values(reading, field, files)
    elif labels == "first-word":
        found = ids
    elif len(files) == 4:
        return [CLASSES[source % 2] for source in reading.sources.tolist()]
    else:
        return None
    return ["" if is_unknown(text) else text for text in found]


def _header_values(reading: Reading, field: str, files: list[str]) -> list[str]:
    """Return a field of each header, empty text where it is missing."""
    check_fields_once(reading, (field,), ", ".join(files))
    found = [header_fields(header).get(field, "") for header in reading.headers]
    if not any(found):
        raise LabelError(
            f"no header has a field {field}=…",
            file=", ".join(files),
            remedy="name the field, or give a table of labels",
        )
    return found


class _Table:
    """A table with a row for each record, or for some."""

    def __init__(self, file: str, ids: Sequence[str]) -> None:
        self.file = file
        self.header, *rows = read_cells(file)
        check_columns(self.header, file)
        place = self.header.index(id_column_of(self.header, rows, ids))
        self.rows: dict[str, list[str]] = {}
        for row in rows:
            if self.rows.setdefault(row[place], row) != row:
                raise LabelError("has two rows of labels", file=file, record=row[place], remedy="remove one of them")
        if not self.rows.keys() & set(ids):
            raise LabelError(
                "none of its ids are those of the sequences", file=file, remedy="give the table of these sequences"
            )

    def column(self, name: str, ids: Sequence[str]) -> list[str]:
        """Return the cells of a column, empty text for records that are not in the table."""
        if name not in self.header:
            raise no_column(name, self.header, self.file)
        place = self.header.index(name)
        return [self.rows[key][place].strip() if key in self.rows else "" for key in ids]


def _check_kinds(parts: Parts, files: Sequence[str]) -> None:
    """Raise an error if one part is DNA or RNA, and the other protein."""
    rows = {"training": np.flatnonzero(~parts.is_test), "test": np.flatnonzero(parts.is_test)}
    name = bases_beside_proteins(parts.X, rows)
    if name is not None:
        raise SequenceError(
            f"the {len(rows[name])} {name} sequences are DNA or RNA, those of the other part protein",
            file=files[0 if name == "training" else -1],
            remedy="give both parts as DNA or both as protein; if they are proteins, add --alphabet protein",
        )
