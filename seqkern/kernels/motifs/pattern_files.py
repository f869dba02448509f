"""Pattern files: PROSITE, its GCG form (PROSITETOGCG), and plain lists."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from seqkern.core.errors import ParameterError
from seqkern.kernels.motifs.patterns import Pattern, parse_pattern

GCG_HEADING = re.compile(r"Name\s+Offset\s+Pattern\s.*\.\.")
PROSITE_LINE = re.compile(r"^(ID|AC|PA)   ")
SKIPPED = "entries without a pattern (profiles, rules) skipped"

PatternEntry: TypeAlias = tuple[int, str | None, str | None]
"""(line number, name, text) of a pattern; (line number, None, None) of an entry without one."""


def read_prosite(lines: Sequence[str]) -> Iterator[PatternEntry]:
    """Read each entry of a ``prosite.dat``.

    A name is accession and ID: ``PS00001 ASN_GLYCOSYLATION``.

    Parameters
    ----------
    lines : list of str
        Without line ends.

    Yields
    ------
    PatternEntry

    Raises
    ------
    ParameterError
        If an entry that should have a pattern has none.

    Examples
    --------
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
    """Return (name, pattern) of one entry, (None, None) for one of another type."""
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

    Parameters
    ----------
    lines : list of str
        Without line ends.

    Yields
    ------
    PatternEntry

    Raises
    ------
    ParameterError
        If a line has too few fields.

    Examples
    --------
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

    Parameters
    ----------
    lines : list of str
        Without line ends.

    Yields
    ------
    PatternEntry

    Raises
    ------
    ParameterError
        If the name looks like part of a pattern.

    Examples
    --------
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
    """Return the number of elements of a pattern whose elements are all separated by ``-``; else 0."""
    parts = text.split("-")
    good = _can_be_read(text) and all(_can_be_read(part) and len(parse_pattern(part).elements) == 1 for part in parts)
    return len(parts) if good else 0


def _can_be_read(text: str) -> bool:
    """Return whether a text can be read as a pattern."""
    try:
        parse_pattern(text)
    except ParameterError:
        return False
    return True


READERS: tuple[tuple[re.Pattern[str], Callable[[Sequence[str]], Iterator[PatternEntry]]], ...] = (
    (GCG_HEADING, read_gcg),
    (PROSITE_LINE, read_prosite),
    (re.compile(""), read_list),
)


def read_patterns(lines: Sequence[str]) -> tuple[list[Pattern], dict[str, int]]:
    """Return the patterns of a file in any format.

    Parameters
    ----------
    lines : list of str
        Without line ends.

    Returns
    -------
    patterns : list of Pattern
    counts : dict of str to int
        Number of skipped entries.

    Raises
    ------
    ParameterError
        With the line, if a pattern cannot be read.

    Examples
    --------
    >>> patterns, counts = read_patterns(["TATA box TATAWAW", "[AC] - x - V"])
    >>> [pattern.name for pattern in patterns], counts
    (['TATA box', '[AC]-x-V'], {})
    """
    reader = next(reader for mark, reader in READERS if any(mark.search(line) for line in lines))
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
