from typing import Any

import numpy as np
import numpy.typing as npt

def simd_level() -> Any: ...
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
