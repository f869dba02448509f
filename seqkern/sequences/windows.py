"""Windows of one length around sites: their residues, and the letters of the site.

The convention: the window ``-60:+80`` has 60 bases before the base at the site's position (offset 0), that base,
and 80 after it, 141 in all. Positions count from 1 along the record as written, on both strands. On strand − the
offsets run along the reverse complement: the base at the position itself, complemented, is offset 0, and the window
contains the 80 bases before it in the record and the 60 after it.

The letters required at a site (``AG``) start at offset 0, read along the site's strand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError
from seqkern.core.types import Header
from seqkern.sequences.alphabets import MASK, Alphabet

WINDOW = re.compile(r"-([0-9]{1,9}):\+?([0-9]{1,9})")
LARGEST = 10**9


@dataclass(frozen=True)
class Window:
    """A window around a site.

    Attributes
    ----------
    left, right : int
        Residues before and after the one at the site's position.
    site : str
        The letters required from offset 0 on, upper case; empty for any.

    Raises
    ------
    ParameterError
        If a number is negative, or the site does not fit into the window.

    Examples
    --------
    >>> from seqkern.sequences.windows import Window
    >>> window = Window(left=60, right=80, site="AG")
    >>> str(window), window.length
    ('-60:+80', 141)
    """

    left: int
    right: int
    site: str = ""

    def __post_init__(self) -> None:
        check_integer("left", self.left, 0, LARGEST)
        check_integer("right", self.right, 0, LARGEST)
        if len(self.site) > self.right + 1:
            raise ParameterError(
                f"the site {self.site!r} does not fit into the window {self}", remedy="choose a larger window"
            )

    @property
    def length(self) -> int:
        """Number of residues."""
        return self.left + 1 + self.right

    def __str__(self) -> str:
        return f"-{self.left}:+{self.right}"

    def site_codes(self, alphabet: Alphabet) -> npt.NDArray[np.uint8]:
        """Return the codes of the letters required at the site.

        Parameters
        ----------
        alphabet : Alphabet
            That of the records.

        Returns
        -------
        ndarray of uint8, shape (letters,)

        Raises
        ------
        ParameterError
            For a letter outside the alphabet.
        """
        return site_codes(self.site, alphabet)

    def record(self) -> Header:
        """Return a JSON dict for models and data sets; `as_window` converts it back."""
        return {"left": self.left, "right": self.right, "site": self.site}


def site_codes(site: str, alphabet: Alphabet) -> npt.NDArray[np.uint8]:
    """Return the codes of a site's letters.

    Parameters
    ----------
    site : str
        The letters, upper case.
    alphabet : Alphabet
        That of the records.

    Returns
    -------
    ndarray of uint8, shape (letters,)

    Raises
    ------
    ParameterError
        For a letter outside the alphabet.
    """
    codes = alphabet.encode(site.encode("ascii", "replace"))
    if (codes == MASK).any():
        raise ParameterError(
            f"the site {site!r} contains letters outside the alphabet {alphabet.name}",
            remedy=f"use letters of {alphabet.letters}",
        )
    return codes


def as_window(window: str | Mapping[str, Any] | Window, site: str = "") -> Window:
    """Return the Window for a text, a dict, or a Window.

    Parameters
    ----------
    window : str, dict or Window
        A text such as ``-60:+80``, or a dict of left, right and perhaps site.
    site : str, optional
        The letters required at the site, if `window` has none.

    Returns
    -------
    Window

    Raises
    ------
    ParameterError
        If it has another form.

    Examples
    --------
    >>> from seqkern.sequences.windows import as_window
    >>> as_window("-60:+80", site="ag")
    Window(left=60, right=80, site='AG')
    """
    if isinstance(window, Window):
        return window
    if isinstance(window, dict) and {"left", "right"} <= set(window) <= {"left", "right", "site"}:
        return Window(window["left"], window["right"], str(window.get("site", site) or "").upper())
    match = WINDOW.fullmatch(window.strip()) if isinstance(window, str) else None
    if match is None:
        raise ParameterError(
            f"{window!r} is not a window",
            remedy="give the numbers of positions before and after the site, such as -60:+80",
        )
    return Window(int(match[1]), int(match[2]), str(site or "").upper())
