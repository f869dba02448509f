from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.kernels._blocks import Records

class Recursion:
    def __init__(
        self,
        single: npt.NDArray[np.float32] | None,
        twofold: npt.NDArray[np.float64] | None,
        even: bool,
        open: float,
        extend: float,
        reopen: float,
        wrap: float,
        one: npt.NDArray[np.float64] | None,
        narrow: Any,
        wide: Any,
    ) -> None: ...

class LogRecursion:
    def __init__(self, score: npt.NDArray[np.float64] | None, open: float, extend: float) -> None: ...

def fill(
    recursion: Any,
    level: int,
    single: bool,
    rows: Records | None,
    lanes: Records | None,
    stop: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def diagonal(
    recursion: Any, level: int, single: bool, everything: Records | None, out: npt.NDArray[np.float64] | None
) -> None: ...
def share(
    recursion: LogRecursion | None,
    rows: Records | None,
    lanes: Records | None,
    values: npt.NDArray[np.float64] | None,
    shares: npt.NDArray[np.float64] | None,
) -> None: ...
def fill_slopes(
    codes: npt.NDArray[np.uint8],
    start: npt.NDArray[np.int64],
    stop: npt.NDArray[np.int64],
    pair: npt.NDArray[np.float64],
    pair_slope: npt.NDArray[np.float64],
    open: float,
    extend: float,
    open_slope: float,
    extend_slope: float,
    first: int,
    last: int,
    out: npt.NDArray[np.float64],
) -> None: ...
