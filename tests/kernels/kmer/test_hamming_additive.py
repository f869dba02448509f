"""Decisions of kernels on Hamming distances, folded and taken apart, against sums over all pairs of windows."""

from functools import cache

import numpy as np
import pytest
from naive import encode, hamming, random_strings, reverse_complement

from seqkern.kernels.kmer import _tables, hamming_operator
from seqkern.kernels.kmer.hamming_operator import HammingAdditive
from seqkern.kernels.kmer.kmers import find_windows

PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
STRINGS = [*random_strings(5, 12, 40), "A" * 30, "ACGT" * 6, "AC*GT*ACT*ACGTA*****ACGTAC*TTTT", "*****", "GCA", ""]
SUPPORT = [*random_strings(6, 8, 50, seed=1), "A" * 20, "**", "", "ACGTTGCAACGT"]


class ByMatrix:
    """Kernels without a faster way."""

    def _fold(self, columns, coefficients):
        return None


class PairKernel(HammingAdditive, ByMatrix):
    """What a family offers, with any values for the distances."""

    n_threads = None

    def __init__(self, values, *, weights=None, reverse_complement=False, centred=False):
        self.values = values
        self.weights = weights or [1.0] * len(values)
        self.reverse_complement = reverse_complement
        self.centred = centred

    def _lengths(self):
        return [len(values) - 1 for values in self.values]

    def _weights(self):
        return self.weights

    def _pair_weights(self, size, length):
        return next(values for values in self.values if len(values) == length + 1)

    def _window_weights(self, X, length):
        if not self.centred:
            return None
        starts = find_windows(X, length)
        ends = np.cumsum(X.lengths)
        return 1 + (starts - (ends - X.lengths)[np.searchsorted(ends, starts, side="right")]) % 5


def by_table(kernel, X, support, coefficients, length):
    return kernel._shares_by_table(X, kernel._tally(support, coefficients, length), length)


class Payload:
    def __init__(self, sequences, start, stop):
        self.sequences, self.start, self.stop = sequences, start, stop


def windows(string, length, centred):
    """Yield (start, window, weight)."""
    for i in range(len(string) - length + 1):
        if "*" not in string[i : i + length]:
            yield i, string[i : i + length], 1 + i % 5 if centred else 1


def naive(kernel, strings, support, coefficients):
    """Return the value of each string and the shares of all letters, by all pairs."""
    totals, shares = [], []
    for x in strings:
        total, share = 0.0, [0.0] * len(x)
        for values, factor in zip(kernel.values, kernel.weights, strict=True):
            length = len(values) - 1
            for p, a, u in windows(x, length, kernel.centred):
                for z, coefficient in zip(support, coefficients, strict=True):
                    for _, b, v in windows(z, length, kernel.centred):
                        for other in [b, reverse_complement(b)] if kernel.reverse_complement else [b]:
                            value = factor * coefficient * u * v * values[hamming(a, other)]
                            matching = [i for i in range(length) if a[i] == other[i]] or range(length)
                            for i in matching:
                                share[p + i] += value / len(matching)
                            total += value
        totals.append(total)
        shares += share
    return np.array(totals), np.array(shares)


def naive_words(kernel, strings, support, coefficients):
    result = {}
    for values, factor in zip(kernel.values, kernel.weights, strict=True):
        length = len(values) - 1
        words = {a for x in [*strings, *support] for _, a, _ in windows(x, length, False)}
        if kernel.reverse_complement:
            words = {min(a, reverse_complement(a)) for a in words}
        for a in words:
            result[a] = 0.0
            for z, coefficient in zip(support, coefficients, strict=True):
                for _, b, v in windows(z, length, kernel.centred):
                    for other in [b, reverse_complement(b)] if kernel.reverse_complement else [b]:
                        result[a] += factor * coefficient * v * values[hamming(a, other)]
    return result


CASES = {
    "truncated": PairKernel([[7, 3, 1, 0, 0, 0]]),
    "counts": PairKernel([[15, 10, 6, 3, 1, 0, 0]], reverse_complement=True),
    "all distances": PairKernel([[1.5, 0.25, -0.125, 0.3, 0.7]], reverse_complement=True),
    "centred": PairKernel([[1.5, 0.25, 0.125, 0, 0, 0]], centred=True, reverse_complement=True),
    "centred, one strand": PairKernel([[2, 1, 0.5, 0.1]], centred=True),
    "several": PairKernel([[4, 1, 0, 0], [9, 4, 1, 0, 0, 0, 0, 0], [1, 0]], weights=[0.5, 2.0, 0.3]),
    "one letter": PairKernel([[1, 0.5]]),
    "nothing": PairKernel([[0, 0, 0, 0]]),
}


@pytest.fixture(params=CASES)
def kernel(request):
    return CASES[request.param]


@pytest.fixture(name="coefficients")
def random_coefficients():
    return np.random.default_rng(0).standard_normal(len(SUPPORT))


@cache
def of_all_pairs(kernel):
    """Return `naive` of the strings and the support."""
    return naive(kernel, STRINGS, SUPPORT, np.random.default_rng(0).standard_normal(len(SUPPORT)))


def close(found, expected, kernel, coefficients):
    """Check to 1e-9 of the sum of the coefficients' magnitudes and of what one pair can give."""
    scale = np.abs(coefficients).sum() * max(max(map(abs, values)) for values in kernel.values)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * scale)


def folded(kernel, X, support, coefficients):
    values = kernel._fold(Payload(support, 0, len(support)), coefficients)
    return values(Payload(X, 0, len(X)))


def test_folded_equals_the_sum_over_pairs(kernel, coefficients):
    expected, _ = of_all_pairs(kernel)
    close(folded(kernel, encode(STRINGS), encode(SUPPORT), coefficients), expected, kernel, coefficients)


def test_a_value_does_not_depend_on_the_sequences_beside_it(kernel, coefficients):
    X, support = encode(STRINGS), encode(SUPPORT)
    values = kernel._fold(Payload(support, 2, 7), coefficients[2:7])
    whole = values(Payload(X, 0, len(X)))
    for i in range(len(X)):
        assert values(Payload(X, i, i + 1)) == whole[i]
        assert values(Payload(X.take([i]), 0, 1)) == whole[i]


def test_no_table_that_is_too_large(monkeypatch, coefficients):
    monkeypatch.setattr(hamming_operator, "LARGEST_TABLE", 4**5)
    support = encode(SUPPORT)
    assert CASES["truncated"]._fold(Payload(support, 0, len(support)), coefficients) is not None
    assert CASES["several"]._fold(Payload(support, 0, len(support)), coefficients) is None


@pytest.fixture(params=["table", "diagonals"])
def way(request, monkeypatch):
    """Force one of the two ways."""
    if request.param == "table":
        monkeypatch.setattr(HammingAdditive, "_shares_by_diagonals", by_table)
    else:
        monkeypatch.setattr(hamming_operator, "LARGEST_TABLE", 0)


@pytest.mark.usefixtures("way")
def test_shares_equal_the_sum_over_pairs(kernel, coefficients):
    expected, shares = of_all_pairs(kernel)
    X = encode(STRINGS)
    found = kernel._attribute(X, encode(SUPPORT), coefficients)
    close(found, shares, kernel, coefficients)
    sums = np.add.reduceat(np.append(found, 0), np.cumsum(X.lengths) - X.lengths)
    close(np.where(X.lengths, sums, 0), expected, kernel, coefficients)


other_alphabets = pytest.mark.parametrize(
    ("letters", "values"), [(PROTEIN, [6, 2, 0.5, 0.1]), ("AB", [5, 4, 3, 2, 1, 0.5, 0, 0])]
)


@other_alphabets
def test_folded_over_other_alphabets(letters, values, coefficients):
    kernel = PairKernel([values], centred=True)
    strings, support = (random_strings(n, 0, 40, letters, seed=n) for n in (6, len(SUPPORT)))
    expected, _ = naive(kernel, strings, support, coefficients)
    found = folded(kernel, encode(strings, letters), encode(support, letters), coefficients)
    close(found, expected, kernel, coefficients)


@pytest.mark.usefixtures("way")
@other_alphabets
def test_shares_over_other_alphabets(letters, values, coefficients):
    kernel = PairKernel([values], centred=True)
    strings, support = (random_strings(n, 0, 40, letters, seed=n) for n in (6, len(SUPPORT)))
    X, Y = encode(strings, letters), encode(support, letters)
    _, shares = naive(kernel, strings, support, coefficients)
    close(kernel._attribute(X, Y, coefficients), shares, kernel, coefficients)
    words, weights = kernel._kmer_weights(X, Y, coefficients)
    twin = naive_words(kernel, strings, support, coefficients)
    close(weights, [twin[word] for word in words], kernel, coefficients)


@pytest.mark.usefixtures("way")
def test_words_equal_the_sum_over_pairs(kernel, coefficients):
    words, weights = kernel._kmer_weights(encode(STRINGS), encode(SUPPORT), coefficients)
    twin = naive_words(kernel, STRINGS, SUPPORT, coefficients)
    assert set(words) == set(twin)
    assert len(words) == len(twin)
    close(weights, [twin[word] for word in words], kernel, coefficients)


@pytest.mark.parametrize("level", range(_tables.highest_level() + 1))
def test_every_level_gives_the_same_bits(level, coefficients):
    rng = np.random.default_rng(1)
    for size, length in ((4, 6), (4, 9), (3, 4), (20, 3), (2, 1)):
        high = length // 2
        table = rng.standard_normal(size**length)
        plain, other = table.copy(), table.copy()
        strip = np.empty(size**high * _tables.LANE_COUNT)
        _tables.reflect(plain, size, high, length - high, strip, 0)
        _tables.reflect(other, size, high, length - high, strip, level)
        np.testing.assert_array_equal(plain, other)
        _tables.reflect(other, size, high, length - high, strip, level)
        np.testing.assert_allclose(other, table, rtol=0, atol=1e-13)
    kernel = CASES["all distances"]
    X, length = encode(STRINGS), 4
    others = hamming_operator.OtherWindows(kernel, encode(SUPPORT), coefficients, length, int(X.lengths.max()))
    own = np.zeros(int(X.lengths[0]))
    own[find_windows(X.take([0]), length)] = 1
    shares, sums = rng.standard_normal(length + 1), np.empty((2, 2))
    words = np.array([[0, 1, 2, 3], [0, 0, 0, 0]], dtype=np.uint8)
    results = np.zeros((2, 2, len(own)))
    for row, run_at in enumerate((0, level)):
        _tables.share(
            others.marks, others.windows, others.pad, X.codes[: len(own)], own, length, 0, shares, 0.3,
            results[row, 0], results[row, 1], run_at,
        )  # fmt: skip
        _tables.word_sums(others.marks, others.windows, words, 0, shares, sums[row], run_at)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(sums[0], sums[1])
    assert results.any()
