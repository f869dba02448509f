"""Ranges of a solver's parameters, and solver specifications drawn from them at random.

A range is written ``0.01..100``, in a config and on the command line. Values are drawn evenly on a logarithmic scale
where both ends are above zero, else evenly; ends without a decimal point give whole numbers (Bergstra & Bengio 2012,
J. Mach. Learn. Res. 13:281-305).
"""

import math
import re
from dataclasses import dataclass

from seqkern.core.errors import ParameterError

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")
SIGNIFICANT = 6
"""Drawn numbers are rounded to so many digits: no more is worth reading."""


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included."""

    low: float
    high: float

    def __post_init__(self):
        if not self.low < self.high:
            raise ParameterError(f"the range {self} is empty", remedy="write the smaller number first, as 0.01..100")

    def __str__(self):
        return f"{self.low}..{self.high}"

    @property
    def ends(self):
        """Both ends, as a list."""
        return [self.low, self.high]

    def draw(self, rng):
        """Return one value, drawn by a numpy Generator."""
        low, high, logarithmic = self.low, self.high, self.low > 0
        whole = isinstance(low, int) and isinstance(high, int)
        if whole:
            # each whole number has the cell around it, so that the ends are as likely as the others
            low, high = low - 0.5, high + 0.5
        value = rng.uniform(*((math.log(low), math.log(high)) if logarithmic else (low, high)))
        value = math.exp(value) if logarithmic else value
        if whole:
            return min(max(round(value), self.low), self.high)
        return float(f"{value:.{SIGNIFICANT}g}")


def as_range(word):
    """Return the Range that a word means, or None."""
    found = _RANGE.fullmatch(word.strip())
    return Range(*map(_number, found.groups())) if found else None


def _number(text):
    """Return a number, an integer where it is written as one."""
    return float(text) if set(text) & set(".eE") else int(text)
