"""Lists of classes with their parameters and defaults, or the full text of one class."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass

WIDTH = 100


def entry(cls: Any, *lines: str, name: str | None = None) -> str:
    """Return a class in brief: name, first sentence of the docstring, `lines`, parameters with defaults.

    >>> from seqkern.kernels import SpectrumKernel
    >>> print(entry(SpectrumKernel, "takes sequences").splitlines()[0])
    spectrum
    """
    parameters = [_parameter(parameter) for parameter in inspect.signature(cls).parameters.values()]
    about = [summary(cls), *lines, "parameters: " + (", ".join(parameters) or "none")]
    return "\n".join([name or cls.name, *(_indent(text) for text in about), ""])


def in_full(cls: Any, name: str | None = None) -> str:
    """Return the docstring of a class under its name."""
    return f"{name or cls.name} ({cls.__name__})\n\n{inspect.getdoc(cls)}"


def summary(cls: Any) -> str:
    """Return the first line of a class's docstring."""
    return (inspect.getdoc(cls) or "").splitlines()[0]


def _parameter(parameter: inspect.Parameter) -> str:
    """Return a parameter as ``name=default``, or as ``name`` if it is required."""
    required = parameter.default is inspect.Parameter.empty
    return parameter.name if required else f"{parameter.name}={_text(parameter.default)}"


def _text(value: object) -> str:
    """Return a value as written in configurations."""
    return str(value).lower() if isinstance(value, bool | None) else str(value)


def _indent(text: str) -> str:
    """Return `text` wrapped as an indented paragraph of an entry."""
    return textwrap.fill(text, WIDTH, initial_indent="    ", subsequent_indent="        ", break_on_hyphens=False)
