"""Probabilities of the classes from their scores."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.layers.layer import Layer
from seqkern.layers.multinomial import fit_multinomial, log_probabilities
from seqkern.residues import Residues
from seqkern.sequences.labels import UNLABELLED


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
    >>> from seqkern.layers import ProbabilityLayer
    >>> from seqkern.residues import Residues
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
        """Maximise the likelihood."""
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
