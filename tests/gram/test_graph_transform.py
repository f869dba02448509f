"""Diffusion and random walks on the graph of similar samples, from their formulas."""

import numpy as np
import pytest
from scipy.linalg import expm

from seqkern.core.errors import ParameterError
from seqkern.gram.transforms import GraphGram, transform_from_state


def laplacian(K, neighbours, weighted=True):
    """Return the normalised Laplacian, edge by edge."""
    n = len(K)
    W = np.zeros((n, n))
    for i in range(n):
        others = sorted((K[i, j] for j in range(n) if j != i), reverse=True)
        least = others[min(neighbours, n - 1) - 1]
        for j in range(n):
            if j != i and K[i, j] >= least and K[i, j] > 0:
                W[i, j] = W[j, i] = K[i, j] if weighted else 1
    d = W.sum(axis=1)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i == j:
                L[i, i] = float(d[i] > 0)
            elif W[i, j]:
                L[i, j] = -W[i, j] / np.sqrt(d[i] * d[j])
    return L


@pytest.fixture(scope="module")
def similarities():
    rng = np.random.default_rng(0)
    K = rng.random((12, 12))
    K = (K + K.T) / 2 - 0.2
    K[11, :11] = K[:11, 11] = -0.1  # joined to none
    np.fill_diagonal(K, 1)
    return K


@pytest.mark.parametrize("weighted", [True, False])
def test_equals_the_formulas(similarities, weighted):
    L = laplacian(similarities, 3, weighted)
    found, diagonal = GraphGram(neighbours=3, weighted=weighted, beta=0.7).fit(similarities).transform_train()
    np.testing.assert_allclose(found, expm(-0.7 * L), atol=1e-12)
    np.testing.assert_array_equal(diagonal, np.diagonal(found))
    walk = GraphGram(method="random_walk", neighbours=3, weighted=weighted, a=2.5, steps=3).fit(similarities)
    expected = np.linalg.matrix_power(2.5 * np.eye(12) - L, 3)
    np.testing.assert_allclose(walk.transform_train()[0], expected, atol=1e-12)


def test_is_positive_semidefinite_where_the_similarities_are_not(similarities):
    assert np.linalg.eigvalsh(similarities)[0] < -0.1
    for method in ("diffusion", "random_walk"):
        found = GraphGram(method=method, neighbours=3).fit(similarities).transform_train()[0]
        assert np.linalg.eigvalsh(found)[0] > -1e-12


def test_a_new_row_is_the_mean_of_its_neighbours(similarities):
    graph = GraphGram(neighbours=2).fit(similarities)
    square = graph.transform_train()[0]
    row = np.full(12, -1.0)
    row[[3, 5, 7]] = 0.6, 0.2, 0.1
    out, diagonal = graph.transform([row, np.full(12, -1.0)])
    expected = 0.75 * square[3] + 0.25 * square[5]
    np.testing.assert_allclose(out, [expected, np.zeros(12)], atol=1e-14)
    np.testing.assert_allclose(diagonal, [0.75 * expected[3] + 0.25 * expected[5], 0], atol=1e-14)
    # training and new samples together are positive semi-definite
    joined = np.block([[square, out[:1].T], [out[:1], diagonal[:1, None]]])
    assert np.linalg.eigvalsh(joined)[0] > -1e-12


def test_order_of_samples_and_ties_do_not_matter(similarities):
    K = np.round(similarities, 1)
    order = np.random.default_rng(1).permutation(12)
    found = GraphGram(neighbours=3).fit(K).transform_train()[0]
    other = GraphGram(neighbours=3).fit(K[np.ix_(order, order)]).transform_train()[0]
    np.testing.assert_allclose(other, found[np.ix_(order, order)], atol=1e-12)


def test_state_and_explanations(similarities):
    graph = GraphGram(neighbours=3).fit(similarities)
    again = transform_from_state(*graph.state())
    np.testing.assert_array_equal(again.transform(similarities)[0], graph.transform(similarities)[0])
    with pytest.raises(ParameterError, match="leave the transform out"):
        graph.pull_back(np.ones(12))
