"""Variants of a genome with planted sites: some destroy or create a site, others do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqkern.sequences.alphabets import DNA
from seqkern.simulate.landscape import Codes
from seqkern.simulate.planted import REACH, SLOT, Peak, Site, Variant, site_letters
from seqkern.simulate.planted_motifs import Floats, log_odds, scan

DESTROYING, CREATING, IN_PEAKS = 0.25, 0.1, 0.3
CHANCE = 0.6
"""Share of a motif's information from which on a chance occurrence counts as a site."""
TRIES = 50


def draw_variants(
    rng: np.random.Generator,
    genome: Sequence[Codes],
    motifs: Sequence[Floats],
    sites: Sequence[Site],
    peaks: Sequence[Peak],
    n: int,
) -> list[Variant]:
    """Draw variants at distinct positions; of those that create a site the reference is changed to the lesser base.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    genome : list of ndarray of uint8
        Chromosomes; changed where a variant creates a site.
    motifs : list of ndarray of float64, shape (columns, 4)
        Probabilities.
    sites : list of Site
        The planted sites.
    peaks : list of Peak
        The peaks.
    n : int
        Number of variants, about: fewer where there are too few sites, or no room between peaks.

    Returns
    -------
    list of Variant
        In the order of the genome.
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
    """Return a variant in a site, in a column drawn by its information."""
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
    """Variants outside of planted sites, that neither destroy nor create a chance occurrence of a motif."""

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
        """Return a variant in a peak or outside; None if there is no room."""
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
        """Return whether a motif occurs at the position with either base."""
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
