"""The files of the package: its resources, and the digest of its code."""

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TextIO

from seqkern import __version__
from seqkern.core.errors import FileError

# The small files that come with the package: ``resources/`` of the repository.

PACKAGE = Path(__file__).resolve().parents[1]
RESOURCES = "resources"
CHECKOUT = PACKAGE.parent / RESOURCES

SUFFIXES = {".bib", ".tsv", ".yaml"}


def resource_path(name: str) -> Path:
    """Return the path of a resource file, installed or in a source checkout.

    >>> resource_path("public.tsv").name
    'public.tsv'
    """
    for path in (PACKAGE / RESOURCES / name, CHECKOUT / name):
        if path.is_file():
            return path
    raise FileError("no such resource file", file=CHECKOUT / name, remedy="reinstall seqkern")


def resource_folder(name: str, checkout: Path) -> Path:
    """Return a folder of files that come with the package, installed or in a source checkout.

    >>> resource_folder("resources", CHECKOUT).name
    'resources'
    """
    installed = PACKAGE / name
    return installed if installed.is_dir() else checkout


def resource_files() -> list[Path]:
    """Return the paths of all resource files, installed or in a source checkout, sorted by name."""
    home = resource_folder(RESOURCES, CHECKOUT)
    return sorted(path for path in home.glob("*") if path.suffix in SUFFIXES)


def resource_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a resource table, by the names of its columns.

    >>> resource_rows("codon_usage.tsv")[0]["codon"]
    'TTT'
    """
    with open_resource(name) as stream:
        header, *rows = (line.rstrip("\n").split("\t") for line in stream)
    return [dict(zip(header, row, strict=True)) for row in rows]


def open_resource(name: str) -> TextIO:
    """Open a resource file for reading as UTF-8 text."""
    return resource_path(name).open(encoding="utf-8")


# The digest of this build, which changes with the code, so that a workflow recomputes results of older code.
#
# Compiled modules count by their bytes: another compiler, or other flags, may round differently. ``setup.py`` builds
# the same bytes in any folder, so that installations and checkouts of one commit, built by the same tools, agree.
#
# Reading all files takes longer than a small job. The digest is therefore cached beside Python's bytecode; like the
# bytecode, it is valid until the size or modification time of a file changes.

CODE = {".py", ".pyi", ".so", ".pyd", ".css", ".html", ".js"}

File = os.DirEntry[str] | Path


@cache
def build_digest() -> str:
    """Return 12 hexadecimal digits over every module (source and compiled) and resource file of the package."""
    # resource files have other places in a checkout, but the same names here
    files: dict[str, File] = {name: file for name, file in _code(PACKAGE) if name.split("/")[0] != RESOURCES}
    files |= {f"{RESOURCES}/{path.name}": path for path in resource_files()}
    kept, state = PACKAGE / "__pycache__" / "build_digest", _state(files)
    with contextlib.suppress(OSError, ValueError):
        known, digest = kept.read_text().split()
        if known == state:
            return digest
    digest = _digest(files)
    if not sys.dont_write_bytecode:
        _keep(kept, f"{state} {digest}")
    return digest


def _code(folder: Path, prefix: str = "") -> Iterator[tuple[str, File]]:
    """Yield the name and the entry of each code file in a folder and its subfolders."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _code(Path(entry.path), f"{prefix}{entry.name}/")
            elif os.path.splitext(entry.name)[1] in CODE:
                yield prefix + entry.name, entry


def _state(files: dict[str, File]) -> str:
    """Return a digest of the names, sizes and modification times of the files."""
    stats = [(name, files[name].stat()) for name in sorted(files)]
    lines = "".join(f"{name} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}\n" for name, stat in stats)
    return hashlib.blake2b(f"{__version__}\n{lines}".encode(), digest_size=16).hexdigest()


def _digest(files: dict[str, File]) -> str:
    """Return a digest of the names and bytes of the files."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=6)
    for name in sorted(files):
        content = Path(files[name]).read_bytes()
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


def _keep(path: Path, text: str) -> None:
    """Write a file atomically, if the folder is writable."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        part.write_text(text)
        part.replace(path)
