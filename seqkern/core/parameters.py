"""Constructor parameters as scikit-learn sees them, without importing it, and checks of their values."""

import inspect
import math
import numbers
import re

from seqkern.core.errors import ParameterError, unknown_name


class Parameters:
    """Mixin: `get_params`, `set_params` and a readable `repr` from the signature of ``__init__``.

    A subclass stores each constructor argument, unchanged, under its own name: `sklearn.base.clone` works.
    """

    @classmethod
    def parameter_names(cls):
        """Return the names of the constructor's parameters, in order."""
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep=True):
        """Return the parameters as a dict; with `deep`, those of nested objects too, as ``outer__inner``."""
        params = {name: getattr(self, name) for name in self.parameter_names()}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Parameters):
                    params.update({f"{name}__{key}": item for key, item in value.get_params().items()})
        return params

    def set_params(self, **params):
        """Set parameters by name (``outer__inner`` for nested ones) and return self."""
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in self.parameter_names():
                raise unknown_name(f"parameter of {type(self).__name__}", name, self.parameter_names())
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = inspect.signature(type(self).__init__).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if defaults[name].default is inspect.Parameter.empty or value != defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def check_choice(name, value, choices):
    """Raise ParameterError unless `value` is one of `choices`."""
    if value not in choices:
        remedy = f"choose {' or '.join(map(str, choices))}"
        raise ParameterError(f"{name}={value!r} is not possible", remedy=remedy)


def check_flag(name, value):
    """Raise ParameterError unless `value` is true or false."""
    if value not in (True, False):
        raise ParameterError(f"{name}={value!r} is not possible", remedy="give true or false")


def check_integer(name, value, low, high=None):
    """Raise ParameterError unless `value` is an integer from `low` to `high`."""
    good = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not good or value < low or (high is not None and value > high):
        span = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ParameterError(f"{name}={value!r} is not possible", remedy=f"give an integer {span}")


def check_real(name, value, low, high=None, *, open_low=False, open_high=False):
    """Raise ParameterError unless `value` is a finite number ≥ `low` (> with `open_low`) and ≤ `high` (likewise <)."""
    good = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    good = good and value >= low and not (open_low and value == low)
    if not good or (high is not None and value > high) or (open_high and value == high):
        span = f"{'>' if open_low else '≥'} {low}"
        span += f" and {'<' if open_high else '≤'} {high}" if high is not None else ""
        raise ParameterError(f"{name}={value!r} is not possible", remedy=f"give a number {span}")


def check_name(kind, name):
    """Raise ParameterError unless `name` can be a file name: the pattern of names in a study's schema."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}", name):
        raise ParameterError(
            f"the {kind} {name!r} cannot be a file name",
            remedy="use letters, digits, '_', '.' and '-', beginning with a letter or digit, at most 80",
        )
