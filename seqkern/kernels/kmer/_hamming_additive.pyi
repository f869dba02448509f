import numpy as np
import numpy.typing as npt

LANE_COUNT: int

def highest_level() -> int: ...
def reflect(
    table: npt.NDArray[np.float64], size: int, high: int, low: int, strip: npt.NDArray[np.float64], level: int = ...
) -> None: ...
def scale(
    table: npt.NDArray[np.float64],
    size: int,
    place: int,
    first: npt.NDArray[np.float64],
    other: npt.NDArray[np.float64],
    out: npt.NDArray[np.float64],
) -> None: ...
def share(
    marks: npt.NDArray[np.uint8],
    windows: npt.NDArray[np.float64],
    pad: int,
    x: npt.NDArray[np.uint8],
    own: npt.NDArray[np.float64],
    length: int,
    least: int,
    shares: npt.NDArray[np.float64],
    unmatched: float,
    letters: npt.NDArray[np.float64],
    whole: npt.NDArray[np.float64],
    level: int = ...,
) -> None: ...
def word_sums(
    marks: npt.NDArray[np.uint8],
    windows: npt.NDArray[np.float64],
    words: npt.NDArray[np.uint8],
    least: int,
    values: npt.NDArray[np.float64],
    out: npt.NDArray[np.float64],
    level: int = ...,
) -> None: ...
