"""The mismatch kernel against its naive twins: explicit neighbourhoods, and Hamming distances of pairs."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import MismatchKernel, SpectrumKernel, blocks
from seqkern.kernels.kernel import algorithms
from seqkern.kernels.kmer.hamming_kernel import subset_weights
from seqkern.kernels.kmer.mismatch import shared_neighbours
from seqkern.kernels.products import _product

FORTY = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%"
# `transform` is for DNA and whole weights: see test_hadamard.py
ALGORITHMS = [
    name for name in algorithms(MismatchKernel) if name != "transform"
]  # `transform` is for DNA and whole weights: see test_hadamard.py
BY_PAIRS = ("diagonals", "pairs")  # these look at each pair of windows


STRINGS = [
    *random_strings(12, 8, 40),
    "A" * 30,
    "ACGT" * 6,
    "ACGT" * 6,
    "AC*GT*ACT*ACGTA*****ACGTAC*TTTT",
    "**********",
    "GCA",
    "",
]


def raw(k, m, **options):
    return MismatchKernel(k, m, normalize=False, short="zero", **options)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("k", "m"), [(1, 0), (2, 1), (3, 1), (4, 1), (4, 2), (4, 3), (5, 1), (5, 2)])
def test_equals_the_naive_twin(k, m, rc, algorithm):
    kernel = raw(k, m, reverse_complement=rc, algorithm=algorithm)
    np.testing.assert_array_equal(kernel(encode(STRINGS)), naive.mismatch(STRINGS, k, m, "ACGT", rc=rc))


@pytest.mark.parametrize("algorithm", ["dense", "neighbours", "trie"])
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("k", "m"), [(3, 1), (4, 2)])
def test_presence_equals_the_naive_twin(k, m, rc, algorithm):
    kernel = raw(k, m, presence=True, reverse_complement=rc, algorithm=algorithm)
    expected = naive.mismatch(STRINGS, k, m, "ACGT", rc=rc, presence=True)
    np.testing.assert_array_equal(kernel(encode(STRINGS)), expected)


@pytest.mark.parametrize("rc", [False, True])
def test_equals_the_sum_over_pairs_of_kmers(rc):
    x, y = STRINGS[0], STRINGS[15]
    expected = naive.mismatch_by_pairs(x, y, 4, 1, "ACGT", rc=rc)
    assert expected == naive.mismatch_by_pairs(y, x, 4, 1, "ACGT", rc=rc)
    for algorithm in ALGORITHMS:
        kernel = raw(4, 1, reverse_complement=rc, algorithm=algorithm)
        assert kernel(encode([x]), encode([y])).item() == expected


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("letters", "k", "m"), [("AB", 6, 2), ("AB", 5, 4), (FORTY, 2, 1), ("HEC", 4, 1)])
def test_other_alphabets_equal_the_naive_twin(letters, k, m, algorithm):
    strings = random_strings(6, 3, 40, letters)
    X = encode(strings, letters)
    np.testing.assert_array_equal(raw(k, m, algorithm=algorithm)(X), naive.mismatch(strings, k, m, letters))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_mismatch_is_the_spectrum_kernel(algorithm):
    X = encode(STRINGS)
    kernel = raw(5, 0, algorithm=algorithm)
    np.testing.assert_array_equal(kernel(X), SpectrumKernel(5, normalize=False, short="zero")(X))


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "auto"])
def test_weighted_range_is_the_sum_in_order(algorithm):
    ks, weights = [3, 5], [0.3, 1 / 7]
    expected = naive.weighted([naive.mismatch(STRINGS, k, 1, "ACGT") for k in ks], weights)
    kernel = raw(ks, 1, weights=weights, algorithm=algorithm)
    np.testing.assert_array_equal(kernel(encode(STRINGS)), expected)
    unweighted = sum(naive.mismatch(STRINGS, k, 1, "ACGT") for k in ks)
    np.testing.assert_array_equal(raw(ks, 1, algorithm=algorithm)(encode(STRINGS)), unweighted)


@pytest.mark.parametrize("letters", ["ACGT", "ABC"])
@pytest.mark.parametrize("length", [255, 256, 65_537])
def test_counts_as_large_as_the_numbers_of_kmers(letters, length):
    """The counts of 16 records are added in 8, 16 or 32 bits: as many as the longest record needs."""
    strings = [letters[0] * (length + 1), *random_strings(17, 2, 30, letters)]
    X, kernel = encode(strings, letters), raw(2, 1)
    first, others = kernel.set_params(algorithm="dense")(X), kernel.set_params(algorithm="subsets")(X)
    np.testing.assert_array_equal(first, others)
    assert first[0, 0] == (2 * len(letters) - 1) * length**2


@given(
    strings=st.lists(st.text("ABC*", max_size=20), min_size=1, max_size=5),
    km=st.integers(1, 5).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k - 1))),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_any_strings_equal_the_naive_twin(strings, km, algorithm):
    X = encode(strings, "ABC")
    kernel = MismatchKernel(*km, algorithm=algorithm, short="zero", zero_diagonal="zero")
    expected = naive.mismatch(strings, *km, "ABC")
    np.testing.assert_array_equal(kernel(X), naive.normalised(expected))
    np.testing.assert_array_equal(kernel.set_params(normalize=False)(X.take([0]), X), expected[:1])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rc", [False, True])
def test_rows_and_columns_apart_give_the_slice(rc, algorithm):
    X = encode(random_strings(60, 10, 150, seed=5))
    kernel = raw(5, 1, reverse_complement=rc, algorithm=algorithm)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(kernel(X.take(slice(40, 60)), X.take(slice(0, 40))), K[40:, :40])
    whole = kernel.prepare(X)
    for a, b, c, d in ((0, 60, 0, 60), (7, 9, 3, 50), (20, 40, 30, 60), (30, 60, 0, 31)):
        np.testing.assert_array_equal(kernel.block(whole.rows(a, b), whole.rows(c, d)), K[a:b, c:d])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_levels_threads_and_blocks_give_the_same_bits(algorithm, monkeypatch):
    X = encode(random_strings(50, 30, 100 if algorithm in BY_PAIRS else 400, seed=3))
    kernel = MismatchKernel([4, 5], 1, weights=[0.3, 0.7], algorithm=algorithm)
    K = kernel(X)
    highest = _product.level()
    try:
        for level in range(highest + 1):
            _product.set_level(level)
            for n_threads, step in ((1, 7), (2, 50), (3, 16)):
                spans = [(start, min(start + step, 50)) for start in range(0, 50, step)]
                monkeypatch.setattr(blocks, "row_blocks", lambda *_, spans=spans: spans)
                np.testing.assert_array_equal(kernel(X, n_threads=n_threads), K)
            monkeypatch.undo()
    finally:
        _product.set_level(highest)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_long_repeats_do_not_overflow(algorithm):
    n = 5_000 if algorithm in BY_PAIRS else 100_000
    strings = ["A" * n, "A" * (n // 2 + 1) + "*" + "C" * (n // 2 + 1)]
    assert [shared_neighbours(4, 5, 2, h) for h in (0, 5)] == [106, 0]
    K = raw(5, 2, algorithm=algorithm)(encode(strings))
    a, b = n - 4, n // 2 - 3
    assert K.tolist() == [[106 * a * a, 106 * a * b], [106 * a * b, 212 * b * b]]
    assert K[0, 0] > 2**31


def test_shared_neighbours_equal_the_naive_twin():
    for letters in ("AB", "ABC", "ABCDE"):
        for k in range(1, 5):
            for m in range(k):
                for h in range(k + 1):
                    expected = naive.shared_neighbours(letters, k, m, h)
                    assert shared_neighbours(len(letters), k, m, h) == expected


def test_weights_of_subsets_need_large_subsets_only():
    def weights(size, k, m):
        return subset_weights([shared_neighbours(size, k, m, h) for h in range(k + 1)])

    assert weights(20, 3, 1) == {1: 2, 2: 16, 3: 4}
    assert min(weights(4, 8, 2)) == 4
    assert min(weights(20, 12, 3)) == 6


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rc", [False, True])
def test_large_k_and_many_mismatches(rc, algorithm):
    strings = random_strings(5, 14, 40, seed=8)
    if algorithm == "dense":
        kernel, expected = (
            raw(9, 2, reverse_complement=rc),
            raw(9, 2, reverse_complement=rc, algorithm="subsets"),
        )
        kernel.algorithm = algorithm
        np.testing.assert_array_equal(kernel(encode(strings)), expected(encode(strings)))
        return
    kernel = raw(12, 2, reverse_complement=rc, algorithm=algorithm)
    X = encode(strings)
    shared = [shared_neighbours(4, 12, 2, h) for h in range(13)]
    found = [naive.kmers(string, 12) for string in strings]
    expected = [
        [
            sum(
                shared[naive.hamming(a, b)] + (shared[naive.hamming(a, naive.reverse_complement(b))] if rc else 0)
                for a in x
                for b in y
            )
            for y in found
        ]
        for x in found
    ]
    assert kernel(X).tolist() == expected


@pytest.mark.parametrize("options", [{}, {"presence": True}, {"reverse_complement": True}, {"weights": [0.3, 2]}])
def test_features_give_the_kernel(options):
    kernel = raw([2, 4], 1, alphabet="dna", **options)
    features = kernel.features(encode(STRINGS))
    assert features.shape == (len(STRINGS), 16 + 256)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(encode(STRINGS)), rtol=1e-12)
    if not options:
        found = naive.mismatch_features(STRINGS[3], 2, 1, "ACGT")
        row = features[3].toarray()[0, :16]
        assert {name: value for name, value in zip(kernel.features.names(), row, strict=False) if value} == found


def test_plan_names_the_candidates():
    X = encode(random_strings(100, 90, 110, letters="ACDEFGHIKLMNPQRSTVWY") * 20, "protein")
    plan = MismatchKernel(5, 1).plan(X)
    assert plan.algorithm == "subsets"
    assert all(name in plan.reason for name in ALGORITHMS)
    reason = MismatchKernel(3, 1, presence=True).plan(X).reason
    assert [name for name in ALGORITHMS if name in reason] == ["dense", "neighbours", "trie"]
    assert MismatchKernel(8, 4, presence=True).plan(X.take([0, 1, 2])).algorithm == "trie"
    assert MismatchKernel(9, 4).plan(X).algorithm == "diagonals"
    assert MismatchKernel(6, 1).plan(encode(random_strings(200, 90, 110))).algorithm == "dense"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"m": -1}, "m=-1"),
        ({"k": 3, "m": 3}, "m=3"),
        ({"k": [2, 5], "m": 2}, "m=2"),
        ({"presence": True, "algorithm": "subsets"}, "choose algorithm=dense"),
        ({"presence": True, "algorithm": "diagonals"}, "diagonals does not support presence; choose algorithm=dense"),
        ({"k": 40}, "choose k up to 31"),
        ({"k": 12, "algorithm": "dense"}, "choose algorithm=subsets or algorithm=neighbours"),
        ({"k": 30, "m": 6, "algorithm": "subsets"}, "choose algorithm=diagonals or algorithm=pairs"),
        ({"k": 30, "m": 9, "presence": True}, "choose a smaller k or m"),
        ({"k": 5000, "m": 2}, "choose k up to 31"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        MismatchKernel(**params)(encode(["ACGT" * 20]))


def test_kmers_without_a_code_are_compared_along_diagonals():
    strings = random_strings(5, 25, 60, "ACDEFGHIKLMNPQRSTVWY")
    strings.append(strings[0][:30] + strings[1])
    X = encode(strings, "protein")
    kernel = raw(20, 3)
    assert kernel.plan(X).algorithm in ("diagonals", "pairs")
    shared = [shared_neighbours(20, 20, 3, h) for h in range(21)]
    found = [naive.kmers(string, 20) for string in strings]
    expected = [[sum(shared[naive.hamming(a, b)] for a in x for b in y) for y in found] for x in found]
    assert kernel(X).tolist() == expected
    with pytest.raises(ParameterError, match="choose algorithm=diagonals"):
        raw(20, 3, algorithm="neighbours")(X)


def test_short_sequences_are_named():
    with pytest.raises(SequenceError, match=r"record '2': 3 residues are fewer than k=5"):
        MismatchKernel()(encode(["ACGTACGT", "ACG"]))


def test_numbers_beyond_62_bits_are_refused():
    with pytest.raises(ParameterError, match=r"k=31, m=30 share too many neighbours.* choose a smaller k or m"):
        MismatchKernel(31, 30)(["ACGT" * 20])
