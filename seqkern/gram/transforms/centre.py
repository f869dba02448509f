"""Centring a Gram matrix: the mean of the training samples becomes the origin."""

import numpy as np
import numpy.typing as npt

from seqkern.gram.transforms.gram_transform import GramTransform


class CentreGram(GramTransform):
    """Centring in feature space: the mean of the training samples becomes the origin.

    K'(x, y) = K(x, y) − mean_i K(x, z_i) − mean_i K(z_i, y) + mean_ij K(z_i, z_j), z the training samples
    (Schölkopf, Smola, Müller, Neural Computation 10, 1998).

    Examples
    --------
    >>> from seqkern.gram.transforms import CentreGram
    >>> centre = CentreGram().fit([[2.0, 1.0], [1.0, 2.0]])
    >>> centre.transform_train()
    (array([[ 0.5, -0.5],
           [-0.5,  0.5]]), array([0.5, 0.5]))
    >>> centre.transform([[1.0, 3.0]], diagonal=[4.0])
    (array([[-1.,  1.]]), array([1.5]))
    """

    name = "centre"
    learned = ("means_", "mean_")

    def needs_all(self) -> bool:
        """Return True: the mean of a row is over all training samples."""
        return True

    def _fit(self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]) -> None:
        self.means_ = K.mean(axis=1)
        self.mean_ = float(self.means_.mean())

    def _apply(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64] | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
        means = K.mean(axis=1)
        result = K - (means[:, None] + self.means_)
        result += self.mean_
        return result, None if diagonal is None else diagonal - 2 * means + self.mean_

    def pull_back(self, coefficients: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], float]:
        """Return (c', constant): the mean of a row is subtracted from each coefficient.

        Parameters
        ----------
        coefficients : ndarray of float64, shape (l,)
            c_j.

        Returns
        -------
        c' : ndarray of float64, shape (l,)
        constant : float
        """
        total = float(np.sum(coefficients))
        constant = total * self.mean_ - float(np.sum(coefficients * self.means_))
        return coefficients - total / self.n_columns_, constant
