"""A prepared set of sequences, and the predicted cost of a computation."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.progress import tell
from seqkern.sequences.alphabets import Alphabet

MOST_HOURS = 100.0
"""Of one processor core: longer work is refused, unless `LIMIT` allows it."""

LIMIT = "SEQKERN_MAX_HOURS"
"""The environment variable with another number of hours."""

TOLD = 60.0
"""Predicted seconds from which commands say, before they start, how long the work will take."""


@dataclass(frozen=True)
class Prepared:
    """A set of n sequences prepared by a kernel.

    Attributes
    ----------
    payload : object
        The representation of the family, with ``len()`` and ``rows(start, stop)``.
    raw_diagonal : ndarray of float64, shape (n,)
        K(x, x) before normalisation.
    diagonal : ndarray of float64, shape (n,)
        K(x, x) as the kernel returns it.
    alphabet : Alphabet or None
        Of the sequences; None for other data.
    counts : dict of str to int
        Number of records that each policy affected, by description; empty for a range of rows.
    ids : sequence of str
        Of the whole set, for messages; empty if unknown.
    first : int
        The place of the first record in `ids`.
    """

    payload: Any
    raw_diagonal: npt.NDArray[np.float64]
    diagonal: npt.NDArray[np.float64]
    alphabet: Alphabet | None = None
    counts: dict[str, int] = field(default_factory=dict)
    ids: Sequence[str] = ()
    first: int = 0

    def __len__(self) -> int:
        return len(self.raw_diagonal)

    def rows(self, start: int, stop: int) -> "Prepared":
        """Return some of the records, as a view.

        Parameters
        ----------
        start, stop : int
            Records `start` to `stop` − 1.

        Returns
        -------
        Prepared
        """
        span = slice(start, stop)
        return Prepared(
            self.payload.rows(start, stop),
            self.raw_diagonal[span],
            self.diagonal[span],
            self.alphabet,
            ids=self.ids,
            first=self.first + start,
        )

    def name(self, record: int) -> str:
        """Return the id of a record, or its number from 1 if ids are unknown.

        Parameters
        ----------
        record : int
            Counted from 0.

        Returns
        -------
        str
        """
        place = self.first + record
        return str(self.ids[place]) if len(self.ids) else str(place + 1)


@dataclass(frozen=True)
class Plan:
    """The exact algorithm that will run, and its predicted cost.

    Attributes
    ----------
    algorithm : str
    seconds : float
        Predicted CPU seconds for the whole matrix.
    bytes : int
        Predicted working memory besides the matrix itself.
    reason : str
        One line: the candidates and their predicted seconds.
    """

    algorithm: str
    seconds: float = 0.0
    bytes: int = 0
    reason: str = ""

    def check(self, share: float = 1.0) -> Self:
        """Return self if the work is feasible; commands say first how long it will take, from a minute on.

        Parameters
        ----------
        share : float
            What is to be done of the work.

        Raises
        ------
        ParameterError
            If it would take longer than 100 hours on one processor core, or than ``SEQKERN_MAX_HOURS`` says.
        """
        seconds, most = self.seconds * share, hours_allowed()
        if not seconds <= most * 3600:
            raise ParameterError(
                f"this would take about {time_words(seconds)} of one processor core, more than the limit of {most:g} "
                "hours",
                remedy=f"choose parameters that need less work, or fewer or shorter sequences; or set {LIMIT}="
                f"{np.ceil(seconds / 3600 * 1.01):.6g}"
                if np.isfinite(seconds)
                else "choose other parameters",
            )
        if seconds > TOLD:
            tell(f"about {time_words(seconds)} of one processor core are predicted")
        return self


def hours_allowed() -> float:
    """Return the hours of one processor core that a computation may be predicted to take.

    Raises
    ------
    ParameterError
        If `LIMIT` is not a number above 0.

    Examples
    --------
    >>> hours_allowed()
    100.0
    """
    text = os.environ.get(LIMIT, "")
    try:
        hours = float(text or MOST_HOURS)
    except ValueError:
        hours = np.nan
    if not hours > 0:
        raise ParameterError(
            f"{LIMIT}={text} is not a number of hours", remedy=f"set it to a number such as {MOST_HOURS:g}"
        )
    return hours


def time_words(seconds: float) -> str:
    """Return a time in its largest unit.

    Parameters
    ----------
    seconds : float
        At least 0.

    Returns
    -------
    str

    Examples
    --------
    >>> time_words(90.0), time_words(71_120.0), time_words(1e9)
    ('1.5 minutes', '20 hours', '32 years')
    """
    units = ("years", 365 * 24 * 3600), ("days", 24 * 3600), ("hours", 3600), ("minutes", 60), ("seconds", 1)
    name, size = next((name, size) for name, size in units if seconds >= size or size == 1)
    return f"{seconds / size:.2g} {name}"
