"""A genome with peaks: isochores, repeats, sites of motifs planted around summits, and variants with known effect.

The first motif is that of the factor, in most peaks and often several times; the others are of cofactors. Peaks prefer
domains rich in G and C, so that a classifier against random regions learns composition unless these are matched.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqkern.core.checks import check_integer, check_real
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.simulate.landscape import Codes, chromosome, repeat_families
from seqkern.simulate.peak_variants import draw_variants
from seqkern.simulate.planted import REACH, SLOT, Peak, Planted, Site, site_letters
from seqkern.simulate.planted_motifs import Floats, draw_site, log_odds, random_motifs

HALF_WIDTH = (100, 200)
SPREAD = 30
FACTOR, AGAIN, COFACTOR = 0.85, 0.3, 0.35
PREFERENCE = 8.0
"""Logarithm by which a peak is likelier in a domain of GC content 1 than in one of 0."""


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
