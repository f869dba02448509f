"""The interface of all transforms of a Gram matrix: fit, transform, state, restriction."""

import contextlib
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice
from seqkern.core.errors import GramError, ParameterError, unknown_name
from seqkern.core.matrices import check_symmetric
from seqkern.core.parameters import Parameters
from seqkern.core.registry import Kind, Registry, add_kind
from seqkern.core.specs import build_spec, parse_spec
from seqkern.core.threads import in_threads
from seqkern.core.types import Arrays, Floats, Header, Ints
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import row_blocks
from seqkern.kernels.feature_transforms.transforms import FEATURE_TRANSFORMS
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

    def _fit(self, K: Floats, diagonal: Floats) -> None:
        """Fit to the training square and its diagonal, and set the attributes named in `learned`."""
        raise NotImplementedError

    def _apply(self, K: Floats, diagonal: Floats | None) -> tuple[Floats, Floats | None]:
        """Return (K', diagonal') for rows of new samples; `diagonal` may be None."""
        raise NotImplementedError

    def _apply_train(self, K: Floats, diagonal: Floats) -> tuple[Floats, Floats]:
        """Return (K', diagonal') for the training square."""
        return self._apply(K, diagonal)  # type: ignore[return-value]  # a diagonal follows from one that is given

    def needs_all(self) -> bool:
        """Return whether transforming a new row requires its values against all training samples."""
        raise NotImplementedError

    def pull_back(self, coefficients: Floats) -> tuple[Floats, float]:
        """Return (c', constant) with Σ_j c_j K'(x, z_j) = Σ_j c'_j K(x, z_j) + constant, for any x.

        A transform that divides rows by a value that depends on x also divides the right side by it: see `divide_rows`.
        """
        raise NotImplementedError

    def divide_rows(self, diagonal: Floats) -> tuple[Floats | None, Floats]:
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
        self._train: tuple[Floats, Floats] | None = train
        self._fit(*train)
        return self

    def transform(self, K: npt.ArrayLike, diagonal: npt.ArrayLike | None = None) -> tuple[Floats, Floats | None]:
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

    def transform_train(self) -> tuple[Floats, Floats]:
        """Return (K', diagonal') of the matrix given to `fit`; exactly symmetric."""
        return self._apply_train(*self._train)  # type: ignore[misc]  # None only after `release`

    def release(self) -> None:
        """Drop the training square, which is as large as the Gram matrix and not needed by `transform`."""
        self._train = None

    def required_rows(self, support: npt.ArrayLike) -> Ints:
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
        for name in self.squares:
            shape = getattr(self, name).shape
            if shape != (self.n_columns_, self.n_columns_):
                raise GramError(f"the square of {self.n_columns_} training samples has the shape {shape}")

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
    transforms: Iterable[GramTransform], K: Floats, diagonal: Floats
) -> tuple[list[GramTransform], Floats, Floats]:
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


def multiply(x: Floats, y: Floats) -> Floats:
    """Return x · y.

    >>> multiply(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [3.0, 1.0]]))
    array([[7., 2.]])
    """
    out = np.empty((len(x), y.shape[1]))

    def work(start: int, stop: int) -> None:
        _vector.products(x[start:stop], y, out[start:stop])

    in_threads([lambda span=span: work(*span) for span in row_blocks(*out.shape, LEAST_ROWS)])
    return out


def square_of_rows(x: Floats) -> Floats:
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


# Text and configuration forms of transforms, and of the repair of a kernel's matrix.

# A table of the transforms by name with the modules of their classes, so that a look-up imports only one module.
#
# A new transform needs a line here, and one in the stub ``__init__.pyi``; the tests of the registry check both.

TRANSFORMS = Registry(
    "transform",
    "seqkern.gram.transforms.gram_transform:GramTransform",
    {
        "centre": "seqkern.gram.transforms.matrix_transforms:CentreGram",
        "empirical_map": "seqkern.gram.transforms.matrix_transforms:EmpiricalMapGram",
        "graph": "seqkern.gram.transforms.matrix_transforms:GraphGram",
        "kernel_pca": "seqkern.gram.transforms.matrix_transforms:KernelPCAGram",
        "normalise": "seqkern.gram.transforms.matrix_transforms:NormaliseGram",
        "repair": "seqkern.gram.transforms.matrix_transforms:RepairGram",
    },
)


REPAIRS = ("none", "clip", "flip", "shift", "empirical_map")
"""Ways to make an indefinite matrix positive semi-definite; ``"none"`` leaves it unchanged."""


def build_transform(spec: Any) -> GramTransform:
    """Return the transform that a spec describes.

    Parameters
    ----------
    spec : str, mapping or GramTransform
        ``"centre"``, ``"repair:method=flip"`` or ``{"transform": "repair", "method": "flip"}``.

    Returns
    -------
    GramTransform
        Not fitted.

    Raises
    ------
    ParameterError
        For an unknown transform or parameter (with the nearest name), or a value outside its domain.

    Examples
    --------
    >>> from seqkern.gram.transforms import build_transform
    >>> build_transform("repair:method=flip")
    RepairGram(method='flip')
    """
    return build_spec(spec, "transform")


def of_features(specs: Sequence[Any]) -> int:
    """Return the number of leading transforms that are transforms of features.

    Parameters
    ----------
    specs : sequence of str or mapping
        Transforms as in a configuration.

    Returns
    -------
    int

    Raises
    ------
    ParameterError
        For an unknown transform, with the nearest name of either sort; and if a transform of features comes after one
        of the Gram matrix.

    Examples
    --------
    >>> from seqkern.gram.transforms import of_features
    >>> of_features(["impute", "pca:n_components=5", "centre"])
    2
    """
    names = [_name(spec) for spec in specs]
    known = sorted([*FEATURE_TRANSFORMS.names, *TRANSFORMS.names])
    for name in names:
        if isinstance(name, str) and name not in known:
            raise unknown_name("transform", name, known)
    kinds = [name in FEATURE_TRANSFORMS.names for name in names]
    count = kinds.index(False) if False in kinds else len(kinds)
    if any(kinds[count:]):
        late = names[count + kinds[count:].index(True)]
        raise ParameterError(
            f"transform {late!r} of features comes after {names[count]!r}, which is one of the Gram matrix",
            remedy="put it first; on a Gram matrix, kernel_pca is principal component analysis",
        )
    return count


def _name(spec: Any) -> Any:
    """Return the name of a transform spec, or None if it has none."""
    given = parse_spec(spec, "transform") if isinstance(spec, str) else spec
    return given.get("transform") if isinstance(given, Mapping) else None


def repair_transforms(repair: Any) -> list[dict[str, Any]]:
    """Return the specs of the transforms for a repair.

    Parameters
    ----------
    repair : str, mapping or None
        A name of `REPAIRS`, such as ``"clip"``; with options ``"empirical_map:normalize=false"`` or
        ``{"method": "empirical_map", "normalize": False}``. None is ``"none"``.

    Returns
    -------
    list of dict
        One transform; empty for ``"none"``.

    Raises
    ------
    ParameterError
        For an unknown repair or option (with the nearest name), or a value outside its domain.

    Examples
    --------
    >>> from seqkern.gram.transforms import repair_transforms
    >>> repair_transforms("clip"), repair_transforms(None)
    ([{'transform': 'repair', 'method': 'clip'}], [])
    >>> repair_transforms("empirical_map:normalize=false")
    [{'transform': 'empirical_map', 'normalize': False}]
    """
    params = parse_spec(repair, "method") if isinstance(repair, str) else repair
    params = {"method": "none"} if params is None else params
    if not isinstance(params, Mapping) or "method" not in params:
        raise ParameterError(f"repair={repair!r} is not possible", remedy=f"choose {' or '.join(REPAIRS)}")
    options = {key: value for key, value in params.items() if key != "method"}
    method = params["method"]
    check_choice("repair", method, REPAIRS)
    if method == "empirical_map":
        spec = {"transform": method, **options}
    elif options:
        raise ParameterError(f"repair {method!r} has no option {next(iter(options))!r}", remedy="remove it")
    elif method == "none":
        return []
    else:
        spec = {"transform": "repair", "method": method}
    build_transform(spec)
    return [spec]


def transform_from_state(header: Header, arrays: Arrays) -> GramTransform:
    """Return the fitted transform with this `state`.

    Parameters
    ----------
    header : dict
        Its JSON part.
    arrays : dict of str to ndarray
        Its arrays.

    Returns
    -------
    GramTransform

    Examples
    --------
    >>> from seqkern.gram.transforms import CentreGram, transform_from_state
    >>> centre = CentreGram().fit([[2.0, 1.0], [1.0, 2.0]])
    >>> transform_from_state(*centre.state()).transform([[1.0, 3.0]])[0]
    array([[-1.,  1.]])
    """
    transform = build_transform(header["spec"])
    transform.n_columns_ = header["columns"]
    transform.restore_fitted(header["learned"], arrays)
    return transform


def _repair_class(method: str) -> type[GramTransform] | None:
    """Return the transform class whose options a repair method takes, or None."""
    return TRANSFORMS.get(method) if method == "empirical_map" else None


add_kind(Kind("transform", "GramTransform", build=build_transform, example="repair:method=clip", registry=TRANSFORMS))
add_kind(Kind("method", "str or dict", build=repair_transforms, example="clip", class_of=_repair_class))
