"""The bootstrap of Matthews' correlation against draws of single samples."""

import math

import numpy as np
import pytest

from seqkern.evaluation.intervals import mcc_interval
from seqkern.evaluation.metrics import matthews_correlation


@pytest.mark.parametrize("classes", [2, 3])
def test_limits_are_those_of_draws_of_samples(classes):
    rng = np.random.default_rng(3)
    y = rng.integers(0, classes, 150)
    predicted = np.where(rng.random(150) < 0.7, y, rng.integers(0, classes, 150))
    found = mcc_interval(y, predicted, classes, n_resamples=4000)
    assert found.score == pytest.approx(matthews_correlation(y, predicted))
    rows = [np.flatnonzero(y == code) for code in range(classes)]
    draws = []
    for _ in range(1500):
        drawn = np.concatenate([rng.choice(own, len(own)) for own in rows])
        draws.append(matthews_correlation(y[drawn], predicted[drawn]))
    assert (found.low, found.high) == pytest.approx(np.quantile(draws, (0.025, 0.975)), abs=0.015)
    assert found.se == pytest.approx(np.std(draws), rel=0.1)


def test_one_class_or_predictions_of_one_class():
    assert math.isnan(mcc_interval([1, 1], [0, 1]).score)
    constant = mcc_interval([0, 1, 1], [1, 1, 1])
    assert constant.score == 0
    assert math.isnan(constant.low)
