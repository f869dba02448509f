"""Arrays of an ``.npz`` or ``.npy`` file, read only where their sizes fit the bytes that are there.

A header of 100 bytes can claim an array of any size. Each claim is compared with the size of the file before memory is
allocated for it. The files that seqkern writes are not compressed, so nothing in them is larger than the file.
"""

from __future__ import annotations

import math
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from seqkern.core.types import Arrays, PathLike

LARGEST_CODE = 0x10FFFF
LONGEST_HEADER = 10_000  # NumPy's own limit
ENCRYPTED = 0x1
MOST_ARRAYS = 10_000
"""Arrays that are read from a file at once."""
DENSEST = 1032
"""Bytes that deflate stores in one, at most."""
PLAIN = "biufUS"
"""Kinds of dtypes that seqkern stores: real numbers and text."""
OTHERS = "cmMV"
"""Other kinds of fixed size, which the reader of vectors refuses by name."""


def read_entries(path: PathLike, wanted: Callable[[str], bool] = lambda name: True) -> Arrays:
    """Return the arrays of an uncompressed ``.npz`` file.

    Parameters
    ----------
    path : path-like
        The file.
    wanted : callable
        Whether an array is read, by its name; default: all are.

    Returns
    -------
    dict of str to ndarray
        By name, without ``.npy``.

    Raises
    ------
    ValueError
        If an entry is compressed, occurs twice, contains objects, or has another size than it claims, or if there are
        more than `MOST_ARRAYS`.
    OSError, zipfile.BadZipFile
        If it cannot be read, or is not an archive.
    """
    size = os.path.getsize(path)
    arrays: Arrays = {}
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & ENCRYPTED for entry in entries):
            raise ValueError("compressed or encrypted entries")
        if sum(entry.file_size for entry in entries) > size:
            raise ValueError("entries larger than the file")
        names = [entry.filename.removesuffix(".npy") for entry in entries]
        chosen = [(name, entry) for name, entry in zip(names, entries, strict=True) if wanted(name)]
        if len(chosen) > MOST_ARRAYS:
            raise ValueError(f"{len(chosen):,} arrays, more than {MOST_ARRAYS:,}")
        for name, entry in chosen:
            if name in arrays:
                raise ValueError(f"two entries {name!r}")
            with archive.open(entry) as file:
                check_header(file, entry.file_size, size)
            with archive.open(entry) as file:
                array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
                file.read(1)  # the end of the entry, where zipfile compares the checksum
            check_text(array)
            arrays[name] = array.astype(array.dtype.newbyteorder("="), copy=False)
    return arrays


def check_header(file: IO[bytes], size: int, longest: int | None = None, kinds: str = PLAIN) -> None:
    """Check the header of an ``.npy`` file: exactly the bytes of the array must follow it.

    Parameters
    ----------
    file : binary file
        At its beginning; afterwards behind the header.
    size : int
        Bytes of the file.
    longest : int, optional
        The longest side of an array without values, which has no bytes to compare; default: `size`.
    kinds : str
        Kinds of dtypes that are read.

    Raises
    ------
    ValueError
        If the header is invalid, or claims another size or objects.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros(100))
    >>> _ = file.seek(0)
    >>> check_header(file, 300)
    Traceback (most recent call last):
        ...
    ValueError: an array of 800 bytes, but 172 are there
    """
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read:
        raise ValueError(f"version {version} of the .npy format")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, about invalid escapes
            shape, _, dtype = read[version](file, max_header_size=LONGEST_HEADER)
    except Exception as error:  # the header is Python code, which NumPy parses: SyntaxError, TokenError, TypeError
        raise ValueError("an invalid header of an array") from error
    if dtype.hasobject:
        raise ValueError("Python objects")
    if dtype.kind not in kinds:
        raise ValueError("an array of neither numbers nor text")
    there = size - file.tell()
    count: int = math.prod(shape)
    needed = count * dtype.itemsize
    if needed != there:
        raise ValueError(f"an array of {needed} bytes, but {there} are there")
    most = size if longest is None else longest
    if min(shape, default=0) < 0 or max(shape, default=0) > most or (count and not dtype.itemsize):
        raise ValueError(f"an array of shape {shape}")


def read_entry(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Return one array of an ``.npz`` file that may be compressed.

    Parameters
    ----------
    archive : ZipFile
    name : str
        Of the array, without ``.npy``.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If it is larger than its bytes in the file can be, or `check_header` raises it.
    """
    known = archive.namelist()
    entry = archive.getinfo(name if name in known and f"{name}.npy" not in known else f"{name}.npy")
    if entry.file_size > DENSEST * (entry.compress_size + 1):
        raise ValueError("an entry larger than compression allows")
    with archive.open(entry) as file:
        check_header(file, entry.file_size, kinds=PLAIN + OTHERS)
    with archive.open(entry) as file:
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        file.read(1)  # the end of the entry, where zipfile compares the checksum
    check_text(array)
    return array


def check_npy(path: PathLike) -> None:
    """Check that an ``.npy`` file has the size that its header claims.

    Parameters
    ----------
    path : path-like
        The file.

    Raises
    ------
    ValueError
        As for `check_header`.
    OSError
        If it cannot be read.
    """
    with Path(path).open("rb") as file:
        check_header(file, os.fstat(file.fileno()).st_size)


def check_text(array: npt.NDArray[Any]) -> None:
    """Raise ValueError if an array of text contains numbers that are not Unicode characters.

    Parameters
    ----------
    array : ndarray
        Of any dtype.

    Raises
    ------
    ValueError
        If there is such a number: Python would fail wherever the text is used first.
    """
    if array.dtype.kind == "U" and array.size:
        codes = np.ascontiguousarray(array).reshape(-1).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if int(codes.max()) > LARGEST_CODE:
            raise ValueError("text with characters that do not exist")
