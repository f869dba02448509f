"""Weight matrices: counts of letters in the columns of a motif, their scores, and the threshold of a match.

The score of a letter a in column j is 100·log2(p_j(a)/b(a)), rounded to an integer, with the background b and p_j(a) =
(n_j(a) + c·b(a))/(n_j + c), of the counts n_j(a), their sum n_j, and the pseudocount c. Scores of windows are sums of
these integers, so that their exact distribution under the background can be computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.sequences.alphabets import DNA, RNA, Alphabet

SCALE = 100  # a score of 1 is a hundredth of a bit
MOST_COLUMNS = 200
MOST_COUNTS = 1e12
LEAST_BACKGROUND = 1e-100  # counts divided by it stay finite
ROUNDING = 1e-9
LANE_LIMIT = 1 << 30  # of sums of scores, in lanes of 32 bits


@dataclass(frozen=True)
class Matrix:
    """A motif as counts.

    Attributes
    ----------
    name : str
        For reports and messages.
    counts : ndarray of float64, shape (columns, letters)
        Counts of each letter at each position of the motif.
    letters : str
        Letter of each column of `counts`.
    background : ndarray of float64, shape (letters,)
        Background frequencies of the letters; they sum to 1.

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> donor = Matrix.checked("donor", [[0, 0, 8, 0], [0, 0, 0, 8], [6, 0, 2, 0]], "ACGT")
    >>> donor.scores(DNA, pseudocount=1.0)
    array([[-317, -317,  187, -317],
           [-317, -317, -317,  187],
           [ 147, -317,    0, -317]])
    """

    name: str
    counts: npt.NDArray[np.float64]
    letters: str
    background: npt.NDArray[np.float64]

    @property
    def min_length(self) -> int:
        """Length of a match."""
        return len(self.counts)

    @classmethod
    def checked(cls, name: str, counts: npt.ArrayLike, letters: str, background: npt.ArrayLike | None = None) -> Self:
        """Return the matrix of some counts.

        Parameters
        ----------
        name : str
            For reports and messages.
        counts : array_like, shape (columns, letters)
            Non-negative, not all zero in a column.
        letters : str
            Letter of each column of `counts`.
        background : array_like, shape (letters,), optional
            Background frequencies of the letters; by default uniform.

        Returns
        -------
        Matrix

        Raises
        ------
        ParameterError
            If the numbers are not counts, or a background frequency is not above `LEAST_BACKGROUND`.
        """
        counts = np.array(counts, dtype=np.float64)
        share = np.full(len(letters), 1 / len(letters)) if background is None else np.asarray(background, dtype=float)
        if share.shape != (len(letters),) or not np.all((share >= LEAST_BACKGROUND) & (share <= 1)):
            raise ParameterError(
                f"the background letter frequencies are not all from {LEAST_BACKGROUND:g} to 1",
                remedy="give such a frequency for each letter",
            )
        good = counts.ndim == 2 and 0 < len(counts) <= MOST_COLUMNS and counts.shape[1] == len(letters)
        if not good:
            raise ParameterError(
                f"motif {name!r} has no matrix of 1 to {MOST_COLUMNS} columns of {len(letters)} letters",
                remedy="correct or remove it",
            )
        totals = counts.sum(axis=1)
        if not np.isfinite(counts).all() or counts.min() < 0 or totals.min() <= 0 or totals.max() > MOST_COUNTS:
            column = int(
                np.argmin(np.isfinite(totals) & (counts.min(axis=1) >= 0) & (totals > 0) & (totals <= MOST_COUNTS))
            )
            raise ParameterError(
                f"motif {name!r}: column {column + 1} contains no counts",
                remedy="give non-negative numbers, not all 0",
            )
        return cls(name, counts, letters, share / share.sum())

    def scores(self, alphabet: Alphabet, pseudocount: float) -> npt.NDArray[np.int64]:
        """Return the scores for an alphabet, in hundredths of a bit.

        Parameters
        ----------
        alphabet : Alphabet
            That of the sequences.
        pseudocount : float
            c of p_j(a), above 0.

        Returns
        -------
        ndarray of int64, shape (columns, letters)
            In the alphabet's order.

        Raises
        ------
        ParameterError
            If the letters differ (T and U count as the same), or if the range of the scores is too large for a lane.
        """
        scores = np.rint(SCALE * np.log2(self._probabilities(alphabet, pseudocount))).astype(np.int64)
        span = np.maximum(scores.max(axis=1), 0).sum() - np.minimum(scores.min(axis=1), 0).sum()
        if span >= LANE_LIMIT // len(scores):
            raise ParameterError(
                f"motif {self.name!r}: with pseudocount={pseudocount:g} the scores of its {len(scores)} columns lie "
                f"{span // SCALE} bits apart",
                remedy="give a larger pseudocount",
            )
        return scores

    def _probabilities(self, alphabet: Alphabet, pseudocount: float) -> npt.NDArray[np.float64]:
        """Return p_j(a)/b(a), float64 (columns, letters), in the alphabet's order."""
        letters = self.letters
        if alphabet in (DNA, RNA):
            letters = letters.replace("U", "T") if alphabet == DNA else letters.replace("T", "U")
        if sorted(letters) != sorted(alphabet.letters):
            raise ParameterError(
                f"motif {self.name!r} has the letters {self.letters}, the sequences have the alphabet {alphabet.name}",
                remedy="give motifs and sequences over the same alphabet",
            )
        order = [letters.index(letter) for letter in alphabet.letters]
        totals = self.counts.sum(axis=1, keepdims=True)
        odds = (self.counts / self.background + pseudocount) / (totals + pseudocount)
        return odds[:, order]

    def background_of(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        """Return the background in an alphabet's order.

        Parameters
        ----------
        alphabet : Alphabet
            Of the same letters; T and U count as the same.

        Returns
        -------
        ndarray of float64, shape (letters,)
        """
        letters = self.letters.replace("U", "T")
        return self.background[[letters.index(letter.replace("U", "T")) for letter in alphabet.letters]]


def share_threshold(scores: npt.NDArray[np.int64], share: float) -> int:
    """Return the smallest integer ≥ least + share·(largest − least), with the range of possible sums of scores.

    Parameters
    ----------
    scores : ndarray of int64, shape (columns, letters)
        Of a matrix.
    share : float
        From 0 to 1.

    Returns
    -------
    int

    Examples
    --------
    >>> share_threshold(np.array([[-100, 200], [-300, 100]]), 0.8)
    160
    """
    least, largest = int(scores.min(axis=1).sum()), int(scores.max(axis=1).sum())
    return int(np.ceil(least + share * (largest - least) - ROUNDING))


def distribution(
    scores: npt.NDArray[np.int64], background: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], int]:
    """Return the probability of each sum of scores of a window of independent residues.

    Parameters
    ----------
    scores : ndarray of int64, shape (columns, letters)
        Of a matrix.
    background : ndarray of float64, shape (letters,)
        Frequencies of the letters.

    Returns
    -------
    chances : ndarray of float64
        Probabilities of the sums from the smallest to the largest.
    least : int
        The smallest sum.

    Examples
    --------
    >>> distribution(np.array([[-1, 1], [-1, 1]]), np.array([0.5, 0.5]))
    (array([0.25, 0.  , 0.5 , 0.  , 0.25]), -2)
    """
    chances = np.ones(1)
    for column in scores - scores.min(axis=1, keepdims=True):
        longer = np.zeros(len(chances) + int(column.max()))
        for score, share in zip(column.tolist(), background.tolist(), strict=True):
            longer[score : score + len(chances)] += share * chances
        chances = longer
    return chances, int(scores.min(axis=1).sum())


def p_value_threshold(scores: npt.NDArray[np.int64], background: npt.NDArray[np.float64], p_value: float) -> int:
    """Return the smallest threshold that a random window reaches with at most the given probability.

    It may exceed the largest score, if the motif is too short or too unspecific for the probability.

    Parameters
    ----------
    scores : ndarray of int64, shape (columns, letters)
        Of a matrix.
    background : ndarray of float64, shape (letters,)
        Frequencies of the letters.
    p_value : float
        Largest probability of a match of a random window.

    Returns
    -------
    int

    Examples
    --------
    >>> scores, background = np.array([[-1, 1], [-1, 1]]), np.array([0.5, 0.5])
    >>> p_value_threshold(scores, background, 0.25), p_value_threshold(scores, background, 0.1)
    (1, 3)
    """
    chances, least = distribution(scores, background)
    tails = np.cumsum(chances[::-1])[::-1]
    return least + int(np.searchsorted(-tails, -p_value * (1 + ROUNDING)))


def tail(scores: npt.NDArray[np.int64], background: npt.NDArray[np.float64], threshold: int) -> float:
    """Return the probability that a random window matches.

    Parameters
    ----------
    scores : ndarray of int64, shape (columns, letters)
        Of a matrix.
    background : ndarray of float64, shape (letters,)
        Frequencies of the letters.
    threshold : int
        The smallest sum of scores of a match.

    Returns
    -------
    float

    Examples
    --------
    >>> tail(np.array([[-1, 1], [-1, 1]]), np.array([0.5, 0.5]), 0)
    0.75
    """
    chances, least = distribution(scores, background)
    return float(chances[max(0, threshold - least) :].sum())
