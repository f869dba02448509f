"""Windows of scores around residues, and explicit features of an RBF kernel on them."""

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import one_thread
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.kernels.vectors.approximation import in_chunks
from seqkern.kernels.vectors.nystroem import inverse_root
from seqkern.kernels.vectors.single_product import PackedMap, squares
from seqkern.kernels.windows.window_vectors import position_weights
from seqkern.residues import Residues

TOLERANCE = 1e-6
"""Directions with less than this share of the largest variance of landmarks are single-precision rounding errors."""


class ScoreWindows:
    """Vectors of residues: the scores around them, flags of missing neighbours, means of their chains.

    Parameters
    ----------
    scores : ndarray of float64, shape (n, classes)
        Standardised to mean 0 and standard deviation 1.
    means : ndarray of float64, shape (n, classes)
        Means over the residue's chain, also with standard deviation 1.
    chains : Residues
        Which residue of which chain each row is.
    window : int
        Residues of a window, an odd number.
    weights : str or list of float
        As `seqkern.kernels.windows.window_vectors.position_weights` takes them.
    """

    def __init__(
        self,
        scores: npt.NDArray[np.float64],
        means: npt.NDArray[np.float64],
        chains: Residues,
        window: int,
        weights: str | Sequence[float],
    ) -> None:
        self.known = np.zeros((len(scores) + 1, scores.shape[1] + 1), dtype=np.float32)
        self.known[:-1, :-1] = scores
        self.known[-1, -1] = 1.0
        self.means = means.astype(np.float32)
        self.around = chains.neighbours(window // 2)
        # of products and squared distances: coordinates get their roots
        self.weights = np.sqrt(position_weights(weights, window)).astype(np.float32)[:, None]
        self.width = self.known.shape[1] * window + means.shape[1]

    def __len__(self) -> int:
        return len(self.around)

    def of(self, rows: npt.NDArray[np.int64]) -> "ScoreWindows":
        """Return the windows of some residues, with access to the scores of the others.

        Parameters
        ----------
        rows : ndarray of int64
            The residues.

        Returns
        -------
        ScoreWindows
        """
        some = copy.copy(self)
        some.means, some.around = self.means[rows], self.around[rows]
        return some

    def take(self, rows: slice | npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the vectors of some residues.

        Parameters
        ----------
        rows : slice or ndarray of int64
            The residues.

        Returns
        -------
        ndarray of float32, shape (rows, width)
        """
        around = self.around[rows]
        out = np.empty((len(around), self.width), dtype=np.float32)
        split = self.width - self.means.shape[1]
        np.multiply(self.known[around], self.weights, out=out[:, :split].reshape(*around.shape, -1))
        out[:, split:] = self.means[rows]
        return out


class Landmarks:
    """Features φ with φ(u)·φ(v) near exp(−γ ‖u − v‖²), from the kernel with some vectors of the training set.

    Parameters
    ----------
    vectors : ndarray of float32, shape (m, width)
        Windows of the training set.
    map : ndarray of float32, shape (m, features)
        The inverse root of the kernel among the landmarks.
    gamma : float
        γ, > 0.
    """

    def __init__(self, vectors: npt.NDArray[np.float32], map: npt.NDArray[np.float32], gamma: float) -> None:
        self.vectors = vectors
        self.map = map
        self.gamma = gamma
        self._columns = PackedMap(vectors.T)
        self._squares = squares(vectors)

    @cached_property
    def _packed(self) -> PackedMap:
        """The map as it is multiplied, which prediction does not need."""
        return PackedMap(self.map)

    @classmethod
    def draw(cls, windows: ScoreWindows, count: int, gamma: float, seed: int) -> Self:
        """Return landmarks drawn at random among windows.

        Parameters
        ----------
        windows : ScoreWindows
            Of the training set.
        count : int
            How many, or all if there are fewer.
        gamma : float
            γ of the RBF kernel.
        seed : int
            Seed of the draw.

        Returns
        -------
        Landmarks
        """
        rng = np.random.default_rng(seed)
        vectors = windows.take(np.sort(rng.choice(len(windows), min(count, len(windows)), replace=False)))
        exact = vectors.astype(np.float64)
        lengths = (exact**2).sum(axis=1)
        with one_thread():
            K = np.exp(-gamma * np.maximum(lengths[:, None] + lengths - 2.0 * (exact @ exact.T), 0.0))
            return cls(vectors, inverse_root(K, TOLERANCE), gamma)

    def features(self, windows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the features φ of vectors.

        Parameters
        ----------
        windows : ndarray of float32, shape (n, width)
            The vectors.

        Returns
        -------
        ndarray of float32, shape (n, features)
            The bits of a row depend on that row alone.
        """
        return self._mapped(windows, self._packed)

    def times(self, windows: npt.NDArray[np.float32], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return φ · `weights` of vectors, without computing φ.

        Parameters
        ----------
        windows : ndarray of float32, shape (n, width)
            The vectors.
        weights : ndarray of float64, shape (features, k)
            Factors of the features.

        Returns
        -------
        ndarray of float64, shape (n, k)
        """
        return self._mapped(windows, PackedMap(self.map @ weights)).astype(np.float64)

    def _mapped(self, windows: npt.NDArray[np.float32], map: PackedMap) -> npt.NDArray[np.float32]:
        """Return the kernel with the landmarks times `map`, float32 (n, columns of it)."""

        def values(rows: npt.NDArray[np.int64] | slice) -> npt.NDArray[np.float32]:
            chunk = windows[rows]
            near = chunk @ self._columns
            near *= 2.0
            near -= squares(chunk)[:, None]
            near -= self._squares
            near *= np.float32(self.gamma)
            return np.exp(np.minimum(near, 0.0, out=near), out=near)

        return in_chunks(np.arange(len(windows)), values, map, map.shape[1], n_threads=1)


def feature_blocks(windows: ScoreWindows, landmarks: Landmarks | None) -> FeatureBlocks:
    """Return the features of windows, computed in blocks when they are needed.

    Parameters
    ----------
    windows : ScoreWindows
        Of n residues.
    landmarks : Landmarks or None
        They make the features; without them the vectors themselves are the features.

    Returns
    -------
    FeatureBlocks
        float32, shape (n, features) or (n, width).
    """
    if landmarks is None:
        return FeatureBlocks((len(windows), windows.width), np.float32, windows.take)
    shape = len(windows), landmarks.map.shape[1]
    return FeatureBlocks(
        shape,
        np.float32,
        lambda rows: landmarks.features(windows.take(rows)),
        lambda weights: lambda rows: landmarks.times(windows.take(rows), weights),
    )
