"""Held matrices: the values of a source that computes them anew, with one computation for all folds."""

import numpy as np

from seqkern import SequenceSet
from seqkern.gram.transforms import build_transform
from seqkern.kernels import CombinationKernel, SpectrumKernel
from seqkern.models import held_gram
from seqkern.models.held_gram import HeldGram, HeldMatrices
from seqkern.models.sources import FittedKernel

RNG = np.random.default_rng(1)
X = SequenceSet.from_strings(["".join(RNG.choice(list("ACGT"), 30)) for _ in range(20)], "dna")


def test_the_values_are_those_of_the_kernel():
    for whole in (False, True):
        held = HeldGram(SpectrumKernel(2), HeldMatrices(X, whole), [build_transform("centre")])
        plain = FittedKernel(SpectrumKernel(2), X, [build_transform("centre")])
        for train, test in ((np.arange(5, 15), np.array([1, 18])), (np.arange(0, 20, 2), np.arange(1, 20, 2))):
            for one, two in zip(held.pair(train, test), plain.pair(train, test), strict=True):
                np.testing.assert_allclose(one, two, atol=1e-12)


def test_one_matrix_serves_all_folds(monkeypatch):
    sizes = []

    def counted(kernel, X, **options):
        sizes.append(len(X))
        return compute(kernel, X, **options)

    compute = held_gram.compute_gram
    monkeypatch.setattr(held_gram, "compute_gram", counted)
    source = HeldGram(SpectrumKernel(2), HeldMatrices(X))
    rows = np.arange(0, 20, 2)
    for fold in range(5):
        source.pair(np.delete(rows, fold), rows[[fold]])
    assert sizes == [10]
    source.pair(np.arange(19), np.array([19]))
    source.pair(rows, rows[:0])
    assert sizes == [10, 20]


def test_a_combination_uses_the_matrices_of_its_parts(monkeypatch):
    computed = []

    def counted(kernel, X, **options):
        computed.append(kernel.k)
        return compute(kernel, X, **options)

    compute = held_gram.compute_gram
    monkeypatch.setattr(held_gram, "compute_gram", counted)
    held = HeldMatrices(X, whole=True)
    parts = [SpectrumKernel(1), SpectrumKernel(2)]
    train, test, y = np.arange(12), np.arange(12, 20), np.where(np.arange(12) % 2, 1.0, -1.0)
    for part in parts:
        HeldGram(part, held).pair(train, test, y)
    both = HeldGram(CombinationKernel(parts), held)
    plain = FittedKernel(CombinationKernel(parts), X)
    for one, two in zip(both.pair(train, test, y), plain.pair(train, test, y), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)
    assert computed == [1, 2]
    assert both.learns
