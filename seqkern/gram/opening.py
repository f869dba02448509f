"""Opening a stored matrix, and rejecting one that is damaged, or belongs to other data or another kernel.

``gram.npy`` is the matrix and ``gram.json`` beside it describes it. The latter is written last, so that a
matrix without it is unfinished. It holds digests of the values and of itself, which are verified.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from seqkern.core.damaged import unreadable
from seqkern.core.errors import FileError, GramError
from seqkern.core.memory import check_mappable
from seqkern.core.types import PathLike
from seqkern.gram.digests import count_blocks, damaged_rows
from seqkern.gram.mapped import map_matrix
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.paths import npy_path
from seqkern.gram.side_file import AGAIN, check_origin, missing_matrix, read_meta
from seqkern.sequences.tables import Data

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

_ATTEMPTS = 5
"""A matrix that other processes replace so often while it is opened is given up."""


def open_gram(path: PathLike, X: Data | None = None, Y: Data | None = None, kernel: Kernel | None = None) -> GramMatrix:
    """Open a matrix of `seqkern.gram.compute_gram`, memory-mapped, and verify that its values have not changed.

    Parameters
    ----------
    path : path-like
        The ``.npy``.
    X : SequenceSet or table, optional
        The rows that it must belong to.
    Y : SequenceSet or table, optional
        The columns that it must belong to; default: `X`.
    kernel : Kernel, optional
        The kernel that it must belong to.

    Returns
    -------
    GramMatrix

    Raises
    ------
    ParameterError
        If the kernel needs fitting and is not fitted.
    GramError
        If it belongs to other data or another kernel, is unfinished, or is corrupted.
    FileError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern import SequenceSet
    >>> from seqkern.gram import compute_gram, open_gram
    >>> from seqkern.kernels import SpectrumKernel
    >>> kernel, X = SpectrumKernel(k=2), SequenceSet.from_strings(["GATTACA", "ATTAC"], "dna")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gram.npy"
    ...     made = compute_gram(kernel, X, path=path)
    ...     print(open_gram(path, X, kernel=kernel).values.round(2))
    [[1.   0.82]
     [0.82 1.  ]]
    """
    return _open(npy_path(path), lambda meta, path: check_origin(meta, path, X, Y, kernel), verify=True)


def open_unverified(path: PathLike) -> GramMatrix:
    """Open a matrix as `open_gram` does, without reading it: for the process that has just written it.

    Parameters
    ----------
    path : path-like
        The ``.npy``.

    Returns
    -------
    GramMatrix

    Raises
    ------
    GramError, FileError
        As for `open_gram`.
    """
    return _open(npy_path(path), lambda meta, path: None, verify=False)


def _open(path: Path, check: Callable[[dict[str, Any], Path], None], verify: bool) -> GramMatrix:
    """Return a matrix whose origin passes a check, both files of it from one run.

    Whoever replaces a matrix first removes the side file. So one that is read while `path` is a certain file is of that
    file or an older one, which its digests tell.
    """
    for _ in range(_ATTEMPTS):
        try:
            with open(str(path), "rb", buffering=0) as file:
                try:
                    meta = read_meta(path)
                    check(meta, path)
                    values = _map_values(path, file, meta)
                    if verify:
                        _verify(path, file, values, meta)
                    rows = np.array(meta["row_diagonal"], dtype=np.float64)
                    cols = rows if meta["symmetric"] else np.array(meta["col_diagonal"], dtype=np.float64)
                except GramError:
                    if _is_current(path, file):
                        raise
                else:
                    if _is_current(path, file):
                        about = {key: value for key, value in meta.items() if key not in ("digest", "value_digests")}
                        return GramMatrix(values, rows, cols, about)
        except FileNotFoundError as error:
            raise missing_matrix(path) from error
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise unreadable(path, error, "check the file and its permissions") from error
    raise GramError("is being replaced by other processes", file=path, remedy="repeat the command when they have ended")


def _map_values(path: Path, file: IO[bytes], meta: dict[str, Any]) -> np.memmap:
    """Return the matrix memory-mapped; raise GramError if it does not match the side file."""
    try:
        values = map_matrix(file)
        shape = meta["rows"], meta["cols"]
        whole = values.shape == shape and values.dtype == meta["dtype"]
        whole = whole and len(meta["value_digests"]) == count_blocks(values.shape, values.itemsize)
    except (OSError, ValueError, EOFError, TypeError) as error:
        check_mappable(path, error)
        whole = False
    if not whole:
        raise GramError("is corrupted: its size has changed", file=path, remedy=AGAIN)
    return values


def _verify(path: Path, file: IO[bytes], values: np.memmap, meta: dict[str, Any]) -> None:
    """Raise GramError if the values are not those that were written."""
    rows, cols = values.shape
    bad = damaged_rows(file.fileno(), values.offset, (rows, cols), values.itemsize, meta["value_digests"])
    if bad:
        raise GramError(
            f"is corrupted: values have changed in rows {bad} of {rows}",
            file=path,
            remedy=f"{AGAIN}, or restore both it and its .json file",
        )


def _is_current(path: Path, file: IO[bytes]) -> bool:
    """Return whether a path still names an open file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except OSError:
        return False
