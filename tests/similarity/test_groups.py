"""Groups of similar sequences, and the cut of groups too large for folds."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from test_search import encoded, families, mutated, random_strings

from seqkern.sequences import similar_groups
from seqkern.sequences.sampling import connected
from seqkern.sequences.similarity import cut_groups


def test_families_are_groups():
    strings = families(25, 4, 100, 100, 0.04, "dna")
    found = similar_groups(encoded(strings), classes=np.arange(100) % 2)
    assert found.groups.tolist() == np.repeat(np.arange(25), 4).tolist()
    assert (found.n_related, found.n_groups, found.largest, found.links_cut) == (100, 25, 4, 0)
    assert found.describe() == (
        "similar sequences: 100 of 100 are in 25 groups (largest 4), kept together in folds; --allow-similar to split "
        "them"
    )


def test_nothing_is_said_where_nothing_was_found():
    found = similar_groups(encoded(random_strings(50, 100, 100)))
    assert not found
    assert found.describe() == ""
    assert similar_groups(encoded([])).groups.tolist() == []


def test_a_giant_group_is_cut_at_its_weakest_links():
    # two halves of a class are alike within, and less between
    rng = np.random.default_rng(3)
    (root,) = random_strings(1, 200, 200)
    halves = [mutated(root, 0.06, rng) for _ in range(2)]
    strings = [mutated(half, 0.02, rng) for half in halves for _ in range(10)]
    X = encoded([*strings, *random_strings(80, 200, 200, seed=1)])
    found = similar_groups(X)
    assert found.groups[:20].tolist() == [0] * 20
    cut = similar_groups(X, classes=np.r_[np.zeros(20), np.ones(80)].astype(int))
    assert np.bincount(cut.groups)[cut.groups[:20]].max() == 4  # a fifth of the class
    assert cut.links_cut > 0
    assert f"{cut.links_cut} weak links removed to split oversized groups" in cut.describe()
    halved = cut_groups(
        [Counter({0: 1})] * 4, np.array([[0, 1], [1, 2], [2, 3]]), np.array([0.9, 0.8, 0.9]), Counter({0: 2})
    )
    assert halved.tolist() == [0, 0, 1, 1]


def test_identical_sequences_are_never_cut():
    (one,) = random_strings(1, 50, 50)
    found = similar_groups(encoded([one] * 30 + random_strings(10, 50, 50, seed=1)))
    assert found.largest == 30
    assert found.links_cut == 0


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.floats(0, 1)), max_size=30),
    st.integers(1, 12),
)
def test_cut_groups_keep_to_the_limit_and_join_linked_nodes_only(n, links, limit):
    links = [(a % n, b % n, s) for a, b, s in links if a % n != b % n]
    pairs = np.array([link[:2] for link in links], dtype=np.int64).reshape(-1, 2)
    strengths = np.array([link[2] for link in links])
    groups = cut_groups([Counter({-1: 1})] * n, pairs, strengths, Counter({-1: limit}))
    whole = connected(n, pairs)
    assert np.bincount(groups).max() <= max(limit, 1)
    for g in np.unique(groups):
        assert len(np.unique(whole[groups == g])) == 1
    small = [c for c in np.unique(whole) if np.sum(whole == c) <= limit]
    for c in small:
        assert len(np.unique(groups[whole == c])) == 1
    # a link that was cut could not be restored
    for a, b in pairs:
        if groups[a] != groups[b]:
            assert np.sum(groups == groups[a]) + np.sum(groups == groups[b]) > limit
