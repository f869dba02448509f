"""The weights of kernels that were combined, as each training set learned them."""

import numpy as np

from seqkern.core.markup import Markup, join, tag
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number
from seqkern.report.files import numbers, rows_by, rows_by_value
from seqkern.report.view import View, paragraph

WEIGHT = "weight of "
GAP = "relative gap of weights"
CAUTION = (
    "A weight of zero does not mean that a kernel is uninformative. Similar kernels share their "
    "information; one of them may receive all the weight, and which one can vary between training sets. "
    "Weights also depend on the scale of the kernels: unless configured otherwise, each has the same "
    "variance on the training set. To judge a kernel alone, see its own scores."
)


def is_learned(parameter: str) -> bool:
    """Tell whether a parameter in ``choices.tsv`` was learned with the weights of kernels, not chosen.

    Parameters
    ----------
    parameter : str
        Name in the column parameter.

    Returns
    -------
    bool
    """
    return parameter.startswith(WEIGHT) or parameter == GAP


def weights_section(view: View) -> Markup | None:
    """Return the weights of combined kernels over all training sets; None where no kernels were combined.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None where no kernels were combined.
    """
    choices = view.dataset.choices
    learned = choices[[is_learned(name) for name in choices["parameter"]]] if len(choices) else choices
    if not len(learned):
        return None
    shared: dict[tuple[str, tuple[tuple[object, ...], ...]], list[str]] = {}
    # weights that several solvers share, since they do not depend on the solver, stand there once
    for (kernel, solver), part in rows_by(learned, ["kernel", "solver"]):
        gaps, rows = numbers(part.loc[part["parameter"] == GAP, "value"]), []
        for name, found in rows_by_value(part, "parameter"):
            if name == GAP:
                continue
            values = numbers(found["value"]).to_numpy()
            zeros = int(np.count_nonzero(values == 0))
            rows.append(
                (
                    name.removeprefix(WEIGHT),
                    number(values.mean()),
                    Markup(f"{number(values.min())} to {number(values.max())}"),
                    f"{zeros} of {len(values)}",
                    Markup(f"{gaps.max():.1e}") if len(gaps) else number(None),
                )
            )
        shared.setdefault((kernel, tuple(rows)), []).append(solver)
    lines = [
        [Markup(f"{tag('b', kernel)} with {join(', ', [tag('b', solver) for solver in solvers])}"), *row]
        for (kernel, found), solvers in shared.items()
        for row in found
    ]
    columns: list[Column | str] = [
        Column("Kernel with solver", False),
        Column("Combined kernel", False),
        Column("Weight", hint="mean over all training sets; the weights of each part sum to 1"),
        Column("Least to largest", False),
        Column("Zero", hint="number of training sets"),
        Column("Largest gap", hint="duality gap of multiple kernel learning, as a share of its objective"),
    ]
    intro = "The weights of the kernels were learned on each training set, without its test set."
    return view.section(
        "weights",
        "Weights of combined kernels",
        paragraph(intro),
        table(f"{view.dataset.name}: learned weights", columns, lines),
        paragraph(tag("b", "Interpretation: "), CAUTION),
    )
