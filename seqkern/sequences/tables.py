"""Data sets that are no sequences: tables of features, and square tables of similarities or dissimilarities.

Both have what a SequenceSet has: `len`, `ids`, `take`, `digest`, `state`, `from_state`, `counts`.
"""

import hashlib

import numpy as np

from seqkern.core.errors import SequenceError


def _frozen(array, dtype):
    """Return a read-only contiguous view (a copy only where the dtype or layout asks for one)."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def _digest(header, ids, values):
    """Return a hexadecimal digest of a header, ids in order and an array."""
    digest = hashlib.blake2b(repr(header).encode(), digest_size=16)
    digest.update("\n".join(ids).encode())
    digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def _check_finite(values, ids):
    """Raise SequenceError for the first row with a value that is not a finite number."""
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise SequenceError(
            "has a value that is not a finite number",
            record=ids[bad[0]],
            remedy="fill it in or leave the row out",
        )


class FeatureTable:
    """An immutable table of numbers: one row for each unit, one column for each feature.

    Parameters
    ----------
    values : array_like, shape (n, d)
        Finite numbers; kept as float64.
    ids : sequence of str, length n, optional
        By default ``"1"``, ``"2"``, ….
    columns : sequence of str, length d, optional
        Names of the features; by default ``"f1"``, ``"f2"``, ….
    counts : dict of str to int, optional
        What the reading touched.

    Raises
    ------
    SequenceError
        If shapes do not fit or a value is not finite.
    """

    def __init__(self, values, ids=None, columns=None, counts=None):
        self.values = _frozen(values, np.float64)
        if self.values.ndim != 2:
            raise SequenceError(f"expected a table, got {self.values.ndim} dimensions", remedy="give rows and columns")
        n, d = self.values.shape
        self.ids = [str(i) for i in range(1, n + 1)] if ids is None else list(ids)
        self.columns = tuple(f"f{j}" for j in range(1, d + 1)) if columns is None else tuple(columns)
        self.counts = dict(counts or {})
        if len(self.ids) != n or len(self.columns) != d:
            raise SequenceError(
                f"{len(self.ids)} ids and {len(self.columns)} column names for a table of {n} × {d}",
                remedy="give one name for each row and column",
            )
        _check_finite(self.values, self.ids)

    def __len__(self):
        return len(self.values)

    def __repr__(self):
        return f"FeatureTable({len(self)} rows, {len(self.columns)} columns)"

    def take(self, rows):
        """Return the rows `rows` (integer array, boolean mask or slice)."""
        rows = rows if isinstance(rows, slice) else np.arange(len(self))[rows]
        ids = np.array(self.ids, dtype=object)[rows].tolist()
        return FeatureTable(self.values[rows], ids, self.columns, self.counts)

    def digest(self):
        """Return a hexadecimal digest of ids, columns and values in order."""
        return _digest(("features", self.values.shape, self.columns), self.ids, self.values)

    def state(self):
        """Return what `from_state` needs: a JSON dict and a dict of arrays."""
        header = {"ids": self.ids, "columns": list(self.columns), "counts": self.counts}
        return header, {"values": self.values}

    @classmethod
    def from_state(cls, header, arrays):
        """Return the table whose `state` this was."""
        return cls(arrays["values"], header["ids"], header["columns"], header["counts"])


class SimilarityTable:
    """Rows of an immutable square table of similarities or dissimilarities between units.

    Rows and columns are sliced together: `take` keeps the whole table and sub-indexes it, so that `block` can
    give the rectangle between any two selections.

    Parameters
    ----------
    values : array_like, shape (N, N)
        Finite numbers; kept as float64.
    ids : sequence of str, length n, optional
        By default the 1-based places in the whole table.
    index : array_like of int64, shape (n,), optional
        The rows of the whole table that are selected; by default all.
    kind : {"similarities", "dissimilarities"}
    counts : dict of str to int, optional

    Raises
    ------
    SequenceError
        If the table is not square, ids do not fit, or a value is not finite.
    """

    def __init__(self, values, ids=None, index=None, kind="similarities", counts=None):
        self.values = _frozen(values, np.float64)
        if self.values.ndim != 2 or self.values.shape[0] != self.values.shape[1]:
            shape = " × ".join(map(str, self.values.shape))
            raise SequenceError(f"expected a square table, got {shape}", remedy="give one column for each row")
        if kind not in ("similarities", "dissimilarities"):
            raise SequenceError(f"unknown kind {kind!r}", remedy="choose similarities or dissimilarities")
        self.index = _frozen(np.arange(len(self.values)) if index is None else index, np.int64)
        self.ids = [str(i + 1) for i in self.index] if ids is None else list(ids)
        self.kind = kind
        self.counts = dict(counts or {})
        if len(self.ids) != len(self.index):
            raise SequenceError(f"{len(self.ids)} ids for {len(self.index)} rows", remedy="give one id for each row")
        if index is None:
            _check_finite(self.values, self.ids)

    def __len__(self):
        return len(self.index)

    def __repr__(self):
        return f"SimilarityTable({len(self)} rows of {len(self.values)}, {self.kind})"

    def take(self, rows):
        """Return the units `rows` (integer array, boolean mask or slice); the table itself is shared."""
        rows = np.arange(len(self))[rows]
        return SimilarityTable(self.values, [self.ids[i] for i in rows], self.index[rows], self.kind, self.counts)

    @staticmethod
    def block(rows, cols):
        """Return the values between two selections of one table, float64 (n, m).

        Raises
        ------
        SequenceError
            If `rows` and `cols` come from two tables.
        """
        if not np.shares_memory(rows.values, cols.values) and not np.array_equal(rows.values, cols.values):
            raise SequenceError(
                "rows and columns come from two tables", remedy="give one square table with all the units"
            )
        return rows.values[np.ix_(rows.index, cols.index)]

    def digest(self):
        """Return a hexadecimal digest of kind, ids and the selected square in order."""
        return _digest((self.kind, len(self)), self.ids, self.block(self, self))

    def state(self):
        """Return what `from_state` needs, cut to the selected square: a JSON dict and a dict of arrays."""
        header = {"ids": self.ids, "kind": self.kind, "counts": self.counts}
        return header, {"values": self.block(self, self)}

    @classmethod
    def from_state(cls, header, arrays):
        """Return the table whose `state` this was."""
        return cls(arrays["values"], header["ids"], None, header["kind"], header["counts"])


def as_features(X):
    """Return `X`, a FeatureTable or a 2-D array of numbers, as a FeatureTable.

    Raises
    ------
    SequenceError
        If it is neither.
    """
    return X if isinstance(X, FeatureTable) else FeatureTable(_numbers(X, "a FeatureTable or a 2-D array"))


def as_similarities(X):
    """Return `X`, a SimilarityTable or a square array of similarities, as a SimilarityTable.

    Raises
    ------
    SequenceError
        If it is neither.
    """
    if isinstance(X, SimilarityTable):
        return X
    return SimilarityTable(_numbers(X, "a SimilarityTable or a square array"))


def _numbers(X, expected):
    """Return `X` as a float64 array, or raise SequenceError naming what was expected."""
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SequenceError(
            f"expected {expected}, got a {type(X).__name__}",
            remedy="give numbers, or choose a kernel for this kind of data",
        ) from error
