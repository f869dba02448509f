"""The oligo kernel against its naive twin, and its limits."""

import math

import naive
import naive_oligo
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import OligoKernel, SpectrumKernel
from seqkern.kernels.decisions import attributions, fold, kmer_weights
from seqkern.kernels.products import _product

ALGORITHMS = ("dense", "index")
CLOSE = {"rtol": 1e-13, "atol": 1e-15}
STRINGS = [
    *random_strings(10, 1, 40),
    "A" * 30,
    "ACGT" * 6,
    "AC*GT*ACT*ACGTA*****ACGTAC*TTTT",
    "**********",
    "GCA",
    "A",
    "",
]
each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


def raw(k, sigma, **options):
    return OligoKernel(k, sigma, normalize=False, short="zero", **options)


def test_by_hand():
    # AAC: AA at 0, AC at 1. ACA: AC at 0, CA at 1. CAC: CA at 0, AC at 1.
    K = raw(2, 1)(encode(["AAC", "ACA", "CAC"]))
    e = math.exp(-1 / 4)
    np.testing.assert_allclose(K, [[2, e, 1], [e, 2, 2 * e], [1, 2 * e, 2]], rtol=1e-15)


@each_algorithm
@pytest.mark.parametrize(("k", "sigma"), [(1, 0.3), (1, 50), (2, 2), (3, 1.5), (4, 7), (29, 3)])
def test_equals_the_naive_twin(k, sigma, algorithm):
    kernel = raw(k, sigma, algorithm=algorithm)
    np.testing.assert_allclose(kernel(encode(STRINGS)), naive_oligo.oligo(STRINGS, k, sigma), **CLOSE)


@each_algorithm
@pytest.mark.parametrize("letters", ["AB", "HEC", "protein", "rna"])
def test_other_alphabets_and_several_k_equal_the_naive_twin(letters, algorithm):
    pool = {"protein": "ACDEFGHIKLMNPQRSTVWY", "rna": "ACGU"}.get(letters, letters)
    strings = [*random_strings(6, 0, 60, pool), pool[-1] * 20]
    kernel = raw([1, 3], 2.5, weights=[0.5, 2], algorithm=algorithm)
    expected = 0.5 * naive_oligo.oligo(strings, 1, 2.5) + 2 * naive_oligo.oligo(strings, 3, 2.5)
    np.testing.assert_allclose(kernel(encode(strings, letters)), expected, **CLOSE)


@given(
    strings=st.lists(st.text("ABC*", max_size=15), min_size=1, max_size=5),
    k=st.integers(1, 3),
    sigma=st.floats(0.1, 100),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_any_strings_equal_the_naive_twin(strings, k, sigma, algorithm):
    X = encode(strings, "ABC")
    kernel = OligoKernel(k, sigma, short="zero", zero_diagonal="zero", algorithm=algorithm)
    expected = naive_oligo.oligo(strings, k, sigma)
    np.testing.assert_allclose(kernel(X), naive.normalised(expected), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.set_params(normalize=False)(X.take([0]), X), expected[:1], **CLOSE)


@each_algorithm
def test_large_sigma_is_the_spectrum_kernel(algorithm):
    X = encode(STRINGS)
    expected = SpectrumKernel([1, 3], normalize=False, short="zero")(X)
    np.testing.assert_array_equal(raw([1, 3], 1e12, algorithm=algorithm)(X), expected)


@each_algorithm
def test_small_sigma_compares_equal_positions(algorithm):
    k, records = 2, [dict(enumerate(s[p : p + 2] for p in range(len(s) - 1))) for s in STRINGS]
    expected = [[sum(u == y.get(p) and "*" not in u for p, u in x.items()) for y in records] for x in records]
    np.testing.assert_array_equal(raw(k, 1e-6, algorithm=algorithm)(encode(STRINGS)), expected)


@each_algorithm
def test_rows_and_columns_apart_give_the_slice(algorithm):
    X = encode(random_strings(40, 0, 60, seed=5))
    kernel = raw(2, 4.5, algorithm=algorithm)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    # The longest records are in one part only.
    order = np.argsort(X.lengths, kind="stable")
    for rows, cols in ((order[:20], order[20:]), (order[20:], order[:20])):
        np.testing.assert_array_equal(kernel(X.take(rows), X.take(cols)), K[np.ix_(rows, cols)])


def test_every_level_and_algorithm_has_the_same_bits():
    X = encode(random_strings(30, 20, 60, seed=3))
    highest = _product.level()
    matrices = []
    try:
        for level in range(highest + 1):
            _product.set_level(level)
            matrices += [raw([1, 3], 3.7, algorithm=algorithm)(X) for algorithm in ALGORITHMS]
    finally:
        _product.set_level(highest)
    for other in matrices[1:]:
        np.testing.assert_array_equal(other, matrices[0])


@pytest.mark.parametrize("options", [{"k": 2, "sigma": 3}, {"k": [1, 3], "sigma": 0.7, "weights": [0.4, 3]}])
@pytest.mark.parametrize("normalize", [False, True])
def test_letters_and_folds_give_the_decision(options, normalize):
    X, support = encode(random_strings(9, 5, 40)), encode(random_strings(6, 5, 50, seed=8))
    coefficients = np.random.default_rng(2).standard_normal(6)
    kernel = OligoKernel(**options, normalize=normalize)
    decision = kernel(X, support) @ coefficients
    letters = attributions(kernel, X, support, coefficients)
    record = np.repeat(np.arange(len(X)), X.lengths)
    sums = np.bincount(record, weights=letters, minlength=len(X))
    np.testing.assert_allclose(sums, decision, rtol=1e-9, atol=1e-12)
    columns = kernel.prepare(support)
    values = fold(kernel, columns, coefficients)(kernel.prepare(X, like=columns))
    np.testing.assert_allclose(values, decision, rtol=1e-9, atol=1e-12)


def test_letters_share_their_words():
    # AC at 0 and at 0; the last letter is in no common word.
    shares = attributions(raw(2, 5), encode(["ACT"]), encode(["ACG"]), np.array([3.0]))
    assert shares.tolist() == [1.5, 1.5, 0]


def test_words_have_their_mean():
    # ACA: A at 0 and at 2, C at 1. In the support AC counts 2: A at 0, C at 1.
    found = kmer_weights(raw(1, 1), encode(["ACA"]), encode(["AC"]), np.array([2.0]))
    weights = dict(zip(found.names, found.weights, strict=True))
    assert weights == pytest.approx({"A": (2 + 2 + 2 * math.exp(-1)) / 3, "C": 2})
    assert OligoKernel.traits.kmers_vary


def test_plan_names_the_candidates():
    X = encode(random_strings(400, 90, 110))
    assert OligoKernel(2, 20).plan(X).algorithm == "dense"
    assert OligoKernel(8, 1).plan(X).algorithm == "index"
    assert all(name in OligoKernel(2, 20).plan(X).reason for name in ALGORITHMS)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"sigma": 0}, "sigma=0"),
        ({"sigma": math.inf}, "sigma=inf"),
        ({"sigma": "wide"}, "sigma='wide'"),
        ({"k": 0}, "k=0"),
        ({"k": 32}, "choose k up to 31"),
        ({"k": [2, 2]}, "distinct"),
        ({"weights": [1, 2]}, "weights has 2 numbers, k has 1"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        OligoKernel(**params)(encode(["ACGT" * 20]))


def test_it_has_no_explicit_features():
    with pytest.raises(ParameterError, match="no explicit features"):
        OligoKernel().features(encode(["ACGT"]))
    with pytest.raises(ParameterError, match="no explicit features"):
        OligoKernel(alphabet="dna").features.names()


def test_short_sequences_are_named():
    with pytest.raises(SequenceError, match=r"record '2': 1 residue is fewer than k=3"):
        OligoKernel(3, 5)(encode(["ACGTACGT", "A"]))
