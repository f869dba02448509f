"""The spectrum of a Gram matrix in short, against numpy."""

import numpy as np
import pytest

from seqkern.core.errors import GramError
from seqkern.gram.stored_matrix import Spectrum, read_spectrum, spectrum, write_spectrum


def symmetric(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A + A.T


def low_rank(n, rank, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, rank))
    return A @ A.T


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_of_an_indefinite_matrix(n):
    K = symmetric(n)
    values = np.linalg.eigvalsh(K)
    found = spectrum(K)
    assert found.exact
    assert found.n == n
    np.testing.assert_allclose([found.smallest, found.largest], values[[0, -1]], rtol=1e-12)
    assert found.n_negative == (values < 0).sum()
    assert found.negative_share == pytest.approx(-values[values < 0].sum() / np.abs(values).sum(), rel=1e-12)
    assert found.indefinite == (values[0] < 0)


@pytest.mark.parametrize("K", [low_rank(50, 50), low_rank(50, 3), np.ones((9, 9)), np.zeros((4, 4))], ids=len)
def test_a_semidefinite_matrix_has_no_negative_mass(K):
    found = spectrum((K + K.T) / 2)
    assert (found.negative_share, found.n_negative, found.indefinite) == (0.0, 0, False)
    assert found.smallest >= 0


def test_what_float32_rounds_off_is_no_negative_mass():
    K = low_rank(80, 5)
    K = ((K + K.T) / 2).astype(np.float32)
    assert np.linalg.eigvalsh(K.astype(np.float64))[0] < -1e-7
    assert spectrum(K).n_negative == 0
    assert spectrum(symmetric(80).astype(np.float32)).n_negative > 30


def test_a_small_negative_eigenvalue_is_seen():
    values = np.r_[-1e-8, np.linspace(0.1, 1, 29)]
    basis = np.linalg.qr(symmetric(30))[0]
    K = (basis * values) @ basis.T
    found = spectrum((K + K.T) / 2)
    assert found.smallest == pytest.approx(-1e-8, rel=1e-5)
    assert found.negative_share == pytest.approx(1e-8 / np.abs(values).sum(), rel=1e-5)


def test_no_units():
    assert spectrum(np.empty((0, 0))) == Spectrum(0, 0.0, 0.0, 0.0, 0, True)


@pytest.mark.parametrize("shift", [0.0, 40.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_a_large_matrix_it_is_estimated(shift, dtype, tmp_path):
    K = symmetric(400) + shift * np.eye(400)
    path = tmp_path / "gram.npy"
    np.save(path, K.astype(dtype))
    stored = np.load(path, mmap_mode="r")
    values = np.linalg.eigvalsh(K)
    found = spectrum(stored, exact_rows=300)
    assert not found.exact
    assert found.n == 400
    np.testing.assert_allclose([found.smallest, found.largest], values[[0, -1]], rtol=1e-3)
    assert found.negative_share == pytest.approx(-values[values < 0].sum() / np.abs(values).sum(), abs=0.05)
    assert found.n_negative == pytest.approx((values < 0).sum(), abs=20)
    assert found == spectrum(stored, exact_rows=300)


@pytest.mark.parametrize("K", [low_rank(300, 4), np.eye(300), -np.eye(300), np.zeros((300, 300))])
def test_an_estimate_of_few_different_eigenvalues(K):
    K = (K + K.T) / 2
    values = np.linalg.eigvalsh(K)
    found = spectrum(K, exact_rows=100)
    np.testing.assert_allclose([found.smallest, found.largest], values[[0, -1]], atol=1e-10)
    assert (found.smallest < 0) == (K[0, 0] < 0)


def test_an_estimate_does_not_miss_a_single_negative_eigenvalue():
    K = np.eye(400)
    K[0, 0] = -2.0  # not in the sample
    found = spectrum(K, exact_rows=50)
    assert found.smallest == pytest.approx(-2)
    assert found.n_negative == 1
    assert found.negative_share == pytest.approx(2 / 401)
    assert spectrum(-np.eye(400), exact_rows=50).negative_share == 1


@pytest.mark.parametrize("exact_rows", [100, 10])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_refused(value, exact_rows):
    K = symmetric(40)
    K[3, 5] = K[5, 3] = value
    with pytest.raises(GramError, match="not a finite number"):
        spectrum(K, exact_rows=exact_rows)


def test_what_is_not_symmetric_is_refused():
    with pytest.raises(GramError, match="square"):
        spectrum(np.zeros((3, 4)))
    with pytest.raises(GramError, match="not symmetric"):
        spectrum(np.arange(9.0).reshape(3, 3))


def test_said_in_one_line():
    text = str(spectrum(np.diag([-1.0, 2.0, 1.0])))
    assert text == "smallest eigenvalue -1, largest 2; 1 of 3 negative, 25% of the mass"
    assert "smallest eigenvalue about" in str(spectrum(symmetric(30), exact_rows=20))


def test_written_and_read(tmp_path):
    for exact_rows in (100, 10):
        found = spectrum(symmetric(20), exact_rows=exact_rows)
        write_spectrum(tmp_path / "spectrum.tsv", found)
        again = read_spectrum(tmp_path / "spectrum.tsv")
        assert again.exact == found.exact
        assert again.n_negative == found.n_negative
        assert again.smallest == pytest.approx(found.smallest, rel=1e-9)
