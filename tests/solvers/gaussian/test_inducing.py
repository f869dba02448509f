"""The variational bound beside its formulas in dense matrices (Titsias 2009)."""

import numpy as np
import pytest
from dense_operator import DenseOperator
from gaussian_problem import draw
from scipy.stats import multivariate_normal

from seqkern.core.errors import ParameterError
from seqkern.solvers import GPR, InducingGPR
from seqkern.solvers.gaussian.processes import InducingBound, pivoted_columns

N = 60


def test_pivots_are_those_that_are_explained_least():
    K, _ = draw()
    K = K[:N, :N]
    pivots, columns, left = pivoted_columns(K, 10)
    for j in range(1, 10):
        Z = pivots[:j]
        rest = np.diagonal(K - K[:, Z] @ np.linalg.solve(K[np.ix_(Z, Z)], K[Z]))
        assert rest[pivots[j]] == pytest.approx(rest.max(), rel=1e-6)
    np.testing.assert_allclose(columns[:, pivots], np.linalg.cholesky(K[np.ix_(pivots, pivots)]).T, atol=1e-10)
    np.testing.assert_allclose(left, np.diagonal(K - columns.T @ columns), atol=1e-12)


def test_a_matrix_of_low_rank_needs_no_more_pivots():
    X = np.random.default_rng(0).normal(size=(30, 3))
    pivots, _, left = pivoted_columns(X @ X.T, 20)
    assert len(pivots) == 3
    np.testing.assert_allclose(left, 0, atol=1e-10)


@pytest.mark.parametrize("constant", [False, True])
def test_bound_and_posterior_are_those_of_dense_formulas(constant):
    K, y = draw()
    train, scale, noise = K[:N, :N], 1.7, 0.3
    bound = InducingBound(train, y, 9, constant=constant)
    Z = bound.pivots
    Q = train[:, Z] @ np.linalg.solve(train[np.ix_(Z, Z)], train[Z])
    C, ones = scale * Q + noise * np.eye(N), np.ones(N)
    mean = ones @ np.linalg.solve(C, y) / (ones @ np.linalg.solve(C, ones)) if constant else 0.0
    expected = multivariate_normal(np.full(N, mean), C).logpdf(y) - scale * np.trace(train - Q) / (2 * noise)
    value, slopes = bound.likelihood(scale, noise)
    assert value == pytest.approx(expected, rel=1e-9)
    step = 1e-6
    quotients = [
        (bound.likelihood(scale + step, noise)[0] - bound.likelihood(scale - step, noise)[0]) / (2 * step),
        (bound.likelihood(scale, noise + step)[0] - bound.likelihood(scale, noise - step)[0]) / (2 * step),
    ]
    np.testing.assert_allclose(slopes, quotients, rtol=1e-5)
    solver = InducingGPR(n_inducing=9, noise=noise, scale=scale, mean="constant" if constant else "zero")
    solver.fit(train, y)
    cross = K[N:, Z] @ np.linalg.solve(train[np.ix_(Z, Z)], train[Z])
    decisions = mean + scale * cross @ np.linalg.solve(C, y - mean)
    np.testing.assert_allclose(solver.decision_function(K[N:, :N]), decisions, rtol=0, atol=1e-8)
    # the variance of f: that of the prior, less what the inducing samples tell
    variances = scale * np.diagonal(K)[N:] - scale**2 * np.sum(cross * np.linalg.solve(C, cross.T).T, axis=1)
    if constant:
        left = 1 - scale * cross @ np.linalg.solve(C, ones)
        variances += left**2 / (ones @ np.linalg.solve(C, ones))
    found = solver.variances(K[N:, :N], np.diagonal(K)[N:])
    np.testing.assert_allclose(found.latent, variances, rtol=0, atol=1e-8)


def test_with_all_samples_it_is_exact_and_with_few_a_lower_bound():
    K, y = draw()
    exact = GPR().fit(K[:N, :N], y)
    best = exact.report_["log_marginal_likelihood"]
    values = [InducingGPR(n_inducing=m).fit(K[:N, :N], y).report_["log_marginal_likelihood"] for m in (5, 15, 60)]
    assert values[0] < values[1] < values[2]
    assert values[2] == pytest.approx(best, abs=1e-5)
    whole = InducingGPR(n_inducing=60).fit(K[:N, :N], y)
    assert whole.report_["unexplained"] < 1e-6
    np.testing.assert_allclose(whole.predict(K[N:, :N]), exact.predict(K[N:, :N]), atol=1e-3)


def test_products_give_what_the_matrix_gives():
    K, y = draw()
    whole = DenseOperator(K)
    train, new = whole.take(np.arange(N)), whole.take(np.arange(N, len(K)))
    matrix, products = InducingGPR(n_inducing=20).fit(K[:N, :N], y), InducingGPR(n_inducing=20).fit(train, y)
    assert products.support_.tolist() == matrix.support_.tolist()
    np.testing.assert_allclose(products.predict(new), matrix.predict(K[N:, :N]), atol=1e-8)
    found, expected = products.variances(new, new.squares), matrix.variances(K[N:, :N], np.diagonal(K)[N:])
    np.testing.assert_allclose(found.latent, expected.latent, atol=1e-8)


@pytest.mark.parametrize("given", [{}, {"noise": 0.1, "scale": 1.0}])
def test_an_indefinite_matrix_is_remarked(given):
    """As by gp_regression; also if the search of the noise has a remark of its own."""
    points = np.random.default_rng(1).normal(size=(N, 2))
    K = 2.0 - np.sqrt(((points[:, None] - points) ** 2).sum(-1))
    y = points[:, 0]
    for solver in (GPR(**given), InducingGPR(n_inducing=10, **given)):
        assert "the matrix is not positive semi-definite" in solver.fit(K, y).report_["remark"]
    definite, y = draw()
    for m in (10, N):
        assert "semi-definite" not in InducingGPR(n_inducing=m, **given).fit(definite[:N, :N], y).report_.get(
            "remark", ""
        )


def test_noise_of_zero_is_refused():
    K, y = draw()
    with pytest.raises(ParameterError, match="gp_regression"):
        InducingGPR(noise=0).fit(K[:N, :N], y)
