from typing import Any

import numpy as np
import numpy.typing as npt

def normalise(
    block: npt.NDArray[np.float64] | None,
    row_diagonal: npt.NDArray[np.float64] | None,
    col_diagonal: npt.NDArray[np.float64] | None,
) -> None: ...
def mirror(matrix: npt.NDArray[Any] | None, start: int, stop: int) -> None: ...
