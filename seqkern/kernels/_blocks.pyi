import numpy as np
import numpy.typing as npt

def normalise(
    block: npt.NDArray[np.float64], row_diagonal: npt.NDArray[np.float64], col_diagonal: npt.NDArray[np.float64]
) -> None: ...
def mirror(matrix: npt.NDArray[np.float32 | np.float64], start: int, stop: int) -> None: ...
