"""Each method's scores on one task with 95 % intervals, as a table of the page and as rows of ``intervals.tsv``."""

from ..evaluation.intervals import FORMULAS
from .comparisons import Contested
from .markup import Column, Markup, number, table
from .view import method_name
from .words import enumerate_names, footnote, metric

COLUMNS = ("dataset", "kernel", "solver", "metric", "value", "se", "low", "high", "how")


def _contested(view):
    """Return a Contested of a data set with one task; None where there is none."""
    first = next(iter(view.comparisons.values()), None)
    return first if isinstance(first, Contested) else None


def interval_rows(view):
    """Yield the rows of ``intervals.tsv``, as dicts."""
    contested = _contested(view)
    for method, found in contested.intervals.items() if contested else ():
        for name, one in found.items():
            cells = (view.dataset.name, *method, name, *one, FORMULAS.get(name, "bootstrap"))
            yield dict(zip(COLUMNS, cells, strict=True))


def intervals_table(view):
    """Return the table of scores with intervals; None where there are none."""
    contested = _contested(view)
    if contested is None or not contested.intervals:
        return None
    found = contested.intervals
    names = list(next(iter(found.values())))
    rows = [
        [method_name(method, view.dataset.transductive), *map(_cell, own.values())] for method, own in found.items()
    ]
    ways = {FORMULAS.get(name, "the bootstrap (2,000 draws, BCa)"): None for name in names}
    caption = [
        f"{view.dataset.name}: scores with 95 % intervals, by {enumerate_names(ways)}",
        footnote(list(found), view.dataset.transductive),
    ]
    columns = [Column("Kernel with solver", False), *(Column(metric(n).name, hint=metric(n).sentence) for n in names)]
    return table(caption, columns, rows, class_="dense")


def _cell(one):
    """Return a score with the ends of its interval."""
    if one.low != one.low:
        return number(one.score)
    return Markup(f"{number(one.score)} ({number(one.low)} to {number(one.high)})")
