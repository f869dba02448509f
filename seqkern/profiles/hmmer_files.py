"""HMMER files, read by pyhmmer.

HMMER gets text, never a path: it turns a path ending in ``.gz`` into a shell command, and prefers a file of the same
name with ``.h3m``, if there is one.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from seqkern.core.errors import FileError
from seqkern.profiles.hmmer_text import check_hmms

if TYPE_CHECKING:
    from pyhmmer.plan7 import HMM  # slow to import

TRANSITIONS = {"M": slice(0, 3), "I": slice(3, 5), "D": slice(5, 7)}
TOLERANCE = 1e-4
"""Of a sum of probabilities, whose logarithms are printed with five digits: 20 times their rounding."""


def looks_like_hmmer(text: str) -> bool:
    """Return whether a text starts like a HMMER file.

    Parameters
    ----------
    text : str
        The content of the file, or its beginning.

    Returns
    -------
    bool
    """
    return text.startswith(("HMMER3/", "HMMER2"))


def parse_hmms(text: str, name: str, remedy: str = "create it with hmmbuild") -> list[HMM]:
    """Return the HMMs of a file.

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
    list of pyhmmer.plan7.HMM
        At least one, in the order of the file, all of one alphabet.

    Raises
    ------
    FileError
        If it has another format, is corrupted or truncated, its HMMs have several alphabets, or probabilities do not
        sum to 1.
    """
    # imported only when a file is read, for fast start-up
    from pyhmmer.errors import AlphabetMismatch
    from pyhmmer.plan7 import HMMFile

    text = text.strip()
    if not text:
        raise FileError("is empty", file=name, remedy=remedy)
    if not looks_like_hmmer(text):
        raise FileError("is not a HMMER file", file=name, remedy=remedy)
    count = check_hmms(text, name, remedy)
    found: list[HMM] = []
    try:
        with HMMFile(io.BytesIO(f"{text}\n".encode())) as file:
            found.extend(file)
    except AlphabetMismatch:
        raise FileError(
            "its HMMs have different alphabets",
            file=name,
            record=_next(found),
            remedy="create one file for each alphabet",
        ) from None
    except (ValueError, OSError, EOFError, RuntimeError, MemoryError) as error:
        raise FileError(
            f"cannot be read as a HMMER file: {error}", file=name, record=_next(found), remedy=remedy
        ) from None
    if len(found) != count:  # the parser takes some damage for the end of the file
        raise FileError("cannot be read as a HMMER file", file=name, record=_next(found), remedy=remedy)
    for number, hmm in enumerate(found, start=1):
        _check_sums(hmm, name, f"HMM {number}", remedy)
    return found


def _check_sums(hmm: HMM, name: str, record: str, remedy: str) -> None:
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
            raise FileError(
                f"the probabilities of the {what} of state {state} do not sum to 1",
                file=name,
                record=record,
                remedy=remedy,
            )


def _next(found: list[HMM]) -> str:
    """Return the name, for messages, of the HMM after those that were read."""
    return f"HMM {len(found) + 1}"
