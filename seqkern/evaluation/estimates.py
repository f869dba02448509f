"""Scores of a cross-validation: means over its folds, with 95% intervals.

The interval of the AUC uses DeLong's variance of each fold, accuracy Wilson's interval, and the RMSE
the squared errors. All three are based on samples, so that ten repeats are no more certain than one, and all double
the variance over folds, since the folds share training samples (`seqkern.evaluation.chance`). Other scores have
Student's interval, with the variance between folds corrected for shared training samples (Nadeau & Bengio 2003).

References
----------
Nadeau & Bengio 2003, Mach. Learn. 52:239-281.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse, vstack

from seqkern.core.convergence import ignoring_unconverged
from seqkern.core.types import Array, Floats, Ints
from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.chance import SHARED_TRAINING, permuted_accuracy, permuted_auc, variance_of_mean
from seqkern.evaluation.fold_tables import FoldResult
from seqkern.evaluation.intervals import (
    accuracy_ends,
    auc_ends,
    auc_variance,
    error_ends,
    independent_counts,
    quantile,
    share_ends,
)
from seqkern.evaluation.metrics import codes_of, scores
from seqkern.sequences.labels import Labels
from seqkern.solvers.checking import ConstantColumnWarning

SHOWN = {
    "binary": ("auc", "average_precision", "balanced_accuracy", "mcc"),
    "multiclass": ("auc", "accuracy", "balanced_accuracy"),
    "real": ("r2", "rmse", "spearman", "coverage_90", "miscalibration_area", "sharpness", "nlpd"),
}
"""Scores to show, by the kind of labels, the headline first; scores that a method lacks are left out."""
LOWEST = {"mcc": -1.0, "r2": -math.inf, "spearman": -1.0, "nlpd": -math.inf}
HIGHEST = {"sharpness": math.inf, "nlpd": math.inf, "log_loss": math.inf}
NEGATIVES = 50
"""Number of negatives in each test set above which ROC50 takes the place of the average precision."""


class Estimate(NamedTuple):
    """A mean score over the folds of a cross-validation, with its 95% interval and the score of each fold.

    >>> Estimate(0.9, 0.85, 0.93, "DeLong", (0.88, 0.92)).score
    0.9
    """

    score: float  # Mean over the folds
    low: float  # Ends of the 95% interval; NaN where there is none
    high: float  # Ends of the 95% interval; NaN where there is none
    how: str  # The interval's name; empty where there is none
    folds: tuple[float, ...]  # The score of each fold; NaN where it is not defined


def estimates(results: Sequence[FoldResult], labels: Labels) -> dict[str, Estimate]:
    """Return the scores of a cross-validation by name, the headline score first."""
    repeats = _repeats(results)
    found = {}
    for name in _shown(results, labels):
        values = [_number(result.metrics.get(name)) for result in results]
        known = [value for value in values if not math.isnan(value)]
        if known:
            interval, how = _interval(name, float(np.mean(known)), known, repeats, labels)
            how = "" if math.isnan(interval.low) else how
            found[name] = Estimate(interval.score, interval.low, interval.high, how, tuple(values))
    return found


def _shown(results: Sequence[FoldResult], labels: Labels) -> Sequence[str]:
    """Return the names of the scores to show."""
    names = [*SHOWN[labels.kind]]
    if labels.kind == "binary" and any("log_loss" in result.metrics for result in results):
        names += ["brier", "log_loss"]
    of_states = [name for result in results[:1] for name in result.metrics if name.startswith(("q", "sov99"))]
    names += [name for name in of_states if ":" not in name and name not in names]
    if labels.kind != "binary":
        return names
    negatives = [sum(row["label"] == labels.classes[0] for row in result.decisions) for result in results]
    if negatives and min(negatives) > NEGATIVES:
        names[1] = "roc50"
    if not any(not math.isnan(_number(result.metrics.get("auc"))) for result in results):
        names.append("accuracy")  # test sets of one sample
    return names


def _number(value: Any) -> float:
    """Return a value as a float; NaN for None."""
    return math.nan if value is None else float(value)


def _repeats(results: Sequence[FoldResult]) -> list[list[FoldResult]]:
    """Return the folds grouped into repeats, each testing a sample at most once."""
    repeats: list[list[FoldResult]] = []
    tested: set[str] = set()
    for result in results:
        ids = {row["id"] for row in result.decisions}
        if not repeats or ids & tested:
            repeats.append([])
            tested = set()
        repeats[-1].append(result)
        tested |= ids
    return repeats


def _interval(
    name: str, score: float, known: Sequence[float], repeats: Sequence[Sequence[FoldResult]], labels: Labels
) -> tuple[ScoreInterval, str]:
    """Return the interval of a mean over folds, and its name."""
    if name == "auc":
        return _auc_interval(score, repeats, labels), "DeLong"
    if name == "accuracy":
        return _accuracy_interval(score, repeats, labels), "Wilson"
    if name == "rmse":
        errors = [[_errors(result) for result in repeat] for repeat in repeats]
        found = [error_ends(score, parts, 1) for parts in errors]
        return max(found, key=lambda one: -1 if math.isnan(one.se) else one.se), "squared errors"
    sizes = [(r.metrics["n_test"], r.metrics["n_train"]) for repeat in repeats for r in repeat if "n_test" in r.metrics]
    share = float(np.mean([test / train for test, train in sizes])) if sizes else math.nan
    return _fold_interval(name, score, known, share), "Nadeau-Bengio"


def _fold_interval(name: str, score: float, known: Sequence[float], share: float) -> ScoreInterval:
    """Return Student's interval from the folds, with Nadeau and Bengio's variance.

    `share` is the ratio of test to training samples.
    """
    if len(known) < 2:
        return ScoreInterval(score, *[math.nan] * 3)
    se = math.sqrt((1 / len(known) + share) * float(np.var(known, ddof=1)))
    half = quantile(1, len(known) - 1) * se
    return ScoreInterval(score, se, max(LOWEST.get(name, 0.0), score - half), min(HIGHEST.get(name, 1.0), score + half))


def _auc_interval(score: float, repeats: Sequence[Sequence[FoldResult]], labels: Labels) -> ScoreInterval:
    """Return the interval of an AUC; perfectly separated classes get Hanley and McNeil's."""
    groups = _groups(labels)
    errors = []
    for repeat in repeats:
        variances = []
        for result in repeat:
            y, decisions = _ranked(result, labels)
            if math.isnan(_number(result.metrics.get("auc"))):
                continue
            own = None if groups is None else [groups[row["id"]] for row in result.decisions]
            alone, together = permuted_auc(y, decisions), permuted_auc(y, decisions, own)
            excess = together.variance / alone.variance if alone.variance else 1.0
            variances.append(auc_variance(y, decisions)[1] * excess)
        errors.append(math.sqrt(variance_of_mean(variances)))
    se = float(np.mean(errors))
    found = share_ends(score, se**2, 1)
    if not math.isnan(found.low) or labels.kind != "binary" or len(repeats[0]) < 1:
        return found
    negatives, positives = (int(count) for count in independent_counts(labels.y, 2, labels.groups))
    factor = SHARED_TRAINING if len(repeats[0]) > 1 else 1.0
    low, high = auc_ends(score, positives, negatives, factor)
    return ScoreInterval(score, math.nan, low, high)


def _accuracy_interval(score: float, repeats: Sequence[Sequence[FoldResult]], labels: Labels) -> ScoreInterval:
    """Return Wilson's interval for the effective number of independent samples among those tested."""
    groups, code = _groups(labels), {name: i for i, name in enumerate(labels.classes)}
    tested = sum(len(result.decisions) for result in repeats[0])
    excess = []
    for result in repeats[0] if groups is not None else ():
        y, predicted = ([code[str(row[key])] for row in result.decisions] for key in ("label", "predicted"))
        own = [groups[row["id"]] for row in result.decisions] if groups is not None else None
        alone, together = permuted_accuracy(y, predicted), permuted_accuracy(y, predicted, own)
        excess.append(together.variance / alone.variance if alone.variance else 1.0)
    return accuracy_ends(score, tested / float(np.mean(excess)) if excess else tested, len(repeats[0]), 1)


def _groups(labels: Labels) -> dict[str, Any] | None:
    """Return the group of each sample by its id; None without groups."""
    return None if labels.groups is None else dict(zip(labels.ids, labels.groups.tolist(), strict=True))


def _errors(result: FoldResult) -> Floats:
    """Return the prediction errors on a test set with real labels."""
    return np.array([float(row["label"]) - row["decision"] for row in result.decisions])


def _ranked(result: FoldResult, labels: Labels) -> tuple[Ints, Floats]:
    """Return the class codes and decision values of a test set."""
    code = {name: i for i, name in enumerate(labels.classes)}
    y = np.array([code[str(row["label"])] for row in result.decisions], dtype=np.int64)
    columns = ["decision"] if labels.kind == "binary" else [f"decision:{name}" for name in labels.classes]
    values = np.array([[row[column] for column in columns] for row in result.decisions], dtype=np.float64)
    return y, values[:, 0] if labels.kind == "binary" else values


# The selection bias: the inflated score when features are selected on all samples, including the test sets.
#
# Features selected on the training and test sets together are given to the same solver, trained on the training set and
# tested on the test set. The difference from the honest score is the selection bias; such numbers are reported only as
# a warning (Ambroise & McLachlan, PNAS 99, 2002).


def biased_scores(
    honest: Any,
    parts: tuple[Any, Any],
    y: tuple[Array, Array],
    labels: Labels,
    test: Ints,
    classify: Callable[[Floats], Array] | None = None,
) -> dict[str, float]:
    """Return the inflated metrics of one fold with features selected on training and test data together.

    `honest` is the solver fitted on the training set, whose other choices are kept.
    """
    F_train, F_test = parts
    both = vstack(parts, format="csr") if issparse(F_train) else np.vstack(parts)
    # warnings were already given by the honest fits of the same solver
    with ignoring_unconverged(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        columns = honest.with_chosen_parameters().fit(both, np.concatenate(y)).selection().columns
        solver = honest.with_chosen_parameters().without_selection(columns)
        if solver is None:
            solver = honest.with_chosen_parameters()
            if len(columns):
                F_train, F_test = F_train[:, columns], F_test[:, columns]
            else:  # nothing was selected: a constant column
                F_train, F_test = (np.zeros((part.shape[0], 1)) for part in parts)
        solver.fit(F_train, y[0])
    decisions = solver.predict(F_test) if labels.kind == "real" else solver.decision_function(F_test)
    predicted = solver.predict(F_test) if classify is None else classify(decisions) > 0
    found = scores(labels.kind, labels.y[test], decisions, codes_of(labels.kind, predicted))
    return {"n_features": len(columns), **found}
