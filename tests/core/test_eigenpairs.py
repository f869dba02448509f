"""The largest eigenvalues: as many as requested, also where LAPACK finds fewer."""

import numpy as np
import pytest

from seqkern.core.eigenpairs import largest_eigenpairs


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
