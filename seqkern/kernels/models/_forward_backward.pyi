from typing import Any

import numpy as np
import numpy.typing as npt

LANES: Any

def level() -> Any: ...
def set_level(new: int) -> None: ...

class Recursions:
    def __init__(
        self,
        emit: npt.NDArray[np.float64] | None,
        steps: npt.NDArray[np.float64] | None,
        insert: float,
        ahead: npt.NDArray[np.float64] | None,
        behind: npt.NDArray[np.float64] | None,
        inverse: npt.NDArray[np.float64] | None,
        chances: npt.NDArray[np.float64] | None,
    ) -> None: ...
    def scores(
        self,
        codes: npt.NDArray[np.uint8] | None,
        start: npt.NDArray[np.int64] | None,
        stop: npt.NDArray[np.int64] | None,
        first: int,
        last: int,
        with_steps: bool,
        rows: int,
        out: npt.NDArray[np.float64] | None,
        odds: npt.NDArray[np.float64] | None,
    ) -> None: ...
    def posteriors(self, codes: npt.NDArray[np.uint8] | None, out: npt.NDArray[np.float64] | None) -> None: ...

def align(
    first: npt.NDArray[np.float64],
    first_sequences: float,
    second: npt.NDArray[np.float64],
    second_sequences: float,
    score: npt.NDArray[np.float64],
    open: float,
    extend: float,
) -> npt.NDArray[np.uint8]: ...
