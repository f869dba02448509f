"""The names of the files of a stored matrix, which follow from that of its ``.npy``."""

from __future__ import annotations

from pathlib import Path

from seqkern.core.errors import ParameterError
from seqkern.core.types import PathLike


def npy_path(path: PathLike) -> Path:
    """Return the path of a Gram matrix.

    Parameters
    ----------
    path : path-like
        As given by the user.

    Returns
    -------
    Path

    Raises
    ------
    ParameterError
        If it does not end in ``.npy``.
    """
    path = Path(path)
    if path.suffix != ".npy":
        raise ParameterError(f"invalid file name {path} for a Gram matrix", remedy="use a name ending in .npy")
    return path


def side_path(path: Path) -> Path:
    """Return the path of the JSON side file.

    Parameters
    ----------
    path : Path
        The ``.npy``.

    Returns
    -------
    Path

    Examples
    --------
    >>> side_path(Path("gram.npy")).name
    'gram.json'
    """
    return path.with_suffix(".json")


def spectrum_path(path: PathLike) -> Path:
    """Return the path of the table of its eigenvalues.

    Parameters
    ----------
    path : path-like
        The ``.npy``.

    Returns
    -------
    Path

    Examples
    --------
    >>> spectrum_path("gram.npy").name
    'gram.spectrum.tsv'
    """
    return Path(path).with_suffix(".spectrum.tsv")


def tiles_root(path: Path) -> Path:
    """Return the folder of the tiles, beside the matrix.

    Parameters
    ----------
    path : Path
        The ``.npy``.

    Returns
    -------
    Path

    Examples
    --------
    >>> tiles_root(Path("gram.npy")).name
    'gram.npy.tiles'
    """
    return path.with_name(f"{path.name}.tiles")
