"""Files of weight matrices: JASPAR, MEME (minimal motif format), TRANSFAC."""

import re

from seqkern.core.errors import ParameterError
from seqkern.kernels.motifs.matrices import Matrix

BASES = "ACGT"
SITES = 20.0  # of a MEME motif that does not say; MEME's own default
NUMBERS = re.compile(r"[-+\d.eE\s]+")
JASPAR_ROW = re.compile(r"\s*([A-Za-z]?)[\s|:]*\[?([-+\d.eE\s]+)\]?\s*")
MEME_MATRIX = re.compile(r"letter-probability matrix:(.*)")
MEME_SITES = re.compile(r"nsites=\s*(\S+)")
TRANSFAC_HEAD = re.compile(r"P[0O]\s+\S")


REMEDY_JASPAR = "mend the file, which was taken for one of JASPAR because a line begins with >"


def _fail(number, line, remedy="mend the file"):
    raise ParameterError(f"line {number}: {line.strip()[:60]!r} is not possible here", remedy=remedy)


def _numbers(text, number):
    """Return the numbers of a text as floats."""
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        _fail(number, text)


def read_jaspar(lines):
    """Yield (line number, name, rows, letters, None): below ``>name`` one row for each letter, or four without letters.

    `rows` has one list for each column of the motif, as from the other readers.
    """
    entries = []
    for number, line in enumerate(lines, start=1):
        if line.startswith(">"):
            entries.append((number, line[1:].strip(), []))
        elif line.strip():
            found = JASPAR_ROW.fullmatch(line)
            if not found or not entries:
                _fail(number, line, REMEDY_JASPAR)
            entries[-1][2].append((found[1].upper(), _numbers(found[2], number)))
    for number, name, rows in entries:
        letters = "".join(letter for letter, _ in rows)
        if not letters and len(rows) == len(BASES):
            letters = BASES
        widths = {len(row) for _, row in rows}
        if not rows or len(letters) != len(rows) or len(set(letters)) != len(letters) or len(widths) != 1:
            raise ParameterError(
                f"line {number}: motif {name!r} has no rows of one length, one for each letter", remedy="mend the file"
            )
        yield number, name, [list(column) for column in zip(*(row for _, row in rows), strict=True)], letters, None


def read_meme(lines):
    """Yield (line number, name, rows, letters, background) of each ``letter-probability matrix``.

    Probabilities are turned into counts by ``nsites``.
    """
    letters, background, name, place = BASES, None, None, 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith("ALPHABET"):
            letters = line.partition("=")[2].strip()
            if not letters.isalpha():
                _fail(place, line, "write ALPHABET= and the letters")
        elif line.startswith("Background letter frequencies"):
            words = []
            while len(words) < 2 * len(letters) and place < len(lines) and lines[place].strip():
                words += lines[place].split()
                place += 1
            if "".join(words[::2]) != letters:
                _fail(place, " ".join(words))
            background = _numbers(" ".join(words[1::2]), place)
        elif line.startswith("MOTIF"):
            name = " ".join(line.split()[1:])
        elif found := MEME_MATRIX.match(line):
            start, rows = place, []
            while place < len(lines) and lines[place].strip() and NUMBERS.fullmatch(lines[place]):
                rows.append(_numbers(lines[place], place + 1))
                place += 1
            sites = MEME_SITES.search(found[1])
            sites = _numbers(sites[1], start)[0] if sites else SITES
            yield (
                start,
                name or f"line {start}",
                [[sites * share for share in row] for row in rows],
                letters,
                background,
            )


def read_transfac(lines):
    """Yield (line number, name, rows, letters, None): below ``P0`` and the letters, numbered rows of counts."""
    names, letters, rows, start = {}, None, [], 0
    for number, line in [*enumerate(lines, start=1), (len(lines) + 1, "//")]:
        if line.startswith(("AC ", "ID ")):
            names[line[:2]] = line[2:].strip()
        elif TRANSFAC_HEAD.match(line):
            letters, start = "".join(line.split()[1:]).upper(), number
        elif letters and re.match(r"\d+\s", line):
            rows.append(_numbers(" ".join(line.split()[1 : len(letters) + 1]), number))
        elif line.startswith("//"):
            if letters:
                yield start, " ".join(names.values()) or f"line {start}", rows, letters, None
            names, letters, rows = {}, None, []


READERS = (
    (re.compile("MEME version"), read_meme),
    (TRANSFAC_HEAD, read_transfac),
    (re.compile(">"), read_jaspar),
)


def matrix_reader(lines):
    """Return the reader of a file of matrices; None for a file of something else."""
    for mark, reader in READERS:
        if any(mark.match(line) for line in lines):
            return reader
    return None


def read_matrices(lines, reader):
    """Return a list of Matrices.

    Raises
    ------
    ParameterError
        With the line, if there is something else than a motif.
    """
    matrices = []
    for number, name, rows, letters, background in reader(lines):
        if len({len(row) for row in rows}) > 1:
            raise ParameterError(f"line {number}: motif {name!r} has rows of several lengths", remedy="mend the file")
        try:
            matrices.append(Matrix.checked(name, rows, letters, background))
        except ParameterError as error:
            raise ParameterError(f"line {number}: {error.problem}", remedy=error.remedy) from error
    return matrices
