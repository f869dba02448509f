"""Motifs of models: planted ones are found, chance ones are not, and the same input gives the same motifs."""

import numpy as np
import pytest

from seqkern.core.errors import ParameterError
from seqkern.genomics import find_motifs
from seqkern.genomics.motif_tables import KnownMotifs, from_consensus, nearest
from seqkern.genomics.motifs import Cluster, Pieces, _enrichment, find_clusters, random_like, support_classes
from seqkern.kernels import GappedKmerKernel, SpectrumKernel, WeightedDegreeKernel
from seqkern.methods.training import train_model
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences

COMPLEMENT = str.maketrans("ACGT", "TGCA")
MOTIFS = ("TGACTCAGC", "GATAAGGA")


def planted(seed, n=160, length=60, motifs=MOTIFS, letters="ACGT"):
    """Return n sequences; the first half holds one of the motifs, on either strand of DNA."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list(letters), length)) for _ in range(n)]
    for i in range(n // 2):
        site = motifs[i % len(motifs)]
        if letters == "ACGT" and rng.random() < 0.5:
            site = site.translate(COMPLEMENT)[::-1]
        place = int(rng.integers(length - len(site)))
        texts[i] = texts[i][:place] + site + texts[i][place + len(site) :]
    return texts


def trained(texts, kernel, alphabet="dna"):
    X = as_sequences(texts, alphabet)
    half = len(texts) // 2
    return train_model(X, make_labels(X.ids, ["yes"] * half + ["no"] * half, positive="yes"), kernel, "csvc:C=1")


@pytest.fixture(scope="module")
def model():
    return trained(planted(1), GappedKmerKernel(8, 5, reverse_complement=True))


def same_up_to_strand(motif, text):
    other = text.translate(COMPLEMENT)[::-1]
    return any(motif in one or one in motif for one in (text, other)) and len(motif) >= len(text) - 1


def test_all_planted_motifs_come_first_in_new_sequences(model):
    found = find_motifs(model, as_sequences(planted(2), "dna"))
    assert [motif.name for motif in found[:2]] == ["positive_1", "positive_2"]
    for text in MOTIFS:
        assert sum(same_up_to_strand(motif.consensus, text) for motif in found[:2]) == 1
    assert all(0 < motif.share < 1 for motif in found)
    assert sum(motif.share for motif in found) < 1
    known = KnownMotifs([from_consensus(text, text) for text in (*MOTIFS, "CACGTGAC", "CCAATCAG")], DNA, True)
    matches = nearest([motif.probabilities for motif in found[:2]], known)
    assert {match.name for match in matches} == set(MOTIFS)


def test_motifs_are_made_of_kmers_without_sequences(model):
    found = find_motifs(model)
    assert [same_up_to_strand(found[0].consensus, text) for text in MOTIFS].count(True) == 1
    assert found[0].background.tolist() == [0.25] * 4


def test_the_same_input_gives_the_same_motifs(model):
    X = as_sequences(planted(2), "dna")
    for a, b in zip(find_motifs(model, X), find_motifs(model, X), strict=True):
        assert (a.name, a.sites, a.share) == (b.name, b.sites, b.share)
        np.testing.assert_array_equal(a.counts, b.counts)


def test_motifs_are_found_in_any_order_of_the_sequences(model):
    X = as_sequences(planted(2), "dna")
    for rows in (np.arange(len(X))[::-1], np.random.default_rng(1).permutation(len(X))):
        found = find_motifs(model, X[rows])
        for text in MOTIFS:
            assert sum(same_up_to_strand(motif.consensus, text) for motif in found[:2]) == 1


def test_random_sequences_hold_no_motif(model):
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(160)]
    assert find_motifs(model, as_sequences(texts, "dna")) == []


def test_with_classes_a_planted_motif_is_found_from_40_peaks_and_none_without_one():
    kernel = GappedKmerKernel(8, 5, reverse_complement=True)
    for seed in range(2):
        for motifs, planted_ones in (((MOTIFS[0],), 1), (("",), 0)):
            model = trained(planted(seed, n=80, motifs=motifs), kernel)
            found = find_motifs(model, model.support, support_classes(model))
            assert len(found) == planted_ones
            assert all(same_up_to_strand(motif.consensus, MOTIFS[0]) and motif.sign > 0 for motif in found)


def test_enrichment_is_fishers_exact_test():
    from scipy.stats import fisher_exact

    own = np.arange(50) < 20
    codes, scores = np.zeros((9, 4), dtype=np.uint8), np.zeros((9, 4))
    pieces = Pieces(codes, scores, 0, DNA, True, np.array([0, 3, 3, 5, 19, 30, 7, 8, 31]))
    cluster = Cluster(np.zeros((4, 4)), np.arange(9), np.zeros(9), np.zeros(9, dtype=bool), 1.0)
    expected = fisher_exact([[6, 2], [14, 28]], alternative="greater").pvalue
    assert _enrichment(pieces, cluster, own) == pytest.approx(expected, rel=1e-12)


def test_proteins_have_motifs_too():
    letters, motif = "ACDEFGHIKLMNPQRSTVWY", ("WHCRK",)
    model = trained(planted(1, motifs=motif, letters=letters), SpectrumKernel(3), "protein")
    found = find_motifs(model, as_sequences(planted(2, motifs=motif, letters=letters), "protein"))
    assert found[0].consensus == "WHCRK"


def test_a_model_whose_decisions_are_no_sums_over_kmers_needs_sequences():
    texts = planted(1, n=40)
    positional = trained(texts, WeightedDegreeKernel(3))
    with pytest.raises(ParameterError, match="are not sums over k-mers"):
        find_motifs(positional)
    assert isinstance(find_motifs(positional, as_sequences(texts, "dna")), list)


# ---- clusters --------------------------------------------------------------------------------------


def test_a_cluster_joins_both_strands_and_offsets():
    rng = np.random.default_rng(3)
    site = np.array([3, 2, 0, 1, 3, 1, 0, 2, 1], dtype=np.uint8)
    codes = rng.integers(4, size=(60, 21)).astype(np.uint8)
    scores = np.full((60, 21), 0.1)
    offsets, turned = rng.integers(4, 9, size=40), rng.random(40) < 0.5
    for i in range(40):
        codes[i, offsets[i] : offsets[i] + 9] = DNA.complement_codes[site[::-1]] if turned[i] else site
        scores[i, offsets[i] : offsets[i] + 9] = 1.0
    clusters = find_clusters(Pieces(codes, scores, 0, DNA, True), 10, 10)
    first = clusters[0]
    assert set(range(40)) <= set(first.members.tolist())
    strand = dict(zip(first.members.tolist(), first.reverse.tolist(), strict=True))
    assert len({strand[i] == bool(turned[i]) for i in range(40)}) == 1


@pytest.mark.parametrize("seed", range(4))
def test_random_stretches_form_no_cluster(seed):
    rng = np.random.default_rng(seed)
    pieces = Pieces(rng.integers(4, size=(200, 20)).astype(np.uint8), rng.random((200, 20)), 0, DNA, True)
    assert find_clusters(pieces, 5, 8) == []


def test_random_sequences_keep_lengths_masks_and_pairs():
    X = as_sequences(["ACGTN" * 30, "AAAAAAAA", "ATATATATATAT"], "dna")
    drawn = random_like(X, np.random.default_rng(1))
    assert drawn.lengths.tolist() == X.lengths.tolist()
    np.testing.assert_array_equal(drawn.compact().codes >= 4, X.packed().codes >= 4)
    assert drawn.strings()[1:] == X.strings()[1:]
