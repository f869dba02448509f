"""Block compression (BGZF), as required by tabix: gzip members of at most 64 kB."""

from __future__ import annotations

import struct
import zlib
from typing import IO

BLOCK = 0xFF00
LEVEL = 5
END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")


class BgzipWriter:
    """A writer of block-compressed text to an open binary file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._waiting = bytearray()

    def write(self, text: str) -> None:
        """Write text, encoded as UTF-8."""
        self.write_bytes(text.encode("utf-8", "backslashreplace"))

    def write_bytes(self, data: bytes) -> None:
        """Write encoded text."""
        self._waiting += data
        full = len(self._waiting) // BLOCK * BLOCK
        for start in range(0, full, BLOCK):
            self._block(bytes(self._waiting[start : start + BLOCK]))
        del self._waiting[:full]

    def finish(self) -> None:
        """Write the remaining text and the end-of-file marker."""
        if self._waiting:
            self._block(bytes(self._waiting))
            self._waiting.clear()
        self._file.write(END)

    def _block(self, data: bytes) -> None:
        """Write a block."""
        packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -15)
        packed = packer.compress(data) + packer.flush()
        if len(packed) + 26 > 1 << 16:  # cannot be compressed
            packer = zlib.compressobj(0, zlib.DEFLATED, -15)
            packed = packer.compress(data) + packer.flush()
        head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(packed) + 25)
        self._file.write(head + packed + struct.pack("<II", zlib.crc32(data), len(data)))
