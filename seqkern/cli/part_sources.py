"""The records of one part of the new sequences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from seqkern.core.errors import ParameterError

if TYPE_CHECKING:
    from seqkern.core.part import Part
    from seqkern.core.types import PathLike
    from seqkern.sequences.fasta import AnySource

HEADER = b">"


def part_of_source(source: AnySource, part: Part, numbered: bool) -> tuple[AnySource | None, int]:
    """Return the records of a part.

    Parameters
    ----------
    source : path-like or RegionSequences
        FASTA, or the regions of a BED file.
    part : Part
        Which one.
    numbered : bool
        Whether the records before it are to be counted.

    Returns
    -------
    source : path-like, file object or RegionSequences, or None
        None for a part without records.
    before : int
        Records before it; 0 if they were not to be counted.

    Raises
    ------
    ParameterError
        If the file is not FASTA.
    """
    # imported here to keep --help fast
    from seqkern.core.text_spans import count_before, open_span
    from seqkern.genome.sequences import RegionSequences

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
