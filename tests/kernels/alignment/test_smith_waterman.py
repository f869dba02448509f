"""The Smith-Waterman kernel: against its naive twins, parasail and Biopython, and where narrow numbers overflow."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from Bio.Align import PairwiseAligner, substitution_matrices
from naive import encode, random_strings
from naive_alignment import best_by_listing, best_by_recursion, scores_of

from seqkern import read_fasta
from seqkern.core.errors import SequenceError
from seqkern.core.threads import given_threads
from seqkern.kernels import LocalAlignmentKernel, SmithWatermanKernel, StringKernel, blocks
from seqkern.kernels.alignment import _smith_waterman, smith_waterman
from seqkern.kernels.alignment.profile_alignment import working_bytes
from seqkern.kernels.decisions import attributions
from seqkern.kernels.products import _product
from seqkern.kernels.substitution_scores import score_table
from seqkern.sequences.alphabets import PROTEIN, as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

parasail = pytest.importorskip("parasail")

LEVELS = range(_product.level() + 1)
ALGORITHMS = ("auto", "int8", "int16", "int32")
AMINO = PROTEIN.letters
EVERY_RESIDUE = "ARNDCQEGHILKMFPSTWYVBZX*"
DEGENERATE = ["", "W", "*", "WW", "AC", "WWWWWWWWWWWW", "****", "W*W*W", "PPPPGGGG", "GGGGPPPP", "WCWCWCWCWCW*"]
COSTS = [(11, 1), (5, 5), (1, 0), (0, 0), (3, 0.5), (2.25, 1.75), (100, 3)]


@pytest.fixture
def set_level():
    """Return the function that sets the level of instructions; it is the highest again after the test."""
    highest = _product.level()
    yield _product.set_level
    _product.set_level(highest)


def proteins(n, low, high, seed=0, masked=0.02):
    return random_strings(n, low, high, AMINO, masked, seed)


def related(n, length, seed=0):
    """Return proteins of about one length that descend from one, with substitutions, insertions and deletions."""
    rng = np.random.default_rng(seed)
    ancestor = rng.choice([*AMINO], size=length)
    result = []
    for _ in range(n):
        letters = np.where(rng.random(length) < rng.uniform(0, 0.8), rng.choice([*AMINO], size=length), ancestor)
        cuts = np.sort(rng.integers(length + 1, size=4))
        result.append("".join([*letters[: cuts[0]], *letters[cuts[1] : cuts[2]], *letters[cuts[2] - 3 :]]))
    return result


def parasail_matrix(name, letters):
    """Return parasail's Matrix with the scores of Biopython's, masked letters as X or N."""
    table = substitution_matrices.load(name)
    matrix = parasail.matrix_create(letters, 1, -1)
    for (i, a), (j, b) in product(enumerate(letters), repeat=2):
        matrix[i, j] = int(table[a, b])
    return matrix


def by_parasail(rows, cols, matrix, gap_open, gap_extend):
    # Not sw_striped_32: where gaps cost less than a letter may lose, it is not symmetric.
    values = [[parasail.sw_scan_32(a, b, gap_open, gap_extend, matrix).score for b in cols] for a in rows]
    return np.array(values, dtype=float)


# ---- against the naive twins ---------------------------------------------------------------------


@pytest.mark.parametrize(("gap_open", "gap_extend"), COSTS)
def test_every_local_alignment_listed(gap_open, gap_extend):
    strings = ["", "H", "*", "HE", "EHC", "HHEC", "CE*H", *random_strings(4, 3, 5, "HEC", 0.1, seed=2)]
    table = [[2, -1, -1.5], [-1, 2.25, 0.5], [-1.5, 0.5, 3]]
    score = scores_of(table, "HEC")
    kernel = SmithWatermanKernel(table, gap_open, gap_extend)
    expected = [[best_by_listing(a, b, score, gap_open, gap_extend) for b in strings] for a in strings]
    np.testing.assert_array_equal(kernel(encode(strings, "HEC")), np.array(expected, dtype=float))
    expected = [[best_by_recursion(a, b, score, gap_open, gap_extend) for b in strings] for a in strings]
    np.testing.assert_array_equal(kernel(encode(strings, "HEC")), np.array(expected, dtype=float))


@cache
def degenerate_matrix():
    strings = [*DEGENERATE, *proteins(5, 5, 14, masked=0.1)]
    score = scores_of("BLOSUM62", masked="X")
    return strings, np.array([[best_by_recursion(a, b, score, 6, 1) for b in strings] for a in strings], dtype=float)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_degenerate_sequences_by_every_algorithm(level, algorithm, set_level):
    set_level(level)
    strings, expected = degenerate_matrix()
    kernel = SmithWatermanKernel("BLOSUM62", 6, 1, algorithm=algorithm)
    X = encode(strings, "protein")
    np.testing.assert_array_equal(kernel(X), expected)
    np.testing.assert_array_equal(kernel.diagonal(X), expected.diagonal())
    np.testing.assert_array_equal(kernel(X.take([11, 1]), X), expected[[11, 1]])
    np.testing.assert_array_equal(kernel(X, X.take([5])), expected[:, [5]])


@pytest.mark.parametrize(
    ("alphabet", "matrix", "masked"),
    [
        ("dna", "NUC.4.4", "N"),
        ("rna", "NUC.4.4", "N"),
        ("dna", "HOXD70", None),
        ("protein", "GONNET1992", None),
        ("protein", "JOHNSON", None),
        ("protein", "PAM30", "X"),
        (EVERY_RESIDUE, "BLOSUM62", "*"),  # not masked there
    ],
)
def test_alphabets_and_matrices(alphabet, matrix, masked):
    letters = as_alphabet(alphabet).letters
    strings = ["", "*", *random_strings(7, 1, 12, letters.replace("*", ""), 0.1, seed=4)]
    score = scores_of(matrix, masked=masked)
    texts = [string.replace("U", "T") if alphabet == "rna" else string for string in strings]
    largest = float(np.max(substitution_matrices.load(matrix)))
    costs = 2 * round(largest), round(largest / 2, 1)
    expected = np.array([[best_by_recursion(a, b, score, *costs) for b in texts] for a in texts], dtype=float)
    np.testing.assert_array_equal(SmithWatermanKernel(matrix, *costs)(encode(strings, alphabet)), expected)


def test_more_letters_than_a_table_for_look_up_holds():
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    matrix = np.where(np.eye(len(letters)), 4, -1) + np.fromfunction(lambda i, j: -((i + j) % 3), (len(letters),) * 2)
    strings = ["", "*", "Z9", *random_strings(12, 1, 12, letters[::5], 0.1, seed=16)]
    score = scores_of(matrix, letters)
    expected = np.array([[best_by_recursion(a, b, score, 3, 1) for b in strings] for a in strings], dtype=float)
    np.testing.assert_array_equal(SmithWatermanKernel(matrix.tolist(), 3, 1)(encode(strings, letters)), expected)


# ---- against parasail and Biopython --------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("matrix", "gap_open", "gap_extend"),
    [("BLOSUM62", 11, 1), ("BLOSUM62", 1, 1), ("BLOSUM45", 15, 2), ("PAM250", 12, 0), ("BLOSUM80", 0, 0)],
)
def test_as_parasail(matrix, gap_open, gap_extend, level, set_level):
    set_level(level)
    strings = [*proteins(50, 0, 60, seed=1), *related(60, 120, seed=2), *related(10, 500, seed=3)]
    X = encode(strings, "protein")
    texts = [string.replace("*", "X") or " " for string in X.strings()]
    expected = by_parasail(texts, texts[::7], parasail_matrix(matrix, AMINO + "X"), gap_open, gap_extend)
    expected[[text == " " for text in texts]] = 0
    expected[:, [text == " " for text in texts[::7]]] = 0
    kernel = SmithWatermanKernel(matrix, gap_open, gap_extend)
    K = kernel(X)
    np.testing.assert_array_equal(K[:, ::7], expected)
    np.testing.assert_array_equal(kernel(X, X.take(slice(None, None, 7))), expected)
    np.testing.assert_array_equal(K, K.T)
    assert K.max() > 254  # some need more than 8 bits


@pytest.mark.parametrize(("gap_open", "gap_extend"), [(11, 1), (4, 4), (10, 0.5), (1, 0)])
def test_as_biopython(gap_open, gap_extend):
    aligner = PairwiseAligner(mode="local", open_gap_score=-gap_open, extend_gap_score=-gap_extend)
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    strings = [*proteins(15, 1, 60, seed=5), *related(15, 80, seed=6)]
    expected = [[aligner.score(a.replace("*", "X"), b.replace("*", "X")) for b in strings] for a in strings]
    K = SmithWatermanKernel("BLOSUM62", gap_open, gap_extend)(encode(strings, "protein"))
    np.testing.assert_array_equal(K, np.maximum(expected, 0))


def test_remote_homologs_as_parasail(shared_data):
    X = read_fasta(shared_data / "edd_homology" / "EDD.fasta", alphabet="protein", unknown="mask", ids="number")
    X = X.take(slice(0, None, 20))
    texts = [string.replace("*", "X") for string in X.strings()]
    expected = by_parasail(texts[::2], texts, parasail.blosum62, 11, 1)
    np.testing.assert_array_equal(SmithWatermanKernel()(X)[::2], expected)


def test_dna_as_parasail():
    strings = random_strings(80, 1, 90, seed=7)
    texts = [string.replace("*", "N") for string in strings]
    expected = by_parasail(texts, texts, parasail_matrix("NUC.4.4", "ACGTN"), 10, 2)
    np.testing.assert_array_equal(SmithWatermanKernel("NUC.4.4", 10, 2)(encode(strings)), expected)


# ---- where numbers, lanes and strips end ---------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("top", [2**8 - 1, 2**15 - 1, 2**16 - 1])
def test_scores_around_the_largest_of_narrow_numbers(top, level, set_level):
    set_level(level)
    step = 2 if top < 1000 else 64
    n = (top - 60) // step
    strings = ["H" * n + "E", "H" * n, "H" * (n - 1) + "E", "H" * (n + 1), "H" * (n + 1) + "E", "HE", "E"]
    X, same = encode(strings, "HE"), encode(strings, "HE")
    hs, es = (np.array([string.count(letter) for string in strings]) for letter in "HE")
    for total in range(top - 3, top + 3):
        last = total - n * step
        kernel = SmithWatermanKernel([[step, -step], [-step, last]], 127, 1)
        expected = np.minimum.outer(hs, hs) * step + np.outer(es, es) * last
        assert total in expected
        for K in (kernel(X), kernel(X, same), kernel(X.take(slice(0, 2)), X)):
            np.testing.assert_array_equal(K, expected[: len(K)])


def test_letters_that_never_end_up_in_narrow_numbers():
    score = 3 * 2**24
    kernel = SmithWatermanKernel([[score, -score], [-score, score]], score, score)
    K = kernel(encode(["HH", "HEH", "EE"], "HE"))
    np.testing.assert_array_equal(K, score * np.array([[2, 1, 0], [1, 3, 1], [0, 1, 2]]))


def test_scores_of_sequences_with_themselves_beyond_single_precision():
    h, e = 2**23 + 1, 2**22 + 1
    strings = ["HH", "HHE", "HHHH", "HEH", "E" * 5]  # odd numbers and sums above 2^24
    X, same = encode(strings, "HE"), encode(strings, "HE")
    own = np.array([h * string.count("H") + e * string.count("E") for string in strings], dtype=float)
    assert np.any(own.astype(np.float32) != own)
    kernel = SmithWatermanKernel([[h, -h], [-h, e]], h, h)
    np.testing.assert_array_equal(kernel.diagonal(X), own)
    np.testing.assert_array_equal(np.diagonal(kernel(X)), own)
    np.testing.assert_array_equal(np.diagonal(kernel(X, same)), own)


@pytest.mark.parametrize("level", LEVELS)
def test_lengths_around_strips_and_numbers_of_sequences_around_lanes(level, set_level):
    set_level(level)
    rng = np.random.default_rng(8)
    text = "".join(rng.choice([*AMINO], size=40))
    strings = [text[start : start + length] for length in range(36) for start in (0, 3)]
    X = encode(strings, "protein")
    table = score_table("BLOSUM62", PROTEIN)
    K = SmithWatermanKernel()(X)
    # A part of another: without gaps all of the shorter.
    own = [sum(table[code, code] for code in X.codes[a:b]) for a, b in zip(X.starts, X.stops, strict=True)]
    np.testing.assert_array_equal(np.diagonal(K), own)
    np.testing.assert_array_equal(K[0::2][:, 0::2], np.minimum.outer(own[0::2], own[0::2]))
    lanes = _smith_waterman.lanes(level, 8)
    for n in {1, 2, lanes - 1, lanes, lanes + 1, len(X)}:
        n = min(n, len(X))
        np.testing.assert_array_equal(SmithWatermanKernel()(X.take(slice(0, n))), K[:n, :n])
        np.testing.assert_array_equal(SmithWatermanKernel()(X.take(slice(0, n)), X), K[:n])
        np.testing.assert_array_equal(SmithWatermanKernel()(X, X.take(slice(0, n))), K[:, :n])


@pytest.mark.parametrize("level", LEVELS)
def test_any_arrangement_in_blocks_gives_the_same(level, set_level, monkeypatch):
    set_level(level)
    strings = [*related(70, 60, seed=9), *proteins(90, 0, 30, seed=10), *related(3, 700, seed=11)]
    X = encode([strings[i] for i in np.random.default_rng(0).permutation(len(strings))], "protein")
    kernel = SmithWatermanKernel()
    K = kernel(X, n_threads=1)
    _product.set_level(_product.level() if level == LEVELS[-1] else LEVELS[-1])
    np.testing.assert_array_equal(kernel(X, X.take(slice(0, 30))), K[:, :30])
    set_level(level)
    for step in (7, 64, 65):
        spans = [(start, min(start + step, len(X))) for start in range(0, len(X), step)]
        monkeypatch.setattr(blocks, "row_blocks", lambda *_, spans=spans: spans)
        np.testing.assert_array_equal(kernel(X, n_threads=2), K)
    monkeypatch.undo()
    prepared = kernel.prepare(X)
    for a, b, c, d in [(0, 70, 0, 163), (3, 60, 3, 50), (10, 163, 100, 163), (5, 6, 0, 163), (20, 40, 20, 60)]:
        np.testing.assert_array_equal(kernel.block(prepared.rows(a, b), prepared.rows(c, d)), K[a:b, c:d])


def test_a_giant_among_short_ones():
    rng = np.random.default_rng(12)
    giant = "".join(rng.choice([*AMINO], size=35_000))
    strings = proteins(60, 20, 90, seed=13, masked=0)
    strings = [*strings[:30], giant, *strings[30:], giant[1000:1080], giant[20_000:20_600]]
    X = encode(strings, "protein")
    kernel = SmithWatermanKernel()
    K = kernel(X)
    matrix = parasail_matrix("BLOSUM62", AMINO + "X")
    np.testing.assert_array_equal(K[30], by_parasail([giant], strings, matrix, 11, 1)[0])
    np.testing.assert_array_equal(K[:, 30], K[30])
    np.testing.assert_array_equal(kernel(X.take([30]), X.take(slice(0, 30))), K[30:31, :30])
    np.testing.assert_array_equal(kernel(X.take(slice(0, 30)), X.take([30])), K[:30, 30:31])
    assert kernel.plan(X).bytes < 12e6


def test_the_longer_of_a_pair_is_the_row():
    rows, cols = np.full(100, 50), np.array([20] * 64 + [40] * 63 + [35_000])
    work, usual = smith_waterman._split(rows, cols, 64)
    assert usual == 127
    assert work < 100 * 50 * (40 + 40) + 35_000 * 100 + 1
    assert smith_waterman._split(rows, cols[:127], 64)[1] == 127


def test_own_scores_are_those_of_an_alignment():
    strings = [*DEGENERATE, "*WWW", "WWW*", "W*****W", "WW**********************WW", *proteins(60, 1, 40, masked=0.2)]
    X = encode(strings, "protein")
    for matrix, gap_open, gap_extend in [("BLOSUM62", 11, 1), ("BLOSUM62", 1, 0), ("PAM30", 9, 1), ("RISLER", 0.1, 0)]:
        kernel = SmithWatermanKernel(matrix, gap_open, gap_extend)
        masked = "X" if matrix != "RISLER" else None
        score = scores_of(matrix, masked=masked)
        short = [i for i, string in enumerate(strings) if len(string) < 15]
        expected = [best_by_recursion(strings[i], strings[i], score, gap_open, gap_extend) for i in short]
        np.testing.assert_array_equal(kernel.diagonal(X)[short], np.array(expected, dtype=float))
        # A rectangle of equal sequences knows nothing of own scores.
        np.testing.assert_array_equal(np.diagonal(kernel(X, encode(strings, "protein"))), kernel.diagonal(X))


# ---- taken apart ---------------------------------------------------------------------------------


def shares(x, y, **options):
    kernel = SmithWatermanKernel([[2, -1, -1], [-1, 3, -1], [-1, -1, 4]], 2, 1, **options)
    return attributions(kernel, encode([x], "HEC"), encode([y], "HEC"), np.ones(1)).tolist()


def test_letters_have_the_scores_of_their_pairs():
    assert shares("EHEC", "CHEC") == [0, 2, 3, 4]
    assert shares("CCCHCCC", "CCCCCC") == [4, 4, 4, -2, 4, 4, 4]  # a gap in the other one
    assert shares("CCCHHCCC", "CCCCCC") == [4, 4, 4, -1.5, -1.5, 4, 4, 4]
    assert shares("CCCCCC", "CCCHHHCCC") == [4, 4, 2, 2, 4, 4]  # a gap in this one
    assert shares("EE", "HH") == [0, 0]
    assert shares("CHC", "C") == [4, 0, 0]  # the first of the best


@pytest.mark.parametrize(("gap_open", "gap_extend"), [(11, 1), (3, 0.5), (1, 0), (0, 0)])
def test_shares_sum_to_the_score(gap_open, gap_extend):
    strings = [*DEGENERATE, *related(12, 60, seed=14), *proteins(10, 1, 30, seed=15)]
    X = encode(strings, "protein")
    kernel = SmithWatermanKernel("BLOSUM62", gap_open, gap_extend)
    K = kernel(X)
    for j in (1, 5, 14, 30):
        parts = attributions(kernel, X, X.take([j]), np.array([0.5]))
        sums = [parts[a:b].sum() for a, b in zip(X.starts, X.stops, strict=True)]
        np.testing.assert_allclose(sums, K[:, j] / 2, rtol=1e-12, atol=1e-12)


def test_giants_are_not_taken_apart(monkeypatch):
    monkeypatch.setattr(smith_waterman, "MOST_CELLS", 100)
    with pytest.raises(SequenceError, match="11 and 10 residues are too long to be explained"):
        shares("H" * 11, "H" * 10)


def test_the_plan_grows_with_the_work():
    X = SequenceSet.from_strings(proteins(50, 50, 60, masked=0), "protein")
    narrow, wide = (SmithWatermanKernel(algorithm=name).plan(X) for name in ("auto", "int32"))
    assert (narrow.algorithm, wide.algorithm) == ("int8", "int32")
    assert narrow.seconds < wide.seconds
    assert SmithWatermanKernel().plan(X, X).seconds > narrow.seconds


@pytest.mark.parametrize("level", LEVELS)
def test_the_plan_looks_for_scores_that_need_wider_numbers(level, set_level, monkeypatch):
    set_level(level)
    monkeypatch.setattr(smith_waterman, "SAMPLED_SECONDS", 0)
    strings = proteins(80, 300, 301, masked=0)
    unrelated, same = (encode(some, "protein") for some in (strings, strings[:1] * 80))
    K, own = SmithWatermanKernel()(unrelated.take(slice(0, 12))), SmithWatermanKernel()(same.take([0]))
    assert K[np.triu_indices(12, 1)].max() < 255 < own[0, 0]
    seconds = [SmithWatermanKernel().plan(X).seconds for X in (unrelated, same)]
    if level:
        assert seconds[1] > 1.5 * seconds[0]
    else:  # which begins with 16 bits
        assert seconds[1] == seconds[0]
    monkeypatch.setattr(smith_waterman, "SAMPLED_SECONDS", 1)
    assert SmithWatermanKernel().plan(same).seconds == pytest.approx(seconds[0])


@pytest.mark.parametrize("kernel", [SmithWatermanKernel, LocalAlignmentKernel, StringKernel])
def test_threads_that_are_given_count_before_the_kernels_own(kernel):
    X = SequenceSet.from_strings(proteins(50, 50, 60, masked=0), "protein")
    found = {}
    for own, given in ((1, None), (4, None), (4, 1), (1, 4)):
        made = kernel(n_threads=own)
        with given_threads(given):
            found[own, given] = made.plan(X).bytes, made._least_block_rows, working_bytes(50, 20, own)
    assert found[4, 1] == found[1, None] != found[4, None] == found[1, 4]
