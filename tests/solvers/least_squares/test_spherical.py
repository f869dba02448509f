"""The sphered SVM: explicit whitening, both limits of the ridge, invariance, odd matrices."""

import numpy as np
import pytest

from seqkern.core.errors import GramError, ParameterError
from seqkern.solvers import CSVC, SphericalSVC


def random_problem(n=60, seed=0):
    """Return points of very different scales, labels that overlap, and new points."""
    rng = np.random.default_rng(seed)
    both = rng.normal(size=(n + 20, 3))
    y = np.where(both[:n, 0] + 0.5 * both[:n, 1] + 0.5 * rng.normal(size=n) > 0.3, 1, 0)
    both = both * [0.1, 1.0, 10.0] + [3.0, -1.0, 2.0]
    return both[:n], y, both[n:]


def rbf(one, other):
    return np.exp(-((one[:, None] - other[None]) ** 2).sum(-1) / 50)


def decisions(solver, train, y, new, kernel=np.inner):
    return solver.fit(kernel(train, train), y).decision_function(kernel(new, train))


@pytest.mark.parametrize("ridge", [1e-6, 0.01, 1.0, 100.0])
@pytest.mark.parametrize("C", [0.05, 2.0])
def test_explicit_whitening(ridge, C):
    train, y, new = random_problem()
    mean = train.mean(axis=0)
    covariance = np.cov(train.T, bias=True)
    metric = (covariance + ridge * np.trace(covariance) * np.eye(3)) / (1 + ridge)
    whiten = np.linalg.inv(np.linalg.cholesky(metric)).T
    one, other = (train - mean) @ whiten, (new - mean) @ whiten
    expected = CSVC(C=C, tol=1e-9).fit(one @ one.T, y)
    solver = SphericalSVC(C=C, ridge=ridge, tol=1e-9)
    np.testing.assert_allclose(decisions(solver, train, y, new), expected.decision_function(other @ one.T), atol=1e-6)
    assert solver.report_["objective"] == pytest.approx(expected.report_["objective"], rel=1e-7)
    weights = one.T @ expected.linear()[0]
    assert solver.report_["margin"] == pytest.approx(1 / np.linalg.norm(weights), rel=1e-5)
    assert solver.report_["n_margin"] == len(expected.support_)


def test_explicit_whitening_where_the_points_span_everything():
    """An RBF kernel: features from the eigenvectors of the centred matrix, of all training and new points."""
    train, y, new = random_problem()
    both = np.concatenate([train, new])
    K = rbf(both, both)
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0))
    features -= features[:60].mean(axis=0)
    covariance = features[:60].T @ features[:60] / 60
    metric = (covariance + 0.05 * np.trace(covariance) * np.eye(80)) / 1.05
    sphered = features @ np.linalg.solve(metric, features.T)
    expected = CSVC(C=0.5, tol=1e-9).fit(sphered[:60, :60].copy(), y).decision_function(sphered[60:, :60])
    found = decisions(SphericalSVC(C=0.5, ridge=0.05, tol=1e-9), train, y, new, rbf)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_no_ridge_is_unit_covariance():
    """ρ → 0: the metric in which the training data have covariance I."""
    train, y, _ = random_problem()
    centred = train - train.mean(axis=0)
    left, _, _ = np.linalg.svd(centred, full_matrices=False)
    sphered = left * np.sqrt(60)
    np.testing.assert_allclose(sphered.T @ sphered / 60, np.eye(3), atol=1e-12)
    expected = CSVC(C=1.0, tol=1e-9).fit(sphered @ sphered.T, y).decision_function(sphered @ sphered.T)
    found = decisions(SphericalSVC(C=1.0, ridge=1e-9, tol=1e-9), train, y, train)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_large_ridge_is_the_svm_on_the_centred_gram():
    train, y, new = random_problem()
    centred, other = train - train.mean(axis=0), new - train.mean(axis=0)
    scale = np.trace(centred @ centred.T) / 60
    expected = CSVC(C=3.0, tol=1e-9).fit(centred @ centred.T / scale, y).decision_function(other @ centred.T / scale)
    found = decisions(SphericalSVC(C=3.0, ridge=1e7, tol=1e-9), train, y, new)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_what_changes_nothing():
    train, y, new = random_problem()
    once = decisions(SphericalSVC(ridge=0.1, tol=1e-9), train, y, new)
    # a factor, and a shift of the origin, at any ridge
    np.testing.assert_allclose(decisions(SphericalSVC(ridge=0.1, tol=1e-9), 70 * train, y, 70 * new), once, atol=1e-6)
    np.testing.assert_allclose(decisions(SphericalSVC(ridge=0.1, tol=1e-9), train + 5, y, new + 5), once, atol=1e-6)
    # any invertible map, without one
    sphered = decisions(SphericalSVC(ridge=1e-9, tol=1e-9), train, y, new)
    mapping = np.random.default_rng(1).normal(size=(3, 3))
    mapped = decisions(SphericalSVC(ridge=1e-9, tol=1e-9), train @ mapping, y, new @ mapping)
    np.testing.assert_allclose(mapped, sphered, atol=1e-4)
    assert np.abs(decisions(SphericalSVC(ridge=0.1), train @ mapping, y, new @ mapping) - once).max() > 0.1


def test_singular():
    train, y, new = random_problem()
    twice, labels = np.concatenate([train, train]), np.concatenate([y, y])
    solver = SphericalSVC(C=0.5, ridge=0.1, tol=1e-9).fit(twice @ twice.T, labels)
    expected = decisions(SphericalSVC(C=1.0, ridge=0.1, tol=1e-9), train, y, new)
    np.testing.assert_allclose(solver.decision_function(new @ twice.T), expected, atol=1e-6)


def test_indefinite():
    train, y, _ = random_problem()
    K = rbf(train, train) - 0.5 * np.eye(60)
    with pytest.raises(GramError, match="larger ridge"):
        SphericalSVC(ridge=0.001).fit(K, y)
    for K in (np.ones((60, 60)), np.zeros((60, 60)), -train @ train.T):
        with pytest.raises(GramError, match="another kernel"):
            SphericalSVC().fit(K, y)


@pytest.mark.parametrize(("name", "value"), [("ridge", 0), ("ridge", np.inf), ("C", 0), ("tol", 0)])
def test_bad_parameters(name, value):
    with pytest.raises(ParameterError, match=name):
        SphericalSVC(**{name: value}).check_parameters()
