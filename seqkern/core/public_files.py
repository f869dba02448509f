"""Files of public data, from the data directory, the cache or a download, with verified checksums.

The table ``public_files.tsv`` lists them with SHA-256 and URL.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from seqkern.core.errors import FileError, check_known
from seqkern.core.package_files import resource_rows
from seqkern.core.text_files import file_sha256

if TYPE_CHECKING:
    from seqkern.core.types import PathLike


# The location of the user's cache folder.


def cache_dir() -> Path:
    """Return the folder for downloads: ``seqkern`` in XDG_CACHE_HOME, by default in ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqkern"


PREFIX = "public:"
PARAMETER = "parameter"
"""Role of files that are not data sets, but used by a kernel's parameter or for profiles."""
REMEDY = "put it in a folder and give that folder as data_dir in the configuration, --data-dir, or SEQKERN_DATA"


Row = TypeVar("Row")


@dataclass(frozen=True)
class PublicFile:
    """A file of a public data set; `url` is empty if the published file has another format.

    >>> files = public_table("public_files.tsv", PublicFile)
    >>> [file.role for file in files if file.dataset == "uci_promoters"]
    ['table']
    """

    dataset: str  # Name of the data set
    role: str  # Its role in the data set: ``sequences``, ``table``, …, or `PARAMETER`
    file: str  # Path inside a data directory
    sha256: str  # Checksum, in hexadecimal digits
    url: str  # Public URL; empty if the published file has another format
    made: str  # How the file is derived from a published one


@cache
def public_table(name: str, cls: "Callable[..., Row]") -> "tuple[Row, ...]":
    """Return the rows of a resource table as dataclass objects, whose fields are the columns."""
    return tuple(cls(**row) for row in resource_rows(name))


def find_file(file: "PublicFile", data_dir: "PathLike | None" = None) -> Path:
    """Return the path of a public file with a verified checksum.

    It is searched in `data_dir`, then in the folder in SEQKERN_DATA, the cache, and the network.
    """
    for folder in (data_dir, os.environ.get("SEQKERN_DATA")):
        path = Path(folder) / file.file if folder else None
        if path is not None and path.is_file():
            if file_sha256(path) != file.sha256:
                raise FileError(
                    "is not the published file: its SHA-256 differs",
                    file=path,
                    remedy=f"replace it with {file.url or file.made}, or remove it",
                )
            return path
    cached = cache_dir() / file.file
    if not (cached.is_file() and file_sha256(cached) == file.sha256):
        if not file.url:
            raise FileError(f"not found, and has no public URL ({file.made})", file=file.file, remedy=REMEDY)
        from seqkern.core.download import download  # imported here for fast start-up

        download(file.url, cached, file.sha256, name=file.file, remedy=REMEDY)
    return cached


def is_public(path: "PathLike") -> bool:
    """Return whether a kernel's file parameter names a public file (``public:NAME``), not a path.

    >>> is_public("public:prosite"), is_public("prosite.dat")
    (True, False)
    """
    return str(path).startswith(PREFIX)


def local_path(path: "PathLike", data_dir: "PathLike | None" = None) -> Path:
    """Return the path for a kernel's file parameter; ``public:NAME`` gives a verified copy of the public file."""
    if not is_public(path):
        return Path(path)
    files = {file.dataset: file for file in public_table("public_files.tsv", PublicFile) if file.role == PARAMETER}
    name = str(path).removeprefix(PREFIX)
    check_known("public file", [name], files)
    return find_file(files[name], data_dir)


# The registry of public data sets.
#
# The table ``public.tsv`` lists the sets, ``public_files.tsv`` their files; `seqkern.study.adapters` reads the formats.


@dataclass(frozen=True)
class PublicSet:
    """A public data set: its files, format, default policies and description.

    >>> globins = public_set("globins")
    >>> globins.kind, list(globins.files)
    ('dissimilarities', ['table'])
    """

    name: str  # Its name in a study's entry
    adapter: str  # The reader of its format, in `adapters` or `residue_adapters`
    kind: str  # Kind of its samples
    alphabet: str  # Default alphabet; empty if there is none
    unknown: str  # Default policy for unknown letters; empty if there is none
    ids: str  # Default policy for ids; empty if there is none
    positive: str  # The positive class; empty if there is none
    views: str  # The names of the sequences of each sample, if there are several, with spaces between them
    description: str  # A description
    reference: str  # The publication

    @property
    def files(self) -> dict[str, PublicFile]:
        """The files by role."""
        return {file.role: file for file in public_table("public_files.tsv", PublicFile) if file.dataset == self.name}


def public_sets() -> dict[str, PublicSet]:
    """Return all public data sets by name."""
    return {item.name: item for item in public_table("public.tsv", PublicSet)}


def public_set(name: str) -> PublicSet:
    """Return a public data set by its case-sensitive name; the error for an unknown one names the nearest."""
    sets = public_sets()
    check_known("public data set", [name], sets)
    return sets[name]
