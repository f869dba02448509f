"""Amino-acid substitution as a time-reversible Markov process, with the WAG matrix.

Whelan & Goldman, Mol Biol Evol 18:691 (2001). The rate from a to b is q_ab = s_ab π_b, s the symmetric
exchangeabilities and π the stationary frequencies, scaled to one expected substitution per site and unit of
time.
"""

import csv

import numpy as np
import numpy.typing as npt

from seqkern.core.resource_files import open_resource
from seqkern.sequences.alphabets import PROTEIN


class SubstitutionModel:
    """A time-reversible substitution process.

    Parameters
    ----------
    exchangeabilities : ndarray of float64, shape (a, a)
        Symmetric; the diagonal is not used.
    frequencies : ndarray of float64, shape (a,)
        Stationary frequencies; scaled to sum to one.

    Attributes
    ----------
    rates : ndarray of float64, shape (a, a)
        The rate matrix Q; rows sum to zero, and one substitution per unit of time is expected.

    Examples
    --------
    Nucleotides with equal rates for all substitutions (Jukes and Cantor):

    >>> import numpy as np
    >>> from seqkern.simulate.substitution import SubstitutionModel
    >>> model = SubstitutionModel(np.ones((4, 4)), np.full(4, 0.25))
    >>> model.transition_rows(np.array([0]), np.array([0.1])).round(4).tolist()
    [[0.9064, 0.0312, 0.0312, 0.0312]]
    """

    def __init__(self, exchangeabilities: npt.NDArray[np.float64], frequencies: npt.NDArray[np.float64]) -> None:
        self.frequencies = frequencies / frequencies.sum()
        rates = exchangeabilities * self.frequencies
        np.fill_diagonal(rates, 0)
        np.fill_diagonal(rates, -rates.sum(axis=1))
        self.rates = rates / -(self.frequencies @ np.diagonal(rates))
        # D^½ Q D^-½ is symmetric for a reversible process, so its eigenvalues are real and exp(Qt) is cheap.
        root = np.sqrt(self.frequencies)
        self._eigenvalues, vectors = np.linalg.eigh(root[:, None] * self.rates / root)
        self._left, self._right = vectors / root[:, None], vectors.T * root

    def transition_rows(self, codes: npt.NDArray[np.uint8], times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return, for each site, the probabilities of its residue after its time: rows of exp(Qt).

        Parameters
        ----------
        codes : ndarray of int, shape (n,)
            The residue of each site.
        times : ndarray of float64, shape (n,)
            The time of each site, in expected substitutions.

        Returns
        -------
        ndarray of float64, shape (n, a)
        """
        decay = np.exp(np.multiply.outer(times, self._eigenvalues))
        # einsum, not BLAS: the same bits at any number of threads.
        rows = np.einsum("nk,kb->nb", self._left[codes] * decay, self._right)
        return np.maximum(rows, 0)

    def replace(
        self, rng: np.random.Generator, codes: npt.NDArray[np.uint8], times: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.uint8]:
        """Draw the residues of all sites after their times.

        Parameters
        ----------
        rng : numpy.random.Generator
            Random number generator.
        codes, times
            As in `transition_rows`.

        Returns
        -------
        ndarray of uint8, shape (n,)
        """
        reached = np.cumsum(self.transition_rows(codes, times), axis=1)
        drawn = rng.random(len(codes)) * reached[:, -1]
        return (reached <= drawn[:, None]).sum(axis=1).clip(max=len(self.frequencies) - 1).astype(np.uint8)

    def stationary(self, rng: np.random.Generator, n: int) -> npt.NDArray[np.uint8]:
        """Draw residues from the stationary frequencies.

        Parameters
        ----------
        rng : numpy.random.Generator
            Random number generator.
        n : int
            Number of residues.

        Returns
        -------
        ndarray of uint8, shape (n,)
        """
        return rng.choice(len(self.frequencies), size=n, p=self.frequencies).astype(np.uint8)


def wag() -> SubstitutionModel:
    """Return the WAG model, with amino acids in the order of the alphabet."""
    with open_resource("exchange_matrix.tsv") as file:
        rows = {row["amino_acid"]: row for row in csv.DictReader(file, delimiter="\t")}
    exchangeabilities = np.array([[float(rows[a][b]) for b in PROTEIN.letters] for a in PROTEIN.letters])
    return SubstitutionModel(exchangeabilities, np.array([float(rows[a]["frequency"]) for a in PROTEIN.letters]))
