"""The profile alignment kernel: against its naive twins, alignments of letters, and where numbers become large."""

import math

import numpy as np
import pytest
from naive_profile_alignment import all_alignments, best_alignment, column_scores

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import ProfileAlignmentKernel, SmithWatermanKernel, blocks
from seqkern.kernels.alignment.profile_alignment import working_bytes
from seqkern.kernels.decisions import attributions
from seqkern.kernels.products import _product
from seqkern.kernels.substitution_scores import score_table
from seqkern.sequences.sequence_set import SequenceSet

AMINO = "ACDEFGHIKLMNPQRSTVWY"
LEVELS = range(_product.level() + 1)
# Around the widths of strips (4), tiles (3), chunks of rows (12), vectors.
LENGTHS = [0, 1, 2, 3, 4, 5, 0, 7, 8, 9, 11, 12, 13, 20, 24, 25, 36, 37, 1, 12, 4, 21]
TINY = float(np.finfo(np.float32).tiny)


def families(lengths, seed=1, alphabet="protein", size=20):
    """Return sequences with random profiles, some of them of one family, and log-odds scores of at least -8."""
    rng = np.random.default_rng(seed)
    family = rng.dirichlet(np.full(size, 0.3), max([0, *lengths]))
    profiles = []
    for i, length in enumerate(lengths):
        own = rng.dirichlet(np.full(size, 0.3), length)
        profiles.append(own if i % 3 else 0.8 * family[:length] + 0.2 * own)
    profile = np.concatenate([np.zeros((0, size)), *profiles]) + 1e-4
    profile /= profile.sum(axis=1, keepdims=True)
    pssm = np.maximum(2 * np.log2(profile * size), -8) - 0.3
    return with_tracks(lengths, profile, pssm, alphabet)


def with_tracks(lengths, profile, pssm, alphabet="protein"):
    """Return sequences of any letters with these tracks."""
    tracks = {"profile": np.float32(profile), "pssm": np.float32(pssm)}
    ids = [f"s{i}" for i in range(len(lengths))]
    offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return SequenceSet.from_offsets(np.zeros(len(profile), np.uint8), offsets, ids, alphabet, tracks)


def of_letters(strings, matrix="BLOSUM62"):
    """Return proteins whose profiles are their letters, and scores those of a matrix."""
    X = SequenceSet.from_strings(strings, "protein")
    profile = np.where(X.codes[:, None] == np.arange(20), 1.0, TINY)
    return with_tracks(X.lengths, profile, score_table(matrix, X.alphabet)[X.codes, :20])


def columns(X, i):
    """Return (profile, pssm) of record i."""
    return tuple(X.tracks[name][X.starts[i] : X.stops[i]] for name in ("profile", "pssm"))


def naive(kernel, X, Y=None):
    """Return the matrix by the literal recursions."""
    Y = X if Y is None else Y
    K = np.zeros((len(X), len(Y)))
    for i in range(len(X)):
        for j in range(len(Y)):
            S = column_scores(columns(X, i), columns(Y, j), kernel.shift)
            gaps = kernel.gap_open, kernel.gap_extend
            if kernel.method == "smith_waterman":
                K[i, j] = best_alignment(S, *gaps)
            else:
                K[i, j] = all_alignments(S, kernel.beta, *gaps)
    return K


def random_letters(rng, length):
    return "".join(rng.choice(list(AMINO), length))


@pytest.fixture
def set_level():
    """Return the function that sets the level of instructions; it is the highest again after the test."""
    highest = _product.level()
    yield _product.set_level
    _product.set_level(highest)


BEST = ProfileAlignmentKernel(shift=0.1)
SUM = ProfileAlignmentKernel(method="local_alignment", shift=-0.2)


# ---- the recursions ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [BEST, SUM], ids=["best", "sum"])
def test_naive_twin_at_every_level_of_instructions(kernel, set_level):
    X = families(LENGTHS)
    wanted = naive(kernel, X)
    assert wanted.max() > 50
    by_level = []
    for level in LEVELS:
        set_level(level)
        K = kernel(X)
        np.testing.assert_allclose(K, wanted, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(K, K.T)
        by_level.append(K)
    for K in by_level[2:]:
        # Both levels with fused multiply-adds.
        np.testing.assert_array_equal(K, by_level[1])


@pytest.mark.parametrize("gaps", [(0.0, 0.0), (1.0, 0.0), (2.0, 2.0), (11.5, 0.25), (500.0, 300.0)])
@pytest.mark.parametrize("method", ["smith_waterman", "local_alignment"])
def test_naive_twin_with_other_gaps_and_alphabets(method, gaps):
    options = {"method": method, "gap_open": gaps[0], "gap_extend": gaps[1]}
    X = families([5, 13, 22], seed=2, alphabet="dna", size=4)
    kernel = ProfileAlignmentKernel(**options, beta=0.4, shift=-0.5)
    np.testing.assert_allclose(kernel(X), naive(kernel, X), rtol=1e-6)


def test_empty_profiles_have_no_alignment():
    X = families([0, 3, 0])
    for kernel in (BEST, SUM):
        K = kernel(X)
        assert not K[[0, 2]].any()
        assert K[1, 1] > 0
        assert kernel(families([]), X).shape == (0, 3)
        with pytest.raises(SequenceError, match="zero_diagonal=zero"):
            ProfileAlignmentKernel(method=kernel.method, normalize=True)(X)


def test_one_pair_of_columns():
    X = families([1, 1], seed=3)
    score = column_scores(columns(X, 0), columns(X, 1))[0, 0]
    K = ProfileAlignmentKernel(method="local_alignment", beta=0.5)(X)
    assert K[0, 1] == pytest.approx(2 * math.log1p(math.exp(0.5 * score)), rel=1e-6)
    assert ProfileAlignmentKernel()(X)[0, 1] == pytest.approx(max(0, score), rel=1e-6)


def test_padding_is_no_column_whatever_the_shift():
    X = families([3, 40], seed=4)
    for kernel in (BEST, SUM):
        shifted = ProfileAlignmentKernel(method=kernel.method, shift=4.0)
        np.testing.assert_allclose(shifted(X), naive(shifted, X), rtol=1e-6)


# ---- profiles of one letter each -----------------------------------------------------------------


def letters_and_relatives(seed):
    rng = np.random.default_rng(seed)
    ancestor = random_letters(rng, 60)
    strings = [random_letters(rng, n) for n in (1, 5, 30, 47)]
    for cut in (10, 25, 40):
        strings.append(ancestor[:cut] + random_letters(rng, 3) + ancestor[cut + 5 :])
    return strings


def test_best_alignment_of_letters_is_twice_smith_waterman(set_level):
    strings = letters_and_relatives(5)
    table = score_table("BLOSUM62", SequenceSet.from_strings(["A"], "protein").alphabet)
    codes = [[AMINO.index(letter) for letter in string] for string in strings]
    wanted = [[2 * best_alignment(table[np.ix_(x, y)], 11, 1) for y in codes] for x in codes]
    letters = SmithWatermanKernel(matrix="BLOSUM62", gap_open=11, gap_extend=1, normalize=False, alphabet="protein")
    np.testing.assert_array_equal(2 * letters(strings), wanted)
    for level in LEVELS:
        set_level(level)
        K = ProfileAlignmentKernel(gap_open=22, gap_extend=2)(of_letters(strings))
        np.testing.assert_array_equal(K, wanted)


def test_sum_over_alignments_of_letters_has_half_the_beta():
    strings = letters_and_relatives(6)[3:]
    X = of_letters(strings)
    K = ProfileAlignmentKernel(method="local_alignment", beta=0.25, gap_open=22, gap_extend=2)(X)
    table = score_table("BLOSUM62", X.alphabet)
    codes = [[AMINO.index(letter) for letter in string] for string in strings]
    wanted = [[2 * all_alignments(table[np.ix_(x, y)], 0.5, 11, 1) for y in codes] for x in codes]
    np.testing.assert_allclose(K, wanted, rtol=1e-6)


# ---- large numbers -------------------------------------------------------------------------------


def test_sums_beyond_a_double():
    string = random_letters(np.random.default_rng(7), 170)
    X = of_letters([string, string[:30] + string[50:]])
    kernel = ProfileAlignmentKernel(method="local_alignment", beta=1.0, gap_open=4.0, gap_extend=1.0)
    K = kernel(X)
    assert K.min() > 1400  # ln K, β being 1
    np.testing.assert_allclose(K, naive(kernel, X), rtol=1e-6)


@pytest.mark.parametrize("gap_open", [3.0, 60.0, 300.0])
def test_a_second_alignment_below_a_strong_one(gap_open, set_level):
    # The weaker one first to the right, then below; and one that begins beside the end of another.
    rng = np.random.default_rng(8)
    a, b, c = (random_letters(rng, n) for n in (30, 15, 30))
    X = of_letters([a + b + c, c + a[:20] + b, a[:29] + "W" + a[5:29] + c])
    kernel = ProfileAlignmentKernel(method="local_alignment", beta=0.8, gap_open=gap_open, gap_extend=0.5)
    wanted = naive(kernel, X)
    for level in LEVELS:
        set_level(level)
        np.testing.assert_allclose(kernel(X), wanted, rtol=1e-6)


def test_columns_that_never_agree():
    X = families([12, 15], seed=9)
    pssm = np.where(np.arange(27)[:, None] % 2, X.tracks["pssm"], -400)
    X = with_tracks([12, 15], X.tracks["profile"], pssm)
    for method in ("smith_waterman", "local_alignment"):
        kernel = ProfileAlignmentKernel(method=method, beta=0.5)
        np.testing.assert_allclose(kernel(X), naive(kernel, X), rtol=1e-6, atol=1e-12)


def test_scores_too_large_for_beta_are_refused_with_a_beta_that_will_do():
    X = of_letters(["W" * 40, "ACDW" * 8, "W" * 7 + "WC" * 20])
    kernel = ProfileAlignmentKernel(method="local_alignment", beta=5)
    with pytest.raises(SequenceError, match="too large for beta=5") as error:
        kernel(X)
    assert error.value.record == "s0"
    for gap in (3.0, 0.0):
        kernel.set_params(beta=float(error.value.remedy.split()[-1]), gap_open=gap, gap_extend=gap / 4)
        np.testing.assert_allclose(kernel(X), naive(kernel, X), rtol=1e-6)
    assert kernel.beta > 1


def test_scores_far_below_zero_matter_where_gaps_cost_as_much():
    string = random_letters(np.random.default_rng(14), 50)
    X = of_letters([string, string])
    pssm = X.tracks["pssm"].copy()
    pssm[24] = -100
    X = with_tracks([50, 50], X.tracks["profile"], pssm)
    kernel = ProfileAlignmentKernel(method="local_alignment", beta=0.5, gap_open=150, gap_extend=0.5)
    with pytest.raises(SequenceError, match=r"scores of -200 to .* too large for beta=0\.5") as error:
        kernel(X)
    for beta, gap in ((float(error.value.remedy.split()[-1]), 150), (0.5, 60)):
        kernel.set_params(beta=beta, gap_open=gap)
        np.testing.assert_allclose(kernel(X), naive(kernel, X), rtol=1e-6)


# ---- many sequences ------------------------------------------------------------------------------


FREE = ProfileAlignmentKernel(method="local_alignment", beta=1.0, gap_open=0.0, gap_extend=0.0, shift=5.0)


@pytest.mark.parametrize("kernel", [BEST, SUM, FREE], ids=["best", "sum", "free gaps"])
def test_the_same_bits_whatever_the_blocks_threads_and_partners(kernel, monkeypatch):
    lengths = [*np.random.default_rng(10).integers(0, 60, 70), 30, 30, 30]
    X = families(lengths, seed=10)
    X = X.take([*range(len(lengths)), 5, 40, 71])  # some of them twice
    K = kernel(X, n_threads=1)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(kernel.diagonal(X), np.diagonal(K))
    np.testing.assert_array_equal(kernel(X.take(slice(50)), X), K[:50])
    np.testing.assert_array_equal(kernel(X, X.take(slice(3, 20))), K[:, 3:20])
    np.testing.assert_array_equal(kernel(X.take([8]), X.take([9])), K[8:9, 9:10])
    for step in (7, 33):
        spans = lambda n, *_, step=step: [(i, min(i + step, n)) for i in range(0, n, step)]  # noqa: E731
        monkeypatch.setattr(blocks, "row_blocks", spans)
        np.testing.assert_array_equal(kernel(X, n_threads=2), K)


@pytest.mark.parametrize("kernel", [BEST, SUM], ids=["best", "sum"])
def test_sequences_longer_than_what_is_kept_of_one(kernel):
    X = families([4, 1100, 6, 9], seed=11)
    short = [0, 2, 3]
    K = kernel(X)
    wanted = naive(kernel, X.take(short), X)
    np.testing.assert_allclose(K[short], wanted, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(K[:, short], wanted.T, rtol=1e-6, atol=1e-6)


def test_memory_for_the_longest_protein():
    assert working_bytes(35_000, 20, 1) < 25e6


# ---- what letters have of it ----------------------------------------------------------------------


def shares(kernel, X, support):
    """Return what the letters of the first record have of its kernel with the first of `support`."""
    return attributions(kernel, X.take([0]), support.take([0]), np.ones(1))


def test_letters_share_a_best_alignment():
    kernel = ProfileAlignmentKernel(gap_open=20, gap_extend=2)
    short, long = of_letters(["WWWWCCCC"]), of_letters(["WWWWAACCCC"])
    np.testing.assert_allclose(shares(kernel, short, long), [22, 22, 22, 11, 7, 18, 18, 18], rtol=1e-6)
    np.testing.assert_allclose(shares(kernel, long, short), [22, 22, 22, 22, -11, -11, 18, 18, 18, 18], rtol=1e-6)
    assert not shares(kernel, of_letters(["AAA"]), of_letters(["WWW"])).any()


def test_letters_share_a_sum_by_how_likely_they_are_in_a_pair():
    X = families([7, 9], seed=12)
    kernel = ProfileAlignmentKernel(method="local_alignment", beta=0.3)
    S, gaps = column_scores(columns(X, 0), columns(X, 1)), (kernel.gap_open, kernel.gap_extend)
    step = 1e-4 * np.eye(7)[:, :, None]
    likely = np.array([np.subtract(*(all_alignments(S + way * d, 0.3, *gaps) for way in (1, -1))) for d in step])
    value = kernel(X)[0, 1]
    np.testing.assert_allclose(shares(kernel, X, X.take([1])), value * likely / likely.sum(), rtol=1e-5)


def test_letters_of_long_sequences_share_beyond_a_double():
    string = random_letters(np.random.default_rng(13), 200)
    X = of_letters([string, string[:90] + string[100:]])
    kernel = ProfileAlignmentKernel(method="local_alignment", beta=1.0, gap_open=22, gap_extend=2)
    got = shares(kernel, X, X.take([1]))
    assert got.sum() == pytest.approx(kernel(X)[0, 1], rel=1e-9)
    np.testing.assert_allclose(np.delete(got, np.s_[88:102]), got.sum() / 190, rtol=0.01)


# ---- parameters and data -------------------------------------------------------------------------


def test_plan_grows_with_the_pairs_of_columns():
    small, large = families([20] * 160), families([40] * 160)  # ten vectors of 16 lanes
    for kernel in (BEST, SUM):
        assert kernel.plan(large).seconds == pytest.approx(4 * kernel.plan(small).seconds, rel=0.2)
        assert kernel.plan(small, large).seconds > 3 * kernel.plan(small).seconds
        assert kernel.plan(large).bytes > kernel.plan(small).bytes > 0


def test_tracks_that_are_missing_or_no_profiles():
    X = families([3, 4])
    with pytest.raises(SequenceError, match="needs the track 'profile'"):
        BEST(["ACD", "CDE"])
    with pytest.raises(SequenceError, match="needs the track 'pssm'"):
        BEST(X.replace(tracks={"profile": X.tracks["profile"]}))
    with pytest.raises(SequenceError, match="'profile' is not probabilities") as error:
        BEST(with_tracks([3, 4], X.tracks["profile"] + np.eye(7, 20), X.tracks["pssm"]))
    assert error.value.record == "s0"
    with pytest.raises(SequenceError, match="scores beyond 1e\\+06") as error:
        BEST(with_tracks([3, 4], X.tracks["profile"], X.tracks["pssm"] * np.linspace(1, 1e7, 7)[:, None]))
    assert error.value.record in ("s0", "s1")


@pytest.mark.parametrize(
    ("name", "value"),
    [("method", "global"), ("beta", 0), ("gap_open", -1), ("gap_extend", 4), ("shift", 1e7), ("shift", None)],
)
def test_bad_parameters(name, value):
    with pytest.raises(ParameterError, match=name):
        ProfileAlignmentKernel(**{name: value})(families([3]))
