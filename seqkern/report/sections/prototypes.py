"""Typical sequences of each class, and what a metric that was learned with them finds relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number, plural
from seqkern.figures.residues import letters_figure
from seqkern.report.dataset_results import KEYS
from seqkern.report.files import rows_by, rows_by_value
from seqkern.report.hard_sequences import sequence_cell, stored_sequences
from seqkern.report.relevance import has_relevances, mean_relevances, relevances_by_position
from seqkern.report.view import View, method_name, paragraph

if TYPE_CHECKING:
    import pandas as pd

SHOWN, LISTED = 5, 20
RELEVANCE = (
    "The metric was learned with the prototypes: the relevance of a feature is its share of the squared distance, for "
    "features divided by their standard deviation; all relevances sum to 1. Relevance supports no class. Features that "
    "carry the same information share it. Values are means over "
)


def prototypes_section(view: View) -> Markup | None:
    """Return the typical sequences of each class for each method with prototypes; None without.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None where no method has prototypes.
    """
    found = view.dataset.exemplars
    if not len(found):
        return None
    sequences = stored_sequences(view.dataset, dict.fromkeys(found["id"]))
    parts: list[object] = []
    for (kernel, solver), rows in rows_by(found, ["kernel", "solver"]):
        parts += _of_method(view, kernel, solver, rows, sequences)
        if has_relevances(view.dataset, solver):
            parts += _relevances(view, kernel, solver)
    intro = view.sample_text(
        "A prototype stands for a class: a new sequence gets the class of the nearest one. Below are the training "
        "sequences nearest to the prototypes of their class, as exemplars of it."
    )
    return view.section("prototypes", view.sample_text("Typical sequences"), paragraph(intro), parts)


def _of_method(
    view: View, kernel: str, solver: str, rows: pd.DataFrame, sequences: dict[str, str]
) -> list[Markup | None]:
    """Return the tables of one method: for each class its exemplars, the most frequent first."""
    name, splits = method_name((kernel, solver)), len(rows[KEYS].drop_duplicates())
    lines: list[list[object]] = []
    more: list[list[object]] = []
    counts = []
    for label, own in rows_by_value(rows, "class"):
        own = own.assign(first=own["rank"] == 1)
        groups = own.groupby("id", sort=False).agg({"first": "sum", "rank": "count", "distance": "mean"}).reset_index()
        groups = groups.sort_values(["first", "rank", "distance", "id"], ascending=[False, False, True, True])
        for place, one in enumerate(groups.head(LISTED).to_dict("records")):
            shown = [sequence_cell(sequences[one["id"]]) if one["id"] in sequences else number(None)]
            line = [label, one["id"], f"{one['first']} of {splits}", f"{one['rank']} of {splits}"]
            (lines if place < SHOWN else more).append([*line, number(one["distance"]), *(shown if sequences else [])])
        sizes = own[own["first"]].groupby(KEYS, sort=False).size()
        least, most = int(sizes.min()), int(sizes.max())
        counts.append(f"{label} {least if least == most else f'{least} to {most}'}")
    columns: list[Column | str] = [
        Column("Class", False),
        Column("Name", False),
        Column(f"Nearest in {view.words}", hint="training sets in which it is the nearest to a prototype"),
        Column(f"Listed in {view.words}", hint="training sets in which it is among the five nearest"),
        Column("Distance", hint="squared, from the prototype; mean over the training sets that list it"),
    ]
    if sequences:
        columns.append(Column("Window" if view.dataset.residues else "Sequence", False))
    caption = [f"{view.dataset.name}: exemplars of ", name]
    rest = table([*caption, ", continued"], columns, more, class_="ids") if more else None
    return [
        tag("h4", "Exemplars of ", name),
        paragraph(f"Prototypes of each class: {', '.join(counts)}."),
        table(caption, columns, lines, class_="ids"),
        details(f"{plural(len(more), 'further exemplar')}", rest) if more else None,
    ]


def _relevances(view: View, kernel: str, solver: str) -> list[Markup]:
    """Return the relevances of the features: drawn as positions × letters where they have places, else as a table."""
    features = view.dataset.features
    own = features[(features["kernel"] == kernel) & (features["solver"] == solver)]
    name = method_name((kernel, solver))
    if not len(own):
        text = ": the features of this kernel have no names or are too many; relevances are not listed."
        return [paragraph(name, text)]
    found = mean_relevances(own)
    parts = [tag("h4", "Relevances of ", name), paragraph(f"{RELEVANCE}{view.words}.")]
    drawn = relevances_by_position(own)
    if drawn is not None:
        label = f"{view.dataset.name}: relevance of letters by position, {kernel} with {solver}"
        scroll = tag(
            "div", letters_figure(drawn, label), class_="scroll", tabindex="0", role="region", aria_label="Relevances"
        )
        parts.append(tag("div", scroll, class_="positions"))
    rows = [
        [one["feature"], number(one["mean"]), Markup(f"{number(one['min'])} to {number(one['max'])}")]
        for one in found.head(LISTED).to_dict("records")
    ]
    columns: list[Column | str] = ["Feature", Column("Relevance"), Column("Least to largest", False)]
    caption = [f"{view.dataset.name}: most relevant of {plural(len(found), 'feature')} by ", name]
    parts.append(table(caption, columns, rows))
    return parts
