"""Decision values Σ_j c_j·K(x, z_j) without the matrix or the support sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.types import Floats, Ints
from seqkern.kernels.blocks import fill
from seqkern.kernels.kernel_operator import Implicit, KernelOperator
from seqkern.kernels.occurrences import KmerWeights, ScansWindows, Tallied, Tally, merge
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.kernels.prepared import Prepared


# Sums Σ_j c_j·K(x, z_j) without the matrix: folded into one table, and explained by residue and k-mer.
#
# An SVM decision value is such a sum over its support sequences z_j, plus a constant. A kernel family implements
# `Kernel._fold`, `Kernel._attribute` and `Kernel._kmer_weights` where possible, without normalisation; users call the
# functions here, for any kernel, including parts inside other kernels.
#
# Kernels built from kernels distribute their values among their parts:
#
# - a weighted sum gives each part its summand, a kernel on a part of the sequence the residues of that part;
# - a product of n kernels gives each of them 1/n;
# - a function f of a kernel K (polynomial, radial, sigmoid) distributes c_j·(f(K(x, z_j)) − f(0)) in proportion to K:
#   the coefficients become c_j' = c_j·(f(K(x, z_j)) − f(0)) / K(x, z_j), or c_j·f'(0) where K(x, z_j) = 0. The rest,
#   c_j·f(0), does not depend on anything that x and z_j have in common: all residues of x share it equally.
#
# In the last two cases the coefficients differ between sequences; the weight of a k-mer is then the mean over the
# explained sequences.


@dataclass(frozen=True)
class Folded:
    """Support sequences and their coefficients, folded into a table for fast decision values."""

    # ``values(payload)`` returns Σ_j c_j·K(x, z_j), not normalised, float64 (n,), for the payload of n sequences
    values: Callable[[Any], Floats]
    normalize: bool  # Whether to divide by √K(x, x)

    def __call__(self, rows: Prepared) -> Floats:
        """Return Σ_j c_j·K(x, z_j), float64 (n,), for `rows`, which were prepared like the support."""
        sums = self.values(rows.payload)
        return over_root(sums, rows.raw_diagonal) if self.normalize else sums


def fold(kernel: Kernel, columns: Prepared, coefficients: Floats) -> Folded | None:
    """Return a `Folded`, or None if computing the kernel matrix is faster."""
    if kernel.normalize:
        coefficients = over_root(coefficients, columns.raw_diagonal)
    values = kernel._fold(columns.payload, coefficients)
    return None if values is None else Folded(values, kernel.normalize)


def attributions(kernel: Kernel, X: Any, support: Any, coefficients: Floats) -> Floats:
    """Return the contribution of each residue of `X` to Σ_j c_j·K(x, z_j), record after record."""
    return _shares(kernel, X, support, coefficients, kernel._attribute)


def row_attributions(kernel: Kernel, X: Any, support: Any, coefficients: Floats) -> Floats:
    """Return the attributions of `X` with separate coefficients (n, m) for each record."""

    def one_by_one(X: Any, support: Any, coefficients: Floats) -> Floats:
        parts = [kernel._attribute(X.take([i]), support, row) for i, row in enumerate(coefficients)]
        return np.concatenate([np.zeros(0), *parts])

    return _shares(kernel, X, support, coefficients, one_by_one)


def _shares(
    kernel: Kernel,
    X: Any,
    support: Any,
    coefficients: Floats,
    attribute: Callable[[Any, Any, Floats], Floats],
) -> Floats:
    """Return ``attribute(X, support, coefficients)``, with the kernel's normalisation."""
    X, support = kernel.coerce(X), kernel.coerce(support)
    if not kernel.normalize:
        return attribute(X, support, coefficients)
    columns = kernel.prepare(support)
    shares = attribute(X, support, over_root(coefficients, columns.raw_diagonal))
    diagonal = kernel.prepare(X, like=columns).raw_diagonal
    return over_root(shares, np.repeat(diagonal, X.lengths))


def spread_evenly(X: SequenceSet, values: Floats) -> Floats:
    """Distribute a value of each record equally among its residues.

    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> spread_evenly(SequenceSet.from_strings(["ACG", "TT"]), np.array([3.0, 1.0]))
    array([1. , 1. , 1. , 0.5, 0.5])
    """
    bare = np.flatnonzero((X.lengths == 0) & (values != 0))
    if len(bare):
        raise SequenceError("has no residues to share its value", record=X.ids[bare[0]], remedy="remove the record")
    return np.repeat(values / np.maximum(X.lengths, 1), X.lengths)


def matrix(kernel: Kernel, X: Any, support: Any) -> tuple[Floats, Floats, Floats]:
    """Return the kernel matrix of two sets and the diagonals of both."""
    columns = kernel.prepare(support)
    rows = kernel.prepare(X, like=columns)
    values = np.empty((len(rows), len(columns)))
    fill(kernel, rows, columns, values)
    return values, rows.diagonal, columns.diagonal


def kmer_weights(kernel: Kernel, X: Any, support: Any, coefficients: Floats) -> KmerWeights:
    """Return the contribution of one occurrence of a k-mer to Σ_j c_j·K(x, z_j), before the division by √K(x, x)."""
    X, support = kernel.coerce(X), kernel.coerce(support)
    if kernel.normalize:
        coefficients = over_root(coefficients, kernel.prepare(support).raw_diagonal)
    return KmerWeights(*kernel._kmer_weights(X, support, coefficients))


def over_root(values: Floats, diagonal: Floats) -> Floats:
    """Return values / √diagonal; 0 where the diagonal is not positive."""
    return np.divide(values, np.sqrt(np.maximum(diagonal, 0)), out=np.zeros_like(values), where=diagonal > 0)


# Sums Σ_j c_j·K(x, z_j) without the z_j: decisions need only the sums over the k-mers of the z_j.
#
# `Tables.tally` computes these sums, `Tables.tallied` returns the object that applies them. A model of many
# support sequences is smaller with the sums than with the sequences, and its decisions are look-ups.


class TalliedParts(Tallied):
    """The sum over several kernels, each with its own normalisation."""

    def __init__(self, kernels: Sequence[Kernel], parts: Sequence[Tallied]) -> None:
        self.kernels, self.parts = kernels, parts

    def values(self, X: SequenceSet) -> Floats:
        """Return the sum for each record; see `Tallied.values`."""
        total = np.zeros(len(X))
        for kernel, part in zip(self.kernels, self.parts, strict=True):
            total += normalised_values(kernel, part, X)
        return total

    def attributions(self, X: SequenceSet) -> Floats:
        """Return the contribution of each residue to all parts; see `Tallied.attributions`."""
        total = np.zeros(int(X.lengths.sum()))
        for kernel, part in zip(self.kernels, self.parts, strict=True):
            total += normalised_attributions(kernel, part, X)
        return total

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return the contribution of one occurrence of each k-mer to all parts, before their normalisation."""
        return merge(part.kmer_weights(X) for part in self.parts)

    def tables(self) -> list[tuple[int, Floats]] | None:
        """Return the tables of all parts; None if a part is normalised, since its norm divides its own table only."""
        found = [
            None if kernel.normalize else part.tables() for kernel, part in zip(self.kernels, self.parts, strict=True)
        ]
        known = [tables for tables in found if tables is not None]
        return [one for tables in known for one in tables] if len(known) == len(found) else None


def normalised_values(kernel: Kernel, tallied: Tallied, X: SequenceSet) -> Floats:
    """Return Σ_j c_j·K(x, z_j), shape (n,), normalised if the kernel is.

    If it is, `tallied` must be made with c_j / √K(z_j, z_j).
    """
    diagonal = kernel.prepare(X).raw_diagonal
    values = tallied.values(X)
    return over_root(values, diagonal) if kernel.normalize else values


def normalised_attributions(kernel: Kernel, tallied: Tallied, X: SequenceSet) -> Floats:
    """Return the contributions of residues to `normalised_values`."""
    shares = tallied.attributions(X)
    if not kernel.normalize:
        return shares
    return over_root(shares, np.repeat(kernel.prepare(X).raw_diagonal, X.lengths))


def normalised_tally(kernel: Kernel, support: SequenceSet, coefficients: Floats) -> Tally | None:
    """Return the tally of Σ_j c_j·K(x, z_j), normalised as the kernel is."""
    if kernel.normalize:
        coefficients = over_root(coefficients, kernel.prepare(support).raw_diagonal)
    return kernel.tables.tally(support, coefficients)


# Kernel sums Σ_j c_j·K(x, z_j) for windows of a long sequence, normalised like the kernel.
#
# They are computed from weights at positions. A kernel provides its sums by `Tables.at_positions`,
# without normalisation: a weighted degree kernel returns `PositionWeights`; a composite kernel returns a part
# of the window or a sum, both defined here.

AT_ONCE = 1 << 14


class WindowValues:
    """The values of one kernel for windows of a long sequence, from the coefficients c_j of its support sequences."""

    def __init__(
        self,
        kernel: Kernel,
        support: SequenceSet,
        coefficients: Floats,
        columns: Prepared | None = None,
    ) -> None:
        tables, self.kernel, self.alphabet = kernel.tables, kernel, support.alphabet
        self.length = int(support.lengths[0]) if len(support) else 0
        support = kernel.coerce(support)
        self._columns = kernel.prepare(support) if columns is None else columns
        if kernel.normalize:
            coefficients = over_root(coefficients, self._columns.raw_diagonal)
        self._weights = cast(Any, tables.at_positions)(support, coefficients)
        self._same = tables.constant_diagonal(self.length)

    def scan(self, codes: npt.NDArray[np.uint8], starts: Ints, n_threads: int | None = None) -> Floats:
        """Return the values of the windows that begin at `starts` (ascending), float64 (n,).

        None of their residues may be masked.
        """
        values = self._weights.scan(codes, starts, n_threads)
        return over_root(values, self._raw_diagonal(codes, starts)) if self.kernel.normalize else values

    def diagonal(self, codes: npt.NDArray[np.uint8], starts: Ints) -> Floats:
        """Return K(x, x) of the windows, shape (n,), or (1,) if it is the same for all windows."""
        raw = self._raw_diagonal(codes, starts)
        return (raw > 0).astype(np.float64) if self.kernel.normalize else raw

    def _raw_diagonal(self, codes: npt.NDArray[np.uint8], starts: Ints) -> Floats:
        starts = starts[:1] if self._same else starts
        out = np.empty(len(starts))
        for first in range(0, len(starts), AT_ONCE):
            some = starts[first : first + AT_ONCE]
            windows = SequenceSet(codes, some, some + self.length, [""] * len(some), self.alphabet)
            out[first : first + AT_ONCE] = self.kernel.prepare(windows, like=self._columns).raw_diagonal
        return out


class PartOfWindow:
    """The values of a part of each window, which begins at `offset`."""

    def __init__(self, values: ScansWindows, offset: int) -> None:
        self.values, self.offset = values, offset

    def scan(self, codes: npt.NDArray[np.uint8], starts: Ints, n_threads: int | None = None) -> Floats:
        """Return the values of windows, as `WindowValues.scan`."""
        return self.values.scan(codes, starts + self.offset, n_threads)


class SumOfValues:
    """The sum of several values of each window."""

    def __init__(self, parts: Sequence[ScansWindows]) -> None:
        self.parts = parts

    def scan(self, codes: npt.NDArray[np.uint8], starts: Ints, n_threads: int | None = None) -> Floats:
        """Return the values of windows, as `WindowValues.scan`."""
        total: Any = sum(part.scan(codes, starts, n_threads) for part in self.parts)
        return total


# Feature vectors of more records than fit into memory, computed for some records at a time.
#
# A `DeferredImplicit` keeps the records only. `implicit` makes the feature vectors of a part, to train on; `weights`
# folds support records into one table, and `dots` applies it to the records, block by block.

BLOCK = 1 << 16
"""Records prepared together."""

MATRIX_BYTES = 1 << 26
"""Bytes of the kernel values with the support, where these are not folded."""

LARGEST_SET = 2_000_000
"""Number of records that have feature vectors at the same time; smaller sets have all of theirs.

Fixed, so that training is the same on every machine."""

SAMPLE = 50_000
"""Number of records whose feature vectors are measured to predict the memory of all."""


def is_deferred(X: object) -> TypeGuard[SequenceSet]:
    """Return whether the feature vectors of the samples are computed in parts, never all at the same time."""
    return isinstance(X, SequenceSet) and len(X) > LARGEST_SET


def sample(X: SequenceSet) -> tuple[SequenceSet, float]:
    """Return about `SAMPLE` evenly spaced records, and the ratio of all records to these."""
    some = X.take(slice(0, len(X), max(1, len(X) // SAMPLE)))
    return some, len(X) / max(1, len(some))


class DeferredImplicit(KernelOperator):
    """Feature vectors of n records, none of them stored."""

    def __init__(self, kernel: Kernel, X: SequenceSet, tables: object = None) -> None:
        self.kernel = kernel
        self.X = X
        self.tables = object() if tables is None else tables
        self.counts: dict[str, int] = {}
        self.n_weights = 0

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def squares(self) -> Floats:  # type: ignore[override]  # the base declares an attribute
        """K(x, x), float64 (n,)."""
        out = np.empty(len(self))
        for start in range(0, len(self), BLOCK):
            rows = self.kernel.prepare(self.X.take(slice(start, start + BLOCK)))
            out[start : start + BLOCK] = rows.diagonal
            for what, count in rows.counts.items():
                self.counts[what] = self.counts.get(what, 0) + count
        return out

    def take(self, rows: npt.ArrayLike) -> DeferredImplicit:
        """Return the operator of the records numbered `rows`."""
        return DeferredImplicit(self.kernel, self.X.take(np.asarray(rows, dtype=np.int64)), self.tables)

    def implicit(self) -> Implicit:
        """Return the feature vectors of all records, in memory."""
        return self.kernel.implicit(self.X)

    def weights(self, coefficients: npt.ArrayLike) -> Any:
        """Return weights for `dots`: the function Σ_i coefficients[i]·K(·, x_i)."""
        return _Weights(self.kernel, self.X, np.asarray(coefficients, dtype=np.float64))

    def dots(self, weights: Any, out: Floats | None = None, rows: Ints | None = None) -> Floats:
        """Return the value of `weights` for each record, shape (n,), or for those numbered `rows`."""
        if rows is not None:
            return self.take(rows).dots(weights, out)
        out = np.empty(len(self)) if out is None else out
        for start in range(0, len(self), BLOCK):
            out[start : start + BLOCK] = weights(self.X.take(slice(start, start + BLOCK)))
        return out

    @staticmethod
    def bytes_for(kernel: Kernel, X: SequenceSet) -> int:
        """Return the predicted peak memory of the feature vectors, in bytes."""
        some, ratio = sample(X)
        return int(kernel.implicit.bytes(some) * ratio * min(1.0, LARGEST_SET / len(X)))


class _Weights:
    """The sum over support records: as weights at positions, or folded into one table, if the kernel supports it."""

    def __init__(self, kernel: Kernel, support: SequenceSet, coefficients: Floats) -> None:
        self.kernel, self.coefficients = kernel, coefficients
        support = support.compact()
        self.columns = kernel.prepare(support)
        self._at_positions = None
        at_positions = kernel.tables.at_positions
        if at_positions is not None and len(np.unique(support.lengths)) == 1:
            scaled = over_root(coefficients, self.columns.raw_diagonal) if kernel.normalize else coefficients
            self._at_positions, self._length = at_positions(support, scaled), support.lengths[0]

    @cached_property
    def _folded(self) -> Folded | None:
        return fold(self.kernel, self.columns, self.coefficients)

    def __call__(self, X: SequenceSet) -> Floats:
        """Return the value of each record of `X`, float64 (n,)."""
        X = X.compact()
        clear = (X.codes < X.alphabet.size).all()  # some kernels' weights at positions do not take masked residues
        if self._at_positions is not None and clear and (X.lengths == self._length).all():
            rows = self.kernel.prepare(X, like=self.columns)
            sums = self._at_positions.scan(X.codes, X.starts)
            return over_root(sums, rows.raw_diagonal) if self.kernel.normalize else sums
        if self._folded is not None:
            return self._folded(self.kernel.prepare(X, like=self.columns))
        out, step = np.empty(len(X)), max(1, MATRIX_BYTES // (8 * max(1, len(self.columns))))
        for start in range(0, len(X), step):
            rows = self.kernel.prepare(X.take(slice(start, start + step)), like=self.columns)
            K = fill(self.kernel, rows, self.columns, np.empty((len(rows), len(self.columns))))
            out[start : start + step] = np.sum(K * self.coefficients, axis=1)
        return out
