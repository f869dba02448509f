"""Whole matrices in ``.npy`` files, memory-mapped, and which file a map is of."""

import math
import mmap
import os
import warnings
from typing import IO, Any, TypeGuard

import numpy as np
from numpy.lib import format as npy

from seqkern.core.errors import GramError


def map_matrix(file: IO[bytes]) -> np.memmap:
    """Map the whole matrix of an open ``.npy``.

    Parameters
    ----------
    file : file object
        Opened by its name for unbuffered reading, as text.

    Returns
    -------
    memmap
        `MatrixFile.of` does not confuse its file with another one of the same name.

    Raises
    ------
    OSError
        If it cannot be read or mapped.
    ValueError
        If it is not the file of a matrix, C-ordered, or its size is not that of the matrix.
    """
    shape, by_columns, dtype = _read_header(file)
    offset, size = file.tell(), math.prod(shape) * dtype.itemsize
    if len(shape) != 2 or by_columns or dtype.hasobject or os.fstat(file.fileno()).st_size != offset + size:
        raise ValueError("not a whole matrix")
    mapped = np.memmap(file, dtype=dtype, mode="r", offset=offset, shape=shape)
    mapped.origin = _inode(file)  # type: ignore[attr-defined]
    return mapped


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, whether stored by columns, and dtype of a ``.npy``; ValueError for a damaged header."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy repairs what Python 2 wrote, which we did not
            readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
            return readers[npy.read_magic(file)](file)
    except OSError:
        raise
    except Exception as error:  # whatever parsers raise
        raise ValueError("not the header of a matrix") from error


def open_mapped(mapped: np.memmap) -> IO[bytes]:
    """Open the file of a memory map for reading.

    Parameters
    ----------
    mapped : memmap
        From `map_matrix`, or any other.

    Returns
    -------
    file object
        Unbuffered.

    Raises
    ------
    GramError
        If another file has its name now, as far as it can be known: of a map from `map_matrix`.
    OSError
        If it cannot be opened.
    """
    return open_same(mapped.filename, getattr(mapped, "origin", None))


def open_same(path: Any, origin: tuple[int, int] | None) -> IO[bytes]:
    """Open a file for reading.

    Parameters
    ----------
    path : path-like
        The file.
    origin : tuple of int, optional
        Its device and inode, if they are known.

    Returns
    -------
    file object
        Unbuffered.

    Raises
    ------
    GramError
        If another file has its name now.
    OSError
        If it cannot be opened.
    """
    file = open(path, "rb", buffering=0)  # noqa: SIM115
    if origin is None or _inode(file) == origin:
        return file
    file.close()
    raise GramError("was replaced by another process while it was in use", file=path, remedy="repeat the command")


def _inode(file: IO[bytes]) -> tuple[int, int]:
    """Return device and inode of an open file."""
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino


def is_whole_map(K: Any) -> TypeGuard[np.memmap]:
    """Return whether a matrix is a memory map of a whole one in a file, of float64 or float32, as `np.load` makes it.

    Parameters
    ----------
    K : object
        Any matrix-like object.

    Returns
    -------
    bool

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from seqkern.gram.mapped import is_whole_map
    >>> with tempfile.TemporaryFile() as file:
    ...     K = np.memmap(file, dtype=np.float64, shape=(4, 4))
    ...     is_whole_map(K), is_whole_map(K[:2]), is_whole_map(np.zeros((4, 4)))
    (True, False, False)
    """
    return (
        isinstance(K, np.memmap)
        and isinstance(K.base, mmap.mmap)
        and K.ndim == 2
        and K.dtype in (np.float64, np.float32)
        and K.dtype.isnative
        and (K.flags.c_contiguous or K.flags.f_contiguous)
    )
