"""A prepared set of sequences, and the predicted cost of a computation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.sequences.alphabets import Alphabet

YEAR = 365 * 24 * 3600.0


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

    def check(self) -> Self:
        """Return self if the work is feasible.

        Raises
        ------
        ParameterError
            If it would take more than a year on one processor core.
        """
        if not self.seconds <= YEAR:
            raise ParameterError(
                f"this would take about {self.seconds / YEAR:.2g} years of one processor core",
                remedy="choose parameters that need less work, or fewer sequences",
            )
        return self
