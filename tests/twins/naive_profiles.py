"""Naive twins of the kernels on profiles: the definitions, written down without any thought of speed."""

import itertools
import math

import numpy as np

from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import SequenceSet

NEAR = 1e-7  # no k-mer of a test may be so near to the threshold that roundings decide


def random_profiles(strings, alphabet, seed=1, sharp=0.3):
    """Return a SequenceSet of `strings`, ``*`` masked, with random profiles of small and large probabilities."""
    rng = np.random.default_rng(seed)
    X = SequenceSet.from_strings(strings, alphabet, unknown="mask_all")
    size = X.alphabet.size
    profile = np.maximum(rng.dirichlet(np.full(size, sharp), size=len(X.codes)), 1e-9)
    profile = (profile / profile.sum(axis=1, keepdims=True)).astype(np.float32)
    return X.replace(tracks={"profile": profile, "pssm": np.log2(profile * size).astype(np.float32)})


def profile_counts(X, i, k, sigma):
    """Return {k-mer: number of places of record i that count for it}."""
    counts = {}
    codes = X.codes[X.starts[i] : X.stops[i]]
    costs = -np.log(X.tracks["profile"][X.starts[i] : X.stops[i]].astype(np.float64))
    for j in range(len(codes) - k + 1):
        if (codes[j : j + k] == MASK).any():
            continue
        for u in itertools.product(range(X.alphabet.size), repeat=k):
            cost = math.fsum(costs[j + i, letter] for i, letter in enumerate(u))
            assert abs(cost - sigma) > NEAR
            if cost < sigma:
                counts[u] = counts.get(u, 0) + 1
    return counts


def profile(X, Y, k, sigma, presence=False):
    """Return the profile kernel of two sets, not normalised."""
    rows = [profile_counts(X, i, k, sigma) for i in range(len(X))]
    cols = [profile_counts(Y, i, k, sigma) for i in range(len(Y))]
    out = np.zeros((len(rows), len(cols)))
    for (i, a), (j, b) in itertools.product(enumerate(rows), enumerate(cols)):
        out[i, j] = sum(1 if presence else a[u] * b[u] for u in a.keys() & b.keys())
    return out
