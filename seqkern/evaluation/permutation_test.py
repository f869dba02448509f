"""A permutation test of two rankings, which needs no variance.

If one method is perfect and the other constant, the estimated variance of the difference is 0 and z is not
defined. Instead, each sample's ranks by the two methods, within its test set, are exchanged or not, at random. If it
makes no difference which method ranked a sample, the observed difference is one of these, and p, the share of
differences at least as far from 0, keeps its level for any number of samples.

References
----------
Bandos, Rockette, Gur 2005, Stat. Med. 24:2873-2893 (of the AUC). Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol.
9:39 (why p is never 0).
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqkern.core.checks import check_integer
from seqkern.evaluation.bootstrap import CELLS, Sample
from seqkern.evaluation.ranking import as_binary

CLOSE = 1e-9
"""Smaller differences count as equal, in favour of no difference."""


def exchange_test(
    labels: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    score: str = "auc",
    *,
    n_draws: int = 4999,
    seed: int = 0,
    folds: npt.ArrayLike | None = None,
) -> float:
    """Return the two-sided p of the difference of two scores, by exchanging ranks.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    first, second : array_like of float, shape (n,)
        Decision values of two methods; higher means positive.
    score : str, default "auc"
        ``auc``, ``average_precision``, or ``roc`` with a number, such as ``roc50``.
    n_draws : int, default 4999
        Number of random exchanges.
    seed : int, default 0
        Seed of the draws.
    folds : array_like, shape (n,), optional
        The test set of each sample, as for `bootstrap_test`.

    Returns
    -------
    float
        NaN if no set has both classes.

    Raises
    ------
    LabelError
        If the lengths differ, or a label or decision is not a finite number.
    ParameterError
        For an unknown score, or a number outside its domain.

    Examples
    --------
    >>> labels = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> exchange_test(labels, [8, 7, 6, 5, 4, 3, 2, 1], [1] * 8, n_draws=99)  # perfect against constant
    0.01
    """
    check_integer("n_draws", n_draws, 1)
    check_integer("seed", seed, 0)
    positive, values = as_binary(labels, first)
    other_values = as_binary(labels, second)[1]
    folds = np.zeros(len(positive), dtype=np.int64) if folds is None else np.asarray(folds)
    own, other = (_ranks(decisions, folds) for decisions in (values, other_values))
    # every sample is included twice, with each method's rank; a coin decides which one counts
    pair = [np.concatenate(ranks) for ranks in ((own, other), (other, own))]
    sample = Sample(np.tile(positive, 2), pair, score, np.tile(folds, 2))
    if not sample.parts:
        return float("nan")
    seen = abs(_difference(sample, np.ones((1, len(positive)))))[0]
    rng, extreme, at_once = np.random.default_rng(seed), 0, max(1, CELLS // (2 * len(positive)))
    for start in range(0, n_draws, at_once):
        stay = rng.integers(2, size=(min(at_once, n_draws - start), len(positive)))
        extreme += int((np.abs(_difference(sample, stay)) >= seen - CLOSE).sum())
    return (1 + extreme) / (1 + n_draws)


def _difference(sample: Sample, stay: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the differences, float64 (draws,), where samples marked 1 in `stay` (draws, n) keep their ranks."""
    scores = sample.scores(np.concatenate([stay, 1 - stay], axis=1).astype(np.float64))
    return scores[:, 0] - scores[:, 1]


def _ranks(values: npt.NDArray[np.float64], folds: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return mid-ranks within each test set."""
    ranks = np.empty(len(values))
    for fold in np.unique(folds):
        rows = folds == fold
        ranks[rows] = stats.rankdata(values[rows])
    return ranks
