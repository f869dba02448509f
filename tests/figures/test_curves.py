"""Points of precision-recall curves, compared with scikit-learn's."""

import numpy as np
import pytest
from sklearn import metrics

from seqkern.report.curves import pr_points


@pytest.mark.parametrize("levels", [3, 12, 10_000])
def test_pr_points_are_those_of_scikit_learn(levels):
    rng = np.random.default_rng(levels)
    positive = rng.random(200) < 0.3
    decision = rng.integers(levels, size=200) + positive * levels / 4
    recall, precision = pr_points(positive, decision)
    their_precision, their_recall, thresholds = metrics.precision_recall_curve(
        positive, decision, drop_intermediate=False
    )
    assert len(recall) == len(thresholds) + 1
    np.testing.assert_array_equal(recall, their_recall[::-1])
    np.testing.assert_array_equal(precision, their_precision[::-1])
    steps = float(np.sum(np.diff(recall) * precision[1:]))
    assert steps == pytest.approx(metrics.average_precision_score(positive, decision), abs=1e-12)


def test_equal_decisions_are_one_point():
    recall, precision = pr_points(np.array([True, False, True, False]), np.full(4, 0.5))
    assert (recall.tolist(), precision.tolist()) == ([0, 1], [1, 0.5])


def test_points_do_not_depend_on_the_order_of_samples():
    rng = np.random.default_rng(5)
    positive, decision = rng.random(60) < 0.5, rng.integers(8, size=60).astype(float)
    order = rng.permutation(60)
    for own, other in zip(pr_points(positive, decision), pr_points(positive[order], decision[order]), strict=True):
        np.testing.assert_array_equal(own, other)


def test_samples_without_a_decision_are_left_out():
    positive, decision = np.array([True, False, True]), np.array([2.0, 1.0, np.nan])
    assert pr_points(positive, decision)[0].tolist() == [0, 1, 1]


@pytest.mark.parametrize("positive", [[True, True], [False, False], []])
def test_one_class_has_no_curve(positive):
    assert pr_points(np.array(positive, dtype=bool), np.arange(len(positive), dtype=float)) == (None, None)
