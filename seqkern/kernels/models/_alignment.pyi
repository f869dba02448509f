import numpy as np
import numpy.typing as npt

def align(
    first: npt.NDArray[np.float64],
    first_sequences: float,
    second: npt.NDArray[np.float64],
    second_sequences: float,
    score: npt.NDArray[np.float64],
    open: float,
    extend: float,
) -> npt.NDArray[np.uint8]: ...
