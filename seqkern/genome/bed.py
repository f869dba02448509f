"""Read and write BED, narrowPeak and broadPeak; messages name the line."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from seqkern.core.archive import atomic_write
from seqkern.core.errors import SequenceError
from seqkern.core.text_files import open_text
from seqkern.core.tsv import format_cell
from seqkern.core.types import PathLike, Source
from seqkern.core.values import read_number
from seqkern.genome.regions import Regions, make_regions

SUFFIX = re.compile(r"\.(bed\d*|narrowpeak|broadpeak|gappedpeak)(\.(gz|bgz|bz2|xz))?$", re.IGNORECASE)
COMMENTS = ("#", "track ", "track\t", "browser ", "browser\t")
NARROW_PEAK = 10
"""Columns of narrowPeak, which BED cannot have; the last is the offset of the summit."""
STRANDS = {"+": "+", "-": "-", ".": ".", "": "."}


def named_as_bed(path: object) -> bool:
    """Return whether a name is that of a BED, narrowPeak or broadPeak file.

    Parameters
    ----------
    path : path-like or object
        Other sources than paths have no such name.

    Returns
    -------
    bool

    Examples
    --------
    >>> named_as_bed("peaks.narrowPeak.gz"), named_as_bed("peaks.fa")
    (True, False)
    """
    return isinstance(path, str | Path) and SUFFIX.search(str(path)) is not None


def looks_like_bed(line: str) -> bool:
    r"""Return whether a line is a region: a name, and two integers.

    Parameters
    ----------
    line : str
        Of a text file.

    Returns
    -------
    bool

    Examples
    --------
    >>> looks_like_bed("chr1\t100\t400\n"), looks_like_bed("record\tposition\tstrand\n")
    (True, False)
    """
    cells = _cells(line)
    return line.startswith(COMMENTS[1:]) or (len(cells) > 2 and cells[1].isdecimal() and cells[2].isdecimal())


def read_bed(source: Source) -> Regions:
    r"""Read the regions of a BED, narrowPeak or broadPeak file.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        Plain or compressed, 3 to 12 columns between tabs or blanks; lines that begin with ``#``, ``track`` or
        ``browser`` are skipped. With 10 columns it is narrowPeak, and the last one the offset of the summit, −1 for
        none.

    Returns
    -------
    Regions
        In the order of the file. A score that is not a number is NaN.

    Raises
    ------
    FileError, SequenceError
        If it cannot be read, has no region, or a line is invalid.

    Examples
    --------
    >>> import io
    >>> peaks = read_bed(io.StringIO("track name=ctcf\nchr1\t100\t400\tpeak_1\t900\t-\nchr2\t0\t50\tpeak_2\t.\t.\n"))
    >>> peaks.ids(), peaks.strands.tolist(), peaks.scores.tolist()
    (['chr1:101-400', 'chr2:1-50'], ['-', '.'], [900.0, nan])
    """
    rows: list[tuple[str, int, int, str, float, str, int, int]] = []
    with open_text(source) as (lines, name):
        for number, line in enumerate(lines, start=1):
            if line.strip() and not line.startswith(COMMENTS):
                rows.append((*_region(_cells(line), name, number), number))
    if not rows:
        raise SequenceError("contains no region", file=name, remedy="give one line for each region")
    columns = list(zip(*rows, strict=True))
    return make_regions(*columns, file=name)  # type: ignore[arg-type, misc]  # columns in this order


def _cells(line: str) -> list[str]:
    """Return the cells of a line: between tabs, or blanks if there is no tab."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _region(cells: Sequence[str], file: str, line: int) -> tuple[str, int, int, str, float, str, int]:
    """Return chromosome, start, stop, name, score, strand and summit of a line."""
    if not 3 <= len(cells) <= 12:
        problem = f"has {len(cells)} column{'s' * (len(cells) != 1)}"
        raise _error(file, line, problem, "BED has 3 to 12, between tabs: chromosome, start, stop, name, score, strand")
    start, stop = (_position(cells, i, file, line) for i in (1, 2))
    if not cells[0]:
        raise _error(file, line, "has no chromosome", "write it in the first column")
    if start < 0:
        raise _error(file, line, f"begins at {start}", "the first base of a chromosome is 0 in BED")
    if start == stop:
        remedy = "BED counts starts from 0 and excludes the stop; if positions count from 1, subtract 1 from the starts"
        raise _error(file, line, f"has no base: it begins and ends at {start}", remedy)
    if start > stop:
        raise _error(file, line, f"ends at {stop}, before its start {start}", "swap start and stop")
    strand = cells[5] if len(cells) > 5 else "."
    if strand not in STRANDS:
        raise _error(file, line, f"has the strand {strand!r}", "write +, - or . in the sixth column")
    name = cells[3] if len(cells) > 3 else "."
    return cells[0], start, stop, name, _score(cells), STRANDS[strand], _summit(cells, start, stop, file, line)


def _position(cells: Sequence[str], i: int, file: str, line: int) -> int:
    """Return a start or a stop."""
    text, what = cells[i], ("start", "stop")[i - 1]
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        header = i == 1 and not any(c.isdigit() for c in text)
        remedy = "remove the header line, or begin it with #" if header else "give whole numbers"
        raise _error(file, line, f"has the {what} {text!r}, which is not an integer", remedy)
    return int(text)


def _score(cells: Sequence[str]) -> float:
    """Return the score, NaN without one."""
    return read_number(cells[4]) if len(cells) > 4 else math.nan


def _summit(cells: Sequence[str], start: int, stop: int, file: str, line: int) -> int:
    """Return the position of the summit, −1 without one."""
    if len(cells) != NARROW_PEAK:
        return -1
    text = cells[NARROW_PEAK - 1]
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise _error(file, line, f"has the summit {text!r}, which is not an integer", "give its offset, or -1 for none")
    offset = int(text)
    if offset >= stop - start:
        remedy = "the last column of narrowPeak is the offset from the start"
        raise _error(file, line, f"has its summit {offset} bases from its start, beyond its stop", remedy)
    return start + offset if offset >= 0 else -1


def _error(file: str, line: int, problem: str, remedy: str) -> SequenceError:
    """Return an error about a line."""
    return SequenceError(f"line {line} {problem}", file=file, remedy=remedy)


def write_bed(path: PathLike, regions: Regions) -> None:
    """Write regions with their names, scores and strands, atomically.

    Parameters
    ----------
    path : path-like
        The BED file.
    regions : Regions
        Regions without a score get 0.

    Raises
    ------
    FileError
        If it cannot be written.
    """
    scores = [f"{0 if score != score else score:.10g}" for score in regions.scores.tolist()]
    columns = (regions.chromosomes, regions.starts, regions.stops, regions.names, scores, regions.strands)
    with atomic_write(path, "w") as file:
        for row in zip(*(list(column) for column in columns), strict=True):
            file.write("\t".join(map(format_cell, row)) + "\n")
