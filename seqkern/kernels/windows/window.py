"""The window kernel: the letters around a residue as a vector (Hua & Sun, J Mol Biol 308, 2001)."""

from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import ParameterError
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

    Parameters
    ----------
    encoding : str
        ``"one_hot"``: 1 for the letter that is there, and 0 for the others. Or the name of a substitution matrix, such
        as ``"BLOSUM62"``: the letter's row of scores, all divided by one number, so that a row has the squared length 1
        on average.
    vector_kernel : {"rbf", "polynomial", "linear"}
        k: exp(−γ·‖φ(x) − φ(y)‖²), (γ·φ(x)·φ(y) + coef0)^degree, or φ(x)·φ(y). Only ``"linear"`` has features.
    gamma : float > 0 or "scale"
        γ; ``"scale"``, of ``"rbf"`` only, is 1 / the total variance of the training vectors.
    degree : int
    coef0 : float
    position_weights : {"flat", "triangle", "gaussian"} or list of float
        Weight w of each position in products and squared distances, Σ_p w_p·φ_p(x)·φ_p(y): 1; largest in the centre,
        in proportion to 1 − d / (h + 1) or exp(−(2·d / h)²) with the distance d to the centre and that of the ends, h,
        1 on average; or one's own.
    normalize : bool
        Divide by sqrt(K(x, x)·K(y, y)); of ``"rbf"`` that changes nothing.
    alphabet : str, optional
        The alphabet that sequences must have, and that strings are encoded with.
    zero_diagonal : {"error", "zero"}
        What to do, when normalising, about a window whose K(x, x) is zero.
    n_threads : int, optional
        By default all cores.

    References
    ----------
    Qian, Sejnowski: Predicting the secondary structure of globular proteins using neural network models. Journal of
    Molecular Biology 202, 1988 (one-hot windows with a letter for the ends).

    Hua, Sun: A novel method of protein secondary structure prediction with high segment overlap measure: support vector
    machine approach. Journal of Molecular Biology 308, 2001.
    """

    name = "window"
    plain = "Compares, position by position, the letters around a residue."

    def __init__(
        self,
        *,
        encoding=ONE_HOT,
        vector_kernel="rbf",
        gamma=0.1,
        degree=2,
        coef0=1.0,
        position_weights="flat",
        normalize=False,
        alphabet=None,
        zero_diagonal="error",
        n_threads=None,
    ):
        self.encoding = encoding
        self.vector_kernel = vector_kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.position_weights = position_weights
        self.normalize = normalize
        self.alphabet = alphabet
        self.zero_diagonal = zero_diagonal
        self.n_threads = n_threads

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
        if not isinstance(self.encoding, str) or self.encoding not in (ONE_HOT, *matrix_names()):
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
