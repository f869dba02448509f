"""Numbers in the INFO column of a VCF file."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.values import check_number
from seqkern.genome.vcf import VcfChunk

INFO = 7
"""Place of the column."""


def info_numbers(chunk: VcfChunk, field: str, file: str | None = None) -> npt.NDArray[np.float64]:
    r"""Return the number that a field of INFO gives for each allele.

    Parameters
    ----------
    chunk : VcfChunk
        Some records.
    field : str
        Name of the field: one number for a record, one for each alternative allele, or a flag.
    file : str, optional
        Used in messages.

    Returns
    -------
    ndarray of float64, shape (alleles,)
        NaN where the field is missing or ``.``; 1 for a flag.

    Raises
    ------
    SequenceError
        If a value is not a number, or a record has another number of values than of alternative alleles.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern.genome.vcf import VcfReader
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "variants.vcf"
    ...     head = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    ...     _ = path.write_text(head + "1\t7\t.\tA\tG,C\t.\t.\tDP=3;EFFECT=0.5,-2\n" + "1\t9\t.\tA\tG\t.\t.\tDP=3\n")
    ...     with VcfReader(path) as reader:
    ...         for chunk in reader.chunks():
    ...             print(info_numbers(chunk, "EFFECT"))
    [ 0.5 -2.   nan]
    """
    alleles = np.bincount(chunk.rows, minlength=len(chunk.lines)).tolist()
    out: list[float] = []
    for row, line in enumerate(chunk.lines):
        values = _values(line, field)
        if len(values) == 1:
            values *= alleles[row]
        try:
            numbers = [math.nan if text in ("", ".") else check_number(text) for text in values]
        except ValueError:
            raise SequenceError(
                f"line {chunk.first_line + row}: {field}={','.join(values)} is not a number",
                file=file,
                remedy="name a field of INFO with numbers, or a flag",
            ) from None
        if len(numbers) != alleles[row]:
            raise SequenceError(
                f"line {chunk.first_line + row}: {field} has {len(numbers)} values for {alleles[row]} alternative "
                "alleles",
                file=file,
                remedy="give one for the record, or one for each allele",
            )
        out += numbers
    return np.array(out, dtype=np.float64)


def _values(line: str, field: str) -> list[str]:
    """Return the values of a field in a record as text."""
    cells = line.split("\t", INFO + 1)
    for item in cells[INFO].split(";") if len(cells) > INFO else ():
        name, given, text = item.partition("=")
        if name == field:
            return text.split(",") if given else ["1"]
    return [""]
