"""Gradients of marginal likelihoods beside difference quotients."""

import numpy as np
import pytest
from gaussian_problem import draw
from scipy.integrate import quad
from scipy.stats import multivariate_normal

from seqkern.kernels.vectors.marginal_likelihood import Tridiagonal, laplace_likelihood, regression_likelihood
from seqkern.solvers.gaussian.processes import logistic_mean

N, STEP = 40, 1e-5


def quotient(function):
    """Return the central difference quotient at 0, with an error of the fourth order."""
    ends = [function(step) for step in (-2 * STEP, -STEP, STEP, 2 * STEP)]
    return (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * STEP)


def change_of_kernel():
    """Return a symmetric matrix that stands for ∂K/∂θ."""
    change = np.random.default_rng(7).normal(size=(N, N))
    return change + change.T


@pytest.mark.parametrize("constant", [False, True])
def test_gradient_of_regression(constant):
    K, y = draw(N, 0)
    change = change_of_kernel()

    def value(step, noise=0.3, scale=1.7):
        return regression_likelihood(K + step * change, y, noise, scale, constant=constant).value

    found = regression_likelihood(K, y, 0.3, 1.7, constant=constant)
    assert found.derivative(change) == pytest.approx(quotient(value), rel=1e-6)
    assert found.noise_slope == pytest.approx(quotient(lambda step: value(0, noise=0.3 + step)), rel=1e-6)
    assert found.scale_slope == pytest.approx(quotient(lambda step: value(0, scale=1.7 + step)), rel=1e-6)
    np.testing.assert_array_equal(found.slope, found.slope.T)
    normal = multivariate_normal(np.full(N, found.mean), 1.7 * K + 0.3 * np.eye(N))
    assert found.value == pytest.approx(normal.logpdf(y), rel=1e-10)
    reduced, slopes = Tridiagonal(K.copy(), y, constant=constant).likelihood(1.7, 0.3)
    assert reduced == pytest.approx(found.value, rel=1e-12)
    np.testing.assert_allclose(slopes, [found.scale_slope, found.noise_slope], rtol=1e-9)


def test_gradient_of_classification():
    K, y = draw(N, 0)
    signs, change = np.sign(y), change_of_kernel()

    def value(step, scale=1.7):
        return laplace_likelihood(K + step * change, signs, scale, jitter=0.1).value

    found = laplace_likelihood(K, signs, 1.7, jitter=0.1)
    assert found.derivative(change) == pytest.approx(quotient(value), rel=1e-6)
    assert found.scale_slope == pytest.approx(quotient(lambda step: value(0, scale=1.7 + step)), rel=1e-6)
    np.testing.assert_allclose(found.slope, found.slope.T, rtol=0, atol=1e-12)
    again = laplace_likelihood(K, signs, 1.7, start=found.coefficients / 1.7, jitter=0.1)
    assert again.value == pytest.approx(found.value, rel=1e-12)


def test_laplace_is_exact_where_the_posterior_is_nearly_normal():
    # with a small prior variance the integral over f of one sample is known, and the approximation is close
    found = laplace_likelihood(np.array([[1.0]]), np.array([1.0]), scale=0.01)
    exact = quad(lambda f: np.exp(-(f**2) / 0.02) / np.sqrt(2 * np.pi * 0.01) / (1 + np.exp(-f)), -1, 1)[0]
    assert found.value == pytest.approx(np.log(exact), abs=1e-5)


@pytest.mark.parametrize("variance", [1e-6, 0.5, 9.0, 1000.0])
def test_mean_of_a_logistic_function(variance):
    deviation = np.sqrt(variance)
    for mean in (0.0, 0.7, -4.0):
        exact = quad(
            lambda t, mean=mean: np.exp(-t * t / 2) / np.sqrt(2 * np.pi) / (1 + np.exp(-mean - deviation * t)),
            -10,
            10,
            points=[np.clip(-mean / deviation, -9, 9)],
            limit=200,
            epsabs=1e-13,
        )[0]
        assert logistic_mean([mean], [variance])[0] == pytest.approx(exact, abs=1e-11)
