"""Stretches of sequence of one width, with the contribution of each residue: what clusters are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from seqkern.sequences.alphabets import Alphabet


@dataclass(frozen=True, eq=False)
class Pieces:
    """Stretches of one width, strongest first.

    Attributes
    ----------
    codes : ndarray of uint8, shape (n, width + 2·margin)
        Residues, with `margin` more on either side, which count in matrices but not in similarities; codes from the
        alphabet size on are masked, or lie beyond the end of the sequence.
    scores : ndarray of float64, shape (n, width)
        Contributions of the residues to the class, not below 0.
    margin : int
        Residues on either side without a contribution.
    alphabet : Alphabet
        Of the residues.
    both_strands : bool
        Whether a stretch may be read as its reverse complement.
    """

    codes: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.float64]
    margin: int
    alphabet: Alphabet
    both_strands: bool

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def width(self) -> int:
        """Residues with contributions."""
        return self.scores.shape[1]

    def take(self, rows: npt.NDArray[np.int64]) -> Self:
        """Return some of the stretches.

        Parameters
        ----------
        rows : ndarray of int64
            Their indices.

        Returns
        -------
        Pieces
        """
        return type(self)(self.codes[rows], self.scores[rows], self.margin, self.alphabet, self.both_strands)

    def vectors(self, codes: npt.NDArray[np.uint8] | None = None) -> npt.NDArray[np.float64]:
        """Return each stretch as a vector of length 1: its contributions, each in the column of its residue.

        Parameters
        ----------
        codes : ndarray of uint8, shape (n, width), optional
            Other residues at the places of the contributions.

        Returns
        -------
        ndarray of float64, shape (n, width, letters)
        """
        if codes is None:
            codes = self.codes[:, self.margin : self.margin + self.width]
        out: npt.NDArray[np.float64] = (codes[:, :, None] == np.arange(self.alphabet.size)) * self.scores[:, :, None]
        norms = np.sqrt((out**2).sum(axis=(1, 2)))
        return out / np.maximum(norms, np.finfo(float).tiny)[:, None, None]

    def shuffled(self, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return `vectors` with the residues of each stretch in random order, the contributions where they are.

        Parameters
        ----------
        rng : numpy.random.Generator
            Random number generator.

        Returns
        -------
        ndarray of float64, shape (n, width, letters)
        """
        codes = self.codes[:, self.margin : self.margin + self.width]
        return self.vectors(rng.permuted(codes, axis=1))
