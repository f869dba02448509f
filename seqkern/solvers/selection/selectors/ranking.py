"""The inner loop of the P-SVM's ranking protocol: features ranked down a grid of ε.

With several classes there is a path for each against the rest, and all go down the same ε: at each, the features that
any of them selects are selected.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.solvers.selection.selectors.homotopy import EpsilonPath, Segment

Ranking: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Columns, the best first, and what each is rated by."""
FEW, MANY = 5, 10
"""The largest ε of a grid selects from 5 to 10 features."""
MOST = 0.9
"""The smallest ε of a grid selects this share of l features: l itself is out of reach, whatever ε."""


def epsilon_grid(paths: Sequence[EpsilonPath], rows: int, size: int) -> npt.NDArray[np.float64]:
    """Return equidistant ε, descending: the largest selects 5 to 10 features, the smallest about as many as rows.

    Parameters
    ----------
    paths : sequence of EpsilonPath
        One for each target.
    rows : int
        l, the number of training samples.
    size : int
        How many ε.

    Returns
    -------
    ndarray of float64, shape (size,); or (0,) if no ε selects a feature
        The largest is halfway between the ε below which 5 features are selected for the first time and that for 11;
        the smallest in the middle of the first segment in which 0.9·l are, or as many as there can be. If there can
        be 10 or fewer, half of them take the place of 5, and all but one that of 10. Of several paths, the largest
        and the smallest.
    """
    ends = [_ends(path, rows) for path in paths if path.segments]
    if not ends:
        return np.empty(0)
    return np.linspace(max(high for high, _ in ends), min(low for _, low in ends), size)


def _ends(path: EpsilonPath, rows: int) -> tuple[float, float]:
    """Return the largest and the smallest ε of one path's grid."""
    counts = path.counts()
    most = min(max(1, round(MOST * rows)), counts.max())
    few = max(1, min(FEW, most // 2))
    many = max(few, min(MANY, most - 1))

    def first(count: int) -> Segment:
        return path.segments[int(np.argmax(counts >= count))]

    below = first(many + 1).top if counts.max() > many else path.bottom
    return (first(few).top + below) / 2, (first(most).top + first(most).bottom) / 2


def rank_on_grid(paths: Sequence[EpsilonPath], grid: npt.NDArray[np.float64]) -> Ranking:
    """Return the features by the first ε of a grid that selects them, and by |α| at this ε.

    Parameters
    ----------
    paths : sequence of EpsilonPath
        One for each target.
    grid : ndarray of float64
        Values of ε, descending.

    Returns
    -------
    columns : ndarray of int64, shape (s,)
        From best to worst.
    epsilons : ndarray of float64, shape (s,)
        The ε at which each is first selected.
    """
    first: dict[int, float] = {}
    for epsilon in grid.tolist():
        for column in by_size([path.at(epsilon) for path in paths])[0].tolist():
            first.setdefault(column, epsilon)
    return np.array(list(first), dtype=np.int64), np.array(list(first.values()))


def by_size(found: Sequence[Ranking]) -> Ranking:
    """Return several selections as one, the columns sorted by the largest size that they have in any of them.

    Parameters
    ----------
    found : sequence of (columns, values)
        int64 and float64, one entry for each selected column.

    Returns
    -------
    columns : ndarray of int64, shape (s,)
        Each column once.
    sizes : ndarray of float64, shape (s,)
        The largest |value| of each, descending; of equal ones the earlier first.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.selection.selectors.ranking import by_size
    >>> by_size([(np.array([4, 7]), np.array([0.2, -0.6])), (np.array([4]), np.array([0.5]))])
    (array([7, 4]), array([0.6, 0.5]))
    """
    columns = np.concatenate([np.empty(0, dtype=np.int64), *[columns for columns, _ in found]])
    sizes = np.concatenate([np.empty(0), *[np.abs(values) for _, values in found]])
    order = np.argsort(-sizes, kind="stable")
    _, best = np.unique(columns[order], return_index=True)
    order = order[np.sort(best)]
    return columns[order], sizes[order]
