"""One division of samples into a training and a test part."""

from __future__ import annotations

from dataclasses import dataclass

from seqkern.folds.splitters import Indices


@dataclass(frozen=True, eq=False)
class Split:
    """One division of the samples into a training and a test part.

    Attributes
    ----------
    name : str
        Of the split.
    train : ndarray of int64
        The rows to train on, sorted.
    test : ndarray of int64
        The rows to test on, sorted; none of them is in `train`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.folds import Split
    >>> split = Split("1", train=np.array([0, 2, 3]), test=np.array([1, 4]))
    >>> split.name, split.test.tolist()
    ('1', [1, 4])
    """

    name: str
    train: Indices
    test: Indices
