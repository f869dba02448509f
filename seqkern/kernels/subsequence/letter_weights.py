"""Weights of matches: how well two letters match, from 0 to 1 by a substitution matrix, or as given."""

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.kernels.scores import matrix_names, matrix_probabilities
from seqkern.sequences.alphabets import DNA, PROTEIN, as_alphabet


def letter_weights(matching, alphabet):
    """Return the weight of each pair of letters, float64 (size, size).

    Parameters
    ----------
    matching : None, str, or list of list of float
        None for the unit matrix; a substitution matrix of Biopython, for w(a, b) = q(a, b) / √(q(a, a)·q(b, b))
        with q(a, b) = exp(λ·s(a, b)), the odds that a score s stands for; or the weights.
    alphabet : Alphabet

    Raises
    ------
    ParameterError
        If there is no such matrix, or the weights are of another number of letters, not symmetric, negative,
        or far from 1.
    """
    if matching is None:
        return np.eye(alphabet.size)
    if isinstance(matching, str):
        if matching not in matrix_names():
            raise ParameterError(
                f"matching={matching!r} is no substitution matrix of Biopython",
                remedy=f"choose one of {', '.join(matrix_names())}, or give the weights",
            )
        # P(a | b)·P(b | a) is p(a)·p(b)·q(a, b)², p the background, which the division takes out again.
        odds = matrix_probabilities(alphabet, matching)
        own = odds.diagonal()
        weights = np.sqrt(odds * odds.T / np.outer(own, own))
        np.fill_diagonal(weights, 1.0)
        return weights
    return _as_weights(matching, alphabet)


def definite(matching, alphabet=None):
    """Return whether the weights are positive semi-definite, as far as roundings let it be known.

    Parameters
    ----------
    matching
        As in `letter_weights`, not None.
    alphabet : str or Alphabet, optional
        By default protein for the name of a matrix, or DNA for one of bases; weights are taken as they are.
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


def _as_weights(rows, alphabet):
    """Return one's own weights, float64 (size, size), checked."""
    size = alphabet.size
    try:
        weights = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (size, size):
        raise ParameterError(
            f"matching has not {size} rows of {size} weights",
            remedy=f"give one for each pair of the letters {alphabet.letters}",
        )
    good = np.isfinite(weights).all() and (weights == weights.T).all()
    if not good or (weights < 0).any() or (weights > 1e6).any() or ((weights > 0) & (weights < 1e-6)).any():
        raise ParameterError(
            "the weights of matching are not possible",
            remedy="give a symmetric table of numbers that are 0 or between 1e-6 and 1e6",
        )
    return weights
