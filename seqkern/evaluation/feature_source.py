"""Explicit feature vectors of a training and a test part, for solvers that take features."""

import copy
from functools import cached_property

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags

from ..errors import GramError
from ..kernels.explicit import feature_vectors, name_features
from ..memory import available_memory, format_bytes, parse_bytes
from ..solvers import build_solver
from .sources import check_no_transforms


class FeatureSource:
    """Feature vectors of a kernel, normalised as the kernel is.

    A kernel that learns nothing is asked once, and its rows are sliced; one that learns is fitted on each training
    part anew.

    Parameters
    ----------
    kernel : Kernel
        Copied before it is fitted, if it learns from data.
    X : SequenceSet or FeatureTable
        All units of the data set.
    transforms : list of Gram transforms, optional
        There must be none.
    sparse : bool
        Whether a matrix that is mostly zero may be given as a csr_array; else as an ndarray.
    memory_limit : int or str, optional
        Bytes, or text such as ``"2GB"``; by default half of the memory available.

    Raises
    ------
    ParameterError
        If the kernel has no explicit features, or there are transforms, which need a Gram matrix.
    """

    gives = "features"

    def __init__(self, kernel, X, transforms=(), *, sparse=True, memory_limit=None):
        kernel.check_features()
        check_no_transforms(transforms)
        self.kernel = kernel
        self.X = X
        self.sparse = sparse
        self.limit = available_memory() // 2 if memory_limit is None else parse_bytes(memory_limit)

    @cached_property
    def whole(self):
        """The feature vectors of all units, of a kernel that learns nothing from data."""
        return self.of(self.kernel, self.X)

    def of(self, kernel, X, counts=None):
        """Return the feature vectors of some units by a fitted kernel; see `feature_vectors`.

        Raises
        ------
        GramError
            If they are wanted dense and do not fit into the memory.
        """
        vectors = feature_vectors(kernel, X, counts)
        if self.sparse or not issparse(vectors):
            return vectors
        need = 8 * vectors.shape[0] * vectors.shape[1]
        if need > self.limit:
            raise GramError(
                f"{vectors.shape[1]} features of {vectors.shape[0]} units take {format_bytes(need)} of memory, "
                f"the limit is {format_bytes(self.limit)}",
                remedy="choose shorter words, or a solver that takes sparse features",
            )
        return vectors.toarray()

    def pair(self, train, test, y=None):
        """Return the feature vectors of two parts, for index arrays; `y` are the labels of the training part."""
        if not self.kernel.data_dependent:
            return self.whole[train], self.whole[test]
        kernel = self.fitted(train, y)
        return self.of(kernel, self.X.take(train)), self.of(kernel, self.X.take(test))

    def fitted(self, train, y=None):
        """Return the kernel fitted on a training part; itself, if it learns nothing."""
        if not self.kernel.data_dependent:
            return self.kernel
        return copy.deepcopy(self.kernel).fit(self.X.take(train), y)

    def names(self, columns, train, y=None):
        """Return the names of some features of a training part, a list of str."""
        return name_features(self.fitted(train, y), self.X, columns)


def take_sparse(specs):
    """Tell whether all solvers of a grid take sparse features."""
    return all(get_tags(build_solver(spec)).input_tags.sparse for spec in specs)


def chosen_features(source, solver, split, y_train):
    """Return the features that a fitted solver selected, as rows of a table.

    Parameters
    ----------
    source : FeatureSource
    solver : Solver
        Fitted on the training part of `split`.
    split : Split
    y_train : ndarray
        The labels of the training part.

    Returns
    -------
    list of dict
        ``feature`` (its name), ``column`` (counted from 1), ``rank`` (1 for the best) and ``weight`` (see
        `Solver.selected_weights`), the best first: the largest absolute weight, or in the order of a solver that ranks
        features itself.
    """
    columns, weights = ranked_features(solver)
    names = source.names(columns, split.train, y_train)
    rows = zip(names, (columns + 1).tolist(), weights, strict=True)
    return [
        {"feature": name, "column": column, "rank": rank, "weight": weight}
        for rank, (name, column, weight) in enumerate(rows, start=1)
    ]


def ranked_features(solver):
    """Return the columns that a fitted solver selected, int64 (m,), the best first, and their weights, a list."""
    columns = np.asarray(solver.selected_columns(), dtype=np.int64)
    weights = solver.selected_weights()
    if weights is None:
        return columns, [None] * len(columns)
    if solver.linear() is None:  # it ranked them itself, before what it weighs
        return columns, weights.tolist()
    order = np.argsort(-np.abs(weights), kind="stable")
    return columns[order], weights[order].tolist()
