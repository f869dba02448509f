"""A study of many tasks, such as families: the methods' means, and how many tasks reach each score."""

from seqkern.core.markup import Markup, tag
from seqkern.figures.curves import at_least
from seqkern.figures.families import families_figure
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number, plural, rounded
from seqkern.report.compared import LEVEL
from seqkern.report.dataset_results import Method
from seqkern.report.sections.scores import STAR, marked, star_rule
from seqkern.report.sentences import footnote, metric
from seqkern.report.tables import unit_scores
from seqkern.report.view import View, method_name, paragraph

MOST_LINES = 16


def families_section(view: View) -> Markup | None:
    """Return the table of means and the cumulative curves; None for a single task, or real labels.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None where there is nothing to show.
    """
    if not view.dataset.several or view.dataset.kind == "real" or not view.ranking.order:
        return None
    return view.section("families", f"Scores over {view.words}", _means(view), *_curves(view))


def _means(view: View) -> Markup:
    """Return the table that papers of the field give, the best mean first, and how each method stands in the tests."""
    ranking = view.ranking
    shown = [(name, "mean") for name in (ranking.metric, "roc50", "median_rfp") if name in ranking.scores]
    shown += [(name, "median") for name, _ in shown[-1:] if name == "median_rfp"]
    tops = {}
    for name, statistic in shown:
        starred = [method for method in ranking.order if view.headline.may_be_best(method, name)]
        values = [rounded(getattr(ranking.score(method, name), statistic)) for method in starred]
        tops[name, statistic] = (max if metric(name).higher else min)(values, default=None)
    compared = view.comparisons.get(ranking.headline)
    rows, several = [], len(ranking.order) > 1
    for method in ranking.order:
        row: list[object] = [[method_name(method, view.dataset.transductive), _only(ranking.score(method).n, view)]]
        for key in shown:
            value = getattr(ranking.score(method, key[0]), key[1])
            best = several and rounded(value) == tops[key] and view.headline.may_be_best(method, key[0])
            row.append(marked(number(value), best))
        rows.append(row + [number(count, 0) for count in (compared.standing(method) if compared else ())])
    columns: list[Column | str] = [Column("Kernel with solver", False)]
    for name, statistic in shown:
        title = f"{statistic} {metric(name).name}" if name != "median_rfp" else f"{metric(name).name}, {statistic}"
        columns.append(Column(title, hint=metric(name).sentence))
    if compared:
        hint = f"number of other methods, by {metric(compared.key).name}: corrected p of at most {LEVEL}"
        columns += [Column("better than", hint=hint), Column("worse than", hint=hint)]
    over = plural(len(view.dataset.units), view.word, view.words)
    caption = [
        f"{view.dataset.name}: means and medians over {over}. ",
        STAR,
        " best of each column",
        star_rule(view.headline),
    ]
    caption.append(footnote(ranking.order, view.dataset.transductive))
    return table(caption, columns, rows, class_="dense")


def _only(count: int, view: View) -> Markup | None:
    """Return how many tasks a method has scores for, where it is not all of them."""
    total = len(view.dataset.units)
    return tag("small", f" ({count} of {total})") if count < total else None


def _curves(view: View) -> list[Markup]:
    """Return what the cumulative curves show, and the curves of AUC and ROC50."""
    ranking, units = view.ranking, unit_scores(view.dataset)
    methods, which = drawn(ranking.order)
    plots, note = [], footnote(methods, view.dataset.transductive)
    for name in ("auc", "roc50"):
        if name not in ranking.scores or (name == "roc50" and view.few_negatives):
            continue
        values = units.set_index(["kernel", "solver"])[name]
        series = [(*method, *at_least(values.loc[[tuple(method)]])) for method in methods]
        title = metric(name).name
        label = f"{view.dataset.name}: number of {view.words} with {title} of at least x, {len(series)} methods"
        svg = families_figure(series, title, view.words, label, view.dataset.transductive)
        caption = f"Number of {view.words} with {title} ≥ x"
        caption += f".{note}" if note else ""
        plots.append(tag("figure", svg, tag("figcaption", caption), class_="wide"))
    if not plots:
        return []
    intro = (
        f"Number of {view.words} that reach a given score; higher lines are better. "
        f"{which}The legend is sorted by mean {view.metric.name}."
    )
    return [paragraph(intro), tag("div", plots, class_="wides")]


def drawn(order: list[Method]) -> tuple[list[Method], str]:
    """Return the methods whose curves are drawn, and a sentence if they are not all.

    Parameters
    ----------
    order : list of Method
        The best first.

    Returns
    -------
    (list[Method], str)
        The methods, and a sentence that says which were left out; empty where all are drawn.
    """
    if len(order) <= MOST_LINES:
        return order, ""
    best: dict[str, Method] = {}
    for method in order:
        best.setdefault(method.kernel, method)
    methods = list(best.values())[:MOST_LINES]
    rest = len(best) - len(methods)
    few = f", for the best {len(methods)} of {len(best)} kernels" if rest else ""
    return methods, f"For each kernel, only the solver with the better mean is shown{few}. "
