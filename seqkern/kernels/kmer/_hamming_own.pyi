import numpy as np
import numpy.typing as npt

def own_pairs(
    letters: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    length: int,
    size: int,
    complement: npt.NDArray[np.uint8],
    level: int,
    passes: npt.NDArray[np.int64],
    totals: npt.NDArray[np.int64],
) -> None: ...
