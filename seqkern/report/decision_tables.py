"""The decisions of all methods on one task, sample by sample, as `evaluation.single_task_tests` takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError, LabelError
from seqkern.evaluation.paired_decisions import PairedDecisions
from seqkern.report.baselines import Baselines
from seqkern.report.dataset_results import DatasetResults, Method
from seqkern.report.files import numbers
from seqkern.report.positive import positive_class
from seqkern.report.tables import NOT_METRICS

if TYPE_CHECKING:
    import pandas as pd


Tables: TypeAlias = "dict[Method, pd.DataFrame]"
"""Decisions of each method on one task."""


def read_paired_decisions(
    dataset: DatasetResults, task: str | None = None, baselines: Baselines | None = None
) -> PairedDecisions | None:
    """Return the PairedDecisions of a data set's task; None where no method has decisions.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    task : str, optional
        By default the only one.
    baselines : Baselines, optional
        Trivial baselines to be paired with the methods; those with other samples than these are an error.

    Returns
    -------
    PairedDecisions or None
        The samples in the order of the tables, and codes for classes.

    Raises
    ------
    FileError
        If a table tests a sample twice in one test set.
    LabelError
        If two methods name different labels for a sample: they were not tested on the same data.
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


def _all_alike(tables: Tables) -> bool:
    """Tell whether all tables have the same samples with the same labels, row by row, each once in a test set."""
    first, *rest = tables.values()
    columns = ["split", "id", "label"]
    alike = all(
        len(table) == len(first) and all(np.all(table[c].values == first[c].values) for c in columns) for table in rest
    )
    return alike and not bool(first.duplicated(columns[:2]).any())


def _keys(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Return (split, id) of each row."""
    return list(zip(table["split"], table["id"], strict=True))


def _samples(tables: Tables) -> list[tuple[str, str, str]]:
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


def _check_same_folds(tables: Tables) -> None:
    """Raise LabelError if two methods were not tested on the same samples in the same test sets."""
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


def _coder(dataset: DatasetResults, names: npt.NDArray[np.str_], tables: Tables) -> Callable[[Any], np.ndarray]:
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
    """Return values at their rows of n; NaN (or −1 for codes) elsewhere."""
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
