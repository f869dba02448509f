"""Scores of probabilities and of predicted distributions beside scipy's and scikit-learn's."""

import math

import numpy as np
import pytest
from scipy.stats import norm, t
from sklearn import metrics

from seqkern.evaluation.metrics import (
    interval_coverage,
    log_loss,
    miscalibration_area,
    negative_log_density,
    predictive_scores,
    sharpness,
)


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


def test_density_and_coverage_with_tails_are_those_of_t_distributions():
    rng = np.random.default_rng(0)
    y, mean, deviation = rng.normal(size=200), rng.normal(size=200), rng.uniform(0.5, 2, 200)
    for freedom in (3.1, 5.0, 40.0):
        made = t(freedom, mean, deviation * math.sqrt(1 - 2 / freedom))  # of the given standard deviation
        np.testing.assert_allclose(made.std(), deviation)
        expected = pytest.approx(-made.logpdf(y).mean(), rel=1e-9)
        assert negative_log_density(y, mean, deviation, 1 / freedom) == expected
        for level in (0.5, 0.9):
            low, high = made.interval(level)
            found = interval_coverage(y, mean, deviation, level, 1 / freedom)
            assert found == np.mean((low <= y) & (y <= high))
    tails = np.repeat([0.0, 0.3], 100)  # of each sample
    parts = [negative_log_density(y[own], mean[own], deviation[own], tails[own]) for own in (tails == 0, tails > 0)]
    assert negative_log_density(y, mean, deviation, tails) == pytest.approx(np.mean(parts))


def test_miscalibration_area_and_sharpness_are_their_definitions():
    rng = np.random.default_rng(1)
    y, mean, deviation = rng.normal(size=60), rng.normal(size=60), rng.uniform(0.2, 2, 60)
    area = 0.0
    for percent in range(1, 100):
        low, high = norm(mean, deviation).interval(percent / 100)
        within = sum(1 for one, start, end in zip(y, low, high, strict=True) if start <= one <= end)
        area += abs(within / 60 - percent / 100) / 99
    found = predictive_scores(y, mean, deviation)
    assert found["miscalibration_area"] == pytest.approx(area)
    assert found["sharpness"] == pytest.approx(math.sqrt(sum(one * one for one in deviation) / 60))


def test_miscalibration_of_right_distributions_is_chance():
    rng = np.random.default_rng(2)
    for n in (25, 400):
        areas = [miscalibration_area(rng.normal(size=n), np.zeros(n), np.ones(n)) for _ in range(200)]
        assert np.mean(areas) * math.sqrt(n) == pytest.approx(math.sqrt(math.pi / 32), abs=0.03)  # Brownian bridge
    levels = np.arange(1, 100) / 100
    exact = np.mean(levels - (2 * norm.cdf(norm.ppf((1 + levels) / 2) / 2) - 1))  # intervals half as wide
    narrow = miscalibration_area(rng.normal(size=100000), np.zeros(100000), np.full(100000, 0.5))
    assert narrow == pytest.approx(exact, abs=0.003)


def test_a_deviation_of_zero():
    assert negative_log_density([1.0], [2.0], [0.0]) == math.inf
    assert interval_coverage([1.0, 2.0], [1.0, 1.0], [0.0, 0.0]) == 0.5


def test_nothing_to_score():
    assert math.isnan(log_loss([], []))
    assert math.isnan(negative_log_density([], [], []))
    assert math.isnan(interval_coverage([], [], []))
    assert math.isnan(miscalibration_area([], [], []))
    assert math.isnan(sharpness([]))
