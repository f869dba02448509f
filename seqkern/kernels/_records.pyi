import numpy as np
import numpy.typing as npt

class Records:
    def __init__(
        self,
        codes: npt.NDArray[np.uint8],
        start: npt.NDArray[np.int64],
        stop: npt.NDArray[np.int64],
        order: npt.NDArray[np.int64],
    ) -> None: ...
