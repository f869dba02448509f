"""HTML built by Python calls: text is escaped unless it is `Markup`."""

import html
import re
from collections.abc import Iterable

VOID = frozenset({"br", "hr", "img", "link", "meta", "input", "wbr"})
# Control characters are not allowed in HTML or SVG text, but a FASTA header may contain them.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is already HTML.

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
        Converted to str.

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
    """Convert a value to HTML.

    Parameters
    ----------
    value : object
        None becomes empty, Markup stays as it is, lists and tuples are joined; all else is escaped as text.

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
        As for `escape`.
    **attributes : object
        ``class_`` and ``for_`` lose their underscore, ``aria_label`` becomes ``aria-label``; None and False omit the
        attribute, True writes it without a value.

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
        As for `escape`.
    items : iterable of object
        As for `escape`.

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
    """Return a section of a page that opens on a click.

    Parameters
    ----------
    summary : object
        Shown while it is closed.
    *children : object
        The content, as for `escape`.

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
        As for `escape`.

    Returns
    -------
    str

    Examples
    --------
    >>> text_of(tag("b", "p < 0.05"))
    'p < 0.05'
    """
    return html.unescape(re.sub(r"<[^>]*>", "", escape(value)))
