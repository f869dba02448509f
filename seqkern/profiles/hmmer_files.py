"""Files that HMMER wrote, read by pyhmmer.

HMMER is given text, never a path: of a path that ends in ``.gz`` it makes a shell command, and where a file of the same
name and ``.h3m`` is beside it, it reads that one.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from seqkern.core.errors import FileError

if TYPE_CHECKING:
    from pyhmmer.plan7 import HMM  # costs start-up


def looks_like_hmmer(text: str) -> bool:
    """Return whether a text begins as HMMER's files do.

    Parameters
    ----------
    text : str
        The file, or its beginning.

    Returns
    -------
    bool
    """
    return text.startswith(("HMMER3/", "HMMER2"))


def parse_hmms(text: str, name: str, remedy: str = "make it with hmmbuild") -> list[HMM]:
    """Return the HMMs of a file.

    Parameters
    ----------
    text : str
        The whole file.
    name : str
        Of the file, for messages.
    remedy : str
        What to do about a file that is of another format.

    Returns
    -------
    list of pyhmmer.plan7.HMM
        At least one, in the order of the file, all of one alphabet.

    Raises
    ------
    FileError
        If it is of another format, damaged, or cut off, or its HMMs have several alphabets.
    """
    # loaded only where a file is read: costs start-up
    from pyhmmer.errors import AlphabetMismatch
    from pyhmmer.plan7 import HMMFile

    text = text.strip()
    if not text:
        raise FileError("is empty: it has no HMM", file=name, remedy=remedy)
    if not looks_like_hmmer(text):
        raise FileError("is not a HMMER file", file=name, remedy=remedy)
    found: list[HMM] = []
    try:
        with HMMFile(io.BytesIO(f"{text}\n".encode())) as file:
            found.extend(file)
    except AlphabetMismatch:
        raise FileError(
            "its HMMs have different alphabets", file=name, record=_next(found), remedy="make one file for each"
        ) from None
    except (ValueError, OSError, EOFError, RuntimeError, MemoryError) as error:
        raise FileError(
            f"cannot be read as a HMMER file: {error}", file=name, record=_next(found), remedy=remedy
        ) from None
    # The reader takes an HMM that is cut off for the end of the file.
    begun = f"\n{text}".count("\nHMMER")
    if begun > len(found) or not text.endswith("\n//"):
        raise FileError("ends in the middle", file=name, record=_next(found), remedy="copy it again")
    return found


def _next(found: list[HMM]) -> str:
    """Return what messages call the HMM after those that were read."""
    return f"HMM {len(found) + 1}"
