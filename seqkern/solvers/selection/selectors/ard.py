"""Automatic relevance determination: sparse Bayesian linear or logistic regression.

Every weight has a Gaussian prior with a precision λ_j of its own. The precisions maximise the evidence; those of
irrelevant features grow without limit, and these features are removed.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from seqkern.core.convergence import warn_unconverged
from seqkern.core.parameters import choice, integer, real
from seqkern.solvers.selection.selectors.linear_svm import standardised
from seqkern.solvers.selection.selectors.selector import Selector

Vector: TypeAlias = npt.NDArray[np.float64]

FLAT = 1e-6
"""Shape and rate of the prior of all precisions, nearly flat; also the precision of the bias of logistic regression."""
NEWTON_STEPS, NEWTON_TOL = 100, 1e-9


class ARDSelector(Selector):
    """Automatic relevance determination, with the fixed point of MacKay and Tipping.

    w_j ~ N(0, 1/λ_j). With w the posterior mean (Gaussian noise) or its maximum (logistic; Laplace's approximation) and
    Σ the posterior covariance, γ_j = 1 − λ_j Σ_jj tells how far the data determine w_j, and

        λ_j ← (γ_j + 2r) / (w_j² + 2r),   of Gaussian noise   β ← (l − Σ_j γ_j + 2r) / (‖t − Xw‖² + 2r)

    with r = 10⁻⁶, the shape and the rate of the Gamma priors of λ_j and β; r = 0 is MacKay's update. A feature is
    removed when λ_j reaches `threshold`. The score is |w_j| of the standardised feature, −inf for those removed. With
    several classes the largest of one class against the rest.

    Attributes
    ----------
    n_iter_ : int
        Rounds, the most of all classes.

    Notes
    -----
    MacKay, Neural Computation 4, 1992; Neal, Bayesian Learning for Neural Networks, 1996; Tipping, JMLR 1, 2001. Of
    features that are alike, mostly one is kept. The labels of real targets are standardised.

    Complexity: O(l·d·min(l, d)) for a round of d features that remain.

    Examples
    --------
    >>> from seqkern.solvers import ARDSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = ARDSelector(n_features=1).fit(X, tumours)
    >>> selector.get_support()  # of three genes
    array([False,  True, False])
    >>> selector.scores_.round(2)
    array([-inf,   1., -inf])
    """

    name = "ard"
    summary = "Bayesian regression that learns the relevance of each feature, and drops those without any."
    targets = ("binary", "multiclass", "real")

    likelihood: Literal["gaussian", "logistic"] = choice(
        default="gaussian",
        doc="Of classes: ``gaussian``, the regression on −1 and 1, or ``logistic`` regression, which takes hundreds of "
        "rounds where there are more features than samples. Real labels are always Gaussian.",
    )
    threshold: float = real(default=1e4, low=0, open_low=True, doc="λ from which a feature is removed.")
    tol: float = real(
        default=1e-3, low=0, open_low=True, doc="It has converged when the weights change by less than this in all."
    )
    max_iter: int = integer(default=1000, low=1, doc="Maximum number of rounds.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=2, likelihood="logistic")]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the CPU seconds that a fit is predicted to take: hundreds of rounds where d > l."""
        rounds = (100 if d > n else 10) * (5 if self.likelihood == "logistic" else 1)
        return 2e-9 * rounds * n * d * min(n, d)

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return |w|."""
        X, usable = standardised(X)
        columns = np.flatnonzero(usable)
        scores, self.n_iter_ = np.full(X.shape[1], -np.inf), 0
        for targets, posterior in self._problems(y):
            kept, weights = self._relevant(X[:, columns], targets, posterior)
            scores[columns[kept]] = np.maximum(scores[columns[kept]], np.abs(weights))
        return scores

    def _problems(self, y: npt.NDArray[Any]) -> Iterator[tuple[Vector, "type[_Gaussian] | type[_Logistic]"]]:
        """Yield the targets of each problem, and its model."""
        if self.kind_ == "real":
            deviation = y.std()
            yield (y - y.mean()) / (deviation if deviation > 0 else 1.0), _Gaussian
            return
        for c in range(1, 2) if len(self.classes_) == 2 else range(len(self.classes_)):
            if self.likelihood == "gaussian":
                signs = np.where(y == c, 1.0, -1.0)
                yield signs - signs.mean(), _Gaussian
            else:
                yield np.where(y == c, 1.0, 0.0), _Logistic

    def _relevant(
        self, X: npt.NDArray[np.float64], targets: Vector, model: "type[_Gaussian] | type[_Logistic]"
    ) -> tuple[npt.NDArray[np.int64], Vector]:
        """Return the columns that remain, and their weights."""
        kept = np.arange(X.shape[1])
        precisions, weights = np.ones(len(kept)), np.zeros(len(kept))
        posterior, converged, number = model(targets), False, 0
        for number in range(1, self.max_iter + 1):
            old, (weights, gamma) = weights, posterior.weights(X[:, kept], precisions, weights)
            precisions = (gamma + 2 * FLAT) / (weights**2 + 2 * FLAT)
            posterior.learn(X[:, kept] @ weights, gamma)
            good = precisions < self.threshold
            moved = np.abs(old - np.where(good, weights, 0.0)).sum()
            kept, precisions, weights = kept[good], precisions[good], weights[good]
            converged = (number > 1 and moved < self.tol) or not len(kept)
            if converged:
                break
        self.n_iter_ = max(self.n_iter_, number)
        if not converged:
            warn_unconverged(f"selector 'ard' did not converge in {number} rounds; raise max_iter", stacklevel=6)
        if len(kept):
            weights = posterior.weights(X[:, kept], precisions, weights)[0]
        return kept, weights


class _Gaussian:
    """Weights under Gaussian noise of precision β, which is learned."""

    def __init__(self, targets: Vector) -> None:
        self.targets = targets
        self.beta = 1.0 / float(np.var(targets) + np.finfo(np.float64).eps)

    def weights(self, X: npt.NDArray[np.float64], precisions: Vector, start: Vector) -> tuple[Vector, Vector]:
        """Return the posterior mean of the weights, and γ."""
        solve, gamma = _inverse(X, np.full(len(X), self.beta), precisions)
        return solve(self.beta * (self.targets @ X)), gamma

    def learn(self, fitted: Vector, gamma: Vector) -> None:
        """Update β."""
        error = float(((self.targets - fitted) ** 2).sum())
        self.beta = (len(fitted) - float(gamma.sum()) + 2 * FLAT) / (error + 2 * FLAT)


class _Logistic:
    """Weights of logistic regression with a bias, by Newton's method."""

    def __init__(self, targets: Vector) -> None:
        self.targets, self.bias = targets, 0.0

    def weights(self, X: npt.NDArray[np.float64], precisions: Vector, start: Vector) -> tuple[Vector, Vector]:
        """Return the maximum of the posterior, and γ by Laplace's approximation."""
        X = np.column_stack([X, np.ones(len(X))])
        precisions, w = np.append(precisions, FLAT), np.append(start, self.bias)
        value = self._value(X, precisions, w)
        for _ in range(NEWTON_STEPS):
            share = _sigmoid(X @ w)
            gradient = (self.targets - share) @ X - precisions * w
            step = _inverse(X, share * (1 - share), precisions, determined=False)[0](gradient)
            scale = 1.0
            while (new := self._value(X, precisions, w + scale * step)) < value and scale > NEWTON_TOL:
                scale /= 2
            if new >= value:
                w, value = w + scale * step, new
            if np.abs(scale * step).max() < NEWTON_TOL:
                break
        share = _sigmoid(X @ w)
        self.bias = float(w[-1])
        return w[:-1], _inverse(X, share * (1 - share), precisions)[1][:-1]

    def learn(self, fitted: Vector, gamma: Vector) -> None:
        """Nothing: there is no noise to learn."""

    def _value(self, X: npt.NDArray[np.float64], precisions: Vector, w: Vector) -> float:
        """Return the logarithm of the posterior, up to a constant."""
        f = X @ w
        return float(self.targets @ f - np.logaddexp(0, f).sum() - precisions @ (w * w) / 2)


def _sigmoid(f: Vector) -> Vector:
    """Return 1 / (1 + exp(−f))."""
    return np.exp(-np.logaddexp(0, -f))


def _inverse(
    X: npt.NDArray[np.float64], noise: Vector, precisions: Vector, *, determined: bool = True
) -> tuple[Callable[[Vector], Vector], Vector]:
    """Return v ↦ H⁻¹v and γ_j = 1 − λ_j (H⁻¹)_jj, H = XᵀWX + Λ; by the smaller of the two sides of X."""
    rows = X * np.sqrt(noise)[:, None]
    n, d = rows.shape
    if d <= n:
        factor = cho_factor(rows.T @ rows + np.diag(precisions), lower=True)
        half: Any = solve_triangular(factor[0], np.eye(d), lower=True) if determined else np.zeros((1, d))
        return lambda v: cho_solve(factor, v), 1.0 - precisions * (half**2).sum(axis=0)
    # Woodbury: H⁻¹ = Λ⁻¹ − Λ⁻¹Rᵀ(I + RΛ⁻¹Rᵀ)⁻¹RΛ⁻¹, R = W^½ X
    scaled = rows / precisions
    factor = cho_factor(np.eye(n) + scaled @ rows.T, lower=True)
    half = solve_triangular(factor[0], scaled, lower=True) if determined else np.zeros((1, d))
    return lambda v: v / precisions - cho_solve(factor, scaled @ v) @ scaled, precisions * (half**2).sum(axis=0)
