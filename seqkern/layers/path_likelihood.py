"""The likelihood of paths of labels, and the weights that maximise it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import one_thread
from seqkern.layers import _paths
from seqkern.layers.path_layer import Learned, Paths, PathWeights

MOST_ROWS = 16_384
"""Residues whose features scale the coordinates of L-BFGS."""
CURVATURE = 0.2
"""Rough p (1 − p) of a label's probability p at a residue."""
PAIRS = 20
"""Steps that L-BFGS remembers."""


class PathLikelihood:
    """½‖w‖² − C log P of the true paths, and its gradient.

    Parameters
    ----------
    paths : Paths
        Labelled runs.
    C : float
        Factor of the likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.kernels.feature_blocks import FeatureBlocks
    >>> from seqkern.layers.path_layer import Paths
    >>> from seqkern.layers.path_likelihood import PathLikelihood
    >>> blocks = FeatureBlocks.of(np.array([[1.0], [-1.0], [-1.0]]))
    >>> paths = Paths(blocks, np.array([0, 1, 1]), np.array([0, 3]), k=2, memory=1)
    >>> value, gradient = PathLikelihood(paths, C=1.0).value(np.zeros(8))
    >>> round(value, 4), gradient[:2].tolist()  # three residues with two labels
    (2.0794, [-1.5, 1.5])
    """

    def __init__(self, paths: Paths, C: float) -> None:
        self.paths = paths
        self.C = C
        self.indicators = paths.indicators()
        self.steps = paths.count_steps(paths.y)

    def weights(self, w: npt.NDArray[np.float64]) -> PathWeights:
        """Return the parts of the weights.

        Parameters
        ----------
        w : ndarray of float64, shape (m,)
            All weights, those of features first.

        Returns
        -------
        PathWeights
            Views of `w`.
        """
        d, k = self.paths.blocks.shape[1], self.paths.k
        return PathWeights(w[: d * k].reshape(d, k), w[d * k : (d + 1) * k], w[(d + 1) * k :].reshape(-1, k))

    def value(self, w: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        """Return the value and the gradient.

        Parameters
        ----------
        w : ndarray of float64, shape (m,)
            All weights.

        Returns
        -------
        value : float
            At these weights.
        gradient : ndarray of float64, shape (m,)
            Its slopes.
        """
        weights, paths = self.weights(w), self.paths
        E = paths.scores(weights)
        P, counts = np.empty_like(E), np.zeros_like(self.steps)
        total = _paths.log_shares(E, weights.steps, paths.starts, P, counts)
        true = (E * self.indicators).sum() + (weights.steps * self.steps).sum()
        excess = np.exp(P) - self.indicators
        slopes = paths.sums(excess), excess.sum(axis=0), counts - self.steps
        gradient = w + self.C * np.concatenate([part.ravel() for part in slopes])
        return 0.5 * float(w @ w) + self.C * float(total - true), gradient

    def minimise(self, tol: float, max_iter: int) -> Learned:
        """Return the weights of the smallest value.

        Parameters
        ----------
        tol : float
            Largest gap, as a share of the value.
        max_iter : int
            At most so many values are computed, but for those of the last line search.

        Returns
        -------
        Learned
        """
        from scipy.optimize import minimize  # imported here for fast start-up

        with one_thread():
            scaled = ScaledWeights(self)
            best: list[tuple[float, float, npt.NDArray[np.float64]]] = []
            passes = 0

            def value(v: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
                nonlocal passes
                passes += 1
                w = scaled.weights(v)
                found, gradient = self.value(w)
                if not best or found <= best[0][0]:
                    best[:] = [(found, 0.5 * float(gradient @ gradient), w)]
                return found, scaled.slopes(gradient)

            def stop(xk: npt.NDArray[np.float64]) -> None:
                if best[0][1] <= tol * best[0][0]:
                    raise StopIteration

            options: Any = {"maxcor": PAIRS, "maxiter": max_iter, "maxfun": max_iter, "gtol": 0.0, "ftol": 0.0}
            start = np.zeros(self.steps.size + (self.paths.blocks.shape[1] + 1) * self.paths.k)
            minimize(value, start, jac=True, method="L-BFGS-B", callback=stop, options=options)
            found, gap, w = best[0]
            return Learned(self.weights(w), found, gap, passes, gap <= tol * found)


class ScaledWeights:
    """Coordinates v of the weights w = S v in which L-BFGS takes few steps: Sᵀ H S ≈ 1 for the second derivatives H.

    H is taken as 1 + 0.2 C Σ_i f_i f_iᵀ for each label, the sum from a part of the residues where they are many, and as
    1 + 0.2 C times the number of steps from a state.

    Parameters
    ----------
    problem : PathLikelihood
        Its features and steps.
    """

    def __init__(self, problem: PathLikelihood) -> None:
        n, d = problem.paths.blocks.shape
        rows = np.arange(0, n, -(-n // MOST_ROWS))
        H = np.zeros((d + 1, d + 1))
        for _, block in problem.paths.blocks.take(rows).blocks():
            features = np.column_stack([block.astype(np.float64), np.ones(len(block))])
            H += features.T @ features
        H *= CURVATURE * problem.C * n / len(rows)
        H[np.diag_indices(d + 1)] += 1.0
        self.root = np.linalg.cholesky(H)
        self.k = problem.paths.k
        self.scale = np.sqrt(1.0 + CURVATURE * problem.C * problem.steps.sum(axis=1, keepdims=True))

    def weights(self, v: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the weights w.

        Parameters
        ----------
        v : ndarray of float64, shape (m,)
            Coordinates.

        Returns
        -------
        ndarray of float64, shape (m,)
        """
        return self._solved(v, transposed=True)

    def slopes(self, gradient: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the gradient with respect to the coordinates.

        Parameters
        ----------
        gradient : ndarray of float64, shape (m,)
            With respect to the weights.

        Returns
        -------
        ndarray of float64, shape (m,)
        """
        return self._solved(gradient, transposed=False)

    def _solved(self, values: npt.NDArray[np.float64], *, transposed: bool) -> npt.NDArray[np.float64]:
        """Return S or Sᵀ times values."""
        from scipy.linalg import solve_triangular  # imported here for fast start-up

        split = len(self.root) * self.k
        labels = values[:split].reshape(-1, self.k)
        labels = solve_triangular(self.root, labels, lower=True, trans="T" if transposed else "N", check_finite=False)
        return np.concatenate([labels.ravel(), (values[split:].reshape(-1, self.k) / self.scale).ravel()])
