"""What the inner loop chose, and how the fits went."""

import numpy as np

from .markup import Column, Markup, details, number, plural, table, tag
from .view import method_name, paragraph

MOST_ROWS = 1500


def gridded(dataset, solver):
    """Return a dict of parameter to the list of values that the inner loop could choose from."""
    spec = dataset.study.spec("solvers", solver)
    return {name: values for name, values in spec.items() if isinstance(values, list) and len(values) > 1}


def edge_choices(dataset):
    """Return (solver, parameter) ─▶ (choices at an end of the grid, choices), where they are more than half.

    Only grids of three numbers or more have ends that tell something.
    """
    choices, result = dataset.choices, {}
    for solver in dataset.solvers:
        for parameter, values in gridded(dataset, solver).items():
            ends = _ends(values)
            chosen = choices[(choices["solver"] == solver) & (choices["parameter"] == parameter)]["value"]
            hits = sum(_as_number(value) in ends for value in chosen)
            if hits > len(chosen) / 2:
                result[solver, parameter] = hits, len(chosen)
    return result


def _ends(values):
    """Return the least and greatest of three numbers or more, else nothing."""
    values = [_as_number(value) for value in values]
    return {min(values), max(values)} if len(values) > 2 and None not in values else set()


def _as_number(value):
    """Return a value as float, or None."""
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def choices_section(view):
    """Return the hyperparameters chosen, summarised, and in full in a folded part."""
    dataset = view.dataset
    choices = _searched(dataset)
    if not len(choices):
        text = "No hyperparameter was searched: every solver ran with the values of the configuration."
        return view.section("choices", "Chosen hyperparameters", paragraph(text))
    intro = (
        "For each training part an inner loop of cross-validation, which never sees the test part, chose "
        "among the values of the configuration. The table counts how often each value was chosen."
    )
    rows = []
    for (kernel, solver), part in choices.groupby(["kernel", "solver"], sort=False):
        for parameter, chosen in part.groupby("parameter", sort=False):
            counts = chosen["value"].value_counts()
            order = sorted(
                counts.index, key=lambda value: (_as_number(value) is None, _as_number(value) or 0, value)
            )
            text = [
                tag("span", f"{value} ", tag("small", f"× {counts[value]}"), class_="chip") for value in order
            ]
            rows.append(
                [method_name((kernel, solver)), parameter, text, number(chosen["inner_score"].mean())]
            )
    columns = [
        Column("Kernel with solver", False),
        Column("Hyperparameter", False),
        Column("Value × times chosen", False),
        Column("Inner score", hint="Mean of the inner loop's best score; it is not a test result"),
    ]
    caption = "Hyperparameters chosen by the inner loop"
    return view.section(
        "choices",
        "Chosen hyperparameters",
        paragraph(intro),
        table(caption, columns, rows),
        _all_choices(view, choices),
    )


def _searched(dataset):
    """Return the choices of parameters that had a grid (all, where the configuration is not known)."""
    choices = dataset.choices
    if not dataset.study.config.get("solvers") or not len(choices):
        return choices
    grids = {solver: gridded(dataset, solver) for solver in dataset.solvers}
    keep = [
        name in grids[solver] for solver, name in zip(choices["solver"], choices["parameter"], strict=True)
    ]
    return choices[np.array(keep, dtype=bool)]


def _all_choices(view, choices):
    """Return every choice as a folded table."""
    keys = ["kernel", "solver", "task", "split"]
    groups = choices.groupby(keys, sort=False)
    if groups.ngroups > MOST_ROWS:
        return paragraph(f"All {number(groups.ngroups, 0)} choices are in the files choices.tsv.")
    rows = []
    for (kernel, solver, task, split), part in groups:
        pairs = zip(part["parameter"], part["value"], strict=True)
        values = ", ".join(f"{name} = {value}" for name, value in pairs)
        rows.append([f"{kernel}, {solver}", task, split, values, number(part["inner_score"].iloc[0])])
    columns = [
        *(Column(name, False) for name in ("Method", "Task", "Split", "Chosen")),
        Column("Inner score"),
    ]
    return details("Every choice", table(f"Chosen in each split of {view.dataset.name}", columns, rows))


def fits_section(view):
    """Return how the fits went: convergence, support vectors."""
    fits = view.dataset.fits
    if not len(fits):
        return view.section("fits", "Fits", paragraph("Nothing is recorded of the fits."))
    intro = (
        "A fit has converged when its optimality conditions hold to the solver's tolerance. The residual is "
        "what is left of them. Support vectors are the training sequences on which a classifier's decisions "
        "rest; if nearly all are, the classifier remembers rather than generalises."
    )
    rows = []
    for (kernel, solver), part in fits.groupby(["kernel", "solver"], sort=False):
        failed = int((~part["converged"]).sum())
        rows.append(
            [
                method_name((kernel, solver)),
                number(len(part), 0),
                tag("b", f"⚠ {failed} of {len(part)}") if failed else "all",
                number(part["iterations"].median(), 0),
                Markup(f"{part['residual'].max():.1e}") if part["residual"].notna().any() else number(None),
                number(part["n_support"].median(), 0),
                Markup(f"{number(100 * part['support_share'].median(), 0)} %"),
            ]
        )
    columns = [
        Column("Kernel with solver", False),
        "Fits",
        Column("Converged", hint="⚠: how many did not"),
        Column("Iterations", hint="median"),
        Column("Largest residual"),
        Column("Support vectors", hint="median number"),
        Column("Their share", hint="median share of the training part"),
    ]
    # The failures are named one by one: they are few, and each is a reason to look.
    failed = fits[~fits["converged"]]
    names = [f"{row.kernel}, {row.solver}: {row.task}, split {row.split}" for row in failed.itertuples()]
    listed = details(
        f"{plural(len(names), 'fit')} that did not converge", tag("ul", [tag("li", n) for n in names[:200]])
    )
    caption = "Fits of each method (failed ones counted with ⚠)"
    return view.section(
        "fits", "Fits", paragraph(intro), table(caption, columns, rows), listed if names else None
    )
