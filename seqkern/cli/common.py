"""What several verbs do with their requests: read tracks, regions and tables, and report on standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from seqkern.cli.requests import Regions, Tracks
from seqkern.core.errors import FoldError, LabelError, ParameterError, SequenceError, unknown_name
from seqkern.core.types import PathLike, Source
from seqkern.formats.background import PROPERTIES
from seqkern.formats.profile_sources import ProfileSource, describe, differs
from seqkern.formats.profiles import TRACKS
from seqkern.formats.regions import RegionOptions
from seqkern.kernels.kernel import Kernel
from seqkern.sequences.alphabets import masked_text
from seqkern.sequences.fasta import AnySource
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tracks import Track
from seqkern.study.data_entry import with_regions

if TYPE_CHECKING:
    from seqkern.methods.model import Model


def check_wanted(entry: Mapping[str, Any] | None, kernel: Kernel, made: Mapping[str, Any] | None = None) -> None:
    """Raise an error for profiles that a kernel does not read, or for missing ones."""
    wanted = [track for track in kernel.tracks if track in TRACKS]
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


def log_counts(counts: Mapping[str, int], source: PathLike) -> None:
    """Print the effects of the reading policies on standard error."""
    masked = masked_text(counts)
    touched = [f"{count} {what}" for what, count in counts.items() if count and not what.startswith("masked ")]
    if touched:
        print(f"seqkern: {source}: {', '.join(touched)}", file=sys.stderr)
    if masked:
        print(f"seqkern: {source}: {masked}; --unknown error refuses them", file=sys.stderr)


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
    known = [name for name in kernel.tracks if name not in TRACKS]
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

    source = ProfileSource(entry)
    if made is not None and differs(source.note(), made):
        own, other = describe(source.note()), describe(made)
        how = f"those were {other}" if own != other else "the file has changed since training"
        print(
            "seqkern: warning: these profiles differ from those used in training: "
            f"these are {own}, {how}; make them as in training, or train again with these",
            file=sys.stderr,
        )
    return source


@contextlib.contextmanager
def naming_file(file: PathLike) -> Iterator[None]:
    """Add the file name to errors about sequences, labels or folds that lack one.

    >>> with naming_file("donors.fa"):
    ...     raise SequenceError("is empty")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.SequenceError: donors.fa: is empty
    """
    try:
        yield
    except (SequenceError, LabelError, FoldError) as error:
        if error.file is None:
            error.file = file
        raise


def as_sources(files: list[Source], request: Regions, width: int | None = None) -> list[AnySource]:
    """Return the files to read, with each BED file replaced by its regions' sequences, by default of some width."""
    given = request.region_keys
    if given:
        given.setdefault("width", width)
    return with_regions(files, RegionOptions(**given) if given else None)


def log_folds(notes: dict[str, Any]) -> None:
    """Print the genomic regions that folds keep together, on standard error."""
    if "genome" in notes:
        print(f"seqkern: {notes['genome']['folds']}", file=sys.stderr)


def log_background(notes: dict[str, Any]) -> None:
    """Print the quality of the match of a drawn background, on standard error."""
    drawn = notes.get("genome", {}).get("background")
    if drawn is None:
        return
    distances = ", ".join(f"{PROPERTIES[name]} {value:.4f}" for name, value in drawn["ks"].items())
    print(f"seqkern: {drawn['regions']} background regions drawn; KS distances: {distances}", file=sys.stderr)
    for remark in drawn["remarks"]:
        print(f"seqkern: {remark}", file=sys.stderr)
