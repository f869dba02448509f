"""Products in single precision: their definition by exact numbers, every level, every shape, every position."""

from fractions import Fraction
from math import frexp

import numpy as np
import pytest

from seqkern.kernels.vectors import _vector
from seqkern.kernels.vectors.approximation import PackedMap, squares

LEVELS = range(_vector.simd_level() + 1)
PARTIAL = 128  # terms of a partial sum


def rounded(value):
    """Return a rational number rounded to single precision."""
    unit = Fraction(2) ** (max(frexp(float(value))[1] - 1, -126) - 23)
    return round(value / unit) * unit


def naive_product(row, column):
    """Return the product of two vectors: each term added with one rounding, partial sums of 128 terms added."""
    total = Fraction(0)
    for start in range(0, len(row), PARTIAL):
        partial = Fraction(0)
        for a, b in zip(row[start : start + PARTIAL], column[start : start + PARTIAL], strict=True):
            partial = rounded(Fraction(float(a)) * Fraction(float(b)) + partial)
        total = rounded(total + partial)
    return np.float32(float(total))


def at_level(values, packed, level):
    """Return the product computed with the instructions of a level."""
    out = np.full((len(values), packed.shape[1]), np.nan, dtype=np.float32)
    _vector.single_precision_product(values, packed._panels, packed._starts, packed.tops, out, level)
    return out


def factors(n, d, k, scale=1.0, seed=1):
    """Return random values (n, d) and a random matrix (d, k)."""
    rng = np.random.default_rng(seed)
    return (scale * rng.normal(size=(n, d))).astype(np.float32), rng.normal(size=(d, k)).astype(np.float32)


@pytest.mark.parametrize("scale", [1.0, 1e-41, 1e-44])
@pytest.mark.parametrize("level", LEVELS)
def test_products_are_those_of_the_definition(level, scale):
    values, matrix = factors(8, 131, 65, scale)
    found = at_level(values, PackedMap(matrix), level)
    for i, j in ((0, 0), (7, 64), (5, 15), (3, 63)):
        assert found[i, j] == naive_product(values[i], matrix[:, j])


@pytest.mark.parametrize("level", LEVELS)
def test_a_sum_beside_the_middle_of_two_numbers_is_rounded_once(level):
    odd, half = 1 + 2.0**-23, 2.0**-12
    values = np.array([[odd, half * (1 + 2.0**-16)]], dtype=np.float32)
    matrix = np.array([[1], [half * (1 - 2.0**-16)]], dtype=np.float32)
    assert np.float32(np.float64(odd) + 2.0**-24 - 2.0**-56) != np.float32(odd)  # rounded twice
    assert at_level(values, PackedMap(matrix), level)[0, 0] == np.float32(odd)
    assert naive_product(values[0], matrix[:, 0]) == np.float32(odd)


@pytest.mark.parametrize("n", [0, 1, 5, 6, 7, 13])
@pytest.mark.parametrize(("d", "k"), [(0, 3), (1, 1), (127, 63), (128, 64), (129, 65), (300, 0), (300, 200)])
def test_every_shape_has_the_same_bits_at_every_level(n, d, k):
    values, matrix = factors(n, d, k)
    for some in (matrix, np.tril(matrix), np.tril(matrix, -70)):
        packed = PackedMap(some)
        found = values @ packed
        np.testing.assert_allclose(found, values.astype(np.float64) @ some, atol=1e-5 * np.sqrt(d + 1))
        for level in LEVELS:
            np.testing.assert_array_equal(at_level(values, packed, level), found)


def test_zeros_above_a_column_change_nothing_but_the_size():
    values, matrix = factors(9, 400, 400)
    lower = np.tril(matrix)
    packed, full = PackedMap(lower), lower.copy()
    full[0] = 1e-30  # so that no panel begins with zeros
    assert packed._panels.size < 0.7 * PackedMap(full)._panels.size
    values[:, 0] = 0
    np.testing.assert_array_equal(values @ packed, values @ PackedMap(full))


@pytest.mark.parametrize("level", LEVELS)
def test_bits_do_not_depend_on_the_position_of_a_row_or_column(level):
    values, matrix = factors(1, 259, 1)
    many, wide = np.repeat(values, 29, axis=0), np.repeat(matrix, 131, axis=1)
    assert (at_level(many, PackedMap(wide), level) == (values @ PackedMap(matrix))[0, 0]).all()
    values, matrix = factors(50, 259, 131)
    whole, order = at_level(values, PackedMap(matrix), level), np.random.default_rng(2).permutation(50)
    np.testing.assert_array_equal(at_level(values[order], PackedMap(matrix), level), whole[order])
    np.testing.assert_array_equal(at_level(values[37:38], PackedMap(matrix), level), whole[37:38])


def test_numbers_beyond_single_precision_stay_beyond():
    packed = PackedMap(np.ones((2, 1)))
    found = [(np.array([pair], dtype=np.float32) @ packed)[0, 0] for pair in ((3e38, 3e38), (np.inf, 1), (np.nan, 1))]
    np.testing.assert_array_equal(found, [np.inf, np.inf, np.nan])


@pytest.mark.parametrize("d", [0, 1, 7, 8, 100])
def test_squares(d):
    values, _ = factors(11, d, 1)
    np.testing.assert_allclose(squares(values), (values.astype(np.float64) ** 2).sum(axis=1), rtol=1e-7)
    np.testing.assert_array_equal(squares(values[::-1]), squares(values)[::-1])


def test_shapes_that_do_not_fit():
    values, matrix = factors(3, 5, 70)
    with pytest.raises(ValueError, match="do not fit"):
        values[:, :4] @ PackedMap(matrix)
    packed = PackedMap(matrix)
    with pytest.raises(ValueError, match="do not fit"):
        _vector.single_precision_product(
            values, packed._panels, packed._starts, packed.tops, np.empty((2, 70), np.float32)
        )
    with pytest.raises(ValueError, match="panels"):
        _vector.single_precision_product(
            values, packed._panels[1:], packed._starts, packed.tops, np.empty((3, 70), np.float32)
        )
    with pytest.raises(ValueError, match="square"):
        _vector.single_precision_squares(values, np.empty(2, np.float32))
