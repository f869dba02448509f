"""The engine of the profile alignment kernel: prepared profiles, and blocks of their scores.

One sequence is the row, others are in vector lanes. The score of Smith-Waterman is the same to the bit whichever of
the two is the row. The sum of the local alignment kernel is not: there it is the smaller one, by length and then by a
digest of its tracks, so that the bits are the same wherever the pair occurs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.threads import GIVEN_THREADS, available_threads
from seqkern.kernels.alignment import _profile_alignment
from seqkern.kernels.alignment.alignment_kernel import check_cells
from seqkern.kernels.products import _product
from seqkern.profiles.profile import check_tracks
from seqkern.sequences.sequence_set import SequenceSet

LARGEST = 1e6  # of a score in a track, and of the shift
# Of a pair of columns, β times its score. What ends within `REACH` positions is stored with one power of two: so many
# pairs, each after one of up to 2,000 gaps, are to be less than the e^700 that a double can hold.
MOST_DIGITS = 700 / _profile_alignment.REACH - 8
# Likewise below 0, for the weight of a pair; and of two gaps, next to which pairs of less weight do not matter.
LEAST_DIGITS, GAP_DIGITS = 86.0, 70.0
MOST_CELLS = 25_000_000  # of two sequences that are explained, 24 bytes each
VECTOR_BYTES = 64
# CPU nanoseconds for a multiply-add of a column score, and for the rest of a cell, for each level of instructions.
MULTIPLY_NS = (0.06, 0.0155, 0.0078)
CELL_NS = {"best": (0.6, 0.16, 0.14), "sum": (2.2, 0.6, 0.32)}
LEAST_BLOCK_ROWS, MOST_BLOCK_ROWS = 128, 1024  # fewer leave too many vector lanes idle


@dataclass(frozen=True)
class Sums:
    """What is computed: the best score of an alignment (`beta` 0), or the sum over all of them.

    Attributes
    ----------
    beta, gap_open, gap_extend, shift : float
    """

    beta: float
    gap_open: float
    gap_extend: float
    shift: float

    @property
    def compiled(self) -> Any:
        """The compiled Scoring."""
        return _profile_alignment.Scoring(self.beta, self.gap_open, self.gap_extend, self.shift)

    def cell_ns(self, size: int) -> float:
        """Return the CPU nanoseconds that a pair of columns takes.

        Parameters
        ----------
        size : int
            Letters of the alphabet.

        Returns
        -------
        float
        """
        level = _product.level()
        return 2 * size * MULTIPLY_NS[level] + CELL_NS["sum" if self.beta else "best"][level]


class ProfileColumns:
    """The payload of the profile alignment kernel: sequences with tracks, or a range of them; made by `of`."""

    sums: Sums
    scoring: Any
    profile: npt.NDArray[Any]
    pssm: npt.NDArray[Any]
    start: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]
    keys: npt.NDArray[np.uint64]
    squares: npt.NDArray[np.float64]
    first: int
    last: int

    @classmethod
    def of(cls, X: SequenceSet, sums: Sums) -> ProfileColumns:
        """Prepare sequences.

        Parameters
        ----------
        X : SequenceSet
            With the tracks ``profile`` and ``pssm``.
        sums : Sums
            What is computed.

        Returns
        -------
        ProfileColumns

        Raises
        ------
        SequenceError
            If a track is not one of profiles, or its scores are too large.
        """
        check_tracks(X, ("profile", "pssm"))
        self = cls()
        self.sums, self.scoring = sums, sums.compiled
        self.profile, self.pssm, self.start, self.stop = X.tracks["profile"], X.tracks["pssm"], X.starts, X.stops
        self._check_scores(X)
        self.keys = np.array([self._key(i) for i in range(len(X))], dtype=np.uint64).reshape(len(X), 3)
        self.first, self.last = 0, len(X)
        order = _by_length(self)
        columns = self.columns(order)
        self.squares = np.zeros(len(X))
        diagonal = np.lib.stride_tricks.as_strided(self.squares, (len(X), len(X)), (0, self.squares.itemsize))
        place = np.arange(len(X))
        _profile_alignment.fill(self.scoring, _product.level(), columns, columns, place, place + 1, diagonal)
        return self

    def __len__(self) -> int:
        return self.last - self.first

    def rows(self, start: int, stop: int) -> ProfileColumns:
        """Return the records `start` to `stop`, as a view.

        Parameters
        ----------
        start, stop : int
            Records `start` to `stop` − 1 of this range.

        Returns
        -------
        ProfileColumns
        """
        view = object.__new__(ProfileColumns)
        view.__dict__.update(self.__dict__, first=self.first + start, last=self.first + stop)
        return view

    def diagonal(self) -> npt.NDArray[np.float64]:
        """Return K(x, x), float64 (n,)."""
        return self.of_range(self.squares)

    def of_range(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the part of an array over all records that belongs to these.

        Parameters
        ----------
        array : ndarray, first dimension n
            Something of each record of the whole.

        Returns
        -------
        ndarray
            A view.
        """
        return array[self.first : self.last]

    @property
    def least_block_rows(self) -> int:
        """Fewer rows in a block of the matrix would leave too many vector lanes idle; many blocks are for threads."""
        return max(LEAST_BLOCK_ROWS, min(MOST_BLOCK_ROWS, len(self) // 8))

    def columns(self, order: npt.NDArray[np.int64]) -> Any:
        """Return the compiled Columns for an order of these, counted from the first of them.

        Parameters
        ----------
        order : ndarray of int64
            Which records, counted from the first of this range.

        Returns
        -------
        Columns
        """
        return _profile_alignment.Columns(
            self.profile, self.pssm, self.of_range(self.start), self.of_range(self.stop), order
        )

    def _key(self, i: int) -> tuple[int, int, int]:
        """Return what sequences are compared by: length and digest, three integers."""
        digest = hashlib.blake2b(digest_size=16)
        for track in (self.profile, self.pssm):
            digest.update(track[self.start[i] : self.stop[i]].data)
        value = digest.digest()
        return self.stop[i] - self.start[i], int.from_bytes(value[:8]), int.from_bytes(value[8:])

    def _check_scores(self, X: SequenceSet) -> None:
        """Raise SequenceError for scores that are too large to be summed."""
        sums = self.sums
        for record, start, stop in zip(X.ids, self.start, self.stop, strict=True):
            pssm = self.pssm[start:stop]
            if np.abs(pssm).max(initial=0) > LARGEST:
                raise SequenceError(
                    f"the track 'pssm' has scores beyond {LARGEST:g}", record=record, remedy="rebuild its profile"
                )
            largest, least = (2 * float(end(initial=0)) + sums.shift for end in (pssm.max, pssm.min))
            most = MOST_DIGITS / max(largest, 1e-9)
            if sums.gap_open > 0 and least < 0:
                most = min(most, max(-LEAST_DIGITS / least, GAP_DIGITS / (2 * sums.gap_open)))
            if sums.beta > most:
                raise SequenceError(
                    f"scores of {least:.4g} to {largest:.4g} are too large for beta={sums.beta:g}",
                    record=record,
                    remedy=f"choose a beta of at most {0.95 * most:.2g}",
                )


def _by_length(payload: ProfileColumns) -> npt.NDArray[np.int64]:
    """Return the order of a payload's records by their length."""
    return np.argsort(payload.of_range(payload.stop - payload.start), kind="stable")


def product(rows: ProfileColumns, cols: ProfileColumns, out: npt.NDArray[np.float64]) -> None:
    """Write the kernel matrix of two payloads.

    Parameters
    ----------
    rows, cols : ProfileColumns, n and m records
        What is compared.
    out : ndarray of float64, shape (n, m)
        Output array.
    """
    n = len(rows)
    if rows.keys is cols.keys and rows.first == cols.first and n <= len(cols):
        _square(rows, out[:, :n])
        cols, out = cols.rows(n, len(cols)), out[:, n:]
    if rows.sums.beta:
        _smaller_as_row(rows, cols, out)
        return
    if n > len(cols):
        rows, cols, out = cols, rows, out.T
    every = np.zeros(len(rows), dtype=np.int64), np.full(len(rows), len(cols))
    _fill(rows, _by_length(rows), cols, _by_length(cols), *every, out)


def _square(these: ProfileColumns, out: npt.NDArray[np.float64]) -> None:
    """Write the matrix of a payload with itself."""
    rank, _ = _ranks(these.of_range(these.keys), these.keys[:0])
    order = np.argsort(rank, kind="stable")
    place = np.argsort(order)
    own = np.arange(len(these))
    if these.sums.beta:  # the smaller sequence is the row
        _fill(these, order, these, order, own, np.full(len(own), len(own)), out)
        np.copyto(out, out.T.copy(), where=place[:, None] > place)
    else:  # the score is the same either way, and lanes beside each other waste less where they are the shorter ones
        _fill(these, order, these, order, np.zeros(len(own), dtype=np.int64), own + 1, out)
        np.copyto(out, out.T.copy(), where=place[:, None] < place)


def _smaller_as_row(rows: ProfileColumns, cols: ProfileColumns, out: npt.NDArray[np.float64]) -> None:
    """Write the matrix of two payloads, the smaller sequence of each pair as the row."""
    row_rank, col_rank = _ranks(rows.of_range(rows.keys), cols.of_range(cols.keys))
    row_order, col_order = (np.argsort(rank, kind="stable") for rank in (row_rank, col_rank))
    first = np.searchsorted(col_rank[col_order], row_rank[row_order], "left")
    _fill(rows, row_order, cols, col_order, first, np.full(len(rows), len(cols)), out)
    first = np.searchsorted(row_rank[row_order], col_rank[col_order], "right")
    _fill(cols, col_order, rows, row_order, first, np.full(len(cols), len(rows)), out.T)


def _ranks(rows: npt.NDArray[Any], cols: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the places of the keys of rows and of columns among all of them."""
    rank = np.unique(np.concatenate((rows, cols)), axis=0, return_inverse=True)[1].reshape(-1)
    return rank[: len(rows)], rank[len(rows) :]


def _fill(
    rows: ProfileColumns,
    row_order: npt.NDArray[np.int64],
    lanes: ProfileColumns,
    lane_order: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    stop: npt.NDArray[np.int64],
    out: npt.NDArray[np.float64],
) -> None:
    """Set out[row, lane] for each row and the lanes first[row] … stop[row] − 1 of their order."""
    columns = rows.columns(row_order), lanes.columns(lane_order)
    _profile_alignment.fill(rows.scoring, _product.level(), *columns, first, stop, out)


def shares(
    rows: ProfileColumns, cols: ProfileColumns, coefficients: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the share of each residue of the rows in Σ_j coefficients[j]·K(x, z_j); see `_profile_shares.h`.

    Parameters
    ----------
    rows, cols : ProfileColumns, n and m records
        Whole, no ranges.
    coefficients : ndarray of float64, shape (m,)
        c_j.

    Returns
    -------
    ndarray of float64, shape (residues of the rows,)

    Raises
    ------
    SequenceError
        If two sequences are too long.
    """
    row_lengths, col_lengths = rows.stop - rows.start, cols.stop - cols.start
    check_cells(row_lengths, col_lengths, MOST_CELLS)
    values = np.empty((len(rows), len(cols)))
    product(rows, cols, values)
    values *= coefficients
    result = np.zeros(int(row_lengths.sum()))
    ours, theirs = (these.columns(np.arange(len(these))) for these in (rows, cols))
    _profile_alignment.share(rows.scoring, ours, theirs, values, result)
    return result


def working_bytes(longest: int, size: int, n_threads: int | None) -> int:
    """Return the bytes that threads need.

    Parameters
    ----------
    longest : int
        Residues of the longest sequence.
    size : int
        Letters of the alphabet.
    n_threads : int or None
        As the kernel has it; None for all cores.

    Returns
    -------
    int
    """
    panel = min(longest, _profile_alignment.PANEL_COLUMNS) * (2 * size + 1)
    return available_threads(GIVEN_THREADS.get() or n_threads) * VECTOR_BYTES * (panel + 4 * longest)
