from typing import Any

import numpy as np
import numpy.typing as npt

REACH: Any
PANEL_COLUMNS: Any

class Scoring:
    def __init__(self, beta: float, gap_open: float, gap_extend: float, shift: float) -> None: ...

class Columns:
    def __init__(
        self,
        profile: npt.NDArray[np.float32] | None,
        pssm: npt.NDArray[np.float32] | None,
        start: npt.NDArray[np.int64] | None,
        stop: npt.NDArray[np.int64] | None,
        order: npt.NDArray[np.int64] | None,
    ) -> None: ...

def fill(
    scoring: Scoring | None,
    level: int,
    rows: Columns | None,
    lanes: Columns | None,
    first: npt.NDArray[np.int64] | None,
    stop: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def share(
    scoring: Scoring | None,
    rows: Columns | None,
    lanes: Columns | None,
    values: npt.NDArray[np.float64] | None,
    shares: npt.NDArray[np.float64] | None,
) -> None: ...
