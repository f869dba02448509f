"""A one-class SVM of the positives ahead of a binary solver, in training and at prediction."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import component, integer, real
from seqkern.core.types import Arrays, Header
from seqkern.solvers.base import BinarySolver, Solver
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.estimator import clone
from seqkern.solvers.shared import limit, tolerance
from seqkern.solvers.solver_specs import solver_from_state
from seqkern.solvers.svm.libsvm import unit_of
from seqkern.solvers.svm.one_class import OneClassSVM
from seqkern.solvers.svm.svm import CSVC

FEWEST = 10
"""Negatives that the second stage learns at least: those nearest to passing, if fewer pass."""

LEAST = 1e-12
"""A sample that does not pass is at least so much below all that do."""


class TwoStageSVC(BinarySolver):
    """One-class SVM of the positives that few negatives pass, then a binary solver for these.

    Attributes
    ----------
    first_ : OneClassSVM
        Fitted; samples with a decision of at least 0 pass.
    second_ : Solver
        Fitted to the positives and negatives that pass.

    Notes
    -----
    With g the decision of the one-class SVM, a sample passes if g(x) ≥ t. The threshold t is such that the share
    `recall` of held-out positives pass: those of each of `folds` folds, which keep groups together, by a one-class SVM
    of the others. The decision is that of the binary solver f, from −1 down pressed into −2 to −1, and below −2 for
    what does not pass:

    .. math:: f  if  f ≥ −1,  −2 + 1/|f|  if  f < −1,  −2 − (t − g)/(u + t − g)  if  g < t

    with u the mean K(x, x) times ν n. So decisions are finite, and in the order of the second stage, then of the first.
    `report_` is that of the binary solver, plus ``negatives_passing``, the share of training negatives that pass, and
    ``recall_lost``, the share of held-out positives that do not. If fewer than 10 negatives pass, the second stage
    learns those nearest to passing.

    At prediction the second stage sees only what passes. A model, and a scan, compute the kernel with its support
    sequences only for these.

    Complexity: `folds` + 1 one-class SVMs on the positives, and the binary solver on what passes; prediction takes
    O(s₁) per row for s₁ support vectors of the first stage, and O(s₂) for rows that pass.

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola, Williamson: Estimating the support of a high-dimensional distribution. Neural
    Computation 13, 2001 (the one-class SVM).

    Viola, Jones: Rapid object detection using a boosted cascade of simple features. CVPR 2001 (stages that reject).

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC, TwoStageSVC
    >>> sites = ["CAGGTAAGT", "AAGGTAAGT", "CAGGTGAGT", "AAGGTGAGT", "CAGGTAAGA", "AAGGTAAGA"]
    >>> others = ["TTCTTCTTT", "TCTTTCTCT", "TTTCTTCTC", "CTTTCTTTC", "TCTTCTTTC", "CTTCTTTCT"]
    >>> kernel = SpectrumKernel(k=2)
    >>> solver = TwoStageSVC(CSVC()).fit(kernel(sites + others), [1] * 6 + [0] * 6)
    >>> solver.report_["negatives_passing"], solver.report_["recall_lost"]
    (0.0, 0.0)
    >>> solver.predict(kernel(["CAGGTAAGG", "TTTTCTTTT"], sites + others)).tolist()
    [1, 0]
    """

    name = "two_stage"
    summary = "A one-class SVM of the positives rejects most negatives; a binary solver decides about the rest."
    needs_semidefinite = True
    accepts_groups = True
    accepts_pairs = False  # the first stage would keep what is like one class of a pair

    binary: Solver = component("solver", kw_only=False, doc="The second stage; it must take a Gram matrix.")
    nu: float = real(
        default=0.05, low=0, high=1, open_low=True, open_high=True, doc="ν of the one-class SVM of the first stage."
    )
    recall: float = real(
        default=0.99, low=0, high=1, open_low=True, doc="Share of held-out positives that must pass the first stage."
    )
    folds: int = integer(default=5, low=2, doc="Folds of the positives, for the threshold of the first stage.")
    tol: float = tolerance(1e-3, "Tolerance of the one-class SVMs, as in `OneClassSVM`.")
    max_iter: int = limit(10_000_000, "Maximum number of iterations of each one-class SVM.")

    def _check_parameters(self) -> None:
        if not isinstance(self.binary, Solver) or "binary" not in self.binary.targets or self.binary.input != "gram":
            raise ParameterError(
                f"binary={self.binary!r} is not possible", remedy="give a binary solver that takes a Gram matrix"
            )
        self.binary.check_parameters()

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the binary solver would."""
        self.binary.check_labels(y)

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return that of the binary solver, and of one-class SVMs on a part of the rows."""
        part = OneClassSVM(nu=self.nu).fit_cost(work.part(work.n / 2)).times(self.folds + 1)
        total = part.then(self.binary.fit_cost(work))
        return FitCost(total.seconds, total.bytes + 8 * work.n**2)

    def complexity(self) -> tuple[float, ...]:
        """Return that of the binary solver, then −ν."""
        return *self.binary.complexity(), -float(self.nu)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(CSVC(tol=1e-6), tol=1e-7), cls(CSVC(tol=1e-6), nu=0.2, recall=0.9, folds=3, tol=1e-7)]

    def stages(self) -> tuple[Solver, Solver]:
        """Return both stages, fitted, for the columns of this solver."""
        width = self.n_features_in_
        both = (stage.renumber(self.support_[stage.support_], width) for stage in (self.first_, self.second_))
        return tuple(both)  # type: ignore[return-value]

    def _fit(
        self, K: npt.NDArray[np.float64], y: npt.NDArray[np.float64], groups: npt.ArrayLike | None = None
    ) -> dict[str, Any]:
        """Fit the first stage to the positives, its threshold, and the second stage to what passes."""
        positives, negatives = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
        own = K[np.ix_(positives, positives)]
        first = self._one_class(own)
        held_out, reports = self._held_out(own, first, None if groups is None else np.asarray(groups)[positives])
        lost = int((1 - self.recall) * len(own) + 1e-9)
        # between the last that may be lost and the first that passes, for which rounding must not decide
        ordered = np.sort(held_out)
        threshold = ordered[0] - 1e-6 * unit_of(own) if not lost else (ordered[lost - 1] + ordered[lost]) / 2
        first.intercept_ -= threshold * self._mass(len(own))
        self._unit: float = unit_of(own) * self._mass(len(own))
        beside = first.decision_function(K[np.ix_(negatives, positives)])
        passing = beside >= 0
        nearest = np.argsort(-beside, kind="stable")[: max(int(passing.sum()), min(FEWEST, len(negatives)))]
        rows = np.sort(np.concatenate((positives[held_out >= threshold], negatives[nearest])))
        second = clone(self.binary).fit(K[np.ix_(rows, rows)], self.classes_[(y[rows] > 0).astype(int)])
        places = positives[first.support_], rows[second.support_]
        self.support_ = np.union1d(*places)
        self.first_, self.second_ = (
            stage.restrict(stage.support_).renumber(np.searchsorted(self.support_, own_places), len(self.support_))
            for stage, own_places in zip((first, second), places, strict=True)
        )
        reports += [first.report_, second.report_]
        share, missed = float(np.mean(passing)), float(np.mean(held_out < threshold))
        remarks = [report["remark"] for report in reports if "remark" in report]
        text = f"{100 * share:.1f} % of the negatives pass the first stage, and {100 * (1 - missed):.1f} % of held-out "
        return {
            **second.report_,
            "converged": all(report["converged"] for report in reports),
            "residual": max(report["residual"] for report in reports),
            "negatives_passing": share,
            "recall_lost": missed,
            "remark": "; ".join([*dict.fromkeys(remarks), f"{text}positives"]),
        }

    def _mass(self, n: int) -> float:
        """Return Σ α of a one-class SVM on n samples, by which decisions of several sizes are compared."""
        return self.nu * n

    def _one_class(self, K: npt.NDArray[np.float64]) -> OneClassSVM:
        """Return a one-class SVM of all rows of a matrix."""
        return OneClassSVM(nu=self.nu, tol=self.tol, max_iter=self.max_iter).fit(K)

    def _held_out(
        self, K: npt.NDArray[np.float64], first: OneClassSVM, groups: npt.NDArray[Any] | None
    ) -> tuple[npt.NDArray[np.float64], list[dict[str, Any]]]:
        """Return the decision about each positive, of a one-class SVM without it and with Σ α = 1, and the reports.

        Groups stay together. They are dealt by their similarity to all positives, whatever the order of rows.
        """
        codes = np.arange(len(K)) if groups is None else np.unique(groups, return_inverse=True)[1]
        count = int(codes.max()) + 1
        folds = min(self.folds, count)
        if folds < 2:
            return first.decision_function(K) / self._mass(len(K)), []
        similar = np.full(count, -np.inf)
        np.maximum.at(similar, codes, np.sort(K, axis=1).sum(axis=1))
        place = np.empty(count, dtype=np.int64)
        place[np.argsort(similar, kind="stable")] = np.arange(count)
        fold = place[codes] % folds
        found, reports = np.empty(len(K)), []
        for f in range(folds):
            rows, others = np.flatnonzero(fold == f), np.flatnonzero(fold != f)
            machine = self._one_class(K[np.ix_(others, others)])
            found[rows] = machine.decision_function(K[np.ix_(rows, others)]) / self._mass(len(others))
            reports.append(machine.report_)
        return found, reports

    def _decide(self, K: npt.NDArray[np.float64], columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the decision of the first stage, and of the second where it passes."""
        first = self.first_._decide(K, columns[self.first_.support_])
        some = np.ascontiguousarray(K[first >= 0])
        return self.joined(first, self.second_._decide(some, columns[self.second_.support_]))

    def joined(self, first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the decisions from those of both stages.

        Parameters
        ----------
        first : ndarray of float64, shape (n,)
            Of the first stage.
        second : ndarray of float64, shape (m,)
            Of the second, about the m samples whose first decision is at least 0.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        below = np.maximum(-first, 0.0)
        out = -2.0 - np.maximum(below / (self._unit + below), LEAST)
        out[first >= 0] = np.where(second >= -1, second, -2 + 1 / np.maximum(-second, 1.0))
        return out

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the state of both stages."""
        first, first_arrays = self.first_.state()
        second, second_arrays = self.second_.state()
        header = {"first": first, "second": second, "unit": self._unit}
        return header, {**nest("first", first_arrays), **nest("second", second_arrays)}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        first = solver_from_state(header["first"], unnest("first", arrays))
        assert isinstance(first, OneClassSVM)
        self.first_ = first
        self.second_ = solver_from_state(header["second"], unnest("second", arrays))
        self._unit = header["unit"]
