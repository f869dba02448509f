"""Variants with numbers: a table with a row for each alternative allele, or the VCF file with INFO fields added."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seqkern.core.tsv import table_text
from seqkern.genome.vcf import VcfChunk

PREFIX = "SEQKERN_"
FORBIDDEN = re.compile(r"[\s;=,%]")
NOT_IN_KEYS = re.compile(r"[^0-9A-Za-z_.]")
INFO = 7

Write = Callable[[str], object]


@dataclass(frozen=True)
class Column:
    """A column of the table, or field of INFO.

    Attributes
    ----------
    name : str
        Of the column; the field is called ``SEQKERN_`` and the name in capitals.
    kind : {"Float", "String"}
        As in the header of VCF.
    meaning : str
        One sentence.
    """

    name: str
    kind: str
    meaning: str

    @property
    def key(self) -> str:
        """Name of the field of INFO."""
        return PREFIX + NOT_IN_KEYS.sub("_", self.name).upper()


class TableWriter:
    r"""A row for each alternative allele.

    Parameters
    ----------
    write : callable
        Gets text.
    columns : sequence of Column
        After those of the alleles.

    Examples
    --------
    >>> import numpy as np
    >>> chunk = VcfChunk(2, [""], ["chr1"], [7], ["."], ["A"], np.array([0]), ["G"], np.array([0], dtype=np.uint8))
    >>> written = []
    >>> writer = TableWriter(written.append, [Column("delta", "Float", "Difference")])
    >>> writer.rows(chunk, [["0.5"]], [""])
    >>> written
    ['chr1\t7\t.\tA\tG\t0.5\t\n']
    """

    def __init__(self, write: Write, columns: Sequence[Column]) -> None:
        self._write, self._columns = write, columns

    def header(self, lines: Sequence[str], *, write: bool = True) -> None:
        """Write the names of the columns.

        Parameters
        ----------
        lines : sequence of str
            The header of the VCF file; not used.
        write : bool
            False where the header is that of another part.
        """
        if not write:
            return
        names = ["chromosome", "position", "id", "ref", "alt", *(column.name for column in self._columns), "note"]
        self._write(table_text("\t".join(names) + "\n"))

    def rows(self, chunk: VcfChunk, cells: Sequence[Sequence[str]], notes: Sequence[str]) -> None:
        """Write the alleles of a chunk.

        Parameters
        ----------
        chunk : VcfChunk
            Some records.
        cells : sequence of sequence of str
            For each column the text of each allele; empty if there is none.
        notes : sequence of str
            Of each allele.
        """
        rows = chunk.rows.tolist()
        given = [
            [chunk.chromosomes[row] for row in rows],
            [str(chunk.positions[row]) for row in rows],
            [chunk.ids[row] for row in rows],
            [chunk.refs[row] for row in rows],
            chunk.alts,
        ]
        if rows:
            self._write(table_text("\n".join(map("\t".join, zip(*given, *cells, notes, strict=True))) + "\n"))


class VcfWriter:
    """The records as they were, with fields in INFO.

    Parameters
    ----------
    write : callable
        Gets text.
    columns : sequence of Column
        The fields, each with a value for each alternative allele (``Number=A``).
    """

    def __init__(self, write: Write, columns: Sequence[Column]) -> None:
        self._write, self._columns = write, columns
        self._keys = [column.key for column in columns]
        self._stale = False

    def header(self, lines: Sequence[str], *, write: bool = True) -> None:
        """Write the header, with a line for each field.

        Parameters
        ----------
        lines : sequence of str
            The header of the VCF file.
        write : bool
            False where the header is that of another part.
        """
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
        """Write the records of a chunk.

        Parameters
        ----------
        chunk : VcfChunk
            Some records.
        cells : sequence of sequence of str
            For each field the text of each allele; empty if there is none.
        notes : sequence of str
            Not written.
        """
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
        """Return a record with fields added to INFO."""
        parts = line.split("\t", INFO + 1)
        if len(parts) <= INFO:
            parts += ["."] * (INFO + 1 - len(parts))
        info = parts[INFO]
        if self._stale:
            info = ";".join(one for one in info.split(";") if one.partition("=")[0] not in self._keys)
        parts[INFO] = f"{info};{added}" if info not in (".", "") and added else added or info or "."
        return "\t".join(parts)
