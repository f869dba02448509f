"""The string kernel: against its naive twins, the exact numbers of the field, and where numbers become large."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from naive import encode, normalised, random_strings
from naive_subsequence import by_lengths, by_listing, by_recursion, features, matrix

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import StringKernel, blocks, decisions
from seqkern.kernels.products import _product
from seqkern.kernels.subsequence.chains import powers
from seqkern.kernels.subsequence.subsequence import definite, length_nodes, letter_weights
from seqkern.sequences.sequence_set import SequenceSet

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
HALF = Fraction(1, 2)
LEVELS = range(_product.level() + 1)
AMINO = "ACDEFGHIKLMNPQRSTVWY"
SOFT = [[1, 0.5, 0], [0.5, 1, 0.25], [0, 0.25, 1]]


def soft_weight(a, b):
    return 0 if "*" in (a, b) else Fraction(SOFT["HEC".index(a)]["HEC".index(b)])


def words(*strings):
    return SequenceSet.from_strings(strings, LETTERS)


def raw(n, decay, **options):
    return StringKernel(n, float(decay), normalize=False, short="zero", **options)


@pytest.fixture
def set_level():
    """Return the function that sets the level of instructions; it is the highest again after the test."""
    highest = _product.level()
    yield _product.set_level
    _product.set_level(highest)


DEGENERATE = ["", "A", "*", "AC", "ACGT", "AAAAAAAAAAAA", "****", "A*C*G", "ACGTACGTACGTACGTACGTA", "*ACG", "ACG*"]


# ---- the numbers of the field --------------------------------------------------------------------


@pytest.mark.parametrize("decay", [0.5, 0.9, 0.3])
def test_two_letters_of_say_and_bay(decay):
    X = words("SAY", "BAY")
    K = raw(2, decay)(X)
    np.testing.assert_allclose(K[0], [2 * decay**4 + decay**6, decay**4], rtol=1e-15)
    normal = StringKernel(2, decay)(X)
    np.testing.assert_allclose(normal, [[1, 1 / (2 + decay**2)], [1 / (2 + decay**2), 1]], rtol=1e-15)


def test_two_letters_of_say_and_bay_as_numbers():
    X = words("SAY", "BAY")
    np.testing.assert_array_equal(raw(2, 0.5)(X), [[0.140625, 0.0625], [0.0625, 0.140625]])
    np.testing.assert_allclose(StringKernel(2, 0.5)(X)[0, 1], 4 / 9, rtol=1e-15)


def test_all_subsequences_of_four_words():
    X = words("SAY", "BAY", "SAD", "BAD")
    expected = [[8, 4, 4, 2], [4, 8, 2, 4], [4, 2, 8, 4], [2, 4, 4, 8]]
    np.testing.assert_array_equal(raw(None, 1, empty=True)(X), expected)
    np.testing.assert_array_equal(raw(3, 1, up_to=True, empty=True)(X), expected)
    np.testing.assert_array_equal(raw(None, 1)(X), np.array(expected) - 1)


@pytest.mark.parametrize(
    ("word", "text", "terms"),
    [("BAD", "DAABCCACABDCCDB", {8: 2, 11: 2}), ("SAY", "SATURDAY", {8: 2}), ("BIO", "BIOINFORMATICS", {3: 1, 7: 2})],
)
@pytest.mark.parametrize("decay", [1, 0.5, 0.8])
def test_features_of_longer_words(word, text, terms, decay):
    expected = sum(count * decay**span for span, count in terms.items())
    X = words(word, text)
    # K(u, x) = φ_u(u)·φ_u(x), φ_u(u) = decay³.
    np.testing.assert_allclose(raw(3, decay)(X)[0, 1] / decay**3, expected, rtol=1e-14)
    np.testing.assert_allclose(features(text, 3, decay)[word], expected, rtol=1e-14)
    names, weights = raw(3, decay)._kmer_weights(words(word), words(text), np.ones(1))
    np.testing.assert_allclose(weights[names.index(word)], expected, rtol=1e-14)


# ---- against the naive twins ---------------------------------------------------------------------


@pytest.mark.parametrize("decay", [Fraction(1), Fraction(9, 10), HALF, Fraction(1, 20)])
@pytest.mark.parametrize(
    "options", [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 3, "up_to": True}, {"n": None}, {"n": None, "empty": True}], ids=str
)
def test_every_subsequence_listed(options, decay):
    options = dict(options)
    n = options.pop("n")
    strings = ["", "A", "*", "AC", "ACGT", "AAAAAA", "A*C*G", *random_strings(4, 3, 8, masked=0.1, seed=3)]
    expected = matrix(strings, strings, n, decay, lambda *a, **k: by_listing(*a, **k)[0], **options)
    np.testing.assert_allclose(raw(n, decay, **options)(encode(strings)), expected, rtol=1e-13, atol=0)
    np.testing.assert_allclose(matrix(strings, strings, n, Fraction(decay), **options), expected, rtol=1e-13, atol=0)


def test_features_are_those_whose_product_it_is():
    strings = ["SATURDAY", "SUNDAY", "MONDAY"]
    found = [features(string, 3, HALF) for string in strings]
    expected = [[float(sum(v * g.get(u, 0) for u, v in f.items())) for g in found] for f in found]
    np.testing.assert_array_equal(raw(3, 0.5)(words(*strings)), expected)


@pytest.mark.parametrize("decay", [Fraction(1), Fraction(9, 10), HALF, Fraction(1, 20), Fraction(1, 10**6)])
def test_every_n_at_every_level_of_instructions(decay, set_level):
    strings = [*DEGENERATE, *random_strings(9, 1, 22, masked=0.05, seed=1)]
    X, rows = encode(strings), [5, 8, 11, 16]
    every = np.array([[by_lengths(strings[i], y, 12, decay) for y in strings] for i in rows], dtype=object)
    for n in range(1, 13):
        for up_to in (False, True):
            kernels = [raw(n, decay, up_to=up_to, precision=precision) for precision in ("double", "single")]
            double, single = (kernel(X) for kernel in kernels)
            expected = every[:, :, :n].sum(axis=2) if up_to else every[:, :, n - 1]
            np.testing.assert_allclose(double[rows], expected.astype(float), rtol=1e-13, atol=0)
            assert (np.abs(single - double) <= single_error(X, n, double)).all()
            for level in LEVELS:
                set_level(level)
                for kernel, wanted in zip(kernels, (double, single), strict=True):
                    np.testing.assert_array_equal(kernel(X), wanted)
                    np.testing.assert_array_equal(kernel.diagonal(X), np.diagonal(wanted))


def single_error(X, n, exact):
    """Return the error that single precision may have."""
    n = int(X.lengths.max()) if n is None else n
    roots = np.sqrt(np.diagonal(exact))
    return 2.0**-23 * (np.add.outer(X.lengths, X.lengths) + 2 * n + 4) * exact + 1e-30 * np.outer(roots, roots)


@pytest.mark.parametrize("options", [{"n": None}, {"n": None, "empty": True}, {"n": 20}], ids=str)
@pytest.mark.parametrize("decay", [Fraction(1), Fraction(9, 10), HALF, Fraction(1, 20)])
def test_other_modes_at_every_level_of_instructions(options, decay, set_level):
    options = dict(options)
    n = options.pop("n")
    strings = [*DEGENERATE, *random_strings(7, 1, 27, masked=0.05, seed=5)]
    X, rows = encode(strings), [8, 15]
    expected = matrix([strings[i] for i in rows], strings, n, decay, **options)
    for precision in ("double", "single"):
        kernel = raw(n, decay, precision=precision, **options)
        K = kernel(X)
        if precision == "double":
            double = K
            np.testing.assert_allclose(K[rows], expected, rtol=1e-13, atol=0)
        assert (np.abs(K - double) <= single_error(X, n, double)).all()
        for level in LEVELS:
            set_level(level)
            np.testing.assert_array_equal(kernel(X), K)


@pytest.mark.parametrize(
    ("alphabet", "letters"), [("dna", "ACGT"), ("rna", "ACGU"), ("protein", AMINO), ("HEC", "HEC"), (LETTERS, LETTERS)]
)
def test_every_alphabet(alphabet, letters):
    strings = random_strings(9, 4, 14, letters, seed=7)
    X = encode(strings, alphabet)
    expected = matrix(strings, strings, 3, Fraction(7, 10))
    np.testing.assert_allclose(raw(3, 0.7)(X), expected, rtol=1e-13, atol=0)
    normal = StringKernel(3, 0.7, short="zero", zero_diagonal="zero")(X)
    np.testing.assert_allclose(normal, normalised(expected), rtol=1e-13)


@pytest.mark.parametrize("lanes", [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 40])
def test_any_number_of_lanes(lanes):
    strings = random_strings(41, 1, 15, seed=lanes)
    X = encode(strings)
    for precision in ("double", "single"):
        kernel = raw(3, 0.6, precision=precision)
        whole = kernel(X)
        np.testing.assert_array_equal(
            kernel(X.take(slice(0, 3)), X.take(slice(1, 1 + lanes))), whole[:3, 1 : 1 + lanes]
        )
        np.testing.assert_array_equal(kernel(X.take(slice(0, lanes))), whole[:lanes, :lanes])
    np.testing.assert_allclose(raw(3, 0.6)(X)[:4], matrix(strings[:4], strings, 3, Fraction(3, 5)), rtol=1e-13, atol=0)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_neither_cuts_nor_order_nor_company_change_a_bit(precision, monkeypatch):
    X = encode(random_strings(60, 0, 80, AMINO, seed=2), "protein")
    kernel = StringKernel(4, 0.7, short="zero", zero_diagonal="zero", precision=precision)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    order = np.random.default_rng(1).permutation(60)
    np.testing.assert_array_equal(kernel(X.take(order)), K[np.ix_(order, order)])
    np.testing.assert_array_equal(kernel(X.take(order[:20]), X.take(order[20:])), K[np.ix_(order[:20], order[20:])])
    for step in (1, 7, 23):
        spans = lambda n, *_, step=step: [(i, min(i + step, n)) for i in range(0, n, step)]  # noqa: E731
        monkeypatch.setattr(blocks, "row_blocks", spans)
        np.testing.assert_array_equal(kernel(X, n_threads=2), K)


def test_what_is_masked_takes_its_place():
    X = encode(["AC", "A*C", "A****C", "*AC*"])
    np.testing.assert_array_equal(raw(2, 0.5)(X)[0], 0.5**2 * 0.5 ** np.array([2, 3, 6, 2]))


def test_windows_and_parts_are_taken_as_they_are():
    X = encode(["TTTTACGTACGTTTTT", "GGACGGACG"])
    K = raw(3, 0.5)(X.part(2, -2))
    np.testing.assert_array_equal(K, raw(3, 0.5)(encode([s[2:-2] for s in X.strings()])))


# ---- soft matching -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"n": 1}, {"n": 3}, {"n": 4, "up_to": True}, {"n": None}, {"n": 10}], ids=str)
@pytest.mark.parametrize("decay", [HALF, Fraction(4, 5), Fraction(1)])
def test_weights_of_matches(options, decay, set_level):
    options = dict(options)
    n = options.pop("n")
    strings = ["", "H", "HEC", "CCC*C", *random_strings(8, 2, 16, "HEC", seed=4)]
    X = encode(strings, "HEC")
    expected = matrix(strings, strings, n, decay, weight=soft_weight, **options)
    kernel = raw(n, decay, matching=SOFT, **options)
    K = kernel(X)
    np.testing.assert_allclose(K, expected, rtol=1e-13, atol=0)
    single = kernel.set_params(precision="single")(X)
    assert (np.abs(single - K) <= 2 * single_error(X, n, K)).all()
    for level in LEVELS:
        set_level(level)
        np.testing.assert_array_equal(kernel(X), single)


def test_the_unit_matrix_is_hard_matching():
    X = encode(random_strings(20, 5, 30, "HEC", seed=8), "HEC")
    np.testing.assert_array_equal(raw(4, 0.7, matching=np.eye(3).tolist())(X), raw(4, 0.7)(X))


def test_blosum62_gives_odds_and_is_positive_definite():
    alphabet = encode(["ACD"], "protein").alphabet
    weights = letter_weights("BLOSUM62", alphabet)
    np.testing.assert_array_equal(np.diagonal(weights), np.ones(20))
    np.testing.assert_array_equal(weights, weights.T)
    assert weights.min() > 0
    # Scores: I I 4, V V 4, I V 3; W W 11, A A 4, A W −3. Odds are exp(λ·score).
    place = AMINO.index
    scale = math.log(weights[place("I"), place("V")]) / (3 - 4)
    np.testing.assert_allclose(weights[place("A"), place("W")], math.exp(scale * (-3 - 7.5)), rtol=1e-10)
    assert 0.3 < scale < 0.36
    assert definite("BLOSUM62")
    assert StringKernel(2, matching="BLOSUM62").traits.positive_semidefinite
    assert not StringKernel(2, matching=[[1, 2], [2, 1]], alphabet="HP").traits.positive_semidefinite
    assert StringKernel(2, matching="NUC.4.4").traits.positive_semidefinite == definite("NUC.4.4", "dna")


# ---- large and small numbers ---------------------------------------------------------------------


def homopolymer(length, n, other=None):
    """Return K of two strings of one letter, λ = 1."""
    return float(math.comb(length, n) * math.comb(length if other is None else other, n))


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("n", [8, 20, 40])
def test_counts_of_a_letter_repeated(n, precision):
    X = encode(["A" * 1000, "A" * 700 + "C" * 90, "ACGT" * 100])
    K = raw(n, 1, precision=precision)(X)
    tolerance = 1e-12 if precision == "double" else 2e-4
    np.testing.assert_allclose(K[0, :2], [homopolymer(1000, n), homopolymer(1000, n, 700)], rtol=tolerance)
    np.testing.assert_allclose(K[0, 2], homopolymer(1000, n, 100), rtol=tolerance)


@pytest.mark.parametrize("lengths", [(900, 800, 600), (1500, 1000, 60)])
def test_subsequences_beyond_any_double(lengths):
    X = encode(["A" * length for length in lengths])
    # Σ_p C(a, p)·C(b, p) = C(a + b, a)
    counts = [[math.comb(a + b, a) - 1 for b in lengths] for a in lengths]
    expected = [
        [math.exp(0.5 * (2 * big_log(counts[i][j]) - big_log(counts[i][i]) - big_log(counts[j][j]))) for j in range(3)]
        for i in range(3)
    ]
    kernel = StringKernel(None, 1)
    K = kernel(X)
    np.testing.assert_allclose(K, expected, rtol=1e-9)
    np.testing.assert_array_equal(np.diagonal(K), np.ones(3))
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(kernel(X.take([2, 0]), X.take([1])), K[[2, 0], 1:2])
    with pytest.raises(SequenceError, match="overflows") as error:
        raw(None, 1)(X)
    assert error.value.record == "1"


def big_log(number):
    """Return the logarithm of a large integer."""
    shift = max(0, number.bit_length() - 64)
    return math.log(number >> shift) + shift * math.log(2)


def test_wide_numbers_have_the_bits_of_doubles():
    from seqkern.kernels.subsequence import _subsequence
    from seqkern.kernels.subsequence.chains import Subsequences

    strings = [*DEGENERATE, *random_strings(8, 5, 40, masked=0.05, seed=6)]
    X = encode(strings)
    for n, up_to in ((1, False), (3, False), (10, False), (4, True), (None, False)):
        for decay in (1.0, 0.5, 0.3, 0.01):
            for weights in (np.eye(4), np.full((4, 4), 0.3) + 0.7 * np.eye(4)):
                made = Subsequences(StringKernel(n, decay, up_to=up_to, matching=weights.tolist()), X)
                for i in range(len(X)):
                    record = made.records(np.array([i]))
                    mantissa, power = _subsequence.wide_value(made.recursion, record, record)
                    assert math.ldexp(mantissa, power) == made.diagonal()[i]


def test_spans_that_leave_nothing_of_a_double():
    gap = "*" * 700
    X = encode([f"A{gap}C{gap}G", f"A{gap}C{gap}GT", "ACGT"])
    K = StringKernel(3, 0.5)(X)
    assert K[0, 0] == K[1, 1] == 1
    np.testing.assert_allclose(K[0, 1], three_letters(X.string(0), X.string(1)), rtol=1e-12)
    np.testing.assert_allclose(K[0, 2], three_letters(X.string(0), X.string(2)), rtol=1e-12)


def three_letters(x, y):
    """Return the normalised K for three letters, decay ½, of strings with few unmasked ones."""

    def kernel(a, b):
        total = Fraction(0)
        chosen = [combinations([i for i, letter in enumerate(s) if letter != "*"], 3) for s in (a, b)]
        for one, other in product(*chosen):
            if all(a[i] == b[j] for i, j in zip(one, other, strict=True)):
                total += HALF ** (one[-1] - one[0] + 1 + other[-1] - other[0] + 1)
        return total

    square = kernel(x, y) ** 2 / (kernel(x, x) * kernel(y, y))
    # The root as an integer, times 2^2000: the square is no double.
    return float(Fraction(math.isqrt((square.numerator << 4000) // square.denominator), 1 << 2000))


def test_powers_are_those_of_the_decay():
    for decay in (1.0, 0.5, 0.9, 1e-6):
        up, down, up_power, down_power = powers(decay, 300)
        for i in (0, 1, 2, 17, 299):
            for mantissa, power, exact in (
                (up, up_power, Fraction(decay) ** -i),
                (down, down_power, Fraction(decay) ** i),
            ):
                value = Fraction(mantissa[i]) * Fraction(2) ** int(power[i])
                assert abs(value / exact - 1) <= Fraction(1, 2**53)


def test_long_sequences_against_the_recursion_in_exact_numbers():
    strings = random_strings(2, 110, 120, AMINO, seed=9)
    X = encode(strings, "protein")
    for decay in (0.5, 0.875):
        expected = by_recursion(*strings, 4, Fraction(decay))
        K = raw(4, decay)(X)[0, 1]
        assert abs(Fraction(K) / expected - 1) < 1e-13
        single = raw(4, decay, precision="single")(X)[0, 1]
        assert abs(Fraction(single) / expected - 1) < Fraction(2 * 120 + 12, 2**23)


# ---- taken apart ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"n": 1},
        {"n": 2, "decay": 0.8},
        {"n": 4},
        {"n": 3, "up_to": True},
        {"n": None, "decay": 0.7},
        {"n": None, "decay": 1, "empty": True},
        {"n": 3, "matching": SOFT},
        {"n": 3, "up_to": True, "matching": SOFT},
    ],
    ids=str,
)
def test_shares_of_letters(options):
    strings = ["H", "HEC*E", "CCHEECHH", *random_strings(3, 6, 9, "HEC", seed=1)]
    others = ["E", *random_strings(4, 4, 9, "HEC", seed=2)]
    X, support = encode(strings, "HEC"), encode(others, "HEC")
    coefficients = np.array([0.5, -1.0, 2.0, 0.0, 0.25])
    kernel = StringKernel(**{"decay": 0.5, **options}, normalize=False, short="zero")
    given = {key: value for key, value in options.items() if key in ("up_to", "empty")}
    weight = {"weight": soft_weight} if "matching" in options else {}
    expected = []
    for x in strings:
        letters = np.zeros(len(x))
        for c, z in zip(coefficients, others, strict=True):
            total, parts = by_listing(x, z, options["n"], options.get("decay", 0.5), **given, **weight)
            letters += c * (np.array(parts, dtype=float) + (1 / len(x) if options.get("empty") else 0))
            assert math.isclose(sum(parts) + bool(options.get("empty")), total, rel_tol=1e-12)
        expected.extend(letters)
    shares = decisions.attributions(kernel, X, support, coefficients)
    np.testing.assert_allclose(shares, expected, rtol=1e-11, atol=1e-14)


def test_lengths_are_divided_by_few_nodes():
    for longest in (1, 2, 10, 100, 1000, 10_000):
        nodes, factors = length_nodes(longest)
        assert len(nodes) <= longest // 2 + 1
        for p in {1, min(2, longest), (longest + 1) // 2, longest}:
            assert math.isclose(p * (factors @ nodes**p), 1, rel_tol=1e-10)


@pytest.mark.parametrize("n", [2, 5, None])
def test_shares_add_up_to_the_kernel(n):
    X = encode(random_strings(4, 20, 200, AMINO, seed=3), "protein")
    support = encode(random_strings(5, 20, 120, AMINO, seed=4), "protein")
    coefficients = np.random.default_rng(1).normal(size=5)
    for normalize in (False, True):
        kernel = StringKernel(n, 0.6, normalize=normalize)
        prepared = kernel.prepare(support)
        shares = decisions.attributions(kernel, X, support, coefficients)
        sums = np.add.reduceat(shares, np.concatenate(([0], np.cumsum(X.lengths)[:-1])))
        values = kernel(X, support)
        scale = np.abs(values) @ np.abs(coefficients)
        assert (np.abs(sums - values @ coefficients) <= 1e-12 * scale).all()
        assert len(prepared) == 5


def test_weights_of_words():
    X, support = encode(["ACGTA", "GG*GA"]), encode(["ACCGT", "TTGACA", "AC"])
    coefficients = np.array([1.0, -0.5, 2.0])
    for up_to in (False, True):
        kernel = StringKernel(3, 0.7, up_to=up_to, normalize=False, short="zero")
        names, weights = kernel._kmer_weights(X, support, coefficients)
        found = [features(z, 3, 0.7, up_to=up_to) for z in support.strings()]
        expected = [sum(c * f.get(u, 0) for c, f in zip(coefficients, found, strict=True)) for u in names]
        np.testing.assert_allclose(weights, expected, rtol=1e-13, atol=1e-15)
        assert len(names) == len(set(names))
        assert {"ACG", "GTA", "TGA"} <= set(names)
    with pytest.raises(ParameterError, match="no k-mers"):
        StringKernel(None)._kmer_weights(X, support, coefficients)


def test_counts_too_large_are_not_taken_apart():
    X = encode(["A" * 530])
    with pytest.raises(SequenceError, match="overflow"):
        decisions.attributions(StringKernel(None, 1), X, X, np.ones(1))


# ---- bad input and plans -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n": 0}, "n=0"),
        ({"n": 2.5}, "n=2.5"),
        ({"decay": 0}, "decay=0"),
        ({"decay": 1.1}, "decay=1.1"),
        ({"decay": 1e-7}, "decay"),
        ({"precision": "half"}, "precision"),
        ({"up_to": "yes"}, "up_to"),
        ({"empty": True}, "empty subsequence"),
    ],
)
def test_parameters_outside_their_domain(params, match):
    with pytest.raises(ParameterError, match=match):
        StringKernel(**params)(["ACGTACGT"])


@pytest.mark.parametrize(
    ("matching", "match"),
    [
        ("BLOSUM61", "BLOSUM61"),
        ([[1, 0], [0, 1]], "4 rows of 4"),
        ([[1, 0], [0]], "4 rows of 4"),
        (np.where(np.eye(4) > 0, 1.0, -0.1).tolist(), "not possible"),
        (np.triu(np.ones((4, 4))).tolist(), "not possible"),
        ((np.ones((4, 4)) * np.nan).tolist(), "not possible"),
        ((np.ones((4, 4)) * 1e9).tolist(), "not possible"),
    ],
)
def test_weights_that_are_none(matching, match):
    with pytest.raises(ParameterError, match=match):
        StringKernel(2, matching=matching)(["ACGTACGT"])


def test_short_sequences_and_those_of_nothing():
    with pytest.raises(SequenceError, match="n=4") as error:
        StringKernel(4)(["ACGT", "ACG"])
    assert error.value.record == "2"
    assert StringKernel(4, up_to=True)._min_length() == 1
    assert StringKernel(None, empty=True)._min_length() == 0
    X = encode(["ACGT", "AC*"])
    with pytest.raises(SequenceError, match="zero_diagonal=zero"):
        StringKernel(3)(X)
    K = StringKernel(3, zero_diagonal="zero")(X)
    np.testing.assert_array_equal(K, [[1, 0], [0, 0]])


def test_memory_that_nobody_has_is_refused_before():
    with pytest.raises(SequenceError, match="GB"):
        StringKernel(20_000)(["ACGT" * 10_000])


def test_the_plan_grows_with_the_work(set_level):
    X = encode(random_strings(30, 50, 60))
    double, single = (StringKernel(4, precision=p).plan(X) for p in ("double", "single"))
    assert single.seconds < double.seconds
    assert StringKernel(8).plan(X).seconds > double.seconds
    assert StringKernel(4).plan(X, X).seconds > 1.5 * double.seconds
    assert double.bytes > 0
    set_level(0)
    assert StringKernel(4).plan(X).seconds > double.seconds
