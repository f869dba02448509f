"""Windows of two sequences compared by Hamming distance, for the product engine.

K(x, y) = Σ_h weights[h]·N_h(x, y), N_h the number of pairs of windows of l residues that differ in h positions. Two
exact ways to the N_h:

- ``diagonals``: many columns at once, each a bit of a vector. The number of matches of two windows, kept as
  binary digits in several vectors, changes by at most one from a pair of windows to the next on their diagonal.
- ``pairs``: window against window, packed into machine words. It supports window weights.

Both give integers; real weights are applied at the end, once for each entry, in a fixed order.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels.kmer import _kmers
from seqkern.kernels.kmer.hamming import _hamming, _hamming_lanes, _hamming_pairs
from seqkern.kernels.kmer.hamming.hamming_walks import Walks, wrapped
from seqkern.kernels.kmer.kmers import NO_COMPLEMENT, per_record
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

LARGEST_LENGTH = 31
LARGEST_WEIGHT = 2**62
LARGEST_COUNT = 2.0**63 - 2.0**40
ALIGNMENT = 64
LONG_RECORD = 8192  # windows of a record that fill the lanes with its own pieces
NO_WEIGHTS = np.zeros(0, dtype=np.int64)
NO_LIGHT = np.zeros(0, dtype=np.int32)

Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Sums = npt.NDArray[np.int32 | np.int64 | np.float64]
Packed = npt.NDArray[np.uint16 | np.uint32]
Lanes = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32]]
NO_WINDOWS = np.zeros((0, 0), dtype=np.uint16)


class HammingBlock:
    """Σ over pairs of windows (a of x, b of y) of u(a)·v(b)·weights[h(a, b)], u and v the windows' weights.

    Parameters
    ----------
    X : SequenceSet of n records
        Windows with a masked residue do not count.
    length : int
        Residues of a window, 1 to 31.
    weights : sequence of int or float, length + 1
        For each Hamming distance. If all are integers, so are the sums; else they are float64.
    strands : {"one", "both"}
        With "both", a pair counts weights[h(a, b)] + weights[h(a, reverse complement of b)].
    algorithm : {"diagonals", "pairs"}
        Algorithm; results are identical. Rows use that of their columns.
    window_weights : array_like of int, shape (windows,), optional
        The weight of each window, in the order of `find_windows`; by default 1. Needs "pairs".
    like : HammingBlock, optional
        The columns to compare these rows with.

    Attributes
    ----------
    squares : ndarray of int64, shape (n,), or of float64 if `real`
        The sum for each record and itself.
    largest : float
        No sum of two records exceeds the root of the product of the blocks' `largest`.
    real : bool
        Whether some weight is no integer.

    Raises
    ------
    ParameterError
        For an invalid length or invalid weights.
    SequenceError
        If the weighted number of pairs of windows might exceed 64 bits.
    """

    def __init__(
        self,
        X: SequenceSet,
        length: int,
        weights: Sequence[float],
        *,
        strands: Literal["one", "both"] = "one",
        algorithm: str = "diagonals",
        window_weights: Sequence[int] | npt.NDArray[np.int64] | None = None,
        like: "HammingBlock | None" = None,
    ) -> None:
        if not 1 <= length <= LARGEST_LENGTH:
            raise ParameterError(
                f"windows of {length} residues are not possible", remedy=f"choose 1 to {LARGEST_LENGTH} residues"
            )
        self.length, self.size = length, X.alphabet.size
        self.weights, self.real = as_weights(weights, length)
        self.algorithm: str = algorithm if like is None else like.algorithm
        if window_weights is not None and self.algorithm != "pairs":
            raise ParameterError("weighted windows need algorithm=pairs", remedy="choose algorithm=pairs")
        self.complement = NO_COMPLEMENT if strands == "one" else X.alphabet.complement_codes
        self.codes = X.codes
        self._find_stretches(X)
        self.start = np.concatenate(([0], np.cumsum(self.windows)))[self.stretches]
        self.window_weights, self.light = NO_WEIGHTS, NO_LIGHT
        if window_weights is not None:
            if len(window_weights) != self.windows.sum():
                raise ParameterError(
                    f"{len(window_weights)} weights for {self.windows.sum()} windows",
                    remedy="give one weight for each window",
                )
            self.window_weights = np.zeros(len(window_weights) + _hamming_pairs.MORE_WINDOWS, dtype=np.int64)
            self.window_weights[: len(window_weights)] = window_weights
            if np.abs(self.window_weights).max() <= _hamming_pairs.LARGEST_LIGHT_WEIGHT:
                self.light = self.window_weights.astype(np.int32)
        self.packed, self.other_packed = self._pack()
        self.walks = Walks(length, self.weights.tolist(), self.real)
        self.squares = self._squares()
        self.largest = self._largest()
        if self.algorithm == "diagonals":
            self.packed = self.other_packed = NO_WINDOWS  # no longer needed

    def _find_stretches(self, X: SequenceSet) -> None:
        """Find the stretches of windows without a masked residue: first residue, number of windows, by record."""
        numbers = np.empty(len(X), dtype=np.int64)
        _kmers.count_windows(X.codes, X.starts, X.stops, self.length, self.size, True, numbers)
        self.stretches = per_record(numbers)
        self.first = np.empty(self.stretches[-1], dtype=np.int64)
        self.windows = np.empty(self.stretches[-1], dtype=np.int64)
        _hamming_lanes.find_stretches(X.codes, X.starts, X.stops, self.length, self.size, self.first, self.windows)

    def _pack(self) -> tuple[Packed, Packed]:
        """Return the windows packed, (bits of a letter, windows), and those of the other strand, if it counts."""
        shape = max(1, (self.size - 1).bit_length()), int(self.windows.sum()) + _hamming_pairs.MORE_WINDOWS
        dtype = np.uint16 if self.length <= 16 else np.uint32
        packed: Packed = np.zeros(shape, dtype=dtype)
        _hamming_pairs.pack_windows(self.codes, self.first, self.windows, NO_COMPLEMENT, self.length, packed)
        if not len(self.complement):
            return packed, np.empty((shape[0], 0), dtype=dtype)
        others: Packed = np.zeros(shape, dtype=dtype)
        _hamming_pairs.pack_windows(self.codes, self.first, self.windows, self.complement, self.length, others)
        return packed, others

    def _squares(self) -> Weights:
        """Return K(x, x) of each record; for long records without window weights, along the diagonals."""
        squares: npt.NDArray[Any] = np.zeros((len(self.start) - 1, 1), dtype=self.weights.dtype)
        long = np.diff(self.start) >= LONG_RECORD
        if len(self.window_weights):
            long[:] = False
        short = np.flatnonzero(~long)
        for run in np.split(short, np.flatnonzero(np.diff(short) > 1) + 1):
            if len(run):
                span = slice(run[0], run[-1] + 1)
                self._compare(run[0], self, run[0], 1, False, True, squares[span])
        for i in np.flatnonzero(long).tolist():
            self._walk(i, self, i, i + 1, 1, squares[i : i + 1])
        return squares[:, 0]

    def _largest(self) -> float:
        if len(self.window_weights):
            sums = np.concatenate(([0.0], np.cumsum(np.abs(self.window_weights.astype(np.float64)))))[self.start]
            most = np.diff(sums).max(initial=0.0)
        else:
            most = float(np.diff(self.start).max(initial=0))
        pairs = (2.0 if len(self.complement) else 1.0) * float(most) ** 2
        if pairs >= LARGEST_COUNT:
            raise SequenceError(
                "the sequences are too long for exact counts", remedy="cut the sequences into shorter parts"
            )
        return pairs * max(abs(float(weight)) for weight in self.weights)

    def accumulate(
        self, row: int, cols: "HammingBlock", first: int, last: int, factor: int, upper: bool, sums: Sums
    ) -> None:
        """Add factor · the sums of rows and columns to `sums`.

        `sums` is float64 (then `factor` is 1) if `real`, else int32 or int64.

        Parameters
        ----------
        row, cols, first, last, factor, upper, sums
            As in `Block.accumulate`.
        """
        if last <= first or not len(sums):
            return
        if self.algorithm == "diagonals":
            self._walk(row, cols, first, last, factor, sums)
        else:
            self._compare(row, cols, first, factor, upper, False, sums)

    def _compare(
        self, row: int, cols: "HammingBlock", first: int, factor: int, upper: bool, own: bool, sums: Sums
    ) -> None:
        """Do `accumulate` window by window; with `own`, only for each record and itself."""
        many = max((h + 1 for h, weight in enumerate(self.weights) if weight), default=0)
        weights = self.weights[:many]
        _hamming_pairs.compare(
            self.packed,
            self.other_packed,
            self.start,
            self.window_weights,
            cols.packed,
            cols.start,
            cols.window_weights,
            cols.light,
            _product.level(),
            np.array([0 if self.real else wrapped(factor * int(weight)) for weight in weights], dtype=np.int64),
            weights.astype(np.float64),
            row,
            first,
            upper,
            own,
            sums,
        )

    def _walk(self, row: int, cols: "HammingBlock", first: int, last: int, factor: int, sums: Sums) -> None:
        """Do `accumulate` along the diagonals."""
        level = _product.level()
        lanes = _hamming.lanes(level)
        starts, windows, columns = cols._lanes(first, last, lanes)
        if not len(windows):
            return
        longest = np.maximum.reduceat(windows, np.arange(0, len(windows), lanes))
        bytes_ = sum(_hamming.block_bytes(n, self.length, self.size, level) for n in longest.tolist())
        memory = np.empty(bytes_ + ALIGNMENT, dtype=np.uint8)
        _hamming.fill_blocks(cols.codes, starts, windows, longest, self.length, self.size, level, memory)
        most = int(self.windows[self.stretches[row] : self.stretches[row + len(sums)]].max(initial=0)) + self.length
        totals = (last - first + 1) * (len(self.walks.factors) if self.real else 1)
        _hamming.walk(
            self.codes,
            self.stretches,
            self.first,
            self.windows,
            self.complement,
            most,
            memory,
            longest,
            _in_reading_order(columns, lanes, last - first),
            np.diff(cols.start[first : last + 1]),
            self.size,
            self.length,
            level,
            self.walks.passes,
            np.array([wrapped(factor * number) for number in self.walks.factors.tolist()], dtype=np.int64),
            self.walks.order,
            self.walks.weights,
            wrapped(factor * self.walks.rest),
            row,
            np.empty(_hamming.scratch_bytes(level, most, totals), dtype=np.uint8),
            sums,
        )

    def _lanes(self, first: int, last: int, lanes: int) -> Lanes:
        """Return first residue, windows and column of each lane for the columns `first` … `last`.

        Long stretches are cut, and those of the last block too, to fill the lanes of a vector.
        """
        span = slice(self.stretches[first], self.stretches[last])
        windows = self.windows[span]
        columns = np.repeat(np.arange(last - first, dtype=np.int32), np.diff(self.stretches[first : last + 1]))
        if not len(windows):
            return self.first[span], windows, columns
        most, used = _hamming_lanes.plan_lanes(windows, lanes, np.zeros((2, int(windows.max()) + 1), dtype=np.int64))
        start = (used - 1) // lanes * lanes
        pieces = lanes // (used - start)
        total = start + (used - start) * pieces
        cut = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int32)
        _hamming_lanes.cut_lanes(self.first[span], windows, columns, most, np.zeros(most + 1, dtype=np.int64), *cut)
        _hamming_lanes.cut_last(start, used, pieces, *cut)
        return cut


def _in_reading_order(columns: npt.NDArray[np.int32], lanes: int, unused: int) -> npt.NDArray[np.int32]:
    """Return the column of each lane, int32, as `walk` reads them: lane 8·i + r of a block at r·lanes/8 + i."""
    blocks = -(-len(columns) // lanes)
    padded = np.full(blocks * lanes, unused, dtype=np.int32)
    padded[: len(columns)] = columns
    return padded.reshape(blocks, lanes // 8, 8).swapaxes(1, 2).reshape(-1).copy()


def as_weights(weights: Sequence[float], length: int) -> tuple[Weights, bool]:
    """Return the weights of Hamming distances as an array, checked.

    Parameters
    ----------
    weights : sequence of int or float, length + 1
        Of the distances 0, …, `length`.
    length : int
        Residues of a window.

    Returns
    -------
    weights : ndarray of int64 or float64, shape (length + 1,)
        float64 if some are not integers.
    real : bool
        Whether some are not.

    Raises
    ------
    ParameterError
        For another number of weights, or integers beyond 62 bits.
    """
    if len(weights) != length + 1:
        raise ParameterError(f"{len(weights)} weights for {length} residues", remedy=f"give {length + 1}")
    real = not all(float(weight).is_integer() for weight in weights)
    if real:
        return np.array([float(weight) for weight in weights]), True
    if max(abs(int(weight)) for weight in weights) >= LARGEST_WEIGHT:
        raise ParameterError("weights beyond 62 bits are not possible", remedy="divide them by a power of two")
    return np.array([int(weight) for weight in weights], dtype=np.int64), False
