"""The quadratic discriminant: against its formula, SciPy's Gaussians, and the linear one."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from seqkern.core.errors import ParameterError
from seqkern.kernels.features import FeatureBlocks
from seqkern.solvers import LinearDiscriminant, QuadraticDiscriminant


def data(n=160, d=4, classes=3, seed=0):
    """Return Gaussian classes with covariances of their own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    roots = rng.normal(size=(classes, d, d))
    return np.einsum("ndk,nk->nd", roots[y], rng.normal(size=(n, d))) + y[:, None], y


def naive(X, y, new, pooling, shrinkage):
    """Return δ_k of each new row and class, by the formula."""
    classes, out = np.unique(y), []
    scatters = [(len(own) - 1) * np.cov(own.T) for own in (X[y == k] for k in classes)]
    for k, scatter in zip(classes, scatters, strict=True):
        own = X[y == k]
        free = (1 - pooling) * (len(own) - 1) + pooling * (len(X) - len(classes))
        covariance = ((1 - pooling) * scatter + pooling * sum(scatters)) / free
        covariance = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / X.shape[1] * np.eye(X.shape[1])
        away = new - own.mean(axis=0)
        squares = np.array([row @ np.linalg.inv(covariance) @ row for row in away])
        out.append(-0.5 * squares - 0.5 * np.log(np.linalg.det(covariance)) + np.log(len(own) / len(X)))
    return np.array(out).T


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("pooling", "shrinkage"), [(0.0, 0.0), (0.3, 0.2), (1.0, 0.0), (0.5, 1.0)])
def test_decisions_are_those_of_the_formula(pooling, shrinkage, classes):
    X, y = data(classes=classes)
    expected = naive(X[:120], y[:120], X[120:], pooling, shrinkage)
    expected = expected[:, 1] - expected[:, 0] if classes == 2 else expected
    solver = QuadraticDiscriminant(pooling=pooling, shrinkage=shrinkage)
    blocks = FeatureBlocks((160, 4), np.float64, lambda rows: X[rows])
    for given in (X, blocks):
        rows = given.take if given is blocks else given.__getitem__
        found = solver.fit(rows(np.arange(120)), y[:120]).decision_function(rows(np.arange(120, 160)))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_without_regularisation_it_is_the_log_odds_of_two_gaussians():
    X, y = data(classes=2, seed=3)
    solver = QuadraticDiscriminant(pooling=0.0, shrinkage=0.0).fit(X, y)
    other, one = (
        np.log(np.mean(y == k)) + multivariate_normal(own.mean(axis=0), np.cov(own.T)).logpdf(X)
        for k, own in enumerate((X[y == 0], X[y == 1]))
    )
    np.testing.assert_allclose(solver.decision_function(X), one - other, rtol=1e-9, atol=1e-9)


def test_with_all_pooled_it_is_the_linear_discriminant():
    X, y = data(seed=4)
    found = QuadraticDiscriminant(pooling=1.0, shrinkage=0.2).fit(X, y).decision_function(X)
    expected = LinearDiscriminant(shrinkage=0.2).fit(X, y).decision_function(X)
    differences = found - found[:, :1], expected - expected[:, :1]  # a constant of a row is common to its classes
    np.testing.assert_allclose(*differences, rtol=1e-9, atol=1e-9)


def test_numbers_of_the_lecture():
    first = np.array([3.8, 4, 4.2, 3.9, 4.1, 3.92, 4.08])
    X, y = np.concatenate([first, 10 - first])[:, None], np.repeat([1, 0], 7)
    decisions = QuadraticDiscriminant(pooling=0.0, shrinkage=0.0).fit(X, y).decision_function([[0.0], [1.0]])
    assert decisions == pytest.approx([531.915, 531.915 - 106.383], abs=0.001)  # both variances are .0188


def test_objective_is_the_mean_negative_logarithm():
    X, y = data()
    solver = QuadraticDiscriminant().fit(X, y)
    expected = -naive(X, y, X, 0.5, 0.1)[np.arange(len(X)), y].mean()
    assert solver.report_["objective"] == pytest.approx(expected, rel=1e-10)


def test_singular_covariances_are_refused_in_one_line():
    X, y = data(n=40)
    X[:, 3] = X[:, 0]
    with pytest.raises(ParameterError, match=r"covariance of the samples of class 0 is singular.*shrinkage above 0"):
        QuadraticDiscriminant(shrinkage=0.0).fit(X, y)
    with pytest.raises(ParameterError, match="one sample only"):
        QuadraticDiscriminant(pooling=0.0).fit(X[:5], [0, 0, 1, 1, 2])
    assert QuadraticDiscriminant().fit(X[:5], [0, 0, 1, 1, 2]).report_["converged"]
