"""A one-class SVM as a filter of the training set, before a binary solver."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import choice, component, real
from seqkern.core.types import Arrays, Header
from seqkern.solvers.base import BinarySolver, Solver
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.estimator import clone
from seqkern.solvers.shared import limit, tolerance
from seqkern.solvers.solver_specs import solver_from_state
from seqkern.solvers.svm.one_class import OneClassSVM
from seqkern.solvers.svm.svm import CSVC

WORDS = ("negatives", "positives")


class FilteredSVC(BinarySolver):
    """Binary solver trained on the rows that a one-class SVM of their class accepts.

    Attributes
    ----------
    machine_ : Solver
        The fitted binary solver, restricted to the columns `support_`.
    left_out_ : ndarray of int64
        The training rows that the filter left out.

    Notes
    -----
    With g_c the decision of a `OneClassSVM` trained on the rows of class c, the binary solver learns all rows but those
    with α_i at its bound 1 and

    .. math:: g_{y_i}(x_i) < 0

    fewer than ν n_c rows of class c. The filter is part of the fit: in cross-validation it sees the training set only,
    and no row to be predicted is left out. `report_` is that of the binary solver, plus ``n_left_out`` (negatives,
    positives), also in its ``remark``; ``converged`` and ``residual`` cover all SVMs. The number of rows left out is
    known only once the kernel is, so `check_labels` assumes the worst case.

    Complexity: one or two one-class SVMs, and the binary solver.

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola, Williamson: Estimating the support of a high-dimensional distribution. Neural
    Computation 13, 2001 (the one-class SVM).

    Examples
    --------
    The last donor site resembles the decoys; the filter removes it:

    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC, FilteredSVC
    >>> sites = ["CAGGTAAGT", "AAGGTAAGT", "CAGGTGAGT", "AAGGTGAGT", "CAGGTAAGA", "TTCTTTCTC"]
    >>> decoys = ["TTCTTCTTT", "TCTTTCTCT", "TTTCTTCTC", "CTTTCTTTC", "TCTTCTTTC", "CTTCTTTCT"]
    >>> K = SpectrumKernel(k=2)(sites + decoys)
    >>> solver = FilteredSVC(CSVC(), nu=0.4, of="positive").fit(K, [1] * 6 + [0] * 6)
    >>> solver.left_out_.tolist(), solver.report_["n_left_out"]
    ([5], [0, 1])
    """

    name = "filtered"
    summary = "One-class SVMs remove training rows unlike their class; a binary solver learns the rest."
    needs_semidefinite = True

    binary: Solver = component("solver", kw_only=False, doc="The binary solver; it must take a Gram matrix.")
    nu: float = real(
        default=0.05, low=0, high=1, open_low=True, open_high=True, doc="ν: at most this share of a class is left out."
    )
    of: Literal["both", "positive"] = choice(
        default="both",
        doc="Filter both classes, or only the positives: these often come from an error-prone experiment or search.",
    )
    tol: float = tolerance(1e-3, "Tolerance of the one-class SVMs, as in `OneClassSVM`.")
    max_iter: int = limit(10_000_000, "Maximum number of iterations of each one-class SVM.")

    def _check_parameters(self) -> None:
        if not isinstance(self.binary, Solver) or "binary" not in self.binary.targets or self.binary.input != "gram":
            raise ParameterError(
                f"binary={self.binary!r} is not possible", remedy="give a binary solver that takes a Gram matrix"
            )
        self.binary.check_parameters()

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the binary solver would, or might after filtering."""
        self.binary.check_labels(y)
        y = np.asarray(y)
        classes = np.unique(y)
        for name, word in zip(classes, WORDS, strict=False):
            own = np.flatnonzero(y == name)
            least = len(own) - int(self.nu * len(own))
            try:
                if self.of == "both" or word == "positives":
                    self.binary.check_labels(np.delete(y, own[least:]))
            except ParameterError as error:
                raise ParameterError(
                    f"the filter, with nu={self.nu:g}, may leave as few as {least} of {len(own)} {word}, and then "
                    f"{error.problem}",
                    remedy=f"lower the nu of the filter, or the parameters of solver {self.binary.name!r} was given",
                ) from error

    @classmethod
    def default_grid(cls) -> dict[str, list[Any]]:
        """Return the values of nu that a search tries."""
        return {"nu": [0.01, 0.05, 0.1]}

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return that of the binary solver, and of one-class SVMs on halves of the rows."""
        half = OneClassSVM(nu=self.nu).fit_cost(work.part(work.n / 2)).times(2)
        matrices = 8 * work.n**2
        total = half.then(self.binary.fit_cost(work))
        return FitCost(total.seconds, total.bytes + matrices)

    def complexity(self) -> tuple[float, ...]:
        """Return that of the binary solver, then −ν."""
        return *self.binary.complexity(), -float(self.nu)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(CSVC(tol=1e-6), tol=1e-6), cls(CSVC(tol=1e-6), nu=0.2, of="positive", tol=1e-6)]

    def _fit(self, K: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> dict[str, Any]:
        """Filter each class, then train the binary solver."""
        keep, reports = np.ones(len(y), dtype=bool), []
        for sign in (-1.0, 1.0) if self.of == "both" else (1.0,):
            rows = np.flatnonzero(y == sign)
            outside, report = self._outside(K[np.ix_(rows, rows)])
            keep[rows[outside]] = False
            reports.append(report)
        rows = np.flatnonzero(keep)
        part = K if len(rows) == len(y) else K[np.ix_(rows, rows)]
        machine = clone(self.binary).fit(part, self.classes_[(y[rows] > 0).astype(int)])
        self.left_out_ = np.flatnonzero(~keep)
        self.support_ = rows[machine.support_]
        self.machine_ = machine.restrict(machine.support_)
        reports.append(machine.report_)
        left_out = [int(np.sum(~keep & (y == sign))) for sign in (-1.0, 1.0)]
        remarks = [report["remark"] for report in reports if "remark" in report]
        return {
            **machine.report_,
            "converged": all(report["converged"] for report in reports),
            "residual": max(report["residual"] for report in reports),
            "n_left_out": left_out,
            "remark": "; ".join([*dict.fromkeys(remarks), _told(left_out, y)]),
        }

    def _outside(self, K: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.bool_], dict[str, Any]]:
        """Return the outliers of one class, and the report of its one-class SVM."""
        if len(K) < 2:
            return np.zeros(len(K), dtype=bool), {"converged": True, "residual": 0.0}
        machine = OneClassSVM(nu=self.nu, tol=self.tol, max_iter=self.max_iter).fit(K)
        at_bound = np.zeros(len(K), dtype=bool)
        at_bound[machine.support_[machine.dual_coef_ >= 1]] = True
        return at_bound & (machine.decision_function(K) < 0), machine.report_

    def _decide(self, K: npt.NDArray[np.float64], columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the decision of the binary solver."""
        return self.machine_._decide(K, columns[self.machine_.support_])

    def linear(self) -> tuple[npt.NDArray[np.float64], float] | None:
        """Return that of the binary solver, on all columns."""
        found = self.machine_.linear()
        return None if found is None else (self._on_columns(found[0]), found[1])

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the state of the binary solver, and the rows that were left out."""
        header, arrays = self.machine_.state()
        return {"machine": header}, {**nest("machine", arrays), "left_out": self.left_out_}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.machine_ = solver_from_state(header["machine"], unnest("machine", arrays))
        self.left_out_ = arrays["left_out"]


def _told(left_out: Sequence[int], y: npt.NDArray[np.float64]) -> str:
    """Return a description of the rows left out, with a remedy if it is more than half of a class."""
    sizes = [int(np.sum(y == sign)) for sign in (-1.0, 1.0)]
    several = [f"{few} of {size} {word}" for few, size, word in zip(left_out, sizes, WORDS, strict=True)]
    much = any(2 * few > size for few, size in zip(left_out, sizes, strict=True))
    return f"the filter left out {' and '.join(several)}" + (", more than half; choose a smaller nu" if much else "")
