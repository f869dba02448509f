"""Sections on the fits: hyperparameters chosen, convergence, cost, weights."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.archive import canonical_json
from seqkern.report.dataset_results import DatasetResults, Method, numbers, rows_by, rows_by_value
from seqkern.report.markup import Markup, details, join, tag
from seqkern.report.methods_text import pooled_tasks
from seqkern.report.page_frame import Column, number, plural, table
from seqkern.report.sentences import STAGES, enumerate_names, metric
from seqkern.report.view import View, method_name, paragraph
from seqkern.solvers.costs import BOUNDS
from seqkern.solvers.solver_specs import ends_domain
from seqkern.solvers.thresholds import PLAIN, SCORES
from seqkern.study.kernel_entries import AutoKernel, KernelChoice

if TYPE_CHECKING:
    import pandas as pd


# Settings of the inner loop, in words: how it searched, by which rule it chose, and what was fitted afterwards.

CALIBRATIONS = {"platt": "Platt's sigmoid", "isotonic": "isotonic regression"}
CUT = ("sensitivity", "specificity", "accuracy", "balanced_accuracy", "mcc")
"""Metrics that depend on the threshold."""
SIMPLEST = "ties went to the simplest solver"
ONE_ERROR = "of those within one standard error of the best, it selected the simplest"


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


def search_sentences(view: View) -> str:
    """Return sentences on how the inner loop searched and chose, as plain text."""
    inner = view.dataset.study.inner
    if inner.random:
        among = f"from a random search with {inner.draws} candidates for each kernel and solver"
        among += " (all of them where there are fewer)"
    else:
        among = "from the configured values"
    folds = ""
    if inner.clusters is not None and view.dataset.kind == "binary":
        folds = " and holds out clusters of similar positive samples"
    pooled = pooled_tasks(view.dataset)
    if inner.metric in BOUNDS and pooled is None:
        return (
            f"For each training set, the {metric(inner.metric).name} of one fit to the whole training set, without "
            f"inner folds, selected hyperparameters {among}; ties went to the simplest. It ignores similar samples. "
            "The inner score is its negative: nearer 0 is better."
        )
    if pooled is not None:
        return (
            f"Inner cross-validation, which never sees the test set{folds}, ranked hyperparameters {among} in each "
            f"training set. For each task, those with the best mean rank over {pooled} were selected; tasks that share "
            "positive samples with it were left out, and ties went to the simplest."
        )
    rule = ONE_ERROR if inner.rule == "one_standard_error" else SIMPLEST
    if view.dataset.developed:
        return (
            f"The development part of each training set selected hyperparameters {among}; {rule}. Candidates were "
            "fitted to the rest, and what was selected to both. Test sets were never used."
        )
    return (
        f"For each training set, an inner cross-validation, which "
        f"never sees the test set{folds}, selected hyperparameters {among}; {rule}."
    )


def inner_score_hint(dataset: DatasetResults) -> str:
    """Return an explanation of the inner score and its sign."""
    name = dataset.study.inner.metric
    sign = f", the negative {metric(name).name}: nearer 0 is better" if name in (*BOUNDS, "rmse") else ""
    return f"mean of the inner loop's best score{sign}; not a test result"


def unused_sentence(dataset: DatasetResults) -> str | None:
    """Return a sentence on settings of the inner loop that the labels do not allow; None where they allow all."""
    requested = dataset.study.inner.held_out
    if not requested or dataset.kind == "binary":
        return None
    labels = "real numbers" if dataset.kind == "real" else "of several classes"
    are = "is" if len(requested) == 1 else "are"
    return f"the configuration's {enumerate_names(requested)} (inner) {are} ignored: the labels are {labels}, not two"


def threshold_sentence(view: View) -> Markup | None:
    """Return a sentence on which scores depend on the chosen thresholds; None without a rule."""
    rule, names = threshold_rule(view.dataset), [metric(name).name for name in CUT if name in view.ranking.scores]
    if rule is None or not names:
        return None
    listed, link = enumerate_names(names), view.link("selected on each training set", "choices")
    use = "use" if " and " in listed else "uses"
    limits = _limits(view)
    return Markup(
        f"{listed[:1].upper()}{listed[1:]} {use} a decision threshold {link} by the rule {_rule(rule)}{limits}; the "
        "AUC and other ranking scores do not depend on it."
    )


def _rule(rule: str) -> str:
    """Return a threshold rule with its meaning."""
    if rule in SCORES:
        return f"{rule} (as large as possible)"
    name, _, value = rule.partition("=")
    if name == "cost":
        positive, _, negative = value.partition(":")
        return f"{rule} (a false positive costs {positive}, a false negative {negative})"
    share = f"{100 * float(value):g} %"
    what = "the positives are found" if name == "sensitivity" else "the negatives are rejected"
    return f"{rule} (at least {share} of {what})"


def _chosen(dataset: DatasetResults) -> "pd.DataFrame":
    """Return the chosen thresholds, with kernel and solver."""
    choices = dataset.choices
    rows = choices[choices["parameter"] == "threshold"]
    return rows.assign(number=numbers(rows["value"]))


def _limits(view: View) -> str:
    """Return the range of the thresholds, for use after a rule; empty if none is recorded."""
    values = _chosen(view.dataset)["number"].dropna()
    if not len(values):
        return ""
    least, largest = number(values.min()), number(values.max())
    return f", {least}" if least == largest else f", from {least} to {largest}"


def postprocessing_parts(view: View) -> list[Markup | None]:
    """Return paragraphs and a table about the fits after the choice: probabilities and thresholds."""
    dataset = view.dataset
    calibration, rule, unused = dataset.study.inner.calibration, threshold_rule(dataset), unused_sentence(dataset)
    parts: list[Markup | None] = [paragraph(unused[:1].upper() + unused[1:], ".")] if unused else []
    if calibration is not None and dataset.kind == "binary":
        by_probability = dataset.study.inner.threshold is None
        how = CALIBRATIONS.get(calibration, calibration)
        parts.append(
            paragraph(
                f"Decision values were converted to probabilities by {how}, fitted on held-out parts of the training "
                "part.",
                " The positive class is predicted where its probability is above 0.5." if by_probability else None,
            )
        )
    if rule is not None:
        parts.append(paragraph(threshold_sentence(view)))
        parts.append(_thresholds(view))
    return parts


def _thresholds(view: View) -> Markup | None:
    """Return the thresholds of each method over all splits; None if none is recorded."""
    rows = []
    for (kernel, solver), part in rows_by(_chosen(view.dataset), ["kernel", "solver"]):
        values = part["number"]
        limits = Markup(f"{number(values.min())} to {number(values.max())}")
        rows.append([method_name((kernel, solver)), number(values.median()), limits, number(len(values), 0)])
    columns: list[Column | str] = [
        Column("Kernel with solver", False),
        Column("Threshold", hint="median over all splits"),
        Column("Least to largest", False),
        Column("Splits"),
    ]
    caption = f"{view.dataset.name}: thresholds chosen for {threshold_rule(view.dataset)}"
    return table(caption, columns, rows) if rows else None


# Quality of the fits: convergence, residuals, support vectors.

USES_ALL = (
    *("lssvc", "lssvr", "kernel_fisher", "kernel_neighbors", "kernel_neighbors_regressor"),
    *("nearest_prototype", "lvq1"),
)
OF_CLASSES = ("pairwise_voting", "one_against_rest", "decision_dag")


def fits_section(view: View) -> Markup:
    """Return the section on the fits: convergence, support vectors."""
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
    """Return a sentence with the name and meaning of a bound."""
    one = metric(name)
    text = one.sentence[0].lower() + one.sentence[1:]
    return f"The {one.name}: {text}"


def _uses_all(spec: Mapping[str, Any] | str) -> bool:
    """Return whether a solver, or one it trains for classes, inherently keeps every training sample."""
    if isinstance(spec, str):
        return spec in USES_ALL
    inner = [part for part in spec.values() if isinstance(part, dict)]
    return spec.get("solver") in USES_ALL or (spec.get("solver") in OF_CLASSES and any(map(_uses_all, inner)))


def _failures(count: float, of: int | None = None) -> Markup | str:
    """Return a cell with the number of failures, or "none"."""
    text = f"⚠ {int(count)}" if of is None else f"⚠ {int(count)} of {of}"
    return tag("b", text) if count else "all"


def _largest(part: "pd.DataFrame", column: str) -> Markup:
    """Return the largest value of a column of small numbers, as a cell."""
    return Markup(f"{part[column].max():.1e}") if part[column].notna().any() else number(None)


# Run time and memory, on a page of their own: they differ between two equal runs.

COLUMNS = ("dataset", "kernel", "solver", "stage", "cpu_seconds", "peak_mb")
"""Columns of ``costs.tsv``."""


def cost_section(view: View) -> Markup:
    """Return CPU time by stage and peak memory of each method, for ``costs.html``."""
    dataset = view.dataset
    grams = {kernel: dataset.gram_cost(kernel) for kernel in dataset.kernels}
    cost = dataset.cost
    heading = tag("h2", dataset.name)
    if not len(cost) and all(gram is None for gram in grams.values()):
        missing = paragraph("No run times were recorded.", class_="missing")
        return tag("section", heading, missing, id=view.anchor, class_="chapter")
    stages = list(dict.fromkeys(cost["stage"]))
    seconds = cost.groupby(["kernel", "solver", "stage"])["cpu_seconds"].sum()
    peaks = cost.groupby(["kernel", "solver"])["peak_mb"].max()
    rows = []
    for method in dataset.methods:
        gram = grams[method.kernel]
        peak = peaks.get(tuple(method))
        rows.append(
            [
                method_name(method),
                seconds_text(None if gram is None else gram["cpu_seconds"].sum()),
                *(seconds_text(seconds.get((*method, stage))) for stage in stages),
                number(None if gram is None else gram["peak_mb"].max(), 0),
                number(peak, 0),
            ]
        )
    columns: list[Column | str] = [
        Column("Kernel with solver", False),
        Column("Gram matrix", hint="computed once for each kernel, shared by its solvers"),
        *(Column(STAGES.get(stage, stage).capitalize()) for stage in stages),
        Column("Memory, Gram matrix (MB)"),
        Column("Memory, evaluation (MB)"),
    ]
    intro = (
        "CPU seconds, summed over all splits, and peak memory. Each Gram matrix is computed once "
        "and shared by all solvers and splits, and by kernels that differ only in their transforms."
    )
    if _searches(dataset):
        intro += (
            " Profiles built by searching the training set are cached: the first method that needs "
            "them includes the time of the search, so do not compare the times of such methods."
        )
    caption = f"{dataset.name}: CPU seconds of each stage, and peak memory"
    body = table(caption, columns, rows)
    return tag("section", heading, paragraph(intro), body, id=view.anchor, class_="chapter")


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


def _searches(dataset: DatasetResults) -> bool:
    """Return whether a kernel, or a kernel inside it or among its choices, builds profiles by search."""
    entries = [entry for kernel in dataset.kernels for entry in dataset.kernel(kernel).candidates if entry.known]
    return any('"search":"training"' in canonical_json(entry.kernel.spec()) for entry in entries)


def seconds_text(value: float | None) -> Markup:
    """Return seconds as text: three decimals below a second, otherwise one."""
    return number(value, 3 if value is None or value < 1 else 1)


# Weights of combined kernels, as each training set learned them.

WEIGHT = "weight of "
GAP = "relative gap of weights"
CAUTION = (
    "A weight of zero does not mean that a kernel is uninformative. Similar kernels share their "
    "information; one of them may receive all the weight, and which one can vary between training sets. "
    "Weights also depend on the scale of the kernels: unless configured otherwise, each has the same "
    "variance on the training set. To judge a kernel alone, see its own scores."
)


def is_learned(parameter: str) -> bool:
    """Return whether a parameter in ``choices.tsv`` was learned with the weights of kernels, not chosen."""
    return parameter.startswith(WEIGHT) or parameter == GAP


def weights_section(view: View) -> Markup | None:
    """Return the weights of combined kernels over all training sets; None where no kernels were combined."""
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


# Hyperparameters that the inner loop chose.

MOST_ROWS = 1500


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


def choices_section(view: View) -> Markup:
    """Return the section on chosen hyperparameters: a summary, and all choices in a folded part."""
    dataset = view.dataset
    choices = _searched(dataset)
    if not len(choices):
        text = "No hyperparameters were searched; every solver ran with the configured values."
        return view.section("choices", "Selected hyperparameters", paragraph(text), *postprocessing_parts(view))
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
        *postprocessing_parts(view),
    )


def _searched(dataset: DatasetResults) -> "pd.DataFrame":
    """Return the choices of parameters that had a grid (all, where the configuration is not known)."""
    choices = dataset.choices
    choices = choices[np.array([not is_learned(name) for name in choices["parameter"]], dtype=bool)]
    if not dataset.study.solvers or not len(choices):
        return choices
    grids = {method: gridded(dataset, *method) for method in dataset.methods}
    methods = zip(choices["kernel"], choices["solver"], strict=True)
    keep = [name in grids[Method(*method)] for method, name in zip(methods, choices["parameter"], strict=True)]
    return choices[np.array(keep, dtype=bool)]


def _all_choices(view: View, choices: "pd.DataFrame") -> Markup:
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
