"""Positives and unlabelled rows: the estimate of c beside its formula, and on data where c is known."""

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.evaluation.ranking import roc_auc
from seqkern.solvers import CSVC, LinearSVC, PositiveUnlabelled, PrimalSVC


def problem(n=300, c=0.4, share=0.4, seed=2):
    """Return features of two separate classes, which rows are labelled, and which are positives."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    points = rng.normal(size=(n, 3)) + 2.0 * np.where(positive, 1, -1)[:, None]
    return points, positive & (rng.random(n) < c), positive


def test_c_and_the_share_of_hidden_positives():
    for c in (0.3, 0.6):
        points, labelled, positive = problem(600, c)
        report = PositiveUnlabelled(PrimalSVC(C=1.0)).fit(points, labelled).report_
        assert report["c"] == pytest.approx(labelled.sum() / positive.sum(), abs=0.08)
        assert report["positive_share"] == pytest.approx(np.mean(positive[~labelled]), abs=0.08)
        assert report["n_unlabelled"] == np.sum(~labelled)


def test_the_corrected_decision():
    points, labelled, positive = problem()
    solver = PositiveUnlabelled(CSVC()).fit(points @ points.T, labelled.astype(int))
    plain = CSVC().fit(points @ points.T, labelled.astype(int))
    decisions = solver.decision_function(points @ points.T)
    np.testing.assert_allclose(decisions, plain.decision_function(points @ points.T) - solver.threshold_)
    assert np.mean((decisions > 0) == positive) > 0.9 > np.mean(plain.predict(points @ points.T) == positive) + 0.1
    # P(s = 1 | x) = c / 2 at decision 0, hence P(y = 1 | x) = 1/2
    np.testing.assert_allclose(solver.probabilities(np.array([0.0])), [[0.5, 0.5]])
    assert solver.probabilities(np.array([50.0]))[0, 1] == 1.0
    coefficients, constant = solver.linear()
    np.testing.assert_allclose(points @ points.T @ coefficients + constant, decisions, rtol=0, atol=1e-12)


def test_the_formula():
    points, labelled, _ = problem(80)
    K = points @ points.T
    solver = PositiveUnlabelled(CSVC(), folds=4).fit(K, labelled)
    f, failed = solver._held_out(K, labelled, None)
    p = [1 / (1 + np.exp(solver.slope_ * value + solver.intercept_)) for value in f]
    c = sum(p[i] for i in range(80) if labelled[i]) / sum(labelled)
    weights = [min(1.0, (1 - c) / c * p[i] / (1 - p[i])) for i in range(80) if not labelled[i]]
    assert failed == 0
    assert solver.report_["c"] == pytest.approx(c, rel=1e-12)
    assert solver.report_["positive_share"] == pytest.approx(np.mean(weights), rel=1e-12)
    assert 1 / (1 + np.exp(solver.slope_ * solver.threshold_ + solver.intercept_)) == pytest.approx(c / 2, rel=1e-12)


def test_rounding_of_another_processor_leaves_the_folds():
    points, labelled, _ = problem(80)
    K = points @ points.T
    first, other = (PositiveUnlabelled(CSVC()).fit(values, labelled) for values in (K, K * (1 + 2.0**-52)))
    assert other.report_["c"] == pytest.approx(first.report_["c"], rel=1e-9)


def test_groups_are_held_out_whole():
    rng = np.random.default_rng(4)
    points, labelled = np.repeat(rng.normal(size=(40, 3)), 2, axis=0), np.repeat(rng.random(40) < 0.5, 2)
    K = np.exp(-((points[:, None] - points) ** 2).sum(-1) * 8)
    solver = PositiveUnlabelled(CSVC(C=100.0)).fit(K, labelled)
    recalled = [roc_auc(labelled, solver._held_out(K, labelled, groups)[0]) for groups in (None, np.arange(80) // 2)]
    assert recalled[0] > 0.8  # the other copy of a row gives its label away
    assert recalled[1] < 0.65


def test_no_signal_is_told():
    rng = np.random.default_rng(5)
    for seed in range(20):
        points, labelled = rng.normal(size=(30, 2)), rng.random(30) < 0.4
        solver = PositiveUnlabelled(PrimalSVC(C=0.01), seed=seed).fit(points, labelled)
        if solver.slope_ >= 0:
            assert "not above those about others" in solver.report_["remark"]
            assert solver.probabilities(np.zeros(1)) is None
            assert solver.threshold_ == 0.0
            return
    pytest.fail("no draw without a signal")


def test_what_it_cannot_do():
    points, labelled, _ = problem(30)
    with pytest.raises(ParameterError, match="give a binary solver on a Gram matrix or features"):
        PositiveUnlabelled(LinearSVC()).fit(points, labelled)
    with pytest.raises(ParameterError, match="class True has 1 rows, but held-out decisions need two"):
        PositiveUnlabelled(PrimalSVC()).fit(points, np.arange(30) == 0)
