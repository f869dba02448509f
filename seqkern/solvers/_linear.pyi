from typing import Any

import numpy as np
import numpy.typing as npt

def decide(
    K: npt.NDArray[np.float64] | None,
    columns: npt.NDArray[np.int64] | None,
    means: npt.NDArray[np.float64] | None,
    weights: npt.NDArray[np.float64] | None,
    intercept: float,
    out: npt.NDArray[np.float64] | None,
) -> None: ...
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
def shuffle(order: npt.NDArray[np.int64] | None, count: int, generator: npt.NDArray[np.uint64] | None) -> None: ...
def epoch(
    capsule: Any,
    squares: npt.NDArray[np.float64] | None,
    means: npt.NDArray[np.float64] | None,
    mean: float,
    y: npt.NDArray[np.float64] | None,
    cost: npt.NDArray[np.float64] | None,
    sigma: float,
    alpha: npt.NDArray[np.float64] | None,
    weights: npt.NDArray[np.float64] | None,
    gradient: npt.NDArray[np.float64] | None,
    order: npt.NDArray[np.int64] | None,
    active: int,
    upper: float,
    lower: float,
    sums: npt.NDArray[np.float64] | None,
) -> Any: ...
