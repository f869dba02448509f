"""One division of samples into a training and a test set."""

from __future__ import annotations

from dataclasses import dataclass

from seqkern.folds.splitters import Indices


@dataclass(frozen=True, eq=False)
class Split:
    """One division of the samples into a training and a test set.

    Attributes
    ----------
    name : str
        Name of the split.
    train : ndarray of int64
        The training rows, sorted.
    test : ndarray of int64
        The test rows, sorted and disjoint from `train`.

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
