"""Background regions: at random places of a genome, and like the peaks in length, GC content and repeats."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice, check_integer
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.genome.composition import LONGEST, Composition, composition
from seqkern.genome.reference import Genome
from seqkern.genome.regions import Integers, Regions, ends_of, make_regions, overlapping

MATCHED = ("length", "gc", "repeats")
POOL, LEAST_POOL, LARGEST_POOL = 60, 20_000, 3_000_000
"""Candidates for each region in the first round; for all of them at least and at most."""
ROUNDS = 3
"""Regions without a close match draw again, from a larger pool; in the last round the nearest is taken."""
CLOSE = {"gc": 0.02, "repeats": 0.05}
"""Largest difference of a close match."""
LENGTHS = 12
"""Classes of length, if there are more lengths: candidates have the longest of their class, and are trimmed."""
NEAREST = 32
QUERIED = 4_000_000
"""Candidates looked at for a region at first, and for all of them at a time."""


@dataclass(frozen=True)
class BackgroundOptions:
    """How background regions are drawn.

    Attributes
    ----------
    factor : float
        Background regions for each peak.
    seed : int
        Of the random numbers.
    match : tuple of str
        Properties among `MATCHED`.
    chromosomes : {"same", "any"}
        Whether a background region lies on the chromosome of its peak, or on any with a peak.
    """

    factor: float = 1.0
    seed: int = 1
    match: tuple[str, ...] = MATCHED
    chromosomes: str = "same"

    def __post_init__(self) -> None:
        check_integer("seed", self.seed, 0)
        check_choice("chromosomes", self.chromosomes, ("same", "any"))
        for name in self.match:
            check_choice("match", name, MATCHED)
        if not 0 < self.factor <= 10_000:
            raise ParameterError(f"factor {self.factor:g} is not from 0 to 10,000", remedy="give a positive number")


@dataclass(frozen=True, eq=False)
class Background:
    """Background regions, and what they are matched to.

    Attributes
    ----------
    regions : Regions, m regions
        Named by the places of their peaks, with the counts of these.
    found : Composition
        Of these regions.
    peaks : Composition
        Of all peaks.
    remarks : tuple of str
        What could not be matched, as sentences.
    """

    regions: Regions
    found: Composition
    peaks: Composition
    remarks: tuple[str, ...]


def draw_background(
    peaks: Regions, genome: Genome, options: BackgroundOptions | None = None, exclude: Sequence[Regions] = ()
) -> Background:
    """Draw background regions that overlap no peak, no excluded region, no N, and not one another.

    Parameters
    ----------
    peaks : Regions
        On the genome.
    genome : Genome
        With repeats in lower case, if these are to be matched.
    options : BackgroundOptions, optional
        Their number, seed, and what is matched.
    exclude : sequence of Regions
        Where no background is drawn, besides the peaks.

    Returns
    -------
    Background
        The same for the same peaks, genome, options and exclusions.

    Raises
    ------
    SequenceError
        If no place is left for a region.
    """
    options = BackgroundOptions() if options is None else options
    if peaks.lengths.max() > LONGEST:
        i = int(peaks.lengths.argmax())
        raise SequenceError(
            f"line {peaks.lines[i]}: {peaks.ids()[i]} has {peaks.lengths[i]:,} bases, too many to find a background",
            file=peaks.file,
            remedy="add --width W, such as --width 300",
        )
    own = composition(peaks, genome)
    rng = np.random.default_rng([options.seed, len(peaks)])
    slots = _slots(len(peaks), options.factor, rng)
    lengths = peaks.lengths[slots]
    if "length" not in options.match:
        lengths = rng.permutation(lengths)
    search = _Search(genome, [peaks, *exclude], np.unique(peaks.chromosomes).tolist(), options.chromosomes == "same")
    properties = [name for name in ("gc", "repeats") if name in options.match]
    remarks = []
    if "repeats" in properties and np.ptp(own.repeats) == 0 and not search.is_masked(rng):
        properties.remove("repeats")
        remarks.append(f"{genome.path} has no soft-masked (lower-case) bases, so repeats are not matched")
    wanted = np.column_stack([getattr(own, name)[slots] / CLOSE[name] for name in properties] or [np.zeros(len(slots))])
    full = search.without_room(lengths, peaks.chromosomes[slots])
    if full is not None:
        raise _no_place(peaks, int(slots[full]), 0, options)
    starts, on = search.matches(wanted, properties, lengths, peaks.chromosomes[slots], rng)
    missing = np.flatnonzero(starts < 0)
    if len(missing):
        raise _no_place(peaks, int(slots[missing[0]]), len(slots) - len(missing), options)
    names = np.array(peaks.ids())[slots]
    regions = make_regions(on, starts, starts + lengths, names, strands=peaks.strands[slots], file=peaks.file)
    regions = replace(regions, counts=peaks.counts)
    found = composition(regions, genome)
    remarks += _remarks(own, found, slots, properties)
    return Background(regions, found, own, tuple(remarks))


def _slots(n: int, factor: float, rng: np.random.Generator) -> Integers:
    """Return the peak of each background region: all as often, the rest drawn."""
    times, rest = divmod(round(n * factor), n)
    drawn = np.sort(rng.permutation(n)[:rest])
    return np.concatenate((np.tile(np.arange(n), times), drawn)).astype(np.int64)


def _remarks(own: Composition, found: Composition, slots: Integers, properties: Sequence[str]) -> list[str]:
    """Return a sentence for each property that differs much in some regions."""
    said = []
    for name in properties:
        far = np.abs(getattr(own, name)[slots] - getattr(found, name)) > 2 * CLOSE[name]
        if far.any():
            what = {"gc": "GC content", "repeats": "share of repeats"}[name]
            said.append(
                f"{np.count_nonzero(far)} of {len(slots)} background regions differ from their peak by more than "
                f"{2 * CLOSE[name]:g} in {what}: the genome has no closer ones left"
            )
    return said


def _no_place(peaks: Regions, i: int, found: int, options: BackgroundOptions) -> SequenceError:
    """Return the error for a peak without a background region."""
    count = f"{found:,} were found" if found else "there are fewer bases than all of them have"
    relax = ["--factor" if options.factor > 1 else "", "fewer excluded regions"]
    relax.append("--chromosomes any" if options.chromosomes == "same" else "")
    return SequenceError(
        f"no place is left in the genome for a background region of {peaks.ids()[i]} ({count})",
        file=peaks.file,
        remedy="relax: " + ", ".join(["a smaller " + text if text == "--factor" else text for text in relax if text]),
    )


class _Search:
    """Candidates at random places, and the choice of the nearest ones that are free."""

    def __init__(self, genome: Genome, closed: Sequence[Regions], chromosomes: list[str], same: bool) -> None:
        self.genome, self.chromosomes, self.same = genome, chromosomes, same
        self.closed = make_regions(
            np.concatenate([one.chromosomes for one in closed]),
            np.concatenate([one.starts for one in closed]),
            np.concatenate([one.stops for one in closed]),
        )
        self.taken: dict[str, list[tuple[int, int]]] = {name: [] for name in chromosomes}

    def is_masked(self, rng: np.random.Generator) -> bool:
        """Return whether random regions have lower-case bases, in varying shares."""
        drawn = self._drawn(self.chromosomes, 10_000, 1000, rng)
        shares = composition(drawn, self.genome).repeats
        return bool(len(shares) and np.ptp(shares) > 0)

    def without_room(self, lengths: Integers, chromosomes: npt.NDArray[np.str_]) -> int | None:
        """Return the first slot of a chromosome, or of all, whose slots have more bases than are free there."""
        free = {name: self.genome.lengths[name] - _covered(self.closed, name) for name in self.chromosomes}
        if not self.same:
            return 0 if lengths.sum() > sum(free.values()) else None
        for name in self.chromosomes:
            here = np.flatnonzero(chromosomes == name)
            if lengths[here].sum() > free[name]:
                return int(here[0])
        return None

    def matches(
        self,
        wanted: npt.NDArray[np.float64],
        properties: Sequence[str],
        lengths: Integers,
        chromosomes: npt.NDArray[np.str_],
        rng: np.random.Generator,
    ) -> tuple[Integers, npt.NDArray[np.str_]]:
        """Return start and chromosome of a region for each slot; −1 where no place is left."""
        starts, on = np.full(len(wanted), -1, dtype=np.int64), chromosomes.copy()
        for turn in range(ROUNDS):
            for place in self.chromosomes if self.same else [None]:
                here = np.flatnonzero((starts < 0) & (True if place is None else chromosomes == place))
                share = len(here) / len(wanted)
                for rows in _by_length(here, lengths):
                    longest = int(lengths[rows].max())
                    count = _pool(len(rows), len(here), share, turn)
                    where = self.chromosomes if place is None else [place]
                    pool = self._drawn(where, count, longest, rng)
                    self._choose(pool, wanted, properties, rows, lengths, starts, on, turn == ROUNDS - 1, rng)
        return starts, on

    def _drawn(self, chromosomes: Sequence[str], count: int, length: int, rng: np.random.Generator) -> Regions:
        """Return random regions of one length away from the closed ones, in proportion to the chromosomes' lengths."""
        room = np.maximum(ends_of(chromosomes, self.genome.lengths) - length + 1, 0)
        if not room.sum():
            return make_regions([], [], [])
        places = np.sort(rng.integers(0, room.sum(), count))
        which = np.searchsorted(np.cumsum(room), places, side="right")
        starts = places - (np.cumsum(room) - room)[which]
        drawn = make_regions(np.array(chromosomes)[which], starts, starts + length)
        return drawn.take(~overlapping(drawn, self.closed))

    def _choose(
        self,
        pool: Regions,
        wanted: npt.NDArray[np.float64],
        properties: Sequence[str],
        rows: Integers,
        lengths: Integers,
        starts: Integers,
        on: npt.NDArray[np.str_],
        last: bool,
        rng: np.random.Generator,
    ) -> None:
        """Give each of some slots the nearest free candidate; unless in the last round, only a close one."""
        # imported here for fast start-up
        from scipy.spatial import cKDTree

        found = composition(pool, self.genome)
        keep = found.unknown == 0
        pool, found = pool.take(keep), found.take(keep)
        columns = [getattr(found, name) / CLOSE[name] for name in properties]
        points = np.column_stack(columns or [np.zeros(len(pool))])
        # many candidates have equal shares: noise below the resolution of a share keeps searches from the same ones
        points += rng.uniform(-1, 1, points.shape) * 0.5 / (float(lengths[rows].max()) * min(CLOSE.values()))
        free = np.ones(len(pool), dtype=bool)
        waiting, many = rows[rng.permutation(len(rows))], NEAREST
        while len(waiting) and free.any():
            left = np.flatnonzero(free)
            many = min(many, len(left), max(NEAREST, QUERIED // len(waiting)))
            distances, near = (
                np.reshape(part, (len(waiting), -1)) for part in cKDTree(points[left]).query(wanted[waiting], k=many)
            )
            # the rarest first: others find another candidate more easily
            order = np.argsort(-distances[:, -1], kind="stable")
            failed = []
            for j in order.tolist():
                slot = int(waiting[j])
                chosen = self._first_free(pool, left[near[j]].tolist(), int(lengths[slot]), free)
                if chosen is None:
                    failed.append(slot)
                elif last or np.abs(points[chosen[0]] - wanted[slot]).max() <= 1:
                    name = str(pool.chromosomes[chosen[0]])
                    starts[slot], on[slot] = chosen[1], name
                    free[chosen[0]] = False
                    bisect.insort(self.taken[name], (chosen[1], chosen[1] + int(lengths[slot])))
            waiting, many = np.array(failed, dtype=np.int64), 8 * many

    def _first_free(
        self, pool: Regions, candidates: list[int], length: int, free: npt.NDArray[np.bool_]
    ) -> tuple[int, int] | None:
        """Return the first candidate that overlaps no region taken before, and its start when trimmed to a length."""
        for i in candidates:
            if not free[i]:
                continue
            start = int(pool.starts[i]) + (int(pool.stops[i] - pool.starts[i]) - length) // 2
            taken = self.taken[str(pool.chromosomes[i])]
            k = bisect.bisect_left(taken, (start + length, -1))
            # regions taken do not overlap: only the last that begins before the end can reach this one
            if k == 0 or taken[k - 1][1] <= start:
                return i, start
            free[i] = False
        return None


def _covered(regions: Regions, chromosome: str) -> int:
    """Return how many bases of a chromosome lie in some regions."""
    own = regions.take(regions.chromosomes == chromosome)
    order = np.argsort(own.starts, kind="stable")
    starts, stops = own.starts[order], np.maximum.accumulate(own.stops[order])
    before = np.concatenate(([0], stops[:-1])) if len(stops) else stops
    return int(np.maximum(stops - np.maximum(starts, before), 0).sum())


def _by_length(rows: Integers, lengths: Integers) -> list[Integers]:
    """Return slots in classes of similar length."""
    if not len(rows):
        return []
    known = np.unique(lengths[rows])
    if len(known) <= LENGTHS:
        return [rows[lengths[rows] == length] for length in known]
    order = rows[np.argsort(lengths[rows], kind="stable")]
    return [part for part in np.array_split(order, LENGTHS) if len(part)]


def _pool(slots: int, here: int, share: float, turn: int) -> int:
    """Return the number of candidates for some slots of a chromosome, in a round from 0."""
    most = int(LARGEST_POOL * max(share, 0.02) * slots / here)
    return max(1000, min(max(POOL * slots * 4**turn, LEAST_POOL * slots // here), most))
