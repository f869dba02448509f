"""Find classes by their names: all public modules of a package are looked through, so none is listed."""

import importlib
import inspect
import pkgutil
from functools import cached_property

from seqkern.core.checks import check_flag
from seqkern.core.errors import ParameterError, unknown_name


class Registry:
    """The named classes of one package, or of one module.

    Parameters
    ----------
    kind : str
        What the classes are called in messages and configs: ``"kernel"`` or ``"solver"``.
    package : str
        Full name of the package, whose modules without a leading underscore are searched; or of a module.
    base : str
        ``module:Class`` of the base class; concrete subclasses with a `name` of their own are registered.
    """

    def __init__(self, kind, package, base):
        self.kind = kind
        self.package = package
        self.base = base

    @cached_property
    def base_class(self):
        """The base class."""
        module, _, name = self.base.partition(":")
        return getattr(importlib.import_module(module), name)

    @cached_property
    def classes(self):
        """Dict from name to class, sorted by name."""
        base = self.base_class
        package = importlib.import_module(self.package)
        found = {}
        for module in _public_modules(package):
            for item in vars(module).values():
                if inspect.isclass(item) and issubclass(item, base) and "name" in vars(item) and item.name:
                    other = found.setdefault(item.name, item)
                    if other is not item:
                        both = f"{_full_name(other)} and {_full_name(item)}"
                        raise ParameterError(
                            f"two classes are the {self.kind} {item.name!r}: {both}", remedy="give one another name"
                        )
        return dict(sorted(found.items()))

    def by_class_name(self, name):
        """Return the class called `name`, as in ``from package import name``; AttributeError if none is."""
        for cls in self.classes.values():
            if cls.__name__ == name:
                return cls
        raise AttributeError(f"module {self.package!r} has no attribute {name!r}")

    def class_names(self):
        """Return the names of the classes themselves, as in ``from package import Name``."""
        return [cls.__name__ for cls in self.classes.values()]

    def get(self, name):
        """Return the class registered as `name`.

        Raises
        ------
        ParameterError
            For an unknown name, with the nearest known one.
        """
        if name not in self.classes:
            raise unknown_name(self.kind, name, self.classes)
        return self.classes[name]

    def build(self, name, /, **params):
        """Return an instance of the class registered as `name`.

        Raises
        ------
        ParameterError
            For an unknown name or parameter (with the nearest known one), a missing parameter, or a value of a
            true-or-false one that is neither.
        """
        cls = self.get(name)
        signature = inspect.signature(cls)
        for key in params:
            if key not in signature.parameters:
                raise unknown_name(f"parameter of {self.kind} {name!r}", key, signature.parameters)
        for key, parameter in signature.parameters.items():
            if isinstance(parameter.default, bool) and key in params:
                check_flag(key, params[key])
            if parameter.default is inspect.Parameter.empty and key not in params:
                raise ParameterError(f"{self.kind} {name!r} needs the parameter {key!r}", remedy=f"add {key}=…")
        return cls(**params)


def _full_name(cls):
    """Return a class's name with that of its module."""
    return f"{cls.__module__}.{cls.__qualname__}"


def _public_modules(package):
    """Return the modules of a package whose names have no leading underscore; for a module, itself."""
    if not hasattr(package, "__path__"):
        return [package]
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    names = [info.name for info in found if not info.name.rpartition(".")[2].startswith("_")]
    return [importlib.import_module(name) for name in names]
