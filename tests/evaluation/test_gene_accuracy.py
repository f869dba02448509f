"""Sensitivity and precision of genes, against counting base by base."""

import math

import numpy as np

from seqkern.genomics.genes import NOTHING, LevelAccuracy, gene_accuracy


def random_structures(rng, count):
    """Return coding parts on both strands, which may overlap."""
    found = []
    for _ in range(count):
        cuts = np.sort(rng.choice(60, size=2 * int(rng.integers(1, 4)), replace=False)).reshape(-1, 2).tolist()
        found.append((bool(rng.random() < 0.5), tuple((start, stop) for start, stop in cuts)))
    return found


def bases(structures):
    return {(reverse, i) for reverse, parts in structures for start, stop in parts for i in range(start, stop)}


def test_counts_base_by_base():
    rng = np.random.default_rng(1)
    for _ in range(50):
        genes = [random_structures(rng, int(rng.integers(1, 3))) for _ in range(int(rng.integers(0, 4)))]
        predicted = random_structures(rng, int(rng.integers(0, 4))) + [gene[0] for gene in genes[:1]]
        true = [structure for gene in genes for structure in gene]
        found = gene_accuracy(genes, predicted)
        both = len(bases(true) & bases(predicted))
        assert found["base"] == LevelAccuracy(len(bases(true)), len(bases(predicted)), both, both)
        right = sum(any(structure in predicted for structure in gene) for gene in genes)
        assert found["gene"].right_true == right
        assert found["gene"].right_predicted == sum(structure in true for structure in predicted)


def test_worked_example():
    """Burset and Guigó: TP 40, FN 20, FP 10 bases; of two exons one is right, of three predicted."""
    annotated = [[(False, ((0, 30), (50, 80)))]]
    found = gene_accuracy(annotated, [(False, ((0, 30), (60, 70))), (True, ((50, 60),))])
    assert (found["base"].sensitivity, found["base"].precision) == (40 / 60, 40 / 50)
    assert (found["exon"].sensitivity, found["exon"].precision) == (1 / 2, 1 / 3)
    assert (found["gene"].sensitivity, found["gene"].precision, found["gene"].f1) == (0, 0, 0)


def test_any_transcript_of_a_gene_counts():
    transcripts = [(False, ((0, 30), (50, 80))), (False, ((0, 30),))]
    assert gene_accuracy([transcripts], [transcripts[1]])["gene"] == LevelAccuracy(1, 1, 1, 1)
    assert math.isnan(NOTHING.sensitivity)
