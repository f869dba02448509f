"""The model and the new sequences of the verbs `predict` and `explain`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from seqkern.cli.common import OF_TABLE, as_sources, column_views, read_several, read_tracks, read_views, sequence_files
from seqkern.cli.output import naming_file, refuse_part, warn
from seqkern.cli.requests import POLICIES, ModelReading
from seqkern.cli.requests_models import NewSamples
from seqkern.cli.wrong_files import LONG, TIMES, holds_fasta
from seqkern.core.errors import LetterError, ModelError, ParameterError, SequenceError
from seqkern.core.parts import Part, count_before, open_span
from seqkern.core.text_files import open_lines, source_name
from seqkern.core.tsv import read_cells
from seqkern.core.types import PathLike
from seqkern.formats.regions import RegionSequences
from seqkern.formats.states import read_letters_and_states
from seqkern.methods.model import Model
from seqkern.sequences.alphabets import DNA, MASK, PROTEIN
from seqkern.sequences.fasta import AnySource, iter_fasta, read_records
from seqkern.sequences.formats import NOUNS, format_of
from seqkern.sequences.joining import join_views
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable
from seqkern.study.data_entry import SiteWindow
from seqkern.study.readers import before_cutting, cut_around_sites
from seqkern.study.tables import id_column_of, read_features

# The records that belong to one part of the new sequences.

HEADER = b">"


def part_of_source(source: AnySource, part: Part, numbered: bool) -> tuple[AnySource | None, int]:
    """Return the records of a part, or None, and the number of records before it (0 unless `numbered`)."""
    if isinstance(source, RegionSequences):
        first, stop = part.span(len(source.ids))
        regions = source.regions.take(slice(first, stop))
        counts = source.counts if part.number == 1 else {}
        own = RegionSequences(replace(regions, counts=counts), source.genome, source.ids[first:stop])
        return own if first < stop else None, first
    path = cast("PathLike", source)
    _check_fasta(path)
    span = open_span(path, part, HEADER)
    if part.number > 1 and not span.peek(1):  # type: ignore[attr-defined]  # buffered
        return None, 0
    return span, count_before(path, part, HEADER) if numbered else 0


def _check_fasta(path: PathLike) -> None:
    """Raise ParameterError for sequences in another format."""
    with open_lines(path) as (lines, name):
        form = format_of(next(lines))
    if form not in (None, "fasta"):
        raise ParameterError(
            f"--part divides FASTA, but {name} is {NOUNS.get(str(form), form)}", remedy="convert it to FASTA first"
        )


LEAST_RESIDUES, DNA_SHARE = 50, 0.95
"""Number of residues, and share of A, C, G and T, above which the sequences for a protein model look like DNA."""

MOST_IDS = 1 << 18
"""Records whose ids are remembered, for 30 MB at most."""


class RepeatedIds:
    """A monitor that warns of the first repeated id, in bounded memory: among the first `MOST_IDS` records."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._seen: set[str] | None = set()

    def see(self, ids: Sequence[str]) -> None:
        """Check the ids of some records, in the order of the file."""
        for record in ids:
            if self._seen is None:
                return
            if record not in self._seen and len(self._seen) < MOST_IDS:
                self._seen.add(record)
                continue
            if record in self._seen:
                warn(
                    f"{self.name}: record {record!r}: the id occurs more than once (ids are the "
                    "first word of the header), so rows are ambiguous; rename the records, or add --ids number"
                )
            self._seen = None


def policies_for(model: Model, request: ModelReading) -> dict[str, str]:
    """Return the policies for reading FASTA: those of the request, or else those of the training."""
    given = {name: value or model.policies.get(name) for name, value in request.policies.items()}
    return {name: value for name, value in given.items() if value}


def read_chunks(model: Model, request: NewSamples, together: bool = False) -> Iterator[SequenceSet | FeatureTable]:
    """Yield the sequences in sets of bounded size, read under the model's policies, with their tracks and views.

    With ``--sites`` there is one set, the windows around the sites. A file of residues and states (`together`) is also
    read as one set, with the states as a track; features are one table.
    """
    if model.alphabet is None:
        refuse_part(request, "tables of features", "remove it")
        request.refuse(OF_TABLE, *POLICIES)
        names = cast("FeatureTable", model.support).columns
        yield read_table(request.fasta, names, missing=model.kernel.traits.accepts_missing)
        return
    with_letters = read_tracks(request, model.kernel, model.record.get("profiles"))
    policies: dict[str, Any] = policies_for(model, request)
    if "gaps" in model.policies:
        policies["gaps"] = model.policies["gaps"]
    plain = len(model.sequence_views) == 1 and holds_fasta(request.fasta)
    columns = [] if plain or not model.sequence_views else column_views(request, model)
    with_views = read_views(request, model.kernel, "residues" in model.record, columns)
    if model.sequence_views and not plain:
        refuse_part(request, "samples with several sequences", "divide the table")
        yield with_views(read_several(model, request, policies))
        return
    if request.sequences is not None or sequence_files(request):
        raise ModelError("compares single sequences", file=request.model, remedy="remove --sequences and --view")
    request.refuse("needs a model of several sequences", "id_column", "missing")
    if policies.get("ids") == "suffix":  # would need all earlier ids
        policies["ids"] = "header"
    if request.sites is not None:
        if request.region_keys:
            raise ParameterError("--sites does not work with --genome", remedy="remove one of them")
        if request.profile_keys:
            raise ParameterError("profiles need whole sequences, not windows", remedy="remove --sites")
        refuse_part(request, "windows around given sites", "give a part of the table of sites to each job")
        yield with_views(site_windows(model, request, policies))
        return
    repeated = None if policies.get("ids") == "number" else RepeatedIds(source_name(request.fasta))
    sources, before = as_sources([request.fasta], request, model.record.get("genome", {}).get("width")), 0
    part = getattr(request, "part", None)
    if part is not None:
        source, before = part_of_source(sources[0], part, policies.get("ids") == "number")
        sources = [] if source is None else [source]
    try:
        if together:
            reading = read_letters_and_states(request.fasta, classes=model.classes, alphabet=model.alphabet, **policies)
            yield with_views(with_letters(reading.sequences))
            return
        for number, X in enumerate(iter_fasta(sources, model.alphabet, before=before, **policies)):
            if number == 0:
                _warn_of_dna(model, X, request)
                _warn_of_genome(model, X, request)
            _check_windows(model, X)
            if repeated is not None:
                repeated.see(X.ids)
            yield with_views(joined(model, with_letters(X)))
    except LetterError as error:
        error.problem += ", the model's alphabet"
        gap = "--strip-gaps" in (error.remedy or "")
        first = "remove the gaps (--strip-gaps does)" if gap else "give sequences of the model's alphabet"
        error.remedy = f"{first}, or add --unknown mask_all or skip"
        raise


def joined(model: Model, X: SequenceSet) -> SequenceSet:
    """Return single sequences as a model expects them that was trained on one column of a table."""
    return join_views({next(iter(model.sequence_views)): X}) if model.sequence_views else X


def _warn_of_dna(model: Model, X: SequenceSet, request: NewSamples) -> None:
    """Warn if a protein model is applied to sequences that look like DNA."""
    if model.alphabet != PROTEIN or len(X.codes) < LEAST_RESIDUES:
        return
    bases = {*PROTEIN.encode(DNA.letters.encode()).tolist(), MASK}  # U of RNA is masked
    share = float(np.isin(X.codes, list(bases)).mean())
    if share > DNA_SHARE:
        warn(
            f"{source_name(request.fasta)}: {share:.0%} of the residues are A, C, G or T, but "
            f"{request.model} is a model of proteins; translate DNA first"
        )


def _warn_of_genome(model: Model, X: SequenceSet, request: NewSamples) -> None:
    """Warn if the first record is far longer than the training sequences, since it gets a single decision."""
    lengths = getattr(model.support, "lengths", None)
    if lengths is None or not len(lengths) or not len(X):
        return
    longest, length = int(lengths.max()), int(X.lengths[0])
    if length >= LONG and length >= TIMES * longest:
        warn(
            f"{source_name(request.fasta)}: record {X.ids[0]!r}: has {length:,} letters, the model's "
            f"sequences at most {longest:,}, and gets one decision; for regions of a genome give BED with --genome, "
            "for a model of windows --scan"
        )


def _check_windows(model: Model, X: SequenceSet) -> None:
    """Raise SequenceError for a record whose length differs from the training windows."""
    window = model.window
    if window is None or not model.kernel.traits.equal_lengths:
        return
    other = X.lengths != window.length
    if other.any():
        i = int(other.argmax())
        raise SequenceError(
            f"has length {X.lengths[i]}, but the model was trained on windows {window} of length {window.length}",
            record=X.ids[i],
            remedy="add --sites TABLE for windows around sites, or use predict --scan LETTERS for all candidates",
        )


def site_windows(model: Model, request: NewSamples, policies: Mapping[str, str]) -> SequenceSet:
    """Return one window around each given site, in the form that a model expects."""
    window = model.window
    if window is None:
        raise ModelError(
            "was not trained on windows around sites",
            file=request.model,
            remedy="train it with --sites and --window, or cut the windows yourself",
        )
    name = source_name(request.fasta)
    with naming_file(name):
        reading = read_records(request.fasta, alphabet=model.alphabet, **{**policies, **before_cutting(policies)})
        unknown = policies.get("unknown", "mask")
        return cut_around_sites(SiteWindow(window, request.sites), reading, ".", name, unknown=unknown)[0].windows


def read_table(path: PathLike, names: Sequence[str], *, missing: bool = False) -> FeatureTable:
    """Return a table of new samples with the features that a model was trained on, in the model's order."""
    header = read_cells(path)[0]
    of_ids = id_column_of(header)
    if header[0].startswith(">"):
        raise ModelError(
            "is FASTA, but the model was trained on a feature table",
            file=source_name(path),
            remedy="give a table with the same columns as in training, or a model of sequences",
        )
    known, given = set(names), set(header) - {of_ids}
    lacking = next((name for name in names if name not in given), None)
    if lacking is not None:
        raise ModelError(
            f"lacks column {lacking!r}, a feature of the model",
            file=source_name(path),
            remedy="give a table with the same columns as in training",
        )
    policy: Literal["error", "keep"] = "keep" if missing else "error"
    X, _ = read_features(path, [name for name in header if name not in known and name != of_ids], missing=policy)
    places = {name: j for j, name in enumerate(X.columns)}
    order = np.array([places[name] for name in names], dtype=np.int64)
    return FeatureTable(X.values[:, order], X.ids, names, X.counts, policy)
