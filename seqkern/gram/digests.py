"""Digests of a stored matrix: of the values, one for each block of rows, of the side file, and of the data.

They find damage of a disk or a copy, and a side file of another matrix. XXH3 is no protection from forgery.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from io import FileIO
from typing import Any

import numpy as np
import xxhash

from seqkern.core.archive import canonical_json
from seqkern.sequences.tables import Data, SimilarityTable

BLOCK_BYTES = 1 << 24
"""Bytes of a block of rows, or one row if it has more; part of the file format."""
CHUNK = 1 << 18
"""Bytes that are read at a time: few enough to stay in the cache until they are digested."""


def content_digest(content: dict[str, Any]) -> str:
    """Return the digest of the content of a side file.

    Parameters
    ----------
    content : dict
        Anything JSON can hold; an entry ``digest`` does not count.

    Returns
    -------
    str

    Examples
    --------
    >>> content_digest({"rows": 3, "cols": 4}) == content_digest({"cols": 4, "digest": "?", "rows": 3})
    True
    """
    rest = {key: value for key, value in content.items() if key != "digest"}
    return xxhash.xxh3_128_hexdigest(canonical_json(rest).encode(errors="backslashreplace"))


def data_digests(X: Data, Y: Data | None = None) -> tuple[str, str]:
    """Return the digests of rows and columns; of two parts of a similarity table, with the rectangle.

    Parameters
    ----------
    X : SequenceSet or table
        The rows.
    Y : SequenceSet or table, optional
        The columns; default: `X`.

    Returns
    -------
    (str, str)
    """
    if Y is None:
        return X.digest(), X.digest()
    if isinstance(X, SimilarityTable) and isinstance(Y, SimilarityTable):
        between = np.ascontiguousarray(SimilarityTable.block(X, Y))
        return X.digest() + hashlib.blake2b(between.data, digest_size=8).hexdigest(), Y.digest()
    return X.digest(), Y.digest()


class RowDigests:
    """Digests of the rows of a matrix, from top to bottom, in portions of any size.

    Parameters
    ----------
    row_bytes : int
        Bytes of a row.

    Examples
    --------
    >>> matrix = np.arange(12.0).reshape(4, 3)
    >>> whole, parts = RowDigests(24), RowDigests(24)
    >>> whole.add(matrix.data.cast("B"))
    >>> parts.add(matrix[:1].data.cast("B"))
    >>> parts.add(matrix[1:].data.cast("B"))
    >>> whole.finish() == parts.finish()
    True
    """

    def __init__(self, row_bytes: int) -> None:
        self._block = _block_rows(row_bytes) * row_bytes
        self._left = self._block
        self._current = xxhash.xxh3_128()
        self._found: list[str] = []

    def add(self, view: memoryview) -> None:
        """Add bytes of the rows.

        Parameters
        ----------
        view : memoryview of bytes
            The next ones.
        """
        while len(view):
            part = view[: self._left]
            self._current.update(part)
            self._left -= len(part)
            view = view[len(part) :]
            if not self._left:
                self._end_block()

    def finish(self) -> list[str]:
        """Return the digests, one for each block of rows."""
        if self._left < self._block:
            self._end_block()
        return self._found

    def _end_block(self) -> None:
        """Keep the digest of the current block."""
        self._found.append(self._current.hexdigest())
        self._current.reset()
        self._left = self._block


def damaged_rows(file: int, offset: int, shape: tuple[int, int], itemsize: int, known: Sequence[str]) -> str:
    """Return which rows of a matrix in a file differ from their digests.

    Parameters
    ----------
    file : int
        Descriptor of the file, whose position changes. It is read, not mapped: the pages of a map would count as used
        memory.
    offset : int
        Offset of the matrix, in bytes.
    shape : tuple of int
        Of the matrix, rows one after the other.
    itemsize : int
        Bytes of a number.
    known : sequence of str
        The digests of its blocks of rows, as from `RowDigests`; as many as `count_blocks` says.

    Returns
    -------
    str
        Such as ``"1 to 400 and 801 to 1200"``; empty if all rows are as they were.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    rows, row_bytes = shape[0], shape[1] * itemsize
    buffer = memoryview(bytearray(CHUNK))
    bad: list[tuple[int, int]] = []
    with open(file, "rb", buffering=0, closefd=False) as source:
        source.seek(offset)
        for (start, stop), digest in zip(_blocks(rows, row_bytes), known, strict=True):
            found = xxhash.xxh3_128()
            for part in _read(source, (stop - start) * row_bytes, buffer):
                found.update(part)
            if found.hexdigest() != digest:
                if bad and bad[-1][1] == start:
                    start = bad.pop()[0]
                bad.append((start, stop))
    return " and ".join(f"{start + 1} to {stop}" for start, stop in bad)


def count_blocks(shape: tuple[int, int], itemsize: int) -> int:
    """Return the number of digests of a matrix.

    Parameters
    ----------
    shape : tuple of int
        Of the matrix.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int

    Examples
    --------
    >>> count_blocks((5000, 5000), 8)
    12
    """
    return sum(1 for _ in _blocks(shape[0], shape[1] * itemsize))


def _block_rows(row_bytes: int) -> int:
    """Return the rows of a block (the last may have fewer)."""
    return max(1, BLOCK_BYTES // max(row_bytes, 1))


def _blocks(rows: int, row_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield first row and last row + 1 of each block."""
    step = _block_rows(row_bytes)
    for start in range(0, rows if row_bytes else 0, step):
        yield start, min(start + step, rows)


def _read(file: FileIO, size: int, buffer: memoryview) -> Iterator[memoryview]:
    """Yield the next `size` bytes of a file, fewer if it ends, in parts that are valid until the next one."""
    while size:
        count = file.readinto(buffer[:size])
        if not count:
            return
        yield buffer[:count]
        size -= count
