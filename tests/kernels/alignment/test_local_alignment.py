"""The local alignment kernel: against its naive twins, where numbers become large or small, and to the bit."""

import numpy as np
import pytest
from naive import random_strings
from naive_local_alignment import alignments, best_score, by_listing, by_recursion

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import LocalAlignmentKernel, blocks
from seqkern.kernels.alignment.local_alignment import Factors, product
from seqkern.kernels.products import _product
from seqkern.kernels.substitution_scores import score_table
from seqkern.sequences.alphabets import PROTEIN
from seqkern.sequences.sequence_set import SequenceSet

AMINO = "ACDEFGHIKLMNPQRSTVWY"
LEVELS = range(_product.level() + 1)
BLOSUM62 = score_table("BLOSUM62", PROTEIN)
DEGENERATE = ["", "A", "W", "*", "AC", "***", "WWWWWWWW", "PPPPPPPP", "A*C*G", "ACDEFGHIKLMNPQRSTVWY"]
SINGLE_BOUND, DOUBLE_BOUND = 2.0**-22, 2.0**-51  # times |x| + |y| + 40: of the error of ln K


def score(a, b):
    """Return the score of two letters in BLOSUM62."""
    return BLOSUM62[AMINO.find(a) % 21, AMINO.find(b) % 21]  # the masked letter's is the last


def encode(strings, alphabet="protein"):
    return SequenceSet.from_strings(strings, alphabet, unknown="mask_all")


def proteins(*strings):
    return encode(strings)


def logarithms(X, Y=None, beta=0.5, precision="single", **options):
    """Return ln K."""
    return LocalAlignmentKernel(beta, precision=precision, **options)(X, Y) * beta


def method(beta=0.5, gap_open=11, gap_extend=1, scores=BLOSUM62):
    return Factors.of(beta * scores, beta * gap_open, beta * gap_extend).method


def check(found, expected, X, bound, Y=None):
    """Check ln K against the bound of the error."""
    limit = bound * (np.add.outer(X.lengths, (X if Y is None else Y).lengths) + 40)
    assert np.all(np.abs(found - expected) <= limit + 1e-14 * np.abs(expected)), np.abs(found - expected).max()


@pytest.fixture
def set_level():
    """Return the function that sets the level of instructions; it is the highest again after the test."""
    highest = _product.level()
    yield _product.set_level
    _product.set_level(highest)


# ---- against the naive twins ---------------------------------------------------------------------

COSTS = [(11, 1), (0, 0), (3, 3), (2, 0), (1000, 1), (1e5, 1e5)]


@pytest.mark.parametrize(("gap_open", "gap_extend"), COSTS)
@pytest.mark.parametrize("beta", [0.001, 0.5, 3, 300])
def test_every_alignment_listed(beta, gap_open, gap_extend, set_level):
    strings = [*DEGENERATE[:7], *random_strings(5, 2, 6, letters=AMINO, masked=0.1, seed=1), "WHW", "WHHW"]
    listed = np.array([[by_listing(x, y, score, beta, gap_open, gap_extend) for y in strings] for x in strings])
    twin = np.array([[by_recursion(x, y, score, beta, gap_open, gap_extend) for y in strings] for x in strings])
    np.testing.assert_allclose(twin, listed, rtol=1e-14, atol=1e-14)
    X = proteins(*strings)
    for level in LEVELS:
        set_level(level)
        for precision, bound in (("single", SINGLE_BOUND), ("double", DOUBLE_BOUND)):
            found = logarithms(X, beta=beta, gap_open=gap_open, gap_extend=gap_extend, precision=precision)
            check(found, listed, X, bound)


def test_each_way_to_compute_was_tried():
    assert method(0.5) == "single"
    assert method(3) == "double"
    assert method(300) == method(0.5, gap_open=1e5) == "logarithms"
    assert method(0.5, 0, 0) in ("single", "double")


@pytest.mark.parametrize(("beta", "gap_open", "gap_extend"), [(0.5, 11, 1), (0.05, 4, 0), (2, 2, 2)])
def test_lengths_around_strips_lanes_and_blocks(beta, gap_open, gap_extend, set_level):
    rng = np.random.default_rng(2)
    longest = "".join(rng.choice([*AMINO], 140))
    cuts = [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128, 129]
    X = proteins(*(longest[: n // 2] + longest[140 - n + n // 2 :] for n in cuts))
    chosen = [1, 6, 12, 19, 22]
    expected = [
        [by_recursion(x, y, score, beta, gap_open, gap_extend) for y in X.strings()] for x in X.take(chosen).strings()
    ]
    for level in LEVELS:
        set_level(level)
        for precision, bound in (("single", SINGLE_BOUND), ("double", DOUBLE_BOUND)):
            options = {"beta": beta, "gap_open": gap_open, "gap_extend": gap_extend, "precision": precision}
            check(logarithms(X, **options)[chosen], np.array(expected), X.take(chosen), bound, X)


@pytest.mark.parametrize(
    "scores",
    [
        [[5, 3, 1], [3, 6, 2], [1, 2, 4]],
        [[1, -9, -9], [-9, 1, -9], [-9, -9, 1]],
        [[20, -9000, 0], [-9000, 20, -300], [0, -300, 20]],
    ],
)
@pytest.mark.parametrize("gaps", [(0, 0), (2, 0.5), (30, 30), (900, 1)])
def test_own_scores_all_positive_and_hardly_any(scores, gaps):
    strings = random_strings(8, 1, 40, letters="HEC", masked=0.05, seed=3)
    table = np.array(scores, dtype=float)
    table = np.pad(table, (0, 1), constant_values=min(0, table.min()))
    expected = [[by_recursion(x, y, lambda a, b: table["HEC*".index(a), "HEC*".index(b)], 0.3, *gaps) for y in strings]
                for x in strings]  # fmt: skip
    X = encode(strings, "HEC")
    for precision, bound in (("single", SINGLE_BOUND), ("double", DOUBLE_BOUND)):
        found = LocalAlignmentKernel(0.3, scores, *gaps, precision=precision)(X) * 0.3
        check(found, np.array(expected), X, bound)


def test_dna_and_rna_are_scored_alike():
    strings = random_strings(5, 5, 30, seed=4)
    kernel = LocalAlignmentKernel(0.4, "NUC.4.4", 10)
    rna = [string.replace("T", "U") for string in strings]
    np.testing.assert_array_equal(kernel(encode(strings, "dna")), kernel(encode(rna, "rna")))


# ---- large and small numbers ---------------------------------------------------------------------


def test_with_a_large_beta_it_is_the_score_of_smith_and_waterman():
    strings = [*random_strings(6, 3, 7, letters=AMINO, seed=5), "WWHW", "WWW"]
    best = np.array([[best_score(x, y, score, 11, 1) for y in strings] for x in strings])
    number = np.log([[sum(1 for _ in alignments(x, y, score, 11, 1)) for y in strings] for x in strings])
    for beta in (0.5, 3, 30, 1000):
        K = LocalAlignmentKernel(beta)(proteins(*strings))
        assert np.all(best - 1e-6 <= K)
        assert np.all(best + number / beta + 1e-6 >= K)


def in_logarithms(kernel, X):
    """Return ln K of all pairs, computed in logarithms."""
    payload = kernel._prepare(X, None)
    logs = payload.factors.logarithms
    payload.factors = Factors(logs, logs, "logarithms")
    return product(payload, payload, np.empty((len(X), len(X))))


def test_fifteen_hundred_times_one_letter():
    X = proteins("W" * 1500)
    found = logarithms(X, precision="double")
    assert found[0, 0] > 0.5 * 1500 * 11
    np.testing.assert_allclose(found, in_logarithms(LocalAlignmentKernel(), X), rtol=1e-13)
    np.testing.assert_array_equal(logarithms(X), found)  # longer than what single precision is for


def test_a_giant_among_short_ones():
    rng = np.random.default_rng(11)
    giant = "".join(rng.choice([*AMINO], 6000))
    X = proteins("ACD", giant[100:180], giant[5000:5100], "W" * 30, giant, giant[5900:] + giant[:60])
    exact = logarithms(X, precision="double")
    check(logarithms(X), exact, X, SINGLE_BOUND)
    assert np.all(exact[4, [1, 2]] > exact.diagonal()[[1, 2]])  # they are parts of the giant
    assert exact[4, 4] > 6000


def related(rng, letters, share=0.6):
    """Return a sequence that has a share of the letters of another one."""
    return np.where(rng.random(len(letters)) < share, letters, rng.choice([*AMINO], len(letters)))


@pytest.mark.parametrize("between", [30, 300, 900])
def test_two_good_alignments_far_apart(between, set_level):
    rng = np.random.default_rng(6)
    first, second = (rng.choice([*AMINO], 60) for _ in range(2))
    strings = [
        "".join(np.concatenate([part(first), rng.choice([*AMINO], between), part(second)]))
        for part in (lambda s: s, lambda s: related(rng, s), lambda s: related(rng, s))
    ]
    # In another order, no alignment holds both; the second one is down and left of the first, or up and right of it.
    strings += [s[60 + between :] + s[60 : 60 + between] + s[:60] for s in strings]
    X = proteins(*strings, "".join(first), "".join(second))
    for beta in (0.5, 0.2):
        exact = logarithms(X, beta=beta, precision="double")
        for level in LEVELS:
            set_level(level)
            check(logarithms(X, beta=beta), exact, X, SINGLE_BOUND)


def test_sums_in_double_precision_are_those_of_logarithms():
    rng = np.random.default_rng(7)
    ancestor = rng.choice([*AMINO], 200)
    X = proteins(*("".join(related(rng, ancestor, share)[: rng.integers(130, 201)]) for share in np.linspace(0, 1, 8)))
    for beta, costs in ((0.5, (11, 1)), (1, (5, 0)), (4, (11, 1))):
        kernel = LocalAlignmentKernel(beta, "BLOSUM62", *costs, precision="double")
        assert kernel._factors(PROTEIN).method == "double"
        np.testing.assert_allclose(kernel(X) * beta, in_logarithms(kernel, X), rtol=1e-13)


def test_what_is_lost_beside_the_richest_words(set_level):
    """Tryptophans make numbers grow fastest: they begin and end beside each other, above and below."""
    rng = np.random.default_rng(8)
    filler = "".join(rng.choice([*"AGSP"], 40))
    pieces = ["W" * 40, filler, "W" * 8 + "G" * 3, "WC" * 12, "P" * 30]
    X = proteins(*("".join(pieces[i] for i in rng.permutation(5)) for _ in range(18)), "W" * 100, "WG" * 50)
    for costs in ((11, 1), (40, 2), (1, 0)):
        exact = logarithms(X, gap_open=costs[0], gap_extend=costs[1], precision="double")
        for level in LEVELS:
            set_level(level)
            check(logarithms(X, gap_open=costs[0], gap_extend=costs[1]), exact, X, SINGLE_BOUND)


@pytest.mark.parametrize(
    ("beta", "scores", "gaps"),
    [(0.25, (645, 235, 286), (1, 1)), (1, (80, -16, 36), (0, 0)), (1, (80, -16, 36), (16, 0))],
)
def test_alignments_that_come_back_to_a_strip_or_its_rows(beta, scores, gaps, set_level):
    """Next to what underflows there is a way round the largest number of a tile, by many pairs in few columns."""
    rng = np.random.default_rng(12)
    table = np.array([[scores[0], scores[1]], [scores[1], scores[2]]], dtype=float)
    rows = ["H" * 107, "E" * 30 + "H" * 50, "".join(rng.choice([*"HE"], 150))]
    lanes = ["H" * 8, "EEEEHHHH", "H" * 9 + "EE", "H" * 63]
    expected = np.array(
        [
            [by_recursion(x, y, lambda a, b: table["HE".index(a), "HE".index(b)], beta, *gaps) for y in lanes]
            for x in rows
        ]
    )
    X, Y = encode(rows, "HE"), encode(lanes, "HE")
    for level in LEVELS:
        set_level(level)
        for precision, bound in (("single", SINGLE_BOUND), ("double", DOUBLE_BOUND)):
            found = LocalAlignmentKernel(beta, table.tolist(), *gaps, precision=precision)(X, Y) * beta
            check(found, expected, X, bound, Y)


# ---- to the bit ----------------------------------------------------------------------------------


def mixed():
    """Return sequences of all kinds, so that lanes beside each other need powers of two, or none."""
    rng = np.random.default_rng(9)
    families = [rng.choice([*AMINO], n) for n in (50, 90, 130, 220)]
    records = ["".join(related(rng, family, share)) for family in families for share in (1, 0.8, 0.5, 0)]
    return proteins(*records, *DEGENERATE[1:], "W" * 70, "".join(rng.choice([*AMINO], 1030)), "".join(families[2]))


def test_bits_do_not_depend_on_the_other_lanes(set_level, monkeypatch):
    X = mixed()
    monkeypatch.setattr(blocks, "row_blocks", lambda n, *_: [(i, min(i + 7, n)) for i in range(0, n, 7)])
    for level in LEVELS:
        set_level(level)
        for beta, precision in ((0.5, "single"), (0.5, "double"), (3, "double")):
            kernel = LocalAlignmentKernel(beta, precision=precision)
            K = kernel(X, n_threads=2)
            np.testing.assert_array_equal(K, K.T)
            np.testing.assert_array_equal(kernel.diagonal(X), np.diagonal(K))
            for i in (0, 3, 9, 15, 25):
                np.testing.assert_array_equal(kernel(X.take([i]), X)[0], K[i])
                np.testing.assert_array_equal(kernel(X, X.take([i]))[:, 0], K[i])
            for i, j in ((0, 1), (12, 15), (8, 27), (25, 25)):
                assert kernel(X.take([i]), X.take([j]))[0, 0] == K[i, j]


def test_levels_of_instructions_differ_by_roundings_only(set_level):
    X = mixed()
    found = []
    for level in LEVELS:
        set_level(level)
        found.append([logarithms(X, precision=precision) for precision in ("single", "double")])
    for single, double in found[1:]:
        np.testing.assert_allclose(single, found[0][0], rtol=0, atol=3e-6)
        np.testing.assert_allclose(double, found[0][1], rtol=1e-13)


# ---- the kernel ----------------------------------------------------------------------------------


def test_without_the_logarithm():
    X = proteins(*random_strings(12, 5, 60, letters=AMINO, seed=10), "A", "A")
    ln = logarithms(X, precision="double")
    K = LocalAlignmentKernel(logarithm=False, normalize=True, precision="double")(X)
    np.testing.assert_allclose(K, np.exp(ln - np.add.outer(ln.diagonal(), ln.diagonal()) / 2), rtol=1e-12)
    np.testing.assert_array_equal(K.diagonal(), 1)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    short = proteins("ACDW", "WAC", "")
    raw = LocalAlignmentKernel(logarithm=False)(short)
    np.testing.assert_allclose(raw, np.exp(logarithms(short)), rtol=1e-12)
    np.testing.assert_array_equal(raw[2], 1)
    np.testing.assert_array_equal(LocalAlignmentKernel(logarithm=False)(short, short.take([2]))[:, 0], 1)


def test_definiteness_is_declared_as_it_is():
    plain = {"logarithm": False, "normalize": True}
    assert LocalAlignmentKernel(**plain).traits.positive_semidefinite
    assert not LocalAlignmentKernel().traits.positive_semidefinite
    assert not LocalAlignmentKernel(0.05, **plain).traits.positive_semidefinite
    assert not LocalAlignmentKernel(matrix=[[0, 9], [9, 0]], alphabet="AB", **plain).traits.positive_semidefinite
    assert LocalAlignmentKernel(matrix=[[9, 0], [0, 9]], alphabet="AB", **plain).traits.positive_semidefinite
    # An indefinite matrix of scores makes an indefinite kernel; the logarithm is indefinite by itself.
    X = SequenceSet.from_strings(["A", "B"], "AB")
    assert np.linalg.eigvalsh(LocalAlignmentKernel(matrix=[[0, 9], [9, 0]], **plain)(X))[0] < -0.1


def test_numbers_too_large_without_the_logarithm_are_refused():
    X = proteins("ACD", "W" * 200)
    with pytest.raises(SequenceError, match="logarithm=true") as error:
        LocalAlignmentKernel(logarithm=False)(X)
    assert error.value.record == X.ids[1]


def test_sequences_without_letters():
    X = proteins("", "ACD")
    np.testing.assert_array_equal(LocalAlignmentKernel()(X)[0], 0)
    with pytest.raises(SequenceError, match="zero_diagonal=zero"):
        LocalAlignmentKernel(normalize=True)(X)
    np.testing.assert_array_equal(LocalAlignmentKernel(normalize=True, zero_diagonal="zero")(X), [[0, 0], [0, 1]])


def test_letters_share_what_alignments_make_of_them():
    X = proteins("ACDEFG", "AAWCAA", "PPPP")
    shares = LocalAlignmentKernel(2)._attribute(X, proteins("WC"), np.ones(1))
    values = LocalAlignmentKernel(2)(X, proteins("WC"))[:, 0]
    np.testing.assert_allclose([part.sum() for part in np.split(shares, [6, 12])], values, rtol=1e-12)
    assert set(np.argsort(shares[6:12])[-2:]) == {2, 3}
    # How likely a letter is in a pair, by listing: W with W, C with C, both, and what scores less.
    weights = {}
    for rows, columns in (((2,), (0,)), ((2,), (1,)), ((3,), (0,)), ((3,), (1,)), ((2, 3), (0, 1))):
        total = sum(score("AAWCAA"[i], "WC"[j]) for i, j in zip(rows, columns, strict=True))
        for i in rows:
            weights[i] = weights.get(i, 0) + np.exp(2 * total)
    assert shares[8] / shares[9] == pytest.approx(weights[2] / weights[3], rel=1e-6)


@pytest.mark.parametrize(
    "options",
    [{"beta": 0}, {"beta": -1}, {"beta": float("nan")}, {"precision": "half"}, {"logarithm": "yes"}, {"gap_open": 0.5},
     {"gap_extend": -1}, {"matrix": "NOTHING"}],
    ids=str,
)  # fmt: skip
def test_bad_parameters(options):
    with pytest.raises(ParameterError):
        LocalAlignmentKernel(**options)(proteins("ACD"))
