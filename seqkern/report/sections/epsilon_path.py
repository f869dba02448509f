"""The P-SVM's weights against ε, on the first training set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.epsilon_path import epsilon_path_figure
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number, plural
from seqkern.report.files import rows_by
from seqkern.report.view import View, method_name, paragraph

if TYPE_CHECKING:
    import pandas as pd

NAMED = 8
"""Columns that are named in the figure."""
LISTED = 40
INTRO = (
    "At ε_max no column has a weight; as ε decreases, columns enter one after the other, and some leave again. Columns "
    "that enter early explain most; those that enter at the right end fit what the others left over, noise included."
)


def epsilon_path_section(view: View) -> Markup | None:
    """Return the ε-paths of all P-SVMs on matrices of few columns; None without.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None where there is no path.
    """
    found = rows_by(view.dataset.paths, ["kernel", "solver"])
    parts = [_of_method(view, kernel, solver, rows) for (kernel, solver), rows in found]
    return view.section("path", "Path of ε", paragraph(INTRO), parts) if parts else None


def _of_method(view: View, kernel: str, solver: str, rows: pd.DataFrame) -> list[Markup]:
    """Return figure and table of one method."""
    epsilons = sorted(set(rows["epsilon"]), reverse=True)
    used = float(rows["used"].iloc[0])
    weights: dict[str, list[float]] = {}
    entered: dict[str, float] = {}
    for (feature, _), own in rows_by(rows, ["feature", "column"]):
        own = own.sort_values("epsilon", ascending=False)
        name = str(feature) if feature not in weights else f"{feature} ({own['column'].iloc[0]})"
        weights[name] = own["weight"].tolist()
        entered[name] = float(own.loc[own["weight"] != 0, "epsilon"].max())
    order = sorted(weights, key=lambda name: (-entered[name], -abs(weights[name][-1])))
    nearest = min(range(len(epsilons)), key=lambda i: abs(epsilons[i] - used))
    lines = [
        [name, number(entered[name]), number(weights[name][nearest], 4), number(weights[name][-1], 4)]
        for name in order[:LISTED]
    ]
    task, split = rows["task"].iloc[0], rows["split"].iloc[0]
    where = f"split {split}" if task == "all" else f"{task}, split {split}"
    text = (
        f": training set of {where}. The first {plural(min(NAMED, len(order)), 'column')} to enter are named; "
        f"{plural(len(order), 'column')} of the matrix entered in all."
    )
    label = f"{view.dataset.name}: weights of {kernel} with {solver} against ε"
    columns: list[Column | str] = [
        Column("Column", False),
        Column("Enters at", hint="ε / ε_max, the largest at which it has a weight"),
        Column("Weight at the fit", hint=f"at the ε next to that of the fit, {used:.3g}"),
        Column("Weight at the end", hint=f"at ε = {epsilons[-1]:.3g}"),
    ]
    name = method_name((kernel, solver))
    return [
        paragraph(name, text),
        tag("figure", epsilon_path_figure(epsilons, weights, order[:NAMED], used, label), class_="wide"),
        details(
            "Table of columns", table([f"{view.dataset.name}: path of ε of ", name], columns, lines, class_="dense")
        ),
    ]
