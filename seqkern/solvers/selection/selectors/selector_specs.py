"""Selectors and scalers from a config or the command line."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from seqkern.core.errors import ParameterError, unknown_name
from seqkern.core.kinds import Kind, add_kind
from seqkern.core.specs import build_named, built_values, parse_spec
from seqkern.solvers.selection.selectors.selector_table import SELECTORS

if TYPE_CHECKING:
    # they import scikit-learn
    from seqkern.solvers.selection.selectors.scaling import ExpressionScaler
    from seqkern.solvers.selection.selectors.selector import Selector


def build_selector(spec: Any) -> "Selector":
    """Return a new selector.

    Parameters
    ----------
    spec : dict, str or Selector
        ``{"selector": "golub", "n_features": 20}``; its text form, ``golub:n_features=20`` or JSON; or a selector,
        returned as it is. A solver or a scaler among the parameters is a spec, too.

    Returns
    -------
    Selector
        Not fitted.

    Raises
    ------
    ParameterError
        For an unknown selector or parameter (with the nearest known one) or a value outside its domain.

    Examples
    --------
    >>> from seqkern.solvers.selection.selectors.selector_specs import build_selector
    >>> build_selector("golub:n_features=20")
    GolubSelector(n_features=20)
    >>> build_selector({"selector": "psvm", "ranking": "leave_one_out"}).n_features
    20
    """
    if isinstance(spec, SELECTORS.base_class):
        return cast("Selector", spec)
    spec = parse_spec(spec, "selector") if isinstance(spec, str) else spec
    if not isinstance(spec, Mapping) or not isinstance(spec.get("selector"), str):
        raise ParameterError(
            f"{spec!r} does not name a selector",
            remedy="write it as {selector: golub, n_features: 20} or golub:n_features=20",
        )
    params = {key: value for key, value in spec.items() if key != "selector"}
    return build_named("selector", spec["selector"], params)


def build_scaler(spec: Any) -> "ExpressionScaler | None":
    """Return an `ExpressionScaler`, or None.

    Parameters
    ----------
    spec : dict, str, ExpressionScaler or None
        Its parameters, ``{"normalize": "log", "floor": 20}``; the value of `normalize` alone; a scaler, returned as
        it is; or None.

    Returns
    -------
    ExpressionScaler or None
        Not fitted.

    Raises
    ------
    ParameterError
        For an unknown parameter (with the nearest known one) or a value outside its domain.

    Examples
    --------
    >>> from seqkern.solvers.selection.selectors.selector_specs import build_scaler
    >>> build_scaler({"normalize": "log", "floor": 20})
    ExpressionScaler(normalize='log', floor=20)
    >>> build_scaler("quantile").normalize
    'quantile'
    """
    # imported here: it imports scikit-learn
    from seqkern.solvers.selection.selectors.scaling import ExpressionScaler

    if spec is None or isinstance(spec, ExpressionScaler):
        return spec
    spec = {"normalize": spec} if isinstance(spec, str) else spec
    if not isinstance(spec, Mapping):
        raise ParameterError(f"scaler={spec!r} is not possible", remedy="write it as {normalize: log, floor: 20}")
    for key in spec:
        if key not in ExpressionScaler.parameter_names():
            raise unknown_name("parameter of the scaler", key, ExpressionScaler.parameter_names())
    scaler = ExpressionScaler(**built_values(ExpressionScaler, spec))
    scaler.check_parameters()
    return scaler


add_kind(
    Kind(
        "selector",
        "Selector",
        build=build_selector,
        example="golub:n_features=20",
        registry=SELECTORS,
        parse=partial(parse_spec, key="selector"),
    )
)
add_kind(Kind("scaler", "ExpressionScaler", build=build_scaler, example="log"))
