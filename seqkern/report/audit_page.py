"""The HTML page of an audit: the verdict, the overlap, its effect on scores, and the files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from itertools import islice
from pathlib import Path

from seqkern.core.tsv import write_tsv
from seqkern.core.types import PathLike
from seqkern.evaluation.relations import KINDS as KINDS
from seqkern.evaluation.relations import Finding, FindingRow, cluster_rows, overlap_rows
from seqkern.evaluation.relations import Parts as Parts
from seqkern.evaluation.relations import Relations as Relations
from seqkern.evaluation.relations import find_relations as find_relations
from seqkern.evaluation.relations import make_parts as make_parts
from seqkern.methods.audited import PERMUTATIONS, SUBSETS, Audit, TestScore
from seqkern.methods.audited import audit as audit
from seqkern.report.markup import Markup
from seqkern.report.page_frame import Column, number, render, table, whole_page

MOST_ROWS = 24
"""Maximum number of rows of a table on the page; the files list all."""
NAMES = {
    "identical": ("identical", "The same residues."),
    "reverse_complement": ("reverse complement", "The same residues on the other strand."),
    "contained": ("contained", "One is a part of the other."),
    "similar": ("similar", "Enough identical residues in an alignment; more than chance explains."),
    "shared_kmer": ("shared {k}-mer", "A stretch of {k} or more residues in common."),
    "any": ("any of these", "What is left out of scores “without overlap”."),
}

SCORE_NAMES = {"auc": "AUC", "mcc": "Matthews’ correlation (MCC)"}


def render_page(found: Audit, title: str) -> Markup:
    """Return the HTML page of an audit."""
    rows, scores = cluster_rows(found.parts, found.within), found.scores.rows
    content = {
        "audit": found,
        "parts": found.parts,
        "title": title,
        "permutations": PERMUTATIONS,
        "overlap": findings_table("Test sequences that overlap with training", found.findings, found.parts.n_test),
        "remarks": found.scores.remarks,
        "scores": [_scores_table(found, key, name) for key, name in SCORE_NAMES.items()] if scores else None,
        "nearest": _nearest(found),
        "n_clusters": len(rows),
        "shared": f"{sum(bool(row['training'] and row['test']) for row in rows):,}",
        "mixed": f"{sum(row['classes'] > 1 for row in rows):,}",
    }
    return whole_page(f"{title} · seqkern audit", render("audit", "page", content))


def findings_table(caption: str, findings: Sequence[Finding], n_test: int) -> Markup:
    """Return the table of kinds of overlap."""
    columns: list[Column | str] = [
        Column("Overlap", False),
        Column("Meaning", False),
        Column("Test sequences", hint="that overlap with training in this way"),
        "Share",
        Column("Only this kind", hint="none of the kinds above it"),
        Column("Other label", hint="the nearest training relative has another label"),
        Column("Within training", hint="training sequences with such a relative in training"),
        Column("Within test", hint="test sequences with such a relative in the test part"),
    ]
    rows = []
    for one in findings:
        name, meaning = _overlap_names(one.kind, one.limit)
        share = f"{100 * one.test / n_test:.1f}%" if n_test else "–"
        counts = [number(value, 0) for value in (one.strongest, one.conflicts, one.within_training, one.within_test)]
        rows.append([name, meaning, number(one.test, 0), share, *counts])
    return table(caption, columns, rows, class_="text")


def _overlap_names(kind: str, limit: float | None) -> tuple[str, str]:
    """Return the name and the meaning of a kind of overlap."""
    if kind.startswith("identity_"):
        share = f"{100 * float(kind.removeprefix('identity_')):g}%"
        return f"identity ≥ {share}", f"At least {share} of the shorter sequence identical to the nearest relative."
    name, meaning = NAMES[kind]
    stretch = f"{limit or 0:g}"
    return name.format(k=stretch), meaning.format(k=stretch)


def _scores_table(found: Audit, score: str, name: str) -> Markup:
    """Return the table of one score: a row for each classifier, a column for each subset of the test sequences."""
    sizes = {row.subset: row.n for row in found.scores.rows}
    columns: list[Column | str] = [Column("Classifier", False)]
    columns += [f"{SUBSETS[subset][0].upper()}{SUBSETS[subset][1:]} ({n:,})" for subset, n in sizes.items()]
    rows: dict[str, list[str]] = {}
    for row in found.scores.rows:
        rows.setdefault(row.title, []).append(row.text(score))
    return table(f"{name} on the test part", columns, [[title, *cells] for title, cells in rows.items()])


def _nearest(found: Audit) -> Markup | None:
    """Return the table of overlapping test sequences with their nearest relatives; None if there are none."""
    count = int(found.relations.overlaps.sum())
    if not count:
        return None
    labels = bool(found.parts.names)
    columns: list[Column | str] = [Column("Test sequence", False), Column("Nearest in training", False)]
    columns += [Column("Labels", False)] if labels else []
    columns += [Column("Overlap", False), "Identity", Column("Shared stretch", hint="residues")]
    rows = []
    for row in islice(overlap_rows(found.parts, found.relations), MOST_ROWS):
        pair = [f"{row['test_label'] or '?'}, {row['train_label'] or '?'}"] if labels else []
        kind = _overlap_names(row["kind"], found.relations.k)[0]
        rows.append([row["test_id"], row["train_id"], *pair, kind, number(row["identity"]), row["stretch"] or "–"])
    more = f" (the first {MOST_ROWS} of {count:,}; the rest is in overlap.tsv)" if count > MOST_ROWS else ""
    return table(f"Test sequences and their nearest training relatives{more}", columns, rows, class_="ids")


# The tables of an audit, as TSV.

PLACE = ("task", "split")
"""First columns of the tables of a study's data set."""
FINDINGS = tuple(field.name for field in fields(Finding))
OVERLAP = ("test_id", "test_label", "kind", "train_id", "train_label", "identity", "stretch", "kinds")
CLUSTERS = ("cluster", "training", "test", "classes", "labels", "first")
SCORES = tuple(field.name for field in fields(TestScore))


def write_tables(folder: PathLike, audits: Sequence[tuple[Sequence[str], Audit]], place: Sequence[str] = ()) -> None:
    """Write the tables of one audit, or of the audits of several splits, to a folder."""
    home = Path(folder)

    def _write(name: str, columns: Sequence[str], tables: Iterable[tuple[Sequence[str], Iterable[FindingRow]]]) -> None:
        rows = (dict(zip(place, where, strict=True)) | row for where, table in tables for row in table)
        write_tsv(home / name, (*place, *columns), rows)

    _write("findings.tsv", FINDINGS, ((where, map(asdict, one.findings)) for where, one in audits))
    _write("overlap.tsv", OVERLAP, ((where, overlap_rows(one.parts, one.relations)) for where, one in audits))
    _write("clusters.tsv", CLUSTERS, ((where, cluster_rows(one.parts, one.within)) for where, one in audits))
    if any(one.scores.rows for _, one in audits):
        _write("scores.tsv", SCORES, ((where, map(asdict, one.scores.rows)) for where, one in audits))
