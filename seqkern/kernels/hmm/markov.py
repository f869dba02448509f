"""A Markov chain of fixed order, and the gradient of its likelihood."""

from dataclasses import dataclass

import numpy as np

CHUNK_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False)
class MarkovChain:
    """Probabilities of a letter after the `order` letters before it.

    The likelihood is that of all letters but the first `order`. Words with a masked letter do not count.

    Attributes
    ----------
    chances : ndarray of float64, shape (contexts, letters)
        P(b | context), contexts in alphabetical order; all above 0.
    visits : ndarray of float64, shape (contexts,)
        How often a context is expected in a sequence.
    order : int
    """

    chances: np.ndarray
    visits: np.ndarray
    order: int

    @classmethod
    def learn(cls, X, order, pseudocount):
        """Return the chain of a set of sequences: of their words of order + 1 letters, plus `pseudocount` for each."""
        counts = sum(part.sum(axis=0) for _, part in word_counts(X, order)) + np.zeros(X.alphabet.size ** (order + 1))
        counts = counts.reshape(-1, X.alphabet.size) + pseudocount
        totals = counts.sum(axis=1)
        return cls(counts / totals[:, None], totals / max(1, len(X)), order)

    def width(self, transitions):
        """Return the number of scores."""
        return self.chances.size

    def score(self, X, transitions=False, *, n_threads=None):
        """Return ∂ ln P(x) / ∂P(b | context), each context's normalised anew, and ln P(x).

        In one thread; the other parameters are those of `ProfileHMM.score`.

        Returns
        -------
        scores : ndarray of float64, shape (n, contexts · letters)
            count of the word / P(b | context), less the count of the context.
        logs : ndarray of float64, shape (n,)
        """
        scores, logs = np.empty((len(X), self.chances.size)), np.empty(len(X))
        for rows, counts in word_counts(X, self.order):
            logs[rows] = counts @ np.log(self.chances).reshape(-1)
            words = counts.reshape(-1, *self.chances.shape)
            scores[rows] = (words / self.chances - words.sum(axis=2, keepdims=True)).reshape(len(counts), -1)
        return scores, logs

    def shares(self, X, weights):
        """Return what each letter of `X` adds to the scores times `weights`, that of a word shared by its letters."""
        table = weights.reshape(self.chances.shape)
        values = (table / self.chances - table.sum(axis=1, keepdims=True)).reshape(-1) / (self.order + 1)
        words = words_of(X, self.order)
        found = np.flatnonzero(words >= 0)
        shares = np.zeros(len(words))
        for step in range(self.order + 1):
            shares[found + step] += values[words[found]]
        return shares

    def arrays(self):
        """Return what `from_arrays` needs."""
        return {"chances": self.chances, "visits": self.visits, "order": np.asarray(self.order)}

    @classmethod
    def from_arrays(cls, arrays):
        """Return the model whose `arrays` these were."""
        return cls(arrays["chances"], arrays["visits"], int(arrays["order"]))

    def information(self, transitions=False):
        """Return the diagonal of the Fisher information, visits · (1 − P)/P, float64 (contexts · letters,)."""
        return (self.visits[:, None] * (1.0 - self.chances) / self.chances).reshape(-1)


def words_of(X, order):
    """Return the number of the word that begins at each letter of `X`, −1 where none does, int64 (letters,)."""
    size = X.alphabet.size
    codes = X.codes[X.positions()].astype(np.int64)
    ends = np.repeat(np.cumsum(X.lengths), X.lengths)
    words, good = np.zeros(len(codes), np.int64), np.arange(len(codes)) + order < ends
    for step in range(order + 1):
        letter = codes[np.minimum(np.arange(len(codes)) + step, len(codes) - 1)] if len(codes) else codes
        words = words * size + letter
        good &= letter < size
    return np.where(good, words, -1)


def word_counts(X, order):
    """Yield (slice of records, float64 (records, words)): how often each word of order + 1 letters occurs."""
    width = X.alphabet.size ** (order + 1)
    step = max(1, CHUNK_ENTRIES // width)
    for start in range(0, len(X), step):
        part = X.take(slice(start, start + step))
        words = words_of(part, order)
        cells = (np.repeat(np.arange(len(part)), part.lengths) * width + words)[words >= 0]
        counts = np.bincount(cells, minlength=len(part) * width).reshape(len(part), width)
        yield slice(start, start + len(part)), counts.astype(np.float64)
