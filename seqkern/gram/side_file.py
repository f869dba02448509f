"""The side file of a stored matrix: what it is of, and digests that tell whether it is still that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqkern.core.archive import atomic_write, canonical_json
from seqkern.core.errors import FileError, GramError
from seqkern.core.file_kinds import GRAM
from seqkern.core.types import PathLike
from seqkern.gram.digests import content_digest, data_digests
from seqkern.gram.paths import npy_path, side_path, tiles_root
from seqkern.sequences.tables import Data

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

AGAIN = "delete it and repeat the command that computed it"
_KEYS = {
    "kernel",
    "identity",
    "rows",
    "cols",
    "dtype",
    "symmetric",
    "row_digest",
    "col_digest",
    "row_diagonal",
    "value_digests",
}


def read_meta(path: Path) -> dict[str, Any]:
    """Return the content of the side file.

    Parameters
    ----------
    path : Path
        The ``.npy``.

    Returns
    -------
    dict

    Raises
    ------
    GramError
        If there is none, or something is wrong with it.
    """
    side = side_path(path)
    try:
        meta = GRAM.load_json(side)
    except FileError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise _unfinished(path) from error
        raise
    with GRAM.damaged(side, "is corrupted"):
        keys = _KEYS | (set() if meta["symmetric"] else {"col_diagonal"})
        if not keys <= set(meta) or meta["digest"] != content_digest(meta):
            raise KeyError("digest")
    return cast("dict[str, Any]", meta)


def write_meta(path: Path, content: dict[str, Any]) -> None:
    """Write a side file.

    Parameters
    ----------
    path : Path
        The ``.json``.
    content : dict
        What it describes.

    Raises
    ------
    FileError
        If it cannot be written.
    """
    with atomic_write(path, "w") as file:
        file.write(canonical_json(content) + "\n")


def check_origin(meta: dict[str, Any], path: Path, X: Data | None, Y: Data | None, kernel: Kernel | None) -> None:
    """Raise GramError if a matrix belongs to other data or another kernel.

    Parameters
    ----------
    meta : dict
        The content of its side file.
    path : Path
        The ``.npy``.
    X, Y : SequenceSet or table, optional
        The rows and columns that it must belong to.
    kernel : Kernel, optional
        The kernel that it must belong to.

    Raises
    ------
    GramError
        With the file and a remedy.
    ParameterError
        If the kernel needs fitting and is not fitted.
    """
    if X is not None:
        for what, digest, made in zip(
            ("rows", "columns"), data_digests(X, Y), (meta["row_digest"], meta["col_digest"]), strict=True
        ):
            if digest != made:
                raise GramError(
                    f"the {what} belong to other data",
                    file=path,
                    remedy="compute it again for these sequences, or give the original ones",
                )
    if kernel is not None:
        kernel.check_fitted()
    if kernel is not None and meta["identity"] != kernel.identity():
        made = ", ".join(f"{key}={value}" for key, value in meta["kernel"].items())
        raise GramError(
            f"was computed with another kernel ({made})", file=path, remedy="name another file, or delete this one"
        )


def stored_dtype(path: PathLike) -> str:
    """Return the data type of the entries of a stored matrix.

    Parameters
    ----------
    path : path-like
        The ``.npy``.

    Returns
    -------
    str
        Such as ``"float64"``.

    Raises
    ------
    FileError, GramError
        As for `open_gram`.
    """
    path = npy_path(path)
    if not path.exists():
        raise missing_matrix(path)
    return str(read_meta(path)["dtype"])


def missing_matrix(path: Path) -> GramError | FileError:
    """Return the error for a matrix without a file.

    Parameters
    ----------
    path : Path
        The ``.npy``.

    Returns
    -------
    GramError or FileError
        The first if its tiles are there.
    """
    if tiles_root(path).exists():
        return _unfinished(path)
    return FileError("no such Gram matrix", file=path, remedy="compute it first")


def _unfinished(path: Path) -> GramError:
    """Return the error for a matrix that is not complete."""
    return GramError("is unfinished", file=path, remedy="repeat the command that computes it, to resume")
