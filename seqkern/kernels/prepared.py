"""A prepared set of sequences, and the predicted cost of a computation."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.sequences.alphabets import Alphabet

if TYPE_CHECKING:
    pass

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
    """

    payload: Any
    raw_diagonal: npt.NDArray[np.float64]
    diagonal: npt.NDArray[np.float64]
    alphabet: Alphabet | None = None
    counts: dict[str, int] = field(default_factory=dict)

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
        return Prepared(self.payload.rows(start, stop), self.raw_diagonal[span], self.diagonal[span], self.alphabet)


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
