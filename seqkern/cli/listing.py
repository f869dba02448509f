"""How a verb lists classes: each with its parameters and defaults, or one of them in full."""

import inspect
import textwrap

WIDTH = 100


def entry(cls, *lines, name=None):
    """Return a class in brief: name, first sentence of its docstring, `lines`, parameters with defaults.

    The name is that of the class in configs, unless another is given.
    """
    parameters = [_parameter(parameter) for parameter in inspect.signature(cls).parameters.values()]
    about = [summary(cls), *lines, "parameters: " + (", ".join(parameters) or "none")]
    return "\n".join([name or cls.name, *(_indent(text) for text in about), ""])


def in_full(cls, name=None):
    """Return the docstring of a class under its name in configs, unless another is given."""
    return f"{name or cls.name} ({cls.__name__})\n\n{inspect.getdoc(cls)}"


def summary(cls):
    """Return the first line of a class's docstring."""
    return inspect.getdoc(cls).splitlines()[0]


def _parameter(parameter):
    """Return a parameter as ``name=default``, or ``name`` where it must be given."""
    required = parameter.default is inspect.Parameter.empty
    return parameter.name if required else f"{parameter.name}={_text(parameter.default)}"


def _text(value):
    """Return a value as configs write it."""
    return str(value).lower() if isinstance(value, bool | None) else str(value)


def _indent(text):
    """Return `text` wrapped, as a paragraph of an entry."""
    return textwrap.fill(text, WIDTH, initial_indent="    ", subsequent_indent="        ", break_on_hyphens=False)
