"""What bounds of the leave-one-out error are predicted to cost, for the plan of a study."""

from seqkern.solvers.costs import FitCost, FitWork, dense_algebra

SPHERE_PRODUCTS = 10.0
"""The smallest sphere takes as long as so many products with the matrix, as measured for 1,000 to 4,000 samples."""

SPAN_CUBES = 0.5
"""Multiplications and additions of the span, as a multiple of the third power of the support vectors."""


def bounds_cost(work: FitWork, *, limited: bool = True) -> FitCost:
    """Return the cost of all bounds of one fit on a Gram matrix, besides the fit.

    All samples count as support vectors, so that it is an upper estimate.

    Parameters
    ----------
    work : FitWork
        The sizes of the training set.
    limited : bool
        As for `seqkern.solvers.svm.leave_one_out.leave_one_out`.

    Returns
    -------
    FitCost

    Examples
    --------
    >>> from seqkern.solvers.costs import FitWork
    >>> bounds_cost(FitWork(8000)).seconds < bounds_cost(FitWork(8000), limited=False).seconds
    True
    """
    # imported here: it slows start-up, and few plans need it
    from seqkern.solvers.svm.leave_one_out import MOST_SUPPORT
    from seqkern.solvers.svm.smallest_sphere import sphere_bytes

    support = min(work.n, MOST_SUPPORT) if limited else work.n
    seconds = SPHERE_PRODUCTS * work.product + dense_algebra(support, SPAN_CUBES)
    return FitCost(seconds, max(sphere_bytes(work.n), 16 * support**2))
