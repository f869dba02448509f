"""ARD, beam and genetic search, FOCUS: each against an independent computation."""

import itertools
import math

import numpy as np
import pytest
from sklearn.linear_model import ARDRegression

from seqkern.core.errors import ParameterError
from seqkern.solvers.selection.selectors import build_selector
from seqkern.solvers.selection.selectors.filters import interval_codes, mutual_information
from seqkern.solvers.selection.selectors.models import FLAT, _inverse, subset_error


def fitted(name, X, y, **parameters):
    return build_selector({"selector": name, **parameters}).fit(X, y)


def problem(n=30, d=6, classes=2, seed=0):
    """Return features of which three matter, standardised, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] - X[:, 1] + 0.8 * X[:, 2] + 0.7 * rng.normal(size=n)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


def targets_of(y):
    classes = np.unique(y)
    return np.array([np.where(y == c, 1.0, -1.0) for c in (classes[1:] if len(classes) == 2 else classes)]).T


def left_out_error(Z, targets, ridge):
    """Return the sum of the squared errors of regularised least squares on the rows left out one by one."""
    Z, total = np.column_stack([Z, np.ones(len(Z))]), 0.0
    for i in range(len(Z)):
        rest = np.arange(len(Z)) != i
        w = np.linalg.solve(Z[rest].T @ Z[rest] + ridge * np.eye(Z.shape[1]), Z[rest].T @ targets[rest])
        total += ((Z[i] @ w - targets[i]) ** 2).sum()
    return total


# ---- ARD -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(40, 12), (25, 60)])
@pytest.mark.parametrize("real", [False, True])
def test_gaussian_ard_is_that_of_scikit_learn(n, d, real):
    X, y = problem(n, d)
    y = X[:, 0] + 0.5 * X[:, 3] + 0.3 * np.random.default_rng(1).normal(size=n) if real else y
    found = fitted("ard", X, y, tol=1e-6)
    target = (y - y.mean()) / y.std() if real else targets_of(y)[:, 0] - targets_of(y).mean()
    rival = ARDRegression(threshold_lambda=1e4, tol=1e-6, max_iter=1000, fit_intercept=False).fit(X, target)
    expected = np.where(rival.coef_ != 0, np.abs(rival.coef_), -np.inf)
    # where noise vanishes, as there are more features than samples, precisions of 1e5 leave few digits in common
    np.testing.assert_allclose(found.scores_, expected, rtol=1e-6 if d < n else 1e-3)
    assert 0 < found.get_support().sum() < d


def test_logistic_ard_is_the_fixed_point():
    X, y = problem(60, 8)
    found = fitted("ard", X, y, likelihood="logistic", tol=1e-5)
    kept = found.get_support(indices=True)
    assert set(kept) >= {0, 1, 2}
    # the naive twin: Newton's method and explicit inverses, with all precisions updated many times
    Z, precisions, w = np.column_stack([X[:, kept], np.ones(60)]), np.ones(len(kept) + 1), np.zeros(len(kept) + 1)
    precisions[-1] = FLAT
    for _ in range(3000):
        for _ in range(3):
            share = 1 / (1 + np.exp(-Z @ w))
            H = Z.T @ np.diag(share * (1 - share)) @ Z + np.diag(precisions)
            w = w + np.linalg.inv(H) @ (Z.T @ (y - share) - precisions * w)
        gamma = 1 - precisions * np.diag(np.linalg.inv(H))
        precisions[:-1] = gamma[:-1] / w[:-1] ** 2
    np.testing.assert_allclose(found.scores_[kept], np.abs(w[:-1]), atol=2e-3)  # irrelevant ones vanish slowly


@pytest.mark.parametrize("shape", [(12, 5), (5, 12)])
def test_either_side_of_the_matrix_gives_the_inverse(shape):
    rng = np.random.default_rng(2)
    X, noise, precisions = rng.normal(size=shape), rng.uniform(0.1, 1, shape[0]), rng.uniform(0.1, 3, shape[1])
    inverse = np.linalg.inv(X.T @ np.diag(noise) @ X + np.diag(precisions))
    solve, determined = _inverse(X, noise, precisions)
    np.testing.assert_allclose(determined, 1 - precisions * np.diag(inverse), rtol=1e-9)
    np.testing.assert_allclose(solve(precisions), inverse @ precisions, rtol=1e-10)


def test_ard_that_stops_early_says_so():
    X, y = problem(40, 12)
    with pytest.warns(UserWarning, match="selector 'ard': 1 classifier did not converge"):
        assert fitted("ard", X, y, max_iter=2).not_converged_ == 1


# ---- beam and genetic search -----------------------------------------------------------------------------


def naive_beam(X, targets, ridge, size, width):
    """Return the subsets of the beam, the best first."""
    beam = [()]
    for _ in range(size):
        longer = {tuple(sorted({*old, j})) for old in beam for j in range(X.shape[1]) if j not in old}
        beam = sorted(longer, key=lambda subset: left_out_error(X[:, subset], targets, ridge))[:width]
    return beam


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_beam_search_and_its_twin(classes, width):
    X, y = problem(16, 6, classes, seed=4)
    targets = targets_of(y)
    best = naive_beam(X, targets, 0.5, 3, width)[0]
    found = fitted("beam", X, y, n_features=3, ridge=0.5, width=width)
    assert set(found.get_support(indices=True)) == set(best)
    assert found.errors_[-1] * 16 == pytest.approx(left_out_error(X[:, best], targets, 0.5), rel=1e-9)
    without = {j: left_out_error(X[:, [i for i in best if i != j]], targets, 0.5) for j in best}
    assert list(np.argsort(found.ranking_)[:3]) == sorted(best, key=without.get, reverse=True)


def test_a_beam_of_width_one_is_forward_search():
    X, y = problem(40, 12, seed=5)
    beam, forward = fitted("beam", X, y, n_features=5, width=1), fitted("forward", X, y, n_features=5)
    assert set(beam.get_support(indices=True)) == set(forward.get_support(indices=True))
    np.testing.assert_allclose(beam.errors_, forward.errors_, rtol=1e-10)
    assert list(np.argsort(beam.ranking_)[5:]) == list(np.argsort(forward.ranking_)[5:])


@pytest.mark.parametrize("size", [0, 2, 5, 14])
def test_the_error_of_a_subset(size):
    X, y = problem(12, 14, 3)
    targets = targets_of(y)
    expected = left_out_error(X[:, :size], targets, 0.7) / 12
    assert subset_error(X[:, :size], targets, 0.7) == pytest.approx(expected, rel=1e-10)


def test_genetic_search_finds_the_best_of_all_subsets():
    X, y = problem(24, 9, seed=6)
    targets = targets_of(y)
    best = min(itertools.combinations(range(9), 4), key=lambda subset: left_out_error(X[:, subset], targets, 1.0))
    found = fitted("genetic", X, y, n_features=4)
    assert tuple(found.get_support(indices=True)) == best
    assert found.errors_[-1] * 24 == pytest.approx(left_out_error(X[:, best], targets, 1.0), rel=1e-9)
    assert np.all(np.diff(found.errors_) <= 0)
    assert len(found.errors_) == 41
    without = {j: left_out_error(X[:, [i for i in best if i != j]], targets, 1.0) for j in best}
    assert list(np.argsort(found.ranking_)[:4]) == sorted(best, key=without.get, reverse=True)


def test_another_seed_draws_other_subsets():
    X, y = problem(30, 40, seed=7)
    first, again, other = (
        fitted("genetic", X, y, n_features=6, population=10, generations=2, seed=seed).errors_ for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert first[0] != other[0]


# ---- FOCUS -----------------------------------------------------------------------------------------------


def naive_focus(X, y):
    """Return the smallest subset without avoidable conflicts; of several the one with the most information."""
    pairs = [(i, j) for i, j in itertools.combinations(range(len(X)), 2) if y[i] != y[j] and (X[i] != X[j]).any()]
    for size in range(X.shape[1] + 1):
        good = [
            subset
            for subset in itertools.combinations(range(X.shape[1]), size)
            if all((X[i, subset] != X[j, subset]).any() for i, j in pairs)
        ]
        if good:
            return max(good, key=lambda subset: round(sum(mutual_information(X[:, k], y) for k in subset), 12))
    raise AssertionError


@pytest.mark.parametrize("seed", range(12))
def test_focus_and_its_twin(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2 + seed % 2, size=(14 + seed, 8))
    y = rng.integers(0, 2 + seed % 3 // 2, size=len(X))
    found = fitted("focus", X.astype(float), y, cuts="none")
    best = naive_focus(X, y)
    assert tuple(found.get_support(indices=True)) == best
    np.testing.assert_allclose(found.scores_[list(best)], [mutual_information(X[:, j], y) for j in best])
    conflicts = sum(y[i] != y[j] and (X[i] == X[j]).all() for i, j in itertools.combinations(range(len(X)), 2))
    assert found.n_conflicts_ == conflicts


def test_focus_finds_an_exclusive_or_that_no_filter_sees():
    X = np.array(list(itertools.product([0.0, 1.0], repeat=5)))
    y = (X[:, 1] + X[:, 3]) % 2
    found = fitted("focus", X, y, cuts="none")
    assert list(found.get_support(indices=True)) == [1, 3]
    assert np.abs(fitted("pearson", X, y).scores_).max() < 1e-12


def test_focus_stops_with_one_line():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, size=(60, 40)).astype(float), rng.integers(0, 2, size=60)
    with pytest.raises(ParameterError, match=r"no set of . features or fewer .* within 50 subsets; raise max_subsets"):
        fitted("focus", X, y, cuts="none", max_subsets=50)


def naive_cuts(values, classes):
    """Return the cuts of Fayyad and Irani, by their formula."""
    n, order = len(values), sorted(range(len(values)), key=values.__getitem__)
    values, classes = [values[i] for i in order], [classes[i] for i in order]

    def entropy(part):
        return -sum(part.count(c) / len(part) * math.log2(part.count(c) / len(part)) for c in set(part))

    tried = []
    for cut in range(1, n):
        if values[cut] > values[cut - 1]:
            low, high = classes[:cut], classes[cut:]
            tried.append((round((len(low) * entropy(low) + len(high) * entropy(high)) / n, 12), cut))
    if not tried:
        return []
    within, cut = min(tried)
    low, high, k = classes[:cut], classes[cut:], len(set(classes))
    delta = math.log2(3**k - 2) - k * entropy(classes) + sum(len(set(s)) * entropy(s) for s in (low, high))
    if entropy(classes) - within <= (math.log2(n - 1) + delta) / n:
        return []
    return [values[cut], *naive_cuts(values[:cut], low), *naive_cuts(values[cut:], high)]


@pytest.mark.parametrize("classes", [2, 3])
def test_intervals_and_their_twin(classes):
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, size=60)
    X = np.column_stack([y + 0.4 * rng.normal(size=60), rng.normal(size=60), (2 * y + rng.normal(size=60)).round(1)])
    codes = interval_codes(X, y)
    assert codes.max() >= classes - 1
    for column, found in zip(X.T, codes.T, strict=True):
        cuts = sorted(naive_cuts(column.tolist(), y.tolist()))
        np.testing.assert_array_equal(found, np.searchsorted(cuts, column, side="right"))
