"""What a finished matrix already knows of a larger one: added records cost their own rows only.

Records are recognised by id and content: `record_digests` of the rows, and of the columns of a rectangle, are in the
side file. Any that both matrices have in common will do, in any order. A matrix without these digests is recognised as
a whole, by the digest of its data, where its records come first.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.damaged import unreadable
from seqkern.core.errors import GramError
from seqkern.core.types import PathLike
from seqkern.gram.mapped import open_mapped
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.opening import open_gram
from seqkern.gram.paths import npy_path
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data, FeatureTable

DIGEST_LETTERS = 16
GAP = 64
"""So many known records between new ones are computed anew: a range of columns is cheaper than its parts."""

SAME = {
    "identity": ("another kernel", "give the kernel of that matrix"),
    "dtype": ("another data type", "give the --dtype of that matrix"),
    "symmetric": ("another shape", "give --against for both matrices, or for neither"),
    "build": ("another build of seqkern", "compute the matrix without --extend"),
}
"""What two matrices must have in common, and what to do if they have not."""


class Range(NamedTuple):
    """Records `start` to `stop` − 1."""

    start: int
    stop: int


@dataclass(frozen=True)
class Extension:
    """A finished matrix, and where its rows and columns are in a new one.

    Attributes
    ----------
    values : memmap of float64 or float32, shape (rows, columns)
        The finished matrix, C-ordered. It is read from its file, since mapped pages would count as used memory.
    rows, cols : ndarray of int64, shape (n,) and (m,)
        For each row and column of the new matrix, that of the finished one; −1 if it is new.
    path : path-like, optional
        The finished matrix as the user names it, for messages.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from seqkern.gram.extension import Extension
    >>> places, tile = np.array([0, 1, -1]), np.zeros((3, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "old.npy", np.eye(2))
    ...     extension = Extension(np.load(Path(folder) / "old.npy", mmap_mode="r"), places, places)
    ...     extension.copy(0, 0, tile)
    >>> tile
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 0.]])
    >>> extension.new_cols(0)
    [Range(start=2, stop=3)]
    """

    values: Any
    rows: npt.NDArray[np.int64]
    cols: npt.NDArray[np.int64]
    path: PathLike | None = None

    def copy(self, start: int, left: int, out: npt.NDArray[np.floating[Any]]) -> None:
        """Copy what is known of a tile.

        Parameters
        ----------
        start, left : int
            Its first row and column in the new matrix.
        out : ndarray, shape (rows, columns)
            The tile; what is new is left as it is.

        Raises
        ------
        FileError
            If the file cannot be read, or has become shorter.
        """
        new = np.flatnonzero(self.cols[left:] >= 0)
        if not len(new):
            return
        old = self.cols[left:][new]
        first, last = int(old.min()), int(old.max()) + 1
        span = np.empty(last - first, dtype=out.dtype)
        here, there = _as_slice(new), _as_slice(old - first)
        with _reading(self.path), open_mapped(self.values) as file:
            for i, row in enumerate(self.rows[start : start + len(out)].tolist()):
                if row < 0:
                    continue
                file.seek(self.values.offset + (row * self.values.shape[1] + first) * out.itemsize)
                if file.readinto(span.data) != span.nbytes:  # type: ignore[attr-defined]
                    raise OSError(errno.EIO, f"{self.values.filename} is truncated")
                out[i, here] = span[there]

    def new_rows(self, start: int, stop: int) -> list[Range]:
        """Return the new rows among some, as ranges.

        Parameters
        ----------
        start, stop : int
            Rows of the new matrix.

        Returns
        -------
        list of Range
        """
        return _new(self.rows, start, stop)

    def new_cols(self, left: int) -> list[Range]:
        """Return the new columns from one on, as ranges; those that are near each other in one.

        Parameters
        ----------
        left : int
            The first column of the new matrix.

        Returns
        -------
        list of Range
        """
        return _new(self.cols, left, len(self.cols))


def open_extension(path: PathLike, identity: dict[str, Any], X: Data, Y: Data | None) -> Extension:
    """Open a finished matrix to extend it.

    Parameters
    ----------
    path : path-like
        Its ``.npy``.
    identity : dict
        That of the new matrix, see `seqkern.gram.job.GramJob`.
    X : SequenceSet or table
        The rows of the new matrix.
    Y : SequenceSet or table, optional
        Its columns; default: `X`.

    Returns
    -------
    Extension

    Raises
    ------
    GramError
        If its values would not be those of the new matrix, or the two have no record in common.
    FileError
        If there is no such matrix.
    """
    gram = open_gram(path)
    for key, (problem, remedy) in SAME.items():
        if gram.meta.get(key) != identity[key]:
            raise GramError(f"cannot be extended: it is of {problem}", file=npy_path(path), remedy=remedy)
    rows = _places(gram, "row", X)
    cols = rows if Y is None else _places(gram, "col", Y)
    if not ((rows >= 0).any() and (cols >= 0).any()):
        raise GramError(
            "cannot be extended: it has no record of the new matrix",
            file=npy_path(path),
            remedy="give the sequences of that matrix and the new ones, or leave --extend out",
        )
    return Extension(gram.values, rows, cols, path)


@contextlib.contextmanager
def _reading(path: PathLike | None) -> Iterator[None]:
    """Convert an OSError of the body to a FileError about `path`."""
    try:
        yield
    except OSError as error:
        raise unreadable(path, error, "compute it again, or leave --extend out") from error


def record_digests(X: Data) -> str | None:
    """Return hexadecimal digests of id and content of each record, `DIGEST_LETTERS` each, in one string.

    Parameters
    ----------
    X : SequenceSet or table, n records
        The records.

    Returns
    -------
    str or None
        None for similarities, which belong to no record alone.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.gram.extension import record_digests
    >>> X = SequenceSet.from_strings(["ACGT", "GATTACA"], "dna")
    >>> digests = record_digests(X)
    >>> len(digests), record_digests(X.take([1])) == digests[16:]
    (32, True)
    """
    if isinstance(X, SequenceSet):
        return "".join(_of_sequences(X))
    if isinstance(X, FeatureTable):
        header = repr(X.columns).encode()
        rows = zip(X.ids, np.ascontiguousarray(X.values), strict=True)
        return "".join(_digest(header, name.encode(), row.tobytes()) for name, row in rows)
    return None


def _of_sequences(X: SequenceSet) -> Iterator[str]:
    """Yield the digest of each sequence, with what its tracks and views say of it."""
    tracks, views = sorted(X.tracks), sorted(X.views)
    header = repr((X.alphabet.letters, tracks, [name + X.views[name].letters for name in views])).encode()
    arrays = [X.codes, *(X.tracks[name] for name in tracks)]
    vectors = [X.views[name].rows() for name in views]
    for i, (name, start, stop) in enumerate(zip(X.ids, X.starts.tolist(), X.stops.tolist(), strict=True)):
        parts = [array[start:stop].tobytes() for array in arrays]
        yield _digest(header, name.encode(), *parts, *(vector[i].tobytes() for vector in vectors))


def _digest(*parts: bytes) -> str:
    """Return the digest of some parts; their lengths count."""
    lengths = repr([len(part) for part in parts]).encode()
    return hashlib.blake2b(lengths + b"".join(parts), digest_size=DIGEST_LETTERS // 2).hexdigest()


def _places(gram: GramMatrix, axis: str, X: Data) -> npt.NDArray[np.int64]:
    """Return the place of each record of `X` on an axis, "row" or "col", of a finished matrix; −1 where it has none."""
    places = np.full(len(X), -1, dtype=np.int64)
    digests, wanted = gram.meta.get(f"{axis}_records"), record_digests(X)
    if digests is not None and wanted is not None:
        place = {digest: i for i, digest in enumerate(_split(digests))}
        places[:] = [place.get(digest, -1) for digest in _split(wanted)]
        return places
    n = gram.shape[0] if axis == "row" else gram.shape[1]
    if n <= len(X) and X.take(np.arange(n)).digest() == gram.meta[f"{axis}_digest"]:
        places[:n] = np.arange(n)
    return places


def _split(digests: str) -> list[str]:
    """Return the digests of single records."""
    return [digests[i : i + DIGEST_LETTERS] for i in range(0, len(digests), DIGEST_LETTERS)]


def _as_slice(places: npt.NDArray[np.int64]) -> slice | npt.NDArray[np.int64]:
    """Return places as a slice, if they follow each other."""
    first, last = int(places[0]), int(places[-1]) + 1
    return slice(first, last) if np.array_equal(places, np.arange(first, last)) else places


def _new(places: npt.NDArray[np.int64], start: int, stop: int) -> list[Range]:
    """Return the new records from `start` to `stop` − 1 as ranges, with no `GAP` of known ones inside."""
    new = np.flatnonzero(places[start:stop] < 0) + start
    edges = itertools.pairwise([0, *(np.flatnonzero(np.diff(new) > GAP) + 1).tolist(), len(new)])
    return [Range(int(new[a]), int(new[b - 1]) + 1) for a, b in edges if a < b]
