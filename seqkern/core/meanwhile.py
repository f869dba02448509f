"""Two commands that write one file at once: the one that ends last says that it replaces the other's result."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from seqkern.core.types import PathLike

_Sign = tuple[int, int, int] | None
_found: dict[str, _Sign] = {}
"""What was at a path before the work: see `note_output`."""


def note_output(path: PathLike) -> None:
    """Note which file is at the path of an output, before the work on it.

    Parameters
    ----------
    path : path-like
        Written later by `seqkern.core.archive.atomic_write`, or with `tell_replaced`.
    """
    _found[_key(path)] = sign(path)


def sign(path: PathLike) -> _Sign:
    """Return what tells a file from one that replaces it; None if there is none.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    tuple of int, or None
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def tell_replaced(path: PathLike, before: _Sign) -> None:
    """Say, before a file is replaced, that another process has written it since the work began.

    Parameters
    ----------
    path : path-like
        The file.
    before : tuple of int, or None
        Its `sign` when this process began to write, for outputs that were not noted earlier.

    Examples
    --------
    >>> import contextlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(sys.stdout):
    ...     path = Path(folder) / "p.tsv"
    ...     before = sign(path)
    ...     tell_replaced(path, before)
    ...     _ = path.write_text("of another process")
    ...     with contextlib.chdir(folder):
    ...         tell_replaced("p.tsv", before)
    seqkern: p.tsv: another process wrote this file while this command ran; its result is replaced
    """
    now = sign(path)
    if now is not None and now != _found.pop(_key(path), before):
        text = f"seqkern: {path}: another process wrote this file while this command ran; its result is replaced"
        print(text, file=sys.stderr, flush=True)


def _key(path: PathLike) -> str:
    return os.fspath(Path(path).absolute())
