"""Formulas as MathML: every current browser draws it, so the site needs no script and no network for them."""

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)


# docstrings are read on terminals too: their formulas have these characters, which docutils does not know
SIGNS = {
    "−": "-",
    "·": r"\cdot ",
    "½": r"\frac{1}{2}",
    "‖": r"\| ",
    "≤": r"\le ",
    "≥": r"\ge ",
    "≠": r"\ne ",
    "∈": r"\in ",
    "∞": r"\infty ",
    "←": r"\leftarrow ",
    "→": r"\rightarrow ",
    "×": r"\times ",
    "±": r"\pm ",
    "∇": r"\nabla ",
    "√": r"\surd ",
    "⌊": r"\lfloor ",
    "⌋": r"\rfloor ",
    "…": r"\ldots ",
}
ACCENTS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar"}


def as_tex(text: str) -> str:
    """Return a formula with its signs and accents as commands, and its words upright."""
    text = re.sub(r"(\w)([\u0302-\u0304])", lambda found: rf"\{ACCENTS[found[2]]}{{{found[1]}}}", text)
    if r"\text" not in text:
        text = re.sub(r"(?<=\S) {2,}", r"\\quad ", text)
    for sign, command in SIGNS.items():
        text = text.replace(sign, command)
    # a formula in TeX of its own says which words are text
    if r"\text" not in text and r"\math" not in text and r"\begin" not in text:
        text = re.sub(r"(?<![\\a-zA-Z])([a-zA-Z]{2,})(?![a-zA-Z])", upright, text)
    return re.sub(r"([^\x00-\u03ff])", r"\\text{\1}", text) if r"\text" not in text else text


def upright(word: re.Match[str]) -> str:
    """Return a word between formulas as text, any other as a name."""
    between = word[1] in ("else", "for", "if", "or", "over", "with")
    return rf"\text{{ {word[1]} }}" if between else rf"\mathrm{{{word[1]}}}"


def render(tex: str, node: nodes.Node, as_block: bool = False) -> str:
    """Return the markup of a formula; one that docutils cannot read is a warning, and stays as it is."""
    try:
        return tex2mathml(as_tex(tex), as_block=as_block)
    except MathError as error:
        LOGGER.warning("%s in %s", error, tex, location=node)
        return f"<code>{escape(tex)}</code>"


def inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(render(node.astext(), node))
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, one for each part between wide spaces: pages are narrow."""
    parts = re.split(r",?\s*\\qquad", node.astext().strip())
    lines = [render(part.strip(), node, as_block=True) for part in parts]
    self.body.append(f'<div class="math">{"".join(lines)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name that conf.py gives."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
