"""Chains of matching residues: which count, their weights, and bounds of their sums."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt

from seqkern.kernels.subsequence import _subsequence

EXACTLY, UP_TO, ANY_LENGTH = 0, 1, 2
PADDING = 16  # positions after the last one that a strip of columns may access
VECTOR_BYTES, MOST_COLUMNS = 64, 12
SPREAD = 24  # bits by which weights may grow in a block of rows
SINGLE_DECAY = 1 / 32  # below this, weights grow too fast for single precision
SINGLE_BITS = 100  # bits of sums in single precision, including the growth of weights in a block and a strip


@dataclass(frozen=True)
class Chains:
    """Which chains of matching residues count, and their weights.

    Attributes
    ----------
    mode : {EXACTLY, UP_TO, ANY_LENGTH}
        Which lengths count.
    levels : int
        Residues of a chain except the last; 1 for any length.
    decay : float
        Factor for each residue of a chain's span, above 0 and at most 1.
    weights : ndarray of float64, shape (letters, letters)
        Weight of each pair of letters.
    """

    mode: int
    levels: int
    decay: float
    weights: npt.NDArray[np.float64]

    @classmethod
    def of(cls, n: int | None, up_to: bool, decay: float, weights: npt.NDArray[np.float64]) -> Self:
        """Return the Chains of some lengths.

        Parameters
        ----------
        n : int or None
            Residues of a chain; None for any number.
        up_to : bool
            Whether shorter chains count too.
        decay : float
            Factor for each residue of a chain's span.
        weights : ndarray of float64, shape (letters, letters)
            Weight of each pair of letters.

        Returns
        -------
        Chains
        """
        if n is None:
            return cls(ANY_LENGTH, 1, decay, weights)
        return cls(UP_TO if up_to and n > 1 else EXACTLY, n - 1, decay, weights)

    @property
    def bits(self) -> float:
        """Bits by which weights grow from one position to the next."""
        return -math.log2(self.decay)

    @property
    def boost(self) -> int:
        """log2 of the scale of a level's sums, which keeps n contiguous residues from underflow."""
        grows = self.mode == EXACTLY and 2 * self.bits * self.levels > SPREAD
        return round(2 * self.bits) if grows else 0

    @property
    def exact(self) -> bool:
        """Whether products with weights are exact: decay is a power of two, without scaling."""
        return math.frexp(self.decay)[0] == 0.5 and self.boost == 0

    @property
    def soft(self) -> bool:
        """Whether matching is soft."""
        return not np.array_equal(self.weights, np.eye(len(self.weights)))

    def recursion(self, longest: int) -> _subsequence.Recursion:
        """Return the compiled recursion.

        Parameters
        ----------
        longest : int
            Residues of the longest sequence.

        Returns
        -------
        _subsequence.Recursion
            With tables for sequences of up to `longest` residues.
        """
        up, down, up_power, down_power = powers(self.decay, longest + PADDING)
        rows = 64 if self.bits == 0 else max(1, min(64, int(SPREAD / self.bits)))
        weights = np.ascontiguousarray(self.weights)
        return _subsequence.Recursion(
            self.mode,
            self.levels,
            weights,
            self.soft,
            self.decay,
            up,
            down,
            up_power,
            down_power,
            self.exact,
            self.boost,
            rows,
        )

    @property
    def single_limit(self) -> float:
        """Largest sum of the burdens of two sequences for which single precision suffices; negative for none."""
        grown = min(self.bits, 1) * SPREAD + MOST_COLUMNS * self.bits
        return SINGLE_BITS - grown if self.decay >= SINGLE_DECAY else -1.0

    def burdens(self, lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return log2 of the largest contribution of a sequence of each length to a sum.

        In the worst case, one residue repeated, the sum over chains of p pairs that end anywhere is the product
        of f_p of the two lengths, f_p(L) = Σ_{d < L} C(d, p − 1)·decay^d.

        Parameters
        ----------
        lengths : ndarray of int64, shape (n,)
            Residues of each sequence.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        longest = int(lengths.max(initial=0))
        d = np.arange(longest)
        grown = math.log2(max(1.0, self.weights.max(initial=0.0))) / 2 + self.boost / 2
        decayed = -self.bits * d
        worst = np.zeros(longest + 1)
        if self.mode != ANY_LENGTH:
            ways = np.zeros(longest)  # log2 C(d, p − 1)
            for p in range(1, min(self.levels, longest) + 1):
                worst[1:] = np.maximum(worst[1:], np.logaddexp2.accumulate(ways + decayed) + p * grown)
                with np.errstate(divide="ignore"):
                    ways = ways + np.log2(np.maximum(d - p + 1, 0)) - math.log2(p)
            worst += math.log2(max(1, self.levels)) / 2 if self.mode == UP_TO else 0
        elif longest:
            worst[1:] = np.logaddexp2.accumulate(d * math.log2(1 + 2**grown) + decayed) + grown
        return worst[lengths]

    def working_bytes(self, longest: int) -> int:
        """Return the bytes that a thread needs.

        Parameters
        ----------
        longest : int
            Residues of the longest sequence.

        Returns
        -------
        int
            Bytes.
        """
        strip = min(MOST_COLUMNS, max(2, 24 // max(1, self.levels)))
        profiles = (longest / strip + 1) * (strip + (len(self.weights) + 1) * 2 * strip)
        state = (strip + 1) * (self.levels + 1)
        return int(VECTOR_BYTES * (longest * max(2, self.levels) + profiles + state))


@lru_cache(maxsize=8)
def powers(
    decay: float, count: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return decay^−i and decay^i, each as a mantissa times a power of two.

    Parameters
    ----------
    decay : float
        Above 0 and at most 1.
    count : int
        Number of powers, i = 0, …, count − 1.

    Returns
    -------
    up, down : ndarray of float64, shape (count,)
        The mantissas of decay^−i and of decay^i. Read-only, because all four are cached.
    up_power, down_power : ndarray of int32, shape (count,)
        Their powers of two.
    """
    numerator, denominator = decay.as_integer_ratio()
    up, down = np.empty(count), np.empty(count)
    up_power, down_power = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    # decay^i = digits·2^(power − 127), with 128 digits, so that rounding errors stay below one of a double.
    digits, power = 1 << 127, 0
    for i in range(count):
        down[i], down_power[i] = math.ldexp(digits, -127), power
        up[i], up_power[i] = math.ldexp((1 << 255) // digits, -127), -power - 1
        digits = (digits * numerator << 64) // denominator
        excess = digits.bit_length() - 128
        digits, power = digits >> excess, power + excess - 64
    for array in (up, down, up_power, down_power):
        array.flags.writeable = False
    return up, down, up_power, down_power
