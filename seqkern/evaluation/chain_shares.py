"""Methods on residues, chain by chain: the accuracy within each chain, and the uncertainty of the total.

Residues of one chain are not independent of one another, chains are. A test or an interval on residues would
be overconfident, so each chain counts once.
"""

import math
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.paired_decisions import PairedDecisions, has_value


class ChainShares:
    """The accuracy of the methods of PairedDecisions within each tested chain.

    A chain in several test sets counts once, with its residues from all of them.

    Parameters
    ----------
    paired : PairedDecisions
        Decisions about residues, whose ids are ``chain:position``.

    Attributes
    ----------
    names : list of str
        The chains, in order of appearance.

    Examples
    --------
    >>> ids = np.array(["1abc:1", "1abc:2", "1abc:3", "2xyz:1", "2xyz:2"])
    >>> states, predicted = np.array([0, 1, 1, 2, 2]), {"spectrum": np.array([0, 1, 0, 2, 2])}
    >>> shares = ChainShares(PairedDecisions("multiclass", ids, np.repeat("1", 5), states, {}, predicted, {}))
    >>> shares.names, shares.shares(["spectrum"])["spectrum"].round(2).tolist()
    (['1abc', '2xyz'], [0.67, 1.0])
    >>> shares.interval("spectrum").score
    0.8
    """

    def __init__(self, paired: PairedDecisions) -> None:
        self.paired = paired
        place: dict[str, int] = {}
        owners = (name.rpartition(":")[0] for name in paired.ids.tolist())
        self._chain = np.array([place.setdefault(owner, len(place)) for owner in owners], dtype=np.int64)
        self.names = list(place)

    @cached_property
    def _counts(self) -> dict[Hashable, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Dict of method to (correct residues, residues) of each chain, int64 (chains,) each."""
        found = {}
        for method, predicted in self.paired.predicted.items():
            rows = has_value(predicted)
            right = rows & (predicted == self.paired.labels)
            found[method] = self._per_chain(right), self._per_chain(rows)
        return found

    def _per_chain(self, rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Return the number of the given rows in each chain, int64 (chains,)."""
        return np.bincount(self._chain[rows], minlength=len(self.names))

    def shares(self, methods: Iterable[Any]) -> dict[Any, npt.NDArray[np.float64]]:
        """Return the share of correct residues of each chain.

        Parameters
        ----------
        methods : iterable of hashable
            Methods of the PairedDecisions.

        Returns
        -------
        dict of method to ndarray of float64, shape (chains,)
            NaN if a method lacks a chain.
        """
        every = np.full(len(self.names), np.nan)
        return {m: np.divide(r, n, out=every.copy(), where=n > 0) for m in methods for r, n in [self._counts[m]]}

    def interval(self, method: Hashable) -> ScoreInterval:
        """Return the interval of a method's share of correct residues, as from `share_interval`.

        Parameters
        ----------
        method : hashable
            A method of the PairedDecisions.

        Returns
        -------
        ScoreInterval
        """
        return share_interval(*self._counts[method])


def share_interval(right: npt.NDArray[np.int64], n: npt.NDArray[np.int64]) -> ScoreInterval:
    """Return the share of correct residues of chains, its standard error and 95 % interval.

    The sampling units are chains, not residues: the error is that of a ratio of two sums over chains, and the interval
    Student's with one degree of freedom less than the number of chains.

    Parameters
    ----------
    right, n : ndarray of int64, shape (chains,)
        Correct residues and residues of each chain; chains without residues are ignored.

    Returns
    -------
    ScoreInterval
        For a single chain, error and limits are NaN.

    References
    ----------
    Cochran 1977, Sampling Techniques, 3rd edition, section 6.3 (ratio of two means).
    """
    right, n = right[n > 0], n[n > 0]
    chains = len(n)
    if chains == 0:
        return ScoreInterval(*[math.nan] * 4)
    share = float(right.sum() / n.sum())
    if chains == 1:
        return ScoreInterval(share, *[math.nan] * 3)
    se = math.sqrt(chains / (chains - 1) * float(np.sum((right - share * n) ** 2))) / float(n.sum())
    half = float(stats.t.ppf(0.975, chains - 1)) * se
    return ScoreInterval(share, se, max(0.0, share - half), min(1.0, share + half))
