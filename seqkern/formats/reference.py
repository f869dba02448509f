"""A reference genome: a FASTA file with an index, plain or compressed by bgzip."""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, cast

from seqkern.core.archive import atomic_write
from seqkern.core.checks import whole_number
from seqkern.core.errors import FileError, reading
from seqkern.core.public_files import cache_dir
from seqkern.core.tsv import optional_library
from seqkern.core.types import PathLike

# The index of a genome's FASTA file: found beside the file, or created there or in the user's cache folder.

GZIP = b"\x1f\x8b"
BLOCK = 1 << 24
HEAD = 4096


def fasta_index(path: PathLike) -> tuple[Path, Path | None]:
    """Return the index files (.fai, and .gzi of a compressed file) of a FASTA file, creating missing ones."""
    path = Path(path)
    packed = _is_packed(path)
    beside = _names(path, packed)
    if all(file is None or file.is_file() for file in beside):
        _check_fresh(path, beside[0], packed)
        return beside
    _check_records(path, packed)
    if os.access(path.parent, os.W_OK) and not beside[0].exists():
        made = _made(path, packed)
        if beside[1] is None or not beside[1].exists() or beside[1].read_bytes() == made[1]:
            return _write(beside, made)
    own = path.stat()
    key = hashlib.blake2b(f"{path.resolve()} {own.st_size} {own.st_mtime_ns}".encode(), digest_size=12).hexdigest()
    folder = cache_dir() / "genomes"
    kept = _names(folder / f"{key}.fa", packed)
    if all(file is None or file.is_file() for file in kept):
        return kept
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"has no index, and none can be written: {error.strerror}",
            file=path,
            remedy=f"run samtools faidx {path} where you can write, or set XDG_CACHE_HOME",
        ) from error
    return _write(kept, _made(path, packed))


def _is_packed(path: Path) -> bool:
    """Return whether a file is compressed by bgzip; raise FileError if it cannot be indexed."""
    with reading(path), path.open("rb") as file:
        head = file.read(18)
    if not head:
        raise FileError("is empty", file=path, remedy="check how the file was created")
    if not head.startswith(GZIP):
        if head.startswith((b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")):
            raise FileError("cannot be indexed in this compression", file=path, remedy="unpack it, or use bgzip")
        return False
    if not (head[3] & 4 and head[12:14] == b"BC"):
        name = path.name
        plain = name.removesuffix(".gz")
        raise FileError(
            "is compressed by gzip, which cannot be read in parts",
            file=path,
            remedy=f"run gunzip {name}, or gunzip -c {name} | bgzip > {plain}.bgz, and give the new file",
        )
    return True


def _names(path: Path, packed: bool) -> tuple[Path, Path | None]:
    """Return the paths of the index files beside a file."""
    return path.with_name(path.name + ".fai"), path.with_name(path.name + ".gzi") if packed else None


def _check_fresh(path: Path, fai: Path, packed: bool) -> None:
    """Raise FileError if the index belongs to another version of the file.

    Signs are a chromosome that does not begin after its header, or a file that does not end after its last one.
    """
    lines = [line.split("\t") for line in fai.read_text("utf-8", errors="replace").splitlines()]
    problem = FileError("does not belong to the genome", file=fai, remedy=f"delete it; {path.name} is indexed again")
    if not lines or any(len(line) < 5 or None in map(whole_number, line[1:5]) for line in lines):
        raise problem
    if packed:
        return
    with path.open("rb") as file:
        for name, _, offset, *_ in (lines[0], lines[-1]):
            file.seek(max(0, int(offset) - HEAD))
            before = file.read(min(HEAD, int(offset)))
            header = before[:-1].rpartition(b"\n")[2]
            if not before.endswith(b"\n") or header[1:].split()[:1] != [name.encode()]:
                raise problem
        _, length, offset, bases, width, *_ = lines[-1]
        whole, rest = divmod(int(length), max(1, int(bases)))
        file.seek(int(offset) + whole * int(width) + rest)
        if int(length) and file.read(HEAD).strip():  # records after the last one, or more of it
            raise problem


def _check_records(path: Path, packed: bool) -> None:
    """Raise FileError unless each header has a unique name."""
    seen: set[bytes] = set()
    for header in _headers(path, packed):
        name = header[1:].split()[:1]
        if not name:
            raise FileError("has a header without a name", file=path, remedy="write '>name'")
        if name[0] in seen:
            raise FileError("occurs twice", file=path, record=name[0].decode(errors="replace"), remedy="remove one")
        seen.add(name[0])


def _headers(path: Path, packed: bool) -> Iterator[bytes]:
    """Yield the header lines of a FASTA file."""
    with cast("BinaryIO", gzip.open(path) if packed else path.open("rb")) as file:
        rest, first = b"", True
        while block := file.read(BLOCK):
            if first and not block.startswith(b">"):
                raise FileError("is not FASTA", file=path, remedy="give the genome as FASTA: a line >name, then bases")
            block, rest, first = rest + (block if not first else b"\n" + block), b"", False
            found = block.find(b"\n>")
            while found >= 0:
                end = block.find(b"\n", found + 1)
                if end < 0:
                    rest = block[found:]
                    break
                yield block[found + 1 : end]
                found = block.find(b"\n>", end)
            else:
                rest = block[-1:]


def _made(path: Path, packed: bool) -> tuple[bytes, bytes | None]:
    """Return the contents of new index files."""
    library: Any = optional_library("pysam", "genome")
    before = library.set_verbosity(0)
    # not beside the genome, where a killed process would leave them
    with tempfile.TemporaryDirectory(prefix="seqkern-index") as folder:
        fai, gzi = Path(folder, "fai"), Path(folder, "gzi")
        try:
            library.faidx(str(path), "--fai-idx", str(fai), *(["--gzi-idx", str(gzi)] if packed else []))
        except library.SamtoolsError as error:
            raise FileError(
                "cannot be indexed: lines of a sequence differ in length, or are damaged",
                file=path,
                remedy="write it anew with lines of one length, such as seqtk seq -l 60",
            ) from error
        finally:
            library.set_verbosity(before)
        return fai.read_bytes(), gzi.read_bytes() if packed else None


def _write(names: tuple[Path, Path | None], made: tuple[bytes, bytes | None]) -> tuple[Path, Path | None]:
    """Write the index files; .fai, which every genome has, comes last, so that its presence means completeness."""
    for name, content in reversed(list(zip(names, made, strict=True))):
        if name is not None and content is not None:
            with atomic_write(name) as file:
                file.write(content)
    return names


class Genome(AbstractContextManager["Genome"]):
    """A reference genome read in parts; positions count from 0, stops are exclusive."""

    def __init__(self, path: PathLike) -> None:
        self.path = str(path)
        library = optional_library("pysam", "genome")
        library.set_verbosity(0)  # errors are raised, too
        fai, gzi = fasta_index(path)
        more = {} if gzi is None else {"filepath_index_compressed": str(gzi)}
        try:
            self._file: Any = library.FastaFile(self.path, filepath_index=str(fai), **more)
        except (OSError, ValueError) as error:
            raise FileError(
                "cannot be read with its index", file=self.path, remedy=f"delete {fai}; it is made again"
            ) from error
        self.lengths = dict(zip(self._file.references, self._file.lengths, strict=True))

    def fetch(self, chromosome: str, start: int, stop: int) -> str:
        """Return the bases of a region in the case of the file, where lower case marks repeats (soft-masked)."""
        try:
            return str(self._file.fetch(chromosome, start, stop))
        except (OSError, ValueError) as error:  # among them bytes that are not text
            raise FileError(
                "cannot be read", file=self.path, record=chromosome, remedy="check the file, and delete its index .fai"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __exit__(self, *error: object) -> None:
        self.close()
