import numpy as np
import numpy.typing as npt

class SparseRows:
    def __init__(
        self,
        start: npt.NDArray[np.int64],
        feature: npt.NDArray[np.int32],
        count: npt.NDArray[np.int32] | None,
        real: npt.NDArray[np.float64] | None,
    ) -> None: ...
    @property
    def capsule(self) -> object: ...
    def squares(self, out: npt.NDArray[np.float64]) -> None: ...

class CombinedRows:
    def __init__(
        self,
        capsules: list[object],
        offset: npt.NDArray[np.int64],
        factor: npt.NDArray[np.float64],
        row: npt.NDArray[np.int64] | None,
        scale: npt.NDArray[np.float64] | None,
    ) -> None: ...
    @property
    def capsule(self) -> object: ...

def dots(capsule: object, weights: npt.NDArray[np.float64], out: npt.NDArray[np.float64]) -> None: ...
def add(capsule: object, coefficients: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> None: ...
