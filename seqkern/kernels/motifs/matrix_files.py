"""Files of weight matrices: JASPAR, MEME (minimal motif format), TRANSFAC; and of blocks, see `block_files`."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from seqkern.core.errors import ParameterError
from seqkern.kernels.motifs.block_files import BLOCKS_HEAD, PRINTS_HEAD, read_blocks, read_prints
from seqkern.kernels.motifs.matrices import Matrix
from seqkern.kernels.motifs.motif_entries import MatrixEntry, as_numbers, fail

BASES = "ACGT"
SITES = 20.0  # of a MEME motif without nsites; MEME's default
NUMBERS = re.compile(r"[-+\d.eE\s]+")
JASPAR_ROW = re.compile(r"\s*([A-Za-z]?)[\s|:]*\[?([-+\d.eE\s]+)\]?\s*")
MEME_MATRIX = re.compile(r"letter-probability matrix:(.*)")
MEME_SITES = re.compile(r"nsites=\s*(\S+)")
TRANSFAC_HEAD = re.compile(r"P[0O]\s+\S")


REMEDY_JASPAR = "correct the file; it was read as JASPAR because a line begins with >"

MatrixReader: TypeAlias = Callable[[Sequence[str]], Iterator[MatrixEntry]]


def read_jaspar(lines: Sequence[str]) -> Iterator[MatrixEntry]:
    """Read a JASPAR file: ``>name``, then one row for each letter, or four without letters.

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
        With the line, if it does not belong to a motif.

    Examples
    --------
    >>> lines = [">MA0001 GT", "A [0 1]", "C [0 0]", "G [9 0]", "T [0 8]"]
    >>> list(read_jaspar(lines))
    [(1, 'MA0001 GT', [[0.0, 0.0, 9.0, 0.0], [1.0, 0.0, 0.0, 8.0]], 'ACGT', None)]
    """
    entries: list[tuple[int, str, list[tuple[str, list[float]]]]] = []
    for number, line in enumerate(lines, start=1):
        if line.startswith(">"):
            entries.append((number, line[1:].strip(), []))
        elif line.strip():
            found = JASPAR_ROW.fullmatch(line)
            if not found or not entries:
                fail(number, line, REMEDY_JASPAR)
            entries[-1][2].append((found[1].upper(), as_numbers(found[2], number)))
    for number, name, rows in entries:
        letters = "".join(letter for letter, _ in rows)
        if not letters and len(rows) == len(BASES):
            letters = BASES
        widths = {len(row) for _, row in rows}
        if not rows or len(letters) != len(rows) or len(set(letters)) != len(letters) or len(widths) != 1:
            raise ParameterError(
                f"line {number}: motif {name!r} needs one row for each letter, all of one length",
                remedy="correct the file",
            )
        yield number, name, [list(column) for column in zip(*(row for _, row in rows), strict=True)], letters, None


def read_meme(lines: Sequence[str]) -> Iterator[MatrixEntry]:
    """Read each ``letter-probability matrix`` of a MEME file; its probabilities become counts by ``nsites``.

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
        With the line, if the alphabet, the background or a number cannot be read.

    Examples
    --------
    >>> lines = ["MEME version 5", "MOTIF GT", "letter-probability matrix: nsites= 8", "0 0 1 0", "0.25 0 0 0.75"]
    >>> list(read_meme(lines))
    [(3, 'GT', [[0.0, 0.0, 8.0, 0.0], [2.0, 0.0, 0.0, 6.0]], 'ACGT', None)]
    """
    letters, place = BASES, 0
    background: list[float] | None = None
    name: str | None = None
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith("ALPHABET"):
            letters = line.partition("=")[2].strip()
            if not letters.isalpha():
                fail(place, line, "write ALPHABET= followed by the letters")
        elif line.startswith("Background letter frequencies"):
            words: list[str] = []
            while len(words) < 2 * len(letters) and place < len(lines) and lines[place].strip():
                words += lines[place].split()
                place += 1
            if "".join(words[::2]) != letters:
                fail(place, " ".join(words))
            background = as_numbers(" ".join(words[1::2]), place)
        elif line.startswith("MOTIF"):
            name = " ".join(line.split()[1:])
        elif found := MEME_MATRIX.match(line):
            start = place
            rows: list[list[float]] = []
            while place < len(lines) and lines[place].strip() and NUMBERS.fullmatch(lines[place]):
                rows.append(as_numbers(lines[place], place + 1))
                place += 1
            named = MEME_SITES.search(found[1])
            sites = as_numbers(named[1], start)[0] if named else SITES
            yield (
                start,
                name or f"line {start}",
                [[sites * share for share in row] for row in rows],
                letters,
                background,
            )


def read_transfac(lines: Sequence[str]) -> Iterator[MatrixEntry]:
    """Read a TRANSFAC file: ``P0`` and the letters, then numbered rows of counts.

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
        With the line, if it does not contain numbers.

    Examples
    --------
    >>> list(read_transfac(["ID GT", "P0 A C G T", "01 0 0 9 0 G", "02 1 0 0 8 T", "//"]))
    [(2, 'GT', [[0.0, 0.0, 9.0, 0.0], [1.0, 0.0, 0.0, 8.0]], 'ACGT', None)]
    """
    names: dict[str, str] = {}
    letters: str | None = None
    rows: list[list[float]] = []
    start = 0
    for number, line in [*enumerate(lines, start=1), (len(lines) + 1, "//")]:
        if line.startswith(("AC ", "ID ")):
            names[line[:2]] = line[2:].strip()
        elif TRANSFAC_HEAD.match(line):
            letters, start = "".join(line.split()[1:]).upper(), number
        elif letters and re.match(r"\d+\s", line):
            rows.append(as_numbers(" ".join(line.split()[1 : len(letters) + 1]), number))
        elif line.startswith("//"):
            if letters:
                yield start, " ".join(names.values()) or f"line {start}", rows, letters, None
            names, letters, rows = {}, None, []


READERS: tuple[tuple[re.Pattern[str], MatrixReader], ...] = (
    (re.compile("MEME version"), read_meme),
    (BLOCKS_HEAD, read_blocks),
    (PRINTS_HEAD, read_prints),
    (TRANSFAC_HEAD, read_transfac),
    (re.compile(">"), read_jaspar),
)


def matrix_reader(lines: Sequence[str]) -> MatrixReader | None:
    """Return the reader of a file of matrices.

    Parameters
    ----------
    lines : list of str
        The file's content.

    Returns
    -------
    callable or None
        None for other files.

    Examples
    --------
    >>> matrix_reader([">MA0001 GT", "A [0 1]"]).__name__
    'read_jaspar'
    """
    for mark, reader in READERS:
        if any(mark.match(line) for line in lines):
            return reader
    return None


def read_matrices(lines: Sequence[str], reader: MatrixReader) -> list[Matrix]:
    """Return the matrices of a file.

    Parameters
    ----------
    lines : list of str
        The file's content.
    reader : callable
        The result of `matrix_reader`.

    Returns
    -------
    list of Matrix

    Raises
    ------
    ParameterError
        With the line, if it does not belong to a motif.
    """
    matrices = []
    for number, name, rows, letters, background in reader(lines):
        if len({len(row) for row in rows}) > 1:
            raise ParameterError(
                f"line {number}: motif {name!r} has rows of different lengths", remedy="correct the file"
            )
        try:
            matrices.append(Matrix.checked(name, rows, letters, background))
        except ParameterError as error:
            raise ParameterError(f"line {number}: {error.problem}", remedy=error.remedy) from error
    return matrices
