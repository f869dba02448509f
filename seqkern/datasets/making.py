"""Make a data set from a study's entry: read, check, encode, and define the tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_name
from seqkern.core.errors import LabelError
from seqkern.core.progress import tell
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
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data, FeatureTable
from seqkern.sequences.views import vector_views, vectors_of


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
    leaks = leaked_features(material.X, [task.labels for task in tasks.values()])
    for leak in leaks:
        tell(f"warning: {material.file}: {leak}")
    notes |= {"leaks": leaks} if leaks else {}
    return Dataset(str(name), material.kind, material.X, tasks, notes, residues)


LABEL_WORDS = frozenset(["label", "labels", "class", "y", "target", "group", "outcome", "response"])
"""Names of columns that are probably a label, where they predict it well beyond chance."""
EXPLAINED = 0.95
"""Share of the variance of a feature that lies between classes, from which it is suspected: of genes at most 0.82."""
EQUAL = 0.998
"""The same of its variance and a label that is a number: |r| > 0.999."""
CHANCE = 1e-3
"""The largest probability that one of as many random features would do as well."""
FEWEST = 10
"""Samples without which nothing is suspected."""
FEW = 200
"""Rows that show whether a feature has few values."""


def leaked_features(X: Data, labels: Sequence[Labels]) -> list[str]:
    """Return a sentence on each feature, of a table or a view, that alone gives the label: it may be the label.

    Suspected are features of few values each of which has one class; those with almost no variance within the
    classes, or |r| > 0.999 with labels that are numbers; and those with the name of a label that predict it. Each must
    do better than the best of as many random features.

    Parameters
    ----------
    X : SequenceSet, FeatureTable or SimilarityTable
        The n samples.
    labels : sequence of Labels
        Of each task.

    Returns
    -------
    list of str
        Without repetitions, in the order of the features; empty where there are no features.

    Examples
    --------
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
            shown = [f"column {j} of view {name!r}" for j in range(1, view.width + 1)]
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
    """Return how a feature gives a label, better than the best of some random features; empty if it does not."""
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
    """Return whether a feature has few values, each of one class, or classes far apart, which is no chance."""
    from scipy.special import gammaln  # imported here: most data sets have no features

    counts = np.unique(y, return_counts=True)[1]
    ways = float(gammaln(len(x) + 1) - gammaln(counts + 1).sum()) - math.log(features) + math.log(CHANCE)
    if explained > EXPLAINED:  # the classes are intervals, in one of c! orders of all those of the samples
        order = np.argsort(x, kind="stable")
        edges = np.flatnonzero(np.diff(y[order]))
        if len(edges) == len(counts) - 1 and (x[order][edges] < x[order][edges + 1]).all():
            return float(gammaln(len(counts) + 1)) < ways
    if len(np.unique(x[:FEW])) > min(len(x), FEW) // 2:
        return False
    values, codes = np.unique(x, return_inverse=True)
    pure = len(np.unique(codes * (int(y.max()) + 1) + y)) == len(values)
    return pure and len(values) <= len(x) // 2 and len(values) * math.log(len(counts)) < ways


def _explained(x: npt.NDArray[np.float64], y: npt.NDArray[Any], kind: str) -> float:
    """Return the share of the variance of a feature that the labels explain."""
    x = (x - x.mean()) / np.abs(x - x.mean()).max()
    if kind == "real":
        y = y - y.mean()
        return float(x @ y) ** 2 / (float(x @ x) * float(y @ y))
    counts = np.bincount(y)
    means = np.bincount(y, weights=x) / np.maximum(counts, 1)
    return float(counts @ means**2) / float(x @ x)


def _by_chance(x: npt.NDArray[np.float64], y: npt.NDArray[Any], kind: str) -> float:
    """Return the probability that the ranks of a random feature are explained as well."""
    from scipy.special import betainc  # imported here: most data sets have no features
    from scipy.stats import rankdata

    share = _explained(rankdata(x), rankdata(y) if kind == "real" else y, kind)
    c, n = 2 if kind == "real" else len(np.unique(y)), len(x)
    return float(betainc((n - c) / 2, (c - 1) / 2, max(0.0, 1 - share))) if c < n else 1.0


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
