"""Simulated chromosomes with donor sites on both strands, and a site table, for cutting windows and scanning.

The sequence is intronic except for the genes, on either strand: the end of an exon and the start of an intron around
a donor site (`donors.donor_windows`). The other sites are occurrences of GT that are not donor sites.
"""

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.simulate.donors import INTRON, donor_windows

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
    >>> from seqkern.simulate.genome import donor_genome
    >>> sequences, table = donor_genome(np.random.default_rng(1), n_letters=1000, n_sites=2, n_others=1)
    >>> sequences.ids, table["label"].count("donor")
    (['chr1', 'chr2'], 4)
    """
    check_integer("n_chromosomes", n_chromosomes, 1)
    check_integer("n_sites", n_sites, 1)
    check_integer("n_others", n_others, 1)
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


def _put_donors(rng: np.random.Generator, codes: npt.NDArray[np.uint8], n_sites: int) -> set[tuple[int, str]]:
    """Write donor sites into `codes`, one at a random place in each of `n_sites` equal parts; return their places."""
    drawn, _ = donor_windows(rng, n_positive=n_sites, n_decoy=1, left=FLANK, right=FLANK)
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


def _places(codes: npt.NDArray[np.uint8]) -> set[tuple[int, str]]:
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
