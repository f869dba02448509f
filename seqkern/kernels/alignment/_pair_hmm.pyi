import numpy as np
import numpy.typing as npt

from seqkern.kernels._blocks import Records

class PairHMM:
    def __init__(
        self,
        match: npt.NDArray[np.float64] | None,
        score: npt.NDArray[np.float64] | None,
        open: float,
        extend: float,
        rows: int,
    ) -> None: ...

def fill(
    model: PairHMM | None,
    level: int,
    rows: Records | None,
    lanes: Records | None,
    stop: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
