"""The output of a verb."""

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
        If it is closed.
    """
    if sys.stdout is None:
        raise FileError("standard output is closed", remedy="give a file: -o FILE")
    return sys.stdout
