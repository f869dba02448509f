"""Weights at positions against sums over kernel matrices and over k-mers."""

import itertools

import numpy as np
import pytest
from naive import encode, random_strings
from sklearn.base import clone

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import ShiftedWeightedDegreeKernel, WeightedDegreeKernel
from seqkern.kernels.decisions import fold
from seqkern.kernels.kmer.oligo import OligoKernel
from seqkern.kernels.positional import _position_weights as loops
from seqkern.kernels.positional import weighted_degree
from seqkern.kernels.positional.weighted_degree import PositionWeights

PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
LENGTH = 34
PLACES = [0.5 + i % 4 for i in range(LENGTH)]
HOLES = [i % 3 for i in range(LENGTH)]


def strings(n, letters="ACGT", masked=0.0, seed=0):
    return random_strings(n, LENGTH, LENGTH + 1, letters, masked, seed)


def relatives(n, letters="ACGT", changes=2, seed=0):
    """Return mutants of two ancestors: many share long stretches."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        letter = [*strings(2, letters)[rng.integers(2)]]
        for place in rng.integers(LENGTH, size=changes):
            letter[place] = rng.choice([*letters])
        found.append("".join(letter))
    return found


KERNELS = {
    "degree 1": WeightedDegreeKernel(1),
    "degree 3": WeightedDegreeKernel(3, weights=[0.5, 0, 2]),
    "degree 8": WeightedDegreeKernel(8),
    "degree 20": WeightedDegreeKernel(20, position_weights=HOLES),
    "longer than a window": WeightedDegreeKernel(LENGTH + 7),
    "no shift": ShiftedWeightedDegreeKernel(9, 0),
    "shift": ShiftedWeightedDegreeKernel(11, 4, position_weights=PLACES),
    "longer shift than windows": ShiftedWeightedDegreeKernel(2, 2 * LENGTH),
    "a shift for each place": ShiftedWeightedDegreeKernel(20, [i // 3 for i in range(LENGTH)], weights=[*range(20)]),
}
SETS = {
    "random": (strings(30), strings(20, seed=1), "dna"),
    "relatives": (relatives(60), relatives(20, changes=4, seed=1), "dna"),
    "masked": (strings(30, masked=0.1), [*strings(20, masked=0.1, seed=1), "*" * LENGTH], "dna"),
    "masked relatives": (
        [*relatives(30), *(s[:9] + "*" + s[10:] for s in relatives(30, seed=2))],
        [*(s[:20] + "**" + s[22:] for s in relatives(10)), *relatives(10, seed=4)],
        "dna",
    ),
    "one": (["A" * LENGTH], ["A" * LENGTH, "C" + "A" * (LENGTH - 1), "A" * (LENGTH - 1) + "C"], "dna"),
    "protein": (relatives(30, PROTEIN), relatives(20, PROTEIN, seed=1), "protein"),
    "two letters": (strings(30, "HT"), strings(20, "HT", 0.05, 1), "HT"),
    "many letters": (strings(40, PROTEIN + "BJOUXZ0123456"), strings(9, "ACD0123", seed=1), PROTEIN + "BJOUXZ0123456"),
}


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


def draw(n):
    return np.random.default_rng(n).standard_normal(n)


def scale(kernel, support, coefficients):
    """Return the largest that rounding can refer to: the sum of magnitudes of all products."""
    return float(np.abs(coefficients).sum() * kernel.set_params(normalize=False).diagonal(support).max(initial=0))


def close(found, kernel, X, support, coefficients):
    expected = kernel.set_params(normalize=False)(X, support) @ coefficients
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * scale(kernel, support, coefficients))


@pytest.mark.parametrize("name", SETS)
def test_values_equal_those_of_the_matrix(kernel, name):
    support, new, alphabet = SETS[name]
    support, new = encode(support, alphabet), encode(new, alphabet)
    coefficients = draw(len(support))
    weights = kernel.tables.at_positions(support, coefficients)
    assert (weights.length, weights.alphabet, weights.degree) == (LENGTH, new.alphabet, min(kernel.degree, LENGTH))
    close(weights.values(new), kernel, new, support, coefficients)
    close(weights.values(support), kernel, support, support, coefficients)


@pytest.mark.parametrize("prefix", range(9))
@pytest.mark.parametrize("name", ["random", "masked relatives"])
def test_every_prefix_gives_the_same(kernel, name, prefix):
    support, new, _ = SETS[name]
    support, new = encode(support), encode(new)
    coefficients = draw(len(support))
    weights = PositionWeights(kernel, support, coefficients, min(prefix, kernel.degree))
    close(weights.values(new), kernel, new, support, coefficients)


def chromosome(masked, letters="ACGT", seed=3):
    """Return codes of a long sequence with runs of masked letters, and relatives of the support in it."""
    rng = np.random.default_rng(seed)
    pieces = [*relatives(40, letters, seed=seed), *strings(40, letters, 0.02 if masked else 0, seed)]
    runs = ["*" * n for n in (1, 2, 60, 130)] if masked else []
    return encode(["".join(rng.permutation([*pieces, *runs]))], "dna" if letters == "ACGT" else "protein")


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("level", range(loops.highest_level() + 1))
def test_scanning_has_the_bits_of_values(kernel, masked, level):
    support = encode(SETS["masked relatives"][0])
    weights = kernel.tables.at_positions(support, draw(len(support)))
    whole = chromosome(masked)
    starts = np.sort(np.random.default_rng(0).choice(len(whole.codes) - LENGTH + 1, 900))
    windows = whole.windows(np.zeros(len(starts), int), starts, 0, LENGTH - 1)
    expected = weights.values(windows)
    assert len(np.unique(expected)) > 100
    np.testing.assert_array_equal(weights.scan(whole.codes, starts), expected)
    for i in range(0, 900, 90):
        assert weights.values(windows.take([i])) == expected[i]
    out = np.empty(len(starts))
    loops.scan(weights._tables, loops.Letters(whole.codes, 4, 2), starts, out, level)
    np.testing.assert_array_equal(out, expected)


def test_blocks_and_threads_do_not_change_a_bit(kernel, monkeypatch):
    support = encode(SETS["relatives"][0])
    coefficients = draw(len(support))
    whole = chromosome(True)
    starts = np.arange(len(whole.codes) - LENGTH + 1)
    expected = kernel.tables.at_positions(support, coefficients).scan(whole.codes, starts, n_threads=1)
    monkeypatch.setattr(weighted_degree, "LEAST_BLOCK", 77)
    monkeypatch.setattr(weighted_degree, "BLOCK", 77)
    monkeypatch.setattr(weighted_degree, "LARGEST_SPAN", 70)
    spans = list(weighted_degree.blocks(starts, 77))
    assert {span.stop - span.start for span in spans[:-1]} == {70}
    for n_threads in (1, 3):
        weights = PositionWeights(clone(kernel).set_params(n_threads=n_threads), support, coefficients)
        np.testing.assert_array_equal(weights.scan(whole.codes, starts, n_threads=n_threads), expected)


def test_scanning_proteins(kernel):
    support = encode(SETS["protein"][0], "protein")
    coefficients = draw(len(support))
    whole = chromosome(True, PROTEIN)
    starts = np.arange(0, len(whole.codes) - LENGTH + 1, 7)
    windows = whole.windows(np.zeros(len(starts), int), starts, 0, LENGTH - 1)
    found = kernel.tables.at_positions(support, coefficients).scan(whole.codes, starts)
    close(found, kernel, windows, support, coefficients)


def test_codes_outside_the_alphabet_are_masked():
    support = encode(strings(9))
    weights = KERNELS["shift"].tables.at_positions(support, draw(9))
    codes = np.array(support.codes[:200])
    for place, code in ((60, 4), (90, 127), (91, 200)):
        codes[place] = code
    masked = np.where(codes < 4, codes, 255).astype(np.uint8)
    starts = np.arange(200 - LENGTH)
    np.testing.assert_array_equal(weights.scan(codes, starts), weights.scan(masked, starts))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize(("name", "letters"), [("masked relatives", "ACGT"), ("two letters", "HT")])
def test_tables_hold_what_each_kmer_adds(kernel, name, letters, k):
    support, _, alphabet = SETS[name]
    coefficients = draw(len(support))
    beta, gamma, shifts = kernel.length_weights(), kernel.start_weights(LENGTH), kernel.shifts(LENGTH)
    expected = np.zeros((LENGTH, len(letters) ** k))
    number = {"".join(word): i for i, word in enumerate(itertools.product(letters, repeat=k))}
    for z, coefficient in zip(support, coefficients, strict=True):
        for i in range(LENGTH):
            for s in range(min(int(shifts[i]), LENGTH - k - i) + 1):
                weight = coefficient * gamma[i] * (beta[k - 1] if k <= kernel.degree else 0) / (2 * (s + 1))
                for here, there in ((i + s, i), (i, i + s)):
                    word = z[there : there + k]
                    if word in number:
                        expected[here, number[word]] += weight
    found = kernel.tables.at_positions(encode(support, alphabet), coefficients).table(k)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * np.abs(coefficients).sum())


def test_tables_add_up_to_values():
    kernel, (support, new, _) = ShiftedWeightedDegreeKernel(3, 5), SETS["masked"]
    support, new = encode(support), encode(new)
    weights = kernel.tables.at_positions(support, draw(len(support)))
    sums = np.zeros(len(new))
    for k in (1, 2, 3):
        table, codes = weights.table(k), new.codes.reshape(len(new), LENGTH).astype(int)
        for place in range(LENGTH - k + 1):
            word = codes[:, place : place + k]
            whole = np.all(word < 4, axis=1)
            sums[whole] += table[place, word[whole] @ 4 ** np.arange(k - 1, -1, -1)]
    np.testing.assert_allclose(weights.values(new), sums, rtol=1e-9, atol=1e-10)


def test_folding(kernel, monkeypatch):
    support, new, _ = SETS["masked relatives"]
    columns = kernel.prepare(encode(support))
    coefficients = draw(len(support))
    monkeypatch.setattr(weighted_degree, "PAIR_SECONDS", 0.0)
    assert kernel._fold(columns.payload, coefficients) is None  # by the matrix
    monkeypatch.setattr(weighted_degree, "PAIR_SECONDS", 1.0)
    for normalize in (False, True):
        kernel = kernel.set_params(normalize=normalize)
        columns = kernel.prepare(encode(support))
        rows = kernel.prepare(encode(new), like=columns)
        folded = fold(kernel, columns, coefficients)
        expected = kernel.block(rows, columns) @ coefficients
        np.testing.assert_allclose(folded(rows), expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
        part = fold(kernel, columns.rows(5, 40), coefficients[5:40])
        expected = kernel.block(rows.rows(3, 9), columns.rows(5, 40)) @ coefficients[5:40]
        np.testing.assert_allclose(part(rows.rows(3, 9)), expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


def test_a_thousand_support_sequences_are_folded_for_many_new_ones():
    kernel = WeightedDegreeKernel(20)
    assert kernel._fold(kernel.prepare(encode(strings(1000))).payload, draw(1000)) is not None


def test_large_tables_for_many_support_sequences(monkeypatch):
    kernel, (support, new, _) = WeightedDegreeKernel(20), SETS["masked relatives"]
    support, new = encode(support), encode(new)
    weights = kernel.tables.at_positions(support, draw(len(support)))
    monkeypatch.setattr(weighted_degree, "MANY", 1)
    larger = kernel.tables.at_positions(support, draw(len(support)))
    assert larger.prefix == weights.prefix + 1
    np.testing.assert_allclose(larger.values(new), weights.values(new), rtol=1e-9, atol=1e-10)


def test_memory_is_predicted(monkeypatch):
    for kernel, (support, _, alphabet) in itertools.product(KERNELS.values(), SETS.values()):
        support = encode(support, alphabet)
        weights = kernel.tables.at_positions(support, draw(len(support)))
        size = support.alphabet.size
        assert weights.bytes <= PositionWeights.bytes_for(len(support), LENGTH, kernel.degree, size)
    monkeypatch.setattr(weighted_degree, "available_memory", lambda: 1e6)
    with pytest.raises(ParameterError, match="of memory"):
        WeightedDegreeKernel(20).tables.at_positions(encode(strings(9)), draw(9))


def test_shifts_that_take_too_much_memory_are_refused_before_the_work():
    X = encode(["A" * 300_000])
    with pytest.raises(ParameterError, match="of memory"):
        ShiftedWeightedDegreeKernel(1, 300_000).tables.at_positions(X, draw(1))


def test_long_windows_and_degrees():
    rng = np.random.default_rng(0)
    ancestor = rng.choice([*"ACGT"], 300)
    support = []
    for _ in range(12):
        support.append(ancestor.copy())
        support[-1][rng.integers(300, size=2)] = "C"
    support = encode(["".join(s) for s in support])
    coefficients = draw(12)
    for kernel in (WeightedDegreeKernel(300), ShiftedWeightedDegreeKernel(260, 1)):
        weights = kernel.tables.at_positions(support, coefficients)
        close(weights.values(support), kernel, support, support, coefficients)


def test_windows_that_cannot_be():
    support = encode(strings(9))
    weights = KERNELS["degree 8"].tables.at_positions(support, draw(9))
    assert len(weights.scan(support.codes, np.zeros(0, int))) == 0
    assert len(weights.scan(support.codes, [0, 0, len(support.codes) - LENGTH])) == 3
    for starts in ([-1], [len(support.codes) - LENGTH + 1], [5, 4]):
        with pytest.raises(SequenceError, match="extend beyond"):
            weights.scan(support.codes, starts)
    with pytest.raises(SequenceError, match="record '2': has 3 residues"):
        weights.values(encode(["A" * LENGTH, "AAA"]))
    with pytest.raises(SequenceError, match="alphabet"):
        weights.values(encode(strings(2, PROTEIN), "protein"))
    with pytest.raises(ParameterError, match="k=9"):
        weights.table(9)


def test_no_support_and_no_letters():
    empty = encode([])
    assert KERNELS["degree 8"].tables.at_positions(empty, np.zeros(0)).values(encode(strings(3))).tolist() == [0, 0, 0]
    bare = WeightedDegreeKernel(3).tables.at_positions(encode(["", ""]), draw(2))
    assert bare.values(encode(["", "", ""])).tolist() == [0, 0, 0]
    single = WeightedDegreeKernel(3).tables.at_positions(encode(["A", "C"]), np.array([1.0, 2.0]))
    np.testing.assert_allclose(single.values(encode(["C", "A", "*"])), [1, 0.5, 0])


def test_other_kernels_have_none():
    assert OligoKernel(2).tables.at_positions is None
