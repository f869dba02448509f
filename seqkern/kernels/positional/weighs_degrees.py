"""What the weights of a weighted degree kernel are, for those who compute with them."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.sequences.sequence_set import SequenceSet


class WeighsDegrees(Protocol):
    """What is read of a `WeightedDegreeKernel`, shifted or not.

    Attributes
    ----------
    degree : int
        Residues of the longest k-mers.
    n_threads : int or None
        As of every kernel.
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
