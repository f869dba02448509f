"""A Markov chain of fixed order, and the gradient of its likelihood."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from seqkern.core.types import Arrays
from seqkern.sequences.sequence_set import SequenceSet

CHUNK_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False)
class MarkovChain:
    """Probabilities of a residue given the `order` residues before it.

    The likelihood covers all residues but the first `order`. K-mers with a masked residue do not count.

    Attributes
    ----------
    chances : ndarray of float64, shape (contexts, letters)
        P(b | context), contexts in alphabetical order; all above 0.
    visits : ndarray of float64, shape (contexts,)
        Expected number of occurrences of a context in a sequence.
    order : int
    """

    chances: np.ndarray
    visits: np.ndarray
    order: int

    @classmethod
    def learn(cls, X: SequenceSet, order: int, pseudocount: float) -> Self:
        """Return the chain of a set of sequences: of their k-mers of order + 1 residues, plus `pseudocount` for each.

        Parameters
        ----------
        X : SequenceSet
            The sequences whose k-mers of order + 1 residues are counted.
        order : int
            Residues in a context.
        pseudocount : float
            Added to the count of each k-mer.

        Returns
        -------
        MarkovChain
        """
        counts = sum(part.sum(axis=0) for _, part in word_counts(X, order)) + np.zeros(X.alphabet.size ** (order + 1))
        counts = counts.reshape(-1, X.alphabet.size) + pseudocount
        totals = counts.sum(axis=1)
        return cls(counts / totals[:, None], totals / max(1, len(X)), order)

    def width(self, transitions: bool) -> int:
        """Return the number of scores.

        Parameters
        ----------
        transitions : bool
            No effect: a chain has no transitions.

        Returns
        -------
        int
        """
        return self.chances.size

    def score(
        self, X: SequenceSet, transitions: bool = False, *, n_threads: int | None = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return ∂ ln P(x) / ∂P(b | context), each context's normalised anew, and ln P(x).

        In one thread; the other parameters are those of `ProfileHMM.score`.

        Parameters
        ----------
        X, transitions, n_threads
            As in `ProfileHMM.score`; only `X` has an effect.

        Returns
        -------
        scores : ndarray of float64, shape (n, contexts · letters)
            count of the k-mer / P(b | context), less the count of the context.
        logs : ndarray of float64, shape (n,)
        """
        scores, logs = np.empty((len(X), self.chances.size)), np.empty(len(X))
        for rows, counts in word_counts(X, self.order):
            logs[rows] = counts @ np.log(self.chances).reshape(-1)
            words = counts.reshape(-1, *self.chances.shape)
            scores[rows] = (words / self.chances - words.sum(axis=2, keepdims=True)).reshape(len(counts), -1)
        return scores, logs

    def shares(self, X: SequenceSet, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the contribution of each residue of `X` to the scores times `weights`; k-mers share theirs equally.

        Parameters
        ----------
        X : SequenceSet
            The sequences that are explained.
        weights : ndarray of float64, shape (contexts · letters,)
            One for each score.

        Returns
        -------
        ndarray of float64, shape (residues of X,)
        """
        table = weights.reshape(self.chances.shape)
        values = (table / self.chances - table.sum(axis=1, keepdims=True)).reshape(-1) / (self.order + 1)
        words = words_of(X, self.order)
        found = np.flatnonzero(words >= 0)
        shares = np.zeros(len(words))
        for step in range(self.order + 1):
            shares[found + step] += values[words[found]]
        return shares

    def arrays(self) -> Arrays:
        """Return what `from_arrays` needs."""
        return {"chances": self.chances, "visits": self.visits, "order": np.asarray(self.order)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model whose `arrays` these were.

        Parameters
        ----------
        arrays : dict of str to ndarray
            The result of `arrays`.

        Returns
        -------
        MarkovChain
        """
        return cls(arrays["chances"], arrays["visits"], int(arrays["order"]))

    def information(self, transitions: bool = False) -> npt.NDArray[np.float64]:
        """Return the diagonal of the Fisher information, visits · (1 − P)/P, float64 (contexts · letters,).

        Parameters
        ----------
        transitions : bool
            No effect: a chain has no transitions.

        Returns
        -------
        ndarray of float64, shape (contexts · letters,)
        """
        return (self.visits[:, None] * (1.0 - self.chances) / self.chances).reshape(-1)


def words_of(X: SequenceSet, order: int) -> npt.NDArray[np.int64]:
    """Return the number of the k-mer that begins at each residue of `X`, −1 where none does.

    Parameters
    ----------
    X : SequenceSet
        No k-mer contains a masked residue.
    order : int
        The k-mers have order + 1 residues.

    Returns
    -------
    ndarray of int64, shape (residues of X,)
    """
    size = X.alphabet.size
    codes = X.codes[X.positions()].astype(np.int64)
    ends = np.repeat(np.cumsum(X.lengths), X.lengths)
    words, good = np.zeros(len(codes), np.int64), np.arange(len(codes)) + order < ends
    for step in range(order + 1):
        letter = codes[np.minimum(np.arange(len(codes)) + step, len(codes) - 1)] if len(codes) else codes
        words = words * size + letter
        good &= letter < size
    return np.where(good, words, -1)


def word_counts(X: SequenceSet, order: int) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
    """Count how often each k-mer of order + 1 residues occurs in each record, some records at a time.

    Parameters
    ----------
    X : SequenceSet
        The sequences.
    order : int
        The k-mers have order + 1 residues.

    Yields
    ------
    rows : slice
        Which records these are.
    counts : ndarray of float64, shape (records, k-mers)
    """
    width = X.alphabet.size ** (order + 1)
    step = max(1, CHUNK_ENTRIES // width)
    for start in range(0, len(X), step):
        part = X.take(slice(start, start + step))
        words = words_of(part, order)
        cells = (np.repeat(np.arange(len(part)), part.lengths) * width + words)[words >= 0]
        counts = np.bincount(cells, minlength=len(part) * width).reshape(len(part), width)
        yield slice(start, start + len(part)), counts.astype(np.float64)
