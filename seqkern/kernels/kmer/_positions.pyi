import numpy as np
import numpy.typing as npt

LIMIT: int

def sort_by(
    keys: npt.NDArray[np.int32],
    order: npt.NDArray[np.int32],
    cursor: npt.NDArray[np.int64],
    result: npt.NDArray[np.int32],
) -> None: ...
def squares(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    position: npt.NDArray[np.int32],
    weights: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    pairs: npt.NDArray[np.int64],
) -> None: ...
def pair_sums(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    position: npt.NDArray[np.int32],
    col_start: npt.NDArray[np.int64],
    col_feature: npt.NDArray[np.int32],
    col_position: npt.NDArray[np.int32],
    bounds: npt.NDArray[np.int64],
    list_position: npt.NDArray[np.int32],
    list_record: npt.NDArray[np.int32],
    weights: npt.NDArray[np.int64],
    place: npt.NDArray[np.int32],
    table: npt.NDArray[np.int64],
    width: int,
    row: int,
    first: int,
    last: int,
    upper: bool,
    buffer: npt.NDArray[np.int64],
    sums: npt.NDArray[np.float64],
) -> None: ...
def merge_records(
    bounds: npt.NDArray[np.int64],
    list_position: npt.NDArray[np.int32],
    list_record: npt.NDArray[np.int32],
    first: int,
    coefficients: npt.NDArray[np.float64],
    merged_bounds: npt.NDArray[np.int64],
    merged_position: npt.NDArray[np.int32],
    merged: npt.NDArray[np.float64],
) -> int: ...
def weigh(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    position: npt.NDArray[np.int32],
    row: int,
    n_rows: int,
    bounds: npt.NDArray[np.int64],
    list_position: npt.NDArray[np.int32],
    coefficients: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    values: npt.NDArray[np.float64],
) -> None: ...
