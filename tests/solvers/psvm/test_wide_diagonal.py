"""The remark on matrices where samples resemble none but themselves, and the C that it names."""

import numpy as np
import pytest

from seqkern.evaluation import roc_auc
from seqkern.solvers import PSVC
from seqkern.solvers.psvm.psvm import own_share


def weak(n, signal, seed=0):
    """Return a matrix with little but its diagonal: the classes resemble themselves a bit more."""
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], n // 2)
    features = rng.normal(size=(n, 400)) + signal * y[:, None]
    K = features @ features.T / 400
    return 0.02 * K + np.eye(n), y


def test_the_remark_names_a_small_cost():
    K, y = weak(200, 0.05)
    assert own_share(K, K.mean(axis=0), K.std(axis=0)) > 0.95
    assert "wide diagonal" in PSVC().fit(K, y).report_["remark"]
    assert "give C=0.07, or use csvc" in PSVC().fit(K, y).report_["remark"]
    assert "remark" not in PSVC(C=0.07).fit(K, y).report_
    assert "remark" not in PSVC(kernel="features").fit(K, y).report_


def test_other_matrices_get_none():
    K, y = weak(200, 0.3)
    assert "remark" not in PSVC().fit(K + np.outer(y, y), y).report_
    assert own_share(np.ones((5, 5)), np.ones(5), np.zeros(5)) == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_a_small_cost_ranks_better(seed):
    K, y = weak(400, 0.05, seed)
    train, test = np.arange(0, 400, 2), np.arange(1, 400, 2)
    part, beside = np.ascontiguousarray(K[np.ix_(train, train)]), K[np.ix_(test, train)]

    def auc(C):
        return roc_auc(y[test] > 0, PSVC(C=C, epsilon=0.01).fit(part, y[train]).decision_function(beside))

    assert auc(0.07) > auc(1.0) + 0.02
