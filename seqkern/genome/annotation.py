"""Transcripts from GTF and GFF3."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

from seqkern.core.errors import SequenceError
from seqkern.core.text_files import open_lines
from seqkern.core.types import Source
from seqkern.core.values import check_integer
from seqkern.genome.transcripts import Annotation, Interval, Transcript

STRANDS = {"+": False, "-": True}
GTF_ATTRIBUTE = re.compile(r'\s*([\w.-]+)\s+(?:"([^"]*)"|([^\s;"]+))\s*;?')
PARTS = ("exon", "CDS", "stop_codon")

Line = tuple[str, str, Interval, str, str]
"""Chromosome, feature, interval, strand, attributes."""


def read_annotation(source: Source) -> Annotation:
    r"""Read the transcripts of GTF or GFF3; the lines may have any order.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        Plain text or compressed.

    Returns
    -------
    Annotation

    Raises
    ------
    FileError
        If the file cannot be read.
    SequenceError
        If a line is not one of GTF or GFF3.

    Examples
    --------
    >>> import io
    >>> line = 'chr1\t.\texon\t{}\t{}\t.\t+\t.\tgene_id "g1"; transcript_id "t1";\n'
    >>> (transcript,) = read_annotation(io.StringIO(line.format(1, 50) + line.format(151, 200))).transcripts
    >>> transcript.gene, transcript.exons
    ('g1', [(0, 50), (150, 200)])
    """
    with open_lines(source) as (lines, name):
        found = _Transcripts(name)
        for line in _lines(lines, name):
            found.add(line)
    return found.annotation()


def _lines(lines: Iterator[str], name: str) -> Iterator[Line]:
    """Yield the features; the sequences at the end of some GFF3 files are not read."""
    for number, text in enumerate(lines, start=1):
        if number > 1 and text.startswith(("##FASTA", ">")):
            return
        if text.startswith("#") or not text.strip():
            continue
        cells = text.rstrip("\n").split("\t")
        try:
            chromosome, _, feature, first, last, _, strand, _, attributes = cells[:9]
            interval = check_integer(first) - 1, check_integer(last)
        except ValueError as error:
            raise SequenceError(
                f"line {number} is not GTF or GFF3: {text.strip()[:40]!r}",
                file=name,
                remedy="give nine columns separated by tabs, with start and end in columns 4 and 5",
            ) from error
        if not 0 <= interval[0] < interval[1]:
            raise SequenceError(
                f"line {number}: {first} to {last} is not an interval",
                file=name,
                remedy="positions of GTF and GFF3 count from 1, and the end is not before the start",
            )
        yield chromosome, feature, interval, strand, attributes


class _Transcripts:
    """The transcripts while lines are read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.gff: bool | None = None
        self.found: dict[tuple[str, str, bool], Transcript] = {}
        self.parents: dict[str, str] = {}
        self.genes: dict[str, str] = {}
        self.features: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()

    def add(self, line: Line) -> None:
        """Add a feature."""
        chromosome, feature, interval, strand, attributes = line
        self.features[feature] += 1
        if self.gff is None:
            self.gff = GTF_ATTRIBUTE.match(attributes) is None
        if feature not in PARTS and not self.gff:
            return
        values = _gff_values(attributes) if self.gff else _gtf_values(attributes)
        if feature not in PARTS:
            if "ID" in values and "Parent" in values:
                self.parents[values["ID"]] = values["Parent"].split(",")[0]
            return
        owners = [name for name in values.get("Parent" if self.gff else "transcript_id", "").split(",") if name]
        if not owners or strand not in STRANDS:
            self.left_out[f"{feature} without {'strand' if owners else 'transcript'}"] += 1
            return
        for owner in owners:
            # one name may stand for the copies of a gene on two chromosomes
            key = owner, chromosome, STRANDS[strand]
            if key not in self.found:
                gene = values.get("gene_id", "") or owner
                self.found[key] = Transcript(owner, gene, chromosome, STRANDS[strand], stop_follows=not self.gff)
            transcript = self.found[key]
            parts = {"exon": transcript.exons, "CDS": transcript.coding, "stop_codon": transcript.stops}
            parts[feature].append(interval)

    def annotation(self) -> Annotation:
        """Return what was read; genes of GFF3 are found by the parents of the transcripts."""
        if self.gff:
            for transcript in self.found.values():
                transcript.gene = self._root(transcript.name)
        return Annotation(self.name, list(self.found.values()), self.features, self.left_out)

    def _root(self, name: str) -> str:
        """Return the first ancestor of a feature."""
        seen = {name}
        while (parent := self.parents.get(name)) is not None and parent not in seen:
            seen.add(parent)
            name = parent
        return name


def _gtf_values(attributes: str) -> dict[str, str]:
    """Return the attributes of a line of GTF."""
    return {key: quoted or bare for key, quoted, bare in GTF_ATTRIBUTE.findall(attributes)}


def _gff_values(attributes: str) -> dict[str, str]:
    """Return the attributes of a line of GFF3."""
    pairs = (item.partition("=") for item in attributes.split(";"))
    return {key.strip(): unquote(value.strip()) for key, _, value in pairs}
