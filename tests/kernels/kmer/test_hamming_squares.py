"""K(x, x) of records side by side in the lanes of vectors, against window by window."""

import numpy as np
import pytest

from seqkern.kernels.kmer import hamming_operator
from seqkern.kernels.kmer.hamming import gapped_weights
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

CASES = [
    (6, 4, None, "count"),
    (5, 3, 2, "truncated"),
    (10, 4, None, "full"),
    (1, 1, None, "count"),
    (17, 9, None, "full"),
]


def sequences(n, low, high, size, alphabet):
    """Return random records with masked residues."""
    rng = np.random.default_rng(n)
    lengths = rng.integers(low, high, n)
    codes = rng.integers(0, size, lengths.sum()).astype(np.uint8)
    codes[rng.random(len(codes)) < 0.02] = 255
    return SequenceSet.from_offsets(codes, np.cumsum([0, *lengths]), [str(i) for i in range(n)], alphabet)


@pytest.fixture(params=range(_product.level() + 1), ids="level {}".format)
def level(request):
    """Run at one level of vector instructions."""
    highest = _product.level()
    _product.set_level(request.param)
    yield request.param
    _product.set_level(highest)


@pytest.mark.parametrize(("length", "k", "d", "estimator"), CASES)
@pytest.mark.parametrize("both_strands", [False, True])
def test_both_ways_have_the_same_bits(monkeypatch, level, length, k, d, estimator, both_strands):
    values = gapped_weights(4, length, k, d, estimator)
    for X in (sequences(600, 0, 50, 4, "dna"), sequences(9, 20, 150, 4, "dna")):
        expected = hamming_operator._squares_by_pairs(X, length, values, both_strands)
        monkeypatch.setattr(hamming_operator, "own_costs", lambda *given: (0.0, 1.0))
        for threads in (1, 2):
            got = hamming_operator.own_values(X, length, values, both_strands, n_threads=threads)
            np.testing.assert_array_equal(got, expected)
        monkeypatch.setattr(hamming_operator, "own_costs", lambda *given: (1.0, 0.0))
        np.testing.assert_array_equal(hamming_operator.own_values(X, length, values, both_strands), expected)


def test_proteins(monkeypatch):
    monkeypatch.setattr(hamming_operator, "own_costs", lambda *given: (0.0, 1.0))
    X, values = sequences(70, 0, 90, 20, "protein"), gapped_weights(20, 5, 3)
    got = hamming_operator.own_values(X, 5, values, False)
    np.testing.assert_array_equal(got, hamming_operator._squares_by_pairs(X, 5, values, False))


def test_many_records_are_compared_side_by_side():
    lengths, values = np.full(500, 290), gapped_weights(4, 11, 7, 3, "truncated")
    together, single = hamming_operator.own_costs(lengths, 4, 11, values, True)
    assert together < single / 5
    together, single = hamming_operator.own_costs(lengths[:2], 4, 11, values, True)
    assert single < together
