"""The best bias of hinge losses, for given weights."""

import numpy as np
import numpy.typing as npt


def best_bias(
    products: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    cost: npt.NDArray[np.float64],
    margin: float = 1.0,
    total: float = 0.0,
) -> float:
    """Return the b with the least total·b + Σ cost·max(0, margin − y·(products + b)), in the middle if there are many.

    The slope rises by cost_i at b = y_i·margin − products_i, from total − Σ cost of the positive samples on. If it is
    zero at first, every small b is best, and the greatest of them is returned.

    Parameters
    ----------
    products : ndarray of float64, shape (n,)
        w·φ of each sample.
    y : ndarray of float64, shape (n,)
        −1 and 1.
    cost : ndarray of float64, shape (n,)
        C of each sample.
    margin, total : float
        0 and what the dual variables sum to, for the one-class SVM.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.products.best_bias import best_bias
    >>> best_bias(np.array([3.0, 1.0]), np.array([1.0, -1.0]), np.ones(2))
    -2.0
    """
    places = margin * y - products
    order = np.argsort(places)
    slope = np.cumsum(cost[order]) - (float(np.sum(cost[y > 0])) - total)
    slope[np.abs(slope) <= 1e-12 * float(np.sum(cost))] = 0.0  # as rounding lets it be
    first = int(np.argmax(slope >= 0))
    last = first + 1 if slope[first] == 0 and first + 1 < len(places) else first
    return 0.5 * float(places[order[first]] + places[order[last]])
