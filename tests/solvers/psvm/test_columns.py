"""How the P-SVM's matrix is stored: every way gives the products of the naively standardised matrix."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array
from scipy.sparse.linalg import aslinearoperator

from seqkern.core import _symmetry
from seqkern.core.errors import GramError, ParameterError
from seqkern.gram.matrix import MatrixFile, is_whole_map
from seqkern.solvers.psvm import _psvm
from seqkern.solvers.psvm.columns import DenseColumns, MappedColumns, OperatorColumns, SparseColumns
from seqkern.solvers.psvm.qp import columns_of, decide, stays_outside


def standardised(K):
    """Return K̃, naively."""
    centred = K - K.mean(axis=0)
    scale = np.sqrt((centred**2).mean(axis=0))
    return np.where(scale > 1e-9, centred / np.where(scale > 1e-9, scale, 1), 0)


def check_columns(columns, K, atol):
    """Assert that `columns` has the means, scales, products and blocks of the matrix K."""
    rng = np.random.default_rng(0)
    rows, size = K.shape
    Kt = standardised(K)
    assert (columns.n_rows, columns.n_columns) == K.shape
    np.testing.assert_allclose(columns.means, K.mean(axis=0), rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(columns.scales == 0, ~Kt.any(axis=0))
    vector, alpha = rng.normal(size=rows), rng.normal(size=size)
    alpha[1::3] = 0
    np.testing.assert_allclose(columns.products(vector), Kt.T @ vector, atol=atol)
    np.testing.assert_allclose(columns.combine(alpha), Kt @ alpha, atol=atol)
    some = rng.permutation(size)[: size // 2 + 1].astype(np.int64)
    other = rng.permutation(size)[: size // 3 + 1].astype(np.int64)
    np.testing.assert_allclose(columns.products_of(some, vector), (Kt.T @ vector)[some], atol=atol)
    np.testing.assert_allclose(columns.standardised(some), Kt[:, some].T, atol=atol)
    np.testing.assert_allclose(columns.gram(some, other), Kt[:, some].T @ Kt[:, other], atol=atol)
    empty = some[:0]
    assert columns.standardised(empty).shape == (0, rows)
    assert columns.gram(empty, other).shape == (0, len(other))
    assert columns.gram(other, empty).shape == (len(other), 0)
    assert columns.products_of(empty, vector).shape == (0,)


def mapped(folder, K, **dtype):
    """Return a memory map of K in a file."""
    np.save(folder / "K.npy", np.asarray(K, **dtype))
    return np.load(folder / "K.npy", mmap_mode="r")


def counts(rows, size, seed=0):
    """Return a matrix of small counts, most of them zero, with columns that are constant or without a zero."""
    rng = np.random.default_rng(seed)
    K = rng.poisson(0.3, size=(rows, size)).astype(float)
    K[:, 2] = 0
    K[:, 4] = 3
    K[:, 5] = 1 + rng.integers(0, 3, size=rows)
    return K


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 31])
def test_dense_columns(length):
    rng = np.random.default_rng(length)
    K = 1e6 + rng.normal(size=(length, 6))
    K[:, 2] = 4.0
    check_columns(DenseColumns.of(K, False), K, atol=1e-8 * length)


def test_parts_of_dense_columns():
    K = np.random.default_rng(3).normal(size=(13, 9))
    check_columns(DenseColumns.of(K, False), K, atol=1e-12)


def test_blocks_of_dense_columns(monkeypatch):
    monkeypatch.setattr(DenseColumns, "BLOCK", 3)
    K = np.random.default_rng(1).normal(size=(12, 20))
    check_columns(DenseColumns.of(K, False), K, atol=1e-12)


def test_a_symmetric_matrix_is_not_copied(tmp_path):
    K = np.random.default_rng(2).normal(size=(24, 24))
    K = K + K.T
    np.save(tmp_path / "K.npy", K)
    mapped = np.load(tmp_path / "K.npy", mmap_mode="r")
    assert np.shares_memory(DenseColumns.of(mapped, True).columns, mapped)
    K[3, 20] += 1e-13
    assert not np.shares_memory(DenseColumns.of(K, True).columns, K)
    np.testing.assert_array_equal(DenseColumns.of(K, True).columns, K.T)
    fortran = np.asfortranarray(K)
    assert np.shares_memory(DenseColumns.of(fortran, False).columns, fortran)


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 70])
def test_symmetry_twin(n):
    K = np.random.default_rng(n).normal(size=(n, n))
    K = K + K.T
    wider = np.zeros((n, n + 3))
    wider[:, :n] = K
    layouts = (
        lambda K: K,
        np.asfortranarray,
        lambda K: np.concatenate([K, K])[:n],
        lambda K: np.repeat(K, 2, 1)[:, ::2],
    )
    for level in range(_symmetry.highest_level() + 1):
        assert _symmetry.is_symmetric(wider[:, :n], level)
        for i, j in {(0, n - 1), (n - 1, 0), (n // 2, n // 3)}:
            other = K.copy()
            other[i, j] = np.nextafter(other[i, j], np.inf)
            for layout in layouts:
                assert _symmetry.is_symmetric(layout(K), level)
                assert i == j or not _symmetry.is_symmetric(layout(other), level)


@pytest.mark.parametrize("length", [7, 8, 61])
def test_levels_give_the_same_bits(length):
    rng = np.random.default_rng(length)
    columns, found = rng.normal(size=(11, length)) + 3, set()
    columns[4] = 0.1  # constant but for rounding
    y, alpha = rng.normal(size=length), rng.normal(size=11)
    for level in range(_psvm.simd_level() + 1):
        means, scales, products, fitted = np.empty(11), np.empty(11), np.empty(11), np.zeros(length)
        _psvm.moments(columns, means, scales, level)
        _psvm.products(columns, means, scales, None, y, products, level)
        _psvm.combine(columns, means, scales, alpha, fitted, level)
        swept, residual = alpha.copy(), fitted - y
        _psvm.sweep(columns, means, scales, np.arange(11), swept, residual, 0.1, 2.0, level)
        assert scales[4] == 0 < scales[5]
        found.add(b"".join(one.tobytes() for one in (means, scales, products, fitted, swept, residual)))
    assert len(found) == 1


@pytest.mark.parametrize("C", [np.inf, 0.05])
def test_a_sweep_minimises_over_each_variable_in_turn(C):
    rng = np.random.default_rng(4)
    K, y = rng.normal(size=(30, 20)), rng.normal(size=30)
    K[:, 7] = 2.0
    Kt, epsilon = standardised(K), 3.0
    alpha = np.clip(rng.normal(size=20), -C, C)
    alpha[7] = 0
    swept, residual = alpha.copy(), Kt @ alpha - y
    order = np.arange(19)[::-1].copy()
    moves = DenseColumns.of(K, False).sweep(order, swept, residual, epsilon, C)
    expected = alpha.copy()
    for j in order:
        goal = expected[j] - Kt[:, j] @ (Kt @ expected - y) / 30
        if j != 7:
            expected[j] = np.clip(np.sign(goal) * max(abs(goal) - epsilon / 30, 0), -C, C)
    assert moves == np.sum(expected != alpha) > 5
    np.testing.assert_allclose(swept, expected, atol=1e-12)
    np.testing.assert_allclose(residual, Kt @ expected - y, atol=1e-12)


def test_nearly_orthogonal_columns_are_told_from_others():
    rng = np.random.default_rng(5)
    points = rng.normal(size=(200, 10))
    squares = ((points[:, None] - points[None]) ** 2).sum(-1)
    widths = (0.1, 1.0, 10.0)
    assert [DenseColumns.of(np.exp(-squares / width), True).nearly_orthogonal for width in widths] == [
        True,
        True,
        False,
    ]
    assert not DenseColumns.of(np.ones((5, 5)), True).nearly_orthogonal
    assert not DenseColumns.of(np.eye(5)[:, :1], False).nearly_orthogonal


# ---- sparse ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [csr_array, csc_matrix, coo_array])
def test_sparse_columns(form):
    K = counts(30, 17)
    check_columns(SparseColumns(form(K)), K, atol=1e-11)


def test_sparse_columns_with_repeated_entries_and_wide_indices():
    K = counts(12, 9)
    rows, cols = np.nonzero(K)
    twice = coo_array((np.tile(K[rows, cols] / 2, 2), (np.tile(rows, 2), np.tile(cols, 2))), shape=K.shape)
    stored = twice.tocsc(copy=False)
    stored.indices, stored.indptr = stored.indices.astype(np.int64), stored.indptr.astype(np.int64)
    check_columns(SparseColumns(stored), K, atol=1e-12)
    check_columns(SparseColumns(twice), K, atol=1e-12)


def test_a_full_column_far_from_zero_loses_nothing():
    K = counts(40, 8)
    K[:, 6] = 1e9 + np.random.default_rng(0).normal(size=40)
    sparse, dense = SparseColumns(csr_array(K)), DenseColumns.of(K, False)
    alpha, vector = np.eye(8)[6], np.random.default_rng(1).normal(size=40)
    np.testing.assert_allclose(sparse.combine(alpha), dense.combine(alpha), rtol=1e-12)
    np.testing.assert_allclose(sparse.products(vector), dense.products(vector), rtol=1e-9)


def test_a_canonical_matrix_is_not_copied():
    stored = csc_matrix(counts(12, 9))
    assert np.shares_memory(SparseColumns(stored).matrix.data, stored.data)


# ---- in a file -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_mapped_columns(tmp_path, layout, dtype):
    """One MiB holds the whole of a small matrix: less room is given here, for several blocks and batches."""
    K = np.random.default_rng(4).normal(size=(21, 33)).astype(dtype)
    K[:, 7] = 0.1
    stored = mapped(tmp_path, K, dtype=dtype, order=layout)
    assert is_whole_map(stored)
    K = K.astype(float)
    for room in (1, 16 * 33 * 8 / 2**20, 18 * 33 * 8 / 2**20):
        check_columns(MappedColumns.of(stored, False, room), K, atol=1e-11)


def test_mapped_gram_matrix(tmp_path):
    K = np.random.default_rng(5).normal(size=(24, 24))
    K = K + K.T
    room = 16 * 24 * 8 / 2**20
    columns = MappedColumns.of(mapped(tmp_path, K), True, room)
    assert columns.by_columns
    check_columns(columns, K, atol=1e-11)
    K[3, 20] += 1e-13
    columns = MappedColumns.of(mapped(tmp_path, K), True, room)
    assert not columns.by_columns
    check_columns(columns, K, atol=1e-11)


@pytest.mark.parametrize("n", [1, 2, 31, 70])
@pytest.mark.parametrize("size", [2, 200, 10**6])
def test_symmetry_of_a_file(tmp_path, n, size):
    K = np.random.default_rng(n).normal(size=(n, n))
    K = K + K.T
    assert MatrixFile.of(mapped(tmp_path, K)).is_symmetric(size)
    for i, j in {(0, n - 1), (n - 1, 0), (n // 2, n // 3)}:
        if i != j:
            other = K.copy()
            other[i, j] = np.nextafter(other[i, j], np.inf)
            assert not MatrixFile.of(mapped(tmp_path, other)).is_symmetric(size)


def test_columns_that_are_kept_are_not_read_again(tmp_path, monkeypatch):
    K = np.random.default_rng(6).normal(size=(30, 40))
    columns = MappedColumns.of(mapped(tmp_path, K, order="F"), False, 16 * 40 * 8 / 2**20)
    some = np.array([3, 1, 8, 20])
    first = columns.gram(some, some)
    read = []
    monkeypatch.setattr(MatrixFile, "take", lambda _, which: read.append(which))
    np.testing.assert_array_equal(columns.gram(some[::-1], some[::-1]), first[::-1, ::-1])
    assert not read
    assert len(columns.cache.place) == 4


def test_a_block_of_columns_is_read_by_rows_in_one_go(tmp_path, monkeypatch):
    K = np.random.default_rng(6).normal(size=(30, 40))
    columns = MappedColumns.of(mapped(tmp_path, K), False, 16 * 40 * 8 / 2**20)
    assert len(columns.cache.store) == 10
    goes, blocks = [], MatrixFile.blocks
    monkeypatch.setattr(MatrixFile, "blocks", lambda *given: goes.append(1) or blocks(*given))
    for few, expected in ((np.arange(7), 1), (np.arange(3, 10), 1), (np.arange(2, 9), 0), (np.arange(30), 1)):
        goes.clear()
        columns.gram(few, few[:5])
        assert len(goes) == expected


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_bad_numbers_in_a_file(tmp_path, value, layout):
    K = np.random.default_rng(7).normal(size=(20, 20))
    K[4, 9] = value
    with pytest.raises(GramError, match="column 9 of the matrix contains NaN or inf"):
        MappedColumns.of(mapped(tmp_path, K, order=layout), False, 1)


def test_too_little_room(tmp_path):
    stored = mapped(tmp_path, np.ones((5, 70_000)))
    with pytest.raises(ParameterError, match=r"cannot hold sixteen columns.*give at least 9"):
        MappedColumns.of(stored, False, 1)


def test_parts_of_a_map_are_matrices_like_any_other(tmp_path):
    stored = mapped(tmp_path, np.random.default_rng(8).normal(size=(20, 20)))
    assert not is_whole_map(stored[:10])
    assert not is_whole_map(stored[::2])
    assert not is_whole_map(mapped(tmp_path, np.ones((3, 3)), dtype=np.int64))
    assert not is_whole_map(np.ones((3, 3)))
    with pytest.raises(EOFError):
        MatrixFile(stored.filename, stored.offset, np.dtype(float), (21, 20)).take(np.array([20]))


# ---- operators -------------------------------------------------------------------------------------------


def test_operator_columns(monkeypatch):
    K = np.random.default_rng(9).normal(size=(15, 22)) + 3
    K[:, 7] = 0.1
    check_columns(OperatorColumns(aslinearoperator(K)), K, atol=1e-11)
    monkeypatch.setattr(OperatorColumns, "BLOCK", 4)
    check_columns(OperatorColumns(aslinearoperator(K)), K, atol=1e-11)


def test_an_operator_with_bad_numbers():
    K = np.ones((4, 4))
    K[1, 1] = np.nan
    with pytest.raises(GramError, match="NaN or inf"):
        OperatorColumns(aslinearoperator(K))


# ---- the choice ------------------------------------------------------------------------------------------


def test_how_a_matrix_is_stored_follows_from_it(tmp_path):
    K = np.random.default_rng(11).normal(size=(400, 400))
    stored = mapped(tmp_path, K)
    for given, cache_size, kind in (
        (K, 1, DenseColumns),
        (stored, 1, MappedColumns),
        (stored, 2, DenseColumns),
        (csr_array(K), 1, SparseColumns),
        (aslinearoperator(K), 1, OperatorColumns),
    ):
        assert type(columns_of(given, square=True, cache_size=cache_size)) is kind
        assert stays_outside(given, cache_size) is (kind in (MappedColumns, OperatorColumns))


def test_decisions_have_the_same_bits_however_rows_are_stored(tmp_path):
    rng = np.random.default_rng(12)
    K = counts(700, 300)
    columns = rng.permutation(300)[:40].astype(np.int64)
    means, weights = rng.normal(size=40), rng.normal(size=40)
    expected = K[:, columns] @ weights - means @ weights + 0.3
    bits = decide(K, columns, means, weights, 0.3, 1)
    np.testing.assert_allclose(bits, expected, atol=1e-11)
    for layout in "CF":
        stored = mapped(tmp_path, K, order=layout)
        assert stays_outside(stored, 1)
        np.testing.assert_array_equal(decide(stored, columns, means, weights, 0.3, 1), bits)
    np.testing.assert_array_equal(decide(csr_array(K), columns, means, weights, 0.3, 1 / 64), bits)
    np.testing.assert_allclose(decide(aslinearoperator(K), columns, means, weights, 0.3, 1), expected, atol=1e-11)
