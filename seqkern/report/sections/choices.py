"""What the inner loop chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number
from seqkern.report.dataset_results import DatasetResults, Method
from seqkern.report.files import rows_by, rows_by_value
from seqkern.report.sections.search_settings import afterwards_parts, inner_score_hint, search_sentences
from seqkern.report.sections.weights import is_learned
from seqkern.report.view import View, method_name, paragraph
from seqkern.solvers.free_parameters import ends_domain
from seqkern.study.auto_kernel import AutoKernel
from seqkern.study.kernel_entries import KernelChoice

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 1500


def gridded(dataset: DatasetResults, kernel: str, solver: str) -> dict[str, list[Any]]:
    """Return a dict of parameter to the list of values that the inner loop could choose from; also of ``kernel``.

    Of a range of values, both ends.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    kernel : str
        Name of the kernel in the configuration.
    solver : str
        Name of the solver in the configuration.

    Returns
    -------
    dict of str to list of Any
        Values by parameter.
    """
    entry, grid = dataset.kernel(kernel), dataset.solver(solver).searched()
    if isinstance(entry, AutoKernel):  # the portfolio depends on the data: what was chosen is known
        choices = dataset.choices
        own = (choices["kernel"] == kernel) & (choices["solver"] == solver) & (choices["parameter"] == "kernel")
        return {"kernel": sorted(set(choices["value"][own])), **grid}
    if not isinstance(entry, KernelChoice):
        return grid
    return {"kernel": [one.name for one in entry.candidates], **grid}


def edge_choices(dataset: DatasetResults) -> dict[tuple[str, str, str], str]:
    """Return {(kernel, solver, parameter): "smallest" or "largest"} where that end of a grid was chosen most.

    Only grids of three numbers or more have ends that tell something, and only choices count that left the
    inner loop something to gain: a score of 1 is reached by many values, and says nothing of a wider grid. Beyond the
    smallest or largest value that the solver allows there is no wider one.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.

    Returns
    -------
    dict
        Only ends that were chosen more often than not.
    """
    choices = dataset.choices
    choices = choices[~(choices["inner_score"] >= 1 - 1e-9)]
    result: dict[tuple[str, str, str], str] = {}
    for (kernel, solver, parameter), part in rows_by(choices, ["kernel", "solver", "parameter"]):
        numeric = [_as_number(value) for value in gridded(dataset, kernel, solver).get(parameter, ())]
        grid = [value for value in numeric if value is not None]
        if len(grid) < 3 or len(grid) < len(numeric):
            continue
        chosen = [_as_number(value) for value in part["value"]]
        for name, end in (("smallest", min(grid)), ("largest", max(grid))):
            specs = dataset.solver(solver).specs[:1]  # all have the same parameters
            if chosen.count(end) <= len(chosen) / 2 or any(ends_domain(one, parameter.split(), end) for one in specs):
                continue
            result[kernel, solver, parameter] = name
    return result


def _as_number(value: Any) -> float | None:
    """Return a value as float, or None."""
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def _natural(value: Any) -> tuple[int, float, Any]:
    """Return a sorting key: numbers by value, before words."""
    found = _as_number(value)
    return (1, 0.0, value) if found is None else (0, found, value)


def choices_section(view: View) -> Markup:
    """Return the hyperparameters chosen, summarised, and in full in a folded part.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup
        The section.
    """
    dataset = view.dataset
    choices = _searched(dataset)
    if not len(choices):
        text = "No hyperparameters were searched; every solver ran with the configured values."
        return view.section("choices", "Selected hyperparameters", paragraph(text), *afterwards_parts(view))
    intro = f"{search_sentences(view)} The table shows how often each value was selected."
    rows: list[list[object]] = []
    edges = edge_choices(dataset)
    for (kernel, solver), part in rows_by(choices, ["kernel", "solver"]):
        for parameter, chosen in rows_by_value(part, "parameter"):
            counts = chosen["value"].value_counts()
            order = sorted(counts.index, key=_natural)
            if parameter == "kernel":
                named = gridded(dataset, kernel, solver).get("kernel", order)
                order = [name for name in named if name in counts]
            chips = [tag("span", f"{value} ", tag("small", f"× {counts[value]}"), class_="chip") for value in order]
            end = edges.get((kernel, solver, parameter))
            warning = f" ⚠ mostly the {end} of {len(gridded(dataset, kernel, solver)[parameter])}" if end else None
            score = number(chosen["inner_score"].mean())
            rows.append([method_name((kernel, solver)), parameter, [chips, tag("small", warning)], score])
    columns: list[Column | str] = [
        Column("Kernel with solver", False),
        Column("Hyperparameter", False),
        Column("Value × times selected", False),
        Column("Inner score", hint=inner_score_hint(dataset)),
    ]
    caption = "Hyperparameters selected by the inner loop"
    return view.section(
        "choices",
        "Selected hyperparameters",
        paragraph(intro),
        table(caption, columns, rows),
        _all_choices(view, choices),
        *afterwards_parts(view),
    )


def _searched(dataset: DatasetResults) -> pd.DataFrame:
    """Return the choices of parameters that had a grid (all, where the configuration is not known)."""
    choices = dataset.choices
    choices = choices[np.array([not is_learned(name) for name in choices["parameter"]], dtype=bool)]
    if not dataset.study.solvers or not len(choices):
        return choices
    grids = {method: gridded(dataset, *method) for method in dataset.methods}
    methods = zip(choices["kernel"], choices["solver"], strict=True)
    keep = [name in grids[Method(*method)] for method, name in zip(methods, choices["parameter"], strict=True)]
    return choices[np.array(keep, dtype=bool)]


def _all_choices(view: View, choices: pd.DataFrame) -> Markup:
    """Return every choice as a folded table."""
    keys = ["kernel", "solver", "task", "split"]
    groups = list(rows_by(choices, keys))
    if len(groups) > MOST_ROWS:
        return paragraph(f"All {number(len(groups), 0)} selections are in the choices.tsv files.")
    rows = []
    for (kernel, solver, task, split), part in groups:
        pairs = zip(part["parameter"], part["value"], strict=True)
        values = ", ".join(f"{name} = {value}" for name, value in pairs)
        score = number(part["inner_score"].iloc[0])
        rows.append([method_name((kernel, solver)), *view.place(task, split), values, score])
    columns: list[Column | str] = [
        Column("Kernel with solver", False),
        *view.place_columns(),
        Column("Selected", False),
        Column("Inner score"),
    ]
    return details("All selections", table(f"Selected in each split of {view.dataset.name}", columns, rows))
