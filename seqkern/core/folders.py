"""Folders that are made for a file, and go again if nothing came into them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path


def missing_parents(path: Path) -> list[Path]:
    """Return the folders around a path that do not exist, the innermost first.

    Parameters
    ----------
    path : Path
        A file or folder.

    Returns
    -------
    list of Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [one.name for one in missing_parents(Path(folder) / "a" / "b" / "c.tsv")]
    ['b', 'a']
    """
    return [folder for folder in path.absolute().parents if not folder.exists()]


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, up to the first that holds anything.

    Parameters
    ----------
    folders : iterable of Path
        The innermost first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     (Path(home) / "a" / "b").mkdir(parents=True)
    ...     remove_empty([Path(home) / "a" / "b", Path(home) / "a"])
    ...     list(Path(home).iterdir())
    []
    """
    with contextlib.suppress(OSError):
        for folder in folders:
            folder.rmdir()
