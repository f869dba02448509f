"""Estimating the gap probabilities of a pair HMM from similar pairs of sequences, by Baum-Welch."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from seqkern.kernels.alignment.local_sums import product
from seqkern.kernels.alignment.pair_factors import PairFactors, loop_factors
from seqkern.kernels.alignment.pair_sums import PairSums
from seqkern.sequences.sequence_set import SequenceSet

MOST_RECORDS = 128  # among which similar pairs are looked for
ITERATIONS, TOLERANCE = 100, 1e-6
STEP = 1e-4  # of the differences
LEAST, MOST = 1e-6, 1 - 1e-6  # probabilities: without any gap, that of one is not 0

Gaps = tuple[float, float, float]
FactorsOf = Callable[[float, float, float], PairFactors]


class Estimate(NamedTuple):
    """What was estimated: γ, δ and ε, from how many pairs, and whether Baum-Welch converged."""

    gaps: Gaps
    pairs: int
    iterations: int
    converged: bool


def similar_pairs(X: SequenceSet, factors: PairFactors) -> tuple[SequenceSet, list[tuple[int, int]]]:
    """Return some of the records, and pairs of them: each with the one most similar to it, if ln odds exceed 0.

    Parameters
    ----------
    X : SequenceSet
        The training set. Of more than 128 different sequences, as many are chosen, evenly in the order of their
        lengths and residues.
    factors : PairFactors
        Of the pair HMM.

    Returns
    -------
    X : SequenceSet
    pairs : list of (int, int)
    """
    texts = X.strings()
    first = {text: place for place, text in reversed(list(enumerate(texts)))}
    order = [first[text] for text in sorted(first, key=lambda text: (len(text), text)) if text]
    if len(order) > MOST_RECORDS:
        order = [order[k * len(order) // MOST_RECORDS] for k in range(MOST_RECORDS)]
    some = X.take(np.array(order, dtype=np.int64))
    if len(some) < 2:
        return some, []
    sums = PairSums(some, factors)
    odds = np.empty((len(some), len(some)))
    product(sums, sums, odds)
    odds += factors.constant
    own = sums.own_logarithms()
    near = odds - (own[:, None] + own) / 2
    np.fill_diagonal(near, -np.inf)
    nearest = near.argmax(axis=1)
    pairs = {(min(i, int(j)), max(i, int(j))) for i, j in enumerate(nearest) if odds[i, j] > 0}
    return some, sorted(pairs)


def estimate_gaps(X: SequenceSet, pairs: list[tuple[int, int]], gaps: Gaps, factors_of: FactorsOf) -> Estimate:
    """Return the probabilities under which pairs are most likely (locally), by Baum-Welch.

    An expected count is the derivative of ln K by the logarithm of the factor that it counts, computed by central
    differences. Let r be the expected pairs of residues and g the expected gaps of all pairs of sequences. There are
    2 (r + 1) places for a gap, and all residues but 2r are in gaps: γ = r / (r + 1), δ = g / (2 (r + 1)), and ε is the
    share of the residues in gaps that are not the first. Each of n pairs of sequences adds its own 1.

    Parameters
    ----------
    X : SequenceSet
        The sequences.
    pairs : list of (int, int)
        Places of two in `X`; at least one pair.
    gaps : (float, float, float)
        γ, δ and ε to begin with.
    factors_of : callable
        Returns the PairFactors with given factors of the loops, as `PairFactors.with_factors`.

    Returns
    -------
    Estimate
    """
    residues = float(sum(X.lengths[i] + X.lengths[j] for i, j in pairs))
    sums, step = PairSums(X, factors_of(*loop_factors(gaps))), 0
    for step in range(1, ITERATIONS + 1):
        before = gaps
        matched, opened = expected_counts(sums, pairs, gaps, factors_of)
        extended = max(residues - 2 * matched - opened, 0.0)
        places = matched + len(pairs)
        gamma, delta = matched / places, opened / (2 * places)
        epsilon = extended / (extended + opened) if opened > 0 else gaps[2]
        gaps = (_inside(gamma), _inside(delta), _inside(epsilon))
        if max(abs(math.log(new / old)) for new, old in zip(gaps, before, strict=True)) < TOLERANCE:
            return Estimate(gaps, len(pairs), step, True)
    return Estimate(gaps, len(pairs), step, False)


def expected_counts(
    sums: PairSums, pairs: list[tuple[int, int]], gaps: Gaps, factors_of: FactorsOf
) -> tuple[float, float]:
    """Return the expected numbers of pairs of residues and of gaps, over all alignments of some pairs.

    Parameters
    ----------
    sums : PairSums
        The sequences; its factors are changed.
    pairs : list of (int, int)
        Places of two of them.
    gaps : (float, float, float)
        γ, δ and ε.
    factors_of : callable
        As for `estimate_gaps`.

    Returns
    -------
    (float, float)
    """
    pair, first, further = loop_factors(gaps)

    def total(matched: float, opened: float) -> float:
        """Return Σ ln K with the factors of a pair and of a gap times e^matched and e^opened."""
        sums.factors = factors_of(pair * math.exp(matched), first * math.exp(opened), further)
        return math.fsum(sums.pair(i, j) for i, j in pairs)

    matched = (total(STEP, 0.0) - total(-STEP, 0.0)) / (2 * STEP)
    opened = (total(0.0, STEP) - total(0.0, -STEP)) / (2 * STEP)
    return matched, opened


def _inside(probability: float) -> float:
    """Return a probability that is neither 0 nor 1."""
    return min(max(probability, LEAST), MOST)
