"""Run time and memory, on a page of their own: they differ between two equal runs."""

from collections.abc import Iterator

from seqkern.core.archive import canonical_json
from seqkern.core.markup import Markup, tag
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number
from seqkern.report.dataset_results import DatasetResults
from seqkern.report.files import rows_by
from seqkern.report.sentences import STAGES
from seqkern.report.view import View, method_name, paragraph

COLUMNS = ("dataset", "kernel", "solver", "stage", "cpu_seconds", "peak_mb")
"""Of ``costs.tsv``."""


def cost_section(view: View) -> Markup:
    """Return CPU time by stage and peak memory of each method, for ``costs.html``.

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
    """Yield the rows of ``costs.tsv``, which has `COLUMNS`.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Yields
    ------
    tuple
        CPU seconds, summed over all splits, and peak memory in MB, of a kernel's Gram matrices (no solver) or of a
        stage of a method.
    """
    dataset = view.dataset
    for kernel in dataset.kernels:
        gram = dataset.gram_cost(kernel)
        if gram is not None:
            yield dataset.name, kernel, "", "gram", float(gram["cpu_seconds"].sum()), float(gram["peak_mb"].max())
    for (kernel, solver, stage), laps in rows_by(dataset.cost, ["kernel", "solver", "stage"]):
        yield dataset.name, kernel, solver, stage, float(laps["cpu_seconds"].sum()), float(laps["peak_mb"].max())


def _searches(dataset: DatasetResults) -> bool:
    """Tell whether a kernel, or one inside it or that it is chosen among, builds profiles by search."""
    entries = [entry for kernel in dataset.kernels for entry in dataset.kernel(kernel).candidates if entry.known]
    return any('"search":"training"' in canonical_json(entry.kernel.spec()) for entry in entries)


def seconds_text(value: float | None) -> Markup:
    """Return seconds with digits enough to tell small ones apart.

    Parameters
    ----------
    value : float or None
        Seconds; None where unknown.

    Returns
    -------
    Markup
        Three decimals below a second, else one.
    """
    return number(value, 3 if value is None or value < 1 else 1)
