"""Read a study's results folder: what is there, and what of the configured grid is missing."""

from collections import namedtuple
from functools import cached_property
from pathlib import Path

import pandas as pd

from seqkern.core.errors import ConfigError, FileError, SeqkernError
from seqkern.gram.spectrum import read_spectrum
from seqkern.kernels import build_kernel
from seqkern.report.files import numbers, read_config, read_gram, read_json, read_laps, read_table
from seqkern.sequences.tracks import PROFILE_TRACKS
from seqkern.study.methods import dataset_methods, split_transforms
from seqkern.study.stored_grams import gram_homes

Method = namedtuple("Method", ["kernel", "solver"])

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
    "selection_bias": [*KEYS, "n_features"],
    "cost": [*KEYS, "stage", "cpu_seconds", "peak_mb"],
    "decisions": [*KEYS, "id", "label", "predicted"],
}

EIGENVALUES = ("smallest_eigenvalue", "negative_share")
"""Columns of ``fits.tsv`` that a kernel has which learns from the training part."""


class Study:
    """A results folder.

    Parameters
    ----------
    folder : path-like
        ``results/<study>``.
    config : dict, optional
        The resolved configuration; by default ``config.yaml`` of the folder, or of an earlier report in it.

    Attributes
    ----------
    name : str
    config : dict
        Empty where there is none; then the folders tell what was done.
    datasets : list of DatasetResults

    Raises
    ------
    ConfigError
        If the configuration is none.
    FileError
        If there is no such folder, or no data set in it.
    """

    def __init__(self, folder, config=None):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise FileError("no such folder", file=self.folder, remedy="run the workflow first, or check the path")
        self.config = self._config() if config is None else config
        _check_mapping("the configuration", self.config, self.folder)
        for key in ("datasets", "kernels", "solvers"):
            _check_mapping(key, self.config.get(key) or {}, self.folder)
        self.name = str(self.config.get("study", self.folder.resolve().name))
        names = list(self.config.get("datasets", ())) or _subfolders(self.folder / "datasets")
        if not names:
            raise FileError("holds no data sets", file=self.folder, remedy="run the workflow first")
        self.datasets = [DatasetResults(self, str(name)) for name in names]

    def _config(self):
        """Return the configuration that lies in the folder, or that an earlier report left there."""
        return read_config(self.folder / "config.yaml") or read_config(self.folder / "report" / "config.yaml")

    def spec(self, kind, name):
        """Return the configuration's entry of a data set, kernel or solver, ``{}`` where there is none."""
        entry = (self.config.get(kind) or {}).get(name)
        return entry if isinstance(entry, dict) else {}

    @cached_property
    def stored_grams(self):
        """Dict of kernel name to the names under which its stored Gram matrices are kept; empty where not known."""
        try:
            homes = gram_homes({"kernels": self.config.get("kernels") or {}})
        except SeqkernError:
            return {}
        return {name: [home for home, _ in own] for name, own in homes.items()}

    @cached_property
    def gram_homes(self):
        """Dict of kernel name to the name under which its one stored Gram matrix is kept."""
        return {name: homes[0] for name, homes in self.stored_grams.items() if len(homes) == 1}

    def kernel(self, name):
        """Return the Kernel that the configuration calls `name`; None where it is not known here."""
        try:
            return build_kernel(split_transforms(self.spec("kernels", name))[0])
        except SeqkernError:
            return None

    def reads_profiles(self, name):
        """Tell whether a kernel, or one that it is chosen among, reads the profiles of the data set."""
        built = map(self.kernel, self.spec("kernels", name).get("choose") or [name])
        return any(set(PROFILE_TRACKS) & set(kernel.tracks) for kernel in built if kernel is not None)


def _check_mapping(what, value, folder):
    """Raise ConfigError unless `value` is a dict."""
    if not isinstance(value, dict):
        raise ConfigError(f"{what} is {value!r}, not keys and values", file=folder, remedy="see config/README.md")


def _subfolders(folder):
    """Return the names of a folder's subfolders, sorted."""
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _is_summary(summary):
    """Tell whether a dict has the form of a data set's summary, as far as it goes."""
    tasks = summary.get("tasks", {})
    if not isinstance(tasks, dict) or not isinstance(summary.get("kind", ""), str):
        return False
    return all(isinstance(task, dict) and isinstance(task.get("classes", {}), dict) for task in tasks.values())


class DatasetResults:
    """All that is known of one data set of a study; tables are read when asked for.

    Attributes
    ----------
    name : str
    entry : dict
        Its entry in the configuration.
    methods : list of Method
        What was to be run, in the order of the configuration.
    """

    def __init__(self, study, name):
        self.study = study
        self.name = name
        self.entry = study.spec("datasets", name)
        self.methods = self._expected()

    def _expected(self):
        """Return kernels × solvers of the configuration, or what is on disk where there is none."""
        config = self.study.config
        if not all(config.get(part) for part in ("datasets", "kernels", "solvers")):
            home = self.folder("evaluate")
            return [Method(kernel, solver) for kernel in _subfolders(home) for solver in _subfolders(home / kernel)]
        kind = (self.summary or {}).get("kind", "")
        return [Method(*map(str, method)) for method in dataset_methods(config, self.name, kind)]

    def folder(self, stage):
        """Return the folder of a stage's files for this data set."""
        return self.study.folder / stage / self.name

    @cached_property
    def summary(self):
        """Dict of ``summary.json``; None where it is missing."""
        path = self.folder("datasets") / "summary.json"
        summary = read_json(path)
        if summary is not None and not _is_summary(summary):
            raise FileError("is no summary of a data set", file=path, remedy="make it again")
        return summary

    @cached_property
    def tasks(self):
        """Dict of task name to what the summary says of it; empty without a summary."""
        return (self.summary or {}).get("tasks") or {}

    @cached_property
    def kind(self):
        """``"binary"``, ``"multiclass"`` or ``"real"``: the kind of the first task."""
        kinds = [task.get("kind") for task in self.tasks.values()]
        return kinds[0] if kinds else "binary"

    def classes(self, task):
        """Return the class names of a task in order: negative before positive if binary."""
        return [str(name) for name in (self.tasks.get(task) or {}).get("classes", ())]

    @cached_property
    def leakage(self):
        """DataFrame of ``leakage.tsv``; None where it is missing."""
        columns = [*KEYS, "kind", "test_id", "train_id", "identity"]
        return read_table(self.folder("folds") / "leakage.tsv", columns)

    @cached_property
    def composition(self):
        """DataFrame of ``composition.tsv`` with int columns train and test; None where it is missing."""
        table = read_table(self.folder("folds") / "composition.tsv", [*KEYS, "class", "train", "test"])
        if table is None:
            return None
        counts = {role: numbers(table[role]).fillna(0).astype(int) for role in ("train", "test")}
        return table.assign(**counts)

    @cached_property
    def several(self):
        """Whether there are several tasks: then scores are averaged over tasks, else over folds."""
        return len(self.tasks) > 1 or self.metrics["task"].nunique() > 1

    @cached_property
    def one_split(self):
        """Whether each task has one split only, so that naming the task is enough."""
        if not self.several or self.composition is None:
            return False
        return not self.composition[KEYS].drop_duplicates()["task"].duplicated().any()

    @cached_property
    def units(self):
        """List of what scores are averaged over: names of the tasks, or of the splits of the only task."""
        column = "task" if self.several else "split"
        tables = [table for table in (self.composition, self.metrics) if table is not None]
        found = pd.concat([table[column] for table in tables]) if tables else []
        return list(dict.fromkeys([*(self.tasks if self.several else ()), *found]))

    def unit(self, table):
        """Return the column of `table` that names the unit of each row."""
        return table["task" if self.several else "split"]

    @cached_property
    def metrics_text(self):
        """DataFrame of str: all ``metrics.tsv``, with columns kernel and solver in front."""
        return self._all("metrics")

    @cached_property
    def metrics(self):
        """`metrics_text` with numbers, NaN where a metric is not defined."""
        text = self.metrics_text
        return text.assign(**{c: numbers(text[c]) for c in text.columns if c not in ("kernel", "solver", *KEYS)})

    @cached_property
    def residues(self):
        """Whether the units are residues of chains, with states that are predicted."""
        return "sov99" in self.metrics_text

    @cached_property
    def choices(self):
        """DataFrame of all ``choices.tsv``."""
        table = self._all("choices")
        return table.assign(inner_score=numbers(table["inner_score"]))

    @cached_property
    def fits(self):
        """DataFrame of all ``fits.tsv``; `converged` is bool.

        ``inner_not_converged`` is a number, and ``weights_failed`` bool: whether a kernel learned weights that did not
        converge.
        """
        table = self._all("fits")
        known = (*TABLES["fits"][3:], "gap", "inner_not_converged", *EIGENVALUES)
        plain = {c: numbers(table[c]) for c in known if c in table}
        if "weights_converged" in table:
            plain["weights_failed"] = table["weights_converged"].fillna("").str.lower() == "false"
        converged = table["converged"].str.lower().isin(["true", "1", "yes"])
        return table.assign(converged=converged.astype(bool), **plain)

    @cached_property
    def features(self):
        """DataFrame of all ``features.tsv``: what each training part selected; empty where no method selects."""
        table = self._all("features")
        return table.assign(rank=numbers(table["rank"]))

    @cached_property
    def coefficients(self):
        """DataFrame of str: all ``intervals.tsv``, coefficients of features with their confidence intervals."""
        return self._all("intervals")

    @cached_property
    def selection_bias(self):
        """DataFrame of all ``selection_bias.tsv``, with numbers; empty where it was not computed."""
        table = self._all("selection_bias")
        return table.assign(**{c: numbers(table[c]) for c in table.columns if c not in ("kernel", "solver", *KEYS)})

    @cached_property
    def cost(self):
        """DataFrame of all ``cost.json`` of training and testing."""
        table = self._all("cost")
        return table.assign(cpu_seconds=numbers(table["cpu_seconds"]), peak_mb=numbers(table["peak_mb"]))

    def gram_cost(self, kernel):
        """Return the DataFrame of the cost of a kernel's stored Gram matrices; None where one is missing."""
        homes = self.study.stored_grams.get(kernel, [kernel])
        folders = [self.folder("gram") / home for home in dict.fromkeys(homes)]
        laps = [read_laps(folder / "cost.json", ["stage", "cpu_seconds", "peak_mb"]) for folder in folders]
        return None if any(table is None for table in laps) else pd.concat(laps, ignore_index=True)

    def _gram_folder(self, kernel):
        """Return the folder of the stored matrix that serves a kernel."""
        return self.folder("gram") / self.study.gram_homes.get(kernel, kernel)

    def _all(self, name):
        """Return the tables of one name of all methods, one below the other."""
        tables = []
        for method in self.methods:
            read, suffix = (read_laps, "json") if name == "cost" else (read_table, "tsv")
            table = read(self._path(method, f"{name}.{suffix}"), TABLES[name])
            if table is not None:
                table.insert(0, "kernel", method.kernel)
                table.insert(1, "solver", method.solver)
                tables.append(table)
        if not tables:
            return pd.DataFrame(columns=["kernel", "solver", *TABLES[name]], dtype=str)
        return pd.concat(tables, ignore_index=True).fillna("")

    def _path(self, method, file):
        return self.folder("evaluate") / method.kernel / method.solver / file

    def decisions(self, method):
        """Return a method's decisions, with decision values and probabilities as numbers; None where missing."""
        columns = TABLES["decisions"] + (["decision"] if self.kind != "multiclass" else [])
        return read_table(self._path(method, "decisions.tsv"), columns, ("decision", "probability"))

    def has_probabilities(self, method):
        """Tell whether the decisions of a method have probabilities, by the head of their table alone."""
        try:
            with open(self._path(method, "decisions.tsv"), encoding="utf-8") as file:
                return "\tprobability" in file.readline()
        except FileNotFoundError:
            return False

    @cached_property
    def done(self):
        """Methods that gave scores, in order."""
        found = set(zip(self.metrics["kernel"], self.metrics["solver"], strict=True))
        return [method for method in self.methods if method in found]

    @cached_property
    def missing(self):
        """Methods that were to be run and gave nothing."""
        return [method for method in self.methods if method not in self.done]

    @cached_property
    def kernels(self):
        """Names of the kernels, in order."""
        return list(dict.fromkeys(method.kernel for method in self.methods))

    @cached_property
    def solvers(self):
        """Names of the solvers, in order."""
        return list(dict.fromkeys(method.solver for method in self.methods))

    def gram(self, kernel):
        """Return a kernel's stored Gram matrix as a read-only memory map; None where there is none.

        Before transforms and repair. A kernel that learns has none, though that of another may serve it.
        """
        return None if self.learns(kernel) else read_gram(self._gram_folder(kernel) / "gram.npy")

    def spectrum(self, kernel):
        """Return the Spectrum of a kernel's stored Gram matrix; None where there is none."""
        path = self._gram_folder(kernel) / "gram.spectrum.tsv"
        return read_spectrum(path) if not self.learns(kernel) and path.exists() else None

    def learns(self, kernel):
        """Tell whether a kernel learns from the training part; False where it is not known here."""
        built = self.study.kernel(kernel)
        return built is not None and built.data_dependent

    @cached_property
    def transductive(self):
        """Set of the names of the kernels whose profiles were built with the test sequences, without their labels."""
        made = (self.summary or {}).get("profiles") or self.entry.get("profiles") or {}
        return {name for name in self.kernels if made.get("transductive") and self.study.reads_profiles(name)}

    def gram_counts(self, kernel):
        """Return how many units a kernel's policies touched, a dict; empty where none or no matrix is stored."""
        return (read_json(self._gram_folder(kernel) / "gram.json") or {}).get("counts", {})

    @cached_property
    def unit_table(self):
        """DataFrame of ``units.tsv``; None where it is missing."""
        return read_table(self.folder("datasets") / "units.tsv", ["id"])
