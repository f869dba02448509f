"""Section on data sets of residues: states and segments of whole chains, with the field's scores."""

from collections.abc import Sequence
from typing import Any

from seqkern.evaluation.residue_results import CONFIDENCE
from seqkern.methods.compared import ComparedChains
from seqkern.methods.study_results import Method
from seqkern.report import residue_data as data
from seqkern.report.markup import Markup, text_of
from seqkern.report.page_frame import Column, macro, method_name, number, plural, render, table
from seqkern.report.plots import letters_figure, state_title
from seqkern.report.profile_pictures import track_svg
from seqkern.report.residue_data import Judged, has_relevances, weights_by_position
from seqkern.report.sections.scores import STAR, UNMARKED, star_rule, starred, top
from seqkern.report.view import METHOD, View, section

WIDE_STATES = 4
"""Number of states above which each score of single states has a folded table."""
OVERALL = {
    "sov94": ("SOV'94", "segment overlap as defined in 1994; above 1 where helices are predicted in pieces"),
    "sov99": ("SOV'99", "segment overlap as corrected in 1999"),
    "sov99_chain": ("SOV'99, mean of chains", "each chain counts equally"),
}
STATE_SCORES = {
    "q": ("Q", "share of the residues in this state that are predicted correctly"),
    "mcc": ("MCC", "Matthews' correlation of this state against all others"),
    "sov99": ("SOV'99", "segment overlap of this state"),
}


@section("residues", "Residues: states and segments")
def residues_section(view: View) -> dict[str, Any] | None:
    """Find states and segments; None if the samples are not residues."""
    dataset = view.dataset
    judged = data.judged_residues(
        dataset, [*view.ranking.order, *(m for m in dataset.done if m not in view.ranking.order)]
    )
    if not judged:
        return None
    best = next(iter(judged.values()))
    compared = view.comparisons.get(view.ranking.headline)
    return {
        "states": len(best.classes),
        "gaps": len(best.true) < best.lengths.sum(),
        "compared": isinstance(compared, ComparedChains),
        "overall": _scores(view, judged),
        "wide": len(best.classes) >= WIDE_STATES,
        "of_states": _states(view, judged),
        "track": track_parts(view, judged),
        "importance": importance_parts(view, judged),
    }


def _best_marked(view: View, judged: dict[Method, Judged], keys: Sequence[str]) -> list[list[Markup]]:
    """Return one list of cells for each method, the best of each column marked, except for SOV'94."""
    may = [view.headline.beats_chance(method) is not False for method in judged]
    columns = []
    for key in keys:
        values = [one.scores[key] for one in judged.values()]
        best = top(values, may, True) if len(judged) > 1 and key not in UNMARKED else None
        columns.append(starred(values, may, best))
    return [list(row) for row in zip(*columns, strict=True)]


def _scores(view: View, judged: dict[Method, Judged]) -> Markup:
    """Return the table of scores over all states."""
    best, rows = next(iter(judged.values())), []
    q = f"q{len(best.classes)}"
    for (method, one), cells in zip(judged.items(), _best_marked(view, judged, [q, *OVERALL]), strict=True):
        low, high = one.interval[2:]
        cells.insert(1, number(None) if low != low else Markup(f"{number(low)} to {number(high)}"))
        rows.append([method_name(method), *cells])
    columns = [
        METHOD,
        Column(q.upper(), hint="share of residues predicted correctly"),
        Column("95% interval, by chain", hint="of the share of residues predicted correctly"),
        *(Column(name, hint=hint) for name, hint in OVERALL.values()),
    ]
    size = f"{plural(len(best.true), 'residue')} of {plural(len(best.chains), 'test chain')}"
    stars = [STAR, " best of each column", star_rule(view.headline)] if len(judged) > 1 else []
    return table([f"{view.dataset.name}: {size}. ", *stars], columns, rows)


def _states(view: View, judged: dict[Method, Judged]) -> list[Markup]:
    """Return the scores of each state, one table for each score."""
    classes, name = next(iter(judged.values())).classes, view.dataset.name
    columns, tables = [METHOD, *(Column(state_title(state)) for state in classes)], []
    for key, (score, hint) in STATE_SCORES.items():
        cells = _best_marked(view, judged, [f"{key}:{state}" for state in classes])
        rows = [[method_name(method), *row] for method, row in zip(judged, cells, strict=True)]
        tables.append(table(f"{name}: {score} of each state: {hint}", columns, rows, class_="dense"))
    return tables


def track_parts(view: View, judged: dict[Method, Judged]) -> Markup:
    """Return the track of one chain: heading, note, text and picture."""
    method, one = next(iter(judged.items()))
    requested = view.dataset.entry.track
    place = data.chosen_chain(one, requested)
    track = data.track_of(one, data.median_chain(one) if place is None else place)
    content = {
        "method": method,
        "track": track,
        "svg": track_svg(track),
        "untested": repr(requested) if place is None else None,
        "chosen": requested and place is not None,
        "confidence": CONFIDENCE[view.dataset.has_probabilities(method)],
    }
    return render("residues", "track", content)


def importance_parts(view: View, judged: dict[Method, Judged]) -> Markup | None:
    """Return the importance of letters by position for each state: heading, text and picture; None without weights."""
    features, classes = view.dataset.features, next(iter(judged.values())).classes
    for method in judged:
        own = features[(features["kernel"] == method.kernel) & (features["solver"] == method.solver)]
        found = None if has_relevances(view.dataset, method.solver) else weights_by_position(own, classes)
        if found is not None:
            layered = view.dataset.solver(method.solver).has_layers
            what = render("residues", "letters", {"view": view, "method": method, "layered": layered})
            label = f"{view.dataset.name}: importance of residues by position. {text_of(what).strip()}"
            drawn = macro("scrolling", letters_figure(found, label), "Importance of letters")
            return render("residues", "importance", {"what": what, "figure": drawn})
    return None
