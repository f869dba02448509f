"""The margin of paths of labels, and the weights that maximise it: block-coordinate Frank-Wolfe."""

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import one_thread
from seqkern.layers import _paths
from seqkern.layers.path_layer import Learned, Paths, PathWeights


class PathMargin:
    """½‖w‖² + C Σ_r max_c (wrong(c) + score(c) − score(true)) over runs r, and its dual.

    The dual has a distribution of paths for each run; only their means are kept: of the labels of each residue, of the
    steps, and of the wrong labels. The weights are C times what the true paths have more of than these.

    Parameters
    ----------
    paths : Paths
        Labelled runs.
    C : float
        Cost of a run's loss.
    seed : int
        Seed of the order of the runs.

    Attributes
    ----------
    weights : PathWeights
    labels : ndarray of float64, shape (n, k)
        Mean labels of the residues.
    steps : ndarray of float64, shape (runs, k · memory, k)
        Mean steps of the runs.
    wrong : ndarray of float64, shape (runs,)
        Mean number of wrong labels.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.kernels.feature_blocks import FeatureBlocks
    >>> from seqkern.layers.path_layer import Paths
    >>> from seqkern.layers.path_margin import PathMargin
    >>> blocks = FeatureBlocks.of(np.array([[1.0], [-1.0], [-1.0]]))
    >>> paths = Paths(blocks, np.array([0, 1, 1]), np.array([0, 3]), k=2, memory=1)
    >>> found = PathMargin(paths, C=0.01, seed=1).minimise(tol=1e-3, max_iter=10)
    >>> round(found.objective, 5), found.converged
    (0.0288, True)
    """

    def __init__(self, paths: Paths, C: float, seed: int) -> None:
        self.paths = paths
        self.C = C
        self.rng = np.random.default_rng(seed)
        self.true = paths.indicators()
        self.weights = PathWeights.zeros(paths.blocks.shape[1], paths.k, paths.memory)
        self.labels = self.true.copy()
        runs = len(paths.starts) - 1
        self.steps = np.zeros((runs, *self.weights.steps.shape))
        for run in range(runs):
            _paths.add_steps(paths.y[self._rows(run)], self._whole(run), self.steps[run])
        self.wrong = np.zeros(runs)

    def _rows(self, run: int) -> slice:
        """Return the rows of a run."""
        return slice(self.paths.starts[run], self.paths.starts[run + 1])

    def _whole(self, run: int) -> npt.NDArray[np.int64]:
        """Return the starts of a run by itself."""
        return np.array([0, self.paths.starts[run + 1] - self.paths.starts[run]])

    def move(self, run: int) -> float:
        """Move the mean path of a run towards the one that violates the margin most.

        Parameters
        ----------
        run : int
            Which.

        Returns
        -------
        float
            By how much the run's part of the primal objective was above that of the dual one.
        """
        rows, whole, weights = self._rows(run), self._whole(run), self.weights
        block = self.paths.blocks.block(rows.start, rows.stop).astype(np.float64, copy=False)
        E = block @ weights.labels + weights.biases
        path = np.empty(len(E), dtype=np.int64)
        _paths.best_paths(E + 1.0 - self.true[rows], weights.steps, whole, path)
        labels, steps = -self.labels[rows], -self.steps[run]
        labels[np.arange(len(path)), path] += 1.0
        _paths.add_steps(path, whole, steps)
        wrong = np.count_nonzero(path != self.paths.y[rows]) - self.wrong[run]
        gap = self.C * float((labels * E).sum() + (steps * weights.steps).sum() + wrong)
        if gap <= 0.0:
            return 0.0
        change = PathWeights(*(self.C * part for part in ((labels.T @ block).T, labels.sum(axis=0), steps)))
        share = gap / max(gap, change.squares())
        for part, of in zip(weights, change, strict=True):
            part -= share * of
        self.labels[rows] += share * labels
        self.steps[run] += share * steps
        self.wrong[run] += share * wrong
        return gap

    def dual(self) -> float:
        """Return the dual objective, a lower bound of the minimum."""
        return self.C * float(self.wrong.sum()) - 0.5 * self.weights.squares()

    def primal(self) -> float:
        """Return the primal objective."""
        paths = self.paths
        E = paths.scores(self.weights)
        path = np.empty(len(E), dtype=np.int64)
        _paths.best_paths(E + 1.0 - self.true, self.weights.steps, paths.starts, path)
        chosen = np.zeros_like(E)
        chosen[np.arange(len(E)), path] = 1.0
        more = paths.count_steps(path) - paths.count_steps(paths.y)
        loss = np.count_nonzero(path != paths.y) + ((chosen - self.true) * E).sum() + (more * self.weights.steps).sum()
        return 0.5 * self.weights.squares() + self.C * float(loss)

    def minimise(self, tol: float, max_iter: int) -> Learned:
        """Return the weights of the smallest primal objective.

        Parameters
        ----------
        tol : float
            Largest duality gap, as a share of the objective.
        max_iter : int
            At most so many passes over all runs.

        Returns
        -------
        Learned
        """
        with one_thread():
            for passes in range(1, max_iter + 1):
                gap = sum(self.move(run) for run in self.rng.permutation(len(self.wrong)))
                # these gaps are of different weights; that of the last ones takes a pass
                if passes < max_iter and gap > tol * (self.dual() + gap):
                    continue
                objective = self.primal()
                gap = objective - self.dual()
                if gap <= tol * objective:
                    break
            return Learned(self.weights, objective, gap, passes, gap <= tol * objective)
