from typing import Any

import numpy as np
import numpy.typing as npt

PANEL: Any
BEYOND: Any

class Rule:
    def __init__(
        self,
        length: int,
        reach: int,
        powers: Any,
        weights: npt.NDArray[np.float64] | None,
        delta: float,
        whole: Any,
        narrow: bool,
    ) -> None: ...
    @property
    def buffer_size(self) -> Any: ...

def fill(
    rule: Rule | None,
    rows: npt.NDArray[np.uint16] | None,
    panels: npt.NDArray[np.uint16] | None,
    first: int,
    buffer: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
    level: int,
) -> None: ...
def diagonal(
    rule: Rule | None,
    rows: npt.NDArray[np.uint16] | None,
    panels: npt.NDArray[np.uint16] | None,
    buffer: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
    level: int,
) -> None: ...
def share(
    rule: Rule | None,
    rows: npt.NDArray[np.uint16] | None,
    others: npt.NDArray[np.uint16] | None,
    coefficients: npt.NDArray[np.float64] | None,
    buffer: npt.NDArray[np.float64] | None,
    shares: npt.NDArray[np.float64] | None,
) -> None: ...
