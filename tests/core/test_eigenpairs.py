"""The largest eigenvalues: as many as requested, also where LAPACK finds fewer."""

from types import SimpleNamespace

import numpy as np
import pytest

from seqkern.core.matrices import largest_eigenpairs


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("kind", ["random", "equal", "zeros"])
def test_eigenpairs_of_any_matrix(kind, count):
    """A centred identity has n − 1 eigenvalues that differ by rounding alone: LAPACK loses some for n = 8, 19, 33."""
    for n in range(5, 45):
        points = np.random.default_rng(n).standard_normal((n, n))
        matrix = {"random": points + points.T, "equal": np.eye(n) - 1 / n, "zeros": np.zeros((n, n))}[kind]
        values, vectors = largest_eigenpairs(matrix.copy, count)
        wanted = np.linalg.eigvalsh(matrix)[::-1][:count]
        np.testing.assert_allclose(values, wanted, atol=1e-12 * n)
        np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-12 * n)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-12 * n)


def with_spectrum(values):
    """Return an exactly symmetric matrix with these eigenvalues."""
    n = len(values)
    points = np.linalg.qr(np.random.default_rng(n).standard_normal((n, n)))[0]
    matrix = (points * values) @ points.T
    return (matrix + matrix.T) / 2


def spectrum(kind, n=440):
    """Return eigenvalues."""
    decaying = 0.9 ** np.arange(n)
    if kind == "copies":
        decaying[:6] = 1.0, 1.0, 1.0, 0.7, 0.7, 0.5
    if kind == "low rank":
        decaying[4:] = 0
    if kind == "indefinite":
        decaying[-3:] = -5.0
    return 1 + 1e-6 * np.linspace(1, 0, n) if kind == "flat" else decaying


@pytest.mark.parametrize("kind", ["decaying", "copies", "low rank", "indefinite", "flat"])
def test_few_eigenpairs_of_a_large_matrix(kind):
    matrix = with_spectrum(spectrum(kind))
    wanted, expected = np.linalg.eigh(matrix)
    for count in (1, 5, 10):
        values, vectors = largest_eigenpairs(matrix.copy, count)
        np.testing.assert_allclose(values, wanted[::-1][:count], atol=1e-12)
        np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-11)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-11)
        if kind in ("decaying", "indefinite"):
            share = np.abs(np.sum(vectors * expected[:, ::-1][:, :count], axis=0))
            np.testing.assert_allclose(share, 1, atol=1e-11)
        again = largest_eigenpairs(matrix.copy, count)
        assert values.tobytes() == again[0].tobytes()
        assert vectors.tobytes() == again[1].tobytes()


def test_lanczos_is_used_where_it_converges_and_only_there(monkeypatch):
    lapack = []

    def eigh(matrix, **options):
        lapack.append(len(matrix))
        return np.linalg.eigh(matrix)

    monkeypatch.setattr("scipy.linalg.eigh", eigh)
    for kind, count, used in (("decaying", 5, False), ("flat", 10, True), ("decaying", 12, True)):
        lapack.clear()
        matrix = with_spectrum(spectrum(kind))
        largest_eigenpairs(matrix.copy, count)
        assert bool(lapack) == used


def test_what_lanczos_loses_is_missed(monkeypatch):
    """A start orthogonal to an eigenvector never finds it: the second start does, and LAPACK takes over."""
    values = np.ones(440) / np.arange(1.0, 441.0) ** 2
    matrix = np.diag(values)

    starts = np.random.default_rng(0).standard_normal((2, 440))
    starts[0, 1] = 0
    monkeypatch.setattr(np.random, "default_rng", lambda _: SimpleNamespace(standard_normal=lambda _: starts))
    found, vectors = largest_eigenpairs(matrix.copy, 3)
    np.testing.assert_allclose(found, values[:3], rtol=1e-12)
    np.testing.assert_allclose(np.abs(vectors[:3]), np.eye(3), atol=1e-10)
