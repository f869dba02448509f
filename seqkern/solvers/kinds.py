"""Solvers by the kind of what they learn: classes, two classes, real numbers."""

import numpy as np

from seqkern.core.errors import LabelError
from seqkern.solvers.contract import Solver
from seqkern.solvers.estimator import ClassifierProtocol, RegressorProtocol


class ClassSolver(ClassifierProtocol, Solver):
    """Base of solvers that learn classes.

    Attributes
    ----------
    classes_ : ndarray, shape (c,)
        After `fit`: the classes, sorted.
    """

    def _coded(self, y):
        """Set `classes_` and return, for each label, its place among them."""
        from sklearn.utils.multiclass import check_classification_targets  # only here: needed by training alone

        try:
            check_classification_targets(y)
        except ValueError as error:
            raise LabelError(str(error)) from error
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise LabelError(
                f"all {len(y)} training labels are of one class, {self.classes_[0]!s}",
                remedy="a classifier needs members of two classes",
            )
        return codes

    def state(self):
        """Return the state, with the classes."""
        header, arrays = super().state()
        classes = self.classes_.astype(str) if self.classes_.dtype == object else self.classes_
        return header, {"classes": classes, **arrays}

    def restore(self, header, arrays):
        """Set what `state` returned."""
        super().restore(header, arrays)
        self.classes_ = arrays["classes"]


class BinarySolver(ClassSolver):
    """Base of solvers that tell two classes apart; a decision above zero means ``classes_[1]``."""

    targets = ("binary",)

    def predict(self, K):
        """Return the predicted class of each row of `K`, shape (m,)."""
        second = self.decision_function(K) > 0
        return self.classes_[second.astype(np.int64)]

    def _coded(self, y):
        """Return the labels as −1.0 and 1.0."""
        codes = super()._coded(y)
        if len(self.classes_) > 2:
            from sklearn.utils.multiclass import type_of_target  # only here: needed by a message alone

            raise LabelError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}.",
                remedy="wrap the solver in PairwiseVoting, OneAgainstRest or DecisionDAG",
            )
        return 2.0 * codes - 1.0

    def __sklearn_tags__(self):
        """Tell scikit-learn that more than two classes are an error."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class AnyClassSolver(ClassSolver):
    """Base of solvers that tell two classes or more apart without binary machines.

    A decision is one number for two classes, above zero for the second, and else one for each class.
    """

    targets = ("binary", "multiclass")

    def predict(self, K):
        """Return the predicted class of each row of `K`, shape (m,)."""
        decisions = self.decision_function(K)
        return self.classes_[(decisions > 0).astype(np.int64) if decisions.ndim == 1 else decisions.argmax(axis=1)]


class RealSolver(RegressorProtocol, Solver):
    """Base of solvers that predict a real number; the decision is the prediction."""

    targets = ("real",)

    def predict(self, K):
        """Return the predicted value of each row of `K`, float64 (m,)."""
        return self.decision_function(K)

    def _coded(self, y):
        """Return the labels as float64."""
        try:
            return y.astype(np.float64)
        except ValueError as error:
            raise LabelError(f"labels are not numbers: {error}") from error
