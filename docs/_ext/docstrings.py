"""Docstrings as reStructuredText: `|x|` is a length there, not a substitution."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# what is between double backticks stays as it is
LITERAL = re.compile(r"(``.*?``|`[^`]*`)")
# Φ_u, c_i, Σ_{i≤m}, ‖x‖_1, ε_max, but no name such as n_threads or best_params_
LOWERED = re.compile(r"((?<![\w.])\w[\u0302\u0303]?|[)‖])_(?:\{([^{}]*)\}|(\w(?!\w)))")
LOWERED_GREEK = re.compile(r"([ελΔσγ])_(max|min|p|c)\b")
RAISED = re.compile(r"(?<=[\w)‖])\^(?:\{([^{}]*)\}|\(([^()]*)\)|([−-]?\w+))")


def escape_bars(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape bars and lone asterisks in the text of a docstring, outside of literals, examples and formulas."""
    in_example, formula = False, -1
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= formula:
            formula = -1
        if line.lstrip().startswith(".. math::"):
            formula = indent
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if in_example or formula >= 0:
            continue
        pieces = LITERAL.split(line)
        lines[i] = "".join(piece if piece.startswith("`") else indices(escape(piece)) for piece in pieces)


def escape(text: str) -> str:
    """Return text without markup: bars, and asterisks that are not parameters such as **params."""
    text = re.sub(r"(?<!\\)\|", r"\\|", text)
    return text if re.match(r"\s*\*", text) else re.sub(r"(?<!\\)\*", r"\\*", text)


def indices(text: str) -> str:
    """Return text with its indices lowered and its exponents raised."""
    text = LOWERED_GREEK.sub(r"\1\\ :sub:`\2`\\ ", text)
    text = LOWERED.sub(lambda found: rf"{found[1]}\ :sub:`{found[2] or found[3]}`\ ", text)
    return RAISED.sub(lambda found: rf"\ :sup:`{found[1] or found[2] or found[3]}`\ ", text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Run before numpydoc, which reads the sections."""
    app.connect("autodoc-process-docstring", escape_bars, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
