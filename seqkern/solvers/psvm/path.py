"""P-SVM solutions for many values of ε, and the significance of their support features."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice, check_integer, whole_number
from seqkern.core.convergence import warn_unconverged
from seqkern.core.errors import ParameterError, check_known
from seqkern.core.statistics import benjamini_hochberg, holm
from seqkern.core.threads import one_thread
from seqkern.core.types import Floats, Ints
from seqkern.solvers.contract import clone
from seqkern.solvers.psvm.columns import Columns
from seqkern.solvers.psvm.psvm import PotentialSVM
from seqkern.solvers.psvm.qp import Dual, columns_of, minimise

# Paths of P-SVM solutions over ε, which decreases from the value at which nothing is selected. Each solution
# warm-starts the next.


class Path(NamedTuple):
    """A path of P-SVM solutions for decreasing ε: for each ε the columns with α ≠ 0, and their α."""

    epsilons: Floats  # shape (p,): In the units of the solver's `epsilon_scale`
    supports: list[Ints]
    alphas: list[Floats]


def psvm_path(solver: PotentialSVM, K: Any, y: npt.ArrayLike, *, n_epsilons: int = 20, smallest: float = 0.01) -> Path:
    """Return the solutions of the P-SVM for decreasing ε.

    The values of ε form a geometric sequence from ε_max, where nothing is selected, to `smallest` · ε_max.
    """
    with one_thread():
        solver, columns, target = prepared(solver, K, y)
        dual = Dual(columns, target - float(np.mean(target)), 0.0, float(solver.C))
        shares = np.geomspace(1, smallest, n_epsilons)
        supports, alphas, reports, found = list[Ints](), list[Floats](), [], None
        for share in shares.tolist():
            problem = replace(dual, epsilon=share * dual.epsilon_max)
            found = minimise(problem, tol=solver.tol, max_iter=solver.max_iter, start=found)
            supports.append(np.flatnonzero(found.alpha).astype(np.int64))
            alphas.append(found.alpha[supports[-1]])
            reports.append(found.report)
    missed = [report["gap"] for report in reports if not report["converged"]]
    if missed:
        gaps = [gap for gap in missed if gap is not None]
        worst = f" (gap {max(gaps):.3g} at most)" if gaps else ""
        text = f"for {len(missed)} of {len(shares)} values of epsilon the P-SVM did not converge{worst}"
        warn_unconverged(text, stacklevel=2)
    return Path(shares if solver.epsilon_scale == "max" else shares * dual.epsilon_max, supports, alphas)


def prepared(solver: PotentialSVM, K: Any, y: npt.ArrayLike) -> tuple[PotentialSVM, Columns, Floats]:
    """Return the checked input of a path: (copy of the solver with its classes, columns of K, target)."""
    if not isinstance(solver, PotentialSVM):
        raise ParameterError(f"{solver!r} is not a P-SVM", remedy="give a PSVC or a PSVR")
    solver = clone(solver)
    K, target = solver.checked_data(K, y)
    return (
        solver,
        columns_of(K, square=solver.input == "gram", cache_size=solver.cache_size),
        cast("Floats", target),
    )


# Significance of P-SVM support features by permutation of the labels.
#
# The labels y are shuffled B times, the statistic T_j of every column j is recomputed each time, and p_j = (1 + number
# of shufflings with T_j at least as large as with the original labels) / (B + 1).
#
# If the labels are unrelated to K, the original and the shuffled labels are exchangeable, so p_j ≤ a has a probability
# of at most a for any B. For this, T must treat all labels alike: ε is in units of the ε_max of the labels at hand, or
# a constant; an ε chosen with these labels, as by cross-validation, breaks validity. All N columns are tested, not only
# the selected ones (T_j = 0 gives p = 1), and corrections count all N.
#
# - ``"coefficient"``: |α_j| of the solution with all columns, which reveals columns that matter only together with
#   others. Columns that are equal but for scale and sign share their coefficients equally; for other dependent columns
#   α is not unique. It tests the single hypothesis that the labels are unrelated to all columns (weak control): a small
#   p shows where the relation is seen, not its cause.
# - ``"correlation"``: |correlation of column j and y|, which tests each column separately. Bonferroni, Holm and the
#   maximum statistic keep strong control of the family-wise error (Westfall & Young 1993: subset pivotality).
#   Benjamini-Hochberg controls the false discovery rate under positive dependence (Benjamini & Yekutieli 2001).
#
# Hochreiter & Obermayer, Neural Computation 18, 2006. Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39 (why p
# is never 0). Westfall & Young 1993, Resampling-Based Multiple Testing. Benjamini & Hochberg 1995, J. R. Stat. Soc. B
# 57:289-300. Benjamini & Yekutieli 2001, Ann. Stat. 29:1165-1188.

SAME = 1e-6  # Relative difference below which a smaller statistic counts as equal, in favour of the null

BLOCK, SHARE_DIGITS = 256, 9
"""Columns compared at a time, and significant digits of their values, standardised to deviation 1."""


@dataclass(frozen=True)
class Significance:
    """The support features of a P-SVM and their p-values, sorted by p and then by statistic.

    `p` is uncorrected and at least 1 / (B + 1). `bonferroni` and `holm` are corrected for N tests, and at least N / (B
    + 1), so they need many shufflings. `max_statistic` compares T with the largest shuffled statistic of all columns
    but those with a larger T (step-down).
    """

    columns: Ints  # shape (s,): The support features
    alpha: Floats  # shape (s,): α with the original labels, shared equally by equal columns, and T
    statistic: Floats  # shape (s,): α with the original labels, shared equally by equal columns, and T
    p: Floats  # shape (s,): Not corrected; never below 1 / (B + 1)
    # shape (s,): Corrected for N tests. Never below N / (B + 1): they need many shufflings
    bonferroni: Floats
    # shape (s,): Corrected for N tests. Never below N / (B + 1): they need many shufflings
    holm: Floats
    # shape (s,): The least false discovery rate at which the feature is found
    benjamini_hochberg: Floats
    # shape (s,): T compared with the largest of the shuffled statistics, of all columns but those with a larger T
    # (step-down). Needs no more shufflings than p
    max_statistic: Floats
    n_tested: int  # N: columns that are not constant
    n_permutations: int  # B
    not_converged: int  # Number of unconverged fits, with original and shuffled labels; their α is not exact


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

    The statistic "coefficient" takes one fit per shuffling. A p of 0.05 needs at least 19 permutations, and a good
    estimate of p about 20 / p.
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


def _copies(columns: Columns) -> tuple[Ints, Floats]:
    """Return a group number for each column, shared by columns equal but for scale and sign, and their signs."""
    groups: dict[bytes, int] = {}
    numbers, signs = np.empty(columns.n_columns, dtype=np.int64), np.empty(columns.n_columns)
    for start in range(0, columns.n_columns, BLOCK):
        which = np.arange(start, min(start + BLOCK, columns.n_columns))
        rows = columns.standardised(which)
        largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
        signs[which] = np.where(largest[:, 0] < 0, -1.0, 1.0)
        for column, row in zip(which, np.round(rows * signs[which, None], SHARE_DIGITS) + 0.0, strict=True):  # −0 is 0
            numbers[column] = groups.setdefault(hashlib.blake2b(row, digest_size=16).digest(), len(groups))
    return numbers, signs


def _coefficients(
    solver: PotentialSVM, columns: Columns, target: Floats, copies: tuple[Ints, Floats]
) -> tuple[Floats, bool]:
    """Return (α, converged), with α shared by equal columns.

    ε is in units of the ε_max of these labels.
    """
    dual = Dual(columns, target, 0.0, float(solver.C))
    unit = dual.epsilon_max if solver.epsilon_scale == "max" else 1.0
    dual = Dual(columns, target, float(solver.epsilon) * unit, float(solver.C), dual.correlations)
    found = minimise(dual, tol=solver.tol, max_iter=solver.max_iter)
    numbers, signs = copies
    shared = np.bincount(numbers, weights=signs * found.alpha) / np.bincount(numbers)
    return signs * shared[numbers], found.report["converged"]


def _correlations(columns: Columns, target: Floats) -> Floats:
    """Return the correlation of each column with the labels, 0 for constant columns."""
    length = np.sqrt(len(target)) * np.linalg.norm(target)
    return columns.products(target) / (length if length > 0 else 1.0)


# The options of `seqkern train`, `seqkern evaluate` and studies to test the features selected by a P-SVM.

STATISTICS = ("correlation", "coefficient")
SOLVERS = ("psvc", "psvr")
DEFAULT = 999
MOST = 1_000_000
REMEDY = "write correlation or coefficient, with 1 to 1000000 permutations"


@dataclass(frozen=True)
class SignificanceTest:
    """A permutation test of features; `psvm_significance` describes the statistics.

    "correlation" tests a feature alone, whatever the solver's parameters; "coefficient" tests it among all others,
    which is valid only if the labels had no part in the choice of ε and C.
    """

    # Of the feature alone, whatever the solver's parameters; or of the feature among all others, which is valid only if
    # the labels had no part in the choice of ε and C
    statistic: str = STATISTICS[0]
    permutations: int = DEFAULT  # Number of shufflings of the labels

    @classmethod
    def parse(cls, given: str | Mapping[str, Any]) -> "SignificanceTest":
        """Return the test given by an option, as in ``"coefficient:permutations=99"``, or by a study's mapping."""
        if isinstance(given, str):
            name, colon, rest = given.partition(":")
            key, _, value = rest.partition("=")
            if colon and (key != "permutations" or whole_number(value) is None):
                raise ParameterError(f"significance={given!r} is not possible", remedy=REMEDY)
            given = {"statistic": name} | ({"permutations": int(value)} if colon else {})
        check_known("key of significance", given, ("statistic", "permutations"))
        found = cls(**given)
        check_known("statistic", [found.statistic], STATISTICS)
        if not isinstance(found.permutations, int) or not 1 <= found.permutations <= MOST:
            raise ParameterError(f"permutations={found.permutations} is outside 1 to {MOST}", remedy=REMEDY)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the test in the form of a study's key."""
        return asdict(self)

    @staticmethod
    def suits(specs: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether all solver specs are P-SVMs on features."""
        return all(spec.get("solver") in SOLVERS and spec.get("kernel") == "features" for spec in specs)

    def check(self, specs: Sequence[Mapping[str, Any]]) -> None:
        """Raise ParameterError unless the test is valid for the solvers of the inner loop.

        Only P-SVMs on features are valid; with the statistic "coefficient", the labels must not choose ε or C.
        """
        if not self.suits(specs):
            raise ParameterError(
                f"significance is for the features of a P-SVM, not for solver {specs[0].get('solver')!r}",
                remedy="choose psvc:kernel=features or psvr:kernel=features, or leave out significance",
            )
        if self.statistic == "coefficient" and len(specs) > 1:
            raise ParameterError(
                f"the labels choose among {len(specs)} P-SVMs, so p-values of coefficients would be too small",
                remedy="give one value of each parameter, or choose the statistic correlation",
            )

    @staticmethod
    def check_kind(kind: str) -> None:
        """Raise ParameterError unless the labels are two classes or real values."""
        if kind not in ("binary", "real"):
            raise ParameterError(
                "significance is for two classes, or for labels that are numbers",
                remedy="name one class against the rest with a positive class, or leave out significance",
            )
