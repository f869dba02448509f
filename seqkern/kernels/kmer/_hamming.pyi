import numpy as np
import numpy.typing as npt

def lanes(level: int) -> int: ...
def block_bytes(windows: int, length: int, size: int, level: int) -> int: ...
def scratch_bytes(level: int, longest: int, totals: int) -> int: ...
def fill_blocks(
    letters: npt.NDArray[np.uint8],
    first: npt.NDArray[np.int64],
    windows: npt.NDArray[np.int64],
    longest: npt.NDArray[np.int64],
    length: int,
    size: int,
    level: int,
    memory: npt.NDArray[np.uint8],
) -> None: ...
def walk(
    letters: npt.NDArray[np.uint8],
    stretches: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    windows: npt.NDArray[np.int64],
    complement: npt.NDArray[np.uint8],
    longest: int,
    memory: npt.NDArray[np.uint8],
    lane_windows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    all_windows: npt.NDArray[np.int64],
    size: int,
    length: int,
    level: int,
    passes: npt.NDArray[np.int64],
    factors: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    rest: int,
    row: int,
    scratch: npt.NDArray[np.uint8],
    sums: npt.NDArray[np.int32 | np.int64 | np.float64],
) -> None: ...
