"""Intervals that hold together: against DeLong's, Wilson's and simulated coverage."""

import math

import numpy as np
import pytest
from scipy import stats

from seqkern.core.statistics import wilson_interval
from seqkern.evaluation.intervals import accuracy_ends, auc_variance, error_ends, share_ends, task_ends
from seqkern.evaluation.metrics import macro_auc
from seqkern.evaluation.single_task_tests import delong_interval


def test_one_test_part_and_one_method_is_delong():
    rng = np.random.default_rng(1)
    labels = rng.integers(2, size=80)
    decisions = rng.normal(size=80) + labels
    assert tuple(share_ends(*auc_variance(labels, decisions), methods=1)) == pytest.approx(
        tuple(delong_interval(labels, decisions))
    )


def test_two_classes_one_against_the_other_are_the_binary_case():
    rng = np.random.default_rng(2)
    labels = rng.integers(2, size=60)
    decisions = rng.integers(12, size=60) + 4.0 * labels
    both = auc_variance(labels, np.column_stack([-decisions, decisions]))
    assert both == pytest.approx(auc_variance(labels, decisions))


def test_the_variance_of_several_classes_is_about_that_of_new_samples():
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], [30, 40, 50])
    found = []
    for _ in range(300):
        values = rng.normal(size=(120, 3))
        values[np.arange(120), labels] += 1
        found.append(auc_variance(labels, values))
    areas, variances = np.array(found).T
    assert areas[0] == pytest.approx(found[0][0])
    assert np.mean(variances) == pytest.approx(np.var(areas), rel=0.2)
    assert areas[-1] == pytest.approx(macro_auc(labels, values))


def test_intervals_grow_with_the_number_of_methods():
    one, many = (share_ends(0.7, 0.003, methods) for methods in (1, 24))
    assert many.low < one.low < 0.7 < one.high < many.high
    assert math.isnan(share_ends(1.0, 0.0, 5).low)


def test_accuracy_over_folds_counts_half_the_samples():
    assert accuracy_ends(0.8, 100, 1, 1)[2:] == pytest.approx(wilson_interval(80, 100))
    assert accuracy_ends(0.8, 100, 5, 1)[2:] == pytest.approx(wilson_interval(40, 50))
    assert math.isnan(accuracy_ends(0.8, 0, 5, 1).low)


def test_a_mean_over_tasks_has_students_interval():
    values = [0.6, 0.9, 0.7, 0.8]
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert task_ends(values, 1)[2:] == pytest.approx(expected)
    assert task_ends(values, 24, largest=1).high == 1
    assert math.isnan(task_ends([0.7], 1).low)


def test_the_interval_of_the_error_covers():
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(300):
        errors = rng.normal(size=200)
        found = error_ends(float(np.sqrt(np.mean(errors**2))), [errors], 1)
        hits += found.low <= 1 <= found.high
    assert 0.9 <= hits / 300 <= 0.99
    assert math.isnan(error_ends(1.0, [np.array([1.0])], 1).low)
