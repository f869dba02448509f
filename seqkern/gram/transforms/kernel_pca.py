"""Projection on the leading principal components in feature space."""

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from seqkern.core.eigenpairs import are_few, largest_eigenpairs
from seqkern.core.errors import GramError
from seqkern.core.parameters import integer
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.gram.transforms.products import multiply, square_of_rows

FLAT = 1e-12
"""Components with at most this share of the largest eigenvalue are rounding errors."""


class KernelPCAGram(GramTransform):
    r"""Projection on the leading principal components in feature space: dot products of the projections.

    With the centred matrix K̄ of the training samples and its eigenvectors K̄ u_c = λ_c u_c,

    .. math:: K'(x, y) = \sum_c p_c(x) p_c(y), p_c(x) = \sum_i (u_{ci} / \sqrt{λ_c}) (K(x, z_i) − mean_j K(z_j, z_i))

    New samples are projected by the stored eigenvectors. Negative eigenvalues have no component, so that the result is
    positive semi-definite for any K (Schölkopf, Smola, Müller, Neural Computation 10, 1998).

    The fit takes the leading eigenvectors of an l × l matrix: O(l²) for each of at most l / 40, otherwise O(l³). A new
    row takes O(l) per component, and O(l·c) for its values.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.gram.transforms import KernelPCAGram
    >>> X = np.array([[0.0, 0.0], [4.0, 1.0], [8.0, 0.0]])
    >>> pca = KernelPCAGram(n_components=1).fit(X @ X.T)
    >>> pca.transform_train()[0].round(6) + 0.0
    array([[ 16.,   0., -16.],
           [  0.,   0.,   0.],
           [-16.,   0.,  16.]])
    >>> [values.round(6) + 0.0 for values in pca.transform([[0.0, 8.0, 16.0]])]  # of the sample (2, 0)
    [array([[ 8.,  0., -8.]]), array([4.])]
    """

    name = "kernel_pca"
    cubes = 1.5
    learned = ("means_", "weights_", "values_")
    semidefinite = True

    n_components: int | None = integer(
        default=10, low=1, optional=True, doc="Maximum number of components, largest variance first; none: all."
    )

    def fit_cubes(self, n: int) -> float:
        """Return the operations of a fit as a multiple of n³: those of few components grow with n² only.

        Parameters
        ----------
        n : int
            Training samples.

        Returns
        -------
        float
        """
        count = n if self.n_components is None else self.n_components
        return (300.0 + 25.0 * count) / n if are_few(count, n) else self.cubes

    def needs_all(self) -> bool:
        """Return True: a projection is a sum over all training samples."""
        return True

    def _fit(self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]) -> None:
        n = len(K)
        wanted = n if self.n_components is None else min(self.n_components, n)
        self.means_ = K.mean(axis=1)

        def centred() -> npt.NDArray[np.float64]:
            made = K - (self.means_[:, None] + self.means_)
            made += self.means_.mean()
            return made

        with threadpool_limits(limits=1):  # the bits must not depend on the number of threads
            values, vectors = largest_eigenpairs(centred, wanted)
        # rounding makes a zero eigenvalue about n ε of the largest, or of what centring removed
        noise = max(FLAT, n * np.finfo(np.float64).eps) * max(values[0], np.abs(self.means_).max())
        count = int(np.sum(values > noise))
        if count == 0:
            raise GramError(
                f"transform {self.name!r} cannot be fitted: no direction has positive variance",
                remedy="choose another kernel, or repair the matrix first",
            )
        self.values_: list[float] = values[:count].tolist()
        self.weights_: npt.NDArray[np.float64] = np.ascontiguousarray(vectors[:, :count] / np.sqrt(values[:count]))

    def _projections(self) -> npt.NDArray[np.float64]:
        """Return p_c of the training samples, (l, c)."""
        return np.ascontiguousarray(self.weights_ * self.values_)

    def _apply(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64] | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        projections = multiply(K - self.means_, self.weights_)
        result = multiply(projections, np.ascontiguousarray(self._projections().T))
        return result, np.square(projections).sum(axis=1)

    def _apply_train(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        result = square_of_rows(self._projections())
        return result, np.diagonal(result).copy()

    def pull_back(self, coefficients: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], float]:
        """Return (c', constant): a sum of products with projections is a projection, too.

        Parameters
        ----------
        coefficients : ndarray of float64, shape (l,)
            c_j.

        Returns
        -------
        c' : ndarray of float64, shape (l,)
        constant : float
        """
        pulled = self.weights_ @ (coefficients @ self._projections())
        return pulled, -float(np.sum(pulled * self.means_))
