"""A second classifier on the scores around each residue."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ModelError
from seqkern.core.memory import available_memory
from seqkern.core.parameters import choice, integer, numbers, real
from seqkern.kernels.windows.window_vectors import SHAPES, check_position_weights, position_weights
from seqkern.layers.layer import Layer
from seqkern.layers.score_windows import Landmarks, ScoreWindows, feature_blocks
from seqkern.residues import Residues, check_window
from seqkern.sequences.labels import UNLABELLED
from seqkern.solvers import build_solver, solver_from_state
from seqkern.solvers.base import Solver


class StructureLayer(Layer):
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
    >>> from seqkern.layers import StructureLayer
    >>> from seqkern.residues import Residues
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
    C: float = real(default=1.0, low=0, open_low=True, doc="C, the cost of a margin error.")
    loss: Literal["squared_hinge", "squared"] = choice(default="squared_hinge", doc="Loss of the SVM, see `PrimalSVC`.")
    seed: int = integer(default=1, low=0, doc="Seed of the landmarks.")

    def _check_parameters(self) -> None:
        check_window(self.window)
        check_position_weights(self.position_weights)
        position_weights(self.position_weights, self.window)

    def _new_solver(self) -> Solver:
        """Return a new solver."""
        return build_solver({"solver": "primal_svc", "C": self.C, "loss": self.loss})

    def _fit(self, scores: npt.NDArray[np.float64], chains: Residues, y: npt.NDArray[np.int64]) -> None:
        """Learn means and standard deviations, draw the landmarks, and train."""
        self.mean_, self.scale_ = scores.mean(axis=0), _spread(scores)
        self.chain_scale_ = _spread(_chain_means((scores - self.mean_) / self.scale_, chains))
        known = np.flatnonzero(y != UNLABELLED)
        windows = self._windows(scores, chains).of(known)
        self.landmarks_ = None
        if self.features == "rbf":
            gamma = 1.0 / windows.width if self.gamma is None else self.gamma
            self.landmarks_ = Landmarks.draw(windows, self.n_components, gamma, self.seed)
        blocks = feature_blocks(windows, self.landmarks_).keep(available_memory() // 4)
        self.solver_ = self._new_solver().fit(blocks, y[known])
        self.not_converged_ = self.solver_.count_not_converged()

    def _windows(self, scores: npt.NDArray[np.float64], chains: Residues) -> ScoreWindows:
        """Return the vectors of residues, a ScoreWindows."""
        scores = (scores - self.mean_) / self.scale_
        means = _chain_means(scores, chains) / self.chain_scale_
        return ScoreWindows(scores, means, chains, self.window, self.position_weights)

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.float64]:
        """Return the decisions of the second classifier; see `Layer.transform`."""
        scores = np.asarray(scores, dtype=np.float64)
        if not len(scores):
            return np.zeros((0, len(self.classes_)))
        decisions = self.solver_.decision_function(feature_blocks(self._windows(scores, chains), self.landmarks_))
        return np.column_stack([-decisions / 2, decisions / 2]) if decisions.ndim == 1 else decisions

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays) of what `fit` learned."""
        header, arrays = self.solver_.state()
        arrays = nest("solver", arrays) | {name: getattr(self, f"{name}_") for name in ("mean", "scale", "chain_scale")}
        if self.landmarks_ is not None:
            arrays |= {"landmarks": self.landmarks_.vectors, "map": self.landmarks_.map}
        return {"solver": header, "gamma": None if self.landmarks_ is None else self.landmarks_.gamma}, arrays

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        k = len(self.classes_)
        for name in ("mean", "scale", "chain_scale"):
            setattr(self, f"{name}_", self._stored(arrays, name, k))
        self.landmarks_, width = None, self.window * (k + 1) + k
        if self.features == "rbf":
            vectors = self._stored(arrays, "landmarks", None, width)
            by = self._stored(arrays, "map", len(vectors), None)
            self.landmarks_, width = Landmarks(vectors, by, float(header["gamma"])), by.shape[1]
        solver: Any = solver_from_state(header["solver"], unnest("solver", arrays))
        self.solver_ = solver
        if solver.n_features_in_ != width or len(solver.classes_) != k:
            raise ModelError(
                "not the state of layer 'structure': its parts do not fit",
                remedy="the model file is corrupted; train the model again",
            )


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
