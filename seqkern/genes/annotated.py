"""The annotated genes that the grammar can describe, and the pieces of a chromosome that hold whole genes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.genes.boundaries import ACCEPTOR, DONORS, START, STOPS, Gene
from seqkern.genome.site_tables import bases_at
from seqkern.genome.transcripts import Annotation, Transcript

SHORTEST_EXON = 3
SHORTEST_INTRON = 20
Codes = npt.NDArray[np.uint8]
Parts = tuple[tuple[int, int], ...]


@dataclass
class Annotated:
    """The genes of a chromosome.

    Attributes
    ----------
    genes : list of Gene
        One for each annotated gene that the grammar can describe, ascending, without overlap: its longest coding part.
    spans : list of (int, int)
        Of all annotated genes, merged where they overlap, ascending.
    unknown : list of (int, int)
        Spans of the annotated genes that are not in `genes`.
    left_out : Counter of str to int
        Their number, by reason.

    Examples
    --------
    >>> Annotated([], [(0, 10), (30, 40)], [], Counter()).pieces(50)
    [(0, 20), (20, 50)]
    """

    genes: list[Gene]
    spans: list[tuple[int, int]]
    unknown: list[tuple[int, int]]
    left_out: Counter[str]

    def pieces(self, length: int) -> list[tuple[int, int]]:
        """Return intervals around the spans, divided in the middle between them.

        Parameters
        ----------
        length : int
            Bases of the chromosome.

        Returns
        -------
        list of (int, int)
            From 0 to `length`; none if there are no spans.
        """
        middles = [(left[1] + right[0]) // 2 for left, right in itertools.pairwise(self.spans)]
        return list(itertools.pairwise([0, *middles, length])) if self.spans else []


def coding_gene(transcript: Transcript, codes: Codes) -> Gene | None:
    """Return the coding part of a transcript, with its stop codon.

    Parameters
    ----------
    transcript : Transcript
        Of any annotation: its coding part may contain the stop codon or not.
    codes : ndarray of uint8
        The chromosome.

    Returns
    -------
    Gene or None
        None without a coding part.
    """
    if not transcript.coding:
        return None
    parts, reverse = sorted(transcript.coding), transcript.reverse
    last = parts[0][0] + 2 if reverse else parts[-1][1] - 3
    if bases_at(codes, last, reverse, 3) not in STOPS:
        if reverse:
            parts[0] = parts[0][0] - 3, parts[0][1]
        else:
            parts[-1] = parts[-1][0], parts[-1][1] + 3
    return Gene(reverse, tuple(parts))


def fault_of(gene: Gene, codes: Codes, longest_intron: int) -> str | None:
    """Return why the grammar cannot describe a gene; None if it can.

    Parameters
    ----------
    gene : Gene
        Of an annotation.
    codes : ndarray of uint8
        The chromosome.
    longest_intron : int
        In bases.

    Returns
    -------
    str or None

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> codes = DNA.encode(b"CCATGAAATAACC")
    >>> fault_of(Gene(False, ((2, 11),)), codes, 100), fault_of(Gene(False, ((2, 8),)), codes, 100)
    (None, 'without a stop codon')
    """
    low, high = gene.span
    if low < 0 or high > len(codes):
        return "beyond the end of the chromosome"
    if any(stop - start < SHORTEST_EXON for start, stop in gene.parts):
        return f"with an exon of fewer than {SHORTEST_EXON} coding bases"
    for start, stop in gene.introns:
        if not SHORTEST_INTRON <= stop - start <= longest_intron:
            return f"with an intron outside {SHORTEST_INTRON} to {longest_intron} bases"
        left, right = bases_at(codes, start, False, 2), bases_at(codes, stop - 2, False, 2)
        if gene.reverse:
            left, right = bases_at(codes, stop - 1, True, 2), bases_at(codes, start + 1, True, 2)
        if left not in DONORS or right != ACCEPTOR:
            return "with an intron other than GT–AG or GC–AG"
    coding = "".join(bases_at(codes, start, False, stop - start) for start, stop in gene.parts)
    if gene.reverse:
        coding = "".join(bases_at(codes, stop - 1, True, stop - start) for start, stop in reversed(gene.parts))
    codons = [coding[i : i + 3] for i in range(0, len(coding), 3)]
    if codons[0] != START:
        return "without a start codon"
    if codons[-1] not in STOPS:
        return "without a stop codon"
    return "with a stop codon in the frame" if set(codons[:-1]) & set(STOPS) else None


def annotated_genes(transcripts: Iterable[Transcript], codes: Codes, longest_intron: int) -> Annotated:
    """Return the genes of one chromosome.

    Parameters
    ----------
    transcripts : iterable of Transcript
        On it.
    codes : ndarray of uint8
        The chromosome.
    longest_intron : int
        Genes with longer ones are left out.

    Returns
    -------
    Annotated
    """
    by_gene: dict[tuple[str, bool], list[Transcript]] = {}
    for transcript in transcripts:
        if transcript.coding or transcript.exons:
            by_gene.setdefault((transcript.gene, transcript.reverse), []).append(transcript)
    found: list[Gene] = []
    spans: list[tuple[int, int]] = []
    unknown: list[tuple[int, int]] = []
    left_out: Counter[str] = Counter()
    for own in by_gene.values():
        spans += [transcript.span() for transcript in own]
        genes = [gene for gene in (coding_gene(transcript, codes) for transcript in own) if gene is not None]
        faults = {gene: fault_of(gene, codes, longest_intron) for gene in genes}
        good = [gene for gene in genes if faults[gene] is None]
        if good:
            found.append(max(good, key=lambda gene: (sum(stop - start for start, stop in gene.parts), gene.parts)))
        else:
            unknown += [transcript.span() for transcript in own]
            left_out[str(faults[genes[0]]) if genes else "without a coding part"] += 1
    kept: list[Gene] = []
    for gene in sorted(found, key=lambda gene: (gene.span, gene.reverse)):
        if kept and gene.span[0] < kept[-1].span[1]:
            unknown.append(gene.span)
            left_out["that overlap another"] += 1
        else:
            kept.append(gene)
    return Annotated(kept, _merged(spans), unknown, left_out)


def by_chromosome(annotation: Annotation) -> dict[str, list[Transcript]]:
    """Return the transcripts of each chromosome.

    Parameters
    ----------
    annotation : Annotation
        Of a genome.

    Returns
    -------
    dict of str to list of Transcript
    """
    found: dict[str, list[Transcript]] = {}
    for transcript in annotation.transcripts:
        found.setdefault(transcript.chromosome, []).append(transcript)
    return found


def true_structures(transcripts: Iterable[Transcript], codes: Codes) -> list[list[tuple[bool, Parts]]]:
    """Return the coding parts of all transcripts of a chromosome, gene by gene, to compare predicted ones with.

    Parameters
    ----------
    transcripts : iterable of Transcript
        On it.
    codes : ndarray of uint8
        The chromosome.

    Returns
    -------
    list of list of (bool, tuple of (int, int))
        Whether it is on strand −, and the parts with the stop codon.
    """
    genes: dict[tuple[str, bool], list[tuple[bool, Parts]]] = {}
    for transcript in transcripts:
        gene = coding_gene(transcript, codes)
        if gene is not None:
            genes.setdefault((transcript.gene, gene.reverse), []).append((gene.reverse, gene.parts))
    return list(genes.values())


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return intervals, joined where they overlap."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], stop)
        else:
            merged.append((start, stop))
    return merged
