import numpy as np
import numpy.typing as npt

TILE_COLUMNS: int
TILE_WORDS: int

def count_bitmaps(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    needed: npt.NDArray[np.uint8],
) -> None: ...
def set_bitmaps(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    bounds: npt.NDArray[np.int32],
    n_features: int,
    bitmaps: npt.NDArray[np.uint64],
) -> None: ...
def add_products(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    bounds: npt.NDArray[np.int32],
    bitmaps: npt.NDArray[np.uint64],
    n_features: int,
    planes: int,
    row: int,
    first: int,
    last: int,
    weight: int,
    upper: bool,
    sums: npt.NDArray[np.int32 | np.int64],
    level: int,
) -> None: ...
