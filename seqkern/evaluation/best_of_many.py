"""The score of the best of several methods, corrected for the choice: the best is partly the luckiest.

Of candidates whose scores on each fold are known, Tibshirani and Tibshirani's correction: how far the chosen one is
behind the best of each fold, averaged over the folds, is what the choice gained. Of methods whose decisions are known,
the bootstrap bias corrected cross-validation (BBC-CV): choose the best on a bootstrap sample of the test samples, and
score it on those that were not drawn.

References
----------
Tibshirani & Tibshirani 2009, Ann. Appl. Stat. 3:822-829. Tsamardinos, Greasidou & Borboudakis 2018, Mach. Learn.
107:1895-1922.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.bootstrap import CELLS, Sample

DRAWS = 500
"""Bootstrap samples, as many as its authors found to be enough."""

Scorer = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]
"""Takes weights (draws, n), returns the scores (draws, methods); larger is better."""


def corrected_choice(scores: npt.ArrayLike) -> float:
    """Return the mean score of the best candidate, corrected for the choice by Tibshirani and Tibshirani.

    Parameters
    ----------
    scores : array_like of float, shape (candidates, folds)
        Larger is better. Folds in which a candidate has none, NaN, are left out.

    Returns
    -------
    float
        At most the mean score of the best one; NaN without a common fold.

    Examples
    --------
    >>> corrected_choice([[0.75, 0.5], [0.5, 1.0]])  # the second is best on average, the first in the first fold
    0.625
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table[:, ~np.isnan(table).any(axis=0)]
    if not table.size:
        return math.nan
    best = table[int(np.argmax(table.mean(axis=1)))]
    return float(best.mean() - (table.max(axis=0) - best).mean())


def corrected_ranking(
    labels: npt.ArrayLike,
    decisions: Sequence[npt.ArrayLike],
    score: str = "auc",
    *,
    folds: npt.ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> float:
    """Return the score of the best of several rankings, corrected for the choice by BBC-CV.

    Samples are drawn within each test set and class.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : sequence of array_like of float, shape (n,)
        Of each method; higher means positive.
    score : str, default "auc"
        As for `seqkern.evaluation.bootstrap.bootstrap_interval`.
    folds : array_like, shape (n,), optional
        The test set of each sample; the score is the mean over the sets.
    draws : int, default 500
        Number of bootstrap samples.
    seed : int, default 0
        Seed of the draws.

    Returns
    -------
    float
        NaN if no draw leaves samples of both classes out.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.normal(size=(50, 200))
    >>> labels = np.arange(200) % 2
    >>> best, corrected = max(Sample(labels, noise, "auc", None).whole()), corrected_ranking(labels, noise)
    >>> round(float(best), 2), round(corrected, 2)
    (0.58, 0.48)
    """
    sample = Sample(labels, decisions, score, folds)
    if not sample.parts:
        return math.nan
    return _bootstrapped(sample.scores, sample.n, sample.strata, draws, seed)


def corrected_mean(
    values: npt.ArrayLike, *, folds: npt.ArrayLike | None = None, draws: int = DRAWS, seed: int = 0
) -> float:
    """Return the mean value of the best of several methods, corrected for the choice by BBC-CV.

    Parameters
    ----------
    values : array_like of float, shape (methods, n)
        What each sample, or each task, adds to a method's mean: 1 or 0 for a right or wrong prediction, or a score.
        Larger is better; samples with a NaN are left out.
    folds : array_like, shape (n,), optional
        The test set of each sample, which is drawn from within it; the value is the mean over the sets.
    draws : int, default 500
        Number of bootstrap samples.
    seed : int, default 0
        Seed of the draws.

    Returns
    -------
    float
        NaN for fewer than two samples.

    Examples
    --------
    >>> right = np.random.default_rng(0).integers(0, 2, size=(50, 100))
    >>> float(right.mean(axis=1).max()), round(corrected_mean(right), 2)
    (0.62, 0.5)
    """
    table = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(table).any(axis=0)
    table = table[:, known]
    n = table.shape[1]
    sets = np.zeros(n, dtype=np.int64) if folds is None else np.unique(np.asarray(folds)[known], return_inverse=True)[1]
    parts = [np.flatnonzero(sets == part) for part in range(int(sets.max(initial=-1)) + 1)]

    def score(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        means = [weights[:, p] @ table[:, p].T / weights[:, p].sum(axis=1, keepdims=True) for p in parts]
        return np.mean(means, axis=0)

    return _bootstrapped(score, n, parts, draws, seed) if n > 1 else math.nan


def _bootstrapped(score: Scorer, n: int, strata: Sequence[npt.NDArray[np.int64]], draws: int, seed: int) -> float:
    """Return the mean score, on the samples that were not drawn, of the best method on those that were."""
    rng, found = np.random.default_rng(seed), []
    for count in _batches(draws, max(1, CELLS // n)):
        drawn = np.zeros((count, n))
        for rows in strata:
            drawn[:, rows] = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=count)
        with np.errstate(invalid="ignore", divide="ignore"):  # a draw may leave no sample of a class out
            inside, outside = score(drawn), score((drawn == 0).astype(np.float64))
        best = np.argmax(np.nan_to_num(inside, nan=-np.inf), axis=1)
        found.append(outside[np.arange(count), best])
    scores = np.concatenate(found)
    return float(np.nanmean(scores)) if not np.isnan(scores).all() else math.nan


def _batches(total: int, size: int) -> Iterator[int]:
    """Yield numbers of draws at once."""
    for start in range(0, total, size):
        yield min(size, total - start)
