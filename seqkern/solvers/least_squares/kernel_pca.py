"""Kernel principal component analysis: directions of largest variance in feature space."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin

from seqkern.core.errors import GramError
from seqkern.core.linear_algebra import centred
from seqkern.core.matrices import are_few, largest_eigenpairs
from seqkern.core.parameters import integer
from seqkern.core.threads import one_thread
from seqkern.core.types import Arrays, Header
from seqkern.solvers import _linear
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import FitCost, FitWork

PRODUCTS = 1.5
"""Products with a vector for each component, where they are few."""


class KernelPCA(TransformerMixin, Solver):
    r"""Kernel principal component analysis of a Gram matrix.

    It is unsupervised: labels are ignored.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (c, s)
        u_c / √λ_c. The sign is such that the entry of largest |u_ci| is positive.
    means_ : ndarray of float64, shape (s,)
        Means of the columns of K on the training rows.
    explained_variance_ : ndarray of float64, shape (c,)
        λ_c / l, the variance of the training rows along each component (divisor l).
    explained_variance_ratio_ : ndarray of float64, shape (c,)
        The same as a share of the total variance, trace(K̄) / l.
    report_ : dict
        ``objective`` is the sum of `explained_variance_`, ``residual`` the largest |K̄ u_c − λ_c u_c| as a share of
        λ_1.

    Notes
    -----
    With K̄ = C K C, C = I − 11ᵀ/l, and K̄ u_c = λ_c u_c, the projection of x on component c is

    .. math:: \sum_i (u_{ci} / \sqrt{λ_c}) (K(x, x_i) − mean_j K(x_j, x_i))

    The training mean is the origin, for new rows too. Only positive eigenvalues (up to rounding) have a
    component; if there are fewer than `n_components`, a warning says so. With an indefinite K, negative eigenvalues are
    left out but count in the total variance, so that shares may sum to more than 1; a total that is not positive is an
    error.

    Complexity: O(n²) for each component if they are at most 1/40 of the n training rows, by Lanczos's method.
    Otherwise, or where too many eigenvalues are nearly equal for it, about 2n³/3 multiplications, and more for all
    components. One copy of K, two for all components.

    References
    ----------
    Schölkopf, Smola, Müller: Nonlinear component analysis as a kernel eigenvalue problem. Neural Computation 10, 1998.

    Examples
    --------
    The first component separates the two families:

    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import KernelPCA
    >>> K = SpectrumKernel(k=2)(["MKKLLA", "MKALLA", "GDEDGS", "GDDEGS"])
    >>> pca = KernelPCA(n_components=2).fit(K)
    >>> first = pca.transform(K)[:, 0]
    >>> (first * first[0] > 0).tolist()
    [True, True, False, False]
    >>> pca.explained_variance_ratio_.round(2).tolist()
    [0.67, 0.17]
    """

    name = "kernel_pca"
    gram_copies = 2.0
    fit_products = 25.0
    fit_cubes = 1.5
    summary = "Kernel principal component analysis: the directions in which records differ most."
    targets: ClassVar[tuple[str, ...]] = ("none",)

    n_components: int | None = integer(
        default=2, low=1, optional=True, doc="Maximum number of components, largest variance first; none: all."
    )

    def transform(self, K: Any) -> npt.NDArray[np.float64]:
        """Return the projections of new rows; `decision_function` is the same."""
        return self.decision_function(K)

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return what a fit is predicted to cost: products with the matrix for few components, else cubes."""
        count = self.n_components
        if count is None or not are_few(count, work.width):
            return super().fit_cost(work)
        return FitCost((self.fit_products + PRODUCTS * count) * work.product)

    def _fit(self, K: npt.NDArray[np.float64], y: npt.NDArray[np.float64] | None) -> dict[str, Any]:
        """Keep the eigenvectors of the centred matrix with the largest positive eigenvalues; return the report."""
        n = len(K)
        wanted = n if self.n_components is None else min(self.n_components, n)
        with one_thread():
            self.means_ = K.mean(axis=1)
            trace = 0.0

            def matrix() -> npt.NDArray[np.float64]:
                nonlocal trace
                made = centred(K, self.means_)
                trace = float(np.trace(made))
                return made

            values, vectors = largest_eigenpairs(matrix, wanted)
            # rounding makes a zero eigenvalue about n ε of the largest
            positive = values > max(1e-12, n * np.finfo(np.float64).eps) * max(values[0], np.abs(self.means_).max())
            count = int(positive.sum())
            self._check(count, trace)
            values, vectors = values[:count], vectors[:, :count]
            product = K @ vectors
        product -= product.mean(axis=0) + values * vectors
        vectors *= np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)] < 0, -1.0, 1.0)
        self.support_ = np.arange(n)
        self.dual_coef_ = np.ascontiguousarray((vectors / np.sqrt(values)).T)
        self.explained_variance_ = values / n
        self.explained_variance_ratio_ = values / trace
        return {
            "converged": True,
            "iterations": 1,
            "residual": float(np.abs(product).max() / values[0]),
            "objective": float(self.explained_variance_.sum()),
            "components": count,
        }

    def _check(self, count: int, trace: float) -> None:
        """Raise GramError if there is no variance; warn if there are fewer components than requested."""
        if count == 0 or trace <= 0:
            none = "no direction has positive variance"
            less = f"the total variance in feature space is not positive: the centred matrix has the trace {trace:g}"
            raise GramError(
                none if count == 0 else less,
                remedy="choose another kernel, or repair the matrix (clip, flip, shift)",
            )
        if self.n_components is not None and count < self.n_components:
            warnings.warn(
                f"the matrix has {count} directions of positive variance, fewer than n_components={self.n_components}",
                stacklevel=4,
            )

    def _decide(self, K: npt.NDArray[np.float64], columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the projections of the rows onto the components."""
        out = np.empty((len(self.dual_coef_), len(K)))
        for weights, projections in zip(self.dual_coef_, out, strict=True):
            _linear.decide(K, columns, self.means_, weights, 0.0, projections)
        return np.ascontiguousarray(out.T)

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the coefficients, the means, and the variances."""
        return {}, {
            "coef": self.dual_coef_,
            "mean": self.means_,
            "variance": self.explained_variance_,
            "ratio": self.explained_variance_ratio_,
        }

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.dual_coef_, self.means_ = arrays["coef"], arrays["mean"]
        self.explained_variance_, self.explained_variance_ratio_ = arrays["variance"], arrays["ratio"]
