from typing import Any

import numpy as np
import numpy.typing as npt

def measure(
    level: int, tables: npt.NDArray[Any], totals: npt.NDArray[np.int64], squares: npt.NDArray[np.int64]
) -> int: ...
def pack(level: int, tables: npt.NDArray[Any], kind: int, packed: npt.NDArray[np.uint8]) -> None: ...
