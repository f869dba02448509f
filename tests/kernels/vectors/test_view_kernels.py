"""Kernels of vectors on a view of sequences, alone and with string kernels."""

import numpy as np
import pytest
from sklearn.base import clone

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import (
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    SigmoidKernel,
    SpectrumKernel,
    build_kernel,
    check_kind,
    kernel_from_state,
)
from seqkern.methods.sources import FittedKernel
from seqkern.sequences.sequence_set import SequenceSet

rng = np.random.default_rng(7)
STRINGS = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 30)) for _ in range(24)]
VALUES = rng.normal(size=(24, 6)) * [1, 2, 3, 4, 5, 6]
Y = np.arange(24) % 2


@pytest.fixture(name="X")
def sequences():
    views = {"esm": VALUES, "t5": VALUES[:, ::-1][:, :3]}
    return SequenceSet.from_strings(STRINGS, "protein").replace(views=views)


@pytest.mark.parametrize(
    "cls", [LinearKernel, RBFKernel, PolynomialKernel, SigmoidKernel], ids=lambda cls: str(cls.name)
)
def test_a_view_is_a_table_of_its_vectors(X, cls):
    given = {"gamma": 0.01} if cls is not LinearKernel else {}
    on_view, on_table = cls(view="esm", **given), cls(**given)
    np.testing.assert_array_equal(on_view(X), on_table(VALUES))
    np.testing.assert_array_equal(on_view(X.take([3, 1]), X), on_table(VALUES[[3, 1]], VALUES))
    assert (on_view.traits.accepts, on_view.traits.views) == ("sequences", ("esm",))
    assert (on_table.traits.accepts, on_table.traits.views) == ("features", ())
    assert clone(on_view).view == "esm"


def test_rbf_learns_gamma_of_a_view(X):
    assert RBFKernel(view="esm").traits.data_dependent
    assert not RBFKernel().traits.data_dependent
    fitted = RBFKernel(view="esm").fit(X)
    assert fitted.gamma_ == pytest.approx(1 / VALUES.var(axis=0).sum(), rel=1e-12)
    np.testing.assert_array_equal(fitted(X), RBFKernel(gamma=fitted.gamma_)(VALUES))
    assert not RBFKernel(view="esm", gamma=0.5).traits.data_dependent
    again = kernel_from_state(*fitted.state())
    np.testing.assert_array_equal(again(X), fitted(X))


def test_gamma_is_learned_from_the_training_set_alone(X):
    train, test = np.arange(16), np.arange(16, 24)
    far = VALUES.copy()
    far[test] *= 1000
    mean = "combination:parts=[(spectrum:k=2),(rbf:view=esm)],weights=uniform"
    for kernel in (RBFKernel(view="esm"), build_kernel(mean)):
        first, second = (
            FittedKernel(kernel, X.replace(views={"esm": values})).at(test, train, Y[train]) for values in (VALUES, far)
        )
        np.testing.assert_array_equal(first.train, second.train)
        assert not np.array_equal(first.test, second.test)


@pytest.mark.parametrize("string", ["spectrum:k=2", "mismatch:k=3,m=1", "smith_waterman:normalize=true"])
def test_sums_and_products_are_those_of_matrices(X, string):
    S, V = build_kernel(string)(X), RBFKernel(gamma=0.01)(VALUES)
    np.testing.assert_allclose(build_kernel(f"{string}+rbf:view=esm,gamma=0.01")(X), S + V, rtol=1e-14)
    np.testing.assert_allclose(build_kernel(f"0.3*{string}+2*rbf:view=esm,gamma=0.01")(X), 0.3 * S + 2 * V, rtol=1e-14)
    np.testing.assert_allclose(build_kernel(f"{string}*rbf:view=esm,gamma=0.01")(X), S * V, rtol=1e-14)
    two = build_kernel("linear:view=esm+linear:view=t5")
    assert two.traits.views == ("esm", "t5")
    np.testing.assert_allclose(two(X), VALUES @ VALUES.T + VALUES[:, 3:] @ VALUES[:, 3:].T, rtol=1e-12)


def test_learned_weights_are_those_of_the_matrices(X):
    fitted = build_kernel("combination:parts=[(spectrum:k=2),(linear:view=esm)]").fit(X, Y)
    grams = [SpectrumKernel(k=2)(X), VALUES @ VALUES.T]
    expected = sum(w / s * K for w, s, K in zip(fitted.weights_, fitted.scales_, grams, strict=True))
    np.testing.assert_allclose(fitted(X), expected, rtol=1e-10, atol=1e-12)
    by_grams = build_kernel("combination:parts=[(spectrum:k=2),(linear:view=esm)]").learn_from(grams, Y)
    np.testing.assert_allclose(by_grams.weights_, fitted.weights_)


@pytest.mark.parametrize(
    "text",
    [
        "nystroem:base=(rbf:view=esm)",
        "nystroem:base=(spectrum:k=2+rbf:view=esm),n_components=10",
        "random_fourier:base=(rbf:view=esm)",
        "pairwise:base=(linear:view=esm)",
        "rbf:base=(spectrum:k=2+linear:view=esm),gamma=scale",
        "combination:parts=[(spectrum:k=2),(rbf:view=esm),(linear:view=t5)]",
    ],
)
def test_fitted_kernels_are_restored(X, text):
    train, new = X.take(slice(0, 16)), X.take(slice(16, None))
    fitted = build_kernel(text).fit(train, Y[:16])
    again = kernel_from_state(*fitted.state())
    np.testing.assert_array_equal(again(new, train), fitted(new, train))
    second = build_kernel(text).fit(train, Y[:16])
    assert second.identity() == fitted.identity()


def test_landmarks_keep_only_what_the_kernel_reads(X):
    fitted = build_kernel("nystroem:base=(spectrum:k=2+rbf:view=esm),n_components=4").fit(X)
    assert list(fitted.landmarks_.views) == ["esm"]


def test_features_have_names(X):
    kernel = LinearKernel(view="esm")
    np.testing.assert_array_equal(kernel.features(X), VALUES)
    assert list(kernel.features.names(X))[:2] == ["esm1", "esm2"]
    assert build_kernel("spectrum:k=1+linear:view=t5").features.names(X)[-1] == "linear t53"


def test_threads_and_blocks_do_not_matter(X):
    kernel = build_kernel("spectrum:k=2+rbf:view=esm").fit(X)
    K = kernel(X, n_threads=1)
    assert K.tobytes() == kernel(X, n_threads=4).tobytes()
    np.testing.assert_array_equal(kernel(X.take([5]), X)[0], K[5])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("linear:view=prot", "kernel 'linear' needs the view 'prot'; give it with the sequences, .* --view prot=FILE"),
        ("rbf:view=prot", "needs the view 'prot'"),
        ("spectrum:k=2+linear:view=prot", "needs the view 'prot'"),
    ],
)
def test_a_missing_view(X, text, problem):
    with pytest.raises(SequenceError, match=problem):
        build_kernel(text).fit(X)
    with pytest.raises(SequenceError, match="expected a SequenceSet"):
        LinearKernel(view="esm")(VALUES)


def test_vectors_of_two_lengths(X):
    with pytest.raises(SequenceError, match="of the view 'esm' have 2 numbers, those of other sequences 6"):
        LinearKernel(view="esm")(X.replace(views={"esm": VALUES[:, :2]}), X)


def test_kernels_that_do_not_fit_together():
    with pytest.raises(ParameterError, match="has both a base and a view"):
        build_kernel("rbf:view=esm,base=(spectrum:k=2)").check_parameters()
    with pytest.raises(ParameterError, match="take different data: features, sequences"):
        build_kernel("linear+linear:view=esm").check_parameters()
    with pytest.raises(ParameterError, match="kernel 'linear' takes sequences, the data are features"):
        check_kind(LinearKernel(view="esm"), "features")
