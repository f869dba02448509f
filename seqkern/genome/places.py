"""Where a window lies on a genome, by its id."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.sequences.windows import Window

REGION = re.compile(r"(?:.*::)?(.+):(\d{1,15})-(\d{1,15})(?:\(([+-])\)|:([+-]))?")
SITE = re.compile(r"(.+):(\d{1,15}):([+-])")


@dataclass(frozen=True)
class Place:
    """An interval of a chromosome.

    Attributes
    ----------
    chromosome : str
        Its name.
    start, stop : int
        From 0, half open.
    reverse : bool
        Whether the window is read on strand −.

    Examples
    --------
    >>> Place("chr1", 10, 13, True).bases().tolist()
    [12, 11, 10]
    """

    chromosome: str
    start: int
    stop: int
    reverse: bool = False

    @property
    def strand(self) -> str:
        """``"+"`` or ``"-"``."""
        return "-" if self.reverse else "+"

    def bases(self) -> npt.NDArray[np.int64]:
        """Return the position, from 0, of each base of the window in the order in which it is read."""
        places = np.arange(self.start, self.stop)
        return places[::-1] if self.reverse else places


def place_of(name: str, length: int, window: Window | None = None) -> Place | None:
    """Return where a window lies.

    Parameters
    ----------
    name : str
        The id: ``chr1:1001-1300`` (from 1, as samtools writes it, or from 0, as bedtools does; the length of the window
        tells which), also followed by ``(-)`` or ``:-``; or ``chr1:1061:-``, a site.
    length : int
        Bases of the window.
    window : Window, optional
        The window around a site.

    Returns
    -------
    Place or None
        None if the id says nothing else, or an interval of another length.

    Examples
    --------
    >>> place_of("chr1:1001-1300", 300) == place_of("chr1:1000-1300", 300) == Place("chr1", 1000, 1300)
    True
    >>> place_of("chr1:1061:-", 141, Window(60, 80))
    Place(chromosome='chr1', start=980, stop=1121, reverse=True)
    """
    found = REGION.fullmatch(name)
    if found is not None:
        start, stop = int(found[2]), int(found[3])
        first = start - 1 if stop - start + 1 == length else start
        if stop - first != length or first < 0:
            return None
        return Place(found[1], first, stop, "-" in (found[4], found[5]))
    found = SITE.fullmatch(name)
    if found is None or window is None or window.length != length:
        return None
    reverse = found[3] == "-"
    start = int(found[2]) - 1 - (window.right if reverse else window.left)
    return Place(found[1], start, start + length, reverse) if start >= 0 else None
