"""VCF and BCF: read in chunks, INFO numbers, and tables of variants written."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from seqkern.core.checks import check_number
from seqkern.core.errors import FileError, SeqkernError, SequenceError
from seqkern.core.parts import Part, open_span
from seqkern.core.text_files import open_text
from seqkern.core.tsv import optional_library, table_text
from seqkern.core.types import Codes, Floats, Ints, PathLike

# Reader of VCF and BCF in chunks of lines; for speed, only the first columns of a line are parsed.

VCF = (".vcf", ".vcf.gz", ".vcf.bgz")
"""Endings of VCF files that are written; BCF is read, too."""
CHUNK = 1 << 14
"""Records read at a time."""
COLUMNS = 5
"""Number of columns parsed, CHROM, POS, ID, REF and ALT; the others stay one text."""
BASES = re.compile("[ACGTN]+", re.IGNORECASE)
POSITION = re.compile("[0-9]{1,15}")
CONTIG = re.compile(r"##contig=<(?:.*,)?ID=([^,>]+).*[,<]length=(\d{1,18})(?!\d)")
SNV, SEQUENCE, SYMBOLIC, BREAKEND, STAR, NONE, OTHER = range(7)
"""Kinds of alternative alleles: one base for one base, bases for bases, and those without a sequence of their own."""
SKIPPED = {
    SYMBOLIC: "symbolic alleles, such as <DEL>",
    BREAKEND: "breakends",
    STAR: "alleles * (deleted by another record)",
    NONE: "records without an alternative allele",
    OTHER: "alleles with letters other than A, C, G, T and N",
}


@dataclass(frozen=True, eq=False)
class VcfChunk:
    """Consecutive records of a VCF file with their alternative alleles, in the order of the file."""

    first_line: int  # Number of the first record's line, from 1; for BCF, of the record
    lines: list[str]  # The records, without line ends
    chromosomes: Sequence[str]  # As in the file: positions count from 1
    positions: list[int]  # As in the file: positions count from 1
    ids: Sequence[str]  # As in the file: positions count from 1
    refs: Sequence[str]  # As in the file: positions count from 1
    rows: Ints  # shape (alleles,): The record of each allele
    alts: list[str]  # As in the file
    kinds: Codes  # shape (alleles,): `SNV`, `SEQUENCE`, …


class VcfReader:
    """A reader of a VCF file, plain or compressed, or of a BCF file."""

    def __init__(self, path: PathLike, part: Part | None = None) -> None:
        self.path, self.part = path, part
        self.header: list[str] = []
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            self._lines = self._opened()
            self._read_header()
            if self.part is not None:
                self._lines = self._lines_of(self.part)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, *raised: Any) -> None:
        try:
            # turns what went wrong in reading into one line; an error about something else does not name this file
            self._stack.__exit__(*((None, None, None) if isinstance(raised[1], SeqkernError) else raised))
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise self._damaged() from error  # a library that cannot even close the file

    @property
    def lengths(self) -> dict[str, int]:
        """The lengths, in bases, of the chromosomes listed in the header."""
        found = (CONTIG.match(line) for line in self.header)
        return {match[1]: int(match[2]) for match in found if match}

    def chunks(self, size: int = CHUNK) -> Iterator[VcfChunk]:
        """Yield the records in chunks; they can be read only once."""
        name, number = str(self.path), len(self.header) + 1
        if self.part is not None:  # the lines before it are not read
            name, number = f"{name}, part {self.part}", 1
        while lines := [line.rstrip("\r\n") for line in itertools.islice(self._lines, size)]:
            while lines and not lines[-1]:
                lines.pop()
            if lines:
                yield parse_records(lines, number, name)
            number += size

    def _opened(self) -> Iterator[str]:
        """Return the lines of the file."""
        if is_bcf(self.path):
            return self._bcf()
        text, _ = self._stack.enter_context(open_text(self.path))
        return iter(text)

    def _lines_of(self, part: Part) -> Iterator[str]:
        """Return the records of a part."""
        if is_bcf(self.path):
            raise FileError(
                "is BCF, which is not divided into parts",
                file=self.path,
                remedy="convert it: bcftools view -O z variants.bcf -o variants.vcf.gz",
            )
        text = self._stack.enter_context(io.TextIOWrapper(open_span(self.path, part), "utf-8", "backslashreplace"))
        return itertools.dropwhile(lambda line: line.startswith("#"), text)

    def _bcf(self) -> Iterator[str]:
        """Yield the records of a BCF file as VCF lines."""
        library = optional_library("pysam", "genome")
        library.set_verbosity(0)
        try:
            file: Any = self._stack.enter_context(library.VariantFile(str(self.path)))
        except (OSError, ValueError, NotImplementedError) as error:
            raise FileError(f"is not a BCF file: {error}", file=self.path, remedy="check the file") from error
        yield from str(file.header).splitlines(keepends=True)
        try:
            for record in file:
                yield str(record)
        except (OSError, ValueError, NotImplementedError) as error:
            raise self._damaged() from error

    def _damaged(self) -> FileError:
        """Return the error for a file that a library cannot read completely."""
        return FileError("is truncated or corrupted", file=self.path, remedy="copy it again")

    def _read_header(self) -> None:
        """Read the header lines, including the line of column names."""
        for line in self._lines:
            if not line.startswith("#"):
                break
            self.header.append(line.rstrip("\r\n"))
            if line.startswith("#CHROM"):
                return
        raise SequenceError(
            "has no line #CHROM, so it is not a VCF file",
            file=self.path,
            remedy="give VCF, .vcf.gz or BCF; the model comes before it",
        )


def is_bcf(path: PathLike) -> bool:
    """Return whether a file is BCF, compressed or not."""
    import gzip  # imported here for fast start-up

    try:
        with open(path, "rb") as file:
            head = file.read(3)
        if head[:2] == b"\x1f\x8b":
            with gzip.open(path, "rb") as unpacked:
                head = unpacked.read(3)
    except (OSError, EOFError, zlib.error):
        return False
    return head == b"BCF"


def parse_records(lines: list[str], number: int, name: str) -> VcfChunk:
    """Return the chunk of some lines; `number` is the number of the first one."""
    cells = [line.split("\t", COLUMNS) for line in lines]
    short = next((i for i, row in enumerate(cells) if len(row) < COLUMNS), None)
    if short is not None:
        raise SequenceError(
            f"line {number + short} has fewer than {COLUMNS} tab-separated columns",
            file=name,
            remedy="correct the line",
        )
    chromosomes, texts, ids, refs, alts, *_ = zip(*(row[:COLUMNS] for row in cells), strict=True)
    bad = next((i for i, text in enumerate(texts) if not POSITION.fullmatch(text)), None)
    if bad is not None:
        raise SequenceError(
            f"line {number + bad}: POS is {texts[bad]!r}, not a position", file=name, remedy="correct the line"
        )
    positions = list(map(int, texts))
    split = [alt.split(",") for alt in alts]
    rows, flat = np.repeat(np.arange(len(split)), list(map(len, split))), list(itertools.chain.from_iterable(split))
    kinds = np.fromiter(
        (
            SNV
            if len(alt) == 1 and len(refs[row]) == 1 and alt in "ACGTacgt" and refs[row].isascii()
            else _kind(refs[row], alt)
            for row, alt in zip(rows.tolist(), flat, strict=True)
        ),
        dtype=np.uint8,
        count=len(flat),
    )
    return VcfChunk(number, lines, chromosomes, positions, ids, refs, rows, flat, kinds)


def _kind(ref: str, alt: str) -> int:
    """Return the kind of an allele that is not a single-base substitution."""
    if BASES.fullmatch(alt) and BASES.fullmatch(ref):
        return SEQUENCE
    if alt in (".", ""):
        return NONE
    if alt == "*":
        return STAR
    if "[" in alt or "]" in alt or alt.startswith(".") or alt.endswith("."):
        return BREAKEND
    return SYMBOLIC if alt.startswith("<") else OTHER


# The INFO column of a VCF file: text of all fields, or the numbers of one.

INFO = 7
"""Index of the column INFO."""


def info_texts(chunk: VcfChunk) -> list[dict[str, str]]:
    """Return the INFO fields of each allele: its own value of a field with one for each, empty if missing."""
    counts, out = np.bincount(chunk.rows, minlength=len(chunk.lines)).tolist(), []
    for line, count in zip(chunk.lines, counts, strict=True):
        fields = info_fields(line)
        for i in range(count):
            own = ((name, values[i] if len(values) == count else ",".join(values)) for name, values in fields.items())
            out.append({name: "" if text == "." else text for name, text in own})
    return out


def info_numbers(chunk: VcfChunk, field: str, file: str | None = None) -> Floats:
    """Return the number that an INFO field gives for each allele: NaN if missing, 1 for a flag."""
    out: list[float] = []
    for row, fields in zip(chunk.rows.tolist(), info_texts(chunk), strict=True):
        text = fields.get(field, "")
        try:
            out.append(check_number(text) if text else math.nan)
        except ValueError:
            raise SequenceError(
                f"line {chunk.first_line + row}: {field}={text} is not a number",
                file=file,
                remedy="name a field of INFO with one number for the record, or for each allele, or a flag",
            ) from None
    return np.array(out, dtype=np.float64)


def info_fields(line: str) -> dict[str, list[str]]:
    """Return the values of each INFO field of a record as text, 1 for a flag."""
    cells = line.split("\t", INFO + 1)
    items = [item.partition("=") for item in reversed(cells[INFO].split(";"))] if len(cells) > INFO else []
    return {name: text.split(",") if given else ["1"] for name, given, text in items if name not in ("", ".")}


# Output of scored variants: a table with a row for each alternative allele, or the VCF file with INFO fields added.

PREFIX = "SEQKERN_"
FORBIDDEN = re.compile(r"[\s;=,%]")
NOT_IN_KEYS = re.compile(r"[^0-9A-Za-z_.]")


Write = Callable[[str], object]


@dataclass(frozen=True)
class Column:
    """A column of the table, or an INFO field."""

    name: str  # Of the column; the field is called ``SEQKERN_`` and the name in capitals
    kind: str  # As in the header of VCF
    meaning: str  # One sentence

    @property
    def key(self) -> str:
        """The name of the INFO field."""
        return PREFIX + NOT_IN_KEYS.sub("_", self.name).upper()


class TableWriter:
    """A writer of a table with a row for each alternative allele."""

    def __init__(self, write: Write, columns: Sequence[Column]) -> None:
        self._write, self._columns = write, columns

    def header(self, lines: Sequence[str], *, write: bool = True) -> None:
        """Write the column names."""
        if not write:
            return
        names = ["chromosome", "position", "id", "ref", "alt", *(column.name for column in self._columns), "note"]
        self._write(table_text("\t".join(names) + "\n"))

    def rows(self, chunk: VcfChunk, cells: Sequence[Sequence[str]], notes: Sequence[str]) -> None:
        """Write the rows of the alleles of a chunk."""
        rows = chunk.rows.tolist()
        columns = chunk.chromosomes, list(map(str, chunk.positions)), chunk.ids, chunk.refs
        given = [*([column[row] for row in rows] for column in columns), chunk.alts]
        if rows:
            self._write(table_text("\n".join(map("\t".join, zip(*given, *cells, notes, strict=True))) + "\n"))


class VcfWriter:
    """A writer of the original records with additional INFO fields."""

    def __init__(self, write: Write, columns: Sequence[Column]) -> None:
        self._write, self._columns = write, columns
        self._keys = [column.key for column in columns]
        self._stale = False

    def header(self, lines: Sequence[str], *, write: bool = True) -> None:
        """Write the VCF header with a line for each added field."""
        own = tuple(f"##INFO=<ID={key}," for key in self._keys)
        kept = [line for line in lines[:-1] if not line.startswith(own)]
        self._stale = len(kept) < len(lines) - 1
        new = [
            f'##INFO=<ID={key},Number=A,Type={column.kind},Description="{column.meaning}">'
            for key, column in zip(self._keys, self._columns, strict=True)
        ]
        if write:
            self._write("\n".join([*kept, *new, lines[-1]]) + "\n")

    def rows(self, chunk: VcfChunk, cells: Sequence[Sequence[str]], notes: Sequence[str]) -> None:
        """Write the records of a chunk with their added fields."""
        fields = [
            [text or "." for text in column]
            if one.kind == "Float"
            else [FORBIDDEN.sub("_", text) or "." for text in column]
            for one, column in zip(self._columns, cells, strict=True)
        ]
        if len(chunk.rows) == len(chunk.lines):
            of_records = list(zip(*fields, strict=True))
        else:
            groups: list[list[int]] = [[] for _ in chunk.lines]
            for allele, row in enumerate(chunk.rows.tolist()):
                groups[row].append(allele)
            of_records = [
                tuple(",".join([column[allele] for allele in group]) for column in fields) for group in groups
            ]
        out = []
        for line, values in zip(chunk.lines, of_records, strict=True):
            added = [
                f"{key}={value}"
                for key, value in zip(self._keys, values, strict=True)
                if value != "." and value.strip(".,")
            ]
            out.append(self._with_info(line, ";".join(added)) if added or self._stale else line)
        self._write("\n".join(out) + "\n")

    def _with_info(self, line: str, added: str) -> str:
        """Return a record with fields added to its INFO column."""
        parts = line.split("\t", INFO + 1)
        if len(parts) <= INFO:
            parts += ["."] * (INFO + 1 - len(parts))
        info = parts[INFO]
        if self._stale:
            info = ";".join(one for one in info.split(";") if one.partition("=")[0] not in self._keys)
        parts[INFO] = f"{info};{added}" if info not in (".", "") and added else added or info or "."
        return "\t".join(parts)
