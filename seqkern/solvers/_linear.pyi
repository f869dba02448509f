import numpy as np
import numpy.typing as npt

def decide(
    K: npt.NDArray[np.float64] | None,
    columns: npt.NDArray[np.int64] | None,
    means: npt.NDArray[np.float64] | None,
    weights: npt.NDArray[np.float64] | None,
    intercept: float,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
