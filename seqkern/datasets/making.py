"""From a study's entry to a data set: read, check, encode, and set the tasks."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from seqkern.core.checks import check_name
from seqkern.core.errors import ConfigError, LabelError
from seqkern.datasets.dataset import KINDS, Dataset, Task
from seqkern.datasets.label_sources import PROTOCOL, labels_of_columns
from seqkern.datasets.residue_units import check_entry_residues, cut_residues, is_residue_entry
from seqkern.datasets.site_windows import entry_window, sites_file
from seqkern.residues import STATES
from seqkern.sequences.labels import UNLABELLED, Labels

SOURCES = ("simulate", "public", "fasta", "features", "similarities", "dissimilarities")


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
        from seqkern.datasets.public import public_set

        return public_set(entry["public"]).kind
    return source if source in KINDS else "sequences"


def entry_files(entry):
    """Return the paths of the local files that a study's data-set entry names, as it names them.

    Parameters
    ----------
    entry : dict

    Returns
    -------
    list of str

    Raises
    ------
    ConfigError
        If the entry has no source, or several.
    """
    return [path for _, path in _named_files(entry)]


def check_files(entry):
    """Raise ConfigError unless all local files are there that a study's data-set entry names; see `entry_files`."""
    for key, path in _named_files(entry):
        if not Path(path).exists():
            raise ConfigError(
                f"{key}: there is no file {str(path)!r}",
                remedy="check the path, which starts where the study is run",
            )


def _named_files(entry):
    """Return the local files that an entry names as (key, path).

    Generated and public data name none; a table of labels counts where labels are taken from it, and what profiles are
    read from or searched for.
    """
    source = _entry_source(entry)
    profiles = [("profiles", path) for path in _profile_files(entry)]
    if source in ("simulate", "public"):
        return profiles
    given, labels = entry[source], entry.get("labels", {})
    if isinstance(given, dict):
        files = [(f"{source}.{name}", path) for name, path in given.items()]
    else:
        files = [(source, path) for path in ([given] if isinstance(given, str) else given)]
    files += [("labels.file", labels["file"])] if labels.get("from") in ("tsv", "states") and "file" in labels else []
    return files + ([("sites", sites_file(entry))] if sites_file(entry) is not None else []) + profiles


def _profile_files(entry):
    """Return the paths of the local files that the entry's profiles are read from, or searched for."""
    if "profiles" not in entry:
        return []
    from seqkern.profiles.sources import profile_files

    return profile_files(entry["profiles"])


def check_entry_profiles(entry):
    """Raise ConfigError or ParameterError unless the profiles that an entry names, if any, are possible."""
    if "profiles" not in entry:
        return
    from seqkern.profiles.sources import check_profiles

    check_profiles(entry["profiles"])
    if entry_kind(entry) != "sequences":
        raise ConfigError("profiles are of sequences", remedy="leave out profiles")


def make_dataset(name, entry, base_dir=".", data_dir=None, *, seed=1, n_threads=None):
    """Read, check and encode what a study's entry names.

    Parameters
    ----------
    name : str
    entry : dict
        One source (``simulate``, ``public``, ``fasta``, ``features``, ``similarities``, ``dissimilarities``),
        the policies ``alphabet``, ``unknown``, ``ids`` and ``empty``, ``labels``, ``tasks: families``,
        ``title``, ``window`` and ``sites``, ``profiles``, ``residues``. config/README.md explains each.
    base_dir : path-like
        Where relative paths start.
    data_dir : path-like, optional
        Folder with local copies of the public data sets.
    seed : int
        For what is drawn at random where the entry has no seed of its own.
    n_threads : int, optional
        For profiles that are built by search.

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
    entry_window(entry)
    check_entry_profiles(entry)
    check_entry_residues(entry)
    if source == "public":
        from seqkern.datasets.public import public_material

        material = public_material(entry, data_dir)
    else:
        from seqkern.datasets import entries

        if source == "simulate":
            material = entries.simulated_material(entry, seed)
        elif source == "fasta":
            material = entries.fasta_material(entry, base_dir, n_threads, data_dir)
        else:
            material = entries.table_material(entry, base_dir)
    if source in ("public", "simulate"):
        from seqkern.datasets.entries import profiles_of

        X, notes = profiles_of(entry, material.X, base_dir, n_threads, data_dir)
        material = replace(material, X=X, notes=material.notes | notes)
    residues = None
    if is_residue_entry(entry):
        material, residues = cut_residues(material, entry)
    roles = material.roles
    if entry.get("tasks") == "families":
        roles = _family_roles(material, seed)
    tasks = _one_task(material) if roles is None else _tasks_of_roles(material, roles)
    notes = material.notes | ({"title": entry["title"]} if "title" in entry else {})
    return Dataset(str(name), material.kind, material.X, tasks, notes, residues)


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
    if "label" not in material.columns:
        if STATES in getattr(material.X, "tracks", ()):
            raise LabelError(
                "its labels are states of residues", file=material.file, remedy="add residues: {window: 15}"
            )
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
    from seqkern.datasets.families import liao_noble

    missing = [key for key in ("superfamily", "family") if key not in material.columns]
    if missing:
        raise LabelError(
            f"has no column {missing[0]!r}",
            file=material.file,
            remedy="tasks: families needs labels: {superfamily: …, family: …}",
        )
    columns = material.columns
    limits = {key: material.options[key] for key in PROTOCOL if key in material.options}
    fold = columns.get("scop_fold")
    return liao_noble(columns["superfamily"], columns["family"], seed, fold=fold, **limits)


def _tasks_of_roles(material, roles):
    """Return one binary task for each list of roles ``positive-train``, ``negative-test``, ….

    Families that the source names are the groups, so that the inner loop holds out whole ones, as the task does.
    """
    from seqkern.datasets.label_sources import unit_columns

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
