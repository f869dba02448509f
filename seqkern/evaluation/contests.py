"""Two methods on one task: which test the shape of the folds allows, and what it finds.

One test part, or folds that test each unit once: DeLong's test of the AUC within test parts, McNemar's of the classes,
the bootstrap for other scores of a ranking, and the signed-rank test of the errors of predicted numbers. Five times two
halves: Alpaydin's F, of any score. Where test parts overlap in another way there is no valid test, and none is made: a
paired t-test over resamples would find differences that are not there.

Over the folds of a cross-validation each p is that of the classifiers that were trained. It leaves out how they would
vary with other training parts, and can be somewhat too small.
"""

import math
import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import LabelError, ParameterError, unknown_name
from ..multiple_testing import holm
from .bootstrap import bootstrap_test
from .comparison import pairs_of, signed_rank_test
from .paired import five_by_two_f, mcnemar
from .shares import Z95
from .significance import delong_covariance, delong_pair

SINGLE, FOLDS, FIVE_BY_TWO, REPEATED = "single", "folds", "five_by_two", "repeated"
RANKINGS = ("roc50", "average_precision")
TESTS = {
    "binary": {"auc": "delong", "accuracy": "mcnemar", **dict.fromkeys(RANKINGS, "bootstrap")},
    "multiclass": {"accuracy": "mcnemar"},
    "real": {"absolute_error": "signed_rank"},
}
"""By kind of labels, the metrics for which there is a test on units that are tested once, and its name."""
HALF = re.compile(r"([1-5])\.([12])")


@dataclass(frozen=True, eq=False)
class Trial:
    """What several methods decided on the test units of one task.

    Attributes
    ----------
    kind : str
        ``binary``, ``multiclass`` or ``real``.
    ids, splits : ndarray of str, shape (n,)
        A row for each unit in each test part that tests it.
    labels : ndarray, shape (n,)
        Binary: 1 is positive; several classes: codes; or real values.
    decisions : dict of method to ndarray of float64, shape (n,)
        NaN where a method has none. Not needed for several classes.
    predicted : dict of method to ndarray, shape (n,)
    scores : dict of method to dict of (split, metric) to float
    """

    kind: str
    ids: np.ndarray
    splits: np.ndarray
    labels: np.ndarray
    decisions: dict
    predicted: dict
    scores: dict

    @property
    def shape(self):
        """How the test parts lie to one another: ``single``, ``folds``, ``five_by_two`` or ``repeated``."""
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

    @property
    def ranked_apart(self):
        """Whether every test part holds two units or more of each class, so that rankings are compared within parts."""
        sizes = [np.bincount(self.labels[self.splits == name], minlength=2) for name in np.unique(self.splits)]
        return bool(np.min(sizes) >= 2)


class Contest(NamedTuple):
    """Two methods, the test that compared them, and what it found.

    Attributes
    ----------
    test : str
        ``delong``, ``mcnemar``, ``bootstrap``, ``signed_rank`` or ``five_by_two_f``.
    units, left_out : int
        Test units compared, and those that one of the methods lacks.
    value, other_value : float
        Of the metric.
    difference, low, high : float
        First − second, and its 95 % interval where the test has one.
    lead : int
        1 where the first method is ahead in what is tested, −1 where the second is, else 0.
    wins, ties, losses : int or None
        Units on which the first method is better; of tests that count them.
    statistic, p, p_holm : float
    """

    first: object
    second: object
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
    p_holm: float

    def turned(self):
        """Return the same with the methods' places changed."""
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
        )


def metrics_with_test(trial):
    """Return the metrics that can be compared on this task, those compared by default first; empty if none."""
    if trial.shape == REPEATED:
        return ()
    if trial.shape != FIVE_BY_TWO:
        return tuple(TESTS[trial.kind])
    found = dict.fromkeys(metric for table in trial.scores.values() for _, metric in table)
    first = [name for name in ("auc", "accuracy", "rmse") if name in found]
    return tuple(dict.fromkeys([*first, *found]))


def contests(trial, metric, *, higher=True, control=None, seed=0):
    """Compare every pair of methods on one task, or a control with every other.

    Parameters
    ----------
    trial : Trial
    metric : str
        One of `metrics_with_test`.
    higher : bool
        Whether a higher score is better.
    control : object, optional
        One of the methods.
    seed : int
        Of the bootstrap.

    Returns
    -------
    list of Contest
        Holm's correction is over all of them.

    Raises
    ------
    ParameterError
        For a metric that has no test here, or an unknown control.
    LabelError
        If the test parts overlap so that there is no valid test.
    """
    if trial.shape == REPEATED:
        raise LabelError(
            "the test parts overlap, so that there is no valid test of a difference",
            remedy="use folds that test each unit once, or the fold method five_by_two",
        )
    known = metrics_with_test(trial)
    if metric not in known:
        error = unknown_name("metric to compare by here", metric, known)
        if trial.kind == "multiclass" and metric == "auc":
            error = ParameterError("DeLong's test of the AUC is for two classes", remedy="choose accuracy")
        raise error
    pairs = pairs_of(trial.predicted, control)
    if trial.shape == FIVE_BY_TWO:
        found = [_five_by_two(trial, metric, higher, *pair) for pair in pairs]
    else:
        found = _on_units(trial, TESTS[trial.kind][metric], metric, pairs, seed)
    corrected = holm([contest.p for contest in found])
    return [contest._replace(p_holm=float(p)) for contest, p in zip(found, corrected, strict=True)]


def _five_by_two(trial, metric, higher, first, second):
    """Return the Contest of Alpaydin's F."""
    names = [[(f"{repeat}.{half}", metric) for half in (1, 2)] for repeat in range(1, 6)]
    scores = [trial.scores.get(method, {}) for method in (first, second)]
    tables = [np.array([[table.get(name, math.nan) for name in row] for row in names]) for table in scores]
    test = five_by_two_f(tables[0] - tables[1])
    values = [float(table.mean()) for table in tables]
    own = len(np.unique(trial.ids))
    lead = _sign(test.difference if higher else -test.difference)
    numbers = test.difference, math.nan, math.nan, lead, None, None, None, test.statistic, test.p, math.nan
    return Contest(first, second, "five_by_two_f", own, 0, *values, *numbers)


def _on_units(trial, test, metric, pairs, seed):
    """Return the Contests of a test of units that are tested once."""
    if test == "delong":
        return _delong(trial, pairs)
    compare = {"mcnemar": _mcnemar, "signed_rank": _signed_rank}.get(test)
    if compare is not None:
        return [compare(trial, *pair) for pair in pairs]
    return [_bootstrap(trial, metric, seed, *pair) for pair in pairs]


def _common(trial, first, second):
    """Return which rows both methods have a decision for."""
    values = trial.decisions if trial.decisions else trial.predicted
    return has_value(values[first]) & has_value(values[second])


def has_value(values):
    """Return which values are there: not NaN, or not below 0 for codes."""
    return ~np.isnan(values) if values.dtype.kind == "f" else values >= 0


def _delong(trial, pairs):
    """Return DeLong's Contests: of the methods with all decisions from one covariance, of others pair by pair."""
    whole = [method for method, values in trial.decisions.items() if has_value(values).all()]
    folds = trial.splits if trial.ranked_apart else None
    if whole:
        areas, covariance = delong_covariance(trial.labels, [trial.decisions[m] for m in whole], folds)
    place = {method: i for i, method in enumerate(whole)}
    found = []
    for first, second in pairs:
        rows = np.ones(len(trial.labels), dtype=bool)
        if first in place and second in place:
            test = delong_pair(areas, covariance, place[first], place[second])
        else:
            rows = _common(trial, first, second)
            parts = [values[rows] for values in (trial.decisions[first], trial.decisions[second])]
            areas_, covariance_ = delong_covariance(trial.labels[rows], parts, None if folds is None else folds[rows])
            test = delong_pair(areas_, covariance_, 0, 1)
        found.append(_ranking_contest(first, second, "delong", rows, test))
    return found


def _bootstrap(trial, metric, seed, first, second):
    """Return the Contest of a bootstrap test."""
    rows = _common(trial, first, second)
    folds = trial.splits[rows] if trial.ranked_apart else None
    decisions = [trial.decisions[method][rows] for method in (first, second)]
    test = bootstrap_test(trial.labels[rows], *decisions, metric, seed=seed, folds=folds)
    return _ranking_contest(first, second, "bootstrap", rows, test)


def _ranking_contest(first, second, name, rows, test):
    """Return the Contest of a test that has a standard error."""
    ends = test.difference - Z95 * test.se, test.difference + Z95 * test.se
    if not test.se > 0:
        ends = math.nan, math.nan
    units = int(rows.sum())
    lead = _sign(test.difference)
    numbers = test.first, test.second, test.difference, *ends, lead, None, None, None, test.z, test.p, math.nan
    return Contest(first, second, name, units, len(rows) - units, *numbers)


def _mcnemar(trial, first, second):
    """Return the Contest of McNemar's mid-p test; the units of all folds together, each tested once."""
    rows = _common(trial, first, second)
    labels = trial.labels[rows]
    predicted = [trial.predicted[method][rows] for method in (first, second)]
    test = mcnemar(labels, *predicted)
    shares = [float(np.mean(values == labels)) if len(labels) else math.nan for values in predicted]
    counts = test.wins, test.n - test.wins - test.losses, test.losses
    ends = math.nan, math.nan
    numbers = *shares, test.difference, *ends, _sign(test.wins - test.losses), *counts, test.statistic, test.p, math.nan
    return Contest(first, second, "mcnemar", test.n, len(rows) - test.n, *numbers)


def _signed_rank(trial, first, second):
    """Return the Contest of the signed-rank test of absolute errors; the difference is the median of the pairs'."""
    rows = _common(trial, first, second)
    errors = [np.abs(trial.predicted[method][rows] - trial.labels[rows]) for method in (first, second)]
    test = signed_rank_test(*errors, higher=False)
    values = [float(np.mean(error)) if len(error) else math.nan for error in errors]
    counts = test.wins, test.ties, test.losses
    ends = math.nan, math.nan
    numbers = *values, test.median, *ends, _sign(test.effect), *counts, test.statistic, test.p, math.nan
    return Contest(first, second, "signed_rank", test.tasks, len(rows) - test.tasks, *numbers)


def _sign(value):
    """Return 1, −1 or 0; 0 for NaN."""
    return int(value > 0) - int(value < 0)
