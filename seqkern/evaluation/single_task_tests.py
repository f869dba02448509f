"""Two methods on one task: the test that the folds allow, and its result.

One test set, or folds that test each sample once: DeLong's test of the AUC within test sets, McNemar's of the
classes, the bootstrap for other ranking scores, and the signed-rank test of the errors of predicted numbers. If
z is undefined because the estimated variance of a nonzero difference is 0, ranks are exchanged instead. Five times
two halves: Alpaydin's F, for any score. If test sets overlap in another way, or are too small, there is no valid
test, and none is made (`PairedDecisions.untestable`): a paired t-test over resamples would find spurious
differences, and so would a test of leave-one-out decisions.

Over the folds of a cross-validation, each p is that of the trained classifiers. It does not include
variation between training sets, and can be somewhat too small.
"""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqkern.core.errors import ParameterError, unknown_name
from seqkern.core.multiple_testing import holm
from seqkern.evaluation.bootstrap import ScoreComparison, bootstrap_test
from seqkern.evaluation.delong import AucComparison, delong_covariance, delong_pair
from seqkern.evaluation.five_by_two import five_by_two_f
from seqkern.evaluation.mcnemar import mcnemar
from seqkern.evaluation.paired_decisions import FIVE_BY_TWO, REPEATED, PairedDecisions, has_value
from seqkern.evaluation.permutation_test import exchange_test
from seqkern.evaluation.wilcoxon import pairs_of, signed_rank_test
from seqkern.evaluation.wilson import Z95

RANKINGS = ("roc50", "average_precision")
TESTS = {
    "binary": {"auc": "delong", "accuracy": "mcnemar", **dict.fromkeys(RANKINGS, "bootstrap")},
    "multiclass": {"accuracy": "mcnemar"},
    "real": {"absolute_error": "signed_rank"},
}
"""By kind of labels, the metrics with a test on samples tested once, and its name."""
CLEAR_HALVES = 9
"""Number of the ten halves on which one method must be ahead for F to say that it is better, not only different."""


class PairTest(NamedTuple):
    """Two methods, the test that compared them, and its result.

    Attributes
    ----------
    first, second : hashable
        The methods.
    test : str
        ``delong``, ``mcnemar``, ``bootstrap``, ``signed_rank`` or ``five_by_two_f``; ``exchange`` instead of
        the first and the third if the estimated variance is 0.
    units, left_out : int
        Number of test samples compared, and of those that one of the methods lacks.
    value, other_value : float
        Values of the metric; the medians of the errors if their ranks are tested.
    difference, low, high : float
        First − second, and its 95 % interval if the test has one.
    lead : int
        1 if the first method is ahead in the tested quantity, −1 if the second is, else 0.
    wins, ties, losses : int or None
        Samples, or halves of 5×2cv, on which the first method is better; for tests that count them.
    statistic, p, p_holm : float
        Result of the test, and p corrected for the number of pairs.
    mean, other_mean : float
        For errors whose ranks are tested, else NaN.

    Examples
    --------
    >>> ids, part, labels = np.arange(8).astype(str), np.repeat("1", 8), np.arange(8) % 2
    >>> predicted = {"spectrum": labels, "chance": np.zeros(8, dtype=int)}
    >>> (test,) = pair_tests(PairedDecisions("multiclass", ids, part, labels, {}, predicted, {}), "accuracy")
    >>> test.test, test.first, test.value, test.other_value, test.lead, round(test.p, 4)
    ('mcnemar', 'spectrum', 1.0, 0.5, 1, 0.0625)
    >>> test.turned().first, test.turned().lead
    ('chance', -1)
    """

    first: Hashable
    second: Hashable
    test: str
    units: int
    left_out: int
    value: float
    other_value: float
    difference: float
    low: float
    high: float
    lead: int
    wins: int | None
    ties: int | None
    losses: int | None
    statistic: float
    p: float
    p_holm: float = math.nan
    mean: float = math.nan
    other_mean: float = math.nan

    @property
    def directed(self) -> bool:
        """Whether the test shows which method is better: F only shows that the ten differences are not all chance."""
        return self.test != "five_by_two_f" or max(self.wins or 0, self.losses or 0) >= CLEAR_HALVES

    def turned(self) -> "PairTest":
        """Return the same result with the methods swapped."""
        z = self.test in ("delong", "bootstrap")
        return self._replace(
            first=self.second,
            second=self.first,
            value=self.other_value,
            other_value=self.value,
            difference=0.0 - self.difference,
            low=-self.high,
            high=-self.low,
            lead=-self.lead,
            wins=self.losses,
            losses=self.wins,
            statistic=0.0 - self.statistic if z else self.statistic,
            mean=self.other_mean,
            other_mean=self.mean,
        )


def metrics_with_test(paired: PairedDecisions) -> tuple[str, ...]:
    """Return the metrics that can be compared on this task, starting with the default ones; possibly empty.

    Parameters
    ----------
    paired : PairedDecisions
        The decisions on one task.

    Returns
    -------
    tuple of str
        Names for `pair_tests`.
    """
    if paired.shape == REPEATED:
        return ()
    if paired.shape != FIVE_BY_TWO:
        return tuple(metric for metric in TESTS[paired.kind] if not paired.untestable(metric))
    found = dict.fromkeys(metric for table in paired.scores.values() for _, metric in table)
    first = [name for name in ("auc", "accuracy", "rmse") if name in found]
    return tuple(dict.fromkeys([*first, *found]))


def pair_tests(
    paired: PairedDecisions,
    metric: str,
    *,
    higher: bool = True,
    control: Hashable | None = None,
    seed: int = 0,
) -> list[PairTest]:
    """Compare every pair of methods on one task, or a control with every other.

    Parameters
    ----------
    paired : PairedDecisions
        The decisions on one task.
    metric : str
        One of `metrics_with_test`.
    higher : bool, default True
        Whether a higher score is better.
    control : hashable, optional
        One of the methods.
    seed : int, default 0
        Seed of the bootstrap.

    Returns
    -------
    list of PairTest
        Holm's correction covers all of them.

    Raises
    ------
    ParameterError
        For a metric without a test here, or an unknown control.
    LabelError
        If the test sets overlap or are too small for a valid test.
    """
    if (paired.shape == REPEATED or metric in TESTS[paired.kind]) and (error := paired.untestable(metric)):
        raise error
    known = metrics_with_test(paired)
    if metric not in known:
        if paired.kind == "multiclass" and metric == "auc":
            raise ParameterError("DeLong's test of the AUC needs two classes", remedy="choose accuracy")
        raise unknown_name("metric for this comparison", metric, known)
    pairs = pairs_of(paired.predicted, control)
    if paired.shape == FIVE_BY_TWO:
        found = [_five_by_two(paired, metric, higher, *pair) for pair in pairs]
    else:
        found = _tested_once(paired, metric, pairs, seed)
    corrected = holm([tested.p for tested in found])
    return [tested._replace(p_holm=float(p)) for tested, p in zip(found, corrected, strict=True)]


def _five_by_two(paired: PairedDecisions, metric: str, higher: bool, first: Hashable, second: Hashable) -> PairTest:
    """Return the PairTest of Alpaydin's F."""
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


def _tested_once(
    paired: PairedDecisions, metric: str, pairs: Sequence[tuple[Hashable, Hashable]], seed: int
) -> list[PairTest]:
    """Return the PairTest of samples that are tested once."""
    test = TESTS[paired.kind][metric]
    if test == "delong":
        return _delong(paired, pairs, seed)
    compare = {"mcnemar": _mcnemar, "signed_rank": _signed_rank}.get(test)
    if compare is not None:
        return [compare(paired, *pair) for pair in pairs]
    return [_bootstrap(paired, metric, seed, *pair) for pair in pairs]


def _common(paired: PairedDecisions, first: Hashable, second: Hashable) -> npt.NDArray[np.bool_]:
    """Return the rows with decisions of both methods."""
    values = paired.decisions if paired.decisions else paired.predicted
    return has_value(values[first]) & has_value(values[second])


def _delong(paired: PairedDecisions, pairs: Sequence[tuple[Hashable, Hashable]], seed: int) -> list[PairTest]:
    """Return DeLong's PairTest: for methods with all decisions from one covariance, for others pair by pair."""
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
        found.append(_ranking_test(paired, first, second, "auc", rows, test, Z95, seed))
    return found


def _bootstrap(paired: PairedDecisions, metric: str, seed: int, first: Hashable, second: Hashable) -> PairTest:
    """Return the PairTest of a bootstrap test."""
    rows = _common(paired, first, second)
    own, other = (paired.decisions[method][rows] for method in (first, second))
    test = bootstrap_test(paired.labels[rows], own, other, metric, seed=seed, folds=paired.splits[rows])
    if not paired.can_draw(rows):
        test = test._replace(se=math.nan, t=math.nan, p=math.nan)
    return _ranking_test(paired, first, second, metric, rows, test, stats.t.ppf(0.975, test.df), seed)


def _ranking_test(
    paired: PairedDecisions,
    first: Hashable,
    second: Hashable,
    metric: str,
    rows: npt.NDArray[np.bool_],
    test: AucComparison | ScoreComparison,
    quantile: float,
    seed: int,
) -> PairTest:
    """Return the PairTest of a test with a standard error, or of the exchange of ranks if that is 0."""
    name, ends, p = TESTS[paired.kind][metric], (math.nan, math.nan), test.p
    if test.se > 0:
        ends = test.difference - quantile * test.se, test.difference + quantile * test.se
    elif test.se == 0 and math.isnan(p):
        name = "exchange"
        own, other = (paired.decisions[method][rows] for method in (first, second))
        p = exchange_test(paired.labels[rows], own, other, metric, seed=seed, folds=paired.splits[rows])
    n = int(rows.sum())
    ratio = test.difference / test.se if test.se > 0 else 0.0 if test.p == 1 else math.nan
    numbers = test.first, test.second, test.difference, *ends, _sign(test.difference), None, None, None, ratio, p
    return PairTest(first, second, name, n, len(rows) - n, *numbers)


def _mcnemar(paired: PairedDecisions, first: Hashable, second: Hashable) -> PairTest:
    """Return the PairTest of McNemar's mid-p test, with the samples of all folds, each tested once."""
    rows = _common(paired, first, second)
    labels = paired.labels[rows]
    own, other = (paired.predicted[method][rows] for method in (first, second))
    test = mcnemar(labels, own, other)
    share, other_share = (float(np.mean(values == labels)) if len(labels) else math.nan for values in (own, other))
    counts = test.wins, test.n - test.wins - test.losses, test.losses
    ends = math.nan, math.nan
    numbers = (
        share,
        other_share,
        test.difference,
        *ends,
        _sign(test.wins - test.losses),
        *counts,
        test.statistic,
        test.p,
    )
    return PairTest(first, second, "mcnemar", test.n, len(rows) - test.n, *numbers)


def _signed_rank(paired: PairedDecisions, first: Hashable, second: Hashable) -> PairTest:
    """Return the PairTest of the signed-rank test of absolute errors; the difference is the median over pairs."""
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
