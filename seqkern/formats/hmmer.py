"""HMMER files, and the profiles of profile HMMs."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError
from seqkern.formats.profiles import normalised, to_scores
from seqkern.sequences.alphabets import PROTEIN

if TYPE_CHECKING:
    from pyhmmer.plan7 import HMM


# Checks of the text of HMMER files, made before pyhmmer parses it.
#
# HMMER's parser trusts its input: a file without its ALPH line ends the whole process, and text in place of a number
# counts as 0. The format is described in the HMMER User's Guide, "HMMER profile HMM files": a header with a tag in each
# line; ``HMM`` and the letters; the names of the transitions; optionally the mean composition, COMPO; two lines for the
# begin state; three for each match state; ``//``. HMMER2 has one line for the begin state, and scores instead of
# probabilities.

LETTERS = {"amino": 20, "dna": 4, "rna": 4}
LONGEST = 100_000
"""Maximum number of match states, more than any model has."""
COUNT, NUMBER, CUTOFF = r"\d{1,10}", r"(?:-?\d{1,9}(?:\.\d{1,9})?|\*)", r"-?\d{1,9}(?:\.\d{1,9})?;?"
FIELDS = {tag: re.compile(COUNT) for tag in ("LENG", "MAXL", "NSEQ", "CKSUM")}
FIELDS |= {tag: re.compile(rf"{CUTOFF}\s+{CUTOFF}") for tag in ("GA", "TC", "NC")}
FIELDS |= {"EFFN": re.compile(NUMBER), "STATS": re.compile(rf"LOCAL\s+(?:MSV|VITERBI|FORWARD)(?:\s+{NUMBER}){{2}}")}
FIELDS |= {tag: re.compile("yes|no") for tag in ("RF", "MM", "CONS", "CS", "MAP")}
NEEDED = ("NAME", "LENG", "ALPH")


class _DamageError(ValueError):
    """Error that describes the damage of an HMM."""


def check_hmms(text: str, remedy: str) -> int:
    r"""Check the text of a HMMER file, and return its number of HMMs.

    >>> check_hmms("HMMER3/f\nNAME  globins\nLENG  1\nHMM A C G T\n//\n", "create it with hmmbuild")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.FileError: record 'HMM 1': has no line ALPH; create it with hmmbuild
    """
    lines, count = _lines(text), 0
    for first in lines:
        count += 1
        try:
            _check_hmm(first, lines)
        except _DamageError as damage:
            raise FileError(str(damage), record=f"HMM {count}", remedy=remedy) from None
        except StopIteration:
            raise FileError("is truncated", record=f"HMM {count}", remedy="copy it again") from None
    return count


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that the parser does not skip."""
    return (line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#"))


def _check_hmm(first: str, lines: Iterator[str]) -> None:
    """Check one HMM after its first line, up to ``//``."""
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
            # behind the first column, which HMMER2 uses for annotation
            _expect(expected, line.lstrip().partition(" ")[2] if old else line, f"match state {state}")
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
    """Return the pattern of a line that starts with `count` numbers."""
    return re.compile(rf"\s*{NUMBER}(?:\s+{NUMBER}){{{count - 1}}}(?:\s.*)?", re.DOTALL)


def _expect(pattern: re.Pattern[str], line: str, what: str) -> None:
    """Raise _DamageError unless a line matches the pattern of its numbers."""
    if not pattern.fullmatch(line):
        raise _DamageError(f"has a damaged line of {what}: {line.strip()[:40]!r}")


# HMMER files, read by pyhmmer.
#
# HMMER gets text, never a path: it turns a path ending in ``.gz`` into a shell command, and prefers a file of the same
# name with ``.h3m``, if there is one.

TRANSITIONS = {"M": slice(0, 3), "I": slice(3, 5), "D": slice(5, 7)}
TOLERANCE = 1e-4
"""Tolerance of a sum of probabilities: 20 times the rounding of logarithms printed with five digits."""


def looks_like_hmmer(text: str) -> bool:
    """Return whether a text starts like a HMMER file."""
    return text.startswith(("HMMER3/", "HMMER2"))


def parse_hmms(text: str, remedy: str = "create it with hmmbuild") -> list[HMM]:
    """Return the HMMs of a file."""
    # imported only when a file is read, for fast start-up
    from pyhmmer.errors import AlphabetMismatch
    from pyhmmer.plan7 import HMMFile

    text = text.strip()
    if not text:
        raise FileError("is empty", remedy=remedy)
    if not looks_like_hmmer(text):
        raise FileError("is not a HMMER file", remedy=remedy)
    count = check_hmms(text, remedy)
    found: list[HMM] = []
    try:
        with HMMFile(io.BytesIO(f"{text}\n".encode())) as file:
            found.extend(file)
        problem = "cannot be read as a HMMER file" if len(found) != count else ""  # some damage seems the file's end
    except AlphabetMismatch:
        problem, remedy = "its HMMs have different alphabets", "create one file for each alphabet"
    except (ValueError, OSError, EOFError, RuntimeError, MemoryError) as error:
        problem = f"cannot be read as a HMMER file: {error}"
    if problem:
        raise FileError(problem, record=f"HMM {len(found) + 1}", remedy=remedy)
    for number, hmm in enumerate(found, start=1):
        _check_sums(hmm, f"HMM {number}", remedy)
    return found


def _check_sums(hmm: HMM, record: str, remedy: str) -> None:
    """Raise FileError unless the probabilities of each state are between 0 and 1, and their sum is 1."""
    # pyhmmer's stubs leave these out
    matches, inserts, moves = (
        np.asarray(getattr(hmm, part), dtype=np.float64)
        for part in ("match_emissions", "insert_emissions", "transition_probabilities")
    )
    # the begin state emits nothing; the last state is followed by the end
    groups = {"match emissions": matches[1:], "insert emissions": inserts}
    groups |= {f"transitions from {state}": moves[:, columns] for state, columns in TRANSITIONS.items()}
    for what, values in groups.items():
        bad = ~(np.abs(values.sum(axis=1) - 1) <= TOLERANCE) | ~(values >= 0).all(axis=1)
        if bad.any():
            state = int(np.flatnonzero(bad)[0]) + (what == "match emissions")
            problem = f"the probabilities of the {what} of state {state} do not sum to 1"
            raise FileError(problem, record=record, remedy=remedy)


# Profiles from profile HMMs: the emissions of the match states, one for each residue.
#
# jackhmmer, phmmer and ``hmmbuild`` for a single sequence write such HMMs: every residue of the query is a match state.
# The length of a family's HMM (Pfam) is its own, so it is not a profile of one sequence.

REMEDY = "give protein HMMs in HMMER 3 format, as written by jackhmmer --chkhmm"


def parse_hmmer(text: str) -> Iterator[tuple[str, str, npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
    """Yield (name, consensus, pssm, profile) of each HMM in a HMMER file; consensus is empty if the file has none."""
    for hmm in parse_hmms(text, REMEDY):
        if not hmm.alphabet.is_amino():
            raise FileError(f"the HMM {hmm.name!r} is for {hmm.alphabet.type}, not for proteins", remedy=REMEDY)
        yield hmm.name, (hmm.consensus or "").upper(), *of_hmm(hmm)


def of_hmm(hmm: HMM) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the profile of a protein HMM: (pssm, profile), each (match states, 20)."""
    from pyhmmer.plan7 import Background  # imported here for fast start-up

    matches = hmm.match_emissions  # type: ignore[attr-defined]  # pyhmmer's stubs leave it out
    emissions = np.asarray(matches)[1:, : PROTEIN.size]  # the first row is not a match state
    profile = normalised(emissions)
    return to_scores(profile, np.asarray(Background(hmm.alphabet).residue_frequencies, dtype=np.float64)), profile
