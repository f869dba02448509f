"""Random background regions of a genome, matched to peaks in length, GC content and repeats."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice, check_integer
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.tsv import aligned
from seqkern.core.types import Bools, Floats, Ints
from seqkern.formats.reference import Genome
from seqkern.formats.regions import Regions, ends_of, make_regions, overlapping

# The composition of regions: length, G and C, soft-masked bases.
#
# It is computed from running sums over one stretch of a chromosome at a time.


FIELD = 21
"""Bits for each of three counts in one number."""
STRETCH = 1 << 20
"""Bases read at a time, besides one region."""
LONGEST = 1 << 20
"""Maximum bases of a region, so that its counts and a stretch's fit into a field."""


@dataclass(frozen=True, eq=False)
class Composition:
    """The composition of n regions: lengths, and shares of G and C, soft-masked bases and other letters."""

    length: Floats  # shape (n,): Bases
    gc: Floats  # shape (n,): Share of G and C among A, C, G and T
    repeats: Floats  # shape (n,): Share of lower-case (soft-masked) bases
    unknown: Floats  # shape (n,): Share of other letters, such as N

    def take(self, rows: Bools | Ints) -> Composition:
        """Return the Composition of some of the regions."""
        return Composition(self.length[rows], self.gc[rows], self.repeats[rows], self.unknown[rows])


def _weights() -> Ints:
    """Return, for each byte, a 1 in the bit fields that count it: G and C, lower case, other letters."""
    table = np.full(256, 1 << 2 * FIELD, dtype=np.int64)
    for letter in b"ACGTUacgtu":
        table[letter] = (letter in b"GCgc") + ((letter >= ord("a")) << FIELD)
    for letter in b"nrywskmbdhvx":
        table[letter] = (1 << 2 * FIELD) + (1 << FIELD)
    return table


WEIGHTS = _weights()


def composition(regions: Regions, genome: Genome) -> Composition:
    """Return the composition of regions."""
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


MATCHED = ("length", "gc", "repeats")
POOL, LEAST_POOL, LARGEST_POOL = 60, 20_000, 3_000_000
"""Number of candidates for each region in the first round; least and largest number for all regions."""
ROUNDS = 3
"""Maximum number of rounds: regions without a close match draw again from a larger pool; the last takes the nearest."""
CLOSE = {"gc": 0.02, "repeats": 0.05}
"""Largest difference of a close match."""
LENGTHS = 12
"""Maximum number of length classes: candidates have the longest length of their class, and are trimmed."""
NEAREST = 32
QUERIED = 4_000_000
"""Number of candidates examined for a region at first, and for all regions at a time."""


@dataclass(frozen=True)
class BackgroundOptions:
    """Options for drawing background regions."""

    factor: float = 1.0  # Background regions for each peak
    seed: int = 1  # Of the random numbers
    match: tuple[str, ...] = MATCHED  # Properties among `MATCHED`
    chromosomes: str = "same"  # Whether a background region lies on the chromosome of its peak, or on any with a peak

    def __post_init__(self) -> None:
        check_integer("seed", self.seed, 0)
        check_choice("chromosomes", self.chromosomes, ("same", "any"))
        for name in self.match:
            check_choice("match", name, MATCHED)
        if not 0 < self.factor <= 10_000:
            raise ParameterError(f"factor {self.factor:g} is not from 0 to 10,000", remedy="give a positive number")


@dataclass(frozen=True, eq=False)
class Background:
    """Background regions, with their composition and the composition of the peaks that they are matched to."""

    regions: Regions  # Named by the places of their peaks, with the counts of these
    found: Composition  # Of these regions
    peaks: Composition  # Of all peaks
    remarks: tuple[str, ...]  # What could not be matched, as sentences


def draw_background(
    peaks: Regions, genome: Genome, options: BackgroundOptions | None = None, exclude: Sequence[Regions] = ()
) -> Background:
    """Draw background regions that overlap no peak, no excluded region, no N, and no other background region."""
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
    same, names = options.chromosomes == "same", np.unique(peaks.chromosomes).tolist()
    search = _Search(genome, [peaks, *exclude], names, same, rng)
    properties = [name for name in ("gc", "repeats") if name in options.match]
    remarks = []
    if "repeats" in properties and np.ptp(own.repeats) == 0 and not search.is_masked():
        properties.remove("repeats")
        remarks.append(f"{genome.path} has no soft-masked (lower-case) bases, so repeats are not matched")
    wanted = np.column_stack([getattr(own, name)[slots] / CLOSE[name] for name in properties] or [np.zeros(len(slots))])
    full = search.without_room(lengths, peaks.chromosomes[slots])
    if full is not None:
        raise _no_place(peaks, int(slots[full]), 0, options)
    starts, on = search.matches(wanted, properties, lengths, peaks.chromosomes[slots])
    missing = np.flatnonzero(starts < 0)
    if len(missing):
        raise _no_place(peaks, int(slots[missing[0]]), len(slots) - len(missing), options)
    names = np.array(peaks.ids())[slots]
    regions = make_regions(on, starts, starts + lengths, names, strands=peaks.strands[slots], file=peaks.file)
    regions = replace(regions, counts=peaks.counts)
    found = composition(regions, genome)
    remarks += _remarks(own, found, slots, properties)
    return Background(regions, found, own, tuple(remarks))


def _slots(n: int, factor: float, rng: np.random.Generator) -> Ints:
    """Return the peak for each background region: all peaks equally often, the remainder drawn at random."""
    times, rest = divmod(round(n * factor), n)
    drawn = np.sort(rng.permutation(n)[:rest])
    return np.concatenate((np.tile(np.arange(n), times), drawn)).astype(np.int64)


def _remarks(own: Composition, found: Composition, slots: Ints, properties: Sequence[str]) -> list[str]:
    """Return a sentence for each property in which some regions differ considerably from their peaks."""
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
    """A search for background regions: candidates at random places, and the choice of the nearest free ones."""

    def __init__(
        self, genome: Genome, closed: Sequence[Regions], chromosomes: list[str], same: bool, rng: np.random.Generator
    ) -> None:
        self.genome, self.chromosomes, self.same, self.rng = genome, chromosomes, same, rng
        chromosomes_of, starts, stops = zip(*((one.chromosomes, one.starts, one.stops) for one in closed), strict=True)
        self.closed = make_regions(np.concatenate(chromosomes_of), np.concatenate(starts), np.concatenate(stops))
        self.taken: dict[str, list[tuple[int, int]]] = {name: [] for name in chromosomes}

    def is_masked(self) -> bool:
        """Return whether random regions contain lower-case bases, in varying proportions."""
        drawn = self._drawn(self.chromosomes, 10_000, 1000)
        shares = composition(drawn, self.genome).repeats
        return bool(len(shares) and np.ptp(shares) > 0)

    def without_room(self, lengths: Ints, chromosomes: npt.NDArray[np.str_]) -> int | None:
        """Return a slot for which there is no room, or None.

        Its chromosome, or the whole genome, has fewer free bases than the slots on it need.
        """
        free = {name: self.genome.lengths[name] - _covered(self.closed, name) for name in self.chromosomes}
        if not self.same:
            return 0 if lengths.sum() > sum(free.values()) else None
        for name in self.chromosomes:
            here = np.flatnonzero(chromosomes == name)
            if lengths[here].sum() > free[name]:
                return int(here[0])
        return None

    def matches(
        self, wanted: Floats, properties: Sequence[str], lengths: Ints, chromosomes: npt.NDArray[np.str_]
    ) -> tuple[Ints, npt.NDArray[np.str_]]:
        """Return the start and the chromosome of a region for each slot; the start is −1 where no place is left."""
        self.wanted, self.properties, self.lengths = wanted, properties, lengths
        self.starts, self.on = np.full(len(wanted), -1, dtype=np.int64), chromosomes.copy()
        for turn in range(ROUNDS):
            for place in self.chromosomes if self.same else [None]:
                here = np.flatnonzero((self.starts < 0) & (True if place is None else chromosomes == place))
                share = len(here) / len(wanted)
                for rows in _by_length(here, lengths):
                    longest = int(lengths[rows].max())
                    count = _pool(len(rows), len(here), share, turn)
                    where = self.chromosomes if place is None else [place]
                    self._choose(self._drawn(where, count, longest), rows, turn == ROUNDS - 1)
        return self.starts, self.on

    def _drawn(self, chromosomes: Sequence[str], count: int, length: int) -> Regions:
        """Return random regions of one length, in proportion to the chromosomes' lengths.

        They do not overlap the closed regions.
        """
        room = np.maximum(ends_of(chromosomes, self.genome.lengths) - length + 1, 0)
        if not room.sum():
            return make_regions([], [], [])
        places = np.sort(self.rng.integers(0, room.sum(), count))
        which = np.searchsorted(np.cumsum(room), places, side="right")
        starts = places - (np.cumsum(room) - room)[which]
        drawn = make_regions(np.array(chromosomes)[which], starts, starts + length)
        return drawn.take(~overlapping(drawn, self.closed))

    def _choose(self, pool: Regions, rows: Ints, last: bool) -> None:
        """Assign the nearest free candidate to each of some slots, but only a close one before the last round."""
        # imported here for fast start-up
        from scipy.spatial import cKDTree

        found = composition(pool, self.genome)
        keep = found.unknown == 0
        pool, found = pool.take(keep), found.take(keep)
        columns = [getattr(found, name) / CLOSE[name] for name in self.properties]
        points = np.column_stack(columns or [np.zeros(len(pool))])
        # many candidates have equal shares: noise below the resolution of a share keeps searches from the same ones
        points += self.rng.uniform(-1, 1, points.shape) * 0.5 / (float(self.lengths[rows].max()) * min(CLOSE.values()))
        free = np.ones(len(pool), dtype=bool)
        waiting, many = rows[self.rng.permutation(len(rows))], NEAREST
        while len(waiting) and free.any():
            left = np.flatnonzero(free)
            many = min(many, len(left), max(NEAREST, QUERIED // len(waiting)))
            distances, near = (
                np.reshape(part, (len(waiting), -1))
                for part in cKDTree(points[left]).query(self.wanted[waiting], k=many)
            )
            # the rarest first: others find another candidate more easily
            order = np.argsort(-distances[:, -1], kind="stable")
            failed = []
            for j in order.tolist():
                slot = int(waiting[j])
                chosen = self._first_free(pool, left[near[j]].tolist(), int(self.lengths[slot]), free)
                if chosen is None:
                    failed.append(slot)
                elif last or np.abs(points[chosen[0]] - self.wanted[slot]).max() <= 1:
                    name = str(pool.chromosomes[chosen[0]])
                    self.starts[slot], self.on[slot] = chosen[1], name
                    free[chosen[0]] = False
                    bisect.insort(self.taken[name], (chosen[1], chosen[1] + int(self.lengths[slot])))
            waiting, many = np.array(failed, dtype=np.int64), 8 * many

    def _first_free(self, pool: Regions, candidates: list[int], length: int, free: Bools) -> tuple[int, int] | None:
        """Return the first candidate that overlaps no region already taken, and its start when trimmed to a length."""
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
    """Return the number of bases of a chromosome that lie in some regions."""
    own = regions.take(regions.chromosomes == chromosome)
    order = np.argsort(own.starts, kind="stable")
    starts, stops = own.starts[order], np.maximum.accumulate(own.stops[order])
    before = np.concatenate(([0], stops[:-1])) if len(stops) else stops
    return int(np.maximum(stops - np.maximum(starts, before), 0).sum())


def _by_length(rows: Ints, lengths: Ints) -> list[Ints]:
    """Return the slots, grouped by similar length."""
    if not len(rows):
        return []
    known = np.unique(lengths[rows])
    if len(known) <= LENGTHS:
        return [rows[lengths[rows] == length] for length in known]
    order = rows[np.argsort(lengths[rows], kind="stable")]
    return [part for part in np.array_split(order, LENGTHS) if len(part)]


def _pool(slots: int, here: int, share: float, turn: int) -> int:
    """Return the number of candidates for some slots of a chromosome in a round (numbered from 0)."""
    most = int(LARGEST_POOL * max(share, 0.02) * slots / here)
    return max(1000, min(max(POOL * slots * 4**turn, LEAST_POOL * slots // here), most))


# Tables of how well background regions match their peaks: means, quantiles, and distances of distributions.

PROPERTIES = {"length": "length", "gc": "GC content", "repeats": "share of repeats"}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
COLUMNS = ("property", "set", "n", "mean", "q05", "q25", "median", "q75", "q95", "ks")


def ks_distance(a: Floats, b: Floats) -> float:
    """Return the Kolmogorov-Smirnov distance: the largest difference between two cumulative distributions.

    >>> import numpy as np
    >>> ks_distance(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    0.5
    """
    values = np.unique(np.concatenate((a, b)))
    shares = [np.searchsorted(np.sort(one), values, side="right") / len(one) for one in (a, b)]
    return float(np.abs(shares[0] - shares[1]).max())


def match_rows(peaks: Composition, background: Composition) -> Iterator[list[object]]:
    """Yield two rows for each property: one for the peaks, one for the background with its distance."""
    for name in PROPERTIES:
        own, other = getattr(peaks, name), getattr(background, name)
        for what, values, distance in (("peaks", own, None), ("background", other, ks_distance(own, other))):
            quantiles = np.quantile(values, QUANTILES).tolist()
            yield [name, what, len(values), float(values.mean()), *quantiles, distance]


def match_lines(peaks: Composition, background: Composition) -> list[str]:
    """Return the table as aligned text, for a terminal."""
    rows = [["", "", "mean", "5%", "25%", "median", "75%", "95%", "KS distance"]]
    for name, what, _, *numbers, distance in match_rows(peaks, background):
        form = ".1f" if name == "length" else ".3f"
        title = PROPERTIES[str(name)] if what == "peaks" else ""
        cells = [format(number, form) for number in numbers]
        rows.append([title, str(what), *cells, "" if distance is None else f"{distance:.4f}"])
    return aligned(rows)
