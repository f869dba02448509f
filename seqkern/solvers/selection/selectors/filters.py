"""Filters: each feature is scored separately from its values in each class.

With several classes, a two-class filter takes the largest score of one class against the rest, unless the literature
defines a multi-class statistic. All are fast: a few passes over the matrix.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import choice, count, flag, integer
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.solvers.selection.selectors.selector import Selector


class PearsonSelector(Selector):
    """Absolute correlation of a feature with the label.

    score_j = |Σ_i (x_ij − x̄_j)(y_i − ȳ)| / √(Σ_i (x_ij − x̄_j)² Σ_i (y_i − ȳ)²), for two classes with y = ±1. With
    several classes the largest of one class against the rest.

    Notes
    -----
    Pearson 1895. For two classes its order is the same as the t statistic's with pooled variance.

    Examples
    --------
    >>> from seqkern.solvers import PearsonSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = PearsonSelector(n_features=1).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_.round(2)
    array([0.08, 1.  , 0.24])
    """

    name = "pearson"
    summary = "Correlation of each feature with the label."
    targets = ("binary", "multiclass", "real")

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the correlation |r| of each column."""
        if self.kind_ == "real":
            return _correlation(X, y)
        return largest_against_rest(lambda second: _correlation(X, np.where(second, 1.0, -1.0)), y, self.classes_)


class MomentSelector(Selector):
    """Base of filters by the moments of two classes, or of one class against the rest."""

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the score of each column, the largest of one class against the rest."""
        return largest_against_rest(
            lambda second: self._score(_Moments(X, ~second), _Moments(X, second)), y, self.classes_
        )

    def _score(self, first: "_Moments", other: "_Moments") -> Floats:
        """Return the score of each column from the moments of two classes."""
        raise NotImplementedError


class TSelector(MomentSelector):
    """Absolute t statistic of two samples.

    score = |μ₁ − μ₂| / √(s₁²/n₁ + s₂²/n₂), s² the unbiased variances (Welch); with ``equal_variance`` both are
    replaced by the pooled variance (Student). With several classes the largest of one class against the rest.

    Notes
    -----
    Student, Biometrika 6, 1908; Welch, Biometrika 34, 1947. A feature that is constant in each class, with different
    values, has the score inf.

    Examples
    --------
    >>> from seqkern.solvers import TSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = TSelector(n_features=1).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_.round(2)
    array([ 0.16, 25.8 ,  0.49])
    """

    name = "t"
    summary = "Difference of the class means in units of its standard error."

    equal_variance: bool = flag(default=False, doc="Assume the same variance in both classes.")

    tested_with = ({}, {"n_features": 2, "equal_variance": True})

    def _score(self, first: "_Moments", other: "_Moments") -> Floats:
        """Return the t statistic |t| of each column."""
        n1, n2 = first.n, other.n
        if self.equal_variance:
            square = (first.squares + other.squares) / max(n1 + n2 - 2, 1) * (1 / n1 + 1 / n2)
        else:
            square = first.squares / (max(n1 - 1, 1) * n1) + other.squares / (max(n2 - 1, 1) * n2)
        return _ratio(np.abs(first.mean - other.mean), np.sqrt(square))


class GolubSelector(MomentSelector):
    """Golub's ratio of signal to noise.

    score = |μ₁ − μ₂| / (σ₁ + σ₂), σ the standard deviations (unbiased variances). With several classes the largest of
    one class against the rest.

    Notes
    -----
    Golub, Slonim, Tamayo et al., Science 286, 1999. The original takes equally many features of either sign; here both
    are ranked together.

    Examples
    --------
    >>> from seqkern.solvers import GolubSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = GolubSelector(n_features=1).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_.round(2)
    array([ 0.07, 10.57,  0.2 ])
    """

    name = "golub"
    summary = "Golub's signal-to-noise ratio: difference of the class means over the sum of the spreads."

    def _score(self, first: "_Moments", other: "_Moments") -> Floats:
        """Return Golub's signal-to-noise ratio of each column."""
        return _ratio(np.abs(first.mean - other.mean), np.sqrt(first.variance()) + np.sqrt(other.variance()))


class FisherSelector(MomentSelector):
    """Fisher's criterion.

    score = (μ₁ − μ₂)² / (σ₁² + σ₂²), σ² the unbiased variances. With several classes the largest of one class against
    the rest.

    Notes
    -----
    Fisher, Annals of Eugenics 7, 1936; as a rating of single genes: Pavlidis, Weston, Cai & Grundy, RECOMB 2001.

    Examples
    --------
    >>> from seqkern.solvers import FisherSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = FisherSelector(n_features=1).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_.round(2).tolist()
    [0.01, 221.92, 0.08]
    """

    name = "fisher"
    summary = "Fisher's criterion: squared difference of the class means over the sum of the variances."

    def _score(self, first: "_Moments", other: "_Moments") -> Floats:
        """Return Fisher's criterion of each column."""
        return _ratio((first.mean - other.mean) ** 2, first.variance() + other.variance())


class WilcoxonSelector(Selector):
    """Wilcoxon's rank-sum statistic, or Kruskal and Wallis's for several classes.

    score = √H, H = (n − 1) Σ_c n_c (r̄_c − (n + 1)/2)² / Σ_i (r_i − (n + 1)/2)², r the ranks of a feature's values
    (equal values have their mean rank), r̄_c their mean in class c. For two classes √H is |z|, the rank sum minus its
    expectation over its standard deviation, ties taken into account.

    Notes
    -----
    Wilcoxon, Biometrics Bulletin 1, 1945; Kruskal & Wallis, J. Am. Stat. Assoc. 47, 1952. Invariant under increasing
    transformations of a feature, and robust to outliers.

    Examples
    --------
    >>> from seqkern.solvers import WilcoxonSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = WilcoxonSelector(n_features=1).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_.round(2)
    array([0.22, 1.96, 0.65])
    """

    name = "wilcoxon"
    summary = "Rank-sum statistic: whether the values of a feature are ordered by class."

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the statistic √H of each column."""
        n = len(X)
        ranks = rankdata(X, axis=0) - (n + 1) / 2
        between = sum(ranks[y == c].sum(axis=0) ** 2 / np.count_nonzero(y == c) for c in range(len(self.classes_)))
        return _ratio(np.sqrt((n - 1) * between), np.sqrt(np.einsum("ij,ij->j", ranks, ranks)))


class MutualInformationSelector(Selector):
    """Mutual information of the discretised feature and the class.

    score = Σ_{b,c} p(b, c) ln(p(b, c) / (p(b) p(c))), in nats, b the bin of a feature's value: of n values the one of
    rank r is in bin ⌊bins·(r − ½)/n⌋, so that bins are about equally full; equal values have their mean rank, and one
    bin. Any number of classes.

    Notes
    -----
    Battiti, IEEE Trans. Neural Networks 5, 1994; bins on expression data: Ding & Peng, J. Bioinform. Comput. Biol. 3,
    2005.

    Examples
    --------
    >>> from seqkern.solvers import MutualInformationSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = MutualInformationSelector(bins=2).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    >>> selector.scores_.round(2)
    array([0.06, 0.69, 0.06])
    """

    name = "mutual_information"
    fit_products = 200.0
    summary = "Information about the class in a feature cut into a few levels."

    bins: int = integer(default=3, low=2, doc="Number of bins; with few samples, few bins give a more reliable score.")

    tested_with = ({}, {"n_features": 3, "bins": 4})

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the mutual information of each column with the class."""
        n, n_bins = len(X), int(self.bins)
        bins = np.minimum((n_bins * (rankdata(X, axis=0) - 0.5) / n).astype(np.int64), n_bins - 1)
        share = np.bincount(y) / n
        score = np.zeros(X.shape[1])
        for b in range(n_bins):
            here = bins == b
            filled = here.mean(axis=0)
            for c, p in enumerate(share):
                joint = here[y == c].sum(axis=0) / n
                some = joint > 0
                score[some] += joint[some] * np.log(joint[some] / (filled[some] * p))
        return np.where(constant_columns(X), -np.inf, np.maximum(score, 0.0))


def largest_against_rest(score: Callable[[Bools], Floats], y: Ints, classes: Array) -> Floats:
    """Return the score for two classes, or the largest one-against-rest score for several.

    ``score(second)`` maps the mask of the second class, bool (n,), to scores (d,).
    """
    return np.max([score(second) for second in second_classes(y, classes)], axis=0)


def second_classes(y: Ints, classes: Array) -> list[Bools]:
    """Return the mask, bool (n,), of the positive class of each one-against-rest comparison.

    For two classes, this is the second one only.
    """
    return [y == c for c in (range(1, 2) if len(classes) == 2 else range(len(classes)))]


def constant_columns(X: Array) -> Bools:
    """Return a mask of the constant columns."""
    return (X[0] == X).all(axis=0)


class _Moments:
    """Number, means and sums of squared deviations of some rows of a matrix."""

    def __init__(self, X: Floats, rows: Bools) -> None:
        part = X[rows]
        self.n = len(part)
        self.mean = part.mean(axis=0)
        self.squares = ((part - self.mean) ** 2).sum(axis=0)
        same = constant_columns(part)  # their mean may have a rounding error
        self.mean[same], self.squares[same] = part[0, same], 0.0

    def variance(self) -> Floats:
        """Return the unbiased variances; 0 of a single row."""
        return self.squares / max(self.n - 1, 1)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return above / below: inf where only `below` is 0, and −inf (never chosen) where both are."""
    out = np.where(above > 0, np.inf, -np.inf)
    return np.divide(above, below, out=out, where=below > 0)


def _correlation(X: Floats, y: Floats) -> Floats:
    """Return the correlation |r| of each column with y, −inf for a constant column."""
    y = y - y.mean()
    centred = X - X.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->j", centred, centred) * (y @ y))
    norms[constant_columns(X)] = 0.0
    return np.divide(np.abs(y @ centred), norms, out=np.full(X.shape[1], -np.inf), where=norms > 0)


# The nearest rows of a table by city-block distance, with columns divided by their range and exact ties.
#
# Sums of fractions such as 1/3 + 2/3 round differently in different orders, so rounded equal distances would differ,
# and the choice between them would depend on the order of the columns.

EXACT = 2.0**53  # Bound below which integers are exact as float64
DECIMALS = 6
ROUNDING = 2.0**-52


class NearestRows:
    """Rows ranked by their distance from other rows, with exact comparisons.

    If all columns can be integers with one denominator, distances are computed as integers. Otherwise they are computed
    in floating point, and those that differ by no more than its error are compared as fractions. Values of at most six
    decimals are taken as decimals, others as binary numbers.
    """

    def __init__(self, X: Floats, constant: Bools) -> None:
        X = _integers(X[:, ~constant])
        self.values = X - X.min(axis=0, initial=np.inf)
        self.spans = self.values.max(axis=0, initial=0.0)
        units = _common_units(self.values, self.spans)
        self.exact = units is not None
        self.scaled = self.values / self.spans if units is None else units

    def distances(self) -> Iterator[Floats]:
        """Yield the distances of each row from all rows, float64 (n,), computed in blocks of bounded size."""
        step = max(1, (1 << 24) // max(1, len(self.scaled)))
        for start in range(0, len(self.scaled), step):
            yield from cdist(self.scaled[start : start + step], self.scaled, "cityblock")

    def choose(self, row: int, others: Ints, distances: Floats, count: int) -> Ints:
        """Return the `count` nearest of some rows, in index order; ties go to the first.

        `distances` are those from `row`, as yielded by the method `distances`.
        """
        if count >= len(others):
            return others
        order = np.argsort(distances, kind="stable")
        if not self.exact:
            last = distances[order[count - 1]]
            # each of d terms, at most 1, and each sum of them is rounded
            error = 4 * ROUNDING * self.scaled.shape[1] * (2 + last)
            first, stop = np.searchsorted(distances[order], [last - error, last + error])
            order[first:stop] = self._sorted(row, others, np.sort(order[first:stop]))
        return np.sort(others[order[:count]])

    def _sorted(self, row: int, others: Ints, close: Ints) -> Ints:
        """Return indices into `others`, sorted by exact distance."""
        table = self.values[others[close]]
        differing = np.flatnonzero((table != table[0]).any(axis=0))
        if not len(differing):
            return close
        origin, spans = self.values[row, differing], [Fraction(span) for span in self.spans[differing]]
        parts = [
            [Fraction(value) / span for value, span in zip(np.abs(values - origin).tolist(), spans, strict=True)]
            for values in table[:, differing]
        ]
        return close[sorted(range(len(close)), key=lambda place: sum(parts[place]))]


def _integers(X: Floats) -> Floats:
    """Return the values times a power of ten that makes them integers if there is one, else the values."""
    for decimals in range(DECIMALS + 1):
        found = np.rint(X * 10.0**decimals)
        if np.all(np.abs(found) < EXACT) and np.array_equal(found / 10.0**decimals, X):
            return found
    return X


def _common_units(values: Floats, spans: Floats) -> Floats | None:
    """Return the values divided by their spans, as integers over one denominator; None if too large."""
    if not np.array_equal(values, np.rint(values)) or spans.max(initial=0.0) >= EXACT:
        return None
    factors = np.gcd.reduce(values.astype(np.int64), axis=0)
    reduced = [int(span) // int(factor) for span, factor in zip(spans, factors, strict=True)]
    denominator = 1
    for span in set(reduced):
        denominator = math.lcm(denominator, span)
        if denominator * len(reduced) >= EXACT:
            return None
    return values / factors * (denominator / np.array(reduced, dtype=np.float64))


# Relief: a good feature differs between close samples of different classes, but not of the same class.


class ReliefSelector(Selector):
    """Relief with several neighbours, for two or more classes (ReliefF).

    score_j = (1/l) Σ_i [ Σ_{c ≠ y_i} P(c)/(1 − P(y_i)) · mean_{m ∈ M_c(i)} |x_ij − x_mj| − mean_{h ∈ H(i)} |x_ij −
    x_hj| ], every feature divided by its range. H(i) are the `n_neighbors` nearest other samples of the class of i,
    M_c(i) those of class c, by the sum of absolute differences of all features; all of a small class. All samples are
    used, without random draws.

    Notes
    -----
    Kira & Rendell, AAAI 1992; Kononenko, ECML 1994. Distances are compared
    exactly; samples at equal distances are taken in order.

    Examples
    --------
    >>> from seqkern.solvers import ReliefSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = ReliefSelector(n_neighbors=2).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_.round(2)
    array([-0.28,  0.85, -0.24])
    """

    name = "relief"
    summary = "Prefers features that differ between near samples of different classes."

    n_neighbors: int = count(10, "Number of nearest neighbours in each class.")

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: all distances."""
        return 4 * n * n * d * 1e-9

    tested_with = ({}, {"n_features": 2, "n_neighbors": 1})

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the weight of each column."""
        constant = constant_columns(X)
        span = np.where(constant, 1.0, X.max(axis=0) - X.min(axis=0))
        scaled = np.where(constant, 0.0, (X - X.min(axis=0)) / span)
        nearest = NearestRows(X, constant)
        members = [np.flatnonzero(y == c) for c in range(len(self.classes_))]
        share = np.array([len(rows) for rows in members]) / len(X)
        score = np.zeros(X.shape[1])
        for i, distances in enumerate(nearest.distances()):
            for c, rows in enumerate(members):
                others = rows[rows != i] if c == y[i] else rows
                if not len(others):
                    continue
                near = nearest.choose(i, others, distances[others], self.n_neighbors)
                apart = np.abs(scaled[near] - scaled[i]).mean(axis=0)
                score += -apart if c == y[i] else share[c] / (1 - share[y[i]]) * apart
        return np.where(constant, -np.inf, score / len(X))


# Discretisation of numbers into intervals informative of the class, by the minimum description length.
#
# Sorted values are cut where the class entropy within both sides is least, if the information gained exceeds the cost
# of encoding the cut and the classes on either side:
#
#     gain > [ld(n − 1) + ld(3^k − 2) − k·H + k₁·H₁ + k₂·H₂] / n,
#
# for n values of k classes with the entropy H in bits, of which k₁ with H₁ lie below and k₂ with H₂ above. Both sides
# are cut in turn.
#
# Fayyad & Irani, Multi-interval discretization of continuous-valued attributes for classification learning, IJCAI 1993.


def interval_codes(X: Floats, y: Array) -> Ints:
    """Return the interval number of each value, from 0; a feature that is never cut is 0 everywhere.

    >>> import numpy as np
    >>> X = np.array([[1.0], [1.2], [1.1], [0.9], [5.0], [5.2], [4.9], [5.1]])
    >>> interval_codes(X, np.array([0, 0, 0, 0, 1, 1, 1, 1])).ravel()
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    n_classes = int(y.max()) + 1
    codes = np.zeros(X.shape, dtype=np.int64)
    for j, column in enumerate(X.T):
        order = np.argsort(column, kind="stable")
        values = column[order]
        counts = np.zeros((len(y) + 1, n_classes), dtype=np.int64)
        counts[np.arange(1, len(y) + 1), y[order]] = 1
        counts = counts.cumsum(axis=0)
        parts, cuts = [(0, len(y))], []
        while parts:
            start, stop = parts.pop()
            cut = _best_cut(values, counts, start, stop)
            if cut is not None:
                cuts.append(cut)
                parts += [(start, cut), (cut, stop)]
        codes[order, j] = np.searchsorted(np.sort(np.array(cuts, dtype=np.int64)), np.arange(len(y)), side="right")
    return codes


def _best_cut(values: Floats, counts: Ints, start: int, stop: int) -> int | None:
    """Return the best cut of the sorted values from `start` to `stop`; None if it costs more than it gains."""
    places = start + 1 + np.flatnonzero(values[start + 1 : stop] > values[start : stop - 1])
    whole = counts[stop] - counts[start]
    k = int((whole > 0).sum())
    if not len(places) or k < 2:
        return None
    below, above = counts[places] - counts[start], counts[stop] - counts[places]
    n, low, high = stop - start, _entropies(below), _entropies(above)
    within = (below.sum(axis=1) * low + above.sum(axis=1) * high) / n
    best = int(np.argmin(within.round(12)))
    total = float(_entropies(whole[None])[0])
    sides = sum(int((side[best] > 0).sum()) * float(h[best]) for side, h in ((below, low), (above, high)))
    cost = (math.log2(n - 1) + math.log2(3**k - 2) - k * total + sides) / n
    return int(places[best]) if total - within[best] > cost else None


def _entropies(counts: Ints) -> Floats:
    """Return the entropy in bits of each row of counts, which must contain at least one count."""
    share = counts / counts.sum(axis=1, keepdims=True)
    return -np.sum(share * np.log2(np.where(share > 0, share, 1.0)), axis=1)


# FOCUS: the smallest set of nominal features that separates the classes without exception.

Codes = Ints
Pairs = Bools

MOST_CELLS = 500_000_000  # Largest size of the table of pairs × features


class FocusSelector(Selector):
    """FOCUS: the smallest subset of features in which no two samples of different classes are alike.

    Features are nominal; numbers are first cut into intervals. Two samples of different classes that agree in all
    features cannot be separated by any subset: such pairs are left out, and counted in `n_conflicts_`. Every other
    pair needs a feature in which its samples differ, and the subset is the smallest with one for each pair. Sizes are
    tried one after the other, so it is exact; of several smallest subsets the one with the largest sum of its features'
    mutual information with the class is taken. The score is this information in nats, −inf of all other features.

    Attributes
    ----------
    n_conflicts_ : int
        Pairs of samples of different classes that agree in all features.
    n_searched_ : int
        Subsets that were looked at.

    Notes
    -----
    Almuallim & Dietterich, Learning with many irrelevant features, AAAI 1991; Artif. Intell. 69, 1994 (branching on the
    features of one pair: FOCUS-2). Intervals: Fayyad & Irani, IJCAI 1993. One wrong label can change the result: for
    noisy data choose another selector.

    Complexity: exponential in the size of the subset, b^F nodes, b the number of features that differ in the pair with
    the fewest. With more than `max_subsets` it stops with an error. The table of pairs has a byte for each feature.

    Examples
    --------
    Labels are the exclusive or of the first and the third feature; neither alone is informative:

    >>> from seqkern.solvers import FocusSelector
    >>> X = [[0, 0, 0, 1], [0, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 0]]
    >>> FocusSelector(cuts="none").fit(X, ["no", "yes", "yes", "no", "no", "no"]).get_support(indices=True)
    array([0, 2])
    """

    name = "focus"
    summary = "The fewest features in which no two samples of different classes are alike."

    cuts: Literal["mdl", "none"] = choice(
        default="mdl",
        doc="``mdl``: cut each feature where this is most informative, as long as the description gets shorter "
        "(Fayyad & Irani); a feature without a cut is not used. ``none``: each value is a level of its own, as for "
        "nominal features.",
    )
    max_subsets: int = count(200_000, "Number of subsets after which the search stops with an error.")

    tested_with = ({}, {"n_features": 2, "max_subsets": 5000})

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: intervals, and the table of pairs."""
        return 3e-7 * n * d + 1e-9 * n * n * d

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the mutual information of the chosen features, −inf for all others."""
        codes = interval_codes(X, y) if self.cuts == "mdl" else _levels(X)
        usable = np.flatnonzero(codes.max(axis=0) > 0)
        scores = np.full(X.shape[1], -np.inf)
        information = np.array([mutual_information(codes[:, j], y) for j in usable])
        pairs, self.n_conflicts_ = self._pairs(codes[:, usable], y)
        self.n_searched_ = 0
        chosen = list(self._smallest(pairs, information)) if len(pairs) else []
        scores[usable[chosen]] = information[chosen]
        return scores

    def _pairs(self, codes: Codes, y: Array) -> tuple[Pairs, int]:
        """Return the distinct sets of features in which two samples of different classes differ, and the conflicts.

        Conflicts are the number of such pairs without a difference.
        """
        rows, counts = np.unique(np.column_stack([y, codes]), axis=0, return_counts=True)
        classes, levels = rows[:, 0], rows[:, 1:]
        first, second = np.nonzero(np.triu(classes[:, None] != classes[None, :]))
        if len(first) * max(levels.shape[1], 1) > MOST_CELLS:
            raise ParameterError(
                f"FOCUS would compare {len(first)} pairs of samples in {levels.shape[1]} features",
                remedy="choose another selector, such as relief, or give fewer features",
            )
        differ = levels[first] != levels[second]
        same = ~differ.any(axis=1)
        conflicts = int((counts[first[same]] * counts[second[same]]).sum())
        return np.unique(differ[~same], axis=0), conflicts

    def _smallest(self, pairs: Pairs, information: Floats) -> tuple[int, ...]:
        """Return the smallest subset that separates all pairs; of several, the one with the most information."""
        for size in range(1, pairs.shape[1] + 1):
            found: set[tuple[int, ...]] = set()
            self._search(pairs, (), np.zeros(pairs.shape[1], dtype=bool), size, found)
            if found:
                return max(sorted(found), key=lambda subset: round(float(information[list(subset)].sum()), 12))
        raise AssertionError("all features together meet all pairs")

    def _search(
        self, pairs: Pairs, chosen: tuple[int, ...], out: Bools, left: int, found: set[tuple[int, ...]]
    ) -> None:
        """Add to `found` the subsets that separate the pairs.

        They extend `chosen` by at most `left` features, none of `out`.
        """
        if not len(pairs):
            found.add(tuple(sorted(chosen)))
            return
        self.n_searched_ += 1
        if self.n_searched_ > self.max_subsets:
            raise ParameterError(
                f"FOCUS found no set of {len(chosen) + left} features or fewer that separates the classes within "
                f"{self.max_subsets} subsets",
                remedy="raise max_subsets, give fewer features, or choose another selector, such as forward",
            )
        open_to = pairs & ~out
        width = open_to.sum(axis=1)
        if not left or not width.min() or len(pairs) > left * open_to.sum(axis=0).max():
            return
        out = out.copy()
        for j in np.flatnonzero(open_to[np.argmin(width)]):
            self._search(pairs[~pairs[:, j]], (*chosen, int(j)), out, left - 1, found)
            out[j] = True  # subsets with it have been found


def _levels(X: Floats) -> Codes:
    """Return the rank of each value among the distinct values of its column."""
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in X.T]).astype(np.int64)


def mutual_information(codes: Codes, y: Array) -> float:
    """Return the mutual information of a nominal feature and the class, in nats."""
    joint = np.zeros((int(codes.max()) + 1, int(y.max()) + 1))
    np.add.at(joint, (codes, y), 1.0 / len(y))
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / expected[some])).sum())
