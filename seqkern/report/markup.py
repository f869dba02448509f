"""HTML built by Python calls, in which text is escaped unless it is `Markup`."""

import html
import re
from collections.abc import Iterable

VOID = frozenset({"br", "hr", "img", "link", "meta", "input", "wbr"})
# Control characters are not allowed in HTML or SVG text, but a FASTA header may contain them.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """A text that is already HTML.

    >>> escape("p < 0.05 & q"), escape(Markup("<b>p</b>"))
    ('p &lt; 0.05 &amp; q', '<b>p</b>')
    """

    __slots__ = ()

    def __html__(self) -> str:
        """Return the text for Jinja, which then does not escape it."""
        return self


def clean(text: object) -> str:
    r"""Return a text with its control characters, which HTML does not allow, replaced by a visible sign.

    >>> clean("a\x00b")
    'a�b'
    """
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


def escape(value: object) -> Markup:
    """Return a value as HTML: None is empty, Markup is unchanged, lists are joined, all else is escaped text.

    >>> escape(["k < 4", Markup("<br>"), None])
    'k &lt; 4<br>'
    """
    if value is None:
        return Markup("")
    if isinstance(value, Markup):
        return value
    if hasattr(value, "__html__"):
        return Markup(value.__html__())
    if isinstance(value, (list, tuple)):
        return Markup("".join(map(escape, value)))
    return Markup(html.escape(clean(value), quote=True))


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an HTML element.

    ``class_`` and ``for_`` lose their underscore, ``aria_label`` becomes ``aria-label``; None and False omit an
    attribute, True writes it without a value.

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
    """Return the items, each escaped, joined with a separator.

    >>> join(tag("br"), ["A < C", "G"])
    'A &lt; C<br>G'
    """
    return Markup(escape(separator).join(map(escape, items)))


def details(summary: object, *children: object) -> Markup:
    """Return a collapsible section of a page, with a summary that is shown while it is closed.

    >>> details("Folds", tag("p", "five"))
    '<details><summary>Folds</summary><p>five</p></details>'
    """
    return tag("details", tag("summary", summary), children)


def text_of(value: object) -> str:
    """Return the plain text of HTML, without tags and escapes, white space as a browser shows it.

    >>> text_of(tag("b", "p < 0.05"))
    'p < 0.05'
    """
    return re.sub(r"[ \n]+", " ", html.unescape(re.sub(r"<[^>]*>", "", escape(value))))
