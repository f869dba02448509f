"""The kinds of things that a configuration describes: kernels, solvers, …; each package adds its own.

A parameter may hold a thing of some kind (the `base` of a kernel, the `binary` solver of a multi-class one). It knows
the kind by its name only, so that this package imports none of the others until a thing of the kind is read.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """One kind of thing.

    Attributes
    ----------
    name : str
        The key of the name in a configuration: ``"kernel"``.
    type_name : str
        What the documentation of a parameter calls one.
    build : callable
        Returns the thing that text or a mapping describes; one that is built already as it is.
    example : str
        One as text, for messages.
    registry : seqkern.core.registry.Registry, optional
        Its classes by their names; None where there is one class.
    grid : bool
        Whether a list of values is a grid to choose from.
    parse : callable, optional
        Returns the configuration form of text.
    expand : callable, optional
        Returns the specs of a grid.
    class_of : callable, optional
        Returns the class that a name stands for, where that is not what the registry has under it.

    Examples
    --------
    >>> kind = kind_of("solver")
    >>> kind.type_name, kind.example
    ('Solver', 'csvc:C=1')
    """

    name: str
    type_name: str
    build: Callable[[Any], Any]
    example: str
    registry: Any = None
    grid: bool = False
    parse: Callable[[str], Any] | None = None
    expand: Callable[[Any], list] | None = None
    class_of: Callable[[str], Any] | None = None


KINDS: dict[str, Kind] = {}
"""All kinds whose package has been imported, by name."""

HOMES = {
    "kernel": "seqkern.kernels.kernel_specs",
    "transform": "seqkern.gram.transforms.transform_specs",
    "method": "seqkern.gram.transforms.transform_specs",
    "solver": "seqkern.solvers.solver_specs",
    "selector": "seqkern.solvers.selection.selectors.selector_specs",
    "scaler": "seqkern.solvers.selection.selectors.selector_specs",
    "layer": "seqkern.layers.layer_specs",
}
"""The module that adds each kind."""


def add_kind(kind: Kind) -> Kind:
    """Make a kind known, and return it.

    Parameters
    ----------
    kind : Kind
        Takes the place of one of the same name.

    Returns
    -------
    Kind
        The same.
    """
    KINDS[kind.name] = kind
    return kind


def kind_of(name: str) -> Kind:
    """Return a kind by its name, its package imported.

    Parameters
    ----------
    name : str
        A key of configurations, such as ``"kernel"``.

    Returns
    -------
    Kind
        For an unknown name one without classes.
    """
    if name not in KINDS and name in HOMES:
        importlib.import_module(HOMES[name])
    return KINDS.get(name) or Kind(name, name.capitalize(), build=lambda value: value, example="name:parameter=value")
