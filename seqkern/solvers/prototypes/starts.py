"""Starts of prototypes: the means of clusters within each class, by k-means++ in feature space."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

RUNS = 20
"""Clusterings of a class, of which the best are used."""
PASSES = 100

Array = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]


class Points(Protocol):
    """Samples of a class, with distances from each other and from means of them."""

    def __len__(self) -> int:
        """Return their number."""

    def from_row(self, row: int) -> Array:
        """Return the squared distance of each from one of them.

        Parameters
        ----------
        row : int
            Which.

        Returns
        -------
        ndarray of float64, shape (n,)
        """

    def from_means(self, groups: Groups, m: int) -> Array:
        """Return the squared distance of each from the mean of each group.

        Parameters
        ----------
        groups : ndarray of int64, shape (n,)
            Which group each is in.
        m : int
            Number of groups.

        Returns
        -------
        ndarray of float64, shape (m, n)
            Inf from an empty group.
        """


class GramPoints:
    """Samples by their Gram matrix.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        Symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> GramPoints(np.array([[1.0, 2.0], [2.0, 4.0]])).from_row(0)
    array([0., 1.])
    """

    def __init__(self, K: Array) -> None:
        self.K, self.diagonal = K, np.diagonal(K)

    def __len__(self) -> int:
        return len(self.K)

    def from_row(self, row: int) -> Array:
        """Return K_ii − 2 K_ij + K_jj.

        Parameters
        ----------
        row : int
            j.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return self.diagonal - 2.0 * self.K[row] + self.diagonal[row]

    def from_means(self, groups: Groups, m: int) -> Array:
        """Return the squared distances from the means.

        Parameters
        ----------
        groups : ndarray of int64, shape (n,)
            Which group each is in.
        m : int
            Number of groups.

        Returns
        -------
        ndarray of float64, shape (m, n)
        """
        weights = means_of(groups, m)
        products = weights @ self.K
        distances = self.diagonal - 2.0 * products + np.sum(products * weights, axis=1)[:, None]
        distances[~weights.any(axis=1)] = np.inf
        return distances


class FeaturePoints:
    """Samples by their features.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        The features.

    Examples
    --------
    >>> import numpy as np
    >>> FeaturePoints(np.array([[1.0], [2.0]])).from_row(0)
    array([0., 1.])
    """

    def __init__(self, X: Array) -> None:
        self.X = X

    def __len__(self) -> int:
        return len(self.X)

    def from_row(self, row: int) -> Array:
        """Return the squared distances from a row.

        Parameters
        ----------
        row : int
            Which.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return np.square(self.X - self.X[row]).sum(axis=1)

    def from_means(self, groups: Groups, m: int) -> Array:
        """Return the squared distances from the means.

        Parameters
        ----------
        groups : ndarray of int64, shape (n,)
            Which group each is in.
        m : int
            Number of groups.

        Returns
        -------
        ndarray of float64, shape (m, n)
        """
        weights = means_of(groups, m)
        distances = np.stack([np.square(self.X - mean).sum(axis=1) for mean in weights @ self.X])
        distances[~weights.any(axis=1)] = np.inf
        return distances


def means_of(groups: Groups, m: int) -> Array:
    """Return the weights of the samples in the mean of each group.

    Parameters
    ----------
    groups : ndarray of int64, shape (n,)
        Which group each is in.
    m : int
        Number of groups.

    Returns
    -------
    ndarray of float64, shape (m, n)
        Rows of sum 1, of an empty group 0.

    Examples
    --------
    >>> import numpy as np
    >>> means_of(np.array([0, 1, 0]), 2)
    array([[0.5, 0. , 0.5],
           [0. , 1. , 0. ]])
    """
    member = groups == np.arange(m)[:, None]
    return member / np.maximum(member.sum(axis=1, keepdims=True), 1)


def clusterings(points: Points, m: int, seed: int) -> list[Groups]:
    """Return different clusterings of a class into m groups, the one of least inertia first.

    Parameters
    ----------
    points : Points
        The samples of the class.
    m : int
        Number of groups, at most that of the samples.
    seed : int
        Of k-means++.

    Returns
    -------
    list of ndarray of int64, shape (n,)
        Groups are numbered by their first sample.

    Examples
    --------
    >>> import numpy as np
    >>> clusterings(FeaturePoints(np.array([[0.0], [0.1], [5.0], [5.1]])), 2, seed=1)[0]
    array([0, 0, 1, 1])
    """
    if m == 1:
        return [np.zeros(len(points), dtype=np.int64)]
    rng = np.random.default_rng(seed)
    found: dict[bytes, tuple[float, Groups]] = {}
    for _ in range(RUNS):
        inertia, groups = _clustering(points, m, rng)
        groups = _renumbered(groups)
        found.setdefault(groups.tobytes(), (inertia, groups))
    return [groups for _, groups in sorted(found.values(), key=lambda one: (one[0], one[1].tolist()))]


def _clustering(points: Points, m: int, rng: np.random.Generator) -> tuple[float, Groups]:
    """Return a clustering by k-means++ and Lloyd's iterations, and its inertia."""
    n = len(points)
    row = int(rng.integers(n))
    distances = [points.from_row(row)]
    for _ in range(m - 1):
        least = np.maximum(np.min(distances, axis=0), 0.0)
        total = least.sum()
        row = int(rng.choice(n, p=least / total)) if total > 0 else int(rng.integers(n))
        distances.append(points.from_row(row))
    groups = np.argmin(distances, axis=0)
    for _ in range(PASSES):
        from_means = points.from_means(groups, m)
        moved = from_means.argmin(axis=0)
        if np.array_equal(moved, groups):
            break
        groups = moved
    return float(points.from_means(groups, m).min(axis=0).sum()), groups.astype(np.int64)


def _renumbered(groups: Groups) -> Groups:
    """Return groups numbered by their first sample."""
    _, first, codes = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.int64)


def starts(points: list[Points], m: int, seed: int, most: int) -> Iterator[list[Groups]]:
    """Iterate over starts: for each class its best clustering, then its second best, and so on.

    Parameters
    ----------
    points : list of Points
        For each class.
    m : int
        Prototypes of a class.
    seed : int
        Of k-means++.
    most : int
        Starts, at most; less where there are not so many different clusterings.

    Yields
    ------
    list of ndarray of int64
        For each class, the group of each sample.
    """
    found = [clusterings(one, m, seed) for one in points]
    for place in range(min(most, max(map(len, found)))):
        yield [own[min(place, len(own) - 1)] for own in found]
