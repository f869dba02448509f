"""Coefficients of least squares on a subset of the features, with their confidence intervals, for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.coefficients import coefficients_figure
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number
from seqkern.figures.residues import state_title
from seqkern.report.files import numbers, rows_by
from seqkern.report.view import View, method_name, paragraph

if TYPE_CHECKING:
    import pandas as pd

MOST = 40
"""Features up to which they are drawn."""
ENDS = ("weight", "low", "high")
FULL = ("full_low", "full_high")


Means: TypeAlias = dict[str, dict[str, dict[str, Any]]]
"""Class to feature to means over the splits."""


def coefficient_parts(view: View) -> list[Markup]:
    """Return, for each method whose solver gives intervals, a figure and a table of the coefficients.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    list
        Empty where no method has intervals.
    """
    found, parts = view.dataset.coefficients, list[Markup]()
    for (kernel, solver), rows in rows_by(found, ["kernel", "solver"]):
        features = list(dict.fromkeys(rows["feature"]))
        name = method_name((kernel, solver))
        if len(features) > MOST:
            text = f": coefficients of {number(len(features), 0)} features are in intervals.tsv of the method."
            parts.append(paragraph(name, text))
            continue
        means, n = _means(rows)
        parts += [tag("h4", "Coefficients of ", name), paragraph(_reading(view, solver, n))]
        label = f"{view.dataset.name}: coefficients of {kernel} with {solver}, with confidence intervals"
        parts.append(tag("figure", coefficients_figure(means, features, label), class_="wide"))
        classes = list(means)
        lines = [[feature, *(_cell(means[c].get(feature), n) for c in classes)] for feature in features]
        columns: list[Column | str] = [Column("Feature", False), *(Column(state_title(c)) for c in classes)]
        caption = [f"{view.dataset.name}: coefficients in the selected subset, by ", name]
        parts.append(details("Table of coefficients", table(caption, columns, lines, class_="dense")))
    return parts


def _means(rows: pd.DataFrame) -> tuple[Means, int]:
    """Return {class: {feature: means over the splits}}, and the number of splits.

    The means are a dict of `ENDS`, over the splits that chose the feature, of `FULL`, over all, and ``chosen``, the
    number of splits that did.
    """
    rows = rows.assign(chosen=rows["selected"] == "1", **{name: numbers(rows[name]) for name in (*ENDS, *FULL)})
    n = len(rows[["task", "split"]].drop_duplicates())
    groups = rows.groupby(["class", "feature"], sort=False)
    table = groups.agg({**dict.fromkeys((*ENDS, *FULL), "mean"), "chosen": "sum"})
    means: Means = {}
    for (state, feature), one in zip(table.index, table.to_dict("records"), strict=True):
        means.setdefault(state, {})[feature] = cast("dict[str, Any]", one)
    return means, n


def _reading(view: View, solver: str, n: int) -> str:
    """Return how to read the figure, in plain words."""
    level = view.dataset.solver(solver).values("level", 0.95)
    text = (
        "A coefficient shows how far a feature moves the decision towards the class (above 0) "
        f"or away from it, with all other features fixed. Dots are selected features with intervals ({100 * level:g} "
        "%); grey bars are the intervals in the model with all features. Intervals of selected features "
        "are too narrow, because the same samples selected and estimated them; the grey intervals are valid."
    )
    if n > 1:
        text += f" All values are means over {n} {view.words}; for selected features, over those that selected them."
    return text


def _cell(one: dict[str, Any] | None, n: int) -> Markup:
    """Return a coefficient with the ends of its interval; a dash for a feature that was never chosen."""
    if one is None or not one["chosen"]:
        return number(None)
    text = f"{number(one['weight'])} ({number(one['low'])} to {number(one['high'])})"
    some = tag("small", f" in {one['chosen']} of {n}") if one["chosen"] < n else ""
    return Markup(f"{text}{some}")
