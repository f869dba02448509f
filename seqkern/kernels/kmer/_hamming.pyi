import numpy as np
import numpy.typing as npt

def find_stretches(
    letters: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    length: int,
    size: int,
    first: npt.NDArray[np.int64],
    windows: npt.NDArray[np.int64],
) -> None: ...
def plan_lanes(windows: npt.NDArray[np.int64], lanes: int, numbers: npt.NDArray[np.int64]) -> tuple[int, int]: ...
def cut_lanes(
    first: npt.NDArray[np.int64],
    windows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    most: int,
    places: npt.NDArray[np.int64],
    lane_first: npt.NDArray[np.int64],
    lane_windows: npt.NDArray[np.int64],
    lane_columns: npt.NDArray[np.int32],
) -> None: ...
def cut_last(
    start: int,
    used: int,
    pieces: int,
    lane_first: npt.NDArray[np.int64],
    lane_windows: npt.NDArray[np.int64],
    lane_columns: npt.NDArray[np.int32],
) -> None: ...
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
def own_pairs(
    letters: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    length: int,
    size: int,
    complement: npt.NDArray[np.uint8],
    level: int,
    passes: npt.NDArray[np.int64],
    totals: npt.NDArray[np.int64],
) -> None: ...

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
