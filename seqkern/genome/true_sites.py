"""Sites of genes by their annotation: donors and acceptors of introns, start and stop codons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from seqkern.core.errors import SequenceError
from seqkern.genome.transcripts import Annotation, Interval, Transcript, gaps

KINDS = ("donor", "acceptor", "start", "stop")
MOTIFS = {"donor": ("GT",), "acceptor": ("AG",), "start": ("ATG",), "stop": ("TAA", "TAG", "TGA")}
"""The usual bases at each kind of site."""
CODON = 3

Place = tuple[int, bool]
"""Position from 0 of a site's first base on its strand, and whether the strand is −."""


@dataclass
class Gene:
    """A gene on one strand of a chromosome.

    Attributes
    ----------
    name : str
        As in the annotation.
    reverse : bool
        True on strand −.
    start, stop : int
        From 0, half open, of all its transcripts.

    Examples
    --------
    >>> Gene("g1", False, 100, 900).name
    'g1'
    """

    name: str
    reverse: bool
    start: int
    stop: int


@dataclass
class AnnotatedSites:
    """The sites on one chromosome.

    Attributes
    ----------
    genes : dict of (str, bool) to Gene
        By name and strand.
    sites : dict of Place to str
        The gene of each site; of several genes the first by name.
    introns : set of (int, int, bool)
        Start and stop of each intron, and its strand.

    Examples
    --------
    >>> len(AnnotatedSites().sites)
    0
    """

    genes: dict[tuple[str, bool], Gene] = field(default_factory=dict)
    sites: dict[Place, str] = field(default_factory=dict)
    introns: set[tuple[int, int, bool]] = field(default_factory=set)

    def add(self, transcript: Transcript, kind: str, feature: str) -> int:
        """Add the sites of a transcript.

        Parameters
        ----------
        transcript : Transcript
            On this chromosome.
        kind : str
            One of `KINDS`.
        feature : {"exon", "CDS"}
            Between which features introns lie.

        Returns
        -------
        int
            How many codons are not used because an intron divides them.
        """
        start, stop = transcript.span()
        gene = self.genes.setdefault(
            (transcript.gene, transcript.reverse), Gene(transcript.gene, transcript.reverse, start, stop)
        )
        gene.start, gene.stop = min(gene.start, start), max(gene.stop, stop)
        divided = 0
        if kind in ("donor", "acceptor"):
            introns = gaps(transcript.exons if feature == "exon" else transcript.coding)
            found = [(*intron, transcript.reverse) for intron in introns]
            self.introns.update(found)
            places = [splice_site(*intron, kind) for intron in found]
        else:
            places, divided = _codons(transcript, kind)
        for place in places:
            self.sites[place] = min(self.sites.get(place, transcript.gene), transcript.gene)
        return divided


def splice_site(start: int, stop: int, reverse: bool, kind: str) -> Place:
    """Return the site at one end of an intron: the first base of its GT, or of its AG.

    Parameters
    ----------
    start, stop : int
        The intron, from 0, half open.
    reverse : bool
        True on strand −.
    kind : {"donor", "acceptor"}
        The end.

    Returns
    -------
    Place

    Examples
    --------
    >>> splice_site(100, 200, False, "donor"), splice_site(100, 200, True, "donor")
    ((100, False), (199, True))
    >>> splice_site(100, 200, False, "acceptor"), splice_site(100, 200, True, "acceptor")
    ((198, False), (101, True))
    """
    if kind == "donor":
        return (stop - 1 if reverse else start), reverse
    return (start + 1 if reverse else stop - 2), reverse


def sites_of_transcripts(
    annotation: Annotation, kind: str, feature: str = "exon"
) -> tuple[dict[str, AnnotatedSites], Counter[str]]:
    """Return the sites of each chromosome of an annotation.

    Parameters
    ----------
    annotation : Annotation
        The transcripts.
    kind : str
        One of `KINDS`.
    feature : {"exon", "CDS"}
        Between which features introns lie; codons are always those of CDS.

    Returns
    -------
    sites : dict of str to AnnotatedSites
        By chromosome.
    left_out : Counter of str to int
        What was not used, by reason.

    Raises
    ------
    SequenceError
        If the annotation has no such features, or no site.
    """
    needed = feature if kind in ("donor", "acceptor") else "CDS"
    usable = [item for item in annotation.transcripts if (item.exons if needed == "exon" else item.coding)]
    if not usable:
        remedy = "give the full annotation, with a transcript for each exon"
        if needed == "exon" and any(item.coding for item in annotation.transcripts):
            remedy = "add --feature CDS to use the introns between coding parts"
        raise SequenceError(
            f"has no {needed} of a transcript (features: {annotation.listed()})", file=annotation.file, remedy=remedy
        )
    found: dict[str, AnnotatedSites] = {}
    left_out = Counter(annotation.left_out)
    for transcript in usable:
        here = found.setdefault(transcript.chromosome, AnnotatedSites())
        left_out[f"{kind} codons divided by an intron"] += here.add(transcript, kind, feature)
    if not any(here.sites for here in found.values()):
        raise SequenceError(
            f"has no {kind} site: its {len(usable)} transcripts have no introns"
            if kind in ("donor", "acceptor")
            else f"has no {kind} site",
            file=annotation.file,
            remedy="give the annotation of a genome with introns" if needed == "exon" else "check the features CDS",
        )
    return found, +left_out


def _codons(transcript: Transcript, kind: str) -> tuple[list[Place], int]:
    """Return the first or the last codon of the coding part, and how many are divided by an intron."""
    if not transcript.coding:
        return [], 0
    parts, reverse = sorted(transcript.coding), transcript.reverse
    if kind == "stop" and transcript.stops:
        if len(transcript.stops) > 1 or not _is_codon(transcript.stops[0]):
            return [], 1
        return [_first_base(transcript.stops[0], reverse)], 0
    at_left = (kind == "start") != reverse
    start, stop = parts[0] if at_left else parts[-1]
    if kind == "stop" and transcript.stop_follows:
        codon = (start - CODON, start) if reverse else (stop, stop + CODON)
        exons = transcript.exons or [codon]
        if not any(low <= codon[0] and codon[1] <= high for low, high in exons):
            return [], 1
    elif stop - start < CODON:
        return [], 1
    else:
        codon = (start, start + CODON) if at_left else (stop - CODON, stop)
    return [_first_base(codon, reverse)], 0


def _is_codon(interval: Interval) -> bool:
    """Return whether an interval has three bases."""
    return interval[1] - interval[0] == CODON


def _first_base(codon: Interval, reverse: bool) -> Place:
    """Return the place of the first base of a codon on its strand."""
    return (codon[1] - 1 if reverse else codon[0]), reverse


def names_of(chromosomes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name with the same name with or without ``chr``.

    Parameters
    ----------
    chromosomes : iterable of str
        Their names.

    Yields
    ------
    (str, str)

    Examples
    --------
    >>> list(names_of(["chr1", "MT"]))
    [('chr1', '1'), ('MT', 'chrMT')]
    """
    for name in chromosomes:
        yield name, (name.removeprefix("chr") if name.startswith("chr") else f"chr{name}")
