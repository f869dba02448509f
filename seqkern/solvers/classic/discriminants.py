"""Linear and quadratic discriminants: Gaussian classes."""

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import share
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels.features import FeatureBlocks
from seqkern.solvers.capabilities import Effort, Search, Traits
from seqkern.solvers.contract import AnyClassSolver, stored
from seqkern.solvers.shared import FeatureWeights, as_blocks, blocks_of_columns, fixed_product

# Fisher's linear discriminant: Gaussian classes with a common covariance.

FLAT = 1e-10  # Directions with at most this share of the largest variance within classes are left out


class LinearDiscriminant(FeatureWeights):
    r"""Linear discriminant analysis: Gaussian classes with a common covariance.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (d, c), or (d, 1) for two classes
    intercept_ : ndarray of float64, shape (c,) or (1,)
        The decisions are ``X @ coef_ + intercept_``.
    means_ : ndarray of float64, shape (c, d)
    report_ : dict
        ``objective`` is the quotient of Fisher, the variance of the class means over that within the classes, summed
        over its directions; ``directions`` (int) the rank of Σ.

    Notes
    -----
    With class means μ_k, shares π_k of the n training rows and the covariance within the c classes
    Σ = Σ_k S_k / (n − c), S_k the sum of (x − μ_k)(x − μ_k)ᵀ over class k, the decision for class k is

    .. math:: δ_k(x) = x^T Σ^{−1} μ_k − ½ μ_k^T Σ^{−1} μ_k + \ln π_k

    for two classes δ_1 − δ_0, the log odds. The divisor n − c makes Σ unbiased; scikit-learn's
    LinearDiscriminantAnalysis (solver="lsqr") divides by n, so that its log odds of equal classes are n/(n − c) times
    these. Sums over blocks of rows suffice.

    Complexity: n d² + d³ multiplications for n rows with d features; c + 1 matrices of d × d for c classes.

    References
    ----------
    Fisher: The use of multiple measurements in taxonomic problems. Annals of Eugenics 7, 1936.

    Rao: The utilization of multiple measurements in problems of biological classification. Journal of the Royal
    Statistical Society B 10, 1948.

    Ledoit, Wolf: A well-conditioned estimator for large-dimensional covariance matrices. Journal of Multivariate
    Analysis 88, 2004.

    Examples
    --------
    >>> from seqkern.solvers import LinearDiscriminant
    >>> X = [[0.62, 0.9], [0.66, 0.8], [0.58, 0.7], [0.41, 0.2], [0.45, 0.3], [0.38, 0.1]]  # GC content, CpG ratio
    >>> solver = LinearDiscriminant(shrinkage=0.1).fit(X, [1, 1, 1, 0, 0, 0])
    >>> solver.predict([[0.6, 0.6], [0.4, 0.4]])
    array([1, 0])
    >>> solver.means_.round(2)
    array([[0.41, 0.2 ],
           [0.62, 0.8 ]])
    """

    name = "linear_discriminant"
    summary = "Fisher's linear discriminant: a direction with distant class means and narrow classes."
    learned = stored(**FeatureWeights.learned, means="means_")
    declared = Traits(
        blocks=True,
        selects=False,
        search=Search({"shrinkage": [0.0, 0.01, 0.1, 0.5]}, order=("-shrinkage",)),
        effort=Effort(products=30.0, cubes=4.0),
    )
    input = "features"

    shrinkage: float | str | None = share(
        None,
        's in (1 − s) Σ + s (tr Σ / d) I, from 0 to 1; "auto" estimates it for each class by '
        "the formula of Ledoit & Wolf, on standardised features. Without it, directions without "
        "variance within the classes are left out.",
        words=("auto",),
    )

    tested_with = ({}, {"shrinkage": 0.3}, {"shrinkage": "auto"})

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Compute class moments, invert the common covariance, and return the report."""
        with one_thread():
            return self._discriminant(as_blocks(K), y.astype(np.int64))

    def _discriminant(self, K: FeatureBlocks, y: Ints) -> dict[str, Any]:
        """Set the attributes that determine the decision, and return the report."""
        counts, means, covariances = class_moments(K, y)
        shares = counts / len(y)
        if self.shrinkage == "auto":
            covariances = _ledoit_wolf(K, y, means, covariances)
        free = len(y) - len(counts)
        if free == 0:
            raise ParameterError("each class has one sample only", remedy="give more samples")
        within = np.tensordot(counts / free, covariances, axes=1)
        if isinstance(self.shrinkage, numbers.Real):
            within = towards_identity(within, self.shrinkage)
        variances, directions = np.linalg.eigh(within)
        kept = variances > FLAT * max(variances[-1], 0.0)
        if not kept.any():
            raise ParameterError("the features do not vary within the classes", remedy="choose other features")
        whitening = directions[:, kept] / np.sqrt(variances[kept])
        centred = (means - shares @ means) @ whitening
        coef = whitening @ (whitening.T @ means.T)
        intercept = -0.5 * np.einsum("kd,dk->k", means, coef) + np.log(shares)
        two = len(counts) == 2
        self.support_ = np.arange(K.shape[1])
        self.means_ = means
        self.coef_ = coef[:, 1:] - coef[:, :1] if two else coef
        self.intercept_ = intercept[1:] - intercept[:1] if two else intercept
        quotient = float(shares @ np.square(centred).sum(axis=1))
        error = np.abs(whitening.T @ within @ whitening - np.eye(kept.sum())).max()
        return {
            "residual": float(error),
            "objective": quotient,
            "directions": int(kept.sum()),
        }

    def _weights(self) -> tuple[Floats, Floats]:
        """Return the weights, shape (1, d) for two classes, else (c, d), and the intercepts."""
        return self.coef_.T, self.intercept_


def class_moments(K: FeatureBlocks, y: Ints) -> tuple[Ints, Floats, Floats]:
    """Return the number of rows, the mean and the covariance of each class; each class must occur."""
    counts = np.bincount(y)
    means = np.zeros((len(counts), K.shape[1]))
    for part, block in K.blocks():
        for k, mean in enumerate(means):
            mean += block[y[part] == k].sum(axis=0, dtype=np.float64)
    means /= counts[:, None]
    covariances = np.zeros((len(counts), K.shape[1], K.shape[1]))
    for part, block in K.blocks():
        for k, covariance in enumerate(covariances):
            centred = block[y[part] == k] - means[k]
            covariance += centred.T @ centred
    return counts, means, covariances / counts[:, None, None]


def towards_identity(covariance: Floats, amount: float) -> Floats:
    """Return a covariance shrunk towards the identity times a constant, with the trace unchanged.

    >>> towards_identity(np.array([[3.0, 1.0], [1.0, 1.0]]), 0.5).tolist()
    [[2.5, 0.5], [0.5, 1.5]]
    """
    out = (1.0 - amount) * covariance
    out[np.diag_indices_from(out)] += amount * np.trace(covariance) / len(out)
    return out


def _ledoit_wolf(K: FeatureBlocks, y: Ints, means: Floats, covariances: Floats) -> Floats:
    """Return the class covariances, each shrunk by Ledoit and Wolf's formula applied to its correlations.

    Besides the correlations, the formula needs the sum of ‖z‖⁴ over the standardised rows z of the class.
    """
    deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    deviations = np.where(deviations > 0, deviations, 1.0)
    fourth = np.zeros(len(means))
    for part, block in K.blocks():
        for k in range(len(means)):
            own = (block[y[part] == k] - means[k]) / deviations[k]
            fourth[k] += np.square(np.einsum("ij,ij->i", own, own)).sum()
    shrunk = np.empty_like(covariances)
    for k, n in enumerate(np.bincount(y)):
        correlations = covariances[k] / np.outer(deviations[k], deviations[k])
        squares, d = np.square(correlations).sum(), len(correlations)
        noise = (fourth[k] / n - squares) / n
        distance = squares - np.trace(correlations) ** 2 / d
        amount = min(noise / distance, 1.0) if noise > 0 and distance > 0 else 0.0
        shrunk[k] = towards_identity(correlations, amount) * np.outer(deviations[k], deviations[k])
    return shrunk


# The quadratic discriminant: Gaussian classes, each with its own regularised covariance.

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

    λ = 0 and γ = 0 give unbiased covariances of the classes, λ = 1 as in `linear_discriminant`.

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
    summary = "Quadratic discriminant: Gaussian classes, each with its own spread, regularised."
    learned = stored(means="means_", whitening="whitening_", offsets="offsets_")
    declared = Traits(
        blocks=True,
        selects=False,
        search=Search({"pooling": [0.1, 0.5, 0.9], "shrinkage": [0.01, 0.1, 0.5]}, order=("-pooling", "-shrinkage")),
        effort=Effort(products=30.0, cubes=8.0),
    )
    input = "features"

    pooling: float = share(0.5, "λ: 0 for a covariance of each class from its own samples, 1 for one of all classes.")
    shrinkage: float = share(0.1, "γ: 0 for the covariance as it is, 1 for equal variances of uncorrelated features.")

    tested_with = ({}, {"pooling": 0.0, "shrinkage": 0.0}, {"pooling": 1.0, "shrinkage": 0.3})

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError for a class of one sample, unless covariances are pooled."""
        classes, counts = np.unique(y, return_counts=True)
        if (counts.min() < 2 and self.pooling == 0) or len(classes) == len(y):
            raise ParameterError(
                f"class {classes[counts.argmin()]} has one sample only, which has no covariance",
                remedy="give more samples of it, or pooling above 0",
            )

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Compute class moments and the inverse root of each covariance; return the report."""
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
            "residual": float(residual),
            "objective": float(objective),
            "condition": float(condition),
        }

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the discriminant δ_k of each class, or the difference for two classes."""
        out = np.empty((len(K), len(self.means_)))
        with one_thread():
            for part, block in blocks_of_columns(K, columns):
                for k, mean in enumerate(self.means_):
                    white = fixed_product(block - mean, self.whitening_[k])
                    out[part, k] = self.offsets_[k] - 0.5 * np.einsum("ij,ij->i", white, white)
        return out[:, 1] - out[:, 0] if out.shape[1] == 2 else out
