"""Sequence formats, recognised by their first line: FASTA, and others that are read through Biopython.

FASTQ (qualities are ignored), GenBank, EMBL, and the alignment formats Stockholm and Clustal are read. Other sequence
formats are refused with advice on how to convert them.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from seqkern.core.errors import SequenceError

FIRST_LINES = {
    "fasta": r">",
    "fastq": r"@(?!(HD|SQ|RG|PG|CO)\t)",
    "genbank": r"LOCUS {3,}\S",
    "embl": r"ID {3}[^;]+;.* BP\.\s*$",
    "stockholm": r"# STOCKHOLM ",
    "clustal": r"CLUSTAL\b",
}
REFUSED = {
    r"@(HD|SQ|RG|PG|CO)\t": ("SAM", "convert it: samtools fasta reads.sam > reads.fa"),
    r"(HEADER {4}|ATOM {2}|CRYST1)": ("PDB", "give the sequence as FASTA, as the PDB offers it for each entry"),
    r"data_\S": ("mmCIF", "give the sequence as FASTA, as the PDB offers it for each entry"),
    r"ID {3}\S+ +(Reviewed|Unreviewed);": ("UniProt text", "download the entries as FASTA"),
    r"#NEXUS": ("NEXUS", "save the alignment as FASTA, and add --strip-gaps"),
    r"\{\\rtf": ("a formatted document", "save it as plain text"),
    r"<(!DOCTYPE|html|\?xml)": ("a web page or XML", "download the FASTA file itself"),
}
NOUNS = {"genbank": "GenBank", "embl": "EMBL", "stockholm": "Stockholm", "clustal": "Clustal", "fastq": "FASTQ"}

MOST_BEYOND = 1000
"""Maximum number of times that a parser may ask for a line after the last one."""

Record = tuple[str, str]
"""A header, which begins with the id, and letters."""


def format_of(line: str) -> str | None:
    """Return the format of a file, recognised by its first non-blank line; None if unknown.

    >>> format_of("@read1"), format_of("LOCUS       NC_000913  100 bp"), format_of("ACGT")
    ('fastq', 'genbank', None)
    """
    return next((name for name, start in FIRST_LINES.items() if re.match(start, line)), None)


def iter_records(first: str, lines: Iterator[str]) -> Iterator[Record]:
    """Return an iterator over the records, (header, letters), of a file in any supported format.

    >>> list(iter_records("@r1 sample", iter(["ACGT", "+", "IIII"])))
    [('r1 sample', 'ACGT')]
    """
    form = format_of(first)
    if form == "fasta":
        return fasta_records(itertools.chain([first], lines))
    if form is None:
        raise _refusal(first)
    if form == "fastq":
        from Bio.SeqIO.QualityIO import FastqGeneralIterator  # imported here for fast start-up

        reads = FastqGeneralIterator(cast("Any", _Lines(itertools.chain([first], lines))))
        return ((title, letters) for title, letters, _ in _checked(reads, form))
    records: Iterable[Any] = parsed(form, first, lines, features=False)
    return ((_header(record), _letters(record)) for record in records)


def fasta_records(lines: Iterable[str]) -> Iterator[Record]:
    r"""Yield the records of FASTA lines: header without ``>``, letters without blanks.

    >>> list(fasta_records([">donor1 chr1\n", "CAGG TA\n", "AGT\n"]))
    [('donor1 chr1', 'CAGGTAAGT')]
    """
    rest = iter(lines)
    header = next(rest)[1:].rstrip()
    letters: list[str] = []
    for line in rest:
        if line[0] == ">":
            yield header, _joined(letters)
            header, letters = line[1:].rstrip(), []
        else:
            letters.append(line.rstrip())
    yield header, _joined(letters)


def _joined(lines: list[str]) -> str:
    """Return the letters of a record."""
    return "".join(lines).replace(" ", "").replace("\r", "")


def parsed(form: str, first: str, lines: Iterator[str], *, features: bool = True) -> Iterator[Any]:
    """Yield the records of a format as Biopython's SeqRecord."""
    # imported here for fast start-up
    from Bio import AlignIO
    from Bio.GenBank import Scanner

    handle = _Lines(itertools.chain([first], lines))
    readers: dict[str, Callable[[], Iterator[Any]]] = {
        "genbank": lambda: Scanner.GenBankScanner().parse_records(handle, features),
        "embl": lambda: Scanner.EmblScanner().parse_records(handle, features),
        "stockholm": lambda: itertools.chain.from_iterable(AlignIO.parse(handle, "stockholm")),
        "clustal": lambda: itertools.chain.from_iterable(AlignIO.parse(handle, "clustal")),
    }
    yield from _checked(readers[form](), form)


class _Lines:
    """Iterator of lines, wrapped as the text file that Biopython expects."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines = lines
        self._beyond = 0

    def __iter__(self) -> Iterator[str]:
        return self.lines

    def __next__(self) -> str:
        return next(self.lines)

    def readline(self) -> str:
        """Return the next line, or an empty string at the end."""
        line = next(self.lines, "")
        if not line:
            self._beyond += 1
            if self._beyond > MOST_BEYOND:  # some parsers wait for more of a truncated file for ever
                raise ValueError("it ends too early")
        return line

    def read(self, size: int) -> str:
        """Return an empty string: Biopython reads zero characters to test whether the file is text."""
        return ""


def _checked(records: Iterator[Any], form: str) -> Iterator[Any]:
    """Yield records; turn a parser's exceptions into a SequenceError of one line."""
    done = 0
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                record = next(records, None)
        except (ValueError, AssertionError, IndexError, KeyError, AttributeError, TypeError) as error:
            problem = f"is not valid {NOUNS[form]} (record {done + 1}): {error}"
            raise SequenceError(problem, remedy="copy or download it again, or give FASTA") from error
        if record is None:
            break
        done += 1
        yield record
    if not done:
        raise SequenceError(f"is {NOUNS[form]} without a record", remedy="check how the file was created")


def _header(record: Any) -> str:
    """Return the header that the record would have in FASTA."""
    words = "" if record.description in ("", record.id, "<unknown description>") else f" {record.description}"
    return f"{record.id}{words}"


def _letters(record: Any) -> str:
    """Return the letters of a record; raise SequenceError if it only refers to other records."""
    from Bio.Seq import UndefinedSequenceError  # imported here for fast start-up

    try:
        return str(record.seq)
    except UndefinedSequenceError as error:
        remedy = "download the record with its sequence"
        raise SequenceError("has a length but no sequence", record=record.id, remedy=remedy) from error


def _refusal(first: str) -> SequenceError:
    """Return the error for an unsupported format."""
    for start, (noun, remedy) in REFUSED.items():
        if re.match(start, first.lstrip(), re.IGNORECASE):
            return SequenceError(f"is {noun}, which is not read", remedy=remedy)
    cells = first.split("\t")
    of_bed = len(cells) > 2 and all(cell.strip().isdecimal() for cell in cells[1:3])
    remedy = (
        "start each record with a line '>id', followed by its sequence; FASTQ, GenBank, EMBL, Stockholm and Clustal "
        "are read too"
    )
    if of_bed:
        remedy = "to read it as BED, add --genome FASTA (in a study genome: FASTA)"
    elif len(cells) > 1:
        remedy = (
            "it looks like a table: give the FASTA file here, and a table of labels with --labels; or name the columns "
            "of its sequences with --sequences (train, cv, gram)"
        )
    return SequenceError(f"is not FASTA: its first line is {first.strip()[:40]!r}", remedy=remedy)
