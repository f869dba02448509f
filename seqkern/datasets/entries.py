"""Read what a study's data-set entry names: units, columns of text about them, the files they come from."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from seqkern.core.errors import ConfigError, LabelError
from seqkern.core.text_files import file_sha256
from seqkern.datasets.label_sources import (
    COLUMNS,
    check_options,
    columns_of_first_words,
    columns_of_headers,
    columns_of_table,
    no_column,
    wanted_columns,
)
from seqkern.datasets.site_windows import columns_of_sites, cut_entry, entry_window, places_of_sites, sites_file
from seqkern.datasets.table_files import read_features, read_similarities
from seqkern.residues.states import add_states, read_letters_and_states
from seqkern.sequences.fasta import read_records

POLICIES = ("alphabet", "unknown", "ids", "empty")


@dataclass(frozen=True)
class Material:
    """What a data set is made of.

    Attributes
    ----------
    kind : {"sequences", "features", "similarities", "dissimilarities"}
    X : SequenceSet, FeatureTable or SimilarityTable, n units
    columns : dict of str to list, length n
        Text about the units: ``label``, ``group``, ``fold``, ``split`` (train or test), ``family``, ….
    options : dict
        How labels are made of them: ``kind``, ``positive``, ``classes``.
    file : str, optional
        Where the labels come from, for messages.
    roles : dict of str to list of str, optional
        For each task the role of each unit, such as ``positive-train``, where the source defines many.
    notes : dict
        ``sources`` (files with their SHA-256), ``description``, ….
    """

    kind: str
    X: object
    columns: dict
    options: dict = field(default_factory=dict)
    file: str | None = None
    roles: dict | None = None
    notes: dict = field(default_factory=dict)


def profiles_of(entry, X, base_dir, n_threads=None, data_dir=None):
    """Return `X` with the tracks of the profiles that an entry names, and notes on them; without any, `X` and {}.

    Raises
    ------
    FileError, SequenceError
        If profiles cannot be read, or do not fit.
    """
    if "profiles" not in entry:
        return X, {}
    from seqkern.profiles.sources import ProfileSource

    source = ProfileSource(entry["profiles"], base_dir, data_dir)
    return source.add_to(X, n_threads=n_threads), {"profiles": source.note()}


def fasta_material(entry, base_dir, n_threads=None, data_dir=None):
    """Return the Material of an entry ``fasta: …``.

    Raises
    ------
    LabelError
        If the entry does not say where labels come from, or they do not fit.
    """
    options = check_options(entry.get("labels", {}))
    given = entry["fasta"]
    if isinstance(given, dict):
        classes, files = list(given), list(given.values())
    else:
        files = [given] if isinstance(given, str) else list(given)
        classes = [Path(file).name.split(".")[0] for file in files]
    paths = [Path(base_dir) / file for file in files]
    where = ", ".join(map(str, paths))
    window, table = entry_window(entry), sites_file(entry)
    usual = "sites" if table is not None and not isinstance(given, dict) else "files" if len(files) > 1 else None
    source = "none" if options.get("kind") == "none" else options.get("from", usual)
    if source is None or source == "column" or (source == "sites" and table is None):
        raise LabelError(
            "nothing says which label a sequence has",
            file=where,
            remedy="add labels: {from: header}, first_word, tsv or states, or give a file for each class",
        )
    policies = {key: entry[key] for key in POLICIES if key in entry}
    if source == "states":
        reading, more = _with_states(paths, policies, options, base_dir)
        files = [*files, *more]
        where = str(_labels_path(options, base_dir)) if more else where
    else:
        reading = read_records(paths, **policies | ({"unknown": "mask"} if window else {}))
    # Windows are cut from sequences that have their profiles.
    X, notes = profiles_of(entry, reading.sequences, base_dir, n_threads, data_dir)
    reading, columns, labelled = replace(reading, sequences=X), {}, where
    if source == "tsv":
        labelled = str(_labels_path(options, base_dir))
        files = [*files, options["file"]]
        columns = columns_of_table(labelled, X.ids, options, reading.left_out)
    elif source != "sites":
        by_field = options if source == "header" else {key: options[key] for key in options if key != "label"}
        columns = columns_of_headers(reading, by_field, where)
        if source == "files":
            columns["label"] = [classes[i] for i in reading.sources]
        elif source == "first_word":
            columns |= columns_of_first_words(reading)
        elif source == "none":
            columns["label"] = [""] * len(X)
    if window is not None:
        cut, sites = cut_entry(entry, reading, base_dir, where)
        X, notes = cut.windows, notes | {"window": window.record()}
        columns = {key: [values[i] for i in cut.records] for key, values in columns.items()}
        if source == "sites":
            columns, labelled = columns_of_sites(sites, cut.kept, options), sites.file
        if table is not None:
            files, columns = [*files, table], places_of_sites(sites, cut.kept) | columns
    return Material("sequences", X, columns, options, labelled, notes={"sources": _sources(files, base_dir)} | notes)


def _with_states(paths, policies, options, base_dir):
    """Return (Reading of chains with the track ``states``, names of further files read)."""
    classes = map(str, options.get("classes", ()))
    if "file" not in options:
        if len(paths) > 1:
            raise ConfigError("states of several files need a file", remedy="add labels: {from: states, file: …}")
        return read_letters_and_states(paths[0], classes=classes, **policies), []
    reading = read_records(paths, **policies)
    path = _labels_path(options, base_dir)
    X = add_states(reading.sequences, path, left_out=reading.left_out, classes=classes)
    return replace(reading, sequences=X), [options["file"]]


def table_material(entry, base_dir):
    """Return the Material of an entry ``features: …``, ``similarities: …`` or ``dissimilarities: …``.

    Raises
    ------
    LabelError
        If there is no column of labels, or they do not fit.
    """
    kind = next(key for key in ("features", "similarities", "dissimilarities") if key in entry)
    options = check_options(entry.get("labels", {}))
    if options.get("from") not in (None, "column", "tsv"):
        raise LabelError(
            f"a table has no {options['from']!r} to take labels from",
            remedy="use labels: {from: column} or tsv",
        )
    files, path = [entry[kind]], Path(base_dir) / entry[kind]
    wanted = wanted_columns(options)
    how = {"ids": entry["ids"]} if "ids" in entry else {}
    if kind == "features":
        id_column = options.get("id") if options.get("from") != "tsv" else None
        X, found = read_features(path, wanted.values(), id_column=id_column, **how)
    else:
        X, found = read_similarities(path, kind, wanted.values(), **how)
    if options.get("from") == "tsv":
        path = _labels_path(options, base_dir)
        files.append(options["file"])
        columns = columns_of_table(path, X.ids, options, unit="unit")
    else:
        columns = _chosen(found, wanted, path)
    return Material(kind, X, columns, options, str(path), notes={"sources": _sources(files, base_dir)})


def simulated_material(entry, seed):
    """Return the Material of an entry ``simulate: {kind: …, …}``; `seed` counts where the entry has none."""
    from seqkern.simulate import simulate

    # Generated families are all of one size: each of them is a task.
    options = {"min_family": 1, "min_rest": 1, "whole_families": True}
    options |= check_options(entry.get("labels", {}))
    spec = {"seed": seed, **entry["simulate"]}
    data = simulate(**spec)
    if data.of_sites:
        raise ConfigError(
            f"{spec['kind']!r} makes sites on long sequences, which no kernel compares",
            remedy="write them with seqkern simulate, and cut windows: fasta, sites, window",
        )
    taxonomy = {key: data.table[key] for key in ("family", "superfamily") if key in data.table}
    wanted = {key: name for key, name in wanted_columns(options).items() if key != "label" or name in data.table}
    columns = taxonomy | _chosen(data.table, wanted, "simulated data")
    return Material(
        "sequences",
        data.sequences,
        columns,
        options,
        "simulated data",
        notes={"simulate": spec, "sources": []},
    )


def _labels_path(options, base_dir):
    """Return the path of the table of labels."""
    if "file" not in options:
        raise ConfigError("labels from tsv need a file", remedy="add labels: {from: tsv, file: …}")
    return Path(base_dir) / options["file"]


def _chosen(found, wanted, file):
    """Return the columns wanted under the names of their meanings."""
    for name in wanted.values():
        if name not in found:
            raise no_column(name, found, file)
    return {key: [str(value) for value in found[name]] for key, name in wanted.items() if key in COLUMNS}


def _sources(files, base_dir):
    """Return the notes on the files read: as the study names them, with their SHA-256."""
    return [{"file": str(file), "sha256": file_sha256(Path(base_dir) / file)} for file in files]
