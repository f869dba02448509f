"""Scores and gap costs as integers, so that optimal alignments are exact."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError

MOST_DIGITS = 6
LARGEST = {8: 127, 16: 16383, 32: (1 << 29) - 1}  # score or cost that lanes of so many bits take
LARGEST_TOTAL = 1 << 30  # of a whole alignment


@dataclass(frozen=True)
class IntegerScores:
    """Scores and gap costs, each a whole number of units.

    Attributes
    ----------
    table : ndarray of int32, shape (letters, letters)
        The masked residue is the last one.
    gap_open, gap_extend : int
    numerator, denominator : int
        A unit is numerator / denominator.
    """

    table: npt.NDArray[np.int32]
    gap_open: int
    gap_extend: int
    numerator: int = 1
    denominator: int = 1

    @classmethod
    def of(cls, table: npt.NDArray[np.float64], gap_open: float, gap_extend: float) -> Self:
        """Return the integers for scores and gap costs that are decimal fractions.

        Parameters
        ----------
        table : ndarray of float64, shape (letters, letters)
            Scores by codes.
        gap_open, gap_extend : float
            Costs of a gap's first residue and of each further one.

        Returns
        -------
        IntegerScores

        Raises
        ------
        ParameterError
            If they have more than six decimal places, or are too large.
        """
        values = np.concatenate((table.ravel(), [float(gap_open), float(gap_extend)]))
        for denominator in (10**digits for digits in range(MOST_DIGITS + 1)):
            whole = np.round(values * denominator)
            if (whole / denominator == values).all():
                break
        else:
            raise ParameterError(
                f"scores and gap costs have more than {MOST_DIGITS} decimal places", remedy="round them"
            )
        integers = [int(value) for value in whole]
        numerator = math.gcd(*integers) or 1
        if max(map(abs, integers)) > LARGEST[32] * numerator:
            raise ParameterError(
                f"scores or gap costs exceed {LARGEST[32]} times their common unit",
                remedy="give smaller or rounded scores and costs",
            )
        common = math.gcd(numerator, denominator)
        *scores, first, further = (value // numerator for value in integers)
        units = np.array(scores, dtype=np.int32).reshape(table.shape)
        return cls(units, first, further, numerator // common, denominator // common)

    @property
    def largest(self) -> int:
        """The largest score, or 0."""
        return max(0, int(self.table.max()))

    @property
    def width(self) -> int:
        """Bits of the narrowest lanes that take these numbers: 8, 16 or 32."""
        most = max(int(np.abs(self.table).max()), self.gap_open)
        return next(width for width, largest in LARGEST.items() if most <= largest)

    @property
    def unit(self) -> str:
        """A unit, as text."""
        return f"{self.numerator / self.denominator:g}"

    def scaled(self, units: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return scores in units as scores.

        Parameters
        ----------
        units : ndarray of float64
            Of any shape.

        Returns
        -------
        ndarray of float64
            Of the same shape.
        """
        return units * self.numerator / self.denominator
