"""Where a verb writes."""

from __future__ import annotations

import sys
from typing import TextIO

from seqkern.core.errors import FileError


def standard_output() -> TextIO:
    """Return standard output.

    Returns
    -------
    text file object

    Raises
    ------
    FileError
        Where there is none.
    """
    if sys.stdout is None:
        raise FileError("standard output is closed", remedy="name a file: -o")
    return sys.stdout
