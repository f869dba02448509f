"""Inner folds for remote homology: clusters of similar positive samples are held out whole.

Close homologs on both sides of an inner fold make every candidate look perfect, and the best for close homologs says
little about remote ones. With whole clusters held out, an inner fold asks what the test set will ask: are members of a
new family recognised?
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer

AUTO = 10
"""The number of clusters, and of inner folds, for ``auto``."""


def kernel_distances(K: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the distances of samples in the feature space of the normalised kernel.

    d(x, y)² = 2 − 2 K(x, y) / √(K(x, x) K(y, y)), from 0 to 2, or up to 4 with negative values.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        Symmetric kernel values. A sample without features (K(x, x) = 0) is as far from all others as one that has
        nothing in common with them.

    Returns
    -------
    ndarray of float64, shape (n, n)
        Symmetric, with zeros in the diagonal.

    Examples
    --------
    >>> kernel_distances(np.array([[4.0, 2.0], [2.0, 1.0]])).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    scale = np.sqrt(np.maximum(np.diag(K), 0.0))
    scale[scale == 0] = np.inf
    cosines = K / scale[:, None] / scale[None, :]
    distances = np.sqrt(np.maximum(0.0, 2.0 - cosines - cosines.T))
    np.fill_diagonal(distances, 0.0)
    return distances


def cluster(distances: npt.NDArray[np.float64], n: int, groups: npt.ArrayLike | None = None) -> npt.NDArray[np.int64]:
    """Divide samples into clusters by average linkage.

    Parameters
    ----------
    distances : ndarray of float64, shape (m, m)
        Symmetric.
    n : int
        Number of clusters; at most that of samples, or groups.
    groups : array_like, shape (m,), optional
        Samples of one group stay in one cluster: groups are clustered by the mean distances of their members.

    Returns
    -------
    ndarray of int64, shape (m,)
        The cluster of each sample, numbered in the order of their first samples.

    Examples
    --------
    >>> points = np.array([0.0, 0.1, 5.0, 5.2, 9.0])
    >>> distances = abs(points[:, None] - points[None, :])
    >>> cluster(distances, 3).tolist(), cluster(distances, 2, groups=[0, 1, 2, 3, 0]).tolist()
    ([0, 0, 1, 1, 2], [0, 0, 1, 1, 0])
    """
    # imported here for fast start-up
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import squareform

    check_integer("clusters", n, 2)
    members: npt.NDArray[Any] = np.arange(len(distances))
    if groups is not None:
        members = np.unique(groups, return_inverse=True)[1]
        inside = (members[None, :] == np.arange(members.max() + 1)[:, None]) / np.bincount(members)[:, None]
        distances = inside @ distances @ inside.T
        distances = (distances + distances.T) / 2
        np.fill_diagonal(distances, 0.0)
    if len(distances) <= n:
        found = np.arange(len(distances))
    else:
        tree = linkage(squareform(distances, checks=False), "average")
        found = cut_tree(tree, n_clusters=[n])[:, 0]
    _, first, numbers = np.unique(found[members], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers].astype(np.int64)


def cluster_groups(
    K: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_], n: int, groups: npt.ArrayLike | None = None
) -> npt.NDArray[np.int64]:
    """Return groups for the inner folds of a training set: clusters of its positive samples, negative ones singly.

    Parameters
    ----------
    K : ndarray of float64, shape (m, m)
        Kernel values of the positive samples.
    positive : ndarray of bool, shape (l,)
        Which samples of the training set are positive: m of them.
    n : int
        Number of clusters.
    groups : array_like, shape (l,), optional
        Samples to keep together in any case.

    Returns
    -------
    ndarray of int64, shape (l,)

    Examples
    --------
    >>> K = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.1], [0.1, 0.1, 1.0]])
    >>> cluster_groups(K, np.array([True, False, True, True, False]), 2).tolist()
    [0, 2, 0, 1, 3]
    """
    rows = np.flatnonzero(positive)
    own = None if groups is None else np.asarray(groups)[rows]
    found = np.empty(len(positive), dtype=np.int64)
    found[rows] = cluster(kernel_distances(K), n, own)
    rest = np.flatnonzero(~positive)
    others = np.arange(len(rest)) if groups is None else np.unique(np.asarray(groups)[rest], return_inverse=True)[1]
    found[rest] = found[rows].max() + 1 + others
    # a negative sample of a positive one's group goes where that goes
    place = {} if own is None else dict(zip(own.tolist(), found[rows].tolist(), strict=True))
    for row in rest if place else ():
        found[row] = place.get(np.asarray(groups)[row].item(), found[row])
    return found
