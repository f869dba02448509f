"""A second classifier on the scores around each residue."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ModelError
from seqkern.core.memory import available_memory
from seqkern.core.parameters import choice, real
from seqkern.layers.window_layer import WindowLayer
from seqkern.residues import Residues
from seqkern.sequences.labels import UNLABELLED
from seqkern.solvers import build_solver, solver_from_state
from seqkern.solvers.base import Solver


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

    C: float = real(default=1.0, low=0, open_low=True, doc="C, the cost of a margin error.")
    loss: Literal["squared_hinge", "squared"] = choice(default="squared_hinge", doc="Loss of the SVM, see `PrimalSVC`.")

    def _new_solver(self) -> Solver:
        """Return a new solver."""
        return build_solver({"solver": "primal_svc", "C": self.C, "loss": self.loss})

    def _fit(self, scores: npt.NDArray[np.float64], chains: Residues, y: npt.NDArray[np.int64]) -> None:
        """Learn means and standard deviations, draw the landmarks, and train."""
        known = np.flatnonzero(y != UNLABELLED)
        blocks = self._learn_windows(scores, chains, known).keep(available_memory() // 4)
        self.solver_ = self._new_solver().fit(blocks, y[known])
        self.not_converged_ = self.solver_.count_not_converged()

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.float64]:
        """Return the decisions of the second classifier; see `Layer.transform`."""
        scores = np.asarray(scores, dtype=np.float64)
        if not len(scores):
            return np.zeros((0, len(self.classes_)))
        decisions = self.solver_.decision_function(self._features(scores, chains))
        return np.column_stack([-decisions / 2, decisions / 2]) if decisions.ndim == 1 else decisions

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays) of what `fit` learned."""
        solver, arrays = self.solver_.state()
        header, own = self._windows_state()
        return header | {"solver": solver}, nest("solver", arrays) | own

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        width = self._restore_windows(header, arrays)
        solver: Any = solver_from_state(header["solver"], unnest("solver", arrays))
        self.solver_ = solver
        if solver.n_features_in_ != width or len(solver.classes_) != len(self.classes_):
            raise ModelError(
                "not the state of layer 'structure': its parts do not fit",
                remedy="the model file is corrupted; train the model again",
            )
