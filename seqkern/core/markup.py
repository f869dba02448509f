"""HTML as Python calls: every text is escaped unless it is `Markup` already."""

import html
import re
from collections.abc import Iterable

VOID = frozenset({"br", "hr", "img", "link", "meta", "input", "wbr"})
# Control characters are not allowed in HTML or SVG text; a FASTA header may hold them.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def clean(text: object) -> str:
    """Return text with control characters replaced by a visible sign."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


def escape(value: object) -> Markup:
    """Return a value as Markup: nothing for None, Markup unchanged, a list joined, else escaped text."""
    if value is None:
        return Markup("")
    if isinstance(value, Markup):
        return value
    if isinstance(value, (list, tuple)):
        return Markup("".join(map(escape, value)))
    return Markup(html.escape(clean(value), quote=True))


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element.

    Parameters
    ----------
    name : str
    *children : object
        What `escape` takes.
    **attributes : object
        ``class_`` and ``for_`` lose their underscore, ``aria_label`` becomes ``aria-label``; None leaves the
        attribute out, True writes it without a value.
    """
    text = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        text.append(f" {key}" if value is True else f' {key}="{escape(str(value))}"')
    text.append(">")
    if name not in VOID:
        text.append(escape(children))
        text.append(f"</{name}>")
    return Markup("".join(text))


def join(separator: object, items: Iterable[object]) -> Markup:
    """Return items, each escaped, with a separator between them."""
    return Markup(escape(separator).join(map(escape, items)))


def details(summary: object, *children: object) -> Markup:
    """Return a part that opens on a click."""
    return tag("details", tag("summary", summary), children)


def text_of(value: object) -> str:
    """Return the plain text of HTML."""
    return html.unescape(re.sub(r"<[^>]*>", "", escape(value)))
