"""Data sets that are sliced like NumPy arrays, so that scikit-learn can split them."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, Self

from seqkern.core.types import Rows


class Sliceable:
    """Mixin of data sets with ``len`` and ``take``: indexing and iteration.

    ``X[rows]`` is ``X.take(rows)`` for an integer array, a boolean mask or a slice: ids and tracks go with the records.
    ``X[i]`` is one record in its simplest form, returned by the subclass's ``_record``. scikit-learn recognises
    sliceable data by ``shape``.
    """

    def __len__(self) -> int:
        raise NotImplementedError

    def take(self, rows: Rows) -> Self:
        """Return some of the records.

        Parameters
        ----------
        rows : array of int, boolean mask or slice
            Which of the n records.

        Returns
        -------
        Sliceable
            Of the same class.
        """
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, starting with the number of records."""
        return (len(self),)

    def _record(self, i: int) -> Any:
        """Return record `i`, counted from 0, in its simplest form."""
        raise NotImplementedError

    def __getitem__(self, rows: Any) -> Any:
        # scikit-learn indexes X[rows, ...], as for arrays of any number of dimensions.
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]
        if isinstance(rows, Integral) and not isinstance(rows, bool):
            return self._record(range(len(self))[rows])
        return self.take(rows)

    def __iter__(self) -> Iterator[Any]:
        return (self._record(i) for i in range(len(self)))
