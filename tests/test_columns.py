"""How the P-SVM's matrix is stored: every way gives the products of the naively standardised matrix."""

import numpy as np
import pytest

from seqkern.solvers.potential import _columns
from seqkern.solvers.potential.columns import DenseColumns


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
    for empty in (some[:0],):
        assert columns.standardised(empty).shape == (0, rows)
        assert columns.gram(empty, other).shape == (0, len(other))
        assert columns.products_of(empty, vector).shape == (0,)


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 31])
def test_dense_columns(length):
    rng = np.random.default_rng(length)
    K = 1e6 + rng.normal(size=(length, 6))
    K[:, 2] = 4.0
    check_columns(DenseColumns.of(K, False), K, atol=1e-8 * length)


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
    assert _columns.is_symmetric(K)
    for i, j in {(0, n - 1), (n - 1, 0), (n // 2, n // 3)}:
        if i != j:
            other = K.copy()
            other[i, j] = np.nextafter(other[i, j], np.inf)
            assert not _columns.is_symmetric(other)
