"""Simulated genome with peaks: isochores, repeats, motif sites around summits, and variants of known effect.

The first motif belongs to the factor and occurs in most peaks, often several times; the others belong to cofactors.
Peaks prefer GC-rich domains, so that a classifier against random regions learns composition unless these are matched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from seqkern.core.checks import check_integer, check_real
from seqkern.core.types import Bools, Codes, Floats
from seqkern.formats.meme import meme_lines
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.sequence_set import SequenceSet

# Motifs to plant: random matrices, sites drawn from them, and their log-odds.


#: Greatest share of columns in which two motifs may have the same commonest base, at any offset and strand.
ALIKE = 0.6
LEAST = 0.01
LONGER = (0, 2, -2)


def random_motif(rng: np.random.Generator, length: int, strength: float = 0.93) -> Floats:
    """Draw a motif, shape (length, 4): most columns prefer one base, some two, and a few almost any."""
    motif = np.zeros((length, DNA.size))
    for column in range(length):
        kind = rng.random()
        order = rng.permutation(DNA.size)
        if kind < 0.7 or (column in (0, length - 1) and kind >= 0.9):
            shares = [strength] + 3 * [(1 - strength) / 3]
        elif kind < 0.9:
            shares = 2 * [0.5 * strength + 0.02] + 2 * [0.48 - 0.5 * strength]
        else:
            shares = [0.4, 0.2, 0.2, 0.2]
        motif[column, order] = np.maximum(shares, LEAST)
    return motif / motif.sum(axis=1, keepdims=True)


def random_motifs(rng: np.random.Generator, n: int, length: int, strength: float = 0.93) -> list[Floats]:
    """Draw motifs that differ from each other and from their own reverse complements.

    >>> [len(motif) for motif in random_motifs(np.random.default_rng(1), 3, 10)]
    [10, 12, 8]
    """
    motifs: list[Floats] = []
    limit = ALIKE
    while len(motifs) < n:
        drawn = random_motif(rng, length + LONGER[len(motifs) % len(LONGER)], strength)
        if all(_alike(drawn, other) <= limit for other in motifs):
            motifs.append(drawn)
            limit = ALIKE
        else:
            limit += 0.002  # so that even many short motifs come to an end
    return motifs


def _alike(a: Floats, b: Floats) -> float:
    """Return the largest share of the shorter motif's columns that have the same commonest base in both."""
    x, y = sorted((a.argmax(axis=1), b.argmax(axis=1)), key=len)
    found = 0
    for z in (y, DNA.complement_codes[y[::-1]]):
        for offset in range(1 - len(x), len(y)):
            low, high = max(0, offset), min(len(y), offset + len(x))
            found = max(found, int((x[low - offset : high - offset] == z[low:high]).sum()))
    return found / len(x)


def draw_site(rng: np.random.Generator, motif: Floats) -> Codes:
    """Draw a site from a motif."""
    drawn = rng.random(len(motif))[:, None] > np.cumsum(motif, axis=1)[:, :-1]
    return drawn.sum(axis=1).astype(np.uint8)


def log_odds(motif: Floats) -> Floats:
    """Return the log-odds of each base in each column against equal frequencies, in bits."""
    return np.asarray(np.log2(DNA.size * motif))


def scan(scores: Floats, codes: Codes) -> tuple[Floats, Floats]:
    """Return the log-odds of every window, on the forward and on the reverse strand."""
    width = len(scores)
    windows = len(codes) - width + 1
    other = scores[::-1][:, DNA.complement_codes[: DNA.size]]
    strands = [sum(one[j, codes[j : j + windows]] for j in range(width)) for one in (scores, other)]
    return np.asarray(strands[0]), np.asarray(strands[1])


# Simulated chromosomes without genes: isochores (domains of one GC content), few CpG, and repeat families.

#: GC content of domains, from poor to rich.
DOMAINS = (0.36, 0.39, 0.43, 0.48, 0.54)
DOMAIN_LENGTH = 20_000
#: Share of CpG that has become TpG or CpA.
DEPLETION = 0.75
REPEAT_LENGTH, SHORTEST_REPEAT = 300, 80
REPEAT_FAMILIES = 4
DIVERGENCE = 0.12
A, C, G, T = range(4)


def chromosome(
    rng: np.random.Generator, length: int, families: list[Codes], repeats: float
) -> tuple[Codes, Bools, Floats]:
    """Draw one chromosome; return its codes, a mask of repeats, and the GC content of each base's domain."""
    gc = np.zeros(length)
    start = 0
    while start < length:
        stop = start + max(DOMAIN_LENGTH // 4, int(rng.exponential(DOMAIN_LENGTH)))
        gc[start:stop] = rng.choice(DOMAINS)
        start = stop
    draws = rng.random(length)
    strong = rng.random(length) < gc
    codes = np.where(strong, np.where(draws < 0.5, C, G), np.where(draws < 0.5, A, T)).astype(np.uint8)
    _deplete(rng, codes)
    masked = np.zeros(length, dtype=bool)
    while families and masked.mean() < repeats:
        copy = _copy(rng, families[int(rng.integers(len(families)))])[:length]
        place = int(rng.integers(length - len(copy) + 1))
        codes[place : place + len(copy)] = copy
        masked[place : place + len(copy)] = True
    return codes, masked, gc


def repeat_families(rng: np.random.Generator) -> list[Codes]:
    """Draw the ancestral sequences of the repeat families."""
    families = []
    for _ in range(REPEAT_FAMILIES):
        gc = rng.uniform(0.38, 0.55)
        shares = np.array([1 - gc, gc, gc, 1 - gc]) / 2
        families.append(rng.choice(DNA.size, size=REPEAT_LENGTH, p=shares).astype(np.uint8))
    return families


def _deplete(rng: np.random.Generator, codes: Codes) -> None:
    """Turn most CpG dinucleotides into TpG or CpA, in place."""
    places = np.flatnonzero((codes[:-1] == C) & (codes[1:] == G))
    places = places[rng.random(len(places)) < DEPLETION]
    first = rng.random(len(places)) < 0.5
    codes[places[first]] = T
    codes[places[~first] + 1] = A


def _copy(rng: np.random.Generator, ancestor: Codes) -> Codes:
    """Return a diverged copy of a part of a repeat, on either strand."""
    size = int(rng.integers(SHORTEST_REPEAT, len(ancestor) + 1))
    copy = ancestor[len(ancestor) - size :].copy()  # copies lose their first bases
    changed = rng.random(size) < DIVERGENCE
    copy[changed] = (copy[changed] + rng.integers(1, DNA.size, size=int(changed.sum()))) % DNA.size
    return DNA.complement_codes[copy[::-1]] if rng.random() < 0.5 else copy


# Planted features of a simulated genome: motif sites, the peaks around them, and variants.

SLOT = 1000
"""Number of bases reserved for each peak."""
REACH = 90
"""Greatest distance of a planted site from the summit."""


@dataclass(frozen=True)
class Site:
    """A planted site of a motif; `start` counts from 0."""

    record: int  # Index of the chromosome
    start: int  # First base, from 0
    strand: str  # Of the motif
    motif: int  # Index of the motif


@dataclass(frozen=True)
class Peak:
    """A peak; its bounds and summit count from 0, and its signal grows with the number and quality of sites."""

    record: int  # Index of the chromosome
    start: int  # Bases, from 0; `stop` is exclusive
    stop: int  # Bases, from 0; `stop` is exclusive
    summit: int  # Bases, from 0; `stop` is exclusive
    signal: float  # Higher with more and better sites


@dataclass(frozen=True)
class Variant:
    """A single-base variant; `effect` is the change of a site's log-odds in bits, 0 without a site."""

    record: int  # Index of the chromosome
    position: int  # From 0
    reference: str  # Bases
    alternative: str  # Bases
    region: str  # In a planted site, in a peak outside of sites, or elsewhere
    motif: int | None  # Index of the site's motif
    # Log-odds of the site with the alternative base minus those with the reference base, in bits; 0 without a site
    effect: float


@dataclass(frozen=True, eq=False)
class Planted:
    """Planted motifs, sites, peaks and variants of a genome, with its repeat mask."""

    masked: Bools  # shape (bases,): Bases in repeats, chromosome after chromosome
    motifs: Sequence[Floats]  # shape (columns, 4): Probabilities; that of the factor first
    sites: Sequence[Site]  # In the order of the genome
    peaks: Sequence[Peak]  # In the order of the genome
    variants: Sequence[Variant]  # In the order of the genome

    @property
    def names(self) -> list[str]:
        """Names of the motifs."""
        return ["factor", *(f"cofactor_{i}" for i in range(1, len(self.motifs)))]


def site_letters(codes: Codes, site: Site, width: int) -> Codes:
    """Return the bases of a site, on the strand of its motif."""
    letters = codes[site.start : site.start + width]
    return letters if site.strand == "+" else DNA.complement_codes[letters[::-1]]


# Output files of a simulated genome with peaks: FASTA, narrowPeak, BED, VCF and MEME.

LINE = 60
MOST_SCORE = 1000
HEADER = (
    '##INFO=<ID=EFFECT,Number=1,Type=Float,Description="Log-odds of the planted site with ALT minus with REF, in bits; '
    '0 outside of planted sites">',
    '##INFO=<ID=MOTIF,Number=1,Type=String,Description="Motif of the planted site">',
    '##INFO=<ID=REGION,Number=1,Type=String,Description="site (planted), peak (in a peak, outside of sites) or '
    'outside">',
)


def peak_files(genome: SequenceSet, planted: Planted) -> dict[str, Iterator[str]]:
    """Return the lines of each file of a genome with peaks, by name; repeats are in lower case."""
    return {
        "genome.fa": _fasta(genome, planted),
        "peaks.narrowPeak": _narrow_peaks(genome, planted),
        "sites.bed": _sites(genome, planted),
        "variants.vcf": _vcf(genome, planted),
        "motifs.meme": _meme(genome, planted),
    }


def _fasta(genome: SequenceSet, planted: Planted) -> Iterator[str]:
    """Yield the lines of the chromosomes' FASTA file."""
    letters = np.frombuffer(genome.alphabet.letters.encode(), dtype=np.uint8)[genome.codes]
    text = np.where(planted.masked, letters | 0x20, letters).astype(np.uint8).tobytes().decode("ascii")
    for name, start, stop in zip(genome.ids, genome.starts.tolist(), genome.stops.tolist(), strict=True):
        yield f">{name}"
        yield from (text[place : min(place + LINE, stop)] for place in range(start, stop, LINE))


def _narrow_peaks(genome: SequenceSet, planted: Planted) -> Iterator[str]:
    """Yield the narrowPeak lines of the peaks; the score is the scaled signal, p- and q-values are unknown."""
    most = max((peak.signal for peak in planted.peaks), default=1.0) or 1.0
    for number, peak in enumerate(planted.peaks, start=1):
        score = round(MOST_SCORE * peak.signal / most)
        fields = (genome.ids[peak.record], peak.start, peak.stop, f"peak{number}", score, ".", f"{peak.signal:.3f}")
        yield "\t".join(map(str, (*fields, -1, -1, peak.summit - peak.start)))


def _sites(genome: SequenceSet, planted: Planted) -> Iterator[str]:
    """Yield the BED lines of the planted sites."""
    for site in planted.sites:
        stop = site.start + len(planted.motifs[site.motif])
        fields = (genome.ids[site.record], site.start, stop, planted.names[site.motif], 0, site.strand)
        yield "\t".join(map(str, fields))


def _vcf(genome: SequenceSet, planted: Planted) -> Iterator[str]:
    """Yield the VCF lines of the variants."""
    yield "##fileformat=VCFv4.2"
    yield from (
        f"##contig=<ID={name},length={length}>"
        for name, length in zip(genome.ids, genome.lengths.tolist(), strict=True)
    )
    yield from HEADER
    yield "\t".join(("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO"))
    for number, one in enumerate(planted.variants, start=1):
        motif = "" if one.motif is None else f";MOTIF={planted.names[one.motif]}"
        info = f"EFFECT={one.effect:.3f}{motif};REGION={one.region}"
        fields = (genome.ids[one.record], one.position + 1, f"v{number}", one.reference, one.alternative)
        yield "\t".join(map(str, (*fields, ".", "PASS", info)))


def _meme(genome: SequenceSet, planted: Planted) -> Iterator[str]:
    """Yield the MEME lines of the planted motifs, with the genome's base frequencies as background."""
    counts = np.bincount(genome.codes, minlength=genome.alphabet.size)
    numbers = np.bincount([site.motif for site in planted.sites], minlength=len(planted.motifs)).tolist()
    listed = zip(planted.names, planted.motifs, numbers, strict=True)
    shares = (counts / counts.sum()).tolist()
    yield from meme_lines(listed, genome.alphabet.letters, shares, both_strands=True)


# Variants of a genome with planted sites: some destroy or create a site, others do neither.

DESTROYING, CREATING, IN_PEAKS = 0.25, 0.1, 0.3
CHANCE = 0.6
"""Share of a motif's information above which a chance occurrence counts as a site."""
TRIES = 50


def draw_variants(
    rng: np.random.Generator,
    genome: Sequence[Codes],
    motifs: Sequence[Floats],
    sites: Sequence[Site],
    peaks: Sequence[Peak],
    n: int,
) -> list[Variant]:
    """Draw about `n` variants at distinct positions, in the order of the genome.

    Where a variant creates a site, the reference in `genome` is changed to the less likely base.
    """
    destroying, creating = round(DESTROYING * n), round(CREATING * n)
    chosen = [sites[i] for i in rng.permutation(len(sites))[: destroying + creating].tolist()]
    variants = [
        _at_site(rng, genome[site.record], site, motifs[site.motif], creates=number >= destroying)
        for number, site in enumerate(chosen)
    ]
    controls = _Controls(genome, motifs, sites, peaks, {(one.record, one.position) for one in variants})
    in_peaks = round(IN_PEAKS * n)
    for number in range(max(0, n - destroying - creating)):
        found = controls.draw(rng, "peak" if number < in_peaks else "outside")
        variants += [found] if found else []
    return sorted(variants, key=lambda one: (one.record, one.position))


def _at_site(rng: np.random.Generator, codes: Codes, site: Site, motif: Floats, creates: bool) -> Variant:
    """Return a variant in a site, in a column drawn by information content."""
    scores = log_odds(motif)
    letters = site_letters(codes, site, len(motif))
    own = scores[np.arange(len(motif)), letters]
    worse = scores < own[:, None] - 1e-9
    weights = (motif * scores).sum(axis=1) * worse.any(axis=1)
    if weights.sum() <= 0:
        weights = np.ones(len(motif))
        worse = scores != own[:, None]
    column = int(rng.choice(len(motif), p=weights / weights.sum()))
    other = int(rng.choice(np.flatnonzero(worse[column])))
    effect = float(scores[column, other] - own[column])
    place = column if site.strand == "+" else len(motif) - 1 - column
    here, there = int(letters[column]), other
    if site.strand == "-":
        here, there = int(DNA.complement_codes[here]), int(DNA.complement_codes[there])
    position = site.start + place
    if creates:
        codes[position] = there
        here, there, effect = there, here, -effect
    return Variant(site.record, position, DNA.letters[here], DNA.letters[there], "site", site.motif, effect)


class _Controls:
    """Variants outside planted sites that neither destroy nor create a chance occurrence of a motif."""

    def __init__(
        self,
        genome: Sequence[Codes],
        motifs: Sequence[Floats],
        sites: Sequence[Site],
        peaks: Sequence[Peak],
        used: set[tuple[int, int]],
    ) -> None:
        self.genome, self.peaks, self.used = genome, peaks, used
        self.scores = [log_odds(motif) for motif in motifs]
        self.limits = [CHANCE * float((motif * score).sum()) for motif, score in zip(motifs, self.scores, strict=True)]
        self.in_site = [np.zeros(len(codes), dtype=bool) for codes in genome]
        for site in sites:
            self.in_site[site.record][site.start : site.start + len(motifs[site.motif])] = True
        busy = {(peak.record, peak.summit // SLOT) for peak in peaks}
        slots = [(record, slot) for record, codes in enumerate(genome) for slot in range(len(codes) // SLOT)]
        self.free = [slot for slot in slots if slot not in busy]

    def draw(self, rng: np.random.Generator, region: str) -> Variant | None:
        """Return a variant in a peak or outside all peaks; None if there is no room."""
        for _ in range(TRIES if region == "peak" or self.free else 0):
            if region == "peak":
                peak = self.peaks[int(rng.integers(len(self.peaks)))]
                record, position = peak.record, peak.summit + int(rng.integers(-REACH, REACH))
            else:
                record, slot = self.free[int(rng.integers(len(self.free)))]
                position = slot * SLOT + int(rng.integers(SLOT))
            codes = self.genome[record]
            here = int(codes[position])
            there = (here + (2 if rng.random() < 0.5 else int(rng.choice([1, 3])))) % DNA.size  # half transitions
            if (
                (record, position) in self.used
                or self.in_site[record][position]
                or self._matters(codes, position, there)
            ):
                continue
            self.used.add((record, position))
            return Variant(record, position, DNA.letters[here], DNA.letters[there], region, None, 0.0)
        return None

    def _matters(self, codes: Codes, position: int, there: int) -> bool:
        """Return whether a motif occurs at the position with either allele."""
        for scores, limit in zip(self.scores, self.limits, strict=True):
            start = max(0, position - len(scores) + 1)
            around = codes[start : position + len(scores)].copy()
            if len(around) < len(scores):
                continue
            for letter in (codes[position], there):
                around[position - start] = letter
                if max(strand.max() for strand in scan(scores, around)) >= limit:
                    return True
        return False


HALF_WIDTH = (100, 200)
SPREAD = 30
FACTOR, AGAIN, COFACTOR = 0.85, 0.3, 0.35
PREFERENCE = 8.0
"""Difference in the log probability of a peak between domains of GC content 1 and 0."""


def peak_genome(
    rng: np.random.Generator,
    *,
    n_chromosomes: int = 4,
    n_letters: int = 250_000,
    n_peaks: int = 400,
    n_motifs: int = 3,
    motif_length: int = 11,
    n_variants: int = 400,
    repeats: float = 0.3,
) -> tuple[SequenceSet, dict[str, list[str | int]], Planted]:
    """Draw a genome with peaks, planted motifs and variants.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    n_chromosomes : int
        Number of chromosomes.
    n_letters : int
        Bases of each chromosome.
    n_peaks : int
        Peaks in all; each needs 1000 bases.
    n_motifs : int
        Motifs: one of the factor, the others of cofactors.
    motif_length : int
        Columns of the first motif; the second has 2 more, the third 2 fewer, and so on.
    n_variants : int
        Variants in all, about: a quarter destroys a site, a tenth creates one, the others lie outside of sites.
    repeats : float
        Share of bases in repeats, which are soft-masked.

    Returns
    -------
    sequences : SequenceSet
        ``chr1``, ``chr2``, ….
    table : dict of str to list
        One value for each peak: ``record``, ``position`` (of the summit, from 1), ``strand`` and ``label``.
    planted : Planted
        Motifs, their sites, peaks and variants.

    Raises
    ------
    ParameterError
        If a parameter is outside its domain.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.simulate.peaks import peak_genome
    >>> sequences, table, planted = peak_genome(np.random.default_rng(1), n_letters=5000, n_peaks=8, n_variants=10)
    >>> sequences.ids, len(planted.peaks), [len(motif) for motif in planted.motifs]
    (['chr1', 'chr2', 'chr3', 'chr4'], 8, [11, 13, 9])
    """
    check_integer("n_chromosomes", n_chromosomes, 1)
    check_integer("n_letters", n_letters, SLOT)
    check_integer("n_peaks", n_peaks, 1, n_chromosomes * (n_letters // SLOT))
    check_integer("n_motifs", n_motifs, 1, 20)
    check_integer("motif_length", motif_length, 6, 30)
    check_integer("n_variants", n_variants, 0)
    check_real("repeats", repeats, 0, 0.8)
    motifs = random_motifs(rng, n_motifs, motif_length)
    families = repeat_families(rng)
    drawn = [chromosome(rng, n_letters, families, repeats) for _ in range(n_chromosomes)]
    genome = [codes for codes, _, _ in drawn]
    slots = n_letters // SLOT
    weights = np.concatenate([np.exp(PREFERENCE * gc[SLOT // 2 :: SLOT][:slots]) for _, _, gc in drawn])
    chosen = rng.choice(len(weights), size=n_peaks, replace=False, p=weights / weights.sum())
    peaks: list[Peak] = []
    sites: list[Site] = []
    for slot in np.sort(chosen).tolist():
        record = slot // slots
        summit = slot % slots * SLOT + int(rng.integers(HALF_WIDTH[1], SLOT - HALF_WIDTH[1]))
        found = _plant(rng, genome[record], record, summit, motifs)
        strength = sum(_strength(genome[record], site, motifs) for site in found)
        left, right = rng.integers(*HALF_WIDTH, size=2).tolist()
        signal = strength * float(rng.lognormal(0.0, 0.3))
        peaks.append(Peak(record, summit - left, summit + right, summit, signal))
        sites += found
    sites.sort(key=lambda site: (site.record, site.start))
    variants = draw_variants(rng, genome, motifs, sites, peaks, n_variants)
    ids = [f"chr{number}" for number in range(1, n_chromosomes + 1)]
    sequences = SequenceSet.from_offsets(np.concatenate(genome), np.arange(len(ids) + 1) * n_letters, ids, DNA)
    table: dict[str, list[str | int]] = {
        "record": [ids[peak.record] for peak in peaks],
        "position": [peak.summit + 1 for peak in peaks],
        "strand": ["+"] * len(peaks),
        "label": ["peak"] * len(peaks),
    }
    return sequences, table, Planted(np.concatenate([mask for _, mask, _ in drawn]), motifs, sites, peaks, variants)


def _plant(rng: np.random.Generator, codes: Codes, record: int, summit: int, motifs: Sequence[Floats]) -> list[Site]:
    """Write the sites of one peak into a chromosome; return them."""
    wanted = [0] * int(rng.geometric(1 - AGAIN)) if rng.random() < FACTOR else []
    wanted += [i for i in range(1, len(motifs)) if rng.random() < COFACTOR]
    sites: list[Site] = []
    taken = np.zeros(2 * REACH, dtype=bool)
    for motif in wanted or [0]:
        width = len(motifs[motif])
        for _ in range(20):
            place = int(np.clip(REACH + SPREAD * rng.standard_normal() - width / 2, 0, 2 * REACH - width))
            if not taken[place : place + width].any():
                break
        else:
            continue  # no room
        taken[place : place + width] = True
        letters, strand = draw_site(rng, motifs[motif]), "+-"[int(rng.integers(2))]
        start = summit - REACH + place
        codes[start : start + width] = letters if strand == "+" else DNA.complement_codes[letters[::-1]]
        sites.append(Site(record, start, strand, motif))
    return sites


def _strength(codes: Codes, site: Site, motifs: Sequence[Floats]) -> float:
    """Return the log-odds of a site, at least 0."""
    letters = site_letters(codes, site, len(motifs[site.motif]))
    return max(0.0, float(log_odds(motifs[site.motif])[np.arange(len(letters)), letters].sum()))
