"""Score tables of a data set: averages and rankings of the methods, written as TSV."""

import os
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import pandas as pd

from seqkern.core.tsv import write_tsv
from seqkern.report.dataset_results import KEYS, DatasetResults, Method
from seqkern.report.page_frame import rounded
from seqkern.report.sentences import HEADLINE, SHARE_RIGHT, metric


class Score(NamedTuple):
    """Mean, sample standard deviation, number and median of the values of a metric."""

    mean: float
    sd: float
    n: int
    median: float = np.nan


NO_SCORE = Score(np.nan, np.nan, 0)
NOT_METRICS = {"kernel", "solver", *KEYS, "n_train", "n_test", "unit"}


def unit_scores(dataset: DatasetResults) -> pd.DataFrame:
    """Return a DataFrame of scores with columns kernel, solver, unit and the metrics.

    Scores are averaged over units: tasks if there are several (each averaged over its splits first), else splits.
    """
    metrics = dataset.metrics
    columns = metric_columns(dataset)
    keyed = metrics[["kernel", "solver", *columns]].assign(unit=dataset.unit(metrics))
    return keyed.groupby(["kernel", "solver", "unit"], sort=False)[columns].mean().reset_index()


def metric_columns(dataset: DatasetResults) -> list[str]:
    """Return the names of the metrics with at least one value, in the order of the files."""
    metrics = dataset.metrics
    return [name for name in metrics.columns if name not in NOT_METRICS and metrics[name].notna().any()]


def method_scores(dataset: DatasetResults) -> dict[str, dict[Method, Score]]:
    """Return {metric: {method: Score}} over units: mean, sample standard deviation, count and median."""
    units = unit_scores(dataset)
    result: dict[str, dict[Method, Score]] = {}
    for name in metric_columns(dataset):
        groups = units.groupby(["kernel", "solver"], sort=False)[name]
        table = groups.agg(["mean", "std", "count", "median"])
        result[name] = {
            Method(*cast("tuple[str, str]", key)): Score(
                float(row["mean"]), float(row["std"]), int(row["count"]), float(row["median"])
            )
            for key, row in table.iterrows()
        }
    return result


class Ranking:
    """The methods of a data set, ordered by its headline metric."""

    def __init__(self, dataset: DatasetResults) -> None:
        self.scores = method_scores(dataset)
        states = [name for name in self.scores if SHARE_RIGHT.fullmatch(name)] if dataset.residues else []
        names = [*states, *(name for name in HEADLINE[dataset.kind] if name in self.scores)]
        self.metric = names[0] if names else None
        self.order: list[Method] = []
        self.best: list[Method] = []
        self.within: list[Method] = []
        if self.metric is None:
            return
        sign = -1 if metric(self.metric).higher else 1
        table = {method: self.score(method) for method in dataset.methods}
        self.order = sorted((m for m in table if table[m].n), key=lambda m: sign * table[m].mean)
        most = max(table[method].n for method in self.order)
        complete = [method for method in self.order if table[method].n == most]
        top = table[complete[0]]
        self.best = [m for m in complete if rounded(table[m].mean) == rounded(top.mean)]
        if not np.isnan(top.sd):
            others = [method for method in complete if method not in self.best]
            self.within = [method for method in others if abs(table[method].mean - top.mean) <= top.sd]

    @property
    def headline(self) -> str:
        """The metric that ranks the methods; empty where there are no scores."""
        return self.metric or ""

    def score(self, method: Method, name: str | None = None) -> Score:
        """Return the Score of a method in a metric, by default the headline metric."""
        return self.scores.get(name or self.headline, {}).get(method, NO_SCORE)


def summary_table(dataset: DatasetResults, ranking: Ranking) -> pd.DataFrame:
    """Return the rows of ``summary.tsv``, one for each method; the means of methods without results are empty.

    With several tasks, the last columns hold the medians.
    """
    rows = []
    for method in dataset.methods:
        row = {"dataset": dataset.name, "tasks": max(len(dataset.tasks), 1), **method._asdict()}
        row["values"] = max((by[method].n for by in ranking.scores.values() if method in by), default=0)
        for name in ranking.scores:
            score = ranking.score(method, name)
            row |= {f"{name}_mean": score.mean, f"{name}_sd": score.sd}
        if dataset.several:
            row |= {f"{name}_median": ranking.score(method, name).median for name in ranking.scores}
        rows.append(row)
    return pd.DataFrame(rows)


def families_table(dataset: DatasetResults) -> pd.DataFrame:
    """Return the rows of ``families.tsv``: one for each task and method, means over the task's splits."""
    columns = metric_columns(dataset)
    keys = ["task", "kernel", "solver"]
    table = dataset.metrics.groupby(keys, sort=False)[columns].mean().reset_index()
    table.insert(0, "dataset", dataset.name)
    order = {name: i for i, name in enumerate(dict.fromkeys([*dataset.tasks, *table["task"]]))}
    return table.sort_values("task", key=lambda column: column.map(order), kind="stable")


def metrics_table(dataset: DatasetResults) -> pd.DataFrame:
    """Return the rows of ``metrics.tsv``: every evaluated row, as it was written."""
    table = dataset.metrics_text.copy()
    table.insert(0, "dataset", dataset.name)
    return table


def write_tables(tables: Sequence[pd.DataFrame | None], columns: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Write DataFrames, one below the other, to a TSV file; columns that a table lacks stay empty."""
    tables = [table for table in tables if table is not None and len(table)]
    whole = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(columns))
    write_tsv(path, list(whole.columns), whole.itertuples(index=False, name=None))
