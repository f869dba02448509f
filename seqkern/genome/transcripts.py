"""Transcripts of an annotation: their exons and coding parts on a chromosome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Interval = tuple[int, int]
"""Start and stop, from 0, half open."""
SHORTEST_INTRON = 10
"""Shorter gaps between exons are frame shifts or errors of the assembly, not introns."""


@dataclass
class Transcript:
    """One transcript.

    Attributes
    ----------
    name, gene : str
        As in the annotation.
    chromosome : str
        Name of its sequence.
    reverse : bool
        True on strand −.
    exons : list of Interval
        In any order.
    coding : list of Interval
        The parts that are translated.
    stops : list of Interval
        The parts of an annotated stop codon, if `coding` does not contain it.
    stop_follows : bool
        Whether the stop codon follows the coding part, as in GTF.

    Examples
    --------
    >>> transcript = Transcript("t1", "g1", "chr1", False, exons=[(300, 400), (100, 200)])
    >>> list(transcript.introns())
    [(200, 300)]
    """

    name: str
    gene: str
    chromosome: str
    reverse: bool
    exons: list[Interval] = field(default_factory=list)
    coding: list[Interval] = field(default_factory=list)
    stops: list[Interval] = field(default_factory=list)
    stop_follows: bool = False

    def introns(self) -> Iterator[Interval]:
        """Yield the gaps between its exons, in ascending order."""
        return gaps(self.exons)

    def span(self) -> Interval:
        """Return the interval from its first to its last base."""
        parts = [*self.exons, *self.coding]
        return min(start for start, _ in parts), max(stop for _, stop in parts)


@dataclass
class Annotation:
    """The transcripts of a file.

    Attributes
    ----------
    file : str
        Used in messages.
    transcripts : list of Transcript
        In the order of the file.
    features : Counter of str to int
        How often each kind of feature occurs, also those that were not read.
    left_out : Counter of str to int
        Features that were not used, by reason.

    Examples
    --------
    >>> Annotation("genes.gtf", []).listed()
    'none'
    """

    file: str
    transcripts: list[Transcript]
    features: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def listed(self) -> str:
        """Return the most frequent features, for a message."""
        return ", ".join(f"{name} ({count})" for name, count in self.features.most_common(6)) or "none"


def gaps(parts: Iterable[Interval]) -> Iterator[Interval]:
    """Yield the gaps of at least `SHORTEST_INTRON` bases between intervals.

    Parameters
    ----------
    parts : iterable of Interval
        In any order; they may overlap.

    Yields
    ------
    Interval
        In ascending order.
    """
    end: int | None = None
    for start, stop in sorted(parts):
        if end is not None and start - end >= SHORTEST_INTRON:
            yield end, start
        end = stop if end is None else max(end, stop)
