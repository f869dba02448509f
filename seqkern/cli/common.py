"""What several verbs do with their requests: read tracks, views, regions and tables, and report on standard error."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from seqkern.cli.output import warn
from seqkern.cli.requests import Regions, Tracks
from seqkern.cli.requests_models import NewSamples
from seqkern.cli.requests_studies import DatasetModel, EvaluateRequest, OfStudy
from seqkern.core.errors import ConfigError, ModelError, ParameterError, SequenceError, check_known, unknown_name
from seqkern.core.types import PathLike, Source
from seqkern.formats.annotation import has_features
from seqkern.formats.profiles import TRACKS
from seqkern.formats.regions import RegionOptions
from seqkern.sequences.fasta import AnySource
from seqkern.sequences.tracks import Track
from seqkern.study.data_entry import DataEntry, SeveralSequences, with_regions
from seqkern.study.several_sequences import ALLELES, NOTE, SequenceFiles, SequenceTable, SequenceView
from seqkern.study.tables import column_of_names
from seqkern.study.vectors import View, holds_sequences, parse_views

if TYPE_CHECKING:
    from seqkern.formats.profile_sources import ProfileSource
    from seqkern.kernels.kernel import Kernel
    from seqkern.methods.model import Model
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.study.study import Study


def check_wanted(entry: Mapping[str, Any] | None, kernel: Kernel, made: Mapping[str, Any] | None = None) -> None:
    """Raise an error for profiles that a kernel does not read, or for missing ones."""
    wanted = [track for track in kernel.traits.tracks if track in TRACKS]
    if entry and not wanted:
        raise ParameterError(
            f"the kernel {kernel.name!r} reads no profiles", remedy="remove --profiles and --search-profiles"
        )
    if wanted and not entry:
        remedy = "add --profiles PATH (from PSI-BLAST or HMMER) or --search-profiles FASTA"
        if made is not None and "search" in made:
            more = f" --profile-iterations {made['iterations']}" if "iterations" in made else ""
            remedy = f"make them as in training: add --search-profiles {made['search']}{more}"
        elif made is not None:
            remedy = f"make them as in training ({made['files']}) and add --profiles PATH"
        raise ParameterError(f"the kernel {kernel.name!r} needs profiles of the sequences", remedy=remedy)


OF_TABLE = "is for FASTA, not for a feature table"


def unrecognised(model: Model) -> Iterator[str]:
    """Yield a warning for each class that the model does not recognise in any training sequence."""
    search = "--search " if model.record.get("search") is None else ""
    for name, count in model.record.get("recognised", {}).items():
        if not count:
            yield (
                f"no training sequence of class {name} is recognised; rank by the decision values instead of using the "
                f"predicted classes, or train with csvc:class_weight=balanced or {search}--metric "
                "balanced_accuracy"
            )


def read_tracks(
    request: Tracks, kernel: Kernel, made: Mapping[str, Any] | None = None
) -> Callable[[SequenceSet], SequenceSet]:
    """Return a function that adds to a SequenceSet the tracks that a kernel reads."""
    profiles = request.profile_keys
    check_wanted(profiles, kernel, made)
    known = [name for name in kernel.traits.tracks if name not in TRACKS]
    names = [name for name, _ in request.track_files]
    for i, name in enumerate(names):
        if name in TRACKS:
            raise ParameterError(f"the track {name!r} holds profiles, not letters", remedy="use --profiles PATH")
        if name not in known:
            if known:
                raise unknown_name(f"track of {kernel.name}", name, known)
            raise ParameterError(f"the kernel {kernel.name!r} reads no track", remedy=f"remove --track {name}=…")
        if name in names[:i]:
            raise ParameterError(f"the track {name!r} is given twice", remedy="remove one of them")
    for name in known:
        if name not in names:
            raise ParameterError(
                f"the kernel {kernel.name!r} needs the track {name!r}", remedy=f"add --track {name}=FILE"
            )
    tracks = [Track(name, file) for name, file in request.track_files]
    source = _profile_source(profiles, made)

    def _add(X: SequenceSet) -> SequenceSet:
        for track in tracks:
            X = track.add_to(X)
        return X if source is None or set(TRACKS) <= set(X.tracks) else source.add_to(X, n_threads=request.threads)

    return _add


def _profile_source(entry: Mapping[str, Any] | None, made: Mapping[str, Any] | None) -> ProfileSource | None:
    """Return the ProfileSource of an entry, or None; warn if a model's profiles were made differently."""
    if entry is None:
        return None

    # imported here: most commands have no profiles
    from seqkern.formats.profile_sources import ProfileSource, describe, differs

    source = ProfileSource(entry)
    if made is not None and differs(source.note(), made):
        own, other = describe(source.note()), describe(made)
        how = f"those were {other}" if own != other else "the file has changed since training"
        warn(
            "these profiles differ from those used in training: "
            f"these are {own}, {how}; make them as in training, or train again with these"
        )
    return source


def as_sources(files: list[Source], request: Regions, width: int | None = None) -> list[AnySource]:
    """Return the files to read, with each BED file replaced by its regions' sequences, by default of some width."""
    given = request.region_keys
    if given:
        given.setdefault("width", width)
    return with_regions(files, RegionOptions(**given) if given else None)


AnySamples = TypeVar("AnySamples", bound=NewSamples)

NOT_WITH_SEVERAL = (
    *("track", "against", "window", "sites", "genome", "background", "states", "unlabelled", "profiles"),
    "search_profiles",
)
"""Options that need samples with a single sequence."""


def sequence_files(request: Tracks) -> dict[str, Any]:
    """Return the views given as arguments that are sequences, by name, as in a data-set entry; empty if none."""
    if not getattr(request, "view", None):
        return {}

    return {name: file for name, file in request.view if holds_sequences(file)}


def column_views(request: Tracks, model: Model | None = None) -> list[str]:
    """Return the views that are columns of the table of samples: those given without a file, or as in training."""
    given = dict(getattr(request, "view", None) or [])
    known = [] if model is None else model.record.get(NOTE, {}).get("numbers", [])
    read = [name for name in known if model is not None and name in model.kernel.traits.views]
    return [name for name in dict.fromkeys([*given, *read]) if not given.get(name)]


def sequence_names(request: Tracks) -> list[str]:
    """Return the names of the sequences of each sample; empty if each sample has a single one."""
    return list(sequence_files(request)) if request.sequences is None else list(_columns(request.sequences))


def several_entry(request: Tracks) -> dict[str, Any]:
    """Return the data-set keys for several sequences (``table``, or ``views`` and ``missing``); empty for single
    ones.
    """
    files, numbers = sequence_files(request), column_views(request)
    if numbers and request.sequences is None:
        raise ParameterError(
            f"--view {numbers[0]} names a column, but the sequences are not in a table",
            remedy=f"give the file of the view: --view {numbers[0]}=FILE",
        )
    if request.sequences is None and not files:
        request.refuse("needs --sequences", "id_column", "missing")
        return {}
    request.refuse("does not work with several sequences", *NOT_WITH_SEVERAL)
    missing = {} if request.missing is None else {"missing": request.missing}
    if request.sequences is None:
        if request.fasta:
            raise ParameterError(
                f"{request.fasta[0]} has no name as a view, beside --view {next(iter(files))}=…",
                remedy=f"give every sequence as --view NAME={request.fasta[0]}, or a table with --sequences",
            )
        if request.id_column is not None:
            raise ParameterError("--id-column needs a table", remedy="remove it: FASTA records have ids")
        return {"views": files, **missing}
    if files or len(request.fasta) != 1:
        raise ParameterError(
            "--sequences needs one table" + (", and no view that is a FASTA file" if files else ""),
            remedy="give one file (TSV or CSV) with all sequences",
        )
    table = {"file": request.fasta[0], "sequences": _columns(request.sequences), **missing}
    table |= {"numbers": numbers} if numbers else {}
    return {"table": table if request.id_column is None else {**table, "id": request.id_column}}


def given_files(request: Tracks) -> list[str]:
    """Return the files of the samples, for messages."""
    return list(request.fasta) or [str(file["file"] if isinstance(file, dict) else file) for _, file in request.view]


def check_names(request: Tracks, wanted: Sequence[str]) -> None:
    """Raise ParameterError unless the sequences named by a kernel are given."""
    known = sequence_names(request)
    for name in wanted:
        if not known:
            raise ParameterError(
                f"the kernel compares the sequence {name!r} of each sample, but samples have a single sequence",
                remedy=f"name the columns of a table with --sequences, or give FASTA files with --view {name}=FILE.fa",
            )
        check_known("sequence view", [name], known)


def with_fasta(request: AnySamples) -> AnySamples:
    """Return the request of a verb that applies a model, with the input `fasta` if only views give its sequences."""
    files = sequence_files(request)
    if request.fasta is None and not files:
        raise ParameterError("no sequences given", remedy="give a file after the model, or --view NAME=FILE for each")
    if request.fasta is None:
        first = next(iter(files.values()))
        return request.but(fasta=str(first["file"] if isinstance(first, dict) else first))
    if files:
        raise ParameterError(
            f"{request.fasta} has no name as a view",
            remedy=f"give it as --view NAME={request.fasta}, or give one table",
        )
    return request


def read_several(model: Model, request: NewSamples, policies: Mapping[str, str]) -> SequenceSet:
    """Return new samples with several sequences, read as the training samples were."""
    wanted = {name: view.alphabet for name, view in model.sequence_views.items()}
    note = model.record.get(NOTE, {})
    hint = f"; seqkern variants {request.model} FILE.vcf --genome FASTA scores variants" * (set(wanted) == set(ALLELES))
    request.refuse("does not work with several sequences", *NOT_WITH_SEVERAL, remedy=f"remove {{option}}{hint}")
    missing = request.missing or note.get("missing", "error")
    files = sequence_files(request)
    given = files or (
        _columns(request.sequences) if request.sequences else note.get("columns", {name: name for name in wanted})
    )
    check_known(f"sequence view of {request.model}", given, wanted)
    for name in wanted:
        if name not in given:
            how = f"--view {name}=FILE" if files else f"{name}=COLUMN to --sequences"
            raise ModelError(
                f"compares the sequences {', '.join(wanted)}, and {name!r} is not given",
                file=request.model,
                remedy=f"add {how}",
            )
    places = {name: str(place["file"] if isinstance(place, dict) else place) for name, place in given.items()}
    views = tuple(SequenceView(name, places[name]) for name in wanted)
    numbers = () if files else tuple(column_views(request, model))
    table = SequenceTable(request.fasta, views, request.id_column, missing, numbers)
    try:
        read = (SequenceFiles(views, missing) if files else table).read(".", policies, wanted)
    except SequenceError as error:
        error.remedy = f"{error.remedy}{hint}"
        raise
    given_ids = files or request.id_column or policies.get("ids") == "number"
    column = None if given_ids else column_of_names(read.columns, list(places.values()), note.get("id"))
    return read.sequences if column is None else read.sequences.replace(ids=read.columns[column])


def read_given(request: Tracks, kernel: Kernel, policies: Mapping[str, str]) -> SequenceSet | None:
    """Return unlabelled samples with several sequences for a kernel; None if the arguments name none."""
    entry = several_entry(request)
    if not getattr(request, "dataset", None):  # which has its own
        check_names(request, kernel.traits.sequence_views)
    if not entry:
        return None

    source = DataEntry.parse(entry).source
    assert isinstance(source, SeveralSequences)
    return source.read(".", policies).sequences


def _columns(text: str) -> dict[str, str]:
    """Return the column of each view from ``a1,a2`` or ``heavy=vh,light=vl``."""
    columns: dict[str, str] = {}
    for item in text.split(","):
        name, _, column = (part.strip() for part in item.partition("="))
        if not name or name in columns:
            what = f"names {name!r} twice" if name else "has an empty name"
            raise ParameterError(
                f"--sequences {text} {what}", remedy="separate different names by commas, such as a1,a2,a3"
            )
        columns[name] = column or name
    return columns


# ``--view``: vectors of the sequences, such as embeddings, for kernels that name a view, or further sequences.


def views_of(request: Tracks, kernel: Kernel, columns: Sequence[str] = ()) -> dict[str, str | dict[str, str]]:
    """Return the vector views for the data-set entry ``views``, in the order of the kernel; empty if it reads none.

    Those that are `columns` of the table of samples are left out.
    """
    sequences = sequence_files(request)
    wanted = [name for name in kernel.traits.views if name not in kernel.traits.sequence_views]
    names = [name for name, _ in request.view]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ParameterError(f"the view {name!r} is given twice", remedy="remove one of them")
        if name in sequences:
            continue
        if not wanted:
            raise ParameterError(
                f"the kernel {kernel.name!r} reads no view",
                remedy=f"remove --view {name}=…, or name the view in the kernel: rbf:view={name}",
            )
        check_known(f"view of {kernel.name}", [name], wanted)
    for name in wanted:
        if name not in (*names, *columns):
            raise ParameterError(
                f"the kernel {kernel.name!r} needs the view {name!r}", remedy=f"add --view {name}=FILE"
            )
    given = dict(request.view)
    return {name: given[name] for name in wanted if given.get(name)}


def read_views(
    request: Tracks, kernel: Kernel, of_residues: bool = False, columns: Sequence[str] = ()
) -> Callable[[SequenceSet], SequenceSet]:
    """Return a function that adds the views that a kernel reads to a SequenceSet, but for those of its `columns`."""
    entry = views_of(request, kernel, columns)
    if not entry:
        return lambda X: X

    views = [View(options) for options in parse_views(entry)]

    def add(X: SequenceSet) -> SequenceSet:
        for view in views:
            X = view.add_to_residues(X) if of_residues else view.add_to(X)
        return X

    return add


# The study whose settings a job takes.

LONGEST_PATH = 1024


def method_settings(request: DatasetModel | EvaluateRequest) -> dict[str, Any]:
    """Return the kernel, the solver and the inner loop of a request, for `MethodEntry.parse`."""
    draws = request.inner_draws
    inner = {"folds": request.inner_folds, "metric": request.inner_metric, "rule": request.inner_rule}
    inner |= {} if draws is None else {"search": "random", "draws": draws}
    others = {"clusters": "inner_clusters", "calibration": "calibration", "threshold": "threshold"}
    inner |= {key: getattr(request, option, None) for key, option in others.items()}
    return {"kernel": request.kernel, "solver": request.solver, "inner": inner, "seed": request.seed}


def read_study(request: OfStudy) -> Study:
    """Return the study of ``--study``."""
    study = parse_study(request.study)
    if study.data_dir:
        os.environ.setdefault("SEQKERN_DATA", study.data_dir)  # where kernels look for public files
    return study


def parse_study(given: str) -> Study:
    """Return the study of a file, or of a configuration as JSON."""
    # imported here: other verbs have no study
    from seqkern.study.study import Study

    if not given.lstrip().startswith("{"):
        if len(given) > LONGEST_PATH or "\n" in given:
            raise ConfigError(
                f"--study is neither JSON nor the path of a file: {given[:40]!r}…",
                remedy="quote the argument in the shell, or name a YAML file",
            )
        return Study.load(given)
    try:
        config = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"--study is not JSON: {error}", remedy="quote the argument in the shell, or name a YAML file"
        ) from error
    return Study.parse(config)


def dataset_name(folder: PathLike) -> str:
    """Return the name that a data set has in its study: the name of its folder.

    >>> dataset_name("results/demo/datasets/donors/")
    'donors'
    """
    return Path(folder).resolve().name


def annotation_file(genome: str, annotation: str | None) -> str:
    """Return the file with the annotation of a genome, which may be the genome's own."""
    if "-" in (genome, annotation):
        raise ParameterError("the files are read more than once", remedy="give files instead of standard input")
    if annotation is None and not has_features(genome):
        raise ParameterError(f"{genome} has no annotation", remedy="give a GTF or GFF3 file after the genome")
    return annotation or genome
