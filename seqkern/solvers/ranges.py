"""Ranges of solver parameters, and random draws from them.

A range is written ``0.01..100``, in a config and on the command line. Values are drawn evenly on a logarithmic scale
where both ends are above zero, else evenly; ends without a decimal point give whole numbers (Bergstra & Bengio 2012,
J. Mach. Learn. Res. 13:281-305).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.values import DECIMAL, parse_value

_RANGE = re.compile(rf"({DECIMAL})\.\.({DECIMAL})")
SIGNIFICANT = 6
"""Drawn numbers are rounded to this many digits."""


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included.

    Attributes
    ----------
    low, high : float or int
        If both are int, only integers are drawn.

    Raises
    ------
    ParameterError
        If `low` is not below `high`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.ranges import Range
    >>> costs = Range(0.01, 100.0)
    >>> str(costs), [costs.draw(np.random.default_rng(seed)) for seed in (1, 2)]
    ('0.01..100.0', [1.11503, 0.111288])
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ParameterError(
                f"the range {self} is empty", remedy="write the smaller number first, such as 0.01..100"
            )

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"

    @property
    def ends(self) -> list[float]:
        """Both ends, as a list."""
        return [self.low, self.high]

    def draw(self, rng: np.random.Generator) -> float:
        """Return one value, drawn at random.

        Parameters
        ----------
        rng : numpy.random.Generator
            One number is drawn from it.

        Returns
        -------
        float or int
        """
        low, high, logarithmic = self.low, self.high, self.low > 0
        whole = isinstance(low, int) and isinstance(high, int)
        if whole:
            # each integer has an equal cell, so that the ends are as likely as the others
            low, high = low - 0.5, high + 0.5
        value = rng.uniform(*((math.log(low), math.log(high)) if logarithmic else (low, high)))
        value = math.exp(value) if logarithmic else value
        if whole:
            return min(max(round(value), self.low), self.high)
        return float(f"{value:.{SIGNIFICANT}g}")


def as_range(word: str) -> Range | None:
    """Return the Range of a text, or None.

    Parameters
    ----------
    word : str
        Such as ``0.01..100``.

    Returns
    -------
    Range or None

    Examples
    --------
    >>> from seqkern.solvers.ranges import as_range
    >>> as_range("1..5"), as_range("scale")
    (Range(low=1, high=5), None)
    """
    found = _RANGE.fullmatch(word.strip())
    ends = [parse_value(end) for end in found.groups()] if found else []
    return Range(*ends) if ends and str not in map(type, ends) else None
