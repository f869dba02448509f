"""Selectors by classifiers: sparse ones, whose weights select, and wrappers, which search for subsets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from seqkern.core.convergence import warn_unconverged
from seqkern.core.parameters import changed, choice, count, integer, positive, share
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.solvers.classic.lp_machine import solve_one_norm
from seqkern.solvers.selection.selectors.filters import constant_columns, largest_against_rest, second_classes
from seqkern.solvers.selection.selectors.selector import Selector
from seqkern.solvers.shared import cost, random_seed
from seqkern.solvers.svm.margins import smallest_sphere

# Linear SVMs for selectors, trained through the Gram matrix, for few samples with many features.

NO_BOUND = 1e9  # Stand-in for an infinite bound on α where the diagonal of K already allows for errors
MOST_STEPS = 200_000  # Maximum LIBSVM iterations: with fewer features than samples and a large C it may be very slow


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

    C: float = cost("C, the cost of a margin error; small values leave few weights.")

    tested_with = ({}, {"n_features": 2, "C": 0.1})

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

    C: float = positive(100.0, "C, the cost of a margin error; large values give the hard margin of the original.")
    max_iter: int = count(
        20,
        "Maximum number of rounds; it stops earlier when no ln z_j of a remaining feature changes by more than 0.001.",
    )

    tested_with = ({"C": 1.0}, {"n_features": 2, "C": 10.0, "max_iter": 5})

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


LEAST = -30.0  # Least ln z, of a feature out of play: its product with any other is below rounding


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
    threshold: float = positive(1e4, "λ above which a feature is removed.")
    tol: float = positive(1e-3, "It has converged when the weights change by less than this in all.")
    max_iter: int = count(1000, "Maximum number of rounds.")

    tested_with = ({}, {"n_features": 2, "likelihood": "logistic"})

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
        for second in second_classes(y, self.classes_):
            if self.likelihood == "gaussian":
                signs = np.where(second, 1.0, -1.0)
                yield signs - signs.mean(), _Gaussian
            else:
                yield np.where(second, 1.0, 0.0), _Logistic

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

    C: float = positive(100.0, "C, the cost of an error; large values give the hard margin.")
    max_iter: int = count(
        20,
        "Maximum number of steps, each halved until the bound falls; it stops earlier when the bound falls by less "
        "than a share of 1e-3.",
    )

    tested_with = ({"max_iter": 5}, {"n_features": 2, "C": 1.0, "max_iter": 3})

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


BALL_TOL = 1e-6  # Of the smallest sphere, by which the gradient divides


def radius_margin(X: Floats, seconds: Sequence[Bools], sigma: Floats, C: float) -> tuple[float, Floats]:
    """Return Σ ln R²W² over the classifiers, and its gradient with respect to `sigma`.

    `X` is standardised, each mask of `seconds` marks the class with y = 1, and d/C is added to the diagonal.
    """
    scaled = X * sigma
    K = scaled @ scaled.T
    K[np.diag_indices_from(K)] += len(sigma) / C
    sphere = smallest_sphere(K, BALL_TOL)
    beta, radius = sphere.weights, sphere.lower
    up = 2.0 * sigma * (beta @ X**2 - (beta @ X) ** 2)
    bound, gradient = 0.0, np.zeros(len(sigma))
    for second in seconds:
        alpha = dual_weights(K, second)
        # twice the dual objective: an error of α comes in squared
        margin = float(2.0 * np.abs(alpha).sum() - alpha @ K @ alpha)
        bound += np.log(radius * margin)
        gradient += up / radius - 2.0 * sigma * (alpha @ X) ** 2 / margin
    return bound, gradient


# Wrapper selectors: forward and backward search for the smallest leave-one-out error of a linear classifier.
#
# The classifier is regularised least squares on the classes (if several, one column of ±1 for each), with a constant
# feature for the bias. Its leave-one-out error follows from one inverse: with G = (Z Zᵀ + λI)⁻¹, Z the chosen features,
# and A = G Y, the error on the left-out sample i is A_i / G_ii. Adding or removing a feature changes G by a matrix of
# rank one, so all candidates are tried in a few passes over an l × d matrix: Pahikkala, Airola & Salakoski, Speeding up
# greedy forward selection for regularized least-squares, ICMLA 2010.


class LeastSquaresSearch(Selector):
    """Base of the forward and backward search by regularised least squares.

    Features are standardised first. Every feature gets a score; see the `_fit` of each subclass.
    """

    targets = ("binary", "multiclass", "real")

    ridge: float = positive(1.0, "λ, the penalty on squared weights.")

    def _targets(self, y: Array) -> Floats:
        """Return the labels as numeric columns, float64 (n, c)."""
        if self.kind_ == "real":
            scale = y.std()
            return ((y - y.mean()) / (scale if scale > 0 else 1.0))[:, None]
        return np.stack([np.where(second, 1.0, -1.0) for second in second_classes(y, self.classes_)], axis=1)


class ForwardSelector(LeastSquaresSearch):
    """Forward search: starting without features, add the one that gives the smallest leave-one-out error.

    error(S) = Σ_i ‖y_i − f_S^(−i)(x_i)‖², f_S^(−i) the regularised least-squares classifier on the features S, trained
    without sample i.

    Attributes
    ----------
    errors_ : ndarray of float64, shape (searched,)
        Mean error of a sample after each feature.

    Notes
    -----
    Forward search: Whitney, IEEE Trans. Computers 20, 1971; wrappers: Kohavi & John, Artif. Intell. 97, 1997; this one:
    Pahikkala et al. 2010. The error of the chosen features was minimised, so it does not estimate the error on new
    data.

    Examples
    --------
    >>> from seqkern.solvers import ForwardSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = ForwardSelector(n_features=2).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    >>> selector.scores_.round(2)
    array([2.  , 3.  , 0.92])
    """

    name = "forward"
    fit_products = 2000.0
    summary = "Adds one feature at a time, the one that gives a linear classifier the smallest error."

    n_features: int | None = changed(
        default=None,
        doc="Number of features to search for; the others are ranked by the error that each would "
        "give as the last one. With none, min(l − 1, 50).",
    )

    tested_with = ({}, {"n_features": 2, "ridge": 0.1})

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the scores d, d − 1, … of the features in the order found, and scores below 1 for the others.

        The scores of the others decrease with their error.
        """
        X, usable = standardised(X)
        targets, (n, d) = self._targets(y), X.shape
        wanted = min(n - 1, 50) if self.n_features is None else int(self.n_features)
        G = start_inverse(n, self.ridge)
        U = G @ X
        free = usable.copy()
        found: list[int] = []
        errors_of_found: list[float] = []
        errors = np.full(d, np.inf)
        for _ in range(min(wanted, np.count_nonzero(usable))):
            curvature = 1.0 + np.einsum("ij,ij->j", X, U)
            errors = np.where(free, candidate_errors(G, targets, X, U, curvature, 1.0), np.inf)
            best = int(np.argmin(errors))
            found.append(best)
            free[best] = False
            errors_of_found.append(errors[best] / n)
            column = U[:, best].copy()
            G -= np.outer(column, column) / curvature[best]
            U -= np.outer(column, column @ X) / curvature[best]
        self.errors_ = np.array(errors_of_found)
        scores = np.full(d, -np.inf)
        others = np.flatnonzero(free)
        scores[others] = 1.0 / (1.0 + errors[others] / n)
        scores[found] = d - np.arange(len(found))
        return scores


class BackwardSelector(LeastSquaresSearch):
    """Backward search: starting with all features, remove those that leave the smallest leave-one-out error.

    The error is as in `ForwardSelector`. Of many features, a share is removed at once, those whose single removal
    matters least.

    Notes
    -----
    Backward search: Marill & Green, IEEE Trans. Inform. Theory 9, 1963.

    Examples
    --------
    >>> from seqkern.solvers import BackwardSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = BackwardSelector(step=0).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    >>> selector.scores_.round(2)
    array([1., 2., 0.])
    """

    name = "backward"
    fit_products = 1000.0
    summary = "Removes one feature after the other, those that a linear classifier needs least."

    step: float = share(
        0.1,
        "Share of the remaining features removed in each round, at least one; 0 removes one at a time, as in the "
        "original.",
        open_high=True,
    )

    tested_with = ({"step": 0.0}, {"n_features": 2, "ridge": 10.0})

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: products of all pairs of features."""
        return super().fit_seconds(n, d) + 4e-8 * n * d**2

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the number of features removed before each feature, as its score."""
        X, usable = standardised(X)
        targets, n = self._targets(y), len(X)

        def errors(Z: Floats) -> Floats:
            G = np.linalg.inv(np.linalg.inv(start_inverse(n, self.ridge)) + Z @ Z.T)
            U = G @ Z
            return candidate_errors(G, targets, Z, U, 1.0 - np.einsum("ij,ij->j", Z, U), -1.0)

        return eliminated(X, usable, self.step, errors)


def eliminated(X: Floats, usable: Bools, step: float, rate: Callable[[Floats], Floats]) -> Floats:
    """Return the number of features removed before each feature, −inf for unusable ones.

    Each round removes the share `step` of the features left, at least one: those that `rate` gives the least values.
    """
    scores, left, gone = np.full(X.shape[1], -np.inf), np.flatnonzero(usable), 0
    while len(left):
        out = np.argsort(rate(X[:, left]), kind="stable")[: max(1, int(step * len(left)))]
        scores[left[out]] = gone + np.arange(len(out))
        gone += len(out)
        left = np.delete(left, out)
    return scores


def start_inverse(n: int, ridge: float) -> Floats:
    """Return the inverse (1 1ᵀ + λI)⁻¹ for the constant feature alone."""
    return (np.eye(n) - 1.0 / (ridge + n)) / ridge


def candidate_errors(
    G: npt.NDArray[np.floating[Any]], targets: Floats, X: Floats, U: Floats, curvature: Floats, sign: float
) -> Floats:
    """Return the error Σ_i ‖A_i / G_ii‖² after adding (`sign` 1) or removing (−1) each candidate.

    `G` belongs to the current features, `X` (n, d) are the candidates, `U` is G X, and `curvature` is 1 + sign · xᵀ G
    x.
    """
    diagonal = np.diag(G)[:, None] - sign * U * U / curvature
    total = np.zeros(X.shape[1])
    for column in (G @ targets).T:
        missed = column[:, None] - sign * U * ((column @ X) / curvature)
        missed /= diagonal
        total += np.einsum("ij,ij->j", missed, missed)
    return total


# Searches for the feature subset with the smallest leave-one-out error: a beam, and a genetic algorithm.
#
# The error is that of `ForwardSelector`: regularised least squares with a constant feature for the bias.

Subset = tuple[int, ...]


@dataclass
class _Branch:
    """One subset of the beam.

    `found` lists its features in the order of their addition, and `errors` the mean error per sample after each. G is
    (ZZᵀ + λI)⁻¹ for these features, U is GX for all features, and `rivals` are the errors with each feature in place of
    the last one.
    """

    found: Subset  # Its features in the order in which they came
    errors: tuple[float, ...]  # After each, the mean error of a sample
    G: Floats  # shape (n, n): (ZZᵀ + λI)⁻¹ of these features
    U: Floats  # shape (n, d): GX of all features
    rivals: Floats  # shape (d,): The error with each feature in place of the last one


class BeamSelector(LeastSquaresSearch):
    """Beam search: forward search that keeps the `width` best subsets of each size instead of one.

    From each kept subset of s features, every other feature is tried as the next one; of all different subsets of s + 1
    features the `width` with the smallest error(S) of `ForwardSelector` are kept. Width 1 is forward search.

    Attributes
    ----------
    errors_ : ndarray of float64, shape (searched,)
        The mean error of a sample after each feature of the best subset of the final size.

    Notes
    -----
    Beam search over feature subsets: Aha & Bankert, in Fisher & Lenz (eds.), Learning from Data, Springer 1996. The
    features of the best subset are ranked by the error without each, the others by the error that each would give in
    place of the last one. The error of the chosen features was minimised: it does not estimate that on new data.

    Complexity: O(width·l·d) for each feature of the final size, `width` times as much as forward search.

    Examples
    --------
    >>> from seqkern.solvers import BeamSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = BeamSelector(n_features=2).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    """

    name = "beam"
    fit_products = 2000.0
    summary = "Adds one feature at a time to several promising sets side by side, and takes the best set in the end."

    n_features: int | None = changed(
        default=None,
        doc="Number of features to search for; the others are ranked by the error that each would "
        "give in place of the last one. With none, min(l − 1, 50).",
    )
    width: int = count(5, "Number of subsets of each size that are kept.")

    tested_with = ({}, {"n_features": 2, "ridge": 0.1, "width": 3})

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: forward search for each subset of the beam."""
        return self.width * super().fit_seconds(n, d)

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the scores d, d − 1, … of the best subset, and scores below 1 for the other features.

        The scores of the other features decrease with their error.
        """
        X, usable = standardised(X)
        targets, (n, d) = self._targets(y), X.shape
        wanted = min(n - 1, 50) if self.n_features is None else int(self.n_features)
        G = start_inverse(n, self.ridge)
        beam = [_Branch((), (), G, G @ X, np.full(d, np.inf))]
        for _ in range(min(wanted, np.count_nonzero(usable))):
            beam = self._grown(beam, [self._next(branch, X, targets, usable) for branch in beam], X)
        best = beam[0]
        self.errors_ = np.array(best.errors)
        scores = np.where(best.rivals < np.inf, 1.0 / (1.0 + best.rivals / n), -np.inf)
        without = [subset_error(X[:, [i for i in best.found if i != j]], targets, self.ridge) for j in best.found]
        order = np.argsort(-np.array(without), kind="stable")
        scores[np.array(best.found, dtype=np.int64)[order]] = d - np.arange(len(order))
        return scores

    @staticmethod
    def _next(branch: _Branch, X: Floats, targets: Floats, usable: Bools) -> Floats:
        """Return the error of the subset with each feature added, inf for its own and for unusable features."""
        curvature = 1.0 + np.einsum("ij,ij->j", X, branch.U)
        free = usable.copy()
        free[list(branch.found)] = False
        return np.where(free, candidate_errors(branch.G, targets, X, branch.U, curvature, 1.0), np.inf)

    def _grown(self, beam: list[_Branch], tried: list[Floats], X: Floats) -> list[_Branch]:
        """Return the best distinct subsets with one more feature, best first."""
        width, n = int(self.width), len(X)
        candidates: list[tuple[float, int, int]] = []
        for place, errors in enumerate(tried):
            ordered = np.argsort(errors, kind="stable")[:width]
            candidates += [(float(errors[j]), place, int(j)) for j in ordered if errors[j] < np.inf]
        grown: dict[frozenset[int], _Branch] = {}
        for error, place, j in sorted(candidates):
            old = beam[place]
            key = frozenset([*old.found, j])
            if key in grown:
                continue
            column = old.U[:, j]
            share = column / (1.0 + X[:, j] @ column)
            G, U = old.G - np.outer(share, column), old.U - np.outer(share, column @ X)
            grown[key] = _Branch((*old.found, j), (*old.errors, error / n), G, U, tried[place])
            if len(grown) == width:
                break
        return list(grown.values())


class GeneticSelector(LeastSquaresSearch):
    """Genetic search: subsets of one size compete, mate and mutate.

    A generation keeps its best tenth; the others are children of two parents, each the better of two drawn at random.
    A child has the features that both parents have, others of either at random, and each of its features is replaced
    by another one with the probability `mutation`. The fitness is error(S) of `ForwardSelector`; small is good.

    Attributes
    ----------
    errors_ : ndarray of float64, shape (generations + 1,)
        The smallest mean error of a sample in each generation.

    Notes
    -----
    Siedlecki & Sklansky, Pattern Recognition Letters 10, 1989. The features of the best subset are ranked by the error
    without each; no other feature is rated. New features are drawn by the rank of a feature's own error, the better
    ones more often (in proportion to 1/√rank), so that the order of columns does not matter. A search by chance may
    end in a poor subset; another `seed` shows how far the result depends on it.

    Complexity: O(l·F²) for a subset of F features, `population`·`generations` of them.

    Examples
    --------
    >>> from seqkern.solvers import GeneticSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = GeneticSelector(n_features=1, population=6, generations=4).fit(X, tumours)
    >>> selector.get_support(indices=True)  # of three genes the second
    array([1])
    """

    name = "genetic"
    summary = "Breeds sets of features: good sets are mixed and changed at random, and the best survive."

    n_features: int | None = changed(default=None, doc="Number of features in every subset. With none, min(l − 1, 20).")
    population: int = integer(default=60, low=4, doc="Number of subsets in a generation.")
    generations: int = count(40, "Number of generations after the first.")
    mutation: float = share(0.05, "Probability that a feature of a child is replaced.")
    seed: int = random_seed("Of all draws.")

    tested_with = (
        {"population": 12, "generations": 6},
        {"n_features": 3, "ridge": 0.1, "population": 20, "generations": 8, "seed": 3},
    )

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: one least-squares problem for each subset."""
        size = min(n - 1, 20) if self.n_features is None else int(self.n_features)
        return self.population * self.generations * (1e-4 + 4e-9 * n * size**2) + 20e-9 * n * d

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return 1 plus the error without each of the best subset's features, −inf for all others."""
        X, usable = standardised(X)
        targets, scores = self._targets(y), np.full(X.shape[1], -np.inf)
        columns = np.flatnonzero(usable)
        alone = np.array([subset_error(X[:, [j]], targets, self.ridge) for j in columns])
        columns = columns[np.argsort(alone.round(12), kind="stable")]
        most = min(len(X) - 1, 20) if self.n_features is None else int(self.n_features)
        size = min(most, len(columns))
        self.errors_ = np.empty(0)
        if not size:
            return scores
        best = self._evolve(X[:, columns], targets, size)
        for j in best:
            rest = columns[[i for i in best if i != j]]
            scores[columns[j]] = 1.0 + subset_error(X[:, rest], targets, self.ridge)
        return scores

    def _evolve(self, X: Floats, targets: Floats, size: int) -> Subset:
        """Return the best column subset of all generations."""
        rng, known, width = np.random.default_rng(self.seed), dict[Subset, float](), X.shape[1]

        def error(subset: Subset) -> float:
            if subset not in known:
                known[subset] = subset_error(X[:, subset], targets, self.ridge)
            return known[subset]

        def sort(subsets: list[Subset]) -> list[Subset]:
            return sorted(subsets, key=lambda subset: (error(subset), subset))

        # the smallest of exponential times: draws without replacement, in proportion to 1/√rank
        times = (rng.exponential(size=width) * np.sqrt(np.arange(1, width + 1)) for _ in range(self.population))
        living = sort([_subset(np.argsort(time)[:size]) for time in times])
        course = [error(living[0])]
        for _ in range(self.generations if size < width else 0):
            elite = living[: max(1, self.population // 10)]
            children = []
            for _ in range(self.population - len(elite)):
                places = rng.integers(self.population, size=(2, 2)).min(axis=1)  # they are sorted: the better of two
                children.append(self._child(living[places[0]], living[places[1]], width, rng))
            living = sort([*elite, *children])
            course.append(error(living[0]))
        self.errors_ = np.array(course)
        return living[0]

    def _child(self, one: Subset, other: Subset, width: int, rng: np.random.Generator) -> Subset:
        """Return a mutated subset of the features of two parents."""
        both = sorted(set(one) & set(other))
        either = sorted(set(one) ^ set(other))
        child = both + [either[i] for i in rng.permutation(len(either))[: len(one) - len(both)]]
        for place in np.flatnonzero(rng.random(len(child)) < self.mutation):
            new = int(width * rng.random() ** 2)  # in proportion to 1/√rank
            if new not in child:
                child[place] = new
        return _subset(child)


def _subset(columns: Any) -> Subset:
    """Return columns as a sorted tuple."""
    return tuple(sorted(int(j) for j in columns))


def subset_error(Z: Floats, targets: Floats, ridge: float) -> float:
    """Return the mean leave-one-out error per sample for the standardised features Z, as in `ForwardSelector`."""
    Z = np.column_stack([Z, np.ones(len(Z))])
    if Z.shape[1] < len(Z):
        # λG = I − Z(ZᵀZ + λI)⁻¹Zᵀ
        hat = np.linalg.solve(Z.T @ Z + ridge * np.eye(Z.shape[1]), Z.T)
        residual, diagonal = targets - Z @ (hat @ targets), 1.0 - np.einsum("ij,ji->i", Z, hat)
    else:
        G = np.linalg.inv(Z @ Z.T + ridge * np.eye(len(Z)))
        residual, diagonal = G @ targets, np.diag(G)
    missed = residual / diagonal[:, None]
    return float((missed**2).sum() / len(Z))


# Recursive feature elimination with a linear support vector machine (SVM-RFE).


class RecursiveEliminationSelector(Selector):
    """Recursive elimination: train a linear SVM, remove the features with the smallest weights, and repeat.

    In each round w = Σ_i α_i y_i x_i of a C-SVM on the remaining features; those with the smallest w_j² are removed.
    With several classes, there is one SVM for each against the rest, and their w_j² are summed. The score of a feature
    is the number removed before it.

    Notes
    -----
    Guyon, Weston, Barnhill & Vapnik, Machine Learning 46, 2002. The features are standardised
    first.

    Examples
    --------
    >>> from seqkern.solvers import RecursiveEliminationSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = RecursiveEliminationSelector(step=0).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_.round(2)
    array([0., 2., 1.])
    """

    name = "recursive_elimination"
    fit_products = 1000.0
    summary = "Trains a support vector machine repeatedly, each time without the features of least weight."

    C: float = cost("C, the cost of a margin error.")
    step: float = share(
        0.1,
        "Share of the remaining features removed in each round, at least one; 0 removes one at a time.",
        open_high=True,
    )

    tested_with = ({"step": 0.0}, {"n_features": 2, "C": 0.1})

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: many SVMs on all rows."""
        return super().fit_seconds(n, d) + 5e-6 * n**2

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the number of features removed before each feature, as its score."""
        X, usable = standardised(X)
        seconds = second_classes(y, self.classes_)

        def weights(part: Floats) -> Floats:
            return np.asarray(sum(linear_weights(part, second, self.C) ** 2 for second in seconds))

        return eliminated(X, usable, self.step, weights)
