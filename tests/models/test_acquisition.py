"""Batches of variants by a Gaussian process, beside fits that are made again after each hallucinated result."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from seqkern.core.errors import ModelError, ParameterError
from seqkern.kernels import RBFKernel, SpectrumKernel
from seqkern.methods import acquisition
from seqkern.methods.acquisition import believer, draws, expected_improvement, next_variants
from seqkern.methods.loading import load_model
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences
from seqkern.solvers import GPR, InducingGPR
from seqkern.solvers.gaussian.processes import covariances

KERNEL = SpectrumKernel([1, 2], normalize=False)


def peptides(n, seed=0):
    rng = np.random.default_rng(seed)
    return as_sequences(["".join(rng.choice(list("ACDEF"), rng.integers(5, 9))) for _ in range(n)], "protein")


def label(X):
    return np.array([text.count("A") - text.count("CD") + 0.1 * len(text) for text in X.strings()])


def model_of(n=25, sign=1.0, solver="gp_regression"):
    X = peptides(n)
    noise = 0.1 * np.random.default_rng(1).standard_normal(n)
    return train_model(X, make_labels(X.ids, sign * (label(X) + noise), kind="real"), KERNEL, solver)


def points(n, seed):
    return np.random.default_rng(seed).uniform(0, 3, (n, 1))


@pytest.mark.parametrize("mean", ["constant", "zero"])
@pytest.mark.parametrize("solver", [GPR(), InducingGPR(n_inducing=6)])
def test_covariances_follow_from_variances_of_means(solver, mean):
    kernel, X, new = RBFKernel(gamma=0.7), points(20, 1), points(9, 2)
    solver.set_params(noise=0.1, scale=2.0, mean=mean).fit(kernel(X), np.sin(X[:, 0]))
    K, prior = kernel(new, X), kernel(new)
    found = covariances(solver, K, prior)
    own = solver.variances(K, np.ones(9)).latent
    np.testing.assert_allclose(np.diagonal(found), own, atol=1e-12)
    for i in range(9):  # Var of the mean of two functions is (Var f + Var g + 2 Cov) / 4
        middle = solver.variances((K + K[i]) / 2, (2 + 2 * prior[i]) / 4).latent
        np.testing.assert_allclose(found[i], 2 * middle - (own + own[i]) / 2, atol=1e-12)


@pytest.mark.parametrize("mean", ["constant", "zero"])
@pytest.mark.parametrize("rule", ["ucb", "ei"])
def test_the_batch_is_that_of_fits_made_again(rule, mean):
    kernel, X, pool, noise = RBFKernel(gamma=0.7), points(12, 1), points(30, 2), 0.05
    y = np.sin(3 * X[:, 0])
    solver = GPR(noise=noise, scale=1.0, mean=mean).fit(kernel(X), y)
    means = solver.predict(kernel(pool, X))
    best = solver.predict(kernel(X)).max()

    def value(means, deviations, chosen):
        if rule == "ucb":
            return means + 2 * deviations
        return expected_improvement(means, deviations, max([best, *means[chosen]]))

    order, values = believer(
        means, covariances(solver, kernel(pool, X), kernel(pool)), noise, 6, value, np.zeros(len(pool))
    )
    seen, results = X, y
    for step, (place, found) in enumerate(zip(order, values, strict=True)):
        again = GPR(noise=noise, scale=1.0, mean=mean).fit(kernel(seen), results)
        K = kernel(pool, seen)
        now, deviations = again.predict(K), np.sqrt(again.variances(K, np.ones(len(pool))).latent)
        np.testing.assert_allclose(now, means, atol=1e-7)  # a result as expected does not change the mean
        wanted = value(now, deviations, order[:step].tolist())
        wanted[order[:step]] = -np.inf
        assert place == wanted.argmax()
        assert found == pytest.approx(wanted.max(), abs=1e-6)
        seen, results = np.vstack([seen, pool[place]]), np.append(results, now[place])


def test_expected_improvement_is_an_integral():
    for mean, deviation, best in [(0.3, 0.5, 0.7), (-1.0, 0.2, 0.1), (2.0, 1.0, 0.0)]:
        density = norm(mean, deviation).pdf
        wanted, _ = quad(lambda f, b=best, p=density: (f - b) * p(f), best, mean + 12 * deviation)
        found = expected_improvement(np.array([mean]), np.array([deviation]), best)[0]
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_draws_are_as_likely_as_the_posterior_says():
    means, covariance = np.array([0.0, 0.2]), np.array([[1.0, 0.6], [0.6, 0.5]])
    firsts = [draws(means, covariance, 1, np.random.default_rng(seed))[0][0] for seed in range(3000)]
    difference = norm.sf(0, 0.2, np.sqrt(1.0 + 0.5 - 2 * 0.6))  # P(the second is greater)
    assert np.mean(firsts) == pytest.approx(difference, abs=0.03)
    order, values = draws(means, np.zeros((2, 2)), 2, np.random.default_rng(1))
    assert (order.tolist(), values.tolist()) == ([1, 0], [0.2, 0.0])


@pytest.mark.parametrize("rule", ["ucb", "ei", "thompson"])
def test_inducing_samples_choose_the_batch_of_all_samples(rule):
    pool, given = peptides(60, seed=5), "noise=0.1,scale=1"
    exact, inducing = (model_of(solver=f"{solver}:{given}") for solver in ("gp_regression", "gp_inducing"))
    wanted, found = (next_variants(model, [pool], 6, acquisition=rule) for model in (exact, inducing))
    assert found.rows.tolist() == wanted.rows.tolist()
    np.testing.assert_allclose(found.deviations, wanted.deviations, atol=1e-7)


def test_deviations_are_those_of_predictions():
    model, pool = model_of(40, solver="gp_inducing:n_inducing=8"), peptides(60, seed=5)
    found = next_variants(model, [pool], 5)
    means, variances = model.decision_and_variances(pool.take(found.rows))
    np.testing.assert_allclose(found.means, means)
    np.testing.assert_allclose(found.deviations, np.sqrt(variances.latent), atol=1e-7)


@pytest.mark.parametrize("solver", ["gp_regression", "gp_inducing:n_inducing=4", "gp_inducing"])
@pytest.mark.parametrize("minimize", [False, True])
def test_the_best_mean_is_that_of_all_training_samples(solver, minimize, tmp_path):
    X, pool = peptides(40), peptides(9, seed=5)
    model = model_of(40, solver=solver)
    model.save(tmp_path / "m.seqkern")
    found = next_variants(load_model(tmp_path / "m.seqkern"), [pool], 2, minimize=minimize)
    means = model.decision(X)
    assert found.best == pytest.approx(means.min() if minimize else means.max())
    assert "the best mean among the training samples is " in found.sentence()


def test_a_model_without_the_means_of_training_samples_says_so():
    pool = peptides(9, seed=5)
    for solver, n, said in [("gp_regression", 40, "training samples is"), ("gp_inducing:n_inducing=4", 4, "support")]:
        model = model_of(40, solver=solver)
        del model.record["training_means"]
        found = next_variants(model, [pool], 2)
        assert len(model.support) == n
        assert found.best == pytest.approx(model.decision(model.support).max())
        assert f"the best mean among the {said}" in found.sentence()
    assert found.sentence().endswith(
        "among the support samples is " + f"{found.best:.4g}, as the model does not hold that of all training samples"
    )


@pytest.mark.parametrize("rule", ["ucb", "ei", "thompson"])
def test_minimize_is_maximize_of_negated_labels(rule):
    pool = peptides(60, seed=5)
    up = next_variants(model_of(), [pool], 6, acquisition=rule)
    down = next_variants(model_of(sign=-1.0), [pool], 6, acquisition=rule, minimize=True)
    assert up.rows.tolist() == down.rows.tolist()
    np.testing.assert_allclose(up.means, -down.means, rtol=1e-6)
    np.testing.assert_allclose(up.values, down.values if rule == "ei" else -down.values, rtol=1e-6)
    assert up.best == pytest.approx(-down.best)
    assert len({pool.string(int(row)) for row in up.rows}) == 6


def test_chunks_and_the_whole_pool_give_the_same():
    model, pool = model_of(), peptides(90, seed=5)
    for rule in ("ucb", "thompson"):
        whole = next_variants(model, [pool], 5, acquisition=rule)
        parts = next_variants(model, [pool.take(slice(a, a + 40)) for a in range(0, 90, 40)], 5, acquisition=rule)
        assert whole.rows.tolist() == parts.rows.tolist()
        np.testing.assert_allclose(whole.values, parts.values)
    drawn = [next_variants(model, [pool], 5, acquisition="thompson", seed=seed).rows.tolist() for seed in (1, 1, 2, 3)]
    assert drawn[0] == drawn[1]
    assert drawn[2] != drawn[0] or drawn[3] != drawn[0]


def test_measured_variants_are_left_out_and_copies_chosen_once():
    model, X, pool = model_of(), peptides(25), peptides(8, seed=5)
    mixed = as_sequences([*X.strings(), *pool.strings() * 3], "protein")
    found = next_variants(model, [mixed], 50)
    assert (found.n_known, found.n_pool) == (25, 24)
    assert found.rows.min() >= 25
    assert len(found.rows) == len({mixed.string(int(row)) for row in found.rows}) <= 8
    nothing = next_variants(model, [X], 3)
    assert (len(nothing.rows), nothing.n_pool) == (0, 0)


def test_few_candidates_suffice(monkeypatch):
    model, pool = model_of(), peptides(90, seed=5)
    whole = next_variants(model, [pool], 3)
    monkeypatch.setattr(acquisition, "LEAST_CANDIDATES", 10)
    some = next_variants(model, [pool], 3)
    assert some.n_candidates == 30
    assert some.rows.tolist() == whole.rows.tolist()
    assert "chosen jointly among the 30 with the greatest values" in some.sentence()


def test_what_cannot_choose(monkeypatch):
    X = peptides(20)
    classes = train_model(X, make_labels(X.ids, ["a", "b"] * 10), KERNEL, "csvc")
    with pytest.raises(ModelError, match="does not predict numbers, so that no variant is best; train a model by"):
        next_variants(classes, [X])
    with pytest.raises(ModelError, match="has no variances: solver 'svr' does not give them; train a model"):
        next_variants(model_of(solver="svr"), [X])
    for wrong in ({"n": 0}, {"kappa": -1.0}, {"acquisition": "best"}, {"seed": -1}):
        with pytest.raises(ParameterError):
            next_variants(model_of(), [X], **wrong)
    monkeypatch.setattr(acquisition, "available_memory", lambda: 1000)
    with pytest.raises(ModelError, match="the joint posterior of 30 candidates takes "):
        next_variants(model_of(), [peptides(30, seed=5)], 2)
