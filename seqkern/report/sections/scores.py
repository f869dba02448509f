"""Section on the scores: kernels × solvers, every metric, baselines; how the best of a column is marked."""

from collections.abc import Sequence
from typing import Any

from seqkern.methods.baselines import BASELINES
from seqkern.methods.headline import Headline
from seqkern.methods.study_results import Method
from seqkern.report.markup import Markup, escape
from seqkern.report.page_frame import Column, details, listing, method_name, number, rounded, spread, table, turned
from seqkern.report.sections.fitting import threshold_sentence
from seqkern.report.sentences import metric
from seqkern.report.view import METHOD, View, section
from seqkern.solvers.solver_specs import TAKES

MOST_ROWS, MOST_METRICS = 12, 7
RARE = ("roc50", "median_rfp", "accuracy", "brier", "log_loss", "sharpness", "xi_alpha", "span", "radius_margin")
"""Scores that are folded where there are more than fit side by side."""
UNMARKED = ("sov94", "coverage_90", "sharpness")
"""Scores whose best value is not marked: SOV'94 is higher for helices predicted in pieces, coverage has a target,
and sharpness says nothing about the truth."""
MISSING = Markup('<span class="missing" title="this combination gave no result">missing</span>')
STAR = Markup('<span class="star" title="best" aria-label="best" role="img">★</span>')

# The best of several values, marked with a star.


def top(values: Sequence[float], may: Sequence[bool], higher: bool) -> float | None:
    """Return the best value as shown, among those that may have a star; None where there is none."""
    known = [rounded(value) for value, ok in zip(values, may, strict=True) if ok and value == value]
    return (max if higher else min)(known, default=None)


def starred(
    values: Sequence[float], may: Sequence[bool], best: float | None, cells: Sequence[object] | None = None
) -> list[Markup]:
    """Return cells, by default the values; those that equal the best, as shown, have a star if they may have one."""
    shown = map(number, values) if cells is None else cells
    return [
        marked(cell, bool(ok) and rounded(value) == best) for value, ok, cell in zip(values, may, shown, strict=True)
    ]


def marked(text: object, best: bool) -> Markup:
    """Return a table cell of numbers, the best marked with a star, bold and a tint: not by colour alone."""
    inside = escape(text)
    return Markup(
        f'<td class="num best">{STAR} <strong>{inside}</strong></td>' if best else f'<td class="num">{inside}</td>'
    )


def star_legend(view: View, text: str, *, classes: bool = False) -> list[object]:
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


# The section.


@section("scores", "Scores")
def scores_section(view: View) -> dict[str, Any]:
    """Make the tables of kernels × solvers, of all metrics and of the baselines."""
    dataset, ranking, name = view.dataset, view.ranking, view.metric.name
    if not ranking.order:
        return {"missing": "No combination of kernel and solver gave a result for this data set."}
    count = ranking.score(ranking.best[0]).n
    over = f"{count} {view.word if count == 1 else view.words}"
    mean = f"mean {name} ± standard deviation over {over}" if count > 1 else f"{name} of one {view.word}"
    lowest = "" if view.metric.higher else ", that is lowest"
    caption = [f"{dataset.name}: {mean}. ", *star_legend(view, f" best{lowest} (to the digits shown)")]
    rows = [
        [kernel, *(_headline_cell(view, Method(kernel, solver), count) for solver in dataset.solvers)]
        for kernel in dataset.kernels
    ]
    columns, rows = turned("Solver", [Column("Kernel", False), *dataset.solvers], rows)
    whole = _all_metrics(view)
    return {
        "about": view.metric.explained(dataset.kind == "multiclass"),
        "grid": table(caption, columns, rows, class_="grid"),
        "takes": sorted({TAKES[dataset.solver(method.solver).input] for method in dataset.unsuitable}),
        "threshold": threshold_sentence(view),
        "metrics": whole,
        # the next section shows the means that matter for many tasks
        "long": dataset.several and len(dataset.methods) > MOST_ROWS,
        "baselines": _baselines_table(view),
    }


def _headline_cell(view: View, method: Method, count: int) -> Markup:
    """Return a cell of the table of kernels × solvers."""
    score = view.ranking.score(method)
    if method not in view.dataset.methods:
        return number(None)
    if not score.n:
        return MISSING
    part = Markup(f"<small> ({score.n} of {count})</small>") if score.n < count else None
    best = method in view.ranking.best and len(view.ranking.order) > 1
    best = best and view.headline.may_be_best(method, view.ranking.headline)
    return marked([spread(score.mean, score.sd), part], best)


def _all_metrics(view: View) -> list[Markup]:
    """Return the metrics of all methods, best method first: a table of the usual ones, and one of the rest, folded."""
    ranking, headline = view.ranking, view.headline
    names = list(ranking.scores)
    if view.dataset.residues:  # the share that is right has its own name, and the next section has more of states
        names = [name for name in names if ":" not in name and name not in ("accuracy", "sov99_chain")]
    methods = [*ranking.order, *(m for m in view.dataset.methods if m not in ranking.order)]
    shown = {}
    for name in names:
        scores = [ranking.score(method, name) for method in methods]
        means, most = [score.mean for score in scores], max(score.n for score in scores)
        may = [score.n > 0 and headline.may_be_best(m, name) for m, score in zip(methods, scores, strict=True)]
        best = top(means, [ok and score.n == most for ok, score in zip(may, scores, strict=True)], metric(name).higher)
        best = None if name in UNMARKED or len(ranking.order) < 2 else best
        cells = starred(means, may, best, [spread(score.mean, score.sd) for score in scores])
        missing = [not any(ranking.score(method, one).n for one in names) for method in methods]
        shown[name] = [MISSING if gone else cell for gone, cell in zip(missing, cells, strict=True)]
    rare = [name for name in names if name in RARE] if len(names) > MOST_METRICS else []
    tables: list[Markup] = []
    for part in ([name for name in names if name not in rare], rare):
        rows = [[method_name(m), *cells] for m, *cells in zip(methods, *(shown[n] for n in part), strict=True)]
        columns = [METHOD, *(Column(metric(n).name, hint=metric(n).sentence) for n in part)]
        caption: list[object] = [
            f"{view.dataset.name}: {'more ' if tables else ''}metrics, mean ± standard deviation. "
        ]
        caption += star_legend(view, " best of each column", classes=True)
        tables += [table(caption, columns, rows, class_="dense")] if part else []
    return [tables[0], *(details(f"{len(rare)} more metrics", one) for one in tables[1:])]


def _baselines_table(view: View) -> Markup | None:
    """Return the table of reference methods and trivial baselines, best first; None where none was run."""
    values, score = view.headline.baselines.units(view.headline.key), view.metric.name
    rows = [
        {
            Column("Baseline", False): BASELINES[name].title,
            Column("Kind", False): BASELINES[name].role,
            score: spread(values[name].mean(), values[name].std()),
            Column("Rule", False): BASELINES[name].sentence,
        }
        for name in view.headline.baseline_entries
    ]
    return listing(
        f"{view.dataset.name}: {score} of reference methods and trivial baselines, fitted on the same training sets.",
        rows,
    )
