"""Which methods are better than which: signed-rank tests over many tasks, or the tests that one task's folds allow.

Of residues the signed-rank test is over chains: those of one chain are not independent of one another.
"""

import math
from collections.abc import Collection, Sequence

import numpy as np

from seqkern.core.errors import LabelError, unknown_name
from seqkern.evaluation.chain_shares import ChainShares
from seqkern.evaluation.paired_decisions import PairedDecisions
from seqkern.evaluation.single_task_tests import metrics_with_test
from seqkern.report.compared import LEAST_RANKED, Compared, ComparedChains, SingleTaskTests
from seqkern.report.dataset_results import DatasetResults, Method
from seqkern.report.decision_tables import read_paired_decisions
from seqkern.report.sentences import metric
from seqkern.report.tables import Ranking, unit_scores

LEAST = 6  # with fewer tasks not even one that is always better can be told from chance
ALSO = ("roc50", "median_rfp")
BOTH = {"auc": "accuracy"}  # metrics that are compared together on one task


def enough(tasks: int, methods: int) -> bool:
    """Tell whether some test over tasks may find something: six tasks, or three if three methods can be ranked.

    Parameters
    ----------
    tasks : int
        Number of tasks with scores.
    methods : int
        Number of methods with scores.

    Returns
    -------
    bool
    """
    return methods > 1 and tasks >= (LEAST_RANKED if methods >= LEAST_RANKED else LEAST)


def ranked_order(ranking: Ranking, key: str | None = None) -> list[Method]:
    """Return the methods with a score, the best first: by a metric that has means, else by the headline metric.

    Parameters
    ----------
    ranking : Ranking
        The methods of the data set, the best first.
    key : str, optional
        The metric; by default the headline metric.

    Returns
    -------
    list of Method
    """
    best = ranking.best[0]
    order = [best, *(method for method in ranking.order if method != best)]
    if key == ranking.metric or key not in ranking.scores:
        return order
    sign, means = -1 if metric(key).higher else 1, {method: ranking.score(method, key).mean for method in order}
    return sorted(order, key=lambda method: (math.isnan(means[method]), sign * means[method]))


def compare_tasks(
    dataset: DatasetResults,
    ranking: Ranking,
    word: str,
    words: str,
    keys: Collection[str] | None = None,
    control: Method | None = None,
) -> dict[str, Compared]:
    """Return {metric: Compared} over the tasks of a data set.

    Empty for a single task, fewer than two methods, and too few tasks for either test: six, or three where three
    methods or more can be ranked.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    ranking : Ranking
        The methods of the data set, the best first.
    word, words : str
        What a task is called, one and several.
    keys : collection of str, optional
        Metrics; by default the headline metric, ROC50 and median RFP.
    control : Method, optional
        The method that each other one is compared with; by default every pair is compared.

    Returns
    -------
    dict of str to Compared
        By metric, the headline metric first.
    """
    requested = keys is not None and len(ranking.order) > 1
    if not dataset.several or not (requested or enough(len(dataset.units), len(ranking.order))):
        return {}
    units, found = unit_scores(dataset), {}
    for key in dict.fromkeys((ranking.headline, *ALSO) if keys is None else keys):
        if key in ranking.scores:
            wide = units.pivot(index="unit", columns=["kernel", "solver"], values=key).reindex(dataset.units)
            values = {method: wide[tuple(method)].to_numpy() for method in ranked_order(ranking, key)}
            found[key] = Compared(values, key, word, words, control)
    return found


def compare_on_task(
    dataset: DatasetResults,
    ranking: Ranking,
    keys: Collection[str] | None = None,
    control: Method | None = None,
    task: str | None = None,
) -> dict[str, Compared | SingleTaskTests]:
    """Return {metric: SingleTaskTests} on one task: by the headline metric, and with the AUC by accuracy.

    Of residues {metric: ComparedChains}, by the share of them that are right. Empty for fewer than two methods with
    decisions, and where by default there is no metric with a valid test.

    Parameters are those of `compare_tasks`; `task` names the one of several.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    ranking : Ranking
        The methods of the data set, the best first.
    keys : collection of str, optional
        Metrics; by default the headline metric, and with the AUC the accuracy.
    control : Method, optional
        The method that each other one is compared with; by default every pair is compared.
    task : str, optional
        One task of several; by default the only one.

    Returns
    -------
    dict of str to Compared or SingleTaskTests
        By metric.

    Raises
    ------
    ParameterError
        For a metric that has no test here.
    """
    paired = read_paired_decisions(dataset, task) if len(ranking.order) > 1 else None
    if paired is None or len(paired.predicted) < 2:
        return {}
    if dataset.residues:
        return _compare_chains(paired, ranking, keys or [ranking.headline], control)
    if keys is None:
        known = metrics_with_test(paired)
        wanted = (ranking.headline, BOTH.get(ranking.headline))
        keys = [name for name in wanted if name is not None and name in known] or known[:1]
    return {key: SingleTaskTests(paired, key, ranked_order(ranking, key), control) for key in keys}


def _compare_chains(
    paired: PairedDecisions, ranking: Ranking, keys: Collection[str], control: Method | None
) -> dict[str, Compared | SingleTaskTests]:
    """Return {metric: ComparedChains}; the headline metric of residues, such as Q3, is their accuracy."""
    same = (ranking.headline, "accuracy")
    found: dict[str, Compared | SingleTaskTests] = {}
    for key in keys:
        if key not in same:
            raise unknown_name("metric to compare chains by", key, same)
        methods = [method for method in ranked_order(ranking, key) if method in paired.predicted]
        found[key] = ComparedChains(ChainShares(paired), methods, key, control)
    return found


def why_untested(dataset: DatasetResults, ranking: Ranking, task: str | None = None) -> LabelError | None:
    """Return the LabelError that says why nothing can be tested on one task; None where `compare_on_task` finds a test.

    Parameters are those of `compare_on_task`.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    ranking : Ranking
        The methods of the data set, the best first.
    task : str, optional
        One task of several; by default the only one.

    Returns
    -------
    LabelError or None
        What makes every test invalid, for use in a message.
    """
    paired = read_paired_decisions(dataset, task) if len(ranking.order) > 1 and not dataset.residues else None
    return paired.untestable("accuracy") if paired is not None and len(paired.predicted) > 1 else None


def compare_datasets(
    datasets: Sequence[DatasetResults], key: str | None = None, control: Method | None = None
) -> dict[str, Compared]:
    """Return {metric: Compared} over data sets, of the methods with a mean score on all of them.

    Empty for too few data sets or methods, and where by default they are not all ranked by one metric.

    Parameters
    ----------
    datasets : list of DatasetResults
        The data sets.
    key : str, optional
        The metric; by default the one that all are ranked by.
    control : Method, optional
        The method that each other one is compared with; by default every pair is compared.

    Returns
    -------
    dict of str to Compared
        By metric: of one metric, or empty.
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
