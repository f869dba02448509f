"""scikit-learn's estimator protocol without importing scikit-learn, which takes a second.

`clone`, `Pipeline`, `GridSearchCV` and `cross_val_score` need parameters, tags, `score` and the fitted state, but no
base class. Tags and scores are built on demand, when scikit-learn is already imported.
"""

import copy
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy.typing as npt

from seqkern.core.parametrized import Parameters
from seqkern.solvers.metadata_routing import MetadataRouting

if TYPE_CHECKING:
    from sklearn.utils import Tags

Some = TypeVar("Some", bound=Parameters)


class Estimator(MetadataRouting, Parameters):
    """Base of solvers; an attribute that ends with an underscore is set by `fit`.

    Examples
    --------
    scikit-learn accepts them:

    >>> from sklearn.model_selection import GridSearchCV
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC
    >>> K = SpectrumKernel(k=2)(["ACGTACGT", "ACGACG", "ACGTA", "GGTTGGTT", "TTGGTT", "GGTTG"])
    >>> search = GridSearchCV(CSVC(), {"C": [0.1, 1.0]}, cv=3).fit(K, [1, 1, 1, 0, 0, 0])
    >>> float(search.best_score_)
    1.0
    """

    def __sklearn_tags__(self) -> "Tags":
        """Return the tags of an estimator that is neither classifier nor regressor, for scikit-learn."""
        from sklearn.utils import Tags, TargetTags  # imported here: scikit-learn slows start-up

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` was called."""
        return any(name.endswith("_") and not name.startswith("__") for name in vars(self))

    if TYPE_CHECKING:

        def set_params(self, **params: Any) -> Self:  # noqa: D102 - documented in Parameters, with a more general type
            ...

    def _repr_html_(self) -> str:
        """Return the notebook representation."""
        from sklearn.utils import estimator_html_repr  # imported here: scikit-learn slows start-up

        return estimator_html_repr(self)


class ClassifierProtocol(Estimator):
    """Mixin of estimators that predict classes, as scikit-learn's ClassifierMixin.

    Examples
    --------
    >>> from sklearn.base import is_classifier
    >>> from seqkern.solvers import CSVC
    >>> solver = CSVC().fit([[2.0, 0.0], [0.0, 2.0]], ["alpha", "beta"])
    >>> is_classifier(solver), solver.score([[1.0, 0.0], [0.0, 1.0]], ["alpha", "alpha"])
    (True, 0.5)
    """

    _estimator_type = "classifier"

    def __sklearn_tags__(self) -> "Tags":
        """Return the tags of a classifier, for scikit-learn."""
        from sklearn.utils import ClassifierTags  # imported here: scikit-learn slows start-up

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        return tags

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the predicted class of each row.

        Parameters
        ----------
        X : array_like, n rows
            New samples, in the form that `fit` takes.

        Returns
        -------
        ndarray, shape (n,)
        """
        raise NotImplementedError

    def score(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the accuracy.

        Parameters
        ----------
        X : array_like, n rows
            As in `predict`.
        y : array_like, shape (n,)
            The true classes.
        sample_weight : array_like of float, shape (n,), optional
            Weight of each sample; by default 1.

        Returns
        -------
        float
            From 0 to 1.
        """
        from sklearn.metrics import accuracy_score  # imported here: scikit-learn slows start-up

        return accuracy_score(y, self.predict(X), sample_weight=sample_weight)


class RegressorProtocol(Estimator):
    """Mixin of estimators that predict real numbers, as scikit-learn's RegressorMixin.

    Examples
    --------
    >>> from seqkern.solvers import LSSVR
    >>> K = [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]
    >>> solver = LSSVR(C=1e6).fit(K, [0.0, 1.0, 3.0])
    >>> round(solver.score(K, [0.0, 1.0, 3.0]), 3)
    1.0
    """

    _estimator_type = "regressor"

    def __sklearn_tags__(self) -> "Tags":
        """Return the tags of a regressor, for scikit-learn."""
        from sklearn.utils import RegressorTags  # imported here: scikit-learn slows start-up

        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        tags.target_tags.required = True
        return tags

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the predicted value of each row.

        Parameters
        ----------
        X : array_like, n rows
            New samples, in the form that `fit` takes.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        raise NotImplementedError

    def score(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the coefficient of determination, R².

        Parameters
        ----------
        X : array_like, n rows
            As in `predict`.
        y : array_like of float, shape (n,)
            The true values.
        sample_weight : array_like of float, shape (n,), optional
            Weight of each sample; by default 1.

        Returns
        -------
        float
            At most 1.
        """
        from sklearn.metrics import r2_score  # imported here: scikit-learn slows start-up

        return r2_score(y, self.predict(X), sample_weight=sample_weight)


def clone(estimator: Some) -> Some:
    """Return a new estimator with the same parameters, not fitted, as `sklearn.base.clone` does.

    Parameters
    ----------
    estimator : object with `get_params`
        A solver, selector, scaler or kernel, fitted or not.

    Returns
    -------
    object of the same class

    Examples
    --------
    >>> from seqkern.solvers import CSVC
    >>> from seqkern.solvers.estimator import clone
    >>> fitted = CSVC(C=10.0).fit([[1.0, 0.0], [0.0, 1.0]], [-1, 1])
    >>> clone(fitted), hasattr(clone(fitted), "support_")
    (CSVC(C=10.0), False)
    """
    return type(estimator)(**{name: _copied(value) for name, value in estimator.get_params(deep=False).items()})


def check_is_fitted(estimator: Estimator) -> None:
    """Raise scikit-learn's NotFittedError unless `fit` was called.

    Parameters
    ----------
    estimator : Estimator
        The estimator, for the message.

    Raises
    ------
    sklearn.exceptions.NotFittedError
    """
    if not estimator.__sklearn_is_fitted__():
        from sklearn.exceptions import NotFittedError  # imported here: scikit-learn slows start-up

        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. "
            "Call 'fit' with appropriate arguments before using this estimator."
        )


def _copied(value: Any) -> Any:
    """Return a copy of a parameter's value, the estimators in it not fitted."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(map(_copied, value))
    if hasattr(value, "get_params") and not isinstance(value, type):
        return clone(value)
    return copy.deepcopy(value)
