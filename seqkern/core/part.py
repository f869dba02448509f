"""One of several parts of a job, written ``3/7``."""

from __future__ import annotations

from typing import NamedTuple

from seqkern.core.errors import ParameterError
from seqkern.core.values import whole_number


class Part(NamedTuple):
    """A part of a job.

    Attributes
    ----------
    number : int
        From 1.
    of : int
        How many parts there are.

    Examples
    --------
    >>> part = Part.parse("2/3")
    >>> part, str(part), part.span(10)
    (Part(number=2, of=3), '2/3', (4, 7))
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """Return a part.

        Parameters
        ----------
        text : str
            Such as ``3/7``.

        Returns
        -------
        Part

        Raises
        ------
        ParameterError
            If it is not a part.
        """
        numbers = [number for one in text.split("/") if (number := whole_number(one)) is not None]
        if len(numbers) != 2 or text.count("/") != 1:
            raise ParameterError(f"{text!r} is not a part", remedy="write I/N, such as 3/7")
        part = cls(*numbers)
        if not 1 <= part.number <= part.of:
            raise ParameterError(f"{text!r} is not a part", remedy="write I/N with I from 1 to N")
        return part

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def span(self, n: int) -> tuple[int, int]:
        """Return which of `n` items belong to the part; the first part is empty only if there are none.

        Parameters
        ----------
        n : int
            Number of items.

        Returns
        -------
        start, stop : int
        """
        return -(-n * (self.number - 1) // self.of), -(-n * self.number // self.of)
