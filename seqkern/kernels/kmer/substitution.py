"""The substitution kernel: shared k-mers, allowing likely substitutions (Leslie and Kuang 2004)."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, integer, real, text
from seqkern.kernels.kmer.inexact import InexactKernel
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K
from seqkern.kernels.kmer.neighbourhoods import Rule, cost_rule
from seqkern.kernels.scores import matrix_names, matrix_probabilities, uniform_probabilities
from seqkern.sequences.alphabets import PROTEIN, Alphabet

COST_UNITS = 2.0**32
LARGEST_SIGMA = 1000


class SubstitutionKernel(InexactKernel):
    r"""Substitution kernel: shared k-mers, allowing likely substitutions of residues.

    It suits diverged proteins: conservative substitutions cost less than others.

    Notes
    -----
    With P(a | u) the probability of residue a where u was, and Φ_u(x) the number of k-mers a of x with −Σ_i ln P(a_i |
    u_i) < σ,

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    Logarithms are rounded to multiples of 2^−32 and added as integers, so that the order of summation never matters.

    Complexity: with N features per k-mer, O(N·|x|) per sequence to list them. A pair then takes O(b^k) with dense
    vectors over the b letters of the alphabet, time proportional to the shared features with posting lists, or a walk
    through the trie of k-mers, which stores no lists.

    Definiteness: positive semi-definite.

    Explanations share what a k-mer adds for u equally among its residues that match u, or among all if none does.

    References
    ----------
    Leslie, Kuang: Fast string kernels using inexact matching for protein sequences. Journal of Machine Learning
    Research 5, 2004.

    Examples
    --------
    Isoleucine often replaces leucine, tryptophan hardly ever:

    >>> from seqkern.kernels import SubstitutionKernel
    >>> SubstitutionKernel(k=3, sigma=5, alphabet="protein")(["KLV"], ["KIV", "KWV"]).round(2)
    array([[0.45, 0.  ]])
    """

    name = "substitution"
    summary = "Counts the k-mers that two sequences share, allowing likely substitutions of residues."

    k: int = integer(default=4, low=1, high=LARGEST_K, kw_only=False, doc="Length of the k-mers.")
    sigma: float = real(
        default=6.0,
        low=0,
        high=LARGEST_SIGMA,
        open_low=True,
        kw_only=False,
        doc="σ: a k-mer counts for u if its −ln P given u is below it. At most e^σ k-mers count for one u.",
    )
    matrix: str | list[list[float]] | None = text(
        default=None,
        rows=True,
        doc='Source of P: a substitution matrix of Biopython by name; ``"uniform"``; or scores, one '
        "row for each letter in the order of the alphabet, from whose implied target frequencies "
        'P follows. By default BLOSUM62 for proteins, else ``"uniform"``.',
    )
    kept: float = real(
        default=0.9,
        low=0,
        high=1,
        open_low=True,
        doc='With ``matrix="uniform"``, the probability that a residue is kept; all others are equally likely.',
    )
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising, what to do with a sequence that counts for no feature: raise an error, or return zeros.",
    )

    @classmethod
    def examples(cls) -> list["SubstitutionKernel"]:
        """Return kernels for the contract suite."""
        scores: list[list[float]] = [[5, -4, -1, -4], [-4, 5, -4, -1], [-1, -4, 5, -4], [-4, -1, -4, 5]]
        return [
            cls(),
            cls(3, 4.5, kept=0.7, normalize=False, reverse_complement=True),
            cls(4, 5, matrix=scores, alphabet="dna", presence=True),
            cls(3, 5.5, alphabet="protein"),
            cls(4, 3.5, kept=0.7, alphabet="HEC"),
        ]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.kept == 1:
            raise ParameterError("kept=1 is not possible", remedy="give a number below 1, or choose kernel spectrum")
        if isinstance(self.matrix, str):
            check_choice("matrix", self.matrix, ("uniform", *matrix_names()))
        elif self.matrix is not None and np.ndim(self.matrix) != 2:
            raise ParameterError(
                f"matrix={self.matrix!r} is not possible", remedy="give the name of a matrix, or rows of scores"
            )

    def probabilities(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        """Return the probability P[a, u] of letter a where u was.

        Parameters
        ----------
        alphabet : Alphabet
            The letters, in the order of rows and columns.

        Returns
        -------
        ndarray of float64, shape (letters, letters)

        Raises
        ------
        ParameterError
            If `matrix` has no scores for this alphabet, or its scores imply no frequencies.
        """
        matrix = self.matrix or ("BLOSUM62" if alphabet == PROTEIN else "uniform")
        if isinstance(matrix, str) and matrix == "uniform":
            return uniform_probabilities(alphabet.size, self.kept)
        rows = matrix if isinstance(matrix, str) else tuple(tuple(float(score) for score in row) for row in matrix)
        return matrix_probabilities(alphabet, rows)

    def _rule(self, alphabet: Alphabet) -> Rule:
        limit = round(self.sigma * COST_UNITS)
        costs = np.rint(-np.log(self.probabilities(alphabet)) * COST_UNITS)
        return cost_rule(np.minimum(costs, limit).astype(np.int64), self.k, limit)
