from typing import Any

import numpy as np
import numpy.typing as npt

def moments(
    data: npt.NDArray[np.float64] | None,
    indptr: npt.NDArray[Any] | None,
    length: int,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
) -> None: ...
def products(
    data: npt.NDArray[np.float64] | None,
    indices: npt.NDArray[Any] | None,
    indptr: npt.NDArray[Any] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    which: npt.NDArray[np.int64] | None,
    vector: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def combine(
    data: npt.NDArray[np.float64] | None,
    indices: npt.NDArray[Any] | None,
    indptr: npt.NDArray[Any] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    alpha: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def standardise(
    data: npt.NDArray[np.float64] | None,
    indices: npt.NDArray[Any] | None,
    indptr: npt.NDArray[Any] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    which: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
