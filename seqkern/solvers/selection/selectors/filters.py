"""Filters: each feature is scored separately, from its values in each class.

With several classes, a two-class filter takes the largest score of one class against the rest, unless the literature
has a multi-class statistic. All are fast: a few passes over the matrix.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from seqkern.core.parameters import flag, integer
from seqkern.solvers.selection.selectors.selector import Selector


class PearsonSelector(Selector):
    """Absolute correlation of a feature with the label.

    score_j = |Σ_i (x_ij − x̄_j)(y_i − ȳ)| / √(Σ_i (x_ij − x̄_j)² Σ_i (y_i − ȳ)²), for two classes with y = ±1. With
    several classes the largest of one class against the rest.

    Notes
    -----
    Pearson 1895. For two classes its order is that of the t statistic with pooled variance.

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

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return |r| of each column."""
        if self.kind_ == "real":
            return _correlation(X, y)
        return largest_against_rest(lambda second: _correlation(X, np.where(second, 1.0, -1.0)), y, self.classes_)


class TSelector(Selector):
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

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=2, equal_variance=True)]

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return |t| of each column."""

        def score(second: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
            first, other = _Moments(X, ~second), _Moments(X, second)
            n1, n2 = first.n, other.n
            if self.equal_variance:
                square = (first.squares + other.squares) / max(n1 + n2 - 2, 1) * (1 / n1 + 1 / n2)
            else:
                square = first.squares / (max(n1 - 1, 1) * n1) + other.squares / (max(n2 - 1, 1) * n2)
            return _ratio(np.abs(first.mean - other.mean), np.sqrt(square))

        return largest_against_rest(score, y, self.classes_)


class GolubSelector(Selector):
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

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the ratio of each column."""

        def score(second: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
            first, other = _Moments(X, ~second), _Moments(X, second)
            spread = first.deviation() + other.deviation()
            return _ratio(np.abs(first.mean - other.mean), spread)

        return largest_against_rest(score, y, self.classes_)


class FisherSelector(Selector):
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

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the criterion of each column."""

        def score(second: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
            first, other = _Moments(X, ~second), _Moments(X, second)
            return _ratio((first.mean - other.mean) ** 2, first.variance() + other.variance())

        return largest_against_rest(score, y, self.classes_)


class WilcoxonSelector(Selector):
    """Wilcoxon's rank-sum statistic, for several classes that of Kruskal and Wallis.

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

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return √H of each column."""
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

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=3, bins=4)]

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the information of each column."""
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


def largest_against_rest(
    score: Callable[[npt.NDArray[np.bool_]], npt.NDArray[np.float64]],
    y: npt.NDArray[np.int64],
    classes: npt.NDArray[Any],
) -> npt.NDArray[np.float64]:
    """Return the score for two classes, or for several the largest of each class against the rest.

    Parameters
    ----------
    score : callable
        ``score(second)`` returns float64 (d,); `second` is bool (n,): the members of the second class.
    y : ndarray of int64, shape (n,)
        Places of classes.
    classes : ndarray, shape (c,)
        All classes, sorted.

    Returns
    -------
    ndarray of float64, shape (d,)
    """
    return np.max([score(second) for second in second_classes(y, classes)], axis=0)


def second_classes(y: npt.NDArray[np.int64], classes: npt.NDArray[Any]) -> list[npt.NDArray[np.bool_]]:
    """Return the members of the class of each one-against-rest comparison.

    Parameters
    ----------
    y : ndarray of int64, shape (n,)
        Places of classes.
    classes : ndarray, shape (c,)
        All classes, sorted.

    Returns
    -------
    list of ndarray of bool, shape (n,)
        For two classes, the second only; for more, one for each.
    """
    return [y == c for c in (range(1, 2) if len(classes) == 2 else range(len(classes)))]


def constant_columns(X: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which columns are constant.

    Parameters
    ----------
    X : ndarray, shape (n, d)
        At least one row.

    Returns
    -------
    ndarray of bool, shape (d,)
    """
    return (X[0] == X).all(axis=0)


class _Moments:
    """Number, means and sums of squared deviations of some rows of a matrix."""

    def __init__(self, X: npt.NDArray[np.float64], rows: npt.NDArray[np.bool_]) -> None:
        part = X[rows]
        self.n = len(part)
        self.mean = part.mean(axis=0)
        self.squares = ((part - self.mean) ** 2).sum(axis=0)
        same = constant_columns(part)  # their mean may have a rounding error
        self.mean[same], self.squares[same] = part[0, same], 0.0

    def variance(self) -> npt.NDArray[np.float64]:
        """Return the unbiased variances; 0 of a single row."""
        return self.squares / max(self.n - 1, 1)

    def deviation(self) -> npt.NDArray[np.float64]:
        """Return the roots of the variances."""
        return np.sqrt(self.variance())


def _ratio(above: npt.NDArray[np.float64], below: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return above / below: inf where only `below` is 0, −inf, never chosen, if both are."""
    out = np.where(above > 0, np.inf, -np.inf)
    return np.divide(above, below, out=out, where=below > 0)


def _correlation(X: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return |r| of each column with y; −inf of a constant column."""
    y = y - y.mean()
    centred = X - X.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->j", centred, centred) * (y @ y))
    norms[constant_columns(X)] = 0.0
    return np.divide(np.abs(y @ centred), norms, out=np.full(X.shape[1], -np.inf), where=norms > 0)
