"""Substitution probabilities: the probability of a letter where another one was.

A score s(a, b) of a substitution matrix is a logarithm of odds, s(a, b) = ln(q(a, b) / (p(a)·p(b))) / λ, rounded. The
target frequencies q that the matrix itself implies are those with the background p that solves
Σ_b p(b)·exp(λ·s(a, b)) = 1 for every letter a, and Σ p = 1 (Yu, Wootton, Altschul 2003); then the probability of the
letter a where b was is P(a | b) = q(a, b) / p(b) = p(a)·exp(λ·s(a, b)).
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.sequences.alphabets import Alphabet

TRIED = 2000
STEEPEST, FLATTEST = 60.0, 0.01  # λ times the largest score
NUCLEOTIDES = frozenset("ACGTURYSWKMBDHVN")
NOT_LETTERS = frozenset("*X-")


@lru_cache(maxsize=16)
def matrix_probabilities(alphabet: Alphabet, matrix: str | tuple[tuple[float, ...], ...]) -> npt.NDArray[np.float64]:
    """Return P[a, b], float64 (size, size), the probability of letter a where letter b was.

    Parameters
    ----------
    alphabet : Alphabet
        The alphabet of a and b.
    matrix : str or tuple of tuple of float
        The name of a substitution matrix in Biopython, or the scores, in the order of the alphabet's letters.

    Returns
    -------
    ndarray of float64, shape (size, size)
        Read-only.

    Raises
    ------
    ParameterError
        If the matrix does not exist, has other letters, or its scores are not log-odds.
    """
    scores = matrix_scores(alphabet, matrix) if isinstance(matrix, str) else as_scores(alphabet, matrix)
    background, scale = implied_background(scores, matrix)
    probabilities = background[:, None] * np.exp(scale * scores)
    probabilities.flags.writeable = False
    return probabilities


def uniform_probabilities(size: int, kept: float) -> npt.NDArray[np.float64]:
    """Return P[a, b], float64 (size, size): a letter is kept, or replaced by any other with equal probability.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    kept : float
        The probability that a letter is kept.

    Returns
    -------
    ndarray of float64, shape (size, size)
    """
    probabilities = np.full((size, size), (1 - kept) / (size - 1))
    np.fill_diagonal(probabilities, kept)
    return probabilities


def implied_background(
    scores: npt.NDArray[np.float64], name: object = "the matrix"
) -> tuple[npt.NDArray[np.float64], float]:
    """Return the background p, float64 (size,), and the scale λ implied by a symmetric score matrix.

    Parameters
    ----------
    scores : ndarray of float64, shape (size, size)
        s(a, b), symmetric.
    name : object
        For messages.

    Returns
    -------
    background : ndarray of float64, shape (size,)
        p.
    scale : float
        λ.

    Raises
    ------
    ParameterError
        If they do not exist.
    """
    # imported here: slows start-up
    from scipy.optimize import brentq

    def excess(scale: float) -> float:
        return np.linalg.inv(np.exp(scale * scores)).sum() - 1

    largest = scores.diagonal().max()
    scales = np.geomspace(STEEPEST, FLATTEST, TRIED) / largest if largest > 0 else []
    try:
        values = [excess(scale) for scale in scales]
        for high, low, above, below in zip(scales, scales[1:], values, values[1:], strict=False):
            if not above < 0 <= below:
                continue
            scale = brentq(excess, low, high, xtol=1e-15 * high, rtol=1e-14)
            background = np.linalg.inv(np.exp(scale * scores)).sum(axis=1)
            if abs(background.sum() - 1) < 1e-6 and (background > 0).all():
                return background, scale
    except np.linalg.LinAlgError:
        pass
    raise ParameterError(
        f"the scores of {name if isinstance(name, str) else 'matrix'} imply no letter frequencies",
        remedy="choose a log-odds matrix such as BLOSUM62, or matrix=uniform",
    )


@lru_cache(maxsize=1)
def matrix_names() -> list[str]:
    """Return the names of Biopython's substitution matrices."""
    # imported here: slows start-up
    from Bio.Align import substitution_matrices

    return substitution_matrices.load()


def of_bases(letters: Iterable[str]) -> bool:
    """Return whether letters, of an alphabet or a matrix, are those of DNA or RNA.

    Parameters
    ----------
    letters : iterable of str
        Such as text.

    Returns
    -------
    bool
    """
    return set(letters) - NOT_LETTERS <= NUCLEOTIDES


def check_sort(alphabet: Alphabet, letters: str, name: str, file: str | None = None) -> None:
    """Raise ParameterError if a protein matrix, by its letters, meets a DNA or RNA alphabet.

    A, C, G and T are amino acids too, so the matrix would have scores for them.

    Parameters
    ----------
    alphabet : Alphabet
        Of the sequences.
    letters : str
        Of the matrix.
    name : str
        Name in messages; may be empty.
    file : str, optional
        Named in messages.

    Raises
    ------
    ParameterError
        If they do not match.
    """
    if of_bases(alphabet.letters) and not of_bases(letters):
        raise ParameterError(
            f"{name} is a protein matrix, the alphabet is {alphabet.name}".lstrip(),
            file=file,
            remedy="choose a matrix for DNA: matrix=NUC.4.4",
        )


def matrix_scores(alphabet: Alphabet, name: str) -> npt.NDArray[np.float64]:
    """Return a substitution matrix of Biopython, in the order of the alphabet's letters.

    Parameters
    ----------
    alphabet : Alphabet
        For RNA, U scores as T.
    name : str
        Such as ``"BLOSUM62"``.

    Returns
    -------
    ndarray of float64, shape (size, size)

    Raises
    ------
    ParameterError
        If it has no scores for the alphabet, or is a protein matrix for a DNA or RNA alphabet.
    """
    # imported here: slows start-up
    from Bio.Align import substitution_matrices

    table = substitution_matrices.load(name)
    letters = alphabet.letters.replace("U", "T") if alphabet.name == "rna" else alphabet.letters
    missing = [letter for letter in letters if letter not in table.alphabet]
    if table.ndim != 2 or missing:
        raise ParameterError(
            f"the matrix {name} has no scores for the alphabet {alphabet.name}",
            remedy="choose another matrix, give scores, or choose matrix=uniform",
        )
    check_sort(alphabet, table.alphabet, f"matrix {name}")
    return np.array([[table[a, b] for b in letters] for a in letters], dtype=np.float64)


def as_scores(alphabet: Alphabet, rows: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return custom scores, checked.

    Parameters
    ----------
    alphabet : Alphabet
        Alphabet of the scores.
    rows : list of list of float
        In the order of the alphabet's letters.

    Returns
    -------
    ndarray of float64, shape (size, size)

    Raises
    ------
    ParameterError
        If their number is wrong, or they are not symmetric and finite.
    """
    try:
        scores = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):  # not numbers, or rows of different lengths
        scores = np.empty(0)
    if scores.shape != (alphabet.size, alphabet.size):
        raise ParameterError(
            f"matrix does not have {alphabet.size} rows of {alphabet.size} scores",
            remedy=f"give one number for each pair of the letters {alphabet.letters}",
        )
    if not np.isfinite(scores).all() or (scores != scores.T).any():
        raise ParameterError("matrix is not symmetric, or not finite", remedy="give the same score for ab and ba")
    return scores
