from typing import Any

import numpy as np
import numpy.typing as npt

LANES: Any
MATRIX_LANES: Any

class Banks:
    beyond: int

class PatternBanks(Banks):
    def __init__(self, groups: list[Any], chains: list[Any]) -> None: ...

class MatrixBanks(Banks):
    def __init__(self, banks: list[Any]) -> None: ...

def scan(
    banks: Banks | None,
    codes: npt.NDArray[np.uint8] | None,
    starts: npt.NDArray[np.int64] | None,
    stops: npt.NDArray[np.int64] | None,
    size: int,
    complement: Any,
    one_strand: npt.NDArray[np.uint8] | None,
    counted: bool,
) -> Any: ...
def match_lengths(
    accepts: npt.NDArray[np.uint8] | None,
    optional: npt.NDArray[np.uint8] | None,
    at_end: bool,
    text: npt.NDArray[np.uint8] | None,
    starts: npt.NDArray[np.int64] | None,
) -> Any: ...
