"""The base of layers that see the scores in a window around each residue."""

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ModelError
from seqkern.core.memory import available_memory
from seqkern.core.parameters import choice, integer, numbers, real
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Floats, Ints
from seqkern.formats.residues import Residues, check_window
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.kernels.vectors.approximation import PackedMap, in_chunks, inverse_root, squares
from seqkern.kernels.vectors.windows import SHAPES, check_position_weights, position_weights
from seqkern.sequences.labels import UNLABELLED
from seqkern.solvers.contract import Solver
from seqkern.solvers.layers.layer import Layer
from seqkern.solvers.solver_specs import build_solver, solver_from_state

# Windows of scores around residues, and explicit features of an RBF kernel on them.

TOLERANCE = 1e-6
"""Directions with less than this share of the largest variance of landmarks are single-precision rounding errors."""


class ScoreWindows:
    """Vectors of residues: the scores around each residue, flags of missing neighbours, and means of its chain.

    Scores are standardised to mean 0 and standard deviation 1, chain means to standard deviation 1.
    """

    def __init__(
        self, scores: Floats, means: Floats, chains: Residues, window: int, weights: str | Sequence[float]
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

    def of(self, rows: Ints) -> "ScoreWindows":
        """Return the windows of some residues, with access to the scores of the others."""
        some = copy.copy(self)
        some.means, some.around = self.means[rows], self.around[rows]
        return some

    def take(self, rows: slice | Ints) -> npt.NDArray[np.float32]:
        """Return the vectors of the given residues, float32 (rows, width)."""
        around = self.around[rows]
        out = np.empty((len(around), self.width), dtype=np.float32)
        split = self.width - self.means.shape[1]
        np.multiply(self.known[around], self.weights, out=out[:, :split].reshape(*around.shape, -1))
        out[:, split:] = self.means[rows]
        return out


class Landmarks:
    """Features φ with φ(u)·φ(v) ≈ exp(−γ ‖u − v‖²), from the kernel with some vectors of the training set.

    `map` is the inverse square root of the kernel matrix among these vectors, the landmarks.
    """

    def __init__(self, vectors: npt.NDArray[np.float32], map: npt.NDArray[np.float32], gamma: float) -> None:
        self.vectors = vectors
        self.map = map
        self.gamma = gamma
        self._columns = PackedMap(vectors.T)
        self._squares = squares(vectors)

    @cached_property
    def _packed(self) -> PackedMap:
        """The map packed for multiplication; not needed for prediction."""
        return PackedMap(self.map)

    @classmethod
    def draw(cls, windows: ScoreWindows, count: int, gamma: float, seed: int) -> Self:
        """Return `count` landmarks drawn at random from the windows, or all windows if there are fewer."""
        rng = np.random.default_rng(seed)
        vectors = windows.take(np.sort(rng.choice(len(windows), min(count, len(windows)), replace=False)))
        exact = vectors.astype(np.float64)
        lengths = (exact**2).sum(axis=1)
        with one_thread():
            K = np.exp(-gamma * np.maximum(lengths[:, None] + lengths - 2.0 * (exact @ exact.T), 0.0))
            return cls(vectors, inverse_root(K, TOLERANCE), gamma)

    def features(self, windows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the features φ of vectors, float32 (n, features); the bits of a row depend on that row alone."""
        return self._mapped(windows, self._packed)

    def times(self, windows: npt.NDArray[np.float32], weights: Floats) -> Floats:
        """Return φ @ `weights`, float64 (n, k), without computing φ."""
        return self._mapped(windows, PackedMap(self.map @ weights)).astype(np.float64)

    def _mapped(self, windows: npt.NDArray[np.float32], map: PackedMap) -> npt.NDArray[np.float32]:
        """Return the kernel with the landmarks times `map`, float32 (n, columns of `map`)."""

        def values(rows: Ints | slice) -> npt.NDArray[np.float32]:
            chunk = windows[rows]
            near = chunk @ self._columns
            near *= 2.0
            near -= squares(chunk)[:, None]
            near -= self._squares
            near *= np.float32(self.gamma)
            return np.exp(np.minimum(near, 0.0, out=near), out=near)

        return in_chunks(np.arange(len(windows)), values, map, map.shape[1], n_threads=1)


def feature_blocks(windows: ScoreWindows, landmarks: Landmarks | None) -> FeatureBlocks:
    """Return the features of windows, or their vectors if there are no landmarks, computed in blocks on demand."""
    if landmarks is None:
        return FeatureBlocks((len(windows), windows.width), np.float32, windows.take)
    shape = len(windows), landmarks.map.shape[1]
    return FeatureBlocks(
        shape,
        np.float32,
        lambda rows: landmarks.features(windows.take(rows)),
        lambda weights: lambda rows: landmarks.times(windows.take(rows), weights),
    )


class WindowLayer(Layer):
    """Base of layers on windows of scores.

    A window contains the scores of all classes, standardised over the training set, a flag for each missing or
    unknown residue, and the mean scores of the chain.
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

    def _learn_windows(self, scores: Floats, chains: Residues, known: Ints) -> FeatureBlocks:
        """Learn means and standard deviations, draw the landmarks, and return the features of the known rows."""
        self.mean_, self.scale_ = scores.mean(axis=0), _spread(scores)
        self.chain_scale_ = _spread(_chain_means((scores - self.mean_) / self.scale_, chains))
        windows = self._windows(scores, chains).of(known)
        self.landmarks_ = None
        if self.features == "rbf":
            gamma = 1.0 / windows.width if self.gamma is None else self.gamma
            self.landmarks_ = Landmarks.draw(windows, self.n_components, gamma, self.seed)
        return feature_blocks(windows, self.landmarks_)

    def _windows(self, scores: Floats, chains: Residues) -> ScoreWindows:
        """Return the vectors of residues, a ScoreWindows."""
        scores = (scores - self.mean_) / self.scale_
        means = _chain_means(scores, chains) / self.chain_scale_
        return ScoreWindows(scores, means, chains, self.window, self.position_weights)

    def _features(self, scores: Floats, chains: Residues) -> FeatureBlocks:
        """Return the features of residues, FeatureBlocks."""
        return feature_blocks(self._windows(scores, chains), self.landmarks_)

    def _windows_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays) of the values learned by `_learn_windows`."""
        arrays: dict[str, Array] = {name: getattr(self, f"{name}_") for name in ("mean", "scale", "chain_scale")}
        if self.landmarks_ is not None:
            arrays |= {"landmarks": self.landmarks_.vectors, "map": self.landmarks_.map}
        return {"gamma": None if self.landmarks_ is None else self.landmarks_.gamma}, arrays

    def _restore_windows(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> int:
        """Restore the state returned by `_windows_state`, and return the number of features."""
        k = len(self.classes_)
        for name in ("mean", "scale", "chain_scale"):
            setattr(self, f"{name}_", self._stored(arrays, name, k))
        self.landmarks_, width = None, self.window * (k + 1) + k
        if self.features == "rbf":
            vectors = self._stored(arrays, "landmarks", None, width)
            by = self._stored(arrays, "map", len(vectors), None)
            self.landmarks_, width = Landmarks(vectors, by, float(header["gamma"])), by.shape[1]
        return width


def _spread(values: Floats) -> Floats:
    """Return the standard deviation of each column, 1 where it is 0."""
    spread = values.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _chain_means(scores: Floats, chains: Residues) -> Floats:
    """Return the mean score of each row's chain, float64 (n, classes)."""
    _, chain = np.unique(chains.record, return_inverse=True)
    sizes = np.bincount(chain)
    # in order of positions, so that the bits of a chain do not depend on other chains
    order = np.lexsort((chains.place, chains.record))
    sums = np.column_stack([np.bincount(chain[order], column[order]) for column in scores.T])
    return (sums / sizes[:, None])[chain]


# A second classifier on the scores around each residue.


class StructureLayer(WindowLayer):
    """Support vector machine on the scores of the residues around each residue.

    The window contains the scores of all classes, standardised over the training set, and a flag for each missing or
    unknown residue. The mean scores of the chain are added, its apparent helix and strand content. A linear SVM, or one
    with Nyström features of an RBF kernel, learns from these.

    Attributes
    ----------
    mean_, scale_ : ndarray of float64, shape (classes,)
        Mean and standard deviation of the scores.
    chain_scale_ : ndarray of float64, shape (classes,)
        Standard deviation of the mean standardised scores of chains.
    landmarks_ : Landmarks or None
    solver_ : PrimalSVC

    References
    ----------
    Qian, Sejnowski: Predicting the secondary structure of globular proteins using neural network models. J. Mol. Biol.
    202:865, 1988 (the second network on the first one's outputs).
    Rost, Sander: Prediction of protein secondary structure at better than 70% accuracy. J. Mol. Biol. 232:584, 1993.
    Guo, Chen, Sun, Lin: A novel method for protein secondary structure prediction using dual-layer SVM and profiles.
    Proteins 54:738, 2004.
    Williams, Seeger: Using the Nyström method to speed up kernel machines. NIPS 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.solvers.layers import StructureLayer
    >>> from seqkern.formats import Residues
    >>> chains = SequenceSet.from_strings(["GSAEALKAGPSG", "PGEELLAKAGNG"], "protein")
    >>> residues = Residues.of_chains(chains, window=1)
    >>> states = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> helix = np.where(states == 0, 1.0, -1.0)
    >>> helix[[5, 23]] *= -0.5  # two residues that are wrong
    >>> scores = np.column_stack([helix, -helix])
    >>> layer = StructureLayer(window=5, features="linear").fit(scores, residues, states, classes=["H", "C"])
    >>> "".join("HC"[state] for state in layer.predict(scores, residues)[:12])
    'CCHHHHHHCCCC'
    """

    name = "structure"
    summary = "A second classifier decides each residue again, from the scores of the residue and its neighbours."

    C: float = real(default=1.0, low=0, open_low=True, doc="C, the cost of a margin error.")
    loss: Literal["squared_hinge", "squared"] = choice(default="squared_hinge", doc="Loss of the SVM, see `PrimalSVC`.")

    def _new_solver(self) -> Solver:
        """Return a new solver."""
        return build_solver({"solver": "primal_svc", "C": self.C, "loss": self.loss})

    def _fit(self, scores: Floats, chains: Residues, y: Ints) -> None:
        """Learn means and standard deviations, draw the landmarks, and train the solver."""
        known = np.flatnonzero(y != UNLABELLED)
        blocks = self._learn_windows(scores, chains, known).keep(available_memory() // 4)
        self.solver_ = self._new_solver().fit(blocks, y[known])
        self.not_converged_ = self.solver_.count_not_converged()

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> Floats:
        """Return the decisions of the second classifier; see `Layer.transform`."""
        scores = np.asarray(scores, dtype=np.float64)
        if not len(scores):
            return np.zeros((0, len(self.classes_)))
        decisions = self.solver_.decision_function(self._features(scores, chains))
        return np.column_stack([-decisions / 2, decisions / 2]) if decisions.ndim == 1 else decisions

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays) of the values learned by `fit`."""
        solver, arrays = self.solver_.state()
        header, own = self._windows_state()
        return header | {"solver": solver}, nest("solver", arrays) | own

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        width = self._restore_windows(header, arrays)
        solver: Any = solver_from_state(header["solver"], unnest("solver", arrays))
        self.solver_ = solver
        if solver.n_features_in_ != width or len(solver.classes_) != len(self.classes_):
            raise ModelError(
                "not the state of layer 'structure': its parts do not fit",
                remedy="the model file is corrupted; train the model again",
            )
