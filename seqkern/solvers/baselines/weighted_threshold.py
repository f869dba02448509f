"""A binary solver with a threshold chosen by the costs of errors."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.parameters import component, real
from seqkern.solvers.base import BinarySolver
from seqkern.solvers.contract import Solver
from seqkern.solvers.estimator import clone
from seqkern.solvers.multiclass.meta_solver import MetaSolver
from seqkern.solvers.solver_specs import solver_from_state
from seqkern.solvers.svm.svm import CSVC
from seqkern.solvers.thresholds import Threshold


class WeightedThreshold(MetaSolver, BinarySolver):  # type: ignore[override]  # constants of other solvers are those of the binary one
    r"""Binary solver with the threshold at which training errors cost least.

    Attributes
    ----------
    machine_ : Solver
        The fitted binary solver, restricted to the columns `support_`.
    threshold_ : float
        Subtracted from its decision; midway between two training decisions. Ties go to the value nearest to 0.

    Notes
    -----
    With a and b the costs of a false positive and a false negative, and FP and FN the errors at the threshold t of the
    binary solver's decision on its own training rows, it solves

    .. math:: \min_t a FP(t) + b FN(t)

    Decisions on training rows are better than on new rows, the more so the more flexible the solver: for one that fits
    its training set perfectly, any threshold is as good. ``--threshold cost=a:b`` uses held-out rows instead. For
    several classes, wrap it in `OneAgainstRest`: each class then has its own threshold. `report_` is that of the binary
    solver, plus ``threshold`` and ``cost``, the mean over training rows.

    Complexity: that of the binary solver, plus O(n log n) for n training rows.

    References
    ----------
    Elkan: The foundations of cost-sensitive learning. IJCAI 2001.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC, WeightedThreshold
    >>> sites = SequenceSet.from_strings(["TATAAA", "TATAAT", "TATAAA", "GCGCGC", "GCGCGG", "GCGCGT"], "dna")
    >>> K, bound = SpectrumKernel(k=2).kernel(sites), [1, 1, -1, -1, -1, -1]
    >>> WeightedThreshold(CSVC(), false_negative=5.0).fit(K, bound).predict(K)
    array([ 1,  1,  1, -1, -1, -1])
    >>> WeightedThreshold(CSVC(), false_positive=5.0).fit(K, bound).predict(K)
    array([-1,  1, -1, -1, -1, -1])
    """

    name = "weighted_threshold"
    sets_threshold = True
    summary = "Moves a solver's threshold to where false positives and false negatives cost least in training."

    binary: Solver = component("solver", kw_only=False, doc="The binary solver; it learns from all training rows.")
    false_positive: float = real(default=1.0, low=0, open_low=True, doc="Cost of a false positive.")
    false_negative: float = real(default=1.0, low=0, open_low=True, doc="Cost of a false negative.")

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the binary solver would."""
        self.binary.check_labels(y, groups)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        from seqkern.solvers.svm.primal import PrimalSVC  # imported here: only the contract suite needs it

        return [cls(CSVC(tol=1e-6)), cls(PrimalSVC(tol=1e-9), false_negative=3.0)]

    def _fit(self, K: Any, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Train the binary solver, and choose the threshold."""
        positive = y > 0
        fitted = clone(self.binary).fit(K, self.classes_[positive.astype(int)], groups)
        decisions = fitted.decision_function(K)
        costs = float(self.false_positive), float(self.false_negative)
        self.threshold_ = Threshold.fit(decisions, positive, f"cost={costs[0]!r}:{costs[1]!r}").value
        called = decisions > self.threshold_
        cost = costs[0] * (called & ~positive).mean() + costs[1] * (~called & positive).mean()
        self.support_ = fitted.support_
        self.machine_ = fitted.restrict(fitted.support_)
        return {**fitted.report_, "threshold": self.threshold_, "cost": float(cost)}

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the decision of the binary solver minus the threshold."""
        return self.machine_._decide(K, columns[self.machine_.support_]) - self.threshold_

    def linear(self) -> tuple[npt.NDArray[np.float64], float] | None:
        """Return that of the binary solver, on all columns, minus the threshold."""
        found = self.machine_.linear()
        return None if found is None else (self._on_columns(found[0]), found[1] - self.threshold_)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the state of the binary solver, and the threshold."""
        header, arrays = self.machine_.state()
        return {"machine": header, "threshold": self.threshold_}, nest("machine", arrays)

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.machine_ = solver_from_state(header["machine"], unnest("machine", arrays))
        self.threshold_ = header["threshold"]
