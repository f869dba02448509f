"""Meaning of every number, in a sentence for biologists."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from seqkern.core.errors import SeqkernError
from seqkern.evaluation.fold_methods import DESIGNS
from seqkern.evaluation.metrics import SHARE_RIGHT, higher_is_better
from seqkern.methods.baselines import BASELINES, VERDICTS, Rival, p_words

if TYPE_CHECKING:
    from seqkern.core.registry import Registry
    from seqkern.methods.study_results import DatasetResults, Method


@dataclass(frozen=True)
class Metric:
    """A metric: its short name, one sentence, whether higher is better, and the difference with several classes."""

    name: str
    sentence: str
    higher: bool = True
    classes: str = ""

    def explained(self, multiclass: bool) -> str:
        """Return the metric's sentence, with the difference for several classes."""
        return f"{self.sentence} {self.classes}" if multiclass and self.classes else self.sentence


METRICS = {
    "auc": Metric(
        "AUC",
        "The area under the ROC curve: the probability that a random positive scores above a random negative. 1 is "
        "perfect, 0.5 is chance.",
        classes="With several classes it is computed for each class against all others and averaged.",
    ),
    "roc50": Metric(
        "ROC50",
        "The area under the ROC curve up to the first 50 false positives, scaled so that 1 is perfect. It considers "
        "only the top of the ranked list, the candidates for follow-up in the laboratory.",
    ),
    "median_rfp": Metric(
        "median RFP",
        "The median rate of false positives: the share of negatives that score at least as high as the median "
        "positive. 0 is perfect, 0.5 is chance; lower is better.",
    ),
    "average_precision": Metric(
        "average precision",
        "The area under the precision-recall curve: the precision at the rank of each positive, averaged. 1 is "
        "perfect; chance gives the share of positives.",
    ),
    "balanced_accuracy": Metric(
        "balanced accuracy",
        "The share of each class predicted correctly, averaged over the classes, so that rare classes count as much as"
        " common ones. 1 is perfect; chance gives one divided by the number of classes.",
    ),
    "mcc": Metric(
        "MCC",
        "Matthews correlation coefficient: the correlation between true and predicted class. 1 is perfect, 0 is "
        "chance, −1 is always wrong.",
    ),
    "sensitivity": Metric("sensitivity", "The share of the positives that are predicted positive (recall)."),
    "specificity": Metric("specificity", "The share of the negatives that are predicted negative."),
    "accuracy": Metric(
        "accuracy",
        "The share of test samples predicted correctly. It is misleading if one class is rare: always predicting the "
        "common class scores high.",
    ),
    "brier": Metric(
        "Brier score",
        "The mean squared difference between the probability and the label (1 for a positive, 0 for a negative). 0 is "
        "perfect; a constant probability reaches p(1 − p), with p the share of positives; lower is better.",
        classes="With several classes, the squared differences of all probabilities are summed.",
    ),
    "log_loss": Metric(
        "log loss",
        "The mean of −ln p, with p the probability given to the true class. 0 is perfect, ln 2 = 0.69 is guessing "
        "between two classes; errors made with confidence cost much; lower is better.",
    ),
    "sov94": Metric(
        "SOV'94",
        "How well predicted segments (helices, strands, loops) overlap with the true ones, as defined in 1994. 1 is "
        "perfect, but a segment predicted in pieces can score above 1; compare only with other SOV'94 values.",
    ),
    "sov99": Metric(
        "SOV'99",
        "How well predicted segments overlap with the true ones, as corrected in 1999: 1 is perfect, and segments in "
        "pieces score lower. Pooled over all segments of the test set.",
    ),
    "sov99_chain": Metric("SOV'99 by chain", "SOV'99 of each chain, averaged over the chains of the test set."),
    "rmse": Metric(
        "RMSE",
        "Root mean squared error: the typical difference between predicted and true value, in the units of the label. "
        "0 is perfect; lower is better.",
    ),
    "absolute_error": Metric(
        "absolute error",
        "The absolute difference between predicted and true value. 0 is perfect; lower is better.",
    ),
    "r2": Metric(
        "R²",
        "The share of the labels' variance that the prediction explains. 1 is perfect, 0 is no better than predicting "
        "the mean, below 0 is worse.",
    ),
    "coverage_90": Metric(
        "coverage",
        "The share of true values within the 90% prediction interval. 0.9 is right: below it the intervals are too "
        "narrow, above it too wide.",
    ),
    "miscalibration_area": Metric(
        "miscalibration",
        "Miscalibration area: the mean absolute difference between the level of a central prediction interval and the "
        "share of true values within it, over the levels 1% to 99%. 0 is perfect, 0.5 the worst; on n test samples a "
        "right distribution reaches about 0.31/√n; lower is better.",
    ),
    "sharpness": Metric(
        "sharpness",
        "The root mean predicted variance, in the units of the label: how wide the prediction intervals are. Lower is "
        "better among methods whose intervals are right.",
    ),
    "nlpd": Metric(
        "NLPD",
        "Negative log predictive density: the mean of −ln p, with p the density that the predicted distribution gives "
        "to the true value. It counts both the error of a prediction and whether its uncertainty is right; lower is "
        "better.",
    ),
    "span": Metric(
        "span estimate",
        "The share of errors if each training sample in turn were left out, from one fit; it holds if the support "
        "vectors stay the same without it. It ignores similar samples, which stay in; lower is better.",
    ),
    "xi_alpha": Metric(
        "ξα estimate",
        "An upper bound of the leave-one-out error, often far above it, from the coefficients of one fit, if every fit"
        " without one sample has a support vector with 0 < α < C too; with small C it can be too low. Lower is better.",
    ),
    "radius_margin": Metric(
        "radius-margin bound",
        "The squared radius of the sphere around the training samples over that of the margin, for each sample, with "
        "the margin errors; often above 1, so only its order counts. Lower is better.",
    ),
    "evidence": Metric(
        "log marginal likelihood of a sample",
        "The log probability of the training labels under a Gaussian process, for each sample, from one fit. It weighs "
        "how well a kernel fits against how much it could fit; higher is better.",
    ),
    "pearson": Metric("Pearson r", "The linear correlation between predicted and true values; 1 is perfect."),
    "spearman": Metric("Spearman ρ", "The correlation between the ranks of predicted and true values; 1 is perfect."),
}

SAMPLE_WORDS = {"features": "sample", "similarities": "object", "dissimilarities": "object", "residues": "residue"}
"""Noun for a sample that is not a sequence, by the kind of data."""

FOLDS = {
    "stratified": "Random folds with equal class proportions.",
    "grouped": "Folds that keep groups of related sequences together.",
    "five_by_two": "The data are split at random into two halves with equal class proportions, five "
    "times, and each half is tested once (5×2cv). Groups of related sequences stay together.",
    "predefined": "Training and test sets as defined by the source of the data.",
    "locus": "Folds by position in the genome; neighbouring windows stay together.",
    "leave-one-out": "Each sequence is tested once, by a classifier trained on all the others.",
    "leave-one-group-out": "Each group is tested once, by a classifier trained on all the other groups.",
    "position": "Folds of positions of a library of variants; training does not vary the positions that are tested.",
    "position-blocks": "Folds of neighbouring positions of a library of variants; training does not vary them.",
    "mutations": "Trained on variants with few mutations, tested on those with more.",
    "value": "Trained on the low values, tested on the high ones.",
    "liao-noble": "Remote homology detection (Liao and Noble): the members of a family are the test positives, "
    "the other families of its superfamily the training positives. A classifier never sees the family itself.",
}

LEAKS = {
    "identical": ("identical", "The test sequence is identical to a training sequence."),
    "contained": (
        "contained",
        "The test sequence is contained in a training sequence, or contains one.",
    ),
    "similar": (
        "similar",
        "The test sequence is at least as similar to a training sequence as the study's limit, by default more similar"
        " than chance explains.",
    ),
    "overlapping": (
        "overlapping",
        "The test sequence shares a stretch with a training sequence that is too long for chance.",
    ),
    "conflict": (
        "two labels",
        "The same sequence occurs with different labels, so no method can predict both correctly.",
    ),
}

TRANSDUCTIVE = "†"
"""The mark of kernels whose profiles were built with the test sequences."""
EXPLAINED = (
    f"{TRANSDUCTIVE} transductive: profiles were built with the test sequences, but without "
    "their labels. This gives an advantage over methods without the mark."
)


STATE_METRICS = {
    "q": Metric("Q of {}", "The share of the residues in a state that are predicted correctly."),
    "precision": Metric("precision of {}", "The share of the residues predicted to be in a state that are in it."),
    "mcc": Metric("MCC of {}", "Matthews correlation coefficient of a state against all others."),
    "sov99": Metric("SOV'99 of {}", "SOV'99 of the segments of a state."),
}
"""Metrics of single states, whose columns are named ``q:H`` and the like."""


def metric(key: str) -> Metric:
    """Return the Metric of a column in ``metrics.tsv``; for an unknown one with its plain name.

    >>> metric("q3").name, metric("rmse").higher
    ('Q3', False)
    """
    if states := SHARE_RIGHT.fullmatch(key):
        sentence = f"The share of residues whose state, one of {states[1]}, is predicted correctly; 1 is perfect."
        return Metric(key.upper(), sentence)
    if (parts := key.partition(":"))[0] in STATE_METRICS and parts[1]:
        one = STATE_METRICS[parts[0]]
        return replace(one, name=one.name.format(parts[2]))
    return replace(METRICS.get(key) or Metric(key.replace("_", " "), ""), higher=higher_is_better(key))


def spec_text(spec: Mapping[str, Any], key: str) -> str:
    """Return a kernel's or solver's configuration on one line: ``mismatch: k = 5, m = 1``.

    >>> spec_text({"kernel": "mismatch", "k": 5, "m": 1}, "kernel")
    'mismatch: k = 5, m = 1'
    >>> spec_text({"kernel": "spectrum", "k": 3, "part": [29, None]}, "kernel")
    'spectrum: k = 3, positions 30 to the end'
    """
    rest = {name: value for name, value in spec.items() if name != key}
    signs = "[]" if key == "kernel" else "{}"  # braces tell what is searched, and lists of kernels are not
    values = ", ".join(
        _part(value) if name == "part" else f"{name} = {_value(value, signs)}" for name, value in rest.items()
    )
    return f"{spec.get(key, '')}{': ' if values else ''}{values}"


def _part(value: list[int | None]) -> str:
    """Return as text the part of the sequences that a kernel sees, counted from 1; a negative end counts from the
    end.
    """
    start, stop = value
    if (start or 0) < 0 or (stop or 0) < 0:
        return f"part = [{start}, {stop}]"
    return f"positions {(start or 0) + 1} to {stop or 'the end'}"


def _value(value: object, signs: str) -> str:
    """Return a parameter's value as text, with nested kernels in parentheses."""
    if isinstance(value, dict):
        key = next(iter(value), "")
        if key == "sum" and isinstance(value[key], list):
            return "+".join(map(str, value[key]))
        return f"({spec_text(value, key)})" if isinstance(value.get(key), str) else json.dumps(value)
    if isinstance(value, list):
        nested = any(isinstance(item, (dict, list)) for item in value)
        if nested:
            return " + ".join(_value(item, signs) for item in value)
        return f"{signs[0]}{', '.join(map(str, value))}{signs[1]}"
    return str(value)


def class_sentence(registry: Registry, name: str) -> str:
    """Return a description of a kernel or solver, in plain words or from its docstring; empty if unknown."""
    try:
        cls: Any = registry.get(name)
    except SeqkernError:
        return ""
    text = cls.summary or (cls.__doc__ or "").strip().split("\n\n")[0].replace("`", "")
    return " ".join(text.split())


def text_for_kind(kind: str | None, text: str) -> str:
    """Return a text about sequences reworded for another kind of data, such as samples of a table of features.

    It is unchanged for sequences and unknown kinds.

    >>> text_for_kind("residues", "the test sequences")
    'the test residues'
    """
    unit = None if kind is None else SAMPLE_WORDS.get(kind)
    if unit is None:
        return text
    return text.replace("sequence", unit).replace("Sequence", unit.capitalize())


def enumerate_names(names: Iterable[object]) -> str:
    """Return names as ``a, b and c``.

    >>> enumerate_names(["helix", "strand", "coil"])
    'helix, strand and coil'
    """
    texts = list(map(str, names))
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def upper_first(text: str) -> str:
    """Return a text as the start of a sentence."""
    return text[:1].upper() + text[1:]


def averaged_over(dataset: DatasetResults) -> tuple[str, str]:
    """Return the singular and plural of the unit that scores are averaged over: folds, groups, tasks or families, ….

    A single fold is a test set.
    """
    entry = dataset.entry
    method = None if entry.folds is None else entry.folds.method
    text = f"{entry.data.title} {(dataset.summary or {}).get('description')}"
    families = method == "liao-noble" or entry.data.tasks == "families" or "families" in text
    if dataset.several:
        return ("family", "families") if families else ("task", "tasks")
    if len(dataset.units) == 1:
        return "test set", "test sets"
    return ("group", "groups") if method == "leave-one-group-out" else ("fold", "folds")


def footnote(methods: Iterable[Method], transductive: Collection[str]) -> str:
    """Return the explanation of the mark of transductive profiles, with a leading space; empty if no method has it."""
    return f" {EXPLAINED}" if any(method.kernel in transductive for method in methods) else ""


def how_good(estimate: Mapping[str, Any], kind: str) -> str:
    """Return the headline score of a cross-validation with its interval, beside the best baseline, from its record."""
    first = "spearman" if DESIGNS["value"] in estimate["folds"] else "auc"
    key = next((name for name in (first, "r2", *estimate["scores"]) if name in estimate["scores"]), None)
    if key is None:
        return "no score: no fold has samples to score"
    one = estimate["scores"][key]
    interval = f"95% interval {one['low']:.3f} to {one['high']:.3f}, " if one["interval"] else ""
    name = "macro AUC" if kind == "multiclass" and key == "auc" else metric(key).name
    text = f"{name} {one['mean']:.3f} ({interval}{estimate['folds']})"
    rival = next(iter(known_rivals(estimate)), None)
    if rival is None:
        return text
    baseline = BASELINES[rival.baseline]
    what = f"{baseline.phrase}, the best {baseline.role}"
    if rival.sign is None:
        return f"{text}; {what}, reaches {rival.score:.3f}"
    by = "" if rival.metric == key else f" by {metric(rival.metric).name}"
    return f"{text}; {VERDICTS[rival.sign]} than {what} ({rival.score:.3f}; {p_words(rival.p)}{by})"


def known_rivals(estimate: Mapping[str, Any]) -> list[Rival]:
    """Return the baselines in the record of a cross-validation, best first."""
    return [Rival(**one | {"p": math.nan if one["p"] is None else one["p"]}) for one in estimate.get("rivals", ())]
