"""Features that are never stored: a walk through the trie of all features (Leslie and Kuang 2004).

The walk is depth-first, with the windows left at each node. Memory is bounded by windows times depth, whatever the
number of features.
"""

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer import _trie
from seqkern.kernels.kmer.neighbourhoods import Rule, Windows
from seqkern.kernels.planner import POSTING_NS, Cost, Workload, _distinct

MOST_FEATURES = 2.0**36  # for one window, about an hour
LIVE_NS = 30.0  # a window that reaches a leaf, and its path
WINDOW_BYTES = 500
BLOCK_ROWS = 512  # one walk for each block of rows


class TrieBlock:
    """Counts of features of n records, by a rule.

    Parameters
    ----------
    rule : Rule
        Which features a window counts for.
    windows : Windows
        Of the n records.
    presence : bool
        Use 1 instead of counts.

    Attributes
    ----------
    squares : ndarray of int64, shape (n,)
        Φ(x)·Φ(x).
    largest : float
        The largest of them, rounded.
    """

    least_block_rows = BLOCK_ROWS

    def __init__(self, rule: Rule, windows: Windows, presence: bool = False) -> None:
        counted = windows.count()
        self.rule, self.presence = rule, presence
        self.start = counted.start
        record = np.repeat(np.arange(len(counted), dtype=np.int32), np.diff(counted.start))
        self._windows = windows.residues[counted.feature], record, counted.count
        self.squares = np.zeros(len(counted), dtype=np.int64)
        rounded = np.zeros(len(counted))
        _trie.square(rule.compiled, *self._windows, presence, self.squares, rounded)
        self.largest = float(rounded.max(initial=0.0))

    def accumulate(
        self,
        row: int,
        cols: "TrieBlock",
        first: int,
        last: int,
        factor: int,
        upper: bool,
        sums: npt.NDArray[np.int32 | np.int64],
    ) -> None:
        """Add factor · Φ(rows)·Φ(columns) to `sums`.

        Each call is one walk.

        Parameters
        ----------
        row, cols, first, last, factor, upper, sums
            As in `Block.accumulate`.
        """
        sides = (*self._windows, self.start, *cols._windows, cols.start)
        _trie.multiply(
            self.rule.compiled, cols.rule.compiled, *sides, self.presence, row, first, last, factor, upper, sums
        )
        if upper:  # the walk skips products of a record with itself, and so all nodes with a single record
            own = np.arange(max(row, first), min(row + len(sums), last))
            sums[own - row, own - first] += (factor * self.squares[own]).astype(sums.dtype)


def trie_cost(work: Workload, features: float, shared: float) -> Cost:
    """Return the Cost of a TrieBlock.

    Parameters
    ----------
    work : Workload
        Workload of the matrix; of both strands if both count.
    features, shared : float
        How many features a window counts for, and how many two windows share, on average.

    Returns
    -------
    Cost
    """
    blocks = -(-work.rows // BLOCK_ROWS)
    walked = work.col_letters * ((blocks + 1) / 2 if work.symmetric else blocks) + work.letters
    agree = shared / features
    row_counts = work.rows * _distinct(work.row_letters / max(1, work.rows), agree)
    col_counts = work.cols * _distinct(work.col_letters / max(1, work.cols), agree)
    met = row_counts * col_counts * shared / (2 if work.symmetric else 1)
    seconds = (LIVE_NS * features * walked + POSTING_NS * met) * 1e-9
    return Cost(seconds, int(work.letters * WINDOW_BYTES))
