"""Where the kernel values of a training and a test part come from.

A kernel that learns nothing has one Gram matrix for all folds, which is sliced. A kernel that learns from
data is fitted on each training part anew, so that no test sequence is ever seen by ``fit``; where its matrix is that
of another kernel with transforms (`Kernel.stored_form`), the latter is sliced, and only they are fitted anew. For
solvers that need no Gram matrix there are feature vectors instead, of which each part takes its own.

Each source says what it `gives`, which is what a solver takes as its `input`.
"""

import copy
from functools import cached_property

import numpy as np

from ..errors import GramError, ParameterError
from ..gram.transforms import naming_rows
from ..kernels.blocks import fill, given_threads
from ..memory import available_memory, format_bytes, parse_bytes

RECORD_BYTES = 160
"""What a solver keeps for each record besides its feature vector, copies while it looks at them included."""


class GramSource:
    """Base of the sources that give Gram matrices: a subclass writes `values`.

    Attributes
    ----------
    transforms : list of Gram transforms
        Fitted on each training part.
    ids : list of str or None
        Of all units, for errors.
    n_threads : int or None
    learns : bool
        Whether each training part has a matrix of its own, before the transforms.
    """

    gives = "gram"

    def values(self, train, test, y=None):
        """Return K(train, train), K(test, train), and the diagonals K(x, x) of both, before the transforms."""
        raise NotImplementedError

    def transformed(self, values, train, test):
        """Return what `values` returned after each transform, fitted on the training matrix alone."""
        return self._after(self.transforms, values, train, test)

    def _after(self, transforms, values, train, test):
        """Return both matrices and diagonals after each of `transforms`."""
        K_train, K_test, train_diagonal, test_diagonal = values
        ids = [None if self.ids is None else [self.ids[row] for row in rows] for rows in (train, test)]
        with given_threads(self.n_threads):
            for transform in transforms:
                with naming_rows(ids[0]):
                    fitted = copy.deepcopy(transform).fit(K_train, train_diagonal)
                    K_train, train_diagonal = fitted.transform_train()
                with naming_rows(ids[1]):
                    K_test, test_diagonal = fitted.transform(K_test, test_diagonal)
        return np.ascontiguousarray(K_train), np.ascontiguousarray(K_test), train_diagonal, test_diagonal

    def pair(self, train, test, y=None):
        """Return K(train, train) and K(test, train), float64, for index arrays; `y` are the training part's labels."""
        return self.transformed(self.values(train, test, y), train, test)[:2]


class StoredGram(GramSource):
    """Slices of one Gram matrix over all units.

    Parameters
    ----------
    gram : GramMatrix
        Square, over all units of the data set.
    transforms : list of Gram transforms, optional
        Fitted on each training part.
    own : list of Gram transforms, optional
        Those that belong to the kernel (see `Kernel.stored_form`), and come before the others.
    ids : list of str, optional
        Of all units, for errors.
    n_threads : int, optional
    """

    def __init__(self, gram, transforms=(), *, own=(), ids=None, n_threads=None):
        self.gram = gram
        self.ids = ids
        self.transforms = transforms
        self.own = own
        self.learns = bool(own)
        self.n_threads = n_threads

    def values(self, train, test, y=None):
        """Return slices of the matrix and its diagonal, after the kernel's own transforms."""
        diagonal = self.gram.row_diagonal
        values = self.gram.slice(train, train), self.gram.slice(test, train), diagonal[train], diagonal[test]
        return self._after(self.own, values, train, test)


class FittedKernel(GramSource):
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
        self.learns = kernel.data_dependent
        self.ids = X.ids
        self.n_threads = n_threads

    def values(self, train, test, y=None):
        """Return the values of a kernel fitted on the training part, and their diagonals."""
        X_train = self.X.take(train)
        kernel = copy.deepcopy(self.kernel).fit(X_train, y)
        columns = kernel.prepare(X_train)
        rows = kernel.prepare(self.X.take(test), like=columns)
        K_train, K_test = (
            fill(kernel, part, columns, np.empty((len(part), len(columns))), n_threads=self.n_threads)
            for part in (columns, rows)
        )
        return K_train, K_test, columns.diagonal, rows.diagonal


class ImplicitSource:
    """Feature vectors that are never stored, for solvers that need no Gram matrix.

    Parameters
    ----------
    kernel : Kernel
        Copied before it is fitted, if it learns from data.
    X : SequenceSet or table
        All units of the data set.
    transforms : list of Gram transforms, optional
        There must be none.
    memory_limit : int or str, optional
        Bytes, or text such as ``"2GB"``; by default half of the memory available.

    Raises
    ------
    ParameterError
        If the kernel cannot be trained so, or there are transforms, which need a matrix.
    GramError
        If the feature vectors and their weights do not fit into the memory; before any work.
    """

    gives = "implicit"

    def __init__(self, kernel, X, transforms=(), memory_limit=None):
        kernel.check_implicit()
        check_no_transforms(transforms)
        limit = available_memory() // 2 if memory_limit is None else parse_bytes(memory_limit)
        need = kernel.implicit_bytes(X) + RECORD_BYTES * len(X)
        if need > limit:
            raise GramError(
                f"training on {len(X)} units without a Gram matrix takes {format_bytes(need)} of memory, the limit is "
                f"{format_bytes(limit)}",
                remedy="raise the limit, choose a kernel of shorter words, or fewer units",
            )
        self.kernel = kernel
        self.X = X

    @cached_property
    def whole(self):
        """The Implicit of all units, of a kernel that learns nothing from data."""
        return self.kernel.implicit(self.X)

    def pair(self, train, test, y=None):
        """Return the Implicits of two parts, for index arrays; `y` are the labels of the training part."""
        if not self.kernel.data_dependent:
            return self.whole.take(train), self.whole.take(test)
        kernel = copy.deepcopy(self.kernel).fit(self.X.take(train), y)
        both = kernel.implicit(self.X.take(np.concatenate((train, test))))
        places = np.arange(len(both))
        return both.take(places[: len(train)]), both.take(places[len(train) :])


def check_no_transforms(transforms):
    """Raise ParameterError if there are transforms of a Gram matrix where there is none."""
    if len(transforms):
        raise ParameterError(
            "a transform changes a Gram matrix, and this solver is trained without one",
            remedy="leave out transforms and repair (the kernel has normalize=true), or choose a solver such as csvc",
        )


def check_source(source, wanted):
    """Raise ParameterError unless a source gives what solvers want: without a check features would be taken for K."""
    given = getattr(source, "gives", "gram")
    if given != wanted:
        raise ParameterError(
            f"the solver takes {wanted}, and the kernel's values come as {given}",
            remedy="use ImplicitSource for a solver that needs no Gram matrix, StoredGram or FittedKernel for others",
        )
