"""Regression on products beside the Cholesky decomposition."""

import numpy as np
import pytest
from dense_operator import DenseOperator
from gaussian_problem import draw

from seqkern.core.errors import GramError, ParameterError
from seqkern.kernels.vectors.marginal_likelihood import regression_likelihood
from seqkern.solvers import GPR
from seqkern.solvers.gaussian import processes
from seqkern.solvers.gaussian.processes import ProductSystem, QuadratureLikelihood, krylov, pivoted_columns

N = 150


@pytest.fixture(scope="module")
def problem():
    """Return K of training and new samples, labels, and both sets as products."""
    K, y = draw(N, 40)
    whole = DenseOperator(K)
    return K, y, whole.take(np.arange(N)), whole.take(np.arange(N, len(K)))


@pytest.mark.parametrize("given", [{"noise": 0.2, "scale": 2.0}, {"noise": 0.01, "scale": 1.0, "mean": "zero"}, {}])
def test_same_as_the_exact_fit(problem, given):
    K, y, train, new = problem
    exact, products = GPR(**given).fit(K[:N, :N], y), GPR(**given).fit(train, y)
    assert products.report_["converged"] is True
    # the likelihood is an estimate, and so are the parameters that it chooses
    assert products.noise_ == pytest.approx(exact.noise_, rel=0.02)
    assert products.scale_ == pytest.approx(exact.scale_, rel=0.05)
    assert products.report_["objective"] == pytest.approx(exact.report_["objective"], abs=0.5)
    near = 1e-7 if given else 0.02
    np.testing.assert_allclose(products.predict(new), exact.predict(K[N:, :N]), rtol=0, atol=near)
    np.testing.assert_allclose(products.predict(K[N:, :N]), products.predict(new), rtol=0, atol=1e-12)


def test_variances_are_bounded_from_below_by_the_exact_ones(problem, monkeypatch):
    K, y, train, new = problem
    monkeypatch.setattr(processes, "PROBES", 1)  # of the likelihood, which does not matter here
    given = {"noise": 0.1, "scale": 2.0}
    exact = GPR(**given).fit(K[:N, :N], y).variances(K[N:, :N], new.squares).latent
    above = []
    for rank in (10, 40, N):
        monkeypatch.setattr("seqkern.solvers.gaussian.processes.RANK", rank)
        found = GPR(**given).fit(train, y).variances(new, new.squares).latent
        assert (found >= exact - 1e-8).all()
        above.append((found - exact).max())
    assert above[0] > above[1] > above[2]
    assert above[2] < 1e-6


@pytest.mark.parametrize("constant", [False, True])
def test_quadratures_are_the_likelihood_and_its_gradient(problem, constant):
    K, y, train, _ = problem
    found = QuadratureLikelihood(train, pivoted_columns(train, 100)[1], y, constant=constant, seed=1)
    for scale, noise in ((2.0, 0.2), (0.5, 1.0)):
        exact = regression_likelihood(K[:N, :N], y, noise, scale, constant=constant)
        value, slopes = found.likelihood(scale, noise)
        assert value == pytest.approx(exact.value, abs=0.2)
        np.testing.assert_allclose(slopes, [exact.scale_slope, exact.noise_slope], rtol=0.02, atol=0.5)
        step = 1e-6
        above, below = found.likelihood(scale, noise + step)[0], found.likelihood(scale, noise - step)[0]
        assert slopes[1] == pytest.approx((above - below) / (2 * step), rel=1e-5)


def test_labels_part_is_exact_where_the_space_is_whole(problem):
    K, y, train, _ = problem
    nodes, parts = krylov(train, np.stack([y, np.ones(N)]), N)
    C = 1.5 * K[:N, :N] + 0.2 * np.eye(N)
    found = (parts / (1.5 * nodes + 0.2)) @ parts.T
    both = np.stack([y, np.ones(N)])
    np.testing.assert_allclose(found, both @ np.linalg.solve(C, both.T), rtol=1e-6)


def test_the_preconditioner_saves_products(problem):
    K, y, train, _ = problem
    counts = []
    for rank in (1, 60):
        system = ProductSystem(train, pivoted_columns(train, rank)[1], 2.0, 0.01)
        solution, residual = system.solve(y)
        assert residual <= processes.EXACT
        np.testing.assert_allclose((2.0 * K[:N, :N] + 0.01 * np.eye(N)) @ solution, y, atol=1e-7)
        counts.append(system.products)
    assert counts[1] < counts[0] / 3


def test_the_seed_alone_decides(problem, monkeypatch):
    monkeypatch.setattr(processes, "PROBES", 2)
    _, y, train, _ = problem
    fits = [GPR(seed=seed).fit(train, y) for seed in (1, 1, 2)]
    assert fits[0].noise_ == fits[1].noise_ != fits[2].noise_


def test_an_indefinite_kernel_is_refused(problem):
    K, y, _, _ = problem
    indefinite = DenseOperator(K[:N, :N] - 0.5 * np.eye(N))
    with pytest.raises(GramError, match="clip=true"):
        GPR(noise=0.1, scale=1.0).fit(indefinite, y)


def test_noise_of_zero_is_refused(problem):
    _, y, train, _ = problem
    with pytest.raises(ParameterError, match="Gram matrix"):
        GPR(noise=0).fit(train, y)
