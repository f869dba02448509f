"""How many jobs share the evaluations of a kernel on a data set."""

import math
from collections.abc import Collection

from seqkern.study.plan import MethodCost

SHORTEST = 30.0
"""CPU seconds: starting a job costs some of them."""


def count_shares(costs: Collection[MethodCost], limit: float, *, inner: bool = False) -> int:
    """Return into how many jobs the folds of several methods are cut.

    Parameters
    ----------
    costs : collection of MethodCost
        The methods.
    limit : float
        CPU seconds that a job may take. One that computes a single fold may take longer.
    inner : bool
        Whether only the inner loops are computed, for one choice over several tasks.

    Returns
    -------
    int
        1 if they are not divided.

    Examples
    --------
    >>> svm = MethodCost(10**8, [100.0] * 10)
    >>> count_shares([svm, svm], limit=600), count_shares([svm, svm], limit=3600), count_shares([svm], limit=0.1)
    (4, 1, 10)
    """
    folds = [seconds for cost in costs for seconds in (cost.inner if inner else cost.folds)]
    work, once = sum(folds), sum(cost.once for cost in costs)
    if work + once <= limit:
        return 1
    # each job spends `once` as well
    wanted = math.ceil(work / max(limit - once, min(limit, SHORTEST)))
    return max(1, min(wanted, int(work / min(limit, SHORTEST)), len(folds)))
