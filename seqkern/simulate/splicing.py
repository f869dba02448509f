"""Simulated splice sites and genes: windows around donor (5') sites, and chromosomes with donors or whole genes."""

import itertools

import numpy as np

from seqkern.core.checks import check_integer, check_integers, check_reals
from seqkern.core.package_files import resource_rows
from seqkern.core.types import Codes, Floats
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.sequence_set import SequenceSet

# Simulated windows around donor (5') splice sites, and decoys.
#
# A true site has coding sequence on its left and an intron on its right. The nine bases around the cut depend on each
# other as in primate genes: a site belongs to one of the five classes of the tree of Burge & Karlin (J Mol Biol 268:78,
# 1997), which splits sites by +5, -1, -2 and +6, and has the base frequencies of its class at each position. A decoy
# lies inside one exon or intron and has GT at the same place. Most have no other feature of a site; a pseudo site
# has its frequencies, but independently at each position, so a position weight matrix sees no difference. Human introns
# have more such sites than real ones (Sun & Chasin, Mol Cell Biol 20:6414, 2000). Sites and decoys therefore differ in
# the motif, its position, the pairs of bases in it, and the change of composition at the cut. The sources are in
# resources/README.md.

#: Bases of the site before and after the cut.
SITE_LEFT, SITE_RIGHT = 3, 6
#: Frequencies of A, C, G and T in introns: rounded values of our own, see resources/README.md.
INTRON = np.array([0.27, 0.20, 0.21, 0.32])


def donor_frequencies() -> Floats:
    """Return the frequencies of A, C, G and T at positions −3 to +6 of donor sites, float64 (9, 4)."""
    rows = resource_rows("donor_frequencies.tsv")
    return np.array([[float(row[letter]) for letter in DNA.letters] for row in rows])


def donor_classes() -> tuple[Floats, Floats]:
    """Return the shares of the classes of donor sites, and the frequencies at −3 to +6 in each, float64 (5, 9, 4)."""
    rows = resource_rows("donor_classes.tsv")
    counts = np.array([[float(row[letter]) for letter in DNA.letters] for row in rows]).reshape(-1, 9, DNA.size)
    sizes = counts[:, 0].sum(axis=1)
    return sizes / sizes.sum(), counts / sizes[:, None, None]


def codon_usage() -> tuple[Codes, Floats]:
    """Return the codes (61, 3) of the sense codons and their frequencies in human genes, which sum to 1."""
    rows = [row for row in resource_rows("codon_usage.tsv") if row["amino_acid"] != "*"]
    codons = DNA.code_table[[[ord(letter) for letter in row["codon"]] for row in rows]]
    usage = np.array([float(row["per_thousand"]) for row in rows])
    return codons, usage / usage.sum()


def donor_windows(
    rng: np.random.Generator,
    *,
    n_positive: int = 200,
    n_decoy: int = 400,
    left: int = 30,
    right: int = 30,
    signal: float = 1.0,
    contrast: float = 1.0,
    exonic_decoys: float = 0.5,
    dependence: float = 1.0,
    pseudo_sites: float = 0.0,
) -> tuple[SequenceSet, dict[str, list[str]]]:
    """Draw windows around donor sites and decoys.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    n_positive : int
        Number of donor sites.
    n_decoy : int
        Number of decoys.
    left : int
        Bases before the exon–intron boundary, at least 3.
    right : int
        Bases after the cut, at least 6; the first two are GT.
    signal : float
        Share of the bases at -3 to +6 (except GT) that follow the position frequencies; the others are
        background. 1 gives the published site, 0 no signal; smaller is harder.
    contrast : float
        Share of the background with the composition of exon or intron; the others follow the mean of the
        two. With 0, only the site itself distinguishes sites from decoys.
    exonic_decoys : float
        Expected share of the decoys that lie in an exon; the others lie in an intron.
    dependence : float
        Expected share of the sites whose bases depend on each other; those of the others are independent. 0 gives
        the data of earlier releases.
    pseudo_sites : float
        Expected share of the decoys that have the frequencies of sites at each position, without dependence.

    Returns
    -------
    sequences : SequenceSet
        The sites, then the decoys.
    table : dict of str to list
        Column ``label``: ``"donor"`` or ``"decoy"``.

    Raises
    ------
    ParameterError
        If a parameter is outside its domain.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.simulate.splicing import donor_windows
    >>> sequences, table = donor_windows(np.random.default_rng(1), n_positive=2, n_decoy=1, left=3, right=6)
    >>> [window[3:5] for window in sequences.strings()], table["label"]
    (['GT', 'GT', 'GT'], ['donor', 'donor', 'decoy'])
    """
    check_integers(1, n_positive=n_positive, n_decoy=n_decoy)
    check_integer("left", left, SITE_LEFT)
    check_integer("right", right, SITE_RIGHT)
    check_reals(0, 1, signal=signal, contrast=contrast, exonic_decoys=exonic_decoys)
    check_reals(0, 1, dependence=dependence, pseudo_sites=pseudo_sites)
    n, width = n_positive + n_decoy, left + right
    in_exon = np.zeros((n, width), dtype=bool)
    in_exon[:n_positive, :left] = True
    in_exon[n_positive:] = rng.random((n_decoy, 1)) < exonic_decoys
    codes = np.where(in_exon, _exon(rng, n, width), _letters(rng, INTRON, (n, width)))
    codons, usage = codon_usage()
    coding = np.bincount(codons.ravel(), weights=np.repeat(usage, 3)) / 3
    codes = np.where(rng.random((n, width)) < contrast, codes, _letters(rng, (coding + INTRON) / 2, (n, width)))
    site = codes[:, left - SITE_LEFT : left + SITE_RIGHT]
    drawn = np.column_stack([_letters(rng, column, n_positive) for column in donor_frequencies()])
    shown = rng.random(drawn.shape) < signal
    if dependence:
        dependent = rng.random((n_positive, 1)) < dependence
        drawn = np.where(dependent, _dependent_sites(rng, n_positive), drawn)
    site[:n_positive] = np.where(shown, drawn, site[:n_positive])
    if pseudo_sites:
        shares, classes = donor_classes()
        frequencies = dependence * (shares @ classes.swapaxes(0, 1)) + (1 - dependence) * donor_frequencies()
        drawn = np.column_stack([_letters(rng, column, n_decoy) for column in frequencies])
        shown = (rng.random((n_decoy, 1)) < pseudo_sites) & (rng.random(drawn.shape) < signal)
        site[n_positive:] = np.where(shown, drawn, site[n_positive:])
    codes[:, left : left + 2] = [DNA.letters.index(letter) for letter in "GT"]
    labels = ["donor"] * n_positive + ["decoy"] * n_decoy
    ids = [f"donor{i + 1}" for i in range(n_positive)] + [f"decoy{i + 1}" for i in range(n_decoy)]
    return SequenceSet.from_offsets(codes.ravel(), np.arange(n + 1) * width, ids, DNA), {"label": labels}


def _dependent_sites(rng: np.random.Generator, n: int) -> Codes:
    """Draw the bases -3 to +6 of donor sites, uint8 (n, 9): each from the frequencies of its site's class."""
    shares, classes = donor_classes()
    reached = np.cumsum(classes, axis=2)[rng.choice(len(shares), size=n, p=shares), :, :-1]
    return (rng.random((n, len(classes[0]), 1)) >= reached).sum(axis=2).astype(np.uint8)


def _letters(rng: np.random.Generator, frequencies: Floats, shape: int | tuple[int, int]) -> Codes:
    """Draw codes with the given frequencies."""
    return rng.choice(len(frequencies), size=shape, p=frequencies).astype(np.uint8)


def _exon(rng: np.random.Generator, n: int, width: int) -> Codes:
    """Draw coding sequence, uint8 (n, width): codons by their usage, each row in its own reading frame."""
    codons, usage = codon_usage()
    drawn = codons[rng.choice(len(usage), size=(n, width // 3 + 2), p=usage)].reshape(n, -1)
    frame = rng.integers(3, size=(n, 1))
    return np.take_along_axis(drawn, frame + np.arange(width), axis=1)


# Simulated chromosomes with donor sites on both strands, and a site table, for cutting windows and scanning.
#
# The sequence is intronic except for the genes, on either strand: the end of an exon and the start of an intron around
# a donor site (`donor_windows`). The other sites are occurrences of GT that are not donor sites.

#: Bases of exon and of intron around each donor site; no site is nearer to an end of the chromosome.
FLANK = 100


def donor_genome(
    rng: np.random.Generator,
    *,
    n_chromosomes: int = 2,
    n_letters: int = 60_000,
    n_sites: int = 150,
    n_others: int = 450,
) -> tuple[SequenceSet, dict[str, list[str | int]]]:
    """Draw chromosomes with donor sites on both strands, and a table of sites.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    n_chromosomes : int
        Number of chromosomes.
    n_letters : int
        Bases of each chromosome.
    n_sites : int
        Donor sites on each chromosome; each needs 200 bases.
    n_others : int
        Maximum number of other GTs on each chromosome, which are not donor sites.

    Returns
    -------
    sequences : SequenceSet
        ``chr1``, ``chr2``, ….
    table : dict of str to list
        One value for each site, in order: ``record``, ``position`` (of the G, from 1), ``strand`` and ``label``:
        ``"donor"`` or ``"other"``.

    Raises
    ------
    ParameterError
        If a parameter is outside its domain.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.simulate.splicing import donor_genome
    >>> sequences, table = donor_genome(np.random.default_rng(1), n_letters=1000, n_sites=2, n_others=1)
    >>> sequences.ids, table["label"].count("donor")
    (['chr1', 'chr2'], 4)
    """
    check_integers(1, n_chromosomes=n_chromosomes, n_sites=n_sites, n_others=n_others)
    check_integer("n_letters", n_letters, 2 * FLANK * n_sites)
    rows: list[tuple[str, int, str, str]] = []
    chromosomes = []
    for number in range(1, n_chromosomes + 1):
        codes = rng.choice(DNA.size, size=n_letters, p=INTRON).astype(np.uint8)
        donors = _put_donors(rng, codes, n_sites)
        others = sorted(_places(codes) - donors)
        others = [others[i] for i in rng.permutation(len(others))[:n_others]]
        sites = [(*place, "donor") for place in donors] + [(*place, "other") for place in others]
        rows += [(f"chr{number}", *site) for site in sorted(sites)]
        chromosomes.append(codes)
    ids = [f"chr{number}" for number in range(1, n_chromosomes + 1)]
    sequences = SequenceSet.from_offsets(np.concatenate(chromosomes), np.arange(len(ids) + 1) * n_letters, ids, DNA)
    return sequences, dict(
        zip(("record", "position", "strand", "label"), map(list, zip(*rows, strict=True)), strict=True)
    )


def _put_donors(rng: np.random.Generator, codes: Codes, n_sites: int) -> set[tuple[int, str]]:
    """Write donor sites into `codes`, one at a random place in each of `n_sites` equal parts; return their places."""
    drawn, _ = donor_windows(rng, n_positive=n_sites, n_decoy=1, left=FLANK, right=FLANK, dependence=0)
    windows = drawn.codes.reshape(-1, 2 * FLANK)
    size = len(codes) // n_sites
    places: set[tuple[int, str]] = set()
    for part in range(n_sites):
        start = part * size + int(rng.integers(size - 2 * FLANK + 1))
        if rng.random() < 0.5:
            codes[start : start + 2 * FLANK] = windows[part]
            places.add((start + FLANK + 1, "+"))
        else:
            codes[start : start + 2 * FLANK] = DNA.complement_codes[windows[part, ::-1]]
            places.add((start + FLANK, "-"))
    return places


def _places(codes: Codes) -> set[tuple[int, str]]:
    """Return (position, strand) of each GT that has `FLANK` bases on either side."""
    g, t, a, c = (codes == DNA.letters.index(letter) for letter in "GTAC")
    forward, reverse = np.flatnonzero(g[:-1] & t[1:]) + 1, np.flatnonzero(a[:-1] & c[1:]) + 2
    low, high = FLANK + 1, len(codes) - FLANK
    return {
        (position, strand)
        for positions, strand in ((forward, "+"), (reverse, "-"))
        for position in positions.tolist()
        if low <= position <= high
    }


# Simulated chromosomes with multi-exon genes on both strands, and their annotation as in GTF.
#
# The coding part of a gene, from ATG to the first stop codon in its frame, follows the codon usage; introns begin with
# a donor site (`donor_frequencies`) and end with an acceptor site. Half of the genes have a second transcript
# without one of the inner exons. All other sequence is drawn as in introns.

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
    >>> from seqkern.simulate.splicing import annotated_genes
    >>> sequences, table = annotated_genes(np.random.default_rng(1), n_genes=1)
    >>> sequences.ids, sorted(set(table["gene"]))
    (['chr1', 'chr2'], ['gene1', 'gene2'])
    """
    check_integers(1, n_chromosomes=n_chromosomes, n_genes=n_genes, n_exons=n_exons)
    check_reals(0, 1, gc_share=gc_share, signal=signal)
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
