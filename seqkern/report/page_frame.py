"""The frame of a page, its tables and numbers."""

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from seqkern.report.markup import Markup, clean, details, tag, text_of

# The frame of an HTML page: its head, with the style shared by all pages.

STYLE = Path(__file__).with_name("style.css")
FIRST_SCREEN = Path(__file__).with_name("first_screen.css")


def whole_page(title: str, *body: object, styles: tuple[Path, ...] = (), scripts: tuple[Path, ...] = ()) -> Markup:
    """Return a self-contained HTML page."""
    style = "\n".join(path.read_text(encoding="utf-8") for path in (STYLE, FIRST_SCREEN, *styles))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        Markup(f"<style>\n{style}</style>"),
    )
    code = [Markup(f'<script type="module">\n{path.read_text(encoding="utf-8")}</script>') for path in scripts]
    return Markup(f"<!DOCTYPE html>\n{tag('html', head, tag('body', *body, code), lang='en')}\n")


def json_script(data: object) -> Markup:
    r"""Return data as a JSON script element for a page; no text in the data can close the element.

    >>> json_script(["</script>"])
    '<script type="application/json">["\\u003c/script\\u003e"]</script>'
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(f'<script type="application/json">{text}</script>')


# HTML tables of a page.

MOST_COLUMNS = 8
"""Maximum number of columns of numbers that a page shows side by side."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, whether it holds numbers, and its meaning.

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
    """Return a table in a box that scrolls sideways on a narrow page; a str column holds numbers."""
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
    """Return a table's columns and rows, transposed if there are too many columns to see at once.

    >>> columns, rows = turned("metric", ["kernel", *"abcdefghi"], [["spectrum", *range(9)]])
    >>> columns[1:], rows[:2]
    (['spectrum'], [['a', 0], ['b', 1]])
    """
    heads = columns[1:]
    if len(heads) <= max(MOST_COLUMNS, len(rows)):
        return list(columns), rows
    lines = [[head, *(row[i] for row in rows)] for i, head in enumerate(heads, start=1)]
    return [Column(title, False), *(row[0] for row in rows)], lines


# Numbers as shown on a page, all rounded in the same way.
#
# The same mean, summed in another order, may be 0.8154999999999999 or 0.8155. After rounding to eight digits first,
# then half up, both are 0.816.

EXACT_DIGITS = 8
"""Number of digits that agree between sums in different orders."""
LARGE = 1e15
"""Size above which a float has no decimals worth rounding."""


def rounded(value: float, digits: int = 3) -> float:
    """Return a number rounded as `number` shows it: half away from zero.

    >>> rounded(0.8154999999999999), rounded(0.8155), rounded(-0.0005)
    (0.816, 0.816, -0.001)
    """
    if not math.isfinite(value) or abs(value) >= LARGE:
        return float(value)
    exact = Decimal(f"{value:.{max(digits, EXACT_DIGITS)}f}")
    return float(exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def fixed(value: float, digits: int = 3) -> str:
    """Return a number with a fixed number of decimals as plain text.

    >>> fixed(0.8154999999999999), fixed(2.0)
    ('0.816', '2.000')
    """
    return f"{rounded(value, digits):.{digits}f}"


def number(value: float | None, digits: int = 3) -> Markup:
    """Return a number with a fixed number of decimals; None and NaN become a dash.

    >>> number(-0.12345), number(-0.0001)
    ('−0.123', '0.000')
    """
    if value is None or value != value:
        return tag("span", "–", class_="none", title="no value")
    text = f"{rounded(value, digits):,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return Markup(text.replace("-", "\N{MINUS SIGN}").replace(",", "\N{NARROW NO-BREAK SPACE}"))


def spread(mean: float | None, sd: float | None, digits: int = 3) -> Markup:
    """Return ``mean ± sd``, or the mean alone without a standard deviation."""
    if mean is None or mean != mean or sd is None or sd != sd:
        return number(mean, digits)
    return Markup(f'{number(mean, digits)}<span class="sd"> ± {number(sd, digits)}</span>')


def plural(count: int, word: str, many: str | None = None) -> str:
    """Return a count with its noun in the singular or plural.

    >>> plural(3, "fold"), plural(1, "fold"), plural(2, "family", "families")
    ('3 folds', '1 fold', '2 families')
    """
    return f"{number(count, 0)} {word if count == 1 else many or word + 's'}"


# Names of methods and classes, as shown in figures and tables.

TRANSDUCTIVE = "†"
"""The mark of kernels whose profiles were built with the test sequences."""


def short(text: object, length: int = 16) -> str:
    """Return a text shortened in its middle to at most `length` characters.

    >>> short("shifted_weighted_degree")
    'shifted…_degree'
    """
    whole = clean(text)
    half = (length - 1) // 2
    return whole if len(whole) <= length else f"{whole[:half]}…{whole[-half:]}"


def mark(kernel: str, transductive: Collection[str]) -> str:
    """Return the mark `TRANSDUCTIVE` if a kernel's profiles were built with the test sequences, else empty text."""
    return TRANSDUCTIVE if kernel in transductive else ""


# Figures with captions, side by side.

MOST_OPEN = 8


def panel(svg: Markup, *caption: object) -> Markup:
    """Return a figure with its caption."""
    return tag("figure", svg, tag("figcaption", caption), class_="panel")


def small_multiples(panels: list[Markup], rest: str, class_: str = "panels") -> Markup:
    """Return figures side by side; all but the first few are folded."""
    first = tag("div", panels[:MOST_OPEN], class_=class_)
    folded = panels[MOST_OPEN:]
    if not folded:
        return first
    return Markup(first + details(f"{len(folded)} more {rest}", tag("div", folded, class_=class_)))


# Folded sections of details, each with a line that says what is inside.

INSIDE = {
    "folds": "how many samples each training and test set holds",
    "comparisons": "every pair of methods: difference, p value, correction for the number of pairs",
    "units": "the score of each method on each test set",
    "choices": "what the inner cross-validation searched, and what it chose",
    "weights": "how much each kernel of a combination counts",
    "selection-bias": "scores that result from selecting features on the test data",
    "fits": "convergence, iterations and support vectors",
    "gram": "values of each kernel between all samples, as pictures",
    "eigenvalues": "which kernel matrices are positive semi-definite",
}
"""Contents of a section, by its name."""


def folded_part(heading: Markup, inside: str, *content: object) -> Markup:
    """Return a part of the page that opens on a click on its heading."""
    summary = tag("summary", heading, " ", tag("span", inside, class_="inside"))
    return tag("details", summary, content, class_="part")
