"""A two-stage classifier: a one-class SVM of the positives before a binary solver, in training and prediction."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, component, count, integer, positive, share
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.solvers.capabilities import Search, Traits
from seqkern.solvers.contract import BinarySolver, Solver, clone, stored
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.multiclass.multiclass import MetaSolver, Wrapper
from seqkern.solvers.svm.libsvm import unit_of
from seqkern.solvers.svm.svm import OneClassSVM
from seqkern.solvers.thresholds import Threshold

FEWEST = 10
"""Least number of negatives that the second stage learns from; if fewer pass, the nearest to passing are added."""

LEAST = 1e-12  # Least distance of samples that do not pass below all that do


class OneClassGate(MetaSolver, BinarySolver):
    """Base of solvers with one-class SVMs before a binary solver on a Gram matrix."""

    input = "gram"
    inherited = ()
    last_parameters: ClassVar[tuple[str, ...]] = ("tol", "max_iter")

    binary: Solver = component("solver", kw_only=False, doc="The binary solver; it must take a Gram matrix.")
    nu: float = share(0.05, "ν of the one-class SVMs.", open_low=True, open_high=True)
    tol: float = positive(1e-3, "Tolerance of the one-class SVMs, as in `OneClassSVM`.")
    max_iter: int = count(10_000_000, "Maximum number of iterations of each one-class SVM.")

    def _check_parameters(self) -> None:
        if getattr(self.binary, "input", None) != "gram" or "binary" not in getattr(self.binary, "targets", ()):
            raise ParameterError(
                f"binary={self.binary!r} is not possible", remedy="give a binary solver that takes a Gram matrix"
            )
        super()._check_parameters()

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the binary solver would."""
        self.binary.check_labels(y)

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the cost of the binary solver, and of one-class SVMs on halves of the rows."""
        total = OneClassSVM(nu=self.nu).fit_cost(work.part(work.n / 2)).times(self._count())
        total = total.then(self.binary.fit_cost(work))
        return FitCost(total.seconds, total.bytes + 8 * work.n**2)

    def _count(self) -> int:
        """Return the number of one-class SVMs."""
        return 2

    def _one_class(self, K: Floats) -> OneClassSVM:
        """Return a one-class SVM fitted to all rows of a matrix."""
        return OneClassSVM(nu=self.nu, tol=self.tol, max_iter=self.max_iter).fit(K)


class TwoStageSVC(OneClassGate):
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
    `recall` of held-out positives pass: each of `folds` folds, which keep groups together, is held out from a one-class
    SVM of the others. The decision is the binary solver's f, below −1 compressed into −2 to −1, and below −2 for
    what does not pass:

    .. math:: f  if  f ≥ −1,  −2 + 1/|f|  if  f < −1,  −2 − (t − g)/(u + t − g)  if  g < t

    with u the mean K(x, x) times ν n. So decisions are finite, and in the order of the second stage, then of the first.
    `report_` is the binary solver's, plus ``negatives_passing``, the share of training negatives that pass, and
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
    learned = stored(first="first_", second="second_", unit="_unit")
    declared = Traits(
        semidefinite=True,
        groups=True,
        pairs=False,  # the first stage would keep what is like one class of a pair
        search=Search(order=("binary", "-nu")),
    )

    binary: Solver = component("solver", kw_only=False, doc="The second stage; it must take a Gram matrix.")
    nu: float = changed(default=0.05, doc="ν of the one-class SVM of the first stage.")
    recall: float = share(0.99, "Share of held-out positives that must pass the first stage.", open_low=True)
    folds: int = integer(default=5, low=2, doc="Folds of the positives, for the threshold of the first stage.")

    def _count(self) -> int:
        """Return the number of one-class SVMs: one for each fold, and one of all positives."""
        return self.folds + 1

    tested_with = (
        "two_stage:binary=(csvc:tol=1e-6),tol=1e-7",
        "two_stage:binary=(csvc:tol=1e-6),nu=0.2,recall=0.9,folds=3,tol=1e-7",
    )

    def stages(self) -> tuple[Solver, Solver]:
        """Return both stages, fitted, for the columns of this solver."""
        width = self.n_features_in_
        both = (stage.renumber(self.support_[stage.support_], width) for stage in (self.first_, self.second_))
        return tuple(both)  # type: ignore[return-value]

    def _fit(self, K: Floats, y: Floats, groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Fit the first stage to the positives, its threshold, and the second stage to the samples that pass."""
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
        text = f"{100 * share:.1f}% of the negatives pass the first stage, and {100 * (1 - missed):.1f}% of held-out "
        return {
            **second.report_,
            "converged": all(report["converged"] for report in reports),
            "residual": max(report["residual"] for report in reports),
            "negatives_passing": share,
            "recall_lost": missed,
            "remark": "; ".join([*dict.fromkeys(remarks), f"{text}positives"]),
        }

    def _mass(self, n: int) -> float:
        """Return the sum Σ α of a one-class SVM on n samples, to compare decisions of different training sizes."""
        return self.nu * n

    def _held_out(self, K: Floats, first: OneClassSVM, groups: Array | None) -> tuple[Floats, list[dict[str, Any]]]:
        """Return the decision on each positive by a one-class SVM trained without it, and the reports.

        Decisions are scaled to Σ α = 1. Groups stay together, and are assigned to folds by their similarity to all
        positives, independently of the row order.
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

    def _decide(self, K: Floats, columns: Ints) -> Floats:
        """Return the decision of the first stage, and of the second for samples that pass."""
        first = self.first_._decide(K, columns[self.first_.support_])
        some = np.ascontiguousarray(K[first >= 0])
        return self.joined(first, self.second_._decide(some, columns[self.second_.support_]))

    def joined(self, first: Floats, second: Floats) -> Floats:
        """Return the decisions combined from both stages."""
        below = np.maximum(-first, 0.0)
        out = -2.0 - np.maximum(below / (self._unit + below), LEAST)
        out[first >= 0] = np.where(second >= -1, second, -2 + 1 / np.maximum(-second, 1.0))
        return out


# A binary solver trained after a one-class SVM has filtered the training set.

WORDS = ("negatives", "positives")


class FilteredSVC(OneClassGate, Wrapper):
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
    and no row to be predicted is left out. `report_` is the binary solver's, plus ``n_left_out`` (negatives,
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
    learned = stored(machine="machine_", left_out="left_out_")
    declared = Traits(semidefinite=True, search=Search({"nu": [0.01, 0.05, 0.1]}, order=("binary", "-nu")))

    nu: float = changed(default=0.05, doc="ν: at most this share of a class is left out.")
    of: Literal["both", "positive"] = choice(
        default="both",
        doc="Filter both classes, or only the positives: these often come from an error-prone experiment or search.",
    )

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if the binary solver would, or might after filtering."""
        super().check_labels(y)
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

    tested_with = (
        "filtered:binary=(csvc:tol=1e-6),tol=1e-6",
        "filtered:binary=(csvc:tol=1e-6),nu=0.2,of=positive,tol=1e-6",
    )

    def _fit(self, K: Floats, y: Floats) -> dict[str, Any]:
        """Filter each class, train the binary solver, and return the report."""
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
        self._wrap(machine, rows=rows)
        reports.append(machine.report_)
        left_out = [int(np.sum(~keep & (y == sign))) for sign in (-1.0, 1.0)]
        remarks = [report["remark"] for report in reports if "remark" in report]
        return {
            **machine.report_,
            "converged": all(report["converged"] for report in reports),
            "residual": max(report["residual"] for report in reports),
            "n_left_out": left_out,
            "remark": "; ".join([*dict.fromkeys(remarks), _left_out_text(left_out, y)]),
        }

    def _outside(self, K: Floats) -> tuple[Bools, dict[str, Any]]:
        """Return the outliers of one class, and the report of its one-class SVM."""
        if len(K) < 2:
            return np.zeros(len(K), dtype=bool), {"converged": True, "residual": 0.0}
        machine = self._one_class(K)
        at_bound = np.zeros(len(K), dtype=bool)
        at_bound[machine.support_[machine.dual_coef_ >= 1]] = True
        return at_bound & (machine.decision_function(K) < 0), machine.report_


def _left_out_text(left_out: Sequence[int], y: Floats) -> str:
    """Return a description of the rows left out, with a remedy if more than half of a class is left out."""
    sizes = [int(np.sum(y == sign)) for sign in (-1.0, 1.0)]
    several = [f"{few} of {size} {word}" for few, size, word in zip(left_out, sizes, WORDS, strict=True)]
    much = any(2 * few > size for few, size in zip(left_out, sizes, strict=True))
    return f"the filter left out {' and '.join(several)}" + (", more than half; choose a smaller nu" if much else "")


# A binary solver whose threshold is chosen by the costs of errors.


class WeightedThreshold(Wrapper):
    r"""Binary solver with the threshold at which training errors cost least.

    Attributes
    ----------
    machine_ : Solver
        The fitted binary solver, restricted to the columns `support_`.
    threshold_ : float
        Number subtracted from its decision; midway between two training decisions. Ties go to the value nearest to 0.

    Notes
    -----
    With a and b the costs of a false positive and a false negative, and FP and FN the errors at the threshold t of the
    binary solver's decision on its own training rows, it solves

    .. math:: \min_t a FP(t) + b FN(t)

    Decisions on training rows are better than on new rows, the more so the more flexible the solver: for one that fits
    its training set perfectly, any threshold is as good. ``--threshold cost=a:b`` uses held-out rows instead. For
    several classes, wrap it in `OneAgainstRest`: each class then has its own threshold. `report_` is the binary
    solver's, plus ``threshold`` and ``cost``, the mean over training rows.

    Complexity: as the binary solver's, plus O(n log n) for n training rows.

    References
    ----------
    Elkan: The foundations of cost-sensitive learning. IJCAI 2001.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC, WeightedThreshold
    >>> sites = SequenceSet.from_strings(["TATAAA", "TATAAT", "TATAAA", "GCGCGC", "GCGCGG", "GCGCGT"], "dna")
    >>> K, bound = SpectrumKernel(k=2)(sites), [1, 1, -1, -1, -1, -1]
    >>> WeightedThreshold(CSVC(), false_negative=5.0).fit(K, bound).predict(K)
    array([ 1,  1,  1, -1, -1, -1])
    >>> WeightedThreshold(CSVC(), false_positive=5.0).fit(K, bound).predict(K)
    array([-1,  1, -1, -1, -1, -1])
    """

    name = "weighted_threshold"
    summary = "Moves a solver's threshold to where false positives and false negatives cost least in training."
    learned = stored(machine="machine_", threshold="threshold_")
    declared = Traits(own_threshold=True, search=Search(order=("binary",)))
    inherited = (*MetaSolver.inherited, "groups")

    binary: Solver = component("solver", kw_only=False, doc="The binary solver; it learns from all training rows.")
    false_positive: float = positive(1.0, "Cost of a false positive.")
    false_negative: float = positive(1.0, "Cost of a false negative.")

    tested_with = (
        "weighted_threshold:binary=(csvc:tol=1e-6)",
        "weighted_threshold:binary=(primal_svc:tol=1e-9),false_negative=3",
    )

    def _fit(self, K: Any, y: Array, groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Train the binary solver, choose the threshold, and return the report."""
        positive = y > 0
        fitted = clone(self.binary).fit(K, self.classes_[positive.astype(int)], groups)
        decisions = fitted.decision_function(K)
        costs = float(self.false_positive), float(self.false_negative)
        threshold = Threshold.fit(decisions, positive, f"cost={costs[0]!r}:{costs[1]!r}").value
        called = decisions > threshold
        cost = costs[0] * (called & ~positive).mean() + costs[1] * (~called & positive).mean()
        self._wrap(fitted, threshold)
        return {**fitted.report_, "threshold": threshold, "cost": float(cost)}
