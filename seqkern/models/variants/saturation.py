"""All single-residue variants of a sequence (in-silico saturation mutagenesis)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.genome.placed_alleles import PlacedAlleles

if TYPE_CHECKING:
    from seqkern.models.variants.scorer import Scorer
    from seqkern.sequences.alphabets import Alphabet


@dataclass(frozen=True)
class Piece:
    """A part of a sequence, with residues around it.

    Attributes
    ----------
    name : str
        Of the sequence.
    first : int
        What the first position of the part is called.
    text : str
        The part and what is around it, upper case.
    start, length : int
        Where the part begins in `text`; its residues.
    """

    name: str
    first: int
    text: str
    start: int
    length: int

    def letter(self, place: int) -> str:
        """Return the residue at a place of the part.

        Parameters
        ----------
        place : int
            From 0.

        Returns
        -------
        str
        """
        return self.text[self.start + place]


@dataclass(frozen=True, eq=False)
class Saturation:
    """The effects of all single-residue variants of a piece.

    Attributes
    ----------
    alphabet : Alphabet
        Of the piece.
    codes : ndarray of uint8, shape (L,)
        Its residues.
    reference, alternative : ndarray of float64, shape (L, letters)
        Scores; NaN for the residue of the piece itself, and where there is none.
    """

    alphabet: Alphabet
    codes: npt.NDArray[np.uint8]
    reference: npt.NDArray[np.float64]
    alternative: npt.NDArray[np.float64]

    @property
    def delta(self) -> npt.NDArray[np.float64]:
        """Alternative − reference."""
        return self.alternative - self.reference

    @property
    def letters(self) -> str:
        """Those of the alphabet."""
        return self.alphabet.letters

    def variants(self) -> Iterator[tuple[int, int]]:
        """Yield place and code of each variant; a masked residue has none.

        Yields
        ------
        place, code : int
        """
        for place, own in enumerate(self.codes.tolist()):
            if own < self.alphabet.size:
                yield from ((place, code) for code in range(self.alphabet.size) if code != own)

    def values(self, place: int, code: int) -> list[float]:
        """Return reference, alternative and delta of a variant.

        Parameters
        ----------
        place, code : int
            As `variants` yields them.

        Returns
        -------
        list of float
        """
        before, after = float(self.reference[place, code]), float(self.alternative[place, code])
        return [before, after, after - before]


def saturate(scorer: Scorer, piece: Piece, n_threads: int | None = None) -> Saturation:
    """Return the effects of all single-residue variants of a piece.

    Parameters
    ----------
    scorer : Scorer
        Of a model.
    piece : Piece
        With as many residues around it as the scorer needs, or as there are.
    n_threads : int, optional
        Default: the number of cores.

    Returns
    -------
    Saturation

    Examples
    --------
    The weight of a k-mer is its number of G:

    >>> from seqkern.models.variants.tables import TableScorer
    >>> from seqkern.sequences.alphabets import DNA
    >>> scorer = TableScorer({1: np.array([0.0, 0.0, 1.0, 0.0])}, DNA)
    >>> saturate(scorer, Piece("chr1", 1, "AG", 0, 2)).delta
    array([[nan,  0.,  1.,  0.],
           [-1., -1., nan, -1.]])
    """
    alphabet = scorer.alphabet
    text = np.frombuffer(piece.text.encode() + b".", dtype=np.uint8)
    codes = alphabet.encode(text.tobytes())[piece.start : piece.start + piece.length]
    out = Saturation(alphabet, codes, *(np.full((piece.length, alphabet.size), np.nan) for _ in range(2)))
    places, alts = np.array(list(out.variants()), dtype=np.int64).reshape(-1, 2).T
    alleles = PlacedAlleles(
        text,
        places + piece.start,
        [piece.letter(place).encode() for place in places.tolist()],
        [alphabet.letters[code].encode() for code in alts.tolist()],
        np.ones(len(places), dtype=bool),
        np.arange(len(places)),
    )
    found = scorer.score(alleles, n_threads)
    out.reference[places, alts], out.alternative[places, alts] = found["reference"], found["alternative"]
    return out
