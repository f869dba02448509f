"""Files of ungapped alignments of proteins: BLOCKS and PRINTS. Each block becomes a matrix of counts."""

import re
from collections.abc import Iterator, Sequence

from seqkern.core.errors import ParameterError
from seqkern.kernels.motifs.motif_entries import MatrixEntry, as_numbers, fail

RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
ANY = "BJOUXZ"  # residues that are not counted
BLOCKS_HEAD = re.compile(r"BL   .*width=", re.IGNORECASE)
BLOCKS_WIDTH = re.compile(r"width=\s*(\d+)", re.IGNORECASE)
BLOCKS_SEGMENT = re.compile(r"\S+\s*\(\s*-?\d+\)\s*([A-Za-z]+)(?:\s+(\S+))?\s*")
PRINTS_HEAD = re.compile(r"gc; ")
PRINTS_LINE = re.compile(r"([a-z]{2});(?: (.*))?")

REMEDY = "correct the file, or remove the block"


def read_blocks(lines: Sequence[str]) -> Iterator[MatrixEntry]:
    """Read each block of a BLOCKS file; segments count by their weights, scaled to the number of segments.

    A name is accession and ID: ``IPB000294A GLU_CARBOXYLATION``. The residues B, J, O, U, X and Z are not counted.

    Parameters
    ----------
    lines : list of str
        Without line ends.

    Yields
    ------
    MatrixEntry

    Raises
    ------
    ParameterError
        With the line, if it does not belong to a block, or a segment does not have the width of its block.

    Examples
    --------
    >>> lines = ["ID   AC; BLOCK", "AC   BL1A; distance", "BL   width=2; seqs=2;", "A_1 ( 4) AC 100", "A_2 ( 9) AD 50"]
    >>> _, name, rows, letters, _ = next(read_blocks([*lines, "//"]))
    >>> name, [dict(zip(letters, row))["C"] for row in rows]
    ('BL1A AC', [0.0, 1.3333333333333333])
    """
    names: dict[str, str] = {}
    width, start = 0, 0
    segments: list[tuple[int, str, float]] = []
    for number, line in [*enumerate(lines, start=1), (len(lines) + 1, "//")]:
        if line.startswith(("AC ", "ID ")):
            names[line[:2]] = line[2:].partition(";")[0].strip()
        elif line.startswith("BL "):
            found = BLOCKS_WIDTH.search(line)
            if not found:
                fail(number, line, "write the width of the block, width=")
            # a width that no line can have is as wrong as one that is not that of the segments
            width, start = int(found[1][:9]), number
        elif line.startswith("//"):
            if start:
                yield _entry(start, " ".join(names[key] for key in ("AC", "ID") if key in names), segments, width)
            names, width, start, segments = {}, 0, 0, []
        elif start and line.strip():
            found = BLOCKS_SEGMENT.fullmatch(line)
            if not found:
                fail(number, line, REMEDY)
            weight = as_numbers(found[2], number)[0] if found[2] else 1.0
            segments.append((number, found[1], weight))


def read_prints(lines: Sequence[str]) -> Iterator[MatrixEntry]:
    """Read each motif of each fingerprint of a PRINTS file: the final motifs, or the initial ones if there are none.

    A name is the code of the motif, such as ``PLANTGLOBIN1``. The residues B, J, O, U, X and Z are not counted.

    Parameters
    ----------
    lines : list of str
        Without line ends.

    Yields
    ------
    MatrixEntry

    Raises
    ------
    ParameterError
        With the line, if a segment does not have the length of its motif.

    Examples
    --------
    >>> lines = ["gc; GT", "fc; GT1", "fl; 2", "ft; GT motif I", "fd; GT  GT_HUMAN 3 3", "fd; GS  GT_MOUSE 3 3"]
    >>> _, name, rows, letters, _ = next(read_prints(lines))
    >>> name, [dict(zip(letters, row))["T"] for row in rows]
    ('GT1', [0.0, 1.0])
    """
    found: dict[str, list[tuple[int, str, int, list[tuple[int, str, float]]]]] = {"f": [], "i": []}
    for number, line in [*enumerate(lines, start=1), (len(lines) + 1, "gc;")]:
        parts = PRINTS_LINE.match(line)
        if not parts:
            continue
        key, value = parts[1], (parts[2] or "").strip()
        if key == "gc":
            for start, name, width, segments in found["f"] or found["i"]:
                yield _entry(start, name, segments, width)
            found = {"f": [], "i": []}
        elif key in ("fc", "ic"):
            found[key[0]].append((number, value, 0, []))
        elif key in ("fl", "il", "fd", "id"):
            if not found[key[0]]:
                fail(number, line, f"write the code of the motif before it, {key[0]}c;")
            start, name, width, segments = found[key[0]][-1]
            if key[1] == "l":
                if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
                    fail(number, line, "write the length of the motif")
                found[key[0]][-1] = start, name, int(value), segments
            else:
                segments.append((number, value.split()[0] if value else "", 1.0))


def _entry(start: int, name: str, segments: list[tuple[int, str, float]], width: int) -> MatrixEntry:
    """Return the MatrixEntry of (line number, segment, weight) of a block."""
    name = name or f"line {start}"
    if not segments or width == 0:
        missing = "segments" if width else "length"
        raise ParameterError(f"line {start}: motif {name!r} has no {missing}", remedy=REMEDY)
    total = 0.0
    for number, segment, weight in segments:
        wrong = next((letter for letter in segment.upper() if letter not in RESIDUES + ANY), None)
        if wrong or len(segment) != width:
            problem = f"contains {wrong!r}" if wrong else f"has {len(segment)} residues, its block {width}"
            raise ParameterError(f"line {number}: the segment {segment[:60]!r} {problem}", remedy=REMEDY)
        if not 0 < weight < 1e9:
            raise ParameterError(f"line {number}: the weight {weight:g} is not possible", remedy="write one above 0")
        total += weight
    rows = [[0.0] * len(RESIDUES) for _ in range(width)]
    for _, segment, weight in segments:
        for row, letter in zip(rows, segment.upper(), strict=True):
            if letter in RESIDUES:
                row[RESIDUES.index(letter)] += weight * len(segments) / total
    return start, name, rows, RESIDUES, None
