"""The trivial baselines of a data set, as ``seqkern baseline`` left them; none where it was not run."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from seqkern.models.baselines.names import BASELINES
from seqkern.report.dataset_results import KEYS, DatasetResults, Method
from seqkern.report.files import numbers, read_table, rows_by_value

NAMES = {name: baseline.title for name, baseline in BASELINES.items()}
"""What figures and tables call them."""
CHANCE_LEVEL = ("majority", "mean")
"""Baselines that look at labels only."""


def as_method(name: str) -> Method:
    """Return the key of a baseline among methods: no configured method lacks a solver.

    Parameters
    ----------
    name : str
        Of the baseline.

    Returns
    -------
    Method
    """
    return Method(name, "")


class Baselines:
    """The scores and decisions of the baselines of one data set.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    """

    def __init__(self, dataset: DatasetResults) -> None:
        self.dataset = dataset

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """DataFrame of ``metrics.tsv`` with numbers; empty where there is none."""
        table = read_table(self.dataset.folder("baseline") / "metrics.tsv", ["baseline", *KEYS])
        if table is None:
            return pd.DataFrame(columns=["baseline", *KEYS], dtype=str)
        return table.assign(**{c: numbers(table[c]) for c in table.columns if c not in ("baseline", *KEYS)})

    @cached_property
    def decisions(self) -> dict[Method, pd.DataFrame]:
        """Dict of `as_method` of each baseline to its decisions; empty where there are none."""
        path = self.dataset.folder("baseline") / "decisions.tsv"
        table = read_table(path, ["baseline", *KEYS, "id", "label", "predicted"], ("decision",))
        if table is None:
            return {}
        return {
            as_method(name): rows.drop(columns="baseline").reset_index(drop=True)
            for name, rows in rows_by_value(table, "baseline")
        }

    def units(self, key: str) -> dict[str, pd.Series]:
        """Return the scores that are averaged, of each baseline: by task where there are several, else by split.

        Parameters
        ----------
        key : str
            The metric.

        Returns
        -------
        dict of str to Series
            In the order of the file; without baselines that lack the metric.
        """
        if key not in self.metrics:
            return {}
        keyed = self.metrics.assign(unit=self.dataset.unit(self.metrics))
        found = {name: rows.groupby("unit", sort=False)[key].mean() for name, rows in rows_by_value(keyed, "baseline")}
        return {name: series for name, series in found.items() if name in BASELINES and series.notna().any()}
