"""Results of a study, data set by data set: tables, missing parts of the grid, the methods ranked by their scores."""

import csv
import itertools
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml

from seqkern.core.errors import ConfigError, FileError, unreadable
from seqkern.core.file_kinds import GRAM, RESULT, FileKind
from seqkern.core.statistics import rounded
from seqkern.evaluation.fold_methods import DEV
from seqkern.evaluation.leakage import SIMILAR
from seqkern.evaluation.metrics import SHARE_RIGHT, higher_is_better
from seqkern.evaluation.relations import Finding
from seqkern.gram.stored_matrix import Spectrum, read_spectrum
from seqkern.solvers.costs import BOUNDS
from seqkern.study.dataset_entries import DatasetEntry
from seqkern.study.kernel_entries import AnyKernel, KernelEntry
from seqkern.study.schema import parse_yaml
from seqkern.study.solver_entries import SolverEntry
from seqkern.study.study import Study

# Readers of a results folder's files: a missing file gives None, a damaged one an error that names it.


def read_table(
    path: str | os.PathLike[str], columns: Collection[str], numeric: tuple[str, ...] = ()
) -> pd.DataFrame | None:
    """Return a TSV file as a DataFrame of str, or None if there is no such file.

    Columns whose names begin with a text in `numeric` are read as numbers, NaN for anything else. Raise FileError
    if the file lacks one of `columns`.
    """
    form: dict[str, Any] = {
        "sep": "\t",
        "na_filter": False,
        "quoting": csv.QUOTE_NONE,
        "lineterminator": "\n",
        "encoding": "utf-8",
    }
    try:
        head = pd.read_csv(path, dtype=str, nrows=0, **form)
        wanted = [name for name in head if numeric and str(name).startswith(numeric)]
        types: dict[str, Any] = dict.fromkeys(head, str) | dict.fromkeys(wanted, float)
        try:
            table = pd.read_csv(path, dtype=types, **form)
        except ValueError:  # an empty cell, a word
            table = pd.read_csv(path, dtype=str, **form)
            table = table.assign(**{name: numbers(table[name]) for name in wanted})
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:
        raise FileError(f"is not a table: {error}", file=path, remedy="make it again") from error
    for column in columns:
        if column not in table:
            raise FileError(f"has no column {column!r}", file=path, remedy="make it again with this version")
    return table


def read_json(path: str | os.PathLike[str], kind: FileKind = RESULT) -> dict[str, Any] | None:
    """Return the dict in a JSON file of some kind, or None if there is no such file."""
    content = _mapping(path, json.loads, "is not JSON", "is not a JSON object", "make it again")
    if content is not None:
        kind.check(content, path)
    return content


def read_laps(path: str | os.PathLike[str], columns: Sequence[str]) -> pd.DataFrame | None:
    """Return the laps of a ``cost.json`` as a DataFrame with `columns`, or None if there is no such file."""
    cost = read_json(path)
    if cost is None:
        return None
    laps = cost.get("laps")
    if not isinstance(laps, list) or not all(isinstance(lap, dict) and lap.keys() >= set(columns) for lap in laps):
        problem = f"has no laps with {', '.join(columns)}"
        raise FileError(problem, file=path, remedy="make it again with this version")
    return pd.DataFrame(laps, columns=list(columns))


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return a study's resolved configuration, ``{}`` where there is none."""
    return (
        _mapping(path, lambda text: parse_yaml(text)[1], "is not YAML", "holds no keys", "run the workflow again") or {}
    )


def _mapping(
    path: str | os.PathLike[str], parse: Callable[[str], Any], unread: str, other: str, remedy: str
) -> dict[str, Any] | None:
    """Return the dict in a file (None if there is no such file); raise FileError if unreadable or not a dict."""
    try:
        value = parse(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise FileError(f"{unread}: {error}", file=path, remedy=remedy) from error
    if not isinstance(value, dict):
        raise FileError(other, file=path, remedy=remedy)
    return value


def numbers(column: pd.Series) -> pd.Series:
    """Return texts as float64, NaN for anything that is not a number.

    >>> numbers(pd.Series(["0.5", "", "none"])).tolist()
    [0.5, nan, nan]
    """
    return pd.to_numeric(column, errors="coerce").astype(float)


class Method(NamedTuple):
    """A kernel with a solver, by their names in the configuration."""

    kernel: str
    solver: str


def rows_by(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """Yield (texts, rows) for each combination of texts in some columns, in order of appearance."""
    for key, rows in table.groupby(list(columns), sort=False):
        yield cast("tuple[str, ...]", key), rows


def rows_by_value(table: pd.DataFrame, by: str | pd.Series) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (text, rows) for each distinct text in one column, in order of appearance."""
    for key, rows in table.groupby(by, sort=False):
        yield cast(str, key), rows


def rows_by_method(table: pd.DataFrame) -> Iterator[tuple[Method, pd.DataFrame]]:
    """Yield (method, rows) for each method of a table, in order of appearance."""
    for key, rows in rows_by(table, Method._fields):
        yield Method(*key), rows


KEYS = ["task", "split"]
FINDINGS = tuple(field.name for field in fields(Finding))
TABLES = {
    "metrics": [*KEYS, "n_train", "n_test"],
    "choices": [*KEYS, "parameter", "value", "inner_score"],
    "fits": [*KEYS, "converged", "iterations", "residual", "n_support", "support_share"],
    "features": [*KEYS, "feature", "column", "rank", "weight"],
    "intervals": [
        *KEYS,
        "class",
        "feature",
        "selected",
        "weight",
        "low",
        "high",
        "full_weight",
        "full_low",
        "full_high",
    ],
    "exemplars": [*KEYS, "class", "prototype", "members", "rank", "id", "distance"],
    "selection_bias": [*KEYS, "n_features"],
    "path": [*KEYS, "epsilon", "feature", "column", "weight", "used"],
    "cost": [*KEYS, "stage", "cpu_seconds", "peak_mb"],
    "decisions": [*KEYS, "id", "label", "predicted"],
}

EIGENVALUES = ("smallest_eigenvalue", "negative_share")
"""Columns of ``fits.tsv`` that a kernel has which learns from the training set."""


def subfolders(folder: Path) -> list[str]:
    """Return the names of a folder's subfolders, sorted; empty if the folder is missing."""
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _is_summary(summary: Mapping[str, Any]) -> bool:
    """Return whether a dict has the form of a data set's summary, as far as it goes."""
    tasks = summary.get("tasks", {})
    if not isinstance(tasks, dict) or not isinstance(summary.get("kind", ""), str):
        return False
    return all(isinstance(task, dict) and isinstance(task.get("classes", {}), dict) for task in tasks.values())


class DatasetResults:
    """Results of one data set of a study; tables are read when first needed."""

    def __init__(self, study: Study, home: Path, name: str) -> None:
        self.study = study
        self.home = home
        self.name = name
        self.entry = study.datasets.get(name) or DatasetEntry.of_results({}, name)
        self.methods = self._expected()

    def _expected(self) -> list[Method]:
        """Return kernels × solvers of the configuration, or the methods on disk if there is no configuration."""
        if not self._configured:
            home = self.folder("evaluate")
            return [Method(kernel, solver) for kernel in subfolders(home) for solver in subfolders(home / kernel)]
        return [Method(*names) for names in self.study.method_names(self.name, (self.summary or {}).get("kind", ""))]

    @property
    def unsuitable(self) -> list[Method]:
        """Methods of the configuration that are not run: the kernel does not give the input that the solver takes."""
        if not self._configured:
            return []
        return [Method(*names) for names in self.study.unsuitable(self.name, (self.summary or {}).get("kind", ""))]

    @property
    def _configured(self) -> bool:
        """Whether the study, and not the results on disk, lists the methods."""
        return bool(self.study.datasets and self.study.kernels and self.study.solvers)

    def kernel(self, name: str) -> AnyKernel:
        """Return the KernelEntry or KernelChoice that the configuration calls `name`; an empty entry if unknown."""
        return self.study.kernels.get(name) or KernelEntry.unknown({}, name, ConfigError("is not configured"))

    def solver(self, name: str) -> SolverEntry:
        """Return the SolverEntry that the configuration calls `name`; an empty entry if unknown."""
        return self.study.solvers.get(name) or SolverEntry.of_results({}, name)

    def folder(self, stage: str) -> Path:
        """Return the folder of a stage's files for this data set.

        Stages are ``datasets``, ``folds``, ``audit``, ``gram``, ``inner``, ``evaluate``, ``importance``, ``motifs`` and
        ``effects``.
        """
        return self.home / stage / self.name

    @cached_property
    def summary(self) -> dict[str, Any] | None:
        """Content of ``summary.json``; None where it is missing."""
        path = self.folder("datasets") / "summary.json"
        summary = read_json(path)
        if summary is not None and not _is_summary(summary):
            raise FileError("is no summary of a data set", file=path, remedy="make it again")
        return summary

    @cached_property
    def tasks(self) -> dict[str, dict[str, Any]]:
        """Summary of each task, by name; empty without a summary."""
        return (self.summary or {}).get("tasks") or {}

    @cached_property
    def kind(self) -> str:
        """Kind of labels of the first task: ``"binary"``, ``"multiclass"`` or ``"real"``."""
        kinds: list[Any] = [task.get("kind") for task in self.tasks.values()]
        return cast(str, kinds[0]) if kinds else "binary"

    def classes(self, task: str) -> list[str]:
        """Return the class names of a task in order, negative before positive if binary; empty if unknown."""
        return [str(name) for name in (self.tasks.get(task) or {}).get("classes", ())]

    @cached_property
    def leakage(self) -> pd.DataFrame | None:
        """Table from ``leakage.tsv``; None where it is missing."""
        columns = [*KEYS, "kind", "test_id", "train_id", "identity"]
        return read_table(self.folder("folds") / "leakage.tsv", columns)

    @cached_property
    def audit_findings(self) -> pd.DataFrame | None:
        """Table from the audit's ``findings.tsv``; None where it is missing."""
        return read_table(self.folder("audit") / "findings.tsv", [*KEYS, *FINDINGS])

    @cached_property
    def audit_overlap(self) -> pd.DataFrame | None:
        """Table from the audit's ``overlap.tsv``; None where it is missing."""
        return read_table(self.folder("audit") / "overlap.tsv", [*KEYS, "test_id"])

    @cached_property
    def similar(self) -> pd.DataFrame | None:
        """Table from ``similar.tsv``; None where it is missing."""
        return read_table(self.folder("folds") / "similar.tsv", list(SIMILAR))

    @cached_property
    def composition(self) -> pd.DataFrame | None:
        """Table from ``composition.tsv`` with int columns train and test; None where it is missing."""
        table = read_table(self.folder("folds") / "composition.tsv", [*KEYS, "class", "train", "test"])
        if table is None:
            return None
        counts = {role: numbers(table[role]).fillna(0).astype(int) for role in ("train", "test")}
        return table.assign(**counts)

    @cached_property
    def developed(self) -> bool:
        """Whether a development set takes the place of inner folds."""
        return self.composition is not None and DEV in self.composition

    @cached_property
    def several(self) -> bool:
        """Whether there are several tasks; scores are then averaged over tasks, otherwise over folds."""
        return len(self.tasks) > 1 or self.metrics["task"].nunique() > 1

    @cached_property
    def one_split(self) -> bool:
        """Whether each task has one split only, so that naming the task is enough."""
        if not self.several or self.composition is None:
            return False
        return not self.composition[KEYS].drop_duplicates()["task"].duplicated().any()

    @cached_property
    def units(self) -> list[str]:
        """Names of the units that scores are averaged over: the tasks, or the splits of the only task."""
        column = "task" if self.several else "split"
        tables = [table for table in (self.composition, self.metrics) if table is not None]
        found = pd.concat([table[column] for table in tables]) if tables else []
        return list(dict.fromkeys([*(self.tasks if self.several else ()), *found]))

    def unit(self, table: pd.DataFrame) -> pd.Series:
        """Return the name of the unit (see `units`) of each row of a table with columns task and split."""
        return table["task" if self.several else "split"]

    @cached_property
    def metrics_text(self) -> pd.DataFrame:
        """Text of all ``metrics.tsv``, as one table with columns kernel and solver in front."""
        return self._all("metrics")

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """Scores of `metrics_text` as numbers, NaN where a metric is not defined."""
        text = self.metrics_text
        return text.assign(**{c: numbers(text[c]) for c in text.columns if c not in ("kernel", "solver", *KEYS)})

    @cached_property
    def residues(self) -> bool:
        """Whether the samples are residues of chains, whose states are predicted."""
        return "sov99" in self.metrics_text

    @cached_property
    def choices(self) -> pd.DataFrame:
        """Rows of all ``choices.tsv``, as one table."""
        table = self._all("choices")
        return table.assign(inner_score=numbers(table["inner_score"]))

    @cached_property
    def fits(self) -> pd.DataFrame:
        """Rows of all ``fits.tsv``, as one table; `converged` is bool.

        ``inner_not_converged`` is a number; ``weights_failed`` is bool: whether learned kernel weights did not
        converge.
        """
        table = self._all("fits")
        known = (*TABLES["fits"][3:], "gap", "inner_not_converged", *EIGENVALUES, *BOUNDS)
        parsed = {c: numbers(table[c]) for c in known if c in table}
        if "weights_converged" in table:
            parsed["weights_failed"] = table["weights_converged"].fillna("").str.lower() == "false"
        converged = table["converged"].str.lower().isin(["true", "1", "yes"])
        return table.assign(converged=converged.astype(bool), **parsed)

    @cached_property
    def features(self) -> pd.DataFrame:
        """Rows of all ``features.tsv``: features selected on each training set; empty where no method selects."""
        table = self._all("features")
        tested = {"p_corrected": numbers(table["p_corrected"])} if "p_corrected" in table else {}
        return table.assign(rank=numbers(table["rank"]), **tested)

    @cached_property
    def coefficients(self) -> pd.DataFrame:
        """Rows of all ``intervals.tsv``, as text: feature coefficients with their confidence intervals."""
        return self._all("intervals")

    @cached_property
    def exemplars(self) -> pd.DataFrame:
        """Rows of all ``exemplars.tsv``: typical training samples; empty where no method has prototypes."""
        table = self._all("exemplars")
        return table.assign(**{c: numbers(table[c]) for c in ("prototype", "members", "rank", "distance")})

    @cached_property
    def selection_bias(self) -> pd.DataFrame:
        """Rows of all ``selection_bias.tsv``, as numbers; empty where it was not computed."""
        table = self._all("selection_bias")
        return table.assign(**{c: numbers(table[c]) for c in table.columns if c not in ("kernel", "solver", *KEYS)})

    @cached_property
    def cost(self) -> pd.DataFrame:
        """Laps of all ``cost.json`` of training and testing, as one table."""
        table = self._all("cost")
        return table.assign(cpu_seconds=numbers(table["cpu_seconds"]), peak_mb=numbers(table["peak_mb"]))

    def gram_cost(self, kernel: str) -> pd.DataFrame | None:
        """Return the cost of a kernel's stored Gram matrices, a row for each lap; None where one is missing."""
        homes = [home.name for home in self.study.stored_grams.get(kernel, ())] or [kernel]
        folders = [self.folder("gram") / home for home in dict.fromkeys(homes)]
        laps = [read_laps(folder / "cost.json", ["stage", "cpu_seconds", "peak_mb"]) for folder in folders]
        return None if any(table is None for table in laps) else pd.concat(laps, ignore_index=True)

    def _gram_folder(self, kernel: str) -> Path:
        """Return the folder of the only stored matrix that a kernel uses, or that of its own name."""
        homes = self.study.stored_grams.get(kernel, ())
        return self.folder("gram") / (homes[0].name if len(homes) == 1 else kernel)

    def _all(self, name: str) -> pd.DataFrame:
        """Return the table of a given name of all methods, stacked; costs also of separate inner loops."""
        tables = []
        of_cost = name == "cost"
        read, suffix = (read_laps, "json") if of_cost else (read_table, "tsv")
        for method, stage in itertools.product(self.methods, ("inner", "evaluate") if of_cost else ("evaluate",)):
            table = read(self._path(method, f"{name}.{suffix}", stage), TABLES[name])
            if table is not None:
                table.insert(0, "kernel", method.kernel)
                table.insert(1, "solver", method.solver)
                tables.append(table)
        if not tables:
            return pd.DataFrame(columns=["kernel", "solver", *TABLES[name]], dtype=str)
        return pd.concat(tables, ignore_index=True).fillna("")

    def _path(self, method: Method, file: str, stage: str = "evaluate") -> Path:
        return self.folder(stage) / method.kernel / method.solver / file

    def decisions(self, method: Method) -> pd.DataFrame | None:
        """Return a method's decisions, with decision values and probabilities as numbers; None where missing."""
        columns = TABLES["decisions"] + (["decision"] if self.kind != "multiclass" else [])
        return read_table(self._path(method, "decisions.tsv"), columns, ("decision", "probability", "sd", "tail"))

    def has_probabilities(self, method: Method) -> bool:
        """Return whether a method's decisions have probabilities, reading only the header of their table."""
        try:
            with open(self._path(method, "decisions.tsv"), encoding="utf-8") as file:
                return "\tprobability" in file.readline()
        except FileNotFoundError:
            return False

    @cached_property
    def done(self) -> list[Method]:
        """Methods with scores, in order."""
        found = set(zip(self.metrics["kernel"], self.metrics["solver"], strict=True))
        return [method for method in self.methods if tuple(method) in found]

    @cached_property
    def missing(self) -> list[Method]:
        """Methods that were to be run but gave no scores."""
        return [method for method in self.methods if method not in self.done]

    @cached_property
    def kernels(self) -> list[str]:
        """Names of the kernels, in order."""
        return list(dict.fromkeys(method.kernel for method in self.methods))

    @cached_property
    def solvers(self) -> list[str]:
        """Names of the solvers, in order."""
        return list(dict.fromkeys(method.solver for method in self.methods))

    def spectrum(self, kernel: str) -> Spectrum | None:
        """Return the Spectrum of a kernel's stored Gram matrix; None where there is none."""
        path = self._gram_folder(kernel) / "gram.spectrum.tsv"
        return read_spectrum(path) if not self.learns(kernel) and path.exists() else None

    def learns(self, kernel: str) -> bool:
        """Return whether a kernel learns from the training set; False if the kernel is unknown here."""
        entry = self.kernel(kernel)
        return isinstance(entry, KernelEntry) and entry.known and entry.kernel.traits.data_dependent

    @cached_property
    def transductive(self) -> set[str]:
        """Names of the kernels whose profiles were built with the test sequences, without their labels."""
        made = (self.summary or {}).get("profiles")
        options = self.entry.data.profiles
        transductive = made.get("transductive") if made else options is not None and options.transductive
        return {name for name in self.kernels if transductive and self.kernel(name).reads_profiles}

    def gram_counts(self, kernel: str) -> dict[str, int]:
        """Return the number of records that each of a kernel's policies changed.

        It is empty if no record was changed or no matrix is stored.
        """
        return (read_json(self._gram_folder(kernel) / "gram.json", GRAM) or {}).get("counts", {})


# Results folder of a study: what it holds, and what is missing from the configured grid.


class StudyResults:
    """Results folder of a study, and the data sets in it.

    If the configuration is unknown, `study` is empty, and the folders show what was done.
    """

    def __init__(self, folder: str | os.PathLike[str], config: Mapping[str, Any] | None = None) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise FileError("no such folder", file=self.folder, remedy="run the workflow first, or check the path")
        if config is None:
            config = read_config(self.folder / "config.yaml") or read_config(self.folder / "report" / "config.yaml")
        _check_mapping("the configuration", config, self.folder)
        for key in ("datasets", "kernels", "solvers"):
            _check_mapping(key, config.get(key) or {}, self.folder)
        self.study = Study.of_results(config, self.folder.resolve().name)
        names = list(self.study.datasets) or subfolders(self.folder / "datasets")
        if not names:
            raise FileError("holds no data sets", file=self.folder, remedy="run the workflow first")
        self.datasets = [DatasetResults(self.study, self.folder, name) for name in names]


def _check_mapping(what: str, value: object, folder: Path) -> None:
    """Raise ConfigError unless `value` is a dict."""
    if not isinstance(value, dict):
        raise ConfigError(f"{what} is {value!r}, not keys and values", file=folder, remedy="see config/README.md")


# Positive class of a task: the class that higher decisions indicate.


def positive_class(dataset: "DatasetResults", *tables: pd.DataFrame) -> str:
    """Return the name of the positive class of a task.

    It is the task's last class if a summary names its classes; otherwise the class predicted for higher decisions in
    the first table that predicts both. If all tables predict one class, it is this class if some decision is above
    zero, and otherwise the other class.
    """
    first = tables[0]
    classes = dataset.classes(first["task"].iloc[0])
    if classes:
        return classes[-1]
    for table in tables:
        means = table.groupby("predicted")["decision"].mean()
        if len(means) == 2:
            return str(means.idxmax())
    labels = sorted(set(first["label"]))
    predicted, highest = first["predicted"].iloc[0], first["decision"].max()
    others = [name for name in labels if name != predicted]
    return predicted if highest > 0 or not others else others[-1]


class RankedSet(NamedTuple):
    """The decisions of one test set that are known, for one positive class."""

    task: str
    split: str
    name: str  # Of the positive class
    positive: npt.NDArray[np.bool_]
    decision: npt.NDArray[np.float64]

    @property
    def both(self) -> bool:
        """Whether there are positives and negatives."""
        return bool(self.positive.any() and not self.positive.all())


def ranked_sets(dataset: DatasetResults, table: pd.DataFrame) -> Iterator[RankedSet]:
    """Yield each test set of a table of decisions; with several classes one for each class against the rest."""
    for (task, split), rows in rows_by(table, KEYS):
        if dataset.kind == "binary":
            columns = {positive_class(dataset, rows): "decision"}
        else:
            columns = {name: f"decision:{name}" for name in dataset.classes(task) or sorted(set(rows["label"]))}
        for name, column in columns.items():
            if column in rows:
                known = rows[rows[column].notna()]
                yield RankedSet(task, split, name, (known["label"] == name).to_numpy(), known[column].to_numpy(float))


# The scores of the methods of a data set, and their order.

HEADLINE = {"binary": ("auc", "accuracy"), "multiclass": ("auc", "accuracy"), "real": ("rmse",)}
"""What methods are ranked by: the first that has a value (single-sequence test sets have no AUC)."""


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
        sign = -1 if higher_is_better(self.metric) else 1
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
