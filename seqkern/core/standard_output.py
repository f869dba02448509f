"""Standard output as a file name: ``-o -``. The table goes there, and what a verb prints about it to standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from seqkern.core.errors import FileError

if TYPE_CHECKING:
    from seqkern.core.types import PathLike

NAME = "-"

_kept: list[TextIO] = []


def is_standard_output(path: PathLike) -> bool:
    """Return whether an output path stands for standard output.

    Parameters
    ----------
    path : path-like
        As given with ``-o``.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_standard_output("-"), is_standard_output("./-")
    (True, False)
    """
    return str(path) == NAME


def standard_output() -> TextIO:
    """Return standard output, also inside `table_on_standard_output`.

    Returns
    -------
    text file object

    Raises
    ------
    FileError
        If it is closed.
    """
    out = _kept[-1] if _kept else sys.stdout
    if out is None:
        raise FileError("standard output is closed", remedy="give a file: -o FILE")
    return out


@contextlib.contextmanager
def table_on_standard_output() -> Iterator[None]:
    r"""Send what is printed to standard error, so that standard output holds the table only.

    Examples
    --------
    >>> import contextlib, io
    >>> from seqkern.core.tsv import write_tsv
    >>> with contextlib.redirect_stderr(io.StringIO()) as printed, table_on_standard_output():
    ...     write_tsv("-", ["id"], [["d1"]])
    ...     print("1 row")
    id
    d1
    >>> printed.getvalue()
    '1 row\n'
    """
    _kept.append(standard_output())
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _kept.pop().flush()
