"""Features at positions against the naive twin: any table of weights, any occurrences."""

import math

import naive
import naive_pairs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels.kmer import oligo as module
from seqkern.kernels.kmer.kmers import find_kmers
from seqkern.kernels.kmer.oligo import PositionBlock, distance_weights, window_positions
from seqkern.kernels.products.product import Term, TermBlocks, fold, product

STRINGS = [*random_strings(8, 3, 30), "A" * 25, "ACGT" * 6, "AC*GT*ACT*ACGTA*****ACGTAC*TTTT", "*****", "GC", "A", ""]
BOTH_WAYS = pytest.mark.parametrize("smooth", [False, True])


def kmer_block(X, k, weigh, like=None, smooth=False):
    return PositionBlock(find_kmers(X, k), window_positions(X, k), weigh, like, smooth)


def matrix(rows, cols=None):
    """Return the matrix of two PositionBlocks."""
    cols = rows if cols is None else cols
    blocks = [TermBlocks([Term(1.0, [(1, block)])]) for block in (rows, cols)]
    out = np.empty((len(blocks[0]), len(blocks[1])))
    product(blocks[0], blocks[1] if cols is not rows else blocks[0], out)
    return out


def kmers_at(string, k):
    return [(string[p : p + k], p) for p in range(len(string) - k + 1) if "*" not in string[p : p + k]]


def naive_matrix(rows, cols, k, weight):
    return np.array([[naive_pairs.kernel_at_positions(x, y, weight) for y in cols] for x in rows])


@BOTH_WAYS
@pytest.mark.parametrize("form", naive_pairs.WEIGHTS)
@pytest.mark.parametrize("sigma", [0.3, 1, 3.5, 1e6])
def test_equals_the_naive_twin(form, sigma, smooth):
    X = encode(STRINGS)
    found = [kmers_at(string, 2) for string in STRINGS]
    expected = naive_matrix(found, found, 2, lambda d: naive_pairs.WEIGHTS[form](d, sigma))
    block = kmer_block(X, 2, lambda length: distance_weights(form, length, sigma), smooth=smooth)
    K = matrix(block)
    np.testing.assert_allclose(K, expected, rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(np.diagonal(K), block.squares)
    if form == "specific":
        np.testing.assert_array_equal(K, expected)


def test_by_hand():
    # ACA has A at 0 and 2, AAC at 0 and 1: the distances are 0, 1, 2, 1; C is at 1 and at 2: 1.
    # 1 + 3·E(1) + E(2) with E(d) = exp(−d²/4).
    X = encode(["ACA", "AAC"])
    K = matrix(kmer_block(X, 1, lambda length: distance_weights("gaussian", length, 2.0)))
    assert K[0, 1] == pytest.approx(1 + 3 * math.exp(-0.25) + math.exp(-1), rel=1e-15)
    # ACA with itself: A at distance 0 twice and 2 twice, C at 0.
    assert K[0, 0] == pytest.approx(3 + 2 * math.exp(-1), rel=1e-15)


@BOTH_WAYS
def test_any_table_of_weights(smooth):
    table = np.array([1.0, -0.5, 0.0, 0.25, 0.0, 0.0])
    X = encode(STRINGS)
    found = [kmers_at(string, 1) for string in STRINGS]
    expected = naive_matrix(found, found, 1, lambda d: table[d] if d < 6 else 0.0)
    np.testing.assert_array_equal(matrix(kmer_block(X, 1, lambda length: table[:length], smooth=smooth)), expected)
    assert not matrix(kmer_block(X, 1, lambda length: np.zeros(length), smooth=smooth)).any()
    assert not matrix(kmer_block(X, 1, lambda length: np.zeros(0), smooth=smooth)).any()


def test_weights_end_where_they_vanish():
    assert distance_weights("specific", 100).tolist() == [1.0]
    assert distance_weights("specific", 0).tolist() == []
    assert distance_weights("linear", 100, 4).tolist() == [1, 0.75, 0.5, 0.25]
    assert distance_weights("linear", 2, 4).tolist() == [1, 0.75]
    assert distance_weights("linear", 100, 1e-300).tolist() == [1]
    assert distance_weights("gaussian", 3, 1e-320).tolist() == [1]
    assert 40 < len(distance_weights("exponential", 10_000)) < 45
    assert 6 < len(distance_weights("gaussian", 10_000)) < 9
    assert len(distance_weights("gaussian", 10, 1e308)) == 10


@BOTH_WAYS
def test_rows_and_columns_apart_give_the_slice(smooth):
    X = encode(random_strings(40, 0, 60, seed=5))
    weigh = lambda length: distance_weights("exponential", length, 2.7)  # noqa: E731
    K = matrix(kmer_block(X, 3, weigh))
    np.testing.assert_array_equal(K, K.T)
    for rows, cols in ((slice(30, 40), slice(0, 30)), (slice(0, 40), slice(7, 9)), (slice(3, 3), slice(0, 4))):
        columns = kmer_block(X.take(cols), 3, weigh, smooth=smooth)
        np.testing.assert_array_equal(matrix(kmer_block(X.take(rows), 3, weigh, columns), columns), K[rows, cols])


def test_longer_rows_need_further_weights():
    short, long = "ACGA", "T" * 30 + "ACGA"
    weigh = lambda length: distance_weights("linear", length, 40)  # noqa: E731
    for cols, rows in (([short], [long]), ([long], [short])):
        columns = kmer_block(encode(cols), 4, weigh)
        assert matrix(kmer_block(encode(rows), 4, weigh, columns), columns).item() == pytest.approx(1 - 30 / 40)


def test_smoothing_that_does_not_fit_goes_by_lists(monkeypatch):
    X = encode(random_strings(20, 0, 60, seed=6))
    weigh = lambda length: distance_weights("gaussian", length, 7.1)  # noqa: E731
    K = matrix(kmer_block(X, 2, weigh, smooth=True))
    monkeypatch.setattr(module, "MOST_SMOOTHED", 600)
    np.testing.assert_array_equal(matrix(kmer_block(X, 2, weigh, smooth=True)), K)


@given(
    strings=st.lists(st.text("AB*", max_size=15), min_size=1, max_size=4),
    k=st.integers(1, 3),
    form=st.sampled_from(list(naive_pairs.WEIGHTS)),
    sigma=st.floats(0.1, 30),
    smooth=st.booleans(),
)
def test_any_strings_equal_the_naive_twin(strings, k, form, sigma, smooth):
    found = [kmers_at(string, k) for string in strings]
    expected = naive_matrix(found, found, k, lambda d: naive_pairs.WEIGHTS[form](d, sigma))
    block = kmer_block(encode(strings, "AB"), k, lambda n: distance_weights(form, n, sigma), smooth=smooth)
    np.testing.assert_allclose(matrix(block), expected, rtol=1e-13, atol=1e-15)


def test_positions_of_windows():
    X = encode(["AC*GTA", "", "A", "ACG"])
    assert window_positions(X, 2).tolist() == [0, 3, 4, 0, 1]
    assert window_positions(X.take([3, 0]), 1).tolist() == [0, 1, 2, 0, 1, 3, 4, 5]
    assert window_positions(encode([]), 2).tolist() == []


def test_folded_is_the_matrix_times_the_coefficients():
    X, Y = encode(STRINGS), encode(random_strings(9, 0, 70, seed=9))
    coefficients = np.random.default_rng(1).standard_normal(5)
    weigh = lambda length: distance_weights("linear", length, 9.5)  # noqa: E731
    columns = kmer_block(X, 2, weigh)
    rows = kmer_block(Y, 2, weigh, columns)
    cols, payload = (TermBlocks([Term(1.0, [(1, block)])]) for block in (columns, rows))
    values = fold(cols.rows(4, 9), coefficients)
    np.testing.assert_allclose(values(payload), matrix(rows, columns)[:, 4:9] @ coefficients, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(values(payload.rows(3, 6)), values(payload)[3:6])


@BOTH_WAYS
def test_long_repeats_are_exact(smooth):
    n = 100_000
    X = encode(["A" * n, "A" * (n // 2)])
    K = matrix(kmer_block(X, 1, lambda length: distance_weights("specific", length), smooth=smooth))
    assert K.tolist() == [[n, n // 2], [n // 2, n // 2]]
    # Distances 0 and 1 of n and of n/2 places: n/2 pairs at 0, and n/2 − 1 before and n/2 after; half the weight.
    K = matrix(kmer_block(X, 1, lambda length: distance_weights("linear", length, 2), smooth=smooth))
    assert K.tolist() == [[n + (n - 1), n - 0.5], [n - 0.5, n - 1]]


def test_too_many_pairs_are_refused():
    X = encode(["ACGT", "A" * 120_000])
    with pytest.raises(SequenceError, match="too many for exact sums"):
        kmer_block(X, 1, lambda length: np.ones(length))


def test_weights_above_one_are_refused():
    with pytest.raises(ParameterError, match="between -1 and 1"):
        kmer_block(encode(["ACGT"]), 1, lambda length: np.array([1.5]))
    with pytest.raises(ParameterError, match="between -1 and 1"):
        kmer_block(encode(["ACGT"]), 1, lambda length: np.array([np.nan]))


def test_the_bound_on_pairs_holds_for_two_records():
    # What the compiled loop counts for n occurrences of one feature, and a reach of w distances.
    def bound(n, w):
        return sum(min(2 * j - 1, 2 * w - 1) for j in range(1, n + 1))

    for w in range(1, 9):
        for n in range(1, 25):
            for o in range(1, 25):
                most = min(n * o, min(n, o) * (2 * w - 1))
                assert most <= 4 / 3 * math.sqrt(bound(n, w) * bound(o, w)) + 1e-9


def test_naive_twin_is_symmetric():
    x, y = (naive_pairs.pairs_at(s, 1, range(1, 4)) for s in STRINGS[:2])
    weight = lambda d: 1 / (1 + d)  # noqa: E731
    assert naive_pairs.kernel_at_positions(x, y, weight) == naive_pairs.kernel_at_positions(y, x, weight)
    assert naive_pairs.kernel_at_positions(x, y, lambda d: 1) == naive_pairs.kernel_of_counts(x, y)
    assert naive.kmers("AC*GT", 2) == [kmer for kmer, _ in kmers_at("AC*GT", 2)]
