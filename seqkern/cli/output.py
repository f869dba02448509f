"""The output of a verb."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from seqkern.core.errors import FileError

if TYPE_CHECKING:
    from seqkern.core.types import PathLike


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


def is_packed(output: PathLike) -> bool:
    """Return whether an output file is to be compressed by bgzip.

    Parameters
    ----------
    output : path-like
        Its name.

    Returns
    -------
    bool
    """
    return str(output).endswith((".gz", ".bgz"))


@contextlib.contextmanager
def output_writer(output: PathLike | None) -> Iterator[Callable[[str], object]]:
    """Yield a function that writes text to a file that appears when complete; to ``.gz`` compressed by bgzip.

    Parameters
    ----------
    output : path-like or None
        None: standard output.

    Yields
    ------
    callable
        Takes text.
    """
    # imported here to keep --help fast
    from seqkern.core.archive import atomic_write

    if output is None:
        out = standard_output()
        yield out.write
        out.flush()
    elif is_packed(output):
        # imported here to keep --help fast
        from seqkern.genome.bgzip import BgzipWriter

        with atomic_write(output) as file:
            packed = BgzipWriter(file)
            yield packed.write
            packed.finish()
    else:
        with atomic_write(output, "w") as file:
            yield file.write
