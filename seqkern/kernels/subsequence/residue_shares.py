"""Decisions of the string kernel, explained by residue."""

import math

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.kernels._records import Records
from seqkern.kernels.subsequence import _subsequence
from seqkern.kernels.subsequence.chains import EXACTLY, UP_TO, Chains
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet


def length_nodes(longest: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return nodes z and factors f such that Σ_k f_k·z_k^p is 1 / p for every p from 1 to `longest`.

    This is ∫ z^(p − 1) dz from 0 to 1 by Gauss-Legendre quadrature. N nodes are exact for p ≤ 2N; but z^p is so close
    to a polynomial of degree d (within 2·exp(−d²/p)) that degree √(48·p) suffices for a double.

    Parameters
    ----------
    longest : int
        The largest p.

    Returns
    -------
    nodes, factors : ndarray of float64, shape (nodes,)
    """
    enough = math.isqrt(48 * longest) // 2 + 1
    nodes, factors = np.polynomial.legendre.leggauss(min(longest // 2 + 1, enough))
    return (nodes + 1) / 2, factors / (nodes + 1)


def residue_shares(
    chains: Chains, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return what each residue of `X` contributes to Σ_j coefficients[j]·K(x, z_j).

    The weight of each chain is shared equally by its residues; chains of different lengths are summed by
    `length_nodes`.

    Parameters
    ----------
    chains : Chains
        Which chains count.
    X : SequenceSet
        The sequences x, to be explained.
    support : SequenceSet
        The m sequences z_j.
    coefficients : ndarray of float64, shape (m,)
        One for each of these.

    Returns
    -------
    ndarray of float64, shape (residues of X,)
        Record after record.

    Raises
    ------
    SequenceError
        If a double overflows.
    """
    size = len(chains.weights)
    recursion = chains.recursion(max(int(Z.lengths.max(initial=0)) for Z in (X, support)))

    def records(Z: SequenceSet) -> Records:
        codes = np.where(Z.codes == MASK, np.uint8(size), Z.codes)
        return Records(codes, Z.starts, Z.stops, np.arange(len(Z)))

    mine, theirs = records(X), records(support)
    shares = np.zeros(int(X.lengths.sum()))
    if chains.mode == EXACTLY:
        nodes, factors = np.ones(1), np.ones(1) / (chains.levels + 1)
    else:
        longest = min(int(Z.lengths.max(initial=0)) for Z in (X, support))
        longest = min(longest, chains.levels + 1) if chains.mode == UP_TO else longest
        nodes, factors = length_nodes(longest)
    _subsequence.share(recursion, mine, theirs, np.ascontiguousarray(coefficients), nodes, factors, shares)
    if not np.isfinite(shares).all():
        record = int(np.searchsorted(np.cumsum(X.lengths), np.flatnonzero(~np.isfinite(shares))[0], side="right"))
        raise SequenceError(
            "the contributions of its residues overflow",
            record=X.ids[record],
            remedy="choose a smaller n or decay, or cut the sequence into parts",
        )
    return shares
