"""What is planted in a simulated genome: sites of motifs, peaks around them, and variants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.sequences.alphabets import DNA
from seqkern.simulate.landscape import Codes
from seqkern.simulate.planted_motifs import Floats

SLOT = 1000
"""Each peak has as many bases for itself."""
REACH = 90
"""Greatest distance of a planted site from the summit."""


@dataclass(frozen=True)
class Site:
    """A planted site.

    Attributes
    ----------
    record : int
        Index of the chromosome.
    start : int
        First base, from 0.
    strand : {"+", "-"}
        Of the motif.
    motif : int
        Index of the motif.
    """

    record: int
    start: int
    strand: str
    motif: int


@dataclass(frozen=True)
class Peak:
    """A peak.

    Attributes
    ----------
    record : int
        Index of the chromosome.
    start, stop, summit : int
        Bases, from 0; `stop` is exclusive.
    signal : float
        Higher with more and better sites.
    """

    record: int
    start: int
    stop: int
    summit: int
    signal: float


@dataclass(frozen=True)
class Variant:
    """A variant of one base.

    Attributes
    ----------
    record : int
        Index of the chromosome.
    position : int
        From 0.
    reference, alternative : str
        Bases.
    region : {"site", "peak", "outside"}
        In a planted site, in a peak outside of sites, or elsewhere.
    motif : int or None
        Index of the site's motif.
    effect : float
        Log-odds of the site with the alternative base minus those with the reference base, in bits; 0 without a site.
    """

    record: int
    position: int
    reference: str
    alternative: str
    region: str
    motif: int | None
    effect: float


@dataclass(frozen=True, eq=False)
class Planted:
    """What was planted in a genome.

    Attributes
    ----------
    masked : ndarray of bool, shape (bases,)
        Bases in repeats, chromosome after chromosome.
    motifs : list of ndarray of float64, shape (columns, 4)
        Probabilities; that of the factor first.
    sites, peaks, variants : list
        In the order of the genome.
    """

    masked: npt.NDArray[np.bool_]
    motifs: Sequence[Floats]
    sites: Sequence[Site]
    peaks: Sequence[Peak]
    variants: Sequence[Variant]

    @property
    def names(self) -> list[str]:
        """Names of the motifs."""
        return ["factor", *(f"cofactor_{i}" for i in range(1, len(self.motifs)))]


def site_letters(codes: Codes, site: Site, width: int) -> Codes:
    """Return the bases of a site, on the strand of its motif.

    Parameters
    ----------
    codes : ndarray of uint8
        Of the chromosome.
    site : Site
        The site.
    width : int
        Bases.

    Returns
    -------
    ndarray of uint8, shape (width,)
    """
    letters = codes[site.start : site.start + width]
    return letters if site.strand == "+" else DNA.complement_codes[letters[::-1]]
