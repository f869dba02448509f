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
