r"""The text of HMMER files, checked before pyhmmer parses it.

HMMER's parser trusts its input: a file without its line ALPH ends the whole process, and text where a number should be
counts as 0. The format is that of the HMMER User's Guide, "HMMER profile HMM files": a header with a tag in each line;
``HMM`` and the letters; the names of the transitions; optionally the mean composition, COMPO; two lines for the begin
state; three for each match state; ``//``. HMMER2 has one line for the begin state, and scores instead of probabilities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from seqkern.core.errors import FileError

LETTERS = {"amino": 20, "dna": 4, "rna": 4}
LONGEST = 100_000
"""Match states: more than any model has."""
COUNT, NUMBER, CUTOFF = r"\d{1,10}", r"(?:-?\d{1,9}(?:\.\d{1,9})?|\*)", r"-?\d{1,9}(?:\.\d{1,9})?;?"
FIELDS = {tag: re.compile(COUNT) for tag in ("LENG", "MAXL", "NSEQ", "CKSUM")}
FIELDS |= {tag: re.compile(rf"{CUTOFF}\s+{CUTOFF}") for tag in ("GA", "TC", "NC")}
FIELDS |= {"EFFN": re.compile(NUMBER), "STATS": re.compile(rf"LOCAL\s+(?:MSV|VITERBI|FORWARD)(?:\s+{NUMBER}){{2}}")}
FIELDS |= {tag: re.compile("yes|no") for tag in ("RF", "MM", "CONS", "CS", "MAP")}
NEEDED = ("NAME", "LENG", "ALPH")


class _DamageError(ValueError):
    """What is wrong with an HMM."""


def check_hmms(text: str, name: str, remedy: str) -> int:
    r"""Check the text of a HMMER file.

    Parameters
    ----------
    text : str
        The content of the file.
    name : str
        Name of the file for messages.
    remedy : str
        The remedy for a file of another format.

    Returns
    -------
    int
        The number of HMMs.

    Raises
    ------
    FileError
        For an HMM that does not have this format.

    Examples
    --------
    >>> check_hmms("HMMER3/f\nNAME  globins\nLENG  1\nHMM A C G T\n//\n", "globins.hmm", "create it with hmmbuild")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.FileError: globins.hmm: record 'HMM 1': has no line ALPH; create it with hmmbuild
    """
    lines, count = _lines(text), 0
    for first in lines:
        count += 1
        try:
            _check_hmm(first, lines)
        except _DamageError as damage:
            raise FileError(str(damage), file=name, record=f"HMM {count}", remedy=remedy) from None
        except StopIteration:
            raise FileError("is truncated", file=name, record=f"HMM {count}", remedy="copy it again") from None
    return count


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that the parser does not skip."""
    return (line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#"))


def _check_hmm(first: str, lines: Iterator[str]) -> None:
    """Check one HMM behind its first line, up to ``//``."""
    if not first.startswith(("HMMER3/", "HMMER2")):
        raise _DamageError(f"begins with {first[:20]!r}, not with HMMER3/")
    old = first.startswith("HMMER2")
    length, letters = _check_header(lines)
    if not next(lines).split()[0].startswith("m->m"):
        raise _DamageError("has no names of transitions behind the line HMM")
    scores, moves = _numbers(letters), _numbers(9 if old else 7)
    line = next(lines)
    if old:
        _expect(_numbers(3), line, "the begin state")
    else:
        if line.split()[0] == "COMPO":
            _expect(scores, line.replace("COMPO", "", 1), "COMPO")
            line = next(lines)
        _expect(scores, line, "the begin state")
        _expect(moves, next(lines), "the begin state")
    for state in range(1, length + 1):
        tokens = next(lines).split(None, 1)
        if tokens[0] != str(state) or len(tokens) < 2:
            raise _DamageError(f"has {tokens[0][:20]!r} where match state {state} of {length} should be")
        _expect(scores, tokens[1], f"match state {state}")
        for expected in (scores, moves):
            line = next(lines)
            _expect(expected, _behind_the_annotation(line) if old else line, f"match state {state}")
    if (end := next(lines).strip()) != "//":
        raise _DamageError(f"has {end[:20]!r} behind its last match state, {length}, where // should be")


def _check_header(lines: Iterator[str]) -> tuple[int, int]:
    """Check the lines up to ``HMM``; return the numbers of match states and letters."""
    found: dict[str, str] = {}
    for line in lines:
        tag, _, value = line.strip().replace("\t", " ").partition(" ")
        value = value.strip()
        if tag == "HMM":
            break
        if tag in FIELDS and not FIELDS[tag].fullmatch(value) and not (tag in ("GA", "TC", "NC") and not value):
            raise _DamageError(f"has the line {tag} {value[:30]!r}")
        if tag in NEEDED and (not value or tag in found):
            raise _DamageError(f"has several lines {tag}, or an empty one")
        if tag.startswith(("HMMER", "//")):
            raise _DamageError("has no line HMM")
        found[tag] = value
    else:
        raise StopIteration
    for tag in NEEDED:
        if tag not in found:
            raise _DamageError(f"has no line {tag}")
    alphabet = found["ALPH"].lower()
    if alphabet not in LETTERS:
        raise _DamageError(f"has the alphabet {found['ALPH'][:20]!r}, not amino, DNA or RNA")
    length = int(found["LENG"])
    if not 1 <= length <= LONGEST:
        raise _DamageError(f"has {length} match states (LENG), not 1 to {LONGEST}")
    if len(value.split()) != LETTERS[alphabet]:
        raise _DamageError(f"has {len(value.split())} letters in the line HMM, not {LETTERS[alphabet]}")
    return length, LETTERS[alphabet]


@lru_cache
def _numbers(count: int) -> re.Pattern[str]:
    """Return the pattern of a line that starts with some numbers."""
    return re.compile(rf"\s*{NUMBER}(?:\s+{NUMBER}){{{count - 1}}}(?:\s.*)?", re.DOTALL)


def _expect(pattern: re.Pattern[str], line: str, what: str) -> None:
    """Raise _DamageError unless a line has its numbers."""
    if not pattern.fullmatch(line):
        raise _DamageError(f"has a damaged line of {what}: {line.strip()[:40]!r}")


def _behind_the_annotation(line: str) -> str:
    """Return what is behind the first column, which HMMER2 has for annotation."""
    return line.lstrip().partition(" ")[2]
