"""VCF and BCF, read in chunks of lines: only the first columns of a line are taken apart."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError, SequenceError
from seqkern.core.part import Part
from seqkern.core.text_files import open_text
from seqkern.core.text_spans import open_span
from seqkern.core.types import PathLike
from seqkern.genome.libraries import pysam

CHUNK = 1 << 14
"""Records at a time."""
COLUMNS = 5
"""CHROM, POS, ID, REF and ALT; the others stay one text."""
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
    """Some records of a VCF file, and their alternative alleles, in the order of the file.

    Attributes
    ----------
    first_line : int
        Number of the first record's line, from 1; for BCF, of the record.
    lines : list of str
        The records, without line ends.
    chromosomes, positions, ids, refs : list of str, list of int, list of str, list of str, one for each record
        As in the file: positions count from 1.
    rows : ndarray of int64, shape (alleles,)
        The record of each allele.
    alts : list of str, one for each allele
        As in the file.
    kinds : ndarray of uint8, shape (alleles,)
        `SNV`, `SEQUENCE`, …
    """

    first_line: int
    lines: list[str]
    chromosomes: Sequence[str]
    positions: list[int]
    ids: Sequence[str]
    refs: Sequence[str]
    rows: npt.NDArray[np.int64]
    alts: list[str]
    kinds: npt.NDArray[np.uint8]


class VcfReader:
    r"""A VCF file, plain or compressed, or a BCF file.

    Parameters
    ----------
    path : path-like
        VCF, ``.gz`` (gzip or bgzip) or BCF.
    part : Part, optional
        Read only the records of a part of the file; not of BCF.

    Attributes
    ----------
    header : list of str
        The lines that begin with ``##``, without line ends, and the one of the columns.

    Raises
    ------
    FileError, SequenceError
        If the file cannot be read, or is not VCF.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "variants.vcf"
    ...     columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    ...     _ = path.write_text("##fileformat=VCFv4.2\n" + columns + "chr1\t7\t.\tA\tG,AT\t.\t.\t.\n")
    ...     with VcfReader(path) as reader:
    ...         for chunk in reader.chunks():
    ...             print(chunk.positions, chunk.alts, chunk.rows, chunk.kinds)
    [7] ['G', 'AT'] [0 0] [0 1]
    """

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

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._stack.__exit__(kind, value, trace)  # turns what went wrong in reading into one line
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise self._damaged() from error  # a library that cannot even close the file

    @property
    def lengths(self) -> dict[str, int]:
        """Bases of the chromosomes that the header gives."""
        found = (CONTIG.match(line) for line in self.header)
        return {match[1]: int(match[2]) for match in found if match}

    def chunks(self, size: int = CHUNK) -> Iterator[VcfChunk]:
        """Yield the records, once.

        Parameters
        ----------
        size : int
            Records in a chunk; the last has fewer.

        Yields
        ------
        VcfChunk
        """
        name, number = str(self.path), len(self.header) + 1
        if self.part is not None:  # the lines before it are not read
            name, number = f"{name}, part {self.part}", 1
        while lines := [line.rstrip("\r\n") for line in itertools.islice(self._lines, size)]:
            while lines and not lines[-1]:
                lines.pop()
            if lines:
                yield _parse(lines, number, name)
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
        """Yield the lines of a BCF file as VCF."""
        library = pysam()
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
        """Return the error for a file that a library cannot read to its end."""
        return FileError("is truncated or corrupted", file=self.path, remedy="copy it again")

    def _read_header(self) -> None:
        """Read the lines up to that of the columns."""
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
    """Return whether a file is BCF, compressed or not.

    Parameters
    ----------
    path : path-like
        The file; it need not exist.

    Returns
    -------
    bool
    """
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


def _parse(lines: list[str], number: int, name: str) -> VcfChunk:
    """Return the chunk of some lines, of which the first has a number."""
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
    rows: npt.NDArray[np.int64]
    if any("," in alt for alt in alts):
        split = [alt.split(",") for alt in alts]
        rows = np.repeat(np.arange(len(split)), [len(one) for one in split])
        flat = list(itertools.chain.from_iterable(split))
    else:
        rows, flat = np.arange(len(alts)), list(alts)
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
    """Return the kind of an allele that is not a single base for a single one."""
    if BASES.fullmatch(alt) and BASES.fullmatch(ref):
        return SEQUENCE
    if alt in (".", ""):
        return NONE
    if alt == "*":
        return STAR
    if "[" in alt or "]" in alt or alt.startswith(".") or alt.endswith("."):
        return BREAKEND
    return SYMBOLIC if alt.startswith("<") else OTHER
