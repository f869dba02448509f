"""Tables over all k-mers that are the same for both strands: one entry for each k-mer and its reverse complement."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from seqkern.sequences.alphabets import Alphabet

Floats = npt.NDArray[np.float64]


def reverse_complements(alphabet: Alphabet, length: int) -> npt.NDArray[np.int64]:
    """Return the code of the reverse complement of each k-mer.

    Parameters
    ----------
    alphabet : Alphabet
        With complements.
    length : int
        Of the k-mers.

    Returns
    -------
    ndarray of int64, shape (letters^length,)

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> reverse_complements(DNA, 2)[:6].tolist()
    [15, 11, 7, 3, 14, 10]
    """
    size = alphabet.size
    complement = alphabet.complement_codes[:size].astype(np.int64)
    codes = np.zeros(1, dtype=np.int64)
    for place in range(length):
        # the new letter comes first, so its complement comes last
        codes = (complement[:, None] + size * codes * (place > 0)).reshape(-1)
    return codes


@lru_cache(maxsize=2)
def first_of_pairs(alphabet: Alphabet, length: int) -> npt.NDArray[np.int64]:
    """Return the codes of the k-mers that do not come after their reverse complement, ascending.

    Parameters
    ----------
    alphabet, length
        As in `reverse_complements`.

    Returns
    -------
    ndarray of int64
    """
    codes = np.arange(alphabet.size**length)
    return codes[codes <= reverse_complements(alphabet, length)]


def unfold(folded: npt.NDArray[np.float32 | np.float64], alphabet: Alphabet, length: int) -> Floats:
    """Return a table over all k-mers, the same for both strands.

    Parameters
    ----------
    folded : ndarray of float, shape (pairs,)
        The entries of `first_of_pairs`.
    alphabet, length
        As in `reverse_complements`.

    Returns
    -------
    ndarray of float64, shape (letters^length,)

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> unfold(np.array([3.0, 5.0]), DNA, 1)
    array([3., 5., 5., 3.])
    """
    first, other = first_of_pairs(alphabet, length), reverse_complements(alphabet, length)
    table = np.empty(len(other))
    table[first] = folded
    table[other[first]] = folded
    return table
