import numpy as np
import numpy.typing as npt

def perceptron(
    K: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    order: npt.NDArray[np.int64],
    shift: float,
    updates: npt.NDArray[np.float64],
    late: npt.NDArray[np.float64],
    f: npt.NDArray[np.float64],
    max_epochs: int,
) -> tuple[int, int]: ...
def minover(
    K: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    order: npt.NDArray[np.int64],
    shift: float,
    updates: npt.NDArray[np.float64],
    f: npt.NDArray[np.float64],
    tol: float,
    max_iter: int,
) -> tuple[int, float, float]: ...
def adatron(
    K: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    order: npt.NDArray[np.int64],
    shift: float,
    eta: float,
    cost: float,
    X: npt.NDArray[np.float64],
    f: npt.NDArray[np.float64],
    tol: float,
    max_epochs: int,
) -> tuple[int, float]: ...
