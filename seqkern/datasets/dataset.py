"""Data sets: what a study works on, encoded once and kept in one folder.

`make_dataset` turns a study's entry into a `Dataset`; `save_dataset` and `load_dataset` keep it on disk as
``data.npz`` (everything), ``units.tsv`` and ``summary.json`` (for readers).
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from seqkern.core.archive import atomic_write, load_archive, nest, save_archive, unnest
from seqkern.core.errors import FileError, unknown_name
from seqkern.core.tsv import write_tsv
from seqkern.residues import Residues
from seqkern.sequences.labels import SAMPLE_COLUMNS, Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable, SimilarityTable

KINDS = {
    "sequences": SequenceSet,
    "features": FeatureTable,
    "similarities": SimilarityTable,
    "dissimilarities": SimilarityTable,
}
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
        used = self.labels.used()
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
    residues : Residues, optional
        Which residue of which chain each unit is, where the units are windows around residues.
    """

    name: str
    kind: str
    X: object
    tasks: dict
    notes: dict = field(default_factory=dict)
    residues: Residues | None = None

    @property
    def chains(self):
        """The chain of each unit, int64 (n,), where units are residues; else None."""
        return None if self.residues is None else self.residues.record

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
    whole = {"format": FORMAT, "name": dataset.name, "kind": dataset.kind, "X": header}
    _write_units(dataset, folder / "units.tsv")
    with atomic_write(folder / "summary.json", "w") as file:
        json.dump(summary(dataset), file, indent=2, ensure_ascii=False)
        file.write("\n")
    whole |= {"tasks": tasks, "notes": dataset.notes}
    save_archive(folder / "data.npz", whole | ({"residues": residues} if residues else {}), arrays)


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
    residues = None
    if "residues" in header:
        residues = Residues.from_state(header["residues"], unnest("residues", arrays))
    return Dataset(header["name"], header["kind"], X, tasks, header["notes"], residues)


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
        if dataset.residues is not None:
            lengths = dataset.residues.chains.lengths
            result["chains"] = {
                "n": len(lengths),
                "min": int(lengths.min()),
                "median": float(np.median(lengths)),
                "max": int(lengths.max()),
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
        result["roles"] = {role: task.labels.take(task.split == role).class_counts() for role in ("train", "test")}
    if labels.groups is not None:
        result["groups"] = len(np.unique(labels.groups))
    return result


def _write_units(dataset, path):
    """Write one row for each unit: id, length, what is known of it, its label in each task."""
    columns = {"id": dataset.X.ids}
    if dataset.kind == "sequences":
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
