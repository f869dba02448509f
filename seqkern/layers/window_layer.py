"""The base of layers that see the scores in a window around each residue."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import choice, integer, numbers, real
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.kernels.windows.window_vectors import SHAPES, check_position_weights, position_weights
from seqkern.layers.layer import Layer
from seqkern.layers.score_windows import Landmarks, ScoreWindows, feature_blocks
from seqkern.residues import Residues, check_window


class WindowLayer(Layer):
    """Base of layers on windows of scores.

    A window contains the scores of all classes, standardised over the training set, and a flag for each missing or
    unknown residue; the mean scores of the chain are added.

    Attributes
    ----------
    mean_, scale_ : ndarray of float64, shape (classes,)
        Mean and standard deviation of the scores.
    chain_scale_ : ndarray of float64, shape (classes,)
        Standard deviation of the mean standardised scores of chains.
    landmarks_ : Landmarks or None
    """

    window: int = integer(default=21, low=1, doc="Residues in a window, an odd number.")
    position_weights: str | list[float] = numbers(
        default="gaussian",
        low=0,
        words=SHAPES,
        doc="Weight of each position in products and squared distances, as in `WindowKernel`.",
    )
    features: Literal["rbf", "linear"] = choice(
        default="rbf", doc="``rbf``: features of an RBF kernel; ``linear``: the window itself."
    )
    n_components: int = integer(default=500, low=1, doc="Number of landmarks of the RBF features.")
    gamma: float | None = real(
        default=None,
        low=0,
        open_low=True,
        doc="γ in exp(−γ ‖u − v‖²) for windows u and v; by default 1 / the number of coordinates of a window.",
    )
    seed: int = integer(default=1, low=0, doc="Seed of the landmarks.")

    def _check_parameters(self) -> None:
        check_window(self.window)
        check_position_weights(self.position_weights)
        position_weights(self.position_weights, self.window)

    def _learn_windows(
        self, scores: npt.NDArray[np.float64], chains: Residues, known: npt.NDArray[np.int64]
    ) -> FeatureBlocks:
        """Learn means and standard deviations, draw the landmarks, and return the features of the known rows."""
        self.mean_, self.scale_ = scores.mean(axis=0), _spread(scores)
        self.chain_scale_ = _spread(_chain_means((scores - self.mean_) / self.scale_, chains))
        windows = self._windows(scores, chains).of(known)
        self.landmarks_ = None
        if self.features == "rbf":
            gamma = 1.0 / windows.width if self.gamma is None else self.gamma
            self.landmarks_ = Landmarks.draw(windows, self.n_components, gamma, self.seed)
        return feature_blocks(windows, self.landmarks_)

    def _windows(self, scores: npt.NDArray[np.float64], chains: Residues) -> ScoreWindows:
        """Return the vectors of residues, a ScoreWindows."""
        scores = (scores - self.mean_) / self.scale_
        means = _chain_means(scores, chains) / self.chain_scale_
        return ScoreWindows(scores, means, chains, self.window, self.position_weights)

    def _features(self, scores: npt.NDArray[np.float64], chains: Residues) -> FeatureBlocks:
        """Return the features of residues, FeatureBlocks."""
        return feature_blocks(self._windows(scores, chains), self.landmarks_)

    def _windows_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays) of what `_learn_windows` learned."""
        arrays: dict[str, npt.NDArray[Any]] = {
            name: getattr(self, f"{name}_") for name in ("mean", "scale", "chain_scale")
        }
        if self.landmarks_ is not None:
            arrays |= {"landmarks": self.landmarks_.vectors, "map": self.landmarks_.map}
        return {"gamma": None if self.landmarks_ is None else self.landmarks_.gamma}, arrays

    def _restore_windows(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> int:
        """Restore what `_windows_state` returned; return the number of features."""
        k = len(self.classes_)
        for name in ("mean", "scale", "chain_scale"):
            setattr(self, f"{name}_", self._stored(arrays, name, k))
        self.landmarks_, width = None, self.window * (k + 1) + k
        if self.features == "rbf":
            vectors = self._stored(arrays, "landmarks", None, width)
            by = self._stored(arrays, "map", len(vectors), None)
            self.landmarks_, width = Landmarks(vectors, by, float(header["gamma"])), by.shape[1]
        return width


def _spread(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the standard deviation of each column, 1 where it is 0."""
    spread = values.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _chain_means(scores: npt.NDArray[np.float64], chains: Residues) -> npt.NDArray[np.float64]:
    """Return for each row the mean of the rows of its chain, float64 (n, classes)."""
    _, chain = np.unique(chains.record, return_inverse=True)
    sizes = np.bincount(chain)
    # in order of positions, so that the bits of a chain do not depend on other chains
    order = np.lexsort((chains.place, chains.record))
    sums = np.column_stack([np.bincount(chain[order], column[order]) for column in scores.T])
    return (sums / sizes[:, None])[chain]
