"""Recognition of LS-GKM model files by their first line, without importing the reader."""

from pathlib import Path

from seqkern.core.errors import SeqkernError
from seqkern.core.text_files import open_lines
from seqkern.core.types import PathLike

FIRST = "svm_type"


def is_lsgkm(path: PathLike) -> bool:
    """Return whether a file, plain or compressed, starts like an LS-GKM model."""
    try:
        if not Path(path).is_file():
            return False
        with open_lines(path) as (lines, _):
            return next(lines).split()[:1] == [FIRST]
    except (SeqkernError, OSError, ValueError):
        return False
