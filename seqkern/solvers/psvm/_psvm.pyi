from typing import Any

import numpy as np
import numpy.typing as npt

def simd_level() -> int: ...
def moments(
    columns: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    level: int = ...,
) -> None: ...
def products(
    columns: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    which: npt.NDArray[np.int64] | None,
    vector: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
    level: int = ...,
) -> None: ...
def combine(
    columns: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    alpha: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
    level: int = ...,
) -> None: ...
def sweep(
    columns: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    which: npt.NDArray[np.int64] | None,
    alpha: npt.NDArray[np.float64] | None,
    residual: npt.NDArray[np.float64] | None,
    epsilon: float,
    cost: float,
    level: int = ...,
) -> Any: ...
def standardise(
    columns: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    which: npt.NDArray[np.int64] | None,
    out: npt.NDArray[Any] | None,
) -> None: ...
def add_products_by_rows(
    rows: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    vector: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def sparse_moments(
    data: npt.NDArray[np.float64] | None,
    indptr: npt.NDArray[Any] | None,
    length: int,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
) -> None: ...
def sparse_products(
    data: npt.NDArray[np.float64] | None,
    indices: npt.NDArray[Any] | None,
    indptr: npt.NDArray[Any] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    which: npt.NDArray[np.int64] | None,
    vector: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def sparse_combine(
    data: npt.NDArray[np.float64] | None,
    indices: npt.NDArray[Any] | None,
    indptr: npt.NDArray[Any] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    alpha: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def sparse_standardise(
    data: npt.NDArray[np.float64] | None,
    indices: npt.NDArray[Any] | None,
    indptr: npt.NDArray[Any] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    which: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def violations(
    alpha: npt.NDArray[np.float64] | None,
    gradient: npt.NDArray[np.float64] | None,
    epsilon: float,
    cost: float,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def descend(
    Q: npt.NDArray[Any] | None,
    alpha: npt.NDArray[np.float64] | None,
    gradient: npt.NDArray[np.float64] | None,
    epsilon: float,
    cost: float,
    tolerance: float,
    limit: int,
    gains: npt.NDArray[np.float64] | None,
    level: int = ...,
) -> Any: ...
def gather(
    Q: npt.NDArray[Any] | None,
    which: npt.NDArray[np.int64] | None,
    damping: float,
    out: npt.NDArray[Any] | None,
) -> None: ...
