from typing import Any

import numpy as np
import numpy.typing as npt

def highest_level() -> Any: ...
def is_symmetric(matrix: npt.NDArray[np.float64] | None, level: int = ...) -> Any: ...
def weighted_sums(
    matrix: npt.NDArray[np.float64] | None,
    weights: npt.NDArray[np.float64] | None,
    by_row: npt.NDArray[np.float64] | None,
    by_column: npt.NDArray[np.float64] | None,
    level: int = ...,
) -> float: ...
