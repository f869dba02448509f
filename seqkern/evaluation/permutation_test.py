"""A test of two rankings that needs no variance: what the difference would be, were the methods' names chance.

Where one method is perfect and the other constant, the estimated variance of the difference is 0 and z is not
defined. Instead each unit's ranks by the two methods, within its test part, change places or not, by a coin. If it
makes no difference which method ranked a unit, the true difference is one of these, and p, the share of differences at
least as far from 0, keeps its level for any number of units.

References
----------
Bandos, Rockette, Gur 2005, Stat. Med. 24:2873-2893 (of the AUC). Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol.
9:39 (why p is never 0).
"""

import numpy as np
from scipy import stats

from seqkern.core.checks import check_integer
from seqkern.evaluation.bootstrap import CELLS, Sample
from seqkern.evaluation.ranking import as_binary

CLOSE = 1e-9
"""Differences that are less by this count as equal, in favour of no difference."""


def exchange_test(labels, first, second, score="auc", *, n_draws=4999, seed=0, folds=None):
    """Return the two-sided p of the difference of two decisions' scores by exchange of their ranks.

    Parameters
    ----------
    labels : array_like, shape (n,)
    first, second : array_like, shape (n,)
        Decisions of two methods.
    score, seed, folds
        As in `bootstrap_test`.
    n_draws : int

    Returns
    -------
    float
        NaN if no part holds both classes.
    """
    check_integer("n_draws", n_draws, 1)
    check_integer("seed", seed, 0)
    positive, first = as_binary(labels, first)
    _, second = as_binary(labels, second)
    folds = np.zeros(len(positive), dtype=np.int64) if folds is None else np.asarray(folds)
    own, other = (_ranks(values, folds) for values in (first, second))
    # every unit stands twice: with a method's own rank, and with the other's; a coin says which of them counts
    pair = [np.concatenate(ranks) for ranks in ((own, other), (other, own))]
    sample = Sample(np.tile(positive, 2), pair, score, np.tile(folds, 2))
    if not sample.parts:
        return float("nan")
    stay = np.ones((1, len(positive)))
    seen = abs(_difference(sample, stay))[0]
    rng, extreme, at_once = np.random.default_rng(seed), 0, max(1, CELLS // (2 * len(positive)))
    for start in range(0, n_draws, at_once):
        stay = rng.integers(2, size=(min(at_once, n_draws - start), len(positive)))
        extreme += int((np.abs(_difference(sample, stay)) >= seen - CLOSE).sum())
    return (1 + extreme) / (1 + n_draws)


def _difference(sample, stay):
    """Return the differences, float64 (draws,), where units marked 1 in `stay` (draws, n) keep their ranks."""
    scores = sample.scores(np.concatenate([stay, 1 - stay], axis=1).astype(np.float64))
    return scores[:, 0] - scores[:, 1]


def _ranks(values, folds):
    """Return mid-ranks within each test part."""
    ranks = np.empty(len(values))
    for fold in np.unique(folds):
        rows = folds == fold
        ranks[rows] = stats.rankdata(values[rows])
    return ranks
