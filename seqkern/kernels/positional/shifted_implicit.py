"""Implicit training features of the shifted weighted degree kernel.

K(x, y) = Σ_k β_k Σ_{p,q} A_pq [x_p..x_{p+k−1} = y_q..y_{q+k−1}]: k-mers of x at p and y at q add A_pq =
γ_min(p,q)·δ_|p−q| if p and q are close enough. A linear classifier is f(x) = Σ_p Σ_k w_k[x_p..x_{p+k−1}, p], and the
contribution of y at q goes to all near p:

- k-mers of up to `depth` residues have a dense table of weights, [k-mer][position];
- of a longer k-mer only the positions are kept at which it stands in some window, next to each other: cells. One cell
  serves all lengths at which the windows around are the same;
- a k-mer that no window has nearby contributes to K(x, x) only: one weight and one factor for each window.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.kernels.implicit import LINE, Implicit
from seqkern.kernels.positional import _shifted_implicit
from seqkern.kernels.positional.degree_windows import MOST, Windows, above, choose_depth, some

LONGEST = 2**16 - 1
FEW_KINDS = 1 << 15  # as many as fit into 15 bits
LEAST_DEPTH_WORDS = 4**6  # with fewer k-mers than these, tables are small, and lists are long
CELL_BYTES, ENTRY_BYTES = 8 + 4, 4  # a weight and a place; a cell's number in a window's list
WINDOW_BYTES = 8 * 4  # where its list starts, its own weight and factor, K(x, x)
PLACES = 1 << 22  # sorted at once


class ShiftedImplicit(Implicit):
    """Features of the shifted weighted degree kernel for a set of windows.

    Parameters
    ----------
    windows : Windows
        The training windows.
    shifts : ndarray of int64, shape (length,)
        The largest shift at each position.
    squares : ndarray of float64, shape (n,)
        K(x, x).
    depth : int, optional
        Largest length with dense tables; by default the one with the least memory. Affects rounding only.

    Attributes
    ----------
    depth : int
        As given, or chosen.

    Raises
    ------
    ParameterError
        If windows are too long, or share too many k-mers for the memory.
    """

    def __init__(
        self,
        windows: Windows,
        shifts: npt.NDArray[np.int64],
        squares: npt.NDArray[np.float64],
        depth: int | None = None,
    ) -> None:
        _check_length(windows)
        if depth is None:
            depth = choose_depth(shifted_needs(windows, shifts), windows)
        depth = min(depth, windows.deepest)
        tables = _tables(windows, depth)
        lists = _lists(windows, depth, shifts)
        own = int(tables[-1]) + lists.pop("n_cells")
        numbers = {
            "length": windows.length,
            "size": windows.size,
            "depth": depth,
            "stride": _lines(windows.length),
            "shift": int(shifts.max(initial=0)),
            "cells": int(tables[-1]),
            "own": own,
            "kinds": lists.pop("kinds"),
        }
        arrays = {
            "codes": some(windows.codes),
            "starts": some(windows.starts),
            "tables": tables,
            "beta": some(windows.beta),
            **_reach(windows.gamma, shifts),
            **lists,
        }
        operations = _shifted_implicit.ShiftedOperations(arrays, numbers)
        super().__init__(operations.capsule, squares, own + windows.n)
        self.depth = depth


def shifted_needs(windows: Windows, shifts: npt.NDArray[np.int64]) -> dict[int, int]:
    """Return the bytes of weights and lists for each useful depth.

    Parameters
    ----------
    windows : Windows
        The training windows.
    shifts : ndarray of int64, shape (length,)
        The largest shift at each position.

    Returns
    -------
    dict of int to int
    """
    _check_length(windows)
    cells, entries = np.zeros((2, windows.degree + 1), dtype=np.int64)
    least = max(k for k in range(windows.deepest + 1) if windows.size**k <= LEAST_DEPTH_WORDS)
    if windows.n:
        _search(windows, shifts).census(least, cells, entries)
    cells, entries = above(cells), above(entries)
    return {
        k: 8 * int(_tables(windows, k)[-1])
        + CELL_BYTES * int(cells[k])
        + ENTRY_BYTES * int(entries[k])
        + WINDOW_BYTES * windows.n
        for k in range(least, windows.deepest + 1)
        if cells[k] <= MOST
    }


def _check_length(windows: Windows) -> None:
    """Raise ParameterError for windows whose positions do not fit into 16 bits."""
    if windows.length > LONGEST:
        raise ParameterError(
            f"sequences of {windows.length} residues are too long for training without a Gram matrix",
            remedy=f"cut them to {LONGEST}, or train on a Gram matrix",
        )


def _search(windows: Windows, shifts: npt.NDArray[np.int64]) -> _shifted_implicit.ClusterSearch:
    """Return a new ClusterSearch in the windows."""
    most = max(PLACES, windows.n * windows.length // 8)
    reach = int(shifts.max())
    return _shifted_implicit.ClusterSearch(
        windows.codes, windows.starts, windows.length, windows.size, reach, windows.gamma, windows.sums, most
    )


def _lines(size: Any) -> Any:
    """Return a number of weights that is whole lines of the cache."""
    return -(-size // LINE) * LINE


def _reach(gamma: npt.NDArray[np.float64], shifts: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
    """Return A_pq as rows q, with zeros around: a dict of the arrays that `shifted_state` names."""
    length, most = len(shifts), int(shifts.max(initial=0))
    if not length:
        return {"nearest": np.zeros(1, np.int32), "span": np.zeros(1, np.int32), "reach": np.zeros((1, LINE))}
    q = np.arange(length)
    nearest = np.maximum(q - most, 0) // LINE * LINE
    span = _lines(np.minimum(q + most + 1, length) - nearest)
    p, q = nearest[:, None] + np.arange(span.max()), q[:, None]
    s, low = abs(p - q), np.minimum(np.minimum(p, q), length - 1)
    reach = np.where((p < length) & (s <= shifts[low]), gamma[low] / (2 * (s + 1.0)), 0.0)
    reach[s == 0] *= 2
    return {"nearest": nearest.astype(np.int32), "span": span.astype(np.int32), "reach": reach}


def _tables(windows: Windows, depth: int) -> npt.NDArray[np.int64]:
    """Return where in the weights the dense tables start, and the last one ends, int64 (depth + 1,)."""
    sizes = [_lines(windows.length) * windows.size**k for k in range(1, depth + 1)]
    return np.cumsum([0, *sizes], dtype=np.int64)


def _lists(windows: Windows, depth: int, shifts: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Return the cells of all windows: a dict of the arrays that `shifted_state` names, and the number of cells."""
    n = windows.n
    first, own = np.zeros(n + 1, dtype=np.int64), np.zeros(max(n, 1))
    cells, kinds = 0, None
    if n and depth < windows.degree:
        search = _search(windows, shifts)
        cells = search.count(depth, first[1:])
        np.cumsum(first, out=first)
    cell, places = np.zeros(first[-1] + 1, dtype=np.int32), np.zeros((cells + 1, 2), dtype=np.uint16)
    places[-1] = 0, _shifted_implicit.FIRST_CELL
    factors = np.zeros(1)
    if n and depth < windows.degree:
        if windows.n_kinds(depth) <= FEW_KINDS:
            kinds, factors = windows.kinds(depth)
        else:
            factors = np.empty(cells + 1)
        search.fill(depth, first[:-1].copy(), cell, kinds, places.reshape(-1).view(np.uint8), factors, own)
    return {
        "first": first,
        "cell": cell,
        "places": places.reshape(-1).view(np.uint8),
        "factors": factors,
        "own_factors": own,
        "n_cells": cells,
        "kinds": kinds is not None,
    }
