"""What is said of the folds of an evaluation: the score in one line, and fits that did not go well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqkern.evaluation.fold_tables import FoldResult
    from seqkern.sequences.labels import Labels


def headline(results: Sequence[FoldResult], labels: Labels, task: str) -> str:
    """Return the headline score of a task, with its interval.

    Parameters
    ----------
    results : sequence of FoldResult
        Of the task.
    labels : Labels
        Of all samples, with the groups kept together.
    task : str
        Its name.

    Returns
    -------
    str
    """
    # imported here to keep --help fast
    from seqkern.evaluation.estimates import estimates
    from seqkern.evaluation.small_samples import too_few
    from seqkern.report.sentences import metric

    used = labels.take(labels.used())
    lacking = too_few(used)
    found = estimates(results, used)
    if lacking is not None or not found:
        return f"{task}: {'no score' if lacking is None else lacking.sentence()}"
    name, one = next(iter(found.items()))
    title = "macro AUC" if name == "auc" and used.kind == "multiclass" else metric(name).name
    interval = f" [{one.low:.4f}, {one.high:.4f}]" if one.how else ""
    parts = f"mean of {len(results)} folds" if len(results) > 1 else "one test set"
    return f"{task}: {title} {one.score:.4f}{interval}, {parts}"


def fold_remarks(results: Sequence[FoldResult]) -> Iterator[str]:
    """Yield a sentence on each thing that did not go well in some folds.

    Parameters
    ----------
    results : sequence of FoldResult
        Of all folds.

    Yields
    ------
    str
    """
    text = _constant_columns(results)
    if text is not None:
        yield text
    yield from _not_converged(results)


def _constant_columns(results: Sequence[FoldResult]) -> str | None:
    """Return a sentence on the constant columns that the P-SVM left out, over all folds; None if there were none."""
    counts = [(result.fit.get("constant_columns") or 0, result.metrics["n_train"]) for result in results]
    most, size = max(counts, default=(0, 0))
    if not most:
        return None
    fits = sum(count > 0 for count, _ in counts)
    were = "column was" if size == 1 else "columns were"
    return f"P-SVM: up to {most} of {size} {were} constant and left out, in {fits} of {len(counts)} fits"


def _not_converged(results: Sequence[FoldResult]) -> Iterator[str]:
    """Yield a sentence on each thing that did not converge, and on solvers' remarks."""
    fits = [result.fit for result in results]
    failed = [fit for fit in fits if not fit["converged"]]
    if failed:
        why = next((fit["remark"] for fit in failed if fit.get("remark")), None)
        yield f"{len(failed)} of {len(fits)} fits did not converge{'' if why is None else f': {why}'}"
    remarks = [fit["remark"] for fit in fits if fit["converged"] and fit.get("remark")]
    if remarks:
        yield f"remark on {len(remarks)} of {len(fits)} fits, the first: {remarks[0]}"
    weights = sum(fit.get("weights_converged") is False for fit in fits)
    if weights:
        yield f"the kernel's weights did not converge in {weights} of {len(fits)} training sets"
    inner = [fit["inner_not_converged"] for fit in fits if fit.get("inner_not_converged")]
    if inner:
        yield f"{sum(inner)} inner fits did not converge, in {len(inner)} of {len(fits)} training sets"
