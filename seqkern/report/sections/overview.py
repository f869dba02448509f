"""Several data sets side by side: one table, one mean for each method, one curve."""

from collections.abc import Sequence

import numpy as np

from seqkern.core.markup import Markup, tag
from seqkern.figures.curves import at_least
from seqkern.figures.families import families_figure
from seqkern.figures.html_table import Column, table, turned
from seqkern.figures.numbers import number, rounded, spread
from seqkern.report.compared import Compared
from seqkern.report.comparisons import enough
from seqkern.report.dataset_results import Method
from seqkern.report.sections.families import drawn
from seqkern.report.sections.scores import MISSING, STAR, marked, top_of_row
from seqkern.report.sections.verdicts import verdicts
from seqkern.report.sentences import footnote, metric
from seqkern.report.tables import Score
from seqkern.report.view import View, method_name, paragraph

LEAST = 3


class Overview:
    """The headline metric of every method on every data set; there is one for three data sets or more.

    Parameters
    ----------
    views : sequence of View
        The data sets, all ranked by one metric.

    Attributes
    ----------
    views : list of View
    metric : str
        The headline metric that all data sets share.
    values : dict of Method to list of float
        Mean score on each data set, NaN where there is none; of the methods for two data sets or more.
    means : dict of Method to Score
        Over data sets, of the methods that have a score on all of them; best first.
    transductive : set of str
        Kernels whose profiles of a data set were built with its test sequences.
    compared : Compared or None
        These methods, compared over data sets; None where there are too few.
    """

    def __init__(self, views: Sequence[View]) -> None:
        self.views = views
        self.metric = views[0].ranking.headline
        methods = _shared(views)
        self.values = {method: [view.ranking.score(method).mean for view in views] for method in methods}
        complete = [method for method in methods if not np.isnan(self.values[method]).any()]
        sign = -1 if metric(self.metric).higher else 1
        complete.sort(key=lambda method: sign * np.mean(self.values[method]))
        self.means = {
            method: Score(float(np.mean(self.values[method])), float(np.std(self.values[method], ddof=1)), len(views))
            for method in complete
        }
        self.transductive: set[str] = set().union(*(view.dataset.transductive for view in views))
        self.compared: Compared | None = None
        if enough(len(views), len(complete)):
            values = {method: self.values[method] for method in complete}
            self.compared = Compared(values, self.metric, "data set", "data sets")


def make_overview(views: Sequence[View]) -> Overview | None:
    """Return the Overview; None for fewer than three data sets, or where they share no metric or no method.

    Parameters
    ----------
    views : sequence of View
        The data sets, in the order of the page.

    Returns
    -------
    Overview or None
    """
    metrics = {view.ranking.metric for view in views}
    alike = len(metrics) == 1 and None not in metrics
    return Overview(views) if len(views) >= LEAST and alike and _shared(views) else None


def _shared(views: Sequence[View]) -> list[Method]:
    """Return the methods that the study has for two data sets or more, in order of appearance."""
    methods = dict.fromkeys(method for view in views for method in view.dataset.methods)
    return [method for method in methods if sum(method in view.dataset.methods for view in views) > 1]


def overall_finding(overview: Overview) -> Markup | None:
    """Return a sentence on the best method over all data sets; None where none has been run on all.

    Parameters
    ----------
    overview : Overview
        All data sets side by side.

    Returns
    -------
    Markup or None
    """
    if not overview.means:
        return None
    (best, score), *others = overview.means.items()
    equal = [m for m, s in others if rounded(s.mean) == rounded(score.mean)]
    word = "highest" if metric(overview.metric).higher else "lowest"
    share = f", as {'has' if len(equal) == 1 else 'have'} {len(equal)} more" if equal else ""
    return Markup(
        f"{tag('a', f'all {len(overview.views)} data sets', href='#overview')}: kernel {method_name(best)} "
        f"has the {word} mean {metric(overview.metric).name}, {tag('b', number(score.mean))} (standard "
        f"deviation {number(score.sd)} over data sets){share}."
    )


def overview_section(overview: Overview) -> Markup:
    """Return the table of data sets × methods, and how many data sets reach each score.

    Parameters
    ----------
    overview : Overview
        All data sets side by side.

    Returns
    -------
    Markup
        The section.
    """
    methods = list(overview.values)
    rows = []
    for i, view in enumerate(overview.views):
        name = tag("a", view.dataset.name, href=f"#{view.anchor}")
        may = [view.headline.beats_chance(method) is not False for method in methods]
        cells = _row([overview.values[method][i] for method in methods], overview.metric, may)
        own = view.dataset.methods
        rows.append([name, *(cell if m in own else "–" for m, cell in zip(methods, cells, strict=True))])
    means = [overview.means.get(method, Score(np.nan, np.nan, 0)) for method in methods]
    may = [any(view.headline.beats_chance(m) is not False for view in overview.views) for m in methods]
    tops = _row([score.mean for score in means], overview.metric, may, [score.sd for score in means])
    everywhere = [all(method in view.dataset.methods for view in overview.views) for method in methods]
    shown = [cell if full else "–" for cell, full in zip(tops, everywhere, strict=True)]
    rows.append([tag("b", "mean ± standard deviation"), *shown])
    title = metric(overview.metric).name
    caption = [
        f"Mean {title} of each method on each data set. ",
        STAR,
        " best for each data set, unless it is not significantly better than chance there.",
    ]
    caption.append(footnote(methods, overview.transductive))
    columns: list[Column | str] = [
        Column("Data set", False),
        *(method_name(method, overview.transductive) for method in methods),
    ]
    columns, rows = turned("Method", columns, rows)
    note = "Means are shown only for methods with a score on every data set."
    return tag(
        "section",
        tag("h2", "All data sets"),
        paragraph(note),
        table(caption, columns, rows, class_="dense"),
        _curve(overview, title),
        verdicts(overview.compared, "all data sets", overview.transductive) if overview.compared else None,
        id="overview",
    )


def _row(
    values: Sequence[float], key: str, may: Sequence[bool], deviations: Sequence[float] | None = None
) -> list[Markup]:
    """Return the cells of one row, the best marked if its method may be."""
    top = top_of_row(values, may, metric(key).higher)
    cells = []
    spreads: Sequence[float | None] = deviations or [None] * len(values)
    for value, sd, allowed in zip(values, spreads, may, strict=True):
        best = allowed and rounded(value) == top
        cells.append(MISSING if np.isnan(value) else marked(spread(value, sd), best))
    return cells


def _curve(overview: Overview, name: str) -> Markup | None:
    """Return the curve "number of data sets with at least this score"; None where no score is a share."""
    methods, which = drawn(list(overview.means))
    if overview.metric == "rmse" or not methods:
        return None
    series = [(*method, *at_least(overview.values[method])) for method in methods]
    label = f"Number of data sets with {name} of at least x, {len(series)} methods"
    svg = families_figure(series, name, "data sets", label, overview.transductive)
    caption = f"Number of data sets with {name} ≥ x. {which}{footnote(methods, overview.transductive)}"
    return tag("figure", svg, tag("figcaption", caption), class_="wide")
