"""Open the small input files that come with the package (the folder ``resources/`` of the repository)."""

import importlib.resources
from pathlib import Path

from .errors import FileError


def resource_path(name):
    """Return the place of the resource file `name`, installed or in a source checkout.

    Raises
    ------
    FileError
        If there is no such file.
    """
    try:
        folder = importlib.resources.files("seqkern.resources")
    except ModuleNotFoundError:  # a source checkout: the folder lies beside the package
        folder = Path(__file__).resolve().parent.parent / "resources"
    path = folder / name
    if not path.is_file():
        raise FileError("no such resource file", file=path, remedy="install seqkern again")
    return path


def open_resource(name):
    """Open the resource file `name` (such as ``"public.tsv"``) for reading as UTF-8 text.

    Raises
    ------
    FileError
        If there is no such file.
    """
    return resource_path(name).open(encoding="utf-8")
