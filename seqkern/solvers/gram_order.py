"""An order of the samples of a Gram matrix that depends on their kernel values alone, not on their places."""

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

ROWS = 256
"""Rows sorted at a time."""


def gram_order(K: npt.NDArray[np.float64], y: npt.NDArray[Any], seed: int = 0) -> npt.NDArray[np.int64]:
    """Return an order of the samples that depends only on their kernel values, their labels and a seed.

    Passes over the samples in this order, and draws from it, are independent of the order in the input. The key of a
    sample is a hash of its sorted kernel values, its label and K(x, x); samples with equal keys keep their order, which
    are nearly always copies of each other. Complexity: O(n² log n).

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
    key = int(seed).to_bytes(8, "little")
    ends = np.column_stack((np.asarray(y, dtype=np.float64), np.diagonal(K))) + 0.0  # −0 is 0
    keys = np.empty(len(K), dtype=np.uint64)
    for start in range(0, len(K), ROWS):
        part = slice(start, start + ROWS)
        rows = np.column_stack((np.sort(K[part], axis=1) + 0.0, ends[part]))
        digests = [hashlib.blake2b(row, digest_size=8, key=key).digest() for row in rows]
        keys[part] = np.frombuffer(b"".join(digests), dtype=np.uint64)
    return np.argsort(keys, kind="stable").astype(np.int64)
