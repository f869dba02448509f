from typing import Any

import numpy as np
import numpy.typing as npt

def shuffle(order: npt.NDArray[np.int64] | None, count: int, generator: npt.NDArray[np.uint64] | None) -> None: ...
def epoch(
    capsule: Any,
    squares: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    mean: float,
    y: npt.NDArray[np.float64] | None,
    cost: npt.NDArray[np.float64] | None,
    sigma: float,
    alpha: npt.NDArray[np.float64] | None,
    weights: npt.NDArray[np.float64] | None,
    gradient: npt.NDArray[np.float64] | None,
    order: npt.NDArray[np.int64] | None,
    active: int,
    upper: float,
    lower: float,
    sums: npt.NDArray[np.float64] | None,
) -> Any: ...
