"""Eigenvalues of matrices that depend on the Hamming distance of two l-mers alone; see `hamming_additive`."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer.estimators import krawtchouk
from seqkern.kernels.kmer.hamming import _hamming_additive as loops

LARGEST_BLOCK = 1 << 14

Floats = npt.NDArray[np.float64]


def eigenvalues(size: int, length: int, values: Sequence[float]) -> Floats:
    """Return the eigenvalues of the matrix values[h(a, b)] over all l-mers, rounded once.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    length : int
        Length of the l-mers.
    values : sequence of float, length + 1
        Of each Hamming distance.

    Returns
    -------
    ndarray of float64, shape (length + 1,)
        Eigenvalue i belongs to functions that depend on i of the positions only.
    """
    return np.array(
        [
            float(sum(Fraction(value) * krawtchouk(h, i, length, size - 1) for h, value in enumerate(values) if value))
            for i in range(length + 1)
        ],
        dtype=np.float64,
    )


def residue_factors(size: int, length: int, values: Sequence[float]) -> tuple[Floats, Floats]:
    """Return the eigenvalues for the share of the residue at one position of an l-mer.

    Of a pair at distance h < length that is values[h] / (length − h) if the residue matches: the identity at this
    position, a matrix of Hamming distances at the others. At distance `length` it is values[length] / length.

    Parameters
    ----------
    size, length, values
        As in `eigenvalues`.

    Returns
    -------
    same, other : ndarray of float64, shape (length + 1,)
        For functions of i positions, without this one and with it.
    """
    inner = eigenvalues(size, length - 1, [value / (length - h) for h, value in enumerate(values[:length])])
    apart = eigenvalues(size, length, [0] * length + [values[length] / length])
    return np.append(inner, 0) + apart, np.append(0, inner) + apart


def reflect(table: Floats, size: int, length: int) -> None:
    """Reflect a table over all l-mers, in place; see `_hamming_additive.reflect`.

    Parameters
    ----------
    table : ndarray of float64, shape (size^length,)
        Changed.
    size : int
        Letters of the alphabet.
    length : int
        Length of the l-mers.
    """
    low = 1
    while low < length and size ** (low + 1) <= LARGEST_BLOCK:
        low += 1
    high = length - low
    loops.reflect(table, size, high, low, np.empty(size**high * loops.LANE_COUNT))
