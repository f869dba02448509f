"""The small files that come with the package: ``resources/`` and ``workflow/schemas/`` of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from seqkern.core.errors import FileError

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = {"resources": PACKAGE.parent / "resources", "schemas": PACKAGE.parent / "workflow" / "schemas"}

SUFFIXES = {".bib", ".tsv", ".yaml"}


def resource_path(name: str, folder: str = "resources") -> Path:
    """Return the path of a resource file, installed or in a source checkout.

    >>> resource_path("public.tsv").name
    'public.tsv'
    """
    for path in (PACKAGE / folder / name, CHECKOUT[folder] / name):
        if path.is_file():
            return path
    raise FileError("no such resource file", file=CHECKOUT[folder] / name, remedy="reinstall seqkern")


def resource_folder(name: str, checkout: Path) -> Path:
    """Return a folder of files that come with the package, installed or in a source checkout.

    >>> resource_folder("resources", CHECKOUT["resources"]).name
    'resources'
    """
    installed = PACKAGE / name
    return installed if installed.is_dir() else checkout


def resource_files(folder: str = "resources") -> list[Path]:
    """Return the paths of all files of a folder, installed or in a source checkout, sorted by name."""
    home = resource_folder(folder, CHECKOUT[folder])
    return sorted(path for path in home.glob("*") if path.suffix in SUFFIXES)


def open_resource(name: str, folder: str = "resources") -> TextIO:
    """Open a resource file for reading as UTF-8 text."""
    return resource_path(name, folder).open(encoding="utf-8")
