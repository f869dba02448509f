"""A solver as small as one can be: the difference of the mean similarities to the two classes."""

import numpy as np

from seqkern.solvers.capabilities import Effort, Traits
from seqkern.solvers.contract import BinarySolver, stored


class MeansClassifier(BinarySolver):
    """The class whose members are more alike on average, with the border halfway between the classes' means."""

    name = "toy-means"
    declared = Traits(effort=Effort(products=2))
    learned = stored(coef="coef_", border="border_")

    def _fit(self, K, y):
        self.support_ = np.arange(len(K))
        self.coef_ = np.where(y > 0, 1 / np.sum(y > 0), -1 / np.sum(y < 0))
        decisions = np.sum(K * self.coef_, axis=1)
        self.border_ = float(decisions[y > 0].mean() + decisions[y < 0].mean()) / 2
        return {"converged": True, "iterations": 1, "residual": 0.0, "objective": 0.0}

    def _decide(self, K, columns):
        return np.sum(np.ascontiguousarray(K[:, columns]) * self.coef_, axis=1) - self.border_
