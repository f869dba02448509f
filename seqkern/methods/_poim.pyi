import numpy as np
import numpy.typing as npt

def add_windows(
    codes: npt.NDArray[np.uint8] | None,
    starts: npt.NDArray[np.int64] | None,
    coefficients: npt.NDArray[np.float64] | None,
    beta: npt.NDArray[np.float64] | None,
    place: npt.NDArray[np.float64] | None,
    chance: npt.NDArray[np.float64] | None,
    orders: int,
    tables: npt.NDArray[np.float64] | None,
    work: npt.NDArray[np.float64] | None,
) -> None: ...
