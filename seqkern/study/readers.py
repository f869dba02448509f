"""Readers of data-set entries: samples and windows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from seqkern.core.errors import ConfigError, LabelError, SequenceError
from seqkern.core.public_files import find_file, public_set
from seqkern.core.text_files import file_sha256
from seqkern.core.types import PathLike, Source
from seqkern.formats.regions import RegionSequences
from seqkern.formats.states import add_states, read_letters_and_states
from seqkern.sequences.fasta import AnySource, Reading, file_names, read_records
from seqkern.sequences.joining import similar_by, view_width
from seqkern.sequences.tables import FeatureTable, SimilarityTable
from seqkern.sequences.windows import Cut, Sites, cut_windows, make_sites, read_sites
from seqkern.study import data_entry as entries
from seqkern.study import tables
from seqkern.study.several_sequences import NOTE, SequenceTable
from seqkern.study.vectors import View

# Windows cut around the sites of a data-set entry.


def cut_around_sites(
    wanted: entries.SiteWindow,
    reading: Reading,
    base_dir: PathLike,
    where: str,
    *,
    unknown: str | None = None,
    ids: str | None = None,
) -> tuple[Cut, Sites]:
    """Return the windows of an entry, with their sites and records, and all sites."""
    policies = {key: value for key, value in {"unknown": unknown, "ids": ids}.items() if value is not None}
    policies |= wanted.given()
    if wanted.table is not None:
        sites = read_sites(Path(base_dir) / wanted.table)
        return cut_windows(reading.sequences, sites, wanted.window, **policies), sites
    sites = sites_of_headers(reading, where)
    return cut_windows(reading.sequences, sites, wanted.window, names=reading.sequences.ids, **policies), sites


def before_cutting(policies: Mapping[str, str]) -> dict[str, str]:
    """Return the policies for reading the records to be cut, since most policies apply to the windows."""
    return {"unknown": "mask" if policies.get("unknown", "mask") == "mask" else "mask_all"}


def sites_of_headers(reading: Reading, where: str) -> Sites:
    """Return the site of each record, from the header fields ``position`` and ``strand`` (default: +)."""
    tables.check_fields_once(reading, ("position", "strand"), where)
    fields = [tables.header_fields(header) for header in reading.headers]
    ids = list(reading.sequences.ids)
    for name, found in zip(ids, fields, strict=True):
        if "position" not in found:
            raise SequenceError(
                "has no field position=… in its header",
                file=where,
                record=name,
                remedy=f"add it, or give a table of sites (fields in the header: {', '.join(found) or 'none'})",
            )
    positions = [found["position"] for found in fields]
    return make_sites(ids, positions, [found.get("strand", "+") for found in fields], file=where)


def columns_of_sites(sites: Sites, kept: Collection[int], options: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the requested columns of a table of sites, by meaning, for the rows that have windows."""
    columns = _chosen(sites.columns, tables.wanted_columns(options), sites.file)
    return {meaning: [values[i] for i in kept] for meaning, values in columns.items()}


def places_of_sites(sites: Sites, kept: Collection[int]) -> dict[str, list[str]]:
    """Return the positions of sites, for folds by locus."""
    strands = sites.strands
    return {
        "chromosome": [sites.records[i] for i in kept],
        "strand": [strands[i] for i in kept],
        "position": [str(sites.positions[i]) for i in kept],
    }


# Reading of a study's data entry: samples, text columns about them, and their source files.


@dataclass(frozen=True)
class RawDataset:
    """The samples of a data set, with the columns for its labels and tasks."""

    kind: str  # Kind of the samples
    X: Any  # The n samples
    # length n: Text about the samples: ``label``, ``group``, ``fold``, ``split`` (train or test), ``family``, …
    columns: tables.Columns
    # How labels are derived from them: ``kind``, ``positive``, ``classes``
    options: dict[str, Any] = field(default_factory=dict)
    file: str | None = None  # The source of the labels, for messages
    # For each task the role of each sample, such as ``positive-train``, if the source defines many
    roles: dict[str, list[str]] | None = None
    notes: dict[str, Any] = field(default_factory=dict)  # ``sources`` (files with their SHA-256), ``description``, …
    left_out: tuple[str, ...] = ()  # Ids of the records that a policy left out
    order: Sequence[str] | None = ()  # The classes in the order of their files; empty without, None for known data


def read_raw_dataset(
    entry: entries.DataEntry, base_dir: PathLike, data_dir: PathLike | None, seed: int, n_threads: int | None
) -> RawDataset:
    """Read the samples, columns and notes of a data entry."""
    source = entry.source
    if isinstance(source, entries.FastaSource):
        return _with_views(entry, _raw_from_fasta(entry, source, base_dir, n_threads, data_dir, seed), base_dir)
    if isinstance(source, entries.SeveralSequences):
        return _with_views(entry, _raw_from_several(entry, source, base_dir), base_dir)
    if isinstance(source, entries.TableSource):
        return _raw_from_table(entry, source, base_dir)
    if isinstance(source, entries.PublicSource):
        material = _raw_from_public(entry, source, data_dir)
    elif isinstance(source, entries.Simulation):
        material = _raw_from_simulation(entry, source, seed)
    else:
        raise ConfigError("the data set has no source", remedy="give one, such as fasta")
    X, notes = _with_profiles(entry, material.X, base_dir, n_threads, data_dir)
    return _with_views(entry, replace(material, X=X, notes=material.notes | notes), base_dir)


def _with_views(entry: entries.DataEntry, material: RawDataset, base_dir: PathLike) -> RawDataset:
    """Return material with the views of the entry (as tracks if samples are residues), and notes on them."""
    X, notes = material.X, dict(material.notes)
    if entry.similar_by:
        X, notes["similar_by"] = similar_by(X, entry.similar_by), list(entry.similar_by)
    for options in entry.views:
        view = View(options, base_dir)
        X = view.add_to(X) if entry.residues is None else view.add_to_residues(X)
        unused = view.unused(X.ids)
        if unused:
            X = X.replace(counts={**X.counts, f"vectors of the view {options.name} without a sequence": unused})
        own = {"file": options.file, "width": view_width(X, options.name)}
        notes["views"] = {**notes.get("views", {}), options.name: own}
        notes["sources"] = [*notes["sources"], *_sources(options.files(), base_dir)]
    return replace(material, X=X, notes=notes)


def _with_profiles(
    entry: entries.DataEntry, X: Any, base_dir: PathLike, n_threads: int | None, data_dir: PathLike | None
) -> tuple[Any, dict[str, Any]]:
    """Return `X` with the entry's profiles as tracks, and notes on them; `X` and {} without profiles."""
    if entry.profiles is None:
        return X, {}
    from seqkern.formats.profile_sources import ProfileSource  # takes 50 ms to import

    source = ProfileSource(entry.profiles.given(), base_dir, data_dir)
    return source.add_to(X, n_threads=n_threads), {"profiles": source.note()}


def _raw_from_fasta(
    entry: entries.DataEntry,
    given: entries.FastaSource,
    base_dir: PathLike,
    n_threads: int | None,
    data_dir: PathLike | None,
    seed: int,
) -> RawDataset:
    """Return the Material of FASTA files."""
    options, files = dict(entry.labels.options), list(given.paths)
    paths: list[Source] = [Path(base_dir) / file for file in files]
    classes = given.labels or file_names(paths)
    where = ", ".join(map(str, paths))
    table = None if entry.window is None else entry.window.table
    drawing = entry.genome is not None and entry.genome.background is not None
    source = "files" if drawing else _label_source(entry, given, table, where)
    read, drawn = _sources_of(entry, paths, base_dir, seed, merge=source == "files")
    if drawn is not None:
        classes = (given.classes or ("positive",))[0], entries.NEGATIVE
    of_genome = all(isinstance(one, RegionSequences) for one in read)
    policies = entry.policies.given()
    if source == "states":
        reading, more = _with_states(paths, policies, options, base_dir)
        files = [*files, *more]
        where = str(_labels_path(options, base_dir)) if more else where
    else:
        if of_genome:
            policies = {"alphabet": "dna", **policies}
        if source == "files" and policies.get("ids", "header") == "header":
            policies = {**policies, "ids": "file"}
        reading = read_records(read, **(policies if entry.window is None else policies | before_cutting(policies)))
    # Profiles must be added to the sequences before windows are cut.
    X, notes = _with_profiles(entry, reading.sequences, base_dir, n_threads, data_dir)
    reading = replace(reading, sequences=X)
    labelled: str | None = where
    columns: tables.Columns = {}
    if source == "tsv":
        labelled = str(_labels_path(options, base_dir))
        files = [*files, options["file"]]
        columns = tables.columns_of_table(labelled, X.ids, options, reading.left_out)
    elif source != "sites":
        columns = _columns_of_records(reading, options, source, classes, where)
    if entry.window is not None:
        given_policies = {"unknown": entry.policies.unknown, "ids": entry.policies.ids}
        cut, sites = cut_around_sites(entry.window, reading, base_dir, where, **given_policies)
        X, notes = cut.windows, notes | {"window": entry.window.window.record()}
        columns = {key: [values[i] for i in cut.records] for key, values in columns.items()}
        if source == "sites":
            columns, labelled = columns_of_sites(sites, cut.kept, options), sites.file
        if table is not None:
            files, columns = [*files, table], places_of_sites(sites, cut.kept) | columns
    if entry.genome is not None:
        found = columns.get("label")
        columns = {**entries.places_of_regions(reading, read, None if found is None else list(found)), **columns}
        notes = notes | {"genome": entries.note_of_regions(entry.genome, columns, read) | (drawn or {})}
        X = X.replace(counts={**X.counts, **entries.overlaps(read)})
    notes = {"sources": _sources(files, base_dir)} | notes
    order = classes if source == "files" else ()
    left_out = tuple(reading.left_out)
    return RawDataset("sequences", X, columns, options, labelled, notes=notes, left_out=left_out, order=order)


def _sources_of(
    entry: entries.DataEntry, paths: list[Source], base_dir: PathLike, seed: int, merge: bool
) -> tuple[list[AnySource], dict[str, Any] | None]:
    """Return the files to read, with BED files replaced by regions, and a note on the background, if drawn."""
    if entry.genome is None:
        return entries.with_regions(paths, None), None
    options = replace(entry.genome.within(base_dir), merge=merge)
    if entry.genome.background is None:
        return entries.with_regions(paths, options), None
    return entries.with_background(paths, options, entry.genome.background, seed)


def _label_source(entry: entries.DataEntry, given: entries.FastaSource, table: str | None, where: str) -> str:
    """Return the source of the labels of FASTA files."""
    usual = "sites" if table is not None and given.classes is None else "files" if len(given.paths) > 1 else None
    if isinstance(entry.tasks, tables.TaskTable) and usual is None:
        usual = "none"  # the table of tasks has the labels
    source = "none" if entry.labels.kind == "none" else entry.labels.source or usual
    if source is None or source == "column" or (source == "sites" and table is None):
        raise LabelError(
            "no labels given",
            file=where,
            remedy="add labels: {from: header} (or first_word, tsv, states), or give one file for each class",
        )
    return source


def _columns_of_records(
    reading: Reading, options: Mapping[str, Any], source: str, classes: Sequence[str], where: str
) -> dict[str, list[str]]:
    """Return the label columns that headers and files give."""
    by_field = options if source == "header" else {key: options[key] for key in options if key != "label"}
    columns = tables.columns_of_headers(reading, by_field, where)
    if source == "files":
        columns["label"] = [classes[i] for i in reading.sources]
    elif source == "first_word":
        columns |= tables.columns_of_first_words(reading)
    elif source == "none":
        columns["label"] = [""] * len(reading.sequences)
    return columns


def _with_states(
    paths: list[Source], policies: Mapping[str, Any], options: Mapping[str, Any], base_dir: PathLike
) -> tuple[Reading, list[str]]:
    """Return chains with the track ``states``, and the names of further files read."""
    classes = map(str, options.get("classes", ()))
    if "file" not in options:
        if len(paths) > 1:
            raise ConfigError("states of several files need a file", remedy="add labels: {from: states, file: …}")
        return read_letters_and_states(paths[0], classes=classes, **policies), []
    reading = read_records(paths, **policies)
    path = _labels_path(options, base_dir)
    X = add_states(reading.sequences, path, left_out=reading.left_out, classes=classes)
    return replace(reading, sequences=X), [options["file"]]


def _raw_from_several(entry: entries.DataEntry, given: entries.SeveralSequences, base_dir: PathLike) -> RawDataset:
    """Return the Material of samples with several sequences."""
    options, files = dict(entry.labels.options), [file for _, file in given.files()]
    where = ", ".join(str(Path(base_dir) / file) for keys, file in given.files() if keys[-1] != "genome")
    source = _label_source_of_several(entry, given, where)
    read = given.read(base_dir, entry.policies.given(), labels=options if source == "column" else None)
    X, labelled, columns = read.sequences, where, {}
    if source == "tsv":
        labelled = str(_labels_path(options, base_dir))
        files = [*files, options["file"]]
        columns = tables.columns_of_table(labelled, X.ids, options, read.left_out, unit="sample")
    elif isinstance(given, SequenceTable):
        wanted = tables.wanted_columns(options) | {name: name for name in given.own_columns}
        wanted = wanted if source == "column" else {key: name for key, name in wanted.items() if key != "label"}
        if "label" in wanted:
            wanted["label"] = tables.label_column(list(read.columns), wanted["label"])
        columns = _chosen(read.columns, wanted, where)
    else:
        reading = Reading(X, read.headers, np.zeros(len(X), dtype=np.int64), read.left_out)
        columns = _columns_of_records(reading, options, source, (), where)
    columns = columns if source != "none" else {"label": [""] * len(X), **columns}
    notes = {"sources": _sources(files, base_dir), NOTE: given.note(), **given.describe(columns)}
    return RawDataset("sequences", X, columns, options, labelled, notes=notes, left_out=tuple(read.left_out))


def _label_source_of_several(entry: entries.DataEntry, given: entries.SeveralSequences, where: str) -> str:
    """Return the source of the labels of samples with several sequences: by default a column of their table."""
    of_table = isinstance(given, SequenceTable)
    if entry.labels.kind == "none":
        return "none"
    if entry.labels.source is None and isinstance(entry.tasks, tables.TaskTable):
        return "none"  # the table of tasks has the labels
    source = entry.labels.source or ("column" if of_table else None)
    possible = ("column", "tsv") if of_table else ("header", "first_word", "tsv")
    if source is None or source not in possible:
        what = "no labels given" if source is None else f"labels cannot come from {source!r} here"
        raise LabelError(what, file=where, remedy=f"add labels: {{from: …}}, one of {', '.join(possible)}")
    return source


def _raw_from_table(entry: entries.DataEntry, given: entries.TableSource, base_dir: PathLike) -> RawDataset:
    """Return the Material of a table of features, similarities or dissimilarities."""
    options = dict(entry.labels.options)
    if options.get("from") not in (None, "column", "tsv"):
        raise LabelError(
            f"labels of a table cannot come from {options['from']!r}",
            remedy="use labels: {from: column} or tsv",
        )
    files, path = [given.path], Path(base_dir) / given.path
    X: FeatureTable | SimilarityTable
    wanted = tables.wanted_columns(options)
    how = {} if entry.policies.ids is None else {"ids": entry.policies.ids}
    if given.kind == "features":
        id_column = options.get("id") if options.get("from") != "tsv" else None
        X, found = tables.read_features(path, wanted.values(), id_column=id_column, missing=given.missing, **how)
    else:
        X, found = tables.read_similarities(path, given.kind, wanted.values(), **how)
    if options.get("from") == "tsv":
        path = _labels_path(options, base_dir)
        files.append(options["file"])
        columns = tables.columns_of_table(path, X.ids, options, unit="sample")
    else:
        columns = _chosen(found, wanted, path)
    return RawDataset(given.kind, X, columns, options, str(path), notes={"sources": _sources(files, base_dir)})


def _raw_from_public(entry: entries.DataEntry, given: entries.PublicSource, data_dir: PathLike | None) -> RawDataset:
    """Return the Material of a public data set; the entry's policies override the registry's."""
    chosen = public_set(given.name)
    paths = {role: find_file(file, data_dir) for role, file in chosen.files.items()}
    names = [item.name for item in fields(entries.Policies)]
    policies = {name: getattr(chosen, name) for name in names if getattr(chosen, name, "")} | entry.policies.given()
    from seqkern.study import adapters  # imported here: only public data sets need them

    made = getattr(adapters, chosen.adapter)(paths, policies)
    options = {"positive": chosen.positive or None, **entry.labels.options}
    sources = [
        {"file": file.file, "sha256": file.sha256} | ({"url": file.url} if file.url else {"made": file.made})
        for file in chosen.files.values()
    ]
    notes = {"description": chosen.description, "reference": chosen.reference, "sources": sources}
    where = ", ".join(map(str, paths.values()))
    return RawDataset(chosen.kind, made.X, made.columns, options, where, made.roles, notes, order=None)


def _raw_from_simulation(entry: entries.DataEntry, given: entries.Simulation, seed: int) -> RawDataset:
    """Return the Material of simulated data; `seed` is used if the entry has none."""
    # Simulated families all have the same size: each is a task.
    options = {"min_family": 1, "min_rest": 1, "whole_families": True, **entry.labels.options}
    spec = {"seed": seed, **given.options}
    from seqkern.simulate import simulate  # imported here: most data sets are read from files

    data = simulate(**spec)
    if data.of_sites:
        how = "fasta, genome and width" if data.planted is not None else "fasta, sites and window"
        raise ConfigError(
            f"{spec['kind']!r} simulates sites on long sequences, which kernels cannot compare",
            remedy=f"write them with seqkern simulate, and cut windows with {how}",
        )
    taxonomy = {key: list(map(str, data.table[key])) for key in ("family", "superfamily") if key in data.table}
    wanted = {key: name for key, name in tables.wanted_columns(options).items() if key != "label" or name in data.table}
    columns = taxonomy | _chosen(data.table, wanted, "simulated data")
    return RawDataset(
        "sequences",
        data.sequences,
        columns,
        options,
        "simulated data",
        notes={"simulate": spec, "sources": []},
        order=None,
    )


def _labels_path(options: Mapping[str, Any], base_dir: PathLike) -> Path:
    """Return the path of the table of labels."""
    if "file" not in options:
        raise ConfigError("labels from tsv need a file", remedy="add labels: {from: tsv, file: …}")
    return Path(base_dir) / options["file"]


def _chosen(
    found: Mapping[str, Sequence[object]], wanted: Mapping[str, str], file: PathLike | None
) -> dict[str, list[str]]:
    """Return the requested columns, keyed by their meaning."""
    for name in wanted.values():
        if name not in found:
            raise tables.no_column(name, found, file)
    return {key: [str(value) for value in found[name]] for key, name in wanted.items() if key in tables.COLUMNS}


def _sources(files: Collection[str], base_dir: PathLike) -> list[dict[str, str]]:
    """Return records of the files read: names as in the study, with their SHA-256."""
    return [{"file": str(file), "sha256": file_sha256(Path(base_dir) / file)} for file in files]
