"""The engine of the local alignment kernel: sums over all local alignments.

`LocalSums` is a set of sequences made ready, `product` fills a rectangle with ln K. K(x, y) is computed with one
sequence as rows and the other one, beside others, in a vector lane. Which is which is a matter of the two sequences
alone, the larger one by length and then by its codes being the row, so that lanes beside each other differ little in
length: the bits are the same wherever the pair occurs. Neither do they depend on the other lanes.
`seqkern.kernels.alignment.local_factors` describes the numerics.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqkern.kernels._records import Records
from seqkern.kernels.alignment import _local_alignment
from seqkern.kernels.alignment.local_factors import SINGLE_LETTERS, Factors
from seqkern.kernels.products import _product
from seqkern.kernels.ranks import order_keys, ranks
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet


class LocalSums:
    """The payload of the local alignment kernel: sequences, or a range of them, and ln K of each with itself.

    Parameters
    ----------
    X : SequenceSet
        The sequences.
    factors : Factors
        For their alphabet.
    like : LocalSums, optional
        What they will be compared with, as columns.

    Attributes
    ----------
    logarithms : ndarray of float64
        ln K of each with itself, of all records.
    values : ndarray of float64
        The kernel values, set by the kernel.
    """

    def __init__(self, X: SequenceSet, factors: Factors, like: LocalSums | None = None) -> None:
        self.factors = factors
        self.ids, self.start, self.stop = X.ids, X.starts, X.stops
        self.codes = np.where(X.codes == MASK, np.uint8(X.alphabet.size), X.codes)
        keys = order_keys(self.codes, self.start, self.stop)
        self.keys: list[tuple[int, bytes]] = sorted(set(keys)) if like is None else like.keys
        self.rank = ranks(keys, self.keys)
        self.first, self.last = 0, len(X)
        self.logarithms = np.zeros(len(X))
        self.values = self.logarithms
        self._fill_diagonal(np.argsort(X.lengths, kind="stable"), X.lengths)

    def __len__(self) -> int:
        return self.last - self.first

    def rows(self, start: int, stop: int) -> LocalSums:
        """Return the records `start` to `stop`, as a view.

        Parameters
        ----------
        start, stop : int
            Records `start` to `stop` − 1 of this range.

        Returns
        -------
        LocalSums
        """
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__, first=self.first + start, last=self.first + stop)
        return view

    def diagonal(self) -> npt.NDArray[np.float64]:
        """Return the kernel of each with itself, float64 (n,)."""
        return self.values[self.first : self.last]

    def own_logarithms(self) -> npt.NDArray[np.float64]:
        """Return ln K of each with itself, float64 (n,)."""
        return self.logarithms[self.first : self.last]

    def ranks(self) -> npt.NDArray[np.int64]:
        """Return the place of each of these in the order of rows and lanes, int64 (n,)."""
        return self.rank[self.first : self.last]

    def _records(self, order: npt.NDArray[np.int64]) -> Records:
        """Return the compiled Records for an order of these, counted from the first of them."""
        span = slice(self.first, self.last)
        return Records(self.codes, self.start[span], self.stop[span], order)

    def _fill_diagonal(self, order: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> None:
        """Set `logarithms`, given the order by length: a long sequence by itself, as any pair, to save memory."""
        cut = np.searchsorted(lengths[order], SINGLE_LETTERS, side="right")
        settings = self.factors.recursion, _product.level()
        _local_alignment.diagonal(*settings, self.factors.single, self._records(order[:cut]), self.logarithms)
        for k in order[cut:]:
            record = Records(self.codes, self.start[k : k + 1], self.stop[k : k + 1], np.zeros(1, dtype=np.int64))
            out = self.logarithms[k : k + 1, None]
            _local_alignment.fill(*settings, False, record, record, np.ones(1, dtype=np.int64), out)

    def _by_precision(
        self, order: npt.NDArray[np.int64]
    ) -> tuple[tuple[npt.NDArray[np.int64], bool], tuple[npt.NDArray[np.int64], bool]]:
        """Return the two parts of an order by length, and whether single precision will do for them in lanes."""
        lengths = (self.stop - self.start)[self.first : self.last][order]
        cut = np.searchsorted(lengths, SINGLE_LETTERS, side="right") if self.factors.single else 0
        return (order[:cut], True), (order[cut:], False)

    def fill(
        self,
        order: npt.NDArray[np.int64],
        lanes: LocalSums,
        lane_order: npt.NDArray[np.int64],
        stop: npt.NDArray[np.int64],
        out: npt.NDArray[np.float64],
    ) -> None:
        """Set out[row, lane] for each of these as a row, and some of the others in lanes.

        Parameters
        ----------
        order : ndarray of int64, shape (n,)
            These, by rank.
        lanes : LocalSums, m records
            The others.
        lane_order : ndarray of int64
            Those of them that are compared, by rank.
        stop : ndarray of int64, shape (n,)
            Of each row, how many of these lanes it meets.
        out : ndarray of float64, shape (n, m)
            Where ln K is written.
        """
        rows = self._records(order)
        for part, single in lanes._by_precision(lane_order):
            _local_alignment.fill(
                self.factors.recursion,
                _product.level(),
                single,
                rows,
                lanes._records(part),
                np.clip(stop, 0, len(part)),
                out,
            )
            stop = stop - len(part)


def product(rows: LocalSums, cols: LocalSums, out: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Write ln K of two sets.

    Parameters
    ----------
    rows, cols : LocalSums, n and m records
        `rows` was made like the whole that `cols` is cut from.
    out : ndarray of float64, shape (n, m)
        Output array.

    Returns
    -------
    ndarray of float64, shape (n, m)
        `out`.
    """
    same = rows.rank is cols.rank and rows.first == cols.first and rows.last <= cols.last
    row_rank, col_rank = rows.ranks(), cols.ranks()
    row_order, col_order = (np.argsort(rank, kind="stable") for rank in (row_rank, col_rank))
    # The larger one of each pair is the row.
    stop = np.searchsorted(col_rank[col_order], row_rank[row_order], side="right")
    rows.fill(row_order, cols, col_order, stop, out)
    others = col_order[col_order >= len(rows)] if same else col_order
    stop = np.searchsorted(row_rank[row_order], col_rank[others], side="left")
    cols.fill(others, rows, row_order, stop, out.T)
    if same:
        square = out[:, : len(rows)]
        np.copyto(square, square.T.copy(), where=row_rank[:, None] < row_rank)
    return out


def shares(rows: LocalSums, cols: LocalSums, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Share the values of pairs by the probability that each residue of a row is aligned with one of the column.

    Parameters
    ----------
    rows, cols : LocalSums, n and m records
        Whole, no ranges.
    values : ndarray of float64, shape (n, m)
        What is shared.

    Returns
    -------
    ndarray of float64, shape (residues of the rows,)
        Row after row, summed over the columns.
    """
    result = np.zeros(int((rows.stop - rows.start).sum()))
    ours, theirs = (payload._records(np.arange(len(payload))) for payload in (rows, cols))
    _local_alignment.share(rows.factors.logarithms, ours, theirs, values, result)
    return result
