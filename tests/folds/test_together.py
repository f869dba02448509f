"""Windows that overlap stay together wherever folds are drawn: in the choice of parameters and in calibration."""

import numpy as np
import pytest

from seqkern.core.errors import FoldError
from seqkern.evaluation.fold_methods import indivisible_groups
from seqkern.kernels import SpectrumKernel
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.windows import Window

LOCI, COPIES, LENGTH = 40, 6, 60


def overlapping_windows(positions=True):
    """Windows of random sequences, six of each that overlap, and labels at random for each of the forty."""
    rng = np.random.default_rng(2)
    genome = "".join(rng.choice([*"ACGT"], size=LOCI * 1000 + 1000))
    places = [1000 * locus + 10 * copy for locus in range(LOCI) for copy in range(COPIES)]
    X = SequenceSet.from_strings([genome[place : place + LENGTH] for place in places], "dna")
    names = np.repeat(np.where(rng.permutation(LOCI) % 2, "yes", "no"), COPIES).tolist()
    where = {"chromosome": ["1"] * len(X), "position": [str(place + 1) for place in places]}
    return X, make_labels(X.ids, names, positive="yes", **(where if positions else {}))


def test_random_labels_of_overlapping_windows_are_not_learned():
    scores = {}
    for positions in (True, False):
        X, labels = overlapping_windows(positions)
        solver = [{"solver": "csvc", "C": 0.1}, {"solver": "csvc", "C": 1}]
        model = train_model(X, labels, SpectrumKernel(6), solver, calibration="platt", allow_similar=True)
        scores[positions] = model.record["search"]["score"], model.calibration.slope
    assert scores[False][0] > 0.99  # a window's neighbours tell its label where nothing is known of places
    assert 0.25 < scores[True][0] < 0.75
    assert abs(scores[True][1]) < abs(scores[False][1]) / 2
    # windows that share residues are found without positions, too
    said = []
    model = train_model(X, labels, SpectrumKernel(6), solver, calibration="platt", tell=said.append)
    assert 0.25 < model.record["search"]["score"] < 0.75
    assert abs(model.calibration.slope) < abs(scores[False][1]) / 2
    assert said == [
        "similar sequences: 240 of 240 are in 40 groups (largest 6), kept together in folds; --allow-similar to split "
        "them"
    ]


def test_what_is_together():
    X, labels = overlapping_windows()
    found = indivisible_groups(labels, X)
    assert len(np.unique(found)) == LOCI
    assert np.array_equal(np.unique(found, return_inverse=True)[1], np.repeat(np.arange(LOCI), COPIES))
    assert indivisible_groups(overlapping_windows(positions=False)[1], X) is None


@pytest.mark.parametrize(("strands", "together"), [("++", False), ("+-", True), ("--", False), ("-+", False)])
def test_windows_of_two_strands_overlap_at_other_distances(strands, together):
    """Of -10:+40, from 100: + has 90 to 140 and - has 60 to 110; from 160: 150 to 200 and 120 to 170."""
    X = SequenceSet.from_strings(["A" * 51, "C" * 51], "dna")
    place = {"chromosome": ["1", "1"], "strand": list(strands), "position": [100, 160]}
    found = indivisible_groups(make_labels(X.ids, ["a", "b"], **place), X, Window(10, 40))
    assert (found[0] == found[1]) == together


def test_a_window_without_a_chromosome_is_alone():
    X, labels = overlapping_windows()
    names = ["", "", *labels.chromosome[2:]]
    some = make_labels(X.ids, labels.names(), positive="yes", chromosome=names, position=labels.position)
    found = indivisible_groups(some, X)
    assert np.bincount(found).tolist() == [1, 1, COPIES - 2] + [COPIES] * (LOCI - 1)
    assert train_model(X, some, SpectrumKernel(2), "csvc:C=1").record["search"] is None


def test_one_locus_cannot_be_divided():
    X, labels = overlapping_windows()
    near = make_labels(X.ids, labels.names(), positive="yes", chromosome=["1"] * len(X), position=range(1, len(X) + 1))
    with pytest.raises(FoldError, match="only one sample \\(or group\\)"):
        train_model(X, near, SpectrumKernel(2), [{"solver": "csvc", "C": 0.1}, {"solver": "csvc", "C": 1}])
    assert train_model(X, near, SpectrumKernel(2), "csvc:C=1").record["search"] is None
