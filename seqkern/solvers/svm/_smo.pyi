from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

class RowCache:
    reads: int
    def __init__(self, read: Callable[[int], npt.NDArray[Any]], n: int, kept: int) -> None: ...

class Minimiser:
    def __init__(
        self,
        rows: RowCache,
        y: npt.NDArray[np.float64],
        linear: npt.NDArray[np.float64],
        cost: npt.NDArray[np.float64],
        diagonal: npt.NDArray[np.float64],
        order: npt.NDArray[np.int64],
        alpha: npt.NDArray[np.float64],
    ) -> None: ...
    def run(self, tol: float, max_iter: int, tell: Callable[[int], object] | None = None) -> tuple[bool, int]: ...
    def bias(self) -> float: ...
