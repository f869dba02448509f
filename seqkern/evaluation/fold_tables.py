"""Tables of a method's results on its folds: decisions, scores, choices, fits, features, cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from seqkern.core.archive import canonical_json
from seqkern.core.progress import write_cost
from seqkern.core.tsv import write_tsv
from seqkern.core.types import Floats
from seqkern.evaluation.metrics import codes_of
from seqkern.evaluation.selection import Choice, PooledChoice
from seqkern.sequences.labels import Labels
from seqkern.solvers.costs import BOUNDS
from seqkern.solvers.solver_specs import value_text

if TYPE_CHECKING:
    from seqkern.solvers.thresholds import Threshold

Row = dict[str, Any]
"""A line of a table: values by column name."""

PLACE_COLUMNS = ("task", "split")
CHOICE_COLUMNS = (*PLACE_COLUMNS, "parameter", "value", "inner_score")
POOLED_COLUMNS = ("pooled_tasks", "mean_rank")
"""Further columns where one choice was made for several tasks."""
FEATURE_COLUMNS = (*PLACE_COLUMNS, "feature", "column", "rank", "weight", "class")
SIGNIFICANCE_COLUMNS = ("p", "p_corrected")
"""Further columns of features that were tested."""
INTERVAL_COLUMNS = (
    *(*PLACE_COLUMNS, "class", "feature", "column", "selected"),
    *("weight", "low", "high", "full_weight", "full_low", "full_high"),
)
EXEMPLAR_COLUMNS = (*PLACE_COLUMNS, "class", "prototype", "members", "rank", "id", "distance")
PATH_COLUMNS = (*PLACE_COLUMNS, "epsilon", "feature", "column", "weight", "used")
BIAS_COLUMNS = (*PLACE_COLUMNS, "n_features")
INNER_COLUMNS = (*PLACE_COLUMNS, "candidate", "kernel", "solver", "fold", "score", "chosen")
SPECTRUM_COLUMNS = ("smallest_eigenvalue", "negative_share", "eigenvalues")
FIT_COLUMNS = (
    *PLACE_COLUMNS,
    *("converged", "iterations", "residual", "gap", "n_support", "support_share", "constant_columns", "remark"),
    *("inner_not_converged", "weights_converged"),
    *SPECTRUM_COLUMNS,
    *BOUNDS,
)


@dataclass(frozen=True)
class FoldResult:
    """The results of one outer fold, as rows of the tables."""

    decisions: list[Row]  # For each test sample, see `decision_rows`
    metrics: Row  # The scores of the test set
    choices: list[Row]  # The chosen parameters, see `choice_rows`
    fit: Row  # The fit on the training set: `FIT_COLUMNS`
    inner: list[Row] = field(default_factory=list)  # The scores of the inner loop, see `inner_rows`
    features: list[Row] = field(default_factory=list)  # The features that the solver selected: `FEATURE_COLUMNS`
    intervals: list[Row] = field(default_factory=list)  # Coefficients with their intervals: `INTERVAL_COLUMNS`
    exemplars: list[Row] = field(default_factory=list)  # The typical training samples of each class: `EXEMPLAR_COLUMNS`
    bias: list[Row] = field(default_factory=list)  # The inflated scores of features selected on the test data
    path: list[Row] = field(default_factory=list)  # The ε-path of a P-SVM: `PATH_COLUMNS`
    cost: list[Row] = field(default_factory=list)  # Time and memory of each stage


def decision_rows(
    labels: Labels,
    decisions: Floats,
    predicted: npt.ArrayLike,
    probabilities: Floats | None,
    deviations: Floats | None = None,
    tail: float = 0.0,
) -> Iterator[Row]:
    """Yield one row for each test sample: its label, decision values, any probability, and prediction."""
    names = labels.names()
    codes = codes_of(labels.kind, predicted)
    for i, name in enumerate(labels.ids):
        row: Row = {"id": name, "label": names[i]}
        if labels.kind == "multiclass":
            row |= {f"decision:{c}": float(value) for c, value in zip(labels.classes, decisions[i], strict=True)}
        else:
            row["decision"] = float(decisions[i])
        if probabilities is not None and probabilities.ndim == 2:
            row |= {f"probability:{c}": float(p) for c, p in zip(labels.classes, probabilities[i], strict=True)}
        elif probabilities is not None:
            row["probability"] = float(probabilities[i])
        if deviations is not None:
            row |= {"sd": float(deviations[i])} | ({"tail": tail} if tail else {})
        row["predicted"] = float(codes[i]) if labels.kind == "real" else labels.classes[int(codes[i])]
        yield row


def choice_rows(
    choice: Choice, kernels: Sized, own: dict[str, Any], threshold: Threshold | None, learned: Mapping[str, float]
) -> Iterator[Row]:
    """Yield rows for the chosen kernel, if there were several, the solver's parameters, and fitted values."""
    chosen = [("kernel", choice.kernel)] if len(kernels) > 1 else []
    how: Row = {"inner_score": choice.score}
    if isinstance(choice, PooledChoice):
        how |= dict(zip(POOLED_COLUMNS, (choice.tasks, choice.mean_rank), strict=True))
    for name, value in (*chosen, *(choice.spec | own).items()):
        if name != "solver":
            yield {"parameter": name, "value": value_text(value), **how}
    if threshold is not None:
        yield {"parameter": "threshold", "value": threshold.value, "inner_score": math.nan}
    for name, value in learned.items():
        yield {"parameter": name, "value": value, "inner_score": math.nan}


def inner_rows(choice: Choice) -> Iterator[Row]:
    """Yield one row for each candidate and inner fold: its score, and whether the candidate was chosen."""
    for i, (kernel, spec) in enumerate(choice.candidates):
        for fold, score in enumerate(choice.scores[i].tolist(), start=1):
            yield {
                "candidate": i + 1,
                "kernel": kernel,
                "solver": canonical_json(spec),
                "fold": fold,
                "score": score,
                "chosen": i == choice.place,
            }


def write_results(folder: Path, results: Sequence[FoldResult]) -> None:
    """Write decisions, metrics, choices, scores of the inner loop, fits and cost of all folds to `folder`."""
    decisions = [row for result in results for row in result.decisions]
    metrics = [result.metrics for result in results]
    write_tsv(folder / "decisions.tsv", _columns(decisions, last="predicted"), decisions)
    write_tsv(folder / "metrics.tsv", _columns(metrics), metrics)
    choices = [row for result in results for row in result.choices]
    pooled = POOLED_COLUMNS if any(POOLED_COLUMNS[0] in row for row in choices) else ()
    write_tsv(folder / "choices.tsv", (*CHOICE_COLUMNS, *pooled), choices)
    write_tsv(folder / "inner_scores.tsv", INNER_COLUMNS, (row for result in results for row in result.inner))
    features = [row for result in results for row in result.features]
    tested = SIGNIFICANCE_COLUMNS if any(SIGNIFICANCE_COLUMNS[0] in row for row in features) else ()
    write_tsv(folder / "features.tsv", (*FEATURE_COLUMNS, *tested), features)
    write_tsv(folder / "intervals.tsv", INTERVAL_COLUMNS, (row for result in results for row in result.intervals))
    write_tsv(folder / "exemplars.tsv", EXEMPLAR_COLUMNS, (row for result in results for row in result.exemplars))
    bias = [row for result in results for row in result.bias]
    write_tsv(folder / "selection_bias.tsv", _columns(bias) or BIAS_COLUMNS, bias)
    write_tsv(folder / "path.tsv", PATH_COLUMNS, (row for result in results for row in result.path))
    write_tsv(folder / "fits.tsv", FIT_COLUMNS, (result.fit for result in results))
    write_cost(folder / "cost.json", [row for result in results for row in result.cost])


def write_baselines(folder: Path, results: Sequence[tuple[str, FoldResult]]) -> None:
    """Write the decisions and metrics of baselines, with their names in the first column, ``baseline``."""
    decisions = [{"baseline": name} | row for name, result in results for row in result.decisions]
    metrics = [{"baseline": name} | result.metrics for name, result in results]
    head = ["baseline", *PLACE_COLUMNS]
    write_tsv(folder / "decisions.tsv", _columns(decisions, last="predicted") if decisions else head, decisions)
    write_tsv(folder / "metrics.tsv", _columns(metrics) or head, metrics)


def _columns(rows: Iterable[Row], last: str | None = None) -> list[str]:
    """Return the keys of all rows in order of appearance, with the key `last` at the end."""
    columns = dict.fromkeys(key for row in rows for key in row if key != last)
    return [*columns, last] if last else [*columns]


# Warnings about problematic fits.


def fold_remarks(results: Sequence[FoldResult]) -> Iterator[str]:
    """Yield a sentence on each problem that occurred in some folds."""
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
    """Yield a sentence on each fit that did not converge, and on solvers' remarks."""
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
