import numpy as np
import numpy.typing as npt

def multiply(
    rows: npt.NDArray[np.float64],
    cols: npt.NDArray[np.float64],
    row: int,
    first: int,
    last: int,
    upper: bool,
    sums: npt.NDArray[np.float64],
    level: int = ...,
) -> None: ...
def walk(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    value: npt.NDArray[np.float64],
    bounds: npt.NDArray[np.int64],
    post_rows: npt.NDArray[np.int32],
    post_values: npt.NDArray[np.float64],
    row: int,
    first: int,
    last: int,
    upper: bool,
    sums: npt.NDArray[np.float64],
) -> None: ...
def row_squares(
    start: npt.NDArray[np.int64], value: npt.NDArray[np.float64], squares: npt.NDArray[np.float64]
) -> None: ...
