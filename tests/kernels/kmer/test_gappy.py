"""The gappy kernel against its naive twin, every algorithm."""

import naive
import naive_leslie as twin
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import GappyKernel, SpectrumKernel, blocks, planner
from seqkern.kernels.decisions import attributions, kmer_weights
from seqkern.kernels.kernel import algorithms

FORTY = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%"
ALGORITHMS = algorithms(GappyKernel)
STRINGS = [
    *random_strings(10, 6, 40),
    "A" * 30,
    "ACGT" * 6,
    "ACGT" * 6,
    "AC*GT*ACT*ACGTA*****ACGTAC*TTTT",
    "**********",
    "GCA",
    "",
]


def raw(g, k, **options):
    return GappyKernel(g, k, normalize=False, short="zero", **options)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("g", "k"), [(1, 1), (2, 1), (4, 1), (3, 2), (5, 3), (6, 4), (7, 2), (5, 5)])
def test_equals_the_naive_twin(g, k, rc, presence, algorithm):
    kernel = raw(g, k, reverse_complement=rc, presence=presence, algorithm=algorithm)
    expected = twin.gappy(STRINGS, g, k, rc=rc, presence=presence)
    np.testing.assert_array_equal(kernel(encode(STRINGS)), expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("alphabet", "letters", "g", "k"),
    [("protein", "ACDEFGHIKLMNPQRSTVWY", 5, 3), ("rna", "ACGU", 6, 3), ("AB", "AB", 8, 5), (FORTY, FORTY, 4, 2)],
)
def test_other_alphabets_equal_the_naive_twin(alphabet, letters, g, k, algorithm):
    strings = [*random_strings(8, 0, 60, letters), letters[0] * 20]
    np.testing.assert_array_equal(raw(g, k, algorithm=algorithm)(encode(strings, alphabet)), twin.gappy(strings, g, k))


@given(
    strings=st.lists(st.text("ABC*", max_size=20), min_size=1, max_size=5),
    gk=st.integers(1, 6).flatmap(lambda g: st.tuples(st.just(g), st.integers(1, g))),
    presence=st.booleans(),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_any_strings_equal_the_naive_twin(strings, gk, presence, algorithm):
    X = encode(strings, "ABC")
    kernel = GappyKernel(*gk, presence=presence, algorithm=algorithm, short="zero", zero_diagonal="zero")
    expected = twin.gappy(strings, *gk, presence=presence)
    np.testing.assert_array_equal(kernel(X), naive.normalised(expected))
    np.testing.assert_array_equal(kernel.set_params(normalize=False)(X.take([0]), X), expected[:1])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_without_gaps_it_is_the_spectrum_kernel(algorithm):
    X = encode(STRINGS)
    for presence in (False, True):
        spectrum = SpectrumKernel(4, normalize=False, short="zero", presence=presence)
        np.testing.assert_array_equal(raw(4, 4, presence=presence, algorithm=algorithm)(X), spectrum(X))


def test_a_window_counts_once_for_a_feature():
    assert raw(4, 2)(["AAAA"]).item() == 1  # AA in six ways
    assert raw(4, 2)(["ACAC", "CCCA"]).tolist() == [[4, 2], [2, 2]]  # {AC, AA, CA, CC}, {CC, CA}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rc", [False, True])
def test_rows_and_columns_apart_give_the_slice(rc, algorithm):
    X = encode(random_strings(60, 10, 150, seed=5))
    kernel = raw(6, 4, reverse_complement=rc, algorithm=algorithm)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(kernel(X.take(slice(40, 60)), X.take(slice(0, 40))), K[40:, :40])
    whole = kernel.prepare(X)
    for a, b, c, d in ((0, 60, 0, 60), (7, 9, 3, 50), (20, 40, 30, 60), (30, 60, 0, 31), (5, 5, 0, 60)):
        np.testing.assert_array_equal(kernel.block(whole.rows(a, b), whole.rows(c, d)), K[a:b, c:d])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads_and_blocks_give_the_same_bits(algorithm, monkeypatch):
    X = encode(random_strings(90, 30, 200, seed=3))
    kernel = GappyKernel(6, 4, algorithm=algorithm)
    K = kernel(X)
    for n_threads, step in ((1, 7), (2, 90), (3, 16)):
        spans = [(start, min(start + step, 90)) for start in range(0, 90, step)]
        monkeypatch.setattr(blocks, "row_blocks", lambda *_, spans=spans: spans)
        np.testing.assert_array_equal(kernel(X, n_threads=n_threads), K)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_long_repeats_do_not_overflow(algorithm):
    strings = ["A" * 100_000, "A" * 50_002 + "*" + "C" * 50_002]
    K = raw(5, 3, algorithm=algorithm)(encode(strings))
    a, b = 99_996, 49_998
    assert K.tolist() == [[a * a, a * b], [a * b, 2 * b * b]]
    assert K[0, 0] > 2**33


def test_more_features_than_can_be_numbered():
    strings = random_strings(6, 24, 60, seed=4)
    X = encode(strings)
    K = twin.gappy(strings, 20, 18)
    for algorithm in ("neighbours", "trie"):
        np.testing.assert_array_equal(raw(20, 18, algorithm=algorithm)(X), K)
    np.testing.assert_array_equal(raw(20, 18)(X.take([3, 1]), X.take([0, 5, 2])), K[np.ix_([3, 1], [0, 5, 2])])


@pytest.mark.parametrize("options", [{}, {"presence": True}, {"reverse_complement": True}])
def test_features_give_the_kernel(options):
    kernel = raw(5, 3, alphabet="dna", **options)
    features = kernel.features(encode(STRINGS))
    assert features.shape == (len(STRINGS), 64)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(encode(STRINGS)), rtol=1e-12)
    if not options:
        found = twin.features(STRINGS[3], 5, lambda word: twin.gappy_set(word, 3))
        row = features[3].toarray()[0]
        assert {name: value for name, value in zip(kernel.features.names(), row, strict=True) if value} == found


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("rc", [False, True])
def test_contributions_of_letters_equal_the_naive_twin(rc, presence, normalize):
    X, support = encode(STRINGS), encode(random_strings(5, 6, 30, seed=9))
    options = {"normalize": normalize, "presence": presence, "reverse_complement": rc}
    kernel = GappyKernel(5, 3, short="zero", zero_diagonal="zero", **options)
    coefficients = np.array([0.3, -1.2, 0.7, 2.0, -0.4])
    shares = attributions(kernel, X, support, coefficients)
    ends = np.cumsum(X.lengths)
    sums = [part.sum() for part in np.split(shares, ends[:-1])]
    np.testing.assert_allclose(sums, kernel(X, support) @ coefficients, rtol=1e-9, atol=1e-12)
    if not normalize:
        parts = [
            twin.attributions(
                string,
                support.strings(),
                coefficients,
                5,
                lambda word: twin.gappy_set(word, 3),
                twin.gappy_shares,
                presence=presence,
                rc=rc,
            )
            for string in STRINGS
        ]
        np.testing.assert_allclose(shares, np.concatenate(parts), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("g", "k"), [(5, 3), (5, 2), (18, 16)])
def test_a_window_weighs_what_it_adds(g, k, rc, presence):
    X, support = encode(STRINGS), encode(random_strings(5, 6, 30, seed=9))
    kernel = raw(g, k, presence=presence, reverse_complement=rc)
    coefficients = np.array([0.3, -1.2, 0.7, 2.0, -0.4])
    words, weights, _ = kmer_weights(kernel, X, support, coefficients)
    windows = {
        min(word, naive.reverse_complement(word)) if rc else word
        for string in (*STRINGS, *support.strings())
        for word in naive.kmers(string, g)
    }
    assert words == sorted(windows)
    np.testing.assert_allclose(weights, kernel(encode(words), support) @ coefficients, rtol=1e-9, atol=1e-12)
    if presence:
        return
    table = dict(zip(words, weights, strict=True))
    values = []
    for string in STRINGS:
        held = naive.kmers(string, g)
        values.append(sum(table[min(word, naive.reverse_complement(word)) if rc else word] for word in held))
    np.testing.assert_allclose(values, kernel(X, support) @ coefficients, rtol=1e-9, atol=1e-12)


def test_plan_names_the_candidates():
    X = encode(random_strings(300, 90, 110, letters="ACDEFGHIKLMNPQRSTVWY"), "protein")
    plan = GappyKernel(6, 4).plan(X)
    assert plan.algorithm == "neighbours"
    assert all(name in plan.reason for name in ALGORITHMS)
    assert GappyKernel(6, 3).plan(encode(random_strings(200, 90, 110))).algorithm == "dense"
    assert GappyKernel(26, 13).plan(encode(random_strings(5, 500, 600))).algorithm == "trie"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"g": 0}, "g=0"),
        ({"g": 3, "k": 4}, "k=4"),
        ({"k": 0}, "k=0"),
        ({"k": [2, 3]}, r"k=\[2, 3\]"),
        ({"g": 40}, "choose g up to 31"),
        ({"g": 14, "k": 12, "algorithm": "dense"}, "choose algorithm=trie or algorithm=neighbours"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        GappyKernel(**params)(encode(["ACGT" * 20]))


def test_short_sequences_are_named():
    with pytest.raises(SequenceError, match=r"record '2': 5 residues are fewer than g=6"):
        GappyKernel()(encode(["ACGTACGT", "ACGTA"]))


# ---- choices and messages ------------------------------------------------------------------------


def test_without_memory_nothing_is_listed(monkeypatch):
    X = encode(random_strings(30, 40, 60))
    kernel = GappyKernel(5, 3)
    assert kernel.plan(X).algorithm == "dense"
    K = kernel(X)
    monkeypatch.setattr(planner, "NEGLIGIBLE_BYTES", 0)
    monkeypatch.setattr(planner, "available_memory", lambda: 0)
    need = {name: kernel.set_params(algorithm=name).plan(X).bytes for name in ALGORITHMS}
    assert kernel.set_params(algorithm="auto").plan(X).algorithm == min(need, key=need.get)
    np.testing.assert_array_equal(kernel(X), K)


def test_messages_name_the_window():
    with pytest.raises(ParameterError, match="g=40 is too large for an alphabet of 4 letters; choose g up to 31"):
        GappyKernel(40, 4)(["ACGT" * 20])
    with pytest.raises(SequenceError, match=r"3 residues are fewer than g=6; .* choose a smaller g"):
        GappyKernel(6, 4)(["ACG"])
