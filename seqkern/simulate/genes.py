"""Simulated chromosomes with multi-exon genes on both strands, and their annotation as in GTF.

The coding part of a gene, from ATG to the first stop codon in its frame, follows the codon usage; introns begin with
a donor site (`donors.donor_frequencies`) and end with an acceptor site. Half of the genes have a second transcript
without one of the inner exons. All other sequence is drawn as in introns.
"""

import itertools

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer, check_real
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.simulate.donors import INTRON, SITE_LEFT, SITE_RIGHT, codon_usage, donor_frequencies

Codes = npt.NDArray[np.uint8]
Parts = list[tuple[int, int]]

#: Untranslated bases at either end of a transcript.
UTR = 60
#: Codons of each exon, on average.
CODONS = 40
#: Shortest and longest intron.
INTRONS = 80, 400
#: Bases between genes and at the ends of a chromosome.
BETWEEN = 300
#: Shares of A, C, G and T in the polypyrimidine tract of acceptor sites: round figures of our own.
TRACT = np.array([0.08, 0.35, 0.10, 0.47])
#: Bases of the tract.
N_TRACT = 12


def annotated_genes(
    rng: np.random.Generator,
    *,
    n_chromosomes: int = 2,
    n_genes: int = 40,
    n_exons: int = 4,
    gc_share: float = 0.01,
    signal: float = 1.0,
) -> tuple[SequenceSet, dict[str, list[str | int]]]:
    """Draw chromosomes with genes, and the exons and coding parts of their transcripts.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    n_chromosomes : int
        Number of chromosomes.
    n_genes : int
        Genes on each chromosome.
    n_exons : int
        Exons of each gene.
    gc_share : float
        Share of the introns that begin with GC instead of GT.
    signal : float
        Share of the bases of donor and acceptor sites (except GT, GC and AG) that follow the frequencies of sites; the
        others are as in introns. Smaller is harder.

    Returns
    -------
    sequences : SequenceSet
        ``chr1``, ``chr2``, ….
    table : dict of str to list
        One value for each feature: ``record``, ``feature`` (exon or CDS), ``start`` and ``end`` (from 1, both
        included), ``strand``, ``gene`` and ``transcript``.

    Raises
    ------
    ParameterError
        If a parameter is outside its domain.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.simulate.genes import annotated_genes
    >>> sequences, table = annotated_genes(np.random.default_rng(1), n_genes=1)
    >>> sequences.ids, sorted(set(table["gene"]))
    (['chr1', 'chr2'], ['gene1', 'gene2'])
    """
    check_integer("n_chromosomes", n_chromosomes, 1)
    check_integer("n_genes", n_genes, 1)
    check_integer("n_exons", n_exons, 1)
    check_real("gc_share", gc_share, 0, 1)
    check_real("signal", signal, 0, 1)
    rows: list[tuple[str | int, ...]] = []
    chromosomes = []
    for number in range(1, n_chromosomes + 1):
        pieces, length = [_background(rng, BETWEEN)], BETWEEN
        for i in range(n_genes):
            codes, exons, coding = _gene(rng, n_exons, gc_share, signal)
            reverse = bool(rng.random() < 0.5)
            if reverse:
                codes = DNA.complement_codes[codes[::-1]]
                exons, coding = _mirrored(exons, len(codes)), _mirrored(coding, len(codes))
            name = f"gene{(number - 1) * n_genes + i + 1}"
            skipped = int(rng.integers(1, n_exons - 1)) if n_exons > 2 and rng.random() < 0.5 else None
            for transcript, without in enumerate([None] if skipped is None else [None, skipped], start=1):
                for feature, parts in (("exon", exons), ("CDS", coding)):
                    for j, (start, stop) in enumerate(parts):
                        if j != without:
                            place = length + start + 1, length + stop, "-" if reverse else "+"
                            rows.append((f"chr{number}", feature, *place, name, f"{name}.{transcript}"))
            pieces += [codes, _background(rng, BETWEEN)]
            length += len(codes) + BETWEEN
        chromosomes.append(np.concatenate(pieces))
    ids = [f"chr{number}" for number in range(1, n_chromosomes + 1)]
    offsets = np.concatenate(([0], np.cumsum([len(codes) for codes in chromosomes])))
    sequences = SequenceSet.from_offsets(np.concatenate(chromosomes), offsets, ids, DNA)
    names = ("record", "feature", "start", "end", "strand", "gene", "transcript")
    return sequences, dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def _gene(rng: np.random.Generator, n_exons: int, gc_share: float, signal: float) -> tuple[Codes, Parts, Parts]:
    """Return the bases of a gene, its exons, and their coding parts (without the stop codon, as in GTF)."""
    codons, usage = codon_usage()
    inner = codons[rng.choice(len(usage), size=CODONS * n_exons, p=usage)].ravel()
    stop = DNA.encode(rng.choice(["TAA", "TAG", "TGA"]).encode())
    spliced = np.concatenate([_background(rng, UTR), DNA.encode(b"ATG"), inner, stop, _background(rng, UTR)])
    # each end lies somewhere in the middle half of an equal share, so that no exon is short
    share = len(inner) // n_exons
    cuts = [UTR + share * i + int(rng.integers(-share // 4, share // 4)) for i in range(1, n_exons)]
    ends = [0, *cuts, len(spliced)]
    drawn: list[tuple[Codes, Codes]] = []
    for i, (start, end) in enumerate(itertools.pairwise(ends)):
        exon = spliced[start:end].copy()
        intron = _background(rng, int(rng.integers(*INTRONS)))
        if i + 1 < n_exons:
            site = _weakened(rng, _donor(rng, gc_share), slice(SITE_LEFT, SITE_LEFT + 2), signal)
            exon[-SITE_LEFT:], intron[:SITE_RIGHT] = site[:SITE_LEFT], site[SITE_LEFT:]
            acceptor = _weakened(rng, _acceptor(rng), slice(-2, None), signal)
            intron[-len(acceptor) :] = acceptor
        drawn.append((exon, intron))
    spliced = _open_frame(np.concatenate([exon for exon, _ in drawn]))
    pieces: list[Codes] = []
    exons: Parts = []
    coding: Parts = []
    length = 0
    for i, (start, end) in enumerate(itertools.pairwise(ends)):
        intron = drawn[i][1][: None if i + 1 < n_exons else 0]
        exons.append((length, length + end - start))
        low, high = max(start, UTR), min(end, len(spliced) - UTR - 3)
        coding.append((length + low - start, length + high - start))
        pieces += [spliced[start:end], intron]
        length += end - start + len(intron)
    return np.concatenate(pieces), exons, coding


def _open_frame(spliced: Codes) -> Codes:
    """Return a transcript without in-frame stop codons from donor sites: TAA, TAG and TGA get C in place of T."""
    codons = spliced[UTR : -UTR - 3].reshape(-1, 3)  # a view
    stops = DNA.encode(b"TAATAGTGA").reshape(3, 3)
    codons[(codons[:, None] == stops).all(axis=2).any(axis=1), 0] = DNA.letters.index("C")
    return spliced


def _donor(rng: np.random.Generator, gc_share: float) -> Codes:
    """Return the bases -3 to +6 of a donor site."""
    site = np.array([rng.choice(DNA.size, p=column) for column in donor_frequencies()], dtype=np.uint8)
    if rng.random() < gc_share:
        site[SITE_LEFT + 1] = DNA.letters.index("C")
    return site


def _acceptor(rng: np.random.Generator) -> Codes:
    """Return the last bases of an intron: a polypyrimidine tract, any base, C or T, then AG."""
    tract = rng.choice(DNA.size, size=N_TRACT, p=TRACT)
    third = DNA.letters.index("C" if rng.random() < 0.7 else "T")
    ag = [DNA.letters.index(letter) for letter in "AG"]
    return np.concatenate([tract, rng.integers(DNA.size, size=1), [third], ag]).astype(np.uint8)


def _weakened(rng: np.random.Generator, site: Codes, kept: slice, signal: float) -> Codes:
    """Return a site in which a share of the bases, except those kept, is redrawn as in introns."""
    if signal == 1:  # the numbers drawn are those of genomes without this parameter
        return site
    weak = np.where(rng.random(len(site)) < signal, site, _background(rng, len(site)))
    weak[kept] = site[kept]
    return weak


def _background(rng: np.random.Generator, length: int) -> Codes:
    """Return random bases with the composition of introns."""
    return rng.choice(DNA.size, size=length, p=INTRON).astype(np.uint8)


def _mirrored(parts: Parts, length: int) -> Parts:
    """Return intervals on the reverse complement, in the same order."""
    return [(length - stop, length - start) for start, stop in parts]
