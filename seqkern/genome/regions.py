"""Regions of a genome, as in BED files: positions count from 0, stops are exclusive."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.types import Rows

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions of a genome.

    Attributes
    ----------
    chromosomes : ndarray of str, shape (n,)
    starts, stops : ndarray of int64, shape (n,)
        From 0; a stop is the position after the last base.
    names : ndarray of str, shape (n,)
        ``"."`` without a name.
    scores : ndarray of float64, shape (n,)
        NaN without a score.
    strands : ndarray of str, shape (n,)
        ``"+"``, ``"-"``, or ``"."`` without a strand.
    summits : ndarray of int64, shape (n,)
        Position of the summit on the chromosome; −1 without one.
    lines : ndarray of int64, shape (n,)
        Their lines in the file, for messages.
    file : str, optional
        Used in messages.
    counts : dict of str to int
        What was left out, and how many overlap.

    Examples
    --------
    >>> from seqkern.genome.regions import make_regions
    >>> regions = make_regions(["chr1", "chr1"], [100, 700], [400, 800], strands=["+", "-"])
    >>> regions.ids(), regions.lengths.tolist()
    (['chr1:101-400', 'chr1:701-800'], [300, 100])
    """

    chromosomes: npt.NDArray[np.str_]
    starts: Integers
    stops: Integers
    names: npt.NDArray[np.str_]
    scores: npt.NDArray[np.float64]
    strands: npt.NDArray[np.str_]
    summits: Integers
    lines: Integers
    file: str | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> Integers:
        """int64 (n,): the number of bases of each region."""
        return self.stops - self.starts

    def take(self, rows: Rows) -> Regions:
        """Return some of the regions.

        Parameters
        ----------
        rows : array of int, boolean mask or slice
            Which of the n regions.

        Returns
        -------
        Regions
        """
        arrays: dict[str, Any] = {
            item.name: getattr(self, item.name)[rows]
            for item in fields(self)
            if isinstance(getattr(self, item.name), np.ndarray)
        }
        return replace(self, **arrays)

    def ids(self) -> list[str]:
        """Return the place of each region as in genome browsers, ``chr1:101-400``: from 1, both ends included."""
        rows = zip(self.chromosomes.tolist(), (self.starts + 1).tolist(), self.stops.tolist(), strict=True)
        return [f"{chromosome}:{start}-{stop}" for chromosome, start, stop in rows]

    def counted(self, what: str, count: int | np.integer[Any]) -> Regions:
        """Return the same regions with one more count.

        Parameters
        ----------
        what : str
            Such as ``regions left out``.
        count : int
            Added to an earlier count; 0 adds nothing.

        Returns
        -------
        Regions
        """
        if not count:
            return self
        return replace(self, counts={**self.counts, what: self.counts.get(what, 0) + int(count)})


def make_regions(
    chromosomes: npt.ArrayLike,
    starts: npt.ArrayLike,
    stops: npt.ArrayLike,
    names: npt.ArrayLike | None = None,
    scores: npt.ArrayLike | None = None,
    strands: npt.ArrayLike | None = None,
    summits: npt.ArrayLike | None = None,
    lines: npt.ArrayLike | None = None,
    file: str | None = None,
) -> Regions:
    """Return Regions; columns that are not given are empty.

    Parameters
    ----------
    chromosomes, starts, stops, names, scores, strands, summits, lines, file
        As for `Regions`.

    Returns
    -------
    Regions
    """
    begins = np.asarray(starts, dtype=np.int64)
    n = len(begins)
    none = np.full(n, ".")
    return Regions(
        np.asarray(chromosomes, dtype=str),
        begins,
        np.asarray(stops, dtype=np.int64),
        none if names is None else np.asarray(names, dtype=str),
        np.full(n, np.nan) if scores is None else np.asarray(scores, dtype=np.float64),
        none if strands is None else np.asarray(strands, dtype=str),
        np.full(n, -1) if summits is None else np.asarray(summits, dtype=np.int64),
        np.arange(1, n + 1) if lines is None else np.asarray(lines, dtype=np.int64),
        file,
    )


def resized(regions: Regions, width: int) -> Regions:
    """Return windows of one width around the summits, or the centres where there is no summit.

    Parameters
    ----------
    regions : Regions
        Of any lengths.
    width : int
        Bases of each window; of an even number one more lies before the summit.

    Returns
    -------
    Regions
        They may extend past the ends of a chromosome.

    Examples
    --------
    >>> from seqkern.genome.regions import make_regions
    >>> windows = resized(make_regions(["chr1", "chr1"], [100, 100], [400, 400], summits=[-1, 120]), 100)
    >>> windows.starts.tolist(), windows.stops.tolist()
    ([200, 70], [300, 170])
    """
    centres = np.where(regions.summits >= 0, regions.summits, (regions.starts + regions.stops) // 2)
    starts = centres - width // 2
    return replace(regions, starts=starts, stops=starts + width)


def overlapping(regions: Regions, others: Regions) -> npt.NDArray[np.bool_]:
    """Return which regions share a base with one of some others.

    Parameters
    ----------
    regions : Regions
        n regions.
    others : Regions
        Any number, also overlapping.

    Returns
    -------
    ndarray of bool, shape (n,)

    Examples
    --------
    >>> from seqkern.genome.regions import make_regions
    >>> peaks = make_regions(["chr1", "chr1", "chr2"], [0, 10, 0], [10, 20, 10])
    >>> overlapping(peaks, make_regions(["chr1"], [15], [16])).tolist()
    [False, True, False]
    """
    found = np.zeros(len(regions), dtype=bool)
    for chromosome in np.unique(others.chromosomes):
        rows = np.flatnonzero(regions.chromosomes == chromosome)
        own = others.take(others.chromosomes == chromosome)
        starts, stops = np.sort(own.starts), np.sort(own.stops)
        # as many others begin before the region ends as have ended where it begins, unless one overlaps
        begun = np.searchsorted(starts, regions.stops[rows], side="left")
        found[rows] = begun > np.searchsorted(stops, regions.starts[rows], side="right")
    return found


def overlapping_one_another(regions: Regions) -> npt.NDArray[np.bool_]:
    """Return which regions share a base with another one of them.

    Parameters
    ----------
    regions : Regions
        n regions.

    Returns
    -------
    ndarray of bool, shape (n,)

    Examples
    --------
    >>> from seqkern.genome.regions import make_regions
    >>> overlapping_one_another(make_regions(["chr1"] * 3, [0, 5, 20], [10, 15, 30])).tolist()
    [True, True, False]
    """
    found = np.zeros(len(regions), dtype=bool)
    for chromosome in np.unique(regions.chromosomes):
        rows = np.flatnonzero(regions.chromosomes == chromosome)
        starts, stops = np.sort(regions.starts[rows]), np.sort(regions.stops[rows])
        begun = np.searchsorted(starts, regions.stops[rows], side="left")
        found[rows] = begun - np.searchsorted(stops, regions.starts[rows], side="right") > 1
    return found


def cleared(regions: Regions, others: Regions, what: str) -> Regions:
    """Return the regions that overlap none of some others, and count the rest.

    Parameters
    ----------
    regions : Regions
        To be cleared.
    others : Regions
        Such as those of a blacklist.
    what : str
        What they are, for the count.

    Returns
    -------
    Regions
    """
    gone = overlapping(regions, others)
    return regions.take(~gone).counted(f"regions left out that overlap {what}", np.count_nonzero(gone))


def inside(regions: Regions, lengths: dict[str, int]) -> npt.NDArray[np.bool_]:
    """Return which regions lie on their chromosome with all bases.

    Parameters
    ----------
    regions : Regions
        n regions on known chromosomes.
    lengths : dict of str to int
        Bases of each chromosome.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    return (regions.starts >= 0) & (regions.stops <= ends_of(regions.chromosomes, lengths))


def ends_of(chromosomes: Collection[str] | npt.NDArray[np.str_], lengths: dict[str, int]) -> Integers:
    """Return the length of the chromosome of each region.

    Parameters
    ----------
    chromosomes : collection of str, length n
        Known names.
    lengths : dict of str to int
        Bases of each chromosome.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    names, which = np.unique(np.asarray(chromosomes, dtype=str), return_inverse=True)
    return np.array([lengths[str(name)] for name in names], dtype=np.int64)[which]
