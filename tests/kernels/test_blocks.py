"""Normalising rectangles of a kernel matrix: every kind of value over every kind of diagonal."""

import numpy as np
import pytest

from seqkern.kernels import _blocks

VALUES = [0.0, -0.0, 1.5, -2.0, 1e300, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("n", [1, 3, 8, 50])  # with and without whole vectors
def test_zero_where_a_diagonal_is_not_positive(n):
    diagonals = [0.0, -0.0, -1.0, np.nan, 0.25, 2.0, np.inf]
    for diagonal in diagonals:
        for column in diagonals:
            block = np.repeat(np.array(VALUES)[:, None], n, axis=1)
            _blocks.normalise(block, np.full(len(VALUES), diagonal), np.full(n, column))
            expected = np.zeros(len(VALUES))
            if diagonal > 0 and column > 0:
                with np.errstate(invalid="ignore"):
                    expected = VALUES / np.sqrt(diagonal * column) + 0.0
            np.testing.assert_array_equal(block, np.repeat(expected[:, None], n, axis=1))
            assert not np.any(np.signbit(block) & (block == 0))


def test_a_row_of_several_columns():
    values, columns = np.array([np.inf, 3.0, np.nan, -4.0]), np.array([0.0, 9.0, -1.0, 4.0])
    block = np.stack([values, values])
    _blocks.normalise(block, np.array([1.0, 0.0]), columns)
    assert block.tolist() == [[0, 1, 0, -2], [0, 0, 0, 0]]
