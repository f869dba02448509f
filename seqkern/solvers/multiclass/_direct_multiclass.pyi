from typing import Any

import numpy as np
import numpy.typing as npt

def descend(
    K: npt.NDArray[np.float64] | None,
    y: npt.NDArray[np.int64] | None,
    cost: float,
    sigma: float,
    alpha: npt.NDArray[np.float64] | None,
    outputs: npt.NDArray[np.float64] | None,
    own: npt.NDArray[np.float64] | None,
    gains: npt.NDArray[np.float64] | None,
    changes: npt.NDArray[np.float64] | None,
    tol: float,
    limit: int,
) -> Any: ...
def simd_level() -> Any: ...
def change_outputs(
    K: npt.NDArray[np.float64] | None,
    sigma: float,
    changes: npt.NDArray[np.float64] | None,
    outputs: npt.NDArray[np.float64] | None,
    level: int = ...,
) -> None: ...
