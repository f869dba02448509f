"""Class weights and orders by name; solvers see codes only."""

from collections.abc import Mapping
from typing import Any, TypeVar

from seqkern.core.errors import ParameterError
from seqkern.core.parametrized import Parameters

Some = TypeVar("Some", bound=Parameters)


def by_code(solver: Some, codes: Mapping[str, float]) -> Some:
    """Return a solver with class weights and orders translated from names to codes.

    Parameters
    ----------
    solver : Solver
        Not changed; solvers in its parameters are translated too.
    codes : dict of str to float or int
        Code of each class name. Codes are accepted too, unless they are class names.

    Returns
    -------
    Solver
        Itself if no parameter names a class.

    Raises
    ------
    ParameterError
        For an unknown class.

    Examples
    --------
    >>> from seqkern.solvers import CSVC
    >>> from seqkern.solvers.class_names import by_code
    >>> by_code(CSVC(class_weight={"decoy": 1.0, "donor": 5.0}), {"decoy": -1.0, "donor": 1.0})
    CSVC(class_weight={-1.0: 1.0, 1.0: 5.0})
    """
    params = solver.get_params(deep=False)
    changed = {name: _changed(name, value, codes) for name, value in params.items()}
    if all(changed[name] is value for name, value in params.items()):
        return solver
    return type(solver)(**changed)


def _changed(name: str, value: Any, codes: Mapping[str, float]) -> Any:
    """Return the value of a parameter, itself where no weight is in it."""
    if name == "class_weight" and isinstance(value, dict):
        return {_code(name, key, codes): weight for key, weight in value.items()}
    if name == "order" and isinstance(value, (list, tuple)):
        return [_code(name, key, codes) for key in value]
    if isinstance(value, Parameters):
        return by_code(value, codes)
    if isinstance(value, list):
        items = [_changed("", item, codes) for item in value]
        return value if all(one is other for one, other in zip(items, value, strict=True)) else items
    return value


def _code(name: str, key: Any, codes: Mapping[str, float]) -> float:
    """Return the code that a key of the parameter `name` means."""
    if str(key) in codes:
        return codes[str(key)]
    try:
        if float(key) in codes.values():
            return float(key)
    except (TypeError, ValueError):
        pass
    raise ParameterError(
        f"{name} names {key!r}, which is not a class",
        remedy=f"classes are: {', '.join(codes)}" + ("; or give balanced" if name == "class_weight" else ""),
    )
