"""Tables of a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seqkern.core.markup import Markup, tag, text_of

MOST_COLUMNS = 8
"""Of numbers that a page shows side by side."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, whether it holds numbers, and what it means.

    Examples
    --------
    >>> column = Column("AUC", hint="area under the ROC curve")
    >>> table("Scores", [Column("kernel", numeric=False), column], [["spectrum", "0.91"]]).count("area under")
    1
    """

    title: object
    numeric: bool = True
    hint: str | None = None


def table(
    caption: object,
    columns: Sequence[Column | str],
    rows: Sequence[Sequence[object]],
    *,
    head: Markup | None = None,
    class_: str | None = None,
) -> Markup:
    """Return a table in a box of its own that scrolls sideways where the page is narrow.

    Parameters
    ----------
    caption : object
        What `tag` takes.
    columns : sequence of Column or str
        The first column names the rows; a str is a column of numbers.
    rows : sequence of sequence
        What `tag` takes for each cell, the row's name first; a whole ``<td>`` stays as it is.
    head : Markup, optional
        Rows of the head, instead of one row with the columns' titles.
    class_ : str, optional
        Of the table, for its style.

    Returns
    -------
    Markup
    """
    described = [Column(item) if isinstance(item, str) else item for item in columns]
    sides = ["num" if column.numeric else None for column in described]
    if head is None:
        head = tag(
            "tr",
            [
                tag("th", column.title, scope="col", class_=side, title=column.hint)
                for column, side in zip(described, sides, strict=True)
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


def turned(
    title: str, columns: Sequence[Column | str], rows: list[list[Any]]
) -> tuple[list[Column | str], list[list[Any]]]:
    """Return columns and rows of a table, with one line for each column where there would be too many to see at once.

    Parameters
    ----------
    title : str
        Of the names of columns, where these become rows.
    columns : sequence of Column or str
        As for `table`; the first is of the names of rows.
    rows : list of list
        Each begins with its name.

    Returns
    -------
    columns : list of Column or str
        As for `table`.
    rows : list of list
        Likewise.

    Examples
    --------
    >>> columns, rows = turned("metric", ["kernel", *"abcdefghi"], [["spectrum", *range(9)]])
    >>> columns[1:], rows[:2]
    (['spectrum'], [['a', 0], ['b', 1]])
    """
    heads = columns[1:]
    if len(heads) <= max(MOST_COLUMNS, len(rows)):
        return list(columns), rows
    lines = [[head, *(row[i] for row in rows)] for i, head in enumerate(heads, start=1)]
    return [Column(title, False), *(row[0] for row in rows)], lines
