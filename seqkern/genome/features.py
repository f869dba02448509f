"""Transcripts from the features of GenBank and EMBL records, through Biopython."""

from __future__ import annotations

from collections import Counter
from typing import Any

from seqkern.core.text_files import open_lines
from seqkern.core.types import Source
from seqkern.genome.transcripts import Annotation, Interval, Transcript
from seqkern.sequences.formats import format_of, parsed

GENE_KEYS = ("gene", "locus_tag", "gene_synonym", "protein_id")


def has_features(source: Source) -> bool:
    r"""Return whether a file is GenBank or EMBL, by its first line.

    Parameters
    ----------
    source : path-like or file object
        Plain text or compressed.

    Returns
    -------
    bool

    Examples
    --------
    >>> import io
    >>> has_features(io.StringIO("##gff-version 3\n"))
    False
    """
    with open_lines(source) as (lines, _):
        return format_of(next(lines)) in ("genbank", "embl")


def read_features(source: Source) -> Annotation:
    """Read the transcripts of GenBank or EMBL: each mRNA, and each CDS as the coding part of one.

    Parameters
    ----------
    source : path-like or file object
        Plain text or compressed.

    Returns
    -------
    Annotation
        A record without mRNA has one transcript for each CDS.

    Raises
    ------
    FileError, SequenceError
        If the file cannot be read.
    """
    transcripts: list[Transcript] = []
    features: Counter[str] = Counter()
    with open_lines(source) as (lines, name):
        first = next(lines)
        for record in parsed(format_of(first) or "", first, lines, name):
            features.update(item.type for item in record.features)
            transcripts += _of_record(record)
    return Annotation(name, transcripts, features)


def _of_record(record: Any) -> list[Transcript]:
    """Return the transcripts of a record."""
    found = []
    with_rna = any(item.type == "mRNA" for item in record.features)
    for number, item in enumerate(record.features, start=1):
        if item.type not in ("mRNA", "CDS") or item.location is None or item.location.strand not in (1, -1):
            continue
        gene = next((item.qualifiers[key][0] for key in GENE_KEYS if key in item.qualifiers), f"{record.id}.{number}")
        parts: list[Interval] = [
            (int(part.start), int(part.end)) for part in item.location.parts if part.ref in (None, record.id)
        ]
        if not parts:
            continue
        transcript = Transcript(f"{gene}.{number}", gene, record.id, item.location.strand == -1)
        if item.type == "CDS":
            transcript.coding = parts
        if item.type == "mRNA" or not with_rna:
            transcript.exons = parts
        found.append(transcript)
    return found
