"""Where the kernel values of a training and a test part come from.

A kernel that learns nothing has one Gram matrix for all folds, which is sliced. A kernel that learns from
data is fitted on each training part anew, so that no test sequence is ever seen by ``fit``.
"""

import copy

import numpy as np

from ..kernels.blocks import fill


class StoredGram:
    """Slices of one Gram matrix over all units.

    Parameters
    ----------
    gram : GramMatrix
        Square, over all units of the data set.
    transforms : list of Gram transforms, optional
        Fitted on each training part.
    """

    def __init__(self, gram, transforms=()):
        self.gram = gram
        self.transforms = transforms

    def pair(self, train, test, y=None):
        """Return K(train, train) and K(test, train), float64, for index arrays `train` and `test`."""
        diagonal = self.gram.row_diagonal
        return _transformed(
            self.transforms,
            self.gram.slice(train, train),
            self.gram.slice(test, train),
            diagonal[train],
            diagonal[test],
        )


class FittedKernel:
    """Kernel values from a kernel fitted on each training part.

    Parameters
    ----------
    kernel : Kernel
        Copied before it is fitted.
    X : SequenceSet or table
        All units of the data set.
    transforms : list of Gram transforms, optional
    n_threads : int, optional
    """

    def __init__(self, kernel, X, transforms=(), n_threads=None):
        self.kernel = kernel
        self.X = X
        self.transforms = transforms
        self.n_threads = n_threads

    def pair(self, train, test, y=None):
        """Return K(train, train) and K(test, train), float64; `y` are the labels of the training part."""
        X_train = self.X.take(train)
        kernel = copy.deepcopy(self.kernel).fit(X_train, y)
        columns = kernel.prepare(X_train)
        rows = kernel.prepare(self.X.take(test), like=columns)
        K_train, K_test = (
            fill(kernel, part, columns, np.empty((len(part), len(columns))), n_threads=self.n_threads)
            for part in (columns, rows)
        )
        return _transformed(self.transforms, K_train, K_test, columns.diagonal, rows.diagonal)


def _transformed(transforms, K_train, K_test, train_diagonal, test_diagonal):
    """Return both matrices after each transform, fitted on the training matrix alone."""
    for transform in transforms:
        fitted = copy.deepcopy(transform).fit(K_train, train_diagonal)
        K_test, test_diagonal = fitted.transform(K_test, test_diagonal)
        K_train, train_diagonal = fitted.transform_train()
    return np.ascontiguousarray(K_train), np.ascontiguousarray(K_test)
