"""The window kernel: the neighbours of a residue as a vector (Hua & Sun 2001)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, text
from seqkern.kernels.scores import matrix_names, matrix_scores
from seqkern.kernels.windows.window_table import LetterCoding
from seqkern.kernels.windows.window_vectors import END, WindowVectorKernel
from seqkern.sequences.alphabets import Alphabet

ONE_HOT = "one_hot"


class WindowKernel(WindowVectorKernel):
    """Window kernel: the neighbours of a residue as a vector.

    It suits the prediction of residue states, such as secondary structure. Sequences are windows of one length, such as
    those around every residue of a data set with the key ``residues``.

    Notes
    -----
    φ(x) has for each position one number for each letter of the alphabet, and one more that is 1 where there is no
    residue: beyond the ends of the chain, and where a residue is masked; there the others are 0. With k the RBF,
    polynomial or linear kernel of vectors,

    .. math:: K(x, y) = k(φ(x), φ(y))

    With one-hot letters and flat weights ‖φ(x) − φ(y)‖² is twice the number of positions where two windows differ.

    Complexity: O(b·L) per pair of windows of length L over an alphabet of b letters.

    Definiteness: positive semi-definite.

    References
    ----------
    Qian, Sejnowski: Predicting the secondary structure of globular proteins using neural network models. Journal of
    Molecular Biology 202, 1988 (one-hot windows with a letter for the ends).

    Hua, Sun: A novel method of protein secondary structure prediction with high segment overlap measure: support vector
    machine approach. Journal of Molecular Biology 308, 2001.

    Examples
    --------
    Windows that differ at one position, and at all positions:

    >>> from seqkern.kernels import WindowKernel
    >>> WindowKernel(gamma=0.1, alphabet="protein")(["MKVLA", "MKILA", "GGSGP"]).round(3)
    array([[1.   , 0.819, 0.368],
           [0.819, 1.   , 0.368],
           [0.368, 0.368, 1.   ]])
    >>> WindowKernel(encoding="BLOSUM62", gamma=0.1, alphabet="protein")(["MKVLA"], ["MKILA", "MKDLA"]).round(3)
    array([[0.991, 0.792]])
    """

    name = "window"
    summary = "Compares the residues around a central residue, position by position."

    encoding: str = text(
        default=ONE_HOT,
        remedy="choose one_hot, or a substitution matrix such as BLOSUM62",
        doc='``"one_hot"``: 1 for the residue present, 0 for the others. Or the name of a '
        'substitution matrix such as ``"BLOSUM62"``: the residue\'s row of scores, scaled so that '
        "rows have squared length 1 on average.",
    )
    gamma: float | str = changed(default=0.1)

    @classmethod
    def examples(cls) -> list["WindowKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(),
            cls(encoding="BLOSUM62", gamma="scale", position_weights="triangle", alphabet="protein"),
            cls(vector_kernel="polynomial", gamma=0.05, degree=3, position_weights="gaussian", normalize=True),
            cls(vector_kernel="linear", position_weights=[0.0, 1.5, 0.7] * 8, normalize=True, zero_diagonal="zero"),
        ]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.encoding not in (ONE_HOT, *matrix_names()):
            raise ParameterError(
                f"encoding={self.encoding!r} is not possible",
                remedy="choose one_hot, or a substitution matrix such as BLOSUM62",
            )

    @property
    def coding(self) -> "MatrixCoding":
        """Encoding of a residue as numbers."""
        return MatrixCoding(self.encoding)


@dataclass(frozen=True)
class MatrixCoding(LetterCoding):
    """Encoding of a residue: one-hot, or its row of a substitution matrix.

    Attributes
    ----------
    encoding : str
        As in `WindowKernel`.

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> MatrixCoding("one_hot").columns(DNA)
    ['A', 'C', 'G', 'T', 'end']
    >>> MatrixCoding("one_hot").lookup(DNA)[2]
    array([0., 0., 1., 0., 0.])
    """

    encoding: str

    def lookup(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        """Return the encoding of each letter.

        Parameters
        ----------
        alphabet : Alphabet
            That of the windows.

        Returns
        -------
        ndarray of float64, shape (size + 1, size + 1)
            The last row is for masked residues.
        """
        rows = np.eye(alphabet.size + 1)
        if self.encoding != ONE_HOT:
            scores = matrix_scores(alphabet, self.encoding)
            rows[:-1, :-1] = scores / np.sqrt((scores**2).sum(axis=1).mean())
        return rows

    def columns(self, alphabet: Alphabet) -> list[str]:
        """Return the names of the columns: the letters, and ``end``.

        Parameters
        ----------
        alphabet : Alphabet
            That of the windows.

        Returns
        -------
        list of str
        """
        return [*alphabet.letters, END]
