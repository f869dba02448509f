"""The window kernel: the letters around a residue as a vector (Hua & Sun, J Mol Biol 308, 2001)."""

from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, text
from seqkern.kernels.scores import matrix_names, matrix_scores
from seqkern.kernels.windows.window_table import LetterCoding
from seqkern.kernels.windows.window_vectors import END, WindowVectorKernel

ONE_HOT = "one_hot"


class WindowKernel(WindowVectorKernel):
    """Kernel between windows of letters: K(x, y) = k(φ(x), φ(y)), k a kernel of vectors.

    Sequences are windows of one length, such as those around every residue of a data set with the key ``residues``.
    φ(x) has for each position one number for each letter of the alphabet, and one more that is 1 where there is no
    residue: beyond the ends of the chain, and where a letter is masked; there the others are 0.

    With one-hot letters and flat weights ‖φ(x) − φ(y)‖² is twice the number of positions where two windows differ.

    References
    ----------
    Qian, Sejnowski: Predicting the secondary structure of globular proteins using neural network models. Journal of
    Molecular Biology 202, 1988 (one-hot windows with a letter for the ends).

    Hua, Sun: A novel method of protein secondary structure prediction with high segment overlap measure: support vector
    machine approach. Journal of Molecular Biology 308, 2001.
    """

    name = "window"
    summary = "Compares, position by position, the letters around a residue."

    encoding: str = text(
        default=ONE_HOT,
        remedy="choose one_hot, or a substitution matrix, such as BLOSUM62",
        doc='``"one_hot"``: 1 for the letter that is there, and 0 for the others. Or the name of a substitution '
        'matrix, such as ``"BLOSUM62"``: the letter\'s row of scores, all divided by one number, so that a row has '
        "the squared length 1 on average.",
    )
    gamma: float | str = changed(default=0.1)

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        return [
            cls(),
            cls(encoding="BLOSUM62", gamma="scale", position_weights="triangle", alphabet="protein"),
            cls(vector_kernel="polynomial", gamma=0.05, degree=3, position_weights="gaussian", normalize=True),
            cls(vector_kernel="linear", position_weights=[0.0, 1.5, 0.7] * 8, normalize=True, zero_diagonal="zero"),
        ]

    def _check_parameters(self):
        super()._check_parameters()
        if self.encoding not in (ONE_HOT, *matrix_names()):
            raise ParameterError(
                f"encoding={self.encoding!r} is not possible",
                remedy="choose one_hot, or a substitution matrix, such as BLOSUM62",
            )

    @property
    def coding(self):
        """What knows the numbers of a letter."""
        return MatrixCoding(self.encoding)


@dataclass(frozen=True)
class MatrixCoding(LetterCoding):
    """The numbers of a letter: one-hot, or its row of a substitution matrix.

    Attributes
    ----------
    encoding : str
    """

    encoding: str

    def lookup(self, alphabet):
        """Return the numbers of each letter and, in the last row, of none, float64 (size + 1, size + 1)."""
        rows = np.eye(alphabet.size + 1)
        if self.encoding != ONE_HOT:
            scores = matrix_scores(alphabet, self.encoding)
            rows[:-1, :-1] = scores / np.sqrt((scores**2).sum(axis=1).mean())
        return rows

    def columns(self, alphabet):
        """Return the names of the numbers, one str each."""
        return [*alphabet.letters, END]
