"""Numbers of samples that are too few for a score."""

import numpy as np
import pytest

from seqkern.evaluation.intervals import auc_ends, independent_counts, too_few
from seqkern.evaluation.ranking import hanley_mcneil_variance, roc_auc
from seqkern.sequences.labels import make_labels


def labels_of(positive, negative, **columns):
    n = positive + negative
    return make_labels([str(i) for i in range(n)], ["yes"] * positive + ["no"] * negative, positive="yes", **columns)


def test_the_interval_at_chance_level_holds_most_aucs_of_noise():
    rng = np.random.default_rng(0)
    for m, n in ((3, 3), (8, 8), (6, 40)):
        y = np.arange(m + n) < m
        aucs = np.array([roc_auc(y, rng.normal(size=m + n)) for _ in range(2000)])
        covered = np.mean([low <= 0.5 <= high for low, high in (auc_ends(auc, m, n) for auc in aucs)])
        assert 0.9 < covered < 0.99
        assert hanley_mcneil_variance(0.5, m, n) == pytest.approx(aucs.var(), rel=0.15)


def test_an_auc_of_one_has_a_lower_end():
    few, many = auc_ends(1.0, 5, 5), auc_ends(1.0, 100, 100)
    assert few[1] == many[1] == 1.0
    assert few[0] < many[0] < 1.0
    assert auc_ends(0.0, 5, 5)[1] == pytest.approx(1 - few[0])


def test_the_limit_is_an_interval_of_half_of_all_values():
    assert too_few(labels_of(3, 3)).counts == "3 against 3"
    assert too_few(labels_of(7, 7)) is not None
    assert too_few(labels_of(8, 8)) is None
    assert too_few(labels_of(3, 1000)) is not None
    assert too_few(labels_of(6, 1000)) is None
    assert "3 against 20" in too_few(labels_of(3, 20)).sentence()


def test_related_samples_count_once():
    assert too_few(labels_of(10, 10)) is None
    lacking = too_few(labels_of(10, 10, groups=list("aaaaabbbbb") + list("cdefghijkl")))
    assert lacking.counts == "2 against 10, related samples counted once"
    # groups with both labels are split over both classes, and count by sample
    assert too_few(labels_of(10, 10, groups=list("aaaaabbbbb") * 2)) is None
    assert independent_counts([0, 0, 1, 1, 1], 2, list("aabbc")).tolist() == [1, 2]


def test_real_labels_and_several_classes():
    ids = [str(i) for i in range(30)]
    assert too_few(make_labels(ids[:10], np.arange(10.0), kind="real")).counts == "10 samples"
    assert too_few(make_labels(ids, np.arange(30.0), kind="real")) is None
    classes = make_labels(ids[:6], list("aabbcc"))
    assert too_few(classes).counts == "2 against 2 against 2"
    assert too_few(make_labels(ids, list("abc") * 10)) is None
    assert too_few(make_labels(ids[:8], list("aabbccdd"))).counts == "2 against 2 against 2 against 2"
    assert too_few(make_labels(ids[:10], list("aabbccddee"))).counts == "5 classes, the smallest of 2 samples"
