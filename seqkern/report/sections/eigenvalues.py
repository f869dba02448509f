"""Whether the kernels' matrices are positive semi-definite, and what was done where they are not."""

from dataclasses import dataclass

from seqkern.core.markup import Markup, tag
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number, plural
from seqkern.report.dataset_results import DatasetResults, Method
from seqkern.report.sentences import text_for_kind
from seqkern.report.view import View, method_names, paragraph
from seqkern.study.kernel_entries import KernelEntry
from seqkern.study.reading import AnyKernel

REPAIRS = {
    "clip": "clip sets negative eigenvalues to zero",
    "flip": "flip makes negative eigenvalues positive",
    "shift": "shift adds the absolute value of the smallest eigenvalue to the diagonal",
    "kernel_pca": "kernel_pca keeps the directions of largest positive eigenvalues only",
    "graph": "graph replaces the kernel by a diffusion or a random walk along the graph of similar training sequences",
    "empirical_map": "the empirical map represents each sequence by its kernel values with all training sequences",
}


@dataclass(frozen=True)
class Eigenvalues:
    """What is known of the eigenvalues of a kernel's matrix, or of its matrices of all training sets.

    Attributes
    ----------
    matrices : str
    smallest, share : float
        The smallest eigenvalue and the largest share of negative mass of all these matrices.
    exact : bool
        Whether all eigenvalues were computed.
    """

    matrices: str
    smallest: float
    share: float
    exact: bool


def eigenvalues_section(view: View) -> Markup | None:
    """Return smallest eigenvalue, share of negative mass and repair of each kernel.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None where there is nothing to show.
    """
    dataset, rows = view.dataset, list[list[object]]()
    repairs: dict[str, None] = {}
    for kernel in dataset.kernels:
        found = kernel_eigenvalues(dataset, kernel)
        if found is None:
            continue
        used = repairs_of(dataset.kernel(kernel))
        repairs |= dict.fromkeys(used)
        about = "" if found.exact else "≈ "
        rows.append(
            [
                tag("b", kernel),
                found.matrices,
                Markup(about + _three_digits(found.smallest)),
                Markup(f"{about}{_three_digits(100 * found.share)} %"),
                ", ".join(used) or "none",
            ]
        )
    if not rows:
        return None
    intro = (
        "A positive semi-definite matrix has no negative eigenvalues, and a C-SVM has a unique optimum on it. "
        "Matrices of alignment scores and other similarities can be indefinite. On an indefinite matrix, a C-SVM "
        "stops at a stationary point, and a better solution may exist; the P-SVM uses kernel values as features and "
        "has no such requirement. The negative mass, the sum of |λ| over negative eigenvalues λ divided by the sum "
        "over all, measures how far a matrix is from positive semi-definite. Both values are for the kernel's own "
        "matrix, before transforms and repair; ≈ marks estimates. Values within rounding error count as zero."
    )
    columns: list[Column | str] = [
        Column("Kernel", False),
        Column("Matrices", False),
        Column("Smallest eigenvalue", hint="of all these matrices"),
        Column("Negative mass", hint="the largest share of all these matrices"),
        Column(
            "Repair", False, hint=view.data_text("fitted on each training set and applied to test and new sequences")
        ),
    ]
    notes = [view.data_text(f"{REPAIRS[name][0].upper()}{REPAIRS[name][1:]}.") for name in repairs]
    warning = None
    exposed = list(unrepaired(dataset))
    if exposed:
        names = method_names(exposed)
        warning = paragraph("⚠ Trained on an indefinite matrix without repair: ", names, ".", class_="missing")
    caption = f"{dataset.name}: eigenvalues of the kernels' matrices"
    body = [paragraph(intro), table(caption, columns, rows), paragraph(" ".join(notes)) if notes else None, warning]
    return view.section("eigenvalues", "Eigenvalues", *body)


def unrepaired(dataset: DatasetResults) -> dict[Method, float]:
    """Return the share of negative mass of each method on an indefinite matrix without repair, a dict.

    Methods whose solver does not mind are left out.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.

    Returns
    -------
    dict of Method to float
        The share of negative mass by method, in the order of the configuration.
    """
    shares: dict[Method, float] = {}
    for kernel in dataset.kernels:
        found = kernel_eigenvalues(dataset, kernel)
        if found is None or found.smallest >= 0 or repairs_of(dataset.kernel(kernel)):
            continue
        methods = [
            method for method in dataset.done if method.kernel == kernel and _needs_semidefinite(dataset, method.solver)
        ]
        shares |= dict.fromkeys(methods, found.share)
    return shares


def kernel_eigenvalues(dataset: DatasetResults, kernel: str) -> Eigenvalues | None:
    """Return the Eigenvalues of a kernel: of its stored matrix, or of those of the training sets; None if unknown.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    kernel : str
        Name of the kernel in the configuration.

    Returns
    -------
    Eigenvalues or None
        None where no eigenvalues were computed.
    """
    found = dataset.spectrum(kernel)
    if found is not None:
        return Eigenvalues(
            f"one, of {plural(found.n, text_for_kind((dataset.summary or {}).get('kind'), 'sequence'))}",
            found.smallest,
            found.negative_share,
            found.exact,
        )
    fits = dataset.fits
    if "smallest_eigenvalue" not in fits:
        return None
    rows = fits[(fits["kernel"] == kernel) & fits["smallest_eigenvalue"].notna()]
    if not len(rows):
        return None
    parts = len(rows.drop_duplicates(["task", "split"]))
    exact = bool((rows["eigenvalues"] == "all").all())
    each = f"{number(parts, 0)}, one for each training set"
    return Eigenvalues(each, float(rows["smallest_eigenvalue"].min()), float(rows["negative_share"].max()), exact)


def repairs_of(entry: AnyKernel) -> list[str]:
    """Return the names of the repairs of a kernel entry, those among its transforms included.

    Parameters
    ----------
    entry : AnyKernel
        The kernel in the configuration.

    Returns
    -------
    list of str
        Such as ``clip``; empty for kernels that are chosen among.
    """
    transforms = entry.transforms if isinstance(entry, KernelEntry) else ()
    used = [transform for transform in transforms if transform.semidefinite]
    return [str(getattr(transform, "method", transform.name)) for transform in used]


def _needs_semidefinite(dataset: DatasetResults, solver: str) -> bool:
    """Tell whether a solver needs a positive semi-definite matrix; False where it is not known here."""
    grid = dataset.solver(solver).grid
    return bool(grid) and getattr(type(grid[0]), "needs_semidefinite", False) is True


def _three_digits(value: float) -> Markup:
    """Return a number to three digits, as Markup."""
    return Markup(f"{value:.3g}".replace("-", "\N{MINUS SIGN}"))
