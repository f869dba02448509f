import numpy as np
import numpy.typing as npt

def sums(
    x: npt.NDArray[np.float64] | None,
    y: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
    level: int,
) -> None: ...
