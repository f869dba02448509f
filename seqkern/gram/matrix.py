"""A Gram matrix and its files: opening one, and rejecting one that belongs to other data or another kernel.

``gram.npy`` is the matrix and ``gram.json`` beside it describes it. The latter is written last, so that a
matrix without it is unfinished. It holds digests of the values and of itself, which are verified.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError, GramError, ParameterError
from seqkern.core.memory import check_mappable
from seqkern.core.types import PathLike, Rows
from seqkern.gram.digests import content_digest, count_blocks, damaged_rows
from seqkern.gram.matrix_file import MatrixFile, is_whole_map, map_matrix
from seqkern.sequences.tables import Data, SimilarityTable

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

FORMAT = "seqkern gram 2"
SLICE_ROWS = 256
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
_ATTEMPTS = 5
"""A matrix that other processes replace so often while it is opened is given up."""


@dataclass(frozen=True)
class GramMatrix:
    """A kernel matrix with its diagonals and a description of its origin.

    Attributes
    ----------
    values : ndarray or memmap of float64 or float32, shape (n, m)
    row_diagonal : ndarray of float64, shape (n,)
        K(x, x) of each row's record.
    col_diagonal : ndarray of float64, shape (m,)
        K(x, x) of each column's record.
    meta : dict
        Kernel, digests of the data, dtype, versions, and `counts` of the kernel's policies.

    Examples
    --------
    >>> from seqkern.gram import compute_gram
    >>> from seqkern.kernels import SpectrumKernel
    >>> gram = compute_gram(SpectrumKernel(k=1, normalize=False), ["AAC", "GG", "CGT"], ["ACGT", "GGG"])
    >>> gram.shape, gram.row_diagonal, gram.col_diagonal
    ((3, 2), array([5., 4., 3.]), array([4., 9.]))
    >>> gram.slice([2, 0], slice(0, 1))
    array([[3.],
           [3.]])
    """

    values: npt.NDArray[np.floating[Any]]
    row_diagonal: npt.NDArray[np.float64]
    col_diagonal: npt.NDArray[np.float64]
    meta: dict[str, Any]

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        rows, cols = self.values.shape
        return rows, cols

    def slice(self, rows: Rows, cols: Rows) -> npt.NDArray[np.float64]:
        """Return rows × columns of the matrix, copied into memory.

        Parameters
        ----------
        rows, cols : array_like of int64, boolean mask, or slice
            Which of the samples.

        Returns
        -------
        ndarray of float64, shape (len(rows), len(cols)), C order
        """
        rows, cols = np.arange(self.shape[0])[rows], np.arange(self.shape[1])[cols]
        out = np.empty((len(rows), len(cols)))
        if is_whole_map(self.values) and self.values.flags.c_contiguous:
            # read instead of mapped: pages of a map that were touched count as memory of the process
            file = MatrixFile.of(self.values)
            row = np.empty(self.shape[1], dtype=self.values.dtype)
            for place, which in enumerate(rows):
                file.read_row(int(which), row)
                out[place] = row[cols]
            return out
        for start in range(0, len(rows), SLICE_ROWS):  # bounds the copy of whole rows
            block = rows[start : start + SLICE_ROWS]
            out[start : start + SLICE_ROWS] = np.take(self.values[block], cols, axis=1)
        return out


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
    return _open(npy_path(path), lambda meta, path: _check_origin(meta, path, X, Y, kernel), verify=True)


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
                    meta = _read_meta(path)
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
            raise _missing(path) from error
        except OSError as error:
            if isinstance(error, FileError):
                raise
            problem = f"cannot be read: {error.strerror or error}"
            raise FileError(problem, file=path, remedy="check the file and its permissions") from error
    raise GramError("is being replaced by other processes", file=path, remedy="repeat the command when they have ended")


def _check_origin(meta: dict[str, Any], path: Path, X: Data | None, Y: Data | None, kernel: Kernel | None) -> None:
    """Raise GramError if a matrix belongs to other data or another kernel."""
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


def data_digests(X: Data, Y: Data | None = None) -> tuple[str, str]:
    """Return the digests of rows and columns; of two parts of a similarity table, with the rectangle.

    Parameters
    ----------
    X : SequenceSet or table
        The rows.
    Y : SequenceSet or table, optional
        The columns; default: `X`.

    Returns
    -------
    (str, str)
    """
    if Y is None:
        return X.digest(), X.digest()
    if isinstance(X, SimilarityTable) and isinstance(Y, SimilarityTable):
        between = np.ascontiguousarray(SimilarityTable.block(X, Y))
        return X.digest() + hashlib.blake2b(between.data, digest_size=8).hexdigest(), Y.digest()
    return X.digest(), Y.digest()


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
        raise _missing(path)
    return str(_read_meta(path)["dtype"])


def _missing(path: Path) -> GramError | FileError:
    """Return the error for a matrix without a file."""
    if tiles_root(path).exists():
        return _unfinished(path)
    return FileError("no such Gram matrix", file=path, remedy="compute it first")


def _unfinished(path: Path) -> GramError:
    """Return the error for a matrix that is not complete."""
    return GramError("is unfinished", file=path, remedy="repeat the command that computes it, to resume")


def _read_meta(path: Path) -> dict[str, Any]:
    """Return the content of the side file; raise GramError if something is wrong."""
    side = side_path(path)
    try:
        meta = json.loads(side.read_text(encoding="utf-8"))
        known = meta["format"] == FORMAT
        keys = _KEYS | (set() if meta["symmetric"] else {"col_diagonal"})
        if known and keys <= set(meta) and meta["digest"] == content_digest(meta):
            return meta
    except FileNotFoundError as error:
        raise _unfinished(path) from error
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        pass
    raise GramError(
        "is corrupted, or from another version of seqkern", file=side, remedy="compute the Gram matrix again"
    )


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
        raise GramError("is corrupted: its size has changed", file=path, remedy="compute it again")
    return values


def _verify(path: Path, file: IO[bytes], values: np.memmap, meta: dict[str, Any]) -> None:
    """Raise GramError if the values are not those that were written."""
    rows, cols = values.shape
    bad = damaged_rows(file.fileno(), values.offset, (rows, cols), values.itemsize, meta["value_digests"])
    if bad:
        raise GramError(
            f"is corrupted: values have changed in rows {bad} of {rows}",
            file=path,
            remedy="compute it again, or restore both it and its .json file",
        )


def _is_current(path: Path, file: IO[bytes]) -> bool:
    """Return whether a path still names an open file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except OSError:
        return False
