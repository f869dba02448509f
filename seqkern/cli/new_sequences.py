"""The model and the new sequences of the verbs `predict` and `explain`."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import FASTA_POLICIES, OF_TABLE, policies_of, profiles_of, read_tracks, refuse_unused
from seqkern.cli.output import refuse_part
from seqkern.cli.regions import as_sources, regions_of, site_windows
from seqkern.cli.several_sequences import fill_fasta, read_several, read_views, sequence_files
from seqkern.cli.wrong_files import LONG, TIMES
from seqkern.core.errors import FileError, ModelError, ParameterError, SequenceError

if TYPE_CHECKING:
    from seqkern.core.parts import Part
    from seqkern.core.types import PathLike
    from seqkern.methods.model import Model
    from seqkern.methods.residue_model import ResidueModel
    from seqkern.sequences.fasta import AnySource
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.sequences.tables import FeatureTable


# The records that belong to one part of the new sequences.

HEADER = b">"


def part_of_source(source: AnySource, part: Part, numbered: bool) -> tuple[AnySource | None, int]:
    """Return the records of a part, or None, and the number of records before it (0 unless `numbered`)."""
    # imported here to keep --help fast
    from seqkern.core.parts import count_before, open_span
    from seqkern.formats.regions import RegionSequences

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
    # imported here to keep --help fast
    from seqkern.core.text_files import open_lines
    from seqkern.sequences.formats import NOUNS, format_of

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
                print(
                    f"seqkern: warning: {self.name}: record {record!r}: the id occurs more than once (ids are the "
                    "first word of the header), so rows are ambiguous; rename the records, or add --ids number",
                    file=sys.stderr,
                )
            self._seen = None


def load_given(args: argparse.Namespace) -> Model | ResidueModel:
    """Return the given model; report swapped model and sequences, or missing sequences."""
    # imported here to keep --help fast
    import zipfile

    # imported here to keep --help fast
    from seqkern.methods.loading import is_lsgkm, load_model

    fill_fasta(args)
    try:
        return load_model(args.model)
    except ModelError as error:
        if args.fasta != "-" and not zipfile.is_zipfile(args.model):
            with contextlib.suppress(OSError, FileError):
                if zipfile.is_zipfile(args.fasta) or is_lsgkm(args.fasta):
                    error.problem = "is not a model file"
                    error.remedy = f"give the model before the sequences: {args.fasta} {args.model}"
        raise


def read_chunks(model: Model, args: argparse.Namespace, together: bool = False) -> Iterator[SequenceSet | FeatureTable]:
    """Yield the sequences in sets of bounded size, read under the model's policies, with their tracks and views.

    With ``--sites`` there is one set, the windows around the sites. A file of residues and states (`together`) is also
    read as one set, with the states as a track; features are one table.
    """
    # imported here to keep --help fast
    from seqkern.core.errors import LetterError
    from seqkern.core.text_files import source_name
    from seqkern.sequences.fasta import iter_fasta

    if model.alphabet is None:
        # imported here to keep --help fast
        from seqkern.cli.common import read_table

        refuse_part(args, "tables of features", "remove it")
        refuse_unused(args, OF_TABLE, {**dict.fromkeys(FASTA_POLICIES), "strip_gaps": False})
        names = cast("FeatureTable", model.support).columns
        yield read_table(args.fasta, names, missing=model.kernel.traits.accepts_missing)
        return
    with_letters = read_tracks(args, model.kernel, model.record.get("profiles"))
    with_views = read_views(args, model.kernel, of_residues="residues" in model.record)
    given = policies_of(args)
    policies: dict[str, Any] = {
        key: given[key] or model.policies[key] for key in given if given[key] or key in model.policies
    }
    if "gaps" in model.policies:
        policies["gaps"] = model.policies["gaps"]
    if model.sequence_views:
        refuse_part(args, "samples with several sequences", "divide the table")
        yield with_views(read_several(model, args, policies))
        return
    if args.sequences is not None or sequence_files(args):
        raise ModelError("compares single sequences", file=args.model, remedy="remove --sequences and --view")
    refuse_unused(args, "needs a model of several sequences", {"id_column": None, "missing": None})
    if policies.get("ids") == "suffix":  # would need all earlier ids
        policies["ids"] = "header"
    if args.sites is not None:
        if regions_of(args):
            raise ParameterError("--sites does not work with --genome", remedy="remove one of them")
        if profiles_of(args):
            raise ParameterError("profiles need whole sequences, not windows", remedy="remove --sites")
        refuse_part(args, "windows around given sites", "give a part of the table of sites to each job")
        yield with_views(site_windows(model, args, policies))
        return
    repeated = None if policies.get("ids") == "number" else RepeatedIds(source_name(args.fasta))
    sources, before = as_sources([args.fasta], args, model), 0
    part = getattr(args, "part", None)
    if part is not None:
        source, before = part_of_source(sources[0], part, policies.get("ids") == "number")
        sources = [] if source is None else [source]
    try:
        if together:
            # imported here to keep --help fast
            from seqkern.formats.states import read_letters_and_states

            reading = read_letters_and_states(args.fasta, classes=model.classes, alphabet=model.alphabet, **policies)
            yield with_views(with_letters(reading.sequences))
            return
        for number, X in enumerate(iter_fasta(sources, model.alphabet, before=before, **policies)):
            if number == 0:
                _warn_of_dna(model, X, args)
                _warn_of_genome(model, X, args)
            _check_windows(model, X)
            if repeated is not None:
                repeated.see(X.ids)
            yield with_views(with_letters(X))
    except LetterError as error:
        error.problem += ", the model's alphabet"
        gap = "--strip-gaps" in (error.remedy or "")
        first = "remove the gaps (--strip-gaps does)" if gap else "give sequences of the model's alphabet"
        error.remedy = f"{first}, or add --unknown mask_all or skip"
        raise


def _warn_of_dna(model: Model, X: SequenceSet, args: argparse.Namespace) -> None:
    """Warn if a protein model is applied to sequences that look like DNA."""
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.core.text_files import source_name
    from seqkern.sequences.alphabets import DNA, MASK, PROTEIN

    if model.alphabet != PROTEIN or len(X.codes) < LEAST_RESIDUES:
        return
    bases = {*PROTEIN.encode(DNA.letters.encode()).tolist(), MASK}  # U of RNA is masked
    share = float(np.isin(X.codes, list(bases)).mean())
    if share > DNA_SHARE:
        print(
            f"seqkern: warning: {source_name(args.fasta)}: {share:.0%} of the residues are A, C, G or T, but "
            f"{args.model} is a model of proteins; translate DNA first",
            file=sys.stderr,
        )


def _warn_of_genome(model: Model, X: SequenceSet, args: argparse.Namespace) -> None:
    """Warn if the first record is far longer than the training sequences, since it gets a single decision."""
    # imported here to keep --help fast
    from seqkern.core.text_files import source_name

    lengths = getattr(model.support, "lengths", None)
    if lengths is None or not len(lengths) or not len(X):
        return
    longest, length = int(lengths.max()), int(X.lengths[0])
    if length >= LONG and length >= TIMES * longest:
        print(
            f"seqkern: warning: {source_name(args.fasta)}: record {X.ids[0]!r}: has {length:,} letters, the model's "
            f"sequences at most {longest:,}, and gets one decision; for regions of a genome give BED with --genome, "
            "for a model of windows --scan",
            file=sys.stderr,
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
