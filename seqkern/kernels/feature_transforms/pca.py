"""Principal components of feature vectors."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import flag, integer
from seqkern.core.threads import one_thread
from seqkern.kernels.feature_transforms.feature_transform import FeatureTransform, products

FLAT = 1e-10
"""Components with at most this share of the largest variance are rounding errors."""


class PCATransform(FeatureTransform):
    r"""Principal component analysis: the directions of largest variance of the training vectors.

    Attributes
    ----------
    mean_ : ndarray of float64, shape (d,)
    components_ : ndarray of float64, shape (d, c)
        Directions u_c as columns; the entry of largest absolute value is positive.
    variances_ : ndarray of float64, shape (c,)
        Variance of the training vectors along each, with divisor n − 1.

    Notes
    -----
    With the mean m and the covariance C u_c = λ_c u_c of the training vectors, component c of x is

    .. math:: u_c^T (x − m), \text{ with } whiten \text{ divided by } \sqrt{λ_c}

    Features that do not vary on the training set give one component that is zero.

    Complexity: n d · min(n, d) + min(n, d)³ multiplications to fit n vectors of d features; a new one takes c d.

    References
    ----------
    Pearson: On lines and planes of closest fit to systems of points in space. Philosophical Magazine 2, 1901.

    Hotelling: Analysis of a complex of statistical variables into principal components. Journal of Educational
    Psychology 24, 1933.

    Examples
    --------
    >>> from seqkern.kernels.feature_transforms import PCATransform
    >>> pca = PCATransform(n_components=1, whiten=True).fit([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> pca.transform([[2.0, 4.0], [3.0, 6.0]]).round(6).ravel().tolist()
    [0.0, 1.0]
    """

    name = "pca"
    learned = ("mean_", "components_", "variances_")

    n_components: int | None = integer(
        default=10, low=1, optional=True, doc="Maximum number of components, largest variance first; none: all."
    )
    whiten: bool = flag(default=False, doc="Divide each component by its standard deviation on the training set.")

    def _fit(self, values: npt.NDArray[np.float64]) -> None:
        self.mean_ = values.mean(axis=0)
        centred = values - self.mean_
        (n, d), free = values.shape, max(len(values) - 1, 1)
        with one_thread():
            if d <= n:
                variances, vectors = np.linalg.eigh(centred.T @ centred / free)
            else:
                variances, vectors = np.linalg.eigh(centred @ centred.T / free)
        variances, vectors = variances[::-1], vectors[:, ::-1]
        # what the mean leaves of features that do not vary is rounding, too
        noise = np.finfo(np.float64).eps ** 2 * float(np.square(self.mean_).max(initial=0.0)) * max(n, d)
        kept = int(np.sum(variances > max(FLAT * variances[0], noise)))
        if kept == 0:  # as of empty sequences
            self.components_, self.variances_ = np.zeros((d, 1)), np.ones(1)
            return
        kept = kept if self.n_components is None else min(kept, self.n_components)
        variances, vectors = variances[:kept], vectors[:, :kept]
        if d > n:
            with one_thread():
                vectors = centred.T @ vectors / np.sqrt(free * variances)
        largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(kept)]
        self.components_ = np.ascontiguousarray(vectors * np.where(largest < 0, -1.0, 1.0))
        self.variances_ = np.ascontiguousarray(variances)

    def _apply(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        out = products(values - self.mean_, self.components_)
        return out / np.sqrt(self.variances_) if self.whiten else out

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return pc1, pc2, ….

        Parameters
        ----------
        columns : sequence of str
            The names before.

        Returns
        -------
        list of str
        """
        return [f"pc{j}" for j in range(1, len(self.variances_) + 1)]
