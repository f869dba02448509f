"""Class probabilities from scores."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.formats.residues import Residues
from seqkern.sequences.labels import UNLABELLED
from seqkern.solvers.layers.layer import Layer

# Multinomial logistic regression: class probabilities from scores.

PENALTY = 1.0
"""Penalty of squared weights, for standardised scores; negligible for thousands of residues."""
INTERCEPT_PENALTY = 1e-6
STEPS, SMALLEST_STEP, PRECISION, ROUNDING = 100, 1e-8, 1e-10, 1e-12


def fit_multinomial(
    scores: npt.NDArray[np.float64], y: npt.NDArray[np.int64], k: int | None = None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], bool]:
    """Return the weights (d, k) and intercepts (k,) of maximum penalised likelihood, and whether the fit converged.

    log P(c | f) = f · w_c + b_c − log Σ_d exp(f · w_d + b_d); the penalty, subtracted from the log likelihood,
    is ½ Σ w² for the weights of scores with spread 1. Newton's method with halved steps suffices for the
    k(d + 1) unknowns. scikit-learn's LogisticRegression finds the same optimum with `tol=1e-10`; it takes 1.5 to 5
    times as long with three classes (half as long with eight and 40,000 samples), after an import that takes
    longer than either.
    """
    n, d = scores.shape
    k = d if k is None else k
    mean, scale = scores.mean(axis=0), scores.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    X = np.column_stack([(scores - mean) / scale, np.ones(n)])
    target = np.zeros((n, k))
    target[np.arange(n), y] = 1.0
    penalty = np.full((d + 1, 1), PENALTY)
    penalty[d] = INTERCEPT_PENALTY
    W, converged = np.zeros((d + 1, k)), False
    loss, P = _loss(X, y, W, penalty)
    for _ in range(STEPS):
        gradient = X.T @ (P - target) + penalty * W
        if np.abs(gradient).max() <= PRECISION * n:
            converged = True
            break
        direction = -np.linalg.solve(_hessian(X, P, penalty), gradient.T.ravel()).reshape(k, d + 1).T
        slope, step = float((gradient * direction).sum()), 1.0
        while True:
            new = W + step * direction
            new_loss, new_P = _loss(X, y, new, penalty)
            if new_loss <= loss + 1e-4 * step * slope + ROUNDING * abs(loss) or step < SMALLEST_STEP:
                break
            step /= 2
        W, loss, P = new, new_loss, new_P
    weights = W[:d] / scale[:, None]
    return weights, W[d] - mean @ weights, converged


def log_probabilities(
    scores: npt.ArrayLike, weights: npt.NDArray[np.float64], intercepts: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the natural logarithms of the class probabilities, (n, k), for scores (n, d).

    The bits of a row depend on that row alone.
    """
    scores = np.asarray(scores, dtype=np.float64)
    z = np.zeros((len(scores), len(intercepts))) + intercepts
    for column, row in zip(scores.T, weights, strict=True):
        z += column[:, None] * row  # a fixed order of summation, so that a row has the same bits in every batch
    return log_softmax(z)


def log_softmax(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return z − log Σ_c exp(z_c) for each row, shape (n, k)."""
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


def _loss(
    X: npt.NDArray[np.float64], y: npt.NDArray[np.int64], W: npt.NDArray[np.float64], penalty: npt.NDArray[np.float64]
) -> tuple[float, npt.NDArray[np.float64]]:
    """Return the penalised negative log likelihood, and the probabilities."""
    L = log_softmax(X @ W)
    return float(0.5 * (penalty * W * W).sum() - L[np.arange(len(y)), y].sum()), np.exp(L)


def _hessian(
    X: npt.NDArray[np.float64], P: npt.NDArray[np.float64], penalty: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the second derivatives, with the unknowns of each class in one block."""
    d, k = X.shape[1], P.shape[1]
    H = np.empty((k, d, k, d))
    for a in range(k):
        for b in range(a, k):
            H[a, :, b] = (X * (P[:, a] * ((a == b) - P[:, b]))[:, None]).T @ X
            H[b, :, a] = H[a, :, b].T
    square = H.reshape(k * d, k * d)
    square[np.diag_indices(k * d)] += np.tile(penalty.ravel(), k)
    return square


class ProbabilityLayer(Layer):
    """Multinomial logistic regression on the scores of all classes.

    log P(c | f) = f · w_c + b_c + constant, the multi-class form of Platt's sigmoid. It is fitted to scores of held-out
    residues by maximum likelihood with a small penalty on the weights. It uses no neighbours, so that it also suits
    samples that are not residues.

    Attributes
    ----------
    weights_ : ndarray of float64, shape (classes, classes)
        A column for each class.
    intercepts_ : ndarray of float64, shape (classes,)

    Notes
    -----
    `transform` returns natural logarithms of the probabilities.

    References
    ----------
    Platt: Probabilistic outputs for support vector machines. In: Advances in Large Margin Classifiers, MIT Press 1999.
    Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks (matrix scaling). ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.solvers.layers import ProbabilityLayer
    >>> from seqkern.formats import Residues
    >>> residues = Residues.of_chains(SequenceSet.from_strings(["GSAELG"], "protein"), window=1)
    >>> scores = [[-2.0, 2.0], [0.5, -0.5], [1.0, -1.0], [1.5, -1.5], [-0.5, 0.5], [-1.0, 1.0]]
    >>> layer = ProbabilityLayer().fit(scores, residues, [1, 1, 0, 0, 0, 1], classes=["H", "C"])
    >>> np.exp(layer.transform(scores, residues)).round(2)[:3]
    array([[0.12, 0.88],
           [0.64, 0.36],
           [0.75, 0.25]])
    """

    name = "probabilities"
    summary = "Turns scores into probabilities of the states, by logistic regression on held-out residues."
    calibrated = True
    needs_chains = False

    def _fit(self, scores: npt.NDArray[np.float64], chains: Residues, y: npt.NDArray[np.int64]) -> None:
        """Learn the weights of maximum likelihood."""
        known = y != UNLABELLED
        self.weights_, self.intercepts_, converged = fit_multinomial(scores[known], y[known])
        self.not_converged_ = int(not converged)

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.float64]:
        """Return natural logarithms of probabilities; see `Layer.transform`."""
        return log_probabilities(np.asarray(scores, dtype=np.float64), self.weights_, self.intercepts_)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays) of what `fit` learned."""
        return {}, {"weights": self.weights_, "intercepts": self.intercepts_}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        k = len(self.classes_)
        self.weights_ = self._stored(arrays, "weights", k, k)
        self.intercepts_ = self._stored(arrays, "intercepts", k)
