"""Weights of the grammar by a structural SVM, minimised by block-coordinate Frank–Wolfe steps.

It minimises ½ ‖w − w₀‖² + C Σᵢ max_y [Δ(yᵢ, y) − w · (Ψ(xᵢ, yᵢ) − Ψ(xᵢ, y))] over pieces xᵢ of chromosomes with the
annotated genes yᵢ. w₀ are the weights of the generative grammar (`prior`), so that C = 0 learns nothing. Δ counts
boundaries of genes and exons that are wrong or missing, and a hundredth for each base that is wrongly coding or not.
The greatest violation is found by the Viterbi algorithm, as Δ is a sum over boundaries and bases. Each step has an
exact line search; the duality gap tells how far the objective is from its minimum.

References
----------
Tsochantaridis, Joachims, Hofmann, Altun: Large margin methods for structured and interdependent output variables.
J. Mach. Learn. Res. 6:1453, 2005.
Lacoste-Julien, Jaggi, Schmidt, Pletscher: Block-coordinate Frank–Wolfe optimization for structural SVMs. Proc. 30th
Int. Conf. on Machine Learning, 2013.
Schweikert et al.: mGene: accurate SVM-based gene finding with an application to nematode genomes. Genome Res. 19:2133,
2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from seqkern.genes.boundaries import Boundaries, Gene, rows_of
from seqkern.genes.decoding import Scores, decode
from seqkern.genes.grammar import Grammar

BASES = 100.0
"""Wrong bases that count as much as a wrong boundary."""
TOLERANCE = 0.01
PASSES = 100

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece of a chromosome with its annotated genes.

    Attributes
    ----------
    boundaries : Boundaries
        The candidates.
    genes : list of Gene
        Annotated, in ascending order; the grammar can describe them.
    rows : list of list of int
        Their boundaries among the candidates.
    start, stop : int
        Where the piece lies.

    Examples
    --------
    >>> from seqkern.genes.boundaries import find_boundaries
    >>> from seqkern.genes.content import Content
    >>> from seqkern.sequences.alphabets import DNA
    >>> found = find_boundaries(DNA.encode(b"CCATGAAATAACC"), {}, Content.none())
    >>> Piece.of(found, [Gene(False, ((2, 11),))], 0, 13).rows
    [[0, 3]]
    """

    boundaries: Boundaries
    genes: list[Gene]
    rows: list[list[int]]
    start: int
    stop: int

    @classmethod
    def of(cls, boundaries: Boundaries, genes: list[Gene], start: int, stop: int) -> Piece | None:
        """Return a piece; None if a boundary of a gene is not a candidate.

        Parameters
        ----------
        boundaries : Boundaries
            Of the chromosome.
        genes : list of Gene
            In the piece.
        start, stop : int
            Where it lies.

        Returns
        -------
        Piece or None
        """
        own = boundaries.between(start, stop)
        rows = [rows_of(gene, own) for gene in genes]
        return None if None in rows else cls(own, genes, [row for row in rows if row is not None], start, stop)

    def loss(self) -> tuple[float, Floats, Floats]:
        """Return Δ as a constant, what each boundary adds, and what coding bases add, as `Boundaries.coding`."""
        boundary = np.ones(len(self.boundaries))
        for rows in self.rows:
            boundary[rows] = -1.0
        here = self.boundaries.position - self.start
        true = np.zeros((2, self.stop - self.start))
        for gene in self.genes:
            for start, stop in gene.parts:
                true[int(gene.reverse), start - self.start : stop - self.start] = 1.0
        sums = np.zeros((2, true.shape[1] + 1))
        for strand in (0, 1):
            # a base that is coding on the other strand is wrong either way
            np.cumsum(1.0 - 2.0 * true[strand] - true[1 - strand], out=sums[strand, 1:])
        coding = sums[self.boundaries.strand, here] / BASES
        constant = sum(len(rows) for rows in self.rows) + true.sum() / BASES
        return float(constant), boundary, np.repeat(coding[:, None], 3, axis=1)


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights, and how well they are the minimum.

    Attributes
    ----------
    weights : ndarray of float64
        Of the grammar.
    passes : int
        Over all pieces.
    objective, gap : float
        Of the last pass: C times the structured hinge losses plus the regulariser, and by how much it exceeds the dual.
    converged : bool
        Whether the gap is at most 1 % of the objective.

    Examples
    --------
    >>> Learned(np.zeros(1), 3, 10.0, 0.05, True).record()
    {'passes': 3, 'objective': 10.0, 'gap': 0.05, 'converged': True}
    """

    weights: Floats
    passes: int
    objective: float
    gap: float
    converged: bool

    def record(self) -> dict[str, float | bool]:
        """Return what is stored in the model file and printed."""
        return {"passes": self.passes, "objective": self.objective, "gap": self.gap, "converged": self.converged}


class _Example:
    """A piece, and what its loss and its true genes contribute."""

    def __init__(self, piece: Piece, grammar: Grammar, start: Floats) -> None:
        self.piece, self.grammar, self.start = piece, grammar, start
        self.constant, self.boundary, self.coding = piece.loss()
        self.psi = grammar.vector(piece.boundaries, piece.rows)

    def violation(self, weights: Floats) -> tuple[Floats, float]:
        """Return Ψ(yᵢ) − Ψ(y) and Δ(yᵢ, y) − w₀ · (Ψ(yᵢ) − Ψ(y)), for the y of the greatest violation."""
        boundaries, limits = self.piece.boundaries, self.grammar.limits
        scores = augmented(self.grammar.scores(boundaries, weights), self.boundary, self.coding)
        total, genes = decode(boundaries, scores, limits)
        difference = self.psi - self.grammar.vector(boundaries, genes)
        # the decoder's total is Δ + w · Ψ(y) without the constant
        loss = total + self.constant - float(weights @ (self.psi - difference))
        return difference, loss - float(self.start @ difference)


def augmented(scores: Scores, boundary: Floats, coding: Floats) -> Scores:
    """Return scores with those of a loss.

    Parameters
    ----------
    scores : Scores
        By weights.
    boundary, coding : ndarray of float64
        As from `Piece.loss`.

    Returns
    -------
    Scores
    """
    return replace(scores, boundary=scores.boundary + boundary, coding=scores.coding + coding)


def learn_weights(
    pieces: Sequence[Piece], grammar: Grammar, start: Floats, C: float, *, passes: int = PASSES, seed: int = 1
) -> Learned:
    """Minimise the structural SVM.

    Parameters
    ----------
    pieces : sequence of Piece
        To learn from.
    grammar : Grammar
        What the weights stand for.
    start : ndarray of float64
        w₀.
    C : float
        Weight of the losses, positive.
    passes : int
        Passes over all pieces at most.
    seed : int
        Of their order.

    Returns
    -------
    Learned
    """
    examples = [_Example(piece, grammar, start) for piece in pieces]
    n, rng = len(examples), np.random.default_rng(seed)
    moves, losses = np.zeros((n, grammar.n_weights)), np.zeros(n)
    learned = Learned(start, 0, np.inf, np.inf, False)
    for number in range(1, passes + 1):
        for i in rng.permutation(n).tolist():
            move = moves.sum(axis=0)
            difference, loss = examples[i].violation(start + move)
            change = moves[i] - C * difference
            gap = float(change @ move) - losses[i] + C * loss
            square = float(change @ change)
            step = min(1.0, max(0.0, gap / square)) if square > 0 else 0.0
            moves[i] -= step * change
            losses[i] += step * (C * loss - losses[i])
        if number % 5 and number < passes:
            continue
        move = moves.sum(axis=0)
        found = [example.violation(start + move) for example in examples]
        hinge = sum(max(0.0, loss - float(move @ difference)) for difference, loss in found)
        objective = float(move @ move) / 2 + C * hinge
        gap = objective - (float(losses.sum()) - float(move @ move) / 2)
        converged = gap <= TOLERANCE * objective
        learned = Learned(start + move, number, objective, gap, converged)
        if converged:
            break
    return learned
