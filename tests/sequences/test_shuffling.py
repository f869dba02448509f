"""Shuffled sequences keep k-mer counts, and all such sequences are equally likely."""

import itertools
import random
from collections import Counter

import pytest

from seqkern.sequences.sampling import shuffled


def counts(text, k):
    return Counter(text[i : i + k] for i in range(len(text) - k + 1))


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_counts_are_kept(k):
    rng = random.Random(k)
    for length in (0, 1, k, k + 1, 40, 300):
        text = "".join(rng.choices("ACGTN", [5, 3, 3, 5, 1], k=length))
        new = shuffled(text, k, rng)
        for size in range(1, k + 1):
            assert counts(new, size) == counts(text, size)
    assert new != text


def test_all_sequences_are_equally_likely():
    text, k, n = "ACACGAACG", 2, 6000
    same = {
        "".join(letters)
        for letters in set(itertools.permutations(text))
        if counts("".join(letters), k) == counts(text, k) and letters[0] == text[0]
    }
    rng = random.Random(1)
    found = Counter(shuffled(text, k, rng) for _ in range(n))
    assert set(found) == same
    expected = n / len(same)
    # chi squared, at one in a million
    from scipy.stats import chi2

    assert sum((found[one] - expected) ** 2 / expected for one in same) < chi2.ppf(1 - 1e-6, len(same) - 1)
