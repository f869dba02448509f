"""Composition of regions: bases, G and C, soft-masked ones; from running sums, a stretch of a chromosome at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.genome.reference import Genome
from seqkern.genome.regions import Regions

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

FIELD = 21
"""Bits of each of three counts in one number."""
STRETCH = 1 << 20
"""Bases read at a time, besides one region."""
LONGEST = 1 << 20
"""Bases of a region: its counts, with those of a stretch, fit into a field."""


@dataclass(frozen=True, eq=False)
class Composition:
    """The composition of n regions.

    Attributes
    ----------
    length : ndarray of float64, shape (n,)
        Bases.
    gc : ndarray of float64, shape (n,)
        Share of G and C among A, C, G and T.
    repeats : ndarray of float64, shape (n,)
        Share of lower-case (soft-masked) bases.
    unknown : ndarray of float64, shape (n,)
        Share of other letters, such as N.
    """

    length: Floats
    gc: Floats
    repeats: Floats
    unknown: Floats

    def take(self, rows: npt.NDArray[np.bool_] | Integers) -> Composition:
        """Return that of some of the regions.

        Parameters
        ----------
        rows : array of int, or boolean mask
            Which of the n regions.

        Returns
        -------
        Composition
        """
        return Composition(self.length[rows], self.gc[rows], self.repeats[rows], self.unknown[rows])


def _weights() -> Integers:
    """Return for each byte 1 in the field of G and C, of lower case, of other letters."""
    table = np.full(256, 1 << 2 * FIELD, dtype=np.int64)
    for letter in b"ACGTUacgtu":
        table[letter] = (letter in b"GCgc") + ((letter >= ord("a")) << FIELD)
    for letter in b"nrywskmbdhvx":
        table[letter] = (1 << 2 * FIELD) + (1 << FIELD)
    return table


WEIGHTS = _weights()


def composition(regions: Regions, genome: Genome) -> Composition:
    r"""Return the composition of regions.

    Parameters
    ----------
    regions : Regions
        On the genome, of at most 2²⁰ bases each.
    genome : Genome
        Read in the order of positions, a stretch at a time.

    Returns
    -------
    Composition

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern.genome.regions import make_regions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "genome.fa"
    ...     _ = path.write_text(">chr1\nAACCggttNN\n")
    ...     found = composition(make_regions(["chr1", "chr1"], [0, 4], [8, 10]), Genome(path))
    >>> found.gc.tolist(), found.repeats.tolist(), found.unknown.round(2).tolist()
    ([0.5, 0.5], [0.5, 0.6666666666666666], [0.0, 0.33])
    """
    counts = np.zeros(len(regions), dtype=np.int64)
    names, which = np.unique(regions.chromosomes, return_inverse=True)
    for number, name in enumerate(names.tolist()):
        rows = np.flatnonzero(which == number)
        rows = rows[np.argsort(regions.starts[rows], kind="stable")]
        starts, stops = regions.starts[rows], regions.stops[rows]
        first = 0
        while first < len(rows):
            begin = int(starts[first])
            last = int(np.searchsorted(starts, begin + STRETCH, side="left"))
            end = int(stops[first:last].max())
            letters = np.frombuffer(genome.fetch(name, begin, end).encode("latin-1"), dtype=np.uint8)
            sums = np.zeros(len(letters) + 1, dtype=np.int64)
            np.cumsum(WEIGHTS[letters], out=sums[1:])
            counts[rows[first:last]] = sums[stops[first:last] - begin] - sums[starts[first:last] - begin]
            first = last
    mask = (1 << FIELD) - 1
    length = regions.lengths.astype(np.float64)
    gc, repeats, unknown = counts & mask, (counts >> FIELD) & mask, counts >> 2 * FIELD
    return Composition(length, gc / np.maximum(length - unknown, 1), repeats / length, unknown / length)
