from typing import Any

import numpy as np
import numpy.typing as npt

TOLERANCE_PADDING: Any
GROUP_NUMBERS: Any
ROW_PADDING: Any
PANEL_COLUMNS: Any
SHORT_LENGTH: Any

class Rule:
    def __init__(
        self, longest: int, weight: npt.NDArray[np.float64] | None, tolerance: npt.NDArray[np.float64] | None
    ) -> None: ...

class Records:
    def __init__(
        self,
        codes: npt.NDArray[np.uint8] | None,
        start: npt.NDArray[np.int64] | None,
        stop: npt.NDArray[np.int64] | None,
    ) -> None: ...

def fill(
    rule: Rule | None,
    level: int,
    rows: Records | None,
    cols: Records | None,
    upper: bool,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def diagonal(
    rule: Rule | None, level: int, everything: Records | None, out: npt.NDArray[np.float64] | None
) -> None: ...
def share(
    rule: Rule | None,
    rows: Records | None,
    others: Records | None,
    coefficients: npt.NDArray[np.float64] | None,
    shares: npt.NDArray[np.float64] | None,
) -> None: ...
def fill_slopes(
    codes: npt.NDArray[np.uint8],
    start: npt.NDArray[np.int64],
    stop: npt.NDArray[np.int64],
    longest: int,
    weight: npt.NDArray[np.float64],
    weight_slope: npt.NDArray[np.float64],
    tolerance: npt.NDArray[np.float64],
    tolerance_slope: npt.NDArray[np.float64],
    first: int,
    last: int,
    out: npt.NDArray[np.float64],
) -> None: ...
