"""An order of the samples of a Gram matrix that depends on their kernel values alone, not on their places."""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.solvers.feature_rows import order_by_content


def gram_order(K: npt.NDArray[np.float64], y: npt.NDArray[Any], seed: int = 0) -> npt.NDArray[np.int64]:
    """Return an order of the samples that depends only on their kernel values, their labels and a seed.

    Passes over the samples in this order, and draws from it, are independent of the order in the input. The content of
    a sample are its sorted kernel values and K(x, x); samples with equal content and label keep their order, which are
    nearly always copies of each other. Complexity: O(n² log n).

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        Symmetric.
    y : ndarray, shape (n,)
        Numbers, such as class indices.
    seed : int
        From 0 to 2⁶⁴ − 1.

    Returns
    -------
    ndarray of int64, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.gram_order import gram_order
    >>> x = np.array([0.5, 0.1, 0.9])
    >>> first = x[gram_order(np.outer(x, x), np.array([0, 0, 1]))]
    >>> other = x[::-1][gram_order(np.outer(x[::-1], x[::-1]), np.array([1, 0, 0]))]
    >>> np.array_equal(first, other)
    True
    """
    diagonal = np.diagonal(K)[:, None]
    content = FeatureBlocks(
        (len(K), len(K) + 1), np.float64, lambda rows: np.hstack((np.sort(K[rows], axis=1), diagonal[rows]))
    )
    return order_by_content(content, y, seed)
