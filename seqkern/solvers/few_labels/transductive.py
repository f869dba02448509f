"""The transductive SVM: unlabelled samples get the labels that leave the widest margin."""

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import fixed, integer, real
from seqkern.solvers.class_weights import class_factors
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.few_labels.remarks import remark_on
from seqkern.solvers.shared import cost, limit
from seqkern.solvers.svm.libsvm import to_tolerance
from seqkern.solvers.svm.svm import CSVC

ROUNDING = 1e-6
"""By how much two slacks must exceed 2 before their labels are switched."""


class TransductiveSVC(CSVC):
    r"""Transductive SVM on a Gram matrix, by label switching; without unlabelled rows a C-SVM.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        α_i y_i of the support vectors, with and without a label.
    intercept_ : float
    report_ : dict
        Besides those of `CSVC`: ``n_unlabelled``; ``n_positive``, how many of these count as positives; ``fits``, the
        number of C-SVMs that were trained; ``switched``, the number of pairs whose labels were switched.

    Notes
    -----
    With f(x) = w·φ(x) + b, y* the labels of the unlabelled rows and ξ* their slacks, it looks for

    .. math:: \min_{y^*, w, b, ξ} ½ ‖w‖^2 + C \sum_i ξ_i + C^* \sum_j ξ^*_j

    over y_i f(x_i) ≥ 1 − ξ_i and y*_j f(x_j) ≥ 1 − ξ*_j, with a fixed number of positive y*. A C-SVM on the labelled
    rows gives the first y*: the rows with the largest decisions are the positives. C* grows from C/2^`steps` by factors
    of 2; for the positives it starts at n₊/n₋ times that, as in the paper, so the rarer class starts with the smaller
    C*. At each C*, a positive and a negative y* with slacks above 0 that sum to more than 2 are switched, which lowers
    the objective; the pairs of largest slacks are switched together before the next C-SVM. So each C* ends, at a local
    minimum.

    The decision is that of a C-SVM, for any new row. Where the classes overlap, or the share of positives is far from
    `positive_share`, it can be worse than the C-SVM on the labelled rows: compare both.

    Complexity: 1 + `steps` C-SVMs on all n rows, and one for each round of switching. On 2,000 rows of two
    Gaussian classes, 1,600 of them without a label, these are 44, in 57 times the CPU time of `CSVC`.

    References
    ----------
    Joachims: Transductive inference for text classification using support vector machines. ICML 1999.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import TransductiveSVC
    >>> kernel = SpectrumKernel(k=2)
    >>> train = ["MKKLLA", "MKALLA", "KLLAKK", "GDEDGS", "GDDEGS", "DGSGDE"]
    >>> solver = TransductiveSVC().fit(kernel(train), ["membrane", "", "", "soluble", "", ""])
    >>> solver.predict(kernel(["ALLAKL", "SGDGDG"], train)).tolist()
    ['membrane', 'soluble']
    >>> solver.report_["n_unlabelled"], solver.report_["n_positive"]
    (4, 2)
    """

    name = "transductive_svc"
    summary = "Transductive SVM: unlabelled records move the margin to where few of them lie."
    accepts_unlabelled = True
    gives_bounds = False  # of leaving out a sample whose label is known
    accepts_operator = False
    margin = None  # it moves unlabelled rows out of the margin
    accepts_rows = False

    C: float = cost("C, the cost of a margin error of a labelled row.")
    slack: Literal["linear"] = fixed("linear")
    unlabelled: float = real(
        default=1.0, low=0, open_low=True, doc="C*/C: the final cost of a margin error of an unlabelled row."
    )
    positive_share: float | None = real(
        default=None,
        low=0,
        high=1,
        doc="Share of positives among the unlabelled rows; none: as among the labelled ones.",
    )
    steps: int = integer(default=10, low=0, high=40, doc="How often C* is doubled.")
    max_fits: int = limit(200, "Maximum number of C-SVMs.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(tol=1e-6), cls(C=0.3, class_weight="balanced", unlabelled=0.5, tol=1e-6)]

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return that of the C-SVMs: one for each C*, and three for switching; small C* take half the time."""
        return super().fit_cost(work).times(1 + 2 * (1 + self.steps))

    def _fit(self, K: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> dict[str, Any]:
        """Label the unlabelled rows, then switch labels while C* grows."""
        known = ~np.isnan(y)
        factors = class_factors(self.class_weight, self.classes_, y[known])
        self._report: dict[str, Any] = {"converged": True, "iterations": 0, "fits": 0, "switched": 0}
        spare, rows = np.flatnonzero(~known), np.flatnonzero(known)
        y = y.copy()

        def costs(below: float, above: float) -> npt.NDArray[np.float64]:
            """Return C of each row, for C* of negatives and positives."""
            found = np.where(known, self.C, np.where(y > 0, above, below))
            return found * np.where(y > 0, factors[1], factors[0])

        if not len(spare):
            weights = costs(0.0, 0.0)
            self._train(K, y, weights, rows)
            return self._ended(K, y, weights, spare)
        self._train(K[np.ix_(rows, rows)], y[rows], costs(0.0, 0.0)[rows], rows)
        y[spare] = self._first(K, spare, y[rows])
        positive = np.count_nonzero(y[spare] > 0)
        end = float(self.C * self.unlabelled)
        below = above = end / 2.0**self.steps
        if 0 < positive < len(spare):
            above = min(end, below * positive / (len(spare) - positive))
        while True:
            weights = costs(below, above)
            self._train(K, y, weights)
            while self._switch(K, y, spare) and self._report["fits"] < self.max_fits:
                weights = costs(below, above)
                self._train(K, y, weights)
            if (below >= end and above >= end) or self._report["fits"] >= self.max_fits:
                break
            below, above = min(2 * below, end), min(2 * above, end)
        if below < end or above < end or self._switch(K, y.copy(), spare, count=False):
            self._report.update(converged=False, remark=f"labels were still switched after {self.max_fits} fits")
        return self._ended(K, y, weights, spare)

    def _train(
        self,
        K: npt.NDArray[np.float64],
        y: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float64],
        places: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """Train a C-SVM with a cost for each row."""
        found = self._by_pairs(K, y, weights, self.max_iter)
        if places is not None:
            self.support_ = places[self.support_]
        self._report["fits"] += 1
        self._report["iterations"] += found["iterations"]
        if not found["converged"]:
            found.pop("product", None)
            self._report.update(found, iterations=self._report["iterations"])

    def _decisions(self, K: npt.NDArray[np.float64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the decisions about some training rows."""
        return weighted_sums(np.ascontiguousarray(K[rows]), self.support_, self.dual_coef_, self.intercept_)

    def _first(
        self, K: npt.NDArray[np.float64], spare: npt.NDArray[np.int64], labels: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return the first labels of the unlabelled rows: those with the largest decisions are positives."""
        share = float(np.mean(labels > 0)) if self.positive_share is None else self.positive_share
        best = np.argsort(-self._decisions(K, spare), kind="stable")[: round(share * len(spare))]
        found = np.full(len(spare), -1.0)
        found[best] = 1.0
        return found

    def _switch(
        self, K: npt.NDArray[np.float64], y: npt.NDArray[np.float64], spare: npt.NDArray[np.int64], count: bool = True
    ) -> bool:
        """Switch the pairs of labels that lower the objective; return whether there were any."""
        slack = np.maximum(0.0, 1 - y[spare] * self._decisions(K, spare))
        order = np.argsort(-slack, kind="stable")
        above, below = order[y[spare[order]] > 0], order[y[spare[order]] < 0]
        n = min(len(above), len(below))
        above, below = above[:n], below[:n]
        wrong = (slack[above] > 0) & (slack[below] > 0) & (slack[above] + slack[below] > 2 + ROUNDING)
        y[spare[above[wrong]]] = -1.0
        y[spare[below[wrong]]] = 1.0
        self._report["switched"] += int(count) * int(np.count_nonzero(wrong))
        return bool(wrong.any())

    def _ended(
        self,
        K: npt.NDArray[np.float64],
        y: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float64],
        spare: npt.NDArray[np.int64],
    ) -> dict[str, Any]:
        """Return the report of the last C-SVM."""
        report = to_tolerance(self._report | self._optimality(K, y, weights), self.tol)
        del self._report
        return (
            remark_on(len(spare))
            | report
            | {"n_unlabelled": len(spare), "n_positive": int(np.count_nonzero(y[spare] > 0))}
        )
