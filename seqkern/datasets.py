"""Data sets: what a study works on, encoded once and kept in one folder.

`make_dataset` turns a study's entry into a `Dataset`; `save_dataset` and `load_dataset` keep it on disk as
``data.npz`` (everything), ``units.tsv`` and ``summary.json`` (for readers).
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .archive import atomic_write, load_archive, nest, save_archive, unnest
from .errors import ConfigError, FileError, LabelError, unknown_name
from .labels import UNIT_COLUMNS, UNLABELLED, Labels
from .sequences import SequenceSet
from .tables import FeatureTable, SimilarityTable
from .tsv import write_tsv

KINDS = {
    "sequences": SequenceSet,
    "features": FeatureTable,
    "similarities": SimilarityTable,
    "dissimilarities": SimilarityTable,
}
SOURCES = ("simulate", "public", "fasta", "features", "similarities", "dissimilarities")
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Task:
    """One labelling of a data set's units.

    Attributes
    ----------
    name : str
    labels : Labels
        Of all units of the data set, in their order.
    split : ndarray of str, shape (n,), optional
        ``"train"``, ``"test"`` or ``""`` (not used) where the source defines the roles.
    """

    name: str
    labels: Labels
    split: np.ndarray | None = None

    def used(self):
        """Return int64: the units that have a label and, where roles are defined, a role."""
        y = self.labels.y
        used = ~np.isnan(y) if self.labels.kind == "real" else y != UNLABELLED
        return np.flatnonzero(used if self.split is None else used & (self.split != ""))


@dataclass(frozen=True, eq=False)
class Dataset:
    """Units, their tasks, and where they come from.

    Attributes
    ----------
    name : str
    kind : {"sequences", "features", "similarities", "dissimilarities"}
    X : SequenceSet, FeatureTable or SimilarityTable
        The n units.
    tasks : dict of str to Task
    notes : dict
        JSON: ``sources`` (list of file name, sha256 and url) and ``description``.
    """

    name: str
    kind: str
    X: object
    tasks: dict
    notes: dict = field(default_factory=dict)

    def task(self, name=None):
        """Return the task `name`, by default the only one.

        Raises
        ------
        ParameterError
            If there is no such task.
        """
        if name is None and len(self.tasks) == 1:
            return next(iter(self.tasks.values()))
        if name not in self.tasks:
            raise unknown_name(f"task of {self.name}", name, self.tasks)
        return self.tasks[name]


def entry_kind(entry):
    """Return the kind of data, one of `KINDS`, that a study's data-set entry gives, without reading any.

    Raises
    ------
    ConfigError
        If the entry has no source, or several.
    ParameterError
        For an unknown public data set.
    """
    source = _entry_source(entry)
    if source == "public":
        from .public import public_set

        return public_set(entry["public"]).kind
    return source if source in KINDS else "sequences"


def make_dataset(name, entry, base_dir=".", data_dir=None, *, seed=1):
    """Read, check and encode what a study's entry names.

    Parameters
    ----------
    name : str
    entry : dict
        One source (``simulate``, ``public``, ``fasta``, ``features``, ``similarities``, ``dissimilarities``),
        the policies ``alphabet``, ``unknown``, ``ids`` and ``empty``, ``labels``, ``tasks: families``,
        ``title``. config/README.md explains each.
    base_dir : path-like
        Where relative paths start.
    data_dir : path-like, optional
        Folder with local copies of the public data sets.
    seed : int
        For what is drawn at random where the entry has no seed of its own.

    Returns
    -------
    Dataset

    Raises
    ------
    ConfigError, ParameterError
        If the entry is not possible.
    FileError, SequenceError, LabelError
        If a file cannot be read, or what is in it cannot be used.
    """
    source = _entry_source(entry)
    if source == "public":
        from .public import public_material

        material = public_material(entry, data_dir)
    else:
        from . import entries

        if source == "simulate":
            material = entries.simulated_material(entry, seed)
        elif source == "fasta":
            material = entries.fasta_material(entry, base_dir)
        else:
            material = entries.table_material(entry, base_dir)
    roles = material.roles
    if entry.get("tasks") == "families":
        roles = _family_roles(material, seed)
    tasks = _one_task(material) if roles is None else _tasks_of_roles(material, roles)
    notes = material.notes | ({"title": entry["title"]} if "title" in entry else {})
    return Dataset(str(name), material.kind, material.X, tasks, notes)


def _entry_source(entry):
    """Return the one source of an entry."""
    given = [source for source in SOURCES if source in entry]
    if len(given) != 1:
        raise ConfigError(
            f"a data set needs exactly one source, this has {len(given)}",
            remedy=f"give one of {', '.join(SOURCES)}",
        )
    return given[0]


def _one_task(material):
    """Return the task ``all`` of a column of labels, with the roles of a column ``split``."""
    from .label_sources import labels_of_columns

    if "label" not in material.columns:
        raise LabelError(
            "has no column of labels",
            file=material.file,
            remedy="name one: labels: {label: …}, or tasks: families",
        )
    labels = labels_of_columns(material.X.ids, material.columns, material.options, material.file)
    split = material.columns.get("split")
    return {"all": Task("all", labels, None if split is None else np.array(split))}


def _family_roles(material, seed):
    """Return the roles of the Liao-Noble protocol for each family that is large enough."""
    from .splitters import liao_noble

    missing = [key for key in ("superfamily", "family") if key not in material.columns]
    if missing:
        raise LabelError(
            f"has no column {missing[0]!r}",
            file=material.file,
            remedy="tasks: families needs labels: {superfamily: …, family: …}",
        )
    columns = material.columns
    sizes = {key: material.options[key] for key in ("min_family", "min_rest") if key in material.options}
    return liao_noble(columns["superfamily"], columns["family"], seed, fold=columns.get("scop_fold"), **sizes)


def _tasks_of_roles(material, roles):
    """Return one binary task for each list of roles ``positive-train``, ``negative-test``, …."""
    from .label_sources import unit_columns

    extra = unit_columns(material.X.ids, material.columns, material.file)
    tasks = {}
    for name, given in roles.items():
        sign, _, part = np.char.partition(np.asarray(given, dtype=str), "-").T
        y = np.select([sign == "positive", sign == "negative"], [1, 0], UNLABELLED)
        labels = Labels(material.X.ids, y, "binary", ("negative", "positive"), **extra)
        tasks[name] = Task(name, labels, part)
    return tasks


def save_dataset(dataset, folder):
    """Write a data set to a folder: ``units.tsv``, ``summary.json`` and, last, ``data.npz``.

    Raises
    ------
    FileError
        If a file cannot be written.
    """
    folder = Path(folder)
    header, arrays = dataset.X.state()
    arrays = nest("X", arrays)
    first = next(iter(dataset.tasks.values())).labels
    for name in UNIT_COLUMNS:
        if getattr(first, name) is not None:
            arrays[f"units/{name}"] = getattr(first, name)
    tasks = []
    for i, task in enumerate(dataset.tasks.values()):
        tasks.append({"name": task.name, "kind": task.labels.kind, "classes": list(task.labels.classes)})
        arrays[f"tasks/{i}/y"] = task.labels.y
        if task.split is not None:
            arrays[f"tasks/{i}/split"] = task.split
    whole = {"format": FORMAT, "name": dataset.name, "kind": dataset.kind, "X": header}
    _write_units(dataset, folder / "units.tsv")
    with atomic_write(folder / "summary.json", "w") as file:
        json.dump(summary(dataset), file, indent=2, ensure_ascii=False)
        file.write("\n")
    save_archive(folder / "data.npz", whole | {"tasks": tasks, "notes": dataset.notes}, arrays)


def load_dataset(folder):
    """Return the Dataset that `save_dataset` wrote to `folder`.

    Raises
    ------
    FileError
        If it is missing, damaged, or of another version.
    """
    path = Path(folder) / "data.npz"
    header, arrays = load_archive(path)
    if not isinstance(header, dict) or header.get("format") != FORMAT or header.get("kind") not in KINDS:
        raise FileError("not a data set of this version", file=path, remedy="run seqkern datasets again")
    X = KINDS[header["kind"]].from_state(header["X"], unnest("X", arrays))
    units = unnest("units", arrays)
    tasks = {}
    for i, entry in enumerate(header["tasks"]):
        labels = Labels(X.ids, arrays[f"tasks/{i}/y"], entry["kind"], tuple(entry["classes"]), **units)
        tasks[entry["name"]] = Task(entry["name"], labels, arrays.get(f"tasks/{i}/split"))
    return Dataset(header["name"], header["kind"], X, tasks, header["notes"])


def summary(dataset):
    """Return what ``summary.json`` says: size, lengths, classes of each task, policy counts, sources."""
    X = dataset.X
    result = {"name": dataset.name, "kind": dataset.kind, "n": len(X)}
    if dataset.kind == "sequences":
        lengths = X.lengths
        result["alphabet"] = X.alphabet.name
        result["tracks"] = sorted(X.tracks)
        result["length"] = {
            "min": int(lengths.min()),
            "median": float(np.median(lengths)),
            "max": int(lengths.max()),
            "total": int(lengths.sum()),
        }
    elif dataset.kind == "features":
        result["columns"] = len(X.columns)
    result["tasks"] = {task.name: _task_summary(task) for task in dataset.tasks.values()}
    return result | {"counts": dict(X.counts), "digest": X.digest(), **dataset.notes}


def _task_summary(task):
    """Return kind and number of units of a task, by class and by role."""
    labels = task.labels.take(task.used())
    result = {"kind": labels.kind, "n": len(labels)}
    if labels.kind == "real":
        result |= {"min": float(labels.y.min()), "mean": float(labels.y.mean()), "max": float(labels.y.max())}
    else:
        result["classes"] = labels.class_counts()
    if task.split is not None:
        result["roles"] = {
            role: task.labels.take(task.split == role).class_counts() for role in ("train", "test")
        }
    if labels.groups is not None:
        result["groups"] = len(np.unique(labels.groups))
    return result


def _write_units(dataset, path):
    """Write one row for each unit: id, length, what is known of it, its label in each task."""
    columns = {"id": dataset.X.ids}
    if dataset.kind == "sequences":
        columns["length"] = dataset.X.lengths
    first = next(iter(dataset.tasks.values())).labels
    for name in UNIT_COLUMNS:
        if getattr(first, name) is not None:
            columns[name.removesuffix("s") if name in ("groups", "folds") else name] = getattr(first, name)
    for task in dataset.tasks.values():
        used = np.zeros(len(dataset.X), dtype=bool)
        used[task.used()] = True
        columns[task.name] = np.where(used, task.labels.names(), "")
    write_tsv(path, list(columns), zip(*columns.values(), strict=True))
