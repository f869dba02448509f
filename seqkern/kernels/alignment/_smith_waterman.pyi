from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.kernels._blocks import Records

class Scoring:
    def __init__(
        self,
        score: npt.NDArray[np.int32] | None,
        table: npt.NDArray[np.int8] | None,
        open: int,
        extend: int,
        largest: int,
    ) -> None: ...

def own_scores(
    every: Records | None,
    own: npt.NDArray[np.int64] | None,
    fair: npt.NDArray[np.uint8] | None,
    open: int,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def lanes(level: int, width: int) -> Any: ...
def fill(
    level: int,
    width: int,
    scoring: Scoring | None,
    rows: Records | None,
    lanes: Records | None,
    reach: npt.NDArray[np.int64] | None,
    bounds: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def correct(
    level: int,
    width: int,
    scoring: Scoring | None,
    rows: Records | None,
    lanes: Records | None,
    reach: npt.NDArray[np.int64] | None,
    bounds: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
def share(
    scoring: Scoring | None,
    rows: Records | None,
    lanes: Records | None,
    weights: npt.NDArray[np.float64] | None,
    shares: npt.NDArray[np.float64] | None,
) -> None: ...
