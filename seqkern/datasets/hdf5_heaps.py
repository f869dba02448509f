"""Heaps of HDF5 files, which hold texts of any length: libhdf5 does not return from reading some damaged ones.

A heap is a chain of blocks, each with its number (0: free) and size. A size that leads to a free block of size 0 makes
libhdf5 read that block for ever, so the chains are walked here first. HDF5 file format specification, version 3, III.E.
"""

import mmap
import struct
from pathlib import Path

SIGNATURE = b"GCOL\x01\x00\x00\x00"
HEADER = 16
ALIGNED = 8


def check_heaps(path: Path) -> None:
    """Raise ValueError if a heap is damaged.

    Parameters
    ----------
    path : Path
        An HDF5 file.

    Raises
    ------
    ValueError
        With the place of the block.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = content.find(SIGNATURE)
        while start >= 0:
            _walk(content, start)
            start = content.find(SIGNATURE, start + 1)


def _walk(content: mmap.mmap, start: int) -> None:
    """Raise ValueError unless the blocks of a heap fill it."""
    (size,) = struct.unpack_from("<Q", content, start + ALIGNED) if start + HEADER <= len(content) else (0,)
    stop, place = start + size, start + HEADER
    if not HEADER <= size <= len(content) - start:
        raise ValueError(f"the heap at byte {start} has {size} bytes")
    while place + HEADER <= stop:
        number, _, _, size = struct.unpack_from("<HHIQ", content, place)
        needed = HEADER + -(-size // ALIGNED) * ALIGNED if number else size
        if not HEADER <= needed <= stop - place:
            raise ValueError(f"the block at byte {place} of a heap has {size} bytes")
        place += needed
