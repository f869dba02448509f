"""Probabilities of the classes from their scores."""

import numpy as np

from seqkern.layers.base import Layer
from seqkern.layers.multinomial import fit_multinomial, log_probabilities
from seqkern.sequences.labels import UNLABELLED


class ProbabilityLayer(Layer):
    """Multinomial logistic regression on the scores of all classes.

    log P(c | f) = f · w_c + b_c + constant: what Platt's sigmoid is for two classes. It is fitted to scores about
    held-out residues by greatest likelihood with a small penalty on the weights. It looks at no neighbours, so that it
    also follows solvers on units that are no residues.

    Attributes
    ----------
    weights_ : ndarray of float64, shape (classes, classes)
        A column for each class.
    intercepts_ : ndarray of float64, shape (classes,)

    Notes
    -----
    `transform` gives natural logarithms of the probabilities.

    References
    ----------
    Platt: Probabilistic outputs for support vector machines. In: Advances in Large Margin Classifiers, MIT Press 1999.
    Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks (matrix scaling). ICML 2017.
    """

    name = "probabilities"
    plain = "Scores become probabilities of the states, by logistic regression on held-out residues."
    calibrated = True
    needs_chains = False

    def _fit(self, scores, chains, y):
        """Find the weights of greatest likelihood."""
        known = y != UNLABELLED
        self.weights_, self.intercepts_, converged = fit_multinomial(scores[known], y[known])
        self.not_converged_ = int(not converged)

    def transform(self, scores, chains):
        """Return natural logarithms of probabilities; see `Layer.transform`."""
        return log_probabilities(np.asarray(scores, dtype=np.float64), self.weights_, self.intercepts_)

    def fitted_state(self):
        """Return (JSON dict, dict of arrays) of what `fit` learned."""
        return {}, {"weights": self.weights_, "intercepts": self.intercepts_}

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        k = len(self.classes_)
        self.weights_ = self._stored(arrays, "weights", k, k)
        self.intercepts_ = self._stored(arrays, "intercepts", k)
