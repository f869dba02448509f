"""Read what a study's results folder holds of one data set: its tables, and what is missing of its grid."""

import itertools
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy.typing as npt
import pandas as pd

from seqkern.audit.files import FINDINGS, PLACE
from seqkern.core.errors import ConfigError, FileError
from seqkern.core.file_kinds import GRAM
from seqkern.folds.leakage import SIMILAR
from seqkern.folds.samples import DEV
from seqkern.gram.spectrum import Spectrum, read_spectrum
from seqkern.report.files import numbers, read_gram, read_json, read_laps, read_table
from seqkern.solvers.bound_names import BOUNDS
from seqkern.study.dataset_entries import DatasetEntry
from seqkern.study.kernel_entries import KernelEntry
from seqkern.study.reading import AnyKernel
from seqkern.study.solver_entries import SolverEntry
from seqkern.study.study import Study


class Method(NamedTuple):
    """A kernel with a solver, by their names in the configuration."""

    kernel: str
    solver: str


KEYS = ["task", "split"]
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
    """Return the names of a folder's subfolders, sorted.

    Parameters
    ----------
    folder : Path
        A folder, which may be missing.

    Returns
    -------
    list of str
        Empty where there is no such folder.
    """
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _is_summary(summary: Mapping[str, Any]) -> bool:
    """Tell whether a dict has the form of a data set's summary, as far as it goes."""
    tasks = summary.get("tasks", {})
    if not isinstance(tasks, dict) or not isinstance(summary.get("kind", ""), str):
        return False
    return all(isinstance(task, dict) and isinstance(task.get("classes", {}), dict) for task in tasks.values())


class DatasetResults:
    """One data set of a study; its tables are read when they are first needed.

    Parameters
    ----------
    study : Study
        The study, as configured.
    home : Path
        The results folder of the study.
    name : str
        Name of the data set, for captions.

    Attributes
    ----------
    entry : DatasetEntry
        Its entry in the configuration.
    methods : list of Method
        What was to be run, in the order of the configuration.
    """

    def __init__(self, study: Study, home: Path, name: str) -> None:
        self.study = study
        self.home = home
        self.name = name
        self.entry = study.datasets.get(name) or DatasetEntry.of_results({}, name)
        self.methods = self._expected()

    def _expected(self) -> list[Method]:
        """Return kernels × solvers of the configuration, or what is on disk where there is none."""
        if not self._configured:
            home = self.folder("evaluate")
            return [Method(kernel, solver) for kernel in subfolders(home) for solver in subfolders(home / kernel)]
        return [Method(*names) for names in self.study.method_names(self.name, (self.summary or {}).get("kind", ""))]

    @property
    def unsuitable(self) -> list[Method]:
        """Kernels × solvers of the configuration that are not run: the kernel does not give what the solver takes."""
        if not self._configured:
            return []
        return [Method(*names) for names in self.study.unsuitable(self.name, (self.summary or {}).get("kind", ""))]

    @property
    def _configured(self) -> bool:
        """Whether the study says what is run; otherwise the results on disk do."""
        return bool(self.study.datasets and self.study.kernels and self.study.solvers)

    def kernel(self, name: str) -> AnyKernel:
        """Return the KernelEntry or KernelChoice that the configuration calls `name`, which may be unknown here.

        Parameters
        ----------
        name : str
            Name of the kernel in the configuration.

        Returns
        -------
        AnyKernel
            An entry without a kernel where the configuration has none of that name.
        """
        return self.study.kernels.get(name) or KernelEntry.unknown({}, name, ConfigError("is not configured"))

    def solver(self, name: str) -> SolverEntry:
        """Return the SolverEntry that the configuration calls `name`, which may be unknown here.

        Parameters
        ----------
        name : str
            Name of the solver in the configuration.

        Returns
        -------
        SolverEntry
            An empty entry where the configuration has none of that name.
        """
        return self.study.solvers.get(name) or SolverEntry.of_results({}, name)

    def folder(self, stage: str) -> Path:
        """Return the folder of a stage's files for this data set.

        Parameters
        ----------
        stage : str
            Name of the stage: ``datasets``, ``folds``, ``audit``, ``gram``, ``inner``, ``evaluate``,
            ``importance``, ``motifs`` or ``effects``.

        Returns
        -------
        Path
        """
        return self.home / stage / self.name

    @cached_property
    def summary(self) -> dict[str, Any] | None:
        """Dict of ``summary.json``; None where it is missing."""
        path = self.folder("datasets") / "summary.json"
        summary = read_json(path)
        if summary is not None and not _is_summary(summary):
            raise FileError("is no summary of a data set", file=path, remedy="make it again")
        return summary

    @cached_property
    def tasks(self) -> dict[str, dict[str, Any]]:
        """Dict of task name to what the summary says of it; empty without a summary."""
        return (self.summary or {}).get("tasks") or {}

    @cached_property
    def kind(self) -> str:
        """``"binary"``, ``"multiclass"`` or ``"real"``: the kind of the first task."""
        kinds: list[Any] = [task.get("kind") for task in self.tasks.values()]
        return cast(str, kinds[0]) if kinds else "binary"

    def classes(self, task: str) -> list[str]:
        """Return the class names of a task in order: negative before positive if binary.

        Parameters
        ----------
        task : str
            Name of the task.

        Returns
        -------
        list of str
            Empty where no summary names them.
        """
        return [str(name) for name in (self.tasks.get(task) or {}).get("classes", ())]

    @cached_property
    def leakage(self) -> pd.DataFrame | None:
        """DataFrame of ``leakage.tsv``; None where it is missing."""
        columns = [*KEYS, "kind", "test_id", "train_id", "identity"]
        return read_table(self.folder("folds") / "leakage.tsv", columns)

    @cached_property
    def audit_findings(self) -> pd.DataFrame | None:
        """DataFrame of the audit's ``findings.tsv``; None where it is missing."""
        return read_table(self.folder("audit") / "findings.tsv", [*PLACE, *FINDINGS])

    @cached_property
    def audit_overlap(self) -> pd.DataFrame | None:
        """DataFrame of the audit's ``overlap.tsv``; None where it is missing."""
        return read_table(self.folder("audit") / "overlap.tsv", [*PLACE, "test_id"])

    @cached_property
    def similar(self) -> pd.DataFrame | None:
        """DataFrame of ``similar.tsv``; None where it is missing."""
        return read_table(self.folder("folds") / "similar.tsv", list(SIMILAR))

    @cached_property
    def composition(self) -> pd.DataFrame | None:
        """DataFrame of ``composition.tsv`` with int columns train and test; None where it is missing."""
        table = read_table(self.folder("folds") / "composition.tsv", [*KEYS, "class", "train", "test"])
        if table is None:
            return None
        counts = {role: numbers(table[role]).fillna(0).astype(int) for role in ("train", "test")}
        return table.assign(**counts)

    @cached_property
    def developed(self) -> bool:
        """Whether a development part takes the place of inner folds."""
        return self.composition is not None and DEV in self.composition

    @cached_property
    def several(self) -> bool:
        """Whether there are several tasks: then scores are averaged over tasks, else over folds."""
        return len(self.tasks) > 1 or self.metrics["task"].nunique() > 1

    @cached_property
    def one_split(self) -> bool:
        """Whether each task has one split only, so that naming the task is enough."""
        if not self.several or self.composition is None:
            return False
        return not self.composition[KEYS].drop_duplicates()["task"].duplicated().any()

    @cached_property
    def units(self) -> list[str]:
        """List of what scores are averaged over: names of the tasks, or of the splits of the only task."""
        column = "task" if self.several else "split"
        tables = [table for table in (self.composition, self.metrics) if table is not None]
        found = pd.concat([table[column] for table in tables]) if tables else []
        return list(dict.fromkeys([*(self.tasks if self.several else ()), *found]))

    def unit(self, table: pd.DataFrame) -> pd.Series:
        """Return the column of `table` that names the unit of each row: what scores are averaged over.

        Parameters
        ----------
        table : DataFrame
            With columns task and split.

        Returns
        -------
        Series
            One of `units` for each row.
        """
        return table["task" if self.several else "split"]

    @cached_property
    def metrics_text(self) -> pd.DataFrame:
        """DataFrame of str: all ``metrics.tsv``, with columns kernel and solver in front."""
        return self._all("metrics")

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """`metrics_text` with numbers, NaN where a metric is not defined."""
        text = self.metrics_text
        return text.assign(**{c: numbers(text[c]) for c in text.columns if c not in ("kernel", "solver", *KEYS)})

    @cached_property
    def residues(self) -> bool:
        """Whether the samples are residues of chains, whose states are predicted."""
        return "sov99" in self.metrics_text

    @cached_property
    def choices(self) -> pd.DataFrame:
        """DataFrame of all ``choices.tsv``."""
        table = self._all("choices")
        return table.assign(inner_score=numbers(table["inner_score"]))

    @cached_property
    def fits(self) -> pd.DataFrame:
        """DataFrame of all ``fits.tsv``; `converged` is bool.

        ``inner_not_converged`` is a number, and ``weights_failed`` bool: whether a kernel learned weights that did not
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
        """DataFrame of all ``features.tsv``: what each training set selected; empty where no method selects."""
        table = self._all("features")
        tested = {"p_corrected": numbers(table["p_corrected"])} if "p_corrected" in table else {}
        return table.assign(rank=numbers(table["rank"]), **tested)

    @cached_property
    def coefficients(self) -> pd.DataFrame:
        """DataFrame of str: all ``intervals.tsv``, coefficients of features with their confidence intervals."""
        return self._all("intervals")

    @cached_property
    def exemplars(self) -> pd.DataFrame:
        """DataFrame of all ``exemplars.tsv``: typical training samples; empty where no method has prototypes."""
        table = self._all("exemplars")
        return table.assign(**{c: numbers(table[c]) for c in ("prototype", "members", "rank", "distance")})

    @cached_property
    def paths(self) -> pd.DataFrame:
        """DataFrame of all ``path.tsv``, with numbers: weights of P-SVMs for decreasing ε."""
        table = self._all("path")
        return table.assign(**{name: numbers(table[name]) for name in ("epsilon", "weight", "used")})

    @cached_property
    def selection_bias(self) -> pd.DataFrame:
        """DataFrame of all ``selection_bias.tsv``, with numbers; empty where it was not computed."""
        table = self._all("selection_bias")
        return table.assign(**{c: numbers(table[c]) for c in table.columns if c not in ("kernel", "solver", *KEYS)})

    @cached_property
    def cost(self) -> pd.DataFrame:
        """DataFrame of all ``cost.json`` of training and testing."""
        table = self._all("cost")
        return table.assign(cpu_seconds=numbers(table["cpu_seconds"]), peak_mb=numbers(table["peak_mb"]))

    def gram_cost(self, kernel: str) -> pd.DataFrame | None:
        """Return the DataFrame of the cost of a kernel's stored Gram matrices; None where one is missing.

        Parameters
        ----------
        kernel : str
            Name of the kernel in the configuration.

        Returns
        -------
        DataFrame or None
            A row for each lap; None where the cost of a matrix is missing.
        """
        homes = [home.name for home in self.study.stored_grams.get(kernel, ())] or [kernel]
        folders = [self.folder("gram") / home for home in dict.fromkeys(homes)]
        laps = [read_laps(folder / "cost.json", ["stage", "cpu_seconds", "peak_mb"]) for folder in folders]
        return None if any(table is None for table in laps) else pd.concat(laps, ignore_index=True)

    def _gram_folder(self, kernel: str) -> Path:
        """Return the folder of the stored matrix that serves a kernel."""
        return self.folder("gram") / (self.gram_home(kernel) or kernel)

    def gram_home(self, kernel: str) -> str | None:
        """Return the name under which the one stored Gram matrix of a kernel is kept; None if it has none, or more.

        Parameters
        ----------
        kernel : str
            Name of the kernel in the configuration.

        Returns
        -------
        str or None
        """
        homes = self.study.stored_grams.get(kernel, ())
        return homes[0].name if len(homes) == 1 else None

    def _all(self, name: str) -> pd.DataFrame:
        """Return the tables of one name of all methods, one below the other; costs also of separate inner loops."""
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
        """Return a method's decisions, with decision values and probabilities as numbers; None where missing.

        Parameters
        ----------
        method : Method
            Kernel and solver.

        Returns
        -------
        DataFrame or None
            A row for each test sample of each split; None where the table is missing.
        """
        columns = TABLES["decisions"] + (["decision"] if self.kind != "multiclass" else [])
        return read_table(self._path(method, "decisions.tsv"), columns, ("decision", "probability", "sd"))

    def has_probabilities(self, method: Method) -> bool:
        """Tell whether the decisions of a method have probabilities, by the head of their table alone.

        Parameters
        ----------
        method : Method
            Kernel and solver.

        Returns
        -------
        bool
        """
        try:
            with open(self._path(method, "decisions.tsv"), encoding="utf-8") as file:
                return "\tprobability" in file.readline()
        except FileNotFoundError:
            return False

    @cached_property
    def done(self) -> list[Method]:
        """Methods that gave scores, in order."""
        found = set(zip(self.metrics["kernel"], self.metrics["solver"], strict=True))
        return [method for method in self.methods if tuple(method) in found]

    @cached_property
    def missing(self) -> list[Method]:
        """Methods that were to be run and gave nothing."""
        return [method for method in self.methods if method not in self.done]

    @cached_property
    def kernels(self) -> list[str]:
        """Names of the kernels, in order."""
        return list(dict.fromkeys(method.kernel for method in self.methods))

    @cached_property
    def solvers(self) -> list[str]:
        """Names of the solvers, in order."""
        return list(dict.fromkeys(method.solver for method in self.methods))

    def gram(self, kernel: str) -> npt.NDArray[Any] | None:
        """Return a kernel's stored Gram matrix as a read-only memory map; None where there is none.

        Before transforms and repair. A kernel that learns has none, though that of another may serve it.

        Parameters
        ----------
        kernel : str
            Name of the kernel in the configuration.

        Returns
        -------
        npt.NDArray[Any] or None
            Read-only memory map, shape (samples, samples); None where there is none.
        """
        return None if self.learns(kernel) else read_gram(self._gram_folder(kernel) / "gram.npy")

    def spectrum(self, kernel: str) -> Spectrum | None:
        """Return the Spectrum of a kernel's stored Gram matrix; None where there is none.

        Parameters
        ----------
        kernel : str
            Name of the kernel in the configuration.

        Returns
        -------
        Spectrum or None
        """
        path = self._gram_folder(kernel) / "gram.spectrum.tsv"
        return read_spectrum(path) if not self.learns(kernel) and path.exists() else None

    def learns(self, kernel: str) -> bool:
        """Tell whether a kernel learns from the training set; False where it is not known here.

        Parameters
        ----------
        kernel : str
            Name of the kernel in the configuration.

        Returns
        -------
        bool
        """
        entry = self.kernel(kernel)
        return isinstance(entry, KernelEntry) and entry.known and entry.kernel.data_dependent

    @cached_property
    def transductive(self) -> set[str]:
        """Set of the names of the kernels whose profiles were built with the test sequences, without their labels."""
        made = (self.summary or {}).get("profiles")
        options = self.entry.data.profiles
        transductive = made.get("transductive") if made else options is not None and options.transductive
        return {name for name in self.kernels if transductive and self.kernel(name).reads_profiles}

    def gram_counts(self, kernel: str) -> dict[str, int]:
        """Return how many records a kernel's policies changed, a dict; empty where none or no matrix is stored.

        Parameters
        ----------
        kernel : str
            Name of the kernel in the configuration.

        Returns
        -------
        dict of str to int
            By the name of the policy; empty where none or no matrix is stored.
        """
        return (read_json(self._gram_folder(kernel) / "gram.json", GRAM) or {}).get("counts", {})

    @cached_property
    def sample_table(self) -> pd.DataFrame | None:
        """DataFrame of ``units.tsv``; None where it is missing."""
        return read_table(self.folder("datasets") / "units.tsv", ["id"])
