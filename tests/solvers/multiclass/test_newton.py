"""Newton steps of the direct multi-class machine: fewer moves, a lower dual, all bounds kept."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from seqkern.solvers import DirectMulticlass
from seqkern.solvers.multiclass import _direct_multiclass
from seqkern.solvers.multiclass.direct import Newton


def overlapping(n, seed=0):
    """Return an RBF Gram matrix and labels of three classes that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    points = rng.normal(size=(n, 4)) + 1.2 * rng.normal(size=(3, 4))[y]
    return np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 8), y


def test_a_large_cost_takes_few_moves(monkeypatch):
    K, y = overlapping(150)
    fast = DirectMulticlass(C=100).fit(K, y)
    monkeypatch.setattr(Newton, "step", lambda *_: None)
    slow = DirectMulticlass(C=100).fit(K, y)
    assert fast.report_["converged"]
    assert slow.report_["converged"]
    assert fast.report_["iterations"] < slow.report_["iterations"] / 10
    assert fast.report_["objective"] == pytest.approx(slow.report_["objective"], rel=1e-4)
    assert fast.report_["objective"] <= slow.report_["objective"] + 1e-9
    monkeypatch.undo()
    with pytest.warns(ConvergenceWarning):
        assert DirectMulticlass(C=100, max_iter=200).fit(K, y).report_["iterations"] == 200


def dual(K, y, alpha):
    """Return the dual of the direct objective, to be minimised, and the outputs."""
    weights = -alpha
    weights[y, np.arange(len(y))] = alpha.sum(axis=0)
    outputs = weights @ K
    return 0.5 * np.sum(weights * outputs) - 2 * alpha.sum(), outputs


@pytest.mark.parametrize("seed", range(4))
def test_newton_steps_lower_the_dual_within_the_bounds(seed):
    rng, cost, sigma = np.random.default_rng(seed), 2.0, 0.3
    K, y = overlapping(30, seed)
    alpha = np.clip(rng.normal(0.8, 1.2, (3, 30)), 0, cost)
    alpha[y, np.arange(30)] = 0
    free = (alpha > 0) & (alpha < cost)
    newton = Newton(K, y, cost, sigma)
    first, outputs = dual(K + sigma, y, alpha)
    before = first
    for _ in range(30):
        change = newton.step(alpha, outputs)
        if change is None:
            break
        _direct_multiclass.change_outputs(K, sigma, change, outputs)
        after, expected = dual(K + sigma, y, alpha)
        assert after <= before + 1e-12
        before = after
        np.testing.assert_allclose(outputs, expected, atol=1e-10)
        assert alpha.min() == 0
        assert alpha.max() <= cost
        assert not alpha[~free & (alpha > 0) & (alpha < cost)].any()
    assert before < first - 1
    slope = outputs[y, np.arange(30)] - outputs - 2
    assert np.abs(slope[(alpha > 0) & (alpha < cost)]).max(initial=0) < 1e-6


def test_too_many_free_variables_or_none_are_left_to_single_moves():
    K, y = overlapping(300)
    alpha = np.full((3, 300), 0.2)
    alpha[y, np.arange(300)] = 0
    outputs = dual(K, y, alpha)[1]
    assert Newton(K, y, 0.5, 0.0).step(alpha, outputs) is None
    assert Newton(K, y, 0.2, 0.0).step(alpha, outputs) is None
    kept = alpha.copy()
    kept[:, 20:] = 0
    assert Newton(K, y, 0.5, 0.0).step(kept, dual(K, y, kept)[1]) is not None
    assert Newton(-K, y, 0.5, 0.0).step(kept, dual(K, y, kept)[1]) is None  # not positive definite


def test_levels_change_outputs_by_the_same_bits():
    rng, found = np.random.default_rng(1), set()
    K, changes = rng.normal(size=(37, 37)), rng.normal(size=(37, 4))
    changes[5:30] = 0
    start = rng.normal(size=(4, 37))
    for level in range(_direct_multiclass.simd_level() + 1):
        outputs = start.copy()
        _direct_multiclass.change_outputs(K, 0.3, changes, outputs, level)
        np.testing.assert_allclose(outputs, start - changes.T @ (K + 0.3), atol=1e-12)
        found.add(outputs.tobytes())
    assert len(found) == 1
