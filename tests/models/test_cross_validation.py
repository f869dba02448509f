"""Cross-validation of one method, and the scores with their intervals."""

import math

import numpy as np
import pytest
from scipy import stats

from seqkern.core.errors import ParameterError
from seqkern.evaluation.chance import variance_of_mean
from seqkern.evaluation.estimates import estimates
from seqkern.evaluation.fold_tables import FoldResult, decision_rows
from seqkern.evaluation.intervals import auc_variance, error_ends, share_ends
from seqkern.evaluation.metrics import scores
from seqkern.kernels import build_kernel
from seqkern.methods.crossval import OuterFolds, check_splits, cross_validate, evaluate_fold
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.training import collect_training_data
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences

RNG = np.random.default_rng(6)


def results_of(labels, decisions, predicted, splits):
    """FoldResults of given decisions."""
    found = []
    for split in splits:
        own = labels.take(split.test)
        values, codes = decisions[split.test], predicted[split.test]
        metrics = scores(labels.kind, own.y, values, codes) | {"n_train": len(split.train), "n_test": len(split.test)}
        found.append(FoldResult(list(decision_rows(own, values, codes, None)), metrics, [], {}))
    return found


def two_classes(n=90, groups=None):
    labels = make_labels([str(i) for i in range(n)], [i % 3 == 0 for i in range(n)], groups=groups)
    decisions = (labels.y * 2 - 1) + RNG.normal(size=n) * 1.5
    return labels, decisions


def test_every_fold_is_that_of_evaluate_fold():
    texts = ["".join(RNG.choice(list("ACGT"), 20)) for _ in range(40)]
    X = as_sequences(texts, "dna")
    method = Method(build_kernel("spectrum:k=2"), "csvc:C=[0.1,1]", search=Search(folds=2))
    data = collect_training_data(method, X, make_labels(X.ids, ["a", "b"] * 20))
    splits = OuterFolds(folds=4).splits(data.labels)
    for result, split in zip(cross_validate(method, data, splits), splits, strict=True):
        alone = evaluate_fold(method, data, split)
        assert (result.decisions, result.metrics, result.choices) == (alone.decisions, alone.metrics, alone.choices)


def test_the_interval_of_the_auc_is_that_of_the_report():
    labels, decisions = two_classes()
    splits = OuterFolds(folds=3).splits(labels)
    found = estimates(results_of(labels, decisions, decisions > 0, splits), labels)["auc"]
    parts = [auc_variance(labels.y[s.test], decisions[s.test]) for s in splits]
    mean = np.mean([auc for auc, _ in parts])
    expected = share_ends(mean, variance_of_mean([variance for _, variance in parts]), 1)
    assert found.score == pytest.approx(mean)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.how == "DeLong"


def test_repeats_do_not_narrow_the_interval_of_the_auc():
    labels, decisions = two_classes()
    width = []
    for repeats in (1, 10):
        splits = OuterFolds(folds=3, repeats=repeats).splits(labels)
        one = estimates(results_of(labels, decisions, decisions > 0, splits), labels)["auc"]
        width.append(one.high - one.low)
    assert width[1] == pytest.approx(width[0], rel=0.1)


def test_intervals_hold_the_true_score_of_a_fixed_ranking():
    inside = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        labels = make_labels([str(i) for i in range(120)], [i % 2 for i in range(120)])
        decisions = labels.y + rng.normal(size=120)  # its AUC is Φ(1/√2)
        splits = OuterFolds(folds=5, seed=seed).splits(labels)
        one = estimates(results_of(labels, decisions, decisions > 0.5, splits), labels)["auc"]
        inside += one.low <= 0.7602 <= one.high
    assert inside >= 56


def test_perfect_separation_has_an_interval():
    labels, _ = two_classes(60)
    decisions = labels.y * 2.0 - 1
    splits = OuterFolds(folds=5).splits(labels)
    one = estimates(results_of(labels, decisions, decisions > 0, splits), labels)["auc"]
    assert one.score == 1.0
    assert 0.6 < one.low < 1.0
    assert one.high == 1.0


def test_groups_widen_the_interval():
    labels, _ = two_classes(90, groups=[str(i % 30) for i in range(90)])  # each group has one label
    group = np.arange(90) % 30
    decisions = (labels.y * 2 - 1) + RNG.normal(size=30)[group] * 1.5
    splits = OuterFolds(folds=3).splits(labels)
    assert all(not set(group[s.train]) & set(group[s.test]) for s in splits)
    results = results_of(labels, decisions, decisions > 0, splits)
    alone = make_labels(labels.ids, [labels.classes[c] for c in labels.y], positive=labels.classes[1])
    related, single = (estimates(results, own)["auc"] for own in (labels, alone))
    assert related.high - related.low > 1.2 * (single.high - single.low)


def test_leave_one_out_has_an_accuracy_only():
    labels, decisions = two_classes(30)
    splits = OuterFolds("leave-one-out").splits(labels)
    found = estimates(results_of(labels, decisions, decisions > 0, splits), labels)
    assert list(found) == ["accuracy"]
    assert found["accuracy"].score == np.mean((decisions > 0) == labels.y)
    assert found["accuracy"].low < found["accuracy"].score < found["accuracy"].high


def test_real_labels():
    y = RNG.normal(size=60)
    labels = make_labels([str(i) for i in range(60)], y, kind="real")
    decisions = y + RNG.normal(size=60) * 0.3
    splits = OuterFolds(folds=4).splits(labels)
    found = estimates(results_of(labels, decisions, decisions, splits), labels)
    assert list(found) == ["r2", "rmse", "spearman"]
    assert all(one.low < one.score < one.high for one in found.values())
    assert found["rmse"].how == "squared errors"


def test_a_score_of_one_fold_alone_has_no_student_interval():
    labels, decisions = two_classes(60)
    (split, *_) = OuterFolds(folds=3).splits(labels)
    found = estimates(results_of(labels, decisions, decisions > 0, [split]), labels)
    assert math.isnan(found["mcc"].low)
    assert found["mcc"].how == ""
    assert found["auc"].how == "DeLong"


def test_mistakes_are_told_before_any_work():
    labels, _ = two_classes(12)
    with pytest.raises(ParameterError, match="unknown fold method"):
        OuterFolds("liao-noble").splits(labels)
    method = Method(build_kernel("spectrum:k=2"), "nusvc:nu=0.9")
    few = make_labels(list("abcdef"), ["x", "x", "y", "y", "y", "y"])
    with pytest.raises(ParameterError, match="fold 1"):
        check_splits(method, few, OuterFolds(folds=2).splits(few))


def numbers(n=40):
    labels = make_labels([str(i) for i in range(n)], RNG.normal(size=n), kind="real")
    return labels, labels.y + RNG.normal(size=n)


def test_the_interval_of_other_scores_is_nadeau_and_bengios():
    labels, decisions = numbers()
    splits = OuterFolds(folds=4).splits(labels)
    for name in ("r2", "spearman"):
        one = estimates(results_of(labels, decisions, decisions, splits), labels)[name]
        half = stats.t.ppf(0.975, 3) * math.sqrt((1 / 4 + 10 / 30) * np.var(one.folds, ddof=1))
        lowest = -1.0 if name == "spearman" else -math.inf
        expected = max(lowest, one.score - half), min(1.0, one.score + half), "Nadeau-Bengio"
        assert (one.low, one.high, one.how) == (pytest.approx(expected[0]), pytest.approx(expected[1]), expected[2])


def test_repeats_take_the_widest_interval_of_the_error():
    labels, decisions = numbers()
    splits = OuterFolds(folds=4, repeats=3).splits(labels)
    one = estimates(results_of(labels, decisions, decisions, splits), labels)["rmse"]
    errors = [(labels.y - decisions)[split.test] for split in splits]
    each = [error_ends(one.score, errors[i : i + 4], 1) for i in (0, 4, 8)]
    widest = max(each, key=lambda found: found.high - found.low)
    assert (one.low, one.high) == pytest.approx((widest.low, widest.high))
