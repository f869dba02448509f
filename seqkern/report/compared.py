"""Methods that were compared: every pair with its test, over many tasks, over chains, or on one task."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.chain_shares import ChainShares
from seqkern.evaluation.friedman import FriedmanTest, critical_difference, friedman
from seqkern.evaluation.intervals import FORMULAS, metrics_with_interval, score_interval
from seqkern.evaluation.paired_decisions import FIVE_BY_TWO, PairedDecisions
from seqkern.evaluation.single_task_tests import TESTS, PairTest, pair_tests
from seqkern.evaluation.wilcoxon import Comparison, compare_all, least_p
from seqkern.report.dataset_results import Method
from seqkern.report.sentences import metric

LEVEL = 0.05
LEAST_RANKED = 3  # methods and tasks from which on mean ranks are compared
MOST_DRAWN = 60_000  # methods times test samples up to which the report draws samples again for intervals
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
    found : list of Comparison or PairTest
    control : Method or None
    """

    key: str
    methods: list[Method]
    found: Sequence[Comparison | PairTest]
    control: Method | None

    @property
    def hopeless(self) -> bool:
        """Whether no test could find a difference, whatever the scores are."""
        return False

    def standing(self, method: Method) -> tuple[int, int]:
        """Return how many methods this one is significantly better than, and than how many significantly worse."""
        own = [one for one in self.found if method in methods_of(one) and is_significant(one) and directed(one)]
        better = sum((lead(one) > 0) == (one.first == method) for one in own)
        return better, len(own) - better


class Compared(_Table):
    """Methods compared over tasks.

    Parameters
    ----------
    values : mapping of Method to sequence of float
        Scores on each task, shape (tasks,), NaN where there is none; the best method first.
    key : str
        The metric.
    word, words : str
        What a task is called, one and several: ``"family"`` and ``"families"``.
    control : Method, optional
        The method that each other one is compared with; by default every pair is compared.

    Attributes
    ----------
    tasks : int
        The most that a pair of methods has in common.
    friedman : FriedmanTest or None
        Of all methods; for three methods or more with three tasks or more.
    critical_difference : float or None
        Of their mean ranks: Nemenyi's, or against a control Bonferroni and Dunn's.
    """

    def __init__(
        self,
        values: Mapping[Method, Sequence[float] | npt.NDArray[np.float64]],
        key: str,
        word: str,
        words: str,
        control: Method | None = None,
    ) -> None:
        self.key, self.word, self.words, self.control = key, word, words, control
        self.methods = list(values)
        self.values = values
        higher = metric(key).higher
        self.found: list[Comparison] = compare_all(values, higher=higher, control=control)
        self.tasks = max(one.test.tasks for one in self.found)
        self.friedman: FriedmanTest | None = None
        self.critical_difference: float | None = None
        if len(values) >= LEAST_RANKED:
            test = friedman(values, higher=higher)
            if test.tasks >= LEAST_RANKED:
                kind = "nemenyi" if control is None else "bonferroni-dunn"
                self.friedman = test
                self.critical_difference = critical_difference(len(values), test.tasks, LEVEL, kind)

    @property
    def hopeless(self) -> bool:
        """Whether, with so few tasks and so many pairs, not even one that is always better can be significant."""
        return least_p(self.tasks) * len(self.found) > LEVEL

    @property
    def ranks(self) -> dict[Method, float]:
        """Dict of method to its mean rank; empty without Friedman's test."""
        return {} if self.friedman is None else dict(zip(self.methods, self.friedman.ranks.tolist(), strict=True))

    def averages(self, one: Comparison) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the mean scores of the two methods over their common tasks, and the median scores.

        Parameters
        ----------
        one : Comparison
            What the test of the two methods found.

        Returns
        -------
        (tuple[float, float], tuple[float, float])
            Means and medians, each of the first method and of the second; NaN without a common task.
        """
        pair = np.array([self.values[method] for method in methods_of(one)], dtype=float)
        common = pair[:, ~np.isnan(pair).any(axis=0)]
        if not common.size:
            return (math.nan, math.nan), (math.nan, math.nan)
        means, medians = common.mean(axis=1).tolist(), np.median(common, axis=1).tolist()
        return (means[0], means[1]), (medians[0], medians[1])

    def rows(self, dataset: str) -> Iterator[dict[str, object]]:
        """Return the rows of ``comparisons.tsv``, as dicts.

        Parameters
        ----------
        dataset : str
            Name of the data set, for the first column.

        Yields
        ------
        dict of str to object
            The cells of a row, by the names in `COLUMNS`.
        """
        ranks = self.ranks
        for one in self.found:
            test, (first, second) = one.test, methods_of(one)
            (mean, other_mean), (value, other) = self.averages(one)
            yield {
                **_names(dataset, self.key, one, "wilcoxon"),
                **{name: getattr(test, name) for name in COUNTED},
                **{"median_difference": test.median, "rank_sum": test.statistic, "p_holm": one.p_holm},
                **{"value": value, "other_value": other, "difference": test.median},
                **{"mean": mean, "other_mean": other_mean},
                **{"mean_rank": ranks.get(first), "other_mean_rank": ranks.get(second)},
                "critical_difference": self.critical_difference,
            }


class ComparedChains(Compared):
    """Methods compared on residues: the share of right ones of each tested chain.

    Parameters
    ----------
    shares : ChainShares
        Right residues of each chain.
    methods : sequence of Method
        The best first.
    key : str
        The metric.
    control : Method, optional
        The method that each other one is compared with; by default every pair is compared.

    Attributes
    ----------
    intervals : dict of method to {metric: ScoreInterval}
        Of the share of all residues that are right, by chain.
    """

    def __init__(self, shares: ChainShares, methods: Sequence[Method], key: str, control: Method | None = None) -> None:
        super().__init__(shares.shares(methods), key, "chain", "chains", control)
        self.intervals = {method: {key: shares.interval(method)} for method in methods}


class SingleTaskTests(_Table):
    """Methods compared on one task, sample by sample.

    Parameters
    ----------
    paired : PairedDecisions
        Decisions of all methods on the task.
    key : str
        The metric.
    order : iterable of Method
        The best first; methods without decisions are left out.
    control : Method, optional
        The method that each other one is compared with; by default every pair is compared.

    Attributes
    ----------
    shape : str
        How the test sets lie to one another: ``single``, ``folds`` or ``five_by_two``.
    test : str
        Name of the test.
    units, parts : int
        Test samples and test sets.
    fewest : int or None
        Samples of the smaller class, for two classes.
    paired : PairedDecisions
    """

    def __init__(
        self, paired: PairedDecisions, key: str, order: Iterable[Method], control: Method | None = None
    ) -> None:
        self.key, self.control, self.shape, self.paired = key, control, paired.shape, paired
        self.methods = [method for method in order if method in paired.predicted]
        self.found: list[PairTest] = pair_tests(
            _ordered(paired, self.methods), key, higher=metric(key).higher, control=control
        )
        self.test = "five_by_two_f" if self.shape == FIVE_BY_TWO else TESTS[paired.kind][key]
        self.units, self.parts = len(np.unique(paired.ids)), len(np.unique(paired.splits))
        self.fewest = int(paired.sizes().sum(axis=0).min()) if paired.kind == "binary" else None

    @cached_property
    def intervals(self) -> dict[Method, dict[str, ScoreInterval]]:
        """Dict of method to {metric: ScoreInterval}, of all metrics that have intervals here."""
        names = list(metrics_with_interval(self.paired))
        if len(self.paired.ids) * len(self.methods) > MOST_DRAWN:
            names = [name for name in names if name in FORMULAS]
        return {m: {name: score_interval(self.paired, m, name) for name in names} for m in self.methods if names}

    def rows(self, dataset: str) -> Iterator[dict[str, object]]:
        """Return the rows of ``comparisons.tsv``, as dicts.

        Parameters
        ----------
        dataset : str
            Name of the data set, for the first column.

        Yields
        ------
        dict of str to object
            The cells of a row, by the names in `COLUMNS`.
        """
        for one in self.found:
            shared = (
                *("units", "left_out", "wins", "ties", "losses", "value", "other_value"),
                *("difference", "low", "high", "statistic", "p", "p_holm", "mean", "other_mean"),
            )
            yield _names(dataset, self.key, one, one.test) | {name: getattr(one, name) for name in shared}


def methods_of(one: Comparison | PairTest) -> tuple[Method, Method]:
    """Return the two methods that were compared.

    Parameters
    ----------
    one : Comparison or PairTest
        What the test of two methods found.

    Returns
    -------
    (Method, Method)
    """
    return cast("tuple[Method, Method]", one[:2])


def _names(dataset: str, key: str, one: Comparison | PairTest, test: str) -> dict[str, object]:
    """Return the cells that name a comparison."""
    first, second = methods_of(one)
    names: dict[str, object] = dict(zip(COLUMNS, (dataset, key, *first, *second), strict=False))
    return names | {"test": test}


def _ordered(paired: PairedDecisions, methods: Sequence[Method]) -> PairedDecisions:
    """Return the PairedDecisions with its methods in this order."""
    predicted = {method: paired.predicted[method] for method in methods}
    decisions = {method: paired.decisions[method] for method in methods if method in paired.decisions}
    return replace(paired, predicted=predicted, decisions=decisions)


def lead(one: Comparison | PairTest) -> int:
    """Return 1 where the first of two methods is ahead in what was tested, −1 where the second is, else 0.

    Parameters
    ----------
    one : Comparison or PairTest
        What the test of two methods found.

    Returns
    -------
    int
    """
    return one.lead if isinstance(one, PairTest) else int(np.sign(one.test.effect))


def directed(one: Comparison | PairTest) -> bool:
    """Tell whether a test says which of two methods is ahead, not only that they differ.

    Parameters
    ----------
    one : Comparison or PairTest
        What the test of two methods found.

    Returns
    -------
    bool
    """
    return getattr(one, "directed", True)


def is_significant(one: Comparison | PairTest) -> bool:
    """Tell whether two methods differ significantly.

    Parameters
    ----------
    one : Comparison or PairTest
        What the test of two methods found.

    Returns
    -------
    bool
        Whether p after Holm's correction is at most `LEVEL`.
    """
    return one.p_holm <= LEVEL
