"""The quadratic discriminant: Gaussian classes, each with a covariance of its own, regularised."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import real
from seqkern.core.threads import one_thread
from seqkern.solvers.base import AnyClassSolver
from seqkern.solvers.baselines.linear_discriminant import FLAT, class_moments, towards_identity
from seqkern.solvers.feature_rows import as_blocks, blocks_of_columns, fixed_product

SINGULAR = "of the samples of class {name} is singular: features that do not vary, or too few samples"


class QuadraticDiscriminant(AnyClassSolver):
    r"""Quadratic discriminant analysis: Gaussian classes, each with its covariance, by Friedman's regularisation.

    Attributes
    ----------
    means_ : ndarray of float64, shape (c, d)
        μ_k.
    whitening_ : ndarray of float64, shape (c, d, d)
        Matrices W with W Wᵀ = Σ_k⁻¹.
    offsets_ : ndarray of float64, shape (c,)
        ln π_k − ½ ln |Σ_k|.
    report_ : dict
        ``objective`` is the mean of −ln(π_k p(x | k)) over the training rows, without d/2 ln 2π; ``condition`` (float)
        the largest quotient of two eigenvalues of one Σ_k.

    Notes
    -----
    With class means μ_k and shares π_k of the training rows, the decision for class k is

    .. math:: δ_k(x) = −½ (x − μ_k)^T Σ_k^{−1} (x − μ_k) − ½ \ln |Σ_k| + \ln π_k

    for two classes δ_1 − δ_0, the log odds. S_k is the sum of (x − μ_k)(x − μ_k)ᵀ over the n_k rows of class k, S that
    over all classes. With `pooling` λ and `shrinkage` γ

    .. math:: Σ_k(λ) = ((1 − λ) S_k + λ S) / ((1 − λ)(n_k − 1) + λ(n − c)),
        Σ_k = (1 − γ) Σ_k(λ) + γ (tr Σ_k(λ) / d) I

    λ = 0 and γ = 0 give unbiased covariances of the classes, λ = 1 those of `linear_discriminant`.

    Complexity: n d² + c d³ multiplications for n rows with d features and c classes, and 3 c matrices of d × d; a
    decision takes c d².

    References
    ----------
    Friedman: Regularized discriminant analysis. Journal of the American Statistical Association 84, 1989.

    Examples
    --------
    Classes with one mean and different variances, which no linear discriminant separates:

    >>> from seqkern.solvers import QuadraticDiscriminant
    >>> X = [[-0.1], [0.1], [0.0], [0.2], [-2.0], [2.0], [1.5], [-1.5]]
    >>> solver = QuadraticDiscriminant(pooling=0.0, shrinkage=0.0).fit(X, ["core"] * 4 + ["rim"] * 4)
    >>> solver.predict([[0.05], [1.8], [-1.8]]).tolist()
    ['core', 'rim', 'rim']
    """

    name = "quadratic_discriminant"
    fit_products = 30.0
    fit_cubes = 8.0
    summary = "Quadratic discriminant: Gaussian classes, each with its own spread, regularised."
    input = "features"
    accepts_blocks = True
    selects = False

    pooling: float = real(
        default=0.5,
        low=0,
        high=1,
        doc="λ: 0 for a covariance of each class from its own samples, 1 for one of all classes.",
    )
    shrinkage: float = real(
        default=0.1,
        low=0,
        high=1,
        doc="γ: 0 for the covariance as it is, 1 for equal variances of uncorrelated features.",
    )

    @classmethod
    def default_grid(cls) -> dict[str, list[Any]]:
        """Return the values of pooling and shrinkage that a search tries."""
        return {"pooling": [0.1, 0.5, 0.9], "shrinkage": [0.01, 0.1, 0.5]}

    def complexity(self) -> tuple[float, ...]:
        """Return (−pooling, −shrinkage): more of both gives smoother decisions."""
        return -float(self.pooling), -float(self.shrinkage)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(pooling=0.0, shrinkage=0.0), cls(pooling=1.0, shrinkage=0.3)]

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError for a class of one sample, unless covariances are pooled."""
        classes, counts = np.unique(y, return_counts=True)
        if (counts.min() < 2 and self.pooling == 0) or len(classes) == len(y):
            raise ParameterError(
                f"class {classes[counts.argmin()]} has one sample only, which has no covariance",
                remedy="give more samples of it, or pooling above 0",
            )

    def _fit(self, K: Any, y: npt.NDArray[Any]) -> dict[str, Any]:
        """Compute class moments, and the inverse root of each covariance."""
        with one_thread():
            counts, means, covariances = class_moments(as_blocks(K), y.astype(np.int64))
            scatters, shares = covariances * counts[:, None, None], counts / len(y)
            within, free = scatters.sum(axis=0), len(y) - len(counts)
            self.means_, self.whitening_ = means, np.empty_like(scatters)
            self.offsets_ = np.log(shares)
            objective = residual = condition = 0.0
            for k, scatter in enumerate(scatters):
                freedom = (1 - self.pooling) * (counts[k] - 1) + self.pooling * free
                covariance = ((1 - self.pooling) * scatter + self.pooling * within) / freedom
                covariance = towards_identity(covariance, float(self.shrinkage))
                values, vectors = np.linalg.eigh(covariance)
                if values[0] <= FLAT * max(values[-1], 0.0):
                    raise ParameterError(
                        f"the covariance {SINGULAR.format(name=self.classes_[k])}",
                        remedy="give shrinkage above 0, or fewer features, such as those of the transform pca",
                    )
                white = vectors / np.sqrt(values)
                self.whitening_[k] = white
                self.offsets_[k] -= 0.5 * np.log(values).sum()
                own = np.einsum("ij,ij->", white, covariances[k] @ white)
                objective += shares[k] * (0.5 * own - self.offsets_[k])
                condition = max(condition, values[-1] / values[0])
                residual = max(residual, np.abs(white.T @ covariance @ white - np.eye(len(white))).max())
        self.support_ = np.arange(as_blocks(K).shape[1])
        return {
            "converged": True,
            "iterations": 1,
            "residual": float(residual),
            "objective": float(objective),
            "condition": float(condition),
        }

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return δ_k of each class; for two, the difference."""
        out = np.empty((len(K), len(self.means_)))
        with one_thread():
            for part, block in blocks_of_columns(K, columns):
                for k, mean in enumerate(self.means_):
                    white = fixed_product(block - mean, self.whitening_[k])
                    out[part, k] = self.offsets_[k] - 0.5 * np.einsum("ij,ij->i", white, white)
        return out[:, 1] - out[:, 0] if out.shape[1] == 2 else out

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the means, the inverse roots of the covariances and the offsets."""
        return {}, {"means": self.means_, "whitening": self.whitening_, "offsets": self.offsets_}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.means_, self.whitening_, self.offsets_ = arrays["means"], arrays["whitening"], arrays["offsets"]
