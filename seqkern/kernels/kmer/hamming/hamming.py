"""Windows of two sequences compared by their Hamming distance, for the product engine.

K(x, y) = Σ_h weights[h]·N_h(x, y), N_h the number of pairs of windows of l letters that differ in h positions. Two
exact ways to the N_h:

- ``diagonals``: many columns at once, each a bit of a vector. The number of letters that two windows share, kept as
  binary digits in several vectors, changes by at most one from a pair of windows to the next on their diagonal.
- ``pairs``: window against window, packed into words. For windows that have weights of their own.

Both give integers; weights that are not integers come in at the end, once for each entry, in a fixed order.
"""

import numpy as np

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels.kmer import _kmers
from seqkern.kernels.kmer.hamming import _hamming, _hamming_lanes, _hamming_pairs
from seqkern.kernels.kmer.hamming.hamming_walks import Walks, wrapped
from seqkern.kernels.kmer.kmers import NO_COMPLEMENT, per_record
from seqkern.kernels.planner import Cost
from seqkern.kernels.products import _product

LARGEST_LENGTH = 31
LARGEST_WEIGHT = 2**62
LARGEST_COUNT = 2.0**63 - 2.0**40
ALIGNMENT = 64
STEP_NS = (0.19, 0.17, 0.225)  # an operation on a vector along a diagonal
DIAGONAL_NS = 20.0  # a diagonal
LANE_NS = 10.0  # reading the sum of a lane
PAIR_NS = (0.2, 0.12, 0.08)  # two windows compared
CLASS_NS = (0.05, 0.03, 0.03)  # a distance looked for
WEIGHT_NS = (0.17, 0.11, 0.11)  # the same with weights of windows
WINDOW_NS = 2.0  # a window: packed, for each bit of a letter
LONG_RECORD = 8192  # windows from which a record fills the lanes with its own pieces
NO_WEIGHTS = np.zeros(0, dtype=np.int64)
NO_LIGHT = np.zeros(0, dtype=np.int32)


class HammingBlock:
    """Σ over pairs of windows (a of x, b of y) of u(a)·v(b)·weights[h(a, b)], u and v the windows' weights.

    Parameters
    ----------
    X : SequenceSet of n records
        A window with a masked letter does not count.
    length : int
        Letters of a window, 1 to 31.
    weights : array_like, shape (length + 1,)
        For each Hamming distance. If all are integers, so are the sums; else they are float64.
    strands : {"one", "both"}
        With "both", a pair counts weights[h(a, b)] + weights[h(a, reverse complement of b)].
    algorithm : {"diagonals", "pairs"}
        How to compute; the numbers are the same. Rows follow their columns.
    window_weights : array_like of int, shape (windows,), optional
        The weight of each window, in the order of `find_windows`; by default 1. Needs "pairs".
    like : HammingBlock, optional
        The columns that these rows will be compared with.

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
        For a length or weights that are not possible.
    SequenceError
        If the weighted number of pairs of windows could exceed 64 bits.
    """

    def __init__(self, X, length, weights, *, strands="one", algorithm="diagonals", window_weights=None, like=None):
        if not 1 <= length <= LARGEST_LENGTH:
            raise ParameterError(
                f"windows of {length} letters are not possible", remedy=f"choose 1 to {LARGEST_LENGTH} letters"
            )
        self.length, self.size = length, X.alphabet.size
        self.weights, self.real = _as_weights(weights, length)
        self.algorithm = algorithm if like is None else like.algorithm
        if window_weights is not None and self.algorithm != "pairs":
            raise ParameterError("windows with weights need pairs", remedy="choose algorithm=pairs")
        self.complement = NO_COMPLEMENT if strands == "one" else X.alphabet.complement_codes
        self.letters = X.codes
        self._find_stretches(X)
        self.start = np.concatenate(([0], np.cumsum(self.windows)))[self.stretches]
        self.window_weights, self.light = NO_WEIGHTS, NO_LIGHT
        if window_weights is not None:
            if len(window_weights) != self.windows.sum():
                raise ParameterError(
                    f"{len(window_weights)} weights for {self.windows.sum()} windows", remedy="give one for each"
                )
            self.window_weights = np.zeros(len(window_weights) + _hamming_pairs.MORE_WINDOWS, dtype=np.int64)
            self.window_weights[: len(window_weights)] = window_weights
            if np.abs(self.window_weights).max() <= _hamming_pairs.LARGEST_LIGHT_WEIGHT:
                self.light = self.window_weights.astype(np.int32)
        self.words, self.other_words = self._pack()
        self.walks = Walks(length, self.weights.tolist(), self.real)
        self.squares = self._squares()
        self.largest = self._largest()
        if self.algorithm == "diagonals":
            self.words = self.other_words = None

    def _find_stretches(self, X):
        """Find the stretches of windows without a masked letter: first letter, number of windows, by record."""
        numbers = np.empty(len(X), dtype=np.int64)
        _kmers.count_stretches(X.codes, X.starts, X.stops, self.length, self.size, numbers)
        self.stretches = per_record(numbers)
        self.first = np.empty(self.stretches[-1], dtype=np.int64)
        self.windows = np.empty(self.stretches[-1], dtype=np.int64)
        _hamming_lanes.find_stretches(X.codes, X.starts, X.stops, self.length, self.size, self.first, self.windows)

    def _pack(self):
        """Return the windows as words, (bits of a letter, windows), and those of the other strand, if it counts."""
        shape = max(1, (self.size - 1).bit_length()), int(self.windows.sum()) + _hamming_pairs.MORE_WINDOWS
        dtype = np.uint16 if self.length <= 16 else np.uint32
        words = np.zeros(shape, dtype=dtype)
        _hamming_pairs.pack_windows(self.letters, self.first, self.windows, NO_COMPLEMENT, self.length, words)
        if not len(self.complement):
            return words, np.empty((shape[0], 0), dtype=dtype)
        others = np.zeros(shape, dtype=dtype)
        _hamming_pairs.pack_windows(self.letters, self.first, self.windows, self.complement, self.length, others)
        return words, others

    def _squares(self):
        """Return K(x, x) of each record; of long ones, unless windows have weights, along the diagonals."""
        squares = np.zeros((len(self.start) - 1, 1), dtype=self.weights.dtype)
        long = np.diff(self.start) >= LONG_RECORD
        if len(self.window_weights):
            long[:] = False
        short = np.flatnonzero(~long)
        for run in np.split(short, np.flatnonzero(np.diff(short) > 1) + 1):
            if len(run):
                span = slice(run[0], run[-1] + 1)
                self._compare(run[0], self, run[0], 1, False, True, squares[span])
        for i in np.flatnonzero(long):
            self._walk(i, self, i, i + 1, 1, squares[i : i + 1])
        return squares[:, 0]

    def _largest(self):
        if len(self.window_weights):
            sums = np.concatenate(([0.0], np.cumsum(np.abs(self.window_weights.astype(np.float64)))))[self.start]
            most = np.diff(sums).max(initial=0.0)
        else:
            most = float(np.diff(self.start).max(initial=0))
        pairs = (2.0 if len(self.complement) else 1.0) * float(most) ** 2
        if pairs >= LARGEST_COUNT:
            raise SequenceError("the sequences are too long for exact counts", remedy="cut them into parts")
        return pairs * max(abs(float(weight)) for weight in self.weights)

    def accumulate(self, row, cols, first, last, factor, upper, sums):
        """Add factor · the sums of rows and columns to `sums`; the parameters are those of `SparseBlock.accumulate`.

        `sums` is float64 (then `factor` is 1) if `real`, else int32 or int64.
        """
        if last <= first or not len(sums):
            return
        if self.algorithm == "diagonals":
            self._walk(row, cols, first, last, factor, sums)
        else:
            self._compare(row, cols, first, factor, upper, False, sums)

    def _compare(self, row, cols, first, factor, upper, own, sums):
        """Do `accumulate` window by window; with `own`, only for each record and itself."""
        many = max((h + 1 for h, weight in enumerate(self.weights) if weight), default=0)
        weights = self.weights[:many]
        _hamming_pairs.compare(
            self.words,
            self.other_words,
            self.start,
            self.window_weights,
            cols.words,
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

    def _walk(self, row, cols, first, last, factor, sums):
        """Do `accumulate` along the diagonals."""
        level = _product.level()
        lanes = _hamming.lanes(level)
        starts, windows, columns = cols._lanes(first, last, lanes)
        if not len(windows):
            return
        longest = np.maximum.reduceat(windows, np.arange(0, len(windows), lanes))
        bytes_ = sum(_hamming.block_bytes(n, self.length, self.size, level) for n in longest.tolist())
        memory = np.empty(bytes_ + ALIGNMENT, dtype=np.uint8)
        _hamming.fill_blocks(cols.letters, starts, windows, longest, self.length, self.size, level, memory)
        most = int(self.windows[self.stretches[row] : self.stretches[row + len(sums)]].max(initial=0)) + self.length
        totals = (last - first + 1) * (len(self.walks.factors) if self.real else 1)
        _hamming.walk(
            self.letters,
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

    def _lanes(self, first, last, lanes):
        """Return first letter, windows and column of each lane for the columns `first` … `last`.

        Long stretches are cut, and those of the last block too, so that the lanes of a vector are full.
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


def _in_reading_order(columns, lanes, unused):
    """Return the column of each lane, int32, as `walk` reads them: lane 8·i + r of a block at r·lanes/8 + i."""
    blocks = -(-len(columns) // lanes)
    padded = np.full(blocks * lanes, unused, dtype=np.int32)
    padded[: len(columns)] = columns
    return padded.reshape(blocks, lanes // 8, 8).swapaxes(1, 2).reshape(-1).copy()


def _as_weights(weights, length):
    """Return the weights as int64, or as float64 if some are no integers, and whether they are."""
    if len(weights) != length + 1:
        raise ParameterError(f"{len(weights)} weights for {length} letters", remedy=f"give {length + 1}")
    real = not all(float(weight).is_integer() for weight in weights)
    if real:
        return np.array([float(weight) for weight in weights]), True
    if max(abs(int(weight)) for weight in weights) >= LARGEST_WEIGHT:
        raise ParameterError("weights beyond 62 bits are not possible", remedy="divide them by a power of two")
    return np.array([int(weight) for weight in weights], dtype=np.int64), False


def hamming_costs(work, size, length, weights, both, weighted=False):
    """Return the Cost of each algorithm of a HammingBlock: {"diagonals": …, "pairs": …}.

    The constants are CPU nanoseconds for each level of vector instructions, measured on one core of an AMD EPYC of
    the Zen 4 generation.

    Parameters
    ----------
    work : Workload
        Of one strand.
    size : int
        Letters of the alphabet.
    length : int
    weights : array_like, shape (length + 1,)
    both : bool
        Both strands count.
    weighted : bool
        Windows have weights: diagonals cannot do it.
    """
    level, strands = _product.level(), 2 if both else 1
    weights, real = _as_weights(weights, length)
    many = int(np.max(np.flatnonzero(weights), initial=-1)) + 1
    mine = max(0.0, work.row_letters / max(1, work.rows) - length + 1)
    theirs = max(0.0, work.col_letters / max(1, work.cols) - length + 1)
    bits = max(1, (size - 1).bit_length())
    pair = (PAIR_NS[level] + many * (WEIGHT_NS if weighted else CLASS_NS)[level]) * (1 if length <= 16 else 2)
    windows = work.cols * theirs + (0 if work.symmetric else work.rows * mine)
    squares = work.cols * theirs**2 + (0 if work.symmetric else work.rows * mine**2)
    words = int(windows * bits * (2 if length <= 16 else 4) * strands)
    make = windows * WINDOW_NS * bits * strands + squares * pair * strands
    costs = {}
    if not weighted:
        passes = Walks(length, weights.tolist(), real).passes
        step = int((2 * passes[:, 0] + 3 * passes[:, 1]).sum()) * STEP_NS[level]
        lanes = _hamming.lanes(level)
        blocks = max(1.0, work.cols / lanes)
        lane = min(theirs, work.cols * theirs / (blocks * lanes) + 1)
        diagonals = mine * lane * step + (mine + lane) * DIAGONAL_NS * len(passes)
        halves = 0.55 if work.symmetric else 1.0  # the blocks on the diagonal are computed as squares
        walk = work.rows * halves * blocks * (diagonals * strands + lanes * LANE_NS)
        costs["diagonals"] = Cost((make + walk) * 1e-9, words + int(work.col_letters * (size + 1) / 8))
    compare = work.pairs * mine * theirs * pair * strands
    costs["pairs"] = Cost((make + compare) * 1e-9, words)
    return costs
