"""Normalising rectangles of a kernel matrix: every kind of value over every kind of diagonal."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from seqkern.core import threads as core_threads
from seqkern.kernels import SpectrumKernel, WeightedDegreeKernel, _blocks, blocks

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


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("diagonal", [0.0, -2.0, 3.0, 1e200, np.inf, np.nan])
@pytest.mark.parametrize("column", [0.0, -2.0, 0.7, 1e100, np.inf, np.nan])
def test_equal_diagonals_give_the_bits_of_unequal_ones(sign, diagonal, column):
    values = sign * np.array([*VALUES, *np.random.default_rng(5).normal(size=42)])
    even, uneven = values[None].copy(), np.append(values, 1.0)[None]
    found = _blocks.normalise(even, np.array([diagonal]), np.full(50, column))
    _blocks.normalise(uneven, np.array([diagonal]), np.append(np.full(50, column), 0.5))  # each has its own root
    np.testing.assert_array_equal(even.view(np.int64)[~np.isnan(even)], uneven[:, :-1].view(np.int64)[~np.isnan(even)])
    np.testing.assert_array_equal(np.isnan(even), np.isnan(uneven[:, :-1]))
    np.testing.assert_array_equal(found, np.abs(even).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 8, 31, 33, 100])
@pytest.mark.parametrize(("height", "width"), [(7, 7), (8, 24), (40, 50), (100, 100)])
def test_blocks_are_copied_to_the_other_side(n, dtype, height, width):
    values = np.random.default_rng(n).random((n, n + 5)).astype(dtype)
    out = values.copy()
    out[:, :n][np.tril_indices(n, -1)] = np.nan  # never read
    for top in range(0, n, height):
        bottom = min(top + height, n)
        for left in range(top, n, width):
            _blocks.mirror_below(out[:, :n], top, bottom, left, min(left + width, n))
    np.testing.assert_array_equal(out[:, :n], np.triu(values[:, :n]) + np.triu(values[:, :n], 1).T)
    np.testing.assert_array_equal(out[:, n:], values[:, n:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [10, 70])  # the first of the columns: a tile of a Gram matrix; or all of them
@pytest.mark.parametrize("spans", [[(0, 10)], [(0, 3), (3, 10)]])
def test_cut_columns_give_the_same_bits(rows, dtype, spans, monkeypatch):
    X = ["".join(row) for row in np.random.default_rng(3).choice([*"ACGT"], (70, 30))]
    kernel = WeightedDegreeKernel(3)
    whole = kernel.prepare(X)
    part = whole.rows(0, rows)
    expected = kernel.block(part, whole).astype(dtype)
    monkeypatch.setattr(WeightedDegreeKernel, "_most_block_columns", 4)
    monkeypatch.setattr(blocks, "row_blocks", lambda n, *_: [*spans, *([(10, n)] if n > 10 else [])])
    for threads in (1, 2):
        out = np.full((rows, 70), np.nan, dtype=dtype)
        blocks.fill(kernel, part, whole, out, leading=True, n_threads=threads)
        np.testing.assert_array_equal(out, expected)
        blocks.fill(kernel, part, whole, out, n_threads=threads)
        np.testing.assert_array_equal(out, expected)


def test_one_thread_or_one_block_needs_no_pool(monkeypatch):
    pools = []

    class Counted(ThreadPoolExecutor):
        def __init__(self, threads):
            pools.append(threads)
            super().__init__(threads)

    monkeypatch.setattr(core_threads, "ThreadPoolExecutor", Counted)
    kernel = SpectrumKernel(2)
    few, many = ["ACGT", "GATTACA"], ["ACGT", "GATTACA"] * 100
    one = kernel(many, n_threads=1)
    np.testing.assert_array_equal(kernel(few, n_threads=2), one[:2, :2])
    assert pools == []
    np.testing.assert_array_equal(kernel(many, n_threads=2), one)
    assert pools == [2]


@pytest.mark.parametrize("threads", [1, 2, 32])
@pytest.mark.parametrize(("least", "narrow"), [(1, None), (64, None), (64, 1024), (512, 512)])
@pytest.mark.parametrize(("rows", "cols"), [(500, 500), (3000, 3000), (512, 3000), (10, 3000), (0, 5), (5, 0)])
def test_pieces_cover_a_matrix_once(rows, cols, least, narrow, threads):
    for leading in {rows <= cols, False}:
        covered = np.zeros((rows, cols), dtype=np.uint8)
        for start, stop, cuts in blocks._pieces(rows, cols, leading, least, narrow, threads):
            for left, right in cuts:
                assert not leading or left == start or left >= stop  # the square at the diagonal is whole
                covered[start:stop, left:right] += 1
        steps = {start: stop for start, stop, _ in blocks._pieces(rows, cols, leading, least, narrow, threads)}
        for start, stop in steps.items():
            first = start if leading else 0
            assert (covered[start:stop, first:] == 1).all()
            assert not covered[start:stop, :first].any()


def test_threads_have_something_to_do():
    for rows, cols, least, narrow in ((500, 500, 512, 512), (512, 20_000, 512, 512), (10, 2000, 512, 512)):
        for threads in (2, 4):
            sizes = [
                (stop - start) * (right - left)
                for start, stop, cuts in blocks._pieces(rows, cols, rows == cols, least, narrow, threads)
                for left, right in cuts
            ]
            assert max(sizes) <= sum(sizes) / threads
