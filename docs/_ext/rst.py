"""Small pieces of reStructuredText."""

import re
import textwrap
from collections.abc import Iterable, Sequence


def escape(text: str) -> str:
    """Return text that means nothing but itself."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


def title(text: str, line: str = "=") -> str:
    """Return a heading."""
    return f"{text}\n{line * max(len(text), 4)}\n"


def block(text: str, language: str = "text") -> str:
    """Return a block of code."""
    return f".. code-block:: {language}\n\n{textwrap.indent(text, '   ')}\n"


def toctree(names: Iterable[str]) -> str:
    """Return a hidden table of contents."""
    return ".. toctree::\n   :hidden:\n\n" + "".join(f"   {name}\n" for name in names)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], widths: str = "auto") -> str:
    """Return a table; cells are reStructuredText of one line."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in [head, *rows]:
        lines += [f"   {'* -' if i == 0 else '  -'} {cell}".rstrip() for i, cell in enumerate(row)]
    return "\n".join(lines) + "\n"
