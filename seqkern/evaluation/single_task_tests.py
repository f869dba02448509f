"""Comparison of two methods on one task: the test that the folds allow, and its result.

With one test set, or folds that test each sample once: DeLong's test for the AUC, McNemar's for classes, the
bootstrap for other ranking scores, the signed-rank test for errors of numbers; ranks are exchanged if the estimated
variance of a nonzero difference is 0. With 5×2cv: Alpaydin's F, for any score. Otherwise no test is made
(`PairedDecisions.untestable`): a paired t-test over resamples would find spurious differences, and so would a test of
leave-one-out decisions. Over cross-validation folds, p applies to the trained classifiers: it does not include
variation between training sets, and can be somewhat too small.
"""

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.errors import LabelError, ParameterError, unknown_name
from seqkern.core.statistics import Z95, average_ranks, holm
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.evaluation.bootstrap import Sample, ScoreComparison, batches, bootstrap_test
from seqkern.evaluation.many_task_tests import pairs_of, signed_rank_test
from seqkern.evaluation.ranking import as_binary

# DeLong's method: the uncertainty of an AUC, and whether two AUCs on the same samples differ.
#
# The placement of each sample among those of the other class comes from mid-ranks, in O(n log n).
#
# Decision values of several test sets are compared only within each set, since different fits may have different
# scales. The AUC is then the mean over the sets, with the variance of a mean of independent AUCs. This is the variance
# for the fitted classifiers on new samples: it does not include variation between training sets, so for the folds of a
# cross-validation, whose training sets overlap, it can be somewhat too small.
#
# References:
# DeLong, DeLong, Clarke-Pearson 1988, Biometrics 44:837-845.
# Sun & Xu 2014, IEEE Signal Process. Lett. 21:1389-1393.


class AucInterval(NamedTuple):
    """An AUC, its standard error, and its confidence limits.

    >>> AucInterval(auc=0.84, se=0.13, low=0.41, high=0.98).auc
    0.84
    """

    auc: float
    se: float
    low: float
    high: float


class AucComparison(NamedTuple):
    """Two AUCs on the same samples, their difference first − second, its standard error, z and two-sided p.

    >>> same = delong_test([1, 1, 0, 0], [4, 2, 3, 1], [8, 4, 6, 2])
    >>> same.first, same.difference, same.p
    (0.75, 0.0, 1.0)
    """

    first: float
    second: float
    difference: float
    se: float
    z: float
    p: float


def delong_interval(
    labels: npt.ArrayLike,
    decisions: npt.ArrayLike,
    level: float = 0.95,
    scale: str = "logit",
    *,
    folds: npt.ArrayLike | None = None,
) -> AucInterval:
    """Return a confidence interval for the AUC from DeLong's variance.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        A higher decision means positive.
    level : float, default 0.95
        Coverage of the interval.
    scale : {"logit", "plain"}
        ``logit``: symmetric on ln(A/(1−A)) with standard error se/(A(1−A)), so that it stays within 0 and 1
        and is more accurate near them. ``plain``: A ± z·se, clipped to 0 and 1.
    folds : array_like, shape (n,), optional
        The test set of each sample; default: one set. Sets with only one class are ignored.

    Returns
    -------
    AucInterval
        NaN if a class has fewer than two samples in some set. The limits are NaN also for perfectly
        separated classes (A is 0 or 1), for which the estimated variance is 0 and not informative.

    Raises
    ------
    LabelError
        If the lengths differ, or a label or decision is not a finite number.
    ParameterError
        For a level outside 0 to 1, or an unknown scale.

    Examples
    --------
    >>> labels = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> found = delong_interval(labels, [0.9, 0.8, 0.7, 0.4, 0.3, 0.6, 0.5, 0.2, 0.1, 0.0])
    >>> round(found.auc, 2), round(found.low, 2), round(found.high, 2)
    (0.84, 0.41, 0.98)
    """
    check_real("level", level, 0, 1, open_low=True)
    check_choice("scale", scale, ("logit", "plain"))
    (auc,), covariance = delong_covariance(labels, [decisions], folds)
    se = math.sqrt(covariance[0, 0])
    if not se > 0 or auc in (0.0, 1.0):
        return AucInterval(auc, se, math.nan, math.nan)
    z = float(scipy.special.ndtri((1 + level) / 2))
    if scale == "plain":
        return AucInterval(auc, se, max(0.0, auc - z * se), min(1.0, auc + z * se))
    return AucInterval(auc, se, *logit_ends(auc, se, z))


def logit_ends(share: float, se: float, z: float) -> tuple[float, float]:
    """Return the limits of a share, `z` standard errors to each side on the logit scale, so within 0 and 1."""
    centre, half = math.log(share / (1 - share)), z * se / (share * (1 - share))
    return float(scipy.special.expit(centre - half)), float(scipy.special.expit(centre + half))


def delong_test(
    labels: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, *, folds: npt.ArrayLike | None = None
) -> AucComparison:
    """Test whether two decision values on the same samples have the same AUC.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    first, second : array_like of float, shape (n,)
        Decision values of two methods; higher means positive.
    folds : array_like, shape (n,), optional
        As for `delong_interval`.

    Returns
    -------
    AucComparison
        p = 1 if both order every pair alike; NaN if a class has fewer than two samples in some set, or if
        the variance of a nonzero difference is 0.

    Raises
    ------
    LabelError
        If the lengths differ, or a label or decision is not a finite number.

    Examples
    --------
    >>> labels = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> found = delong_test(labels, [8, 7, 6, 3, 5, 4, 2, 1], [8, 3, 6, 2, 5, 4, 7, 1])
    >>> found.first, found.second, round(found.p, 3)
    (0.875, 0.5625, 0.16)
    """
    areas, covariance = delong_covariance(labels, [first, second], folds)
    return delong_pair(areas, covariance, 0, 1)


def delong_pair(areas: Sequence[float], covariance: Floats, i: int, j: int) -> AucComparison:
    """Return the comparison of AUCs i and j from the result of `delong_covariance`."""
    a, b = areas[i], areas[j]
    difference = a - b
    variance = float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
    # cancellation leaves rounding errors of this size
    se = math.sqrt(variance) if variance > 1e-14 or math.isnan(variance) else 0.0
    if se == 0.0:
        alike = abs(difference) < 1e-12
        return AucComparison(a, b, difference, se, 0.0 if alike else math.nan, 1.0 if alike else math.nan)
    z = difference / se
    return AucComparison(a, b, difference, se, z, float(2 * scipy.special.ndtr(-abs(z))))


def delong_covariance(
    labels: npt.ArrayLike, decisions: Sequence[npt.ArrayLike], folds: npt.ArrayLike | None = None
) -> tuple[list[float], Floats]:
    """Return the AUCs of several methods on the same samples, and DeLong's estimate of their covariance."""
    if folds is None:
        return _delong(labels, decisions)
    labels, folds = np.asarray(labels), np.asarray(folds)
    if folds.shape != labels.shape:
        raise LabelError(f"{labels.shape} labels in {folds.shape} folds", remedy="give one fold for each label")
    rows = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    parts = [_delong(labels[part], [np.asarray(values)[part] for values in decisions]) for part in rows]
    parts = [(areas, covariance) for areas, covariance in parts if not math.isnan(areas[0])]
    if not parts:
        return [math.nan] * len(decisions), np.full((len(decisions), len(decisions)), np.nan)
    mean = np.mean([areas for areas, _ in parts], axis=0)
    total = np.zeros((len(decisions), len(decisions)))
    for _, covariance in parts:
        total += covariance
    return mean.tolist(), total / len(parts) ** 2


def _delong(labels: npt.ArrayLike, decisions: Sequence[npt.ArrayLike]) -> tuple[list[float], Floats]:
    """Return the AUCs of several methods and their covariance, NaN if a class has fewer than two samples."""
    pairs = [as_binary(labels, values) for values in decisions]
    positive = pairs[0][0]
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    undefined = np.full((len(pairs), len(pairs)), np.nan)
    if n_positive == 0 or n_negative == 0:
        return [math.nan] * len(pairs), undefined
    of_positives, of_negatives = zip(*(placements(positive, values) for _, values in pairs), strict=True)
    areas = [float(np.mean(shares)) for shares in of_positives]
    if min(n_positive, n_negative) < 2:
        return areas, undefined
    covariance = np.cov(of_positives) / n_positive + np.cov(of_negatives) / n_negative
    return areas, np.atleast_2d(covariance)


def placements(positive: Bools, values: Floats) -> tuple[Floats, Floats]:
    """Return the share of the other class on the right side of each positive, and of each negative; ties count ½."""
    ranks = average_ranks(values)
    ahead = (ranks[positive] - average_ranks(values[positive])) / int((~positive).sum())
    return ahead, 1.0 - (ranks[~positive] - average_ranks(values[~positive])) / int(positive.sum())


# McNemar's test of whether two methods differ in their errors on the same samples.
#
# A paired t-test over resamples of one data set is not offered: the training and test sets overlap, so the
# differences are not independent, and the test rejects far too often (Dietterich 1998; docs/type_one_error.md has
# numbers).
#
# References:
# McNemar 1947, Psychometrika 12:153-157.
# Lancaster 1961, J. Am. Stat. Assoc. 56:223-234; Fagerland, Lydersen, Laake 2013, BMC Med. Res. Methodol. 13:91
# (mid-p).
# Dietterich 1998, Neural Comput. 10:1895-1923.


class McnemarTest(NamedTuple):
    """The result of McNemar's test of two methods: samples that only one classifies correctly, and two-sided p.

    >>> mcnemar_counts(wins=3, losses=1, n=10)
    McnemarTest(n=10, wins=3, losses=1, difference=0.2, statistic=1.0, p=0.375)
    """

    n: int  # Number of samples
    wins: int  # Samples correct only by the first method, and only by the second
    losses: int  # Samples correct only by the first method, and only by the second
    difference: float  # Difference of the shares of correct samples, first − second
    # (wins − losses)² / (wins + losses); if `method` is ``corrected``, (|wins − losses| − 1)² / (wins + losses)
    statistic: float
    p: float  # Two-sided; 1 if the methods agree on all samples, NaN without samples


def mcnemar(labels: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, method: str = "midp") -> McnemarTest:
    """Test whether two methods are equally accurate, from the samples correct by only one of them.

    Parameters
    ----------
    labels : array_like, shape (n,)
        True classes.
    first, second : array_like, shape (n,)
        Predicted classes of two methods.
    method : {"midp", "exact", "corrected"}
        ``exact``: two-sided binomial test of the discordant samples; never exceeds its level, and
        stays far below it with few such samples. ``midp``, the default: counts half of the probability of the
        observed value; nearer to its level, rarely and slightly above it. ``corrected``: χ² with continuity
        correction, as in Dietterich 1998; an approximation of ``exact``.

    Returns
    -------
    McnemarTest

    Raises
    ------
    LabelError
        If the lengths differ.
    ParameterError
        For an unknown method.

    Examples
    --------
    >>> states = "HHHHHEEEECCCCC"
    >>> mistakes = mcnemar(list(states), list("HHHHHEEEECCCHH"), list("HHCCCEECCCCCEH"))
    >>> mistakes.wins, mistakes.losses, round(mistakes.p, 4)
    (5, 0, 0.0313)
    """
    labels, first, second = (np.asarray(values) for values in (labels, first, second))
    if not labels.shape == first.shape == second.shape or labels.ndim != 1:
        shapes = f"{labels.shape} labels, {first.shape} and {second.shape} predictions"
        raise LabelError(shapes, remedy="give one prediction of each method for each label")
    right = first == labels, second == labels
    return mcnemar_counts(int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()), len(labels), method)


def mcnemar_counts(wins: int, losses: int, n: int, method: str = "midp") -> McnemarTest:
    """Return McNemar's test from the numbers of samples that only one of the methods classifies correctly."""
    check_choice("method", method, ("midp", "exact", "corrected"))
    differing = wins + losses
    gap = abs(wins - losses)
    if method == "corrected":
        gap = max(0, gap - 1)
    statistic = gap**2 / differing if differing else 0.0
    if differing == 0:
        p = 1.0
    elif method == "corrected":
        p = float(scipy.stats.chi2.sf(statistic, 1))
    else:
        fewer = min(wins, losses)
        p = min(1.0, 2 * float(scipy.stats.binom.cdf(fewer, differing, 0.5)))
        if method == "midp":
            # an outcome in the middle is in both tails, and yet one outcome: half of it counts
            seen = float(scipy.stats.binom.pmf(fewer, differing, 0.5))
            p -= seen / 2 if wins == losses else seen
    return McnemarTest(n, wins, losses, (wins - losses) / n if n else math.nan, statistic, p if n else math.nan)


# Tests of whether the scores of two methods differ in 5×2cv, five repeats of 2-fold cross-validation.
#
# References:
# Dietterich 1998, Neural Comput. 10:1895-1923. Alpaydin 1999, Neural Comput. 11:1885-1892.

REPEATS, HALVES = 5, 2
ZERO = 1e-12
"""Largest difference of scores that is a rounding error."""


class FiveByTwo(NamedTuple):
    """The result of a test over five repeats of 2-fold cross-validation: the mean of first − second, t or F, and p.

    >>> five_by_two_f([[0.0, 0.0]] * 5)
    FiveByTwo(difference=0.0, statistic=0.0, p=1.0)
    """

    difference: float  # Mean of the ten differences first − second
    statistic: float  # t with 5 degrees of freedom, or F with 10 and 5
    p: float  # 1 if all differences are 0; NaN if one is NaN, or if they do not vary within any repeat


def five_by_two_t(differences: npt.ArrayLike) -> FiveByTwo:
    """Return Dietterich's 5×2cv test: t = p₁₁ / sqrt(Σᵢ sᵢ²/5), with 5 degrees of freedom.

    sᵢ² = (pᵢ₁ − p̄ᵢ)² + (pᵢ₂ − p̄ᵢ)². The choice of the numerator among the ten differences is arbitrary; Alpaydin's F
    uses all of them.

    Parameters
    ----------
    differences : array_like of float, shape (5, 2)
        Differences of two methods' scores, first − second: a row for each repeat, a column for each tested half.

    Returns
    -------
    FiveByTwo

    Raises
    ------
    LabelError
        If the shape is not five by two.

    Examples
    --------
    >>> found = five_by_two_t([[0.03, 0.05], [0.02, 0.04], [0.06, 0.03], [0.04, 0.02], [0.05, 0.04]])
    >>> round(found.difference, 3), round(found.statistic, 2), round(found.p, 3)
    (0.038, 2.02, 0.099)
    """
    gaps, variances = _five_by_two(differences)
    spread = math.sqrt(variances.sum() / REPEATS)
    statistic = _ratio(gaps[0, 0], spread)
    p = 1.0 if not gaps.any() else float(2 * scipy.stats.t.sf(abs(statistic), REPEATS))
    return FiveByTwo(float(gaps.mean()), statistic, p)


def five_by_two_f(differences: npt.ArrayLike) -> FiveByTwo:
    """Return Alpaydin's combined 5×2cv test: F = Σᵢⱼ pᵢⱼ² / (2 Σᵢ sᵢ²), with 10 and 5 degrees of freedom.

    It does not depend on the order of the repeats, and has more power than `five_by_two_t`;
    without a difference it rejects somewhat too often (docs/type_one_error.md).

    Parameters
    ----------
    differences : array_like of float, shape (5, 2)
        As for `five_by_two_t`.

    Returns
    -------
    FiveByTwo

    Raises
    ------
    LabelError
        If the shape is not five by two.

    Examples
    --------
    >>> found = five_by_two_f([[0.03, 0.05], [0.02, 0.04], [0.06, 0.03], [0.04, 0.02], [0.05, 0.04]])
    >>> round(found.statistic, 2), round(found.p, 3)
    (7.27, 0.02)
    """
    gaps, variances = _five_by_two(differences)
    statistic = _ratio(float((gaps**2).sum()), 2 * float(variances.sum()))
    p = 1.0 if not gaps.any() else float(scipy.stats.f.sf(statistic, REPEATS * HALVES, REPEATS))
    return FiveByTwo(float(gaps.mean()), statistic, p)


def _five_by_two(differences: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the differences, with rounding errors set to 0, and the variance of each repeat."""
    gaps = np.asarray(differences, dtype=np.float64)
    if gaps.shape != (REPEATS, HALVES):
        raise LabelError(f"differences have shape {gaps.shape}", remedy="give five repeats of two halves")
    gaps = np.where(np.abs(gaps) < ZERO, 0.0, gaps)
    variances = ((gaps - gaps.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return gaps, np.where(variances < ZERO**2, 0.0, variances)


def _ratio(above: float, below: float) -> float:
    """Return above / below; 0 for 0 / 0, NaN for any other division by 0."""
    if math.isnan(above) or math.isnan(below):
        return math.nan
    if below == 0:
        return 0.0 if above == 0 else math.nan
    return float(above / below)


# A permutation test of two rankings, which needs no variance estimate.
#
# If one method is perfect and the other constant, the estimated variance of the difference is 0 and z is
# undefined. Instead, each sample's ranks by the two methods, within its test set, are exchanged at random. If it makes
# no difference which method ranked a sample, the observed difference is one of these draws, and p, the share of
# differences at least as far from 0, keeps its level for any number of samples.
#
# References:
# Bandos, Rockette, Gur 2005, Stat. Med. 24:2873-2893 (of the AUC). Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol.
# 9:39 (why p is never 0).

CLOSE = 1e-9
"""Largest difference that counts as none, in favour of no difference."""


def exchange_test(
    labels: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    score: str = "auc",
    *,
    n_draws: int = 4999,
    seed: int = 0,
    folds: npt.ArrayLike | None = None,
) -> float:
    """Return the two-sided p of the difference between two methods' scores, by exchanging ranks.

    >>> labels = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> exchange_test(labels, [8, 7, 6, 5, 4, 3, 2, 1], [1] * 8, n_draws=99)  # perfect against constant
    0.01
    """
    check_integer("n_draws", n_draws, 1)
    check_integer("seed", seed, 0)
    positive, values = as_binary(labels, first)
    other_values = as_binary(labels, second)[1]
    folds = np.zeros(len(positive), dtype=np.int64) if folds is None else np.asarray(folds)
    own, other = (_ranks(decisions, folds) for decisions in (values, other_values))
    # every sample is included twice, with each method's rank; a coin decides which one counts
    pair = [np.concatenate(ranks) for ranks in ((own, other), (other, own))]
    sample = Sample(np.tile(positive, 2), pair, score, np.tile(folds, 2))
    if not sample.parts:
        return float("nan")
    seen = abs(_difference(sample, np.ones((1, len(positive)))))[0]
    rng, extreme = np.random.default_rng(seed), 0
    for count in batches(n_draws, 2 * len(positive)):
        stay = rng.integers(2, size=(count, len(positive)))
        extreme += int((np.abs(_difference(sample, stay)) >= seen - CLOSE).sum())
    return (1 + extreme) / (1 + n_draws)


def _difference(sample: Sample, stay: Array) -> Floats:
    """Return the score differences, float64 (draws,); samples with 1 in `stay` (draws, n) keep their ranks."""
    scores = sample.scores(np.concatenate([stay, 1 - stay], axis=1).astype(np.float64))
    return scores[:, 0] - scores[:, 1]


def _ranks(values: Floats, folds: Array) -> Floats:
    """Return mid-ranks within each test set."""
    ranks = np.empty(len(values))
    for fold in np.unique(folds):
        rows = folds == fold
        ranks[rows] = scipy.stats.rankdata(values[rows])
    return ranks


# Decisions of several methods on one task, the design of its test sets, and reasons why no test is possible.

SINGLE, FOLDS, FIVE_BY_TWO, REPEATED = "single", "folds", "five_by_two", "repeated"
HALF = re.compile(r"([1-5])\.([12])")
LEAST_RANKED, LEAST_DRAWN = 2, 10
"""Minimum samples of each class in a test set for ranking it alone and for resampling (docs/type_one_error.md)."""
OTHER_FOLDS = "use folds that test each sample once, several of each class together, or the fold method five_by_two"
OVERLAP = "the test sets overlap, so there is no valid test of a difference"
APART = (
    "most samples are tested alone or only with their own class, as in leave-one-out; the test sample is missing from "
    "the training set, which pushes decision values away from the true label, most for uninformative methods, so "
    "useless methods would seem to differ"
)
FEW_RANKED = (
    "a test set has fewer than two samples of a class, and decision values of different classifiers cannot be ranked "
    "together"
)
FEW_DRAWN = (
    f"a test set has fewer than {LEAST_DRAWN} samples of a class, too few for the bootstrap, which estimates the "
    "variation of a score by resampling with replacement"
)


@dataclass(frozen=True, eq=False)
class PairedDecisions:
    """Decisions of several methods on the test samples of one task, a row for each sample in each test set.

    A missing decision is NaN; a missing prediction is NaN, or −1 for class codes.
    """

    kind: str  # ``binary``, ``multiclass`` or ``real``
    ids: npt.NDArray[np.str_]  # shape (n,): One row for each sample in each test set that contains it
    splits: npt.NDArray[np.str_]  # shape (n,): One row for each sample in each test set that contains it
    labels: Array  # shape (n,): Binary: 1 is positive; several classes: codes; or real values
    # shape (n,): NaN if a method has none. Optional for several classes
    decisions: Mapping[Any, Floats]
    predicted: Mapping[Any, Array]  # shape (n,): Like the labels; NaN, or −1 for codes, if a method has none
    scores: Mapping[Any, Mapping[tuple[str, str], float]]  # Scores of each test set

    @cached_property
    def shape(self) -> str:
        """The design of the test sets: ``single``, ``folds``, ``five_by_two`` or ``repeated``."""
        names = np.unique(self.splits)
        if len(names) == 1:
            return SINGLE
        tested = np.unique(self.ids, return_inverse=True)[1]
        counts = np.bincount(tested)
        if counts.max() == 1:
            return FOLDS
        halves = [HALF.fullmatch(name) for name in names.tolist()]
        if len(names) != 10 or not all(halves) or (counts != 5).any():
            return REPEATED
        repeat = np.char.partition(self.splits, ".")[:, 0]
        each = np.unique(np.char.add(np.char.add(self.ids, "\t"), repeat))
        return FIVE_BY_TWO if len(each) == len(self.ids) else REPEATED

    def sizes(self, rows: Bools | slice = slice(None)) -> Ints:
        """Return the number of samples of each class in each test set, (parts, classes)."""
        names, part = np.unique(self.splits[rows], return_inverse=True)
        classes = max(2, int(self.labels.max()) + 1)
        counts = np.bincount(part * classes + self.labels[rows], minlength=len(names) * classes)
        return counts.reshape(-1, classes)

    @cached_property
    def apart(self) -> bool:
        """Whether, over several test sets, most samples are tested alone or only with samples of their own class."""
        if self.shape != FOLDS:
            return False
        if self.kind == "real":
            sizes = np.unique(self.splits, return_counts=True)[1]
            own = sizes[sizes == 1]
        else:
            sizes = self.sizes()
            own = sizes[(sizes > 0).sum(axis=1) == 1]
        return bool(2 * own.sum() > len(self.labels))

    def can_draw(self, rows: Bools | slice = slice(None)) -> bool:
        """Return whether every test set has enough samples of each class for resampling."""
        return bool(self.sizes(rows).min(initial=LEAST_DRAWN) >= LEAST_DRAWN)

    def untestable(self, metric: str) -> LabelError | None:
        """Return a LabelError with the reason if a metric cannot be tested on this task, else None."""
        reason = None
        if self.shape == REPEATED:
            reason = OVERLAP
        elif self.apart:
            reason = APART
        elif self.shape == FIVE_BY_TWO or self.kind == "real":
            return None
        elif metric != "accuracy" and self.sizes().min() < LEAST_RANKED:
            reason = FEW_RANKED
        elif metric not in ("accuracy", "auc") and not self.can_draw():
            reason = FEW_DRAWN
        return LabelError(reason, remedy=OTHER_FOLDS) if reason else None


def has_value(values: Array) -> Bools:
    """Return a mask of the values present: not NaN, or for codes not negative."""
    return ~np.isnan(values) if values.dtype.kind == "f" else values >= 0


RANKINGS = ("roc50", "average_precision")
TESTS = {
    "binary": {"auc": "delong", "accuracy": "mcnemar", **dict.fromkeys(RANKINGS, "bootstrap")},
    "multiclass": {"accuracy": "mcnemar"},
    "real": {"absolute_error": "signed_rank"},
}
"""Names of the tests on samples tested once, by kind of labels and metric."""
CLEAR_HALVES = 9
"""Number of the ten halves on which one method must lead for F to show that it is better, not only different."""


class PairTest(NamedTuple):
    """The result of comparing two methods: the test used, the values, their difference, and p."""

    first: Hashable  # Name of the first method
    second: Hashable  # Name of the second method
    # ``delong``, ``mcnemar``, ``bootstrap``, ``signed_rank`` or ``five_by_two_f``; ``exchange`` instead of the first
    # and the third if the estimated variance is 0
    test: str
    units: int  # Number of test samples compared
    left_out: int  # Number of test samples that one of the methods lacks
    value: float  # The first method's metric; the median of its errors if their ranks are tested
    other_value: float  # The same of the second method
    difference: float  # First − second
    low: float  # Lower end of the 95% interval of the difference, if the test has one
    high: float  # Upper end
    lead: int  # 1 if the first method is ahead in the tested quantity, −1 if the second is, else 0
    wins: int | None  # Samples, or halves of 5×2cv, on which the first method is better; for tests that count them
    ties: int | None  # Those on which both are equal
    losses: int | None  # Those on which the second method is better
    statistic: float  # Test statistic
    p: float  # p-value
    p_holm: float = math.nan  # p corrected for the number of pairs
    mean: float = math.nan  # Mean error of the first method, if ranks of errors are tested, else NaN
    other_mean: float = math.nan  # The same of the second method

    @property
    def directed(self) -> bool:
        """Whether the test shows which method is better: F only shows that the ten differences are not all chance."""
        return self.test != "five_by_two_f" or max(self.wins or 0, self.losses or 0) >= CLEAR_HALVES

    def turned(self) -> "PairTest":
        """Return the same result with the methods swapped."""
        pairs = ("first", "second"), ("value", "other_value"), ("wins", "losses"), ("mean", "other_mean")
        swapped = {name: getattr(self, other) for pair in pairs for name, other in (pair, pair[::-1])}
        statistic = 0.0 - self.statistic if self.test in ("delong", "bootstrap") else self.statistic
        turned: dict[str, Any] = {
            "difference": 0.0 - self.difference,
            "low": -self.high,
            "high": -self.low,
            "lead": -self.lead,
        }
        return self._replace(**swapped, **turned, statistic=statistic)


def metrics_with_test(paired: PairedDecisions) -> tuple[str, ...]:
    """Return the metrics that can be compared on this task, the default ones first; may be empty."""
    if paired.shape == REPEATED:
        return ()
    if paired.shape != FIVE_BY_TWO:
        return tuple(metric for metric in TESTS[paired.kind] if not paired.untestable(metric))
    found = dict.fromkeys(metric for table in paired.scores.values() for _, metric in table)
    first = [name for name in ("auc", "accuracy", "rmse") if name in found]
    return tuple(dict.fromkeys([*first, *found]))


def pair_tests(
    paired: PairedDecisions, metric: str, *, higher: bool = True, control: Hashable | None = None
) -> list[PairTest]:
    """Compare all pairs of methods on one task, or a control with each other method, with Holm's correction."""
    if (paired.shape == REPEATED or metric in TESTS[paired.kind]) and (error := paired.untestable(metric)):
        raise error
    known = metrics_with_test(paired)
    if metric not in known:
        if paired.kind == "multiclass" and metric == "auc":
            raise ParameterError("DeLong's test of the AUC needs two classes", remedy="choose accuracy")
        raise unknown_name("metric for this comparison", metric, known)
    pairs = pairs_of(paired.predicted, control)
    if paired.shape == FIVE_BY_TWO:
        found = [_five_by_two_comparison(paired, metric, higher, *pair) for pair in pairs]
    else:
        found = _tested_once(paired, metric, pairs)
    corrected = holm([tested.p for tested in found])
    return [tested._replace(p_holm=float(p)) for tested, p in zip(found, corrected, strict=True)]


def _five_by_two_comparison(
    paired: PairedDecisions, metric: str, higher: bool, first: Hashable, second: Hashable
) -> PairTest:
    """Return the PairTest by Alpaydin's F."""
    names = [[(f"{repeat}.{half}", metric) for half in (1, 2)] for repeat in range(1, 6)]
    scores = [paired.scores.get(method, {}) for method in (first, second)]
    tables = [np.array([[table.get(name, math.nan) for name in row] for row in names]) for table in scores]
    test = five_by_two_f(tables[0] - tables[1])
    value, other_value = (float(table.mean()) for table in tables)
    own = len(np.unique(paired.ids))
    lead = _sign(test.difference if higher else -test.difference)
    gains = np.round(tables[0] - tables[1], 12) * (1 if higher else -1)
    wins, ties, losses = (int(np.sum(signs)) for signs in (gains > 0, gains == 0, gains < 0))
    numbers = value, other_value, test.difference, math.nan, math.nan, lead, wins, ties, losses, test.statistic, test.p
    return PairTest(first, second, "five_by_two_f", own, 0, *numbers)


def _tested_once(paired: PairedDecisions, metric: str, pairs: Sequence[tuple[Hashable, Hashable]]) -> list[PairTest]:
    """Return the PairTests for a task whose samples are each tested once."""
    test = TESTS[paired.kind][metric]
    if test == "delong":
        return _delong_comparison(paired, pairs)
    compare = {"mcnemar": _mcnemar, "signed_rank": _signed_rank}.get(test)
    if compare is not None:
        return [compare(paired, *pair) for pair in pairs]
    return [_bootstrap(paired, metric, *pair) for pair in pairs]


def _common(paired: PairedDecisions, first: Hashable, second: Hashable) -> Bools:
    """Return a mask of the rows that have decisions of both methods."""
    values = paired.decisions if paired.decisions else paired.predicted
    return has_value(values[first]) & has_value(values[second])


def _delong_comparison(paired: PairedDecisions, pairs: Sequence[tuple[Hashable, Hashable]]) -> list[PairTest]:
    """Return the PairTests by DeLong, from one covariance for methods with all decisions, else pair by pair."""
    whole = [method for method, values in paired.decisions.items() if has_value(values).all()]
    if whole:
        areas, covariance = delong_covariance(paired.labels, [paired.decisions[m] for m in whole], paired.splits)
    place = {method: i for i, method in enumerate(whole)}
    found = []
    for first, second in pairs:
        rows = np.ones(len(paired.labels), dtype=bool)
        if first in place and second in place:
            test = delong_pair(areas, covariance, place[first], place[second])
        else:
            rows = _common(paired, first, second)
            parts = [values[rows] for values in (paired.decisions[first], paired.decisions[second])]
            test = delong_pair(*delong_covariance(paired.labels[rows], parts, paired.splits[rows]), 0, 1)
        found.append(_ranking_test(paired, first, second, "auc", rows, test, Z95))
    return found


def _bootstrap(paired: PairedDecisions, metric: str, first: Hashable, second: Hashable) -> PairTest:
    """Return the PairTest by the bootstrap."""
    rows = _common(paired, first, second)
    own, other = (paired.decisions[method][rows] for method in (first, second))
    test = bootstrap_test(paired.labels[rows], own, other, metric, folds=paired.splits[rows])
    if not paired.can_draw(rows):
        test = test._replace(se=math.nan, t=math.nan, p=math.nan)
    return _ranking_test(paired, first, second, metric, rows, test, scipy.stats.t.ppf(0.975, test.df))


def _ranking_test(
    paired: PairedDecisions,
    first: Hashable,
    second: Hashable,
    metric: str,
    rows: Bools,
    test: AucComparison | ScoreComparison,
    quantile: float,
) -> PairTest:
    """Return the PairTest from a difference and its standard error; ranks are exchanged if that error is 0."""
    name, ends, p = TESTS[paired.kind][metric], (math.nan, math.nan), test.p
    if test.se > 0:
        ends = test.difference - quantile * test.se, test.difference + quantile * test.se
    elif test.se == 0 and math.isnan(p):
        name = "exchange"
        own, other = (paired.decisions[method][rows] for method in (first, second))
        p = exchange_test(paired.labels[rows], own, other, metric, folds=paired.splits[rows])
    n = int(rows.sum())
    ratio = test.difference / test.se if test.se > 0 else 0.0 if test.p == 1 else math.nan
    numbers = test.first, test.second, test.difference, *ends, _sign(test.difference), None, None, None, ratio, p
    return PairTest(first, second, name, n, len(rows) - n, *numbers)


def _mcnemar(paired: PairedDecisions, first: Hashable, second: Hashable) -> PairTest:
    """Return the PairTest by McNemar's mid-p test on the samples of all folds, each tested once."""
    rows = _common(paired, first, second)
    labels = paired.labels[rows]
    own, other = (paired.predicted[method][rows] for method in (first, second))
    test = mcnemar(labels, own, other)
    share, other_share = (float(np.mean(values == labels)) if len(labels) else math.nan for values in (own, other))
    counts = test.wins, test.n - test.wins - test.losses, test.losses
    ends, lead = (math.nan, math.nan), _sign(test.wins - test.losses)
    numbers = share, other_share, test.difference, *ends, lead, *counts, test.statistic, test.p
    return PairTest(first, second, "mcnemar", test.n, len(rows) - test.n, *numbers)


def _signed_rank(paired: PairedDecisions, first: Hashable, second: Hashable) -> PairTest:
    """Return the PairTest by the signed-rank test of absolute errors; its difference is the median over pairs."""
    rows = _common(paired, first, second)
    own, other = (np.abs(paired.predicted[method][rows] - paired.labels[rows]) for method in (first, second))
    test = signed_rank_test(own, other, higher=False)
    value, other_value, mean, other_mean = (
        float(of(error)) if len(error) else math.nan for of in (np.median, np.mean) for error in (own, other)
    )
    counts = test.wins, test.ties, test.losses
    ends = math.nan, math.nan
    numbers = value, other_value, test.median, *ends, _sign(test.effect), *counts, test.statistic, test.p, math.nan
    return PairTest(first, second, "signed_rank", test.tasks, len(rows) - test.tasks, *numbers, mean, other_mean)


def _sign(value: float) -> int:
    """Return 1, −1 or 0; 0 for NaN."""
    return int(value > 0) - int(value < 0)
