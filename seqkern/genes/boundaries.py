"""Candidate boundaries of genes, exons and introns on both strands of a chromosome, and what speaks for each.

From left to right on either strand a gene begins (`BEGIN`), an exon ends and an intron follows (`LEAVE`), an intron
ends and an exon follows (`ENTER`), and a gene ends (`END`). On strand + these are start codon, donor, acceptor and stop
codon; on strand − they are stop codon, acceptor, donor and start codon.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from seqkern.genes.content import Content
from seqkern.sequences.alphabets import DNA, MASK
from seqkern.sequences.candidates import occurrences, reverse_complement_codes

BEGIN, LEAVE, ENTER, END = range(4)
ORDER = np.array([3, 1, 2, 0])  # a gene may begin where another ends
STOPS = ("TAA", "TAG", "TGA")
START = "ATG"
DONORS = ("GT", "GC")
ACCEPTOR = "AG"
UNKNOWN = 4
"""Code of masked letters here."""

Codes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Scorer = Callable[[Codes, Integers], Floats]
"""Decision values at the first base of donor or acceptor sites of a sequence; NaN where there is none."""


def stop_table() -> npt.NDArray[np.uint8]:
    """Return whether three codes, from left to right, are a stop codon on strand + or −, uint8 (2, 125)."""
    table = np.zeros((2, 125), dtype=np.uint8)
    for stop in STOPS:
        codes = DNA.encode(stop.encode()).astype(int)
        other = DNA.complement_codes[codes[::-1]].astype(int)
        table[0, codes @ [25, 5, 1]] = table[1, other @ [25, 5, 1]] = 1
    return table


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Candidate boundaries in ascending order.

    Attributes
    ----------
    position : ndarray of int64, shape (n,)
        The first base on the right of each, from 0.
    kind, strand : ndarray of uint8, shape (n,)
        `BEGIN`, `LEAVE`, `ENTER` or `END`; 1 for strand −.
    decision : ndarray of float64, shape (n,)
        Of the classifier of donor or acceptor sites; NaN for start and stop codons.
    rare : ndarray of bool, shape (n,)
        Donor sites with GC.
    coding : ndarray of float64, shape (n, 3)
        Sum of the content of the bases on the left as coding, where codons begin at places r modulo 3.
    intron : ndarray of float64, shape (n,)
        The same as intron.
    closed : ndarray of int64, shape (n, 3)
        Where the last whole stop codon on the left begins, if f coding bases are left over behind its frame; −1 if
        there is none. Of the end of a gene on strand + the one before its own.
    near : ndarray of uint8, shape (n, 2)
        Codes of the two exon bases at the boundary of an exon and an intron.

    Examples
    --------
    >>> from seqkern.genes.boundaries import Boundaries, find_boundaries
    >>> from seqkern.genes.content import Content
    >>> codes = DNA.encode(b"CATGAAATAACC")
    >>> found = find_boundaries(codes, {}, Content.none())
    >>> [(int(at), "begin leave enter end".split()[kind], "+-"[strand])
    ...  for at, kind, strand in zip(found.position, found.kind, found.strand)]
    [(1, 'begin', '+'), (3, 'end', '-'), (5, 'end', '+'), (10, 'end', '+')]
    """

    position: Integers
    kind: npt.NDArray[np.uint8]
    strand: npt.NDArray[np.uint8]
    decision: Floats
    rare: npt.NDArray[np.bool_]
    coding: Floats
    intron: Floats
    closed: Integers
    near: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.position)

    def between(self, start: int, stop: int) -> Boundaries:
        """Return the boundaries of genes inside an interval.

        Parameters
        ----------
        start, stop : int
            From 0, half open.

        Returns
        -------
        Boundaries
        """
        # at an end a gene may begin or end, but not both
        low, high = np.searchsorted(self.position, [start, stop + 1])
        rows = np.arange(low, high)
        rows = rows[((self.position[rows] > start) | (self.kind[rows] == BEGIN)) & (self.position[rows] <= stop)]
        rows = rows[(self.position[rows] < stop) | (self.kind[rows] == END)]
        return Boundaries(*(np.ascontiguousarray(getattr(self, field.name)[rows]) for field in fields(self)))

    @property
    def donors(self) -> npt.NDArray[np.bool_]:
        """Which are donor sites, bool (n,)."""
        return self.kind == np.where(self.strand == 0, LEAVE, ENTER)

    @property
    def acceptors(self) -> npt.NDArray[np.bool_]:
        """Which are acceptor sites, bool (n,)."""
        return self.kind == np.where(self.strand == 0, ENTER, LEAVE)


def find_boundaries(codes: Codes, scorers: dict[str, Scorer], content: Content) -> Boundaries:
    """Return the candidate boundaries of a chromosome.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n,)
        The chromosome.
    scorers : dict of str to callable
        For ``donor`` and ``acceptor``: returns decision values of sites, given a strand's codes and the places of
        the first bases; NaN leaves a site out. Without a scorer there are no such sites.
    content : Content
        Scores of coding and intron sequence.

    Returns
    -------
    Boundaries
    """
    reverse = reverse_complement_codes(codes, DNA)
    parts = [_on_strand(strand, codes if strand == 0 else reverse, scorers) for strand in (0, 1)]
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
    strand: int, codes: Codes, scorers: dict[str, Scorer]
) -> tuple[Integers, npt.NDArray[np.uint8], npt.NDArray[np.uint8], Floats, npt.NDArray[np.bool_]]:
    """Return positions, kinds, strands, decision values and whether it is GC, of the boundaries of a strand."""
    n = len(codes)
    found: list[tuple[Integers, int, Floats, bool]] = []
    codons = [(BEGIN, START, 0), *((END, stop, 3) for stop in STOPS)]
    for kind, word, shift in codons:
        places = _places(codes, word)
        found.append((places + shift, kind, np.full(len(places), np.nan), False))
    sites = [*(("donor", LEAVE, donor, 0) for donor in DONORS), ("acceptor", ENTER, ACCEPTOR, 2)]
    for name, kind, word, shift in sites:
        if name not in scorers:
            continue
        places = _places(codes, word)
        places = places[(places + shift >= 2) & (places + shift <= n - 2)]
        decisions = scorers[name](codes, places)
        scored = ~np.isnan(decisions)
        found.append((places[scored] + shift, kind, decisions[scored], word == DONORS[1]))
    position = np.concatenate([places for places, *_ in found])
    kinds = np.concatenate([np.full(len(places), kind, dtype=np.uint8) for places, kind, *_ in found])
    decision = np.concatenate([values for _, _, values, _ in found])
    rare = np.concatenate([np.full(len(places), gc) for places, *_, gc in found])
    if strand:
        position, kinds = n - position, (END - kinds).astype(np.uint8)
    return position, kinds, np.full(len(position), strand, dtype=np.uint8), decision, rare


def _places(codes: Codes, word: str) -> Integers:
    """Return where a word begins."""
    return occurrences(codes, DNA.encode(word.encode()), 0, len(codes) - len(word) + 1)


def _last_stops(codes: Codes, strand: int) -> Integers:
    """Return the last place, up to each base and in its frame, where a stop codon of a strand begins; else −1."""
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
    """The coding part of a gene.

    Attributes
    ----------
    reverse : bool
        True on strand −.
    parts : tuple of (int, int)
        Start and stop of its coding parts with the stop codon, ascending, from 0, half open.
    score : float
        What it adds to the score of its chromosome.

    Examples
    --------
    >>> Gene(False, ((10, 40), (100, 130))).span
    (10, 130)
    """

    reverse: bool
    parts: tuple[tuple[int, int], ...]
    score: float = 0.0

    @property
    def span(self) -> tuple[int, int]:
        """From its first to its last coding base."""
        return self.parts[0][0], self.parts[-1][1]

    @property
    def introns(self) -> list[tuple[int, int]]:
        """The gaps between its parts."""
        return [(left[1], right[0]) for left, right in itertools.pairwise(self.parts)]

    def edges(self) -> Iterator[tuple[int, int]]:
        """Yield position and kind of its boundaries, from left to right.

        Yields
        ------
        (int, int)
        """
        last = len(self.parts) - 1
        for i, (start, stop) in enumerate(self.parts):
            yield start, ENTER if i else BEGIN
            yield stop, LEAVE if i < last else END


def rows_of(gene: Gene, boundaries: Boundaries) -> list[int] | None:
    """Return the rows of a gene's boundaries among the candidates; None if one is not a candidate.

    Parameters
    ----------
    gene : Gene
        On the same chromosome.
    boundaries : Boundaries
        The candidates.

    Returns
    -------
    list of int, or None
    """
    rows = []
    for position, kind in gene.edges():
        low, high = np.searchsorted(boundaries.position, [position, position + 1])
        here = np.arange(low, high)
        here = here[(boundaries.kind[here] == kind) & (boundaries.strand[here] == int(gene.reverse))]
        if not len(here):
            return None
        rows.append(int(here[0]))
    return rows
