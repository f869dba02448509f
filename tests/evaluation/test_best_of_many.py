"""Scores of the best of many methods, corrected for the choice: against naive twins, and on noise."""

import numpy as np
import pytest

from seqkern.evaluation.bootstrap import Sample
from seqkern.evaluation.many_task_tests import corrected_choice, corrected_mean, corrected_ranking
from seqkern.evaluation.ranking import roc_auc


def naive_corrected_choice(scores):
    """Tibshirani and Tibshirani's correction, fold by fold."""
    means = [sum(row) / len(row) for row in scores]
    best = scores[means.index(max(means))]
    folds = range(len(best))
    bias = sum(max(row[k] for row in scores) - best[k] for k in folds) / len(best)
    return max(means) - bias


def naive_bbc(y, decisions, draws, rng):
    """BBC-CV of one test set, draw by draw: samples are drawn within the classes."""
    found = []
    for _ in range(draws):
        inside = np.concatenate([rng.choice(rows, len(rows)) for rows in (np.flatnonzero(y), np.flatnonzero(~y))])
        outside = np.setdiff1d(np.arange(len(y)), inside)
        best = max(decisions, key=lambda values: roc_auc(y[inside], values[inside]))
        found.append(roc_auc(y[outside], best[outside]))
    return np.nanmean(found)


def test_corrected_choice_is_that_of_the_twin():
    rng = np.random.default_rng(2)
    for shape in ((1, 3), (4, 5), (30, 10)):
        scores = rng.random(shape)
        assert corrected_choice(scores) == pytest.approx(naive_corrected_choice(scores.tolist()), abs=1e-12)
    assert corrected_choice([[0.7, 0.9]]) == pytest.approx(0.8)  # one candidate: nothing was chosen


def test_a_fold_that_one_candidate_lacks_is_left_out():
    assert corrected_choice([[0.5, 0.9, np.nan], [0.6, 0.7, 0.8]]) == corrected_choice([[0.5, 0.9], [0.6, 0.7]])
    assert np.isnan(corrected_choice([[np.nan], [1.0]]))


def test_bbc_agrees_with_the_twin():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 3 == 0
    decisions = rng.normal(size=(6, 80)) + np.array([0, 0.2, 0.4, 0.6, 0.8, 1.0])[:, None] * y
    own = corrected_ranking(y, decisions, draws=2000)
    assert own == pytest.approx(naive_bbc(y, decisions, 2000, rng), abs=0.01)


@pytest.mark.nightly
def test_the_best_of_fifty_useless_methods_is_corrected_to_chance():
    best, ranking, choice, mean = [], [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        noise, y, folds = rng.normal(size=(50, 200)), np.arange(200) % 2, (np.arange(200) // 2) % 5
        sample = Sample(y, noise, "auc", folds)
        best.append(sample.whole().max())
        ranking.append(corrected_ranking(y, noise, folds=folds, draws=100))
        each = [[roc_auc(y[folds == k], values[folds == k]) for k in range(5)] for values in noise]
        choice.append(corrected_choice(each))
        mean.append(corrected_mean((noise > 0) == y, folds=folds, draws=100))
    assert np.mean(best) > 0.57
    assert abs(np.mean(ranking) - 0.5) < 0.015
    assert abs(np.mean(mean) - 0.5) < 0.015
    # known to correct a little too much with five folds or more
    assert -0.05 < np.mean(choice) - 0.5 < 0.015


def test_a_method_that_is_clearly_best_keeps_its_score():
    rng = np.random.default_rng(4)
    y = np.arange(400) % 2
    decisions = [y + rng.normal(size=400) * s for s in (0.4, 3.0, 3.0, 3.0)]
    assert corrected_ranking(y, decisions) == pytest.approx(roc_auc(y, decisions[0]), abs=0.005)


def test_tasks_are_drawn_as_wholes_and_the_seed_decides():
    values = np.random.default_rng(1).random((8, 30))
    assert corrected_mean(values, seed=3) == corrected_mean(values, seed=3) != corrected_mean(values, seed=4)
    assert corrected_mean(values) < values.mean(axis=1).max()
    assert np.isnan(corrected_mean(values[:, :1]))


def naive_mean_of_sets(right, folds, draws, rng):
    """BBC-CV of means over test sets, draw by draw: samples are drawn within the sets."""
    found = []
    for _ in range(draws):
        inside = [rng.choice(np.flatnonzero(folds == k), (folds == k).sum()) for k in set(folds.tolist())]
        best = np.argmax(np.mean([right[:, rows].mean(axis=1) for rows in inside], axis=0))
        outside = [np.setdiff1d(np.flatnonzero(folds == k), rows) for k, rows in enumerate(inside)]
        found.append(np.mean([right[best, rows].mean() for rows in outside]))
    return np.mean(found)


def test_the_corrected_mean_of_every_set_counts_the_same():
    rng = np.random.default_rng(3)
    folds = np.repeat([0, 1, 2], [40, 12, 12])
    # the last set is the easy one, and small
    right = rng.random((5, 64)) < np.array([0.5, 0.5, 0.95])[folds]
    expected = naive_mean_of_sets(right, folds, 1500, rng)
    assert corrected_mean(right, folds=folds, draws=4000) == pytest.approx(expected, abs=0.01)
