"""The pair HMM kernel against its formula, the list of all alignments, and worked numbers."""

import dataclasses
import functools
import math

import numpy as np
import pytest
from naive_pair_hmm import by_listing, pair_hmm

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import PairHMMKernel
from seqkern.kernels.alignment import _pair_hmm
from seqkern.kernels.alignment.pair_hmm import (
    PairFactors,
    PairSums,
    estimate_gaps,
    expected_counts,
    joint_odds,
    loop_factors,
    tile_rows,
)
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.sequence_set import SequenceSet

GAPS = {"gamma": 0.9, "delta": 0.15, "epsilon": 0.4}


def probabilities(kernel, alphabet="ACGT"):
    """Return joint and background probabilities as the twin takes them."""
    odds, background = kernel._probabilities(DNA)
    joint = odds * np.outer(background, background)
    return {(a, b): joint[i, j] for i, a in enumerate(alphabet) for j, b in enumerate(alphabet)}, dict(
        zip(alphabet, background, strict=True)
    )


def dna(**params):
    return PairHMMKernel("NUC.4.4", alphabet="dna", **params)


def random_strings(rng, lengths, letters="ACGT"):
    return ["".join(rng.choice(list(letters), n)) for n in lengths]


def sequences(strings):
    """Return a SequenceSet of DNA; strings may be empty."""
    codes = np.array(["ACGT".index(letter) for text in strings for letter in text], dtype=np.uint8)
    offsets = np.concatenate(([0], np.cumsum([len(text) for text in strings])))
    return SequenceSet.from_offsets(codes, offsets, [f"s{i}" for i in range(len(strings))], DNA)


def test_equals_the_formula_and_the_list_of_alignments():
    kernel = dna(**GAPS, odds=False, logarithm=False)
    joint, background = probabilities(kernel)
    strings = random_strings(np.random.default_rng(0), [0, 1, 1, 2, 3, 4, 4])
    parameters = joint, background, *GAPS.values()
    expected = [[pair_hmm(x, y, *parameters) for y in strings] for x in strings]
    listed = [[by_listing(x, y, *parameters)[0] for y in strings] for x in strings]
    X = sequences(strings)
    np.testing.assert_allclose(listed, expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)


def test_without_gaps_it_is_the_product_of_pairs():
    kernel = dna(gamma=0.75, delta=0, odds=False, logarithm=False)
    joint, _ = probabilities(kernel)
    value = 0.25 * 0.75**4 * joint["A", "A"] * joint["C", "G"] * joint["G", "G"] * joint["T", "A"]
    np.testing.assert_allclose(kernel(["ACGT"], ["AGGA", "AGG", "AGGAA"]), [[value, 0, 0]], rtol=1e-12)


def test_sums_to_one_over_all_pairs_of_strings():
    # of one letter, so that all strings are their lengths: Σ over pairs of lengths up to 60
    factors = PairFactors.of(np.ones((1, 1)), np.ones(1), (0.6, 0.2, 0.3))
    X = sequences(["A" * n for n in range(1, 61)])
    sums = PairSums(X, factors)
    total = sum(math.exp(sums.pair(i, j) + factors.constant) for i in range(len(X)) for j in range(len(X)))
    empty = math.exp(factors.constant)  # no letter beside none
    alone = sum(math.exp(factors.constant) * 0.2 * 0.7 / 0.8 * 0.3**n for n in range(60))
    assert total + empty + 2 * alone == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("lengths", [(700, 655), (40, 1500), (1300, 1250)])
def test_lanes_equal_logarithms_at_any_length(lengths):
    rng = np.random.default_rng(1)
    kernel = PairHMMKernel(alphabet="protein")
    letters = "ACDEFGHIKLMNPQRSTVWY"
    x, y = random_strings(rng, lengths, letters)
    # the end of one beside the beginning of the other: far from the diagonal
    y = x[-len(y) // 3 :] + y[: len(y) // 3] + x[: len(y) // 3]
    X = kernel.coerce([x, y])
    sums = PairSums(X, kernel._factors(X.alphabet))
    assert sums.factors.rows == 64
    found = [sums.pair(0, 1), sums.pair(1, 0)]
    sums.factors = dataclasses.replace(sums.factors, model=in_logarithms(kernel, X.alphabet))
    np.testing.assert_allclose(found, sums.pair(0, 1), rtol=1e-12)


def in_logarithms(kernel, alphabet):
    """Return the loops that compute in logarithms."""
    odds, _ = kernel._probabilities(alphabet)
    pair, opened, extended = loop_factors(kernel.gap_probabilities())
    match = np.full((len(odds) + 1, len(odds) + 2), pair)
    match[:-1, :-2] *= odds
    return _pair_hmm.PairHMM(match, np.log(np.ascontiguousarray(match[:, :-1])), opened, extended, 0)


def test_is_positive_semidefinite():
    strings = random_strings(np.random.default_rng(2), range(5, 40))
    K = dna(logarithm=False, normalize=True, **GAPS)(strings)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    assert dna(logarithm=False).traits.positive_semidefinite
    assert PairHMMKernel(logarithm=False).traits.positive_semidefinite
    assert not dna().traits.positive_semidefinite


def test_normalised_values_are_those_of_the_logarithms():
    strings = random_strings(np.random.default_rng(3), [300, 280, 310], "ACDEFGHIKLMNPQRSTVWY")
    strings[1] = strings[0][:140] + strings[0][150:]
    K = PairHMMKernel()(strings)
    own = np.diagonal(K)
    expected = np.exp(K - (own[:, None] + own) / 2)
    np.testing.assert_allclose(PairHMMKernel(logarithm=False, normalize=True)(strings), expected, rtol=1e-9)
    with pytest.raises(SequenceError, match="choose logarithm=true or normalize=true"):
        PairHMMKernel(logarithm=False, odds=False)(strings)


def test_a_masked_residue_is_the_sum_over_all():
    kernel = dna(**GAPS, odds=False, logarithm=False)
    total = sum(kernel([f"AC{letter}T"], ["ACGT"])[0, 0] for letter in "ACGT")
    assert kernel(["ACNT"], ["ACGT"])[0, 0] == pytest.approx(total, rel=1e-12)


def test_odds_and_background_of_a_matrix():
    odds, background = PairHMMKernel("NUC.4.4")._probabilities(DNA)
    np.testing.assert_allclose(background, 0.25)
    np.testing.assert_allclose((odds * np.outer(background, background)).sum(), 1)
    with pytest.raises(ParameterError, match="do not follow from probabilities"):
        joint_odds(np.array([[1.0, 1.0], [1.0, 1.0]]))


def test_tiles():
    assert tile_rows(30.0, 0.006, 0.7) == 64
    assert 0 < tile_rows(1e3, 1e-3, 1e-4) < 64
    assert tile_rows(30.0, 1e-300, 0.5) == tile_rows(30.0, 0.1, 0.0) == 0


# ---- gaps from data ------------------------------------------------------------------------------


def test_expected_counts_are_those_of_all_alignments():
    kernel = dna(**GAPS)
    joint, background = probabilities(kernel)
    strings = ["ACGTA", "AGTA", "CCGA"]
    X = kernel.coerce(strings)
    factors_of = functools.partial(PairFactors.with_factors, *kernel._probabilities(X.alphabet))
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = expected_counts(PairSums(X, kernel._factors(X.alphabet)), pairs, tuple(GAPS.values()), factors_of)
    listed = [by_listing(strings[i], strings[j], joint, background, *GAPS.values()) for i, j in pairs]
    np.testing.assert_allclose(found, np.sum(listed, axis=0)[1:], rtol=1e-6)


def emit(rng, joint, background, gamma, delta, epsilon):
    """Return two strings that the pair HMM emits."""
    x, y = [], []
    while True:
        for string in (x, y):
            if rng.random() < delta:
                string.append(rng.choice(4, p=background))
                while rng.random() < epsilon:
                    string.append(rng.choice(4, p=background))
        if rng.random() > gamma:
            return ["".join("ACGT"[code] for code in string) for string in (x, y)]
        a, b = divmod(rng.choice(16, p=joint.ravel()), 4)
        x.append(a)
        y.append(b)


def test_baum_welch_finds_the_probabilities_of_emitted_pairs():
    rng = np.random.default_rng(4)
    kernel = dna()
    odds = np.where(np.eye(4, dtype=bool), 3.7, 0.1)
    background = np.full(4, 0.25)
    true = 0.98, 0.03, 0.6
    strings = [text for _ in range(60) for text in emit(rng, odds / 16, background, *true)]
    X = sequences(strings)
    factors_of = functools.partial(PairFactors.with_factors, odds, background)
    pairs = [(2 * k, 2 * k + 1) for k in range(60)]
    start = (0.9, 0.2, 0.3)
    estimate = estimate_gaps(X, pairs, start, factors_of)
    assert estimate.converged
    np.testing.assert_allclose(estimate.gaps, true, rtol=0.25)

    def likelihood(gaps):
        sums = PairSums(X, PairFactors.of(odds, background, gaps))
        return sum(sums.pair(i, j) + sums.factors.constant for i, j in pairs)

    # a maximum: no single change of 2% is better
    best = likelihood(estimate.gaps)
    for k in range(3):
        for factor in (0.98, 1 / 0.98):
            changed = list(estimate.gaps)
            changed[k] = min(changed[k] * factor, 0.9999)
            assert likelihood(tuple(changed)) < best
    assert best > likelihood(start)
    assert kernel.gap_probabilities() == (0.99, 0.02, 0.7)


def test_fit_keeps_what_is_given_without_similar_pairs():
    kernel = dna(gaps="fit")
    with pytest.warns(UserWarning, match="no two training sequences are similar"):
        kernel.fit(["AAAAAAAA", "CCCCCCCC"])
    assert kernel.learned() == {"gamma": 0.99, "delta": 0.02, "epsilon": 0.7}


def test_zero_probabilities_are_refused_where_they_have_no_logarithm():
    with pytest.raises(ParameterError, match="choose delta above 0 or logarithm=false"):
        dna(delta=0)(["ACGT"])
    with pytest.raises(ParameterError, match="choose epsilon above 0"):
        dna(epsilon=0, gaps="fit", logarithm=False).fit(["ACGT"])
