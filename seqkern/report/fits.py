"""How the fits went: convergence, residuals, support vectors."""

from .markup import Column, Markup, details, number, plural, table, tag
from .view import method_name, paragraph


def fits_section(view):
    """Return how the fits went: convergence, support vectors."""
    fits = view.dataset.fits
    if not len(fits):
        return view.section("fits", "Fits", paragraph("Nothing is recorded of the fits."))
    intro = (
        "A fit has converged when its optimality conditions hold to the solver's tolerance; the residual is "
        "what is left of them. Support vectors (the P-SVM calls them support features) are the training "
        "sequences on which decisions rest: the fewer, the faster the prediction. Where nearly all are "
        "needed, the classes overlap much for this kernel, or the regularisation is strong."
    )
    gaps = "gap" in fits and fits["gap"].notna().any()
    if gaps:
        intro += (
            " The duality gap bounds how far the objective is from its optimum, as a share of its scale; solvers that "
            "compute it stop by it."
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
                _largest(part, "residual"),
                *([_largest(part, "gap")] if gaps else []),
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
        *([Column("Largest gap", hint="duality gap")] if gaps else []),
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
    return view.section("fits", "Fits", paragraph(intro), table(caption, columns, rows), listed if names else None)


def _largest(part, column):
    """Return the largest value of a column of small numbers."""
    return Markup(f"{part[column].max():.1e}") if part[column].notna().any() else number(None)
