"""Features that are never written down: a walk through the tree of all features (Leslie and Kuang 2004).

Depth first, with the words that are left at each node. Memory is bounded by words times depth, however many features
there are.
"""

import numpy as np

from seqkern.kernels.kmer import _trie
from seqkern.kernels.planner import POSTING_NS, Cost, _distinct

MOST_FEATURES = 2.0**36  # of one word: already an hour
LIVE_NS = 30.0  # a word that is left at a leaf, and the way there
WORD_BYTES = 500
BLOCK_ROWS = 512  # one walk for each block of rows


class TrieBlock:
    """Counts of features of n records, by a rule.

    Parameters
    ----------
    rule : Rule
    words : Words
        Of the records.
    presence : bool
        1 instead of counts.

    Attributes
    ----------
    squares : ndarray of int64, shape (n,)
        Φ(x)·Φ(x).
    largest : float
        The largest of them.
    """

    least_block_rows = BLOCK_ROWS

    def __init__(self, rule, words, presence=False):
        counted = words.count()
        self.rule, self.presence = rule, presence
        self.start = counted.start
        record = np.repeat(np.arange(len(counted), dtype=np.int32), np.diff(counted.start))
        self._words = words.letters[counted.feature], record, counted.count
        self.squares = np.zeros(len(counted), dtype=np.int64)
        rounded = np.zeros(len(counted))
        _trie.square(rule.compiled, *self._words, presence, self.squares, rounded)
        self.largest = float(rounded.max(initial=0.0))

    def accumulate(self, row, cols, first, last, factor, upper, sums):
        """Add factor · Φ(rows)·Φ(columns) to `sums`; the parameters are those of `SparseBlock.accumulate`.

        Each call is one walk.
        """
        mine, theirs = (*self._words, self.start), (*cols._words, cols.start)
        rules = self.rule.compiled, cols.rule.compiled
        _trie.multiply(*rules, *mine, *theirs, self.presence, row, first, last, factor, upper, sums)
        if upper:  # the walk leaves out a record's product with itself, and so all nodes with one record alone
            own = np.arange(max(row, first), min(row + len(sums), last))
            sums[own - row, own - first] += (factor * self.squares[own]).astype(sums.dtype)


def trie_cost(work, features, shared):
    """Return the Cost of a TrieBlock.

    Parameters
    ----------
    work : Workload
    features, shared : float
        How many features a word counts for, and how many two words share, on average.
    """
    blocks = -(-work.rows // BLOCK_ROWS)
    walked = work.col_letters * ((blocks + 1) / 2 if work.symmetric else blocks) + work.letters
    agree = shared / features
    row_counts = work.rows * _distinct(work.row_letters / max(1, work.rows), agree)
    col_counts = work.cols * _distinct(work.col_letters / max(1, work.cols), agree)
    met = row_counts * col_counts * shared / (2 if work.symmetric else 1)
    seconds = (LIVE_NS * features * walked + POSTING_NS * met) * 1e-9
    return Cost(seconds, int(work.letters * WORD_BYTES))
