"""Factors of residues and gaps, and ranges of numbers, for sums over all local alignments.

There are three ways to compute: in single precision, in double precision, and in logarithms. In the first two, numbers
are scaled by powers of two, which change between tiles of a few rows. `_range` finds how many rows there may be so
that, whatever the sequences, nothing overflows within a tile. If not even few rows will do, for β·s beyond a hundred or
gaps that cost hundreds, it is logarithms.

No significant part is lost. Where the power is 0, every T is 1 or more: what underflows is 2^−149 of that. Else let v,
2^low or more, be the largest number that a tile begins with: T or X above it, in a column of the strip, or Y left of
it, in a row of the tile. Take a cell c of the tile, and an alignment that goes on from c by pairs Q, then S: S begins
with the first pair below and right of v. What v adds up can go on with S, too, by gaps. So an error of 2^−149 in c
changes K by a share of no more than 2^−149 / v times the largest sum, over all Q between c and the same S, of weight(c,
Q, S) / weight(v, S); and if there is no S, four times as much, as T, X, Y < 4K. In this sum,

- v being above, Q are pairs in columns of the strip, in any rows; v being at the left, in rows of the tile, in any
  columns, of other strips, too. So they are q ≤ P pairs, P = 8 or `rows`, in one of C(P, q) ways in that direction;
- the length of their gaps in the other direction is that of the way from v, but for q and the distance from c to v:
  extended residues cancel. There remains the number of ways to cut it: C(q + 1, g)·reach^(g − 1) / (g − 1)! into g
  gaps, and the factor o / e for each but the first. With no gap, g = 0, the way from v has one gap more;
- the direction of the P pairs has no gap from v that c has not, unless Q is empty: then there may be two gaps more;
- at most as many extended residues remain as P and the sides of the tile, which bounds scaled columns, too.

Along a lane in single precision, `reach` is 1024 residues. A row may be of any length, but gaps that cost more than v
can be are nothing beside S alone, which bounds them. A row of fewer than 2·1024 residues has up to 2^21 cells; a longer
one leaves 2^−25 for each letter of what roundings may take, see below. `_range` keeps all that is lost, over all cells,
below 2^−20, and 2^−49 in double precision, for sequences of up to 2^24 residues.

Errors, in units u = 2^−24 or 2^−53: a pair of residues takes four roundings with fused multiply-adds (E·T, + o·X, + 1,
+ o·Y) and six without, and E may be wrong by 2u; a letter in a gap takes three, the factor's included. As a pair has
two letters, ln K is wrong by less than 4u·(|x| + |y|). Sums of M over the rows of a block and the columns of a strip,
then in double precision, take no more than 137u, and 2^−20 = 16u is lost: 4u·(|x| + |y| + 40) bounds it all. (Roundings
of scores and of exp, in double precision, are not counted.)

Rounded factors of the same letters would add up to an error in proportion to the length. As each column of a pattern
has a table of its own, each is rounded so that it makes good what the ones before it have lost or gained.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.kernels.alignment import _local_alignment

PATTERN, STRIP = 8, 8  # columns of the pattern of factors; the most in a strip
EVEN_BITS = 12  # by which columns of a pattern may be scaled
TILE_ROWS = (32, 16, 8, 4)
BLOCK_BITS = 5  # by which sums over a block of rows exceed those over a tile
ERROR_BITS = 5  # of the roundings of small numbers in a cell, up to 10 halves, times 5 for T, X, Y < 4K
QUIET_BITS = 4  # by which what goes on in a block may exceed the bound on it
WINDOW_BITS = 20  # of the largest number of a tile, between two changes of powers
SINGLE_LETTERS = 1024  # of a lane; longer ones are computed in double precision
LONGEST = 2**24  # letters, for which it is shown that nothing is lost


class Numbers(NamedTuple):
    """A type of numbers: the binary digits of its largest and smallest, of what may be lost, and of the cells."""

    largest: int
    smallest: int
    lost: int
    cells: int
    letters: int  # of a lane


SINGLE = Numbers(126, 149, 20, 21, SINGLE_LETTERS)
DOUBLE = Numbers(1022, 1074, 49, 48, LONGEST)


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

    recursion: Any
    logarithms: Any
    method: Literal["single", "double", "logarithms"]

    @property
    def single(self) -> bool:
        """Whether single precision will do."""
        return self.method == "single"

    @classmethod
    def of(cls, scores: npt.ArrayLike, open_cost: float, extend_cost: float, precision: str = "single") -> "Factors":
        """Return the Factors.

        Parameters
        ----------
        scores : array_like of float64, shape (size, size)
            β·s by codes, the masked residue's last.
        open_cost, extend_cost : float
            β·gap_open, β·gap_extend.
        precision : {"single", "double"}
            Of the sums; "single" is a wish.

        Returns
        -------
        Factors
        """
        values = np.ascontiguousarray(scores, dtype=np.float64)
        return _factors(values.tobytes(), len(values), float(open_cost), float(extend_cost), precision)


@lru_cache(maxsize=8)
def _factors(values: bytes, size: int, open_cost: float, extend_cost: float, precision: str) -> Factors:
    """Return the Factors of scores, float64 (size, size), as bytes."""
    scores = np.frombuffer(values).reshape(size, size)
    even = PATTERN * extend_cost * math.log2(math.e) <= EVEN_BITS
    narrow, wide = (_range(numbers, scores, open_cost, extend_cost, even) for numbers in (SINGLE, DOUBLE))
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


def _tables(exact: npt.NDArray[np.float64], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return factors rounded, (8, size, size + 1), so that their errors cancel over the pattern; 0 behind an end."""
    tables = np.zeros((PATTERN, exact.shape[1], exact.shape[1] + 1), dtype=dtype)
    gained = np.zeros(exact.shape[1:])
    for factor, table in zip(exact, tables, strict=True):
        table[:, :-1] = factor * np.exp(-gained)
        gained += np.log(np.divide(table[:, :-1], factor, out=np.ones_like(gained), where=table[:, :-1] > 0))
    return tables


def _range(
    numbers: Numbers, scores: npt.NDArray[np.float64], open_cost: float, extend_cost: float, even: bool
) -> tuple[int, int, int, int, float] | None:
    """Return (rows of a tile, low, middle, high, quiet) of the compiled `range`; None if these Numbers will not do."""
    largest, smallest, lost, cells, letters = numbers
    best, worst, opened, extended = (
        value * math.log2(math.e) for value in (scores.max(), scores.min(), open_cost, extend_cost)
    )
    needed = lost + cells + ERROR_BITS - smallest
    if -worst + EVEN_BITS > largest and 2 * opened + EVEN_BITS + needed > 0:
        return None  # a factor may be lost, and two gaps beside each other are no better
    scaled = (PATTERN + 1) * extended if even else 0.0
    depth = _depth(letters, best, opened, extended)
    for rows in TILE_ROWS:
        high = int(largest - BLOCK_BITS - _growth(rows, best, opened, extended) - scaled)
        low = high - WINDOW_BITS
        ways = max(
            _ways(rows, letters, best, opened, extended), _ways(STRIP, depth, best, opened, extended), 2 * opened
        )
        if low >= max(WINDOW_BITS, ways + extended * (max(rows, STRIP) + rows + STRIP) + needed):
            return rows, low, low + WINDOW_BITS // 2, high, 2.0 ** (high - QUIET_BITS)
    return None


def _ways(pairs: int, reach: float, best: float, opened: float, extended: float) -> float:
    """Return log2 of the weight of all ways through up to `pairs` pairs in as many rows, in place of a single gap.

    `reach` is how far these ways go, in columns.
    """
    further = math.log2(reach) - (opened - extended)
    terms = []
    for q in range(pairs + 1):
        cuts = [opened - extended]
        cuts += [math.log2(math.comb(q + 1, g) / math.factorial(g - 1)) + (g - 1) * further for g in range(1, q + 2)]
        terms.append(q * best + math.log2(math.comb(pairs, q)) + np.logaddexp2.reduce(cuts))
    return float(np.logaddexp2.reduce(terms))


def _depth(letters: int, best: float, opened: float, extended: float) -> float:
    """Return the length of a gap in a lane that costs more than all alignments of `letters` residues can weigh."""
    if extended == 0:
        return LONGEST
    gaps = 2 * math.log2(1 + 2.0**-opened / max(1 - 2.0**-extended, 1 / LONGEST))  # before a pair, along both sequences
    return min(LONGEST, (letters * max(0.0, best + gaps) + 128) / extended)  # 128: for where they begin, v ≤ 4K, …


def _growth(rows: int, best: float, opened: float, extended: float) -> float:
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
