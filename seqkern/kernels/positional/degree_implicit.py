"""Implicit training features of the weighted degree kernel: tables for short k-mers, nodes for shared long ones.

K(x, y) = Σ_i γ_i Σ_k β_k [x_i..x_{i+k−1} = y_i..y_{i+k−1}] is a dot product over (position, k-mer), and a linear
classifier is f(x) = Σ_i Σ_k w_k[i, x_i..x_{i+k−1}]. There is no hashing, so there are no collisions:

- k-mers of up to `depth` residues have a dense table of weights, [position][k-mer];
- a longer one that two windows or more have at one position is a node with a weight, and each window lists its nodes.
  One node serves all lengths at which the same windows share;
- what a window shares with no other contributes to K(x, x) only: one weight and one factor for each window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.kernels.implicit import LINE, Implicit
from seqkern.kernels.positional import _degree_implicit
from seqkern.kernels.positional.degree_windows import MOST, Windows, above, choose_depth, least_bytes, some
from seqkern.kernels.positional.shifted_implicit import ShiftedImplicit, shifted_needs
from seqkern.kernels.positional.weighs_degrees import WeighsDegrees
from seqkern.sequences.sequence_set import SequenceSet

FEW_KINDS = 1 << 16  # as many as fit into 16 bits
NODE_BYTES, ENTRY_BYTES = 8, 6  # a weight; a node's number and kind in a window's list
WINDOW_BYTES = 8 * 4  # where its list starts, its own weight and factor, K(x, x)


@dataclass(frozen=True)
class Layout:
    """Layout of the dense tables in the weights.

    Attributes
    ----------
    depth : int
        Longest k-mers with a dense table.
    groups : int
        Tables that each serve two lengths; 0 if each length has its own. See `PAIRED` in ``_degree_implicit.h``.
    tables : ndarray of int64
        Start of each, longest k-mers first.
    size : int
        Total size, in weights.
    """

    depth: int
    groups: int
    tables: npt.NDArray[np.int64]
    size: int

    @classmethod
    def of(cls, windows: Windows, depth: int) -> Self:
        """Return the Layout of the tables for some windows.

        Parameters
        ----------
        windows : Windows
            The training windows.
        depth : int
            Longest k-mers with a dense table.

        Returns
        -------
        Layout
        """
        paired = windows.size == 4 and not windows.masked
        sizes = [windows.length * windows.size**k for k in range(depth, 0, -2 if paired else -1)]
        ends = np.cumsum([0, *(-(-size // LINE) * LINE for size in sizes)], dtype=np.int64)
        return cls(depth, len(sizes) if paired else 0, ends, int(ends[-1]))


class DegreeImplicit(Implicit):
    """Features of the weighted degree kernel for a set of windows.

    Parameters
    ----------
    windows : Windows
        The training windows.
    squares : ndarray of float64, shape (n,)
        K(x, x).
    depth : int, optional
        Largest length with dense tables; by default the one with the least memory. Affects rounding only.

    Attributes
    ----------
    depth : int
        As given, or chosen.
    """

    def __init__(self, windows: Windows, squares: npt.NDArray[np.float64], depth: int | None = None) -> None:
        depth = choose_depth(degree_needs(windows), windows) if depth is None else min(depth, windows.deepest)
        layout = Layout.of(windows, depth)
        lists = _lists(windows, depth)
        own = layout.size + lists.pop("nodes")
        numbers = {
            "length": windows.length,
            "size": windows.size,
            "depth": depth,
            "groups": layout.groups,
            "nodes": layout.size,
            "own": own,
        }
        arrays = {
            "codes": some(windows.codes),
            "starts": some(windows.starts),
            "tables": layout.tables,
            "beta": some(windows.beta),
            "gamma": some(windows.gamma),
            "patterns": some(_patterns(windows.beta, layout).ravel()),
            **lists,
        }
        operations = _degree_implicit.DegreeOperations(arrays, numbers)
        super().__init__(operations.capsule, squares, own + windows.n)
        self.depth = depth


def implicit_of(kernel: WeighsDegrees, X: SequenceSet, depth: int | None = None) -> Implicit:
    """Return the training features of a weighted degree kernel.

    Parameters
    ----------
    kernel : WeightedDegreeKernel
        Shifted or not.
    X : SequenceSet, n sequences of one length
        The training set.
    depth : int, optional
        As in `DegreeImplicit`.

    Returns
    -------
    Implicit
    """
    payload = kernel._prepare(X, None)  # also checks
    length = payload.length
    windows = Windows(X, kernel.length_weights(), kernel.start_weights(length))
    shifts = kernel.shifts(length)
    if shifts.any():
        return ShiftedImplicit(windows, shifts, payload.diagonal(), depth)
    return DegreeImplicit(windows, payload.diagonal(), depth)


def implicit_bytes_of(kernel: WeighsDegrees, X: SequenceSet) -> int:
    """Return the memory that `implicit_of` and its weights will need, in bytes.

    Parameters
    ----------
    kernel : WeightedDegreeKernel
        Shifted or not.
    X : SequenceSet, n sequences of one length
        The training set.

    Returns
    -------
    int
    """
    length = int(X.lengths[0]) if len(X) else 0
    windows = Windows(X, kernel.length_weights(), kernel.start_weights(length))
    shifts = kernel.shifts(length)
    needs = shifted_needs(windows, shifts) if shifts.any() else degree_needs(windows)
    return least_bytes(needs, windows)


def degree_needs(windows: Windows) -> dict[int, int]:
    """Return the bytes of weights and lists for each possible depth.

    Parameters
    ----------
    windows : Windows
        The training windows.

    Returns
    -------
    dict of int to int
    """
    nodes, entries = np.zeros((2, windows.degree + 1), dtype=np.int64)
    if windows.n:
        _sweep(windows).census(nodes, entries)
    nodes, entries = above(nodes), above(entries)  # windows that share exactly k residues are a node of lower depths
    return {
        k: 8 * Layout.of(windows, k).size
        + NODE_BYTES * int(nodes[k])
        + ENTRY_BYTES * int(entries[k])
        + WINDOW_BYTES * windows.n
        for k in range(windows.deepest + 1)
        if nodes[k] <= MOST
    }


def _sweep(windows: Windows) -> _degree_implicit.Sweep:
    """Return a new Sweep through the windows."""
    return _degree_implicit.Sweep(some(windows.codes), windows.starts, windows.length, windows.size, windows.degree)


def _patterns(beta: npt.NDArray[np.float64], layout: Layout) -> npt.NDArray[np.float64]:
    """Return the increments of four neighbours, float64 (letters left, groups, last letter, 4); see `PAIRED`."""
    patterns = np.zeros((layout.depth, layout.groups, 4, 4))
    for left in range(1, layout.depth + 1):
        for group in range(layout.groups):
            k = layout.depth - 2 * group
            if 1 < k <= left + 1:
                patterns[left - 1, group] = beta[k - 2]
            if k <= left:
                patterns[left - 1, group] += beta[k - 1] * np.eye(4)
    return patterns


def _lists(windows: Windows, depth: int) -> dict[str, Any]:
    """Return the nodes of all windows: a dict of the arrays that `degree_state` names, and the number of nodes."""
    n, degree = windows.n, windows.degree
    first, own = np.zeros(n + 1, dtype=np.int64), np.zeros(max(n, 1))
    lists = {"first": first, "own_factors": own, "nodes": 0}
    if not n or depth == degree:
        return {**lists, "node": np.zeros(1, np.int32), "kind": None, "factors": np.zeros(1)}
    nodes = _sweep(windows).count(depth, first[1:])
    np.cumsum(first, out=first)
    # Kind of a node: the weight of its position, and its lengths. Looking up a few kinds is faster than storing
    # factors of each node.
    values, place = np.unique(windows.gamma, return_inverse=True)
    each = windows.n_kinds(depth)
    kinds, kind, factors = np.zeros((1, 1), np.int32), None, np.empty(nodes + 1)
    if len(values) * each <= FEW_KINDS:
        kinds, factors = windows.kinds(depth)
        kind = np.empty(first[-1] + 1, dtype=np.uint16)
        factors = np.multiply.outer(values, factors).ravel()
    node = np.empty(first[-1] + 1, dtype=np.int32)
    _sweep(windows).fill(
        depth, windows.gamma, windows.sums, place * each, kinds, first[:-1].copy(), node, kind, factors, own
    )
    return {**lists, "node": node, "kind": kind, "factors": factors, "nodes": nodes}
