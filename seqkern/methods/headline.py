"""First-screen results of a data set: each method's headline score and interval, against chance and baselines.

The test against chance permutes labels within test sets. If there are enough tasks for it to find something, the
signed-rank test of the tasks' scores against chance is used instead; for residues, the signed-rank test of the
chains' scores against the majority class. p is corrected by Holm's method for the number of methods.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError, LabelError, SeqkernError
from seqkern.core.statistics import Z95, holm
from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.chance import (
    Permuted,
    chance_test,
    permuted_accuracy,
    permuted_auc,
    permuted_error,
    variance_of_mean,
)
from seqkern.evaluation.intervals import (
    TooFew,
    accuracy_ends,
    auc_variance,
    error_ends,
    quantile,
    share_ends,
    task_ends,
    too_few_of,
)
from seqkern.evaluation.many_task_tests import (
    Comparison,
    compare_all,
    corrected_mean,
    corrected_ranking,
    least_p,
    signed_rank_test,
)
from seqkern.evaluation.metrics import higher_is_better
from seqkern.evaluation.residue_results import ChainShares
from seqkern.evaluation.single_task_tests import FOLDS, SINGLE, PairedDecisions, PairTest, metrics_with_test, pair_tests
from seqkern.methods.baselines import BASELINES, Baseline
from seqkern.methods.compared import (
    CHANCE_LEVEL,
    LEVEL,
    NAMES,
    Baselines,
    as_method,
    directed,
    lead,
    methods_of,
    ranked_order,
    read_paired_decisions,
)
from seqkern.methods.study_results import (
    KEYS,
    DatasetResults,
    Method,
    Ranking,
    numbers,
    positive_class,
    read_table,
    rows_by,
    rows_by_value,
    unit_scores,
)

if TYPE_CHECKING:
    import pandas as pd


# Split-by-split scores from one method's decisions: score against permuted labels, variance, errors.


@dataclass
class SplitScores:
    """Scores of one method, split by split.

    `variances` are of the AUC only, `errors` for real labels only. `excess` is the factor by which groups of related
    samples enlarge the variance of each split. `single` is the number of splits in which only one class is predicted.
    """

    # The headline score of each split against all permutations of its labels
    permuted: list[Permuted] = field(default_factory=list)
    variances: list[float] = field(default_factory=list)  # Of the AUC of each split; empty for other metrics
    errors: list[npt.NDArray[np.float64]] = field(default_factory=list)  # Of each split, for real labels
    # Of each split, by which factor groups of related samples enlarge the variance; empty for real labels
    excess: list[float] = field(default_factory=list)
    splits: int = 0  # How many splits there are, and in how many only one class is predicted
    single: int = 0  # How many splits there are, and in how many only one class is predicted
    ids: list[str] = field(default_factory=list)  # Of the tested samples, once for each split that tests them

    @property
    def samples(self) -> int:
        """Number of tested samples, each counted once."""
        return len(set(self.ids))

    @property
    def independent(self) -> float:
        """Effective number of independent samples: the number that carries as much information as those tested."""
        known = [factor for factor in self.excess if not math.isnan(factor)]
        return self.samples / float(np.mean(known)) if known else self.samples

    @property
    def tested_once(self) -> bool:
        """Whether each sample is in only one test set."""
        return self.samples == len(self.ids)

    @property
    def predicts_one_class(self) -> bool:
        """Whether only one class is predicted in most splits."""
        return 2 * self.single > self.splits

    def add(self, alone: Permuted, grouped: Permuted) -> None:
        """Add the score of a split, with its variance for independent samples and for samples in groups."""
        self.permuted.append(grouped)
        self.excess.append(grouped.variance / alone.variance if alone.variance else 1.0)


def split_scores(
    dataset: DatasetResults, table: pd.DataFrame, key: str, groups: Mapping[str, Mapping[str, str]] | None = None
) -> SplitScores:
    """Return the SplitScores of a method by the headline metric: ``auc``, ``accuracy`` or ``rmse``.

    No score is computed for other metrics.
    """
    found = SplitScores(ids=table["id"].tolist())
    for (task, _), rows in rows_by(table, ["task", "split"]):
        found.splits += 1
        found.single += dataset.kind != "real" and len(rows) > 1 and rows["predicted"].nunique() == 1
        if key == "rmse":
            labels, predicted = numbers(rows["label"]).to_numpy(), rows["decision"].to_numpy(float)
            found.permuted.append(permuted_error(labels, predicted))
            found.errors.append(labels - predicted)
        elif key == "accuracy":
            both = rows[["label", "predicted"]].to_numpy(str)
            codes = np.unique(both, return_inverse=True)[1].reshape(both.shape)
            found.add(
                *(permuted_accuracy(codes[:, 0], codes[:, 1], own) for own in (None, _groups(rows, groups, task)))
            )
        elif key == "auc":
            rows, labels, decisions = _ranked(dataset, task, rows)
            if decisions is not None:
                found.add(*(permuted_auc(labels, decisions, own) for own in (None, _groups(rows, groups, task))))
                found.variances.append(auc_variance(labels, decisions)[1] * found.excess[-1])
    return found


def _groups(
    rows: pd.DataFrame, groups: Mapping[str, Mapping[str, str]] | None, task: str
) -> npt.NDArray[np.int64] | None:
    """Return a code for the group of each row; None where the folds have no groups."""
    known = (groups or {}).get(task)
    if known is None:
        return None
    # a sample without a group stands alone
    return np.unique([known.get(name) or f"\t{name}" for name in rows["id"]], return_inverse=True)[1]


def _ranked(dataset: DatasetResults, task: str, rows: pd.DataFrame) -> tuple[pd.DataFrame, Any, Any]:
    """Return the rows with decision values, their codes and values; None unless all values are known."""
    if dataset.kind == "binary":
        rows = rows[rows["decision"].notna()]
        positive = (rows["label"] == positive_class(dataset, rows)).to_numpy().astype(int)
        return rows, positive, rows["decision"].to_numpy(float)
    classes = dataset.classes(task) or sorted(set(rows["label"]))
    columns = [f"decision:{name}" for name in classes]
    known = rows["label"].isin(classes)
    if not known.all() or not all(column in rows for column in columns) or rows[columns].isna().any(axis=None):
        return rows, None, None
    code = {name: i for i, name in enumerate(classes)}
    return rows, rows["label"].map(code).to_numpy(), rows[columns].to_numpy(float)


# Groups of samples that the folds kept together, from the fold tables.

GROUP = "group"


def sample_groups(dataset: DatasetResults) -> dict[str, dict[str, str]]:
    """Return the group of each sample, by task; tasks whose folds have no groups are left out."""
    if dataset.composition is None:
        return {}
    found = {}
    for task, _ in rows_by_value(dataset.composition[KEYS].drop_duplicates(), "task"):
        table = read_table(dataset.folder("folds") / f"{task}.tsv", ["id"])
        if table is not None and GROUP in table:
            found[task] = dict(zip(table["id"], table[GROUP], strict=True))
    return found


# Scores of the best of several methods, corrected for the choice, for the report and `seqkern compare`.

MOST_DRAWN = 250_000
"""Maximum number of methods times test samples for drawing samples again."""
DRAWS = 200
RANKED = ("auc", "roc50", "average_precision")


def corrected_on_task(paired: PairedDecisions, methods: Sequence[Method], key: str) -> float:
    """Return the best method's score on one task, corrected for the choice among all methods.

    It is NaN for a single method, a score that cannot be recomputed from resampled samples, test sets that overlap
    or are
    too small, and very many decisions.
    """
    if len(methods) < 2 or paired.shape not in (SINGLE, FOLDS) or len(methods) * len(paired.ids) > MOST_DRAWN:
        return math.nan
    if paired.kind == "binary" and key in RANKED and paired.untestable(key) is None:
        decisions = [paired.decisions[method] for method in methods if method in paired.decisions]
        if len(decisions) == len(methods) and not np.isnan(decisions).any():
            return corrected_ranking(paired.labels, decisions, key, folds=paired.splits, draws=DRAWS)
    if paired.kind != "real" and key == "accuracy" and paired.untestable(key) is None:
        right = [paired.predicted[method] == paired.labels for method in methods if method in paired.predicted]
        return corrected_mean(right, folds=paired.splits, draws=DRAWS) if len(right) == len(methods) else math.nan
    return math.nan


def corrected_over_tasks(values: Mapping[Method, npt.ArrayLike], key: str) -> float:
    """Return the best method's mean score over tasks, corrected for the choice; NaN for a single method or task."""
    if len(values) < 2:
        return math.nan
    sign = 1 if higher_is_better(key) else -1
    return sign * corrected_mean(sign * np.array(list(values.values()), dtype=np.float64), draws=DRAWS)


def not_better(corrected: float, score: float, key: str) -> float:
    """Return a corrected score capped at the score itself, which the bootstrap may slightly exceed; NaN if unknown."""
    if math.isnan(corrected):
        return corrected
    return min(corrected, score) if higher_is_better(key) else max(corrected, score)


CLASS_METRICS = ("accuracy", "balanced_accuracy", "mcc", "sensitivity", "specificity")
"""Scores of predicted classes; a method may lead them by predicting one class, without having learned anything."""


@dataclass(frozen=True)
class Entry:
    """A method, or a baseline, on the first screen.

    The interval from `low` to `high` holds for all methods together; p is corrected for the number of methods. Missing
    values are NaN.

    >>> Entry(0.9, 0.85, 0.93, p=0.001, above=True).beats_chance
    True
    """

    score: float  # The headline score
    low: float = math.nan  # Lower end of its interval, which holds for all methods together; NaN without an interval
    high: float = math.nan  # Upper end
    p: float = math.nan  # Against chance, corrected for the number of methods; NaN without a test
    above: bool = False  # Whether the score is on the better side of chance

    @property
    def beats_chance(self) -> bool | None:
        """Whether the method is significantly better than chance; None without a test."""
        return None if math.isnan(self.p) else self.above and self.p <= LEVEL

    @property
    def worse(self) -> bool:
        """Whether the method is significantly worse than chance."""
        return not self.above and self.p <= LEVEL


@dataclass(frozen=True)
class AgainstBaseline:
    """Comparison of the methods with the strongest trivial baseline, or with the strongest reference method."""

    name: str  # Of the baseline
    key: str  # The metric of the test
    # Each method's score less the baseline's, and the interval of the difference, which holds for all methods together
    gains: dict[Method, ScoreInterval]
    # 1 if the method is significantly better, −1 if the baseline is, 0 if they do not differ significantly
    signs: dict[Method, int]
    # Over tasks: the number of tasks on which a method is ahead, and of all
    ahead: dict[Method, tuple[int, int]] = field(default_factory=dict)


class Headline:
    """The methods of a data set by its headline metric, for the first screen."""

    def __init__(self, dataset: DatasetResults, ranking: Ranking) -> None:
        self.dataset, self.ranking, self.key = dataset, ranking, ranking.headline
        self.baselines = Baselines(dataset)
        self.methods = ranked_order(ranking) if ranking.order else []
        self.higher = higher_is_better(self.key)

    @cached_property
    def entries(self) -> dict[Method, Entry]:
        """Entry of each method, best first."""
        entries = {method: self._interval(method, self.ranking.score(method).mean) for method in self.methods}
        if self.untested is None:
            tests = [self._against_chance(method) for method in self.methods]
            corrected = holm([p for p, _ in tests])
            for method, p, (_, above) in zip(self.methods, corrected, tests, strict=True):
                entries[method] = replace(entries[method], p=float(p), above=above)
        return entries

    @cached_property
    def baseline_entries(self) -> dict[str, Entry]:
        """Entry of each baseline by name, without a test: reference methods, then trivial baselines; best first."""
        found = self.baselines.units(self.key)
        entries = {name: self._interval(as_method(name), float(series.mean())) for name, series in found.items()}
        sign = -1 if self.higher else 1
        return dict(sorted(entries.items(), key=lambda item: (BASELINES[item[0]].trivial, sign * item[1].score)))

    @property
    def chance(self) -> float | None:
        """Score of chance: 0.5 for an AUC, otherwise the majority class's or the mean's score; None if unknown."""
        if self.key == "auc":
            return 0.5
        return None if self.level is None else self.baseline_entries[self.level].score

    @cached_property
    def level(self) -> str | None:
        """Name of the baseline that stands for chance; None where there is none."""
        return next((name for name in self.baseline_entries if name in CHANCE_LEVEL), None)

    @property
    def drawn_baselines(self) -> list[tuple[Baseline, Entry]]:
        """The baselines, but for those that the line of chance stands for."""
        hidden = CHANCE_LEVEL if self.chance is not None else ()
        return [(BASELINES[name], entry) for name, entry in self.baseline_entries.items() if name not in hidden]

    @property
    def reference(self) -> str:
        """Name, for sentences, of the reference that methods are tested against: chance, or the baseline standing for
        it.
        """
        tested = self.dataset.residues or (self._ranks_tasks and self.key != "auc")
        return "chance" if self.level is None or not tested else NAMES[self.level]

    @cached_property
    def untested(self) -> LabelError | None:
        """Reason, as an error, why no method can be tested against chance; None if one can."""
        if self.dataset.several or self.dataset.residues or self._paired is None:
            return None
        return self._paired.untestable("accuracy") if self._paired.apart else None

    @property
    def tested(self) -> bool:
        """Whether any method was tested against chance."""
        return any(entry.beats_chance is not None for entry in self.entries.values())

    @property
    def signed_ranks(self) -> bool:
        """Whether the test against chance is the signed-rank test, over tasks or chains."""
        return self.dataset.residues or self._ranks_tasks

    @cached_property
    def corrected(self) -> float:
        """Best method's score, corrected for the choice among all methods; NaN if unknown."""
        score = self.entries[self.methods[0]].score if self.methods else math.nan
        if self.dataset.several:
            found = corrected_over_tasks(self._task_values(), self.key)
        elif self._paired is None or self.dataset.residues:
            return math.nan
        else:
            found = corrected_on_task(self._paired, self.methods, self.key)
        return not_better(found, score, self.key)

    @cached_property
    def too_few(self) -> TooFew | None:
        """Quantity too small for a score on the only task; None if there is enough, or for several tasks."""
        paired = self._paired
        if paired is None or self.dataset.residues:
            return None
        ids, first = np.unique(paired.ids, return_index=True)
        known = next(iter(self.groups.values()), None)
        groups = None if known is None else [known.get(name) or f"\t{name}" for name in ids.tolist()]
        if paired.kind == "real":
            return too_few_of("real", np.zeros(len(ids), dtype=np.int64), 1, groups)
        codes = paired.labels[first]
        return too_few_of(paired.kind, codes, max(2, int(codes.max()) + 1), groups)

    def beats_chance(self, method: Method) -> bool | None:
        """Return whether a method is significantly better than chance; None without a test."""
        return self.entries[method].beats_chance if method in self.entries else None

    def may_be_best(self, method: Method, key: str) -> bool:
        """Return whether a method may have a star in a column of scores.

        A method that was tested and is not significantly better than chance may not; nor, for scores of predicted
        classes,
        may a method that predicts only one class.
        """
        if self.beats_chance(method) is False:
            return False
        return key not in CLASS_METRICS or not self._splits(method).predicts_one_class

    def best_baseline(self, *, trivial: bool) -> str | None:
        """Return the best trivial baseline other than chance, or the best reference method; None without one."""
        own = (name for name in self.baseline_entries if BASELINES[name].trivial == trivial)
        return next((name for name in own if not (self.key == "auc" and name in CHANCE_LEVEL)), None)

    @cached_property
    def against_baselines(self) -> dict[bool, AgainstBaseline]:
        """Comparison with the strongest baseline of either kind, by whether it is trivial, where a test is valid."""
        found = {trivial: self._against(trivial) for trivial in (False, True)}
        return {trivial: one for trivial, one in found.items() if one is not None}

    def _against(self, trivial: bool) -> AgainstBaseline | None:
        """Return the comparison with the strongest baseline of a kind; None without one, or without a valid test."""
        name = self.best_baseline(trivial=trivial)
        if name is None or not self.methods:
            return None
        control = as_method(name)
        score = self.baseline_entries[name].score
        gains = {m: ScoreInterval(self.ranking.score(m).mean - score, *[math.nan] * 3) for m in self.methods}
        if self.dataset.several:
            values = self._task_values() | {control: self.baselines.units(self.key)[name].reindex(self.dataset.units)}
            own, count = np.asarray(values[control], dtype=np.float64), len(self.methods)
            gains = {m: task_ends(np.asarray(values[m]) - own, count, least=-math.inf) for m in self.methods}
            tests = compare_all(values, higher=self.higher, control=control)
            ahead = {methods_of(one)[1]: (one.test.losses, one.test.tasks) for one in tests}
            return AgainstBaseline(name, self.key, gains, _signs(tests), ahead)
        if self._paired is None:
            return None
        if self.dataset.residues:
            shares = self._shares([control, *self.methods])
            return AgainstBaseline(name, self.key, gains, _signs(compare_all(shares, control=control)))
        return self._pair_tests(self._paired, name, gains)

    def _pair_tests(
        self, paired: PairedDecisions, name: str, gains: dict[Method, ScoreInterval]
    ) -> AgainstBaseline | None:
        """Return the results of the tests on one task against the baseline."""
        known = metrics_with_test(paired)
        key = self.key if self.key in known else next(iter(known), None)
        if key is None:
            return None
        if key == "accuracy":  # the best baseline by rank need not be the best by predicted classes
            alike = [n for n in self.baseline_entries if BASELINES[n].trivial == BASELINES[name].trivial]
            right = {n: float(np.mean(paired.predicted[as_method(n)] == paired.labels)) for n in alike}
            name = max(right, key=lambda n: right[n])
        control = as_method(name)
        own = {m: values for m, values in paired.predicted.items() if m == control or m in self.methods}
        try:  # the other baselines must not count in the correction for the number of tests
            tests = pair_tests(replace(paired, predicted=own), key, higher=higher_is_better(key), control=control)
        except SeqkernError:
            return None
        wider = quantile(len(self.methods)) / Z95  # the tests give the interval of a single difference
        for one in tests if key != "rmse" else ():  # of errors, the test compares medians
            own_gain, (low, high) = -one.difference, (-one.high, -one.low)
            ends = own_gain - wider * (own_gain - low), own_gain + wider * (high - own_gain)
            gains[methods_of(one)[1]] = ScoreInterval(own_gain, math.nan, *ends)
        return AgainstBaseline(name, key, gains, _signs(tests))

    @cached_property
    def _paired(self) -> PairedDecisions | None:
        """Decisions on the only task, including the baselines' decisions."""
        if self.dataset.several:
            return None
        try:
            return read_paired_decisions(self.dataset, baselines=self.baselines)
        except LabelError as error:
            read_paired_decisions(self.dataset)  # where the methods disagree, that is the error
            folder = self.dataset.folder("baseline")
            raise FileError(
                "its samples or folds differ from the methods' own", file=folder, remedy="run seqkern baseline again"
            ) from error

    @cached_property
    def _chains(self) -> ChainShares | None:
        """Correct residues of each chain; None for other data."""
        return ChainShares(self._paired) if self.dataset.residues and self._paired is not None else None

    def _shares(self, methods: list[Method]) -> dict[Method, npt.NDArray[np.float64]]:
        """Return the share of correct residues in each chain, by method."""
        assert self._chains is not None
        return self._chains.shares(m for m in methods if m in self._chains.paired.predicted)

    def _task_values(self) -> dict[Method, npt.ArrayLike]:
        """Return the scores of each method on each task."""
        wide = unit_scores(self.dataset).pivot(index="unit", columns=["kernel", "solver"], values=self.key)
        wide = wide.reindex(self.dataset.units)
        return {method: wide[tuple(method)].to_numpy() for method in self.methods}

    @cached_property
    def _found(self) -> dict[Method, SplitScores]:
        """Split scores computed so far, by method or baseline."""
        return {}

    @cached_property
    def groups(self) -> dict[str, dict[str, str]]:
        """Groups of samples that the folds kept together, by task."""
        return {} if self.dataset.residues else sample_groups(self.dataset)

    def _splits(self, method: Method) -> SplitScores:
        """Return the SplitScores of a method or baseline; empty without decisions."""
        if method not in self._found:
            own = not method.solver
            table: pd.DataFrame | None = self.baselines.decisions.get(method) if own else self.dataset.decisions(method)
            found = None if table is None else split_scores(self.dataset, table, self.key, self.groups)
            self._found[method] = found or SplitScores()
        return self._found[method]

    def _interval(self, method: Method, score: float) -> Entry:
        """Return the Entry of a method or baseline, without its test."""
        count = len(self.methods)
        if self.dataset.several:
            values = self._values(method)
            found = task_ends(values, count, largest=1 if self.key != "rmse" else math.inf)
        elif self.dataset.residues:
            if self._chains is None or method not in self._chains.paired.predicted:
                return Entry(score)
            one = self._chains.interval(method)
            if math.isnan(one.se):  # a single chain
                return Entry(score)
            half = quantile(count, max(len(self._chains.names) - 1, 1)) * one.se
            found = ScoreInterval(score, one.se, max(0.0, score - half), min(1.0, score + half))
        else:
            found = self._split_interval(self._splits(method), score, count)
        return Entry(score, found.low, found.high)

    def _values(self, method: Method) -> npt.ArrayLike:
        """Return the scores of a method or baseline on each task."""
        return self._task_values()[method] if method.solver else self.baselines.units(self.key)[method.kernel]

    def _split_interval(self, own: SplitScores, score: float, count: int) -> ScoreInterval:
        """Return the interval of a mean over the splits of the only task."""
        if self.key == "accuracy":
            return accuracy_ends(score, own.independent, own.splits, count)
        if self.key == "rmse":
            return error_ends(score, own.errors, count, tested_once=own.tested_once)
        known = [v for v, one in zip(own.variances, own.permuted, strict=True) if not math.isnan(one.score)]
        return share_ends(score, variance_of_mean(known, tested_once=own.tested_once), count)

    def _against_chance(self, method: Method) -> tuple[float, bool]:
        """Return the p-value of a method against chance, and whether its score is on the better side."""
        if self.dataset.residues:
            control = as_method(self.level or "")
            if self._chains is None or self.level is None or method not in self._chains.paired.predicted:
                return math.nan, False
            shares = self._shares([method, control])
            test = signed_rank_test(shares[method], shares[control])
            return test.p, test.effect > 0
        if self._ranks_tasks:
            expected = self._expected()
            if expected is None:
                return math.nan, False
            test = signed_rank_test(self._task_values()[method], expected, higher=self.higher)
            return test.p, test.effect > 0
        own = self._splits(method)
        found = chance_test(own.permuted, tested_once=own.tested_once and not self.dataset.several)
        return found.p, found.z > 0

    @property
    def _ranks_tasks(self) -> bool:
        """Whether there are enough tasks for a method better on all of them to be significant."""
        tasks = len(self.dataset.units)
        return self.dataset.several and least_p(tasks) * len(self.methods) <= LEVEL

    def _expected(self) -> npt.ArrayLike | None:
        """Return the score of chance on each task; None if unknown."""
        if self.key == "auc":
            return np.full(len(self.dataset.units), 0.5)
        found: Mapping[str, pd.Series] = self.baselines.units(self.key)
        return None if self.level is None else found[self.level].reindex(self.dataset.units).to_numpy()


def _signs(tests: Sequence[Comparison | PairTest]) -> dict[Method, int]:
    """Return for each method 1 if significantly better than the control (first of each pair), −1 if worse, otherwise
    0.
    """
    found: dict[Method, int] = {}
    for one in tests:
        found[methods_of(one)[1]] = -lead(one) if one.p_holm <= LEVEL and directed(one) else 0
    return found
