"""Precision among the samples that are ranked highest."""

import itertools

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.evaluation.metrics import top_precision


def test_ties_count_as_the_mean_over_all_orders():
    truth, scores = np.array([1, 0, 1, 0, 0]), np.array([2.0, 1.0, 1.0, 1.0, 0.0])
    for n in range(1, 6):
        found = []
        for order in itertools.permutations(range(5)):
            if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
                found.append(truth[list(order)[:n]].mean())
        assert top_precision(truth, scores, n).precision == pytest.approx(np.mean(found))


def test_more_than_there_are_is_an_error():
    with pytest.raises(ParameterError):
        top_precision([True, False], [1.0, 2.0], 3)
