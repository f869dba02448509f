from typing import Any

import numpy as np
import numpy.typing as npt

def lines(
    before: bytes,
    integers: npt.NDArray[np.int64] | None,
    texts: list[Any],
    which: npt.NDArray[np.int32] | None,
    numbers: npt.NDArray[np.float64] | None,
    more_integers: npt.NDArray[np.int64] | None = None,
    more_texts: list[Any] | None = None,
    which_more: npt.NDArray[np.int32] | None = None,
) -> Any: ...
