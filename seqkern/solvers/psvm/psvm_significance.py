"""Significance of P-SVM support features by permutation of the labels.

The labels y are shuffled B times, and the statistic T_j of every column j is recomputed each time. With T_j that of the
original labels,

    p_j = (1 + number of shufflings with T_j at least as large) / (B + 1).

Why this is valid: where the labels have nothing to do with K, the labels as they are and the shuffled ones are
exchangeable, T is the same function of each, and so the rank of the true labels' T among the B + 1 is uniform but for
ties: p_j ≤ a has a probability of at most a, for any B. Two things follow for T. It must treat shuffled labels as it
does the true ones: ε is taken in units of the ε_max of the labels at hand, or is a constant. An ε that was chosen with
the help of these labels, as by cross-validation, breaks this. And a column must not be tested because it was selected:
all N columns are tested, T_j = 0 gives p = 1, and corrections count all N.

Two statistics:

- ``"coefficient"``: |α_j|, of the solution with all columns. It shows a column that matters together with others only.
  K̃α is unique, α only where the columns in use are linearly independent. Of columns that are equal but for scale and
  sign, each gets an equal share of their coefficients here, the choice of least ‖α‖, whatever the solver's choice; of
  other dependent columns α is the one that the solver found.
  It tests one hypothesis with N statistics: that the labels have nothing to do with any column. If they have to do with
  some, then a column that is like one of these can get a coefficient in its place; a small p names where the
  relation is seen, and not its cause. Corrected by any method, the probability of a finding where there is nothing to
  find is kept (weak control).
- ``"correlation"``: |correlation of column j and y|, which the other columns have no part in. It tests for each column
  that the labels have nothing to do with *it*. Bonferroni, Holm and the maximum statistic keep the probability of any
  false finding whatever else is true (strong control), for the maximum statistic because shuffling keeps the dependence
  of the columns (Westfall & Young 1993: subset pivotality). Benjamini-Hochberg keeps the expected share of false ones
  among the findings, if the statistics depend on one another positively (Benjamini & Yekutieli 2001).

References
----------
Hochreiter & Obermayer, Neural Computation 18, 2006. Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39 (why p is
never 0). Westfall & Young 1993, Resampling-Based Multiple Testing. Benjamini & Hochberg 1995, J. R. Stat. Soc. B
57:289-300. Benjamini & Yekutieli 2001, Ann. Stat. 29:1165-1188.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice, check_integer
from seqkern.core.convergence import warn_unconverged
from seqkern.core.multiple_testing import benjamini_hochberg, holm
from seqkern.core.threads import one_thread
from seqkern.solvers.psvm.potential.columns import Columns
from seqkern.solvers.psvm.potential.dual import Dual
from seqkern.solvers.psvm.potential.minimiser import minimise
from seqkern.solvers.psvm.psvm import PotentialSVM
from seqkern.solvers.psvm.psvm_path import prepared

SAME = 1e-6
"""Solutions are approximate: a statistic smaller by this share counts as equal, in favour of the null."""

BLOCK, DIGITS = 256, 9
"""Columns compared at a time, and the digits of their values, of standard deviation 1, that count."""


@dataclass(frozen=True)
class Significance:
    """The support features of a P-SVM and their p-values, by p and then by statistic.

    Attributes
    ----------
    columns : ndarray of int64, shape (s,)
        The support features.
    alpha, statistic : ndarray of float64, shape (s,)
        α with the original labels, shared equally by equal columns, and T.
    p : ndarray of float64, shape (s,)
        Not corrected; never below 1 / (B + 1).
    bonferroni, holm : ndarray of float64, shape (s,)
        Corrected for N tests. Never below N / (B + 1): they need many shufflings.
    benjamini_hochberg : ndarray of float64, shape (s,)
        The least false discovery rate at which the feature is found.
    max_statistic : ndarray of float64, shape (s,)
        T compared with the largest of the shuffled statistics, of all columns but those with a larger T (step-down).
        Needs no more shufflings than p.
    n_tested : int
        N: columns that are not constant.
    n_permutations : int
        B.
    not_converged : int
        Number of unconverged fits, with original and shuffled labels; their α is not exact.
    """

    columns: npt.NDArray[np.int64]
    alpha: npt.NDArray[np.float64]
    statistic: npt.NDArray[np.float64]
    p: npt.NDArray[np.float64]
    bonferroni: npt.NDArray[np.float64]
    holm: npt.NDArray[np.float64]
    benjamini_hochberg: npt.NDArray[np.float64]
    max_statistic: npt.NDArray[np.float64]
    n_tested: int
    n_permutations: int
    not_converged: int


def psvm_significance(
    solver: PotentialSVM,
    K: Any,
    y: npt.ArrayLike,
    *,
    statistic: Literal["coefficient", "correlation"] = "coefficient",
    n_permutations: int = 999,
    seed: int = 1,
) -> Significance:
    """Return the significance of each support feature; the module describes the hypotheses.

    Parameters
    ----------
    solver : PSVC or PSVR
        With the ε that is tested; it is not changed.
    K : matrix, shape (l, N)
        As `solver.fit` takes it.
    y : array_like, shape (l,)
        Classes, or real values.
    statistic : {"coefficient", "correlation"}
        The module describes the validity of each. The former takes one fit per shuffling.
    n_permutations : int
        B. A p of 0.05 needs 19 at least; a good estimate of p some 20 / p.
    seed : int
        Seed of the shufflings.

    Returns
    -------
    Significance

    Raises
    ------
    ParameterError, GramError, LabelError
        As `solver.fit` does.

    Warns
    -----
    ConvergenceWarning
        With the number of unconverged fits.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import PSVC
    >>> from seqkern.solvers.psvm.psvm_significance import psvm_significance
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 30))
    >>> X[:, 4] += 3 * y  # one informative feature of thirty
    >>> found = psvm_significance(PSVC(epsilon=0.3, kernel="features"), X, y, n_permutations=99)
    >>> found.columns, found.p, found.max_statistic
    (array([4]), array([0.01]), array([0.01]))
    """
    check_choice("statistic", statistic, ("coefficient", "correlation"))
    check_integer("n_permutations", n_permutations, 1)
    check_integer("seed", seed, 0)
    rng = np.random.default_rng(seed)
    with one_thread():
        solver, columns, target = prepared(solver, K, y)
        target = target - target.mean()
        copies = _copies(columns)
        alpha, converged = _coefficients(solver, columns, target, copies)
        failed, fits = int(not converged), 1 + n_permutations * (statistic == "coefficient")
        true = np.abs(alpha if statistic == "coefficient" else _correlations(columns, target))
        tested = np.flatnonzero(columns.scales > 0)
        order = tested[np.argsort(-true[tested], kind="stable")]
        true = true[order]
        single, stepped = np.zeros(len(order), dtype=np.int64), np.zeros(len(order), dtype=np.int64)
        for _ in range(n_permutations):
            labels = rng.permutation(target)
            if statistic == "coefficient":
                values, converged = _coefficients(solver, columns, labels, copies)
                failed += not converged
            else:
                values = _correlations(columns, labels)
            shuffled = np.abs(values)[order]
            single += shuffled >= true * (1 - SAME)
            stepped += np.maximum.accumulate(shuffled[::-1])[::-1] >= true * (1 - SAME)
    if failed:
        warn_unconverged(
            f"{failed} of {fits} fits of the P-SVM did not converge, so p-values may be wrong; raise max_iter",
            stacklevel=2,
        )
    p = (1 + single) / (1 + n_permutations)
    corrected = {
        "bonferroni": np.minimum(1.0, p * len(p)),
        "holm": holm(p),
        "benjamini_hochberg": benjamini_hochberg(p),
        "max_statistic": np.maximum.accumulate((1 + stepped) / (1 + n_permutations)),
    }
    support = np.flatnonzero(alpha[order])
    support = support[np.argsort(p[support], kind="stable")]
    return Significance(
        columns=order[support],
        alpha=alpha[order[support]],
        statistic=true[support],
        p=p[support],
        **{name: values[support] for name, values in corrected.items()},
        n_tested=len(order),
        n_permutations=n_permutations,
        not_converged=failed,
    )


def _copies(columns: Columns) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return a number for each column, the same for columns that are equal but for scale and sign, and their signs."""
    groups: dict[bytes, int] = {}
    numbers, signs = np.empty(columns.n_columns, dtype=np.int64), np.empty(columns.n_columns)
    for start in range(0, columns.n_columns, BLOCK):
        which = np.arange(start, min(start + BLOCK, columns.n_columns))
        rows = columns.standardised(which)
        largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
        signs[which] = np.where(largest[:, 0] < 0, -1.0, 1.0)
        for column, row in zip(which, np.round(rows * signs[which, None], DIGITS) + 0.0, strict=True):  # −0 is 0
            numbers[column] = groups.setdefault(hashlib.blake2b(row, digest_size=16).digest(), len(groups))
    return numbers, signs


def _coefficients(
    solver: PotentialSVM,
    columns: Columns,
    target: npt.NDArray[np.float64],
    copies: tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]],
) -> tuple[npt.NDArray[np.float64], bool]:
    """Return α, with ε in units of the ε_max of these labels and equal for equal columns, and whether it converged."""
    dual = Dual(columns, target, 0.0, float(solver.C))
    unit = dual.epsilon_max if solver.epsilon_scale == "max" else 1.0
    dual = Dual(columns, target, float(solver.epsilon) * unit, float(solver.C), dual.correlations)
    found = minimise(dual, tol=solver.tol, max_iter=solver.max_iter)
    numbers, signs = copies
    shared = np.bincount(numbers, weights=signs * found.alpha) / np.bincount(numbers)
    return signs * shared[numbers], found.report["converged"]


def _correlations(columns: Columns, target: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the correlation of each column and the labels; 0 for constant ones."""
    length = np.sqrt(len(target)) * np.linalg.norm(target)
    return columns.products(target) / (length if length > 0 else 1.0)
