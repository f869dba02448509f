"""Compared methods: every pair with its test, over many tasks, over chains, or on one task."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from seqkern.core.errors import FileError, LabelError, check_known
from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.intervals import FORMULAS, metrics_with_interval, score_interval
from seqkern.evaluation.many_task_tests import (
    Comparison,
    FriedmanTest,
    compare_all,
    critical_difference,
    friedman,
    least_p,
)
from seqkern.evaluation.metrics import higher_is_better
from seqkern.evaluation.residue_results import ChainShares
from seqkern.evaluation.single_task_tests import (
    FIVE_BY_TWO,
    TESTS,
    PairedDecisions,
    PairTest,
    metrics_with_test,
    pair_tests,
)
from seqkern.methods.baselines import BASELINES
from seqkern.methods.study_results import (
    KEYS,
    NOT_METRICS,
    DatasetResults,
    Method,
    Ranking,
    numbers,
    positive_class,
    read_table,
    rows_by_value,
    unit_scores,
)

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
    """All pairs of methods, or a control with each other method, compared by one metric."""

    key: str
    methods: list[Method]
    found: Sequence[Comparison | PairTest]
    control: Method | None

    @property
    def hopeless(self) -> bool:
        """Whether no test could find a difference, whatever the scores are."""
        return False

    def standing(self, method: Method) -> tuple[int, int]:
        """Return the numbers of methods that this one is significantly better than, and significantly worse than."""
        own = [one for one in self.found if method in methods_of(one) and is_significant(one) and directed(one)]
        better = sum((lead(one) > 0) == (one.first == method) for one in own)
        return better, len(own) - better


class Compared(_Table):
    """Comparison of methods over tasks."""

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
        higher = higher_is_better(key)
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
        """Whether the tasks are too few for the pairs: even a method that always wins could not be significant."""
        return least_p(self.tasks) * len(self.found) > LEVEL

    @property
    def ranks(self) -> dict[Method, float]:
        """Mean rank of each method; empty without Friedman's test."""
        return {} if self.friedman is None else dict(zip(self.methods, self.friedman.ranks.tolist(), strict=True))

    def averages(self, one: Comparison) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return ((mean, mean), (median, median)) of the two methods' scores over their common tasks; NaN without
        any.
        """
        pair = np.array([self.values[method] for method in methods_of(one)], dtype=float)
        common = pair[:, ~np.isnan(pair).any(axis=0)]
        if not common.size:
            return (math.nan, math.nan), (math.nan, math.nan)
        means, medians = common.mean(axis=1).tolist(), np.median(common, axis=1).tolist()
        return (means[0], means[1]), (medians[0], medians[1])

    def rows(self, dataset: str) -> Iterator[dict[str, object]]:
        """Yield the rows of ``comparisons.tsv``, as dicts."""
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
    """Comparison of methods on residues, by the share of correct residues in each tested chain."""

    def __init__(self, shares: ChainShares, methods: Sequence[Method], key: str, control: Method | None = None) -> None:
        super().__init__(shares.shares(methods), key, "chain", "chains", control)
        self.intervals = {method: {key: shares.interval(method)} for method in methods}


class SingleTaskTests(_Table):
    """Comparison of methods on one task, sample by sample."""

    def __init__(
        self, paired: PairedDecisions, key: str, order: Iterable[Method], control: Method | None = None
    ) -> None:
        self.key, self.control, self.shape, self.paired = key, control, paired.shape, paired
        self.methods = [method for method in order if method in paired.predicted]
        self.found: list[PairTest] = pair_tests(
            _ordered(paired, self.methods), key, higher=higher_is_better(key), control=control
        )
        self.test = "five_by_two_f" if self.shape == FIVE_BY_TWO else TESTS[paired.kind][key]
        self.units, self.parts = len(np.unique(paired.ids)), len(np.unique(paired.splits))
        self.fewest = int(paired.sizes().sum(axis=0).min()) if paired.kind == "binary" else None

    @cached_property
    def intervals(self) -> dict[Method, dict[str, ScoreInterval]]:
        """Intervals of each method, as {metric: ScoreInterval}, for all metrics that have intervals here."""
        names = list(metrics_with_interval(self.paired))
        if len(self.paired.ids) * len(self.methods) > MOST_DRAWN:
            names = [name for name in names if name in FORMULAS]
        return {m: {name: score_interval(self.paired, m, name) for name in names} for m in self.methods if names}

    def rows(self, dataset: str) -> Iterator[dict[str, object]]:
        """Yield the rows of ``comparisons.tsv``, as dicts."""
        for one in self.found:
            shared = (
                *("units", "left_out", "wins", "ties", "losses", "value", "other_value"),
                *("difference", "low", "high", "statistic", "p", "p_holm", "mean", "other_mean"),
            )
            yield _names(dataset, self.key, one, one.test) | {name: getattr(one, name) for name in shared}


def methods_of(one: Comparison | PairTest) -> tuple[Method, Method]:
    """Return the two methods of a comparison."""
    return cast("tuple[Method, Method]", one[:2])


def _names(dataset: str, key: str, one: Comparison | PairTest, test: str) -> dict[str, object]:
    """Return the cells that name a comparison."""
    first, second = methods_of(one)
    names: dict[str, object] = dict(zip(COLUMNS, (dataset, key, *first, *second), strict=False))
    return names | {"test": test}


def _ordered(paired: PairedDecisions, methods: Sequence[Method]) -> PairedDecisions:
    """Return the PairedDecisions with its methods in the given order."""
    predicted = {method: paired.predicted[method] for method in methods}
    decisions = {method: paired.decisions[method] for method in methods if method in paired.decisions}
    return replace(paired, predicted=predicted, decisions=decisions)


def lead(one: Comparison | PairTest) -> int:
    """Return 1 if the first of two methods is ahead in the tested quantity, −1 if the second is, otherwise 0."""
    return one.lead if isinstance(one, PairTest) else int(np.sign(one.test.effect))


def directed(one: Comparison | PairTest) -> bool:
    """Return whether a test shows the direction of a difference, not only that there is one."""
    return getattr(one, "directed", True)


def is_significant(one: Comparison | PairTest) -> bool:
    """Return whether two methods differ significantly: p after Holm's correction is at most `LEVEL`."""
    return one.p_holm <= LEVEL


# Verdicts on two methods after a test: better, different without a direction, or no significant difference.


def verdict(one: Comparison | PairTest) -> str:
    """Return the verdict on the first method: ``"better"``, ``"worse"``, ``"differs"`` or
    ``"no significant difference"``.
    """
    if not is_significant(one):
        return "no significant difference"
    if not directed(one):
        return "differs"
    return "worse" if lead(one) < 0 else "better"


# Baselines of a data set, as written by ``seqkern baseline``; none where it was not run.

NAMES = {name: baseline.title for name, baseline in BASELINES.items()}
"""Names of the baselines in figures and tables."""
CHANCE_LEVEL = ("majority", "mean")
"""Baselines that look at labels only."""


def as_method(name: str) -> Method:
    """Return the Method for a baseline; its missing solver distinguishes it from configured methods."""
    return Method(name, "")


class Baselines:
    """The scores and decisions of the baselines of one data set."""

    def __init__(self, dataset: DatasetResults) -> None:
        self.dataset = dataset

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """Numeric table from ``metrics.tsv``; empty where there is none."""
        table = read_table(self.dataset.folder("baseline") / "metrics.tsv", ["baseline", *KEYS])
        if table is None:
            return pd.DataFrame(columns=["baseline", *KEYS], dtype=str)
        return table.assign(**{c: numbers(table[c]) for c in table.columns if c not in ("baseline", *KEYS)})

    @cached_property
    def decisions(self) -> dict[Method, pd.DataFrame]:
        """Decisions of each baseline, by its `as_method` key; empty where there are none."""
        path = self.dataset.folder("baseline") / "decisions.tsv"
        table = read_table(path, ["baseline", *KEYS, "id", "label", "predicted"], ("decision",))
        if table is None:
            return {}
        return {
            as_method(name): rows.drop(columns="baseline").reset_index(drop=True)
            for name, rows in rows_by_value(table, "baseline")
        }

    def units(self, key: str) -> dict[str, pd.Series]:
        """Return the scores of each baseline that are averaged: by task if there are several, otherwise by split."""
        if key not in self.metrics:
            return {}
        keyed = self.metrics.assign(unit=self.dataset.unit(self.metrics))
        found = {name: rows.groupby("unit", sort=False)[key].mean() for name, rows in rows_by_value(keyed, "baseline")}
        return {name: series for name, series in found.items() if name in BASELINES and series.notna().any()}


# Decisions of all methods on one task, sample by sample, as input of `evaluation.single_task_tests`.

Tables: TypeAlias = "dict[Method, pd.DataFrame]"
"""Decisions of each method on one task."""


def read_paired_decisions(
    dataset: DatasetResults, task: str | None = None, baselines: "Baselines | None" = None
) -> PairedDecisions | None:
    """Return the PairedDecisions of a data set's task (default: the only one); None if no method has decisions.

    Raise LabelError if methods, or paired baselines, were not tested on the same samples and labels.
    """
    tables = {}
    read = {method: dataset.decisions(method) for method in dataset.done}
    for method, table in {**read, **({} if baselines is None else baselines.decisions)}.items():
        if table is not None and task is not None:
            table = table[table["task"] == task]
        if table is not None and len(table):
            tables[method] = table.drop(
                columns=[name for name in table.columns if ":" in name]
            )  # values of single classes
    if not tables:
        return None
    if _all_alike(tables):
        table = next(iter(tables.values()))
        ids, splits, names = (table[name].to_numpy(dtype=str) for name in ("id", "split", "label"))
        rows: dict[Method, npt.ArrayLike] = dict.fromkeys(tables, np.arange(len(ids)))
    else:
        samples = _samples(tables)
        _check_same_folds(tables)
        ids, splits, names = (np.array([sample[i] for sample in samples], dtype=str) for i in (1, 0, 2))
        place = {sample[:2]: i for i, sample in enumerate(samples)}
        rows = {method: [place[key] for key in _keys(table)] for method, table in tables.items()}
    coded = _coder(dataset, names, tables)
    decisions, predicted = {}, {}
    for method, table in tables.items():
        predicted[method] = _spread(coded(table["predicted"]), rows[method], len(ids))
        if dataset.kind != "multiclass":
            decisions[method] = _spread(table["decision"].to_numpy(float), rows[method], len(ids))
    scores = _scores(dataset.metrics, dataset.done, task)
    if baselines is not None:
        named = baselines.metrics.rename(columns={"baseline": "kernel"}).assign(solver="")
        scores |= _scores(named, list(baselines.decisions), task)
    return PairedDecisions(dataset.kind, ids, splits, coded(names), decisions, predicted, scores)


def _all_alike(tables: "Tables") -> bool:
    """Return whether all tables have the same samples and labels, row by row, each once in a test set."""
    first, *rest = tables.values()
    columns = ["split", "id", "label"]
    alike = all(
        len(table) == len(first) and all(np.all(table[c].values == first[c].values) for c in columns) for table in rest
    )
    return alike and not bool(first.duplicated(columns[:2]).any())


def _keys(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Return (split, id) of each row."""
    return list(zip(table["split"], table["id"], strict=True))


def _samples(tables: "Tables") -> list[tuple[str, str, str]]:
    """Return (split, id, label) of every sample that some method was tested on, in order of appearance."""
    found: dict[tuple[str, str], str] = {}
    for method, table in tables.items():
        seen = set()
        for key, label in zip(_keys(table), table["label"], strict=True):
            if key in seen:
                name = f"decisions of {method.kernel} with {method.solver}"
                raise FileError(f"{name}: split {key[0]!r} tests {key[1]!r} twice", remedy="evaluate again")
            seen.add(key)
            if found.setdefault(key, label) != label:
                raise LabelError(
                    f"is {found[key]!r} for one method and {label!r} for {method.kernel} with {method.solver}",
                    record=key[1],
                    remedy="compare methods that were evaluated on the same data",
                )
    return [(*key, label) for key, label in found.items()]


def _check_same_folds(tables: "Tables") -> None:
    """Raise LabelError unless all methods were tested on the same samples in the same test sets."""
    places: dict[str, tuple[set[str], str]] = {}
    for method, table in tables.items():
        name = f"{method.kernel} with {method.solver}"
        own: dict[str, set[str]] = {}
        for split, sample in _keys(table):
            own.setdefault(sample, set()).add(split)
        for sample, splits in own.items():
            other, other_name = places.setdefault(sample, (splits, name))
            if not (splits <= other or other <= splits):  # a method may lack a part, and no more
                raise LabelError(
                    f"is in test set {min(splits - other)!r} of {name}, in {min(other - splits)!r} of {other_name}",
                    record=sample,
                    remedy="compare methods that were evaluated on the same folds",
                )
    first, *rest = tables
    common = set(_keys(tables[first]))
    for method in rest:
        if common.isdisjoint(_keys(tables[method])):
            pair = " and ".join(f"{kernel} with {solver}" for kernel, solver in (first, method))
            raise LabelError(
                f"{pair} have no test unit in common", remedy="compare methods that were evaluated on the same folds"
            )


def _coder(dataset: DatasetResults, names: npt.NDArray[np.str_], tables: "Tables") -> Callable[[Any], np.ndarray]:
    """Return a function that turns labels, as text, into numbers or codes."""
    if dataset.kind == "real":
        return lambda texts: numbers(texts).to_numpy() if hasattr(texts, "to_numpy") else np.asarray(texts, dtype=float)
    if dataset.kind == "binary":
        positive = positive_class(dataset, *tables.values())
        return lambda texts: (np.asarray(texts, dtype=str) == positive).astype(np.int64)
    every = [table["predicted"].unique() for table in tables.values()]
    classes = np.unique(np.concatenate([names, *every]).astype(str))
    return lambda texts: np.searchsorted(classes, np.asarray(texts, dtype=str))


def _spread(values: np.ndarray, rows: npt.ArrayLike, n: int) -> np.ndarray:
    """Return an array of length n with values in the given rows; NaN (or −1 for codes) elsewhere."""
    whole = np.full(n, np.nan if values.dtype.kind == "f" else -1, dtype=values.dtype)
    whole[np.asarray(rows)] = values
    return whole


def _scores(
    metrics: pd.DataFrame, methods: Sequence[Method], task: str | None
) -> dict[Method, dict[tuple[str, str], float]]:
    """Return {method: {(split, metric): score}} of a task."""
    if task is not None:
        metrics = metrics[metrics["task"] == task]
    columns = [name for name in metrics.columns if name not in NOT_METRICS]
    result: dict[Method, dict[tuple[str, str], float]] = {}
    for method in methods:
        own = metrics[(metrics["kernel"] == method.kernel) & (metrics["solver"] == method.solver)]
        result[method] = {
            (split, name): float(value)
            for name in columns
            for split, value in zip(own["split"], own[name], strict=True)
            if value == value
        }
    return result


# Tests of which methods are better: signed-rank tests over many tasks, or the tests that one task's folds allow.
#
# For residues the signed-rank test is over chains: residues of one chain are not independent.

LEAST = 6  # with fewer tasks not even one that is always better can be told from chance
ALSO = ("roc50", "median_rfp")
BOTH = {"auc": "accuracy"}  # metrics that are compared together on one task


def enough(tasks: int, methods: int) -> bool:
    """Return whether some test over tasks can find a difference: six tasks, or three if three methods can be ranked."""
    return methods > 1 and tasks >= (LEAST_RANKED if methods >= LEAST_RANKED else LEAST)


def ranked_order(ranking: Ranking, key: str | None = None) -> list[Method]:
    """Return the methods with a score, the best first: by a metric that has means, else by the headline metric."""
    best = ranking.best[0]
    order = [best, *(method for method in ranking.order if method != best)]
    if key == ranking.metric or key not in ranking.scores:
        return order
    sign, means = -1 if higher_is_better(key) else 1, {method: ranking.score(method, key).mean for method in order}
    return sorted(order, key=lambda method: (math.isnan(means[method]), sign * means[method]))


def compare_tasks(
    dataset: DatasetResults,
    ranking: Ranking,
    word: str,
    words: str,
    keys: Collection[str] | None = None,
    control: Method | None = None,
) -> dict[str, Compared]:
    """Return {metric: Compared} over the tasks of a data set, the headline metric first.

    It is empty for a single task, fewer than two methods, or too few tasks for either test: six, or three if at least
    three methods can be ranked. The default metrics are the headline metric, ROC50 and median RFP.
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
    """Return {metric: SingleTaskTests} on one task: by the headline metric, and with the AUC also by accuracy.

    For residues it is {metric: ComparedChains}, by the share of correct residues. It is empty for fewer than two
    methods
    with decisions, and if none of the default metrics has a valid test. Raise ParameterError for a given metric
    that has
    no test here.
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
        check_known("metric to compare chains by", [key], same)
        methods = [method for method in ranked_order(ranking, key) if method in paired.predicted]
        found[key] = ComparedChains(ChainShares(paired), methods, key, control)
    return found


def why_untested(dataset: DatasetResults, ranking: Ranking, task: str | None = None) -> LabelError | None:
    """Return the LabelError with the reason why no test is valid on one task; None if a test is valid."""
    paired = read_paired_decisions(dataset, task) if len(ranking.order) > 1 and not dataset.residues else None
    return paired.untestable("accuracy") if paired is not None and len(paired.predicted) > 1 else None


def compare_datasets(
    datasets: Sequence[DatasetResults], key: str | None = None, control: Method | None = None
) -> dict[str, Compared]:
    """Return {metric: Compared} over data sets, for the methods with a mean score on all of them.

    It is empty for too few data sets or methods, and if by default they are not all ranked by one metric.
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
    sign = -1 if higher_is_better(key) else 1
    order = sorted(values, key=lambda method: sign * np.mean(values[method]))
    return {key: Compared({method: values[method] for method in order}, key, "data set", "data sets", control)}
