"""K(x, x) of many records, for kernels that depend on Hamming distances alone."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer.hamming.hamming import HammingBlock
from seqkern.sequences.sequence_set import SequenceSet


def squares(
    X: SequenceSet,
    length: int,
    values: Sequence[float],
    both_strands: bool,
    window_weights: npt.NDArray[np.int64] | None = None,
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

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    block = HammingBlock(
        X,
        length,
        values,
        strands="both" if both_strands else "one",
        algorithm="pairs",
        window_weights=window_weights,
    )
    return block.squares.astype(np.float64)
