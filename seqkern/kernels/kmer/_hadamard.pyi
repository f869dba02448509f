import numpy as np
import numpy.typing as npt

def transform(level: int, tables: npt.NDArray[np.int16]) -> None: ...
def choose(
    tables: npt.NDArray[np.int16], order: npt.NDArray[np.int32], halved: int, chosen: npt.NDArray[np.int16]
) -> None: ...
