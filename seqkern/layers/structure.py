"""A second machine: the scores around each residue decide anew."""

import numpy as np

from ..archive import nest, unnest
from ..kernels.feature_blocks import FeatureBlocks
from ..memory import available_memory
from ..parameters import check_choice, check_integer, check_real
from ..residues import check_window
from ..solvers import build_solver, solver_from_state
from .base import Layer

FEATURES = ("fourier", "linear")


class StructureLayer(Layer):
    """A support vector machine on the scores of the residues around each residue.

    The window holds the scores of all classes, made of mean 0 and spread 1 over the training part, and for each place
    a flag that says that there is no residue, or that nothing is known of it. On it learns a linear machine, or one
    with an RBF kernel by random Fourier features.

    Parameters
    ----------
    window : int
        Residues that are looked at, an odd number.
    features : {"fourier", "linear"}
        Random Fourier features of the RBF kernel, or the window itself.
    n_components : int
        How many random features.
    gamma : float, optional
        exp(−γ ‖u − v‖²) of windows u and v; by default 0.3 over the number of coordinates of a window.
    C : float
        Cost of a margin error.
    loss : {"squared_hinge", "squared"}
        Of the machine (`PrimalSVC`).
    seed : int
        Of the random features.

    Attributes
    ----------
    mean_, scale_ : ndarray of float64, shape (classes,)
        Of the scores.
    solver_ : PrimalSVC
    frequencies_, phases_ : ndarray of float32, shapes (coordinates, n_components) and (n_components,), or None

    References
    ----------
    Qian, Sejnowski: Predicting the secondary structure of globular proteins using neural network models. J. Mol. Biol.
    202:865, 1988 (the second network on the first one's outputs).
    Rost, Sander: Prediction of protein secondary structure at better than 70% accuracy. J. Mol. Biol. 232:584, 1993.
    Guo, Chen, Sun, Lin: A novel method for protein secondary structure prediction using dual-layer SVM and profiles.
    Proteins 54:738, 2004.
    Rahimi, Recht: Random features for large-scale kernel machines. NIPS 2007.
    """

    name = "structure"
    plain = "A second machine decides each residue anew, by the first one's scores of it and of its neighbours."

    def __init__(
        self,
        *,
        window=15,
        features="fourier",
        n_components=500,
        gamma=None,
        C=1.0,
        loss="squared_hinge",
        seed=1,
    ):
        self.window = window
        self.features = features
        self.n_components = n_components
        self.gamma = gamma
        self.C = C
        self.loss = loss
        self.seed = seed

    def check_parameters(self):
        """Raise ParameterError for a parameter outside its domain."""
        check_window(self.window)
        check_choice("features", self.features, FEATURES)
        check_integer("n_components", self.n_components, 1)
        if self.gamma is not None:
            check_real("gamma", self.gamma, 0, open_low=True)
        check_integer("seed", self.seed, 0)
        self._machine()

    def _machine(self):
        """Return a new solver; ParameterError for a value outside its domain."""
        return build_solver({"solver": "primal_svc", "C": self.C, "loss": self.loss})

    def _fit(self, scores, chains, y):
        """Learn means and spreads, draw the features, and train."""
        self.mean_, scale = scores.mean(axis=0), scores.std(axis=0)
        self.scale_ = np.where(scale > 0, scale, 1.0)
        coordinates = self.window * (scores.shape[1] + 1)
        self.frequencies_ = self.phases_ = None
        if self.features == "fourier":
            rng = np.random.default_rng(self.seed)
            gamma = 0.3 / coordinates if self.gamma is None else self.gamma
            frequencies = np.sqrt(2.0 * gamma) * rng.standard_normal((coordinates, self.n_components))
            self.frequencies_ = frequencies.astype(np.float32)
            self.phases_ = rng.uniform(0.0, 2.0 * np.pi, self.n_components).astype(np.float32)
        blocks = self._blocks(scores, chains).keep(available_memory() // 4)
        self.solver_ = self._machine().fit(blocks, y)
        self.not_converged_ = self.solver_.count_not_converged()

    def _blocks(self, scores, chains):
        """Return the features of the windows around some residues, FeatureBlocks of float32."""
        known = np.zeros((len(scores) + 1, scores.shape[1] + 1), dtype=np.float32)
        known[:-1, :-1] = (scores - self.mean_) / self.scale_
        known[-1, -1] = 1.0  # neighbours that are not there have the row −1
        around = chains.neighbours(self.window // 2)

        def compute(rows):
            windows = known[around[rows]].reshape(len(around[rows]), -1)
            if self.frequencies_ is None:
                return windows
            angles = windows @ self.frequencies_
            angles += self.phases_
            np.cos(angles, out=angles)
            angles *= np.float32(np.sqrt(2.0 / self.n_components))
            return angles

        width = self.window * known.shape[1] if self.frequencies_ is None else self.n_components
        return FeatureBlocks((len(scores), width), np.float32, compute)

    def transform(self, scores, chains):
        """Return the decisions of the second machine; see `Layer.transform`."""
        scores = np.asarray(scores, dtype=np.float64)
        if not len(scores):
            return np.zeros((0, len(self.classes_)))
        decisions = self.solver_.decision_function(self._blocks(scores, chains))
        return np.column_stack([-decisions / 2, decisions / 2]) if decisions.ndim == 1 else decisions

    def fitted_state(self):
        """Return (JSON dict, dict of arrays) of what `fit` learned."""
        header, arrays = self.solver_.state()
        arrays = nest("solver", arrays) | {"mean": self.mean_, "scale": self.scale_}
        if self.frequencies_ is not None:
            arrays |= {"frequencies": self.frequencies_, "phases": self.phases_}
        return {"solver": header}, arrays

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        self.mean_, self.scale_ = arrays["mean"], arrays["scale"]
        self.frequencies_, self.phases_ = arrays.get("frequencies"), arrays.get("phases")
        self.solver_ = solver_from_state(header["solver"], unnest("solver", arrays))
