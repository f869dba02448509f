"""How the fits went: convergence, residuals, support vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number, plural
from seqkern.report.files import rows_by
from seqkern.report.sentences import enumerate_names, metric
from seqkern.report.view import View, method_name, paragraph
from seqkern.solvers.bound_names import BOUNDS

if TYPE_CHECKING:
    import pandas as pd

USES_ALL = (
    *("lssvc", "lssvr", "kernel_fisher", "kernel_neighbors", "kernel_neighbors_regressor"),
    *("nearest_prototype", "lvq1"),
)
OF_CLASSES = ("pairwise_voting", "one_against_rest", "decision_dag")


def fits_section(view: View) -> Markup:
    """Return how the fits went: convergence, support vectors.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup
        The section.
    """
    fits = view.dataset.fits
    if not len(fits):
        return view.section("fits", "Fits", paragraph("No fits were recorded."))
    intro = view.sample_text(
        "A fit has converged when its optimality conditions hold within the solver's tolerance; the residual is the "
        "remaining violation. Decisions depend only on the support vectors (for the P-SVM, "
        "support features) among the training sequences; fewer of them make prediction faster. If nearly all are "
        "support vectors, the classes overlap strongly under this kernel, or the regularisation is strong."
    )
    every = [name for name in dict.fromkeys(fits["solver"]) if _uses_all(view.dataset.solver(name).spec)]
    if every:
        rest, most = ("rests", "") if len(every) == 1 else ("rest", "all ")
        intro += (
            f" {enumerate_names(every)} {most}{rest} on every training {view.sample_text('sequence')} by design; "
            f"there the share says nothing about the classes."
        )
    gaps = "gap" in fits and fits["gap"].notna().any()
    if gaps:
        intro += (
            " The duality gap bounds how far the objective is from its "
            "optimum, relative to its scale; solvers that compute it use it to stop."
        )
    weights = "weights_failed" in fits and fits["weights_failed"].any()
    inner = "inner_not_converged" in fits and fits["inner_not_converged"].gt(0).any()
    if weights or inner:
        intro += (
            " Learned kernel weights and fits of inner folds, which select hyperparameters, "
            "are counted separately. Where some did not converge, the selection is less reliable."
        )
    bounds = [name for name in BOUNDS if name in fits and fits[name].notna().any()]
    if bounds:
        intro += f" C-SVMs have estimates of their leave-one-out error. {' '.join(_sentence(name) for name in bounds)}"
    rows = []
    for (kernel, solver), part in rows_by(fits, ["kernel", "solver"]):
        n_failed = int((~part["converged"]).sum())
        rows.append(
            [
                method_name((kernel, solver)),
                number(len(part), 0),
                tag("b", f"⚠ {n_failed} of {len(part)}") if n_failed else "all",
                *([_failures(part["weights_failed"].sum(), len(part))] if weights else []),
                *([_failures(part["inner_not_converged"].sum())] if inner else []),
                number(part["iterations"].median(), 0),
                _largest(part, "residual"),
                *([_largest(part, "gap")] if gaps else []),
                number(part["n_support"].median(), 0),
                Markup(f"{number(100 * part['support_share'].median(), 0)} %"),
                *(number(part[name].median(), 3) for name in bounds),
            ]
        )
    columns: list[Column | str] = [
        Column("Kernel with solver", False),
        "Fits",
        Column("Converged", hint="⚠: number that did not"),
        *([Column("Weights", hint="⚠: fits whose kernel weights did not converge")] if weights else []),
        *([Column("Inner fits", hint="⚠: number that did not converge")] if inner else []),
        Column("Iterations", hint="median"),
        Column("Largest residual"),
        *([Column("Largest gap", hint="duality gap")] if gaps else []),
        Column("Support vectors", hint="median number"),
        Column("Share", hint="median share of the training set"),
        *(Column(metric(name).name, hint=f"median; {metric(name).sentence}") for name in bounds),
    ]
    # The failures are named one by one: they are few, and each is a reason to look.
    failed = fits[~fits["converged"]]
    names = [f"{row.kernel}, {row.solver}: {row.task}, split {row.split}" for row in failed.itertuples()]
    listed = details(
        f"{plural(len(names), 'fit')} that did not converge", tag("ul", [tag("li", n) for n in names[:200]])
    )
    caption = "Fits of each method (failed ones counted with ⚠)"
    return view.section("fits", "Fits", paragraph(intro), table(caption, columns, rows), listed if names else None)


def _sentence(name: str) -> str:
    """Return name and meaning of a bound."""
    one = metric(name)
    text = one.sentence[0].lower() + one.sentence[1:]
    return f"The {one.name}: {text}"


def _uses_all(spec: Mapping[str, Any] | str) -> bool:
    """Tell whether a solver, or one that it trains for classes, keeps every training sample by its nature."""
    if isinstance(spec, str):
        return spec in USES_ALL
    inner = [part for part in spec.values() if isinstance(part, dict)]
    return spec.get("solver") in USES_ALL or (spec.get("solver") in OF_CLASSES and any(map(_uses_all, inner)))


def _failures(count: float, of: int | None = None) -> Markup | str:
    """Return a cell with a number of failures, or that there are none."""
    text = f"⚠ {int(count)}" if of is None else f"⚠ {int(count)} of {of}"
    return tag("b", text) if count else "all"


def _largest(part: pd.DataFrame, column: str) -> Markup:
    """Return the largest value of a column of small numbers."""
    return Markup(f"{part[column].max():.1e}") if part[column].notna().any() else number(None)
