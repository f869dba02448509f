"""Protocol for the weights of a weighted degree kernel."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.sequences.sequence_set import SequenceSet


class WeighsDegrees(Protocol):
    """The members of a `WeightedDegreeKernel`, shifted or not, that are used.

    Attributes
    ----------
    degree : int
        Residues of the longest k-mers.
    n_threads : int or None
        As in every kernel.
    """

    degree: int
    n_threads: int | None

    def length_weights(self) -> npt.NDArray[np.float64]:
        """Return the weight of each length."""

    def start_weights(self, length: int) -> npt.NDArray[np.float64]:
        """Return the weight of each position of a window.

        Parameters
        ----------
        length : int
            Residues of a window.

        Returns
        -------
        ndarray of float64, shape (length,)
        """

    def shifts(self, length: int) -> npt.NDArray[np.int64]:
        """Return the largest shift at each position of a window.

        Parameters
        ----------
        length : int
            Residues of a window.

        Returns
        -------
        ndarray of int64, shape (length,)
        """

    def _prepare(self, X: SequenceSet, like: Any) -> Any: ...
