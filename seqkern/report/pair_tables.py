"""Tables of pairs of methods that were tested: the best against each other method, and every pair."""

from collections.abc import Callable, Collection
from typing import Any

from seqkern.core.markup import Markup, details
from seqkern.figures.html_table import Column, table
from seqkern.report.compared import Compared, SingleTaskTests
from seqkern.report.sentences import metric
from seqkern.report.view import method_name

MOST_PAIRS = 500
"""Up to which every pair has a row."""


def pair_tables(
    compared: Compared | SingleTaskTests,
    name: str,
    columns: list[Column | str],
    cells: Callable[[Any], list[object]],
    *,
    transductive: Collection[str] = (),
    by: str = "",
) -> list[Markup]:
    """Return the table of the best method against each other one, and, folded away, that of every pair.

    Parameters
    ----------
    compared : Compared or SingleTaskTests
        The methods, compared over tasks or chains.
    name : str
        Of the data set, for captions.
    columns : list of Column or str
        After that of the second method.
    cells : callable
        Returns what stands in these columns for one pair.
    transductive : collection of str
        Kernels that have a mark.
    by : str
        What follows the number of all pairs.

    Returns
    -------
    list of Markup
    """
    score, best = metric(compared.key).name, compared.methods[0]
    names: dict[object, Markup] = {method: method_name(method, transductive) for method in compared.methods}
    against = [one for one in compared.found if one.first == best]
    caption: list[object] = [f"{name}: ", names[best], f", by {score}, against each other method"]
    columns = [Column("Against", False), *columns]
    content = [table(caption, columns, [[names[one.second], *cells(one)] for one in against], class_="text")]
    if len(against) < len(compared.found) <= MOST_PAIRS:
        rows = [[names[one.first], names[one.second], *cells(one)] for one in compared.found]
        columns = [Column("Kernel with solver", False), *columns]
        whole = table(f"{name}: every pair by {score}", columns, rows, class_="text")
        content.append(details(f"All {len(rows)} pairs{by}", whole))
    return content
