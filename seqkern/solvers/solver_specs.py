"""Solvers and grids by name, from a configuration and from text."""

import contextlib
import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from seqkern.core.declarations import DECIMAL, Number, Parameter, parse_value
from seqkern.core.errors import ModelError, ParameterError, check_known
from seqkern.core.package_files import resource_path
from seqkern.core.parameters import Parameters
from seqkern.core.registry import Kind, Registry, add_kind
from seqkern.core.specs import json_form, normal_values, parse_spec
from seqkern.core.tsv import read_tsv
from seqkern.core.types import Array

if TYPE_CHECKING:
    from seqkern.solvers.contract import Solver


# Class weights and class orders by name, translated to the codes that solvers see.

Some = TypeVar("Some", bound=Parameters)


def by_code(solver: Some, codes: Mapping[str, float]) -> Some:
    """Return a solver, possibly nested, whose class weights and orders are translated from names to codes.

    >>> from seqkern.solvers import CSVC
    >>> from seqkern.solvers.solver_specs import by_code
    >>> by_code(CSVC(class_weight={"decoy": 1.0, "donor": 5.0}), {"decoy": -1.0, "donor": 1.0})
    CSVC(class_weight={-1.0: 1.0, 1.0: 5.0})
    """
    params = solver.get_params(deep=False)
    changed = {name: _changed(name, value, codes) for name, value in params.items()}
    if all(changed[name] is value for name, value in params.items()):
        return solver
    return type(solver)(**changed)


def _changed(name: str, value: Any, codes: Mapping[str, float]) -> Any:
    """Return the translated value of a parameter, or the value itself if it names no class."""
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
    """Return the code for a key of the parameter `name`."""
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


# The table of solvers by name, with the modules of their classes, so that a lookup imports a single module.
#
# A new solver needs one line here, and one in the stub ``__init__.pyi``; the registry tests report missing ones.

SOLVERS = Registry(
    "solver",
    "seqkern.solvers.contract:Solver",
    {
        "adatron": "seqkern.solvers.classic.perceptrons:AdaTron",
        "best_basis": "seqkern.solvers.classic.best_basis:BestBasis",
        "binary_tree": "seqkern.solvers.multiclass.multiclass:BinaryTree",
        "csvc": "seqkern.solvers.svm.svm:CSVC",
        "decision_dag": "seqkern.solvers.multiclass.multiclass:DecisionDAG",
        "direct_multiclass": "seqkern.solvers.multiclass.direct:DirectMulticlass",
        "filtered": "seqkern.solvers.two_stage:FilteredSVC",
        "glvq": "seqkern.solvers.classic.prototypes:GLVQ",
        "gmlvq": "seqkern.solvers.classic.prototypes:GMLVQ",
        "gor": "seqkern.solvers.classic.residue_methods:GOR",
        "gp_classification": "seqkern.solvers.gaussian.processes:GPC",
        "gp_inducing": "seqkern.solvers.gaussian.processes:InducingGPR",
        "gp_regression": "seqkern.solvers.gaussian.processes:GPR",
        "kernel_fisher": "seqkern.solvers.least_squares.discriminant:KernelFisher",
        "kernel_neighbors": "seqkern.solvers.classic.neighbors:KernelNeighbors",
        "kernel_neighbors_regressor": "seqkern.solvers.classic.neighbors:KernelNeighborsRegressor",
        "kernel_pca": "seqkern.solvers.least_squares.discriminant:KernelPCA",
        "label_propagation": "seqkern.solvers.few_labels:LabelPropagation",
        "linear_discriminant": "seqkern.solvers.classic.discriminants:LinearDiscriminant",
        "linear_svc": "seqkern.solvers.svm.linear:LinearSVC",
        "lp_machine": "seqkern.solvers.classic.lp_machine:LPMachine",
        "lssvc": "seqkern.solvers.least_squares.least_squares:LSSVC",
        "lssvr": "seqkern.solvers.least_squares.least_squares:LSSVR",
        "lvq1": "seqkern.solvers.classic.prototypes:LVQ1",
        "minover": "seqkern.solvers.classic.perceptrons:MinOver",
        "nearest_prototype": "seqkern.solvers.classic.prototypes:NearestPrototype",
        "network": "seqkern.solvers.classic.residue_methods:Network",
        "nusvc": "seqkern.solvers.svm.svm:NuSVC",
        "nusvr": "seqkern.solvers.svm.svm:NuSVR",
        "one_against_rest": "seqkern.solvers.multiclass.multiclass:OneAgainstRest",
        "one_class_svm": "seqkern.solvers.svm.svm:OneClassSVM",
        "pairwise_voting": "seqkern.solvers.multiclass.multiclass:PairwiseVoting",
        "perceptron": "seqkern.solvers.classic.perceptrons:Perceptron",
        "positive_unlabelled": "seqkern.solvers.few_labels:PositiveUnlabelled",
        "primal_svc": "seqkern.solvers.svm.primal:PrimalSVC",
        "psvc": "seqkern.solvers.psvm.psvm:PSVC",
        "psvr": "seqkern.solvers.psvm.psvm:PSVR",
        "quadratic_discriminant": "seqkern.solvers.classic.discriminants:QuadraticDiscriminant",
        "relational_glvq": "seqkern.solvers.classic.prototypes:RelationalGLVQ",
        "selected": "seqkern.solvers.selection.selected:SelectedClassifier",
        "spherical_svc": "seqkern.solvers.least_squares.discriminant:SphericalSVC",
        "svr": "seqkern.solvers.svm.svm:SVR",
        "transductive_svc": "seqkern.solvers.few_labels:TransductiveSVC",
        "two_stage": "seqkern.solvers.two_stage:TwoStageSVC",
        "weighted_threshold": "seqkern.solvers.two_stage:WeightedThreshold",
        "whitened_neighbors": "seqkern.solvers.classic.neighbors:WhitenedNeighbors",
    },
)
"""The registry: ``SOLVERS.get("csvc")`` is the class `CSVC`, ``SOLVERS.names`` are all names."""


# Free parameters: the solver parameters that the user left open, and that a search may vary and refine.
#
# A list of values given by the user stays as it is. A parameter that the user omitted takes the solver's default grid,
# which is coarse, and may then be refined within the limits that the solver declares.


@dataclass(frozen=True)
class Limits:
    """The interval, above zero, within which a search refines one parameter of a solver or of a nested solver."""

    path: tuple[str, ...]  # The name of the parameter; of a nested solver, after that of the parameter that holds it
    low: float  # Both are above zero
    high: float  # Both are above zero

    def value(self, spec: Mapping[str, Any]) -> Any:
        """Return the value of the parameter in a spec; None if the spec omits it."""
        found: Any = spec
        for name in self.path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found

    def with_value(self, spec: Mapping[str, Any], value: float) -> dict[str, Any]:
        """Return a copy of the spec with another value of the parameter."""
        return _replaced(spec, self.path, value)


@dataclass(frozen=True)
class Free:
    """Parameters and class weights that a search may vary beyond its candidates."""

    limits: tuple[Limits, ...] = ()  # The parameters to refine
    class_weight: bool = False  # Whether to use balanced class weights; for classes of unequal size none are tried too

    @classmethod
    def of(cls, given: Mapping[str, Any] | str) -> "Free":
        """Return the free parameters of a solver's spec, as the user gave it."""
        name, params = _split_spec(given)
        weights = "class_weight" in SOLVERS.get(name).parameter_names() and "class_weight" not in params
        return cls(tuple(_limits({"solver": name, **params})), weights)

    @property
    def cost(self) -> bool:
        """Whether the user left open the cost C of the solver or of a nested one."""
        return any(limits.path[-1] == "C" for limits in self.limits)


def ends_domain(spec: Mapping[str, Any], path: Sequence[str], value: float) -> bool:
    """Return whether a value is the smallest or the largest that its parameter allows.

    >>> spec = {"solver": "relational_glvq", "n_prototypes": 1}
    >>> ends_domain(spec, ("n_prototypes",), 1), ends_domain(spec, ("n_prototypes",), 3)
    (True, False)
    """
    for name in path[:-1]:
        spec = spec.get(name, {})
    if spec.get("solver") not in SOLVERS:
        return False
    declared = SOLVERS.get(spec["solver"]).declarations().get(path[-1])
    return isinstance(declared, Number) and value in (declared.low, declared.high)


def _limits(spec: Mapping[str, Any]) -> list[Limits]:
    """Return the limits of the parameters that a spec omits, then the limits for nested solvers."""
    solver = SOLVERS.get(spec["solver"])
    spec = normal_values(solver, {name: value for name, value in spec.items() if name != "solver"})
    own = [Limits((name,), *ends) for name, ends in solver.declared.search.limits.items() if name not in spec]
    for name in solver.nested_solvers():
        part = spec.get(name)
        if isinstance(part, Mapping) and "solver" in part:
            own += [Limits((name, *limits.path), limits.low, limits.high) for limits in _limits(part)]
    return own


def _replaced(spec: Mapping[str, Any], path: tuple[str, ...], value: float) -> dict[str, Any]:
    """Return a copy of nested mappings with one value replaced."""
    name, *inner = path
    return {**spec, name: _replaced(spec[name], tuple(inner), value) if inner else value}


# Ranges of solver parameters, and random draws from them.
#
# A range is written ``0.01..100``, in a config and on the command line. Values are drawn uniformly on a logarithmic
# scale where both ends are positive, else uniformly; ends without a decimal point give integers (Bergstra & Bengio
# 2012, J. Mach. Learn. Res. 13:281-305).

_RANGE = re.compile(rf"({DECIMAL})\.\.({DECIMAL})")
SIGNIFICANT = 6  # Drawn numbers are rounded to this many digits


@dataclass(frozen=True)
class Range:
    """A range of numbers from `low` to `high`, both included; if both are int, only integers are drawn."""

    low: float  # If both are int, only integers are drawn
    high: float  # If both are int, only integers are drawn

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ParameterError(
                f"the range {self} is empty", remedy="write the smaller number first, such as 0.01..100"
            )

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"

    @property
    def ends(self) -> list[float]:
        """The two ends as a list."""
        return [self.low, self.high]

    def draw(self, rng: np.random.Generator) -> float:
        """Return one random value, using one number from `rng`."""
        low, high, logarithmic = self.low, self.high, self.low > 0
        whole = isinstance(low, int) and isinstance(high, int)
        if whole:
            # each integer has an equal cell, so that the ends are as likely as the others
            low, high = low - 0.5, high + 0.5
        value = rng.uniform(*((math.log(low), math.log(high)) if logarithmic else (low, high)))
        value = math.exp(value) if logarithmic else value
        if whole:
            return min(max(round(value), self.low), self.high)
        return float(f"{value:.{SIGNIFICANT}g}")


def as_range(word: str) -> "Range | None":
    """Return the Range written in a text such as ``0.01..100``, or None.

    >>> from seqkern.solvers.solver_specs import as_range
    >>> as_range("1..5"), as_range("scale")
    (Range(low=1, high=5), None)
    """
    found = _RANGE.fullmatch(word.strip())
    ends = [parse_value(end) for end in found.groups()] if found else []
    return Range(*ends) if ends and str not in map(type, ends) else None


# Construction of solvers and grids from a configuration or the command line, and of solvers from a model file.

Spec = Mapping[str, Any] | str  # A solver in a configuration or on the command line; a list gives values to choose from

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
        Whether omitted parameters take the grid of the solver's traits.
    ends : bool
        Whether a range of values such as ``0.01..100`` stands for both its ends, to check what a random search may
        draw. Else it is an error.

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
    """Return the specs of a grid, each with its solver."""
    return [(json_form(point), build_solver(point)) for point in _points(spec, search, ends)]


def _points(spec: Spec, search: bool, ends: bool) -> list[dict[str, Any]]:
    """Return the specs of a grid without building any solver."""
    name, params = _searched(spec, search)
    choices = [_choices(name, key, value, search, ends) for key, value in params.items()]
    return [{"solver": name, **dict(zip(params, values, strict=True))} for values in itertools.product(*choices)]


def draw_spec(spec: Spec, rng: np.random.Generator, *, search: bool = False) -> dict[str, Any]:
    """Return one random spec: a value of each list, and a number within each range.

    Parameters
    ----------
    spec : dict or str
        A spec as in `expand_grid`, or with ranges, as ``csvc:C=0.01..100``.
    rng : numpy.random.Generator
        Source of the random numbers.
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
    return json_form(drawn)


def has_range(spec: Spec) -> bool:
    """Return whether a spec holds a range of values, which only random search can use.

    Parameters
    ----------
    spec : dict or str
        A spec as in `draw_spec`; nested solvers are examined too.

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
    """Return a specification as text that parses back to it, as JSON if necessary.

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
    """Return a parameter value as written in `spec_text`, without parentheses around a specification.

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
        A spec as in `build_solver`.
    kind : {"binary", "multiclass", "real"}
        The kind of labels.
    classes : sequence of str, optional
        The names of the classes, as in `Labels`, for weights of classes: the solver is to see −1 and 1, or 0,
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
        if not solver.traits.pairs:
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


def solver_from_state(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> "Solver":
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
    """Return the solver name and the parameter dict of a spec."""
    spec = parse_spec(spec, "solver") if isinstance(spec, str) else spec
    if not isinstance(spec, Mapping) or not isinstance(spec.get("solver"), str):
        raise ParameterError(f"{spec!r} does not name a solver", remedy="write it as {solver: csvc, C: 1} or csvc:C=1")
    name = spec["solver"]
    cls = SOLVERS.get(name)
    values = normal_values(cls, {key: value for key, value in spec.items() if key != "solver"})
    declared = cls.declarations()
    return name, {key: _ranged(value, declared.get(key)) for key, value in values.items()}


def _ranged(value: Any, item: Parameter | None) -> Any:
    """Return a parameter value with the texts of number ranges converted to Range objects."""
    if not isinstance(item, Number | None):
        return value
    if isinstance(value, list):
        return [_ranged(one, item) for one in value]
    return (as_range(value) or value) if isinstance(value, str) else value


def _searched(spec: Spec, search: bool) -> tuple[str, dict[str, Any]]:
    """Return the solver name of a spec, and its parameters in constructor order.

    A search adds the default grids.
    """
    name, params = _split_spec(spec)
    cls = SOLVERS.get(name)
    if search:
        params = {**cls.declared.search.grid, **params}
    known = cls.parameter_names()
    check_known(f"parameter of solver {name!r}", params, known)
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
        return [json_form(point) for point in _points(value, search, ends)]
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
    """Return whether a parameter takes lists as values, so that a list is not a grid."""
    return key in SOLVERS.get(name).parameters_with("list_parameter")


def _is_grid_of_solvers(name: str, key: str, value: Any) -> bool:
    """Return whether a parameter value is a solver spec whose own values are also to be drawn."""
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


# Checks that a solver decides by a weighted sum of kernel values, which can be attributed to residues.


def check_solver(solver: "Solver") -> None:
    """Raise ParameterError unless a classifier of the solver decides by a weighted sum of kernel values."""
    if solver.targets == ("multiclass",) and not hasattr(solver, "classifier"):
        raise no_two_class_solver(solver)
    if "binary" in solver.nested_solvers():
        check_solver(solver.get_params(deep=False)["binary"])
        return
    if solver.input == "features" or type(solver).linear is SOLVERS.base_class.linear:
        by = "by features, not by" if solver.input == "features" else "not by weighted sums of"
        raise ParameterError(
            f"solver {solver.name!r} decides {by} kernel values with training sequences, so it cannot be "
            "explained residue by residue",
            remedy="choose a solver that can, such as csvc or psvc with a Gram matrix",
        )


def no_two_class_solver(solver: "Solver") -> ParameterError:
    """Return the error for a direct multi-class solver."""
    return ParameterError(
        f"the solver {solver.name!r} has no binary classifier that could be explained",
        remedy="train a binary solver, such as csvc, which learns several classes by pairs",
    )


@cache
def cited_methods() -> dict[tuple[str, str], tuple[str, tuple[str, ...]]]:
    """Return, by (kind, name), each kernel's or solver's name in a paper and its reference keys."""
    rows = read_tsv(resource_path("citations.tsv"))
    return {(row["kind"], row["name"]): (row["title"], tuple(row["keys"].split())) for row in rows}


def solver_words(spec: Mapping[str, Any]) -> str:
    """Return a solver as in a paper, with the numbers of its specification.

    >>> solver_words({"solver": "csvc", "C": 10})
    'C-SVM (C=10)'
    """
    title, _ = cited_methods().get(("solver", spec["solver"]), (str(spec["solver"]), ()))
    own = (item for item in spec.items() if item[0] not in ("tol", "max_iter", "seed"))
    numbers = [f"{key}={value:g}" for key, value in own if type(value) in (int, float)]
    return title + f" ({', '.join(numbers)})" * bool(numbers)
