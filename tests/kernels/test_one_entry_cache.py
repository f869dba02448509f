"""Results are kept for the latest set, while it lives."""

import numpy as np
from naive import encode, random_strings

from seqkern.kernels import build_kernel
from seqkern.kernels.decisions import attributions
from seqkern.kernels.kmer import inexact
from seqkern.kernels.prepared import OneEntryCache


def test_the_same_set_and_key_give_the_same_result():
    latest, made = OneEntryCache(), []

    def make():
        made.append(object())
        return made[-1]

    X, Y = encode(["ACGT"]), encode(["ACGT"])
    first = latest.get(X, "a", make)
    assert latest.get(X, "a", make) is first
    assert latest.get(X, "b", make) is not first
    assert len(made) == 2
    latest.get(Y, "b", make)
    latest.get(X, "b", make)
    assert len(made) == 4


def test_nothing_is_kept_of_a_set_that_is_gone():
    latest = OneEntryCache()
    X, Y = encode(["ACGT"]), encode(["ACGT"])
    latest.get(X, "a", list)
    latest.get(Y, "a", list)
    del X
    assert latest._kept is not None
    del Y
    assert latest._kept is None


def test_the_support_is_counted_once(monkeypatch):
    X, Z = encode(random_strings(6, 20, 30, seed=1)), encode(random_strings(8, 20, 30, seed=2))
    kernel, c = build_kernel("rbf:base=(gappy:g=5,k=3)"), np.random.default_rng(0).normal(size=8)
    counted, counts = [], inexact.InexactKernel._counts

    def counting(self, X, k):
        counted.append(X)
        return counts(self, X, k)

    expected = attributions(kernel, X, Z.take(slice(None)), c)
    monkeypatch.setattr(inexact.InexactKernel, "_counts", counting)
    found = attributions(kernel, X, Z, c)
    assert sum(one is Z for one in counted) <= 2  # for the matrix, and for all six sequences
    assert found.tobytes() == expected.tobytes()
