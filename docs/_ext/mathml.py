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


def render(tex: str, node: nodes.Node, as_block: bool = False) -> str:
    """Return the markup of a formula; one that docutils cannot read is a warning, and stays as it is."""
    try:
        return tex2mathml(tex, as_block=as_block)
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
