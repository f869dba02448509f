"""Selectors and scalers from a config or the command line."""

import numpy as np

from seqkern.core.errors import ParameterError, unknown_name
from seqkern.kernels.specs import parse_spec, parse_value
from seqkern.solvers.selection.selectors.selector_table import SELECTORS
from seqkern.solvers.specs import build_solver


def build_selector(spec):
    """Return a new selector.

    Parameters
    ----------
    spec : dict, str or Selector
        ``{"selector": "golub", "n_features": 20}``; its text form, ``golub:n_features=20`` or JSON; or a selector,
        returned as it is. A solver or a scaler among the parameters is a spec, too.

    Raises
    ------
    ParameterError
        For an unknown selector or parameter (with the nearest known one) or a value outside its domain.
    """
    from seqkern.solvers.selection.selectors.base import Selector

    if isinstance(spec, Selector):
        return spec
    spec = parse_spec(spec, "selector") if isinstance(spec, str) else spec
    if not isinstance(spec, dict) or not isinstance(spec.get("selector"), str):
        raise ParameterError(
            f"{spec!r} names no selector",
            remedy="write it like {selector: golub, n_features: 20} or golub:n_features=20",
        )
    params = {key: _build(key, value) for key, value in spec.items() if key != "selector"}
    selector = SELECTORS.build(spec["selector"], **params)
    selector.check_parameters()
    return selector


def build_scaler(spec):
    """Return an `ExpressionScaler`, or None.

    Parameters
    ----------
    spec : dict, str, ExpressionScaler or None
        Its parameters, ``{"normalize": "log", "floor": 20}``; the value of `normalize` alone; a scaler, returned as
        it is; or None.

    Raises
    ------
    ParameterError
        For an unknown parameter (with the nearest known one) or a value outside its domain.
    """
    from seqkern.solvers.selection.selectors.scaling import ExpressionScaler

    if spec is None or isinstance(spec, ExpressionScaler):
        return spec
    spec = {"normalize": spec} if isinstance(spec, str) else spec
    if not isinstance(spec, dict):
        raise ParameterError(f"scaler={spec!r} is not possible", remedy="write it like {normalize: log, floor: 20}")
    params = {key: _number(value) for key, value in spec.items()}
    for key in params:
        if key not in ExpressionScaler.parameter_names():
            raise unknown_name("parameter of the scaler", key, ExpressionScaler.parameter_names())
    scaler = ExpressionScaler(**params)
    scaler.check_parameters()
    return scaler


def _build(key, value):
    """Return a parameter's value with the specs in it built."""
    if key == "scaler":
        return build_scaler(value)
    if isinstance(value, dict) and "solver" in value:
        return build_solver(value)
    if isinstance(value, dict) and "selector" in value:
        return build_selector(value)
    return _number(value)


def _number(value):
    """Return a config's value with text that means a number ("inf" of JSON, "1e-3" of YAML) made one."""
    if not isinstance(value, str):
        return value
    return np.inf if value == "inf" else parse_value(value)
