"""Labels in random order within the structure of the samples."""

import numpy as np
import pytest

from seqkern.evaluation.chance import permutation_test, permuted
from seqkern.sequences.labels import make_labels

IDS = list("abcdefghij")


def test_single_samples_exchange_their_labels():
    labels = make_labels(IDS, [0, 1] * 5)
    drawn = [permuted(labels, np.random.default_rng(seed)).y for seed in range(20)]
    assert all(y.sum() == 5 for y in drawn)
    assert len({tuple(y) for y in drawn}) > 10


def test_groups_of_one_label_move_as_wholes_and_others_stay_mixed():
    labels = make_labels(IDS, [0, 0, 1, 1, 0, 0, 1, 1, 0, 1], groups=list("ppqqrrssmm"))
    groups, seen = np.array(list("ppqqrrssmm")), set()
    for seed in range(80):
        y = permuted(labels, np.random.default_rng(seed)).y
        assert all(len(set(y[groups == name])) == 1 for name in "pqrs")
        assert sorted(y[groups == "m"]) == [0, 1]
        assert y.sum() == 5
        seen.add(tuple(y))
    assert len(seen) == 12  # of four groups two are positive, and the mixed one has two orders


def test_states_are_rotated_along_their_chains():
    labels = make_labels(IDS, list("HHCCCEEHHC"), groups=list("1111122222"))
    chains = np.repeat([0, 1], 5)
    names = "".join(permuted(labels, np.random.default_rng(3), chains).names())
    for own, given in ((names[:5], "HHCCC"), (names[5:], "EEHHC")):
        assert own in given * 2


@pytest.mark.parametrize(
    ("null", "p"),
    [([0.5] * 19, 1 / 20), ([0.9] * 19, 1.0), ([0.8, 0.9, 0.91], 3 / 4), ([float("nan")] * 3 + [0.1], 4 / 5)],
)
def test_p_counts_the_observed_score_and_failures(null, p):
    found = permutation_test("auc", 0.9, null)
    assert found.p == pytest.approx(p)
    assert found.failed == sum(np.isnan(null))
