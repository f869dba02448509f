"""scikit-learn's metadata routing for solvers."""

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRequest


class MetadataRouting:
    """Mixin of solvers: `fit` takes groups, and `score`, where there is one, weights of samples.

    Examples
    --------
    Groups for a solver inside a pipeline or a search:

    >>> import sklearn
    >>> from seqkern.solvers import CSVC
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     solver = CSVC().set_fit_request(groups=True)
    >>> solver.get_metadata_routing()
    {'fit': {'groups': True}, 'score': {'sample_weight': None}}
    """

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
        """Set whether a meta-estimator passes groups to `fit`.

        Parameters
        ----------
        groups : bool, str or None
            Whether it does, or the name of the argument; None makes passing groups an error.

        Returns
        -------
        self

        Raises
        ------
        RuntimeError
            If scikit-learn's metadata routing is off.
        """
        return self._request("fit", "groups", groups)

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Set whether a meta-estimator passes sample weights to `score`.

        Parameters
        ----------
        sample_weight : bool, str or None
            As `groups` of `set_fit_request`.

        Returns
        -------
        self

        Raises
        ------
        RuntimeError
            If scikit-learn's metadata routing is off.
        """
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
