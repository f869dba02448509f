import numpy as np
import numpy.typing as npt

def gather_sparse(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    value: npt.NDArray[np.int32 | np.float64],
    first: int,
    coefficients: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
) -> None: ...
def apply_sparse(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    value: npt.NDArray[np.int32 | np.float64],
    first: int,
    weights: npt.NDArray[np.float64],
    out: npt.NDArray[np.float64],
) -> None: ...
def gather_packed(
    packed: npt.NDArray[np.uint8 | np.int16 | np.int32],
    first: int,
    coefficients: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
) -> None: ...
def apply_packed(
    packed: npt.NDArray[np.uint8 | np.int16 | np.int32],
    first: int,
    weights: npt.NDArray[np.float64],
    out: npt.NDArray[np.float64],
) -> None: ...
def gather_panels(
    panels: npt.NDArray[np.float64], first: int, coefficients: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
) -> None: ...
def apply_panels(
    panels: npt.NDArray[np.float64], first: int, weights: npt.NDArray[np.float64], out: npt.NDArray[np.float64]
) -> None: ...
def spread(
    values: npt.NDArray[np.float64],
    starts: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    out: npt.NDArray[np.float64],
) -> None: ...
