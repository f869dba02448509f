"""A trivial model of variants: the log-odds of 3-mers between two classes, which knows composition alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqkern.models.variants.tables import TableScorer
from seqkern.sequences.sequence_set import SequenceSet

LENGTH = 3
PSEUDOCOUNT = 1.0


def composition_scorer(X: SequenceSet, positive: npt.NDArray[np.bool_]) -> TableScorer:
    """Return a scorer by the frequencies of 3-mers on both strands.

    Parameters
    ----------
    X : SequenceSet, n sequences
        Training sequences, of DNA or RNA.
    positive : ndarray of bool, shape (n,)
        Which of them are positive.

    Returns
    -------
    TableScorer
        The weight of a 3-mer is the logarithm of its frequency in positive sequences, less that in the others.

    Examples
    --------
    >>> X = SequenceSet.from_strings(["GGCGGCGGC", "GCCGCC", "AATAATAAT", "TTATTA"], "dna")
    >>> scorer = composition_scorer(X, np.array([True, True, False, False]))
    >>> sums = scorer.sums(SequenceSet.from_strings(["GGC", "GCC", "AAT"], "dna"))
    >>> bool(sums[0] == sums[1] > 0 > sums[2])
    True
    """
    logs = [np.log(_counts(X.take(np.flatnonzero(rows)))) for rows in (positive, ~positive)]
    return TableScorer({LENGTH: logs[0] - logs[1]}, X.alphabet)


def _counts(X: SequenceSet) -> npt.NDArray[np.float64]:
    """Return the frequencies of all 3-mers, those of both strands together."""
    size = X.alphabet.size
    counts = np.full((size,) * LENGTH, PSEUDOCOUNT)
    starts = np.concatenate([np.arange(a, max(a, b - LENGTH + 1)) for a, b in zip(X.starts, X.stops, strict=True)])
    kmers = X.codes[starts[:, None] + np.arange(LENGTH)]
    np.add.at(counts, tuple(kmers[(kmers < size).all(axis=1)].T), 1)
    complement = X.alphabet.complement_codes[:size]
    counts = counts + counts[np.ix_(*[complement] * LENGTH)].transpose()
    return (counts / counts.sum()).ravel()
