"""The weighted degree kernels: against their naive twins, reference matrices, limits, and bad input."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from naive import encode, normalised
from naive_positional import letter_shares, matrix, mean_word_weights
from test_spectrum import read_reference

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import ShiftedWeightedDegreeKernel, WeightedDegreeKernel, blocks
from seqkern.kernels.decisions import attributions, kmer_weights
from seqkern.kernels.positional import _weighted_degree
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

AMINO = "ACDEFGHIKLMNPQRSTVWY"
FOUR = [0.5, 2, 0, 0.25]
LEVELS = [(level, False) for level in range(_product.level() + 1)]
LEVELS += [(2, True)] if _weighted_degree.counts_vector_bits() else []
LENGTHS = [1, 2, 3, 63, 64, 65, 127, 128, 129, 193, 511, 512, 513]


def related(n, length, letters="ACGT", masked=0.02, seed=0):
    """Return n strings, copies of three with a third of the letters changed, some masked."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(len(letters), size=(3, length))[np.arange(n) % 3]
    changed = rng.random(codes.shape) < 0.3
    codes[changed] = rng.integers(len(letters), size=changed.sum())
    codes[rng.random(codes.shape) < masked] = len(letters)
    return ["".join((letters + "*")[code] for code in row) for row in codes]


def raw(degree, shift=0, **options):
    return ShiftedWeightedDegreeKernel(degree, shift, normalize=False, **options)


@pytest.fixture(params=LEVELS, ids=lambda level: f"level{level[0]}{'-counting' * level[1]}")
def instructions(request):
    """Force one set of instructions."""
    highest = _product.level()
    _product.set_level(request.param[0])
    _weighted_degree.count_vector_bits(request.param[1])
    yield request.param
    _product.set_level(highest)
    _weighted_degree.count_vector_bits(True)


# ---- against the naive twins ---------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 2, 6, 20])
@pytest.mark.parametrize("letters", ["ACGT", "ACGU", AMINO, "HEC", "AB", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"])
def test_weighted_degree(instructions, letters, degree):
    strings = related(11, 30, letters, masked=0.05)
    X = encode(strings, {"ACGT": "dna", "ACGU": "rna", AMINO: "protein"}.get(letters, letters))
    expected = matrix(strings, strings, degree)
    kernel = WeightedDegreeKernel(degree, normalize=False)
    # The sum is a whole number until its one division.
    np.testing.assert_array_equal(kernel(X), expected)
    np.testing.assert_array_equal(kernel(X.take([4, 0]), X), expected[[4, 0]])
    np.testing.assert_array_equal(WeightedDegreeKernel(degree)(X), normalised(expected))


SHIFTS = {"none": 0, "three": 3, "beyond the end": 40, "list": [0, 5, 1, 1, 30, 0, 2, 2, 9, 0, 0, 7, 3, 0, 1, 0]}


@pytest.mark.parametrize("weights", [None, FOUR], ids=["default", "weights"])
@pytest.mark.parametrize("positions", [None, [0, 1, 2.5, 0.1] * 4], ids=["flat", "positions"])
@pytest.mark.parametrize("shift", SHIFTS)
def test_shifted_with_weights(instructions, shift, positions, weights):
    strings = related(10, 16, masked=0.05)
    X = encode(strings)
    kernel = raw(4, SHIFTS[shift], weights=weights, position_weights=positions)
    expected = matrix(strings, strings, 4, SHIFTS[shift], weights, positions)
    K = kernel(X)
    np.testing.assert_allclose(K, expected, rtol=1e-13)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(kernel.diagonal(X), np.diagonal(K))
    np.testing.assert_allclose(kernel(X.take(slice(3, 8)), X), expected[3:8], rtol=1e-13)
    np.testing.assert_allclose(kernel.set_params(normalize=True)(X), normalised(expected), rtol=1e-13)


DEGENERATE = {
    "one letter": ["A" * 9, "C" * 9, "AAAACAAAA"],
    "all masked": ["*" * 9, "ACGTACGTA", "*" * 9],
    "masked ends": ["*CGTACGT*", "ACGTACGTA", "*CGTACGTA"],
    "shorter than the degree": ["AC", "AC", "GC"],
    "single letters": ["A", "*", "C", "A"],
}


@pytest.mark.parametrize("shift", [0, 2])
@pytest.mark.parametrize("strings", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_sequences(instructions, strings, shift):
    X, expected = encode(strings), matrix(strings, strings, 5, shift)
    np.testing.assert_allclose(raw(5, shift)(X), expected, rtol=1e-14)
    kernel = ShiftedWeightedDegreeKernel(5, shift, zero_diagonal="zero")
    np.testing.assert_allclose(kernel(X), normalised(expected), rtol=1e-14)


@pytest.mark.parametrize("kernel", [WeightedDegreeKernel(), ShiftedWeightedDegreeKernel()], ids=["plain", "shifted"])
def test_no_sequences_and_empty_ones(kernel):
    none, some, bare = (SequenceSet.from_strings(strings, "dna") for strings in ([], ["ACGT", "ACGA"], ["", ""]))
    assert kernel(none).shape == (0, 0)
    assert kernel(none, some).shape == (0, 2)
    assert kernel(some, none).shape == (2, 0)
    with pytest.raises(SequenceError, match="cannot be normalised"):
        kernel(bare)
    kernel.set_params(zero_diagonal="zero")
    np.testing.assert_array_equal(kernel(bare), np.zeros((2, 2)))
    kernel.set_params(zero_diagonal="error")


def by_runs(x, y, degree, shift):
    """Return K by the lengths of runs of equal letters; quick enough for long strings."""
    x, y = (np.array([*string]) for string in (x, y))
    longest = np.minimum(np.arange(len(x) + 1), degree)
    counts = np.cumsum(longest * (2 * degree - longest + 1))  # of a run of so many letters, 2·(d + (d − 1) + …) each
    total = Fraction(0)
    for s in range(min(shift, len(x) - 1) + 1):
        for a, b in ((x[s:], y[: len(y) - s]), (x[: len(x) - s], y[s:])):
            ends = np.flatnonzero((a != b) | (a == "*"))
            runs = np.diff(ends, prepend=-1, append=len(a)) - 1
            total += Fraction(int(counts[runs].sum()), 2 * (s + 1) * degree * (degree + 1))
    return float(total)


def test_runs_are_another_way_to_the_same():
    strings = related(4, 20)
    for degree, shift in ((1, 0), (3, 2), (25, 4)):
        found = [[by_runs(x, y, degree, shift) for y in strings] for x in strings]
        np.testing.assert_array_equal(found, matrix(strings, strings, degree, shift))


@cache
def around_whole_words(length):
    """Return strings, and the matrices of some degrees and shifts."""
    strings = related(9, length, seed=length)
    strings[3] = strings[0]
    found = {}
    for degree, shift in ((3, 0), (20, 0), (70, 0), (6, 1), (6, 66)):
        pairs = [[by_runs(x, y, degree, shift) for y in strings[:i]] for i, x in enumerate(strings, 1)]
        lower = np.array([[*row, *[0] * (9 - len(row))] for row in pairs])
        found[degree, shift] = lower + np.tril(lower, -1).T
    return strings, found


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_around_whole_words(instructions, length):
    strings, matrices = around_whole_words(length)
    X = encode(strings)
    for (degree, shift), expected in matrices.items():
        np.testing.assert_allclose(raw(degree, shift)(X), expected, rtol=1e-14)
    weights, flat = list(np.linspace(1, 0.1, 6)), [1.0] * length
    shifts = [(7 * i) % 67 for i in range(length)]
    for shift in (0, 66, shifts):
        counted = raw(6, shift, weights=weights)(X)
        twice = raw(6, shift, weights=weights, position_weights=[2 * weight for weight in flat])(X)
        np.testing.assert_allclose(twice, 2 * counted, rtol=1e-13)


@pytest.mark.parametrize("length", [100, 141, 300, 700])
@pytest.mark.parametrize("options", ["plain", "weights", "positions", "list"])
def test_instructions_threads_and_blocks_give_the_same_bits(length, options, monkeypatch):
    rng = np.random.default_rng(length)
    options = {
        "plain": {},
        "weights": {"weights": list(rng.random(8))},
        "positions": {"position_weights": list(rng.random(length))},
        "list": {"shift": list(rng.integers(0, 9, size=length))},
    }[options]
    X = encode(related(70, length))
    kernel = ShiftedWeightedDegreeKernel(8, **{"shift": 5, **options})
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    highest = _product.level()
    try:
        for level, counting in LEVELS:
            _product.set_level(level)
            _weighted_degree.count_vector_bits(counting)
            np.testing.assert_array_equal(kernel(X, X.take(slice(0, 33))), K[:, :33])
            np.testing.assert_array_equal(kernel.diagonal(X), np.diagonal(K))
            for n_threads, step in ((1, 7), (2, 70), (3, 16)):
                spans = [(start, min(start + step, 70)) for start in range(0, 70, step)]
                monkeypatch.setattr(blocks, "row_blocks", lambda *_, spans=spans: spans)
                np.testing.assert_array_equal(kernel(X, n_threads=n_threads), K)
            monkeypatch.undo()
    finally:
        _product.set_level(highest)
        _weighted_degree.count_vector_bits(True)


@pytest.mark.parametrize("masked", [0.0, 0.01])  # with masked residues the diagonals differ: no table
@pytest.mark.parametrize(("shift", "weights"), [(0, None), (2, None), (0, [1, 0.3, 0.1])])
def test_tables_of_quotients_have_the_bits_of_divisions(instructions, masked, shift, weights, monkeypatch):
    X = encode(related(150, 100, masked=masked))
    kernel = ShiftedWeightedDegreeKernel(3, shift, weights=weights)
    prepared = kernel.prepare(X)
    tables = prepared.payload.tables(prepared.payload)
    assert (tables is not None) == (masked == shift == 0 and weights is None)
    found = kernel(X), kernel(X, X.take(slice(3, 140))), kernel(X, dtype=np.float32)
    monkeypatch.setattr("seqkern.kernels.positional.degree_features.LARGEST_TABLE", 0)
    assert kernel.prepare(X).payload.tables(prepared.payload) is None
    divided = kernel(X), kernel(X, X.take(slice(3, 140))), kernel(X, dtype=np.float32)
    for one, other in zip(found, divided, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_table_reaches_to_the_largest_sum():
    kernel, X = WeightedDegreeKernel(20), encode(["ACGT" * 35] * 400)  # all equal: every sum is the largest
    payload = kernel.prepare(X).payload
    values, singles = payload.tables(payload)
    assert values[-1] == singles[-1] == 1
    assert len(values) == len(singles) == 1 + sum((21 - k) * (141 - k) for k in range(1, 21))
    assert np.all(kernel(X) == 1)
    assert payload.fill_single(payload, out := np.empty((400, 400), np.float32))
    assert np.all(out == 1)


def test_small_or_unequal_sets_need_no_table():
    kernel = WeightedDegreeKernel(6)
    small, many, other = (kernel.prepare(related(n, m, masked=0)).payload for n, m in ((10, 60), (150, 60), (150, 61)))
    assert small.tables(small) is None
    assert many.tables(many) is not None
    assert many.tables(other) is None


def test_what_is_checked_seldom_changes_nothing(monkeypatch):
    X = encode(related(20, 90))
    for kernel in (raw(30), raw(30, 4), raw(9, 3, weights=[0.1 * k for k in range(9)])):
        K = kernel(X)
        for unchecked in (1, 2, kernel.degree):
            monkeypatch.setattr(
                "seqkern.kernels.positional.degree_features.unchecked_lengths",
                lambda *_, unchecked=unchecked: unchecked,
            )
            np.testing.assert_array_equal(kernel(X), K)
        monkeypatch.undo()


# ---- references and limits -----------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 20])
def test_reference_matrices(shared_data, instructions, degree):
    reference = read_reference(shared_data / "kernel_reference" / f"WeightedDegreeString_DNA_{degree}_60.m")
    assert int(reference["kernel_arg0_degree"]) == degree
    train, test = encode(reference["kernel_data_train"]), encode(reference["kernel_data_test"])
    kernel = WeightedDegreeKernel(degree)
    np.testing.assert_allclose(kernel(train), reference["kernel_matrix_train"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(kernel(train, test), reference["kernel_matrix_test"], rtol=0, atol=1e-8)


def test_no_shift_is_the_weighted_degree_kernel():
    X = encode(related(30, 100))
    for options in ({}, {"weights": FOUR}, {"position_weights": list(np.linspace(0, 1, 100))}):
        plain = WeightedDegreeKernel(4, **options)(X)
        for shift in (0, [0] * 100):
            np.testing.assert_array_equal(ShiftedWeightedDegreeKernel(4, shift, **options)(X), plain)


def test_degree_one_counts_equal_letters():
    strings = related(12, 80, AMINO)
    letters = np.array([list(string) for string in strings])
    same = (letters[:, None] == letters) & (letters != "*")
    X = encode(strings, "protein")
    np.testing.assert_array_equal(WeightedDegreeKernel(1, normalize=False)(X), same.sum(axis=2))


def test_equal_shifts_are_one_shift():
    X = encode(related(12, 70))
    for options in ({}, {"weights": FOUR}, {"position_weights": list(np.linspace(0, 1, 70))}):
        np.testing.assert_array_equal(raw(4, [6] * 70, **options)(X), raw(4, 6, **options)(X))


@pytest.mark.parametrize("shift", [0, 3])
def test_position_weights_of_one_are_none(shift):
    X = encode(related(12, 70))
    np.testing.assert_array_equal(raw(5, shift, position_weights=[1] * 70)(X), raw(5, shift)(X))
    nearly = raw(5, shift, position_weights=[1 + 1e-15] * 70)(X)
    np.testing.assert_allclose(nearly, raw(5, shift)(X), rtol=1e-13)


def test_default_weights_as_a_list():
    X = encode(related(12, 70))
    weights = WeightedDegreeKernel(7).length_weights().tolist()
    np.testing.assert_allclose(raw(7, 3, weights=weights)(X), raw(7, 3)(X), rtol=1e-14)


def test_definite_unless_a_list_makes_it_otherwise():
    assert WeightedDegreeKernel(position_weights=[1, 0, 0.001]).traits.positive_semidefinite
    assert ShiftedWeightedDegreeKernel(shift=500).traits.positive_semidefinite
    assert ShiftedWeightedDegreeKernel(shift=[3] * 40).traits.positive_semidefinite
    steep = ShiftedWeightedDegreeKernel(1, 1, position_weights=[1, 0.001], normalize=False)
    assert not steep.traits.positive_semidefinite
    # Two sequences that differ in one feature at two places: x − 8y has a negative square.
    K = steep(["AC", "CA", "AA", "CC"])
    assert np.linalg.eigvalsh(K)[0] < -1e-3
    gentle = ShiftedWeightedDegreeKernel(1, 1, position_weights=[1, 0.9], normalize=False)
    assert gentle.traits.positive_semidefinite
    assert np.linalg.eigvalsh(gentle(["AC", "CA", "AA", "CC"]))[0] > -1e-12


# ---- explanations --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"weights": FOUR}, {"position_weights": [0.5, 1, 2, 3] * 4}], ids=str)
@pytest.mark.parametrize("shift", SHIFTS)
def test_letters_and_words(shift, options):
    strings, support = related(4, 16, masked=0.08, seed=1), related(5, 16, masked=0.08, seed=2)
    X, Z = encode(strings), encode(support)
    coefficients = np.array([1.5, -2, 0, 0.25, 3])
    given = SHIFTS[shift], options.get("weights"), options.get("position_weights")
    kernel = raw(4, SHIFTS[shift], **options)
    shares = attributions(kernel, X, Z, coefficients).reshape(len(X), 16)
    expected = [letter_shares(x, support, coefficients, 4, *given) for x in strings]
    np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), kernel(X, Z) @ coefficients, rtol=1e-9, atol=1e-12)
    names, weights, _ = kmer_weights(kernel, X, Z, coefficients)
    means = mean_word_weights(strings, support, coefficients, 4, *given)
    assert set(names) == set(means)
    np.testing.assert_allclose(weights, [means[name] for name in names], rtol=1e-9, atol=1e-12)


def test_letters_of_sequences_of_several_words():
    X, Z = encode(related(3, 150, seed=1)), encode(related(8, 150, seed=2))
    coefficients = np.linspace(-1, 1, 8)
    for kernel in (ShiftedWeightedDegreeKernel(12, 70), WeightedDegreeKernel(200)):
        shares = attributions(kernel, X, Z, coefficients).reshape(3, 150)
        np.testing.assert_allclose(shares.sum(axis=1), kernel(X, Z) @ coefficients, rtol=1e-9, atol=1e-12)
        assert not shares[X.codes.reshape(3, 150) == 255].any()


def test_long_words_are_left_out_where_they_are_too_many(monkeypatch):
    monkeypatch.setattr("seqkern.kernels.positional.weighted_degree.MOST_WORDS", 3 * 2 * 40)
    X = encode(related(1, 40, masked=0))
    names, _ = raw(10)._kmer_weights(X, X, np.ones(1))
    assert max(map(len, names)) == 3


def test_words_too_long_for_codes():
    X = encode(["ACGT" * 10, "ACGT" * 10])
    names, weights, _ = kmer_weights(raw(34), X, X, np.ones(2))
    assert max(map(len, names)) == 34
    np.testing.assert_allclose(weights[names.index(("ACGT" * 9)[:34])], 2 * 2 / (34 * 35))


# ---- bad input -----------------------------------------------------------------------------------


def test_unequal_lengths_name_the_first_odd_record():
    with pytest.raises(SequenceError, match="has 3 residues, the first sequence has 4") as error:
        WeightedDegreeKernel()(["ACGT", "ACGA", "ACG", "AC"])
    assert error.value.record == "3"


def test_rows_and_columns_of_unequal_lengths():
    X, Y = (SequenceSet.from_strings(strings, "dna", ids=ids) for strings, ids in ((["ACGT"], ["x"]), (["AC"], ["y"])))
    with pytest.raises(SequenceError, match="has 4 residues, the sequences it is compared with have 2") as error:
        WeightedDegreeKernel()(X, Y)
    assert error.value.record == "x"
    with pytest.raises(SequenceError, match="compared with have 2"):
        attributions(raw(2), X, Y, np.ones(1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position_weights": [1, 2, 3]}, "position_weights has 3 numbers, and the sequences have 4 residues"),
        ({"shift": [1, 2, 3, 0, 0]}, "shift has 5 numbers, and the sequences have 4 residues"),
        ({"shift": [1, 2], "position_weights": [1, 2, 3]}, "position_weights 3 numbers and shift 2 numbers do not fit"),
        ({"weights": [1, 2, 3]}, "weights=.* give a list of 2 numbers"),
        ({"weights": [1, -2]}, "weights=-2"),
        ({"weights": 3}, "weights=3 .* give a list of 2 numbers"),
        ({"position_weights": [1, 2, 3, float("nan")]}, "position_weights=nan"),
        ({"shift": -1}, "shift=-1"),
        ({"shift": [1, 2, 0.5, 1]}, "shift=0.5"),
        ({"degree": 0}, "degree=0"),
        ({"degree": 1.5}, "degree=1.5"),
        ({"degree": 10**6}, "degree=1000000"),
    ],
    ids=str,
)
def test_bad_parameters(options, message):
    kernel = ShiftedWeightedDegreeKernel(**{"degree": 2, "shift": 1, **options})
    with pytest.raises(ParameterError, match=message):
        kernel(["ACGT", "ACGA"])
    with pytest.raises(ParameterError, match=message):
        kernel.plan(["ACGT", "ACGA"])


def test_sums_that_would_not_be_exact_are_refused(monkeypatch):
    monkeypatch.setattr("seqkern.kernels.positional.weighted_degree.EXACT", 6 * 7 * 30)
    WeightedDegreeKernel(6)(["A" * 29])
    with pytest.raises(SequenceError, match="too many for exact sums") as error:
        WeightedDegreeKernel(6)(["A" * 30])
    assert error.value.record == "1"


def test_the_plan_grows_with_the_work():
    X = encode(related(50, 100))
    plans = [kernel.plan(X) for kernel in (WeightedDegreeKernel(6), raw(6, 10), raw(6, 10, position_weights=[2] * 100))]
    assert plans[0].seconds < plans[1].seconds < plans[2].seconds
    assert 50 * 2 * 3 * 8 < plans[0].bytes < plans[1].bytes


@pytest.mark.parametrize("code", [4, 7, 127, 128, 254])
def test_codes_outside_the_alphabet_are_masked(code):
    codes = np.random.default_rng(code).integers(0, 4, (9, 70)).astype(np.uint8)
    masked = np.random.default_rng(1).random(codes.shape) < 0.1
    written = [np.where(masked, np.uint8(value), codes).ravel() for value in (code, 255)]
    X, Y = (SequenceSet.from_offsets(letters, 70 * np.arange(10), [*"abcdefghi"], "dna") for letters in written)
    for kernel in (WeightedDegreeKernel(5), ShiftedWeightedDegreeKernel(5, 2)):
        np.testing.assert_array_equal(kernel(X), kernel(Y))
