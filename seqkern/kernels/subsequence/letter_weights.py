"""Weights of matches between letters, from a substitution matrix (0 to 1) or as given."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.kernels.scores import matrix_names, matrix_probabilities
from seqkern.sequences.alphabets import DNA, PROTEIN, Alphabet, as_alphabet

Matching = str | Sequence[Sequence[float]]
"""A substitution matrix by name, or the weight of each pair of letters."""


def letter_weights(matching: Matching | None, alphabet: Alphabet) -> npt.NDArray[np.float64]:
    """Return the weight of each pair of letters of an alphabet.

    Parameters
    ----------
    matching : None, str, or list of list of float
        None for the unit matrix; a substitution matrix of Biopython, for w(a, b) = q(a, b) / √(q(a, a)·q(b, b)) with
        q(a, b) = exp(λ·s(a, b)), the odds ratio of a score s; or the weights.
    alphabet : Alphabet
        The letters, in the order of rows and columns.

    Returns
    -------
    ndarray of float64, shape (letters, letters)
        Symmetric; 0 where two letters do not match.

    Raises
    ------
    ParameterError
        If the matrix does not exist, or the weights have the wrong size, are not symmetric, negative, or far from 1.
    """
    if matching is None:
        return np.eye(alphabet.size)
    if isinstance(matching, str):
        if matching not in matrix_names():
            raise ParameterError(
                f"matching={matching!r} is not a substitution matrix of Biopython",
                remedy=f"choose one of {', '.join(matrix_names())}, or give the weights",
            )
        # P(a | b)·P(b | a) is p(a)·p(b)·q(a, b)², with the background p, which cancels.
        odds = matrix_probabilities(alphabet, matching)
        own = odds.diagonal()
        weights = np.sqrt(odds * odds.T / np.outer(own, own))
        np.fill_diagonal(weights, 1.0)
        return weights
    return _as_weights(matching, alphabet)


def definite(matching: Matching, alphabet: str | Alphabet | None = None) -> bool:
    """Return whether the weights are positive semi-definite, up to rounding.

    Parameters
    ----------
    matching : str, or list of list of float
        As in `letter_weights`.
    alphabet : str or Alphabet, optional
        By default protein for the name of a matrix, or DNA for one of bases; weights are used as given.

    Returns
    -------
    bool

    Raises
    ------
    ParameterError
        If the matrix does not exist, or has no scores for the alphabet.
    """
    if not isinstance(matching, str):
        weights = np.array(matching, dtype=np.float64)
    elif alphabet is not None:
        weights = letter_weights(matching, as_alphabet(alphabet))
    else:
        try:
            weights = letter_weights(matching, PROTEIN)
        except ParameterError:
            weights = letter_weights(matching, DNA)
    values = np.linalg.eigvalsh(weights)
    return bool(values[0] >= -1e-12 * values[-1])


def _as_weights(rows: Sequence[Sequence[float]], alphabet: Alphabet) -> npt.NDArray[np.float64]:
    """Return custom weights, float64 (size, size), checked."""
    size = alphabet.size
    try:
        weights = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (size, size):
        raise ParameterError(
            f"matching does not have {size} rows of {size} weights",
            remedy=f"give one number for each pair of the letters {alphabet.letters}",
        )
    good = np.isfinite(weights).all() and (weights == weights.T).all()
    if not good or (weights < 0).any() or (weights > 1e6).any() or ((weights > 0) & (weights < 1e-6)).any():
        raise ParameterError(
            "the weights of matching are not possible",
            remedy="give a symmetric table of numbers that are 0 or from 1e-6 to 1e6",
        )
    return weights
