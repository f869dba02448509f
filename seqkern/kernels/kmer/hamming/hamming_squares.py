"""K(x, x) of many records, for kernels that depend on Hamming distances alone.

Records of similar length are compared with themselves side by side, each a lane of the vectors (`_hamming_own`). Few
or very long records, and windows with weights, go through `HammingBlock`. Both ways give the same bits.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import in_threads
from seqkern.kernels.kmer import _kmers
from seqkern.kernels.kmer.hamming import _hamming, _hamming_own
from seqkern.kernels.kmer.hamming.hamming import LONG_RECORD, NO_COMPLEMENT, HammingBlock, as_weights
from seqkern.kernels.kmer.hamming.hamming_costs import own_costs
from seqkern.kernels.kmer.hamming.hamming_walks import CLASSES, Walks
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

Counts = npt.NDArray[np.int64]


def own_values(
    X: SequenceSet,
    length: int,
    values: Sequence[float],
    both_strands: bool,
    window_weights: Counts | None = None,
    n_threads: int | None = None,
) -> npt.NDArray[np.float64]:
    """Return K(x, x) of each record.

    Parameters
    ----------
    X : SequenceSet
        The n records.
    length : int
        Residues of a window.
    values : sequence of float, length + 1
        What a pair of windows adds, by Hamming distance.
    both_strands : bool
        Whether each pair counts with the reverse complement, too.
    window_weights : ndarray of int64, shape (windows,), optional
        In the order of `find_windows`; by default 1.
    n_threads : int, optional
        By default, all cores.

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    if window_weights is not None:
        return _squares_by_pairs(X, length, values, both_strands, window_weights)
    windows = np.zeros(len(X), dtype=np.int64)
    _kmers.count_windows(X.codes, X.starts, X.stops, length, X.alphabet.size, False, windows)
    out = np.zeros(len(X))
    rows = np.flatnonzero(windows)
    places = (X.lengths - length + 1)[rows]
    rows = rows[np.argsort(places, kind="stable")]
    lanes = _hamming.lanes(_product.level())
    groups: list[Counts] = []
    others: list[Counts] = []
    for first in range(0, len(rows), lanes):
        group = rows[first : first + lanes]
        together, single = own_costs(X.lengths[group] - length + 1, X.alphabet.size, length, values, both_strands)
        many = X.lengths[group[-1]] < LONG_RECORD and together < single
        (groups if many else others).append(group)

    def compare(group: Counts) -> None:
        out[group] = _squares_of_group(X.take(group), length, values, both_strands, windows[group])

    in_threads([lambda group=group: compare(group) for group in groups], n_threads)
    if others:
        rest = np.concatenate(others)
        out[rest] = _squares_by_pairs(X.take(rest), length, values, both_strands)
    return out


def _squares_by_pairs(
    X: SequenceSet, length: int, values: Sequence[float], both_strands: bool, window_weights: Counts | None = None
) -> npt.NDArray[np.float64]:
    block = HammingBlock(
        X,
        length,
        values,
        strands="both" if both_strands else "one",
        algorithm="pairs",
        window_weights=window_weights,
    )
    return block.squares.astype(np.float64)


def _squares_of_group(
    X: SequenceSet, length: int, values: Sequence[float], both_strands: bool, windows: Counts
) -> npt.NDArray[np.float64]:
    """Return K(x, x) of at most as many records as there are lanes."""
    weights, _ = as_weights(values, length)
    walks = Walks(length, weights.tolist(), True)
    totals = np.zeros((int(walks.passes[:, 1].sum()), len(X)), dtype=np.int64)
    complement = X.alphabet.complement_codes if both_strands else NO_COMPLEMENT
    _hamming_own.own_pairs(
        X.codes,
        X.starts,
        X.stops,
        length,
        X.alphabet.size,
        complement,
        _product.level(),
        walks.passes,
        totals,
    )
    at = 0
    for classes in walks.passes[:, 1].tolist():
        _tell_apart(totals[at : at + classes])
        at += classes
    order = walks.order.tolist()
    totals[order[0]] += windows  # each window and itself, at distance 0
    left = windows**2 * (2 if both_strands else 1) - sum(totals[place] for place in order if place >= 0)
    out: npt.NDArray[Any] = np.zeros(len(X), dtype=weights.dtype)
    for distance, place in enumerate(order):
        out += left * weights[length] if place < 0 else totals[place] * weights[distance]
    return out.astype(np.float64)


def _tell_apart(totals: Counts) -> None:
    """Turn class m of a walk, the counts of all codes whose bits contain those of m, into that of the code m alone."""
    for bit in (1, 2, 4):
        for code in range(min(CLASSES, len(totals))):
            if not code & bit and code | bit < len(totals):
                totals[code] -= totals[code | bit]
