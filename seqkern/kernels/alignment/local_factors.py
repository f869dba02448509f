"""Factors of letters and gaps, and ranges of numbers, for sums over all local alignments.

There are three ways to compute: in single precision, in double precision, and in logarithms. In the first two, numbers
are scaled by powers of two, which change between tiles of a few rows. `_range` finds how many rows there may be so
that, whatever the sequences, nothing overflows within a tile. If not even few rows will do, for β·s beyond a hundred or
gaps that cost hundreds, it is logarithms.

Nothing is lost that matters. The numbers of a tile are kept near the middle of what a type can hold, by its largest
one, v at a cell z. What underflows in a cell c of the tile changes K by less than that times the weight of all that may
follow c. An alignment that goes on from c has, in the rows of the tile and the columns of the strip, no more pairs than
these are together, other strips included; without those it could as well have come from z by a gap, over the columns of
a strip and the rows of two tiles. So K ≥ v·(what follows c) / (those pairs·gap), and the loss, as a share of K, is no
more than the smallest number / v·pairs·gap for each cell. `_range` keeps the sum below 2^−24, and 2^−56 in double
precision.

Errors: a pair of letters takes four roundings with fused multiply-adds (E·T, + o·X, + 1, + o·Y) and six without, a
letter in a gap two or three; K adds up no more than the rows of a block, then in double precision. An alignment has no
more than (|x| + |y|) / 2 pairs, or twice as many letters in gaps: so ln K is wrong by less than four roundings for each
letter of the two sequences, and a constant.

Rounded factors of the same letters would add up to an error in proportion to the length. As each column of a pattern
has a table of its own, each is rounded so that it makes good what the ones before it have lost or gained.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from . import _local_alignment

PATTERN, STRIP = 8, 8  # columns of the pattern of factors; the most in a strip
EVEN_BITS = 12  # by which columns of a pattern may be scaled
TILE_ROWS = (32, 16, 8, 4)
# Binary digits: of the largest and the smallest number, and of the share of K that may be lost.
SINGLE, DOUBLE = (126, 149, 24), (1022, 1074, 56)
BLOCK_BITS = 5  # by which sums over a block of rows exceed those over a tile
PASSED_BITS = 6  # by which the best pairs in all rows of a tile and columns of a strip are more than there will be
CELLS_BITS = 34  # of the number of cells, and of roundings in each
SLACK_BITS = 12  # by which the numbers that are looked at may be more than those that go on
QUIET_BITS = 4  # by which what goes on in a block may exceed the bound on it
WINDOW_BITS = 20  # of the largest number of a tile, between two changes of powers


@dataclass(frozen=True)
class Factors:
    """What the loops need to know of scores and gap costs.

    Attributes
    ----------
    recursion : Recursion or LogRecursion
        Compiled, for `method`.
    logarithms : LogRecursion
    method : {"single", "double", "logarithms"}
    """

    recursion: object
    logarithms: object
    method: str

    @property
    def single(self):
        """Whether single precision will do."""
        return self.method == "single"

    @classmethod
    def of(cls, scores, open_cost, extend_cost, precision="single"):
        """Return the Factors.

        Parameters
        ----------
        scores : ndarray of float64, shape (size, size)
            β·s by codes, the masked letter's last.
        open_cost, extend_cost : float
            β·gap_open, β·gap_extend.
        precision : {"single", "double"}
        """
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        return _factors(scores.tobytes(), len(scores), float(open_cost), float(extend_cost), precision)


@lru_cache(maxsize=8)
def _factors(scores, size, open_cost, extend_cost, precision):
    scores = np.frombuffer(scores).reshape(size, size)
    even = PATTERN * extend_cost * math.log2(math.e) <= EVEN_BITS
    narrow, wide = (_range(bits, scores, open_cost, extend_cost, even) for bits in (SINGLE, DOUBLE))
    logarithms = _local_alignment.LogRecursion(scores, open_cost, extend_cost)
    if wide is None:
        return Factors(logarithms, logarithms, "logarithms")
    one = np.exp(extend_cost * np.arange(PATTERN)) if even else np.ones(PATTERN)
    exact = np.exp(scores) * (one / np.roll(one, 1))[:, None, None]
    recursion = _local_alignment.Recursion(
        _tables(exact, np.float32) if narrow else np.zeros((PATTERN, size, size + 1), np.float32),
        _tables(exact, np.float64),
        even,
        math.exp(-open_cost),
        math.exp(-extend_cost),
        math.exp(extend_cost - open_cost) if even else math.exp(-open_cost),
        math.exp(-PATTERN * extend_cost) if even else 1.0,
        one,
        narrow or (TILE_ROWS[-1], 0, 0, 0, 0.0),
        wide,
    )
    return Factors(recursion, logarithms, "single" if narrow and precision == "single" else "double")


def _tables(exact, dtype):
    """Return factors rounded, (8, size, size + 1), so that their errors cancel over the pattern; 0 behind an end."""
    tables = np.zeros((PATTERN, exact.shape[1], exact.shape[1] + 1), dtype=dtype)
    gained = np.zeros(exact.shape[1:])
    for factor, table in zip(exact, tables, strict=True):
        table[:, :-1] = factor * np.exp(-gained)
        gained += np.log(np.divide(table[:, :-1], factor, out=np.ones_like(gained), where=table[:, :-1] > 0))
    return tables


def _range(bits, scores, open_cost, extend_cost, even):
    """Return (rows of a tile, low, middle, high, quiet) of the compiled `range`; None if this type will not do."""
    largest, smallest, lost = bits
    best, worst, opened, extended = (
        value * math.log2(math.e) for value in (scores.max(), scores.min(), open_cost, extend_cost)
    )
    if -worst > largest and 2 * opened + lost + SLACK_BITS > largest:
        return None  # a factor may be lost, and two gaps beside each other are no better
    scaled = (PATTERN + 1) * extended if even else 0.0
    # The sum of the weights of all gaps before a pair, of up to some thousand letters.
    ways = math.log2(1 + 2.0**-opened / max(1 - 2.0**-extended, 2.0**-11))
    for rows in TILE_ROWS:
        growth = _growth(rows, best, opened, extended) + scaled
        gap = opened + extended * 2 * (rows + STRIP)
        high = largest - BLOCK_BITS - growth
        low = high - WINDOW_BITS
        passed = (rows + STRIP) * (best + ways) - PASSED_BITS
        if low >= max(WINDOW_BITS, max(passed, growth + CELLS_BITS + SLACK_BITS) + gap + lost - smallest):
            return rows, int(low), int(low) + WINDOW_BITS // 2, int(high), 2.0 ** (int(high) - QUIET_BITS)
    return None


def _growth(rows, best, opened, extended):
    """Return log2 of what the numbers of a tile can become if all that it begins with are 1 and all scores the best."""
    T, X, total = [0.0] * STRIP, [0.0] * STRIP, 0.0
    for _ in range(rows):
        corner, Y = 2.0, extended
        for c in range(STRIP):
            M = best + corner
            A = np.logaddexp2(X[c] - opened, M)
            X[c] = np.logaddexp2(X[c] - extended, M)
            corner, T[c] = T[c], np.logaddexp2(np.logaddexp2(A, 0.0), Y - opened)
            Y = np.logaddexp2(A, Y - extended)
            total = np.logaddexp2(total, M)
        total = np.logaddexp2(total, Y)
    return float(max(total, *T, *X))
