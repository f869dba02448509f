"""How much similarity chance explains: the length of a shared stretch, and the identity of an alignment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqkern.sequences.sequence_set import SequenceSet

RARE = 1e-3
"""A similarity counts if fewer such pairs are expected by chance in a data set of this size."""
HSSP_SHORT, HSSP_LONG = 11, 450
IDENTITY = {"protein": 0.5}
"""The smallest identity that links two records by default, by alphabet."""
OTHER_IDENTITY = 0.8


def chance_length(X: SequenceSet) -> int:
    """Return the smallest length at which fewer than one record is expected in another by chance.

    Each of n records can start at no more than T places of T residues in all: n T / |A|^length < 1.

    Parameters
    ----------
    X : SequenceSet
        The records.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.similarity.chance import chance_length
    >>> chance_length(SequenceSet.from_strings(["ACGTACGTAC"] * 10, "dna"))
    5
    """
    places = float(len(X)) * float(X.lengths.sum())
    return max(1, int(np.ceil(np.log(places + 1.0) / np.log(X.alphabet.size))))


def match_chance(X: SequenceSet) -> float:
    """Return the probability that two residues, drawn at random from the set, are the same.

    Parameters
    ----------
    X : SequenceSet
        A compact set.

    Returns
    -------
    float
        At least 1 / |A|.
    """
    size = X.alphabet.size
    counts = np.bincount(X.codes, minlength=256)[:size].astype(np.float64)
    return max(1.0 / size, float(np.sum((counts / max(counts.sum(), 1.0)) ** 2)))


def exact_length(X: SequenceSet, match: float, strands: int = 1) -> int:
    """Return the length from which a stretch that two records share is not due to chance.

    T residues form T² / 2 pairs of places, on two strands twice as many. The length is the smallest k at which fewer
    than `RARE` of them start the same k residues by chance: strands · T² / 2 · match^k < `RARE`. Where a k-mer of this
    length does not fit into 62 bits, it is the longest one that does.

    Parameters
    ----------
    X : SequenceSet
        The records.
    match : float
        As from `match_chance`.
    strands : int
        2 if sequences are also compared with reverse complements.

    Returns
    -------
    int
        At least 3.
    """
    longest = int(62 * np.log(2) / np.log(X.alphabet.size))
    if match >= 1:
        return longest
    places = strands * float(X.lengths.sum()) ** 2 / 2
    return min(max(3, int(np.ceil(np.log(max(places, 1.0) / RARE) / -np.log(match)))), longest)


def needed_residues(
    X: SequenceSet, match: float, strands: int = 1, identity: float | None = None
) -> npt.NDArray[np.int32]:
    """Return how many identical residues link two records, by the length of the shorter one.

    By default a share of at least 0.5 of a protein and 0.8 of other sequences, and more for short ones:

    - Fewer than `RARE` pairs with this share are expected by chance: L·KL(share ‖ match) ≥ ln(strands · n T / RARE),
      for a shorter record of L residues, n records and T residues in all, which are so many places to align a record
      with (the Chernoff bound of a binomial tail).
    - For proteins, the share of the HSSP curve, 4.8 L^(−0.32 (1 + exp(−L / 1000))) (Rost 1999): all of 11 residues,
      half of 37.

    Parameters
    ----------
    X : SequenceSet
        The records.
    match : float
        As from `match_chance`.
    strands : int
        2 if sequences are also compared with reverse complements.
    identity : float, optional
        A share to use for all lengths instead.

    Returns
    -------
    ndarray of int32, shape (longest + 1,)
        L + 1 where no share is enough.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.similarity.chance import needed_residues
    >>> X = SequenceSet.from_strings(["MKVLAAGIVGLPNVGKSTLFNALTKAGAEVANYPFCT"] * 2, "protein")
    >>> needed = needed_residues(X, match=0.06)
    >>> [int(needed[length]) for length in (4, 11, 20, 37)]
    [5, 11, 15, 19]
    """
    lengths = np.arange(int(X.lengths.max(initial=0)) + 1, dtype=np.float64)
    if identity is not None:
        return np.ceil(identity * lengths - 1e-9).astype(np.int32)
    protein = X.alphabet.name == "protein"
    shares = np.full(len(lengths), IDENTITY.get(X.alphabet.name, OTHER_IDENTITY))
    if protein:
        inside = np.clip(lengths, HSSP_SHORT + 1, HSSP_LONG)
        curve = 4.8 * inside ** (-0.32 * (1 + np.exp(-inside / 1000)))
        shares = np.maximum(shares, np.where(lengths <= HSSP_SHORT, 1.0, np.minimum(curve, 1.0)))
    needed = np.ceil(shares * lengths - 1e-9)
    limit = np.log(max(strands * float(len(X)) * float(X.lengths.sum()), 1.0) / RARE)
    # the divergence grows with the share above `match`
    while True:
        short = (needed <= lengths) & (lengths * _divergence(needed / np.maximum(lengths, 1), match) < limit)
        if not short.any():
            return np.maximum(needed, 1).astype(np.int32)
        needed[short] += 1


def _divergence(share: npt.NDArray[np.float64], match: float) -> npt.NDArray[np.float64]:
    """Return the Kullback-Leibler divergence of two coins in nats, 0 for a share up to `match`."""
    share = np.clip(share, match, 1.0)
    if match >= 1:
        return np.zeros_like(share)
    rest = np.maximum(1 - share, 1e-300)
    return share * np.log(share / match) + np.where(share < 1, rest * np.log(rest / (1 - match)), 0.0)
