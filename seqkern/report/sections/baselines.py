"""The table of the trivial baselines: scores, and what each one does."""

from seqkern.core.markup import Markup, details
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import plural, spread
from seqkern.models.baselines.names import BASELINES
from seqkern.report.view import View


def baselines_table(view: View) -> Markup | None:
    """Return the table, the best baseline first; None where no baseline was run.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
    """
    values = view.headline.baselines.units(view.headline.key)
    names = list(view.headline.trivial)
    if not names:
        return None
    rows = [
        [BASELINES[name].title, spread(values[name].mean(), values[name].std()), BASELINES[name].sentence]
        for name in names
    ]
    caption = f"{view.dataset.name}: {view.metric.name} of trivial baselines, fitted on the same training sets."
    columns: list[Column | str] = [Column("Baseline", False), view.metric.name, Column("Rule", False)]
    return details(plural(len(names), "trivial baseline"), table(caption, columns, rows))
