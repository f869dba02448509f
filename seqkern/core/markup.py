"""HTML as Python calls: every text is escaped unless it is `Markup` already."""

import html
import re
from collections.abc import Iterable

VOID = frozenset({"br", "hr", "img", "link", "meta", "input", "wbr"})
# Control characters are not allowed in HTML or SVG text; a FASTA header may hold them.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already.

    Examples
    --------
    >>> escape("p < 0.05 & q"), escape(Markup("<b>p</b>"))
    ('p &lt; 0.05 &amp; q', '<b>p</b>')
    """

    __slots__ = ()


def clean(text: object) -> str:
    r"""Replace the control characters of a text, which HTML does not allow, by a visible sign.

    Parameters
    ----------
    text : object
        Turned into a str.

    Returns
    -------
    str

    Examples
    --------
    >>> clean("a\x00b")
    'a�b'
    """
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


def escape(value: object) -> Markup:
    """Turn a value into HTML.

    Parameters
    ----------
    value : object
        None gives nothing, Markup stays as it is, a list or tuple is joined; all else is escaped as text.

    Returns
    -------
    Markup

    Examples
    --------
    >>> escape(["k < 4", Markup("<br>"), None])
    'k &lt; 4<br>'
    """
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
        Of the element, such as ``"td"``.
    *children : object
        What `escape` takes.
    **attributes : object
        ``class_`` and ``for_`` lose their underscore, ``aria_label`` becomes ``aria-label``; None and False leave the
        attribute out, True writes it without a value.

    Returns
    -------
    Markup

    Examples
    --------
    >>> tag("td", "AUC > 0.9", class_="best")
    '<td class="best">AUC &gt; 0.9</td>'
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
    """Join items, each escaped, with a separator between them.

    Parameters
    ----------
    separator : object
        What `escape` takes.
    items : iterable of object
        Likewise.

    Returns
    -------
    Markup

    Examples
    --------
    >>> join(tag("br"), ["A < C", "G"])
    'A &lt; C<br>G'
    """
    return Markup(escape(separator).join(map(escape, items)))


def details(summary: object, *children: object) -> Markup:
    """Return a part of a page that opens on a click.

    Parameters
    ----------
    summary : object
        What is seen while it is closed.
    *children : object
        What opens; as `escape` takes it.

    Returns
    -------
    Markup

    Examples
    --------
    >>> details("Folds", tag("p", "five"))
    '<details><summary>Folds</summary><p>five</p></details>'
    """
    return tag("details", tag("summary", summary), children)


def text_of(value: object) -> str:
    """Return the plain text of HTML: no tags, no escapes.

    Parameters
    ----------
    value : object
        What `escape` takes.

    Returns
    -------
    str

    Examples
    --------
    >>> text_of(tag("b", "p < 0.05"))
    'p < 0.05'
    """
    return html.unescape(re.sub(r"<[^>]*>", "", escape(value)))
