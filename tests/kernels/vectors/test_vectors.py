"""Kernels of vectors against the textbook formulas."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqkern.core.errors import LabelError, ParameterError, SequenceError
from seqkern.kernels import LinearKernel, PolynomialKernel, RBFKernel, SigmoidKernel, SpectrumKernel
from seqkern.kernels.products import _product
from seqkern.kernels.vectors import _vector
from seqkern.sequences.tables import FeatureTable


@pytest.fixture
def values():
    return np.random.default_rng(3).standard_normal((17, 6)) * 3 + 1


def naive_products(x, y):
    """Return x · y, each sum in the order of the features."""
    out = np.zeros((x.shape[0], y.shape[1]))
    for f in range(x.shape[1]):
        out += x[:, f, None] * y[f]
    return out


def naive_squared_distances(values):
    return ((values[:, None] - values[None]) ** 2).sum(axis=2)


# ---- compiled twins -----------------------------------------------------------------------------


@given(st.integers(0, 20), st.integers(0, 40), st.sampled_from([0, 1, 5, 255, 256, 257, 520]), st.integers(0, 99))
def test_products_have_the_bits_of_the_plain_sum(n, m, d, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((d, m))
    for level in range(_product.level() + 1):
        out = np.full((n, m), np.nan)
        _vector.products(x, y, out, level)
        np.testing.assert_array_equal(out, naive_products(x, y))
    squares = np.full(n, np.nan)
    _vector.squares(x, squares)
    np.testing.assert_array_equal(squares, np.diagonal(naive_products(x, np.ascontiguousarray(x.T))))


def test_products_of_views_are_slices_of_the_whole(values):
    columns = np.ascontiguousarray(values.T)
    whole = np.empty((17, 17))
    _vector.products(values, columns, whole)
    np.testing.assert_array_equal(whole, whole.T)
    larger = np.full((20, 20), np.nan)
    _vector.products(values[3:9], columns[:, 2:13], larger[1:7, 4:15])
    np.testing.assert_array_equal(larger[1:7, 4:15], whole[3:9, 2:13])
    assert np.isnan(larger[0]).all()
    assert np.isnan(larger[:, 15]).all()


def test_functions_of_a_block(values):
    block = values @ values.T
    diagonal = np.ascontiguousarray(np.diagonal(block))
    for degree in (1, 2, 5):
        changed = block.copy()
        _vector.polynomial(changed, 0.5, 2.0, degree)
        np.testing.assert_allclose(changed, (0.5 * block + 2.0) ** degree, rtol=1e-13)
    changed = block.copy()
    _vector.sigmoid(changed, 0.1, -1.0)
    np.testing.assert_allclose(changed, np.tanh(0.1 * block - 1.0), rtol=1e-13)
    changed = block.copy()
    _vector.radial(changed, diagonal, diagonal, 0.1)
    np.testing.assert_allclose(changed, np.exp(-0.1 * naive_squared_distances(values)), rtol=1e-12)


def test_radial_is_one_where_rounding_makes_a_distance_negative():
    block = np.array([[1.0 + 1e-12]])
    _vector.radial(block, np.ones(1), np.ones(1), 5.0)
    assert block[0, 0] == 1.0


# ---- kernels ------------------------------------------------------------------------------------


def test_linear_is_the_dot_product_and_its_cosine(values):
    np.testing.assert_allclose(LinearKernel()(values), values @ values.T, rtol=1e-13)
    lengths = np.linalg.norm(values, axis=1)
    expected = values @ values.T / np.outer(lengths, lengths)
    np.testing.assert_allclose(LinearKernel(normalize=True)(values), expected, rtol=1e-13)


def test_polynomial_separates_xor():
    # SPEC: with (1 + x·z)² and hard margin, α = 1/8 each: Kα·y = y for the four points.
    X = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    y = np.array([-1.0, 1, 1, -1])
    K = PolynomialKernel(degree=2)(X)
    np.testing.assert_array_equal(K, (1 + X @ X.T) ** 2)
    np.testing.assert_allclose(np.linalg.solve(K * np.outer(y, y), np.ones(4)), 1 / 8)


@pytest.mark.parametrize(("squared", "d", "distance"), [(1, 1, 1.124), (1, 0.5, 1.315), (1, 2, 0.887), (4, 0.5, 1.414)])
def test_distances_under_the_radial_kernel(squared, d, distance):
    K = RBFKernel(gamma=1 / d)(np.array([[0.0], [math.sqrt(squared)]]))
    assert math.sqrt(K[0, 0] + K[1, 1] - 2 * K[0, 1]) == pytest.approx(distance, abs=5e-4)


def test_radial_is_one_on_the_diagonal_and_for_equal_vectors(values):
    values = np.vstack([values * 1e6, values[:1] * 1e6])
    K = RBFKernel(gamma=3.0)(values)
    np.testing.assert_array_equal(np.diagonal(K), 1.0)
    assert K[0, -1] == 1.0


def test_on_another_kernel_they_use_its_block_and_diagonals():
    strings = ["ACGTAC", "ACGGGA", "TTTACG", "ACGTAC"]
    base = SpectrumKernel(k=2, normalize=False)
    K = base(strings)
    d = np.diagonal(K)
    squared = d[:, None] + d - 2 * K
    np.testing.assert_allclose(RBFKernel(gamma=0.1, base=base)(strings), np.exp(-0.1 * squared))
    polynomial = PolynomialKernel(degree=3, gamma=0.5, coef0=2, base=base)(strings)
    np.testing.assert_allclose(polynomial, (0.5 * K + 2) ** 3)
    sigmoid = SigmoidKernel(gamma=0.1, coef0=-0.5, base=base)(strings)
    np.testing.assert_allclose(sigmoid, np.tanh(0.1 * K - 0.5))


def test_on_a_normalised_kernel_gamma_is_half_the_factor_of_k_minus_one():
    strings = ["ACGTAC", "ACGGGA", "TTTACG"]
    base = SpectrumKernel(k=2)
    expected = np.exp(1.0 * (base(strings) - 1))
    np.testing.assert_allclose(RBFKernel(gamma=0.5, base=base)(strings), expected)


def test_scale_is_one_over_the_variance_of_the_training_part(values):
    kernel = RBFKernel(gamma="scale").fit(values[:10])
    gamma = 1 / values[:10].var(axis=0).sum()
    assert kernel.gamma_ == pytest.approx(gamma, rel=1e-12)
    expected = np.exp(-gamma * naive_squared_distances(values))
    np.testing.assert_allclose(kernel(values), expected, rtol=1e-10)
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    assert RBFKernel(gamma="scale").fit(standard).gamma_ == pytest.approx(1 / 6)


def test_scale_of_one_repeated_vector_is_one():
    assert RBFKernel(gamma="scale").fit(np.ones((3, 2))).gamma_ == 1.0


def test_the_width_of_jaakkola_is_the_median_distance_of_positives_to_the_nearest_negative(monkeypatch):
    values, y = np.random.default_rng(1).normal(size=(12, 3)), np.array([1, -1, -1, 1, -1, 1] * 2)
    distances = np.sqrt(naive_squared_distances(values))
    nearest = np.median([min(distances[i, j] for j in range(12) if y[j] < 0) for i in range(12) if y[i] > 0])
    assert RBFKernel(gamma="jaakkola").fit(values, y).gamma_ == pytest.approx(1 / (2 * nearest**2), rel=1e-9)
    classes = np.arange(12) % 3
    nearest = np.median([min(distances[i, j] for j in range(12) if classes[j] != classes[i]) for i in range(12)])
    assert RBFKernel(gamma="jaakkola").fit(values, classes).gamma_ == pytest.approx(1 / (2 * nearest**2), rel=1e-9)
    monkeypatch.setattr(
        "seqkern.kernels.vectors.vector_kernels.row_blocks", lambda n, _: [(i, i + 1) for i in range(n)]
    )
    assert RBFKernel(gamma="jaakkola").fit(values, classes).gamma_ == pytest.approx(1 / (2 * nearest**2), rel=1e-9)
    assert RBFKernel(gamma="jaakkola").fit(np.ones((3, 2)), [0, 1, 1]).gamma_ == 1.0
    for labels in (None, np.ones(12)):
        with pytest.raises(LabelError, match="two classes"):
            RBFKernel(gamma="jaakkola").fit(values, labels)


def test_scale_is_summed_block_by_block(values, monkeypatch):
    from seqkern.kernels.vectors import vector_kernels

    whole = vector_kernels.total_variance(LinearKernel(), values)
    monkeypatch.setattr(vector_kernels, "row_blocks", lambda n, m: [(i, i + 1) for i in range(n)])
    assert vector_kernels.total_variance(LinearKernel(), values) == pytest.approx(whole, rel=1e-13)


def test_tables_with_other_columns_are_refused():
    named = FeatureTable(np.eye(2), columns=["a", "b"])
    with pytest.raises(SequenceError, match="2 and 3 features"):
        LinearKernel()(np.eye(2), np.eye(3))
    with pytest.raises(SequenceError, match="differ in c"):
        LinearKernel()(FeatureTable(np.eye(2), columns=["a", "c"]), named)
    with pytest.raises(SequenceError, match="differ in their order"):
        RBFKernel()(FeatureTable(np.eye(2), columns=["b", "a"]), named)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (PolynomialKernel(degree=0), "degree=0"),
        (PolynomialKernel(degree=1.5), "degree=1.5"),
        (PolynomialKernel(gamma=-1), "gamma=-1"),
        (PolynomialKernel(coef0=-1), "coef0=-1"),
        (RBFKernel(gamma=0), "gamma=0"),
        (RBFKernel(gamma="auto"), "gamma='auto'"),
        (RBFKernel(gamma=math.inf), "gamma=inf"),
        (SigmoidKernel(gamma=0), "gamma=0"),
        (SigmoidKernel(coef0=math.nan), "coef0=nan"),
    ],
)
def test_parameters_outside_their_domain(kernel, message):
    with pytest.raises(ParameterError, match=message):
        kernel(np.eye(2))
