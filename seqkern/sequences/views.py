"""Views of sequences: one vector of numbers for each record, such as the embedding of a protein language model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.types import Rows

if TYPE_CHECKING:
    from seqkern.sequences.sequence_set import SequenceSet


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of n records: rows of an array that several sets of records share.

    Attributes
    ----------
    values : ndarray of float32 or float64, shape (N, width)
        Not copied when records are selected.
    index : ndarray of int64, shape (n,)
        The row of each record.

    Examples
    --------
    >>> vectors = Vectors.of(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    >>> vectors.take([2, 0]).rows().tolist()
    [[5.0, 6.0], [1.0, 2.0]]
    """

    values: npt.NDArray[np.floating[Any]]
    index: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: npt.ArrayLike | Vectors) -> Vectors:
        """Return the vectors of an array.

        Parameters
        ----------
        values : array_like, shape (n, width), or Vectors
            float32 stays float32, half precision becomes float32, other numbers float64; Vectors stay as they are.

        Returns
        -------
        Vectors

        Raises
        ------
        SequenceError
            If it is not a table of numbers.
        """
        if isinstance(values, Vectors):
            return values
        table = np.asarray(values)
        if table.ndim != 2 or table.dtype.kind not in "fiub":
            raise SequenceError(
                f"expected one row of numbers for each record, got shape {table.shape} of {table.dtype}",
                remedy="give a table of numbers",
            )
        small = table.dtype in (np.float16, np.float32)
        stored: npt.NDArray[Any] = np.ascontiguousarray(table, dtype=np.float32 if small else np.float64).view()
        stored.flags.writeable = False
        return cls(stored, np.arange(len(stored), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.index)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self.values.shape[1]

    def take(self, rows: Rows) -> Vectors:
        """Return the vectors of some records, without copying them.

        Parameters
        ----------
        rows : array of int, boolean mask or slice
            Which of the n records.

        Returns
        -------
        Vectors
        """
        return Vectors(self.values, self.index[rows])

    def rows(self) -> npt.NDArray[np.floating[Any]]:
        """Return the vectors as an array, shape (n, width), in the precision in which they are stored."""
        if np.array_equal(self.index, np.arange(len(self.values))):
            return self.values
        return self.values[self.index]


def vectors_of(X: SequenceSet, name: str) -> npt.NDArray[np.float64]:
    """Return the vectors of a view.

    Parameters
    ----------
    X : SequenceSet, n records
        Whole records, or windows around residues.
    name : str
        Of a view of the records; or of a track with a vector for each residue, of which windows take the residue in
        their middle.

    Returns
    -------
    ndarray of float64, shape (n, width)

    Raises
    ------
    SequenceError
        If a number is not finite.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> X = SequenceSet.from_strings(["MKV", "GKV"]).replace(views={"esm": [[0.5, 1], [2, 0]]})
    >>> vectors_of(X, "esm").tolist()
    [[0.5, 1.0], [2.0, 0.0]]
    """
    if name in X.views:
        values = X.views[name].rows().astype(np.float64)
    else:
        values = X.tracks[name][X.starts + X.lengths // 2].astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise SequenceError(
            f"has a number that is not finite (NaN or inf) in the view {name!r}",
            record=X.ids[bad[0]],
            remedy="compute its vector again, or remove the record",
        )
    return np.ascontiguousarray(values)


def view_width(X: SequenceSet, name: str) -> int | None:
    """Return how many numbers the vectors of a view have; None if there is no such view.

    Parameters
    ----------
    X : SequenceSet
        Any number of records, even none.
    name : str
        As for `vectors_of`.

    Returns
    -------
    int or None
    """
    if name in X.views:
        return X.views[name].width
    track = X.tracks.get(name)
    # an annotation, with one letter for each residue, is not a view
    return int(track.shape[1]) if track is not None and track.ndim == 2 else None


def check_widths(X: SequenceSet, like: SequenceSet, names: Iterable[str]) -> None:
    """Raise SequenceError unless the vectors of some views are as long as those of other records.

    Parameters
    ----------
    X : SequenceSet
        The records to check, with the views.
    like : SequenceSet
        The other records, with the views.
    names : iterable of str
        The views.

    Raises
    ------
    SequenceError
        With both numbers.
    """
    for name in names:
        own, other = view_width(X, name), view_width(like, name)
        if own is not None and other is not None and own != other:
            raise SequenceError(
                f"the vectors of the view {name!r} have {own} numbers, those of the training sequences {other}",
                remedy="compute them with the program and the model that made those of the training sequences",
            )
