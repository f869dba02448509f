"""Tables of scores: kernels × solvers, the other metrics, every fold or family."""

from collections.abc import Sequence

import numpy as np

from seqkern.methods.baselines import BASELINES
from seqkern.report.compared import LEVEL, Compared, enough
from seqkern.report.curves import at_least
from seqkern.report.dataset_results import Method
from seqkern.report.headline import Headline
from seqkern.report.markup import Markup, details, tag
from seqkern.report.page_frame import Column, number, plural, rounded, spread, table, turned
from seqkern.report.plots import families_figure
from seqkern.report.sections.fitting import threshold_sentence
from seqkern.report.sections.tests import verdicts
from seqkern.report.sentences import footnote, metric
from seqkern.report.tables import Score, unit_scores
from seqkern.report.view import View, method_name, method_names, paragraph
from seqkern.solvers.solver_specs import TAKES

# Table of the trivial baselines: their scores, and what each one does.


def baselines_table(view: View) -> Markup | None:
    """Return the table of baselines, best first; None where no baseline was run."""
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


MOST_ROWS = 12
UNMARKED = ("sov94", "coverage_90")
"""Scores whose best value is not marked: SOV'94 is higher for helices predicted in pieces, coverage has a target."""
MISSING = tag("span", "missing", class_="missing", title="this combination gave no result")
STAR = tag("span", "★", class_="star", title="best", aria_label="best", role="img")


def scores_section(view: View) -> Markup:
    """Return the table of kernels × solvers and the table of all metrics."""
    dataset, ranking = view.dataset, view.ranking
    if not ranking.order:
        text = "No combination of kernel and solver gave a result for this data set."
        return view.section("scores", "Scores", paragraph(text, class_="missing"))
    name = view.metric.name
    count = ranking.score(ranking.best[0]).n
    over = f"{count} {view.word if count == 1 else view.words}"
    mean = f"mean {name} ± standard deviation over {over}" if count > 1 else f"{name} of one {view.word}"
    lowest = "" if view.metric.higher else ", that is lowest"
    caption = [f"{dataset.name}: {mean}. ", *_legend(view, f" best{lowest} (to the digits shown)")]
    rows = [
        [kernel, *(_headline_cell(view, Method(kernel, solver), count) for solver in dataset.solvers)]
        for kernel in dataset.kernels
    ]
    columns, rows = turned("Solver", [Column("Kernel", False), *dataset.solvers], rows)
    grid = table(caption, columns, rows, class_="grid")
    about = view.metric.explained(dataset.kind == "multiclass")
    if view.few_negatives:
        about += " No test set holds more than 50 negatives, so ROC50 equals the AUC."
    cut = threshold_sentence(view)
    rest = [_not_run(view), paragraph(cut) if cut else None, _all_metrics(view), baselines_table(view)]
    return view.section("scores", "Scores", paragraph(about), grid, *rest)


def _not_run(view: View) -> Markup | None:
    """Return a text on the combinations of kernel and solver that were not run, and why."""
    found = view.dataset.unsuitable
    if not found:
        return None
    takes = {TAKES[view.dataset.solver(method.solver).input] for method in found}
    because = f", because the solver takes {' or '.join(sorted(takes))}, and the kernel has none, or has transforms."
    return paragraph("– not run: ", method_names(found), because)


def _legend(view: View, text: str, *, classes: bool = False) -> list[object]:
    """Return the explanation of the star; nothing if there is only one method."""
    return [STAR, text, star_rule(view.headline, classes=classes)] if len(view.ranking.order) > 1 else []


def star_rule(headline: Headline, *, classes: bool = False) -> str:
    """Return the clause that says which methods have no star, ending with a full stop."""
    found = [headline.beats_chance(method) for method in headline.methods]
    if found and not any(one is not False for one in found):
        return f". No star is given: no method is significantly better than {headline.reference}."
    tested = any(one is not None for one in found)
    text = f", among methods significantly better than {headline.reference}" if tested else ""
    if classes and headline.dataset.kind != "real":
        text += "; for scores of predicted classes, among those that predict more than one class in most test sets"
    return f"{text}."


def marked(text: object, best: bool) -> Markup:
    """Return a table cell of numbers, the best marked with a star, bold and a tint: not by colour alone."""
    return tag("td", STAR, " ", tag("strong", text), class_="num best") if best else tag("td", text, class_="num")


def _headline_cell(view: View, method: Method, count: int) -> Markup:
    """Return a cell of the table of kernels × solvers."""
    score = view.ranking.score(method)
    if method not in view.dataset.methods:
        return number(None)
    if not score.n:
        return MISSING
    part = tag("small", f" ({score.n} of {count})") if score.n < count else None
    best = method in view.ranking.best and len(view.ranking.order) > 1
    best = best and view.headline.may_be_best(method, view.ranking.headline)
    return marked([spread(score.mean, score.sd), part], best)


def _all_metrics(view: View) -> Markup:
    """Return all metrics of all methods, best method first."""
    ranking = view.ranking
    names = list(ranking.scores)
    if view.dataset.residues:  # the share that is right has its own name, and the next section has more of states
        names = [name for name in names if ":" not in name and name not in ("accuracy", "sov99_chain")]
    tops = {name: _top(view, name) for name in names}
    rows = []
    for method in [*ranking.order, *(m for m in view.dataset.methods if m not in ranking.order)]:
        cells = []
        for name in names:
            score = ranking.score(method, name)
            best = len(ranking.order) > 1 and score.n > 0 and rounded(score.mean) == tops[name]
            best = best and name not in UNMARKED and view.headline.may_be_best(method, name)
            cells.append(marked(spread(score.mean, score.sd), best))
        if not any(ranking.score(method, name).n for name in names):
            cells = [MISSING] * len(names)
        rows.append([method_name(method), *cells])
    columns: list[Column | str] = [
        Column("Kernel with solver", False),
        *(Column(metric(n).name, hint=metric(n).sentence) for n in names),
    ]
    every = f"{view.dataset.name}: every metric, mean ± standard deviation. "
    caption = [every, *_legend(view, " best of each column", classes=True)]
    whole = table(caption, columns, rows, class_="dense")
    # the next section shows the means that matter for many tasks
    long = view.dataset.several and len(rows) > MOST_ROWS
    return details(f"Every metric of {len(rows)} combinations", whole) if long else whole


def _top(view: View, name: str) -> float | None:
    """Return a metric's best mean, as shown, among the methods with the most values that may have a star."""
    scores = view.ranking.scores[name]
    most = max(score.n for score in scores.values())
    means = [
        rounded(score.mean)
        for method, score in scores.items()
        if score.n == most and score.n and view.headline.may_be_best(method, name)
    ]
    return (max if metric(name).higher else min)(means, default=None)


def top_of_row(row: Sequence[float], may: Sequence[bool], higher: bool) -> float | None:
    """Return the best value as shown, among those that may have a star; None where there is nothing to compare."""
    known = [rounded(value) for value, ok in zip(row, may, strict=True) if ok and not np.isnan(value)]
    several = np.count_nonzero(~np.isnan(row)) > 1
    return (max if higher else min)(known, default=None) if several else None


def units_section(view: View) -> Markup | None:
    """Return the headline metric of every fold, family or task, one column for each method."""
    dataset, ranking = view.dataset, view.ranking
    if ranking.metric is None:
        return None
    values = unit_scores(dataset).set_index(["unit", "kernel", "solver"])[ranking.metric].to_dict()
    may = [view.headline.may_be_best(method, ranking.headline) for method in dataset.methods]
    rows = []
    for unit in dataset.units:
        row = [values.get((unit, *method), np.nan) for method in dataset.methods]
        top = top_of_row(row, may, view.metric.higher)
        cells = [marked(number(value), ok and rounded(value) == top) for value, ok in zip(row, may, strict=True)]
        rows.append([unit, *cells])
    columns: list[Column | str] = [
        Column(view.word.capitalize(), False),
        *(f"{kernel} {solver}" for kernel, solver in dataset.methods),
    ]
    caption: list[object] = [f"{dataset.name}: {view.metric.name} of each {view.word}. "]
    caption += _legend(view, " best of each row")
    whole = table(caption, columns, rows, head=_two_rows(view), class_="units")
    title = f"Each {view.word}"
    if len(rows) <= MOST_ROWS:
        return view.section("units", title, whole)
    more = " More metrics are in families.tsv." if dataset.several else ""
    text = paragraph(f"One row for each of {len(rows)} {view.words}; a dash where the score is undefined.{more}")
    return view.section("units", title, text, details(f"Table of {len(rows)} {view.words}", whole))


def _two_rows(view: View) -> Markup:
    """Return a table header with the kernels above their solvers."""
    dataset = view.dataset
    first = [tag("th", view.word.capitalize(), scope="col", rowspan="2")]
    for kernel in dataset.kernels:
        width = sum(method.kernel == kernel for method in dataset.methods)
        first.append(tag("th", kernel, scope="colgroup", colspan=str(width), class_="span"))
    second = [tag("th", method.solver, scope="col", class_="num") for method in dataset.methods]
    return Markup(tag("tr", first) + tag("tr", second))


# Results over many tasks, such as families: the methods' means, and how many tasks reach each score.

MOST_LINES = 16


def families_section(view: View) -> Markup | None:
    """Return the table of means and the cumulative curves; None for a single task or real labels."""
    if not view.dataset.several or view.dataset.kind == "real" or not view.ranking.order:
        return None
    return view.section("families", f"Scores over {view.words}", _means(view), *_curves(view))


def _means(view: View) -> Markup:
    """Return the field's usual table of means, best first, and each method's standing in the tests."""
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
    """Return the number of tasks that a method has scores for, if not all."""
    total = len(view.dataset.units)
    return tag("small", f" ({count} of {total})") if count < total else None


def _curves(view: View) -> list[Markup]:
    """Return the cumulative curves of AUC and ROC50, with an explanation."""
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
    """Return the methods (best first) whose curves are drawn, and a sentence naming the others; empty if all are
    drawn.
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


# Overview of several data sets: one table, one mean for each method, one curve.

LEAST = 3


class Overview:
    """Headline metric of every method on every data set, for three or more data sets."""

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
    """Return the Overview; None for fewer than three data sets, or where they share no metric or no method."""
    metrics = {view.ranking.metric for view in views}
    alike = len(metrics) == 1 and None not in metrics
    return Overview(views) if len(views) >= LEAST and alike and _shared(views) else None


def _shared(views: Sequence[View]) -> list[Method]:
    """Return the methods that the study has on at least two data sets, in order of appearance."""
    methods = dict.fromkeys(method for view in views for method in view.dataset.methods)
    return [method for method in methods if sum(method in view.dataset.methods for view in views) > 1]


def overall_finding(overview: Overview) -> Markup | None:
    """Return a sentence on the best method over all data sets; None if no method has been run on all."""
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
    """Return the table of data sets × methods, and the number of data sets that reach each score."""
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
    """Return the cells of one row, the best value marked if its method may have a star."""
    top = top_of_row(values, may, metric(key).higher)
    cells = []
    spreads: Sequence[float | None] = deviations or [None] * len(values)
    for value, sd, allowed in zip(values, spreads, may, strict=True):
        best = allowed and rounded(value) == top
        cells.append(MISSING if np.isnan(value) else marked(spread(value, sd), best))
    return cells


def _curve(overview: Overview, name: str) -> Markup | None:
    """Return the curve "number of data sets with at least this score"; None unless scores are shares."""
    methods, which = drawn(list(overview.means))
    if overview.metric == "rmse" or not methods:
        return None
    series = [(*method, *at_least(overview.values[method])) for method in methods]
    label = f"Number of data sets with {name} of at least x, {len(series)} methods"
    svg = families_figure(series, name, "data sets", label, overview.transductive)
    caption = f"Number of data sets with {name} ≥ x. {which}{footnote(methods, overview.transductive)}"
    return tag("figure", svg, tag("figcaption", caption), class_="wide")
