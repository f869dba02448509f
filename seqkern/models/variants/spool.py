"""Finished chunks of a long job as files: a run that was killed goes on after its last complete chunk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.build import build_digest
from seqkern.core.checkpoint import note_kept
from seqkern.core.errors import FileError
from seqkern.core.interruption import remove_tree
from seqkern.core.text_files import file_sha256
from seqkern.core.types import Arrays, PathLike


class Spool:
    """A folder of arrays by number, kept until the job is done.

    Parameters
    ----------
    folder : path-like
        Created with the first chunk, removed by `clear`.
    identity : str
        Everything that the chunks depend on; those of another identity are computed again.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spool = Spool(f"{folder}/parts", "model.seqkern variants.vcf")
    ...     first = spool.get(0, lambda: {"delta": np.array([1.5])})
    ...     again = spool.get(0, lambda: {"delta": np.array([2.5])})
    >>> float(again["delta"][0])
    1.5
    """

    def __init__(self, folder: PathLike, identity: str) -> None:
        self.folder = Path(folder)
        self.identity = identity

    def get(self, number: int, compute: Callable[[], Arrays]) -> Arrays:
        """Return a chunk.

        Parameters
        ----------
        number : int
            From 0.
        compute : callable
            Returns the chunk if it is not there; the result is kept.

        Returns
        -------
        dict of str to ndarray
        """
        path = self.folder / f"{number:06d}.npz"
        try:
            header, arrays = load_archive(path)
            if header == self.identity:
                return arrays
        except FileError:
            pass
        arrays = compute()
        save_archive(path, self.identity, arrays)
        note_kept()
        return arrays

    def clear(self) -> None:
        """Remove all chunks."""
        remove_tree(self.folder)


def identity_of(models: list[Any], data: list[Any], options: Any) -> str:
    """Return the text that names a job.

    Parameters
    ----------
    models : list of path-like
        Files whose content counts.
    data : list of path-like
        Large files, of which size and time of the last change count.
    options : object
        What else counts; its text must say all.

    Returns
    -------
    str
    """
    parts = [build_digest(), *(file_sha256(path) for path in models)]
    for path in data:
        found = os.stat(path)
        parts += [str(path), str(found.st_size), str(found.st_mtime_ns)]
    return hashlib.blake2b("\n".join([*parts, repr(options)]).encode(), digest_size=16).hexdigest()
