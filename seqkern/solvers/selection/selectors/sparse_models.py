"""Selectors by sparse linear models: norms, relevance, bounds."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.convergence import warn_unconverged
from seqkern.core.parameters import choice, integer, real
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.solvers.classic.lp_machine import solve_one_norm
from seqkern.solvers.selection.selectors.filters import constant_columns, largest_against_rest, second_classes
from seqkern.solvers.selection.selectors.selector import Selector

# Linear SVMs for selectors, trained through the Gram matrix, for few samples with many features.

NO_BOUND = 1e9
"""Stand-in for an infinite bound on α where the diagonal of K already allows for errors."""
MOST_STEPS = 200_000
"""Maximum LIBSVM iterations: with fewer features than samples and a large C it may be very slow."""


def standardised(X: Floats) -> tuple[Floats, Bools]:
    """Return features with mean 0 and variance 1 (divisor n), and a mask of the columns that are not constant.

    Constant columns are 0.
    """
    usable = ~constant_columns(X)
    scale = np.where(usable, X.std(axis=0), 1.0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), usable


def dual_weights(K: Floats, second: Bools, C: float = NO_BOUND, tol: float = 1e-4) -> Floats:
    """Return the dual weights α_i y_i of the C-SVM on a Gram matrix; `second` marks the class with y = 1."""
    from sklearn.svm import SVC  # imported here: it slows start-up, and most selectors need no SVM

    classifier = SVC(C=float(C), kernel="precomputed", tol=tol, max_iter=MOST_STEPS, cache_size=50)
    classifier.fit(K, second)
    alpha = np.zeros(len(K))
    alpha[classifier.support_] = classifier.dual_coef_[0]
    return alpha


def linear_weights(X: Floats, second: Bools, C: float, tol: float = 1e-4) -> Floats:
    """Return the weight vector w of the linear C-SVM; `second` marks the class with y = 1."""
    return dual_weights(X @ X.T, second, C, tol) @ X


def enclosing_ball(K: Floats, tol: float = 1e-6, max_iter: int = 100_000) -> tuple[Floats, float]:
    """Return the smallest ball around points in feature space: (β of the centre, squared radius).

    The centre is Σ_i β_i φ(x_i). Its dual, max_β Σ_i β_i K_ii − βᵀKβ over β ≥ 0, Σβ = 1, is solved by moving pairs of
    β, the worst one first. Vapnik, Statistical Learning Theory, 1998, section 10.7.
    """
    n, diagonal = len(K), np.diag(K)
    beta = np.full(n, 1.0 / n)
    slope = diagonal - 2.0 * (K @ beta)
    limit = tol * max(float(np.abs(diagonal).max()), np.finfo(float).tiny)
    for _ in range(max_iter):
        up = int(np.argmax(slope))
        down = int(np.argmin(np.where(beta > 0, slope, np.inf)))
        gain = slope[up] - slope[down]
        if gain <= limit:
            break
        bend = 2.0 * (K[up, up] + K[down, down] - 2.0 * K[up, down])
        move = beta[down] if bend <= 0 else min(beta[down], gain / bend)
        beta[up] += move
        beta[down] -= move
        slope -= 2.0 * move * (K[up] - K[down])
    else:
        warnings.warn(f"the smallest ball was not found in {max_iter} steps", ConvergenceWarning, stacklevel=2)
    return beta, float(beta @ diagonal - beta @ K @ beta)


# Sparse linear classifiers: the 1-norm SVM, and an approximation of the 0-norm SVM.


class OneNormSelector(Selector):
    """The 1-norm SVM: min_{w,b} ‖w‖₁ + C Σ_i max(0, 1 − y_i (w·x_i + b)), a linear program.

    At most l weights are non-zero. The score of a feature is |w_j| if non-zero; else |Σ_i α_i y_i x_ij| − 1 ≤ 0, α the
    dual solution: how close the feature is to being selected. With several classes the largest of one class against the
    rest.

    Notes
    -----
    Bradley & Mangasarian, ICML 1998; Zhu, Rosset, Hastie & Tibshirani, NIPS 2003. The features are standardised first.

    Examples
    --------
    >>> from seqkern.solvers import OneNormSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = OneNormSelector(C=0.5).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_ > 0  # weights that are not zero
    array([False,  True, False])
    """

    name = "one_norm"
    fit_products = 6000.0
    summary = "Linear support vector machine with a small sum of absolute weights, most of them zero."

    C: float = real(
        default=1.0, low=0, open_low=True, doc="C, the cost of a margin error; small values leave few weights."
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=2, C=0.1)]

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the scores |w| or, for unselected features, how close they are to being selected."""
        X, usable = standardised(X)

        def score(second: Bools) -> Floats:
            found = solve_one_norm(X, np.where(second, 1.0, -1.0), self.C)
            return np.where(found.weights != 0, np.abs(found.weights), np.minimum(found.nearness - 1.0, 0.0))

        return np.where(usable, largest_against_rest(score, y, self.classes_), -np.inf)


class ZeroNormSelector(Selector):
    """Approximation of the 0-norm: train a linear SVM, multiply features by their weights, and repeat.

    z ← z · |w|, w of the C-SVM on the features z_j x_j, from z = 1 on; it descends on Σ_j ln(ε + |w_j|), which counts
    the weights that are not zero, ε → 0. Most z_j go to zero. The score is ln z_j, each round shifted so that the
    largest is 0. With several classes the SVMs of each class against the rest share z, and |w_j| is √Σ_c w_cj².

    Attributes
    ----------
    n_iter_ : int
        Rounds.

    Notes
    -----
    Weston, Elisseeff, Schölkopf & Tipping, Use of the zero-norm with linear models and kernel methods, JMLR 3, 2003
    (their l₂-AROM). The features are standardised first.

    Examples
    --------
    >>> from seqkern.solvers import ZeroNormSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = ZeroNormSelector(n_features=1, C=10).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.transform(X)[:3, 0]
    array([7.9, 8.2, 7.6])
    """

    name = "zero_norm"
    fit_products = 3000.0
    summary = "Multiplies features repeatedly by the weights of a support vector machine, until few are left."

    C: float = real(
        default=100.0,
        low=0,
        open_low=True,
        doc="C, the cost of a margin error; large values give the hard margin of the original.",
    )
    max_iter: int = integer(
        default=20,
        low=1,
        doc="Maximum number of rounds; it stops earlier when no ln z_j of a remaining feature changes "
        "by more than 0.001.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(C=1.0), cls(n_features=2, C=10.0, max_iter=5)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: linear programs on all rows."""
        return super().fit_seconds(n, d) + 2e-8 * n**3

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the scores ln z."""
        X, usable = standardised(X)
        logs, seconds = np.zeros(X.shape[1]), second_classes(y, self.classes_)
        for number in range(1, self.max_iter + 1):
            self.n_iter_ = number
            scaled = X * np.exp(logs)
            weights = np.sqrt(sum(linear_weights(scaled, second, self.C) ** 2 for second in seconds))
            largest = weights.max(initial=0.0)
            if largest == 0:
                break
            # w of the scaled feature has a factor z of its own; below LEAST nothing is left of a feature
            step = np.log(np.maximum(weights / largest, np.exp(LEAST)))
            new = logs + step
            new -= new.max()
            moved = np.abs(new - logs)[new > LEAST].max()
            logs = new
            if moved <= 1e-3:
                break
        return np.where(usable, logs, -np.inf)


LEAST = -30.0
"""Least ln z, of a feature out of play: its product with any other is below rounding."""


# Automatic relevance determination (ARD): sparse Bayesian linear or logistic regression.
#
# Every weight has a Gaussian prior with its own precision λ_j. The precisions maximise the evidence; those of
# irrelevant features grow without limit, and these features are removed.

Vector: TypeAlias = Floats

FLAT = 1e-6
"""Shape and rate of the nearly flat prior of all precisions; also the precision of the bias of logistic regression."""
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
    threshold: float = real(default=1e4, low=0, open_low=True, doc="λ above which a feature is removed.")
    tol: float = real(
        default=1e-3, low=0, open_low=True, doc="It has converged when the weights change by less than this in all."
    )
    max_iter: int = integer(default=1000, low=1, doc="Maximum number of rounds.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=2, likelihood="logistic")]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: hundreds of rounds where d > l."""
        rounds = (100 if d > n else 10) * (5 if self.likelihood == "logistic" else 1)
        return 2e-9 * rounds * n * d * min(n, d)

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the scores |w|."""
        X, usable = standardised(X)
        columns = np.flatnonzero(usable)
        scores, self.n_iter_ = np.full(X.shape[1], -np.inf), 0
        for targets, posterior in self._problems(y):
            kept, weights = self._relevant(X[:, columns], targets, posterior)
            scores[columns[kept]] = np.maximum(scores[columns[kept]], np.abs(weights))
        return scores

    def _problems(self, y: Array) -> Iterator[tuple[Vector, "type[_Gaussian] | type[_Logistic]"]]:
        """Yield (targets, model) of each problem."""
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

    def _relevant(self, X: Floats, targets: Vector, model: "type[_Gaussian] | type[_Logistic]") -> tuple[Ints, Vector]:
        """Return the remaining columns and their weights."""
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
    """A model of weights under Gaussian noise of precision β, which is learned."""

    def __init__(self, targets: Vector) -> None:
        self.targets = targets
        self.beta = 1.0 / float(np.var(targets) + np.finfo(np.float64).eps)

    def weights(self, X: Floats, precisions: Vector, start: Vector) -> tuple[Vector, Vector]:
        """Return the posterior mean of the weights, and γ."""
        solve, gamma = _inverse(X, np.full(len(X), self.beta), precisions)
        return solve(self.beta * (self.targets @ X)), gamma

    def learn(self, fitted: Vector, gamma: Vector) -> None:
        """Update β."""
        error = float(((self.targets - fitted) ** 2).sum())
        self.beta = (len(fitted) - float(gamma.sum()) + 2 * FLAT) / (error + 2 * FLAT)


class _Logistic:
    """A model of logistic regression weights with a bias, fitted by Newton's method."""

    def __init__(self, targets: Vector) -> None:
        self.targets, self.bias = targets, 0.0

    def weights(self, X: Floats, precisions: Vector, start: Vector) -> tuple[Vector, Vector]:
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
        """Do nothing, as there is no noise to learn."""

    def _value(self, X: Floats, precisions: Vector, w: Vector) -> float:
        """Return the log posterior, up to a constant."""
        f = X @ w
        return float(self.targets @ f - np.logaddexp(0, f).sum() - precisions @ (w * w) / 2)


def _sigmoid(f: Vector) -> Vector:
    """Return the sigmoid 1 / (1 + exp(−f))."""
    return np.exp(-np.logaddexp(0, -f))


def _inverse(
    X: Floats, noise: Vector, precisions: Vector, *, determined: bool = True
) -> tuple[Callable[[Vector], Vector], Vector]:
    """Return the map v ↦ H⁻¹v and γ_j = 1 − λ_j (H⁻¹)_jj, where H = XᵀWX + Λ.

    The inverse is computed on the smaller side of X.
    """
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


# R²W² selection: features are scaled to minimise a bound on the leave-one-out error of an SVM.


class R2W2Selector(Selector):
    """Minimise the bound R²W² over a scale σ_j ≥ 0 of each feature, by gradient descent.

    The bound (1/l) R² W² on the leave-one-out error of a hard-margin SVM has R the radius of the smallest ball around
    the samples and W = ‖w‖, both with the kernel K_σ(x, x') = Σ_j σ_j² x_j x'_j. With α of the SVM and β of the ball

    ∂W²/∂σ_j = −2 σ_j (Σ_i α_i y_i x_ij)²,   ∂R²/∂σ_j = 2 σ_j (Σ_i β_i x_ij² − (Σ_i β_i x_ij)²).

    d/C is added to the diagonal of K to allow for errors. The score is σ_j. With several classes the product of the
    bounds of the SVMs of each class against the rest is minimised.

    Attributes
    ----------
    n_iter_ : int
        Steps that were tried, at least one.

    Notes
    -----
    Weston, Mukherjee, Chapelle, Pontil, Poggio & Vapnik, Feature selection for SVMs, NIPS 2000; Chapelle, Vapnik,
    Bousquet & Mukherjee, Machine Learning 46, 2002. The bound does not change when all σ are multiplied by one number;
    they are kept at ‖σ‖² = d. The features are standardised first.

    Examples
    --------
    >>> from seqkern.solvers import R2W2Selector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = R2W2Selector(n_features=1, max_iter=10).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    >>> selector.scores_.round(2)
    array([0.  , 1.73, 0.  ])
    """

    name = "r2w2"
    fit_products = 3000.0
    summary = "Scales features to minimise a bound on the error of a support vector machine."

    C: float = real(
        default=100.0, low=0, open_low=True, doc="C, the cost of an error; large values give the hard margin."
    )
    max_iter: int = integer(
        default=20,
        low=1,
        doc="Maximum number of steps, each halved until the bound falls; it stops earlier when the "
        "bound falls by less than a share of 1e-3.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(max_iter=5), cls(n_features=2, C=1.0, max_iter=3)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: many SVMs on all rows."""
        return super().fit_seconds(n, d) + 1.5e-8 * n**3

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the scales σ as scores."""
        X, usable = standardised(X)
        seconds = second_classes(y, self.classes_)
        return np.where(usable, self._descend(X, seconds), -np.inf)

    def _descend(self, X: Floats, seconds: Sequence[Bools]) -> Floats:
        """Return the final scales σ of the features, ‖σ‖² = d."""
        sigma, step = np.ones(X.shape[1]), 1.0
        bound, gradient = radius_margin(X, seconds, sigma, self.C)
        for number in range(1, self.max_iter + 1):
            self.n_iter_ = number
            length = np.abs(gradient).max(initial=0.0)
            if length == 0:
                break
            while step > 1e-4:
                # in units of a σ that may at most vanish
                new = np.maximum(sigma - step * sigma.max() * gradient / length, 0.0)
                if new.any():
                    new *= np.sqrt(len(new) / (new @ new))
                    found, slope = radius_margin(X, seconds, new, self.C)
                    if found < bound:
                        break
                step /= 2
            else:
                break
            better = bound - found
            sigma, bound, gradient, step = new, found, slope, 2 * step
            if better <= 1e-3:
                break
        return sigma


def radius_margin(X: Floats, seconds: Sequence[Bools], sigma: Floats, C: float) -> tuple[float, Floats]:
    """Return Σ ln R²W² over the classifiers, and its gradient with respect to `sigma`.

    `X` is standardised, each mask of `seconds` marks the class with y = 1, and d/C is added to the diagonal.
    """
    scaled = X * sigma
    K = scaled @ scaled.T
    K[np.diag_indices_from(K)] += len(sigma) / C
    beta, radius = enclosing_ball(K)
    up = 2.0 * sigma * (beta @ X**2 - (beta @ X) ** 2)
    bound, gradient = 0.0, np.zeros(len(sigma))
    for second in seconds:
        alpha = dual_weights(K, second)
        # twice the dual objective: an error of α comes in squared
        margin = float(2.0 * np.abs(alpha).sum() - alpha @ K @ alpha)
        bound += np.log(radius * margin)
        gradient += up / radius - 2.0 * sigma * (alpha @ X) ** 2 / margin
    return bound, gradient
