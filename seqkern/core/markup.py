"""HTML as Python calls: every text is escaped unless it is `Markup` already."""

import html
import re
from dataclasses import dataclass

MOST_COLUMNS = 8
"""Of numbers that a page shows side by side."""

VOID = frozenset({"br", "hr", "img", "link", "meta", "input", "wbr"})
# Control characters are not allowed in HTML or SVG text; a FASTA header may hold them.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def clean(text):
    """Return text with control characters replaced by a visible sign."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


def escape(value):
    """Return a value as Markup: nothing for None, Markup unchanged, a list joined, else escaped text."""
    if value is None:
        return Markup("")
    if isinstance(value, Markup):
        return value
    if isinstance(value, (list, tuple)):
        return Markup("".join(map(escape, value)))
    return Markup(html.escape(clean(value), quote=True))


def tag(name, /, *children, **attributes):
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


def join(separator, items):
    """Return items, each escaped, with a separator between them."""
    return Markup(escape(separator).join(map(escape, items)))


def number(value, digits=3):
    """Return a number with a fixed count of digits, or a dash that says that there is none."""
    if value is None or value != value:
        return tag("span", "–", class_="none", title="no value")
    text = f"{value:,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return Markup(text.replace("-", "\N{MINUS SIGN}").replace(",", "\N{NARROW NO-BREAK SPACE}"))


def spread(mean, sd, digits=3):
    """Return ``mean ± sd``; the mean alone where there is no spread."""
    if mean is None or mean != mean or sd is None or sd != sd:
        return number(mean, digits)
    return Markup(f'{number(mean, digits)}<span class="sd"> ± {number(sd, digits)}</span>')


def plural(count, word, many=None):
    """Return ``3 folds``, ``1 fold``."""
    return f"{number(count, 0)} {word if count == 1 else many or word + 's'}"


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, whether it holds numbers, and what it means."""

    title: object
    numeric: bool = True
    hint: str | None = None


def table(caption, columns, rows, *, head=None, class_=None):
    """Return a table in a box of its own that scrolls sideways where the page is narrow.

    Parameters
    ----------
    caption : object
    columns : list of Column or str
        The first column names the rows; a str is a column of numbers.
    rows : list of list
    head : Markup, optional
        Rows of the head, instead of one row with the columns' titles.
    class_ : str, optional
    """
    columns = [Column(item) if isinstance(item, str) else item for item in columns]
    sides = ["num" if column.numeric else None for column in columns]
    if head is None:
        head = tag(
            "tr",
            [
                tag("th", column.title, scope="col", class_=side, title=column.hint)
                for column, side in zip(columns, sides, strict=True)
            ],
        )
    body = []
    for first, *rest in rows:
        cells = [
            value if isinstance(value, Markup) and value.startswith("<td") else tag("td", value, class_=side)
            for value, side in zip(rest, sides[1:], strict=True)
        ]
        body.append(tag("tr", tag("th", first, scope="row"), cells))
    return tag(
        "div",
        tag(
            "table",
            tag("caption", tag("span", caption)),
            tag("thead", head),
            tag("tbody", body),
            class_=class_,
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=text_of(caption),
    )


def turned(title, columns, rows):
    """Return columns and rows of a table, with one line for each column where there would be too many to see at once.

    Parameters
    ----------
    title : str
        Of the names of columns, where these become rows.
    columns : list
        As for `table`; the first is of the names of rows.
    rows : list of list
        Each begins with its name.

    Returns
    -------
    columns, rows : list
    """
    heads = columns[1:]
    if len(heads) <= max(MOST_COLUMNS, len(rows)):
        return columns, rows
    lines = [[head, *(row[i] for row in rows)] for i, head in enumerate(heads, start=1)]
    return [Column(title, False), *(row[0] for row in rows)], lines


def details(summary, *children):
    """Return a part that opens on a click."""
    return tag("details", tag("summary", summary), children)


def text_of(value):
    """Return the plain text of HTML."""
    return html.unescape(re.sub(r"<[^>]*>", "", escape(value)))
