"""Cost of comparing windows by Hamming distance; see `seqkern.kernels.kmer.hamming.hamming`."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer.hamming import _hamming
from seqkern.kernels.kmer.hamming.hamming import Weights, as_weights
from seqkern.kernels.kmer.hamming.hamming_walks import Walks
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.products import _product

STEP_NS = (0.16, 0.145, 0.13)  # an operation on a vector along a diagonal
DIAGONAL_NS = 20.0  # a diagonal
LANE_NS = 10.0  # reading the sum of a lane
PAIR_NS = (0.2, 0.12, 0.08)  # two windows compared
CLASS_NS = (0.05, 0.03, 0.03)  # a distance looked for
WEIGHT_NS = (0.17, 0.11, 0.11)  # the same with weights of windows
WINDOW_NS = 2.0  # a window: packed, for each bit of a letter


def hamming_costs(
    work: Workload, size: int, length: int, weights: Sequence[float], both: bool, weighted: bool = False
) -> dict[str, Cost]:
    """Return the Cost of each algorithm of a HammingBlock.

    The constants are CPU nanoseconds for each level of vector instructions, measured on one core of an AMD EPYC of
    the Zen 5 generation.

    Parameters
    ----------
    work : Workload
        Of one strand.
    size : int
        Letters of the alphabet.
    length : int
        Residues of a window.
    weights : sequence of int or float, length + 1
        Of each Hamming distance.
    both : bool
        Whether both strands count.
    weighted : bool
        Whether windows have weights of their own; ``diagonals`` does not support them.

    Returns
    -------
    dict of str to Cost
        By algorithm: ``"pairs"`` and, unless `weighted`, ``"diagonals"``.
    """
    level, strands = _product.level(), 2 if both else 1
    of_distance, real = as_weights(weights, length)
    mine = max(0.0, work.row_letters / max(1, work.rows) - length + 1)
    theirs = max(0.0, work.col_letters / max(1, work.cols) - length + 1)
    bits = max(1, (size - 1).bit_length())
    pair = _pair_ns(of_distance, length, weighted)
    windows = work.cols * theirs + (0 if work.symmetric else work.rows * mine)
    squares = work.cols * theirs**2 + (0 if work.symmetric else work.rows * mine**2)
    packed = int(windows * bits * (2 if length <= 16 else 4) * strands)
    make = windows * WINDOW_NS * bits * strands + squares * pair * strands
    costs = {}
    if not weighted:
        passes = Walks(length, of_distance.tolist(), real).passes
        step = _step_ns(passes)
        lanes = _hamming.lanes(level)
        blocks = max(1.0, work.cols / lanes)
        lane = min(theirs, work.cols * theirs / (blocks * lanes) + 1)
        diagonals = mine * lane * step + (mine + lane) * DIAGONAL_NS * len(passes)
        halves = 0.55 if work.symmetric else 1.0  # the blocks on the diagonal are computed as squares
        walk = work.rows * halves * blocks * (diagonals * strands + lanes * LANE_NS)
        costs["diagonals"] = Cost((make + walk) * 1e-9, packed + int(work.col_letters * (size + 1) / 8))
    compare = work.pairs * mine * theirs * pair * strands
    costs["pairs"] = Cost((make + compare) * 1e-9, packed)
    return costs


def own_costs(
    windows: npt.NDArray[np.int64], size: int, length: int, weights: Sequence[float], both: bool
) -> tuple[float, float]:
    """Return the CPU seconds of K(x, x) of some records: side by side as lanes of a vector, and one by one.

    Parameters
    ----------
    windows : ndarray of int64, shape (records,)
        Of each record, at most as many as there are lanes.
    size, length, weights, both
        As in `hamming_costs`.

    Returns
    -------
    together, single : float
    """
    of_distance, _ = as_weights(weights, length)
    passes, strands = Walks(length, of_distance.tolist(), True).passes, 2 if both else 1
    longest, level = float(windows.max(initial=0)), _product.level()
    bits = max(1, (size - 1).bit_length())
    step = _step_ns(passes) + (4 + 3 * bits) * STEP_NS[level] * len(passes)
    together = strands * (longest**2 / 2 * step + longest * DIAGONAL_NS * len(passes))
    single = strands * float(np.square(windows.astype(np.float64)).sum()) * _pair_ns(of_distance, length, False)
    return together * 1e-9, single * 1e-9


def _step_ns(passes: npt.NDArray[np.int64]) -> float:
    """Return the cost of a step of all walks along a diagonal."""
    return int((2 * passes[:, 0] + 3 * passes[:, 1]).sum()) * STEP_NS[_product.level()]


def _pair_ns(weights: Weights, length: int, weighted: bool) -> float:
    """Return the cost of comparing two windows."""
    level, many = _product.level(), int(np.max(np.flatnonzero(weights), initial=-1)) + 1
    return (PAIR_NS[level] + many * (WEIGHT_NS if weighted else CLASS_NS)[level]) * (1 if length <= 16 else 2)
