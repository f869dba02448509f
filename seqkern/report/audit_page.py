"""The HTML page of an audit: the verdict, the overlap, its effect on scores, and the files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from itertools import islice
from pathlib import Path

from seqkern import __version__
from seqkern.core.tsv import write_tsv
from seqkern.core.types import PathLike
from seqkern.evaluation.overlaps import KINDS as KINDS
from seqkern.evaluation.overlaps import Finding, FindingRow, cluster_rows, overlap_rows
from seqkern.evaluation.overlaps import Parts as Parts
from seqkern.evaluation.overlaps import Relations as Relations
from seqkern.evaluation.overlaps import find_relations as find_relations
from seqkern.evaluation.overlaps import make_parts as make_parts
from seqkern.methods.audit import PERMUTATIONS, SUBSETS, Audit, TestScore
from seqkern.methods.audit import audit as audit
from seqkern.report.markup import Markup, tag
from seqkern.report.page_frame import Column, number, plural, table, whole_page
from seqkern.report.plots import Row, dot_intervals

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
CAPTION = "● All test sequences. ○ Without those that overlap with training. ◇ Rivals, with and without them."
FILES = {
    "findings.tsv": "a row for each kind of overlap, with all counts",
    "overlap.tsv": "a row for each test sequence that overlaps with training, with its nearest relative there",
    "clusters.tsv": "a row for each cluster of near-duplicates over both parts, with its labels",
    "scores.tsv": "each classifier on all test sequences, without the overlap, and on the overlap alone",
}


def render_page(found: Audit, title: str) -> Markup:
    """Return the HTML page of an audit."""
    head = tag(
        "header", tag("p", "seqkern audit", class_="kicker"), tag("h1", title), tag("p", found.verdict, class_="lead")
    )
    sections = [_overlap(found), _scores(found), _nearest(found), _clusters(found), _limits(found), _files(found)]
    return whole_page(f"{title} · seqkern audit", head, tag("main", sections))


def findings_table(caption: str, findings: Sequence[Finding], n_test: int) -> Markup:
    """Return the table of kinds of overlap."""
    columns: list[Column | str] = [
        Column("Overlap", False),
        Column("Meaning", False),
        Column("Test sequences", hint="that overlap with training in this way"),
        "Share",
        Column("In no stronger way", hint="none of the kinds above it"),
        Column("Other label", hint="the nearest training relative has another label"),
        Column("Within training", hint="training sequences with such a relative in training"),
        Column("Within test", hint="test sequences with such a relative in the test part"),
    ]
    rows = []
    for one in findings:
        name, meaning = _overlap_names(one.kind, one.limit)
        share = f"{100 * one.test / n_test:.1f} %" if n_test else "–"
        counts = [number(value, 0) for value in (one.strongest, one.conflicts, one.within_training, one.within_test)]
        rows.append([name, meaning, number(one.test, 0), share, *counts])
    return table(caption, columns, rows, class_="text")


def _overlap_names(kind: str, limit: float | None) -> tuple[str, str]:
    """Return the name and the meaning of a kind of overlap."""
    if kind.startswith("identity_"):
        share = f"{100 * float(kind.removeprefix('identity_')):g} %"
        return f"identity ≥ {share}", f"At least {share} of the shorter sequence identical to the nearest relative."
    name, meaning = NAMES[kind]
    stretch = f"{limit or 0:g}"
    return name.format(k=stretch), meaning.format(k=stretch)


def _overlap(found: Audit) -> Markup:
    """Return the section with the counts of each kind of overlap."""
    parts = found.parts
    text = (
        f"{plural(parts.n_test, 'test sequence')} {'were' if parts.n_test > 1 else 'was'} compared with "
        f"{plural(parts.n_train, 'training sequence')}"
        f"{', on both strands' if found.relations.both_strands else ''}."
    )
    if not found.relations.aligned:
        text += " The parts are too large for alignments, so similar sequences were not searched for."
    caption = "Test sequences that overlap with training"
    return tag(
        "section",
        tag("h2", "Overlap of test and training"),
        tag("p", text),
        findings_table(caption, found.findings, parts.n_test),
    )


def _scores(found: Audit) -> Markup:
    """Return the section with the scores with and without the overlap."""
    remarks = [tag("li", f"{remark[0].upper()}{remark[1:]}.") for remark in found.scores.remarks]
    listed = tag("ul", remarks) if remarks else None
    if not found.scores.rows:
        return tag("section", tag("h2", "What the overlap does to scores"), listed or tag("p", "Not computed."))
    intro = (
        "A C-SVM with C = 1 on each kernel of a fixed portfolio was trained on the training part; nothing was chosen "
        "by its scores. Its rivals: the first classifier trained on permuted labels, which has nothing to learn "
        f"(mean of {PERMUTATIONS} permutations, with the lowest and the highest in place of an interval); the nearest "
        "neighbour, which only memorises; composition or length alone. Intervals are 95 %."
    )
    return tag(
        "section",
        tag("h2", "What the overlap does to scores"),
        tag("p", intro),
        tag("figure", _picture(found), tag("figcaption", CAPTION), class_="dots"),
        _scores_table(found, "auc", "AUC"),
        _scores_table(found, "mcc", "Matthews’ correlation (MCC)"),
        listed,
    )


def _scores_table(found: Audit, score: str, name: str) -> Markup:
    """Return the table of one score: a row for each classifier, a column for each subset of the test sequences."""
    sizes = {row.subset: row.n for row in found.scores.rows}
    columns: list[Column | str] = [Column("Classifier", False)]
    columns += [f"{SUBSETS[subset][0].upper()}{SUBSETS[subset][1:]} ({n:,})" for subset, n in sizes.items()]
    rows: dict[str, list[str]] = {}
    for row in found.scores.rows:
        rows.setdefault(row.title, []).append(row.text(score))
    return table(f"{name} on the test part", columns, [[title, *cells] for title, cells in rows.items()])


def _picture(found: Audit) -> Markup:
    """Return the chart of the AUCs with and without the overlap."""
    rows = []
    for row in found.scores.rows:
        if row.subset != "overlap" and not math.isnan(row.auc):
            whole = row.subset == "all"
            name = row.title if whole else f"{row.title}, {SUBSETS['without']}"
            trivial = row.role != "classifier"
            mark = "baseline" if trivial else "better" if whole else "not better"
            rows.append(Row(name, row.auc, row.auc_low, row.auc_high, mark, strong=False))
    return dot_intervals(rows, "AUC", {0.5: "chance"}, "AUC of each classifier", width=820, ends=(0.0, 1.0))


def _nearest(found: Audit) -> Markup | None:
    """Return the section on overlapping test sequences with their nearest relatives; None if there are none."""
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
    listed = table(f"Test sequences and their nearest training relatives{more}", columns, rows, class_="ids")
    return tag("section", tag("h2", "Nearest relatives"), listed)


def _clusters(found: Audit) -> Markup:
    """Return the section on the largest clusters of near-duplicates."""
    rows = cluster_rows(found.parts, found.within)
    heading = tag("h2", "Clusters of near-duplicates")
    if not rows:
        return tag("section", heading, tag("p", "No two sequences are near-duplicates."))
    both = [row for row in rows if row["training"] and row["test"]]
    mixed = sum(row["classes"] > 1 for row in rows)
    text = (
        f"Sequences that are identical, contained in one another or similar form {plural(len(rows), 'cluster')}; "
        f"{len(both):,} of them {'have' if len(both) != 1 else 'has'} members in both parts"
    )
    if found.parts.names:
        text += f", {mixed:,} {'have' if mixed != 1 else 'has'} members with different labels"
    columns: list[Column | str] = [Column("First member", False), "Training", "Test", Column("Labels", False)]
    shown = [
        [row["first"], number(row["training"], 0), number(row["test"], 0), row["labels"]]
        for row in rows[: MOST_ROWS // 2]
    ]
    rest = len(rows) > len(shown)
    more = f" (the largest {len(shown)} of {len(rows):,}; the rest is in clusters.tsv)" if rest else ""
    return tag("section", heading, tag("p", text, "."), table(f"Clusters{more}", columns, shown))


def _limits(found: Audit) -> Markup:
    """Return the section on the overlaps that the search finds, and those that it can miss."""
    texts = list(_limit_texts(found))
    return tag("section", tag("h2", "What is found, and what can be missed"), tag("ul", [tag("li", t) for t in texts]))


def _limit_texts(found: Audit) -> Iterator[str]:
    """Yield a sentence on the limits of each kind of search."""
    yield "Identical sequences, reverse complements and shared stretches are found exactly."
    yield (
        "Contained sequences are found from the length at which fewer than one is expected by chance; shorter ones are "
        "ignored."
    )
    yield (
        "Similar sequences are found by a shared short stretch, then aligned: pairs near the limit can be missed. "
        "Distant relatives below the limit (such as proteins of one superfamily) are not counted as overlap."
    )


def _files(found: Audit) -> Markup:
    """Return the section that lists the files beside the page."""
    listed = {name: text for name, text in FILES.items() if name != "scores.tsv" or found.scores.rows}
    items = [tag("li", tag("a", name, href=name), f": {text}") for name, text in listed.items()]
    made = f"Created by seqkern {__version__}."
    return tag("section", tag("h2", "Files"), tag("ul", items), tag("p", made, class_="note"))


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
