"""The frame of a page, its tables and numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqkern import __version__
from seqkern.core.statistics import rounded
from seqkern.report.markup import Markup, clean, escape, join, text_of
from seqkern.report.sentences import TRANSDUCTIVE, enumerate_names, metric, upper_first

if TYPE_CHECKING:
    import jinja2

# Templates in the folder ``templates``: one for each chapter, whose blocks are its sections, and shared macros.


@cache
def environment() -> jinja2.Environment:
    """Return the environment of the templates: values are escaped by `escape`, and an unknown name is an error."""
    import jinja2  # imported here: few verbs make a page

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=escape,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.tests["cell"] = lambda value: isinstance(value, Markup) and value.startswith("<td")
    shared = (enumerate_names, fixed, json_script, method_name, method_names, metric, number, plural, spread)
    made.globals |= {one.__name__: one for one in shared}
    made.filters["upper_first"] = upper_first
    made.globals |= {
        name: found for name, found in vars(made.get_template("macros.html").module).items() if name[0] != "_"
    }
    return made


def render(template: str, block: str, content: Mapping[str, Any]) -> Markup:
    """Return a block of a template, filled."""
    found = environment().get_template(f"{template}.html")
    return Markup("".join(found.blocks[block](found.new_context(dict(content)))))


def macro(name: str, *values: object, **options: object) -> Markup:
    """Return what a shared macro makes of some values."""
    found: Any = environment().globals[name]
    return Markup(found(*values, **options))


# The frame of an HTML page: its head, with the style shared by all pages.

ASSETS = Path(__file__).with_name("assets")
EVERYWHERE = ("page", "tables")
"""Scripts of all pages; the others are named as the class that they serve."""
HEADING = re.compile(r'<section id="([^"]+)"[^>]*>\s*(?:<details class="part"><summary>)?<h([23])>(.*?)</h', re.DOTALL)


def whole_page(title: str, body: Markup) -> Markup:
    """Return a self-contained HTML page, with the contents bar of its sections, and of their sections."""
    contents: list[tuple[Markup, Markup, list[tuple[Markup, Markup]]]] = []
    for anchor, level, heading in HEADING.findall(body):
        if level == "2":
            contents.append((Markup(anchor), Markup(heading), []))
        else:
            contents[-1][2].append((Markup(anchor), Markup(heading)))
    used = [path for path in sorted(ASSETS.glob("*.js")) if path.stem in EVERYWHERE or f'class="{path.stem}"' in body]
    scripts = [Markup(path.read_text(encoding="utf-8")) for path in used]
    style = Markup((ASSETS / "style.css").read_text(encoding="utf-8"))
    return macro("whole_page", title, body, contents, style, scripts, __version__)


def scores_page(
    head: tuple[str, str, str], rows: Sequence[Sequence[str]], figure: Markup | None, notes: Sequence[str], files: str
) -> Markup:
    """Return the page of a method's scores: verb, title and lead; a table with its header; curves, sentences, files."""
    verb, title, lead = head
    columns: list[Column | str] = [Column(rows[0][0], False), *rows[0][1:]]
    scores = table("Scores", columns, rows[1:], class_="dense")
    content = {"verb": verb, "title": title, "lead": lead, "scores": scores, "figure": figure, "notes": notes}
    return whole_page(f"{title} · {verb}", render("page", "scores", {**content, "files": files}))


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
    return macro("table", caption, text_of(caption), described, rows, head, class_)


def listing(caption: object, records: Sequence[Mapping[Any, object]], class_: str | None = None) -> Markup | None:
    """Return a table of records, whose keys are its columns; None for no records."""
    return table(caption, list(records[0]), [list(one.values()) for one in records], class_=class_) if records else None


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
        return Markup('<span class="none" title="no value">–</span>')
    text = f"{rounded(value, digits):,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return Markup(text.replace("-", "\N{MINUS SIGN}"))


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


def method_name(method: tuple[str, str], transductive: Collection[str] = ()) -> Markup:
    """Return the name ``kernel with solver``, marked if the kernel is transductive."""
    kernel, solver = method
    return Markup(f"<b>{escape(kernel)}</b>{mark(kernel, transductive)} with <b>{escape(solver)}</b>")


def method_names(methods: Sequence[tuple[str, str]], most: int = 6) -> Markup:
    """Return the names of methods as a list in a sentence: ``A with B, C with D and 2 more``.

    >>> text_of(method_names([("spectrum", "csvc"), ("mismatch", "csvc"), ("gapped", "psvc")], most=2))
    'spectrum with csvc, mismatch with csvc and 1 more'
    """
    names = [method_name(method) for method in methods[:most]]
    rest = len(methods) - most
    if rest > 0:
        return Markup(f"{join(', ', names)} and {rest} more")
    return Markup(f"{join(', ', names[:-1])} and {names[-1]}") if len(names) > 1 else names[0]


# Figures with captions, side by side; collapsed parts.


def panel(svg: Markup, *caption: object) -> Markup:
    """Return a figure with its caption."""
    return macro("panel", svg, caption)


def details(summary: object, content: object) -> Markup:
    """Return what opens on a click on its summary."""
    return macro("details", summary, content)
