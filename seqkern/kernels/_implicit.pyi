from typing import Any

import numpy as np
import numpy.typing as npt

class SparseRows:
    def __init__(
        self,
        start: npt.NDArray[np.int64] | None,
        feature: npt.NDArray[np.int32] | None,
        count: npt.NDArray[np.int32] | None,
        real: npt.NDArray[np.float64] | None,
    ) -> None: ...
    @property
    def capsule(self) -> Any: ...
    def squares(self, out: npt.NDArray[np.float64] | None) -> None: ...

class CombinedRows:
    def __init__(
        self,
        capsules: list[Any],
        offset: npt.NDArray[np.int64] | None,
        factor: npt.NDArray[np.float64] | None,
        row: npt.NDArray[np.int64] | None,
        scale: npt.NDArray[np.float64] | None,
    ) -> None: ...
    @property
    def capsule(self) -> Any: ...

def dots(capsule: Any, weights: npt.NDArray[np.float64] | None, out: npt.NDArray[np.float64] | None) -> None: ...
def add(
    capsule: Any, coefficients: npt.NDArray[np.float64] | None, weights: npt.NDArray[np.float64] | None
) -> None: ...
