"""HMMER files, read by pyhmmer.

HMMER gets text, never a path: it turns a path ending in ``.gz`` into a shell command, and prefers a file of the same
name with ``.h3m``, if there is one.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from seqkern.core.errors import FileError

if TYPE_CHECKING:
    from pyhmmer.plan7 import HMM  # slow to import


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
        If it has another format, is corrupted or truncated, or its HMMs have several alphabets.
    """
    # imported only when a file is read, for fast start-up
    from pyhmmer.errors import AlphabetMismatch
    from pyhmmer.plan7 import HMMFile

    text = text.strip()
    if not text:
        raise FileError("is empty", file=name, remedy=remedy)
    if not looks_like_hmmer(text):
        raise FileError("is not a HMMER file", file=name, remedy=remedy)
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
    # The reader takes a truncated HMM for the end of the file.
    begun = f"\n{text}".count("\nHMMER")
    if begun > len(found) or not text.endswith("\n//"):
        raise FileError("is truncated", file=name, record=_next(found), remedy="copy it again")
    return found


def _next(found: list[HMM]) -> str:
    """Return the name, for messages, of the HMM after those that were read."""
    return f"HMM {len(found) + 1}"
