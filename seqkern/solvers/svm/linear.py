"""The C-SVM without a Gram matrix: dual coordinate descent over feature vectors."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import integer
from seqkern.core.sparse_types import is_sparse
from seqkern.core.types import Arrays, Header
from seqkern.kernels.deferred import DeferredImplicit
from seqkern.kernels.implicit import Implicit, SparseImplicit
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.base import BinarySolver, Solver
from seqkern.solvers.class_weights import class_factors
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.finite import EPSILON, largest_value
from seqkern.solvers.products.on_products import OnProducts
from seqkern.solvers.shared import SearchesCost, class_weights, cost, random_seed, tolerance
from seqkern.solvers.svm.dual_coordinate import Descent
from seqkern.solvers.svm.working_sets import descend


class LinearSVC(SearchesCost, OnProducts, BinarySolver):
    r"""Support vector machine without a Gram matrix; same optimum as `CSVC`.

    `fit` takes an `Implicit` or another `KernelOperator`, or a matrix of features X, dense or sparse, with K = X Xᵀ.
    After an operator, `decision_function` takes one with the same tables, or kernel rows like `CSVC`; after a matrix,
    features.
    The weights are not kept: a model holds the support vectors.

    Attributes
    ----------
    support_ : ndarray of int64, shape (s,)
        The samples with α > 0. Fitted on a matrix of features: the features whose weight is not zero.
    dual_coef_ : ndarray of float64, shape (s,)
        α_i y_i of the support vectors; Σ α_i y_i = 0. Fitted on a matrix of features, there is none; on an operator
        other than an `Implicit`, coefficients β whose w is nearly that of α.
    intercept_ : float
        b. It is not penalised.
    report_ : dict
        Besides the usual: ``gap``, the duality gap over the primal value, an upper bound of how far the primal value is
        above its minimum. ``residual`` and ``objective`` are those of `CSVC`; ``iterations`` are passes. On an operator
        other than an `Implicit`, ``products`` counts those with K, and ``residual`` is ‖w − Σ α_i y_i φ_i‖ / ‖w‖.

    Notes
    -----
    By dual coordinate descent (see `dual_coordinate`), or products with K (see `products.subspace`), it solves

    .. math:: \min_{w, b} ½ ‖w‖^2 + \sum_i C_i \max(0, 1 − y_i (w·φ_i + b))

    LIBLINEAR solves nearly the same problem, but penalises the bias and does not return α.

    Complexity: one pass takes time proportional to the non-zero features of all n samples, so that time and memory grow
    linearly with n; the number of passes depends on C and `tol`.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale linear SVM. ICML 2008.

    Examples
    --------
    Without a Gram matrix, from the feature vectors of a kernel that are never stored:

    >>> import numpy as np
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import LinearSVC
    >>> kernel = SpectrumKernel(k=2)
    >>> sequences = ["MKKLLA", "MKALLA", "GDEDGS", "GDDEGS", "MKLLAA", "SGDEDG"]
    >>> implicit = kernel.implicit(sequences)
    >>> train, test = np.arange(4), np.arange(4, 6)
    >>> solver = LinearSVC(C=10.0).fit(implicit.take(train), ["membrane", "membrane", "soluble", "soluble"])
    >>> solver.predict(implicit.take(test)).tolist()
    ['membrane', 'soluble']

    On features the columns that prediction needs are features:

    >>> X = np.array([[2.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [-2.0, 0.0]])
    >>> LinearSVC().fit(X, [1, 1, 0, 0]).support_.tolist()
    [0]
    """

    name = "linear_svc"
    margin = 1.0
    fit_products = 15.0
    fit_growth = 0.2
    summary = "Support vector machine without a Gram matrix, for many sequences: same solution as csvc."
    input: ClassVar[str] = "implicit"

    C: float = cost("C, the cost of a margin error.")
    class_weight: dict | str | None = class_weights()
    tol: float = tolerance(
        1e-3, "The fit has converged when the duality gap is at most this share of the primal objective."
    )
    max_epochs: int = integer(
        default=1000, low=1, doc="Maximum number of passes, or products; partial passes count in proportion."
    )
    seed: int = random_seed("Seed of the order of the records.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        exact: dict[str, Any] = {"tol": 1e-9, "max_epochs": 100_000}
        return [cls(**exact), cls(C=0.3, class_weight="balanced", **exact)]

    def fit_after(
        self, previous: Solver | None, K: Any, y: npt.ArrayLike | None = None, groups: npt.ArrayLike | None = None
    ) -> Self:
        """Fit, starting from the solution of `previous` for another C, if on the same samples.

        Raises like `fit`.
        """
        if isinstance(K, KernelOperator) and not isinstance(K, Implicit | DeferredImplicit):
            return super().fit_after(previous, K, y, groups)
        self._start = getattr(previous, "_alpha", None)
        try:
            return self.fit(K, y, groups)
        finally:
            del self._start

    def _fit(self, K: Any, y: npt.NDArray[np.float64]) -> dict[str, Any]:
        """Descend, and keep non-zero coefficients."""
        factors = class_factors(self.class_weight, self.classes_, y)
        cost = float(self.C) * np.where(y > 0, factors[1], factors[0])
        start = getattr(self, "_start", None)
        if start is not None and (start.shape != y.shape or np.any(start * y < 0)):
            start = None  # of other samples
        if isinstance(K, DeferredImplicit):
            return self._fit_in_parts(K, y, cost, start)
        if isinstance(K, KernelOperator) and not isinstance(K, Implicit):
            self.coefficients_, report = self._learn_hinge(K, y, cost, self.tol, self.max_epochs)
            return report
        implicit = K if isinstance(K, Implicit) else SparseImplicit.of(K)
        descent = Descent(implicit, y, cost, self.seed, start=None if start is None else np.abs(start))
        certificate, epochs = descent.run(self.tol, self.max_epochs)
        self._alpha = descent.alpha * y
        self.intercept_ = certificate.bias
        coefficients = self._alpha if isinstance(K, Implicit) else _without_rounding(descent.weights, self._alpha, K)
        self.support_ = np.flatnonzero(coefficients).astype(np.int64)
        self.coefficients_ = coefficients[self.support_]
        self._vectors = implicit.take(self.support_) if isinstance(K, Implicit) else None
        return {
            "converged": bool(certificate.gap <= self.tol),
            "iterations": epochs,
            "residual": certificate.residual,
            "objective": -certificate.dual,
            "gap": certificate.gap,
        }

    def _fit_in_parts(
        self,
        records: DeferredImplicit,
        y: npt.NDArray[np.float64],
        cost: npt.NDArray[np.float64],
        start: npt.NDArray[np.float64] | None,
    ) -> dict[str, Any]:
        """Descend on working sets, and keep non-zero coefficients."""
        start = None if start is None else np.abs(start)
        found = descend(records, y, cost, self.seed, self.tol, self.max_epochs, start)
        self._alpha = found.alpha * y
        self.intercept_ = found.certificate.bias
        self.support_ = np.flatnonzero(self._alpha).astype(np.int64)
        self.coefficients_ = self._alpha[self.support_]
        self._vectors = records.take(self.support_)
        return {
            "converged": bool(found.certificate.gap <= self.tol),
            "iterations": found.epochs,
            "residual": found.certificate.residual,
            "objective": -found.certificate.dual,
            "gap": found.certificate.gap,
            "working_sets": found.rounds,
            "largest_set": found.largest,
        }

    @property
    def dual_coef_(self) -> npt.NDArray[np.float64]:
        """α_i y_i of the support vectors."""
        return self.coefficients_

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return Σ coefficient_j K(x, z_j) + b; for feature vectors with the tables of training, w·φ(x) + b."""
        if isinstance(K, KernelOperator):
            return self._sums(K, self.coefficients_) + self.intercept_
        if is_sparse(K):
            coefficients = np.zeros(K.shape[1])
            coefficients[columns] = self.coefficients_
            return K @ coefficients + self.intercept_
        return weighted_sums(K, columns, self.coefficients_, self.intercept_)

    def linear(self) -> tuple[npt.NDArray[np.float64], float]:
        """Return (coefficients, constant): α_i y_i in their columns, and b."""
        return self._on_columns(self.coefficients_), self.intercept_

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the intercept and the coefficients."""
        return {"intercept": self.intercept_}, {"coef": self.coefficients_}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.intercept_ = header["intercept"]
        self.coefficients_ = arrays["coef"]

    def __getstate__(self) -> dict[str, Any]:
        """Exclude warm-start data from pickles."""
        return {name: value for name, value in super().__getstate__().items() if name != "_alpha"}


def _without_rounding(
    weights: npt.NDArray[np.float64], alpha: npt.NDArray[np.float64], K: Any
) -> npt.NDArray[np.float64]:
    """Return weights, or zeros if Σ α_i y_i x_i cancels: what is left of it then is rounding, of either sign."""
    lost = EPSILON * np.abs(alpha).sum() * largest_value(K)
    return weights if np.abs(weights).max(initial=0.0) > lost else np.zeros_like(weights)
