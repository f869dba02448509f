"""The docstring of a class with the section Parameters, generated from the declarations."""

import inspect
import re
import textwrap
from typing import Any

from seqkern.core.declarations import REQUIRED, Parameter

WIDTH = 116
_SECTION = re.compile(r"^(?:Attributes|Raises|Warns|See Also|Notes|References|Examples)\n-+$", re.MULTILINE)
_WRITTEN = re.compile(r"^Parameters\n-+$", re.MULTILINE)


class Documentation:
    """The docstring of a class, completed on access: all classes are created at import, but few docstrings are read.

    Parameters
    ----------
    text : str
        The docstring as written.

    Examples
    --------
    >>> from seqkern.core.parameters import integer
    >>> from seqkern.core.parametrized import Parameters
    >>> class Spectrum(Parameters):
    ...     '''Counts of k-mers.'''
    ...
    ...     k: int = integer(default=3, low=1, doc="Length of the k-mers.")
    >>> Spectrum.__doc__.splitlines()[4:]
    ['k : int ≥ 1, default 3', '    Length of the k-mers.']
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, instance: Any, owner: Any = None) -> str:
        text = inspect.cleandoc(self.text)
        if not owner.declarations() or _WRITTEN.search(text):
            return text
        section = parameters_section(owner.declarations())
        following = _SECTION.search(text)
        if following is None:
            return f"{text}\n\n{section}\n"
        return f"{text[: following.start()]}{section}\n\n{text[following.start() :]}\n"


def parameters_section(declared: dict[str, Parameter]) -> str:
    """Return the section Parameters of a docstring in numpydoc format.

    Parameters
    ----------
    declared : dict of str to Parameter
        The parameters by name, in the order of the constructor.

    Returns
    -------
    str
        Without a final line break.
    """
    lines = ["Parameters", "----------"]
    for name, item in declared.items():
        lines.append(f"{name} : {item.type_text()}{_default_text(item.default)}")
        if item.doc:
            lines.append(textwrap.indent(textwrap.fill(item.doc, WIDTH, break_on_hyphens=False), "    "))
    return "\n".join(lines)


def _default_text(default: Any) -> str:
    """Return the text of the default, which follows the type."""
    if default is REQUIRED:
        return ""
    if default is None:
        return ", optional"
    if type(default) is int:
        return f", default {default:_}"
    return f', default "{default}"' if isinstance(default, str) else f", default {default}"
