"""The score of genes as a weighted sum of parts: w · Ψ(sequence, genes).

Decision values of donor and acceptor sites and logarithms of lengths count by piecewise linear functions, whose values
at the knots are weights (Rätsch, Sonnenburg); the contents and the number of genes have one weight each.

References
----------
Rätsch, Sonnenburg: Large scale hidden semi-Markov SVMs. Advances in Neural Information Processing Systems 19, 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from seqkern.genes.boundaries import END, Boundaries
from seqkern.genes.decoding import Limits, Scores, codon_places, exon_types

CONTENT_UNIT = 10.0
"""Contents are divided by it, so that a weight changes the score about as much as that of a site."""
EXONS = ("inner", "first", "last", "single")
BY_STRAND = ((0, 1, 2, 3), (0, 2, 1, 3))
"""For each strand, which of `EXONS` the types of `decoding.EXON_TYPES` are."""
CURVES = ("donor", "acceptor", *(f"{name} exon" for name in EXONS), "intron length")
SINGLE = ("rare donor", "coding", "intron", "gene")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grammar:
    """Lengths that are allowed, and what the weights stand for.

    Attributes
    ----------
    limits : Limits
        Of exons and introns.
    knots : dict of str to ndarray of float64
        For each of `CURVES`, ascending: of decision values, or of logarithms of lengths.

    Examples
    --------
    >>> grammar = Grammar(Limits(3, 100, 20, 200), {name: np.array([0.0, 1.0]) for name in CURVES})
    >>> grammar.n_weights, grammar.place("acceptor")
    (18, slice(2, 4, None))
    """

    limits: Limits
    knots: dict[str, Floats]

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where the weights of each part are."""
        found, at = {}, 0
        for name in (*CURVES, *SINGLE):
            size = len(self.knots[name]) if name in self.knots else 1
            found[name] = slice(at, at + size)
            at += size
        return found

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return self.places[SINGLE[-1]].stop

    def place(self, name: str) -> slice:
        """Return where the weights of a part are.

        Parameters
        ----------
        name : str
            Of `CURVES` or `SINGLE`.

        Returns
        -------
        slice
        """
        return self.places[name]

    def curve(self, name: str, weights: Floats, values: Floats) -> Floats:
        """Return the values of a piecewise linear function, constant beyond its ends.

        Parameters
        ----------
        name : str
            Of `CURVES`.
        weights : ndarray of float64, shape (n_weights,)
            All weights.
        values : ndarray of float64
            Where.

        Returns
        -------
        ndarray of float64, of the same shape
        """
        return np.interp(values, self.knots[name], weights[self.places[name]])

    def scores(self, boundaries: Boundaries, weights: Floats) -> Scores:
        """Return what each part of a path adds to its score.

        Parameters
        ----------
        boundaries : Boundaries
            The candidates.
        weights : ndarray of float64, shape (n_weights,)
            The weights.

        Returns
        -------
        Scores
        """
        single = {name: float(weights[self.places[name]][0]) for name in SINGLE}
        boundary = np.where(boundaries.kind == END, single["gene"], 0.0)
        for name, rows in (("donor", boundaries.donors), ("acceptor", boundaries.acceptors)):
            boundary[rows] = self.curve(name, weights, boundaries.decision[rows])
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
        """Return the scores of all lengths."""
        return self.curve(name, weights, np.log(np.maximum(np.arange(longest + 1), 1)))

    def vector(self, boundaries: Boundaries, genes: list[list[int]]) -> Floats:
        """Return Ψ of genes: their score is its product with the weights.

        Parameters
        ----------
        boundaries : Boundaries
            The candidates.
        genes : list of list of int
            The rows of the boundaries of each gene.

        Returns
        -------
        ndarray of float64, shape (n_weights,)
        """
        psi = np.zeros(self.n_weights)
        for rows in genes:
            at = np.array(rows)
            for name, which in (("donor", boundaries.donors[at]), ("acceptor", boundaries.acceptors[at])):
                self._add(psi, name, boundaries.decision[at[which]])
            starts, stops = at[::2], at[1::2]
            sizes = boundaries.position[stops] - boundaries.position[starts]
            places = codon_places(boundaries.position[starts], sizes)
            coding = boundaries.coding[stops, places] - boundaries.coding[starts, places]
            order = np.array(BY_STRAND[int(boundaries.strand[rows[0]])])
            types = order[exon_types(len(sizes))]
            for i, name in enumerate(EXONS):
                self._add(psi, f"{name} exon", np.log(sizes[types == i]))
            self._add(psi, "intron length", np.log(boundaries.position[starts[1:]] - boundaries.position[stops[:-1]]))
            introns = boundaries.intron[starts[1:]] - boundaries.intron[stops[:-1]]
            single = (boundaries.rare[at].sum(), coding.sum() / CONTENT_UNIT, introns.sum() / CONTENT_UNIT, 1.0)
            for name, value in zip(SINGLE, single, strict=True):
                psi[self.places[name]] += value
        return psi

    def _add(self, psi: Floats, name: str, values: Floats) -> None:
        """Add the shares of the knots on both sides of each value."""
        knots, own = self.knots[name], psi[self.places[name]]
        right = np.clip(np.searchsorted(knots, values, side="right"), 1, len(knots) - 1)
        share = np.clip((values - knots[right - 1]) / (knots[right] - knots[right - 1]), 0.0, 1.0)
        np.add.at(own, right, share)
        np.add.at(own, right - 1, 1.0 - share)
