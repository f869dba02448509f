"""What a search may vary beyond the values it starts from: the parameters of a solver that the user left open.

A list of values given by the user stays as it is. A parameter that the user omitted takes the solver's default grid,
which is coarse, and may then be refined within the limits that the solver declares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqkern.core.declared_numbers import Number
from seqkern.core.specs import normal_values, parse_spec
from seqkern.solvers.solver_table import SOLVERS


@dataclass(frozen=True)
class Limits:
    """The interval within which a search refines one parameter.

    Attributes
    ----------
    path : tuple of str
        The name of the parameter; of a nested solver, after that of the parameter that holds it.
    low, high : float
        Both are above zero.

    Examples
    --------
    >>> limits = Limits(("binary", "C"), 0.001, 1000.0)
    >>> limits.value({"solver": "one_against_rest", "binary": {"solver": "csvc", "C": 3.0}})
    3.0
    >>> limits.with_value({"solver": "one_against_rest", "binary": {"solver": "csvc", "C": 3.0}}, 10.0)
    {'solver': 'one_against_rest', 'binary': {'solver': 'csvc', 'C': 10.0}}
    """

    path: tuple[str, ...]
    low: float
    high: float

    def value(self, spec: Mapping[str, Any]) -> Any:
        """Return the value of the parameter in a spec; None if it has none.

        Parameters
        ----------
        spec : mapping
            Of a solver.

        Returns
        -------
        object
        """
        found: Any = spec
        for name in self.path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found

    def with_value(self, spec: Mapping[str, Any], value: float) -> dict[str, Any]:
        """Return the spec with another value of the parameter.

        Parameters
        ----------
        spec : mapping
            Of a solver; it is not changed.
        value : float
            The new value.

        Returns
        -------
        dict
        """
        return _replaced(spec, self.path, value)


@dataclass(frozen=True)
class Free:
    """What a search may vary beyond its candidates.

    Attributes
    ----------
    limits : tuple of Limits
        The parameters to refine.
    class_weight : bool
        Whether to use balanced class weights; for classes of unequal size none are tried too.

    Examples
    --------
    >>> Free.of("csvc").limits
    (Limits(path=('C',), low=0.0001, high=10000.0),)
    >>> Free.of("csvc").class_weight, Free.of("csvc:C=[1,2],class_weight=balanced").class_weight
    (True, False)
    """

    limits: tuple[Limits, ...] = ()
    class_weight: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any] | str) -> "Free":
        """Return what the user left open.

        Parameters
        ----------
        given : mapping or str
            The spec of a solver, as the user gave it.

        Returns
        -------
        Free
        """
        spec = parse_spec(given, "solver") if isinstance(given, str) else given
        solver = SOLVERS.get(spec["solver"])
        weights = "class_weight" in solver.parameter_names() and "class_weight" not in spec
        return cls(tuple(_limits(spec)), weights)


def ends_domain(spec: Mapping[str, Any], path: Sequence[str], value: float) -> bool:
    """Return whether a value is the smallest or the largest that its parameter allows.

    Parameters
    ----------
    spec : mapping
        Of a solver.
    path : sequence of str
        The parameter, as the `path` of Limits.
    value : float
        Its value.

    Returns
    -------
    bool
        False for parameters that are not numbers, or not of this solver.

    Examples
    --------
    >>> spec = {"solver": "relational_glvq", "n_prototypes": 1}
    >>> ends_domain(spec, ("n_prototypes",), 1), ends_domain(spec, ("n_prototypes",), 3)
    (True, False)
    """
    for name in path[:-1]:
        spec = spec.get(name, {})
    if spec.get("solver") not in SOLVERS.names:
        return False
    declared = SOLVERS.get(spec["solver"]).declarations().get(path[-1])
    return isinstance(declared, Number) and value in (declared.low, declared.high)


def _limits(spec: Mapping[str, Any]) -> list[Limits]:
    """Return the limits of the parameters that a spec omits, those of nested solvers after its own."""
    solver = SOLVERS.get(spec["solver"])
    spec = normal_values(solver, {name: value for name, value in spec.items() if name != "solver"}, grid=True)
    own = [Limits((name,), *ends) for name, ends in solver.search_limits().items() if name not in spec]
    for name in solver.nested_solvers():
        part = spec.get(name)
        if isinstance(part, Mapping) and "solver" in part:
            own += [Limits((name, *limits.path), limits.low, limits.high) for limits in _limits(part)]
    return own


def _replaced(spec: Mapping[str, Any], path: tuple[str, ...], value: float) -> dict[str, Any]:
    """Return a copy of nested mappings with one value replaced."""
    name, *inner = path
    return {**spec, name: _replaced(spec[name], tuple(inner), value) if inner else value}
