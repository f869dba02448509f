"""Scores of optimal local alignments of many pairs, and the assignment of sequences to rows and vector lanes.

A row sequence is aligned with a group of lane sequences at once; the work is the length of the row times that of the
longest lane. So lanes are sorted by length, and a sequence much longer than the others becomes the row. Scores are
integers, so the assignment does not change them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.kernels._records import Records
from seqkern.kernels.alignment import _smith_waterman
from seqkern.kernels.alignment.alignment_kernel import check_cells
from seqkern.kernels.alignment.integers import LARGEST_TOTAL, IntegerScores
from seqkern.kernels.products import _product
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet

WIDTHS = (8, 16, 32)
TABLE_CODES = 32
MOST_CELLS = 1 << 32  # of one alignment, a byte each, when it is explained


class AlignedSequences:
    """The payload of Smith-Waterman kernels: sequences, or a range of them, and the score of each with itself.

    Parameters
    ----------
    X : SequenceSet
        The sequences.
    scores : IntegerScores
        For their alphabet.
    width : int
        Bits of the lanes to begin with.

    Raises
    ------
    SequenceError
        If a score may exceed 2^30 units.
    """

    def __init__(self, X: SequenceSet, scores: IntegerScores, width: int) -> None:
        self.scores, self.width, self.scoring = scores, width, _scoring(scores)
        self.codes = np.where(X.codes == MASK, np.uint8(len(scores.table) - 1), X.codes)
        self.start, self.stop = X.starts, X.stops
        self.first, self.last = 0, len(X)
        too_long = np.flatnonzero(X.lengths > LARGEST_TOTAL // max(1, scores.largest))
        if len(too_long):
            raise SequenceError(
                f"has {X.lengths[too_long[0]]} residues: scores might exceed 2^30 units of {scores.unit}",
                record=X.ids[too_long[0]],
                remedy="give scores with fewer digits, or cut the sequence into parts",
            )
        self.squares = self._own_scores()

    def __len__(self) -> int:
        return self.last - self.first

    def rows(self, start: int, stop: int) -> AlignedSequences:
        """Return the records `start` to `stop`, as a view.

        Parameters
        ----------
        start, stop : int
            Records `start` to `stop` − 1 of this range.

        Returns
        -------
        AlignedSequences
        """
        view = object.__new__(AlignedSequences)
        view.__dict__.update(self.__dict__, first=self.first + start, last=self.first + stop)
        return view

    def diagonal(self) -> npt.NDArray[np.float64]:
        """Return the score of each record with itself, float64 (n,)."""
        return self.scores.scaled(self.squares[self.first : self.last])

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """int64 (n,)."""
        return (self.stop - self.start)[self.first : self.last]

    def records(self, order: npt.NDArray[np.int64]) -> Any:
        """Return the compiled Records for an order of these, counted from the first of them.

        Parameters
        ----------
        order : ndarray of int64
            Which records, counted from the first of this range.

        Returns
        -------
        Records
        """
        part = slice(self.first, self.last)
        return Records(self.codes, self.start[part], self.stop[part], order)

    def _own_scores(self) -> npt.NDArray[np.float64]:
        """Return the score of each record with itself, in units; most are known without an alignment."""
        table = self.scores.table.astype(np.int64)
        own = table.diagonal().copy()
        most = np.maximum(own, 0)
        fair = np.all(2 * table <= most[:, None] + most, axis=1).astype(np.uint8)
        squares = np.empty(len(self))
        every = self.records(np.arange(len(self)))
        _smith_waterman.own_scores(every, own, fair, self.scores.gap_open, squares)
        for i in np.flatnonzero(np.isnan(squares)):
            one = self.rows(int(i), int(i) + 1)
            _fill(one, one, np.ones(1, dtype=np.int64), 1, squares[i : i + 1, None], max(16, self.width))
        return squares


def _scoring(scores: IntegerScores) -> _smith_waterman.Scoring:
    """Return the compiled Scoring."""
    letters = len(scores.table)
    table = np.zeros((letters, letters + 1), dtype=np.int32)
    table[:, :-1] = scores.table
    narrow = None
    if letters < TABLE_CODES and np.abs(table).max() <= 127:
        narrow = np.zeros((letters, TABLE_CODES), dtype=np.int8)
        narrow[:, : letters + 1] = table
    return _smith_waterman.Scoring(table, narrow, scores.gap_open, scores.gap_extend, scores.largest)


def product(rows: AlignedSequences, cols: AlignedSequences, out: npt.NDArray[np.float64]) -> None:
    """Write the scores of two payloads.

    Parameters
    ----------
    rows, cols : AlignedSequences, n and m records
        What is compared.
    out : ndarray of float64, shape (n, m)
        Output array.
    """
    n = len(rows)
    if rows.squares is cols.squares and rows.first == cols.first and n <= len(cols):
        _triangle(rows, out[:, :n])
        _rectangle(rows, cols.rows(n, len(cols)), out[:, n:])
    else:
        _rectangle(rows, cols, out)
    out[...] = rows.scores.scaled(out)


def _triangle(these: AlignedSequences, out: npt.NDArray[np.float64]) -> None:
    """Write the square matrix of a range with itself, in units."""
    out[...] = 0
    by_length = np.argsort(np.argsort(these.lengths, kind="stable"))
    _fill(these, these, by_length, len(these), out)
    out += out.T.copy()
    np.fill_diagonal(out, these.squares[these.first : these.last])


def _rectangle(rows: AlignedSequences, cols: AlignedSequences, out: npt.NDArray[np.float64]) -> None:
    """Write a matrix of two ranges, in units."""
    if not out.size:
        return
    lanes = _smith_waterman.lanes(_product.level(), rows.width)
    ways = [_split(rows.lengths, cols.lengths, lanes), _split(cols.lengths, rows.lengths, lanes)]
    if ways[1] < ways[0]:
        rows, cols, out = cols, rows, out.T
    _, usual = min(ways)
    # Lanes before `usual` in their order meet all rows; a longer sequence meets the shorter ones, as a row.
    lengths = np.sort(cols.lengths)
    reach = np.maximum(usual, np.searchsorted(lengths, rows.lengths, side="right"))
    _fill(rows, cols, reach, usual, out)
    rank = np.argsort(np.argsort(cols.lengths, kind="stable"))
    reach = np.searchsorted(np.sort(rows.lengths), cols.lengths, side="left")
    _fill(cols, rows, np.where(rank < usual, 0, reach), len(rows), out.T)


def _split(rows: npt.NDArray[np.int64], cols: npt.NDArray[np.int64], lanes: int) -> tuple[int, int]:
    """Return the least work, in steps of one vector, and how many lanes, by length, meet all rows then.

    Parameters
    ----------
    rows, cols : ndarray of int64
        Lengths.
    lanes : int
        Of a vector.
    """
    work = _group_lengths(cols, lanes) * int(rows.sum())
    longer = np.concatenate((np.cumsum(np.sort(cols)[::-1])[::-1], [0])) * int(_group_lengths(rows, lanes)[-1])
    total = work + longer
    best = int(np.argmin(total))
    return int(total[best]), best


def _group_lengths(lengths: npt.NDArray[np.int64], lanes: int) -> npt.NDArray[np.int64]:
    """Return for k = 0 … n the summed lengths of the longest of each group of the k shortest, int64 (n + 1,).

    Groups are full, but for that of the shortest.
    """
    n = len(lengths)
    padded = np.zeros(-(-n // lanes) * lanes, dtype=np.int64)
    padded[:n] = np.sort(lengths)
    sums = np.cumsum(padded.reshape(-1, lanes), axis=0).ravel()
    return np.concatenate(([0], sums[:n]))


def _fill(
    rows: AlignedSequences,
    lanes: AlignedSequences,
    reach: npt.NDArray[np.int64],
    usual: int,
    out: npt.NDArray[np.float64],
    width: int | None = None,
) -> None:
    """Set out[row, lane] for each row and the reach[row] shortest lanes; `usual` is where a group is to begin."""
    level, first = _product.level(), width or rows.width
    order = np.argsort(lanes.lengths, kind="stable")
    size = _smith_waterman.lanes(level, first)
    bounds = np.unique([0, *range(usual, 0, -size), *range(usual, len(lanes), size), len(lanes)])
    arguments = rows.records(np.arange(len(rows))), lanes.records(order), np.ascontiguousarray(reach), bounds, out
    _smith_waterman.fill(level, first, rows.scoring, *arguments)
    for wider in WIDTHS:
        if wider > first:
            _smith_waterman.correct(level, wider, rows.scoring, *arguments)


def shares(rows: AlignedSequences, cols: AlignedSequences, coefficients: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the share of each residue of the rows in Σ_j coefficients[j]·score(x, z_j), by one optimal alignment each.

    Parameters
    ----------
    rows, cols : AlignedSequences, n and m records
        Whole, no ranges.
    coefficients : array_like of float64, shape (m,)
        c_j.

    Returns
    -------
    ndarray of float64, shape (residues of the rows,)

    Raises
    ------
    SequenceError
        If two sequences are too long.
    """
    check_cells(rows.lengths, cols.lengths, MOST_CELLS)
    result = np.zeros(int(rows.lengths.sum()))
    weights = rows.scores.scaled(np.asarray(coefficients, dtype=np.float64))
    ours, theirs = (these.records(np.arange(len(these))) for these in (rows, cols))
    _smith_waterman.share(rows.scoring, ours, theirs, np.ascontiguousarray(weights), result)
    return result
