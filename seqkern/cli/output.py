"""Where a verb writes."""

import sys

from seqkern.core.errors import FileError


def standard_output():
    """Return standard output, or raise FileError where there is none."""
    if sys.stdout is None:
        raise FileError("standard output is closed", remedy="name a file: -o")
    return sys.stdout
