"""The change of a stored matrix: several files, which other processes see change as one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.core.archive import unwritable
from seqkern.core.errors import FileError, GramError
from seqkern.core.locks import FolderLock
from seqkern.core.types import PathLike
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.opening import open_unverified
from seqkern.gram.paths import spectrum_path, tiles_root

if TYPE_CHECKING:
    from seqkern.gram.spectrum import Spectrum


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[None]:
    """Wait for other processes that write a matrix, and hold them back.

    Parameters
    ----------
    path : Path
        The ``.npy``.

    Yields
    ------
    None

    Raises
    ------
    FileError
        For an OSError of the body.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gram.npy"
    ...     with replacing(path):
    ...         during = [one.name for one in Path(folder).iterdir()]
    ...     during, list(Path(folder).iterdir())
    (['gram.npy.tiles'], [])
    """
    lock = FolderLock(tiles_root(path))
    with writing(path):
        lock.acquire()
        try:
            yield
        finally:
            lock.release()


def store_spectrum(path: PathLike, gram: GramMatrix, found: Spectrum) -> bool:
    """Write the Spectrum of a matrix beside it, unless another process has replaced the matrix.

    Parameters
    ----------
    path : path-like
        The ``.npy``.
    gram : GramMatrix
        The matrix.
    found : Spectrum
        Its eigenvalues.

    Returns
    -------
    bool
        Whether it was written.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    from seqkern.gram.spectrum import write_spectrum  # imported here: needs SciPy, which slows start-up

    with replacing(Path(path)):
        try:
            if open_unverified(path).meta != gram.meta:
                return False
        except (GramError, FileError):
            return False
        write_spectrum(spectrum_path(path), found)
        return True


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert an OSError of the body to a FileError about `path`.

    Parameters
    ----------
    path : Path
        The file that is written.

    Yields
    ------
    None

    Raises
    ------
    FileError
        For an OSError; one that is a FileError already is left as it is.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise unwritable(path, error) from error
