"""Data sets other than sequences: feature tables, and square tables of similarities or dissimilarities.

Both have the interface of a SequenceSet: `len`, `ids`, `take`, `digest`, `state`, `from_state`, `counts`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError, check_counts, check_texts
from seqkern.core.types import Arrays, Floats, Header, Ints, Rows
from seqkern.sequences.sequence_set import SequenceSet, Sliceable, frozen


def _digest(header: tuple[object, ...], ids: Sequence[str], values: Floats) -> str:
    """Return a hexadecimal digest of a header, ids in order and an array."""
    digest = hashlib.blake2b(repr(header).encode(), digest_size=16)
    digest.update("\n".join(ids).encode())
    digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def _check_finite(values: Floats, ids: Sequence[str]) -> None:
    """Raise SequenceError for the first row with a value that is not a finite number."""
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        problem = "has a value that is not a finite number (NaN or inf)"
        raise SequenceError(problem, record=ids[bad[0]], remedy="fill it in or remove the row")


class FeatureTable(Sliceable):
    """An immutable table of numbers: one row for each sample, one column for each feature."""

    def __init__(
        self,
        values: npt.ArrayLike,
        ids: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
        counts: dict[str, int] | None = None,
        missing: Literal["error", "keep"] = "error",
    ) -> None:
        self.values: Floats = frozen(values, np.float64)
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
        gaps = np.isnan(self.values) if missing == "keep" else np.zeros(0, dtype=bool)
        self.incomplete = bool(gaps.any())
        _check_finite(np.where(gaps, 0.0, self.values) if self.incomplete else self.values, self.ids)

    def check_complete(self) -> None:
        """Raise SequenceError for the first row with a missing value."""
        if self.incomplete:
            gaps = np.isnan(self.values)
            i = int(np.flatnonzero(gaps.any(axis=1))[0])
            raise SequenceError(
                f"has no value in column {self.columns[int(np.argmax(gaps[i]))]!r}",
                record=self.ids[i],
                remedy="complete missing values by the training set: transforms: [impute] of the kernel",
            )

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"FeatureTable({len(self)} rows, {len(self.columns)} columns)"

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.values.shape

    def _record(self, i: int) -> Floats:
        return self.values[i]

    def take(self, rows: Rows) -> FeatureTable:
        """Return some of the rows."""
        chosen = rows if isinstance(rows, slice) else np.arange(len(self))[rows]
        ids = np.array(self.ids, dtype=object)[chosen].tolist()
        missing: Literal["error", "keep"] = "keep" if self.incomplete else "error"
        return FeatureTable(self.values[chosen], ids, self.columns, self.counts, missing)

    def digest(self) -> str:
        """Return a hexadecimal digest of ids, columns and values in order."""
        return _digest(("features", self.values.shape, self.columns), self.ids, self.values)

    def state(self) -> tuple[Header, Arrays]:
        """Return the input of `from_state`: a JSON dict and a dict of arrays."""
        header = {"ids": self.ids, "columns": list(self.columns), "counts": self.counts}
        return {**header, **({"missing": "keep"} if self.incomplete else {})}, {"values": self.values}

    @classmethod
    def from_state(cls, header: Header, arrays: Arrays) -> FeatureTable:
        """Return the table with this `state`."""
        ids, columns = check_texts(header["ids"], "ids"), check_texts(header["columns"], "columns")
        missing: Literal["error", "keep"] = "keep" if header.get("missing") == "keep" else "error"
        return cls(arrays["values"], ids, columns, check_counts(header["counts"]), missing)


class SimilarityTable(Sliceable):
    """Rows of an immutable square table of similarities or dissimilarities between samples.

    Rows and columns are sliced together: `take` keeps the whole table and an index, so that `block` can
    return the rectangle between any two selections.
    """

    def __init__(
        self,
        values: npt.ArrayLike,
        ids: Iterable[str] | None = None,
        index: npt.ArrayLike | None = None,
        kind: str = "similarities",
        counts: dict[str, int] | None = None,
    ) -> None:
        self.values: Floats = frozen(values, np.float64)
        if self.values.ndim != 2 or self.values.shape[0] != self.values.shape[1]:
            shape = " × ".join(map(str, self.values.shape))
            raise SequenceError(f"expected a square table, got {shape}", remedy="give one column for each row")
        if kind not in ("similarities", "dissimilarities"):
            raise SequenceError(f"unknown kind {kind!r}", remedy="choose similarities or dissimilarities")
        self.index: Ints = frozen(np.arange(len(self.values)) if index is None else index, np.int64)
        self.ids = [str(i + 1) for i in self.index] if ids is None else list(ids)
        self.kind = kind
        self.counts = dict(counts or {})
        if len(self.ids) != len(self.index):
            raise SequenceError(f"{len(self.ids)} ids for {len(self.index)} rows", remedy="give one id for each row")
        if index is None:
            _check_finite(self.values, self.ids)

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        return f"SimilarityTable({len(self)} rows of {len(self.values)}, {self.kind})"

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n, n) for n selected samples."""
        return len(self), len(self)

    def _record(self, i: int) -> Floats:
        return self.values[self.index[i], self.index]

    def take(self, rows: Rows) -> SimilarityTable:
        """Return some of the samples; the table itself is shared."""
        chosen = np.arange(len(self))[rows]
        return SimilarityTable(self.values, [self.ids[i] for i in chosen], self.index[chosen], self.kind, self.counts)

    @staticmethod
    def block(rows: SimilarityTable, cols: SimilarityTable) -> Floats:
        """Return the values between two selections of one table."""
        if not np.shares_memory(rows.values, cols.values) and not np.array_equal(rows.values, cols.values):
            raise SequenceError(
                "rows and columns come from different tables", remedy="give one square table with all samples"
            )
        return rows.values[np.ix_(rows.index, cols.index)]

    def digest(self) -> str:
        """Return a hexadecimal digest of kind, ids and the selected square in order."""
        return _digest((self.kind, len(self)), self.ids, self.block(self, self))

    def state(self) -> tuple[Header, Arrays]:
        """Return the input of `from_state`, restricted to the selected square: a JSON dict and a dict of arrays."""
        header = {"ids": self.ids, "kind": self.kind, "counts": self.counts}
        return header, {"values": self.block(self, self)}

    @classmethod
    def from_state(cls, header: Header, arrays: Arrays) -> SimilarityTable:
        """Return the table with this `state`."""
        ids, counts = check_texts(header["ids"], "ids"), check_counts(header["counts"])
        return cls(arrays["values"], ids, None, header["kind"], counts)


Data = SequenceSet | FeatureTable | SimilarityTable
"""Input of kernels: sequences, rows of features, or samples with given similarities."""


def as_features(X: FeatureTable | npt.ArrayLike, missing: Literal["error", "keep"] = "error") -> FeatureTable:
    """Return features, shape (n, d), as a FeatureTable."""
    if isinstance(X, FeatureTable):
        return X
    return FeatureTable(_numbers(X, "a FeatureTable or a 2-D array"), missing=missing)


def as_similarities(X: SimilarityTable | npt.ArrayLike) -> SimilarityTable:
    """Return similarities, shape (n, n), as a SimilarityTable."""
    if isinstance(X, SimilarityTable):
        return X
    return SimilarityTable(_numbers(X, "a SimilarityTable or a square array"))


def _numbers(X: npt.ArrayLike, expected: str) -> Floats:
    """Return `X` as a float64 array; raise SequenceError with the expected form if it is not numeric."""
    if hasattr(X, "toarray"):
        raise SequenceError(f"expected {expected}, got a sparse matrix", remedy="give X.toarray()")
    try:
        if isinstance(X, Sliceable):  # another kind of data set, even if it consists of numbers
            raise TypeError
        values = np.asarray(X)
        if not np.iscomplexobj(values):
            return values.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise SequenceError(
            f"expected {expected}, got a {type(X).__name__}",
            remedy="give numbers, or choose a kernel for this kind of data",
        ) from error
    raise SequenceError("Complex data not supported", remedy="give real numbers")
