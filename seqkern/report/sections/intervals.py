"""Each method's scores on one task with 95 % intervals, as a table of the page and as rows of ``intervals.tsv``."""

from collections.abc import Iterator

from seqkern.core.markup import Markup
from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.intervals import FORMULAS
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number
from seqkern.report.compared import ComparedChains, SingleTaskTests
from seqkern.report.sentences import enumerate_names, footnote, metric
from seqkern.report.view import View, method_name

BY_CHAIN = "chains"
WAYS = {
    "bootstrap": "bootstrap (2,000 draws, BCa)",
    BY_CHAIN: "the variation between chains (all residues pooled)",
}
COLUMNS = ("dataset", "kernel", "solver", "metric", "value", "se", "low", "high", "how")


def _compared(view: View) -> ComparedChains | SingleTaskTests | None:
    """Return what holds the intervals of a data set with one task; None where there is nothing."""
    first = next(iter(view.comparisons.values()), None)
    return first if isinstance(first, (ComparedChains, SingleTaskTests)) else None


def _how(compared: ComparedChains | SingleTaskTests, name: str) -> str:
    """Return whose the intervals of a metric are."""
    return BY_CHAIN if isinstance(compared, ComparedChains) else FORMULAS.get(name, "bootstrap")


def interval_rows(view: View) -> Iterator[dict[str, object]]:
    """Yield the rows of ``intervals.tsv``, as dicts.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Yields
    ------
    dict of str to object
        The cells of a row, by the names in `COLUMNS`.
    """
    compared = _compared(view)
    if compared is None:
        return
    for method, found in compared.intervals.items():
        for name, one in found.items():
            cells = (view.dataset.name, *method, name, *one, _how(compared, name))
            yield dict(zip(COLUMNS, cells, strict=True))


def intervals_table(view: View) -> Markup | None:
    """Return the table of scores with intervals; None where there are none.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        None for data sets of several tasks, and where no score has an interval.
    """
    compared = _compared(view)
    if compared is None or not compared.intervals:
        return None
    found = compared.intervals
    names = list(next(iter(found.values())))
    rows = [
        [method_name(method, view.dataset.transductive), *map(_cell, own.values())] for method, own in found.items()
    ]
    owners = [_how(compared, name) for name in names]
    ways = dict.fromkeys(WAYS.get(how, how) for how in owners)
    caption = [
        f"{view.dataset.name}: scores with 95 % intervals ({enumerate_names(ways)})",
        footnote(list(found), view.dataset.transductive),
    ]
    columns: list[Column | str] = [
        Column("Kernel with solver", False),
        *(Column(metric(n).name, hint=metric(n).sentence) for n in names),
    ]
    return table(caption, columns, rows, class_="dense")


def _cell(one: ScoreInterval) -> Markup:
    """Return a score with the ends of its interval."""
    if one.low != one.low:
        return number(one.score)
    return Markup(f"{number(one.score)} ({number(one.low)} to {number(one.high)})")
