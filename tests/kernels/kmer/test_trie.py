"""The walk through the tree of all features against lists of features, for every rule."""

import numpy as np
import pytest
from naive import encode, mismatch, random_strings

from seqkern.core.errors import SequenceError
from seqkern.kernels import GappyKernel, MismatchKernel
from seqkern.kernels.kmer.inexact import TrieBlock
from seqkern.kernels.kmer.kmers import Lists, Windows, cost_rule, mismatch_rule, subsequence_rule
from seqkern.kernels.products.product import Span, SparseBlock
from seqkern.sequences.alphabets import as_alphabet

AMINO = "ACDEFGHIKLMNPQRSTVWY"
RNG = np.random.default_rng(7)
RULES = {
    "none": mismatch_rule(20, 3, 0),
    "one": mismatch_rule(20, 3, 1),
    "all": mismatch_rule(20, 2, 2),
    "costs": cost_rule(RNG.integers(0, 100, (20, 20)), 3, 120),
    "dear": cost_rule(RNG.integers(50, 100, (20, 20)), 3, 170),
    "nothing": cost_rule(np.full((20, 20), 9), 3, 27),
    "whole": subsequence_rule(20, 3, 3),
    "gaps": subsequence_rule(20, 6, 3),
}


def words_of(strings, rule, alphabet="protein"):
    return Windows.of(encode(strings, alphabet), rule.length)


def sparse(rule, words, presence, like=None):
    counted = Lists.of(rule, words.residues).count(words.count())
    if presence:
        counted.count[:] = 1
    return SparseBlock(counted, like)


def sums(rows, cols, span, first, last, upper, dtype=np.int64, factor=3):
    """Return the sums of the rows of a span; with `upper` only what is asked for."""
    out = np.full((span[1] - span[0], last - first), 5, dtype=dtype)
    rows.accumulate(cols, Span(span[0], first, last, factor, upper), out)
    if upper:
        for i in range(*span):
            out[i - span[0], : max(0, i - first)] = 0
    return out


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("name", RULES)
def test_sums_equal_those_of_listed_features(name, presence, dtype):
    rule, strings = RULES[name], [*random_strings(30, 0, 80, AMINO), "W" * 40, "*", ""]
    words = words_of(strings, rule)
    tree, listed = TrieBlock(rule, words, presence), sparse(rule, words, presence)
    np.testing.assert_array_equal(tree.squares, listed.squares)
    assert tree.largest == listed.largest
    n = len(strings)
    for span, first, last, upper in (
        ((0, n), 0, n, True),
        ((0, n), 0, n, False),
        ((4, 9), 4, n, True),
        ((4, 9), 4, 9, True),
        ((4, 9), 2, 20, False),
        ((n - 2, n), n - 2, n, True),
        ((3, 3), 0, n, False),
    ):
        mine = sums(tree, tree, span, first, last, upper, dtype)
        np.testing.assert_array_equal(mine, sums(listed, listed, span, first, last, upper, dtype))


@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("name", RULES)
def test_other_rows_equal_those_of_listed_features(name, presence):
    rule = RULES[name]
    cols, rows = (words_of(random_strings(12, 0, 60, AMINO, seed=seed), rule) for seed in (1, 2))
    tree, listed = TrieBlock(rule, cols, presence), sparse(rule, cols, presence)
    mine, theirs = TrieBlock(rule, rows, presence), sparse(rule, rows, presence, listed)
    expected = sums(theirs, listed, (2, 12), 1, 11, False)
    np.testing.assert_array_equal(sums(mine, tree, (2, 12), 1, 11, False), expected)


@pytest.mark.parametrize("rule", [mismatch_rule(40, 3, 1), subsequence_rule(40, 4, 2)])
def test_lists_that_do_not_fit_into_the_room_are_made_in_groups(rule):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%"
    words = words_of(random_strings(260, 140, 160, letters), rule, letters)
    assert len(words.label) > 1 << 15  # all children of the root would need more than 2^20 places
    tree, listed = TrieBlock(rule, words), sparse(rule, words, False)
    np.testing.assert_array_equal(tree.squares, listed.squares)
    np.testing.assert_array_equal(
        sums(tree, tree, (0, 260), 0, 260, True), sums(listed, listed, (0, 260), 0, 260, True)
    )


def test_guesses_are_near_the_numbers_of_features():
    strings = random_strings(20, 50, 80, AMINO, masked=0)
    for name, rule in RULES.items():
        words = words_of(strings, rule)
        mean = Lists.of(rule, words.residues).start[-1] / len(words.residues)
        assert rule.guess(words.residues) == pytest.approx(mean, rel=0.3), name
    assert mismatch_rule(20, 9, 9).guess(words_of(strings, mismatch_rule(20, 9, 9)).residues) == 20.0**9


def test_lists_too_long_are_refused_before_they_are_made():
    rule = mismatch_rule(20, 8, 8)
    with pytest.raises(SequenceError, match=r"20 k-mers with 2.6e\+10 features each are too many to list"):
        Lists.of(rule, words_of(["A" * 8 + AMINO[1:]], rule).residues)


def test_a_walk_serves_many_rows():
    X = encode(random_strings(5, 20, 30))
    assert GappyKernel(algorithm="trie").prepare(X).payload.least_block_rows == 512
    assert GappyKernel(algorithm="neighbours").prepare(X).payload.least_block_rows == 1


def test_costs_near_the_limit_of_integers():
    costs = np.full((4, 4), 2**57)
    np.fill_diagonal(costs, 1)
    X = encode(["ACGTACGT", "ACGAACGT"])
    rule = cost_rule(costs, 4, 2**57 + 4)
    tree = TrieBlock(rule, Windows.of(X, 4))
    expected = mismatch(X.strings(), 4, 1, "ACGT")
    np.testing.assert_array_equal(sums(tree, tree, (0, 2), 0, 2, False, factor=1) - 5, expected)


def test_an_alphabet_of_many_letters():
    letters = "".join(chr(code) for code in range(33, 97) if chr(code) != "*")
    strings = random_strings(10, 10, 60, letters)
    rule = mismatch_rule(as_alphabet(letters).size, 2, 1)
    tree = TrieBlock(rule, words_of(strings, rule, letters))
    K = MismatchKernel(2, 1, normalize=False, algorithm="neighbours")(encode(strings, letters))
    np.testing.assert_array_equal(sums(tree, tree, (0, 10), 0, 10, False, factor=1) - 5, K)
