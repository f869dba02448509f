"""Data sets: the input of a study, encoded once and stored in one folder.

`make_dataset` turns a study's entry into a `Dataset`; `save_dataset` and `load_dataset` store it on disk as
``data.npz`` (everything), and ``units.tsv`` and ``summary.json`` (for human readers).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import load_archive, nest, save_archive, save_json, unnest
from seqkern.core.checks import check_name
from seqkern.core.errors import ConfigError, FileError, LabelError, check_texts, unknown_name
from seqkern.core.exclusive_files import exclusive_folder
from seqkern.core.file_kinds import DATASET, RESULT
from seqkern.core.progress import tell
from seqkern.core.text_files import file_sha256
from seqkern.core.tsv import write_tsv
from seqkern.core.types import Arrays, Ints, PathLike
from seqkern.formats.residues import STATES, Residues, residue_samples
from seqkern.formats.states import reduce_states, state_classes
from seqkern.sequences.joining import vectors_of
from seqkern.sequences.labels import SAMPLE_COLUMNS, UNLABELLED, Labels, check_labels
from seqkern.sequences.sequence_set import SequenceSet, sequence_views, vector_views
from seqkern.sequences.tables import Data, FeatureTable, SimilarityTable
from seqkern.sequences.views import Segments
from seqkern.study.data_entry import DataEntry, ResidueOptions
from seqkern.study.readers import RawDataset, read_raw_dataset
from seqkern.study.tables import PROTOCOL, Columns, TaskTable, labels_of_columns, liao_noble, unit_columns

KINDS: dict[str, type[SequenceSet] | type[FeatureTable] | type[SimilarityTable]] = {
    "sequences": SequenceSet,
    "features": FeatureTable,
    "similarities": SimilarityTable,
    "dissimilarities": SimilarityTable,
}
ROLES = ("train", "dev", "test")


@dataclass(frozen=True, eq=False)
class Task:
    """One labelling of a data set's samples.

    Attributes
    ----------
    name : str
        Unique in the data set; also the name of its fold file.
    labels : Labels
        Labels of all samples of the data set, in order.
    split : ndarray of str, shape (n,), optional
        ``"train"``, ``"dev"`` (training samples for choosing hyperparameters), ``"test"`` or ``""`` (unused) if the
        source defines the roles.

    Examples
    --------
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(["d1", "d2", "d3"], ["donor", "decoy", "donor"], positive="donor")
    >>> Task("all", labels, np.array(["train", "test", ""])).used().tolist()
    [0, 1]
    """

    name: str
    labels: Labels
    split: npt.NDArray[np.str_] | None = None

    def used(self) -> npt.NDArray[np.int64]:
        """Return the places of the samples that have a label and, if roles are defined, a role."""
        used = self.labels.used()
        return np.flatnonzero(used if self.split is None else used & (self.split != ""))

    def unlabelled(self) -> npt.NDArray[np.int64]:
        """Return the places of the samples with unknown labels; none if roles are defined: others are unused."""
        return np.flatnonzero(~self.labels.used() if self.split is None else np.zeros(len(self.labels), dtype=bool))


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples, their tasks, and their sources.

    Attributes
    ----------
    name : str
        Its name in the study.
    kind : {"sequences", "features", "similarities", "dissimilarities"}
        Kind of the samples.
    X : SequenceSet, FeatureTable or SimilarityTable
        The n samples.
    tasks : dict of str to Task
        At least one task, by name.
    notes : dict
        JSON: ``sources`` (list of file name, sha256 and url) and ``description``.
    residues : Residues, optional
        The residue of each sample, if the samples are windows around residues.

    Examples
    --------
    >>> from seqkern.study import make_dataset
    >>> donors = make_dataset("donors", {"simulate": {"kind": "donor", "n_positive": 5, "n_decoy": 10}})
    >>> donors.kind, donors.X, list(donors.tasks)
    ('sequences', SequenceSet(15 sequences, alphabet 'dna', 900 letters), ['all'])
    """

    name: str
    kind: str
    X: Data
    tasks: dict[str, Task]
    notes: dict[str, Any] = field(default_factory=dict)
    residues: Residues | None = None

    @property
    def chains(self) -> npt.NDArray[np.int64] | None:
        """The chain of each sample, shape (n,), if samples are residues; else None."""
        return None if self.residues is None else self.residues.record

    def task(self, name: str | None = None) -> Task:
        """Return a task.

        Parameters
        ----------
        name : str, optional
            Default: the only task.

        Returns
        -------
        Task

        Raises
        ------
        ParameterError
            For an unknown task.
        """
        if name is None and len(self.tasks) == 1:
            return next(iter(self.tasks.values()))
        if name not in self.tasks:
            raise unknown_name(f"task of {self.name}", name, self.tasks)
        return self.tasks[name]


def save_dataset(dataset: Dataset, folder: PathLike) -> None:
    """Write a data set to a folder: ``units.tsv``, ``summary.json`` and, last, ``data.npz``.

    Parameters
    ----------
    dataset : Dataset
        A data set of any kind.
    folder : path-like
        Created if missing.

    Raises
    ------
    FileError
        If a file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from seqkern.study import make_dataset
    >>> donors = make_dataset("donors", {"simulate": {"kind": "donor", "n_positive": 5, "n_decoy": 10}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_dataset(donors, folder)
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['data.npz', 'summary.json', 'units.tsv']
    """
    folder = Path(folder)
    header, arrays = dataset.X.state()
    arrays = nest("X", arrays)
    first = next(iter(dataset.tasks.values())).labels
    for name in SAMPLE_COLUMNS:
        if getattr(first, name) is not None:
            arrays[f"units/{name}"] = getattr(first, name)
    residues = None
    if dataset.residues is not None:
        residues, own = dataset.residues.state()
        arrays |= nest("residues", own)
    tasks = []
    for i, task in enumerate(dataset.tasks.values()):
        tasks.append({"name": task.name, "kind": task.labels.kind, "classes": list(task.labels.classes)})
        arrays[f"tasks/{i}/y"] = task.labels.y
        if task.split is not None:
            arrays[f"tasks/{i}/split"] = task.split
    whole = {**DATASET.stamp(), "name": dataset.name, "kind": dataset.kind, "X": header}
    whole |= {"tasks": tasks, "notes": dataset.notes}
    with exclusive_folder(folder):
        _write_samples(dataset, folder / "units.tsv")
        save_json(folder / "summary.json", RESULT, summary(dataset))
        save_archive(folder / "data.npz", whole | ({"residues": residues} if residues else {}), arrays)


def load_dataset(folder: PathLike) -> Dataset:
    """Return the data set that `save_dataset` wrote to a folder.

    Parameters
    ----------
    folder : path-like
        A folder with the file ``data.npz``.

    Returns
    -------
    Dataset

    Raises
    ------
    FileError
        If it is missing, corrupted, or of a newer version.

    Examples
    --------
    >>> import tempfile
    >>> from seqkern.study import make_dataset
    >>> donors = make_dataset("donors", {"simulate": {"kind": "donor", "n_positive": 5, "n_decoy": 10}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_dataset(donors, folder)
    ...     again = load_dataset(folder)
    >>> again.X.digest() == donors.X.digest(), again.task().labels.class_counts()
    (True, {'decoy': 10, 'donor': 5})
    """
    path = Path(folder) / "data.npz"
    if Path(folder).is_file():
        raise FileError("is a file, not the folder of a data set", file=folder, remedy="run seqkern datasets")
    header, arrays = load_archive(path, DATASET)
    with DATASET.damaged(path, "is a corrupted data set"):
        return _from_state(header, arrays)


def _from_state(header: dict[str, Any], arrays: Arrays) -> Dataset:
    """Return the data set stored in a file's header and arrays; any error may be raised for a corrupted one."""
    X = KINDS[header["kind"]].from_state(header["X"], unnest("X", arrays))
    units = unnest("units", arrays)
    tasks = {}
    for i, entry in enumerate(header["tasks"]):
        classes = check_texts(entry["classes"], "classes")
        labels = Labels(X.ids, arrays[f"tasks/{i}/y"], entry["kind"], tuple(classes), **units)
        check_labels(labels)
        split = arrays.get(f"tasks/{i}/split")
        if split is not None and (split.shape != (len(X),) or not set(np.unique(split)) <= {*ROLES, ""}):
            raise ValueError("unknown roles")
        tasks[entry["name"]] = Task(entry["name"], labels, split)
    check_texts(list(tasks), "names of tasks")
    residues = None
    if "residues" in header:
        residues = Residues.from_state(header["residues"], unnest("residues", arrays))
        if len(residues) != len(X):
            raise ValueError("another number of residues than of samples")
    if not tasks or not isinstance(header["notes"], dict):
        raise ValueError("no tasks or notes")
    name, kind = check_texts([header["name"], header["kind"]], "name")
    return Dataset(name, kind, X, tasks, header["notes"], residues)


def summary(dataset: Dataset) -> dict[str, Any]:
    """Return the content of ``summary.json``: size, lengths, classes of each task, policy counts, sources.

    Parameters
    ----------
    dataset : Dataset
        A data set of any kind.

    Returns
    -------
    dict
        JSON.

    Examples
    --------
    >>> from seqkern.study import make_dataset
    >>> donors = make_dataset("donors", {"simulate": {"kind": "donor", "n_positive": 5, "n_decoy": 10}})
    >>> found = summary(donors)
    >>> found["length"], found["tasks"]["all"]["classes"]
    ({'min': 60, 'median': 60.0, 'max': 60, 'total': 900}, {'decoy': 10, 'donor': 5})
    """
    X = dataset.X
    result: dict[str, Any] = {"name": dataset.name, "kind": dataset.kind, "n": len(X)}
    if isinstance(X, SequenceSet):
        lengths = X.lengths
        result["alphabet"] = X.alphabet.name
        result["tracks"] = sorted(X.tracks)
        result["length"] = _span(lengths) | {"total": int(lengths.sum())}
        if sequence_views(X):
            result["sequences"] = {name: _view_summary(view) for name, view in sequence_views(X).items()}
        if dataset.residues is not None:
            lengths = dataset.residues.chains.lengths
            result["chains"] = {"n": len(lengths), **_span(lengths)}
    elif isinstance(X, FeatureTable):
        result["columns"] = len(X.columns)
    result["tasks"] = {task.name: _task_summary(task) for task in dataset.tasks.values()}
    for task in dataset.tasks.values():
        unlabelled = 0 if dataset.residues is not None else len(task.unlabelled())
        if unlabelled:
            result["tasks"][task.name]["unlabelled"] = unlabelled
    return result | {"counts": dict(X.counts), "digest": X.digest(), **dataset.notes}


def _view_summary(view: Segments) -> dict[str, Any]:
    """Return the alphabet, number and lengths of the nonempty sequences of one view."""
    lengths = view.lengths[view.lengths > 0]
    return {"alphabet": view.alphabet.name, "n": len(lengths), **(_span(lengths) if len(lengths) else {})}


def _span(lengths: Ints) -> dict[str, Any]:
    """Return the smallest, the median and the largest length."""
    return {"min": int(lengths.min()), "median": float(np.median(lengths)), "max": int(lengths.max())}


def _task_summary(task: Task) -> dict[str, Any]:
    """Return the kind and the number of samples of a task, by class and by role."""
    labels = task.labels.take(task.used())
    result: dict[str, Any] = {"kind": labels.kind, "n": len(labels)}
    if labels.kind == "real":
        result |= {"min": float(labels.y.min()), "mean": float(labels.y.mean()), "max": float(labels.y.max())}
    else:
        result["classes"] = labels.class_counts()
    if task.split is not None:
        present = [role for role in ROLES if (task.split == role).any()]
        result["roles"] = {role: task.labels.take(task.split == role).class_counts() for role in present}
    if labels.groups is not None:
        result["groups"] = len(np.unique(labels.groups))
    return result


def _write_samples(dataset: Dataset, path: Path) -> None:
    """Write one row for each sample: its id, length, further columns, and label in each task."""
    columns: dict[str, Any] = {"id": dataset.X.ids}
    if isinstance(dataset.X, SequenceSet):
        columns["length"] = dataset.X.lengths
    first = next(iter(dataset.tasks.values())).labels
    for name in SAMPLE_COLUMNS:
        if getattr(first, name) is not None:
            columns[name.removesuffix("s") if name in ("groups", "folds") else name] = getattr(first, name)
    for task in dataset.tasks.values():
        used = np.zeros(len(dataset.X), dtype=bool)
        used[task.used()] = True
        columns[task.name] = np.where(used, task.labels.names(), "")
    write_tsv(path, list(columns), zip(*columns.values(), strict=True))


# Residue windows of a data-set entry: each residue becomes a sample, with a window around it.

LEFT_OUT = "chains without a known state left out"


def cut_residues(material: RawDataset, wanted: ResidueOptions) -> tuple[RawDataset, Residues]:
    """Return the material of chains converted to one window per residue, and the residue and chain of each."""
    if STATES not in material.X.tracks:
        raise ConfigError(
            "no states given for the residues",
            file=material.file,
            remedy="add labels: {from: states, file: …}, or remove residues",
        )
    chains, columns = _with_known_states(material)
    if wanted.reduction is not None:
        # runs of states end at the end of their chain
        chains = chains.compact()
        states = reduce_states(chains.tracks[STATES], chains.stops, wanted.reduction, material.file)
        chains = chains.replace(tracks={**chains.tracks, STATES: states})
    windows, residues = residue_samples(chains, wanted.window)
    states = residues.states()
    names = np.array(["" if code == 0 else chr(code) for code in range(256)])
    of_chains = {"group": np.array(chains.ids)} | {key: np.asarray(values) for key, values in columns.items()}
    of_residues = {key: values[residues.record] for key, values in of_chains.items()} | {"label": names[states]}
    options = {"classes": state_classes(states), **material.options}
    notes = material.notes | {"residues": wanted.note()}
    return replace(material, X=windows, columns=of_residues, options=options, notes=notes), residues


def _with_known_states(material: RawDataset) -> tuple[SequenceSet, Columns]:
    """Return the chains that have a known state, with their columns; the others are counted as left out."""
    X = material.X
    known = np.concatenate(([0], np.cumsum(X.tracks[STATES] != 0)))
    good = known[X.stops] > known[X.starts]
    if not good.any():
        raise ConfigError(
            "no residue has a known state",
            file=material.file,
            remedy="give states other than ?, for residues that are not masked",
        )
    if good.all():
        return X, material.columns
    rows = np.flatnonzero(good)
    counts = X.counts | {LEFT_OUT: int(len(X) - len(rows))}
    return X.take(rows).replace(counts=counts), {
        key: [values[i] for i in rows.tolist()] for key, values in material.columns.items()
    }


# Construction of a data set from a study's entry: read, check, encode, and define the tasks.


def make_dataset(
    name: str,
    entry: DataEntry | Mapping[str, Any],
    base_dir: PathLike = ".",
    data_dir: PathLike | None = None,
    *,
    seed: int = 1,
    n_threads: int | None = None,
) -> Dataset:
    """Read, check and encode the data of a study's entry.

    Parameters
    ----------
    name : str
        Name of the data set.
    entry : DataEntry or mapping
        In a mapping, one source (``simulate``, ``public``, ``fasta``, ``features``, ``similarities`` or
        ``dissimilarities``), the policies ``alphabet``, ``unknown``, ``ids`` and ``empty``, ``labels``, ``tasks``,
        ``title``, ``window`` and ``sites``, ``profiles``, ``views``, ``residues``. They are explained in
        config/README.md.
    base_dir : path-like
        Base of relative paths.
    data_dir : path-like, optional
        Folder with local copies of the public data sets.
    seed : int
        Seed for random choices of entries without a seed.
    n_threads : int, optional
        Number of threads for profiles built by search.

    Returns
    -------
    Dataset

    Raises
    ------
    ConfigError, ParameterError
        If the entry is invalid.
    FileError, SequenceError, LabelError
        If a file cannot be read or used.

    Examples
    --------
    >>> donors = make_dataset("donors", {"simulate": {"kind": "donor", "n_positive": 5, "n_decoy": 10}})
    >>> len(donors.X), donors.task().labels.class_counts()
    (15, {'decoy': 10, 'donor': 5})
    """
    entry = DataEntry.parse(entry)
    material, residues = read_raw_dataset(entry, base_dir, data_dir, seed, n_threads), None
    if entry.residues is not None:
        material, residues = cut_residues(material, entry.residues)
    roles: Mapping[str, npt.ArrayLike] | None = material.roles
    if isinstance(entry.tasks, TaskTable):
        roles = entry.tasks.roles(material.X.ids, base_dir, material.left_out)
        own = {"file": entry.tasks.file, "sha256": file_sha256(Path(base_dir) / entry.tasks.file)}
        material.notes["sources"].append(own)
    elif entry.tasks == "families":
        roles = _family_roles(material, seed)
    tasks = _one_task(material) if roles is None else _role_tasks(material, roles)
    notes = material.notes | ({} if entry.title is None else {"title": entry.title})
    place = f"{material.file}: " if isinstance(material.X, FeatureTable) else ""  # a view has a file of its own
    for leak in (leaks := leaked_features(material.X, [task.labels for task in tasks.values()])):
        tell(f"warning: {place}{leak}")
    notes |= {"leaks": leaks} if leaks else {}
    return Dataset(str(name), material.kind, material.X, tasks, notes, residues)


LABEL_WORDS = frozenset(["label", "labels", "class", "y", "target", "group", "outcome", "response"])
"""Column names of probable labels; such a column is suspected if it predicts the label better than chance."""
EXPLAINED = 0.95
"""Share of a feature's variance between classes above which it is suspected; genes reach at most 0.82."""
EQUAL = 0.998
"""Share of a feature's variance explained by real labels above which it is suspected: |r| > 0.999."""
CHANCE = 1e-3
"""Largest probability that one of equally many random features would do as well."""
FEWEST = 10
"""Number of samples below which no feature is suspected."""
FEW = 200
"""Number of rows that show whether a feature has few values."""


def leaked_features(X: Data, labels: Sequence[Labels]) -> list[str]:
    """Return a sentence on each feature that alone determines the label, and so may be the label itself.

    Suspect are features of few values, each with one class; features with almost no variance within the classes, or
    |r| > 0.999 with numeric labels; and features that have the name of a label and predict it. Each must do better
    than the best of as many random features.

    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.tables import FeatureTable
    >>> kinds = make_labels([str(i) for i in range(40)], ["donor", "decoy"] * 20)
    >>> leaked_features(FeatureTable(kinds.y[:, None] + 1.0, columns=["kind"]), [kinds])
    ["feature 'kind' alone separates the classes: is it the label?"]
    """
    tables: list[tuple[npt.NDArray[Any], list[str], list[str]]] = []
    if isinstance(X, FeatureTable):
        tables.append((X.values, list(X.columns), [f"feature {name!r}" for name in X.columns]))
    elif isinstance(X, SequenceSet):
        for name, view in vector_views(X).items():
            shown = [f"view {name!r}: value {j} of each vector" for j in range(1, view.width + 1)]
            tables.append((vectors_of(X, name), ["" if view.width > 1 else name] * view.width, shown))
    found: dict[str, None] = {}
    for values, names, shown in tables:
        for j, name in enumerate(names):
            named = name.strip().lower() in LABEL_WORDS
            for own in labels:
                if leak := _leak(values[:, j].astype(np.float64), own, len(names), named):
                    found[f"{shown[j]} {leak}: is it the label?"] = None
    return list(found)


def _leak(x: npt.NDArray[np.float64], labels: Labels, features: int, named: bool) -> str:
    """Return the way in which a feature gives away the label; empty if one of `features` random ones does as well."""
    known = labels.used() & np.isfinite(x)
    x, y = x[known], labels.y[known]
    if labels.kind == "none" or len(x) < FEWEST or x.min() == x.max() or y.min() == y.max():
        return ""
    explained = _explained(x, y, labels.kind)
    if labels.kind == "real":
        if explained > EQUAL and _by_chance(x, y, labels.kind) * features < CHANCE:
            return "equals the labels"
    elif _separates(x, y, explained, features):
        return "alone separates the classes"
    ranked = _by_chance(x, y, labels.kind) if named else 1.0
    return "has the name of a label and predicts it" if ranked < CHANCE else ""


def _separates(x: npt.NDArray[np.float64], y: npt.NDArray[Any], explained: float, features: int) -> bool:
    """Return whether a feature separates the classes more clearly than chance allows.

    Either each of its few values belongs to one class, or the classes are intervals far apart.
    """
    from scipy.special import gammaln  # imported here: most data sets have no features

    few = len(set(x[:FEW].tolist())) <= min(len(x), FEW) // 2
    if explained <= EXPLAINED and not few:  # most features
        return False
    counts = np.unique(y, return_counts=True)[1]
    ways = float(gammaln(len(x) + 1) - gammaln(counts + 1).sum()) - math.log(features) + math.log(CHANCE)
    if explained > EXPLAINED:  # the classes are intervals, in one of c! orders of all those of the samples
        order = np.argsort(x, kind="stable")
        edges = np.flatnonzero(np.diff(y[order]))
        if len(edges) == len(counts) - 1 and (x[order][edges] < x[order][edges + 1]).all():
            return float(gammaln(len(counts) + 1)) < ways
    if not few:
        return False
    values, codes = np.unique(x, return_inverse=True)
    pure = len(np.unique(codes * (int(y.max()) + 1) + y)) == len(values)
    return pure and len(values) <= len(x) // 2 and len(values) * math.log(len(counts)) < ways


def _explained(x: npt.NDArray[np.float64], y: npt.NDArray[Any], kind: str) -> float:
    """Return the share of a feature's variance that the labels explain."""
    x = x - x.mean()
    x = x / np.abs(x).max()
    if kind == "real":
        y = y - y.mean()
        return float(x @ y) ** 2 / (float(x @ x) * float(y @ y))
    counts = np.bincount(y)
    means = np.bincount(y, weights=x) / np.maximum(counts, 1)
    return float(counts @ means**2) / float(x @ x)


def _by_chance(x: npt.NDArray[np.float64], y: npt.NDArray[Any], kind: str) -> float:
    """Return the probability that the labels explain the ranks of a random feature as well."""
    from scipy.special import betainc  # imported here: most data sets have no features
    from scipy.stats import rankdata

    share = _explained(rankdata(x), rankdata(y) if kind == "real" else y, kind)
    c, n = 2 if kind == "real" else len(np.unique(y)), len(x)
    return float(betainc((n - c) / 2, (c - 1) / 2, max(0.0, 1 - share))) if c < n else 1.0


def _one_task(material: RawDataset) -> dict[str, Task]:
    """Return the task ``all`` from the label column, with roles from the column ``split``."""
    if "label" not in material.columns:
        if STATES in getattr(material.X, "tracks", ()):
            raise LabelError(
                "has states of residues as labels", file=material.file, remedy="add residues: {window: 15}"
            )
        raise LabelError(
            "has no column of labels",
            file=material.file,
            remedy="add labels: {label: …}, or tasks: families",
        )
    labels = labels_of_columns(material.X.ids, material.columns, material.options, material.file, material.order)
    split = material.columns.get("split")
    return {"all": Task("all", labels, None if split is None else np.array(split))}


def _family_roles(material: RawDataset, seed: int) -> dict[str, npt.NDArray[np.str_]]:
    """Return the roles of the Liao-Noble protocol for each family that is large enough."""
    missing = [key for key in ("superfamily", "family") if key not in material.columns]
    if missing:
        raise LabelError(
            f"has no column {missing[0]!r}",
            file=material.file,
            remedy="add labels: {superfamily: …, family: …} for tasks: families",
        )
    columns = material.columns
    limits = {key: material.options[key] for key in PROTOCOL if key in material.options}
    fold = columns.get("scop_fold")
    return liao_noble(columns["superfamily"], columns["family"], seed, fold=fold, **limits)


def _role_tasks(material: RawDataset, roles: Mapping[str, npt.ArrayLike]) -> dict[str, Task]:
    """Return one binary task for each list of roles ``positive-train``, ``negative-test``, ….

    Families named by the source become the groups, so that the inner loop holds out whole families too.
    """
    columns = material.columns
    if "family" in columns and "group" not in columns:
        columns = {**columns, "group": columns["family"]}
    extra = unit_columns(material.X.ids, columns, material.file)
    tasks = {}
    for name, given in roles.items():
        check_name("family", name)
        sign, _, part = np.char.partition(np.asarray(given, dtype=str), "-").T
        y = np.select([sign == "positive", sign == "negative"], [1, 0], UNLABELLED)
        labels = Labels(material.X.ids, y, "binary", ("negative", "positive"), **extra)
        tasks[name] = Task(name, labels, part)
    return tasks
