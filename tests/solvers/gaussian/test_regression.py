"""Gaussian process regression beside scikit-learn's, and beside the formulas in plain linear algebra."""

import numpy as np
import pytest
from gaussian_problem import Precomputed, draw
from sklearn.gaussian_process import GaussianProcessRegressor

from seqkern.core.errors import GramError, LabelError
from seqkern.kernels.vectors.marginal_likelihood import regression_likelihood
from seqkern.solvers import GPR

N = 60


def sklearn_fit(K, y, scale, noise, optimizer=None):
    rows = np.arange(N)[:, None]
    return GaussianProcessRegressor(Precomputed(K, scale, noise), alpha=1e-300, optimizer=optimizer).fit(rows, y)


@pytest.mark.parametrize(("scale", "noise"), [(1.0, 0.1), (3.0, 0.001), (0.2, 2.0)])
def test_same_as_scikit_learn_for_given_parameters(scale, noise):
    K, y = draw()
    solver = GPR(noise=noise, scale=scale, mean="zero").fit(K[:N, :N], y)
    other = sklearn_fit(K, y, scale, noise)
    new = np.arange(N, len(K))[:, None]
    means, deviations = other.predict(new, return_std=True)
    found = solver.variances(K[N:, :N], np.diagonal(K)[N:])
    np.testing.assert_allclose(solver.predict(K[N:, :N]), means, rtol=0, atol=1e-8)
    # its white noise belongs to new samples too
    np.testing.assert_allclose(np.sqrt(found.observed), deviations, rtol=0, atol=1e-8)
    np.testing.assert_allclose(solver.report_["log_marginal_likelihood"], other.log_marginal_likelihood_value_)
    assert solver.report_["jitter"] == 0


def test_same_optimum_as_scikit_learn():
    K, y = draw()
    solver = GPR(mean="zero").fit(K[:N, :N], y)
    other = sklearn_fit(K, y, 1.0, 0.5, optimizer="fmin_l_bfgs_b")
    ours, theirs = solver.report_["log_marginal_likelihood"], other.log_marginal_likelihood_value_
    assert ours >= theirs - 1e-8
    assert ours == pytest.approx(theirs, abs=1e-5)
    assert (solver.scale_, solver.noise_) == pytest.approx((other.kernel_.scale, other.kernel_.noise), rel=1e-2)
    at_ours = sklearn_fit(K, y, solver.scale_, solver.noise_)
    new = np.arange(N, len(K))[:, None]
    np.testing.assert_allclose(solver.predict(K[N:, :N]), at_ours.predict(new), rtol=0, atol=1e-8)
    # the gradient vanishes at the optimum
    slopes = at_ours.log_marginal_likelihood(at_ours.kernel_.theta, eval_gradient=True)[1]
    np.testing.assert_allclose(slopes, 0, atol=1e-4)


@pytest.mark.parametrize("given", [{"noise": 0.3}, {"scale": 0.7}])
def test_one_chosen_parameter_is_the_best_of_a_fine_grid(given):
    K, y = draw(seed=2)
    best = GPR(**given).fit(K[:N, :N], y).report_["log_marginal_likelihood"]
    (other,) = {"noise", "scale"} - set(given)
    grid = [GPR(**given, **{other: value}).fit(K[:N, :N], y) for value in np.geomspace(0.01, 10, 40)]
    values = [solver.report_["log_marginal_likelihood"] for solver in grid]
    assert max(values) <= best <= max(values) + 0.05


def test_constant_mean_is_that_of_kriging():
    # universal kriging: f = m + g with a flat prior of m, the limit of a large variance of m
    K, y = draw()
    solver = GPR(noise=0.1, scale=2.0).fit(K[:N, :N], y + 100)
    wide = 1e7
    C = 2.0 * K[:N, :N] + 0.1 * np.eye(N) + wide
    cross = 2.0 * K[N:, :N] + wide
    means = cross @ np.linalg.solve(C, y + 100)
    variances = 2.0 * np.diagonal(K)[N:] + wide - np.sum(cross * np.linalg.solve(C, cross.T).T, axis=1)
    np.testing.assert_allclose(solver.predict(K[N:, :N]), means, rtol=0, atol=1e-5)
    np.testing.assert_allclose(solver.variances(K[N:, :N], np.diagonal(K)[N:]).latent, variances, atol=1e-5)


def test_jitter_for_copies_of_a_sample_without_noise_is_reported():
    K, y = draw()
    rows = np.append(np.arange(N), [0, 1])
    solver = GPR(noise=0, scale=1.0, mean="zero").fit(K[np.ix_(rows, rows)], y[rows % N])
    assert 0 < solver.report_["jitter"] < 1e-9
    found = solver.variances(K[np.ix_(rows[:3], rows)], np.ones(3))
    assert found.latent.max() < 1e-5
    assert found.latent.min() >= 0
    assert found.noise == 0


@pytest.mark.parametrize("given", [{}, {"noise": 0.01, "scale": 1.0}])
def test_an_indefinite_matrix_is_reported(given):
    K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    solver = GPR(**given).fit(K, [0.0, 1.0, 5.0])
    assert solver.report_["jitter"] > 0.2 * solver.scale_
    assert "was added to its diagonal" in solver.report_["remark"]


def test_a_parameter_at_the_limit_of_the_search_is_remarked():
    K, _ = draw()
    smooth = K[:N, :N] @ np.ones(N)  # without noise
    solver = GPR().fit(K[:N, :N], smooth)
    assert solver.noise_ == pytest.approx(1e-6 * smooth.var())
    assert solver.report_["remark"].endswith("give the solver noise=prior, or the variance of repeated measurements")
    prior = GPR(noise="prior").fit(K[:N, :N], smooth)
    assert prior.noise_ > 3 * solver.noise_
    assert prior.report_.get("remark") is None
    assert prior.best_params_ == {"noise": prior.noise_, "scale": prior.scale_}
    ratios = np.geomspace(1e-6, 10, 2000)
    values = [regression_likelihood(K[:N, :N], smooth, ratio * smooth.var(), prior.scale_).value for ratio in ratios]
    best = ratios[np.argmax(np.array(values) + np.log(ratios) - 2 * ratios)]
    assert prior.noise_ == pytest.approx(best * smooth.var(), rel=0.02)
    assert GPR(noise=0.1).fit(K[:N, :N], draw()[1]).report_.get("remark") is None


def test_noise_of_zero_with_copies_of_a_sample():
    solver = GPR(noise=0).fit(np.ones((6, 6)) + np.kron(np.eye(3), np.ones((2, 2))), [1.0, 1.0, 2.0, 2.0, 0.0, 0.0])
    assert solver.report_["jitter"] > 0
    assert np.isfinite(solver.report_["objective"])


def test_variances_below_zero_are_set_to_zero_and_counted():
    solver = GPR(noise=1e-9, scale=1.0, mean="zero").fit(np.eye(3), [0.0, 1.0, 2.0])
    found = solver.variances(np.eye(3) * 1.1, np.ones(3))  # not rows of a positive semi-definite matrix
    assert found.latent.tolist() == [0, 0, 0]
    assert found.clipped == 3


def test_bad_input():
    K, y = draw()
    with pytest.raises(LabelError, match=r"all 60 training labels are 1\.5"):
        GPR().fit(K[:N, :N], np.full(N, 1.5))
    solver = GPR(noise=0.1, scale=1.0).fit(K[:N, :N], y)
    with pytest.raises(GramError, match="a diagonal of shape"):
        solver.variances(K[N:, :N], np.ones(3))


def test_memory_is_that_of_a_copy_and_the_factor():
    assert GPR().gram_bytes(1000) == 1.5 * 8 * 1000**2
