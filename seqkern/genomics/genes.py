"""Genes by an exon–intron grammar: candidate boundaries, content, decoding, the score's parts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import cached_property

import numpy as np

from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError
from seqkern.core.types import Bools, Codes, Floats, Ints
from seqkern.genomics._viterbi import viterbi
from seqkern.sequences.alphabets import DNA, MASK
from seqkern.sequences.streaming import occurrences, reverse_complement_codes

# Content scores: log odds of coding or intron sequence against intergenic sequence, by Markov chains.
#
# Coding sequence has a chain for each codon position. The score of a base is the log probability given the preceding
# bases, minus the same for intergenic sequence; masked bases, and those too near the start, score 0.

LONGEST = 5
NEEDED = 50
"""Number of coding bases needed for each probability of the chain."""
PRIOR = 10.0
"""Weight of the chain with one preceding base less."""


@dataclass(frozen=True, eq=False)
class Content:
    r"""Content scores of bases given the preceding bases.

    >>> content = Content.learn([[b"\0\1\2\3" * 9, 0]], [], [b"\0\1\2\3" * 9], order=1)
    >>> content.order, content.coding.shape
    (1, (3, 16))
    """

    coding: Floats  # shape (3, 4^(order + 1): By the place of the last base in its codon
    intron: Floats  # shape (4^(order + 1): Of introns

    @property
    def order(self) -> int:
        """The order of the Markov chains: the number of preceding bases that the score of a base depends on."""
        return int(self.intron.size).bit_length() // 2 - 1

    @classmethod
    def learn(
        cls,
        coding: Iterable[tuple[Codes | bytes, int]],
        introns: Iterable[Codes | bytes],
        between: Iterable[Codes | bytes],
        order: int | None = None,
    ) -> Content:
        """Learn the scores from k-mer counts in coding, intron and intergenic sequence."""
        parts = list(coding)
        if order is None:
            total = sum(len(part) for part, _ in parts)
            order = max((k for k in range(LONGEST + 1) if NEEDED * 3 * 4 ** (k + 1) <= total), default=0)
        counts = np.zeros((3, 4 ** (order + 1)))
        for part, place in parts:
            words, ends = _kmer_codes(part, order)
            np.add.at(counts, ((ends + place) % 3, words), 1)
        background = _logarithms(_counted(between, order))
        return cls(
            np.stack([_logarithms(row) for row in counts]) - background,
            _logarithms(_counted(introns, order)) - background,
        )

    def coding_sums(self, codes: Codes, place: int, reverse: bool) -> Floats:
        """Return the cumulative coding scores of the bases on the left of each boundary, shape (n + 1,)."""
        words, ends = _kmer_codes(codes, self.order)
        left = len(codes) - 1 - ends if reverse else ends
        inside = (left - place) % 3
        return _sums(self.coding[2 - inside if reverse else inside, words], left, len(codes))

    def intron_sums(self, codes: Codes, reverse: bool) -> Floats:
        """Return the cumulative intron scores; see `coding_sums`."""
        words, ends = _kmer_codes(codes, self.order)
        return _sums(self.intron[words], len(codes) - 1 - ends if reverse else ends, len(codes))


def _sums(values: Floats, places: Ints, n: int) -> Floats:
    """Return the cumulative sums, on the left of each of n + 1 boundaries, of values at some places."""
    all_values = np.zeros(n + 1)
    all_values[places + 1] = values
    return np.cumsum(all_values)


def _kmer_codes(part: Codes | bytes, order: int) -> tuple[Ints, Ints]:
    """Return the (order + 1)-mers without masked bases, as numbers, and where they end."""
    codes = np.frombuffer(part, dtype=np.uint8) if isinstance(part, bytes) else part
    n = len(codes) - order
    if n < 1:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    words, good = np.zeros(n, dtype=np.int64), np.ones(n, dtype=bool)
    for i in range(order + 1):
        words = 4 * words + codes[i : i + n]
        good &= codes[i : i + n] != MASK
    ends = np.flatnonzero(good)
    return words[ends], ends + order


def _counted(parts: Iterable[Codes | bytes], order: int) -> Floats:
    """Return the number of occurrences of each k-mer."""
    counts = np.zeros(4 ** (order + 1))
    for part in parts:
        counts += np.bincount(_kmer_codes(part, order)[0], minlength=len(counts))
    return counts


def _logarithms(counts: Floats) -> Floats:
    """Return the log probability of each k-mer's last base given the other bases.

    The counts are smoothed with the probabilities of the chain of the next lower order, times `PRIOR`.
    """
    lower = np.full(4, 0.25) if len(counts) == 4 else np.exp(_logarithms(counts.reshape(4, -1).sum(axis=0)))
    table = counts.reshape(-1, 4)
    prior = np.resize(lower, counts.shape).reshape(-1, 4)
    shares: Floats = (table + PRIOR * prior) / (table.sum(axis=1, keepdims=True) + PRIOR)
    return np.log(shares).ravel()


# Candidate boundaries of genes, exons and introns on both strands of a chromosome, with their scores.
#
# From left to right on either strand a gene begins (`BEGIN`), an exon ends and an intron follows (`LEAVE`), an intron
# ends and an exon follows (`ENTER`), and a gene ends (`END`). On strand + these are start codon, donor, acceptor and
# stop codon; on strand − they are stop codon, acceptor, donor and start codon.

BEGIN, LEAVE, ENTER, END = range(4)
ORDER = np.array([3, 1, 2, 0])  # a gene may begin where another ends
STOPS = ("TAA", "TAG", "TGA")
START = "ATG"
BACTERIAL_STARTS = (START, "GTG", "TTG")
DONORS = ("GT", "GC")
ACCEPTOR = "AG"
UNKNOWN = 4
"""Code of masked bases here."""


Scorer = Callable[[Codes, Ints], Floats]
"""Decision values at the first base of donor or acceptor sites of a sequence; NaN where there is none."""


def stop_table() -> Codes:
    """Return whether three codes, from left to right, are a stop codon on strand + or −, uint8 (2, 125)."""
    table = np.zeros((2, 125), dtype=np.uint8)
    for stop in STOPS:
        codes = DNA.encode(stop.encode()).astype(int)
        other = DNA.complement_codes[codes[::-1]].astype(int)
        table[0, codes @ [25, 5, 1]] = table[1, other @ [25, 5, 1]] = 1
    return table


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Candidate boundaries in ascending order of position, with their scores and cumulative content scores."""

    position: Ints  # shape (n,): The first base on the right of each, from 0
    kind: Codes  # shape (n,): `BEGIN`, `LEAVE`, `ENTER` or `END`; 1 for strand −
    strand: Codes  # shape (n,): `BEGIN`, `LEAVE`, `ENTER` or `END`; 1 for strand −
    decision: Floats  # shape (n,): Of the classifier of donor, acceptor or start sites; NaN for stop codons
    rare: Bools  # shape (n,): Donor sites with GC
    # shape (n, 3): Sum of the content of the bases on the left as coding, where codons begin at places r modulo 3
    coding: Floats
    intron: Floats  # shape (n,): The same as intron
    # shape (n, 3): Where the last whole stop codon on the left begins, if f coding bases are left over behind its
    # frame; −1 if there is none. Of the end of a gene on strand + the one before its own
    closed: Ints
    near: Codes  # shape (n, 2): Codes of the two exon bases at the boundary of an exon and an intron

    def __len__(self) -> int:
        return len(self.position)

    def between(self, start: int, stop: int) -> Boundaries:
        """Return the boundaries that genes inside an interval (from 0, half open) can have."""
        # at an end a gene may begin or end, but not both
        low, high = np.searchsorted(self.position, [start, stop + 1])
        rows = np.arange(low, high)
        rows = rows[((self.position[rows] > start) | (self.kind[rows] == BEGIN)) & (self.position[rows] <= stop)]
        rows = rows[(self.position[rows] < stop) | (self.kind[rows] == END)]
        return Boundaries(*(np.ascontiguousarray(getattr(self, field.name)[rows]) for field in fields(self)))

    @cached_property
    def scored(self) -> dict[str, Bools]:
        """Masks of the sites that a classifier scored, bool (n,), by kind."""
        kinds = (("donor", LEAVE, ENTER), ("acceptor", ENTER, LEAVE), ("start", BEGIN, END))
        known = ~np.isnan(self.decision)
        return {name: known & (self.kind == np.where(self.strand == 0, *ends)) for name, *ends in kinds}


def find_boundaries(
    codes: Codes, scorers: dict[str, Scorer], content: Content, starts: Sequence[str] = (START,)
) -> Boundaries:
    """Return the candidate boundaries of a chromosome."""
    reverse = reverse_complement_codes(codes, DNA)
    parts = [_on_strand(strand, codes if strand == 0 else reverse, scorers, starts) for strand in (0, 1)]
    position, kind, strand, decision, rare = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((strand, ORDER[kind], position))
    position, kind, strand, decision, rare = (a[order] for a in (position, kind, strand, decision, rare))
    coding, intron = np.empty((len(position), 3)), np.empty(len(position))
    closed = np.full((len(position), 3), -1, dtype=np.int64)
    for side, own in enumerate((codes, reverse)):
        rows = np.flatnonzero(strand == side)
        at = position[rows]
        for place in range(3):
            coding[rows, place] = content.coding_sums(own, place, bool(side))[at]
        intron[rows] = content.intron_sums(own, bool(side))[at]
        last = _last_stops(codes, side)
        own_stop = 3 * ((kind[rows] == END) & (side == 0))
        for phase in range(3):
            begin = at - phase - 3 - own_stop
            closed[rows, phase] = np.where(begin >= 0, last[np.maximum(begin, 0)] if len(last) else -1, -1)
    near = np.full((len(position), 2), UNKNOWN, dtype=np.uint8)
    known = np.where(codes == MASK, UNKNOWN, codes)
    for which, shift in ((LEAVE, -2), (ENTER, 0)):
        rows = np.flatnonzero(kind == which)
        for i in (0, 1):
            near[rows, i] = known[position[rows] + shift + i]
    return Boundaries(position, kind, strand, decision, rare, coding, intron, closed, near)


def _on_strand(
    strand: int, codes: Codes, scorers: dict[str, Scorer], starts: Sequence[str]
) -> tuple[Ints, Codes, Codes, Floats, Bools]:
    """Return positions, kinds, strands and decision values of the boundaries of a strand, and which are GC donors."""
    n = len(codes)
    found: list[tuple[Ints, int, Floats, bool]] = []
    sites = [*(("start", BEGIN, start, 0) for start in starts), *(("stop", END, stop, 3) for stop in STOPS)]
    sites += [*(("donor", LEAVE, donor, 0) for donor in DONORS), ("acceptor", ENTER, ACCEPTOR, 2)]
    for name, kind, word, shift in sites:
        places = _places(codes, word)
        if kind in (LEAVE, ENTER):
            places = places[(places + shift >= 2) & (places + shift <= n - 2)]
        decisions = np.full(len(places), np.nan)
        if name in scorers:
            decisions = scorers[name](codes, places)
            places, decisions = places[~np.isnan(decisions)], decisions[~np.isnan(decisions)]
        elif kind in (LEAVE, ENTER):
            continue
        found.append((places + shift, kind, decisions, word == DONORS[1]))
    position = np.concatenate([places for places, *_ in found])
    kinds = np.concatenate([np.full(len(places), kind, dtype=np.uint8) for places, kind, *_ in found])
    decision = np.concatenate([values for _, _, values, _ in found])
    rare = np.concatenate([np.full(len(places), gc) for places, *_, gc in found])
    if strand:
        position, kinds = n - position, (END - kinds).astype(np.uint8)
    return position, kinds, np.full(len(position), strand, dtype=np.uint8), decision, rare


def _places(codes: Codes, word: str) -> Ints:
    """Return the places where a motif begins."""
    return occurrences(codes, DNA.encode(word.encode()), 0, len(codes) - len(word) + 1)


def _last_stops(codes: Codes, strand: int) -> Ints:
    """Return, for each base, the start of the last stop codon of a strand at or before it in its frame, or −1."""
    table = stop_table()[strand]
    known = np.where(codes == MASK, UNKNOWN, codes).astype(np.int64)
    last = np.full(len(codes), -1, dtype=np.int64)
    words = 25 * known[:-2] + 5 * known[1:-1] + known[2:]
    here = np.flatnonzero(table[words])
    last[here] = here
    for frame in range(3):
        np.maximum.accumulate(last[frame::3], out=last[frame::3])
    return last


@dataclass(frozen=True)
class Gene:
    """The coding part of a gene, as intervals that include the stop codon.

    >>> Gene(False, ((10, 40), (100, 130))).span
    (10, 130)
    """

    reverse: bool  # True on strand −
    # Start and stop of its coding parts with the stop codon, ascending, from 0, half open
    parts: tuple[tuple[int, int], ...]
    score: float = 0.0  # What it adds to the score of its chromosome

    @property
    def span(self) -> tuple[int, int]:
        """The interval from its first to its last coding base."""
        return self.parts[0][0], self.parts[-1][1]

    @property
    def introns(self) -> list[tuple[int, int]]:
        """The gaps between its coding parts."""
        return [(left[1], right[0]) for left, right in itertools.pairwise(self.parts)]

    def edges(self) -> Iterator[tuple[int, int]]:
        """Yield the position and kind of each of its boundaries, from left to right."""
        last = len(self.parts) - 1
        for i, (start, stop) in enumerate(self.parts):
            yield start, ENTER if i else BEGIN
            yield stop, LEAVE if i < last else END


def rows_of(gene: Gene, boundaries: Boundaries) -> list[int] | None:
    """Return the rows of a gene's boundaries among the candidates, or None if one is not a candidate."""
    rows = []
    for position, kind in gene.edges():
        low, high = np.searchsorted(boundaries.position, [position, position + 1])
        here = np.arange(low, high)
        here = here[(boundaries.kind[here] == kind) & (boundaries.strand[here] == int(gene.reverse))]
        if not len(here):
            return None
        rows.append(int(here[0]))
    return rows


# The best genes of a chromosome: a semi-Markov Viterbi algorithm over candidate boundaries.
#
# Genes of both strands lie on one path and do not overlap. A gene runs from ATG to the first stop codon in its frame,
# also across introns; introns run from GT or GC to AG. No intron splits the start or the stop codon. An exon looks back
# over the boundaries in its open frame, an intron over those within the longest intron, so that the time is
# proportional to the length of the chromosome and to the length of the longest intron.
#
# References:
# Burge, Karlin: Prediction of complete gene structures in human genomic DNA. J. Mol. Biol. 268:78, 1997.

LONGEST_PART = 10**6
"""Maximum length of a part in bases; there are tables of all lengths up to the longest."""
EXON_TYPES = ("inner", "left", "right", "single")
"""Rows of `Scores.exon_lengths`: an exon between two introns, at the left or right end of its gene, or a whole gene."""


@dataclass(frozen=True)
class Limits:
    """Limits on the lengths, in bases, of introns and of the coding parts of exons (including the stop codon).

    >>> Limits(3, 300, 20, 1000).longest_intron
    1000
    """

    shortest_exon: int  # At least 3, so that no intron splits a codon twice
    longest_exon: int  # At least 3, so that no intron splits a codon twice
    shortest_intron: int  # At least 4, for GT and AG
    longest_intron: int  # At least 4, for GT and AG

    def __post_init__(self) -> None:
        check_integer("shortest_exon", self.shortest_exon, 3)
        check_integer("longest_exon", self.longest_exon, self.shortest_exon, LONGEST_PART)
        check_integer("shortest_intron", self.shortest_intron, 4)
        check_integer("longest_intron", self.longest_intron, self.shortest_intron, LONGEST_PART)


@dataclass(frozen=True, eq=False)
class Scores:
    """The contributions of the parts of a path to its score; intergenic sequence adds 0.

    >>> Scores(np.zeros(2), np.zeros((2, 3)), np.zeros(2), np.zeros((2, 4, 10)), np.zeros(9)).boundary
    array([0., 0.])
    """

    boundary: Floats  # shape (n,): For each candidate boundary
    coding: Floats  # shape (n, 3): As `Boundaries.coding`, weighted
    intron: Floats  # shape (n,): As `Boundaries.intron`, weighted
    exon_lengths: Floats  # shape (2, 4, longest exon + 1): By strand, as `EXON_TYPES`, and length
    intron_lengths: Floats  # shape (longest intron + 1,): By length


def decode(boundaries: Boundaries, scores: Scores, limits: Limits) -> tuple[float, list[list[int]]]:
    """Return the score of the best path, and its genes as rows of `boundaries`."""
    n, exon = len(boundaries), (2, 4, limits.longest_exon + 1)
    shapes = {"boundary": (n,), "coding": (n, 3), "intron": (n,), "exon_lengths": exon}
    shapes["intron_lengths"] = (limits.longest_intron + 1,)
    for name, shape in shapes.items():
        if getattr(scores, name).shape != shape:
            raise ParameterError(f"{name} has the shape {getattr(scores, name).shape}, but needs {shape}")
    best, last, came = viterbi(
        boundaries.position,
        boundaries.kind,
        boundaries.strand,
        np.ascontiguousarray(scores.boundary),
        np.ascontiguousarray(scores.coding),
        np.ascontiguousarray(scores.intron),
        boundaries.closed,
        boundaries.near,
        np.ascontiguousarray(scores.exon_lengths.reshape(8, -1)),
        np.ascontiguousarray(scores.intron_lengths),
        limits.shortest_exon,
        limits.shortest_intron,
        stop_table(),
    )
    return best, _genes(boundaries, last, came)


def _genes(boundaries: Boundaries, last: int, came: Ints) -> list[list[int]]:
    """Return the rows of the boundaries of each gene on the path that ends at row `last`."""
    genes: list[list[int]] = []
    while last >= 0:
        at, phase, rows = last, 0, [last]
        while boundaries.kind[at] != BEGIN:
            before = int(came[at, phase])
            if boundaries.kind[before] != LEAVE:  # an exon; an intron does not change the phase
                phase = (phase - int(boundaries.position[at] - boundaries.position[before])) % 3
            rows.append(before)
            at = before
        genes.append(rows[::-1])
        last = int(came[at, 0])
    return genes[::-1]


def as_genes(boundaries: Boundaries, rows: list[list[int]], scores: Scores) -> list[Gene]:
    """Return genes with their scores."""
    genes = []
    for own in rows:
        edges = boundaries.position[own].reshape(-1, 2).tolist()
        gene = Gene(bool(boundaries.strand[own[0]]), tuple((start, stop) for start, stop in edges))
        genes.append(replace(gene, score=path_score(boundaries, own, scores)))
    return genes


def path_score(boundaries: Boundaries, rows: list[int], scores: Scores) -> float:
    """Return the contribution of a gene to the score of its path."""
    at = np.array(rows)
    starts, stops = at[::2], at[1::2]
    exons = boundaries.position[stops] - boundaries.position[starts]
    places = codon_places(boundaries.position[starts], exons)
    total = scores.boundary[at].sum() + (scores.coding[stops, places] - scores.coding[starts, places]).sum()
    side = int(boundaries.strand[rows[0]])
    total += scores.exon_lengths[side, exon_types(len(exons)), exons].sum()
    introns = boundaries.position[starts[1:]] - boundaries.position[stops[:-1]]
    total += (scores.intron[starts[1:]] - scores.intron[stops[:-1]] + scores.intron_lengths[introns]).sum()
    return float(total)


def codon_places(starts: Ints, sizes: Ints) -> Ints:
    """Return where codons begin, modulo 3, in each exon of a gene."""
    return (starts - np.concatenate(([0], np.cumsum(sizes)[:-1]))) % 3


def exon_types(n: int) -> Ints:
    """Return the indices in `EXON_TYPES` of the exons of a gene.

    >>> exon_types(3).tolist(), exon_types(1).tolist()
    ([1, 0, 2], [3])
    """
    types = np.zeros(n, dtype=np.int64)
    types[0] += 1
    types[-1] += 2
    return types


# The score of genes as a weighted sum of features: w · Ψ(sequence, genes).
#
# Decision values of donor and acceptor sites, and logarithms of lengths, contribute by piecewise linear functions whose
# values at the knots are weights (Rätsch, Sonnenburg); the contents and the number of genes have one weight each.
#
# References:
# Rätsch, Sonnenburg: Large scale hidden semi-Markov SVMs. Advances in Neural Information Processing Systems 19, 2007.

CONTENT_UNIT = 10.0
"""Divisor of the contents, so that a weight changes the score about as much as a site's weight does."""
EXONS = ("inner", "first", "last", "single")
BY_STRAND = ((0, 1, 2, 3), (0, 2, 1, 3))
"""Indices in `EXONS` of the types in `EXON_TYPES`, for each strand."""
CURVES = ("donor", "acceptor", *(f"{name} exon" for name in EXONS), "intron length", "start")
SINGLE = ("rare donor", "coding", "intron", "gene")


@dataclass(frozen=True, eq=False)
class Grammar:
    """The grammar of genes: allowed lengths, and the meaning of the weights.

    >>> grammar = Grammar(Limits(3, 100, 20, 200), {name: np.array([0.0, 1.0]) for name in CURVES})
    >>> grammar.n_weights, grammar.places["acceptor"]
    (20, slice(2, 4, None))
    """

    limits: Limits  # Of exons and introns
    # For each of `CURVES` that it has, ascending: of decision values, or of logarithms of lengths
    knots: dict[str, Floats]

    @cached_property
    def places(self) -> dict[str, slice]:
        """The slice of the weights for each part."""
        found, at = {}, 0
        curves = {name: len(self.knots[name]) for name in CURVES if name in self.knots}
        for name, size in (curves | dict.fromkeys(SINGLE, 1)).items():
            found[name] = slice(at, at + size)
            at += size
        return found

    @property
    def n_weights(self) -> int:
        """The number of weights."""
        return self.places[SINGLE[-1]].stop

    @cached_property
    def _logs(self) -> Floats:
        """The logarithms of all lengths of exons and introns."""
        return np.log(np.maximum(np.arange(max(self.limits.longest_exon, self.limits.longest_intron) + 1), 1))

    def curve(self, name: str, weights: Floats, values: Floats) -> Floats:
        """Return the values of a piecewise linear function, constant beyond its ends."""
        return np.interp(values, self.knots[name], weights[self.places[name]])

    def scores(self, boundaries: Boundaries, weights: Floats) -> Scores:
        """Return the contributions of the parts of a path to its score."""
        single = {name: float(weights[self.places[name]][0]) for name in SINGLE}
        boundary = np.where(boundaries.kind == END, single["gene"], 0.0)
        for name, rows in boundaries.scored.items():
            if name in self.knots:
                boundary[rows] += self.curve(name, weights, boundaries.decision[rows])
        boundary[boundaries.rare] += single["rare donor"]
        exons = np.stack([self._by_length(f"{name} exon", weights, self.limits.longest_exon) for name in EXONS])
        return Scores(
            boundary,
            boundaries.coding * (single["coding"] / CONTENT_UNIT),
            boundaries.intron * (single["intron"] / CONTENT_UNIT),
            np.stack([exons[list(order)] for order in BY_STRAND]),
            self._by_length("intron length", weights, self.limits.longest_intron),
        )

    def _by_length(self, name: str, weights: Floats, longest: int) -> Floats:
        """Return the scores of all lengths up to `longest`."""
        if name not in self.knots:
            return np.zeros(longest + 1)
        return self.curve(name, weights, self._logs[: longest + 1])

    def vector(self, boundaries: Boundaries, genes: list[list[int]]) -> Floats:
        """Return the feature vector Ψ of genes, whose product with the weights is their score."""
        psi = np.zeros(self.n_weights)
        at = np.array([row for rows in genes for row in rows], dtype=np.int64)
        for name, which in boundaries.scored.items():
            self._add(psi, name, boundaries.decision[at[which[at]]])
        lengths: dict[str, list[Floats]] = {name: [] for name in CURVES}
        for rows in genes:
            at = np.array(rows)
            starts, stops = at[::2], at[1::2]
            sizes = boundaries.position[stops] - boundaries.position[starts]
            places = codon_places(boundaries.position[starts], sizes)
            coding = boundaries.coding[stops, places] - boundaries.coding[starts, places]
            order = BY_STRAND[int(boundaries.strand[rows[0]])]
            for size, kind in zip(sizes, exon_types(len(sizes)), strict=True):
                lengths[f"{EXONS[order[kind]]} exon"].append(size)
            lengths["intron length"] += list(boundaries.position[starts[1:]] - boundaries.position[stops[:-1]])
            introns = boundaries.intron[starts[1:]] - boundaries.intron[stops[:-1]]
            single = (boundaries.rare[at].sum(), coding.sum() / CONTENT_UNIT, introns.sum() / CONTENT_UNIT, 1.0)
            for name, value in zip(SINGLE, single, strict=True):
                psi[self.places[name]] += value
        for name, values in lengths.items():
            self._add(psi, name, np.log(np.array(values, dtype=np.float64)))
        return psi

    def _add(self, psi: Floats, name: str, values: Floats) -> None:
        """Add each value's interpolation shares to its two neighbouring knots."""
        if not len(values) or name not in self.knots:
            return
        knots, own = self.knots[name], psi[self.places[name]]
        right = np.clip(np.searchsorted(knots, values, side="right"), 1, len(knots) - 1)
        share = np.clip((values - knots[right - 1]) / (knots[right] - knots[right - 1]), 0.0, 1.0)
        np.add.at(own, right, share)
        np.add.at(own, right - 1, 1.0 - share)


# Accuracy of predicted genes: sensitivity and precision for coding bases, coding exons and whole genes.
#
# A base is correct if it is coding on the same strand, an exon if both ends of its coding part are correct, a gene if
# its exons are exactly those of a transcript of one annotated gene. Burset and Guigó call the precision specificity.
#
# References:
# Burset, Guigó: Evaluation of gene structure prediction programs. Genomics 34:353, 1996.
# Guigó et al.: EGASP: the human ENCODE Genome Annotation Assessment Project. Genome Biol. 7 Suppl 1:S2, 2006.

LEVELS = ("base", "exon", "gene")

Structure = tuple[bool, tuple[tuple[int, int], ...]]
"""Whether a coding part is on strand −, and its exons: start and stop, ascending, from 0, half open."""


@dataclass(frozen=True)
class LevelAccuracy:
    """Numbers of annotated and predicted bases, exons or genes, and of the correct ones among each.

    >>> level = LevelAccuracy(4, 5, 3, 3)
    >>> level.sensitivity, level.precision, round(level.f1, 3)
    (0.75, 0.6, 0.667)
    """

    true: int  # Number of annotated and of predicted bases, exons or genes
    predicted: int  # Number of annotated and of predicted bases, exons or genes
    right_true: int  # How many of each are right
    right_predicted: int  # How many of each are right

    @property
    def sensitivity(self) -> float:
        """Share of annotated elements that are correct; NaN if none are annotated."""
        return self.right_true / self.true if self.true else math.nan

    @property
    def precision(self) -> float:
        """Share of predicted elements that are correct; NaN if none are predicted."""
        return self.right_predicted / self.predicted if self.predicted else math.nan

    @property
    def f1(self) -> float:
        """Harmonic mean of sensitivity and precision; 0 if nothing is correct."""
        right = self.right_true and self.right_predicted
        return 2 / (1 / self.sensitivity + 1 / self.precision) if right else 0.0

    def __add__(self, other: LevelAccuracy) -> LevelAccuracy:
        return LevelAccuracy(*map(sum, zip(astuple(self), astuple(other), strict=True)))


NOTHING = LevelAccuracy(0, 0, 0, 0)


def gene_accuracy(annotated: Iterable[Sequence[Structure]], predicted: Sequence[Structure]) -> dict[str, LevelAccuracy]:
    """Compare the predicted and annotated genes of one chromosome at each of `LEVELS`."""
    genes = [list(transcripts) for transcripts in annotated if transcripts]
    everything = [structure for transcripts in genes for structure in transcripts]
    true, found = _bases(everything), _bases(predicted)
    both = sum(
        max(0, min(stop, other_stop) - max(start, other_start))
        for strand in (False, True)
        for start, stop, other_start, other_stop in _overlaps(true[strand], found[strand])
    )
    n_true, n_found = (sum(stop - start for own in spans.values() for start, stop in own) for spans in (true, found))
    exons, others = _exons(everything), _exons(predicted)
    right = len(exons & others)
    own = set(everything)
    return {
        "base": LevelAccuracy(n_true, n_found, both, both),
        "exon": LevelAccuracy(len(exons), len(others), right, right),
        "gene": LevelAccuracy(
            len(genes),
            len(predicted),
            sum(not set(transcripts).isdisjoint(predicted) for transcripts in genes),
            sum(structure in own for structure in predicted),
        ),
    }


def _exons(structures: Iterable[Structure]) -> set[tuple[bool, tuple[int, int]]]:
    """Return the distinct exons with their strand."""
    return {(reverse, exon) for reverse, exons in structures for exon in exons}


def _bases(structures: Iterable[Structure]) -> dict[bool, list[tuple[int, int]]]:
    """Return the coding bases of each strand, as intervals without overlap."""
    exons = _exons(structures)
    return {strand: merged(exon for reverse, exon in exons if reverse == strand) for strand in (False, True)}


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return intervals in ascending order, merged where they overlap."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], stop)
        else:
            found.append((start, stop))
    return found


def _overlaps(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> Iterable[tuple[int, int, int, int]]:
    """Yield the pairs of intervals that may overlap from two ascending lists."""
    i = j = 0
    while i < len(left) and j < len(right):
        yield *left[i], *right[j]
        if left[i][1] <= right[j][1]:
            i += 1
        else:
            j += 1
