"""Linear classification of very many samples in the primal: squared hinge loss or least squares, on features."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import choice
from seqkern.core.sparse_types import is_sparse
from seqkern.core.threads import one_thread
from seqkern.core.types import Arrays, Header
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.solvers.base import AnyClassSolver, Solver, count_rows
from seqkern.solvers.class_weights import factors_of_codes
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.shared import SearchesCost, class_weights, cost, limit, tolerance
from seqkern.solvers.svm.primal_conditioner import make_conditioner
from seqkern.solvers.svm.primal_newton import PrimalMachines
from seqkern.solvers.svm.primal_rows import Rows


class PrimalSVC(SearchesCost, AnyClassSolver):
    r"""Support vector machine with squared errors, trained in the primal on features.

    With several classes there is one classifier for each against the rest; all are trained at once, on the same passes
    over the samples. Features that do not fit into memory can be recomputed on each pass.

    Attributes
    ----------
    support_ : ndarray of int64, shape (s,)
        The features whose weight is not zero in every classifier.
    coef_ : ndarray of float64, shape (1, s) for two classes, else (classes, s)
        Their weights.
    intercept_ : ndarray of float64, shape (1,) or (classes,)
        b of each classifier. It is not penalised.
    report_ : dict
        Besides the usual: ``gap``, the largest duality gap of a classifier as a share of its primal value, an upper
        bound of how far that is above its minimum. ``residual`` is the largest ‖w − Σ α_i y_i φ_i‖ / ‖w‖, α_i = 2 C c_i
        ξ_i; ``objective`` the sum of the primal values, ``iterations`` the most Newton steps of a classifier.

    Notes
    -----
    By Newton's method (see `primal_newton`), with ξ_i = max(0, 1 − y_i (w·φ_i + b)), or without the maximum (least
    squares), it solves

    .. math:: \min_{w, b} ½ ‖w‖^2 + C \sum_i c_i ξ_i^2

    `fit` takes a matrix, dense or sparse, or FeatureBlocks: float32 features are multiplied in float32 and summed in
    float64, in a fixed order. Memory besides the features: for up to 8,191 features d about four d × d matrices, and
    nine numbers for each sample and class. `fit_after` starts from the weights for another C; one matrix is kept
    between such fits.

    Complexity: O(n·d) per pass for n samples with d features, several passes per Newton step, and O(d³) for the
    preconditioner.

    References
    ----------
    Keerthi, DeCoste: A modified finite Newton method for fast solution of large scale linear SVMs. Journal of Machine
    Learning Research 6, 2005.

    Chapelle: Training a support vector machine in the primal. Neural Computation 19, 2007.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import PrimalSVC
    >>> kernel = SpectrumKernel(k=1)
    >>> X = kernel.features(["MKKLLA", "MKALLA", "GDEDGS", "GDDEGS", "NQNNQT", "QNTNNQ"])
    >>> solver = PrimalSVC(C=10.0).fit(X.toarray(), ["membrane"] * 2 + ["acidic"] * 2 + ["polar"] * 2)
    >>> solver.coef_.shape, solver.predict(kernel.features(["MKLLAA", "TQNNQN"]).toarray()).tolist()
    ((3, 11), ['membrane', 'polar'])
    """

    name = "primal_svc"
    summary = "Support vector machine with squared errors on features, for hundreds of thousands of records."
    input: ClassVar[str] = "features"
    accepts_sparse = True
    accepts_blocks: ClassVar[bool] = True
    selects: ClassVar[bool] = False

    C: float = cost("C, the cost of a squared error.")
    loss: Literal["squared_hinge", "squared"] = choice(
        default="squared_hinge",
        doc="``squared_hinge``: records beyond their margin cost nothing; ``squared``: their squared distance from it.",
    )
    class_weight: dict | str | None = class_weights()
    tol: float = tolerance(
        1e-4, "The fit has converged when the duality gap is at most this share of the primal objective."
    )
    max_iter: int = limit(100, "Maximum number of Newton steps.")

    @property
    def iterative(self) -> bool:
        """Whether the fit goes on until `tol`: least squares take one step, or hardly more."""
        return self.loss == "squared_hinge"

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(tol=1e-9), cls(C=0.3, loss="squared", tol=1e-9), cls(class_weight="balanced", tol=1e-9)]

    def fit_after(
        self, previous: Solver | None, K: Any, y: npt.ArrayLike | None = None, groups: npt.ArrayLike | None = None
    ) -> Self:
        """Fit, starting from the weights of `previous` for another C, if on the same samples; see `fit`."""
        self._previous = previous if type(previous) is type(self) else None
        try:
            return self.fit(K, y, groups)
        finally:
            del self._previous

    def _fit(self, K: Any, y: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Train the classifiers of all classes."""
        rows = Rows(K)
        own = np.arange(len(self.classes_)) if len(self.classes_) > 2 else np.array([1])
        signs = np.where(y == own[:, None], 1.0, -1.0)
        costs = self.C * factors_of_codes(self.class_weight, self.classes_, y)[y]
        with one_thread():
            start = self._begin(rows, len(own))
            classifiers = PrimalMachines(
                rows,
                self._conditioner,
                signs,
                np.broadcast_to(costs, signs.shape),
                squared=self.loss == "squared",
                start=start,
            )
            certificate, steps = classifiers.run(self.tol, self.max_iter)
        self._conditioner.release()
        if not hasattr(self, "_previous"):
            del self._conditioner  # no fit will come after this one
        self._weights = classifiers.weights
        weights = classifiers.weights[:, :-1]
        self.support_ = np.flatnonzero(np.any(weights != 0, axis=0)).astype(np.int64)
        self.coef_ = np.ascontiguousarray(weights[:, self.support_])
        self.intercept_ = classifiers.weights[:, -1].copy()
        return {
            "converged": bool(certificate.gap.max() <= self.tol),
            "iterations": steps,
            "residual": float(certificate.residual.max()),
            "objective": float(certificate.objective.sum()),
            "gap": float(certificate.gap.max()),
        }

    def _begin(self, rows: Rows, n_classifiers: int) -> npt.NDArray[np.float64] | None:
        """Set the preconditioner, and return the weights to begin with or None: those of the solver before, if any."""
        previous = getattr(self, "_previous", None)
        start, conditioner = (getattr(previous, name, None) for name in ("_weights", "_conditioner"))
        if start is None or start.shape != (n_classifiers, rows.shape[1]):
            start, conditioner = None, None
        self._conditioner = make_conditioner(rows) if conditioner is None else conditioner
        return start

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return w·φ + b of each classifier, (m, classes), or (m,) for two classes."""
        if isinstance(K, FeatureBlocks) or is_sparse(K):
            weights = np.zeros((K.shape[1], len(self.coef_)))
            weights[columns] = self.coef_.T
            out = (K @ weights if is_sparse(K) else K.times(weights)) + self.intercept_
        else:
            out = np.empty((count_rows(K), len(self.coef_)))
            for m, (one, constant) in enumerate(zip(self.coef_, self.intercept_, strict=True)):
                out[:, m] = weighted_sums(K, columns, one, constant)
        return out if len(self.coef_) > 1 else out[:, 0]

    def linear(self) -> tuple[npt.NDArray[np.float64], float] | None:
        """Return (weights, b) of the classifier of two classes; of several, None."""
        return (self._on_columns(self.coef_[0]), float(self.intercept_[0])) if len(self.coef_) == 1 else None

    def weights_by_class(self) -> npt.NDArray[np.float64] | None:
        """Return the weights of the features of `support_` in the classifier of each class; None for two classes."""
        return self.coef_ if len(self.coef_) > 1 else None

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the weights and the intercepts."""
        return {}, {"coef": self.coef_, "intercept": self.intercept_}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.coef_, self.intercept_ = arrays["coef"], arrays["intercept"]

    def __getstate__(self) -> dict[str, Any]:
        """Drop the warm-start data."""
        state = cast("dict[str, Any]", super().__getstate__())
        return {key: value for key, value in state.items() if key not in ("_weights", "_conditioner", "_previous")}
