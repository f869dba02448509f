"""Data sets: the input of a study, encoded once and stored in one folder.

`make_dataset` turns a study's entry into a `Dataset`; `save_dataset` and `load_dataset` store it on disk as
``data.npz`` (everything), ``units.tsv`` and ``summary.json`` (for people).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import load_archive, nest, save_archive, save_json, unnest
from seqkern.core.damaged import check_texts
from seqkern.core.errors import FileError, unknown_name
from seqkern.core.file_kinds import DATASET, RESULT
from seqkern.core.locks import alone_in
from seqkern.core.tsv import write_tsv
from seqkern.core.types import Arrays, PathLike
from seqkern.residues import Residues
from seqkern.sequences.labels import SAMPLE_COLUMNS, Labels, check_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data, FeatureTable, SimilarityTable
from seqkern.sequences.views import Segments, sequence_views

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
        For all samples of the data set, in order.
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
        """Return the places of the samples whose label is unknown; if roles are defined, none: others are no part."""
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
        By name; at least one.
    notes : dict
        JSON: ``sources`` (list of file name, sha256 and url) and ``description``.
    residues : Residues, optional
        The residue of each sample, if the samples are windows around residues.

    Examples
    --------
    >>> from seqkern.datasets import make_dataset
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
        Of any kind.
    folder : path-like
        Created if missing.

    Raises
    ------
    FileError
        If a file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from seqkern.datasets import make_dataset
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
    with alone_in(folder):
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
    >>> from seqkern.datasets import make_dataset
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
    """Return the data set in the content of a file; raise any error for a corrupted one."""
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
        Of any kind.

    Returns
    -------
    dict
        JSON.

    Examples
    --------
    >>> from seqkern.datasets import make_dataset
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
        result["length"] = {
            "min": int(lengths.min()),
            "median": float(np.median(lengths)),
            "max": int(lengths.max()),
            "total": int(lengths.sum()),
        }
        if sequence_views(X):
            result["sequences"] = {name: _of_view(view) for name, view in sequence_views(X).items()}
        if dataset.residues is not None:
            lengths = dataset.residues.chains.lengths
            result["chains"] = {
                "n": len(lengths),
                "min": int(lengths.min()),
                "median": float(np.median(lengths)),
                "max": int(lengths.max()),
            }
    elif isinstance(X, FeatureTable):
        result["columns"] = len(X.columns)
    result["tasks"] = {task.name: _task_summary(task) for task in dataset.tasks.values()}
    for task in dataset.tasks.values():
        unlabelled = 0 if dataset.residues is not None else len(task.unlabelled())
        if unlabelled:
            result["tasks"][task.name]["unlabelled"] = unlabelled
    return result | {"counts": dict(X.counts), "digest": X.digest(), **dataset.notes}


def _of_view(view: Segments) -> dict[str, Any]:
    """Return alphabet, number and lengths of one of the sequences of samples; empty ones do not count."""
    lengths = view.lengths[view.lengths > 0]
    known = {"alphabet": view.alphabet.name, "n": len(lengths)}
    if not len(lengths):
        return known
    return {**known, "min": int(lengths.min()), "median": float(np.median(lengths)), "max": int(lengths.max())}


def _task_summary(task: Task) -> dict[str, Any]:
    """Return kind and number of samples of a task, by class and by role."""
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
    """Write one row for each sample: id, length, further columns, its label in each task."""
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
