"""Learning from few labels: label propagation, positives and unlabelled samples, the transductive SVM."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError, ParameterError
from seqkern.core.linear_algebra import Definite
from seqkern.core.parameters import choice, component, count, fixed, integer, positive, share
from seqkern.core.statistics import fit_sigmoid, sigmoid
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.sequences.sampling import deal
from seqkern.solvers.capabilities import Effort, Search, Traits, Variances
from seqkern.solvers.contract import AnyClassSolver, Solver, clone, stored
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.multiclass.multiclass import Wrapper
from seqkern.solvers.shared import (
    class_factors,
    cost,
    gram_order,
    order_by_content,
    random_seed,
    take_rows,
    weighted_sums,
)
from seqkern.solvers.svm.libsvm import to_tolerance
from seqkern.solvers.svm.svm import CSVC

if TYPE_CHECKING:
    from sklearn.utils import Tags


# Learning from positive and unlabelled samples, such as a family and a proteome.

LEAST = 1e-12  # Least distance of probabilities from 0 and 1


class PositiveUnlabelled(Wrapper):
    r"""Binary solver for positives against unlabelled rows, with the decision corrected for hidden positives.

    The negative class holds the unlabelled rows, which include positives without a label.

    Attributes
    ----------
    machine_ : Solver
        The fitted binary solver, restricted to the columns `support_`.
    threshold_ : float
        Threshold subtracted from its decision.
    slope_, intercept_ : float
        A and B of P(s = 1 | f) = 1 / (1 + exp(A f + B)), f the decision of `machine_`.
    report_ : dict
        The binary solver's, plus ``c``, the estimated share of the positives that are labelled; ``n_unlabelled``;
        and ``positive_share``, the estimated share of positives among the unlabelled rows.

    Notes
    -----
    s = 1 marks the labelled rows, y = 1 the positives. If positives are labelled at random, P(y = 1 | x) = P(s = 1 | x)
    / c, with c = P(s = 1 | y = 1). The binary solver learns s. Its decisions about held-out rows, by `folds` folds, are
    calibrated to P(s = 1 | x) by a sigmoid (Platt), and

    .. math:: c = (1/|L|) \sum_{i ∈ L} P(s = 1 | x_i)

    is the mean over the labelled rows L. The decision is f(x) − t, t the place where P(s = 1 | x) = c/2, so that it is
    above zero where y = 1 is more probable than not; `probabilities` gives min(1, P(s = 1 | x)/c). An unlabelled row is
    a positive with probability (1 − c)/c · P(s = 1 | x)/P(s = 0 | x), at most 1; ``positive_share`` is the mean.

    The ranking of new rows is the binary solver's. c is right only if the labelled positives are typical of all
    positives, and if the features separate the classes; otherwise c is too small, and too many rows are positives.
    Where c < 1/2, no row is labelled more probably than not, and the hinge loss alone learns little more than a
    constant: give `CSVC` and `LinearSVC` ``class_weight="balanced"``, or choose a logistic or squared loss.

    Complexity: `folds` + 1 fits of the binary solver.

    References
    ----------
    Elkan, Noto: Learning classifiers from only positive and unlabeled data. KDD 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import CSVC, PositiveUnlabelled
    >>> rng = np.random.default_rng(1)
    >>> x = rng.uniform(-3, 3, 200)
    >>> labelled = (x > 0) & (rng.random(200) < 0.4)  # of the positives, x > 0, some 40% have a label
    >>> solver = PositiveUnlabelled(CSVC(class_weight="balanced"))
    >>> solver = solver.fit(np.exp(-((x[:, None] - x) ** 2)), labelled.astype(int))
    >>> solver.report_["n_unlabelled"], bool(abs(solver.report_["c"] - labelled.sum() / (x > 0).sum()) < 0.04)
    (153, True)
    """

    name = "positive_unlabelled"
    summary = "Positives against unlabelled records: estimates how many of these are positives, and corrects for them."
    learned = stored(machine="machine_", threshold="threshold_", slope="slope_", intercept="intercept_")
    declared = Traits(
        own_threshold=True,
        groups=True,
        pairs=False,  # the rows of no class are unlabelled ones of another
        search=Search(order=("binary",)),
    )
    inherited = ("blocks", "selects", "semidefinite", "asymmetric")

    binary: Solver = component(
        "solver",
        kw_only=False,
        doc="The binary solver, on a Gram matrix or features; it learns which rows have a label.",
    )
    folds: int = integer(default=5, low=2, doc="Folds of the held-out decisions.")
    seed: int = random_seed("Seed of these folds.")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.binary.input == "implicit":
            raise ParameterError(
                f"binary={self.binary!r} is not possible", remedy="give a binary solver on a Gram matrix or features"
            )

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if a class is too small for folds, or the binary solver would."""
        classes, codes = np.unique(y, return_inverse=True)
        units = np.arange(len(y)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        fewest = [len(np.unique(units[codes == code])) for code in range(len(classes))]
        if min(fewest) < 2:
            what = "rows" if groups is None else "groups of rows"
            raise ParameterError(
                f"class {classes[int(np.argmin(fewest))]!s} has {min(fewest)} {what}, but held-out decisions need two",
                remedy="give more records, or choose another solver",
            )
        super().check_labels(y, groups)

    tested_with = (
        "positive_unlabelled:binary=(csvc:tol=1e-6)",
        "positive_unlabelled:binary=(primal_svc:tol=1e-9),folds=3",
    )

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the cost of the fits of the binary solver."""
        return self.binary.fit_cost(work).times(1 + self.folds)

    def probabilities(self, decisions: Floats, variances: Variances | None = None) -> Floats | None:
        """Return P(y | x), (m, 2); None if held-out decisions did not rise with the label."""
        if self.slope_ >= 0:
            return None
        labelled = sigmoid(self.slope_ * (np.asarray(decisions) + self.threshold_) + self.intercept_)
        positive = np.minimum(1.0, labelled / self.report_["c"])
        return np.column_stack([1 - positive, positive])

    def _fit(self, K: Any, y: Floats, groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Train the binary solver, estimate c from held-out decisions, and return the report."""
        labelled = y > 0
        decisions, failed = self._held_out(K, labelled, groups)
        self.slope_, self.intercept_ = fit_sigmoid(decisions, labelled)
        p = np.clip(sigmoid(self.slope_ * decisions + self.intercept_), LEAST, 1 - LEAST)
        c = float(np.mean(p[labelled]))
        hidden = np.minimum(1.0, (1 - c) / c * p[~labelled] / (1 - p[~labelled]))
        found = self._trained(K, labelled, groups)
        rises = self.slope_ < 0
        self._wrap(found, float((np.log(2 / c - 1) - self.intercept_) / self.slope_) if rises else 0.0)
        report = {
            **found.report_,
            "inner_not_converged": failed + found.report_.get("inner_not_converged", 0),
            "c": c,
            "n_unlabelled": int(np.count_nonzero(~labelled)),
            "positive_share": float(np.mean(hidden)),
        }
        if not rises:
            report["remark"] = (
                "held-out decisions about labelled rows are not above those about others, so that the decision is not "
                "corrected; choose another kernel"
            )
        return report

    def _held_out(self, K: Any, labelled: Bools, groups: npt.ArrayLike | None) -> tuple[Floats, int]:
        """Return each row's decision by a fit without it, and the number of fits that did not converge."""
        units = np.arange(len(labelled)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        fewest = min(len(np.unique(units[labelled == code])) for code in (False, True))
        gram = self.input == "gram"
        order = (gram_order if gram else order_by_content)(K, labelled, self.seed)
        fold = np.empty(len(labelled), dtype=np.int64)
        fold[order] = deal(labelled[order].astype(np.int64), min(self.folds, fewest), self.seed, units[order])
        decisions, failed = np.empty(len(labelled)), 0
        for number in range(int(fold.max()) + 1):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            own = None if groups is None else np.asarray(groups)[train]
            found = self._trained(K[np.ix_(train, train)] if gram else take_rows(K, train), labelled[train], own)
            decisions[test] = found.decision_function(K[np.ix_(test, train)] if gram else take_rows(K, test))
            failed += found.count_not_converged()
        return decisions, failed

    def _trained(self, K: Any, labelled: Bools, groups: npt.ArrayLike | None) -> Solver:
        """Return a new binary solver, fitted to separate labelled from unlabelled rows."""
        return clone(self.binary).fit(K, self.classes_[labelled.astype(int)], groups)


# Remarks in the reports of semi-supervised solvers.

ALL_LABELLED = (
    "every training record has a label, but this solver is meant to learn from records without one, too (empty labels, "
    "or --unlabelled)"
)


def remark_on(n_unlabelled: int) -> dict[str, Any]:
    """Return a remark for the report if no training record is unlabelled; else an empty dict."""
    return {} if n_unlabelled else {"remark": ALL_LABELLED}


# Label propagation: labels spread over a similarity graph from labelled to unlabelled samples.

ENOUGH = 1e-8  # Largest error of an equation of a solved linear system

ROWS = 256  # Rows checked at a time


class LabelPropagation(AnyClassSolver):
    r"""Label propagation: each training sample gets the labels of those similar to it, with or without a label.

    Attributes
    ----------
    spread_ : ndarray of float64, shape (n,), or (n, classes) for more than two classes
        F: how much of each class arrived at each training row; for two classes the difference, second minus first.
    diagonal_ : ndarray of float64, shape (n,)
        K(z, z) of the training rows.
    report_ : dict
        ``n_unlabelled`` is the number of rows without a label; ``objective`` is tr Fᵀ(I − S)F + (1/a − 1) ‖F − Y‖²,
        ``residual`` the largest error of the linear system.

    Notes
    -----
    W is the Gram matrix with zeros on the diagonal, and where neither row is among the `n_neighbors` nearest ones of
    the other in feature space, or as near as the last of them: most kernels have no small values between classes, and
    labels would spread to all rows alike. D is the diagonal matrix of its row sums, Y has an entry in the column
    of each labelled row's class, and a is `alpha`. The entry is 1 (`weight` ``rows``, as in the paper) or n_l/(c·m) for
    m of n_l labelled rows in this class of c: otherwise the larger class, which sends more, wins everywhere on a dense
    graph. With S = D^{-1/2} W D^{-1/2} it solves

    .. math:: F = (1 − a) (I − a S)^{-1} Y

    the limit of F ← a S F + (1 − a) Y. A new row x gets the mean of F, weighted by its kernel with the nearest
    training rows N(x),

    .. math:: f(x) = \sum_{i ∈ N(x)} K(x, x_i) F_i / \sum_{i ∈ N(x)} K(x, x_i)

    so that its decision depends on no other new row. Kernel values must not be negative. A row without any similar one
    keeps its label, and spreads none.

    Complexity: n³/6 multiplications for n training rows, and three copies of K; prediction takes O(n) per row and
    class.

    References
    ----------
    Zhou, Bousquet, Lal, Weston, Schölkopf: Learning with local and global consistency. NIPS 16, 2004.

    Delalleau, Bengio, Le Roux: Efficient non-parametric function induction in semi-supervised learning. AISTATS 2005
    (the decision about new rows).

    Examples
    --------
    Two labels suffice for six records (NaN or empty text: no label):

    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import LabelPropagation
    >>> kernel = SpectrumKernel(k=2)
    >>> repeats = ["ACACAC", "CACACA", "CACATA", "GTGTGT", "TGTGTG", "TGTGAG"]
    >>> solver = LabelPropagation().fit(kernel(repeats), ["CA", "", "", "GT", "", ""])
    >>> solver.predict(kernel(["ATACAC", "AGTGTG"], repeats)).tolist()
    ['CA', 'GT']
    """

    name = "label_propagation"
    summary = "Label propagation: labels spread to similar records, also through records without a label."
    learned = stored(spread="spread_", diagonal="diagonal_")
    declared = Traits(
        unlabelled=True,
        search=Search({"alpha": [0.5, 0.9, 0.99]}, order=("-alpha",)),
        effort=Effort(copies=3.5, products=5.0, cubes=1 / 3),
    )

    alpha: float = share(
        0.9,
        "a: the weight of similar rows' labels; 1 − a is the weight of the row's own label.",
        open_low=True,
        open_high=True,
    )

    n_neighbors: int | None = count(10, "Neighbours of each row in the graph; none: all rows.", optional=True)
    weight: Literal["classes", "rows"] = choice(
        default="classes", doc="Whether all classes, or all labelled rows, send the same weight."
    )

    tested_with = ({}, {"alpha": 0.3, "n_neighbors": None, "weight": "rows"})

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags, which exclude negative values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _fit(self, K: Floats, y: Array) -> dict[str, Any]:
        """Solve the linear system."""
        _check_not_negative(K)
        self.diagonal_ = np.diagonal(K).copy()
        known = ~np.isnan(y)
        Y = (y[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        if self.weight == "classes":
            Y *= np.count_nonzero(known) / (Y.shape[1] * Y.sum(axis=0))
        a, spread = float(self.alpha), _spreading(self._near(K, own=True))
        system = np.multiply(spread, -a)
        system[np.diag_indices(len(K))] = 1.0
        target = (1 - a) * Y
        with one_thread():
            F = Definite(system).solve(target)
            arrived = spread @ F
        unlabelled = int(np.count_nonzero(~known))
        residual = float(np.abs(F - a * arrived - target).max())
        self.spread_ = np.ascontiguousarray(F[:, 1] - F[:, 0] if len(self.classes_) == 2 else F)
        self.support_ = np.arange(len(K))
        return {
            "converged": residual <= ENOUGH,
            "iterations": 1,
            "residual": residual,
            "objective": float(np.sum(F * (F - arrived)) + (1 / a - 1) * np.sum((F - Y) ** 2)),
            "n_unlabelled": unlabelled,
            **remark_on(unlabelled),
        }

    def _decide(self, K: Floats, columns: Ints) -> Floats:
        """Return the weighted mean labels; 0 for a row that is similar to no sample."""
        _check_not_negative(K)
        out = np.empty((len(K), *self.spread_.shape[1:]))
        for start in range(0, len(K), ROWS):
            near = self._near(np.take(K[start : start + ROWS], columns, axis=1))
            total = near.sum(axis=1)
            total[total == 0] = 1.0
            for place in np.ndindex(self.spread_.shape[1:]):
                out[(slice(start, start + ROWS), *place)] = (near * self.spread_[(..., *place)]).sum(axis=1) / total
        return out

    def _near(self, K: Floats, own: bool = False) -> Floats:
        """Return a copy of some rows in which only the nearest columns are non-zero.

        For the training rows it is symmetric with a zero diagonal.
        """
        near = np.array(K, order="C")
        if own:
            near[np.diag_indices(len(near))] = 0.0
        if self.n_neighbors is None or self.n_neighbors >= len(self.diagonal_) - own:
            return near
        distance = self.diagonal_ - 2.0 * K
        if own:
            distance[np.diag_indices(len(near))] = np.inf
        last = np.partition(distance, self.n_neighbors - 1, axis=1)[:, self.n_neighbors - 1]
        kept = distance <= last[:, None]
        near[~(kept | kept.T if own else kept)] = 0.0
        return near


def _spreading(W: Floats) -> Floats:
    """Return S = D^{-1/2} W D^{-1/2}, in place of W; zero for rows without similar rows."""
    root = np.sqrt(weighted_sums(W, np.arange(len(W)), np.ones(len(W))))
    root[root == 0] = 1.0
    W /= root
    W /= root[:, None]
    return W


def _check_not_negative(K: Floats) -> None:
    """Raise GramError for a negative kernel value."""
    for start in range(0, len(K), ROWS):
        part = K[start : start + ROWS]
        if part.size and part.min() < 0:
            row = start + int(np.argmax((part < 0).any(axis=1)))
            raise GramError(
                f"Negative values in data: row {row} has {K[row].min():.3g}, but label propagation needs similarities",
                remedy="choose a kernel without negative values, such as rbf or spectrum, and do not centre",
            )


# The transductive SVM: unlabelled samples get the labels that give the widest margin.

ROUNDING = 1e-6  # Least excess over 2 of the sum of two slacks for switching their labels


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

    The decision is a C-SVM's, for any new row. Where the classes overlap, or the share of positives is far from
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
    declared = CSVC.declared.but(
        unlabelled=True,
        rows=False,
        operator=False,
        bounds=False,  # of leaving out a sample whose label is known
        margin=None,  # it moves unlabelled rows out of the margin
    )

    C: float = cost("C, the cost of a margin error of a labelled row.")
    slack: Literal["linear"] = fixed("linear")
    unlabelled: float = positive(1.0, "C*/C: the final cost of a margin error of an unlabelled row.")
    positive_share: float | None = share(
        None, "Share of positives among the unlabelled rows; none: as among the labelled ones."
    )
    steps: int = integer(default=10, low=0, high=40, doc="How often C* is doubled.")
    max_fits: int = count(200, "Maximum number of C-SVMs.")

    tested_with = ({"tol": 1e-6}, {"C": 0.3, "class_weight": "balanced", "unlabelled": 0.5, "tol": 1e-6})

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the cost of the C-SVMs: one for each C*, and three for switching; small C* take half the time."""
        return super().fit_cost(work).times(1 + 2 * (1 + self.steps))

    def _fit(self, K: Floats, y: Floats) -> dict[str, Any]:
        """Label the unlabelled rows, switch labels while C* grows, and return the report."""
        known = ~np.isnan(y)
        factors = class_factors(self.class_weight, self.classes_, y[known])
        self._report: dict[str, Any] = {"converged": True, "iterations": 0, "fits": 0, "switched": 0}
        spare, rows = np.flatnonzero(~known), np.flatnonzero(known)
        y = y.copy()

        def costs(below: float, above: float) -> Floats:
            """Return C of each row, given C* of the negatives and of the positives."""
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

    def _train(self, K: Floats, y: Floats, weights: Floats, places: Ints | None = None) -> None:
        """Train a C-SVM with a separate cost for each row."""
        found = self._by_pairs(K, y, weights, self.max_iter)
        if places is not None:
            self.support_ = places[self.support_]
        self._report["fits"] += 1
        self._report["iterations"] += found["iterations"]
        if not found["converged"]:
            found.pop("product", None)
            self._report.update(found, iterations=self._report["iterations"])

    def _decisions(self, K: Floats, rows: Ints) -> Floats:
        """Return the decision values of some training rows."""
        return weighted_sums(np.ascontiguousarray(K[rows]), self.support_, self.dual_coef_, self.intercept_)

    def _first(self, K: Floats, spare: Ints, labels: Floats) -> Floats:
        """Return the initial labels of the unlabelled rows: those with the largest decisions are positive."""
        share = float(np.mean(labels > 0)) if self.positive_share is None else self.positive_share
        best = np.argsort(-self._decisions(K, spare), kind="stable")[: round(share * len(spare))]
        found = np.full(len(spare), -1.0)
        found[best] = 1.0
        return found

    def _switch(self, K: Floats, y: Floats, spare: Ints, count: bool = True) -> bool:
        """Switch the pairs of labels that lower the objective; return whether any were switched."""
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

    def _ended(self, K: Floats, y: Floats, weights: Floats, spare: Ints) -> dict[str, Any]:
        """Return the report of the final C-SVM."""
        report = to_tolerance(self._report | self._optimality(K, y, weights), self.tol)
        del self._report
        return (
            remark_on(len(spare))
            | report
            | {"n_unlabelled": len(spare), "n_positive": int(np.count_nonzero(y[spare] > 0))}
        )
