"""The engine of the string kernel: sums over chains of matching residues.

`Chains` defines which chains count and their weights, `Subsequences` is a prepared set of sequences, `product` fills a
rectangle. K(x, y) is computed with one sequence as the row and the other, with others, in a vector lane. The smaller
one, by length and then by codes, is the row, so that the bits of a pair never depend on other sequences.
"""

import math
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.kernels._records import Records
from seqkern.kernels.products import _product
from seqkern.kernels.ranks import order_keys, ranks
from seqkern.kernels.subsequence import _subsequence
from seqkern.kernels.subsequence.chains import EXACTLY, Chains
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet

MOST_BYTES = 1 << 33
SAFE_POWER = 900  # doubles between 2^−900 and 2^900 have not underflowed or overflowed


T = TypeVar("T", bound=np.generic)


class Subsequences:
    """The payload of the string kernel: sequences, or a range of them, and K of each with itself.

    K(x, y) is stored times 2^−(power of x + power of y), where powers are 0 unless K(x, x) is out of a double's range;
    normalisation removes them.

    Parameters
    ----------
    X : SequenceSet
        The sequences.
    chains : Chains
        Which chains of matching residues count.
    like : Subsequences, optional
        The columns to compare with.
    single : bool
        Whether to compute in single precision where it suffices.
    empty : bool
        Whether to count the empty chain.
    scaled : bool
        Whether K may be scaled by powers of two, one for each sequence.

    Attributes
    ----------
    squares : ndarray of float64, shape (all records,)
        K(x, x), as stored.
    powers : ndarray of int64, shape (all records,)
        The power of each.

    Raises
    ------
    SequenceError
        If they are too long, or K(x, x) overflows and may not be scaled.
    """

    def __init__(
        self,
        X: SequenceSet,
        chains: Chains,
        like: "Subsequences | None" = None,
        *,
        single: bool = False,
        empty: bool = False,
        scaled: bool = True,
    ) -> None:
        self.chains, self.single, self.empty, self.scaled = chains, single, empty, scaled
        self.ids, self.start, self.stop = X.ids, X.starts, X.stops
        size = len(chains.weights)
        self.codes = np.where(X.codes == MASK, np.uint8(size), X.codes)
        self.longest = int(X.lengths.max(initial=0))
        needed = chains.working_bytes(self.longest)
        if needed > MOST_BYTES:
            raise SequenceError(
                f"subsequences of {chains.levels + 1} of {self.longest} residues would take {needed / 1e9:.0f} GB",
                record=X.ids[int(X.lengths.argmax())],
                remedy="choose a smaller n, or cut the sequences into parts",
            )
        self.recursion = chains.recursion(self.longest)
        keys = order_keys(self.codes, self.start, self.stop)
        self.keys = sorted(set(keys))
        self.rank = ranks(keys, self.keys if like is None else like.keys)
        self.burden = chains.burdens(X.lengths)
        self.limit = chains.single_limit if single else -1.0
        self.first, self.last = 0, len(X)
        unmasked = np.array([length - text.count(size) for length, text in keys], dtype=np.int64)
        self._fill_diagonal(unmasked)

    def __len__(self) -> int:
        return self.last - self.first

    def rows(self, start: int, stop: int) -> "Subsequences":
        """Return some of the records, as a view.

        Parameters
        ----------
        start, stop : int
            Records `start` to `stop` − 1 of these.

        Returns
        -------
        Subsequences
        """
        view = object.__new__(Subsequences)
        view.__dict__.update(self.__dict__, first=self.first + start, last=self.first + stop)
        return view

    def diagonal(self) -> npt.NDArray[np.float64]:
        """Return K(x, x), as stored, float64 (n,)."""
        return self.squares[self.first : self.last]

    def of_range(self, array: npt.NDArray[T]) -> npt.NDArray[T]:
        """Return the part of an array that belongs to these records.

        Parameters
        ----------
        array : ndarray, shape (all records,)
            An array over all records.

        Returns
        -------
        ndarray, shape (n,)
            A view.
        """
        return array[self.first : self.last]

    def records(self, order: npt.NDArray[np.int64]) -> Records:
        """Return the compiled records.

        Parameters
        ----------
        order : ndarray of int64, shape (m,)
            Which of these records, in this order, counted from the first of them.

        Returns
        -------
        Records
        """
        return Records(self.codes, self.of_range(self.start), self.of_range(self.stop), order)

    def _fill_diagonal(self, unmasked: npt.NDArray[np.int64]) -> None:
        """Set `squares`, K of each with itself, and `powers`, from the number of unmasked residues of each record."""
        lengths = self.stop - self.start
        order = np.argsort(lengths, kind="stable")
        self.squares, self.powers = np.zeros(len(self)), np.zeros(len(self), dtype=np.int64)
        light = 2 * self.burden[order] <= self.limit
        for single, chosen in ((True, order[light]), (False, order[~light])):
            _subsequence.diagonal(self.recursion, _product.level(), single, self.records(chosen), self.squares)
        least = self.chains.levels + 1 if self.chains.mode == EXACTLY else 1
        for i in np.flatnonzero(_doubtful(self.squares) & (unmasked >= least)):
            record = self.records(np.array([i]))
            mantissa, power = _subsequence.wide_value(self.recursion, record, record)
            digits = math.frexp(mantissa)[1] + power
            if self.scaled and abs(digits) > SAFE_POWER:
                self.powers[i] = digits // 2
            elif digits > 1023:
                raise SequenceError(
                    "its kernel with itself overflows",
                    record=self.ids[int(i)],
                    remedy="choose normalize=true, a smaller n or decay, or cut the sequence into parts",
                )
            self.squares[i] = math.ldexp(mantissa, int(power - 2 * self.powers[i]))
        if self.empty:
            self.squares += np.ldexp(1.0, -2 * self.powers)


def _doubtful(values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return where doubles may have overflowed or underflowed."""
    return ~((values > 2.0**-SAFE_POWER) & (values < np.inf))


def product(rows: Subsequences, cols: Subsequences, out: npt.NDArray[np.float64]) -> None:
    """Write the kernel matrix of two payloads.

    Parameters
    ----------
    rows, cols : Subsequences
        `rows` prepared like the whole that `cols` is a part of, or also a part of it.
    out : ndarray of float64, shape (n, m)
        Overwritten.

    Raises
    ------
    SequenceError
        If a double overflows.
    """
    same = rows.rank is cols.rank and rows.first == cols.first and rows.last <= cols.last
    recursion = max(rows, cols, key=lambda payload: payload.longest).recursion
    row_rank, col_rank = rows.of_range(rows.rank), cols.of_range(cols.rank)
    row_order, col_order = (np.argsort(rank, kind="stable") for rank in (row_rank, col_rank))
    # The smaller sequence of each pair is the row.
    first = np.searchsorted(col_rank[col_order], row_rank[row_order], side="left")
    _fill(recursion, rows, row_order, cols, col_order, first, out)
    others = col_order[col_order >= len(rows)] if same else col_order
    first = np.searchsorted(row_rank[row_order], col_rank[others], side="right")
    _fill(recursion, cols, others, rows, row_order, first, out.T)
    if same:
        square = out[:, : len(rows)]
        np.copyto(square, square.T.copy(), where=row_rank[:, None] > row_rank)
    _correct(recursion, rows, cols, out)
    if rows.empty:
        out += np.ldexp(1.0, -np.add.outer(rows.of_range(rows.powers), cols.of_range(cols.powers)))


def _fill(
    recursion: _subsequence.Recursion,
    rows: Subsequences,
    row_order: npt.NDArray[np.int64],
    lanes: Subsequences,
    lane_order: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    out: npt.NDArray[np.float64],
) -> None:
    """Set out[row, lane] for each row and the lanes from its `first` on."""
    stop = np.full(len(first), len(lane_order))
    cut = np.searchsorted(
        lanes.of_range(lanes.burden)[lane_order], rows.limit - rows.of_range(rows.burden)[row_order], side="right"
    )
    arguments = rows.records(row_order), lanes.records(lane_order)
    if rows.single:
        _subsequence.fill(recursion, _product.level(), True, *arguments, first, np.minimum(stop, cut), out)
        first = np.maximum(first, cut)
    _subsequence.fill(recursion, _product.level(), False, *arguments, first, stop, out)


def _correct(
    recursion: _subsequence.Recursion, rows: Subsequences, cols: Subsequences, out: npt.NDArray[np.float64]
) -> None:
    """Scale by the powers of the sequences, and recompute overflowed values in wide numbers."""
    row_powers, col_powers = rows.of_range(rows.powers), cols.of_range(cols.powers)
    bad = ~np.isfinite(out)
    if row_powers.any() or col_powers.any():
        scale = np.add.outer(row_powers, col_powers)
        bad |= _doubtful(out) & (scale < 0)
        out[...] = np.ldexp(out, -scale)
    for i, j in zip(*np.nonzero(bad), strict=True):
        row, lane = rows.records(np.array([i])), cols.records(np.array([j]))
        if rows.of_range(rows.rank)[i] > cols.of_range(cols.rank)[j]:
            row, lane = lane, row
        mantissa, power = _subsequence.wide_value(recursion, row, lane)
        try:
            out[i, j] = math.ldexp(mantissa, int(power - row_powers[i] - col_powers[j]))
        except OverflowError:
            raise SequenceError(
                f"its kernel with {cols.ids[cols.first + j]} overflows",
                record=rows.ids[rows.first + i],
                remedy="choose normalize=true, a smaller n or decay, or cut the sequences into parts",
            ) from None
