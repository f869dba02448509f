from typing import Any

import numpy as np
import numpy.typing as npt

def smooth(level: int, tables: npt.NDArray[Any], m: int, size: int, planes: npt.NDArray[Any]) -> None: ...
def choose(tables: npt.NDArray[Any], order: npt.NDArray[np.int32], halved: int, folded: npt.NDArray[Any]) -> None: ...
