"""What the folds of a method gave, as tables: decisions, scores, choices, fits, features, cost."""

import math
from dataclasses import dataclass, field

from seqkern.core.archive import canonical_json
from seqkern.core.cost import write_cost
from seqkern.core.tsv import write_tsv
from seqkern.evaluation.metrics import codes_of
from seqkern.solvers.specs import value_text

PLACE_COLUMNS = ("task", "split")
CHOICE_COLUMNS = (*PLACE_COLUMNS, "parameter", "value", "inner_score")
FEATURE_COLUMNS = (*PLACE_COLUMNS, "feature", "column", "rank", "weight", "class")
INTERVAL_COLUMNS = (
    *(*PLACE_COLUMNS, "class", "feature", "column", "selected"),
    *("weight", "low", "high", "full_weight", "full_low", "full_high"),
)
BIAS_COLUMNS = (*PLACE_COLUMNS, "n_features")
INNER_COLUMNS = (*PLACE_COLUMNS, "candidate", "kernel", "solver", "fold", "score", "chosen")
SPECTRUM_COLUMNS = ("smallest_eigenvalue", "negative_share", "eigenvalues")
FIT_COLUMNS = (
    *PLACE_COLUMNS,
    *("converged", "iterations", "residual", "gap", "n_support", "support_share", "constant_columns", "remark"),
    *("inner_not_converged", "weights_converged"),
    *SPECTRUM_COLUMNS,
)


@dataclass(frozen=True)
class FoldResult:
    """What one outer fold gave, as rows of the tables that are written."""

    decisions: list
    metrics: dict
    choices: list
    fit: dict
    inner: list = field(default_factory=list)
    features: list = field(default_factory=list)
    intervals: list = field(default_factory=list)
    bias: list = field(default_factory=list)
    cost: list = field(default_factory=list)


def decision_rows(labels, decisions, predicted, probabilities):
    """Return one row for each test unit: its label, decision values, probability if there is one, and prediction."""
    names = labels.names()
    codes = codes_of(labels.kind, predicted)
    for i, name in enumerate(labels.ids):
        row = {"id": name, "label": names[i]}
        if labels.kind == "multiclass":
            row |= {f"decision:{c}": float(value) for c, value in zip(labels.classes, decisions[i], strict=True)}
        else:
            row["decision"] = float(decisions[i])
        if probabilities is not None and probabilities.ndim == 2:
            row |= {f"probability:{c}": float(p) for c, p in zip(labels.classes, probabilities[i], strict=True)}
        elif probabilities is not None:
            row["probability"] = float(probabilities[i])
        row["predicted"] = float(codes[i]) if labels.kind == "real" else labels.classes[int(codes[i])]
        yield row


def choice_rows(choice, kernels, own, threshold, learned):
    """Return rows for the chosen kernel, where there were several, the solver's parameters, and what was learned.

    What the solver chose by itself, `own`, takes the place of the values that it was given to choose from.
    """
    chosen = [("kernel", choice.kernel)] if len(kernels) > 1 else []
    for name, value in (*chosen, *(choice.spec | own).items()):
        if name != "solver":
            yield {"parameter": name, "value": value_text(value), "inner_score": choice.score}
    if threshold is not None:
        yield {"parameter": "threshold", "value": threshold.value, "inner_score": math.nan}
    for name, value in learned.items():
        yield {"parameter": name, "value": value, "inner_score": math.nan}


def inner_rows(choice):
    """Return one row for each candidate and inner fold: its score, and whether the candidate was chosen."""
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


def write_results(folder, results):
    """Write decisions, metrics, choices, scores of the inner loop, fits and cost of all folds to `folder`.

    Parameters
    ----------
    folder : Path
    results : list of FoldResult
        The columns are those that their rows have, in order of appearance.

    Raises
    ------
    FileError
        If a file cannot be written.
    """
    decisions = [row for result in results for row in result.decisions]
    metrics = [result.metrics for result in results]
    write_tsv(folder / "decisions.tsv", _columns(decisions, last="predicted"), decisions)
    write_tsv(folder / "metrics.tsv", _columns(metrics), metrics)
    write_tsv(folder / "choices.tsv", CHOICE_COLUMNS, (row for result in results for row in result.choices))
    write_tsv(folder / "inner_scores.tsv", INNER_COLUMNS, (row for result in results for row in result.inner))
    write_tsv(folder / "features.tsv", FEATURE_COLUMNS, (row for result in results for row in result.features))
    write_tsv(folder / "intervals.tsv", INTERVAL_COLUMNS, (row for result in results for row in result.intervals))
    bias = [row for result in results for row in result.bias]
    write_tsv(folder / "selection_bias.tsv", _columns(bias) or BIAS_COLUMNS, bias)
    write_tsv(folder / "fits.tsv", FIT_COLUMNS, (result.fit for result in results))
    write_cost(folder / "cost.json", [row for result in results for row in result.cost])


def _columns(rows, last=None):
    """Return the keys of all rows in order of appearance, the key `last` at the end."""
    columns = dict.fromkeys(key for row in rows for key in row if key != last)
    return [*columns, last] if last else [*columns]
