"""GOR against sums written down letter by letter."""

import itertools
from collections import Counter
from math import log

import numpy as np
import pytest

from seqkern.core.errors import GramError, ParameterError
from seqkern.kernels import PropertyKernel, WindowKernel
from seqkern.kernels.features import FeatureBlocks
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import GOR

LETTERS = "ABC"
WINDOW = 4


def windows(n, seed):
    """Return windows as texts, '-' for no letter, and their classes, which depend on letters and on a pair of them."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("ABC-"), p=[0.5, 0.3, 0.1, 0.1]) for _ in range(WINDOW)) for _ in range(n)]
    score = [(text[1] == "A") + 2 * (text[0] == text[3]) + rng.normal() for text in texts]
    return texts, np.array(["coil", "helix", "strand"])[np.searchsorted([0.3, 1.8], score)]


def one_hot(texts):
    """Return the one-hot vectors of windows, n × 12."""
    return np.array([[letter == own for letter in text for own in LETTERS] for text in texts], dtype=np.float64)


class NaiveGOR:
    """Counts and logarithms, one by one."""

    def __init__(self, texts, y, own, pairs, pseudocount, pair_pseudocount):
        self.texts, self.y, self.own, self.pairs = texts, list(y), own, pairs
        self.pseudocount, self.pair_pseudocount = pseudocount, pair_pseudocount

    def rows(self, inside):
        return [text for text, c in zip(self.texts, self.y, strict=True) if (c == self.own) == inside]

    def single(self, m, letter, inside):
        """Return P(letter at m | inside the class, or outside)."""
        counts, total = Counter(text[m] for text in self.rows(inside)), Counter(text[m] for text in self.texts)
        share = total[letter] / len(self.texts)
        return (counts[letter] + self.pseudocount * share) / (len(self.rows(inside)) + self.pseudocount)

    def pair(self, m, k, letters, inside):
        """Return P(both letters | inside the class, or outside)."""
        counts = Counter(text[m] + text[k] for text in self.rows(inside))
        expected = self.single(m, letters[0], inside) * self.single(k, letters[1], inside)
        added = self.pair_pseudocount
        return (counts[letters] + added * expected) / (len(self.rows(inside)) + added)

    def decision(self, text):
        inside, outside = len(self.rows(True)), len(self.rows(False))
        singles = [ratio(self.single(m, a, True), self.single(m, a, False)) for m, a in enumerate(text)]
        if not self.pairs:
            return log(inside / outside) + sum(singles)
        both = [
            ratio(*(self.pair(m, k, text[m] + text[k], side) for side in (True, False)))
            for m, k in itertools.combinations(range(WINDOW), 2)
        ]
        return log(inside / outside) + 2 / WINDOW * sum(both) - (WINDOW - 2) / WINDOW * sum(singles)


def ratio(own, others):
    """Return the logarithm of a ratio, 0 where nothing is known."""
    return log(own / others) if own > 0 and others > 0 else 0.0


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize(("pseudocount", "pair_pseudocount"), [(1.0, 30.0), (0.0, 0.0), (2.5, 1.0)])
def test_log_odds_of_each_class(pairs, pseudocount, pair_pseudocount):
    texts, y = windows(60, 1)
    new = [*windows(8, 2)[0], "CCCC", "----"]
    parameters = {"pairs": pairs, "pseudocount": pseudocount, "pair_pseudocount": pair_pseudocount}
    solver = GOR(letters=3, **parameters).fit(one_hot(texts), y)
    expected = [[NaiveGOR(texts, y, own, **parameters).decision(text) for own in solver.classes_] for text in new]
    np.testing.assert_allclose(solver.decision_function(one_hot(new)), expected, rtol=0, atol=1e-10)
    binary = GOR(letters=3, **parameters).fit(one_hot(texts), y == "helix")
    np.testing.assert_allclose(binary.decision_function(one_hot(new)), [row[1] for row in expected], rtol=0, atol=1e-10)


def test_a_letter_that_was_never_seen_tells_nothing():
    texts = ["AB", "AA", "BB", "BA", "AB", "BA"]
    X = one_hot(texts)
    solver = GOR(letters=3).fit(X, np.array([0, 1, 0, 1, 0, 1]))
    np.testing.assert_array_equal(solver.information_[:, [0, 3]], 0.0)
    assert solver.decision_function(one_hot(["C-"]))[0] == pytest.approx(0.0)


def test_pairs_see_what_single_letters_do_not():
    codes = np.array(list(itertools.product((0, 1), repeat=2)) * 20)
    X, y = np.eye(2)[codes].reshape(80, 4), codes[:, 0] == codes[:, 1]
    assert GOR(letters=2, pairs=True, pair_pseudocount=1.0).fit(X, y).score(X, y) == 1.0
    np.testing.assert_allclose(GOR(letters=2).fit(X, y).decision_function(X), 0.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("pairs", [False, True])
def test_blocks_and_scale_of_the_features_do_not_matter(pairs):
    texts, y = windows(2500, 4)
    X = one_hot(texts)
    solver = GOR(letters=3, pairs=pairs).fit(X, y)
    small = (X / 2).astype(np.float32)
    blocks = FeatureBlocks(X.shape, np.float32, lambda rows: small[rows])
    other = GOR(letters=3, pairs=pairs).fit(blocks, y)
    np.testing.assert_array_equal(other.information_, solver.information_)
    np.testing.assert_array_equal(other.decision_function(blocks), solver.decision_function(X))


@pytest.mark.parametrize("row", [[0, 1, 0.5], [-1, 0, 0], [0, 1, -1]])
def test_features_that_are_no_letters_are_refused(row):
    texts, y = windows(1500, 5)
    X = one_hot(texts)
    X[1200, 3:6] = row
    wanted = (
        r"row 1200: the features of position 2 are not one-hot: .* kernel window with vector_kernel=linear and enco"
    )
    with pytest.raises(GramError, match=wanted):
        GOR(letters=3).fit(X, y)


def test_windows_of_properties_and_of_substitution_scores_are_refused():
    X = SequenceSet.from_strings(["ACDEFGH", "HGFEDCA", "KLMNPQR", "RQPNMLK"], alphabet="protein")
    y = np.array([0, 1, 0, 1])
    GOR().fit(WindowKernel(vector_kernel="linear").features(X), y)
    for kernel in (WindowKernel(vector_kernel="linear", encoding="BLOSUM62"), PropertyKernel(vector_kernel="linear")):
        features = kernel.features(X)
        features = features.toarray() if hasattr(features, "toarray") else features
        with pytest.raises(GramError, match="are not one-hot"):
            GOR(letters=features.shape[1] // 7).fit(features, y)


def test_width_that_is_no_multiple_of_the_letters():
    texts, y = windows(20, 5)
    with pytest.raises(ParameterError, match="letters=21 is not possible with 12 features"):
        GOR().fit(one_hot(texts), y)
