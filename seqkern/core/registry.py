"""Classes by name: a table gives the module of each, so that looking one up imports only that module."""

import importlib
import inspect
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from seqkern.core.checks import check_flag
from seqkern.core.errors import ParameterError, unknown_name


class Registry:
    """Named classes of one kind, each imported when it is looked up.

    Parameters
    ----------
    kind : str
        Noun for the classes in configurations and, with spaces for underscores, in messages: ``"kernel"``.
    base : str
        Their base class, as ``module:Class``.
    table : dict of str to str
        From the name of each class, its attribute `name`, to ``module:Class``.

    Examples
    --------
    >>> from seqkern.kernels import KERNELS
    >>> KERNELS.kind, "spectrum" in KERNELS.names
    ('kernel', True)
    >>> KERNELS.build("spectrum", k=4)
    SpectrumKernel(k=4)
    """

    def __init__(self, kind: str, base: str, table: Mapping[str, str]) -> None:
        self.kind = kind
        self.noun = kind.replace("_", " ")
        self.base = base
        self.table = dict(sorted(table.items()))

    @cached_property
    def base_class(self) -> type[Any]:
        """The base class."""
        return _import_class(self.base)

    @property
    def names(self) -> list[str]:
        """The names of the classes, sorted; imports no class."""
        return list(self.table)

    @property
    def classes(self) -> dict[str, type[Any]]:
        """Dict from name to class, sorted by name; imports all classes."""
        return {name: _import_class(place) for name, place in self.table.items()}

    def class_names(self) -> list[str]:
        """Return the Python names of the classes, as in ``from package import Name``."""
        return [place.partition(":")[2] for place in self.table.values()]

    def add(self, name: str, place: str) -> None:
        """Register a class from elsewhere.

        Parameters
        ----------
        name : str
            Its attribute `name`.
        place : str
            ``module:Class``.

        Raises
        ------
        ParameterError
            If another class has the name.
        """
        other = self.table.get(name, place)
        if other != place:
            raise ParameterError(
                f"two classes are named {self.noun} {name!r}: {other} and {place}", remedy="rename one"
            )
        self.table = dict(sorted({**self.table, name: place}.items()))

    def get(self, name: str) -> type[Any]:
        """Import a class and return it.

        Parameters
        ----------
        name : str
            The registered name.

        Returns
        -------
        type

        Raises
        ------
        ParameterError
            For an unknown name, with the nearest known one.
        """
        if name not in self.table:
            raise unknown_name(self.noun, name, self.table)
        return _import_class(self.table[name])

    def build(self, name: str, /, **params: Any) -> Any:
        """Return an instance of a class.

        Parameters
        ----------
        name : str
            The registered name.
        **params : object
            Arguments of its constructor.

        Returns
        -------
        object of the class

        Raises
        ------
        ParameterError
            For an unknown name or parameter (with the nearest one), a missing parameter, or a value of a
            boolean parameter that is neither true nor false.
        """
        cls = self.get(name)
        signature = inspect.signature(cls)
        for key in params:
            if key not in signature.parameters:
                raise unknown_name(f"parameter of {self.noun} {name!r}", key, signature.parameters)
        for key, parameter in signature.parameters.items():
            if isinstance(parameter.default, bool) and key in params:
                check_flag(key, params[key])
            if parameter.default is inspect.Parameter.empty and key not in params:
                raise ParameterError(f"{self.noun} {name!r} needs the parameter {key!r}", remedy=f"add {key}=VALUE")
        return cls(**params)


def _import_class(place: str) -> type[Any]:
    """Return the class at ``module:Class``."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
