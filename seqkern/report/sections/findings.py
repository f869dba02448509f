"""The first screen: for each data set all methods with their intervals, one sentence; then the caveats."""

from collections.abc import Sequence

from seqkern.core.markup import Markup, tag
from seqkern.figures.dot_intervals import Row, dot_intervals
from seqkern.figures.numbers import fixed, plural
from seqkern.report.baselines import CHANCE_LEVEL, NAMES
from seqkern.report.dataset_results import Method
from seqkern.report.headline_words import headline_sentence
from seqkern.report.sections.caveats import caveats
from seqkern.report.sections.overview import Overview, overall_finding
from seqkern.report.view import View, paragraph

MOST_ROWS = {1: 24, 2: 14}
"""Methods that are drawn, by the number of data sets, so that all fit on one screen."""
FEW_ROWS = 6
WIDE, NARROW = 820, 560
"""Of the picture of a single data set, and of one beside another."""
MARKS = {True: "better", False: "not better", None: "untested"}


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
    found = overall_finding(overview) if overview else None
    warned = [tag("li", sentence) for view in views for sentence in caveats(view)]
    quiet = "None: no result is missing, no leakage was found, every fit converged, and no test set is small."
    several = "several" if len(views) > 1 else "single"
    return tag(
        "section",
        tag("h2", "Main findings"),
        paragraph(found, class_="finding") if found else None,
        tag("div", [_card(view, len(views)) for view in views], class_=f"cards {several}"),
        tag("h3", "Caveats"),
        tag("ul", warned, class_="caveats") if warned else paragraph(quiet),
        id="findings",
    )


def main_finding(view: View) -> Markup:
    """Return the sentence on a data set.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup
    """
    return headline_sentence(view)


def _card(view: View, count: int) -> Markup:
    """Return the name of a data set, its picture, and the sentence below."""
    name = tag("h3", tag("a", view.dataset.name, href=f"#{view.anchor}"))
    sentence = paragraph(main_finding(view), class_="finding")
    return tag("div", name, _figure(view, count) if view.headline.methods else None, sentence, class_="card")


def _figure(view: View, count: int) -> Markup:
    """Return the picture with its caption."""
    headline = view.headline
    shown = headline.methods[: MOST_ROWS.get(count, FEW_ROWS)]
    rows = [_row(view, method) for method in shown]
    baselines = headline.trivial
    lines = {}
    if headline.chance is not None:
        name = "chance" if headline.key == "auc" else next((n for n in headline.trivial if n in CHANCE_LEVEL), "")
        lines[headline.chance] = NAMES.get(name, name)
        baselines = {n: e for n, e in baselines.items() if n not in CHANCE_LEVEL}
    rows += [Row(NAMES[n], e.score, e.low, e.high, "baseline") for n, e in baselines.items()]
    names = ", ".join(f"{row.name} {fixed(row.score)}" for row in rows)
    ends = None if headline.key == "rmse" else (0.0, 1.0)
    width = WIDE if count == 1 else NARROW
    label = f"{view.dataset.name}: {view.metric.name} of {plural(len(shown), 'method')}: {names}"
    svg = dot_intervals(rows, _title(view), lines, label, width=width, ends=ends)
    caption = _caption(view, shown, bool(baselines))
    return tag("figure", svg, tag("figcaption", caption) if caption else None, class_="dots")


def _title(view: View) -> str:
    """Return the title of the axis."""
    count = view.ranking.score(view.ranking.best[0]).n
    return f"mean {view.metric.name} over {count} {view.words}" if count > 1 else view.metric.name


def _row(view: View, method: Method) -> Row:
    """Return the row of a method."""
    entry = view.headline.entries[method]
    name = f"{method.kernel} with {method.solver}"
    best = method in view.ranking.best
    return Row(name, entry.score, entry.low, entry.high, MARKS[entry.beats_chance], best)


def _caption(view: View, shown: Sequence[Method], baselines: bool) -> list[Markup | str]:
    """Return what the marks and intervals mean."""
    headline, text = view.headline, []
    if any(headline.entries[method].low == headline.entries[method].low for method in shown):
        count = len(headline.methods)
        every = f" that hold for {'both' if count == 2 else f'all {count}'} methods at once" if count > 1 else ""
        text.append(f"95 % intervals{every}. ")
    found = {headline.beats_chance(method) for method in shown}
    if True not in found and False in found:
        text.append(f"○\N{NO-BREAK SPACE}Not significantly better than {headline.reference}. ")
    elif True in found:
        others = ", ○\N{NO-BREAK SPACE}not" if False in found else ""
        text.append(f"●\N{NO-BREAK SPACE}Significantly better than {headline.reference}{others}. ")
    if baselines:
        text.append(Markup(f"◇\N{NO-BREAK SPACE}{view.link('Trivial baseline', 'scores')}. "))
    rest = len(headline.methods) - len(shown)
    if rest:
        text.append(Markup(f"{view.link(f'{rest} more', 'scores')} below. "))
    if headline.untested is not None:
        text.append(f"No test against chance: {headline.untested.problem}. ")
    return text
