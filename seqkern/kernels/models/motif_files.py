"""Sets of motifs: from a list, from a file, and as state of a kernel."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn, Self, TypeAlias

import numpy as np

from seqkern.core.checks import check_number
from seqkern.core.errors import ParameterError
from seqkern.core.public_files import local_path
from seqkern.core.text_files import open_lines
from seqkern.core.types import Arrays, Header
from seqkern.kernels.models.patterns import Matrix, Pattern, parse_pattern
from seqkern.sequences.fasta import unique_ids

# Shared code of the motif file readers: entries, numbers, error messages.

MatrixEntry: TypeAlias = tuple[int, str, list[list[float]], str, list[float] | None]
"""(line number, name, rows, letters, background) of a motif; `rows` has one list of counts for each of its columns."""


def fail(number: int, line: str, remedy: str = "correct the file") -> NoReturn:
    """Raise ParameterError about a line of a file; lines are numbered from 1."""
    raise ParameterError(f"line {number}: {line.strip()[:60]!r} cannot be read here", remedy=remedy)


def as_numbers(text: str, number: int) -> list[float]:
    """Return the numbers in a text, separated by spaces."""
    try:
        return [check_number(word) for word in text.split()]
    except ValueError:
        fail(number, text)


# Readers of protein block files, BLOCKS and PRINTS; each ungapped alignment becomes a matrix of counts.

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


# Readers of weight matrix files: JASPAR, MEME (minimal motif format), TRANSFAC; for blocks see `block_files`.

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
    """Return the reader that matches the format of a matrix file, or None for other files.

    >>> matrix_reader([">MA0001 GT", "A [0 1]"]).__name__
    'read_jaspar'
    """
    for mark, reader in READERS:
        if any(mark.match(line) for line in lines):
            return reader
    return None


def read_matrices(lines: Sequence[str], reader: MatrixReader) -> list[Matrix]:
    """Return the matrices of a file."""
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


# Readers of pattern files: PROSITE, its GCG form (PROSITETOGCG), and plain lists.

GCG_HEADING = re.compile(r"Name\s+Offset\s+Pattern\s.*\.\.")
PROSITE_LINE = re.compile(r"^(ID|AC|PA)   ")
SKIPPED = "entries without a pattern (profiles, rules) skipped"

PatternEntry: TypeAlias = tuple[int, str | None, str | None]
"""(line number, name, text) of a pattern; (line number, None, None) of an entry without one."""


def read_prosite(lines: Sequence[str]) -> Iterator[PatternEntry]:
    """Read each entry of a ``prosite.dat``.

    A name is accession and ID: ``PS00001 ASN_GLYCOSYLATION``.

    >>> lines = ["ID   ASN_GLYCOSYLATION; PATTERN.", "AC   PS00001;", "PA   N-{P}-[ST]-{P}.", "//"]
    >>> list(read_prosite(lines))
    [(1, 'PS00001 ASN_GLYCOSYLATION', 'N-{P}-[ST]-{P}.')]
    """
    entry: dict[str, list[str]] = {}
    first = 1
    for number, line in [*enumerate(lines, start=1), (len(lines) + 1, "//")]:
        if line.startswith("//"):
            if "ID" in entry or "PA" in entry:
                yield first, *_prosite_entry(entry, first)
            entry, first = {}, number + 1
        elif PROSITE_LINE.match(line):
            entry.setdefault(line[:2], []).append(line[5:].strip())


def _prosite_entry(entry: dict[str, list[str]], number: int) -> tuple[str, str] | tuple[None, None]:
    """Return (name, pattern) of one entry, or (None, None) for entries of another type."""
    identifier, _, kind = entry.get("ID", [""])[0].partition(";")
    name = f"{entry.get('AC', [''])[0].partition(';')[0]} {identifier}".strip()
    if kind.strip(" .").upper() not in ("PATTERN", ""):
        return None, None
    name = name or f"line {number}"
    if "PA" not in entry:
        raise ParameterError(f"line {number}: entry {name!r} has no PA line", remedy="correct or remove it")
    return name, "".join(entry["PA"])


def read_gcg(lines: Sequence[str]) -> Iterator[PatternEntry]:
    """Read each pattern of a GCG file: after the heading, name, offset and pattern.

    A ``;`` before a name, which marks a frequent pattern, is not part of it.

    >>> list(read_gcg(["Name  Offset  Pattern  ..", ";Glycosylation 1 N~(P)(S,T)~(P) ! PS00001"]))
    [(2, 'Glycosylation', 'N~(P)(S,T)~(P)')]
    """
    below = False
    for number, line in enumerate(lines, start=1):
        if not below:
            below = bool(GCG_HEADING.search(line))
        elif line.strip():
            words = line.split()
            if len(words) < 3:
                raise ParameterError(
                    f"line {number}: {line!r} is not a pattern", remedy="give name, offset and pattern"
                )
            yield number, words[0].lstrip(";"), words[2]


def read_list(lines: Sequence[str]) -> Iterator[PatternEntry]:
    """Read each line of a list: a pattern, or a name, spaces and a pattern; # begins a comment.

    A pattern may contain spaces if ``-`` separates all elements, ``[AC] - x - V``; otherwise a name could be part of
    the pattern.

    >>> list(read_list(["# boxes", "TATA box TATAWAW", "[AC] - x - V"]))
    [(2, 'TATA box', 'TATAWAW'), (3, '[AC]-x-V', '[AC] - x - V')]
    """
    for number, line in enumerate(lines, start=1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        name, *rest = line.rsplit(None, 1)
        if not rest or _elements(line):
            yield number, "".join(line.split()), line
            continue
        text = rest[0]
        bracketed = any(mark in name for mark in "[{") and _can_be_read(name)
        if name.endswith("-") or text.startswith("-") or bracketed or _elements(name) > 1:
            raise ParameterError(
                f"line {number}: {name!r} before {text!r} looks like part of the pattern, not like a name",
                remedy="write - between all elements, remove the spaces, or change the name",
            )
        yield number, name, text


def _elements(text: str) -> int:
    """Return the number of elements of a pattern, or 0 unless ``-`` separates all of them."""
    parts = text.split("-")
    good = _can_be_read(text) and all(_can_be_read(part) and len(parse_pattern(part).elements) == 1 for part in parts)
    return len(parts) if good else 0


def _can_be_read(text: str) -> bool:
    """Return whether a text is a valid pattern."""
    try:
        parse_pattern(text)
    except ParameterError:
        return False
    return True


PATTERN_FILES_READERS: tuple[tuple[re.Pattern[str], Callable[[Sequence[str]], Iterator[PatternEntry]]], ...] = (
    (GCG_HEADING, read_gcg),
    (PROSITE_LINE, read_prosite),
    (re.compile(""), read_list),
)


def read_patterns(lines: Sequence[str]) -> tuple[list[Pattern], dict[str, int]]:
    """Return the patterns of a file in any supported format, and the numbers of skipped entries.

    >>> patterns, counts = read_patterns(["TATA box TATAWAW", "[AC] - x - V"])
    >>> [pattern.name for pattern in patterns], counts
    (['TATA box', '[AC]-x-V'], {})
    """
    reader = next(reader for mark, reader in PATTERN_FILES_READERS if any(mark.search(line) for line in lines))
    patterns: list[Pattern] = []
    counts: dict[str, int] = {}
    for number, name, text in reader(lines):
        if text is None:
            counts[SKIPPED] = counts.get(SKIPPED, 0) + 1
            continue
        try:
            patterns.append(parse_pattern(text, name))
        except ParameterError as error:
            raise ParameterError(f"line {number}: {error.problem}", remedy=error.remedy) from error
    return patterns, counts


LONGEST_NAME = 80

Motif: TypeAlias = Pattern | Matrix


@dataclass(frozen=True)
class MotifSet:
    """Motifs, all patterns or all weight matrices, with distinct names.

    >>> motifs = MotifSet.from_list(["TATAWAW", "N-{P}-[ST]"])
    >>> motifs.names, motifs.of_patterns
    (['TATAWAW', 'N-{P}-[ST]'], True)
    """

    motifs: "Sequence[Motif]"  # At least one
    counts: dict[str, int] = field(default_factory=dict)  # Number of skipped entries of a file

    def __len__(self) -> int:
        return len(self.motifs)

    @property
    def names(self) -> list[str]:
        """Names of the motifs."""
        return [motif.name for motif in self.motifs]

    @property
    def of_patterns(self) -> bool:
        """Whether the motifs are patterns."""
        return isinstance(self.motifs[0], Pattern)

    @property
    def patterns(self) -> list[Pattern]:
        """The motifs if they are patterns, else an empty list."""
        return [motif for motif in self.motifs if isinstance(motif, Pattern)]

    @property
    def matrices(self) -> list[Matrix]:
        """The motifs if they are weight matrices, else an empty list."""
        return [motif for motif in self.motifs if isinstance(motif, Matrix)]

    @classmethod
    def named(cls, motifs: "Sequence[Motif]", counts: dict[str, int] | None = None) -> Self:
        """Return the set with displayable names: printable, not too long, numbered if repeated."""
        names = ["".join(c if c.isprintable() else " " for c in motif.name)[:LONGEST_NAME] for motif in motifs]
        names, _ = unique_ids(names, "suffix")
        return cls([replace(motif, name=name) for motif, name in zip(motifs, names, strict=True)], counts or {})

    @classmethod
    def from_list(cls, texts: Iterable[str]) -> Self:
        """Return the set of patterns in a list, named by their texts."""
        return cls.named([parse_pattern(text) for text in texts])

    @classmethod
    def from_file(cls, path: str) -> Self:
        """Return the set of motifs in a file; the format is detected from its content."""
        local = local_path(path)
        with open_lines(local) as (read, _):
            lines = [line.rstrip("\n") for line in read]
        reader = matrix_reader(lines)
        motifs: Sequence[Motif]
        counts: dict[str, int]
        try:
            motifs, counts = read_patterns(lines) if reader is None else (read_matrices(lines, reader), {})
        except ParameterError as error:
            raise ParameterError(error.problem, file=local, remedy=error.remedy) from error
        if not motifs:
            raise ParameterError("contains no motif", file=local, remedy="check the format of the file")
        return cls.named(motifs, counts)

    def state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays); `from_state` restores the set from it."""
        header: Header = {"names": self.names, "counts": self.counts}
        if self.of_patterns:
            return header | {"patterns": [pattern.text for pattern in self.patterns]}, {}
        matrices = self.matrices
        arrays: Arrays = {
            "columns": np.array([len(matrix.counts) for matrix in matrices], dtype=np.int64),
            "letter_counts": np.concatenate([matrix.counts.ravel() for matrix in matrices]),
            "background": np.concatenate([matrix.background for matrix in matrices]),
        }
        return header | {"letters": [matrix.letters for matrix in matrices]}, arrays

    @classmethod
    def from_state(cls, header: Header, arrays: Arrays) -> Self:
        """Return the set restored from the result of `state`."""
        names = header["names"]
        if "patterns" in header:
            patterns = [parse_pattern(text, name) for text, name in zip(header["patterns"], names, strict=True)]
            return cls(patterns, header["counts"])
        matrices: list[Matrix] = []
        place = shares = 0
        for name, letters, columns in zip(names, header["letters"], arrays["columns"].tolist(), strict=True):
            counts = arrays["letter_counts"][place : place + columns * len(letters)].reshape(columns, len(letters))
            matrices.append(Matrix(name, counts, letters, arrays["background"][shares : shares + len(letters)]))
            place, shares = place + columns * len(letters), shares + len(letters)
        return cls(matrices, header["counts"])
