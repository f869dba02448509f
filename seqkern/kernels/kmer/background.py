"""Counts of k-mers less those expected under a background of each sequence's own."""

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer.kmers import find_kmers
from seqkern.sequences.sequence_set import SequenceSet

Table = npt.NDArray[np.float64]

NOTHING = 1e-12  # of the expected count: a smaller difference is a rounding error


def count_table(X: SequenceSet, k: int) -> Table:
    """Return how often each k-mer occurs in each record, float64 (n, letters^k); for k = 0, 1.

    Parameters
    ----------
    X : SequenceSet, n records
        K-mers with a masked residue are not counted.
    k : int
        Their length.

    Returns
    -------
    ndarray of float64, shape (n, letters^k)
    """
    if k == 0:
        return np.ones((len(X), 1))
    found = find_kmers(X, k)
    cells = np.repeat(np.arange(len(X)) * found.space, np.diff(found.start)) + found.codes[0].astype(np.int64)
    return np.bincount(cells, minlength=len(X) * found.space).reshape(len(X), found.space).astype(np.float64)


def chances(X: SequenceSet, k: int, order: int) -> Table:
    """Return the probability of each k-mer under the Markov chain of each record, float64 (n, letters^k).

    The chain has the frequencies of the record: of its first `order` residues those of all k-mers of that length, then
    those of the residues after each context. A record without a k-mer of order + 1 residues has probabilities of 0.

    Parameters
    ----------
    X : SequenceSet, n records
        The records.
    k : int
        Length of the k-mers.
    order : int
        Of the chain, below `k`.

    Returns
    -------
    ndarray of float64, shape (n, letters^k)
    """
    n, size = len(X), X.alphabet.size
    contexts = size**order
    steps = count_table(X, order + 1).reshape(n, contexts, size)
    steps = _shares(steps)
    found = _shares(count_table(X, order))
    for length in range(order, k):
        found = found.reshape(n, size ** (length - order), contexts, 1) * steps[:, None]
    return found.reshape(n, size**k)


def centred_counts(X: SequenceSet, k: int, order: int, both_strands: bool) -> tuple[Table, Table]:
    """Return counts of k-mers less the expected ones, and the expected ones, both float64 (n, letters^k).

    Parameters
    ----------
    X : SequenceSet, n records
        The records.
    k : int
        Length of the k-mers.
    order : int
        Of the background, below `k`.
    both_strands : bool
        Whether to count the reverse complement, too.

    Returns
    -------
    centred, expected : ndarray of float64, shape (n, letters^k)
    """
    counts = count_table(X, k)
    expected = counts.sum(axis=1, keepdims=True) * chances(X, k, order)
    if both_strands:
        other = reverse_complements(X, k)
        counts, expected = counts + counts[:, other], expected + expected[:, other]
    centred = counts - expected
    centred[np.abs(centred) <= NOTHING * np.maximum(counts, expected)] = 0.0
    return centred, expected


def reverse_complements(X: SequenceSet, k: int) -> npt.NDArray[np.int64]:
    """Return the code of the reverse complement of each k-mer, int64 (letters^k,).

    Parameters
    ----------
    X : SequenceSet
        Its alphabet has complements.
    k : int
        Length of the k-mers.

    Returns
    -------
    ndarray of int64, shape (letters^k,)
    """
    size = X.alphabet.size
    codes, found = np.arange(size**k), np.zeros(size**k, dtype=np.int64)
    complement = np.asarray(X.alphabet.complement_codes).astype(np.int64)
    for _ in range(k):
        found = found * size + complement[codes % size]
        codes = codes // size
    return found


def _shares(counts: Table) -> Table:
    """Return counts divided by their sums over the last axis; 0 where the sum is 0."""
    sums = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)
