"""The kernel `likelihood`: derivatives of the marginal likelihood, its maxima, and what it refuses."""

import contextlib
import itertools

import numpy as np
import pytest

from seqkern.core.errors import GramError, LabelError, ParameterError
from seqkern.kernels import LikelihoodKernel, RBFKernel, build_kernel, kernel_from_state
from seqkern.kernels.vectors import likelihood, marginal_likelihood
from seqkern.kernels.vectors.marginal_likelihood import Labels, LikelihoodSearch, regression_likelihood
from seqkern.sequences.sequence_set import as_sequences
from seqkern.sequences.tables import FeatureTable


def peptides(n=40, seed=1):
    rng = np.random.default_rng(seed)
    return as_sequences(["".join(rng.choice(list("ACDEFGHIKL"), rng.integers(6, 11))) for _ in range(n)], "protein")


def points(n=60, gamma=2.0, noise=0.05, seed=1):
    """Return samples of a function drawn from a Gaussian process."""
    rng = np.random.default_rng(seed)
    X = FeatureTable(rng.uniform(0, 3, (n, 1)))
    prior = RBFKernel(gamma=gamma)(X) + noise * np.eye(n)
    return X, np.linalg.cholesky(prior) @ rng.standard_normal(n)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "0.7*local_alignment:beta=0.2,logarithm=false,normalize=true,precision=double+string:n=2,decay=0.6",
        "generic_string:length=2,sigma_p=2,sigma_c=0.4*oligo:k=1,sigma=2",
    ],
)
def test_derivatives_of_the_likelihood(text, classes):
    X = peptides()
    y = np.random.default_rng(2).standard_normal(len(X))
    base = build_kernel(text)
    search = LikelihoodSearch(
        base.gradient(X), Labels(np.where(y > 0, "a", "b") if classes else y), base.gradient.tunable()
    )
    names = [*base.gradient.tunable(), "scale", *([] if classes else ["noise"])]
    x = np.array([*base.gradient.tunable().values(), 1.3, *([] if classes else [0.4])])
    _, slopes = search.value(x, names, {})
    for i, name in enumerate(names):
        step = np.zeros(len(x))
        step[i] = 1e-4 * x[i]
        wanted = (search.value(x + step, names, {})[0] - search.value(x - step, names, {})[0]) / (2 * step[i])
        assert slopes[i] == pytest.approx(wanted, rel=1e-4, abs=1e-5), name


def test_no_point_of_a_grid_is_better():
    X, y = points()
    kernel = LikelihoodKernel(RBFKernel(gamma=20.0)).fit(X, y)
    assert kernel.report_["converged"]
    assert kernel.report_["log_likelihood"] > kernel.report_["at_start"]
    for gamma in np.geomspace(0.1, 50, 12):
        K = RBFKernel(gamma=gamma)(X)
        for scale, noise in itertools.product(np.geomspace(0.1, 10, 7), np.geomspace(0.01, 1, 7)):
            assert regression_likelihood(K, y, noise, scale).value <= kernel.report_["log_likelihood"] + 1e-6
    np.testing.assert_allclose(kernel(X), RBFKernel(gamma=kernel.values_["gamma"])(X))
    assert kernel.learned()["gamma"] == kernel.values_["gamma"]


def test_the_width_of_simulated_functions_is_found():
    found = [LikelihoodKernel(RBFKernel(gamma=20.0)).fit(*points(seed=seed)).values_["gamma"] for seed in range(12)]
    assert np.exp(np.mean(np.log(found))) == pytest.approx(2.0, rel=0.3)


def test_weights_of_a_sum():
    X, y = points()
    X = FeatureTable(np.hstack([X.values, np.random.default_rng(5).standard_normal((len(X), 1))]))
    base = build_kernel("rbf:gamma=2+linear:normalize=true+0*rbf:gamma=1")
    kernel = LikelihoodKernel(base, parameters=["weights"], starts=1).fit(X, y)
    assert list(kernel.values_) == ["weights__0", "weights__1"]  # no search can start from 0
    assert set(LikelihoodKernel(base, parameters="gamma").fit(X, y).values_) == {"parts__0__gamma", "parts__2__gamma"}
    kernel = LikelihoodKernel(
        build_kernel("rbf:gamma=2+linear:normalize=true"), parameters=["weights__0", "weights__1"]
    )
    assert sum(kernel.fit(X, y).values_.values()) == pytest.approx(1)
    assert kernel.values_["weights__0"] > kernel.values_["weights__1"]


def test_a_learned_width_is_where_the_search_starts():
    X, y = points()
    base = RBFKernel(gamma="scale")
    kernel = LikelihoodKernel(base, starts=1).fit(X, y)
    assert base.gamma == "scale"
    header, arrays = kernel.state()
    again = kernel_from_state(header, arrays)
    np.testing.assert_array_equal(again(X), kernel(X))
    assert again.values_ == kernel.values_


def test_a_subset_of_many_samples():
    X, y = points()
    found = [LikelihoodKernel(RBFKernel(gamma=1.0), most_samples=30, seed=seed).fit(X, y) for seed in (1, 1, 2)]
    assert found[0].values_ == found[1].values_ != found[2].values_
    assert found[0].fit(X, y).values_ == found[1].values_  # a second fit does not go on from the first
    assert found[0].report_["n_samples"] == 30


def test_progress_counts_the_likelihoods_from_the_first(monkeypatch):
    shown = []

    @contextlib.contextmanager
    def counter(description, unit=""):
        yield lambda done, total=None: shown.append(done)

    monkeypatch.setattr(marginal_likelihood, "progress_counter", counter)
    kernel = LikelihoodKernel(RBFKernel(gamma=1.0), starts=1).fit(*points(n=12))
    assert shown[0] <= 2
    assert shown == list(range(shown[0], kernel.report_["evaluations"] + 1))


def test_what_cannot_be(monkeypatch):
    X, y = points(n=12)
    with pytest.raises(ParameterError, match="kernel 'linear' has no parameter with a derivative; choose from: "):
        LikelihoodKernel(build_kernel("linear")).fit(X, y)
    with pytest.raises(ParameterError, match="gamme"):
        LikelihoodKernel(RBFKernel(gamma=1.0), parameters=["gamme"]).fit(X, y)
    with pytest.raises(ParameterError, match="are 0, where no search can start"):
        LikelihoodKernel(build_kernel("0*linear")).fit(X, y)
    for labels, message in (
        (None, "there are none"),
        (np.ones(12), "all training labels are the same"),
        (["a", "b", "c"] * 4, "3 classes"),
        ([np.nan, *range(11)], "NaN or inf"),
    ):
        with pytest.raises(LabelError, match=message):
            LikelihoodKernel(RBFKernel(gamma=1.0)).fit(X, labels)
    with pytest.raises(GramError, match="not positive semi-definite on the training samples"):
        LikelihoodKernel(build_kernel("sigmoid:gamma=0.1,coef0=-5")).fit(X, y)
    monkeypatch.setattr(likelihood, "available_memory", lambda: 1000)
    with pytest.raises(GramError, match="choosing parameters on 12 samples takes"):
        LikelihoodKernel(RBFKernel(gamma=1.0)).fit(X, y)
