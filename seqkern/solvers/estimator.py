"""scikit-learn's estimator protocol without importing scikit-learn, which takes a second.

`clone`, `Pipeline`, `GridSearchCV` and `cross_val_score` need parameters, tags, `score` and the fitted state, but no
base class. Tags and scores are built on demand, when scikit-learn is already imported.
"""

import copy
from typing import TYPE_CHECKING, Any, Self, TypeVar

from seqkern.core.parameters import Parameters

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from sklearn.utils.metadata_routing import MetadataRequest


Some = TypeVar("Some", bound=Parameters)


class Estimator(Parameters):
    """Base of solvers; `fit` sets the attributes that end with an underscore."""

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags for an estimator that is neither classifier nor regressor."""
        from sklearn.utils import Tags, TargetTags  # imported here: scikit-learn slows start-up

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` was called."""
        return any(name.endswith("_") and not name.startswith("__") for name in vars(self))

    # metadata routing: groups for `fit`, sample weights for `score` where it exists

    def get_metadata_routing(self) -> "MetadataRequest":
        """Return the requests made by `set_fit_request` and `set_score_request`."""
        # imported here: scikit-learn, the caller, has loaded it already
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if hasattr(self, "_metadata_request"):
            return get_routing_for_object(self._metadata_request)
        request = MetadataRequest(owner=self)
        request.fit.add_request(param="groups", alias=None)
        if hasattr(self, "score"):
            request.score.add_request(param="sample_weight", alias=None)
        return request

    def set_fit_request(self, *, groups: bool | str | None) -> Self:
        """Set whether a meta-estimator passes groups to `fit`; None makes passing them an error."""
        return self._request("fit", "groups", groups)

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Set whether a meta-estimator passes sample weights to `score`."""
        return self._request("score", "sample_weight", sample_weight)

    def _request(self, method: str, name: str, wanted: Any) -> Self:
        """Keep one request under the name that `sklearn.base.clone` copies, and return self."""
        from sklearn import get_config  # imported here: slows start-up

        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError("metadata routing is off; call sklearn.set_config(enable_metadata_routing=True) before")
        request = self.get_metadata_routing()
        getattr(request, method).add_request(param=name, alias=wanted)
        self._metadata_request = request
        return self

    if TYPE_CHECKING:

        def set_params(self, **params: Any) -> Self:  # documented in Parameters, with a more general type
            ...

    def _repr_html_(self) -> str:
        """Return the HTML representation for notebooks."""
        from sklearn.utils import estimator_html_repr  # imported here: scikit-learn slows start-up

        return estimator_html_repr(self)


def clone(estimator: Some) -> Some:
    """Return a new, unfitted estimator with the same parameters, like `sklearn.base.clone`.

    >>> from seqkern.solvers import CSVC
    >>> from seqkern.solvers.estimator import clone
    >>> fitted = CSVC(C=10.0).fit([[1.0, 0.0], [0.0, 1.0]], [-1, 1])
    >>> clone(fitted), hasattr(clone(fitted), "support_")
    (CSVC(C=10.0), False)
    """
    return type(estimator)(**{name: _copied(value) for name, value in estimator.get_params(deep=False).items()})


def check_is_fitted(estimator: Estimator) -> None:
    """Raise scikit-learn's NotFittedError unless `fit` was called."""
    if not estimator.__sklearn_is_fitted__():
        from sklearn.exceptions import NotFittedError  # imported here: scikit-learn slows start-up

        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. "
            "Call 'fit' with appropriate arguments before using this estimator."
        )


def _copied(value: Any) -> Any:
    """Return a copy of a parameter's value, in which all estimators are unfitted."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(map(_copied, value))
    if hasattr(value, "get_params") and not isinstance(value, type):
        return clone(value)
    return copy.deepcopy(value)
