"""Amino-acid replacement as a time-reversible Markov process, with the exchange matrix WAG.

Whelan & Goldman, Mol Biol Evol 18:691 (2001). The rate from a to b is q_ab = s_ab π_b, s the symmetric
exchangeabilities and π the stationary frequencies, scaled to one expected replacement per site and unit of
time.
"""

import csv

import numpy as np

from seqkern.core.resource_files import open_resource
from seqkern.sequences.alphabets import PROTEIN


class ExchangeModel:
    """A time-reversible replacement process.

    Parameters
    ----------
    exchangeabilities : ndarray of float64, shape (a, a)
        Symmetric; the diagonal is not used.
    frequencies : ndarray of float64, shape (a,)
        Stationary frequencies; scaled to sum one.

    Attributes
    ----------
    rates : ndarray of float64, shape (a, a)
        The rate matrix Q; rows sum to zero, and one replacement per unit of time is expected.
    """

    def __init__(self, exchangeabilities, frequencies):
        self.frequencies = frequencies / frequencies.sum()
        rates = exchangeabilities * self.frequencies
        np.fill_diagonal(rates, 0)
        np.fill_diagonal(rates, -rates.sum(axis=1))
        self.rates = rates / -(self.frequencies @ np.diagonal(rates))
        # D^½ Q D^-½ is symmetric for a reversible process, so its eigenvalues are real and exp(Qt) is cheap.
        root = np.sqrt(self.frequencies)
        self._eigenvalues, vectors = np.linalg.eigh(root[:, None] * self.rates / root)
        self._left, self._right = vectors / root[:, None], vectors.T * root

    def transition_rows(self, codes, times):
        """Return, for each site, the probabilities of its letter after its time: rows of exp(Qt).

        Parameters
        ----------
        codes : ndarray of int, shape (n,)
        times : ndarray of float64, shape (n,)

        Returns
        -------
        ndarray of float64, shape (n, a)
        """
        decay = np.exp(np.multiply.outer(times, self._eigenvalues))
        # einsum, not BLAS: the same bits at any number of threads.
        rows = np.einsum("nk,kb->nb", self._left[codes] * decay, self._right)
        return np.maximum(rows, 0)

    def replace(self, rng, codes, times):
        """Return the letters of all sites after their times, uint8 (n,)."""
        reached = np.cumsum(self.transition_rows(codes, times), axis=1)
        drawn = rng.random(len(codes)) * reached[:, -1]
        return (reached <= drawn[:, None]).sum(axis=1).clip(max=len(self.frequencies) - 1).astype(np.uint8)

    def stationary(self, rng, n):
        """Return letters drawn from the stationary frequencies, uint8 (n,)."""
        return rng.choice(len(self.frequencies), size=n, p=self.frequencies).astype(np.uint8)


def wag():
    """Return the ExchangeModel WAG, letters in the order of the protein alphabet."""
    with open_resource("exchange_matrix.tsv") as file:
        rows = {row["amino_acid"]: row for row in csv.DictReader(file, delimiter="\t")}
    exchangeabilities = np.array([[float(rows[a][b]) for b in PROTEIN.letters] for a in PROTEIN.letters])
    return ExchangeModel(exchangeabilities, np.array([float(rows[a]["frequency"]) for a in PROTEIN.letters]))
