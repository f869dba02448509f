import numpy as np
import numpy.typing as npt

from seqkern.kernels._blocks import Records

class Recursion:
    def __init__(
        self,
        mode: int,
        levels: int,
        weight: npt.NDArray[np.float64],
        soft: bool,
        decay: float,
        up: npt.NDArray[np.float64],
        down: npt.NDArray[np.float64],
        up_power: npt.NDArray[np.int32],
        down_power: npt.NDArray[np.int32],
        exact: bool,
        boost: int,
        rows: int,
    ) -> None: ...

def fill(
    recursion: Recursion,
    level: int,
    single: bool,
    rows: Records,
    lanes: Records,
    first: npt.NDArray[np.int64],
    stop: npt.NDArray[np.int64],
    out: npt.NDArray[np.float64],
) -> None: ...
def diagonal(
    recursion: Recursion, level: int, single: bool, everything: Records, out: npt.NDArray[np.float64]
) -> None: ...
def wide_value(recursion: Recursion, row: Records, lane: Records) -> tuple[float, int]: ...
def share(
    recursion: Recursion,
    rows: Records,
    lanes: Records,
    coefficients: npt.NDArray[np.float64],
    nodes: npt.NDArray[np.float64],
    factors: npt.NDArray[np.float64],
    shares: npt.NDArray[np.float64],
) -> None: ...
def fill_slopes(
    codes: npt.NDArray[np.uint8],
    start: npt.NDArray[np.int64],
    stop: npt.NDArray[np.int64],
    mode: int,
    levels: int,
    weight: npt.NDArray[np.float64],
    decay: float,
    first: int,
    last: int,
    out: npt.NDArray[np.float64],
) -> None: ...
