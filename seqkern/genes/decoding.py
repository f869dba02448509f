"""The best genes of a chromosome: a semi-Markov Viterbi algorithm over candidate boundaries.

Genes of both strands lie on one path and do not overlap. A gene runs from ATG to a stop codon, without a stop codon in
its frame before, also across introns; introns run from GT or GC to AG. No intron splits the start or the stop codon. An
exon looks back over the boundaries in its open frame, an intron over those within the longest intron, so that the time
is proportional to the length of the chromosome and to that of the longest intron.

References
----------
Burge, Karlin: Prediction of complete gene structures in human genomic DNA. J. Mol. Biol. 268:78, 1997.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError
from seqkern.genes._viterbi import viterbi
from seqkern.genes.boundaries import BEGIN, LEAVE, Boundaries, Gene, stop_table

LONGEST_PART = 10**6
"""Bases; there are tables of all lengths up to the longest."""
EXON_TYPES = ("inner", "left", "right", "single")
"""Rows of `Scores.exon_lengths`: an exon between two introns, at the left or right end of its gene, or a whole gene."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """Lengths of exons and introns in bases; of exons the coding part, with the stop codon.

    Attributes
    ----------
    shortest_exon, longest_exon : int
        At least 3, so that no intron splits a codon twice.
    shortest_intron, longest_intron : int
        At least 4, for GT and AG.

    Examples
    --------
    >>> Limits(3, 300, 20, 1000).longest_intron
    1000
    """

    shortest_exon: int
    longest_exon: int
    shortest_intron: int
    longest_intron: int

    def __post_init__(self) -> None:
        check_integer("shortest_exon", self.shortest_exon, 3)
        check_integer("longest_exon", self.longest_exon, self.shortest_exon, LONGEST_PART)
        check_integer("shortest_intron", self.shortest_intron, 4)
        check_integer("longest_intron", self.longest_intron, self.shortest_intron, LONGEST_PART)


@dataclass(frozen=True, eq=False)
class Scores:
    """What each part of a path adds to its score; the sequence between genes adds 0.

    Attributes
    ----------
    boundary : ndarray of float64, shape (n,)
        For each candidate boundary.
    coding : ndarray of float64, shape (n, 3)
        As `Boundaries.coding`, weighted.
    intron : ndarray of float64, shape (n,)
        As `Boundaries.intron`, weighted.
    exon_lengths : ndarray of float64, shape (2, 4, longest exon + 1)
        By strand, as `EXON_TYPES`, and length.
    intron_lengths : ndarray of float64, shape (longest intron + 1,)
        By length.

    Examples
    --------
    >>> Scores(np.zeros(2), np.zeros((2, 3)), np.zeros(2), np.zeros((2, 4, 10)), np.zeros(9)).boundary
    array([0., 0.])
    """

    boundary: Floats
    coding: Floats
    intron: Floats
    exon_lengths: Floats
    intron_lengths: Floats


def decode(boundaries: Boundaries, scores: Scores, limits: Limits) -> tuple[float, list[list[int]]]:
    """Return the genes of the best path.

    Parameters
    ----------
    boundaries : Boundaries
        The candidates, n of them.
    scores : Scores
        Of the n candidates, the bases between them, and the lengths.
    limits : Limits
        Lengths outside are not allowed.

    Returns
    -------
    score : float
        Of the path, at least 0.
    genes : list of list of int
        The rows of the boundaries of each gene, from left to right.

    Raises
    ------
    ParameterError
        If the shapes do not match.

    Examples
    --------
    >>> from seqkern.genes.boundaries import find_boundaries
    >>> from seqkern.genes.content import Content
    >>> from seqkern.sequences.alphabets import DNA
    >>> found = find_boundaries(DNA.encode(b"CCATGAAATAACC"), {}, Content.none())
    >>> limits = Limits(3, 50, 20, 100)
    >>> scores = Scores(np.ones(len(found)), found.coding, found.intron, np.zeros((2, 4, 51)), np.zeros(101))
    >>> score, genes = decode(found, scores, limits)
    >>> score, [[int(found.position[row]) for row in gene] for gene in genes]
    (2.0, [[2, 11]])
    """
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


def _genes(boundaries: Boundaries, last: int, came: npt.NDArray[np.int64]) -> list[list[int]]:
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
    """Return genes with their scores.

    Parameters
    ----------
    boundaries : Boundaries
        The candidates.
    rows : list of list of int
        The boundaries of each gene, as from `decode`.
    scores : Scores
        Of the candidates.

    Returns
    -------
    list of Gene
    """
    genes = []
    for own in rows:
        edges = boundaries.position[own].reshape(-1, 2).tolist()
        gene = Gene(bool(boundaries.strand[own[0]]), tuple((start, stop) for start, stop in edges))
        genes.append(replace(gene, score=path_score(boundaries, own, scores)))
    return genes


def path_score(boundaries: Boundaries, rows: list[int], scores: Scores) -> float:
    """Return what a gene adds to the score of its path.

    Parameters
    ----------
    boundaries : Boundaries
        The candidates.
    rows : list of int
        The boundaries of the gene.
    scores : Scores
        Of the candidates.

    Returns
    -------
    float
    """
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


def codon_places(starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where codons begin, modulo 3, in each exon of a gene.

    Parameters
    ----------
    starts, sizes : ndarray of int64, shape (exons,)
        From left to right.

    Returns
    -------
    ndarray of int64, shape (exons,)

    Examples
    --------
    The second exon begins with the last base of a codon:

    >>> codon_places(np.array([10, 50]), np.array([8, 10])).tolist()
    [1, 0]
    """
    return (starts - np.concatenate(([0], np.cumsum(sizes)[:-1]))) % 3


def exon_types(n: int) -> npt.NDArray[np.int64]:
    """Return the places in `EXON_TYPES` of the exons of a gene.

    Parameters
    ----------
    n : int
        Number of exons.

    Returns
    -------
    ndarray of int64, shape (n,)

    Examples
    --------
    >>> exon_types(3).tolist(), exon_types(1).tolist()
    ([1, 0, 2], [3])
    """
    types = np.zeros(n, dtype=np.int64)
    types[0] += 1
    types[-1] += 2
    return types
