"""The mismatch kernel on features that are there or not, taken apart, against explicit features."""

import numpy as np
import pytest
from naive import encode, hamming, kmers, mismatch_features, random_strings, reverse_complement

from seqkern.kernels import MismatchKernel
from seqkern.kernels.kmer import mismatch

STRINGS = [*random_strings(4, 8, 25), "A" * 12, "AC*GT*ACT*ACGTA*", "***", "GCA", ""]
SUPPORT = [*random_strings(5, 6, 20, seed=1), "A" * 9, "**", ""]
CASES = [(1, 0, False), (3, 1, False), (3, 1, True), (4, 2, True), (2, 0, True)]


def learned(k, m, letters, rc, support, coefficients):
    weights = dict.fromkeys(mismatch_features("", k, m, letters), 0.0)
    for z, coefficient in zip(support, coefficients, strict=True):
        for u in mismatch_features(z, k, m, letters, presence=True, rc=rc):
            weights[u] = weights.get(u, 0.0) + coefficient * (0.5 if rc else 1)
    return weights


def shares(x, k, m, rc, weights):
    """Return each letter's share: per feature, then per occurrence, then per letter that agrees."""
    result = np.zeros(len(x))
    for u, weight in weights.items():
        occurrences = []
        for p in range(len(x) - k + 1):
            window = x[p : p + k]
            if "*" in window:
                continue
            for strand, word in enumerate([window, reverse_complement(window)] if rc else [window]):
                if hamming(word, u) <= m:
                    places = [i for i in range(k) if word[i] == u[i]]
                    occurrences.append([p + k - 1 - i if strand else p + i for i in places])
        for places in occurrences:
            for place in places:
                result[place] += weight / len(occurrences) / len(places)
    return result


def make(k, m, rc, letters="ACGT"):
    alphabet = "dna" if letters == "ACGT" else letters
    return MismatchKernel(
        k, m, presence=True, reverse_complement=rc, alphabet=alphabet, normalize=False, short="zero"
    )  # fmt: skip


@pytest.mark.parametrize(("k", "m", "rc"), CASES)
def test_shares_equal_the_naive_twin(k, m, rc):
    coefficients = np.random.default_rng(0).standard_normal(len(SUPPORT))
    kernel, X, support = make(k, m, rc), encode(STRINGS), encode(SUPPORT)
    weights = learned(k, m, "ACGT", rc, SUPPORT, coefficients)
    found = mismatch.attribute(kernel, kernel.m, X, support, coefficients)
    expected = np.concatenate([shares(x, k, m, rc, weights) for x in STRINGS])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    decisions = kernel(X, support) @ coefficients
    sums = [part.sum() for part in np.split(found, np.cumsum(X.lengths)[:-1])]
    np.testing.assert_allclose(sums, decisions, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("k", "m", "rc"), CASES)
def test_a_word_weighs_what_it_adds_alone(k, m, rc):
    coefficients = np.random.default_rng(0).standard_normal(len(SUPPORT))
    kernel, X, support = make(k, m, rc), encode(STRINGS), encode(SUPPORT)
    words, weights, _ = mismatch.kmer_weights(kernel, kernel.m, X, support, coefficients)
    every = {word for x in [*STRINGS, *SUPPORT] for word in kmers(x, k)}
    assert sorted(words) == sorted({min(word, reverse_complement(word)) for word in every} if rc else every)
    np.testing.assert_allclose(weights, kernel(encode(words), support) @ coefficients, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("letters", "k", "m"), [("HEC", 3, 1), ("ACDEFGHIKLMNPQRSTVWY", 2, 1), ("AB", 5, 3)])
def test_other_alphabets(letters, k, m):
    strings, support = random_strings(4, 5, 20, letters), random_strings(4, 5, 20, letters, seed=1)
    coefficients = np.array([1.0, -0.5, 0.25, 2.0])
    kernel, X, Y = make(k, m, False, letters), encode(strings, letters), encode(support, letters)
    found = mismatch.attribute(kernel, kernel.m, X, Y, coefficients)
    weights = learned(k, m, letters, False, support, coefficients)
    expected = np.concatenate([shares(x, k, m, False, weights) for x in strings])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("k", "m", "size"), [(3, 1, 4), (4, 2, 3), (3, 2, 20), (2, 0, 4)])
def test_every_kmer_agrees_with_its_neighbours_likewise(k, m, size):
    codes = np.random.default_rng(0).integers(size**k, size=5).astype(np.uint32)
    words = mismatch.neighbours(codes, k, m, size)
    digits = lambda values: values[..., None] // size ** np.arange(k - 1, -1, -1) % size  # noqa: E731
    agree = digits(words) == digits(codes)[:, None, :]
    expected = mismatch.agreements(k, m, size)
    np.testing.assert_array_equal(agree, np.broadcast_to(expected, agree.shape))
