"""The locality- and codon-improved kernels against their naive twin."""

import itertools
from functools import cache

import naive
import naive_locality
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import NoKmersError, ParameterError, SequenceError
from seqkern.kernels import CodonImprovedKernel, LocalityImprovedKernel
from seqkern.kernels.decisions import attributions, kmer_weights
from seqkern.kernels.products import _product

CLOSE = {"rtol": 1e-13, "atol": 0}
LENGTH = 23
STRINGS = [*random_strings(10, LENGTH, LENGTH + 1), "A" * LENGTH, ("ACG" * LENGTH)[:LENGTH], "*" * LENGTH]
RULES = [(0, 1, 1), (0, 3, 2), (1, 2, 1), (3, 4, 1), (4, 3, 2), (5, 9, 1), (11, 2, 3)]


@pytest.fixture(params=range(_product.level() + 1))
def level(request):
    """Run with each level of instructions."""
    highest = _product.level()
    _product.set_level(request.param)
    yield request.param
    _product.set_level(highest)


def locality(*rule, **options):
    return LocalityImprovedKernel(*rule, normalize=False, **options)


def codon(*rule, **options):
    return CodonImprovedKernel(*rule, normalize=False, **options)


def test_by_hand():
    # ACGT and ACTT match at 0, 1 and 3. l = 1: windows at 1 and 2, with the weights 1/2, 1, 1/2: 1.5 and 1.
    X = encode(["ACGT", "ACTT"])
    assert locality(1, 2, 1)(X)[0].tolist() == [2 * 2**2, 1.5**2 + 1]
    assert locality(1, 1, 3)(X)[0, 1] == 2.5**3
    assert locality(1, 1, 1, weights=[3, 0, 1])(X)[0, 1] == 3 + (3 + 1)
    assert locality(0, 1, 1)(X)[0].tolist() == [4, 3]


def test_codon_by_hand():
    # x = AAAC, y = CAAA: matches at 1 and 2; x_0 = y_3 counts half at 0, and so does not x_3 = y_0: C is not A, but
    # x_3 = C = y_0 does. With itself x matches everywhere, and nothing a codon away.
    X = encode(["AAAC", "CAAA"])
    assert codon(0, 1, 1)(X).tolist() == [[4, 2 + 0.5 + 0.5], [3, 4]]
    assert codon(0, 2, 1, 0.25)(X)[0, 1] == 2 + 0.5**2
    # A letter a codon away beyond the end matches nothing: AAAA has x_0 = x_3 twice, at 0 only.
    assert codon(0, 1, 1)(encode(["AAAA"])).item() == 4 + 0.5 + 0.5


@pytest.mark.parametrize("rule", RULES)
def test_equals_the_naive_twin(rule, level):
    np.testing.assert_allclose(locality(*rule)(encode(STRINGS)), naive_locality.locality(STRINGS, *rule), **CLOSE)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("delta", [0.5, 0.25, 0.3, 2.0, 0.0])
def test_codon_equals_the_naive_twin(rule, delta):
    strings = STRINGS[7:]
    K = codon(*rule, delta)(encode(strings))
    np.testing.assert_allclose(K, naive_locality.locality(strings, *rule, delta=delta), **CLOSE)


PANELS = random_strings(67, 12, 13, seed=9)


@cache
def of_panels():
    return naive_locality.locality(PANELS, 1, 3, 1, delta=0.5)


def test_several_panels_equal_the_naive_twin(level):
    np.testing.assert_allclose(codon(1, 3, 1)(encode(PANELS)), of_panels(), **CLOSE)


@pytest.mark.parametrize("delta", [0, 0.5, 0.7])
def test_weights_of_ones_own_equal_the_naive_twin(delta, level):
    weights = [0.1, 2, 0, 1.3, 0.4]
    K = codon(2, 3, 2, delta, weights=weights)(encode(STRINGS))
    np.testing.assert_allclose(K, naive_locality.locality(STRINGS, 2, 3, 2, weights, delta), **CLOSE)


def test_every_level_has_the_same_bits():
    X = encode(random_strings(70, 40, 41, seed=3))
    highest = _product.level()
    kernels = [
        locality(3, 4, 1),
        locality(6, 11, 1),
        codon(2, 3, 2, 0.3),
        codon(3, 5, 1),
        locality(1, 7, 1, weights=[0.1, 0.7, 0.3]),
    ]
    try:
        for kernel in kernels:
            matrices = []
            for level in range(highest + 1):
                _product.set_level(level)
                matrices.append(kernel(X))
                np.testing.assert_array_equal(kernel.diagonal(X), np.diagonal(matrices[-1]))
            for other in matrices[1:]:
                np.testing.assert_array_equal(other, matrices[0])
    finally:
        _product.set_level(highest)


@pytest.mark.parametrize("letters", ["AB", "HEC", "protein", "rna"])
def test_other_alphabets_equal_the_naive_twin(letters):
    pool = {"protein": "ACDEFGHIKLMNPQRSTVWY", "rna": "ACGU"}.get(letters, letters)
    strings = [*random_strings(6, 17, 18, pool), pool[-1] * 17]
    X = encode(strings, letters)
    np.testing.assert_allclose(locality(2, 3, 2)(X), naive_locality.locality(strings, 2, 3, 2), **CLOSE)
    np.testing.assert_allclose(codon(2, 3, 2)(X), naive_locality.locality(strings, 2, 3, 2, delta=0.5), **CLOSE)


@given(
    data=st.data(),
    length=st.integers(1, 14),
    d1=st.integers(1, 6),
    d2=st.integers(1, 3),
    delta=st.sampled_from([0.0, 0.5, 0.31]),
)
def test_any_strings_equal_the_naive_twin(data, length, d1, d2, delta):
    reach = data.draw(st.integers(0, (length - 1) // 2))
    text = st.text("ABC*", min_size=length, max_size=length)
    strings = data.draw(st.lists(text, min_size=1, max_size=5))
    X = encode(strings, "ABC")
    kernel = CodonImprovedKernel(reach, d1, d2, delta, zero_diagonal="zero")
    expected = naive_locality.locality(strings, reach, d1, d2, delta=delta)
    np.testing.assert_allclose(kernel(X), naive.normalised(expected), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.set_params(normalize=False)(X.take([0]), X), expected[:1], **CLOSE)


def test_wide_windows_are_summed_one_by_one_or_as_integers():
    # 256² just does not fit 16 bits, 255² does.
    strings = random_strings(3, 520, 521, seed=4)
    X = encode(strings)
    for reach in (254, 255):
        expected = naive_locality.locality(strings, reach, 2, 1)
        np.testing.assert_allclose(locality(reach, 2, 1)(X), expected, **CLOSE)


def test_sums_near_32_bits_are_exact():
    # Every window of a sequence with itself matches all over. 250 · 256³ fits 32 bits, the others do not.
    for reach, length in ((15, 280), (15, 400), (35, 1300), (35, 3000)):
        X = encode(["ACGT" * (length // 4)])
        windows = length - 2 * reach
        assert locality(reach, 3, 1)(X).item() == windows * (reach + 1) ** 3


def test_the_codon_variant_without_delta_is_the_locality_improved_kernel():
    X = encode(STRINGS)
    np.testing.assert_array_equal(codon(3, 4, 2, 0)(X), locality(3, 4, 2)(X))


def test_one_letter_windows_count_matches():
    X = encode(STRINGS)
    matches = [[sum(a == b != "*" for a, b in zip(x, y, strict=True)) for y in STRINGS] for x in STRINGS]
    np.testing.assert_array_equal(locality(0, 1, 1)(X), matches)


def test_the_codon_variant_is_indefinite_and_says_so():
    assert LocalityImprovedKernel().traits.positive_semidefinite
    assert CodonImprovedKernel(delta=0).traits.positive_semidefinite
    X = encode(["".join(letters) for letters in itertools.product("AC", repeat=8)])
    for kernel in (codon(0, 1, 1, 0.75), codon(1, 1, 1), codon(1, 4, 1), codon(2, 4, 2)):
        assert not kernel.traits.positive_semidefinite
        values = np.linalg.eigvalsh(kernel(X))
        assert values[0] < -1e-3 * values[-1]
        assert np.linalg.eigvalsh(locality(kernel.l, kernel.d1, kernel.d2)(X))[0] > -1e-12 * values[-1]


def test_rows_and_columns_apart_give_the_slice():
    X = encode(random_strings(75, 30, 31, seed=5))
    for kernel in (locality(3, 3, 1), codon(2, 4, 1, 0.3)):
        K = kernel(X)
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_array_equal(kernel(X.take(slice(40, 75)), X.take(slice(0, 40))), K[40:, :40])
        prepared = kernel.prepare(X)
        np.testing.assert_array_equal(kernel.block(prepared.rows(7, 50), prepared.rows(30, 71)), K[7:50, 30:71])
        np.testing.assert_array_equal(prepared.rows(7, 50).payload.diagonal(), np.diagonal(K)[7:50])


# ---- letters -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [(0, 1, 1), (2, 3, 2), (3, 1, 3), (4, 4, 1)])
@pytest.mark.parametrize("options", [{}, {"delta": 0.5}, {"delta": 0.3}])
@pytest.mark.parametrize("normalize", [False, True])
def test_letters_give_the_decision(rule, options, normalize):
    X, support = encode(STRINGS[:9]), encode(random_strings(6, LENGTH, LENGTH + 1, seed=8))
    coefficients = np.random.default_rng(2).standard_normal(6)
    kernel = (CodonImprovedKernel if options else LocalityImprovedKernel)(*rule, **options, normalize=normalize)
    letters = attributions(kernel, X, support, coefficients)
    sums = letters.reshape(len(X), LENGTH).sum(axis=1)
    np.testing.assert_allclose(sums, kernel(X, support) @ coefficients, rtol=1e-9, atol=1e-12)


def test_letters_share_windows_by_their_weights():
    # As above: windows 1.5 and 1. The first is of letter 0, by 1/2, and of letter 1, by 1; the second of letters 1 and
    # 3, by 1/2 each. The square is shared in proportion.
    X, support = encode(["ACGT"]), encode(["ACTT"])
    letters = attributions(locality(1, 2, 1), X, support, np.ones(1))
    np.testing.assert_allclose(letters, [2.25 / 3, 2.25 * 2 / 3 + 0.5, 0, 0.5], rtol=1e-14)
    letters = attributions(locality(1, 1, 2), X, support, np.ones(1))
    np.testing.assert_allclose(letters, 2.5 * np.array([0.5, 1.5, 0, 0.5]), rtol=1e-14)


def test_letters_a_codon_away_have_their_share():
    X, support = encode(["AAAC"]), encode(["CAAT"])
    # Matches at 1 and 2; x_3 = y_0.
    assert attributions(codon(0, 1, 1), X, support, np.ones(1)).tolist() == [0, 1, 1, 0.5]


def test_letters_have_nothing_where_nothing_matches():
    letters = attributions(locality(1, 1, 1), encode(["AAAA", "****"]), encode(["CCCC", "****"]), np.ones(2))
    assert not letters.any()


# ---- plan and bad input --------------------------------------------------------------------------


def test_plan_grows_with_the_work():
    few, many = encode(random_strings(20, 50, 51)), encode(random_strings(200, 50, 51))
    assert 50 < locality(3, 3, 1).plan(many).seconds / locality(3, 3, 1).plan(few).seconds < 200
    assert codon(3, 3, 1, 0.3).plan(many).seconds > codon(3, 3, 1, 0.5).plan(many).seconds


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"l": -1}, "l=-1"),
        ({"l": 1.5}, "l=1.5"),
        ({"d1": 0}, "d1=0"),
        ({"d2": 0.5}, "d2=0.5"),
        ({"d1": 101}, "from 1 to 100"),
        ({"weights": [1, 2]}, "a list of 9 numbers"),
        ({"weights": 3.0}, "a list of 9 numbers"),
        ({"weights": [-1.0] * 9}, "≥ 0"),
        ({"weights": [0.0] * 9}, "all weights are 0"),
        ({"d1": 80, "d2": 9}, "too large or too small"),
        ({"weights": [1e-200] * 9}, "too large or too small"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        LocalityImprovedKernel(**params)(encode(["ACGT" * 20]))


@pytest.mark.parametrize("delta", [-0.5, "half", float("nan"), 1e300])
def test_wrong_deltas_are_named(delta):
    with pytest.raises(ParameterError):
        CodonImprovedKernel(delta=delta)(encode(["ACGT" * 20]))


def test_unusable_sequences_are_named():
    with pytest.raises(SequenceError, match=r"record '1': 8 residues are fewer than the 9 of a window"):
        locality(4)(encode(["ACGTACGT"]))
    with pytest.raises(SequenceError, match=r"record '3': has 9 residues, the first sequence has 10"):
        locality(4)(encode(["A" * 10, "C" * 10, "A" * 9, "A" * 8]))
    with pytest.raises(SequenceError, match=r"record '1': has 12 residues, the columns have 10"):
        locality(4)(encode(["A" * 12]), encode(["A" * 10]))
    with pytest.raises(NoKmersError, match="choose a kernel based on k-mers"):
        kmer_weights(locality(1), encode(["ACGT"]), encode(["ACGT"]), np.ones(1))


def test_no_sequences_make_empty_matrices():
    X = encode(["ACGTACGTACGT"])
    for kernel in (LocalityImprovedKernel(), CodonImprovedKernel()):
        assert kernel(X.take([]), X).shape == (0, 1)
        assert kernel(X, X.take([])).shape == (1, 0)
        assert kernel(X.take([])).shape == (0, 0)
