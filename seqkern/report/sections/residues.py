"""Section on data sets of residues: states and segments of whole chains, with the field's scores."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.residue_results import CONFIDENCE
from seqkern.formats.residues import WINDOW
from seqkern.report import residue_data as data
from seqkern.report.compared import ComparedChains
from seqkern.report.dataset_results import Method
from seqkern.report.markup import Markup, details, tag, text_of
from seqkern.report.page_frame import Column, number, panel, plural, rounded, table
from seqkern.report.plots import MOST_NAMED, ends_figure, lengths_figure, letters_figure, state_title
from seqkern.report.profile_pictures import track_svg
from seqkern.report.residue_data import Judged, has_relevances, information, weights_by_position
from seqkern.report.sections.scores import STAR, UNMARKED, marked, star_rule
from seqkern.report.sections.tests import exponent
from seqkern.report.view import View, method_name, paragraph

MOST_LINES = 3
"""Maximum number of methods drawn beside the true segments."""
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
INTRO = (
    "Every test residue of all splits counts once. {q} is the share of residues whose state is predicted "
    "correctly, Q of a state the share of its residues predicted correctly. SOV measures how well whole "
    "segments (helices, strands, loops) are predicted, pooled over all segments. SOV'94 (Rost, Sander & "
    "Schneider 1994) and SOV'99 (Zemla et al. 1999) are different scores: SOV'94 is often ten points higher "
    "or more, so do not compare one with the other. Because SOV'94 rewards helices predicted in pieces, its "
    "best value is not marked. The scores section gives means over {words} and their spread."
)
CHAINS = (
    "Residues of the same chain are not independent, so intervals and tests are by chain: the 95 % interval "
    "of the share of correct residues reflects how much chains differ, and Wilcoxon's signed-rank test "
    "compares each chain's share with that of the first method (Holm's correction for all pairs of "
    "methods)."
)
WEIGHTS = (
    "Such weights exist for the kernel window with vector_kernel: linear and a solver that takes features, "
    "such as primal_svc. Without such a method, information values of the data are shown here."
)
GAPS = " Residues without a label are not scored; segments end at them."


def residues_section(view: View) -> Markup | None:
    """Return the section on states and segments; None if the samples are not residues."""
    dataset = view.dataset
    order = [*view.ranking.order, *(m for m in dataset.done if m not in view.ranking.order)]
    judged = data.judged_residues(dataset, order)
    if not judged:
        return None
    best = next(iter(judged.values()))
    gaps = GAPS if len(best.true) < best.lengths.sum() else ""
    intro = INTRO.format(q=f"Q{len(best.classes)}", words=view.words) + gaps
    return view.section(
        "residues",
        "Residues: states and segments",
        paragraph(intro),
        _scores(view, judged),
        _states(view, judged),
        _segments(view, judged),
        _ends(view, judged),
        track_parts(view, judged),
        importance_parts(view, judged),
    )


def _text(method: Method) -> str:
    """Return the name of a method as plain text."""
    return f"{method.kernel}, {method.solver}"


def _best_marked(view: View, judged: dict[Method, Judged], keys: Sequence[str]) -> list[list[Markup]]:
    """Return one list of cells for each method, the best of each column marked, except for SOV'94."""
    values = [[one.scores[key] for key in keys] for one in judged.values()]
    allowed = [view.headline.beats_chance(method) is not False for method in judged]
    tops = [
        max((rounded(v) for v, may in zip(column, allowed, strict=True) if may and v == v), default=None)
        for column in zip(*values, strict=True)
    ]
    several = len(judged) > 1
    return [
        [
            marked(number(v), several and may and key not in UNMARKED and rounded(v) == top)
            for key, v, top in zip(keys, row, tops, strict=True)
        ]
        for row, may in zip(values, allowed, strict=True)
    ]


def _scores(view: View, judged: dict[Method, Judged]) -> list[Markup]:
    """Return the table of scores over all states, with the comparison by chain."""
    classes = next(iter(judged.values())).classes
    q, first = f"q{len(classes)}", next(iter(judged))
    compared = view.comparisons.get(view.ranking.headline)
    tests = data.against_first(first, compared) if isinstance(compared, ComparedChains) else {}
    rows = []
    for (method, one), cells in zip(judged.items(), _best_marked(view, judged, [q, *OVERALL]), strict=True):
        low, high = one.interval[2:]
        cells.insert(1, number(None) if low != low else Markup(f"{number(low)} to {number(high)}"))
        if tests:
            ahead, behind, p = tests.get(method, (None, None, None))
            cells += [number(None), number(None)] if p is None else [Markup(f"{ahead} : {behind}"), exponent(p)]
        rows.append([method_name(method), *cells])
    columns: list[Column | str] = [
        Column("Kernel with solver", False),
        Column(q.upper(), hint="share of residues predicted correctly"),
    ]
    columns += [Column("95 % interval, by chain", hint="of the share of residues predicted correctly")]
    columns += [Column(name, hint=hint) for name, hint in OVERALL.values()]
    if tests:
        columns += [
            Column("Chains better : worse", hint="than by the first method"),
            Column("p, by chain", hint="that it differs from the first method"),
        ]
    best = judged[first]
    size = f"{plural(len(best.true), 'residue')} of {plural(len(best.chains), 'test chain')}"
    caption = [f"{view.dataset.name}: {size}. "]
    caption += [STAR, " best of each column", star_rule(view.headline)] if len(judged) > 1 else []
    every = [" Every pair is compared ", view.link("further down", "comparisons"), "."] if tests else None
    return [table(caption, columns, rows), paragraph(CHAINS, every, class_="note")]


def _states(view: View, judged: dict[Method, Judged]) -> Markup:
    """Return the scores of each state: in one table, or with many states one for each score."""
    classes = next(iter(judged.values())).classes
    if len(classes) < WIDE_STATES:
        keys = [f"{key}:{state}" for state in classes for key in STATE_SCORES]
        cells = _best_marked(view, judged, keys)
        first = [tag("th", "Kernel with solver", scope="col", rowspan="2")]
        first += [
            tag("th", state_title(state), scope="colgroup", colspan=str(len(STATE_SCORES)), class_="span")
            for state in classes
        ]
        second = [
            tag("th", name, scope="col", class_="num", title=hint)
            for _ in classes
            for name, hint in STATE_SCORES.values()
        ]
        head = Markup(tag("tr", first) + tag("tr", second))
        rows = [[method_name(method), *row] for method, row in zip(judged, cells, strict=True)]
        columns: list[Column | str] = [Column("Kernel with solver", False), *keys]
        return table(f"{view.dataset.name}: scores of each state", columns, rows, head=head, class_="dense")
    tables = []
    for key, (name, hint) in STATE_SCORES.items():
        cells = _best_marked(view, judged, [f"{key}:{state}" for state in classes])
        rows = [[method_name(method), *row] for method, row in zip(judged, cells, strict=True)]
        columns = [Column("Kernel with solver", False), *(Column(state_title(state)) for state in classes)]
        tables.append(table(f"{view.dataset.name}: {name} of each state: {hint}", columns, rows, class_="dense"))
    return details(f"Scores of each of {len(classes)} states", tables)


def _segments(view: View, judged: dict[Method, Judged]) -> list[Markup]:
    """Return the distribution of segment lengths: figures of the best methods, and a table of all."""
    items = list(judged.items())
    classes, best = items[0][1].classes, items[0][1]
    true = best.segment_lengths()
    predicted = {method: one.segment_lengths(predicted=True) for method, one in items}
    figures = []
    for code, state in enumerate(classes):
        shown = [(_text(method), lengths[code]) for method, lengths in list(predicted.items())[:MOST_LINES]]
        label = f"{view.dataset.name}: lengths of the segments in state {state}, true and predicted"
        figures.append(panel(lengths_figure(state, true[code], shown, label)))
    rows = [["true states", *_length_cells(true)]]
    rows += [[method_name(method), *_length_cells(lengths)] for method, lengths in predicted.items()]
    columns: list[Column | str] = [Column("States", False), *(Column(state_title(state)) for state in classes)]
    caption = f"{view.dataset.name}: segments, and their mean length"
    few = f" They show the best {MOST_LINES} methods." if len(judged) > MOST_LINES else ""
    text = (
        "A predictor that considers each residue separately splits "
        "helices and strands and predicts too many short segments. The figures count the segments of at least each "
        f"length, on a logarithmic scale.{few}"
    )
    drawn = tag("div", figures, class_="thirds")
    return [tag("h4", "Segment lengths"), paragraph(text), drawn, table(caption, columns, rows, class_="dense")]


def _length_cells(lengths: Sequence[npt.NDArray[np.int64]]) -> list[list[object]]:
    """Return the number of segments of each state with their mean length."""
    return [[number(len(one), 0), tag("small", " × "), number(one.mean() if len(one) else None, 1)] for one in lengths]


def _ends(view: View, judged: dict[Method, Judged]) -> list[Markup]:
    """Return the share of correct residues by the distance to the ends of the chain."""
    found = {method: one.near_ends() for method, one in list(judged.items())[:MOST_NAMED]}
    series = [(_text(method), shares) for method, (shares, _) in found.items()]
    label = f"{view.dataset.name}: share of correct residues by distance to the N end and to the C end of the chain"
    text = (
        "A window near an end of the chain holds fewer residues, but the ends are mostly "
        "coil. The numbers of each split, for both ends together, are in termini.tsv of each method."
    )
    n = next(iter(found.values()))[1]
    text += f" Each point represents at least {number(n[n >= data.FEWEST].min(initial=n.max()), 0)} residues"
    text += f"; points for fewer than {data.FEWEST} are left out." if (n < data.FEWEST).any() else "."
    drawn = tag("figure", ends_figure(series, data.DISTANCES, label), class_="wide")
    return [tag("h4", "Accuracy near the ends of the chain"), paragraph(text), drawn]


def track_parts(view: View, judged: dict[Method, Judged]) -> list[Markup | None]:
    """Return the track of one chain: heading, note, text and picture."""
    method, one = next(iter(judged.items()))
    requested = view.dataset.entry.track
    place = data.chosen_chain(one, requested)
    note = None
    if place is None:
        note = paragraph(f"The chain {requested!r} that the configuration names was not tested.", class_="missing")
        place = data.median_chain(one)
    track = data.track_of(one, place)
    middle = f" {track.name} is the chain of moderate length with the median share of correct residues."
    text = [
        "States of one chain, predicted by ",
        method_name(method),
        f" when the chain was in the test set.{'' if requested and not note else middle}",
    ]
    sure = CONFIDENCE[view.dataset.has_probabilities(method)]
    text.append(f" The height of a bar is the confidence, 0 to 9: {sure}. All chains are in states.txt of each method.")
    drawn = tag(
        "div",
        tag("div", track_svg(track), class_="scroll", tabindex="0", role="region", aria_label=track.head()),
        class_="positions",
    )
    return [tag("h4", f"One chain: {track.head()}"), note, paragraph(text), drawn]


def importance_parts(view: View, judged: dict[Method, Judged]) -> list[Markup]:
    """Return the importance of letters by position for each state: heading, text and picture."""
    features, classes = view.dataset.features, next(iter(judged.values())).classes
    for method in judged:
        own = features[(features["kernel"] == method.kernel) & (features["solver"] == method.solver)]
        found = None if has_relevances(view.dataset, method.solver) else weights_by_position(own, classes)
        if found is not None:
            layered = view.dataset.solver(method.solver).has_layers
            text = [
                "Weights of ",
                "the first classifier of " if layered else "",
                method_name(method),
                ": what each residue at each position around the central one adds to the score "
                f"of a state, relative to the mean over all residues at that position; means over {view.words}.",
            ]
            break
    else:
        best = next(iter(judged.values()))
        residues = view.dataset.entry.data.residues
        window = WINDOW if residues is None else residues.window
        found = information(best, window)
        text = [
            "No method here has a weight for each residue and position. The figure shows information values of the "
            "data instead (Garnier, Osguthorpe "
            "& Robson 1978): the log odds ratio of finding a residue at a position around residues in a state, "
            "compared with all others."
        ]
    scale = (
        " Blue supports the state, brown opposes it. Position 0 is the residue itself. Residues "
        "are sorted from most to least hydrophobic; “end” is beyond the end of the chain. "
    )
    label = f"{view.dataset.name}: importance of residues by position. {text_of(text)}"
    drawn = tag(
        "div",
        tag(
            "div",
            letters_figure(found, label),
            class_="scroll",
            tabindex="0",
            role="region",
            aria_label="Importance of letters",
        ),
        class_="positions",
    )
    return [tag("h4", "Importance of residues by position"), paragraph(text, scale, WEIGHTS), drawn]
