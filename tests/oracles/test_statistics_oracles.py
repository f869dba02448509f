"""Scores and tests against scikit-learn, SciPy and statsmodels."""

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn import metrics as theirs

from seqkern.evaluation import metrics, ranking
from seqkern.evaluation.calibration import IsotonicCalibration
from seqkern.evaluation.many_task_tests import MOST_EXACT, friedman, signed_rank_test
from seqkern.evaluation.single_task_tests import delong_covariance, mcnemar_counts

pytestmark = pytest.mark.oracle


def labelled(rng):
    """Return labels of both classes, and decisions with ties."""
    n = int(rng.integers(4, 80))
    y = rng.permutation(np.arange(n) < rng.integers(2, n - 1))
    decisions = rng.normal(size=n) + y * rng.uniform(0, 2)
    return y, decisions.round(int(rng.integers(0, 4)))


def test_scores_of_scikit_learn(compared):
    for case, rng in compared.cases("scores", 400):
        y, f = labelled(rng)
        p, predicted = 1 / (1 + np.exp(-f)), f > 0
        compared.check("roc_auc, scikit-learn", case, ranking.roc_auc(y, f), theirs.roc_auc_score(y, f), 1e-13)
        pairs = (
            ("average_precision", ranking.average_precision(y, f), theirs.average_precision_score(y, f)),
            ("brier", metrics.brier(y, p), theirs.brier_score_loss(y, p)),
            ("accuracy", metrics.accuracy(y, predicted), theirs.accuracy_score(y, predicted)),
            (
                "balanced_accuracy",
                metrics.balanced_accuracy(y, predicted),
                theirs.balanced_accuracy_score(y, predicted),
            ),
            ("matthews", metrics.matthews_correlation(y, predicted), theirs.matthews_corrcoef(y, predicted)),
            ("r2", metrics.r2(f, p), theirs.r2_score(f, p) if len(set(f)) > 1 else metrics.r2(f, p)),
        )
        for name, ours, expected in pairs:
            compared.check(f"{name}, scikit-learn", case, ours, expected, 1e-12)


def test_isotonic_of_scipy(compared):
    for case, rng in compared.cases("isotonic", 200):
        y, f = labelled(rng)
        values, number, counts = np.unique(f, return_inverse=True, return_counts=True)
        means = np.bincount(number, weights=y) / counts
        expected = optimize.isotonic_regression(means, weights=counts).x
        ours = IsotonicCalibration.fit(f, y, 2).probabilities(values)
        compared.check("isotonic, SciPy", case, ours, expected, 1e-12)


def test_signed_ranks_of_scipy(compared):
    everything = stats.PermutationMethod(n_resamples=np.inf)
    for case, rng in compared.cases("wilcoxon", 200):
        a, b = rng.integers(0, 12, (2, rng.integers(2, 10))) / 8.0
        if (a == b).all():
            a = a + 1
        expected = stats.wilcoxon(a - b, zero_method="pratt", method=everything).pvalue
        compared.check("signed_rank_test exact, SciPy", case, signed_rank_test(a, b).p, expected, 1e-12)
    for case, rng in compared.cases("wilcoxon many", 100):
        a, b = rng.integers(-30, 30, (2, MOST_EXACT + 100)) / 8.0
        expected = stats.wilcoxon(a - b, zero_method="pratt", correction=False, method="asymptotic").pvalue
        compared.check("signed_rank_test asymptotic, SciPy", case, signed_rank_test(a, b).p, expected, 1e-12)


def test_friedman_of_scipy(compared):
    for case, rng in compared.cases("friedman", 300):
        table = rng.integers(0, 9, (rng.integers(3, 7), rng.integers(3, 30))) / 8.0
        expected = stats.friedmanchisquare(*table)
        if not np.isnan(expected.statistic):
            found = friedman({str(i): row for i, row in enumerate(table)})
            compared.check("friedman, SciPy", case, [found.statistic, found.p_chi2], list(expected), 1e-12)


def test_mcnemar_of_statsmodels(compared):
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    for case, rng in compared.cases("mcnemar", 400):
        wins, losses = (int(count) for count in rng.integers(0, 40, 2))
        for method, given in (("exact", {"exact": True}), ("corrected", {"exact": False, "correction": True})):
            if wins + losses == 0 or (method == "corrected" and wins == losses):
                continue  # statsmodels corrects a difference of 0, too
            expected = tables.mcnemar([[50, wins], [losses, 50]], **given).pvalue
            found = mcnemar_counts(wins, losses, 100 + wins + losses, method).p
            compared.check(f"mcnemar {method}, statsmodels", case, found, expected, 1e-12)


def test_delong_is_the_covariance_of_placements(compared):
    for case, rng in compared.cases("delong", 300):
        y, f = labelled(rng)
        if min(y.sum(), (~y).sum()) < 2:
            continue
        decisions = [f, (f + rng.normal(size=len(y))).round(1)]
        above = np.array([np.sign(d[y][:, None] - d[~y][None]) / 2 + 0.5 for d in decisions])
        covariance = np.cov(above.mean(axis=2)) / y.sum() + np.cov(above.mean(axis=1)) / (~y).sum()
        areas, found = delong_covariance(y, decisions)
        compared.check("delong, all pairs", case, found, covariance, 1e-12)
        compared.check("delong areas, all pairs", case, areas, above.mean(axis=(1, 2)), 1e-12)
