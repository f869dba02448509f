"""Exchange of ranks: against all exchanges one by one, and its p where there is nothing to find."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata

from seqkern.core.errors import ParameterError
from seqkern.evaluation import average_precision, roc_auc, roc_n
from seqkern.evaluation.single_task_tests import exchange_test

SCORES = {"auc": roc_auc, "roc50": roc_n, "average_precision": average_precision}


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("parts", [1, 2])
def test_p_is_the_share_of_all_exchanges(score, parts):
    rng = np.random.default_rng(parts)
    y, folds = np.arange(10) % 3 == 0, np.arange(10) // 5 % parts
    first, second = np.round(y + rng.normal(size=10), 1), np.round(rng.normal(size=10), 1)
    ranks = np.empty((2, 10))
    for fold in range(parts):
        ranks[:, folds == fold] = [rankdata(values[folds == fold]) for values in (first, second)]

    def difference(swap):
        pair = np.where(swap, ranks[::-1], ranks)
        values = [
            np.mean([SCORES[score](y[folds == fold], own[folds == fold]) for fold in range(parts)]) for own in pair
        ]
        return abs(values[0] - values[1])

    every = np.array([difference(np.array(swap, dtype=bool)) for swap in product((0, 1), repeat=10)])
    exact = np.mean(every >= every[0] - 1e-9)
    found = exchange_test(y, first, second, score, n_draws=4000, folds=folds)
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 4000) + 1 / 4000)


def test_perfect_against_constant():
    y = np.repeat([1, 0], 20)
    assert exchange_test(y, y, np.zeros(40), n_draws=999) == 1 / 1000
    assert exchange_test(y, np.zeros(40), y, n_draws=999) == 1 / 1000
    assert exchange_test(y, 7 * y, y, n_draws=99) == 1
    # with two units of each class even this is chance: one of sixteen exchanges, and its mirror image
    y = np.repeat([1, 0], 2)
    assert exchange_test(y, y, np.zeros(4)) == pytest.approx(2 / 16, abs=0.02)


def test_the_seed_decides_and_large_samples_are_drawn_in_parts(monkeypatch):
    rng = np.random.default_rng(2)
    y, first, second = np.arange(60) % 2, *rng.normal(size=(2, 60))
    whole = exchange_test(y, first, second, n_draws=300, seed=4)
    assert whole == exchange_test(y, first, second, n_draws=300, seed=4)
    monkeypatch.setattr("seqkern.evaluation.bootstrap.CELLS", 2000)
    assert whole == exchange_test(y, first, second, n_draws=300, seed=4)
    assert math.isnan(exchange_test(np.ones(5), np.arange(5), np.arange(5)))
    with pytest.raises(ParameterError, match="n_draws"):
        exchange_test(y, first, second, n_draws=0)
