import numpy as np
import numpy.typing as npt

PANEL_COLUMNS: int

def simd_level() -> int: ...
def product(
    values: npt.NDArray[np.float32] | None,
    panels: npt.NDArray[np.float32] | None,
    starts: npt.NDArray[np.int64] | None,
    tops: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float32] | None,
    level: int = ...,
) -> None: ...
def squares(values: npt.NDArray[np.float32] | None, out: npt.NDArray[np.float32] | None) -> None: ...
