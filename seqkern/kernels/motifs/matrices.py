"""Weight matrices: counts of letters in the columns of a motif, their scores, and the score from which on it matches.

The score of a letter a in column j is 100·log2(p_j(a)/b(a)), rounded to an integer, with the background b and
p_j(a) = (n_j(a) + c·b(a))/(n_j + c), of the counts n_j(a), their sum n_j, and the pseudocount c. Scores of windows are
sums of these integers, so that their distribution under the background can be computed as it is.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.sequences.alphabets import DNA, RNA

SCALE = 100  # a score of 1 is a hundredth of a bit
MOST_COLUMNS = 200
MOST_COUNTS = 1e12
ROUNDING = 1e-9
LANE_LIMIT = 1 << 30  # of sums of scores, in lanes of 32 bits


@dataclass(frozen=True)
class Matrix:
    """A motif as counts.

    Attributes
    ----------
    name : str
    counts : ndarray of float64, shape (columns, letters)
    letters : str
        What each column of `counts` counts.
    background : ndarray of float64, shape (letters,)
        Shares of the letters elsewhere; they sum to 1.
    """

    name: str
    counts: np.ndarray
    letters: str
    background: np.ndarray

    @property
    def min_length(self):
        """Letters of a match."""
        return len(self.counts)

    @classmethod
    def checked(cls, name, counts, letters, background=None):
        """Return a Matrix; ParameterError if the numbers are no counts."""
        counts = np.array(counts, dtype=np.float64)
        share = np.full(len(letters), 1 / len(letters)) if background is None else np.asarray(background, dtype=float)
        if share.shape != (len(letters),) or not np.all((share > 0) & (share <= 1)):
            raise ParameterError("the background letter frequencies are none", remedy="give each letter more than 0")
        good = counts.ndim == 2 and 0 < len(counts) <= MOST_COLUMNS and counts.shape[1] == len(letters)
        if not good:
            raise ParameterError(
                f"motif {name!r} has no matrix of 1 to {MOST_COLUMNS} columns of {len(letters)} letters",
                remedy="mend it or take it out",
            )
        totals = counts.sum(axis=1)
        if not np.isfinite(counts).all() or counts.min() < 0 or totals.min() <= 0 or totals.max() > MOST_COUNTS:
            column = int(
                np.argmin(np.isfinite(totals) & (counts.min(axis=1) >= 0) & (totals > 0) & (totals <= MOST_COUNTS))
            )
            raise ParameterError(
                f"motif {name!r}: column {column + 1} holds no counts",
                remedy="give numbers from 0 on, not all of them 0",
            )
        return cls(name, counts, letters, share / share.sum())

    def scores(self, alphabet, pseudocount):
        """Return the scores for an alphabet, int64 (columns, letters).

        Raises
        ------
        ParameterError
            If the letters are others; T and U count as the same. If the scores lie so far apart that no score of a
            column could keep a window from matching whatever its other columns score.
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

    def _probabilities(self, alphabet, pseudocount):
        """Return p_j(a)/b(a), float64 (columns, letters), in the alphabet's order."""
        letters = self.letters
        if alphabet in (DNA, RNA):
            letters = letters.replace("U", "T") if alphabet == DNA else letters.replace("T", "U")
        if sorted(letters) != sorted(alphabet.letters):
            raise ParameterError(
                f"motif {self.name!r} is of the letters {self.letters}, the sequences of the alphabet {alphabet.name}",
                remedy="give motifs and sequences of one alphabet",
            )
        order = [letters.index(letter) for letter in alphabet.letters]
        totals = self.counts.sum(axis=1, keepdims=True)
        odds = (self.counts / self.background + pseudocount) / (totals + pseudocount)
        return odds[:, order]

    def background_of(self, alphabet):
        """Return the background in the alphabet's order."""
        letters = self.letters.replace("U", "T")
        return self.background[[letters.index(letter.replace("U", "T")) for letter in alphabet.letters]]


def share_threshold(scores, share):
    """Return the least integer that is at least least + share·(largest − least), of the possible sums of scores."""
    least, largest = int(scores.min(axis=1).sum()), int(scores.max(axis=1).sum())
    return int(np.ceil(least + share * (largest - least) - ROUNDING))


def distribution(scores, background):
    """Return the probability of each sum of scores, float64, of a window of independent letters; and the least sum.

    Parameters
    ----------
    scores : ndarray of int64, shape (columns, letters)
    background : ndarray of float64, shape (letters,)
    """
    chances = np.ones(1)
    for column in scores - scores.min(axis=1, keepdims=True):
        longer = np.zeros(len(chances) + int(column.max()))
        for score, share in zip(column.tolist(), background.tolist(), strict=True):
            longer[score : score + len(chances)] += share * chances
        chances = longer
    return chances, int(scores.min(axis=1).sum())


def p_value_threshold(scores, background, p_value):
    """Return the least sum of scores that a window has, or exceeds, with a probability of at most `p_value`.

    It may be more than any window has: then the motif is too short, or too vague, for so small a probability.
    """
    chances, least = distribution(scores, background)
    tails = np.cumsum(chances[::-1])[::-1]
    return least + int(np.searchsorted(-tails, -p_value * (1 + ROUNDING)))


def tail(scores, background, threshold):
    """Return the probability that a window's sum of scores is at least `threshold`."""
    chances, least = distribution(scores, background)
    return float(chances[max(0, threshold - least) :].sum())
