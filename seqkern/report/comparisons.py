"""Which methods are better than which: signed-rank tests over many tasks, or the tests that one task's folds allow.

Of residues the signed-rank test is over chains: those of one chain are not independent of one another.
"""

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from seqkern.core.errors import unknown_name
from seqkern.evaluation.chain_shares import ChainShares
from seqkern.evaluation.comparison import compare_all, least_p
from seqkern.evaluation.contests import TESTS, contests, metrics_with_test
from seqkern.evaluation.friedman import critical_difference, friedman
from seqkern.evaluation.intervals import FORMULAS, metrics_with_interval, score_interval
from seqkern.evaluation.paired_decisions import FIVE_BY_TWO
from seqkern.report.tables import Ranking, unit_scores
from seqkern.report.trials import read_trial
from seqkern.report.words import metric

LEVEL = 0.05
LEAST = 6  # with fewer tasks not even one that is always better can be told from chance
LEAST_RANKED = 3  # methods and tasks from which on mean ranks are compared
ALSO = ("roc50", "median_rfp")
BOTH = {"auc": "accuracy"}  # metrics that are compared together on one task
MOST_DRAWN = 60_000  # methods times test units up to which the report draws samples again for intervals
COLUMNS = (
    *("dataset", "metric", "kernel", "solver", "other_kernel", "other_solver", "tasks", "left_out", "wins", "ties"),
    *("losses", "median_difference", "rank_sum", "effect", "p", "p_holm", "test", "units", "value", "other_value"),
    *("difference", "low", "high", "statistic", "mean_rank", "other_mean_rank", "critical_difference"),
    *("mean", "other_mean"),
)
COUNTED = ("tasks", "left_out", "wins", "ties", "losses", "effect", "p")


class _Table:
    """All pairs of methods, or a control with each other method, compared by one metric.

    Attributes
    ----------
    key : str
        The metric.
    methods : list of Method
        The best first.
    found : list of Comparison or Contest
    control : Method or None
    """

    hopeless = False

    def standing(self, method):
        """Return how many methods this one is better than beyond chance, and how many are better than it."""
        own = [one for one in self.found if method in one[:2] and told_apart(one) and directed(one)]
        better = sum((lead(one) > 0) == (one.first == method) for one in own)
        return better, len(own) - better


class Compared(_Table):
    """Methods compared over tasks.

    Attributes
    ----------
    word, words : str
        What a task is called: ``"family"``.
    tasks : int
        The most that a pair of methods has in common.
    friedman : FriedmanTest or None
        Of all methods; for three methods or more with three tasks or more.
    critical_difference : float or None
        Of their mean ranks: Nemenyi's, or against a control Bonferroni and Dunn's.
    """

    def __init__(self, values, key, word, words, control=None):
        self.key, self.word, self.words, self.control = key, word, words, control
        self.methods = list(values)
        self.values = values
        higher = metric(key).higher
        self.found = compare_all(values, higher=higher, control=control)
        self.tasks = max(one.test.tasks for one in self.found)
        self.friedman = self.critical_difference = None
        if len(values) >= LEAST_RANKED:
            test = friedman(values, higher=higher)
            if test.tasks >= LEAST_RANKED:
                kind = "nemenyi" if control is None else "bonferroni-dunn"
                self.friedman = test
                self.critical_difference = critical_difference(len(values), test.tasks, LEVEL, kind)

    @property
    def hopeless(self):
        """Whether with so few tasks and so many pairs not even one that is always better could be told from chance."""
        return least_p(self.tasks) * len(self.found) > LEVEL

    @property
    def ranks(self):
        """Dict of method to its mean rank; empty without Friedman's test."""
        return {} if self.friedman is None else dict(zip(self.methods, self.friedman.ranks.tolist(), strict=True))

    def averages(self, one):
        """Return the mean scores of the two methods over their common tasks, and the median scores."""
        pair = np.array([self.values[method] for method in one[:2]], dtype=float)
        common = pair[:, ~np.isnan(pair).any(axis=0)]
        if not common.size:
            return (math.nan, math.nan), (math.nan, math.nan)
        return tuple(common.mean(axis=1).tolist()), tuple(np.median(common, axis=1).tolist())

    def rows(self, dataset):
        """Return the rows of ``comparisons.tsv``, as dicts."""
        ranks = self.ranks
        for one in self.found:
            test, ((mean, other_mean), (value, other)) = one.test, self.averages(one)
            yield {
                **_names(dataset, self.key, one, "wilcoxon"),
                **{name: getattr(test, name) for name in COUNTED},
                **{"median_difference": test.median, "rank_sum": test.statistic, "p_holm": one.p_holm},
                **{"value": value, "other_value": other, "difference": test.median},
                **{"mean": mean, "other_mean": other_mean},
                **{"mean_rank": ranks.get(one.first), "other_mean_rank": ranks.get(one.second)},
                "critical_difference": self.critical_difference,
            }


class ComparedChains(Compared):
    """Methods compared on residues: the share of right ones of each tested chain.

    Attributes
    ----------
    intervals : dict of method to {metric: ScoreInterval}
        Of the share of all residues that are right, by chain.
    """

    def __init__(self, shares, methods, key, control=None):
        super().__init__(shares.shares(methods), key, "chain", "chains", control)
        self.intervals = {method: {key: shares.interval(method)} for method in methods}


class Contested(_Table):
    """Methods compared on one task, unit by unit.

    Attributes
    ----------
    shape : str
        How the test parts lie to one another: ``single``, ``folds`` or ``five_by_two``.
    test : str
        Name of the test.
    units, parts : int
        Test units and test parts.
    fewest : int or None
        Units of the smaller class, for two classes.
    trial : Trial
    """

    def __init__(self, trial, key, order, control=None):
        self.key, self.control, self.shape, self.trial = key, control, trial.shape, trial
        self.methods = [method for method in order if method in trial.predicted]
        self.found = contests(_ordered(trial, self.methods), key, higher=metric(key).higher, control=control)
        self.test = "five_by_two_f" if self.shape == FIVE_BY_TWO else TESTS[trial.kind][key]
        self.units, self.parts = len(np.unique(trial.ids)), len(np.unique(trial.splits))
        self.fewest = int(trial.sizes().sum(axis=0).min()) if trial.kind == "binary" else None

    @cached_property
    def intervals(self):
        """Dict of method to {metric: ScoreInterval}, of all metrics that have intervals here."""
        names = metrics_with_interval(self.trial)
        if len(self.trial.ids) * len(self.methods) > MOST_DRAWN:
            names = [name for name in names if name in FORMULAS]
        return {m: {name: score_interval(self.trial, m, name) for name in names} for m in self.methods if names}

    def rows(self, dataset):
        """Return the rows of ``comparisons.tsv``, as dicts."""
        for one in self.found:
            shared = ("units", "left_out", "wins", "ties", "losses", "value", "other_value")
            shared += ("difference", "low", "high", "statistic", "p", "p_holm", "mean", "other_mean")
            yield _names(dataset, self.key, one, one.test) | {name: getattr(one, name) for name in shared}


def _names(dataset, key, one, test):
    """Return the cells that name a comparison."""
    names = dict(zip(COLUMNS, (dataset, key, *one.first, *one.second), strict=False))
    return names | {"test": test}


def _ordered(trial, methods):
    """Return the Trial with its methods in this order."""
    predicted = {method: trial.predicted[method] for method in methods}
    decisions = {method: trial.decisions[method] for method in methods if method in trial.decisions}
    return replace(trial, predicted=predicted, decisions=decisions)


def lead(one):
    """Return 1 where the first of two methods is ahead in what was tested, −1 where the second is, else 0."""
    return one.lead if hasattr(one, "lead") else int(np.sign(one.test.effect))


def directed(one):
    """Tell whether a test says which of two methods is ahead, not only that they differ."""
    return getattr(one, "directed", True)


def told_apart(one):
    """Tell whether two methods differ beyond chance."""
    return one.p_holm <= LEVEL


def enough(tasks, methods):
    """Tell whether some test over tasks may find something: six tasks, or three if three methods can be ranked."""
    return methods > 1 and tasks >= (LEAST_RANKED if methods >= LEAST_RANKED else LEAST)


def ranked_order(ranking, key=None):
    """Return the methods with a score, the best first: by a metric that has means, else by the headline metric."""
    best = ranking.best[0]
    order = [best, *(method for method in ranking.order if method != best)]
    if key == ranking.metric or key not in ranking.scores:
        return order
    sign, means = -1 if metric(key).higher else 1, {method: ranking.score(method, key).mean for method in order}
    return sorted(order, key=lambda method: (math.isnan(means[method]), sign * means[method]))


def compare_tasks(dataset, ranking, word, words, keys=None, control=None):
    """Return {metric: Compared} over the tasks of a data set.

    Empty for a single task, fewer than two methods, and too few tasks for either test: six, or three where three
    methods or more can be ranked.

    Parameters
    ----------
    dataset : DatasetResults
    ranking : Ranking
    word, words : str
    keys : collection of str, optional
        Metrics; by default the headline metric, ROC50 and median RFP.
    control : Method, optional
    """
    asked = keys is not None and len(ranking.order) > 1
    if not dataset.several or not (asked or enough(len(dataset.units), len(ranking.order))):
        return {}
    units, found = unit_scores(dataset), {}
    for key in dict.fromkeys((ranking.metric, *ALSO) if keys is None else keys):
        if key in ranking.scores:
            wide = units.pivot(index="unit", columns=["kernel", "solver"], values=key).reindex(dataset.units)
            values = {method: wide[tuple(method)].to_numpy() for method in ranked_order(ranking, key)}
            found[key] = Compared(values, key, word, words, control)
    return found


def compare_units(dataset, ranking, keys=None, control=None, task=None):
    """Return {metric: Contested} on one task: by the headline metric, and with the AUC by accuracy.

    Of residues {metric: ComparedChains}, by the share of them that are right. Empty for fewer than two methods with
    decisions, and where by default there is no metric with a valid test.

    Parameters are those of `compare_tasks`; `task` names the one of several.

    Raises
    ------
    ParameterError
        For a metric that has no test here.
    """
    trial = read_trial(dataset, task) if len(ranking.order) > 1 else None
    if trial is None or len(trial.predicted) < 2:
        return {}
    if dataset.residues:
        return _compare_chains(trial, ranking, keys or [ranking.metric], control)
    if keys is None:
        known = metrics_with_test(trial)
        keys = [name for name in (ranking.metric, BOTH.get(ranking.metric)) if name in known] or known[:1]
    return {key: Contested(trial, key, ranked_order(ranking, key), control) for key in keys}


def _compare_chains(trial, ranking, keys, control):
    """Return {metric: ComparedChains}; the headline metric of residues, such as Q3, is their accuracy."""
    same, found = (ranking.metric, "accuracy"), {}
    for key in keys:
        if key not in same:
            raise unknown_name("metric to compare chains by", key, same)
        methods = [method for method in ranked_order(ranking, key) if method in trial.predicted]
        found[key] = ComparedChains(ChainShares(trial), methods, key, control)
    return found


def why_untested(dataset, ranking, task=None):
    """Return the LabelError that says why nothing can be tested on one task; None where `compare_units` finds a test.

    Parameters are those of `compare_units`.
    """
    trial = read_trial(dataset, task) if len(ranking.order) > 1 and not dataset.residues else None
    return trial.untestable("accuracy") if trial is not None and len(trial.predicted) > 1 else None


def compare_datasets(datasets, key=None, control=None):
    """Return {metric: Compared} over data sets, of the methods with a mean score on all of them.

    Empty for too few data sets or methods, and where by default they are not all ranked by one metric.

    Parameters
    ----------
    datasets : list of DatasetResults
    key : str, optional
        The metric; by default the one that all are ranked by.
    control : Method, optional
    """
    rankings = [Ranking(dataset) for dataset in datasets]
    keys = {ranking.metric for ranking in rankings} if key is None else {key}
    key = keys.pop()
    if keys or key is None:
        return {}
    common = [m for m in rankings[0].order if all(ranking.score(m, key).n for ranking in rankings)]
    values = {method: [ranking.score(method, key).mean for ranking in rankings] for method in common}
    if not enough(len(datasets), len(values)) or control not in (None, *common):
        return {}
    sign = -1 if metric(key).higher else 1
    order = sorted(values, key=lambda method: sign * np.mean(values[method]))
    return {key: Compared({method: values[method] for method in order}, key, "data set", "data sets", control)}
