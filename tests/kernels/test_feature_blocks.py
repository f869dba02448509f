"""Explicit features in blocks: the same numbers as at once, in any order of asking."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from seqkern.kernels import build_kernel
from seqkern.kernels.features import FeatureBlocks, Features
from seqkern.sequences.tables import FeatureTable


def computed(values):
    """Return FeatureBlocks that compute `values`, of float32, row by row, and count what was asked for."""
    asked = []

    def compute(rows):
        asked.append(rows)
        return values[rows]

    return FeatureBlocks(values.shape, values.dtype, compute), asked


@pytest.mark.parametrize("form", ["dense", "sparse", "computed"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_are_rows_of_the_features(form, dtype):
    rng = np.random.default_rng(1)
    values = rng.integers(-3, 4, size=(11, 5)).astype(dtype)
    made = {
        "dense": lambda: FeatureBlocks.of(np.asfortranarray(values)),
        "sparse": lambda: FeatureBlocks.of(csr_array(values)),
        "computed": lambda: computed(values)[0],
    }[form]()
    weights = rng.standard_normal((5, 3))
    for rows in (slice(None), slice(2, 9), [7, 0, 3, 3], np.arange(11) % 2 == 0, []):
        taken, wanted = made.take(rows), values[np.arange(11)[rows]]
        assert len(taken) == len(wanted)
        assert taken.shape == wanted.shape
        assert taken.dtype == dtype
        seen = np.zeros(wanted.shape, dtype)
        for span, block in taken.blocks(3):
            assert block.flags.c_contiguous
            assert block.dtype == dtype
            seen[span] = block
        np.testing.assert_array_equal(seen, wanted)
        np.testing.assert_array_equal(taken.take(slice(1, 3)).block(0, len(wanted[1:3])), wanted[1:3])
        np.testing.assert_allclose(taken.times(weights), wanted.astype(np.float64) @ weights, rtol=1e-12)


def test_they_are_stored_where_they_fit():
    values = np.arange(40, dtype=np.float32).reshape(8, 5)
    blocks, asked = computed(values)
    assert blocks.keep(values.nbytes - 1) is blocks
    assert not asked
    kept = blocks.take([6, 1, 2]).keep(values.nbytes)
    assert kept.stored
    assert kept.keep(0) is kept
    assert kept.take([0]).stored
    np.testing.assert_array_equal(kept.block(0, 3), values[[6, 1, 2]])
    assert len(asked) == 1


def test_rows_in_a_run_are_asked_for_as_a_slice():
    blocks, asked = computed(np.zeros((9, 2)))
    blocks.take([8, 3, 4, 5]).block(1, 4)
    assert asked == [slice(3, 6)]


@pytest.mark.parametrize("spec", ["spectrum:k=2,normalize=true", "spectrum:k=2,normalize=false"])
def test_by_default_they_are_the_features_of_the_kernel(spec):
    kernel, X = build_kernel(spec), ["ACGTAC", "AACC", "GGTGT"]
    blocks = kernel.features.blocks(X)
    np.testing.assert_array_equal(blocks.block(0, 3), kernel.features.normalised(X).toarray())
    assert blocks.dtype == np.float64


def test_by_default_policies_are_counted_and_single_precision_stays():
    kernel = build_kernel("linear:normalize=true,zero_diagonal=zero")
    counts = {}
    blocks = kernel.features.blocks(FeatureTable([[3.0, 4.0], [0.0, 0.0]]), counts)
    np.testing.assert_array_equal(blocks.block(0, 2), [[0.6000000000000001, 0.8], [0, 0]])
    assert counts == {"zero diagonals": 1}
    single = Features(kernel, lambda X: X.values.astype(np.float32))
    assert single.blocks(FeatureTable([[1.0]])).dtype == np.float32


def test_products_of_equal_rows_are_equal_whatever_their_position():
    rng = np.random.default_rng(1)
    values, weights = np.tile(rng.normal(size=64), (4000, 1)), rng.normal(size=(64, 500))
    found = FeatureBlocks.of(values).times(weights)
    np.testing.assert_array_equal(found, np.tile(found[0], (4000, 1)))
