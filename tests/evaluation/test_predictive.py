"""Scores of probabilities and of predicted distributions beside scipy's and scikit-learn's."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn import metrics

from seqkern.evaluation.metrics import interval_coverage, log_loss, negative_log_density


def test_log_loss_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 50), rng.random(50)
    assert log_loss(y, p) == pytest.approx(metrics.log_loss(y, p))
    y, p = rng.integers(0, 3, 50), rng.dirichlet(np.ones(3), 50)
    assert log_loss(y, p) == pytest.approx(metrics.log_loss(y, p))
    assert log_loss([1, 0], [0.0, 1.0]) == pytest.approx(-math.log(1e-15))


def test_density_and_coverage_are_those_of_normal_distributions():
    rng = np.random.default_rng(0)
    y, mean, deviation = rng.normal(size=200), rng.normal(size=200), rng.uniform(0.5, 2, 200)
    assert negative_log_density(y, mean, deviation) == pytest.approx(-norm(mean, deviation).logpdf(y).mean())
    for level in (0.5, 0.9):
        low, high = norm(mean, deviation).interval(level)
        assert interval_coverage(y, mean, deviation, level) == np.mean((low <= y) & (y <= high))


def test_a_deviation_of_zero():
    assert negative_log_density([1.0], [2.0], [0.0]) == math.inf
    assert interval_coverage([1.0, 2.0], [1.0, 1.0], [0.0, 0.0]) == 0.5


def test_nothing_to_score():
    assert math.isnan(log_loss([], []))
    assert math.isnan(negative_log_density([], [], []))
    assert math.isnan(interval_coverage([], [], []))
