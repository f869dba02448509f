"""Files of patterns: PROSITE, the form that GCG's PROSITETOGCG gave it, and plain lists."""

import re

from ...errors import ParameterError
from .patterns import parse_pattern

GCG_HEADING = re.compile(r"Name\s+Offset\s+Pattern\s.*\.\.")
PROSITE_LINE = re.compile(r"^(ID|AC|PA)   ")
SKIPPED = "entries without a pattern (profiles, rules) skipped"


def read_prosite(lines):
    """Yield (line number, name, text) of each pattern of a ``prosite.dat``, and (number, None, None) of other entries.

    A name is accession and ID: ``PS00001 ASN_GLYCOSYLATION``.

    Raises
    ------
    ParameterError
        If an entry that should have a pattern has none.
    """
    entry, first = {}, 1
    for number, line in [*enumerate(lines, start=1), (len(lines) + 1, "//")]:
        if line.startswith("//"):
            if "ID" in entry or "PA" in entry:
                yield first, *_prosite_entry(entry, first)
            entry, first = {}, number + 1
        elif PROSITE_LINE.match(line):
            entry.setdefault(line[:2], []).append(line[5:].strip())


def _prosite_entry(entry, number):
    """Return (name, pattern) of one entry, (None, None) for one of another type."""
    identifier, _, kind = entry.get("ID", [""])[0].partition(";")
    name = f"{entry.get('AC', [''])[0].partition(';')[0]} {identifier}".strip()
    if kind.strip(" .").upper() not in ("PATTERN", ""):
        return None, None
    name = name or f"line {number}"
    if "PA" not in entry:
        raise ParameterError(f"line {number}: entry {name!r} has no PA line", remedy="mend it or take it out")
    return name, "".join(entry["PA"])


def read_gcg(lines):
    """Yield (line number, name, text) of each pattern of a GCG file: below the heading, name, offset and pattern.

    A ``;`` before a name, which marks a frequent pattern, is no part of it.

    Raises
    ------
    ParameterError
        If a line has too few words.
    """
    below = False
    for number, line in enumerate(lines, start=1):
        if not below:
            below = bool(GCG_HEADING.search(line))
        elif line.strip():
            words = line.split()
            if len(words) < 3:
                raise ParameterError(f"line {number}: {line!r} is no pattern", remedy="give name, offset and pattern")
            yield number, words[0].lstrip(";"), words[2]


def read_list(lines):
    """Yield (line number, name, text) of each line: a pattern, or a name, spaces and a pattern; # begins a comment."""
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].strip().rsplit(None, 1)
        if words:
            yield number, words[0], words[-1]


READERS = ((GCG_HEADING, read_gcg), (PROSITE_LINE, read_prosite), (re.compile(""), read_list))


def read_patterns(lines):
    """Return a list of Patterns and a dict of counts, from the lines of a file in any of the forms.

    Raises
    ------
    ParameterError
        With the line, if a pattern cannot be read.
    """
    reader = next(reader for mark, reader in READERS if any(mark.search(line) for line in lines))
    patterns, counts = [], {}
    for number, name, text in reader(lines):
        if text is None:
            counts[SKIPPED] = counts.get(SKIPPED, 0) + 1
            continue
        try:
            patterns.append(parse_pattern(text, name))
        except ParameterError as error:
            raise ParameterError(f"line {number}: {error.problem}", remedy=error.remedy) from error
    return patterns, counts
