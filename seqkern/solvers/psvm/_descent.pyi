from typing import Any

import numpy as np
import numpy.typing as npt

def simd_level() -> Any: ...
def violations(
    alpha: npt.NDArray[np.float64] | None,
    gradient: npt.NDArray[np.float64] | None,
    epsilon: float,
    cost: float,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def descend(
    Q: npt.NDArray[Any] | None,
    alpha: npt.NDArray[np.float64] | None,
    gradient: npt.NDArray[np.float64] | None,
    epsilon: float,
    cost: float,
    tolerance: float,
    limit: int,
    gains: npt.NDArray[np.float64] | None,
    level: int = ...,
) -> Any: ...
def gather(
    Q: npt.NDArray[Any] | None,
    which: npt.NDArray[np.int64] | None,
    damping: float,
    out: npt.NDArray[Any] | None,
) -> None: ...
