"""What the first screen says of a data set: every method's headline score with its interval, against chance, baselines.

The test against chance is that of permuted labels within test sets; where there are enough tasks for it to find
something, the signed-rank test of the tasks' scores against chance; of residues, that of the chains' scores against the
majority class. p is corrected by Holm's method for the number of methods.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError, LabelError, SeqkernError
from seqkern.core.multiple_testing import holm
from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.chain_shares import ChainShares
from seqkern.evaluation.chance import chance_test, variance_of_mean
from seqkern.evaluation.paired_decisions import PairedDecisions
from seqkern.evaluation.simultaneous import accuracy_ends, error_ends, quantile, share_ends, task_ends
from seqkern.evaluation.single_task_tests import PairTest, metrics_with_test, pair_tests
from seqkern.evaluation.small_samples import TooFew, too_few_of
from seqkern.evaluation.wilcoxon import Comparison, compare_all, least_p, signed_rank_test
from seqkern.report.baselines import CHANCE_LEVEL, NAMES, Baselines, as_method
from seqkern.report.best_of_many import corrected_on_task, corrected_over_tasks, not_better
from seqkern.report.compared import LEVEL, directed, lead, methods_of
from seqkern.report.comparisons import ranked_order
from seqkern.report.dataset_results import DatasetResults, Method
from seqkern.report.decision_tables import read_paired_decisions
from seqkern.report.sample_groups import sample_groups
from seqkern.report.sentences import metric
from seqkern.report.split_scores import SplitScores, split_scores
from seqkern.report.tables import Ranking, unit_scores

if TYPE_CHECKING:
    import pandas as pd

CLASS_METRICS = ("accuracy", "balanced_accuracy", "mcc", "sensitivity", "specificity")
"""Scores of predicted classes, which a method that predicts one class may lead without having learned anything."""


@dataclass(frozen=True)
class Entry:
    """A method, or a baseline, on the first screen.

    Attributes
    ----------
    score, low, high : float
        The headline score, and the ends of its interval, which holds for all methods together; NaN where there is none.
    p : float
        Against chance, corrected for the number of methods; NaN without a test.
    above : bool
        Whether the score is on the better side of chance.

    Examples
    --------
    >>> Entry(0.9, 0.85, 0.93, p=0.001, above=True).beats_chance
    True
    """

    score: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    above: bool = False

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
    """The methods against the strongest trivial baseline.

    Attributes
    ----------
    name : str
        Of the baseline.
    key : str
        The metric of the test.
    signs : dict of Method to int
        1 if the method is significantly better, −1 if the baseline is, 0 if they do not differ significantly.
    """

    name: str
    key: str
    signs: dict[Method, int]


class Headline:
    """The methods of a data set by its headline metric, for the first screen.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    ranking : Ranking
        Its methods, the best first.

    Attributes
    ----------
    dataset : DatasetResults
    ranking : Ranking
    key : str
        The headline metric.
    baselines : Baselines
    methods : list of Method
        Those with a score, the best first.
    """

    def __init__(self, dataset: DatasetResults, ranking: Ranking) -> None:
        self.dataset, self.ranking, self.key = dataset, ranking, ranking.headline
        self.baselines = Baselines(dataset)
        self.methods = ranked_order(ranking) if ranking.order else []
        self.higher = metric(self.key).higher

    @cached_property
    def entries(self) -> dict[Method, Entry]:
        """Dict of Method to Entry, best first."""
        entries = {method: self._interval(method, self.ranking.score(method).mean) for method in self.methods}
        if self.untested is None:
            tests = [self._against_chance(method) for method in self.methods]
            corrected = holm([p for p, _ in tests])
            for method, p, (_, above) in zip(self.methods, corrected, tests, strict=True):
                entries[method] = replace(entries[method], p=float(p), above=above)
        return entries

    @cached_property
    def trivial(self) -> dict[str, Entry]:
        """Dict of the name of each baseline to its Entry, without a test; the best first."""
        found = self.baselines.units(self.key)
        entries = {name: self._interval(as_method(name), float(series.mean())) for name, series in found.items()}
        sign = -1 if self.higher else 1
        return dict(sorted(entries.items(), key=lambda item: sign * item[1].score))

    @property
    def chance(self) -> float | None:
        """The score that chance gives: 0.5 of an AUC, else that of the majority class or the mean; None if unknown."""
        if self.key == "auc":
            return 0.5
        return next((entry.score for name, entry in self.trivial.items() if name in CHANCE_LEVEL), None)

    @property
    def reference(self) -> str:
        """What methods are tested against, as sentences name it: chance, or the baseline that stands for it."""
        found = next((name for name in self.trivial if name in CHANCE_LEVEL), None)
        tested = self.dataset.residues or (self._ranks_tasks and self.key != "auc")
        return "chance" if found is None or not tested else NAMES[found]

    @cached_property
    def untested(self) -> LabelError | None:
        """Why no method can be tested against chance, as an error that is not raised; None where it can."""
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
        """The best method's score, corrected for the choice among all of them; NaN where it is not known."""
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
        """What there is too little of for a score on the only task; None if there is enough, or of several tasks."""
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
        """Tell whether a method is significantly better than chance; None without a test.

        Parameters
        ----------
        method : Method
            Kernel and solver.

        Returns
        -------
        bool or None
        """
        return self.entries[method].beats_chance if method in self.entries else None

    def may_be_best(self, method: Method, key: str) -> bool:
        """Tell whether a method may have a star in a column of scores.

        It must not be shown to be no better than chance, and for scores of predicted classes predict more than one.

        Parameters
        ----------
        method : Method
            Kernel and solver.
        key : str
            The metric of the column.

        Returns
        -------
        bool
        """
        if self.beats_chance(method) is False:
            return False
        return key not in CLASS_METRICS or not self._splits(method).predicts_one_class

    @property
    def best_baseline(self) -> str | None:
        """The baseline with the best headline score, other than chance; None where there is none."""
        return next((n for n in self.trivial if not (self.key == "auc" and n in CHANCE_LEVEL)), None)

    @cached_property
    def against_baseline(self) -> AgainstBaseline | None:
        """The methods against the strongest baseline; None where there is no baseline, or no valid test."""
        name = self.best_baseline
        if name is None or not self.methods:
            return None
        control = as_method(name)
        if self.dataset.several:
            values = self._task_values() | {control: self.baselines.units(self.key)[name].reindex(self.dataset.units)}
            return AgainstBaseline(name, self.key, _signs(compare_all(values, higher=self.higher, control=control)))
        if self._paired is None:
            return None
        if self.dataset.residues:
            shares = self._shares([control, *self.methods])
            return AgainstBaseline(name, self.key, _signs(compare_all(shares, control=control)))
        return self._pair_tests(self._paired, name)

    def _pair_tests(self, paired: PairedDecisions, name: str) -> AgainstBaseline | None:
        """Return what tests on one task say of the baselines."""
        known = metrics_with_test(paired)
        key = self.key if self.key in known else next(iter(known), None)
        if key is None:
            return None
        if key == "accuracy":  # the best baseline by rank need not be the best by predicted classes
            right = {n: float(np.mean(paired.predicted[as_method(n)] == paired.labels)) for n in self.trivial}
            name = max(right, key=lambda n: right[n])
        control = as_method(name)
        own = {m: values for m, values in paired.predicted.items() if m == control or m in self.methods}
        try:  # the other baselines must not count in the correction for the number of tests
            tests = pair_tests(replace(paired, predicted=own), key, higher=metric(key).higher, control=control)
        except SeqkernError:
            return None
        return AgainstBaseline(name, key, _signs(tests))

    @cached_property
    def _paired(self) -> PairedDecisions | None:
        """The decisions on the only task, with those of the baselines."""
        if self.dataset.several:
            return None
        try:
            return read_paired_decisions(self.dataset, baselines=self.baselines)
        except LabelError as error:
            read_paired_decisions(self.dataset)  # where the methods disagree, that is the error
            folder = self.dataset.folder("baseline")
            raise FileError(
                "its samples or folds are not those of the methods", file=folder, remedy="run seqkern baseline again"
            ) from error

    @cached_property
    def _chains(self) -> ChainShares | None:
        """Right residues of each chain; None for other data."""
        return ChainShares(self._paired) if self.dataset.residues and self._paired is not None else None

    def _shares(self, methods: list[Method]) -> dict[Method, npt.NDArray[np.float64]]:
        """Return the shares of right residues of each chain."""
        assert self._chains is not None
        return self._chains.shares(m for m in methods if m in self._chains.paired.predicted)

    def _task_values(self) -> dict[Method, npt.ArrayLike]:
        """Return the scores of each method on each task."""
        wide = unit_scores(self.dataset).pivot(index="unit", columns=["kernel", "solver"], values=self.key)
        wide = wide.reindex(self.dataset.units)
        return {method: wide[tuple(method)].to_numpy() for method in self.methods}

    @cached_property
    def _found(self) -> dict[Method, SplitScores]:
        """Dict of what has been computed of methods and baselines."""
        return {}

    @cached_property
    def groups(self) -> dict[str, dict[str, str]]:
        """Dict of task to the samples that the folds kept together."""
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
        """Return the Entry of a method or baseline without its test."""
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
        """Return p of one method against chance, and whether it is on the better side."""
        if self.dataset.residues:
            control = next((as_method(name) for name in self.trivial if name in CHANCE_LEVEL), None)
            if self._chains is None or control is None or method not in self._chains.paired.predicted:
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
        """Whether there are so many tasks that a method better on all of them would be significant."""
        tasks = len(self.dataset.units)
        return self.dataset.several and least_p(tasks) * len(self.methods) <= LEVEL

    def _expected(self) -> npt.ArrayLike | None:
        """Return what chance gives on each task; None where it is not known."""
        if self.key == "auc":
            return np.full(len(self.dataset.units), 0.5)
        found: Mapping[str, pd.Series] = self.baselines.units(self.key)
        name = next((name for name in found if name in CHANCE_LEVEL), None)
        return None if name is None else found[name].reindex(self.dataset.units).to_numpy()


def _signs(tests: Sequence[Comparison | PairTest]) -> dict[Method, int]:
    """Return 1 for each method significantly better than the control, the first of each pair, −1 for worse, else 0."""
    found: dict[Method, int] = {}
    for one in tests:
        found[methods_of(one)[1]] = -lead(one) if one.p_holm <= LEVEL and directed(one) else 0
    return found
