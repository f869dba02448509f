"""FOCUS: the smallest set of nominal features that tells the classes apart without any exception."""

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import choice
from seqkern.solvers.selection.selectors.intervals import interval_codes
from seqkern.solvers.selection.selectors.selector import Selector
from seqkern.solvers.shared import limit

Codes = npt.NDArray[np.int64]
Pairs = npt.NDArray[np.bool_]

MOST_CELLS = 500_000_000
"""Largest table of pairs × features."""


class FocusSelector(Selector):
    """FOCUS: the smallest subset of features in which no two samples of different classes are alike.

    Features are nominal; numbers are first cut into intervals. Two samples of different classes that agree in all
    features cannot be told apart by any subset: such pairs are left out, and counted in `n_conflicts_`. Every other
    pair needs a feature in which its samples differ, and the subset is the smallest with one for each pair. Sizes are
    tried one after the other, so it is exact; of several smallest subsets the one with the largest sum of its features'
    mutual information with the class is taken. The score is this information in nats, −inf of all other features.

    Attributes
    ----------
    n_conflicts_ : int
        Pairs of samples of different classes that agree in all features.
    n_searched_ : int
        Subsets that were looked at.

    Notes
    -----
    Almuallim & Dietterich, Learning with many irrelevant features, AAAI 1991; Artif. Intell. 69, 1994 (branching on the
    features of one pair: FOCUS-2). Intervals: Fayyad & Irani, IJCAI 1993. One wrong label can change the result: for
    noisy data choose another selector.

    Complexity: exponential in the size of the subset, b^F nodes, b the number of features that differ in the pair with
    the fewest. With more than `max_subsets` it stops with an error. The table of pairs has a byte for each feature.

    Examples
    --------
    Labels are the exclusive or of the first and the third feature, of which neither tells anything alone:

    >>> from seqkern.solvers import FocusSelector
    >>> X = [[0, 0, 0, 1], [0, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 0]]
    >>> FocusSelector(cuts="none").fit(X, ["no", "yes", "yes", "no", "no", "no"]).get_support(indices=True)
    array([0, 2])
    """

    name = "focus"
    summary = "The fewest features in which no two samples of different classes are alike."

    cuts: Literal["mdl", "none"] = choice(
        default="mdl",
        doc="``mdl``: cut each feature where this tells most about the class, as long as the description gets shorter "
        "(Fayyad & Irani); a feature without a cut is not used. ``none``: each value is a level of its own, as for "
        "nominal features.",
    )
    max_subsets: int = limit(200_000, "Number of subsets after which the search stops with an error.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=2, max_subsets=5000)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the CPU seconds that a fit is predicted to take: intervals, and the table of pairs."""
        return 3e-7 * n * d + 1e-9 * n * n * d

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the information of the chosen features."""
        codes = interval_codes(X, y) if self.cuts == "mdl" else _levels(X)
        usable = np.flatnonzero(codes.max(axis=0) > 0)
        scores = np.full(X.shape[1], -np.inf)
        information = np.array([mutual_information(codes[:, j], y) for j in usable])
        pairs, self.n_conflicts_ = self._pairs(codes[:, usable], y)
        self.n_searched_ = 0
        chosen = list(self._smallest(pairs, information)) if len(pairs) else []
        scores[usable[chosen]] = information[chosen]
        return scores

    def _pairs(self, codes: Codes, y: npt.NDArray[Any]) -> tuple[Pairs, int]:
        """Return in which features the samples of each pair differ, each set once, and the number that never differ."""
        rows, counts = np.unique(np.column_stack([y, codes]), axis=0, return_counts=True)
        classes, levels = rows[:, 0], rows[:, 1:]
        first, second = np.nonzero(np.triu(classes[:, None] != classes[None, :]))
        if len(first) * max(levels.shape[1], 1) > MOST_CELLS:
            raise ParameterError(
                f"FOCUS would compare {len(first)} pairs of samples in {levels.shape[1]} features",
                remedy="choose another selector, such as relief, or give fewer features",
            )
        differ = levels[first] != levels[second]
        same = ~differ.any(axis=1)
        conflicts = int((counts[first[same]] * counts[second[same]]).sum())
        return np.unique(differ[~same], axis=0), conflicts

    def _smallest(self, pairs: Pairs, information: npt.NDArray[np.float64]) -> tuple[int, ...]:
        """Return the smallest subset that meets all pairs; of several the one with the most information."""
        for size in range(1, pairs.shape[1] + 1):
            found: set[tuple[int, ...]] = set()
            self._search(pairs, (), np.zeros(pairs.shape[1], dtype=bool), size, found)
            if found:
                return max(sorted(found), key=lambda subset: round(float(information[list(subset)].sum()), 12))
        raise AssertionError("all features together meet all pairs")

    def _search(
        self, pairs: Pairs, chosen: tuple[int, ...], out: npt.NDArray[np.bool_], left: int, found: set[tuple[int, ...]]
    ) -> None:
        """Add the subsets that extend `chosen` by at most `left` features, none of `out`, and meet the pairs."""
        if not len(pairs):
            found.add(tuple(sorted(chosen)))
            return
        self.n_searched_ += 1
        if self.n_searched_ > self.max_subsets:
            raise ParameterError(
                f"FOCUS found no set of {len(chosen) + left} features or fewer that separates the classes within "
                f"{self.max_subsets} subsets",
                remedy="raise max_subsets, give fewer features, or choose another selector, such as forward",
            )
        open_to = pairs & ~out
        width = open_to.sum(axis=1)
        if not left or not width.min() or len(pairs) > left * open_to.sum(axis=0).max():
            return
        out = out.copy()
        for j in np.flatnonzero(open_to[np.argmin(width)]):
            self._search(pairs[~pairs[:, j]], (*chosen, int(j)), out, left - 1, found)
            out[j] = True  # subsets with it have been found


def _levels(X: npt.NDArray[np.float64]) -> Codes:
    """Return the place of each value among those of its column."""
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in X.T]).astype(np.int64)


def mutual_information(codes: Codes, y: npt.NDArray[Any]) -> float:
    """Return the mutual information of a nominal feature and the class.

    Parameters
    ----------
    codes : ndarray of int64, shape (n,)
        Levels, from 0.
    y : ndarray of int64, shape (n,)
        Classes, from 0.

    Returns
    -------
    float
        In nats.
    """
    joint = np.zeros((int(codes.max()) + 1, int(y.max()) + 1))
    np.add.at(joint, (codes, y), 1.0 / len(y))
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / expected[some])).sum())
