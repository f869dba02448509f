"""Similarity tables as kernels."""

import numpy as np
import pytest

from seqkern.core.errors import SequenceError
from seqkern.gram.transforms import CentreGram
from seqkern.kernels import PrecomputedKernel
from seqkern.sequences.tables import SimilarityTable


def test_similarities_are_the_kernel():
    values = np.array([[2.0, -1, 0.5], [-1, 3, 4], [0.5, 4, 1]])
    X = SimilarityTable(values)
    np.testing.assert_array_equal(PrecomputedKernel()(X), values)
    np.testing.assert_array_equal(PrecomputedKernel()(X.take([2, 0]), X.take([1])), [[4], [-1]])


def test_normalised_similarities():
    values = np.array([[4.0, 2], [2, 9]])
    np.testing.assert_array_equal(PrecomputedKernel(normalize=True)(values), [[1, 2 / 6], [2 / 6, 1]])


def test_a_negative_self_similarity_cannot_be_normalised():
    values = np.array([[4.0, 2, 1], [2, -9, 3], [1, 3, -4]])
    with pytest.raises(SequenceError, match="zero_diagonal=zero") as error:
        PrecomputedKernel(normalize=True)(values)
    assert error.value.record == "2"
    zero = PrecomputedKernel(normalize=True, zero_diagonal="zero")(values)
    np.testing.assert_array_equal(zero, np.diag([1.0, 0, 0]))


def test_distances_centred_are_the_gram_matrix_of_the_points():
    points = np.random.default_rng(0).standard_normal((9, 3))
    D = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    X = SimilarityTable((D + D.T) / 2, kind="dissimilarities")
    K, _ = CentreGram().fit(PrecomputedKernel()(X)).transform_train()
    centred = points - points.mean(axis=0)
    np.testing.assert_allclose(K, centred @ centred.T, atol=1e-12)


def test_an_asymmetric_table_is_refused_with_the_pair():
    X = SimilarityTable(np.array([[1.0, 2], [3, 1]]), ids=["a", "b"])
    with pytest.raises(SequenceError, match="2 and 3 with 'b'") as error:
        PrecomputedKernel()(X)
    assert error.value.record == "a"


def test_rows_and_columns_of_two_tables_are_refused():
    with pytest.raises(SequenceError, match="different tables"):
        PrecomputedKernel()(np.eye(2), 2 * np.eye(2))
