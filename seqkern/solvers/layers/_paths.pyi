import numpy as np
import numpy.typing as npt

def best_paths(
    E: npt.NDArray[np.float64],
    T: npt.NDArray[np.float64],
    starts: npt.NDArray[np.int64],
    path: npt.NDArray[np.int64],
) -> None: ...
def best_scores(
    E: npt.NDArray[np.float64],
    T: npt.NDArray[np.float64],
    starts: npt.NDArray[np.int64],
    out: npt.NDArray[np.float64],
) -> None: ...
def log_shares(
    E: npt.NDArray[np.float64],
    T: npt.NDArray[np.float64],
    starts: npt.NDArray[np.int64],
    out: npt.NDArray[np.float64],
    counts: npt.NDArray[np.float64] | None = None,
) -> float: ...
def add_steps(path: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], counts: npt.NDArray[np.float64]) -> None: ...
