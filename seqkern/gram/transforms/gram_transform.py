"""The interface of all transforms of a Gram matrix: fit, transform, state, restriction."""

import contextlib
import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError
from seqkern.core.matrices import check_symmetric
from seqkern.core.parameters import Parameters
from seqkern.core.threads import in_threads
from seqkern.core.types import Arrays, Header
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import row_blocks
from seqkern.kernels.vectors import _vector


class GramTransform(Parameters):
    """Base of all transforms: a subclass defines `_fit`, `_apply` and `needs_all`."""

    name: ClassVar[str | None] = None
    learned: ClassVar[tuple[str, ...]] = ()
    squares: ClassVar[tuple[str, ...]] = ()
    divides: ClassVar[bool] = False
    semidefinite: ClassVar[bool] = False
    cubes: ClassVar[float] = 0.0

    def fit_cubes(self, n: int) -> float:
        """Return `cubes`, the cost of a fit as a multiple of n³ operations, for n training samples."""
        return self.cubes

    def _fit(self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]) -> None:
        """Fit to the training square and its diagonal, and set the attributes named in `learned`."""
        raise NotImplementedError

    def _apply(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64] | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
        """Return (K', diagonal') for rows of new samples; `diagonal` may be None."""
        raise NotImplementedError

    def _apply_train(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return (K', diagonal') for the training square."""
        return self._apply(K, diagonal)  # type: ignore[return-value]  # a diagonal follows from one that is given

    def needs_all(self) -> bool:
        """Return whether transforming a new row requires its values against all training samples."""
        raise NotImplementedError

    def pull_back(self, coefficients: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], float]:
        """Return (c', constant) with Σ_j c_j K'(x, z_j) = Σ_j c'_j K(x, z_j) + constant, for any x.

        A transform that divides rows by a value that depends on x also divides the right side by it: see `divide_rows`.
        """
        raise NotImplementedError

    def divide_rows(
        self, diagonal: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.float64]]:
        """Return the divisors of the rows (None if rows are not divided), and the resulting diagonal.

        This is only for transforms whose new diagonal depends on the old one only: not for those with `needs_all`.
        """
        return None, diagonal

    def fit(self, K: npt.ArrayLike, diagonal: npt.ArrayLike | None = None) -> Self:
        """Fit to the training set and return self."""
        self.check_parameters()
        K = np.ascontiguousarray(K, dtype=np.float64)
        if not np.isfinite(K).all():
            raise GramError(
                f"transform {self.name!r} cannot be fitted: a kernel value is not a finite number",
                remedy="remove the sample",
            )
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise GramError(
                f"transform {self.name!r} cannot be fitted on {K.shape}: not square",
                remedy="give the kernel matrix of the training samples",
            )
        check_symmetric(K, exact=True)
        diagonal = np.diagonal(K) if diagonal is None else diagonal
        self.n_columns_ = len(K)
        train = K, np.array(diagonal, dtype=np.float64)
        self._train: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = train
        self._fit(*train)
        return self

    def transform(
        self, K: npt.ArrayLike, diagonal: npt.ArrayLike | None = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
        """Transform the rows K (n, l) of new samples against the l training samples, and their diagonal."""
        K = np.ascontiguousarray(K, dtype=np.float64)
        if K.ndim != 2 or K.shape[1] != self.n_columns_:
            raise GramError(
                f"transform {self.name!r} needs {self.n_columns_} columns, got {K.shape[-1]}",
                remedy="give kernel values against the training samples, in order",
            )
        bad = np.flatnonzero(~np.isfinite(K).all(axis=1))
        if len(bad):
            raise GramError(
                f"transform {self.name!r}: a kernel value is not a finite number",
                record=int(bad[0]) + 1,
                remedy="remove the sample",
            )
        return self._apply(K, None if diagonal is None else np.array(diagonal, dtype=np.float64))

    def transform_train(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return (K', diagonal') of the matrix given to `fit`; exactly symmetric."""
        return self._apply_train(*self._train)  # type: ignore[misc]  # None only after `release`

    def release(self) -> None:
        """Drop the training square, which is as large as the Gram matrix and not needed by `transform`."""
        self._train = None

    def required_rows(self, support: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the training samples that the columns `support` of a transformed row depend on."""
        return np.arange(self.n_columns_) if self.needs_all() else np.asarray(support, dtype=np.int64)

    def restrict(self, rows: npt.ArrayLike) -> Self:
        """Return a copy of the transform for matrices with only some of the columns."""
        rows = np.asarray(rows, dtype=np.int64)
        if self.needs_all() and len(np.unique(rows)) < self.n_columns_:
            raise GramError(
                f"transform {self.name!r} needs all {self.n_columns_} training samples, got {len(rows)}",
                remedy="keep the samples in required_rows",
            )
        result = copy.copy(self)
        result._train = None
        result.n_columns_ = len(rows)
        for name in self.learned:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                part = value[rows][:, rows] if name in self.squares else value[rows]
                setattr(result, name, np.ascontiguousarray(part))
        return result

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the fitted attributes as (JSON dict, dict of arrays)."""
        values = {name: getattr(self, name) for name in self.learned}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return {name: value for name, value in values.items() if name not in arrays}, arrays

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the fitted attributes from the result of `fitted_state`."""
        for name in self.learned:
            setattr(self, name, arrays[name] if name in arrays else header[name])

    def state(self) -> tuple[Header, Arrays]:
        """Return the whole state as (JSON dict, dict of arrays) for `transform_from_state`."""
        header, arrays = self.fitted_state()
        spec = {"transform": self.name, **self.get_params()}
        return {"spec": spec, "columns": self.n_columns_, "learned": header}, arrays


@contextlib.contextmanager
def naming_rows(ids: Sequence[str] | None) -> Iterator[None]:
    """Add the record to errors about a row, which contain its number from 1.

    Parameters
    ----------
    ids : list of str or None
        Ids of the rows; None changes nothing.

    Yields
    ------
    None

    Examples
    --------
    >>> from seqkern.gram.transforms import CentreGram, naming_rows
    >>> centre = CentreGram().fit([[2.0, 1.0], [1.0, 2.0]])
    >>> with naming_rows(["P12345"]):
    ...     centre.transform([[1.0, float("nan")]])
    Traceback (most recent call last):
    seqkern.core.errors.GramError: record 'P12345': ...
    """
    try:
        yield
    except GramError as error:
        if ids is not None and isinstance(error.record, int):
            error.record = ids[error.record - 1]
        raise


def fit_chain(
    transforms: Iterable[GramTransform], K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]
) -> tuple[list[GramTransform], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Fit transforms one after another on a training set.

    Parameters
    ----------
    transforms : list of GramTransform
        Copied before fitting.
    K : ndarray of float64, shape (l, l)
        The training square.
    diagonal : ndarray of float64, shape (l,)
        K(x, x) of the training samples.

    Returns
    -------
    fitted : list of GramTransform
    K : ndarray of float64, shape (l, l)
        The final matrix; without transforms the given one.
    diagonal : ndarray of float64, shape (l,)

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.gram.transforms import CentreGram, NormaliseGram, fit_chain
    >>> K = np.array([[4.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    >>> fitted, K, diagonal = fit_chain([CentreGram(), NormaliseGram()], K, np.diagonal(K))
    >>> K.round(2)
    array([[ 1.  , -0.38, -0.55],
           [-0.38,  1.  , -0.55],
           [-0.55, -0.55,  1.  ]])
    >>> [transform.name for transform in fitted]
    ['centre', 'normalise']
    """
    fitted: list[GramTransform] = []
    for transform in transforms:
        fitted.append(copy.deepcopy(transform).fit(K, diagonal))
        K, diagonal = fitted[-1].transform_train()
        K = np.ascontiguousarray(K)
        fitted[-1].release()
    return fitted, K, diagonal


# Multithreaded matrix products with a fixed summation order: the bits depend only on row and column.

LEAST_ROWS = 128
"""Minimum rows of a block; arranging the columns would dominate for fewer."""


def multiply(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return x · y.

    >>> multiply(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [3.0, 1.0]]))
    array([[7., 2.]])
    """
    out = np.empty((len(x), y.shape[1]))

    def work(start: int, stop: int) -> None:
        _vector.products(x[start:stop], y, out[start:stop])

    in_threads([lambda span=span: work(*span) for span in row_blocks(*out.shape, LEAST_ROWS)])
    return out


def square_of_rows(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return x · xᵀ, exactly symmetric.

    >>> square_of_rows(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """
    x = np.ascontiguousarray(x)
    columns, out = np.ascontiguousarray(x.T), np.empty((len(x), len(x)))

    def work(start: int, stop: int) -> None:
        _vector.products(x[start:stop], columns[:, start:], out[start:stop, start:])

    spans = row_blocks(*out.shape, LEAST_ROWS)
    in_threads([lambda span=span: work(*span) for span in spans])
    in_threads([lambda span=span: _blocks.mirror(out, *span) for span in spans])
    return out
