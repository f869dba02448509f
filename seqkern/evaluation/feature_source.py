"""Explicit feature vectors of a training and a test part, for solvers that take features."""

import copy
from functools import cached_property

import numpy as np

from seqkern.core.errors import GramError
from seqkern.core.memory import available_memory, format_bytes, parse_bytes
from seqkern.core.sparse_types import is_sparse
from seqkern.evaluation.sources import check_no_transforms
from seqkern.kernels.explicit import feature_vectors, known_names, name_features
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.solvers import build_solver

MOST_LISTED = 2000
"""Of a solver that selects no features so many are listed, if they have names."""


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
    blocks : bool
        Whether features that are not sparse are given as FeatureBlocks, in the kernel's precision: they are stored
        where they fit into the memory, and else computed anew whenever they are looked at.
    memory_limit : int or str, optional
        Bytes, or text such as ``"2GB"``; by default half of the memory available.

    Raises
    ------
    ParameterError
        If the kernel has no explicit features, or there are transforms, which need a Gram matrix.
    """

    gives = "features"

    def __init__(self, kernel, X, transforms=(), *, sparse=True, blocks=False, memory_limit=None):
        kernel.check_features()
        check_no_transforms(transforms)
        self.kernel = kernel
        self.X = X
        self.sparse = sparse
        self.blocks = blocks
        self.limit = available_memory() // 2 if memory_limit is None else parse_bytes(memory_limit)

    @cached_property
    def whole(self):
        """The feature vectors of all units, of a kernel that learns nothing from data."""
        return self.of(self.kernel, self.X)

    def of(self, kernel, X, counts=None):
        """Return the feature vectors of some units by a fitted kernel; see `feature_vectors`.

        FeatureBlocks, where they are wanted, have not been computed.

        Raises
        ------
        GramError
            If they are wanted dense and do not fit into the memory.
        """
        if self.blocks:
            blocks = kernel.feature_blocks(X, counts)
            return blocks.sparse if self.sparse and blocks.sparse is not None else blocks
        vectors = feature_vectors(kernel, X, counts)
        if self.sparse or not is_sparse(vectors):
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
        if self.kernel.data_dependent:
            kernel = self.fitted(train, y)
            parts = self.of(kernel, self.X.take(train)), self.of(kernel, self.X.take(test))
        elif isinstance(self.whole, FeatureBlocks):
            parts = self.whole.take(train), self.whole.take(test)
        else:
            parts = self.whole[train], self.whole[test]
        return self.kept(*parts)

    def kept(self, *parts):
        """Return features of some parts, FeatureBlocks stored as far as they fit into the memory together: a tuple."""
        room = min(self.limit, available_memory() // 2)
        out = []
        for part in parts:
            if isinstance(part, FeatureBlocks):
                part = part.keep(room)
                room -= part.nbytes if part.stored else 0
            out.append(part)
        return tuple(out)

    def fitted(self, train, y=None):
        """Return the kernel fitted on a training part; itself, if it learns nothing."""
        if not self.kernel.data_dependent:
            return self.kernel
        return copy.deepcopy(self.kernel).fit(self.X.take(train), y)

    def names(self, columns, train, y=None):
        """Return the names of some features of a training part, a list of str."""
        return name_features(self.fitted(train, y), self.X, columns)


def feature_form(specs):
    """Return how a FeatureSource is to give features to all solvers of a grid, its parameters as a dict."""
    solvers = [build_solver(spec) for spec in specs]
    return {
        "sparse": all(solver.takes_sparse for solver in solvers),
        "blocks": all(solver.takes_blocks for solver in solvers),
    }


def chosen_features(source, solver, split, y_train, classes=()):
    """Return the features that a fitted solver selected, as rows of a table.

    Parameters
    ----------
    source : FeatureSource
    solver : Solver
        Fitted on the training part of `split`.
    split : Split
    y_train : ndarray
        The labels of the training part.
    classes : sequence of str, optional
        The names of the classes that the labels of several classes are places of.

    Returns
    -------
    list of dict
        As `feature_rows`. Of a solver that selects none: all, where there are not many, and they have weights and
        names; else none.
    """
    columns, weights = ranked_features(solver)
    names = None
    if not solver.selects:
        if not 0 < len(columns) <= MOST_LISTED or weights[0] is None:
            return []
        names = known_names(source.fitted(split.train, y_train), source.X)
        if names is None:
            return []
    names = source.names(columns, split.train, y_train) if names is None else [names[j] for j in columns]
    several = solver.weights_by_class() is not None
    return feature_rows(solver, names, columns, [classes[int(code)] for code in solver.classes_] if several else ())


def interval_rows(source, solver, split, y_train, classes):
    """Return the confidence intervals that a fitted solver has for the coefficients of the features, as a table.

    Parameters
    ----------
    source, solver, split, y_train, classes
        As in `chosen_features`.

    Returns
    -------
    list of dict
        Empty for a solver without; else for each class, or the second of two, and each feature: ``class``,
        ``feature``, ``column`` (from 1), ``selected`` (1 or 0), ``weight``, ``low`` and ``high``, as if the selected
        features had been known before, and ``full_weight``, ``full_low`` and ``full_high``, of all features together.
    """
    found = solver.intervals()
    if found is None:
        return []
    names = source.names(np.arange(found.shape[1]), split.train, y_train)
    owners = classes[1:] if len(found) == 1 else [classes[int(code)] for code in solver.classes_]
    keys = ("weight", "low", "high", "full_weight", "full_low", "full_high")
    return [
        {"class": owner, "feature": name, "column": column, "selected": int(np.isfinite(own[0]))}
        | {key: None if np.isnan(value) else value for key, value in zip(keys, own.tolist(), strict=True)}
        for owner, rows in zip(owners, found, strict=True)
        for column, (name, own) in enumerate(zip(names, rows, strict=True), start=1)
    ]


def feature_rows(solver, names, columns, classes=()):
    """Return the features that a fitted solver selected, as rows of a table.

    Parameters
    ----------
    solver : Solver
    names : list of str
        Of the features as `ranked_features` returns them.
    columns : ndarray of int64
        Their columns, from 0.
    classes : sequence of str, optional
        The names of the classes, for a solver of `weights_by_class`.

    Returns
    -------
    list of dict
        ``feature`` (its name), ``column`` (counted from 1), ``rank`` (1 for the best), ``weight`` (see
        `Solver.selected_weights`) and ``class``, the best first: the largest absolute weight, or in the order of a
        solver that ranks features itself. With weights for each class there is a row for each, one after the other;
        else ``class`` is None.
    """
    weights = ranked_features(solver)[1]
    return [
        {"feature": name, "column": column, "rank": rank, "weight": weight, "class": label}
        for rank, (name, column, own) in enumerate(zip(names, (columns + 1).tolist(), weights, strict=True), start=1)
        for label, weight in (zip(classes, own, strict=True) if isinstance(own, list) else [(None, own)])
    ]


def ranked_features(solver):
    """Return the columns that a fitted solver selected, the best first, and their weights.

    Returns
    -------
    columns : ndarray of int64, shape (m,)
    weights : list
        A number for each column, None without weights, or a list of one for each class.
    """
    columns = np.asarray(solver.selected_columns(), dtype=np.int64)
    weights, by_class = solver.selected_weights(), solver.weights_by_class()
    if by_class is not None:
        order = np.argsort(-np.abs(by_class).max(axis=0), kind="stable")
        return columns[order], by_class[:, order].T.tolist()
    if weights is None:
        return columns, [None] * len(columns)
    if solver.linear() is None:  # it ranked them itself, before what it weighs
        return columns, weights.tolist()
    order = np.argsort(-np.abs(weights), kind="stable")
    return columns[order], weights[order].tolist()
