"""Download a file whose checksum is known."""

import hashlib
import http.client
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError

TIMEOUT = 60
BLOCK = 1 << 20


def download(url: str, path: Path, sha256: str, *, name: str, remedy: str) -> None:
    """Download a file to `path`; nothing stays there unless its checksum is right.

    Parameters
    ----------
    url : str
        Public address.
    path : Path
        Where the file goes; its folder is made when missing.
    sha256 : str
        Its checksum, in hexadecimal digits.
    name, remedy : str
        What messages call the file, and what they say is to be done where it cannot be had.

    Raises
    ------
    FileError
        If there is no such file, or another one.
    """
    with atomic_write(path) as target:
        digest = hashlib.sha256()
        for block in _blocks(url, name, remedy):
            target.write(block)
            digest.update(block)
        if digest.hexdigest() != sha256:
            raise FileError("download has another SHA-256 than published", file=url, remedy=remedy)


def _blocks(url: str, name: str, remedy: str) -> Iterator[bytes]:
    """Yield the bytes at an address."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            while block := answer.read(BLOCK):
                yield block
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise FileError(f"is not here, and {url} cannot be had: {reason}", file=name, remedy=remedy) from error
