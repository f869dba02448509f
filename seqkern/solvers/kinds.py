"""Solver bases by label kind: classes, two classes, real numbers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError
from seqkern.core.types import Arrays, Header
from seqkern.solvers.contract import Solver
from seqkern.solvers.estimator import ClassifierProtocol, RegressorProtocol
from seqkern.solvers.finite import check_targets

if TYPE_CHECKING:
    from sklearn.utils import Tags


MANY = 0.4
"""Classes per sample above which scikit-learn decides whether labels are classes."""


def _are_classes(y: npt.NDArray[Any]) -> bool:
    """Return whether labels are certainly classes: text, integers, or integral reals."""
    return y.dtype.kind in "biuU" or (y.dtype.kind == "f" and bool(np.all(y == np.floor(y))))


def _check_classes(y: npt.NDArray[Any]) -> None:
    """Raise LabelError for labels that scikit-learn does not recognise as classes."""
    from sklearn.utils.multiclass import check_classification_targets  # imported here: it slows start-up

    try:
        check_classification_targets(y)
    except ValueError as error:
        raise LabelError(str(error)) from error


class ClassSolver(ClassifierProtocol, Solver):
    """Base of classifiers.

    Attributes
    ----------
    classes_ : ndarray, shape (c,)
        After `fit`: the classes, sorted.

    Examples
    --------
    Labels may be of any type:

    >>> from seqkern.solvers import CSVC
    >>> solver = CSVC().fit([[2.0, 0.0], [0.0, 2.0]], ["membrane", "globular"])
    >>> solver.classes_.tolist(), solver.predict([[1.0, 0.0]]).tolist()
    (['globular', 'membrane'], ['membrane'])
    """

    def predict(self, K: Any) -> npt.NDArray[Any]:
        """Return the predicted class of each row.

        Parameters
        ----------
        K : array_like of float64, shape (m, n)
            As `decision_function` takes it.

        Returns
        -------
        ndarray, shape (m,)
            Members of `classes_`.
        """
        decisions = self.decision_function(K)
        return self.classes_[(decisions > 0).astype(np.int64) if decisions.ndim == 1 else decisions.argmax(axis=1)]

    def _coded(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Set `classes_` and return the index of each label."""
        certain = _are_classes(y)
        if not certain:
            _check_classes(y)
        classes, codes = np.unique(y, return_inverse=True)
        if certain and len(classes) > MANY * len(y):
            _check_classes(y)  # warns that labels may be numbers
        self.classes_: npt.NDArray[Any] = classes
        if len(self.classes_) < 2:
            raise LabelError(
                f"all {len(y)} training labels are of one class, {self.classes_[0]!s}",
                remedy="a classifier needs samples of two classes",
            )
        return codes

    def state(self) -> tuple[Header, Arrays]:
        """Return the state, with the classes."""
        header, arrays = super().state()
        classes = self.classes_.astype(str) if self.classes_.dtype == object else self.classes_
        return header, {"classes": classes, **arrays}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `state` returned.

        Parameters
        ----------
        header : mapping
            Its JSON dict.
        arrays : mapping of str to ndarray
            Its arrays.
        """
        super().restore(header, arrays)
        self.classes_ = arrays["classes"]


class BinarySolver(ClassSolver):
    """Base of binary solvers; a decision above zero means ``classes_[1]``.

    Examples
    --------
    >>> from seqkern.solvers import CSVC
    >>> solver = CSVC().fit([[2.0, 0.0], [0.0, 2.0]], [0, 1])
    >>> solver.decision_function([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [-0.5, 0.5]
    >>> solver.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [0, 1]
    """

    targets: ClassVar[tuple[str, ...]] = ("binary",)

    def _coded(self, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the labels as −1.0 and 1.0."""
        codes = super()._coded(y)
        if len(self.classes_) > 2:
            from sklearn.utils.multiclass import type_of_target  # imported here: only a message needs it

            raise LabelError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}.",
                remedy="wrap the solver in PairwiseVoting, OneAgainstRest or DecisionDAG",
            )
        return 2.0 * codes - 1.0

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags: binary only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class AnyClassSolver(ClassSolver):
    """Base of solvers for two or more classes without binary classifiers.

    A decision is one number for two classes, above zero for the second, otherwise one for each class.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import PrimalSVC
    >>> composition = np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]])
    >>> solver = PrimalSVC(C=100.0).fit(composition, ["alpha", "beta", "coil"])
    >>> solver.decision_function(composition).shape, solver.predict(composition[::-1]).tolist()
    ((3, 3), ['coil', 'beta', 'alpha'])
    """

    targets: ClassVar[tuple[str, ...]] = ("binary", "multiclass")


class RealSolver(RegressorProtocol, Solver):
    """Base of regression solvers; the decision is the prediction.

    Examples
    --------
    >>> from seqkern.solvers import LSSVR
    >>> solver = LSSVR(C=1e6).fit([[1.0, 0.0], [0.0, 1.0]], [1.5, -0.5])
    >>> solver.predict([[1.0, 0.0], [0.5, 0.5]]).round(3).tolist()
    [1.5, 0.5]
    """

    targets: ClassVar[tuple[str, ...]] = ("real",)

    def predict(self, K: Any) -> npt.NDArray[np.float64]:
        """Return the predicted value of each row of `K`, float64 (m,)."""
        return self.decision_function(K)

    def _coded(self, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the labels as float64."""
        try:
            numbers = y.astype(np.float64)
        except ValueError as error:
            raise LabelError(f"labels are not numbers: {error}") from error
        check_targets(numbers)
        return numbers
