import numpy as np
import numpy.typing as npt

LARGEST_LIGHT_WEIGHT: int
MORE_WINDOWS: int

def pack_windows(
    letters: npt.NDArray[np.uint8],
    first: npt.NDArray[np.int64],
    windows: npt.NDArray[np.int64],
    complement: npt.NDArray[np.uint8],
    length: int,
    words: npt.NDArray[np.uint16 | np.uint32],
) -> None: ...
def compare(
    words: npt.NDArray[np.uint16 | np.uint32],
    other_words: npt.NDArray[np.uint16 | np.uint32],
    start: npt.NDArray[np.int64],
    window_weights: npt.NDArray[np.int64],
    col_words: npt.NDArray[np.uint16 | np.uint32],
    col_start: npt.NDArray[np.int64],
    col_window_weights: npt.NDArray[np.int64],
    light: npt.NDArray[np.int32],
    level: int,
    factors: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    row: int,
    first: int,
    upper: bool,
    own: bool,
    sums: npt.NDArray[np.int32 | np.int64 | np.float64],
) -> None: ...
