"""The oligomer distance kernel against its naive twin."""

import naive
import naive_pairs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import GappyPairKernel, OligoDistanceKernel, SpectrumKernel
from seqkern.kernels.decisions import attributions, fold, kmer_weights

ALGORITHMS = ("dense", "index")
STRINGS = [
    *random_strings(8, 1, 40),
    "A" * 30,
    "ACGT" * 6,
    "AC*GT*ACT*ACGTA*****ACGTAC*TTTT",
    "**********",
    "GCA",
    "A",
    "",
]
each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


def raw(k, largest, **options):
    return OligoDistanceKernel(k, largest, normalize=False, short="zero", **options)


def test_by_hand():
    # ABA, k=1, D=2: A(0)A twice, B(0)B, A(1)B, B(1)A, A(2)A. BAA: A(0)A twice, B(0)B, B(1)A, A(1)A, B(2)A.
    # With itself 4 + 5·… = 4 + 1 + 1 + 1 + 1 = 8, each; shared: 2·2 + 1 + B(1)A 1 = 6.
    X = encode(["ABA", "BAA"], "AB")
    assert raw(1, 2)(X).tolist() == [[8, 6], [6, 8]]
    assert raw(1, 2, presence=True)(X).tolist() == [[5, 3], [3, 5]]
    # Overlapping 2-mers of ABA at distances 0 and 1: AB(0)AB, BA(0)BA, AB(1)BA.
    found = raw(2, 1, alphabet="AB")
    row = found.features(X).toarray()[0]
    named = {name: value for name, value in zip(found.features.names(), row, strict=True) if value}
    assert named == {"AB(0)AB": 1, "BA(0)BA": 1, "AB(1)BA": 1}


@each_algorithm
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize(("k", "largest"), [(1, 0), (1, 5), (1, 100), (2, 3), (3, 1)])
def test_equals_the_naive_twin(k, largest, presence, rc, algorithm):
    kernel = raw(k, largest, presence=presence, reverse_complement=rc, algorithm=algorithm)
    expected = naive_pairs.oligo_distance(STRINGS, k, largest, presence=presence, rc=rc)
    np.testing.assert_array_equal(kernel(encode(STRINGS)), expected)


@each_algorithm
@pytest.mark.parametrize("letters", ["AB", "HEC", "protein", "rna"])
def test_other_alphabets_equal_the_naive_twin(letters, algorithm):
    pool = {"protein": "ACDEFGHIKLMNPQRSTVWY", "rna": "ACGU"}.get(letters, letters)
    strings = [*random_strings(6, 0, 60, pool), pool[-1] * 20]
    kernel = raw([1, 2], 7, algorithm=algorithm)
    expected = sum(naive_pairs.oligo_distance(strings, k, 7) for k in (1, 2))
    np.testing.assert_array_equal(kernel(encode(strings, letters)), expected)


@given(
    strings=st.lists(st.text("ABC*", max_size=15), min_size=1, max_size=5),
    k=st.integers(1, 3),
    largest=st.integers(0, 20),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_any_strings_equal_the_naive_twin(strings, k, largest, algorithm):
    X = encode(strings, "ABC")
    kernel = OligoDistanceKernel(k, largest, short="zero", zero_diagonal="zero", algorithm=algorithm)
    expected = naive_pairs.oligo_distance(strings, k, largest)
    np.testing.assert_array_equal(kernel(X), naive.normalised(expected))
    np.testing.assert_array_equal(kernel.set_params(normalize=False)(X.take([0]), X), expected[:1])


def test_distance_zero_is_the_spectrum_kernel():
    X = encode(STRINGS)
    np.testing.assert_array_equal(raw(3, 0)(X), SpectrumKernel(3, normalize=False, short="zero")(X))


def test_monomers_are_the_gappy_pairs_and_the_letters():
    X = encode(STRINGS)
    letters = SpectrumKernel(1, normalize=False, short="zero")(X)
    np.testing.assert_array_equal(raw(1, 6)(X), letters + GappyPairKernel(1, 5, normalize=False, short="zero")(X))


@each_algorithm
def test_rows_and_columns_apart_give_the_slice(algorithm):
    X = encode(random_strings(40, 0, 60, seed=5))
    kernel = raw(2, 10, algorithm=algorithm)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    # The longest records are in one part only.
    order = np.argsort(X.lengths, kind="stable")
    for rows, cols in ((order[:20], order[20:]), (order[20:], order[:20])):
        np.testing.assert_array_equal(kernel(X.take(rows), X.take(cols)), K[np.ix_(rows, cols)])


def test_distances_beyond_the_longest_record_cost_nothing():
    X = encode(STRINGS)
    np.testing.assert_array_equal(raw(1, 10**9)(X), raw(1, 60)(X))


@each_algorithm
def test_long_repeats_do_not_overflow(algorithm):
    n = 100_000
    K = raw(2, 2, algorithm=algorithm)(encode(["A" * n]))
    assert K.item() == sum((n - 1 - d) ** 2 for d in range(3))
    assert K.item() > 2**34


def test_too_many_pairs_are_refused_before_the_work():
    with pytest.raises(ParameterError, match=r"more than 2147483647 pairs .* choose fewer distances"):
        raw(2, 10**6, algorithm="index")(encode(["A" * 100_000]))


@pytest.mark.parametrize("options", [{}, {"presence": True}, {"reverse_complement": True}])
def test_features_letters_and_words_give_the_kernel(options):
    X, support = encode(STRINGS), encode(random_strings(6, 1, 30, seed=8))
    coefficients = np.random.default_rng(2).standard_normal(6)
    kernel = raw([1, 2], 4, alphabet="dna", **options)
    decision = kernel(X, support) @ coefficients
    features = kernel.features(X)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(X), rtol=1e-12)
    letters = attributions(kernel, X, support, coefficients)
    record = np.repeat(np.arange(len(X)), X.lengths)
    sums = np.bincount(record, weights=letters, minlength=len(X))
    np.testing.assert_allclose(sums, decision, rtol=1e-9, atol=1e-12)
    words, weights, _ = kmer_weights(kernel, X, support, coefficients)
    known = dict(zip(words, weights, strict=True))
    vector = np.array([known.get(name, 0.0) for name in kernel.features.names()])
    np.testing.assert_allclose(features @ vector, decision, rtol=1e-9, atol=1e-12)
    columns = kernel.prepare(support)
    values = fold(kernel, columns, coefficients)(kernel.prepare(X, like=columns))
    np.testing.assert_allclose(values, decision, rtol=1e-9, atol=1e-12)


def test_plan_names_the_candidates():
    X = encode(random_strings(50, 90, 110, letters="ACDEFGHIKLMNPQRSTVWY"), "protein")
    assert OligoDistanceKernel(1, 30).plan(X).algorithm == "dense"
    assert OligoDistanceKernel(3, 30).plan(X).algorithm == "index"
    assert all(name in OligoDistanceKernel(1, 30).plan(X).reason for name in ALGORITHMS)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_distance": -1}, "max_distance=-1"),
        ({"max_distance": 2.5}, "max_distance=2.5"),
        ({"k": 16}, "choose k up to"),
        ({"max_distance": 2**62}, "choose fewer distances"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        OligoDistanceKernel(**params)(encode(["ACGT" * 20]))


def test_short_sequences_are_named():
    with pytest.raises(SequenceError, match=r"record '2': 1 residue is too few: a pair of k-mers needs 2"):
        OligoDistanceKernel(2, 5)(encode(["ACGTACGT", "A"]))
