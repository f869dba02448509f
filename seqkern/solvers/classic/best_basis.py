"""Least squares on the best subset of a few features, with confidence intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import choice, integer, share
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.kernels.features import FeatureBlocks
from seqkern.solvers.capabilities import SelectedFeatures, Traits
from seqkern.solvers.shared import FeatureWeights, as_blocks, order_by_content, random_seed

# Second moments of features and targets, which suffice for least squares on any subset of the features.

FLAT = 1e-9  # A feature is dependent if regression on the others of a basis leaves at most this share of its variance

STACK = 2**21  # Numbers processed at a time when many bases are evaluated together


@dataclass(frozen=True)
class Part:
    """Moments of the training rows and of the predicted rows, around the training means."""

    n: int  # Number of training rows
    # shape (d + 1, d + 1): Σ (z − z̄)(z − z̄)ᵀ, z the features followed by the target. `tested` is None if the
    # predicted rows are the same
    learned: Floats
    # shape (d + 1, d + 1): Σ (z − z̄)(z − z̄)ᵀ, z the features followed by the target. `tested` is None if the
    # predicted rows are the same
    tested: Floats | None = None

    @classmethod
    def of_sums(
        cls, n: int, products: Floats, totals: Floats, columns: Ints, held: tuple[int, Floats, Floats] | None = None
    ) -> Self:
        """Return the Part for some columns, from sums over the training rows and, optionally, the predicted rows."""
        own = np.ix_(columns, columns)
        mean = totals[columns] / n
        learned = products[own] - n * np.outer(mean, mean)
        if held is None:
            return cls(n, learned)
        n_held, products, totals = held
        cross = np.outer(totals[columns], mean)
        return cls(n, learned, products[own] - cross - cross.T + n_held * np.outer(mean, mean))

    def errors(self, bases: Ints) -> Floats:
        """Return the sum of squared errors on the predicted rows for each basis; infinite for a dependent one."""
        m, p = bases.shape
        out = np.empty(m)
        at_once = max(STACK // (p + 1) ** 2, 1)
        for start in range(0, m, at_once):
            part = bases[start : start + at_once]
            places = np.column_stack((part, np.full(len(part), len(self.learned) - 1)))
            stack = _Stack.of(self, places)
            for _ in range(p):
                stack = stack.with_first()
            out[start : start + at_once] = stack.values()
        return out

    def errors_of_all(self) -> Floats:
        """Return the errors of all subsets of the d features, float64 (2^d,): bit j of the index stands for feature j.

        Each feature in turn doubles the number of matrices: matrices without it, and matrices from which it is
        eliminated. Nearly all matrices are small by then: six operations for each subset.
        """
        places = np.arange(len(self.learned))[None]
        stack = _Stack.of(self, places)
        for _ in range(places.shape[1] - 1):
            stack = stack.without_first().joined(stack.with_first())
        return stack.values()


@dataclass(frozen=True)
class _Stack:
    """Moments of residuals: features and target, each regressed on its basis.

    `variances` are the initial ones of the features; `good` marks independent bases.
    """

    learned: Floats
    tested: Floats | None
    variances: Floats
    good: Bools

    @classmethod
    def of(cls, part: Part, places: Ints) -> Self:
        """Return the stack for some columns, (m, q) of `places`, before any regression."""
        own = places[:, :, None], places[:, None, :]
        tested = None if part.tested is None else part.tested[own]
        learned = part.learned[own]
        return cls(learned, tested, np.diagonal(part.learned)[places], np.ones(len(places), dtype=bool))

    def without_first(self) -> "_Stack":
        """Return the stack without its first feature, excluded from all bases."""
        tested = None if self.tested is None else self.tested[:, 1:, 1:]
        return _Stack(self.learned[:, 1:, 1:], tested, self.variances[:, 1:], self.good)

    def with_first(self) -> "_Stack":
        """Return the stack after regression on its first feature."""
        left = self.learned[:, 0, 0]
        good = left > FLAT * self.variances[:, 0]
        row = self.learned[:, 0, 1:]
        factors = np.where(good[:, None], row, 0.0) / np.where(good, left, 1.0)[:, None]
        learned = self.learned[:, 1:, 1:] - factors[:, :, None] * row[:, None, :]
        tested = None
        if self.tested is not None:
            cross = factors[:, :, None] * self.tested[:, 0, None, 1:]
            squares = factors[:, :, None] * (factors * self.tested[:, 0, :1])[:, None, :]
            tested = self.tested[:, 1:, 1:] - cross - cross.swapaxes(1, 2) + squares
        return _Stack(learned, tested, self.variances[:, 1:], self.good & good)

    def joined(self, other: "_Stack") -> "_Stack":
        """Return the stack with the bases of both."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        parts: list[Any] = [None if own is None else np.concatenate((own, more)) for own, more in pairs]
        return _Stack(*parts)

    def values(self) -> Floats:
        """Return the squared errors of the target, the only remaining column."""
        found = (self.learned if self.tested is None else self.tested)[:, 0, 0]
        return np.where(self.good, np.maximum(found, 0.0), np.inf)


def independent(learned: Floats) -> Ints:
    """Return the features, ascending, that do not depend linearly on those before them."""
    stack = _Stack.of(Part(0, learned), np.arange(len(learned))[None])
    kept = []
    for j in range(len(learned) - 1):
        taken = stack.with_first()
        if taken.good[0]:
            kept.append(j)
        stack = taken if taken.good[0] else stack.without_first()
    return np.array(kept, dtype=np.int64)


# Search for the best basis, a subset of the features, by a criterion.

CRITERIA = ("aic", "bic", "cp", "cv")
SEARCHES = ("brute_force", "stepwise", "local")
MAX_BRUTE = 20  # Largest number of features for an exhaustive search

EQUAL = 1e-10  # Criteria that differ by at most this share count as equal


Found: TypeAlias = tuple[Ints, float]  # The features of a basis, and its criterion


@dataclass
class Criterion:
    """Selection criterion of a basis, {"aic", "bic", "cp", "cv"}; smaller is better."""

    name: str  # Which criterion
    whole: Part  # Of all rows
    parts: list[Part]  # Of the inner folds, for "cv"
    noise: float  # Variance of the noise, for "cp"
    looked_at: int = 0  # Number of evaluated bases

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.whole.learned) - 1

    def of(self, bases: Ints) -> Floats:
        """Return the criterion of bases of one size; infinite for a dependent basis, or one too large for the rows."""
        self.looked_at += len(bases)
        errors = np.asarray(sum(part.errors(bases) for part in self._parts()))
        return self._from(errors, np.full(len(bases), bases.shape[1]))

    def of_all(self) -> tuple[Floats, Ints]:
        """Return the criterion and the size of all subsets, shape (2^d,): bit j of the index stands for feature j."""
        sizes = np.zeros(1, dtype=np.int64)
        for _ in range(self.d):
            sizes = np.concatenate((sizes, sizes + 1))
        self.looked_at += len(sizes)
        errors = np.asarray(sum(part.errors_of_all() for part in self._parts()))
        return self._from(errors, sizes), sizes

    def _parts(self) -> list[Part]:
        """Return the parts whose errors enter the criterion."""
        return self.parts if self.name == "cv" else [self.whole]

    def _from(self, errors: Floats, sizes: Ints) -> Floats:
        """Return the criterion from sums of squared errors and numbers of features."""
        n, p = self.whole.n, sizes + 1.0
        if self.name == "cv":
            values = errors / n
        elif self.name == "cp":
            values = errors / self.noise - n + 2 * p
        else:
            least = EQUAL * max(self.whole.learned[-1, -1], 1e-300)
            values = n * np.log(np.maximum(errors, least) / n) + p * (2.0 if self.name == "aic" else np.log(n))
        smallest = min((part.n for part in self._parts()), default=n)
        return np.where((p < smallest) & np.isfinite(errors), values, np.inf)


def brute_force(criterion: Criterion) -> Found:
    """Return the best of all subsets and its criterion; ties go to the smallest, then to the first."""
    values, sizes = criterion.of_all()
    least = values.min()
    equal = np.flatnonzero(values <= least + EQUAL * (1 + abs(least)))
    best = equal[np.argmin(sizes[equal])]
    return np.flatnonzero((best >> np.arange(criterion.d)) & 1), float(values[best])


def stepwise(criterion: Criterion) -> Found:
    """Return the basis found by stepwise search and its criterion.

    The search starts from the empty basis and makes the best addition or removal as long as it helps.
    """
    return _descend(criterion, np.empty(0, dtype=np.int64), swaps=False)


def local(criterion: Criterion, restarts: int, seed: int) -> Found:
    """Return the best basis found by adding, removing and swapping features, and its criterion."""
    rng = np.random.default_rng(seed)
    starts = [np.empty(0, dtype=np.int64)]
    starts += [np.flatnonzero(rng.random(criterion.d) < rng.random()) for _ in range(restarts)]
    found = [_descend(criterion, start, swaps=True) for start in starts]
    best = found[0]
    for basis, value in found[1:]:
        if _better(value, len(basis), best[1], len(best[0])):
            best = basis, value
    return best


def _descend(criterion: Criterion, basis: Ints, *, swaps: bool) -> Found:
    """Return a locally optimal basis and its criterion."""
    value = float(criterion.of(basis[None])[0])
    while True:
        found = [_best(criterion, bases) for bases in _neighbors(basis, criterion.d, swaps) if len(bases)]
        next_basis, next_value = min(found, key=lambda one: (one[1], len(one[0])))
        # any step from a dependent basis is an improvement
        if not _better(next_value, len(next_basis), value, len(basis)) and not (np.isinf(value) and len(basis)):
            return basis, value
        basis, value = (basis[:-1], np.inf) if np.isinf(next_value) else (next_basis, next_value)


def _neighbors(basis: Ints, d: int, swaps: bool) -> Iterator[Ints]:
    """Yield the neighbouring bases, grouped by size."""
    others = np.setdiff1d(np.arange(d), basis)
    smaller = np.array([np.delete(basis, place) for place in range(len(basis))], dtype=np.int64)
    yield smaller.reshape(len(basis), max(len(basis) - 1, 0))
    yield _with_each(basis[None], others)
    if swaps and len(basis):
        yield _with_each(smaller.reshape(len(basis), -1), others)


def _with_each(bases: Ints, others: Ints) -> Ints:
    """Return each basis extended by each other feature, with features sorted."""
    m, p = bases.shape
    out = np.empty((m, len(others), p + 1), dtype=np.int64)
    out[:, :, :p] = bases[:, None]
    out[:, :, p] = others
    return np.sort(out.reshape(-1, p + 1), axis=1)


def _best(criterion: Criterion, bases: Ints) -> Found:
    """Return the best of some bases and its criterion; ties go to the first."""
    values = criterion.of(bases)
    least = values.min()
    place = int(np.flatnonzero(values <= least + EQUAL * (1 + abs(least)))[0]) if np.isfinite(least) else 0
    return bases[place], float(values[place])


def _better(value: float, size: int, other: float, other_size: int) -> bool:
    """Return whether a criterion is better than another, or equal with fewer features."""
    if np.isinf(value):
        return False
    margin = EQUAL * (1 + abs(value))
    return value < other - margin or (abs(value - other) <= margin and size < other_size)


# Sums over training rows for least squares: moments of the inner folds, confidence intervals of coefficients.

Sums: TypeAlias = tuple[Ints, Floats, Floats]  # The number of rows, Σ zzᵀ and Σ z of each inner fold


class TrainingSums:
    """Features and targets of the training rows, and sums over them.

    Moments are taken around the mean of all rows.
    """

    def __init__(self, K: FeatureBlocks, targets: Floats) -> None:
        self.K, self.targets = K, targets
        self.d, self.n = K.shape[1], len(targets)
        total = np.zeros(self.d)
        for _, block in K.blocks():
            total += block.sum(axis=0, dtype=np.float64)
        self.mean = np.concatenate((total, targets.sum(axis=0))) / self.n

    def _rows(self) -> Iterator[tuple[slice, Floats]]:
        """Yield (slice, centred features and targets) for blocks of rows."""
        for part, block in self.K.blocks():
            yield part, np.column_stack((block, self.targets[part])) - self.mean

    def sums(self, folds: Ints) -> Sums:
        """Return the sums of each inner fold: counts, products Σ zzᵀ and totals Σ z of the centred columns z."""
        q = len(self.mean)
        counts, products, totals = np.bincount(folds), np.zeros((folds.max() + 1, q, q)), np.zeros((folds.max() + 1, q))
        for part, rows in self._rows():
            for fold in range(len(counts)):
                own = rows[folds[part] == fold]
                products[fold] += own.T @ own
                totals[fold] += own.sum(axis=0)
        return counts, products, totals

    def part(self, sums: Sums, place: int, held: int | None = None) -> Part:
        """Return the Part of one target."""
        columns = np.append(np.arange(self.d), self.d + place)
        counts, products, totals = sums
        whole = int(counts.sum()), products.sum(axis=0), totals.sum(axis=0)
        if held is None:
            return Part.of_sums(*whole, columns)
        own = int(counts[held]), products[held], totals[held]
        return Part.of_sums(whole[0] - own[0], whole[1] - own[1], whole[2] - own[2], columns, own)

    def intervals(self, sums: Sums, bases: Sequence[Ints], codes: Ints | None, level: float) -> Floats:
        """Return each target's coefficients in its basis with confidence intervals, shape (targets, d, 3).

        With M = Σ xxᵀ and s_g = Σ x e over the rows of group g, e the errors, the covariance of the coefficients is
        M⁻¹ Σ_g s_g s_gᵀ M⁻¹, times G/(G − 1) · (n − 1)/(n − p). Features outside the basis get NaN.
        """
        from scipy.stats import t as student  # imported here: scipy.stats slows start-up

        out = np.full((len(bases), self.d, 3), np.nan)
        inverses = [self._inverse(sums, basis) for basis in bases]
        weights = np.zeros((len(bases), self.d))
        for place, (basis, inverse) in enumerate(zip(bases, inverses, strict=True)):
            weights[place, basis] = inverse @ sums[1].sum(axis=0)[basis, self.d + place]
        scores = self._scores(weights, codes)
        groups = self.n if codes is None else codes.max() + 1
        for place, (basis, inverse) in enumerate(zip(bases, inverses, strict=True)):
            covariance = inverse @ scores[place][np.ix_(basis, basis)] @ inverse
            freedom = max(groups - 1, 0), self.n - len(basis) - 1
            ends = np.full(len(basis), np.nan)
            if min(freedom) > 0:
                factor = groups / freedom[0] * (self.n - 1) / freedom[1]
                errors = np.sqrt(factor * np.maximum(np.diagonal(covariance), 0.0))
                ends = student.ppf(0.5 + level / 2, freedom[0]) * errors
            own = weights[place, basis]
            out[place, basis] = np.stack((own, own - ends, own + ends), axis=1)
        return out

    def _inverse(self, sums: Sums, basis: Ints) -> Floats:
        """Return the inverse of Σ xxᵀ over a basis, computed from the correlations."""
        moments = sums[1].sum(axis=0)[np.ix_(basis, basis)]
        scale = np.sqrt(np.diagonal(moments))
        return np.linalg.inv(moments / np.outer(scale, scale)) / np.outer(scale, scale)

    def _scores(self, weights: Floats, codes: Ints | None) -> Floats:
        """Return Σ_g s_g s_gᵀ of each target, (targets, d, d); without groups each row is its own group."""
        out = np.zeros((len(weights), self.d, self.d))
        sums = None if codes is None else np.zeros((len(weights), codes.max() + 1, self.d))
        for part, rows in self._rows():
            features = rows[:, : self.d]
            for place, own in enumerate(weights):
                scores = features * (rows[:, self.d + place] - features @ own)[:, None]
                if sums is None or codes is None:
                    out[place] += scores.T @ scores
                else:
                    np.add.at(sums[place], codes[part], scores)
        return out if sums is None else sums.swapaxes(1, 2) @ sums

    def intercepts(self, weights: Floats) -> Floats:
        """Return the intercept b of each target."""
        return self.mean[self.d :] - weights @ self.mean[: self.d]

    def residual(self, sums: Sums, weights: Floats, bases: Sequence[Ints]) -> float:
        """Return the largest residual of the normal equations, relative to the largest |Σ xy|."""
        moments = sums[1].sum(axis=0)
        errors = moments[: self.d, self.d :] - moments[: self.d, : self.d] @ weights.T
        largest = max(np.abs(moments[: self.d, self.d :]).max(), 1e-300)
        return float(
            max((np.abs(errors[basis, place]).max() for place, basis in enumerate(bases) if len(basis)), default=0.0)
            / largest
        )


class BestBasis(FeatureWeights):
    r"""Least squares on the best subset of the features, chosen for each class.

    The target of a class is 1 for its rows and −1 for the others; for two classes only the second's. It suits tables
    of a few features.

    Attributes
    ----------
    support_ : ndarray of int64, shape (s,)
        The features in the basis of any class.
    coef_ : ndarray of float64, shape (1, s) for two classes, else (c, s)
        w; 0 for a feature that is not in the basis of the class.
    intercept_ : ndarray of float64, shape (1,) or (c,)
    table_ : ndarray of float64, shape (1 or c, d, 6)
        For each feature w and both ends of its interval in the basis (NaN outside the basis), and the same in
        the full basis of all features that do not depend on those before them.
    report_ : dict
        ``objective`` is the sum of the criteria, ``looked_at`` (int) the number of subsets.

    Notes
    -----
    For each subset S of the features,

    .. math:: RSS(S) = \min_{w, b} \sum_i (y_i − w·x_{iS} − b)^2

    The S with the smallest criterion is chosen: n ln(RSS/n) + 2p (``aic``), n ln(RSS/n) + p ln n (``bic``), RSS/σ² − n
    + 2p (``cp``; σ² from all features), with p the number of features and the constant; or the mean squared error of
    inner cross-validation (``cv``).

    Intervals allow for targets with two values, and for correlated rows within a group (cluster-robust; t with groups −
    1 degrees of freedom). Those in the chosen basis are conditional on the choice, and too narrow because the same rows
    made it. Those in the full basis are valid, and wider.

    Complexity: one pass over n rows, O(n·d²) for d features; then a few operations for each of the 2^d subsets with
    ``brute_force``.

    References
    ----------
    Hocking: The analysis and selection of variables in linear regression. Biometrics 32, 1976.

    Furnival, Wilson: Regressions by leaps and bounds. Technometrics 16, 1974.

    Liang, Zeger: Longitudinal data analysis using generalized linear models. Biometrika 73, 1986.

    Berk, Brown, Buja, Zhang, Zhao: Valid post-selection inference. Annals of Statistics 41, 2013.

    Examples
    --------
    GC content, length and CpG ratio of promoters and other regions:

    >>> from seqkern.solvers import BestBasis
    >>> X = [[0.6, 52, 0.9], [0.7, 47, 0.8], [0.5, 50, 0.7], [0.6, 46, 0.2], [0.5, 51, 0.3], [0.7, 53, 0.1]]
    >>> promoter = [1, 1, 1, 0, 0, 0]
    >>> solver = BestBasis(criterion="bic").fit(X, promoter)
    >>> solver.support_, solver.report_["looked_at"]
    (array([2]), 8)
    >>> solver.selection().intervals[0, 2, :3].round(1)  # coefficient of the CpG ratio, with its interval
    array([3.1, 2.1, 4.1])
    """

    name = "best_basis"
    summary = "Least squares on the best subset of the features, with confidence intervals."
    declared = Traits(blocks=True, groups=True)
    input = "features"

    search: str = choice(
        default="brute_force",
        choices=SEARCHES,
        doc="``brute_force``: all subsets, of at most 20 features; ``stepwise``: add and remove "
        "features, starting from none, while that helps; ``local``: also swap features, starting "
        "from none and from `restarts` random subsets.",
    )
    criterion: str = choice(default="bic", choices=CRITERIA, doc="Criterion of a subset, see the notes.")
    folds: int = integer(default=5, low=2, doc="Folds of the cross-validation; groups stay together.")
    restarts: int = integer(default=5, low=0, doc='Number of random starts of ``"local"``, besides the empty subset.')
    level: float = share(0.95, "Confidence level of the intervals.", open_low=True, open_high=True)
    seed: int = random_seed("Seed of the folds and the random subsets.")

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if there are fewer records, or groups, than folds."""
        count = len(y) if groups is None else len(np.unique(np.asarray(groups)))
        if self.criterion == "cv" and count < self.folds:
            what = "records" if groups is None else "groups"
            raise ParameterError(
                f"folds={self.folds} is not possible with {count} {what}",
                remedy="choose fewer folds, or another criterion",
            )

    tested_with = (
        {"search": "stepwise"},
        {"criterion": "cv", "folds": 3},
        {"search": "local", "criterion": "cp", "restarts": 1},
    )

    def _fit(self, K: Any, y: Array, groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Choose a basis for each class, fit its coefficients, and return the report."""
        d = K.shape[1]
        if self.search == "brute_force" and d > MAX_BRUTE:
            raise ParameterError(
                f"search=brute_force looks at all subsets, too many of {d} features",
                remedy=f"give at most {MAX_BRUTE} features, or search=stepwise or local",
            )
        y = y.astype(np.int64)
        classes = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        targets = np.stack([np.where(y == k, 1.0, -1.0) for k in classes], axis=1)
        codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        data = TrainingSums(as_blocks(K), targets)
        with one_thread():
            sums = data.sums(self._folds(K, y, codes))
            bases, values, counts = zip(
                *(self._choose(data, sums, place) for place in range(len(classes))), strict=True
            )
            full = [independent(data.part(sums, 0).learned)] * len(classes)
            tables = [data.intervals(sums, chosen, codes, self.level) for chosen in (bases, full)]
        self.table_ = np.concatenate(tables, axis=2)
        weights = np.nan_to_num(self.table_[:, :, 0])
        self.support_ = np.unique(np.concatenate(bases))
        self.coef_ = np.ascontiguousarray(weights[:, self.support_])
        self.intercept_ = data.intercepts(weights)
        return {
            "residual": data.residual(sums, weights, bases),
            "objective": float(sum(values)),
            "looked_at": int(sum(counts)),
        }

    def _folds(self, K: Any, y: Ints, codes: Ints | None) -> Ints:
        """Return the inner fold of each row, int64 (n,); all 0 if no criterion needs them."""
        if self.criterion != "cv":
            return np.zeros(len(y), dtype=np.int64)
        if codes is None:
            shuffled = order_by_content(K, y, self.seed)
        else:
            shuffled = np.random.default_rng(self.seed).permutation(codes.max() + 1)
        folds = np.empty(len(shuffled), dtype=np.int64)
        folds[shuffled] = np.arange(len(shuffled)) % self.folds
        return folds if codes is None else folds[codes]

    def _choose(self, data: TrainingSums, sums: Sums, place: int) -> tuple[Ints, float, int]:
        """Return the basis of one class, its criterion, and the number of evaluated bases."""
        whole = data.part(sums, place)
        every = independent(whole.learned)
        noise = float(whole.errors(every[None])[0]) / max(whole.n - len(every) - 1, 1)
        parts = [data.part(sums, place, held) for held in range(len(sums[0]))] if self.criterion == "cv" else []
        criterion = Criterion(self.criterion, whole, parts, max(noise, 1e-12 * whole.learned[-1, -1] / whole.n))
        if self.search == "brute_force":
            found = brute_force(criterion)
        else:
            found = stepwise(criterion) if self.search == "stepwise" else local(criterion, self.restarts, self.seed)
        return *found, criterion.looked_at

    def selection(self) -> SelectedFeatures:
        """Return the features of the bases, with the confidence intervals of `table_`."""
        return replace(super().selection(), intervals=self.table_)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the coefficients and their intervals."""
        known = np.isfinite(self.table_)  # a model file holds finite numbers
        table = {"table": np.where(known, self.table_, 0.0), "known": known}
        return {}, {**super().fitted_state()[1], **table}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        self.table_ = np.where(arrays["known"], arrays["table"], np.nan)
