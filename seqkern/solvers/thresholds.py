"""The decision threshold of the positive class, chosen by the costs of errors.

A rule is one of ``balanced_accuracy``, ``accuracy`` and ``mcc`` (the score is maximised), ``sensitivity=0.95`` (at
least this share of the positives, with as few false positives as possible), ``specificity=0.99`` (at least this share
of the negatives, with as many true positives as possible), and ``cost=1:5`` (a false positive costs 1, a false
negative 5; the sum is minimised). It is fitted to decisions on samples not used for training, and its performance on
new samples varies by chance. The rule ``none`` is the threshold 0.
"""

import math
import re
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_number
from seqkern.core.errors import LabelError, ParameterError
from seqkern.core.types import Floats, Ints

_RULE = re.compile(r"(sensitivity|specificity)=([0-9.eE+-]+)|cost=([0-9.eE+-]+):([0-9.eE+-]+)")
SCORES = ("balanced_accuracy", "accuracy", "mcc")  # Rules that maximise a score
PLAIN = "none"  # The rule that keeps the decision threshold 0
FORMS = (
    f"{', '.join(SCORES)}, sensitivity=0.95, specificity=0.99, cost=1:5 (of a false positive and of a false negative) "
    f"or {PLAIN}"
)


@dataclass(frozen=True)
class Threshold:
    """A threshold, and its performance on the decisions that it was fitted to.

    Decisions above `value` mean the positive class; `sensitivity` and `specificity` are shares of the `n_positive`
    positives above it and of the `n_negative` negatives not above it.
    """

    rule: str  # As given by the user
    value: float  # Decisions above it mean the positive class
    sensitivity: float  # Share of the positives above it
    specificity: float  # Share of the negatives not above it
    n_positive: int  # Number of positives
    n_negative: int  # Number of negatives

    def __post_init__(self) -> None:
        if not isinstance(self.value, (int, float)) or not math.isfinite(self.value):
            raise LabelError(f"a threshold of {self.value!r} is not possible", remedy="train again")

    @classmethod
    def fit(cls, decisions: npt.ArrayLike, positive: npt.ArrayLike, rule: str) -> Self:
        """Return the threshold chosen by a rule (not ``none``) from decisions on samples not used for training."""
        kind, *numbers = parse_rule(rule)
        values, are_positive = np.asarray(decisions, dtype=np.float64), np.asarray(positive, dtype=bool)
        n_positive, n_negative = int(np.count_nonzero(are_positive)), int(np.count_nonzero(~are_positive))
        if not n_positive or not n_negative:
            raise LabelError(
                "no threshold can be chosen: there is only one class", remedy="give samples of both classes"
            )
        places = _places(values)
        found = n_positive - np.searchsorted(np.sort(values[are_positive]), places, side="right")
        wrong = n_negative - np.searchsorted(np.sort(values[~are_positive]), places, side="right")
        # places rise, so that both counts fall
        if kind == "sensitivity":
            best = int(np.flatnonzero(found >= numbers[0] * n_positive - 1e-9)[-1])
        elif kind == "specificity":
            best = int(np.flatnonzero(n_negative - wrong >= numbers[0] * n_negative - 1e-9)[0])
        else:
            if kind == "cost":
                cost = numbers[0] * wrong + numbers[1] * (n_positive - found)
                good = cost <= cost.min() * (1 + 1e-12)
            else:
                score = _score(kind, found, wrong, n_positive, n_negative)
                good = score >= score.max() - 1e-12
            equal = np.flatnonzero(good)
            best = int(equal[np.argmin(np.abs(places[equal]))])  # the nearest to 0
        reached = float(found[best] / n_positive), float(1 - wrong[best] / n_negative)
        return cls(rule, float(places[best]), *reached, n_positive, n_negative)


def parse_rule(rule: str) -> tuple[str, *tuple[float, ...]]:
    """Return the kind of a rule and its numbers.

    These are ``"sensitivity"`` or ``"specificity"`` and a share, ``"cost"`` and two costs, or one of `SCORES` alone.

    >>> from seqkern.solvers.thresholds import parse_rule
    >>> parse_rule("specificity=0.99"), parse_rule("cost=1:5")
    (('specificity', 0.99), ('cost', 1.0, 5.0))
    >>> parse_rule("balanced_accuracy")
    ('balanced_accuracy',)
    """
    if rule in SCORES:
        return (rule,)
    impossible = ParameterError(f"threshold {rule!r} is not possible", remedy=f"write {FORMS}")
    found = _RULE.fullmatch(rule) if isinstance(rule, str) else None
    if found is None:
        raise impossible
    try:
        numbers = [check_number(text) for text in found.groups()[1:] if text is not None]
    except ValueError:
        raise impossible from None
    kind = found[1] or "cost"
    good = all(math.isfinite(number) and number > 0 for number in numbers)
    if not good or (kind != "cost" and numbers[0] > 1):
        raise ParameterError(
            f"threshold {rule!r} is not possible", remedy="give shares above 0 and up to 1, or costs above 0"
        )
    return kind, *numbers


def _score(kind: str, found: Ints, wrong: Ints, n_positive: int, n_negative: int) -> Floats:
    """Return the score `kind` (of `SCORES`) for counts of true positives and false positives."""
    tp, fp = found.astype(np.float64), wrong.astype(np.float64)
    fn, tn = n_positive - tp, n_negative - fp
    if kind == "balanced_accuracy":
        return (tp / n_positive + tn / n_negative) / 2
    if kind == "accuracy":
        return (tp + tn) / (n_positive + n_negative)
    scale = np.sqrt(tp + fp) * np.sqrt(tn + fn) * np.sqrt(n_positive) * np.sqrt(n_negative)
    return np.divide(tp * tn - fp * fn, scale, out=np.zeros_like(tp), where=scale > 0)


def _places(decisions: Floats) -> Floats:
    """Return thresholds that split the decisions in every way: below the lowest, between neighbours, at the highest."""
    values = np.unique(decisions)
    between = values[:-1] / 2 + values[1:] / 2  # a difference may overflow
    return np.concatenate([[np.nextafter(values[0], -np.inf)], between, values[-1:]])
