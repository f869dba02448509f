"""The generic string kernel against its naive twin, and its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings
from naive_generic_string import generic_string

from seqkern.core.errors import FileError, NoKmersError, ParameterError, SequenceError
from seqkern.kernels import GenericStringKernel, SpectrumKernel, build_kernel, kernel_from_state
from seqkern.kernels.decisions import attributions, kmer_weights
from seqkern.kernels.kernel import check_files
from seqkern.kernels.products import _product
from seqkern.kernels.subsequence.subsequence import matrix_names
from seqkern.kernels.vectors.property import amino_acid_scales
from seqkern.sequences.alphabets import DNA, PROTEIN, as_alphabet

CLOSE = {"rtol": 1e-12, "atol": 0}
# Sequences of more than two vectors of diagonals, and words of every way through the code.
STRINGS = [*random_strings(6, 0, 13, "ACDEFGHIKLMNPQRSTVWY"), "A" * 20, "WY*WYWYW*", "***", "", "C"]
RULES = [
    (1, 2.0, 0.4),
    (2, 1.0, 0.3),
    (3, None, 0.5),
    (4, 5.0, 1.0),
    (5, 0, 0.4),
    (6, 3.0, 0),
    (8, 2.0, 0.7),
    (40, 4.0, 0.9),
]
PROTEIN_VECTORS = {
    letter: row for letter, row in zip(PROTEIN.letters, GenericStringKernel().vectors(PROTEIN), strict=True)
}


@pytest.fixture(params=range(_product.level() + 1))
def level(request):
    """Run with each level of instructions."""
    highest = _product.level()
    _product.set_level(request.param)
    yield request.param
    _product.set_level(highest)


def generic(*rule, **options):
    return GenericStringKernel(*rule, normalize=False, **options)


def test_by_hand():
    # AB and BA, two letters at the squared distance 2: exp(−2/2σ_c²) = ½ with σ_c² = 1/ln 2, and so is exp(−1/2σ_p²)
    # with σ_p² = 1/(2 ln 2).
    kernel = generic(2, np.sqrt(0.5 / np.log(2)), np.sqrt(1 / np.log(2)), alphabet="AB")
    # Letters: two equal at distance 1, two unequal at the same place. Words: AB and BA, unequal in both letters.
    expected = [[2 + 2 * 0.25 + 1, 2 * 0.5 + 2 * 0.5 + 0.25], [2 * 0.5 + 2 * 0.5 + 0.25, 2 + 2 * 0.25 + 1]]
    np.testing.assert_allclose(kernel(["AB", "BA"]), expected, rtol=1e-15)


@pytest.mark.parametrize("rule", RULES)
def test_equals_the_naive_twin(rule, level):
    X = encode(STRINGS, PROTEIN)
    kernel = generic(*rule)
    expected = generic_string(STRINGS, *rule, PROTEIN_VECTORS)
    np.testing.assert_allclose(kernel(X), expected, **CLOSE)
    np.testing.assert_allclose(kernel(X.take(slice(2, 9)), X.take(slice(0, 4))), expected[2:9, :4], **CLOSE)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(expected), **CLOSE)


def test_long_sequences_equal_the_naive_twin():
    # More than 64 letters are too many for a panel: lanes are diagonals.
    strings = [*random_strings(1, 20, 21, PROTEIN.letters), "WY" * 9 + "*" + "W" * 48, "ACD"]
    X, highest = encode(strings, PROTEIN), _product.level()
    for rule in [(2, 1.0, 0.3), (6, 3.0, 0.7), (9, None, 0.5)]:
        expected = generic_string(strings[:1], *rule, PROTEIN_VECTORS, others=strings)
        try:
            for level in range(highest + 1):
                _product.set_level(level)
                np.testing.assert_allclose(generic(*rule)(X.take([0]), X), expected, **CLOSE)
                np.testing.assert_allclose(generic(*rule)(X)[:, :1], expected.T, **CLOSE)
        finally:
            _product.set_level(highest)


@pytest.mark.parametrize("alphabet", ["dna", "rna", "HEC"])
def test_other_alphabets_are_one_hot(alphabet):
    letters = as_alphabet(alphabet).letters
    strings = random_strings(5, 3, 14, letters)
    vectors = dict(zip(letters, np.eye(len(letters)), strict=True))
    for rule in ((3, 2.0, 0.8), (7, None, 0.8)):
        expected = generic_string(strings, *rule, vectors)
        np.testing.assert_allclose(generic(*rule)(encode(strings, as_alphabet(alphabet))), expected, **CLOSE)


@given(
    strings=st.lists(st.text("ARND*", max_size=30), min_size=2, max_size=4),
    length=st.integers(1, 12),
    sigma_p=st.sampled_from([0, 0.5, 3.0, None]),
    sigma_c=st.sampled_from([0, 0.2, 1.0]),
)
def test_any_strings_equal_the_naive_twin(strings, length, sigma_p, sigma_c):
    rule = length, sigma_p, sigma_c
    expected = generic_string(strings, *rule, PROTEIN_VECTORS)
    np.testing.assert_allclose(generic(*rule)(encode(strings, PROTEIN)), expected, rtol=1e-12, atol=1e-300)


def test_every_level_and_order_has_the_same_bits():
    rng = np.random.default_rng(3)
    strings = ["".join(rng.choice(list(PROTEIN.letters), size)) for size in (0, 1, 5, 33, 40, 70, 150)]
    X, highest = encode(strings, PROTEIN), _product.level()
    back = X.take(slice(None, None, -1))
    for rule in [(1, 3.0, 0.4), (3, 20.0, 0.4), (6, 1.0, 0.9), (7, None, 0.5), (200, None, 0.5)]:
        matrices = []
        try:
            for level in range(highest + 1):
                _product.set_level(level)
                matrices.append(generic(*rule)(X))
                np.testing.assert_array_equal(generic(*rule)(back)[::-1, ::-1], matrices[-1])
                np.testing.assert_array_equal(generic(*rule)(X.take([4]), X.take([6])), matrices[-1][4:5, 6:])
                # Short ones among themselves are columns of a panel.
                np.testing.assert_array_equal(generic(*rule)(X, X.take([1, 4, 2, 0])), matrices[-1][:, [1, 4, 2, 0]])
        finally:
            _product.set_level(highest)
        for other in matrices[1:]:
            np.testing.assert_array_equal(other, matrices[0])


def test_many_rows_are_computed_group_by_group():
    # More rows than a group has, and profiles that do not fit one.
    strings = ["AC" * 3] * 40 + ["ACDEF" * 300, "CDEFA" * 300, "AC" * 3]
    X = encode(strings, PROTEIN)
    K = generic(4, 2.0, 0.5)(X)
    small = generic(4, 2.0, 0.5)(X.take([0, 40, 41]))
    np.testing.assert_array_equal(K[np.ix_([0, 40, 41, 42], [0, 40, 41])], small[[0, 1, 2, 0]])


# ---- limits --------------------------------------------------------------------------------------


def test_without_tolerance_only_equal_positions_count():
    x, y = "ACDEFGHIKL", "ACDWFGWWKL"
    matches = np.array([a == b for a, b in zip(x, y, strict=True)])
    runs = sum(np.convolve(matches, np.ones(l), "valid").tolist().count(l) for l in (1, 2, 3))  # noqa: E741
    assert generic(3, 0, 0, alphabet="protein")([x, y])[0, 1] == runs
    near = generic(3, 0.01, 0, alphabet="protein")([x, y])
    np.testing.assert_array_equal(near, generic(3, 0, 0, alphabet="protein")([x, y]))


def test_exact_words_anywhere_are_those_of_the_spectrum():
    X = encode([text for text in STRINGS if len(text) > 2], PROTEIN)
    spectrum = sum(SpectrumKernel(k, normalize=False, short="zero")(X) for k in (1, 2, 3))
    np.testing.assert_array_equal(generic(3, None, 0)(X), spectrum)
    np.testing.assert_allclose(generic(3, 1e9, 1e-3)(X), spectrum, rtol=1e-12)


def test_without_letters_pairs_of_words_are_counted():
    # σ_c so large that any letter is as good as any other: Σ_l (n − l + 1)·(m − l + 1).
    K = generic(3, None, 1e9, alphabet="protein")(["ACDEF", "WY"])
    np.testing.assert_allclose(K[0, 1], 5 * 2 + 4 * 1, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(K), [25 + 16 + 9, 4 + 1], rtol=1e-12)


def test_words_of_one_letter_compare_letters():
    X = encode(["ACD", "CCAD"], PROTEIN)
    weights = generic(1, None, 0.4).letter_weights(PROTEIN)[:-1, :-1]
    codes = [X.codes[a:b] for a, b in zip(X.starts, X.stops, strict=True)]
    np.testing.assert_allclose(generic(1, None, 0.4)(X)[0, 1], weights[np.ix_(*codes)].sum(), rtol=1e-14)


# ---- descriptors ---------------------------------------------------------------------------------


def test_rows_of_a_matrix_have_the_length_one():
    vectors = GenericStringKernel(descriptors="BLOSUM62").vectors(PROTEIN)
    np.testing.assert_allclose((vectors**2).sum(axis=1), 1, rtol=1e-14)
    assert vectors[0, 0] > 0
    assert GenericStringKernel(descriptors="one_hot").vectors(PROTEIN).tolist() == np.eye(20).tolist()


def test_properties_are_standardised_scales():
    vectors = GenericStringKernel(descriptors="properties").vectors(PROTEIN)
    assert vectors.shape == (20, 6)
    np.testing.assert_allclose(vectors.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose((vectors**2).sum(axis=1).mean(), 1, rtol=1e-14)


def test_scales_of_ones_own(tmp_path):
    file = tmp_path / "sizes.tsv"
    file.write_text("letter\tsize\nA\t0\nB\t1\n")
    kernel = build_kernel({"kernel": "generic_string", "descriptors": str(file), "length": 1, "sigma_p": None})
    # Standardised: −1 and 1. X has no values, and is like nothing.
    X = encode(["AX", "B"], as_alphabet("ABX"))
    K = kernel.set_params(normalize=False)(X)
    np.testing.assert_allclose(K, [[1, np.exp(-4 / 0.5)], [np.exp(-4 / 0.5), 1]], rtol=1e-14)
    state, file = kernel.state(), file.unlink()
    np.testing.assert_array_equal(kernel_from_state(*state)(X), K)
    with pytest.raises(FileError, match="substitution matrix"):
        check_files(build_kernel(kernel.spec()))


def test_bad_parameters():
    for bad in ({"length": 0}, {"sigma_p": -1}, {"sigma_c": -0.1}, {"sigma_c": None}, {"descriptors": 3}):
        name = next(iter(bad))
        with pytest.raises(ParameterError, match=name):
            GenericStringKernel(**bad)(["ACGT"])
    with pytest.raises(ParameterError, match="protein matrix"):
        GenericStringKernel(descriptors="BLOSUM62")(encode(["ACGT"], DNA))
    with pytest.raises(ParameterError, match="amino acids"):
        GenericStringKernel(descriptors="properties")(encode(["ACGT"], DNA))
    assert "BLOSUM50" in matrix_names()
    assert amino_acid_scales().letters == PROTEIN.letters


def test_a_sequence_without_letters():
    X = encode(["ACD", "***"], PROTEIN)
    with pytest.raises(SequenceError, match="zero_diagonal"):
        GenericStringKernel()(X)
    assert GenericStringKernel(zero_diagonal="zero")(X).tolist() == [[1, 0], [0, 0]]


# ---- explanations --------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_attributions_sum_to_the_kernel(rule):
    X = encode([text for text in STRINGS if text.strip("*")], PROTEIN)
    coefficients = np.random.default_rng(1).standard_normal(len(X))
    for normalize in (False, True):
        kernel = GenericStringKernel(*rule, normalize=normalize)
        shares = np.add.reduceat(attributions(kernel, X, X, coefficients), X.starts)
        expected = kernel(X) @ coefficients
        np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_attributions_are_of_the_letters_of_words():
    # In AC and AC: A and C for themselves, half of AC each; masked letters have nothing.
    X = encode(["AC*", "AC"], PROTEIN)
    shares = attributions(generic(2, 0, 0), X.take([0]), X.take([1]), np.ones(1))
    assert shares.tolist() == [1.5, 1.5, 0]
    with pytest.raises(NoKmersError):
        kmer_weights(generic(2, 0, 0), X, X, np.ones(2))


def test_plan_counts_the_diagonals_within_reach():
    X = encode(["ACDEFGHIKL" * 20] * 30, PROTEIN)
    far, near = GenericStringKernel(3, None).plan(X), GenericStringKernel(3, 0.1).plan(X)
    assert 0 < near.seconds < 0.5 * far.seconds
    assert far.bytes > 0
