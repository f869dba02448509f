"""Where the kernel values of a training and a test part come from.

A kernel that learns nothing has one Gram matrix for all folds, which is sliced. A kernel that learns from
data is fitted on each training part anew, so that no test sequence is ever seen by ``fit``; where its matrix follows
from those of other kernels (`Kernel.stored_form`), the latter are sliced, and only what is done to them is learned
anew. For solvers that need no Gram matrix there are feature vectors instead, of which each part takes its own.

Each source says what it `gives`, which is what a solver takes as its `input`.
"""

import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from seqkern.core.errors import GramError, ParameterError
from seqkern.core.memory import available_memory, format_bytes, parse_bytes
from seqkern.core.threads import given_threads
from seqkern.gram.transforms import build_transform, naming_rows
from seqkern.kernels.base import Kernel
from seqkern.kernels.blocks import fill

RECORD_BYTES = 160
"""What a solver keeps for each record besides its feature vector, copies while it looks at them included."""


class Values(NamedTuple):
    """Kernel values of a training and a test part, before the transforms.

    Attributes
    ----------
    train, test : ndarray of float64, shapes (l, l) and (n, l)
        K(train, train) and K(test, train).
    train_diagonal, test_diagonal : ndarray of float64, shapes (l,) and (n,)
        K(x, x) of both.
    learned : dict of str to float
        What the kernel learned of the training part that people want to see (`Kernel.learned`).
    joined : object or None
        What made the matrices of those of several kernels (see `StoredForm`), if that was the last step.
    """

    train: np.ndarray
    test: np.ndarray
    train_diagonal: np.ndarray
    test_diagonal: np.ndarray
    learned: dict
    joined: object = None


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
        """Return the Values of two parts, for index arrays; `y` are the labels of the training part."""
        raise NotImplementedError

    def transformed(self, values, train, test):
        """Return Values after each transform, fitted on the training matrix alone."""
        return self._after(self.transforms, values, train, test)

    def _after(self, transforms, values, train, test):
        """Return Values after each of `transforms`."""
        if not len(transforms):
            return values
        K_train, K_test, train_diagonal, test_diagonal, learned, _ = values
        with given_threads(self.n_threads):
            for transform in transforms:
                with naming_rows(self._ids(train)):
                    fitted = copy.deepcopy(transform).fit(K_train, train_diagonal)
                    K_train, train_diagonal = fitted.transform_train()
                with naming_rows(self._ids(test)):
                    K_test, test_diagonal = fitted.transform(K_test, test_diagonal)
        return Values(*map(np.ascontiguousarray, (K_train, K_test)), train_diagonal, test_diagonal, learned)

    def _ids(self, rows):
        """Return the ids of some units; None where they are not known."""
        return None if self.ids is None else [self.ids[row] for row in rows]

    def pair(self, train, test, y=None):
        """Return K(train, train) and K(test, train), float64, for index arrays; `y` are the training part's labels."""
        return self.transformed(self.values(train, test, y), train, test)[:2]


class StoredGram(GramSource):
    """Slices of Gram matrices over all units, and what a kernel makes of them.

    Parameters
    ----------
    grams : GramMatrix or list of GramMatrix
        Square, over all units of the data set: of the kernel itself, or those of ``form.kernels``.
    transforms : list of Gram transforms, optional
        Fitted on each training part.
    form : StoredForm, optional
        How the kernel follows from the matrices; by default it is the kernel of the one matrix.
    ids : list of str, optional
        Of all units, for errors.
    n_threads : int, optional
    """

    def __init__(self, grams, transforms=(), *, form=None, ids=None, n_threads=None):
        self.grams = grams if isinstance(grams, list) else [grams]
        self.ids = ids
        self.transforms = transforms
        self.form = form
        self.learns = form is not None and form.learns
        self.n_threads = n_threads

    def values(self, train, test, y=None):
        """Return the Values of two parts, for index arrays; `y` are the labels of the training part."""
        slices = (self._sliced(gram, train, test) for gram in self.grams)
        return next(slices) if self.form is None else self._of(self.form, slices, train, test, y)

    def of_all(self, y=None):
        """Return the Values with all units as the training part, whose labels are `y`, and none as the test part."""
        every = np.arange(len(self.grams[0].row_diagonal))
        return self.values(every, every[:0], y)

    def _sliced(self, gram, train, test):
        """Return the Values of one stored matrix."""
        diagonal = gram.row_diagonal
        return Values(gram.slice(train, train), gram.slice(test, train), diagonal[train], diagonal[test], {})

    def _of(self, part, slices, train, test, y):
        """Return the Values of a kernel or StoredForm; `slices` gives those of the kernels, in order."""
        if isinstance(part, Kernel):
            return next(slices)
        parts = [self._of(inner, slices, train, test, y) for inner in part.parts]
        values = parts[0] if part.join is None else self._joined(part.join, parts, train, test, y)
        return self._after([build_transform(item) for item in part.transforms], values, train, test)

    def _joined(self, join, parts, train, test, y):
        """Return the Values that `join` (see StoredForm) makes of those of several parts."""
        columns = [part.train_diagonal for part in parts]
        with naming_rows(self._ids(train)):
            joined = join.learn_from([part.train for part in parts], y)
            K_train, train_diagonal = joined.combine([part.train for part in parts], columns, columns)
        with naming_rows(self._ids(test)):
            rows = [part.test_diagonal for part in parts]
            K_test, test_diagonal = joined.combine([part.test for part in parts], rows, columns)
        learned = {name: value for part in parts for name, value in part.learned.items()}
        return Values(K_train, K_test, train_diagonal, test_diagonal, learned | joined.learned(), joined)


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
        """Return the Values by a kernel fitted on the training part.

        Raises
        ------
        GramError
            If the matrices do not fit into the memory; before any work.
        """
        _check_room(len(train), len(test))
        X_train = self.X.take(train)
        kernel = copy.deepcopy(self.kernel).fit(X_train, y)
        columns = kernel.prepare(X_train)
        rows = kernel.prepare(self.X.take(test), like=columns)
        K_train, K_test = (
            fill(kernel, part, columns, np.empty((len(part), len(columns))), n_threads=self.n_threads)
            for part in (columns, rows)
        )
        return Values(K_train, K_test, columns.diagonal, rows.diagonal, kernel.learned())


def _check_room(n_train, n_test):
    """Raise GramError unless K(train, train) and K(test, train) fit into the memory available."""
    need, limit = 8 * n_train * (n_train + n_test), available_memory()
    if need > limit:
        raise GramError(
            f"the kernel values of {n_train} units to train on and {n_test} to test take {format_bytes(need)} of "
            f"memory, {format_bytes(limit)} are available",
            remedy="train on fewer (folds with train_size), or choose a solver that takes no Gram matrix, such as "
            "primal_svc or linear_svc",
        )


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
        return self.parts(train, test, y)[:2]

    def parts(self, train, test, y=None):
        """Return the Implicits of two parts, and what the kernel learned that people want to see."""
        if not self.kernel.data_dependent:
            return self.whole.take(train), self.whole.take(test), {}
        kernel = copy.deepcopy(self.kernel).fit(self.X.take(train), y)
        both = kernel.implicit(self.X.take(np.concatenate((train, test))))
        places = np.arange(len(both))
        return both.take(places[: len(train)]), both.take(places[len(train) :]), kernel.learned()


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
