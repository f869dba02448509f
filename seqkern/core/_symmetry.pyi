from typing import Any

import numpy as np
import numpy.typing as npt

def is_symmetric(matrix: npt.NDArray[np.float64] | None) -> Any: ...
