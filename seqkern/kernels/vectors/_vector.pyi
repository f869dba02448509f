import numpy as np
import numpy.typing as npt

def products(
    x: npt.NDArray[np.float64] | None,
    y: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
    level: int = ...,
) -> None: ...
def squares(x: npt.NDArray[np.float64] | None, out: npt.NDArray[np.float64] | None) -> None: ...
def polynomial(block: npt.NDArray[np.float64] | None, gamma: float, coef0: float, degree: int) -> None: ...
def sigmoid(block: npt.NDArray[np.float64] | None, gamma: float, coef0: float) -> None: ...
def radial(
    block: npt.NDArray[np.float64] | None,
    row_diagonal: npt.NDArray[np.float64] | None,
    col_diagonal: npt.NDArray[np.float64] | None,
    gamma: float,
) -> None: ...

PANEL_COLUMNS: int

def simd_level() -> int: ...
def single_precision_product(
    values: npt.NDArray[np.float32] | None,
    panels: npt.NDArray[np.float32] | None,
    starts: npt.NDArray[np.int64] | None,
    tops: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float32] | None,
    level: int = ...,
) -> None: ...
def single_precision_squares(values: npt.NDArray[np.float32] | None, out: npt.NDArray[np.float32] | None) -> None: ...
