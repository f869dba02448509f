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
