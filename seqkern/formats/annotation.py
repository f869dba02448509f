"""Transcripts of an annotation: GTF, GFF3, GenBank and EMBL."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from seqkern.core.checks import check_int
from seqkern.core.errors import SequenceError
from seqkern.core.text_files import open_lines
from seqkern.core.tsv import escaped
from seqkern.core.types import Source
from seqkern.sequences.formats import format_of, parsed

# Transcripts of an annotation: their exons and coding parts on a chromosome.

Interval = tuple[int, int]
"""Start and stop, from 0, half open."""
SHORTEST_INTRON = 10
"""Length below which gaps between exons are frame shifts or assembly errors, not introns."""
INCOMPLETE = "with an incomplete coding part"
TRANS_SPLICED = "with trans-splicing"


@dataclass
class Transcript:
    """A transcript: its exons, coding parts and stop codon on a chromosome.

    >>> transcript = Transcript("t1", "g1", "chr1", False, exons=[(300, 400), (100, 200)])
    >>> list(transcript.introns())
    [(200, 300)]
    """

    name: str  # As in the annotation
    gene: str  # As in the annotation
    chromosome: str  # Name of its sequence
    reverse: bool  # True on strand −
    exons: list[Interval] = field(default_factory=list)  # In any order
    coding: list[Interval] = field(default_factory=list)  # The parts that are translated
    # The parts of an annotated stop codon, if `coding` does not contain it
    stops: list[Interval] = field(default_factory=list)
    stop_follows: bool = False  # Whether the stop codon follows the coding part, as in GTF
    fault: str = ""  # Why its coding part is not translated as it reads, such as `INCOMPLETE`

    def introns(self) -> Iterator[Interval]:
        """Yield the gaps between the exons, in ascending order."""
        return gaps(self.exons)

    def span(self) -> Interval:
        """Return the interval from its first to its last base."""
        parts = [*self.exons, *self.coding]
        return min(start for start, _ in parts), max(stop for _, stop in parts)


@dataclass
class Annotation:
    """The transcripts of an annotation file.

    >>> Annotation("genes.gtf", []).listed()
    'none'
    """

    file: str  # Used in messages
    transcripts: list[Transcript]  # In the order of the file
    # How often each kind of feature occurs, also those that were not read
    features: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)  # Features that were not used, by reason

    def listed(self) -> str:
        """Return a list, as text for messages, of the most frequent features."""
        return ", ".join(f"{name} ({count})" for name, count in self.features.most_common(6)) or "none"


def gaps(parts: Iterable[Interval]) -> Iterator[Interval]:
    """Yield the gaps of at least `SHORTEST_INTRON` bases between intervals."""
    end: int | None = None
    for start, stop in sorted(parts):
        if end is not None and start - end >= SHORTEST_INTRON:
            yield end, start
        end = stop if end is None else max(end, stop)


# Readers of transcripts from GTF and GFF3.

STRANDS = {"+": False, "-": True}
GTF_ATTRIBUTE = re.compile(r'\s*([\w.-]+)\s+(?:"([^"]*)"|([^\s;"]+))\s*;?')
PARTS = ("exon", "CDS", "stop_codon")
OWN_NAMES = ("protein_id", "ID", "locus_tag", "gene_id")
"""Attributes that name a CDS without a transcript, as in annotations of bacteria."""
PSEUDO = "of pseudogenes"
FAULTS = {
    PSEUDO: r'pseudo(gene)?[= ]|(gene_|transcript_)?(bio)?type[= ]"?\w*pseudogene',
    TRANS_SPLICED: r'trans_splicing|exception[= ]"?trans.splicing',
    "with ribosomal slippage": r'ribosomal_slippage|exception[= ]"?ribosomal.slippage',
    "of another genetic code": r'transl_table[= ]"?(?!1?1\b)\d',
    INCOMPLETE: r'partial[= ]"?true|tag "(cds|mRNA)_(start|end)_NF|codon_start[= ]"?[23]',
}
"""What attributes of GTF and GFF3, or qualifiers of GenBank and EMBL, say of a transcript, and their pattern."""
ANY_FAULT = re.compile(f"(^|; ?)({'|'.join(FAULTS.values())})")

Line = tuple[str, str, Interval, str, str, str]
"""Chromosome, feature, interval, strand, phase, attributes."""


def read_annotation(source: Source) -> Annotation:
    r"""Read the transcripts of a GTF or GFF3 file, whose lines may be in any order, or of GenBank or EMBL.

    Of GenBank and EMBL each mRNA is a transcript, with CDS features as the coding parts.

    >>> import io
    >>> line = 'chr1\t.\texon\t{}\t{}\t.\t+\t.\tgene_id "g1"; transcript_id "t1";\n'
    >>> (transcript,) = read_annotation(io.StringIO(line.format(1, 50) + line.format(151, 200))).transcripts
    >>> transcript.gene, transcript.exons
    ('g1', [(0, 50), (150, 200)])
    """
    with open_lines(source) as (lines, name):
        first = next(lines)
        form = format_of(first)
        if form in ANNOTATED:
            annotation = Annotation(name, [])
            for record in parsed(form, first, lines):
                annotation.features.update(item.type for item in record.features)
                annotation.transcripts += _record_transcripts(record, annotation.left_out)
            return annotation
        found = _Transcripts(name)
        for line in _lines(itertools.chain([first], lines)):
            found.add(line)
    return found.annotation()


def _lines(lines: Iterator[str]) -> Iterator[Line]:
    """Yield the features of a file, without the sequences at the end of some GFF3 files."""
    for number, text in enumerate(lines, start=1):
        if number > 1 and text.startswith(("##FASTA", ">")):
            return
        if text.startswith("#") or not text.strip():
            continue
        cells = text.rstrip("\n").split("\t")
        try:
            chromosome, _, feature, first, last, _, strand, phase, attributes = cells[:9]
            interval = check_int(first) - 1, check_int(last)
        except ValueError as error:
            raise SequenceError(
                f"line {number} is not GTF or GFF3: {text.strip()[:40]!r}",
                remedy="give nine columns separated by tabs, with start and end in columns 4 and 5",
            ) from error
        if not 0 <= interval[0] < interval[1]:
            raise SequenceError(
                f"line {number}: {first} to {last} is not an interval",
                remedy="positions of GTF and GFF3 count from 1, and the end is not before the start",
            )
        yield chromosome, feature, interval, strand, phase, attributes


def _fault(text: str, feature: str) -> str:
    """Return what attributes say of a transcript; only those of its CDS say that the coding part is incomplete."""
    if feature.startswith("pseudogen"):
        return PSEUDO
    if ANY_FAULT.search(text) is None:  # as on nearly all lines
        return ""
    found = (name for name, pattern in FAULTS.items() if re.search(f"(^|; ?)({pattern})", text))
    return next((name for name in found if feature == "CDS" or name != INCOMPLETE), "")


Key = tuple[str, str, bool]
"""Name of a transcript, chromosome, and whether on strand −: one name may stand for copies on two chromosomes."""


class _Transcripts:
    """The transcripts collected while lines are read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: dict[Key, Transcript] = {}
        self.parents: dict[str, str] = {}
        self.faults: dict[str, str] = {}  # Of genes, transcripts and coding parts of GFF3
        self.proteins: set[str] = set()  # Products of transcripts, which some GFF3 names as parents
        self.circular: dict[str, int] = {}  # Length of circular chromosomes
        self.phases: dict[Key, tuple[int, str]] = {}  # Of the first coding part
        self.products: dict[Key, dict[str, list[Interval]]] = {}  # The coding parts of each CDS of GFF3
        self.features: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()

    def add(self, line: Line) -> None:
        """Add a feature."""
        chromosome, feature, interval, strand, phase, attributes = line
        self.features[feature] += 1
        gff = GTF_ATTRIBUTE.match(attributes) is None
        if feature not in PARTS and not gff:
            return
        values = _gff_values(attributes) if gff else _gtf_values(attributes)
        fault = _fault(attributes, feature)
        if feature not in PARTS:
            self._add_ancestor(values, fault)
            if values.get("Is_circular") == "true":
                self.circular[chromosome] = interval[1]
            return
        owners = [name for name in values.get("Parent" if gff else "transcript_id", "").split(",") if name]
        if feature == "CDS" and not owners:
            owners = [values[key] for key in OWN_NAMES if values.get(key)][:1]
        if not owners or strand not in STRANDS:
            self.left_out[f"{feature} without {'strand' if owners else 'transcript'}"] += 1
            return
        for owner in owners:
            key = owner, chromosome, STRANDS[strand]
            if key not in self.found:
                gene = "" if gff else values.get("gene_id", "")
                self.found[key] = Transcript(owner, gene, chromosome, STRANDS[strand], stop_follows=not gff)
            transcript = self.found[key]
            if feature == "CDS" and gff and fault:
                self.faults[values.get("ID") or owner] = fault
            else:
                transcript.fault = transcript.fault or fault
            parts = {"exon": transcript.exons, "CDS": transcript.coding, "stop_codon": transcript.stops}
            parts[feature].append(interval)
            if feature == "CDS":
                at = interval[1] if transcript.reverse else -interval[0]
                phase = "0" if "codon_start" in values else phase  # which counts from 1, and some files give as phase
                self.phases[key] = max(self.phases.get(key, (at, phase)), (at, phase))
                if gff:
                    self.products.setdefault(key, {}).setdefault(values.get("ID", ""), []).append(interval)

    def _add_ancestor(self, values: dict[str, str], fault: str) -> None:
        """Add a gene, a transcript or a protein of GFF3."""
        name = values.get("ID", "")
        if "Parent" in values:
            self.parents[name] = values["Parent"].split(",")[0]
        elif "Derives_from" in values:
            self.proteins.add(name)
        if fault and name:
            self.faults[name] = fault

    def annotation(self) -> Annotation:
        """Return the Annotation that was read; genes of GFF3 are found through the parents of the transcripts."""
        transcripts = []
        for key, transcript in self.found.items():
            name, chromosome, reverse = key
            if name in self.proteins:
                continue
            if self.phases.get(key, (0, ""))[1] in ("1", "2"):
                transcript.fault = transcript.fault or INCOMPLETE
            if transcript.span()[1] > self.circular.get(chromosome, transcript.span()[1]):
                transcript.fault = "across the origin"
            if (name, chromosome, not reverse) in self.found and not transcript.stop_follows:
                transcript.fault = TRANS_SPLICED
            lineage = [name, *self._ancestors(name)]
            transcript.gene = transcript.gene or lineage[-1]
            products = self.products.get(key, {})
            if len(products) > 1 and name not in self.parents and not transcript.exons:  # as of a bacterium's gene
                own = [(replace(transcript, name=one, coding=parts), [one]) for one, parts in products.items()]
            else:
                own = [(transcript, [*products])]
            for one, names in own:
                one.fault = one.fault or next(filter(None, map(self.faults.get, [*names, *lineage])), "")
                transcripts.append(one)
        return Annotation(self.name, transcripts, self.features, self.left_out)

    def _ancestors(self, name: str) -> Iterator[str]:
        """Yield the ancestors of a feature, up to the topmost."""
        seen = {name}
        while (parent := self.parents.get(name)) is not None and parent not in seen:
            seen.add(parent)
            name = parent
            yield name


def _gtf_values(attributes: str) -> dict[str, str]:
    """Return the attributes of a GTF line."""
    return {key: quoted or bare for key, quoted, bare in GTF_ATTRIBUTE.findall(attributes)}


def _gff_values(attributes: str) -> dict[str, str]:
    """Return the attributes of a GFF3 line."""
    pairs = (item.partition("=") for item in attributes.split(";"))
    return {key.strip(): unquote(value.strip()) for key, _, value in pairs}


# Reader of transcripts from the features of GenBank and EMBL records, through Biopython.

ANNOTATED = ("genbank", "embl")
GENE_KEYS = ("locus_tag", "gene", "gene_synonym", "protein_id")


def has_features(source: Source) -> bool:
    r"""Return whether a file is GenBank or EMBL, judging by its first line.

    >>> import io
    >>> has_features(io.StringIO("##gff-version 3\n"))
    False
    """
    with open_lines(source) as (lines, _):
        return format_of(next(lines)) in ANNOTATED


def _record_transcripts(record: Any, left_out: Counter[str]) -> list[Transcript]:
    """Return the transcripts of a record, and count those that are on both strands."""
    found = []
    with_rna = any(item.type == "mRNA" for item in record.features)
    for number, item in enumerate(record.features, start=1):
        if item.type not in ("mRNA", "CDS") or item.location is None:
            continue
        if item.location.strand not in (1, -1):
            left_out[f"{item.type} {TRANS_SPLICED}"] += 1
            continue
        gene = next((item.qualifiers[key][0] for key in GENE_KEYS if key in item.qualifiers), f"{record.id}.{number}")
        location, reverse = item.location, item.location.strand == -1
        parts = [(int(part.start), int(part.end)) for part in location.parts if part.ref in (None, record.id)]
        if not parts:
            continue
        transcript = Transcript(f"{gene}.{number}", gene, record.id, reverse)
        transcript.fault = _fault(";".join(f"{key}={own[0]}" for key, own in item.qualifiers.items()), item.type)
        if item.type == "CDS":
            transcript.coding = parts
            transcript.fault = transcript.fault or INCOMPLETE * bool(set("<>") & set(str(location)))
        if not transcript.fault and parts != sorted(parts, reverse=reverse):
            ends = {edge for part in parts for edge in part}
            transcript.fault = "across the origin" if {0, len(record)} <= ends else TRANS_SPLICED
        if item.type == "mRNA" or not with_rna:
            transcript.exons = parts
        found.append(transcript)
    return found


# Writing of the coding parts of genes as GTF.

Coding = tuple[bool, Sequence[tuple[int, int]], float]
"""Whether on strand −; the exons' coding parts, ascending, from 0, half open; score."""
CODON = 3


def gtf_lines(chromosome: str, genes: Iterable[Coding], first: int = 1) -> Iterator[str]:
    """Yield the GTF lines of genes: transcript, exon, CDS and stop_codon.

    As GTF requires, the CDS ends before the stop codon.
    """
    for number, (reverse, parts, score) in enumerate(genes, start=first):
        strand, names = "-" if reverse else "+", (f"g{number}", f"g{number}.t1")

        def line(
            feature: str, start: int, stop: int, *values: str, strand: str = strand, names: tuple[str, str] = names
        ) -> str:
            return gtf_line(chromosome, feature, (start + 1, stop), strand, *names, *values)

        yield line("transcript", parts[0][0], parts[-1][1], f"{score:.3f}")
        last = 0 if reverse else len(parts) - 1
        for i, (frame, (start, stop)) in enumerate(zip(_frames(parts, reverse), parts, strict=True)):
            yield line("exon", start, stop)
            low, high = start + CODON * (reverse and i == last), stop - CODON * (not reverse and i == last)
            if low < high:
                yield line("CDS", low, high, ".", str(frame))
        codon = parts[0][0] if reverse else parts[-1][1] - CODON
        yield line("stop_codon", codon, codon + CODON, ".", "0")


def gtf_line(
    record: str,
    feature: str,
    span: tuple[int, int],
    strand: str,
    gene: str,
    transcript: str,
    score: str = ".",
    frame: str = ".",
) -> str:
    r"""Return one GTF line, with positions from 1, both ends included.

    >>> gtf_line("chr1", "exon", (10, 15), "+", "g1", "g1.t1")
    'chr1\tseqkern\texon\t10\t15\t.\t+\t.\tgene_id "g1"; transcript_id "g1.t1";\n'
    """
    names = f'gene_id "{gene}"; transcript_id "{transcript}";'
    return escaped(f"{record}\tseqkern\t{feature}\t{span[0]}\t{span[1]}\t{score}\t{strand}\t{frame}\t{names}\n")


def _frames(parts: Sequence[tuple[int, int]], reverse: bool) -> list[int]:
    """Return the number of bases at the start of each part that complete a codon of the preceding part."""
    frames, done = [], 0
    for start, stop in reversed(parts) if reverse else parts:
        frames.append(-done % CODON)
        done += stop - start
    return frames[::-1] if reverse else frames
