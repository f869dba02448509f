"""Solvers and grids from a configuration or the command line, and solvers from a model file."""

import contextlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.declarations import Parameter
from seqkern.core.declared_numbers import Number
from seqkern.core.errors import ModelError, ParameterError, unknown_name
from seqkern.core.kinds import Kind, add_kind
from seqkern.core.specs import normal_values, parse_spec, plain
from seqkern.solvers.class_names import by_code
from seqkern.solvers.ranges import Range, as_range
from seqkern.solvers.solver_table import SOLVERS

if TYPE_CHECKING:
    from seqkern.solvers.contract import Solver

Spec = Mapping[str, Any] | str
"""A solver in a configuration or on the command line; a list gives values to choose from."""

TAKES = {
    "gram": "a Gram matrix",
    "features": "the features of a kernel",
    "implicit": "feature vectors that are never stored",
}
"""Names of solver inputs in messages."""


def build_solver(spec: "Spec | Solver") -> "Solver":
    """Return a new solver.

    Parameters
    ----------
    spec : dict, str or Solver
        ``{"solver": "csvc", "C": 1}``; its text form, ``csvc:C=1`` or JSON; or a solver, returned as it is.

    Returns
    -------
    Solver

    Raises
    ------
    ParameterError
        For an unknown solver or parameter (with the nearest known one), a value outside its domain, or a
        grid.

    Examples
    --------
    >>> from seqkern.solvers import build_solver
    >>> build_solver("csvc:C=10,class_weight=balanced")
    CSVC(C=10, class_weight='balanced')
    >>> build_solver({"solver": "pairwise_voting", "binary": {"solver": "psvc", "epsilon": 0.3}})
    PairwiseVoting(binary=PSVC(epsilon=0.3))
    """
    if isinstance(spec, SOLVERS.base_class):
        return spec
    name, params = _split_spec(spec)
    declared = SOLVERS.get(name).declarations()
    for key, value in params.items():
        item = declared.get(key, Parameter())
        if isinstance(value, Range):
            raise _range_in_grid(name, key, value)
        if isinstance(value, (list, tuple)) and not item.list_parameter:
            raise ParameterError(
                f"solver {name!r}: {key} is a list of values", remedy="give one value, or search the grid with --search"
            )
        params[key] = item.build(value)
    solver = SOLVERS.build(name, **params)
    solver.check_parameters()
    return solver


def expand_grid(spec: Spec, *, search: bool = False, ends: bool = False) -> list[dict[str, Any]]:
    """Return the specs of a grid: every combination of the values that are lists.

    Parameters
    ----------
    spec : dict or str
        A spec in which a list stands for values to choose from, as ``psvc:C=1,epsilon=[0.1,0.3]`` in text.
    search : bool
        Whether omitted parameters take the solver's `default_grid`.
    ends : bool
        Whether a range of values (see ranges.py) stands for both its ends: so that what random search may draw can be
        checked. Else it is an error.

    Returns
    -------
    list of dict
        One spec for each combination, the last parameter of the constructor changing fastest, values in the order
        given. Each has been built once, so names and values are valid.

    Raises
    ------
    ParameterError
        As `build_solver`, and for an empty list.

    Examples
    --------
    >>> from seqkern.solvers import expand_grid
    >>> for spec in expand_grid("psvc:C=[1,10],epsilon=[0.1,0.3]"):
    ...     print(spec)
    {'solver': 'psvc', 'C': 1, 'epsilon': 0.1}
    {'solver': 'psvc', 'C': 1, 'epsilon': 0.3}
    {'solver': 'psvc', 'C': 10, 'epsilon': 0.1}
    {'solver': 'psvc', 'C': 10, 'epsilon': 0.3}
    """
    return [spec for spec, _ in build_grid(spec, search=search, ends=ends)]


def build_grid(spec: Spec, *, search: bool = False, ends: bool = False) -> list[tuple[dict[str, Any], "Solver"]]:
    """Return the specs of a grid, each with its solver.

    Parameters
    ----------
    spec, search, ends
        As in `expand_grid`.

    Returns
    -------
    list of (dict, Solver)
    """
    return [(plain(point), build_solver(point)) for point in _points(spec, search, ends)]


def _points(spec: Spec, search: bool, ends: bool) -> list[dict[str, Any]]:
    """Return the specs of a grid, none of them built."""
    name, params = _searched(spec, search)
    choices = [_choices(name, key, value, search, ends) for key, value in params.items()]
    return [{"solver": name, **dict(zip(params, values, strict=True))} for values in itertools.product(*choices)]


def draw_spec(spec: Spec, rng: np.random.Generator, *, search: bool = False) -> dict[str, Any]:
    """Return one random spec: a value of each list, and a number within each range.

    Parameters
    ----------
    spec : dict or str
        As in `expand_grid`, and with ranges, as ``csvc:C=0.01..100``.
    rng : numpy.random.Generator
        What draws.
    search : bool
        As in `expand_grid`.

    Returns
    -------
    dict

    Raises
    ------
    ParameterError
        As `expand_grid`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import draw_spec
    >>> draw_spec("csvc:C=0.01..100,class_weight=balanced", np.random.default_rng(1))
    {'solver': 'csvc', 'C': 1.11503, 'class_weight': 'balanced'}
    """
    name, params = _searched(spec, search)
    drawn: dict[str, Any] = {"solver": name}
    for key, value in params.items():
        if isinstance(value, Range):
            drawn[key] = value.draw(rng)
        elif _is_grid_of_solvers(name, key, value):
            drawn[key] = draw_spec(value, rng, search=search)
        else:
            choices = _choices(name, key, value, search, False)
            drawn[key] = choices[rng.integers(len(choices))]
    build_solver(drawn)
    return plain(drawn)


def has_range(spec: Spec) -> bool:
    """Return whether a spec holds a range of values, which only random search can use.

    Parameters
    ----------
    spec : dict or str
        As in `draw_spec`; the solvers within it are looked at too.

    Returns
    -------
    bool

    Examples
    --------
    >>> from seqkern.solvers import has_range
    >>> has_range("csvc:C=0.01..100"), has_range("csvc:C=[0.1,1]")
    (True, False)
    """
    _, params = _split_spec(spec)
    return any(
        isinstance(value, Range) or (isinstance(value, dict) and "solver" in value and has_range(value))
        for value in params.values()
    )


def spec_text(spec: dict[str, Any]) -> str:
    """Return a specification as text that parses to the same one; as JSON if necessary.

    Parameters
    ----------
    spec : dict
        With a name: that of a solver, or of a selector.

    Returns
    -------
    str

    Examples
    --------
    >>> from seqkern.solvers.solver_specs import spec_text
    >>> spec_text({"solver": "one_against_rest", "binary": {"solver": "csvc", "C": 10}})
    'one_against_rest:binary=(csvc:C=10)'
    """
    key = next(iter(spec), None)
    if key in ("solver", "selector"):
        with contextlib.suppress(ParameterError, StopIteration):
            text = _named_text(spec)
            if parse_spec(text, key) == spec:
                return text
    return json.dumps(spec, ensure_ascii=False)


def value_text(value: Any) -> Any:
    """Return the value of a parameter as it stands in `spec_text`, without parentheses around a specification.

    Parameters
    ----------
    value : object
        Of a spec.

    Returns
    -------
    object
        The text of a specification or a list; anything else as it is.

    Examples
    --------
    >>> from seqkern.solvers.solver_specs import value_text
    >>> value_text({"solver": "csvc", "C": 10}), value_text([0.1, None]), value_text(3)
    ('csvc:C=10', '[0.1,none]', 3)
    """
    if isinstance(value, dict):
        return spec_text(value)
    return _value_text(value) if isinstance(value, (list, tuple)) else value


def _named_text(spec: Mapping[str, Any]) -> str:
    """Return the text form of a dict that begins with its name."""
    name, *params = spec.items()
    text = ",".join(f"{key}={_value_text(value)}" for key, value in params)
    return f"{name[1]}:{text}" if text else str(name[1])


def _value_text(value: Any) -> str:
    """Return the text form of a parameter's value."""
    if isinstance(value, dict):
        return f"({_named_text(value)})"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_value_text, value))}]"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def make_solver(spec: "Spec | Solver", kind: str, classes: Sequence[str] = ()) -> "Solver":
    """Return a new solver for labels of one kind: a binary solver learns several classes by pairwise voting.

    Parameters
    ----------
    spec : dict, str or Solver
        As in `build_solver`.
    kind : {"binary", "multiclass", "real"}
        Of the labels.
    classes : sequence of str, optional
        The names of the classes, as those of `Labels`, for weights of classes: the solver is to see −1 and 1, or 0,
        1, 2, ….

    Returns
    -------
    Solver

    Raises
    ------
    ParameterError
        As `build_solver`, if the solver cannot learn such labels, and for a weight of an unknown class.

    Examples
    --------
    >>> from seqkern.solvers import make_solver
    >>> make_solver("csvc:C=10", "multiclass")
    PairwiseVoting(binary=CSVC(C=10))
    >>> make_solver({"solver": "csvc", "class_weight": {"donor": 5}}, "binary", classes=("decoy", "donor"))
    CSVC(class_weight={1.0: 5})
    """
    solver = build_solver(spec)
    if classes:
        codes: Iterable[float] = (-1.0, 1.0) if kind == "binary" else range(len(classes))
        solver = by_code(solver, dict(zip(classes, codes, strict=True)))
    if kind in solver.targets:
        return solver
    if kind == "multiclass" and "binary" in solver.targets:
        if not solver.accepts_pairs:
            raise ParameterError(
                f"solver {solver.name!r} learns two classes only",
                remedy="name the positive class, or choose another solver, such as csvc",
            )
        return SOLVERS.build("pairwise_voting", binary=solver)
    if set(solver.targets) == {"none"}:
        raise ParameterError(
            f"solver {solver.name!r} is unsupervised",
            remedy="run seqkern train with one file and without --labels, or choose another solver",
        )
    able = [name for name, cls in SOLVERS.classes.items() if kind in cls.targets]
    raise ParameterError(
        f"solver {solver.name!r} does not learn {kind} labels", remedy=f"choose from: {', '.join(able)}"
    )


def common_input(specs: Iterable["Spec | Solver"]) -> str:
    """Return the common input of all solvers of a grid, ``"gram"``, ``"features"`` or ``"implicit"``.

    Parameters
    ----------
    specs : iterable of dict, str or Solver
        One or more, none of them a grid.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If not all take the same.

    Examples
    --------
    >>> from seqkern.solvers import common_input
    >>> common_input(["csvc:C=1", "psvc:epsilon=0.3"]), common_input(["linear_svc"])
    ('gram', 'implicit')
    """
    solvers = [build_solver(spec) for spec in specs]
    for solver in solvers:
        if solver.input != solvers[0].input:
            raise ParameterError(
                f"solver {solvers[0].name!r} takes {TAKES[solvers[0].input]}, "
                f"{solver.name!r} takes {TAKES[solver.input]}",
                remedy="choose solvers that take the same input",
            )
    return solvers[0].input


def solver_from_state(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> "Solver":
    """Return the fitted solver whose `state` this is.

    Parameters
    ----------
    header : mapping
        Its JSON dict.
    arrays : mapping of str to ndarray
        Its arrays.

    Returns
    -------
    Solver

    Raises
    ------
    ModelError
        If it is not the state of a known solver.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import LSSVC, solver_from_state
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
    >>> solver = LSSVC(C=10.0).fit(K, ["globin", "globin", "other"])
    >>> again = solver_from_state(*solver.state())
    >>> again, again.predict(K[:1]).tolist()
    (LSSVC(C=10.0), ['globin'])
    """
    try:
        solver = build_solver(header["spec"])
        solver.restore(header, arrays)
    except (KeyError, TypeError, ParameterError) as error:
        reason = "" if "<class" in str(error) else f": {error}"  # NumPy names its own types
        raise ModelError(
            f"not the state of a solver{reason}", remedy="the model file is corrupted; train the model again"
        ) from error
    return solver


def _split_spec(spec: Any) -> tuple[str, dict[str, Any]]:
    """Return a spec's solver name and a dict of its parameters."""
    spec = parse_spec(spec, "solver") if isinstance(spec, str) else spec
    if not isinstance(spec, Mapping) or not isinstance(spec.get("solver"), str):
        raise ParameterError(f"{spec!r} does not name a solver", remedy="write it as {solver: csvc, C: 1} or csvc:C=1")
    name = spec["solver"]
    cls = SOLVERS.get(name)
    values = normal_values(cls, {key: value for key, value in spec.items() if key != "solver"}, grid=True)
    declared = cls.declarations()
    return name, {key: _ranged(value, declared.get(key)) for key, value in values.items()}


def _ranged(value: Any, item: Parameter | None) -> Any:
    """Return the value of a parameter with texts that are ranges of numbers made some."""
    if not isinstance(item, Number | None):
        return value
    if isinstance(value, list):
        return [_ranged(one, item) for one in value]
    return (as_range(value) or value) if isinstance(value, str) else value


def _searched(spec: Spec, search: bool) -> tuple[str, dict[str, Any]]:
    """Return a spec's solver name and its parameters in the order of the constructor, default grids among them."""
    name, params = _split_spec(spec)
    cls = SOLVERS.get(name)
    if search:
        params = {**cls.default_grid(), **params}
    known = cls.parameter_names()
    for key in params:
        if key not in known:
            raise unknown_name(f"parameter of solver {name!r}", key, known)
    return name, {key: params[key] for key in known if key in params}


def _range_in_grid(name: str, key: str, value: Range) -> ParameterError:
    """Return the error for a range where single values are needed."""
    return ParameterError(
        f"solver {name!r}: {key} is a range of values, {value}",
        remedy="search at random (search: random, or --draws N), or give values as a list",
    )


def _choices(name: str, key: str, value: Any, search: bool, ends: bool) -> list[Any]:
    """Return the values one parameter takes in a grid."""
    if _is_one_value(name, key):
        return [value]
    if isinstance(value, dict) and "solver" in value:
        return [plain(point) for point in _points(value, search, ends)]
    if isinstance(value, Range):
        if ends:
            return value.ends
        raise _range_in_grid(name, key, value)
    if not isinstance(value, (list, tuple)):
        return [value]
    if not value:
        raise ParameterError(f"solver {name!r}: {key} has no values", remedy="list one or more")
    several = [_choices(name, key, item, search, ends) if isinstance(item, dict) else [item] for item in value]
    return [choice for choices in several for choice in choices]


def _is_one_value(name: str, key: str) -> bool:
    """Return whether the value of a parameter is not a grid, whatever it is."""
    return key in SOLVERS.get(name).list_parameters()


def _is_grid_of_solvers(name: str, key: str, value: Any) -> bool:
    """Return whether a value of a parameter is a spec of a solver whose values are to be drawn, too."""
    return isinstance(value, dict) and "solver" in value and not _is_one_value(name, key)


add_kind(
    Kind(
        "solver",
        "Solver",
        build=build_solver,
        example="csvc:C=1",
        registry=SOLVERS,
        grid=True,
        parse=partial(parse_spec, key="solver"),
        expand=expand_grid,
    )
)
