"""Sections on the fits: hyperparameters chosen, weights, convergence, matrices; run time and memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.evaluation.calibration import VARIANCE
from seqkern.methods.study_results import DatasetResults, Method, numbers, rows_by, rows_by_method, rows_by_value
from seqkern.report.markup import Markup
from seqkern.report.methods_text import pooled_tasks
from seqkern.report.page_frame import Column, listing, method_name, number, plural, render, table
from seqkern.report.sentences import METRICS, enumerate_names, metric, text_for_kind
from seqkern.report.view import METHOD, View, section
from seqkern.solvers.costs import BOUNDS, WITHOUT_FOLDS
from seqkern.solvers.solver_specs import ends_domain
from seqkern.solvers.thresholds import PLAIN, SCORES
from seqkern.study.kernel_entries import AnyKernel, AutoKernel, KernelChoice, KernelEntry

if TYPE_CHECKING:
    import pandas as pd

RANGE = Column("Least to largest", False)

# Settings of the inner loop, in words: how it searched, by which rule it chose, and what was fitted afterwards.

CUT = ("sensitivity", "specificity", "accuracy", "balanced_accuracy", "mcc")
"""Metrics that depend on the threshold."""


def threshold_rule(dataset: DatasetResults) -> str | None:
    """Return the rule that thresholds were chosen by, such as ``sensitivity=0.9``; None if there is none.

    By default a threshold is set where the inner loop chooses, and for classes of unequal size.
    """
    inner = dataset.study.inner
    if dataset.kind != "binary" or inner.threshold == PLAIN:
        return None
    if inner.threshold is None and len(_chosen(dataset)):
        return inner.metric if inner.metric in SCORES else SCORES[0]
    return inner.threshold


def inner_score_hint(dataset: DatasetResults) -> str:
    """Return an explanation of the inner score and its sign."""
    name = dataset.study.inner.metric
    sign = f", the negative {metric(name).name}: nearer 0 is better" if name in (*BOUNDS, "rmse") else ""
    return f"mean of the inner loop's best score{sign}; not a test result"


def unused_sentence(dataset: DatasetResults) -> str | None:
    """Return a sentence on settings of the inner loop that the labels do not allow; None where they allow all."""
    given = {name: getattr(dataset.study.inner, name) for name in ("calibration", "threshold")}
    requested = [name for name, value in given.items() if value not in (None, PLAIN)]
    scales = given["calibration"] == VARIANCE  # fits numbers, and all else two classes
    fits = {"calibration": "real" if scales else "binary", "threshold": "binary"}
    unused = [name for name in requested if dataset.kind != fits[name]]
    if not unused:
        return None
    labels = {"real": "real numbers", "binary": "two classes"}.get(dataset.kind, "of several classes")
    are, wanted = "is" if len(unused) == 1 else "are", "numbers" if scales and dataset.kind != "real" else "two"
    return f"the configuration's {enumerate_names(unused)} (inner) {are} ignored: the labels are {labels}, not {wanted}"


def threshold_sentence(view: View) -> Markup | None:
    """Return a sentence on which scores depend on the chosen thresholds; None without a rule."""
    rule, names = threshold_rule(view.dataset), [metric(name).name for name in CUT if name in view.ranking.scores]
    if rule is None or not names:
        return None
    values = _chosen(view.dataset)["number"].dropna()
    content = {"view": view, "rule": rule, "names": names, "largest": rule in SCORES, "values": values.tolist()}
    return render("fitting", "threshold", content)


def _chosen(dataset: DatasetResults) -> pd.DataFrame:
    """Return the chosen thresholds, with kernel and solver."""
    choices = dataset.choices
    rows = choices[choices["parameter"] == "threshold"]
    return rows.assign(number=numbers(rows["value"]))


def span(values: pd.Series) -> Markup:
    """Return a cell with the smallest and the largest of some values."""
    return Markup(f"{number(values.min())} to {number(values.max())}")


# Hyperparameters that the inner loop chose.

_SELECTION = ["kernel", "solver", "task", "split"]


def gridded(dataset: DatasetResults, kernel: str, solver: str) -> dict[str, list[Any]]:
    """Return the values that the inner loop could choose from, by parameter, also for ``kernel``.

    A range of values is represented by both ends.
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
    """Return {(kernel, solver, parameter): "smallest" or "largest"} where this end of a grid was chosen most often.

    Only grids of three or more numbers have informative ends, and only choices count that left the inner loop something
    to gain: a score of 1 is reached by many values, and says nothing about a wider grid. No grid can extend beyond the
    smallest or largest value that the solver allows.
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
    """Return a sort key that puts numbers by value, before words."""
    found = _as_number(value)
    return (1, 0.0, value) if found is None else (0, found, value)


@section("choices", "Selected hyperparameters", "what the inner cross-validation searched, and what it chose")
def choices_section(view: View) -> dict[str, Any]:
    """Find how often each value was chosen, and all choices."""
    dataset, rows = view.dataset, list[dict[Column, object]]()
    choices, edges = _searched(dataset), edge_choices(dataset)
    for (kernel, solver), part in rows_by_method(choices):
        for parameter, chosen in rows_by_value(part, "parameter"):
            counts = chosen["value"].value_counts()
            order = sorted(counts.index, key=_natural)
            if parameter == "kernel":
                named = gridded(dataset, kernel, solver).get("kernel", order)
                order = [name for name in named if name in counts]
            end = edges.get((kernel, solver, parameter))
            size = len(gridded(dataset, kernel, solver)[parameter]) if end else 0
            values = {"counts": {name: counts[name] for name in order}, "end": end, "size": size}
            rows.append(
                {
                    METHOD: method_name((kernel, solver)),
                    Column("Hyperparameter", False): parameter,
                    Column("Value × times selected", False): render("fitting", "values", values),
                    Column("Inner score", hint=inner_score_hint(dataset)): number(chosen["inner_score"].mean()),
                }
            )
    inner = dataset.study.inner
    return {
        "inner": inner,
        "pooled": pooled_tasks(dataset),
        "bound": METRICS[inner.metric].name if inner.metric in WITHOUT_FOLDS else None,
        "selected": listing("Hyperparameters selected by the inner loop", rows),
        "count": len(choices[_SELECTION].drop_duplicates()),
        "unused": unused_sentence(dataset),
        "threshold_sentence": threshold_sentence(view),
    }


def _searched(dataset: DatasetResults) -> pd.DataFrame:
    """Return the choices of parameters that had a grid (all, where the configuration is not known)."""
    choices = dataset.choices
    choices = choices[~choices["parameter"].map(is_learned).astype(bool)]
    if not dataset.study.solvers or not len(choices):
        return choices
    grids = {method: gridded(dataset, *method) for method in dataset.methods}
    methods = zip(choices["kernel"], choices["solver"], strict=True)
    keep = [name in grids[Method(*method)] for method, name in zip(methods, choices["parameter"], strict=True)]
    return choices[np.array(keep, dtype=bool)]


# Weights of combined kernels, as each training set learned them.

WEIGHT = "weight of "
GAP = "relative gap of weights"


def is_learned(parameter: str) -> bool:
    """Return whether a parameter in ``choices.tsv`` was learned with the weights of kernels, not chosen."""
    return parameter.startswith(WEIGHT) or parameter == GAP


@section("weights", "Weights of combined kernels", "how much each kernel of a combination counts")
def weights_section(view: View) -> dict[str, Any] | None:
    """Find the weights of combined kernels over all training sets; None where no kernels were combined."""
    choices = view.dataset.choices
    shared: dict[tuple[str, tuple[tuple[object, ...], ...]], list[str]] = {}
    # weights that several solvers share, since they do not depend on the solver, stand there once
    for (kernel, solver), part in rows_by_method(choices[choices["parameter"].map(is_learned).astype(bool)]):
        gaps, rows = numbers(part.loc[part["parameter"] == GAP, "value"]), []
        for name, found in rows_by_value(part[part["parameter"] != GAP], "parameter"):
            values = numbers(found["value"])
            zeros = f"{int((values == 0).sum())} of {len(values)}"
            gap = Markup(f"{gaps.max():.1e}") if len(gaps) else number(None)
            rows.append((name.removeprefix(WEIGHT), number(values.mean()), span(values), zeros, gap))
        shared.setdefault((kernel, tuple(rows)), []).append(solver)
    columns = [
        METHOD,
        Column("Combined kernel", False),
        Column("Weight", hint="mean over all training sets; the weights of each part sum to 1"),
        RANGE,
        Column("Zero", hint="number of training sets"),
        Column("Largest gap", hint="duality gap of multiple kernel learning, as a share of its objective"),
    ]
    lines = [
        [render("fitting", "weighted", {"kernel": kernel, "solvers": solvers}), *row]
        for (kernel, found), solvers in shared.items()
        for row in found
    ]
    return {"table": table(f"{view.dataset.name}: learned weights", columns, lines)} if lines else None


# Quality of the fits: convergence, residuals, support vectors.


@section("fits", "Fits", "convergence, iterations and support vectors")
def fits_section(view: View) -> dict[str, Any]:
    """Find how the fits of each method converged, and their support vectors."""
    fits = view.dataset.fits
    weights, inner = (name in fits and fits[name].gt(0).any() for name in ("weights_failed", "inner_not_converged"))
    gaps, *known = (name in fits and fits[name].notna().any() for name in ("gap", *BOUNDS))
    bounds = {name: metric(name) for name, has in zip(BOUNDS, known, strict=True) if has}
    rows = []
    for name, part in rows_by_method(fits):
        row: dict[Column | str, object] = {
            METHOD: method_name(name),
            "Fits": number(len(part), 0),
            Column("Converged", hint="⚠: number that did not"): _failures((~part["converged"]).sum(), len(part)),
        }
        if weights:
            column = Column("Weights", hint="⚠: fits whose kernel weights did not converge")
            row[column] = _failures(part["weights_failed"].sum(), len(part))
        if inner:
            row[Column("Inner fits", hint="⚠: number that did not converge")] = _failures(
                part["inner_not_converged"].sum()
            )
        row[Column("Iterations", hint="median")] = number(part["iterations"].median(), 0)
        row["Largest residual"] = _largest(part["residual"])
        if gaps:
            row[Column("Largest gap", hint="duality gap")] = _largest(part["gap"])
        row[Column("Support vectors", hint="median number")] = number(part["n_support"].median(), 0)
        share = Markup(f"{number(100 * part['support_share'].median(), 0)}%")
        row[Column("Share", hint="median share of the training set")] = share
        for key, one in bounds.items():
            row[Column(one.name, hint=f"median; {one.sentence}")] = number(part[key].median(), 3)
        rows.append(row)
    return {
        "table": listing("Fits of each method (failed ones counted with ⚠)", rows),
        "gaps": gaps,
        "before": weights or inner,
        "bounds": bounds.values(),
        "failed": list(fits[~fits["converged"]].itertuples()) if len(fits) else [],
    }


def _failures(count: float, of: int | None = None) -> Markup | str:
    """Return a cell with the number of failures, or "all" without any."""
    return Markup(f"<b>⚠ {int(count)}{'' if of is None else f' of {of}'}</b>") if count else "all"


def _largest(values: pd.Series) -> Markup:
    """Return the largest of small numbers, as a cell."""
    return Markup(f"{values.max():.1e}") if values.notna().any() else number(None)


# Eigenvalues of the kernels' matrices: whether these are positive semi-definite, and the repairs where not.

REPAIRS = {
    "clip": "Clip sets negative eigenvalues to zero.",
    "flip": "Flip makes negative eigenvalues positive.",
    "shift": "Shift adds the absolute value of the smallest eigenvalue to the diagonal.",
    "kernel_pca": "Kernel_pca keeps the directions of largest positive eigenvalues only.",
    "graph": "Graph replaces the kernel by a diffusion or a random walk along the graph of similar training sequences.",
    "empirical_map": "The empirical map represents each sequence by its kernel values with all training sequences.",
}


@dataclass(frozen=True)
class Eigenvalues:
    """Eigenvalue facts for a kernel's matrix, or for its matrices of all training sets."""

    matrices: str
    smallest: float  # The smallest eigenvalue and the largest share of negative mass of all these matrices
    share: float  # The smallest eigenvalue and the largest share of negative mass of all these matrices
    exact: bool  # Whether all eigenvalues were computed


@section("eigenvalues", "Eigenvalues", "which kernel matrices are positive semi-definite")
def eigenvalues_section(view: View) -> dict[str, Any] | None:
    """Find smallest eigenvalue, share of negative mass and repair of each kernel."""
    dataset, rows, repairs = view.dataset, [], list[str]()
    for kernel in dataset.kernels:
        found = kernel_eigenvalues(dataset, kernel)
        if found is None:
            continue
        used, about = repairs_of(dataset.kernel(kernel)), "" if found.exact else "≈ "
        repairs += used
        smallest, share = (
            f"{value:.3g}".replace("-", "\N{MINUS SIGN}") for value in (found.smallest, 100 * found.share)
        )
        fitted = view.data_text("fitted on each training set and applied to test and new sequences")
        rows.append(
            {
                Column("Kernel", False): render("fitting", "weighted", {"kernel": kernel, "solvers": []}),
                Column("Matrices", False): found.matrices,
                Column("Smallest eigenvalue", hint="of all these matrices"): about + smallest,
                Column("Negative mass", hint="the largest share of all these matrices"): f"{about}{share}%",
                Column("Repair", False, fitted): ", ".join(used) or "none",
            }
        )
    if not rows:
        return None
    return {
        "table": listing(f"{dataset.name}: eigenvalues of the kernels' matrices", rows),
        "notes": [view.data_text(REPAIRS[name]) for name in dict.fromkeys(repairs)],
        "exposed": list(unrepaired(dataset)),
    }


def unrepaired(dataset: DatasetResults) -> dict[Method, float]:
    """Return the share of negative mass for each method on an indefinite matrix without repair.

    Methods whose solver tolerates indefinite matrices are left out.
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
    """Return the Eigenvalues of a kernel's stored matrix, or of its training sets' matrices; None if unknown."""
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
    """Return the names of the repairs in a kernel entry, also among its transforms; empty for a choice of kernels."""
    transforms = entry.transforms if isinstance(entry, KernelEntry) else ()
    used = [transform for transform in transforms if transform.semidefinite]
    return [str(getattr(transform, "method", transform.name)) for transform in used]


def _needs_semidefinite(dataset: DatasetResults, solver: str) -> bool:
    """Return whether a solver needs a positive semi-definite matrix; False if the solver is unknown here."""
    grid = dataset.solver(solver).grid
    return bool(grid) and grid[0].traits.semidefinite


# Run time and memory, in a table of their own: they differ between two equal runs.

COLUMNS = ("dataset", "kernel", "solver", "stage", "cpu_seconds", "peak_mb")
"""Columns of ``costs.tsv``."""


def cost_rows(view: View) -> Iterator[tuple[str, str, str, str, float, float]]:
    """Yield the rows of ``costs.tsv``, see `COLUMNS`: CPU seconds summed over all splits, and peak memory in MB.

    Each is for a kernel's Gram matrices (no solver) or for a stage of a method.
    """
    dataset = view.dataset
    for kernel in dataset.kernels:
        gram = dataset.gram_cost(kernel)
        if gram is not None:
            yield dataset.name, kernel, "", "gram", float(gram["cpu_seconds"].sum()), float(gram["peak_mb"].max())
    for (kernel, solver, stage), laps in rows_by(dataset.cost, ["kernel", "solver", "stage"]):
        yield dataset.name, kernel, solver, stage, float(laps["cpu_seconds"].sum()), float(laps["peak_mb"].max())
