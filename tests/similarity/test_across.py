"""The search across two parts against plain comparisons of all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_search import encoded, families

from seqkern.core.errors import ParameterError
from seqkern.sequences import find_similar
from seqkern.sequences.similarity import longest_across, nearest_across

TURNED = str.maketrans("ACGT", "TGCA")


def naive_longest(queries, others, k, both_strands):
    """Return the length and the first record of the longest common stretch without N of each query, by all places."""
    found = []
    for x in queries:
        best = (0, -1)
        for row, other in enumerate(others):
            for y in [other, other.translate(TURNED)[::-1]] if both_strands else [other]:
                for i in range(len(x)):
                    for j in range(len(y)):
                        length = 0
                        while i + length < len(x) and j + length < len(y) and x[i + length] == y[j + length] != "N":
                            length += 1
                        if length >= k and length > best[0]:
                            best = (length, row)
        found.append(best)
    return found


dna = st.text("ACGTN", min_size=1, max_size=14)


@given(st.lists(dna, min_size=1, max_size=4), st.lists(dna, min_size=1, max_size=4), st.booleans(), st.integers(3, 5))
def test_longest_stretches_are_those_of_all_places(queries, others, both_strands, k):
    X = encoded(["ACGT", *queries, *others])
    found = longest_across(X, 1 + len(queries), k, both_strands=both_strands, n_threads=1)
    expected = naive_longest(["ACGT", *queries], others, k, both_strands)
    assert list(zip(found.length.tolist(), found.row.tolist(), strict=True)) == expected


def test_a_shared_kmer_is_found_however_often_it_occurs():
    # every k-mer of the query is at more places than are compared, and none extends to the left
    X = encoded(["CAAAAAAAAT", *["AAAAAAAA"] * 90])
    assert longest_across(X, 1, 6).length.tolist() == [8]


def test_parts_of_the_kmers_and_threads_change_nothing(monkeypatch):
    strings = families(30, 2, 60, 80, 0.05, "dna")
    X = encoded(strings[::2] + strings[1::2])
    once = longest_across(X, 30, 12, both_strands=True, n_threads=1)
    assert once.length.max() > 12
    monkeypatch.setattr("seqkern.sequences.similarity.PART", 200)
    for threads in (1, 2):
        again = longest_across(X, 30, 12, both_strands=True, n_threads=threads)
        assert np.array_equal(once.length, again.length)
        assert np.array_equal(once.row, again.row)


@pytest.mark.parametrize(("alphabet", "share"), [("dna", 0.08), ("protein", 0.2)])
def test_nearest_are_those_of_all_pairs(alphabet, share):
    strings = families(6, 4, 80, 100, share, alphabet)
    X = encoded(strings[::2] + strings[1::2], alphabet)
    n = len(strings) // 2
    near, pairs = nearest_across(X, n, both_strands=False, n_threads=1), find_similar(X, both_strands=False)
    best = np.zeros(n)
    for (i, j), identity in zip(pairs.pairs, pairs.identity, strict=True):
        if i < n <= j and not pairs.shared[(pairs.pairs == (i, j)).all(axis=1)][0]:
            best[i] = max(best[i], identity)
    assert (best > 0).all()
    assert np.allclose(near.identity, best)
    assert np.array_equal(near.row >= 0, best > 0)


def test_relatives_of_the_own_part_do_not_displace_those_across(monkeypatch):
    monkeypatch.setattr("seqkern.sequences.similarity.ALIGNED", 2)
    strings = families(1, 12, 90, 90, 0.03, "dna")
    X = encoded(strings)
    assert (nearest_across(X, 11, n_threads=1).row == 0).all()


def test_too_long_kmers_are_refused():
    with pytest.raises(ParameterError, match="k=32 is too large for this alphabet; choose at most 31"):
        longest_across(encoded(["ACGT", "ACGT"]), 1, 32)


def test_without_queries_or_others_nothing_is_found():
    X = encoded(["ACGTACGT"])
    assert longest_across(X, 1, 3).row.tolist() == [-1]
    assert nearest_across(X, 1).row.tolist() == [-1]
