"""A null distribution of effects: random single-base variants of the same genome, matched by trinucleotide context.

The context of a variant is its base, the bases before and after it, and the alternative base, read on the strand on
which the base is C or T: 96 classes, as in mutational signatures.

References
----------
Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39 (p-values from random draws are never 0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.genome.placed_alleles import SEPARATOR, PlacedAlleles
from seqkern.sequences.alphabets import DNA

if TYPE_CHECKING:
    from seqkern.genome.reference import Genome
    from seqkern.models.variants.scorer import Alleles

CLASSES = 96
NO_CLASS = -1
DRAWS, ROUNDS = 16, 8
"""In each round, so many positions for each variant that is still missing; rounds."""

Regions = Sequence[tuple[str, int, int]]


def contexts(alleles: Alleles) -> npt.NDArray[np.int8]:
    """Return the class of each allele.

    Parameters
    ----------
    alleles : Alleles, n
        With the bases around them.

    Returns
    -------
    ndarray of int8, shape (n,)
        0 to 95; -1 for other than single bases, and next to N or the chromosome's end.
    """
    out = np.full(len(alleles.places), NO_CLASS, dtype=np.int8)
    rows = np.flatnonzero(alleles.snv)
    alts = DNA.encode(b"".join(alleles.alts[row] for row in rows.tolist()))
    out[rows] = _classes(DNA.encode(alleles.text.tobytes()), alleles.places[rows], alts)
    return out


def _classes(
    codes: npt.NDArray[np.uint8], places: npt.NDArray[np.int64], alts: npt.NDArray[np.uint8]
) -> npt.NDArray[np.int8]:
    """Return the class of single-base variants."""
    near = np.full((len(places), 3), 255, dtype=np.int64)
    for column, shift in enumerate((-1, 0, 1)):
        at = places + shift
        inside = (at >= 0) & (at < len(codes))
        near[inside, column] = codes[at[inside]]
    good = (near < 4).all(axis=1) & (alts < 4) & (near[:, 1] != alts)
    purine = near[:, 1] % 2 == 0  # A and G; the complement of code c is 3 - c
    near[purine] = 3 - near[purine][:, ::-1]
    to = np.where(purine, 3 - alts.astype(np.int64), alts)
    middle = (near[:, 1] - 1) // 2  # C 0, T 1
    rank = to - (to > near[:, 1])
    out = ((near[:, 0] * 4 + near[:, 2]) * 2 + middle) * 3 + rank
    return np.where(good, out, NO_CLASS).astype(np.int8)


def quotas(counts: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """Return how many of n random variants each class gets: in proportion, by largest remainders.

    Parameters
    ----------
    counts : ndarray of int64, shape (96,)
        Given variants of each class; not all 0.
    n : int
        Random variants.

    Returns
    -------
    ndarray of int64, shape (96,)

    Examples
    --------
    >>> quotas(np.array([5, 0, 3, 2]), 4)
    array([2, 0, 1, 1])
    """
    exact = counts * (n / counts.sum())
    out = np.floor(exact).astype(np.int64)
    rest = np.argsort(-(exact - out), kind="stable")[: n - int(out.sum())]
    out[rest] += 1
    return out


class NullVariants:
    """Random single-base variants of a genome.

    Parameters
    ----------
    genome : Genome
        The reference.
    regions : sequence of (str, int, int)
        Chromosome, start and stop (from 0, exclusive) of the regions that they are drawn from.
    wanted : ndarray of int64, shape (96,)
        How many of each class.
    seed : int
        The same seed gives the same variants.

    Attributes
    ----------
    missing : int
        Variants for which the regions have no position.
    """

    def __init__(self, genome: Genome, regions: Regions, wanted: npt.NDArray[np.int64], seed: int) -> None:
        self.genome, self.regions = genome, [region for region in regions if region[2] > region[1]]
        self.lengths = np.array([stop - start for _, start, stop in self.regions], dtype=np.int64)
        self._choose(wanted, np.random.default_rng(seed))

    def _choose(self, wanted: npt.NDArray[np.int64], rng: np.random.Generator) -> None:
        """Draw positions until each class is full, or no more are found."""
        ends = np.cumsum(self.lengths)
        total = int(ends[-1]) if len(ends) else 0
        left, seen = wanted.copy(), np.zeros(0, dtype=np.int64)
        chosen: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]] = []
        for _ in range(ROUNDS):
            if not left.sum() or not total:
                break
            drawn = rng.integers(0, total, size=int(DRAWS * max(left.sum(), 1000)))
            alts = rng.integers(1, 4, size=len(drawn))
            drawn, first = np.unique(drawn, return_index=True)
            order = np.argsort(first, kind="stable")  # in the order of the draws: no chromosome comes first
            drawn, alts = drawn[order], alts[first][order]
            new = ~np.isin(drawn, seen)
            drawn, alts = drawn[new], alts[new]
            classes, to = self._look_up(drawn, alts)
            kept = np.zeros(len(drawn), dtype=bool)
            for kind in np.flatnonzero(left).tolist():
                found = np.flatnonzero(classes == kind)[: left[kind]]
                kept[found] = True
                left[kind] -= len(found)
            seen = np.concatenate((seen, drawn[kept]))
            chosen.append((drawn[kept], to[kept]))
        self.missing = int(left.sum())
        empty = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8))
        places, to = (np.concatenate(parts) for parts in zip(empty, *chosen, strict=True))
        order = np.argsort(places, kind="stable")
        self._places, self._alts, self._ends = places[order], to[order], ends

    def _look_up(
        self, drawn: npt.NDArray[np.int64], steps: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.uint8]]:
        """Return the class and the alternative base of positions, `steps` bases after that of the genome."""
        classes, to = np.full(len(drawn), NO_CLASS, dtype=np.int8), np.zeros(len(drawn), dtype=np.uint8)
        owner = np.searchsorted(np.cumsum(self.lengths), drawn, side="right")
        for number, (name, start, stop) in enumerate(self.regions):
            rows = np.flatnonzero(owner == number)
            if not len(rows):
                continue
            low, high = max(0, start - 1), min(stop + 1, self.genome.lengths[name])
            codes = DNA.encode(self.genome.fetch(name, low, high).upper().encode())
            places = drawn[rows] - (int(self.lengths[:number].sum())) + start - low
            own = codes[places]
            to[rows] = np.where(own < 4, (own + steps[rows]) % 4, 255)
            classes[rows] = _classes(codes, places, to[rows])
        return classes, to

    def __len__(self) -> int:
        return len(self._places)

    def chunks(self, flank: int) -> list[PlacedAlleles]:
        """Return the variants with the bases around them, region by region.

        Parameters
        ----------
        flank : int
            Bases needed on each side.

        Returns
        -------
        list of PlacedAlleles
        """
        out = []
        owner = np.searchsorted(self._ends, self._places, side="right")
        for number, (name, start, stop) in enumerate(self.regions):
            rows = np.flatnonzero(owner == number)
            if not len(rows):
                continue
            low, high = max(0, start - flank), min(stop + flank, self.genome.lengths[name])
            text = self.genome.fetch(name, low, high).upper().encode() + SEPARATOR
            places = self._places[rows] - int(self.lengths[:number].sum()) + start - low
            found = np.frombuffer(text, dtype=np.uint8)
            refs = [text[place : place + 1] for place in places.tolist()]
            alts = [DNA.letters[code].encode() for code in self._alts[rows].tolist()]
            out.append(PlacedAlleles(found, places, refs, alts, np.ones(len(rows), dtype=bool), np.arange(len(rows))))
        return out


def p_values(delta: npt.NDArray[np.float64], null: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return two-sided empirical p-values: (1 + random variants with at least this |delta|) / (1 + all of them).

    Parameters
    ----------
    delta : ndarray of float64, shape (n,)
        Of the given variants; NaN stays NaN.
    null : ndarray of float64, shape (m,)
        Of random variants, without NaN.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> p_values(np.array([-3.0, 0.5, np.nan]), np.array([0.1, -0.2, 1.0]))
    array([0.25, 0.5 ,  nan])
    """
    sizes = np.sort(np.abs(null))
    as_large = len(sizes) - np.searchsorted(sizes, np.abs(delta), side="left")
    return np.where(np.isnan(delta), np.nan, (1 + as_large) / (1 + len(sizes)))


def threshold(delta: npt.NDArray[np.float64], q: npt.NDArray[np.float64], fdr: float) -> tuple[float | None, int]:
    """Return the least |delta| among variants with q ≤ fdr, None without any, and their number.

    Parameters
    ----------
    delta, q : ndarray of float64, shape (n,)
        Of the variants; q may be NaN.
    fdr : float
        False discovery rate.

    Returns
    -------
    least : float or None
    count : int
    """
    found = np.abs(delta[q <= fdr])
    return (float(found.min()) if len(found) else None), len(found)


def whole_chromosomes(lengths: Mapping[str, int], names: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return chromosomes as regions.

    Parameters
    ----------
    lengths : mapping of str to int
        Of the genome.
    names : sequence of str
        Chromosomes.

    Returns
    -------
    list of (str, int, int)
    """
    return [(name, 0, lengths[name]) for name in names]
