"""The kernel Fisher discriminant: large distance between class means, small scatter within classes."""

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import TransformerMixin

from seqkern.core.convergence import ignoring_unconverged
from seqkern.core.errors import GramError
from seqkern.core.linear_algebra import ROWS, Definite, centred
from seqkern.core.matrices import are_few, largest_eigenpairs
from seqkern.core.parameters import choice, count, integer, positive
from seqkern.core.threads import one_thread
from seqkern.core.types import Floats, Ints
from seqkern.solvers import _linear
from seqkern.solvers.capabilities import Effort, Search, Traits
from seqkern.solvers.contract import BinarySolver, Solver, stored
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.shared import KernelExpansion, class_weights, cost
from seqkern.solvers.svm.svm import CSVC


class KernelFisher(KernelExpansion, BinarySolver):
    r"""Kernel Fisher discriminant, as a regularised quotient or as a quadratic program.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        The α_i that are not 0.
    intercept_ : float
        b.
    report_ : dict
        Besides the usual ``epsilon`` (absolute). ``objective`` is the quotient, or the minimum of the program;
        ``residual`` the largest error of the linear system, as a share of the largest |m₊ − m₋|.

    Notes
    -----
    Let m₊ and m₋ be the class means of the columns of K, N = K H K the scatter within the classes (H subtracts the
    class mean from a vector), and P(α) = ‖α‖² or αᵀKα. The quotient form solves

    .. math:: \max_α (α^T (m_+ − m_−))^2 / (α^T N α + ε P(α))

    with the direction α ∝ (N + εI)⁻¹(m₊ − m₋), or (N + εK)⁻¹(m₊ − m₋). Its length is the linear discriminant's
    with the pooled covariance (divisor l − 2), so that f(x) is the log odds of two Gaussians with equal covariance and
    priors. The program form solves

    .. math:: \min_{α, b, ξ} ‖ξ‖^2 + ε P(α)  over  K α + b 1 = y + ξ,  \sum_{i ∈ class} ξ_i = 0

    so that the class means of f are −1 and 1. It has the direction of the quotient, with another length. In both forms
    the threshold lies halfway between the projected means: b = −½ αᵀ(m₊ + m₋).

    N is always singular, so that ε must be positive. With ``penalty="coefficients"`` any symmetric K works, because N +
    εI is positive definite. With ``penalty="function"``, H K H + εI must be positive definite; if K is singular and
    several α give one decision, the solution of (H K + εI) α = 1₊/l₊ − 1₋/l₋ is taken, and a very small ε loses digits.
    Coinciding class means are an error.

    Complexity: n³/6 multiplications for n training rows, plus n³/2 with ``penalty="coefficients"``; two copies of K.

    References
    ----------
    Mika, Rätsch, Weston, Schölkopf, Müller: Fisher discriminant analysis with kernels. IEEE Neural Networks for Signal
    Processing IX, 1999.

    Mika, Rätsch, Müller: A mathematical programming approach to the kernel Fisher algorithm. NIPS 13, 2001.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import KernelFisher
    >>> kernel = SpectrumKernel(k=2)
    >>> train = ["MKKLLA", "MKALLA", "GDEDGS", "GDDEGS"]
    >>> solver = KernelFisher(form="program").fit(kernel(train), ["membrane", "membrane", "soluble", "soluble"])
    >>> solver.predict(kernel(["MKLLAA", "SGDEDG"], train)).tolist()
    ['membrane', 'soluble']

    In the program the class means of the decision are −1 and 1:

    >>> decisions = solver.decision_function(kernel(train))
    >>> decisions.reshape(2, 2).mean(axis=1).round(6).tolist()
    [-1.0, 1.0]
    """

    name = "kernel_fisher"
    summary = "Kernel Fisher discriminant: a direction with distant class means and narrow classes."
    declared = Traits(
        search=Search({"epsilon": [1e-4, 1e-3, 1e-2, 1e-1, 1.0]}, {"epsilon": (1e-8, 1e3)}, ("-epsilon",)),
        effort=Effort(copies=2.0, products=25.0, cubes=1.0),
    )

    epsilon: float = positive(0.01, "ε: larger values give a direction closer to the line between the means.")
    form: Literal["quotient", "program"] = choice(default="quotient", doc="Quotient or program, see the notes.")
    penalty: Literal["coefficients", "function"] = choice(
        default="coefficients", doc="P: ‖α‖² (``coefficients``), or αᵀKα (``function``), the squared length of w."
    )
    epsilon_scale: Literal["mean", "absolute"] = choice(
        default="mean",
        doc="Unit of `epsilon`: ``mean``, the mean diagonal of the total scatter K C K (of C K C with "
        '``penalty="function"``), C = I − 11ᵀ/l, so that one value suits kernels and training '
        "parts of any size; or ``absolute``.",
    )

    tested_with = (
        {},
        {"form": "program"},
        {"epsilon": 0.5, "form": "program", "penalty": "function", "epsilon_scale": "absolute"},
    )

    def _fit(self, K: Floats, y: Floats) -> dict[str, Any]:
        """Solve for the direction, set its length and the threshold, and return the report."""
        with one_thread():
            return self._discriminant(K, _Classes(y))

    def _discriminant(self, K: Floats, classes: "_Classes") -> dict[str, Any]:
        """Set the coefficients α and the bias b, and return the report."""
        means = K @ classes.averages
        between = means[:, 1] - means[:, 0]
        if np.abs(between).max() <= 1e-12 * np.abs(means).max():
            raise GramError(
                "the means of the two classes coincide in feature space",
                remedy="choose another kernel; this one does not separate the classes",
            )
        epsilon, alpha = (self._of_coefficients if self.penalty == "coefficients" else self._of_function)(
            K, between, classes
        )
        product = K @ alpha
        deviations = classes.without_means(product)
        penalised, penalty = (alpha, alpha @ alpha) if self.penalty == "coefficients" else (product, alpha @ product)
        error = np.abs(K @ deviations + epsilon * penalised - between).max() / np.abs(between).max()
        quotient = float(alpha @ between)
        length = max(len(alpha) - 2, 1) if self.form == "quotient" else 2.0 / quotient
        within = float(deviations @ deviations)
        self._keep(length * alpha, -0.5 * length * float(alpha @ (means[:, 0] + means[:, 1])))
        program = length**2 * (within + epsilon * float(penalty))
        return {
            "converged": bool(error <= 1e-6),
            "iterations": 1,
            "residual": float(error),
            "objective": quotient if self.form == "quotient" else float(program),
            "epsilon": float(epsilon),
            **({} if error <= 1e-6 else {"remark": "the linear system is close to singular; choose a larger epsilon"}),
        }

    def _absolute(self, total: float) -> float:
        """Return the absolute ε, from the trace of the total scatter per row."""
        return float(self.epsilon) * (total if self.epsilon_scale == "mean" else 1.0)

    def _of_coefficients(self, K: Floats, between: Floats, classes: "_Classes") -> tuple[float, Floats]:
        """Return ε and α = (N + εI)⁻¹(m₊ − m₋)."""
        matrix = classes.without_means(K)
        matrix = matrix.T @ matrix  # K H K, as H is a projection
        total = (np.trace(matrix) + classes.share * (between @ between)) / len(K)
        epsilon = self._absolute(total)
        matrix[np.diag_indices_from(matrix)] += epsilon
        return epsilon, self._factor(matrix).solve(between)

    def _of_function(self, K: Floats, between: Floats, classes: "_Classes") -> tuple[float, Floats]:
        """Return ε and the solution α of (H K + εI) α = t, with t = 1₊/l₊ − 1₋/l₋.

        α has two parts: t/ε, constant over each class, and a = H a, from the symmetric system (H K H + εI) a = −H K
        t/ε.
        """
        matrix = classes.centred(K)
        difference = classes.averages[:, 1] - classes.averages[:, 0]
        total = (np.trace(matrix) + classes.share * (difference @ between)) / len(K)
        epsilon = self._absolute(total)
        if epsilon <= 0:
            raise _indefinite()
        matrix[np.diag_indices_from(matrix)] += epsilon
        other = self._factor(matrix).solve(classes.without_means(between))
        # rounding would reintroduce a constant part, which K does not remove
        return epsilon, (difference - classes.without_means(other)) / epsilon

    def _factor(self, matrix: Floats) -> Definite:
        """Return the Cholesky factor; raise GramError if the matrix is not positive definite."""
        try:
            return Definite(matrix)
        except np.linalg.LinAlgError as error:
            raise _indefinite() from error


def _indefinite() -> GramError:
    """Return the error for a scatter matrix that is not positive definite."""
    return GramError(
        "the scatter within the classes is not positive definite, even with epsilon added",
        remedy="choose a larger epsilon or penalty=coefficients, or repair the matrix (clip, flip, shift)",
    )


class _Classes:
    """The members of two classes, from labels −1.0 and 1.0; `averages` has a column 1/l± over each class."""

    def __init__(self, y: Floats) -> None:
        self.codes = (y > 0).astype(np.int64)
        self.members = [np.flatnonzero(y < 0), np.flatnonzero(y > 0)]
        self.averages = np.zeros((len(y), 2))
        for column, rows in enumerate(self.members):
            self.averages[rows, column] = 1.0 / len(rows)
        self.share = len(self.members[0]) * len(self.members[1]) / len(y)

    def centred(self, K: Floats) -> Floats:
        """Return the centred matrix H K H, exactly symmetric if `K` is."""
        means = K @ self.averages
        blocks = self.averages.T @ means
        result = np.array(K)
        for start in range(0, len(K), ROWS):
            part = slice(start, start + ROWS)
            own = self.codes[part]
            result[part] -= means[part][:, self.codes] + means[:, own].T
            result[part] += blocks[own][:, self.codes]
        return result

    def without_means(self, values: Floats) -> Floats:
        """Return H `values`: each row minus the mean of its class."""
        means = self.averages.T @ values
        result = np.array(values)
        for mean, rows in zip(means, self.members, strict=True):
            result[rows] -= mean
        return result


# The sphered SVM: a margin in units in which the training data vary equally in all directions.


class SphericalSVC(KernelExpansion, BinarySolver):
    """Support vector machine on sphered data: the margin does not depend on feature scales.

    The margin of an ordinary SVM depends on the scale of every feature. Sphering removes that dependence; the P-SVM
    starts from the same idea.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        Coefficients of K(x, x_i), not of S: all training rows have one.
    intercept_ : float
    report_ : dict
        The report of `CSVC` on S; ``n_margin``, the number of support vectors; ``margin``, the distance of the margin
        from the separating plane, 1/‖w‖ in the metric M.

    Notes
    -----
    With φ̄(x) = φ(x) − mean_i φ(x_i), Σ = (1/l) Σ_i φ̄(x_i) φ̄(x_i)ᵀ and s = trace Σ, this is the C-SVM on the kernel

    .. math:: S(x, z) = φ̄(x)^T M^{−1} φ̄(z),  M = (Σ + ρ s I) / (1 + ρ)

    ρ → 0 gives M = Σ: the data are sphered, and an invertible linear map of the features changes nothing. ρ → ∞ gives M
    = s I: an ordinary SVM on the centred Gram matrix K̄ = C K C divided by its mean diagonal s. In between, ρ keeps
    directions of small variance from being inflated. It must be positive: if the points span l − 1 dimensions, as under
    an RBF kernel, sphered points are equidistant, and every labelling has the same margin.

    All follows from K: on the training rows S = l (1 + ρ) K̄ (K̄ + l ρ s I)⁻¹, and for a new row k̄, centred with the
    training means, S(x, ·) = l (1 + ρ) k̄ (K̄ + l ρ s I)⁻¹. Scaling K changes nothing, and K may be singular. It is an
    error if K̄ + l ρ s I is not positive definite; with a smaller negative eigenvalue of K̄ the solution of the C-SVM
    may be local. S loses about log10(1/ρ) of 16 digits.

    Complexity: n³/2 multiplications for n training rows, and the C-SVM; two copies of K.

    References
    ----------
    Hochreiter, Obermayer: Support vector machines for dyadic data. Neural Computation 18, 2006.

    Examples
    --------
    A feature in other units changes the margin of an ordinary SVM, not of the sphered one:

    >>> import numpy as np
    >>> from seqkern.solvers import CSVC, SphericalSVC
    >>> X = np.array([[1.0, 0.9], [0.2, 1.0], [0.1, 0.3], [0.8, 0.1], [0.5, 0.8], [0.4, 0.2]])
    >>> y, Z = [1, 1, 0, 0, 1, 0], X * [1.0, 10.0]
    >>> def difference(solver):
    ...     first, second = (solver.fit(A @ A.T, y).decision_function(A @ A.T) for A in (X, Z))
    ...     return float(np.abs(first - second).max().round(1))
    >>> difference(CSVC()), difference(SphericalSVC(ridge=1e-9))
    (1.0, 0.0)
    """

    name = "spherical_svc"
    summary = "Support vector machine on sphered data: its margin does not depend on the scale of the features."
    declared = Traits(
        semidefinite=True,
        search=Search({"C": [0.01, 0.1, 1.0, 10.0], "ridge": [0.001, 0.01, 0.1, 1.0]}, order=("C", "-ridge")),
        effort=Effort(products=30.0, cubes=0.35),
    )

    C: float = cost("C, the cost of a margin error; infinite for a hard margin.", infinite=True)
    ridge: float = positive(0.1, "ρ: smaller values are closer to sphered data.")
    class_weight: dict | str | None = class_weights()
    tol: float = positive(1e-3, "As in `CSVC`.")
    max_iter: int = count(10_000_000, "As in `CSVC`.")

    tested_with = ({"tol": 1e-6}, {"C": np.inf, "ridge": 10.0, "tol": 1e-6}, {"class_weight": "balanced", "tol": 1e-6})

    def _fit(self, K: Floats, y: Floats) -> dict[str, Any]:
        """Sphere the matrix, train the C-SVM, fold the sphering into its coefficients, and return the report."""
        n = len(K)
        with one_thread():
            means = K.mean(axis=1)
            matrix = centred(K, means)
            added = float(self.ridge) * float(np.trace(matrix))  # l ρ s
            matrix[np.diag_indices_from(matrix)] += added
            try:
                # for K̄ = 0 rounding may give any sign
                if not added > 1e-13 * n * np.abs(means).max():
                    raise np.linalg.LinAlgError
                inverse = Definite(matrix).inverse()
            except np.linalg.LinAlgError as error:
                raise GramError(
                    "the covariance in feature space is not positive definite, even with the ridge added",
                    remedy="choose a larger ridge or another kernel, or repair the matrix (clip, flip, shift)",
                ) from error
            sphered = self._sphered(inverse, added)
        machine = CSVC(C=self.C, class_weight=self.class_weight, tol=self.tol, max_iter=self.max_iter)
        with ignoring_unconverged():
            machine.fit(sphered, self.classes_[(y > 0).astype(np.int64)])
        coefficients, constant = machine.linear()
        with one_thread():
            square = float(coefficients @ (sphered @ coefficients))
            weights = n * (1.0 + self.ridge) * (inverse @ coefficients)
        # centring a row subtracts its mean, so the mean of the weights cancels; the rest is constant
        weights -= weights.mean()
        self._keep(weights, constant - float(means @ weights))
        margin = {"margin": square**-0.5} if square > 0 else {}
        return {**machine.report_, "n_margin": len(machine.support_), **margin}

    def _sphered(self, inverse: Floats, added: float) -> Floats:
        """Return the sphered matrix S = l (1 + ρ) (I − lρs (K̄ + lρs I)⁻¹) on the training rows."""
        factor = len(inverse) * (1.0 + self.ridge)
        result = np.empty_like(inverse)
        for start in range(0, len(result), ROWS):
            np.multiply(inverse[start : start + ROWS], -added * factor, out=result[start : start + ROWS])
        result[np.diag_indices_from(result)] += factor
        return result


# Kernel principal component analysis: directions of largest variance in feature space.

PRODUCTS = 1.5  # Products with a vector for each of few components


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
    summary = "Kernel principal component analysis: the directions in which records differ most."
    learned = stored(
        coef="dual_coef_", mean="means_", variance="explained_variance_", ratio="explained_variance_ratio_"
    )
    declared = Traits(effort=Effort(copies=2.0, products=25.0, cubes=1.5))
    targets: ClassVar[tuple[str, ...]] = ("none",)

    n_components: int | None = integer(
        default=2, low=1, optional=True, doc="Maximum number of components, largest variance first; none: all."
    )

    def transform(self, K: Any) -> Floats:
        """Return the projections of new rows; `decision_function` is the same."""
        return self.decision_function(K)

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: products with the matrix for few components, else cubes."""
        count = self.n_components
        if count is None or not are_few(count, work.width):
            return super().fit_cost(work)
        return FitCost((self.declared.effort.products + PRODUCTS * count) * work.product)

    def _fit(self, K: Floats, y: Floats | None) -> dict[str, Any]:
        """Keep the eigenvectors of the centred matrix with the largest positive eigenvalues; return the report."""
        n = len(K)
        wanted = n if self.n_components is None else min(self.n_components, n)
        with one_thread():
            self.means_ = K.mean(axis=1)
            trace = 0.0

            def matrix() -> Floats:
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

    def _decide(self, K: Floats, columns: Ints) -> Floats:
        """Return the projections of the rows onto the components."""
        out = np.empty((len(self.dual_coef_), len(K)))
        for weights, projections in zip(self.dual_coef_, out, strict=True):
            _linear.decide(K, columns, self.means_, weights, 0.0, projections)
        return np.ascontiguousarray(out.T)
