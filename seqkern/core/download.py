"""Downloads of files whose checksums are known."""

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
    """Download a file to `path`; keep it only if its checksum is correct."""
    with atomic_write(path) as target:
        digest = hashlib.sha256()
        for block in _blocks(url, name, remedy):
            target.write(block)
            digest.update(block)
        if digest.hexdigest() != sha256:
            raise FileError("the SHA-256 of the download differs from the published one", file=url, remedy=remedy)


def _blocks(url: str, name: str, remedy: str) -> Iterator[bytes]:
    """Yield the bytes at a URL in blocks."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            while block := answer.read(BLOCK):
                yield block
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise FileError(f"not found, and {url} cannot be downloaded: {reason}", file=name, remedy=remedy) from error
