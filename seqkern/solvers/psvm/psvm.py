"""The P-SVM: potential support vector machine, for classification and regression."""

import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from seqkern.core.parameters import choice, count, not_negative, positive, real
from seqkern.core.types import Floats, Ints
from seqkern.gram.matrix import GramRows
from seqkern.solvers.capabilities import Effort, Search, Traits
from seqkern.solvers.checking import ConstantColumnWarning, check_size
from seqkern.solvers.contract import BinarySolver, RealSolver, Solver, stored
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.psvm.qp import decide, stays_outside
from seqkern.solvers.shared import cost

# Detection of kernel matrices with a dominant diagonal, for which the P-SVM needs a small C.
#
# Where samples resemble only themselves, as with long k-mers, a standardised column of l values is nearly zero except
# at its own sample, where it is about √l. With α = ±1/√l such a column reproduces the label of its own sample and says
# nothing about others. A bound C of about 1/√l or less prevents that, and many columns then share in each decision.

WIDE = 0.95  # Minimum share of a column's variance due to its own sample, in the median column of a wide diagonal
LARGE = 2.0  # Multiple of 1/√l above which C is too large for a wide diagonal


def own_share(K: Floats, means: Floats, scales: Floats) -> float:
    """Return the share of a column's variance that is due to the diagonal (0 to 1), for the median column.

    >>> K = np.eye(50) + 0.01
    >>> round(own_share(K, K.mean(axis=0), K.std(axis=0)), 3)
    0.98
    """
    varies = scales > 0
    if not varies.any():
        return 0.0
    deviations = (np.diagonal(K)[varies] - means[varies]) / scales[varies]
    return float(np.median(deviations**2)) / len(K)


def remark(K: Any, means: Floats, scales: Floats, cost: float) -> str | None:
    """Return the advice on a dominant diagonal; None if there is none, if C is small, or without a square array."""
    if not isinstance(K, np.ndarray) or K.shape[0] != K.shape[1] or cost <= LARGE / np.sqrt(len(K)):
        return None
    share = own_share(K, means, scales)
    if share <= WIDE:
        return None
    return (
        f"the kernel matrix has a wide diagonal ({share:.0%} of the variance of a typical column is its own sample): "
        f"search C, give C={1 / np.sqrt(len(K)):.1g}, or use csvc"
    )


class PotentialSVM(Solver):
    """Base of `PSVC` and `PSVR`: parameters, fit and state."""

    learned = stored(intercept="intercept_", alpha="alpha_", mean="means_", scale="scales_")

    declared = Traits(
        asymmetric=True,
        search=Search(
            {"C": [0.01, 0.03, 0.1], "epsilon": [0.01, 0.1]},
            {"C": (1e-4, 10.0), "epsilon": (1e-5, 0.3)},
            ("C", "-epsilon"),
        ),
        effort=Effort(copies=1.25, products=10.0),
    )

    C: float = cost(
        "C, the bound on every |α_j|; infinite for none. A small bound limits the influence of single columns.",
        infinite=True,
    )
    epsilon: float = not_negative(0.1, "ε: larger values select fewer support columns.")
    epsilon_scale: Literal["max", "absolute"] = choice(
        default="max",
        doc="Unit of `epsilon`: ``max``, ε_max = ‖K̃ᵀy‖_∞, above which no column is selected, so that "
        "one value suits training sets of any size; or ``absolute``.",
    )
    tol: float = positive(
        1e-6,
        "The fit has converged when the largest violation of the optimality conditions, in units "
        "of ε_max, and the duality gap, in units of ½‖y − b‖², are both at most this.",
    )
    max_iter: int = count(1_000_000, "Maximum number of moves of one variable.")
    kernel: Literal["precomputed", "features"] = choice(
        default="precomputed",
        doc="``precomputed``: K is a square Gram matrix whose columns are the training rows; "
        "``features``: any matrix whose columns are features or other objects, possibly sparse.",
    )
    cache_size: float = real(
        default=256,
        low=1,
        doc="Memory in MiB for a larger memory-mapped K; the rest is read from its file when needed. "
        "It must hold at least sixteen columns. The matrix Q of the working set, at most 128 MiB, "
        "comes on top.",
    )

    @property
    def input(self) -> str:  # type: ignore[override]  # an attribute of the class in other solvers
        """The type of input: a Gram matrix with ``kernel="precomputed"``, else features."""
        return "features" if self.kernel == "features" else "gram"

    @property
    def traits(self) -> Traits:
        """Traits of the class; features may be sparse, a Gram matrix may be in a file."""
        return self.declared.but(sparse=self.input == "features", rows=self.input == "gram")

    def accepts_unread(self, K: Any) -> bool:
        """Return whether `K` is a large memory map, read in parts, or a LinearOperator."""
        return stays_outside(K, self.cache_size)

    tested_with = (
        {},
        {"C": np.inf, "epsilon": 0.5, "epsilon_scale": "absolute"},
        {"C": 0.02, "epsilon": 0.0},
        {"kernel": "features"},
    )

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: the smaller ε, the more columns take part."""
        epsilon = float(self.epsilon) if self.epsilon_scale == "max" else 0.01
        return super().fit_cost(work).times((0.1 / min(max(epsilon, 1e-4), 1.0)) ** 0.7)

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Standardise the columns, minimise the dual, keep the columns with α ≠ 0."""
        # imported here: it takes 0.2 s, and prediction does not need it
        from seqkern.solvers.psvm.qp import Dual, columns_of, minimise

        columns = columns_of(K, square=self.input == "gram", cache_size=self.cache_size)
        means, scales = columns.means, columns.scales
        if isinstance(K, GramRows) or self.accepts_unread(K):  # now all its numbers have been read
            check_size(max(float(np.abs(means).max(initial=0.0)), float(scales.max(initial=0.0))))
        constant = int(np.sum(scales == 0))
        if constant:
            are = "is" if constant == 1 else "are"
            text = f"{constant} of {len(scales)} columns {are} constant and {are} left out"
            warnings.warn(text, ConstantColumnWarning, stacklevel=3)
        self.intercept_ = float(np.mean(y))
        dual = Dual(columns, y - self.intercept_, 0.0, float(self.C))
        largest = dual.epsilon_max
        epsilon = float(self.epsilon) * (largest if self.epsilon_scale == "max" else 1.0)
        start = self._left("alpha")
        if start is not None and len(start) != columns.n_columns:
            start = None  # of other columns
        minimum = minimise(replace(dual, epsilon=epsilon), tol=self.tol, max_iter=self.max_iter, start=start)
        alpha = minimum.alpha
        self._warm = {"alpha": alpha}
        self.support_ = np.flatnonzero(alpha).astype(np.int64)
        self.alpha_ = alpha[self.support_]
        self.means_ = means[self.support_]
        self.scales_ = scales[self.support_]
        at_bound = int(np.sum(np.abs(self.alpha_) == self.C))
        in_memory = self.input == "gram" and not self.accepts_unread(K)
        wide = remark(K, means, scales, float(self.C)) if in_memory else None
        return {
            **minimum.report,
            **({} if wide is None else {"remark": wide}),
            "epsilon": epsilon,
            "epsilon_max": largest,
            "n_at_bound": at_bound,
            "constant_columns": constant,
        }

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the decisions Σ α_j (K(x, z_j) − mean_j) / scale_j + b."""
        weights = self.alpha_ / self.scales_
        return decide(K, columns, self.means_, weights, self.intercept_, self.cache_size)

    def linear(self) -> tuple[Floats, float]:
        """Return the coefficients α_j / scale_j of the columns, and the constant b − Σ α_j mean_j / scale_j."""
        weights = self.alpha_ / self.scales_
        return self._on_columns(weights), self.intercept_ - float(np.sum(weights * self.means_))


class PSVC(PotentialSVM, BinarySolver):
    r"""P-SVM classifier: the potential support vector machine, with the classes as −1 and 1.

    K need not be symmetric or positive definite. If it is too large to store, it may be a
    `scipy.sparse.linalg.LinearOperator` with `matvec` and `rmatvec`, which compute K·v and Kᵀ·v.

    Attributes
    ----------
    support_ : ndarray of int64, shape (s,)
        The columns with α ≠ 0.
    alpha_, means_, scales_ : ndarray of float64, shape (s,)
        α, and mean and standard deviation of the columns on the training rows.
    intercept_ : float
        b.
    report_ : dict
        Besides the usual: ``gap``, ``jumps``, ``epsilon`` and ``epsilon_max`` (both absolute),
        ``n_at_bound``, ``constant_columns``. ``residual`` and ``gap`` are in the units of `tol`; ``gap`` is
        None with ε = 0 and infinite C, where it bounds nothing.

    Notes
    -----
    f(x) = Σ_j α_j k̃(x, z_j) + b, where k̃ has each column of K standardised (mean 0, variance 1 with divisor l) on the
    l training rows, b is the mean of y, and α solves

    .. math:: \min_α ½ α^T K̃^T K̃ α − y^T K̃ α + ε ‖α‖_1  over  −C ≤ α_j ≤ C

    With infinite C this is the lasso. A constant column gets α = 0 and a warning.

    On a wide diagonal, as of gapped k-mers of ten letters or more, every column is nearly its own sample alone. Without
    a bound the P-SVM then memorises labels; C of about 1/√l prevents this. The default C = 1 does not: `report_` has a
    ``remark`` then.

    Complexity: one look at all columns takes O(l·N) for N columns; only the working set's part of K̃ᵀK̃ is stored.

    References
    ----------
    Hochreiter, Obermayer: Support vector machines for dyadic data. Neural Computation 18, 2006.

    Examples
    --------
    >>> from seqkern.solvers import PSVC
    >>> K = [[9.0, 8.0, 1.0, 0.0], [8.0, 9.0, 0.0, 1.0], [1.0, 0.0, 9.0, 7.0], [0.0, 1.0, 7.0, 9.0]]  # of a kernel
    >>> solver = PSVC(epsilon=0.5).fit(K, ["globin", "globin", "other", "other"])
    >>> solver.support_, solver.alpha_.round(3)
    (array([0, 1]), array([-0.252, -0.252]))
    >>> solver.predict([[6.0, 7.0, 2.0, 1.0]])
    array(['globin'], dtype='<U6')

    Features instead of a Gram matrix, here counts of k-mers; the larger ε, the fewer are selected:

    >>> X = [[3.0, 1.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    >>> [PSVC(epsilon=epsilon, kernel="features").fit(X, [1, 1, 0, 0]).support_ for epsilon in (0.1, 0.5)]
    [array([0, 2]), array([0])]
    """

    name = "psvc"
    summary = "Potential support vector machine: selects few support features; epsilon sets how few."


class PSVR(PotentialSVM, RealSolver):
    r"""P-SVM regression: the potential support vector machine for real y.

    Parameters and attributes are as for `PSVC`.

    Notes
    -----
    With K̃ as in `PSVC`, it solves

    .. math:: \min_α ½ α^T K̃^T K̃ α − y^T K̃ α + ε ‖α‖_1  over  −C ≤ α_j ≤ C

    Complexity: one look at all columns takes O(l·N) for l rows and N columns.

    References
    ----------
    Hochreiter, Obermayer: Support vector machines for dyadic data. Neural Computation 18, 2006.

    Examples
    --------
    >>> from seqkern.solvers import PSVR
    >>> X = [[3.0, 1.0, 2.0], [2.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 2.0]]
    >>> affinity = [6.1, 4.2, 0.1, 2.0]  # twice the first feature
    >>> solver = PSVR(C=float("inf"), kernel="features").fit(X, affinity)
    >>> solver.support_
    array([0])
    >>> solver.predict([[4.0, 0.0, 2.0]]).round(2)
    array([7.64])
    """

    name = "psvr"
    summary = "Potential support vector machine for regression: selects few support features."
