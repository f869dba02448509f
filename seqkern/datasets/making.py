"""Make a data set from a study's entry: read, check, encode, and define the tasks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_name
from seqkern.core.errors import LabelError
from seqkern.core.text_files import file_sha256
from seqkern.core.types import PathLike
from seqkern.datasets.data_entry import DataEntry
from seqkern.datasets.dataset import Dataset, Task
from seqkern.datasets.entries import Material, material_of
from seqkern.datasets.families import liao_noble
from seqkern.datasets.label_sources import PROTOCOL, labels_of_columns, unit_columns
from seqkern.datasets.residue_samples import cut_residues
from seqkern.datasets.task_table import TaskTable
from seqkern.residues import STATES
from seqkern.sequences.labels import UNLABELLED, Labels


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
        For random choices of entries without a seed.
    n_threads : int, optional
        For profiles built by search.

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
    material, residues = material_of(entry, base_dir, data_dir, seed, n_threads), None
    if entry.residues is not None:
        material, residues = cut_residues(material, entry.residues)
    roles: Mapping[str, npt.ArrayLike] | None = material.roles
    if isinstance(entry.tasks, TaskTable):
        roles = entry.tasks.roles(material.X.ids, base_dir, material.left_out)
        own = {"file": entry.tasks.file, "sha256": file_sha256(Path(base_dir) / entry.tasks.file)}
        material.notes["sources"].append(own)
    elif entry.tasks == "families":
        roles = _family_roles(material, seed)
    tasks = _one_task(material) if roles is None else _tasks_of_roles(material, roles)
    notes = material.notes | ({} if entry.title is None else {"title": entry.title})
    return Dataset(str(name), material.kind, material.X, tasks, notes, residues)


def _one_task(material: Material) -> dict[str, Task]:
    """Return the task ``all`` from a column of labels, with the roles of a column ``split``."""
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
    labels = labels_of_columns(material.X.ids, material.columns, material.options, material.file)
    split = material.columns.get("split")
    return {"all": Task("all", labels, None if split is None else np.array(split))}


def _family_roles(material: Material, seed: int) -> dict[str, npt.NDArray[np.str_]]:
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


def _tasks_of_roles(material: Material, roles: Mapping[str, npt.ArrayLike]) -> dict[str, Task]:
    """Return one binary task for each list of roles ``positive-train``, ``negative-test``, ….

    If the source names families they become the groups, so that the inner loop holds out whole families too.
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
