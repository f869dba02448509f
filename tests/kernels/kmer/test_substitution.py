"""The substitution kernel against its naive twin, and the probabilities that scores imply."""

import naive
import naive_leslie as twin
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import encode, random_strings

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import MismatchKernel, SpectrumKernel, SubstitutionKernel, build_kernel
from seqkern.kernels.decisions import attributions, kmer_weights
from seqkern.kernels.kernel import algorithms
from seqkern.kernels.kmer.inexact import COST_UNITS
from seqkern.kernels.substitution_scores import implied_background, matrix_probabilities
from seqkern.sequences.alphabets import DNA, PROTEIN, RNA, as_alphabet

ALGORITHMS = algorithms(SubstitutionKernel)
AMINO = PROTEIN.letters
TRANSITIONS = [[5, -4, -1, -4], [-4, 5, -4, -1], [-1, -4, 5, -4], [-4, -1, -4, 5]]
STRINGS = [
    *random_strings(10, 6, 40),
    "A" * 30,
    "ACGT" * 6,
    "AC*GT*ACT*ACGTA*****ACGTAC*TTTT",
    "**********",
    "GC",
    "",
]


def raw(k, sigma, **options):
    return SubstitutionKernel(k, sigma, normalize=False, short="zero", **options)


def expected(kernel, strings, alphabet="dna", **options):
    alphabet = as_alphabet(alphabet)
    return twin.substitution(
        strings, kernel.k, kernel.sigma, alphabet.letters, kernel.probabilities(alphabet), **options
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(
    ("k", "sigma", "options"),
    [
        (1, 1.5, {"kept": 0.5}),
        (3, 4, {}),
        (4, 6, {"kept": 0.7}),
        (4, 6, {"kept": 0.2}),
        (4, 5, {"matrix": TRANSITIONS}),
        (5, 7, {"matrix": "NUC.4.4"}),
        (3, 0.01, {}),
        (3, 100, {}),
    ],
)
def test_equals_the_naive_twin(k, sigma, options, rc, presence, algorithm):
    kernel = raw(k, sigma, reverse_complement=rc, presence=presence, algorithm=algorithm, **options)
    np.testing.assert_array_equal(kernel(encode(STRINGS)), expected(kernel, STRINGS, rc=rc, presence=presence))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize(
    ("alphabet", "k", "sigma", "options"),
    [
        ("protein", 2, 4.2, {}),
        ("protein", 3, 5.3, {"matrix": "PAM70"}),
        ("protein", 2, 5, {"matrix": "uniform", "kept": 0.8}),
        ("rna", 4, 6, {"matrix": "NUC.4.4"}),
        ("HEC", 4, 4, {"kept": 0.6}),
        ("AB", 7, 6, {"kept": 0.6}),
    ],
)
def test_other_alphabets_equal_the_naive_twin(alphabet, k, sigma, options, presence, algorithm):
    letters = as_alphabet(alphabet).letters
    strings = [*random_strings(8, 0, 50, letters), letters[-1] * 20]
    kernel = raw(k, sigma, presence=presence, algorithm=algorithm, **options)
    K = expected(kernel, strings, alphabet, presence=presence)
    np.testing.assert_array_equal(kernel(encode(strings, alphabet)), K)
    np.testing.assert_array_equal(kernel(encode(strings[:3], alphabet), encode(strings[3:], alphabet)), K[:3, 3:])


@given(
    strings=st.lists(st.text("ABC*", max_size=20), min_size=1, max_size=5),
    k=st.integers(1, 4),
    sigma=st.floats(0.01, 12),
    kept=st.floats(0.1, 0.9),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_any_strings_equal_the_naive_twin(strings, k, sigma, kept, algorithm):
    kernel = SubstitutionKernel(k, sigma, kept=kept, algorithm=algorithm, short="zero", zero_diagonal="zero")
    costs = np.sort(-np.log(kernel.probabilities(as_alphabet("ABC"))[0, :2]))
    sums = np.array([t * costs[1] + (k - t) * costs[0] for t in range(k + 1)])
    if np.abs(sums - sigma).min() < 1e-6:
        return  # a tie, where the twin's floating sums decide by chance
    K = expected(kernel, strings, "ABC")
    np.testing.assert_array_equal(kernel(encode(strings, "ABC")), naive.normalised(K))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize(("k", "m"), [(3, 0), (3, 1), (5, 1), (5, 2), (4, 3)])
def test_one_probability_for_all_changes_is_the_mismatch_kernel(k, m, rc, algorithm):
    keep, change = -np.log(0.9), -np.log(0.1 / 3)
    sigma = (k - m) * keep + m * change + (change - keep) / 2
    X = encode(STRINGS)
    mismatch = MismatchKernel(k, m, normalize=False, short="zero", reverse_complement=rc)
    np.testing.assert_array_equal(raw(k, sigma, reverse_complement=rc, algorithm=algorithm)(X), mismatch(X))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_change_allowed_is_the_spectrum_kernel(algorithm):
    X = encode(random_strings(10, 4, 60, AMINO), "protein")
    kernel = raw(3, 0.5, matrix="uniform", algorithm=algorithm)
    np.testing.assert_array_equal(kernel(X), SpectrumKernel(3, normalize=False, short="zero")(X))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_sum_that_equals_sigma_is_not_below_it(algorithm):
    keep, change = np.rint(-np.log([0.9, 0.1 / 3]) * COST_UNITS)
    sigma = (3 * keep + change) / COST_UNITS
    X = encode(STRINGS)
    for m, limit in ((0, sigma), (1, sigma + 1 / COST_UNITS)):
        mismatch = MismatchKernel(4, m, normalize=False, short="zero")
        np.testing.assert_array_equal(raw(4, limit, algorithm=algorithm)(X), mismatch(X))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_and_columns_apart_give_the_slice(algorithm):
    X = encode(random_strings(60, 10, 60, AMINO, seed=5), "protein")
    kernel = raw(4, 6, algorithm=algorithm)
    K = kernel(X)
    np.testing.assert_array_equal(kernel(X.take(slice(40, 60)), X.take(slice(0, 40))), K[40:, :40])
    whole = kernel.prepare(X)
    for a, b, c, d in ((0, 60, 0, 60), (7, 9, 3, 50), (20, 40, 30, 60), (30, 60, 0, 31)):
        np.testing.assert_array_equal(kernel.block(whole.rows(a, b), whole.rows(c, d)), K[a:b, c:d])


def test_no_more_than_e_to_the_sigma_kmers_count_for_a_feature():
    kernel = SubstitutionKernel(3, 5, normalize=False)
    kmers = ["".join(kmer) for kmer in np.array(np.meshgrid(*[list(AMINO)] * 3)).reshape(3, -1).T]
    counts = kernel.features(encode(kmers, "protein")).sum(axis=0)
    assert 20 < counts.max() < np.exp(5)


@pytest.mark.parametrize("options", [{}, {"presence": True}, {"reverse_complement": True}])
def test_features_give_the_kernel(options):
    kernel = raw(3, 5, matrix=TRANSITIONS, alphabet="dna", **options)
    features = kernel.features(encode(STRINGS))
    assert features.shape == (len(STRINGS), 64)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(encode(STRINGS)), rtol=1e-12)
    assert kernel.features.names()[1] == "AAC"


@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("rc", [False, True])
@pytest.mark.parametrize("sigma", [5, 12])
def test_contributions_of_letters_equal_the_naive_twin(sigma, rc, presence):
    kernel = raw(3, sigma, matrix=TRANSITIONS, presence=presence, reverse_complement=rc)
    X, support = encode(STRINGS), encode(random_strings(5, 6, 30, seed=9))
    coefficients = np.array([0.3, -1.2, 0.7, 2.0, -0.4])
    shares = attributions(kernel, X, support, coefficients)
    probabilities = tuple(map(tuple, kernel.probabilities(DNA).tolist()))
    parts = [
        twin.attributions(
            string,
            support.strings(),
            coefficients,
            3,
            lambda word: twin.substitution_set(word, sigma, "ACGT", probabilities),
            twin.substitution_shares,
            presence=presence,
            rc=rc,
        )
        for string in STRINGS
    ]
    np.testing.assert_allclose(shares, np.concatenate(parts), rtol=1e-9, atol=1e-12)
    sums = [part.sum() for part in parts]
    np.testing.assert_allclose(sums, kernel(X, support) @ coefficients, rtol=1e-9, atol=1e-12)


def test_a_word_weighs_what_all_its_features_add():
    strings = random_strings(6, 10, 60, AMINO, seed=2)
    X, support = encode(strings[:3], "protein"), encode(strings[3:], "protein")
    kernel = raw(4, 6)
    coefficients = np.array([0.5, -2.0, 1.0])
    words, weights, _ = kmer_weights(kernel, X, support, coefficients)
    assert words == sorted({word for string in strings for word in naive.kmers(string, 4)})
    learned = kernel.features(support).T @ coefficients
    np.testing.assert_allclose(weights, kernel.features(encode(words, "protein")) @ learned, rtol=1e-9, atol=1e-12)
    table = dict(zip(words, weights, strict=True))
    values = [sum(table[word] for word in naive.kmers(string, 4)) for string in strings[:3]]
    np.testing.assert_allclose(values, kernel(X, support) @ coefficients, rtol=1e-9, atol=1e-12)


def test_plan_names_the_candidates():
    X = encode(random_strings(300, 90, 110, letters=AMINO), "protein")
    plan = SubstitutionKernel(4, 5).plan(X)
    assert plan.algorithm == "neighbours"
    assert all(name in plan.reason for name in ALGORITHMS)
    assert SubstitutionKernel(4, 8).plan(X).algorithm == "dense"
    assert SubstitutionKernel(6, 15).plan(X).algorithm == "trie"


def test_a_neighbourhood_of_all_words_is_refused_with_its_size():
    with pytest.raises(ParameterError, match=r"about 5.1e\+11 features"):
        SubstitutionKernel(9, 100)(encode(random_strings(3, 20, 30, AMINO), "protein"))
    with pytest.raises(SequenceError, match=r"with 3.2e\+06 features each are too many to list"):
        SubstitutionKernel(5, 100).features(encode(random_strings(20, 90, 99, AMINO), "protein"))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k=0"),
        ({"sigma": 0}, "sigma=0"),
        ({"sigma": float("nan")}, "sigma=nan"),
        ({"kept": 0}, "kept=0"),
        ({"kept": 1}, "spectrum"),
        ({"matrix": "BLOSUM61"}, "BLOSUM62"),
        ({"matrix": 3}, "give a name"),
        ({"matrix": [[1, 2], [2, 1]]}, "20 rows"),
        ({"matrix": "NUC.4.4"}, "no scores for the alphabet protein"),
        ({"matrix": "PAM250"}, "imply no letter frequencies"),
        ({"k": 40}, "choose k up to 14"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        SubstitutionKernel(**params)(encode([AMINO * 4], "protein"))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], "not symmetric"),
        ([[1.0, 1, 1, 1]] * 4, "imply no letter frequencies"),
        ([[-1.0, -2, -2, -2], [-2, -1, -2, -2], [-2, -2, -1, -2], [-2, -2, -2, -1]], "imply no letter frequencies"),
    ],
)
def test_scores_that_are_no_logarithms_of_odds_are_named(matrix, message):
    with pytest.raises(ParameterError, match=message):
        SubstitutionKernel(matrix=matrix)(encode(["ACGT" * 4]))


def test_short_sequences_are_named():
    with pytest.raises(SequenceError, match=r"record '2': 3 residues are fewer than k=4"):
        SubstitutionKernel()(encode(["ACGTACGT", "ACG"]))


def test_specs_hold_names_and_scores():
    assert build_kernel("substitution:k=4,sigma=6").get_params()["sigma"] == 6
    kernel = build_kernel("substitution:k=3,matrix=NUC.4.4")
    assert kernel(["ACGTT"]).item() == 1
    again = build_kernel(SubstitutionKernel(matrix=TRANSITIONS).spec())
    assert again.matrix == TRANSITIONS


# ---- probabilities ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["BLOSUM45", "BLOSUM62", "BLOSUM80", "BLOSUM90", "PAM30", "PAM70", "GONNET1992"])
def test_implied_frequencies_solve_their_equations(name):
    from Bio.Align import substitution_matrices

    table = substitution_matrices.load(name)
    scores = np.array([[table[a, b] for b in AMINO] for a in AMINO])
    background, scale = implied_background(scores)
    np.testing.assert_allclose(np.exp(scale * scores) @ background, 1, rtol=1e-9)
    assert background.min() > 0
    assert background.sum() == pytest.approx(1, abs=1e-9)
    probabilities = matrix_probabilities(PROTEIN, name)
    np.testing.assert_allclose(probabilities.sum(axis=0), 1, rtol=1e-9)
    targets = probabilities * background
    np.testing.assert_allclose(targets, targets.T, rtol=1e-9)


def test_scores_of_matches_and_mismatches_in_closed_form():
    # p = 1/4: e^5λ + 3·e^−4λ = 4
    scale = implied_background(np.where(np.eye(4) > 0, 5.0, -4.0))[1]
    assert np.exp(5 * scale) + 3 * np.exp(-4 * scale) == pytest.approx(4, rel=1e-12)
    kept = np.exp(5 * scale) / 4
    np.testing.assert_allclose(matrix_probabilities(DNA, "NUC.4.4").diagonal(), kept, rtol=1e-12)
    np.testing.assert_array_equal(matrix_probabilities(RNA, "NUC.4.4"), matrix_probabilities(DNA, "NUC.4.4"))


def test_rounding_of_scores_is_all_that_separates_them_from_their_frequencies():
    rng = np.random.default_rng(0)
    targets = rng.random((4, 4)) * 0.02 + np.eye(4) * 0.2
    targets = (targets + targets.T) / (2 * targets.sum())
    background = targets.sum(axis=0)
    scores = np.log(targets / np.outer(background, background)) / 0.3
    found, scale = implied_background(scores)
    assert scale == pytest.approx(0.3, rel=1e-9)
    np.testing.assert_allclose(found, background, rtol=1e-8)
