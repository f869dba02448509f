"""Pairs of windows counted by their Hamming distance, every algorithm and level against the naive twin."""

from functools import cache
from itertools import chain, pairwise
from math import comb

import naive_hamming
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, kmers, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels.kmer import hamming
from seqkern.kernels.kmer.hamming import HammingBlock, hamming_costs
from seqkern.kernels.kmer.kmers import find_kmers
from seqkern.kernels.planner import Workload
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import Span

ALGORITHMS = ("diagonals", "pairs")
LENGTHS = (1, 2, 7, 10, 15, 16, 20, 31)
SIXTY = "".join(chr(c) for c in range(33, 97) if chr(c) not in "*\\`")[:60]
ALPHABETS = {"dna": "ACGT", "rna": "ACGU", "protein": "ACDEFGHIKLMNPQRSTVWY", "AB": "AB", SIXTY: SIXTY}

STRINGS = [
    *random_strings(9, 8, 70),
    "A" * 60,
    "ACGT" * 13,
    "ACGT" * 6 + "*" + "ACGT" * 9,
    "AC*GT*ACT*ACGTA*****ACGTAC*TTTT",
    "**********",
    "GCA",
    "",
]


@pytest.fixture(params=range(_product.level() + 1), ids="level {}".format)
def level(request):
    """Run at one level of vector instructions."""
    highest = _product.level()
    _product.set_level(request.param)
    yield request.param
    _product.set_level(highest)


def matrix(rows, cols=None, dtype=np.int64, spans=None, factor=1, upper=False):
    """Return the sums of all rows and columns, computed in rectangles."""
    cols = rows if cols is None else cols
    dtype = np.float64 if rows.real else dtype
    out = np.zeros((len(rows.squares), len(cols.squares)), dtype=dtype)
    for a, b, c, d in spans or [(0, *out.shape[:1], 0, out.shape[1])]:
        sums = np.zeros((b - a, d - c), dtype=dtype)
        rows.accumulate(cols, Span(a, c, d, factor, upper), sums)
        out[a:b, c:d] = sums
    return out


def some_weights(kind, length, seed=0):
    """Return weights of one kind for windows of `length` letters."""
    rng = np.random.default_rng(seed)
    if kind == "gapped":
        return [comb(length - h, (length + 1) // 2) for h in range(length + 1)]
    if kind == "truncated":
        return [0.7 / (h + 1) ** 2 if h <= 3 else 0.0 for h in range(length + 1)]
    if kind == "signed":
        return [int(w) for w in rng.integers(-9, 10, length + 1)]
    if kind == "real":
        return [float(w) for w in rng.normal(size=length + 1)]
    if kind == "last":
        return [0] * length + [3]
    return [0] * (length + 1)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["gapped", "truncated", "signed", "real", "last", "zero"])
@pytest.mark.parametrize("length", LENGTHS)
def test_equals_the_naive_twin(level, length, kind, algorithm):
    weights = some_weights(kind, length)
    block = HammingBlock(encode(STRINGS), length, weights, algorithm=algorithm)
    expected = np.array(naive_gram(length, kind, False), dtype=float)
    assert block.real == (kind in ("truncated", "real"))
    np.testing.assert_array_equal(matrix(block), expected)
    np.testing.assert_array_equal(block.squares, np.diagonal(expected))


@cache
def naive_distances(length, rc, weighted):
    """Return the naive N_h of all pairs of STRINGS."""
    u = window_weights(length) if weighted else [None] * len(STRINGS)
    return [
        [naive_hamming.distances(x, y, length, rc=rc, u=p, v=q) for y, q in zip(STRINGS, u, strict=True)]
        for x, p in zip(STRINGS, u, strict=True)
    ]


def naive_gram(length, kind, rc, weighted=False):
    """Return the naive sums of STRINGS."""
    weights = some_weights(kind, length)
    return [[naive_hamming.total(found, weights) for found in row] for row in naive_distances(length, rc, weighted)]


def window_weights(length):
    """Return random weights of the windows of STRINGS, a list for each."""
    rng = np.random.default_rng(4)
    return [[int(w) for w in rng.integers(-5, 60, len(kmers(string, length)))] for string in STRINGS]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["gapped", "real"])
@pytest.mark.parametrize("length", [1, 7, 10, 20])
def test_both_strands_equal_the_naive_twin(level, length, kind, algorithm):
    block = HammingBlock(encode(STRINGS), length, some_weights(kind, length), strands="both", algorithm=algorithm)
    expected = np.array(naive_gram(length, kind, True), dtype=float)
    np.testing.assert_array_equal(matrix(block), expected)
    np.testing.assert_array_equal(block.squares, np.diagonal(expected))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("length", [3, 17])
def test_every_alphabet_equals_the_naive_twin(level, length, alphabet, algorithm):
    strings = random_strings(6, 10, 50, ALPHABETS[alphabet], masked=0.01)
    weights = some_weights("signed", length)
    block = HammingBlock(encode(strings, alphabet), length, weights, algorithm=algorithm)
    assert matrix(block).tolist() == naive_hamming.gram(strings, strings, length, weights)


@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize("kind", ["gapped", "truncated", "signed"])
@pytest.mark.parametrize("length", [2, 7, 16])
def test_weights_of_windows_equal_the_naive_twin(level, length, kind, rc):
    rng = np.random.default_rng(4)
    u = [[int(w) for w in rng.integers(-5, 60, len(kmers(string, length)))] for string in STRINGS]
    weights = some_weights(kind, length)
    options = {"strands": "both" if rc else "one", "algorithm": "pairs", "window_weights": [*chain(*u)]}
    assert len(options["window_weights"]) == find_kmers(encode(STRINGS), length).codes.shape[1]
    block = HammingBlock(encode(STRINGS), length, weights, **options)
    expected = np.array(naive_hamming.gram(STRINGS, STRINGS, length, weights, rc=rc, u=u, v=u), dtype=float)
    np.testing.assert_array_equal(matrix(block), expected)
    np.testing.assert_array_equal(block.squares, np.diagonal(expected))


def test_large_weights_of_windows_are_exact(level):
    strings = ["ACGT" * 20, "GATTACA" * 9]
    for u in ([2**14, -(2**15)], [2**15, 2**15], [2**20, 2**22]):
        own = [[weight] * len(kmers(string, 5)) for string, weight in zip(strings, u, strict=True)]
        weights = some_weights("gapped", 5)
        block = HammingBlock(encode(strings), 5, weights, algorithm="pairs", window_weights=[*chain(*own)])
        assert matrix(block).tolist() == naive_hamming.gram(strings, strings, 5, weights, u=own, v=own)


def test_counts_beyond_64_bits_are_refused():
    with pytest.raises(SequenceError, match="too long for exact counts"):
        HammingBlock(encode(["AA"]), 2, [0.5, 0, 0], algorithm="pairs", window_weights=[2**32])


@pytest.mark.parametrize("kind", ["gapped", "truncated", "all"])
@pytest.mark.parametrize("strands", ["one", "both"])
def test_long_records_with_themselves_along_the_diagonals(level, strands, kind, monkeypatch):
    X = encode([*random_strings(3, 900, 1100), "A" * 700, "", "ACGTACGTACGT", *random_strings(2, 500, 600, seed=2)])
    weights = [1.5 - h / 8 for h in range(11)] if kind == "all" else some_weights(kind, 10)
    expected = HammingBlock(X, 10, weights, strands=strands).squares
    monkeypatch.setattr(hamming, "LONG_RECORD", 520)
    np.testing.assert_array_equal(HammingBlock(X, 10, weights, strands=strands).squares, expected)


@pytest.mark.parametrize("weight", [2**20 - 1, 2**20])
def test_a_long_run_of_heavy_windows_is_exact(level, weight):
    windows = 2500
    options = {"algorithm": "pairs", "window_weights": [weight] * windows}
    block = HammingBlock(encode(["A" * (windows + 1)]), 2, [1, 0, 0], **options)
    assert block.squares.tolist() == [(weight * windows) ** 2]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("strands", ["one", "both"])
@pytest.mark.parametrize("kind", ["gapped", "truncated"])
def test_odd_blocks_give_the_same_bits(level, kind, strands, algorithm):
    strings = random_strings(150, 20, 60, seed=2, masked=0.01)
    block = HammingBlock(encode(strings), 10, some_weights(kind, 10), strands=strands, algorithm=algorithm)
    whole = matrix(block)
    np.testing.assert_array_equal(whole, whole.T)
    cuts = [0, 1, 8, 75, 150]
    spans = [(a, b, c, d) for a, b in pairwise(cuts) for c, d in pairwise(cuts)]
    np.testing.assert_array_equal(matrix(block, spans=spans), whole)
    upper = matrix(block, spans=[(0, 70, 0, 150), (70, 150, 70, 150)], upper=True)
    np.testing.assert_array_equal(np.triu(upper), np.triu(whole))
    if kind == "gapped":
        np.testing.assert_array_equal(matrix(block, dtype=np.int32, factor=-3), -3 * whole)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["gapped", "real"])
def test_rows_and_columns_apart_give_the_rectangle(level, kind, algorithm):
    strings = random_strings(90, 5, 90, seed=7)
    X, weights = encode(strings), some_weights(kind, 7)
    whole = matrix(HammingBlock(X, 7, weights, algorithm=algorithm))
    cols = HammingBlock(X.take(slice(60, None, -1)), 7, weights, algorithm=algorithm)
    rows = HammingBlock(X.take(slice(30, 90)).part(0, None), 7, weights, like=cols)
    assert rows.algorithm == algorithm
    np.testing.assert_array_equal(matrix(rows, cols), whole[30:90, 60::-1])


@pytest.mark.parametrize("length", LENGTHS)
def test_levels_and_algorithms_give_the_same_bits(length):
    rng = np.random.default_rng(length)
    letters = ["".join(rng.choice([*"ACGT"], n)) for n in rng.integers(30, 400, 12)]
    strings = [*letters, letters[0] + letters[1], letters[2][::-1], "A" * 300, "AC" * 200]
    X, weights = encode(strings), some_weights("real", length)
    highest = _product.level()
    found = []
    try:
        for level in range(highest + 1):
            _product.set_level(level)
            for algorithm in ALGORITHMS:
                block = HammingBlock(X, length, weights, strands="both", algorithm=algorithm)
                found.append((matrix(block), block.squares))
    finally:
        _product.set_level(highest)
    for sums, squares in found:
        np.testing.assert_array_equal(sums, found[0][0])
        np.testing.assert_array_equal(squares, found[0][1])
        np.testing.assert_array_equal(squares, np.diagonal(sums))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("length", [1, 10, 20])
def test_long_repeats_do_not_overflow(level, length, algorithm):
    """Counts that pass 16 and 32 bits, in few lanes and in many."""
    strings = ["A" * 3000, "A" * 1501 + "*" + "C" * 1501, "AC" * 1500]
    weights = [10**6] + [1] * length
    block = HammingBlock(encode(strings), length, weights, algorithm=algorithm)
    a, b = 3001 - length, 1502 - length
    K = matrix(block).tolist()
    assert K[0][0] == a * a * 10**6 > 2**40
    assert K[0][1] == K[1][0] == a * b * 10**6 + a * b
    assert K[1][1] == 2 * b * b * 10**6 + 2 * b * b
    even = a // 2 * (a // 2) + (a - a // 2) ** 2
    assert K[2][2] == even * 10**6 + (a * a - even)
    assert block.squares.tolist() == np.diagonal(K).tolist()


def test_a_very_long_repeat_takes_seconds():
    block = HammingBlock(encode(["A" * 100_000]), 10, [10**6, *[1] * 10])
    n = 99_991
    assert matrix(block).tolist() == [[n * n * 10**6]]
    assert block.squares.tolist() == [n * n * 10**6]


@given(
    strings=st.lists(st.text("ACGT*", max_size=40), min_size=1, max_size=5),
    length=st.integers(1, 31),
    kind=st.sampled_from(["gapped", "signed", "real"]),
    rc=st.booleans(),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_any_strings_equal_the_naive_twin(strings, length, kind, rc, algorithm):
    weights = some_weights(kind, length)
    strands = "both" if rc else "one"
    block = HammingBlock(encode(strings), length, weights, strands=strands, algorithm=algorithm)
    expected = naive_hamming.gram(strings, strings, length, weights, rc=rc)
    assert matrix(block).tolist() == expected
    assert block.squares.tolist() == [row[i] for i, row in enumerate(expected)]


@pytest.mark.parametrize("strands", ["one", "both"])
@pytest.mark.parametrize("kind", ["gapped", "signed"])
def test_largest_bounds_every_sum(kind, strands):
    block = HammingBlock(encode(STRINGS), 6, some_weights(kind, 6), strands=strands)
    assert np.abs(matrix(block)).max() <= block.largest


@pytest.mark.parametrize("kind", ["gapped", "signed"])
def test_largest_bounds_every_sum_of_windows_with_weights(kind):
    X = encode(STRINGS)
    u = np.random.default_rng(1).integers(-50, 50, find_kmers(X, 6).codes.shape[1])
    block = HammingBlock(X, 6, some_weights(kind, 6), algorithm="pairs", window_weights=u)
    assert np.abs(matrix(block)).max() <= block.largest


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, [1]), {}, "choose 1 to 31"),
        ((32, [1] * 33), {}, "choose 1 to 31"),
        ((3, [1, 2]), {}, "give 4"),
        ((2, [2**62, 0, 0]), {}, "beyond 62 bits"),
        ((3, [1] * 4), {"window_weights": [1, 1]}, "algorithm=pairs"),
        ((3, [1] * 4), {"window_weights": [1], "algorithm": "pairs"}, "1 weights for 2 windows"),
    ],
)
def test_what_is_not_possible_is_refused(arguments, options, message):
    with pytest.raises(ParameterError, match=message):
        HammingBlock(encode(["ACGT"]), *arguments, **options)


def test_costs_name_what_is_possible():
    work = Workload.of(encode(random_strings(50, 90, 110)))
    weights = some_weights("gapped", 10)
    assert list(hamming_costs(work, 4, 10, weights, False)) == ["diagonals", "pairs"]
    assert list(hamming_costs(work, 4, 10, weights, False, weighted=True)) == ["pairs"]
    one, both = (hamming_costs(work, 4, 10, weights, strands)["diagonals"] for strands in (False, True))
    assert 0 < one.seconds < both.seconds
