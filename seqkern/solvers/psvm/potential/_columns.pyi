import numpy as np
import numpy.typing as npt

def moments(
    columns: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
) -> None: ...
def products(
    columns: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    which: npt.NDArray[np.int64] | None,
    vector: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def combine(
    columns: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    alpha: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def standardise(
    columns: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    scales: npt.NDArray[np.float64] | None,
    which: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def add_products_by_rows(
    rows: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    vector: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
