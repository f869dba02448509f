"""The basis of the implicit features of weighted degree kernels: windows, weights of lengths and positions.

Both kernels keep dense tables of weights for k-mers up to some depth, and lists of what longer k-mers share. A census
counts what is shared, for every depth at once, and `choose_depth` takes the depth with the least memory. It is also
about the fastest, because an epoch is limited by memory access.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.kernels.positional import _degree_implicit
from seqkern.sequences.sequence_set import SequenceSet

MEMORY_SHARE = 1 / 2  # of the free memory
MOST = 2**31 - 1  # windows, or things that they share
MOST_WORDS = 4**12  # k-mers of the longest dense table


class Windows:
    """The windows of a set, and the kernel's weights of their k-mers.

    Parameters
    ----------
    X : SequenceSet
        Records of one length.
    beta, gamma : ndarray of float64
        Weights of the lengths 1, 2, …, and of the positions.

    Attributes
    ----------
    n, length, size : int
        Number of windows, length of each, size of the alphabet.
    codes : ndarray of uint8
    starts : ndarray of int64, shape (n,)
        Start of each window in `codes`.
    degree : int
        The longest k-mers that count.
    beta : ndarray of float64, shape (degree,)
    gamma : ndarray of float64, shape (length,)
    sums : ndarray of float64, shape (degree + 1,)
        β_1 + … + β_k.
    masked : bool
        Whether there is a masked residue.

    Raises
    ------
    ParameterError
        If there are more than 2^31 − 1.
    """

    def __init__(self, X: SequenceSet, beta: npt.NDArray[np.float64], gamma: npt.NDArray[np.float64]) -> None:
        self.n, self.length, self.size = len(X), int(X.lengths[0]) if len(X) else 0, X.alphabet.size
        if self.n > MOST:
            raise ParameterError(f"{self.n} windows are too many", remedy="train on fewer")
        self.codes, self.starts = X.codes, X.starts
        used = np.flatnonzero(beta)
        self.degree = min(int(used[-1]) + 1 if len(used) else 0, self.length)
        self.beta = np.ascontiguousarray(beta[: self.degree], dtype=np.float64)
        self.gamma = np.ascontiguousarray(gamma, dtype=np.float64)
        self.sums = np.concatenate(([0.0], np.cumsum(self.beta)))
        self.masked = _degree_implicit.any_masked(self.codes, self.starts, self.length, self.size)

    @property
    def deepest(self) -> int:
        """The longest k-mers that can have a dense table."""
        return max(k for k in range(min(self.degree, 64) + 1) if self.size**k <= MOST_WORDS)

    def kinds(self, depth: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Number the stretches of lengths above `depth`.

        Parameters
        ----------
        depth : int
            The longest k-mers that have a dense table.

        Returns
        -------
        kinds : ndarray of int32, shape (degree + 1, degree + 1)
            That of the lengths a + 1 to b, at [a, b].
        factors : ndarray of float64
            Σβ_k of each.
        """
        a, b = (edges + depth for edges in np.triu_indices(self.degree - depth + 1, 1))
        kinds = np.zeros((self.degree + 1, self.degree + 1), dtype=np.int32)
        kinds[a, b] = np.arange(len(a))
        return kinds, self.sums[b] - self.sums[a]

    def n_kinds(self, depth: int) -> int:
        """Return the number of stretches of lengths above `depth`.

        Parameters
        ----------
        depth : int
            The longest k-mers that have a dense table.

        Returns
        -------
        int
        """
        return (self.degree - depth) * (self.degree - depth + 1) // 2


def choose_depth(needs: dict[int, int], windows: Windows) -> int:
    """Return the largest length with dense tables.

    Parameters
    ----------
    needs : dict of int to int
        Possible depths, and the bytes of each.
    windows : Windows
        The training windows, for messages.

    Returns
    -------
    int

    Raises
    ------
    ParameterError
        As `least_bytes`, or if none fits into half of the free memory.
    """
    least_bytes(needs, windows)
    depth = min(needs, key=needs.__getitem__)
    if needs[depth] > MEMORY_SHARE * available_memory():
        raise ParameterError(
            f"training on {windows.n} windows of {windows.length} residues without a Gram matrix needs "
            f"{format_bytes(needs[depth])} of memory",
            remedy="choose a smaller degree or shift, or fewer or shorter sequences",
        )
    return depth


def least_bytes(needs: dict[int, int], windows: Windows) -> int:
    """Return the smallest number of bytes among the possible depths.

    Parameters
    ----------
    needs : dict of int to int
        Possible depths, and the bytes of each.
    windows : Windows
        The training windows, for messages.

    Returns
    -------
    int

    Raises
    ------
    ParameterError
        If no depth is possible, because all exceed `MOST`.
    """
    if not needs:
        raise ParameterError(
            f"{windows.n} windows of {windows.length} residues share too many k-mers to be numbered",
            remedy="choose a smaller degree or shift, or fewer or shorter sequences",
        )
    return min(needs.values())


def above(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return, for each k, the sum of the counts above k.

    Parameters
    ----------
    counts : ndarray of int64, shape (n,)
        The counts at each k.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    return np.cumsum(counts[::-1])[::-1] - counts


def some(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array, or a single zero if it is empty: compiled code takes the address of the first item.

    Parameters
    ----------
    array : ndarray
        Of any kind.

    Returns
    -------
    ndarray
        Of one item or more.
    """
    return array if array.size else np.zeros(1, dtype=array.dtype)
