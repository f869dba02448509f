"""Tables of sites and matched decoys, from a genome and its gene annotation.

A decoy has the motif of a site (such as GT), lies in the same gene on the same strand, and is not annotated in any
transcript. The genome is read chromosome by chromosome.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from seqkern.core.checks import check_choice, check_integer
from seqkern.core.errors import ParameterError, SequenceError, naming
from seqkern.core.types import Codes, Ints, Source
from seqkern.formats.annotation import INCOMPLETE, Annotation, Interval, Transcript, gaps
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.streaming import iter_pieces, occurrences

# Annotated sites of genes: donors and acceptors of introns, start and stop codons.

KINDS = ("donor", "acceptor", "start", "stop")
MOTIFS = {"donor": ("GT",), "acceptor": ("AG",), "start": ("ATG",), "stop": ("TAA", "TAG", "TGA")}
"""The usual bases at each kind of site."""
CODON = 3

Place = tuple[int, bool]
"""Position from 0 of a site's first base on its strand, and whether the strand is −."""


@dataclass
class Gene:
    """A gene on one strand of a chromosome.

    >>> Gene("g1", False, 100, 900).name
    'g1'
    """

    name: str  # As in the annotation
    reverse: bool  # True on strand −
    start: int  # From 0, half open, of all its transcripts
    stop: int  # From 0, half open, of all its transcripts


@dataclass
class AnnotatedSites:
    """The annotated sites on one chromosome.

    >>> len(AnnotatedSites().sites)
    0
    """

    genes: dict[tuple[str, bool], Gene] = field(default_factory=dict)  # By name and strand
    sites: dict[Place, str] = field(default_factory=dict)  # The gene of each site; of several genes the first by name
    introns: set[tuple[int, int, bool]] = field(default_factory=set)  # Start and stop of each intron, and its strand

    def add(self, transcript: Transcript, kind: str, feature: str) -> int:
        """Add the sites of a transcript, and return the number of unused codons, which an intron divides."""
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
    """Return the site at one end of an intron: the first base of its GT or AG.

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
    """Return the sites of each chromosome of an annotation."""
    spliced = kind in ("donor", "acceptor")
    needed = feature if spliced else "CDS"
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
        if transcript.fault and not (spliced and transcript.fault == INCOMPLETE):
            left_out[f"transcripts {transcript.fault}"] += 1
            continue
        here = found.setdefault(transcript.chromosome, AnnotatedSites())
        left_out[f"{kind} codons divided by an intron"] += here.add(transcript, kind, feature)
    if not any(here.sites for here in found.values()):
        raise SequenceError(
            f"has no {kind} site: its {len(usable)} transcripts have no introns" if spliced else f"has no {kind} site",
            file=annotation.file,
            remedy="give the annotation of a genome with introns" if needed == "exon" else "check the features CDS",
        )
    return found, +left_out


def _codons(transcript: Transcript, kind: str) -> tuple[list[Place], int]:
    """Return the first or the last codon of the coding part, and the number of codons divided by an intron."""
    if not transcript.coding:
        return [], 0
    parts, reverse = sorted(transcript.coding), transcript.reverse
    if kind == "stop" and transcript.stops:
        first, last = transcript.stops[0]
        if len(transcript.stops) > 1 or last - first != CODON:
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


def _first_base(codon: Interval, reverse: bool) -> Place:
    """Return the place of the first base of a codon on its strand."""
    return (codon[1] - 1 if reverse else codon[0]), reverse


def names_of(chromosomes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each chromosome name together with its variant with or without ``chr``.

    >>> list(names_of(["chr1", "MT"]))
    [('chr1', '1'), ('MT', 'chrMT')]
    """
    for name in chromosomes:
        yield name, (name.removeprefix("chr") if name.startswith("chr") else f"chr{name}")


ANY = "any"
COLUMNS = ("record", "position", "strand", "label", "gene", "chromosome", "motif")
FEWEST = 20
"""Minimum number of sites on a strand for checking its motif separately."""
NORMAL = ("GT–AG", "GC–AG", "AT–AC")

Row = tuple[str, int, str, str, str, str, str]
Motifs = tuple[str, ...] | None
"""The bases that a site must have; None if any are accepted."""


@dataclass
class SiteTable:
    """A table of sites and decoys, with counts of those left out.

    >>> SiteTable().counts("donor")
    (0, 0)
    """

    # As `COLUMNS`, sorted by chromosome (in the order of the genome), position and strand
    rows: list[Row] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # What was not used, by reason
    introns: Counter[str] = field(default_factory=Counter)  # How many introns begin and end with which bases
    # Chromosomes of the annotation that the genome lacks, with their sites
    missing: Counter[str] = field(default_factory=Counter)
    lacking: int = 0  # Decoys that were wanted and not found

    def counts(self, kind: str) -> tuple[int, int]:
        """Return the numbers of sites and of decoys."""
        sites = sum(row[3] == kind for row in self.rows)
        return sites, len(self.rows) - sites

    def genes(self) -> int:
        """Return the number of genes with a site."""
        return len({row[4] for row in self.rows})


def make_site_table(
    genome: Source,
    annotation: Annotation,
    kind: str = "donor",
    *,
    decoys: int = 10,
    motifs: Sequence[str] | None = None,
    feature: str = "exon",
    seed: int = 1,
) -> SiteTable:
    """Return a table of the sites of an annotation, with decoys."""
    check_choice("kind", kind, KINDS)
    check_choice("feature", feature, ("exon", "CDS"))
    check_integer("decoys", decoys, 0)
    check_integer("seed", seed, 0)
    wanted = _motifs(kind, motifs)
    by_chromosome, left_out = sites_of_transcripts(annotation, kind, feature)
    table, check = SiteTable(left_out=left_out), _MotifCheck(kind)
    seen: list[str] = []
    with naming(annotation.file):
        for name, codes in chromosomes(genome):
            seen.append(name)
            here = by_chromosome.pop(name, None)
            if here is not None:
                _check_ends(name, len(codes), here)
                check.add(codes, here)
                _add(table, name, codes, here, kind, decoys, wanted, seed)
        table.missing = Counter({name: len(here.sites) for name, here in by_chromosome.items() if here.sites})
        _check_names(seen, table.missing, check.sites.total())
        if wanted is not None:
            check.raise_if_wrong()
        if not table.counts(kind)[0]:
            left = ", ".join(f"{count} {what}" for what, count in table.left_out.items())
            raise SequenceError(f"no {kind} site is left: {left}", remedy="add --motif any")
    return table


def _motifs(kind: str, motifs: Sequence[str] | None) -> Motifs:
    """Return the required motifs, or None if any are accepted."""
    if motifs is None:
        return MOTIFS[kind]
    found = tuple(motif.upper() for motif in motifs)
    if found == (ANY.upper(),):
        return None
    size = len(MOTIFS[kind][0])
    for motif in found:
        if len(motif) != size or set(motif) - set(DNA.letters):
            raise ParameterError(
                f"motif {motif!r} is not {size} bases",
                remedy=f"give motifs such as {','.join(MOTIFS[kind])}, or any",
            )
    return found


def chromosomes(genome: Source) -> Iterator[tuple[str, Codes]]:
    """Yield the name and the codes of each chromosome of a genome file."""
    pieces: list[Codes] = []
    for piece in iter_pieces(genome, DNA):
        pieces.append(piece.codes)
        if piece.last:
            yield piece.record, np.concatenate(pieces)
            pieces = []


def _add(
    table: SiteTable, name: str, codes: Codes, here: AnnotatedSites, kind: str, decoys: int, wanted: Motifs, seed: int
) -> None:
    """Add the sites and decoys of one chromosome to a table."""
    table.introns.update(_ends(codes, intron) for intron in sorted(here.introns))
    size = len(MOTIFS[kind][0])
    rows: list[Row] = []
    sites: dict[tuple[str, bool], Counter[str]] = {}
    for (position, reverse), gene in sorted(here.sites.items()):
        motif = bases_at(codes, position, reverse, size)
        if wanted is not None and motif not in wanted:
            table.left_out[f"{kind} sites without {' or '.join(wanted)}"] += 1
            continue
        if len(motif) < size or "N" in motif:
            table.left_out[f"{kind} sites with N"] += 1
            continue
        rows.append((name, position + 1, "-" if reverse else "+", kind, gene, name, motif))
        sites.setdefault((gene, reverse), Counter())[motif] += 1
    taken = set(here.sites)
    for key in sorted(sites, key=lambda key: (here.genes[key].start, here.genes[key].stop, key)):
        for motif, count in sorted(sites[key].items()):
            found = _decoys(codes, here.genes[key], motif, decoys * count, taken, (seed, name))
            table.lacking += decoys * count - len(found)
            taken.update((position, key[1]) for position in found)
            rows += [(name, p + 1, "-" if key[1] else "+", "decoy", key[0], name, motif) for p in found]
    table.rows += sorted(rows, key=lambda row: (row[1], row[2]))


def _decoys(
    codes: Codes, gene: Gene, motif: str, count: int, taken: set[tuple[int, bool]], salt: tuple[int, str]
) -> list[int]:
    """Return the places of at most `count` decoys with a motif in a gene.

    The draw depends only on the gene, the motif and the seed.
    """
    places = [place for place in places_of(codes, gene, motif).tolist() if (place, gene.reverse) not in taken]
    if len(places) <= count:
        return places
    text = "\t".join(map(str, (*salt, gene.name, gene.reverse, motif)))
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "little"))
    chosen = rng.choice(len(places), size=count, replace=False)
    return [places[i] for i in sorted(chosen.tolist())]


def places_of(codes: Codes, gene: Gene, motif: str) -> Ints:
    """Return the places where a motif occurs inside a gene, on its strand.

    >>> places_of(DNA.encode(b"AGTACTTGT"), Gene("g", False, 0, 9), "GT").tolist()
    [1, 7]
    >>> places_of(DNA.encode(b"AGTACTTGT"), Gene("g", True, 0, 9), "GT").tolist()
    [4]
    """
    pattern = DNA.encode(motif.encode())
    if gene.reverse:
        pattern = DNA.complement_codes[pattern[::-1]]
    places = occurrences(codes, pattern, gene.start, gene.stop - len(pattern) + 1)
    return places + (len(pattern) - 1 if gene.reverse else 0)


def bases_at(codes: Codes, position: int, reverse: bool, size: int) -> str:
    """Return `size` bases from a position on, along its strand; fewer at an end of the chromosome.

    >>> bases_at(DNA.encode(b"AGTACNTGT"), 1, False, 2), bases_at(DNA.encode(b"AGTACNTGT"), 4, True, 2)
    ('GT', 'GT')
    """
    if reverse:
        found = codes[max(0, position - size + 1) : max(0, position + 1)][::-1]
    else:
        found = codes[max(0, position) : max(0, position + size)]
    return DNA.decode(DNA.complement_codes[found] if reverse else found, "N")


def _ends(codes: Codes, intron: tuple[int, int, bool]) -> str:
    """Return the bases at both ends of an intron as text, or ``other`` if they are unusual."""
    start, stop, reverse = intron
    ends = [bases_at(codes, *splice_site(start, stop, reverse, kind), 2) for kind in ("donor", "acceptor")]
    name = "–".join(ends)
    return name if name in NORMAL else "other"


class _MotifCheck:
    """Counts of sites with the usual bases on each strand, at their position and shifted by one base."""

    def __init__(self, kind: str) -> None:
        self.kind, self.motifs = kind, MOTIFS[kind]
        self.sites: Counter[bool] = Counter()
        self.right: Counter[tuple[bool, int]] = Counter()

    def add(self, codes: Codes, here: AnnotatedSites) -> None:
        """Count the sites of a chromosome."""
        for position, reverse in here.sites:
            self.sites[reverse] += 1
            for shift in (-1, 0, 1):
                found = bases_at(codes, position + shift, reverse, len(self.motifs[0]))
                self.right[reverse, shift] += found in self.motifs

    def raise_if_wrong(self) -> None:
        """Raise SequenceError if more than half of the sites, on both strands or on one, have unusual bases."""
        both = self.sites.total(), sum(self.right[reverse, 0] for reverse in (False, True))
        wrong = [reverse for reverse, n in sorted(self.sites.items()) if 2 * self.right[reverse, 0] < n >= FEWEST]
        if 2 * both[1] >= both[0] and not wrong:
            return
        reverses = wrong or sorted(self.sites)
        shift = next((s for s in (-1, 1) if all(self._most(reverse, s) for reverse in reverses)), None)
        n, right = sum(self.sites[r] for r in reverses), sum(self.right[r, 0] for r in reverses)
        where = f" on strand {'-' if wrong[0] else '+'}" if len(wrong) == 1 else ""
        if shift is None:
            remedy = "is the annotation of another assembly? Give the genome that it was made for"
        else:
            side = "before" if shift < 0 else "after"
            remedy = (
                f"one base {side} it there are {sum(self.right[r, shift] for r in reverses)}: does the annotation "
                "count positions from 0? In GTF and GFF3 the first is 1, and the end is included"
            )
        problem = f"only {right} of {n} {self.kind} sites{where} have {' or '.join(self.motifs)}"
        raise SequenceError(problem, remedy=remedy)

    def _most(self, reverse: bool, shift: int) -> bool:
        """Return whether most sites of a strand have the motif at a shift."""
        return 2 * self.right[reverse, shift] > self.sites[reverse]


def _check_ends(name: str, length: int, here: AnnotatedSites) -> None:
    """Raise SequenceError if a gene extends beyond the chromosome."""
    for gene in here.genes.values():
        if gene.stop > length:
            raise SequenceError(
                f"gene {gene.name!r} ends at {gene.stop}, but {name} has {length} bases",
                remedy="is it the annotation of another assembly? Give the genome that it was made for",
            )


def _check_names(seen: Sequence[str], missing: Mapping[str, int], n_found: int) -> None:
    """Raise SequenceError if the genome has none of the annotation's chromosomes, or most under other names."""
    renamed = [(name, other) for name, other in names_of(missing) if other in seen]
    if renamed and sum(missing[name] for name, _ in renamed) > n_found:
        name, other = renamed[0]
        adds = other.startswith("chr")
        raise SequenceError(
            f"calls the chromosome {name} that the genome calls {other}",
            remedy=f"{'add' if adds else 'remove'} the prefix chr: sed '/^#/! s/^{'/chr/' if adds else 'chr//'}'",
        )
    if n_found:
        return
    raise SequenceError(
        f"none of its chromosomes ({', '.join(list(missing)[:3])}) is in the genome",
        remedy=f"give annotation and genome of one assembly, with the same names (genome: {', '.join(seen[:3])})",
    )
