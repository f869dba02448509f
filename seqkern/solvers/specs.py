"""Solvers from a config or the command line, grids of them, and solvers from a model file."""

import itertools

import numpy as np

from ..errors import ModelError, ParameterError, unknown_name
from ..kernels.specs import parse_spec, parse_value
from ..registry import Registry

SOLVERS = Registry("solver", "seqkern.solvers", "seqkern.solvers.base:Solver")


def build_solver(spec):
    """Return a new solver.

    Parameters
    ----------
    spec : dict, str or Solver
        ``{"solver": "csvc", "C": 1}``; its text form, ``csvc:C=1`` or JSON; or a solver, returned as it is.

    Raises
    ------
    ParameterError
        For an unknown solver or parameter (with the nearest known one), a value outside its domain, or a
        grid.
    """
    from .base import Solver

    if isinstance(spec, Solver):
        return spec
    name, params = _split_spec(spec)
    for key, value in params.items():
        if isinstance(value, (list, tuple)):
            raise ParameterError(
                f"solver {name!r}: {key} is a list of values", remedy="give one value, or search the grid"
            )
        if isinstance(value, dict) and "solver" in value:
            params[key] = build_solver(value)
    solver = SOLVERS.build(name, **params)
    solver.check_parameters()
    return solver


def expand_grid(spec, *, search=False):
    """Return the specs of a grid: every combination of the values that are lists.

    Parameters
    ----------
    spec : dict or str
        A spec in which a list stands for values to choose from, as ``psvc:C=1,epsilon=[0.1,0.3]`` in text.
    search : bool
        Whether parameters that the spec leaves out, and for which the solver offers a `default_grid`, take
        it.

    Returns
    -------
    list of dict
        One spec for each combination, the last parameter of the constructor changing fastest, values in the
        order given. Each has been built once, so its names and values are good.

    Raises
    ------
    ParameterError
        As `build_solver`, and for an empty list.
    """
    name, params = _split_spec(spec)
    cls = SOLVERS.get(name)
    if search:
        params = {**cls.default_grid(), **params}
    known = cls.parameter_names()
    for key in params:
        if key not in known:
            raise unknown_name(f"parameter of solver {name!r}", key, known)
    keys = [key for key in known if key in params]
    choices = [_choices(name, key, params[key], search) for key in keys]
    grid = [{"solver": name, **dict(zip(keys, values, strict=True))} for values in itertools.product(*choices)]
    for spec in grid:
        build_solver(spec)
    return [plain(spec) for spec in grid]


def make_solver(spec, kind):
    """Return a new solver for labels of one kind: a binary solver learns several classes by pairwise voting.

    Parameters
    ----------
    spec : dict, str or Solver
    kind : {"binary", "multiclass", "real"}

    Raises
    ------
    ParameterError
        As `build_solver`, and if the solver cannot learn such labels.
    """
    solver = build_solver(spec)
    if kind in solver.targets:
        return solver
    if kind == "multiclass" and "binary" in solver.targets:
        return SOLVERS.build("pairwise-voting", binary=solver)
    able = [name for name, cls in SOLVERS.classes.items() if kind in cls.targets]
    raise ParameterError(
        f"solver {solver.name!r} does not learn {kind} labels", remedy=f"choose from: {', '.join(able)}"
    )


def common_input(specs):
    """Return what all solvers of a grid take of a kernel, ``"gram"`` or ``"implicit"``.

    Raises
    ------
    ParameterError
        If one takes features, or not all take the same.
    """
    solvers = [build_solver(spec) for spec in specs]
    for solver in solvers:
        if solver.input == "features":
            raise ParameterError(
                f"solver {solver.name!r} would take features, and gets a Gram matrix here",
                remedy="leave out its kernel=features; the features of a table come through the kernel linear",
            )
        if solver.input != solvers[0].input:
            raise ParameterError(
                f"of the solvers {solvers[0].name!r} and {solver.name!r} one takes a Gram matrix, the other needs none",
                remedy="choose among solvers of one sort",
            )
    return solvers[0].input


def solver_from_state(header, arrays):
    """Return the fitted solver whose `state` this is.

    Raises
    ------
    ModelError
        If it is no solver's state, or that of a solver unknown here.
    """
    try:
        solver = build_solver(header["spec"])
        solver.restore(header, arrays)
    except (KeyError, TypeError, ParameterError) as error:
        raise ModelError(f"not the state of a solver: {error}", remedy="train the model again") from error
    return solver


def _split_spec(spec):
    """Return a spec's solver name and a dict of its parameters."""
    spec = parse_spec(spec, "solver") if isinstance(spec, str) else spec
    if not isinstance(spec, dict) or not isinstance(spec.get("solver"), str):
        raise ParameterError(f"{spec!r} names no solver", remedy="write it like {solver: csvc, C: 1} or csvc:C=1")
    return spec["solver"], {key: _value(value) for key, value in spec.items() if key != "solver"}


def _choices(name, key, value, search):
    """Return the values one parameter takes in a grid."""
    if isinstance(value, dict) and "solver" in value:
        return expand_grid(value, search=search)
    if not isinstance(value, (list, tuple)):
        return [value]
    if not value:
        raise ParameterError(f"solver {name!r}: {key} has no values", remedy="list one or more")
    return list(value)


def _value(value):
    """Return a config's value with texts that mean numbers ("inf" of JSON, "1e-3" of YAML) made numbers."""
    if isinstance(value, (list, tuple)):
        return [_value(item) for item in value]
    if not isinstance(value, str):
        return value
    return np.inf if value == "inf" else parse_value(value)


def plain(value):
    """Return a value as JSON can hold it: solvers as specs, infinity as "inf", numpy numbers as Python's."""
    if hasattr(value, "spec"):
        return value.spec()
    if isinstance(value, dict):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    value = value.item() if isinstance(value, np.generic) else value
    return "inf" if isinstance(value, float) and value == np.inf else value
