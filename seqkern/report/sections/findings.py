"""The head of the page: what came out, and what to bear in mind before relying on it."""

from collections.abc import Sequence

import numpy as np

from seqkern.core.markup import Markup, tag
from seqkern.figures.numbers import number, plural
from seqkern.report.sections.caveats import caveats
from seqkern.report.sections.overview import Overview, overall_finding
from seqkern.report.sections.verdicts import standing
from seqkern.report.view import View, method_name, method_names, paragraph


def findings_section(views: Sequence[View], overview: Overview | None) -> Markup:
    """Return the main findings and the caveats.

    Parameters
    ----------
    views : sequence of View
        The data sets, in the order of the page.
    overview : Overview or None
        All data sets side by side, where there are several to compare.

    Returns
    -------
    Markup
        The section.
    """
    found = [overall_finding(overview)] if overview else []
    found = [tag("li", sentence) for sentence in [*found, *map(main_finding, views)] if sentence]
    warned = [tag("li", sentence) for view in views for sentence in caveats(view)]
    note = (
        "A standard deviation tells how much a score varies from one test part to the next. It is no test of "
        "significance: a combination within one standard deviation may well be as good."
    )
    quiet = "None: nothing is missing, no leakage was found, every fit converged, no part is small."
    return tag(
        "section",
        tag("h2", "Main findings"),
        tag("ul", found, class_="findings"),
        paragraph(note, class_="note"),
        tag("h3", "Before relying on them"),
        tag("ul", warned, class_="caveats") if warned else paragraph(quiet),
        id="findings",
    )


def main_finding(view: View) -> Markup:
    """Return a true sentence or two about a data set: best method, its spread, how many others are near.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup
    """
    dataset, ranking = view.dataset, view.ranking
    name = tag("a", dataset.name, href=f"#{view.anchor}")
    if not ranking.order:
        return Markup(f"{name}: no combination of kernel and solver gave a result.")
    score = ranking.score(ranking.best[0])
    word = "highest" if view.metric.higher else "lowest"
    if len(ranking.order) == 1:
        start = f"kernel {method_name(ranking.best[0])} reaches a mean {view.metric.name} of"
    elif len(ranking.best) == 1:
        start = f"kernel {method_name(ranking.best[0])} has the {word} mean {view.metric.name},"
    else:
        start = f"{method_names(ranking.best)} share the {word} mean {view.metric.name},"
    return Markup(f"{name}: {start} {tag('b', number(score.mean))} {_spread(view)}.{_others(view)}{standing(view)}")


def _spread(view: View) -> Markup:
    """Return the spread of the best methods in words."""
    scores = [view.ranking.score(method) for method in view.ranking.best]
    count = plural(scores[0].n, view.word, view.words)
    spreads = sorted({str(number(score.sd)) for score in scores if not np.isnan(score.sd)})
    if not spreads:
        return Markup(f"({count} only, so its spread is not known)")
    between = spreads[0] if len(spreads) == 1 else f"{spreads[0]} to {spreads[-1]}"
    return Markup(f"(standard deviation {between} over {count})")


def _others(view: View) -> Markup:
    """Return how many other methods lie within one standard deviation of the best."""
    ranking = view.ranking
    most = ranking.score(ranking.best[0]).n
    complete = [method for method in ranking.order if ranking.score(method).n == most]
    others = len(complete) - len(ranking.best)
    text = ""
    if others and not np.isnan(ranking.score(ranking.best[0]).sd):
        near = len(ranking.within)
        lie = "lies" if near == 1 else "lie"
        which = f"the {others} other combinations" if others > 1 else "the other combinations"
        text = f" Of {which}, {near or 'none'} {lie} within one standard deviation of it."
        if others == 1:
            text = f" The other combination lies {'within' if near else 'beyond'} one standard deviation of it."
    partial = len(ranking.order) - len(complete)
    if partial:
        has = "has" if partial == 1 else "have"
        text += f" {plural(partial, 'combination')} with scores for fewer {view.words} {has} not been ranked."
    return Markup(text)
