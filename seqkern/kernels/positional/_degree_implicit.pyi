from typing import Any

import numpy as np
import numpy.typing as npt

class Sweep:
    def __init__(
        self,
        codes: npt.NDArray[np.uint8] | None,
        starts: npt.NDArray[np.int64] | None,
        length: Any,
        size: Any,
        degree: Any,
    ) -> None: ...
    def census(self, groups: npt.NDArray[np.int64] | None, entries: npt.NDArray[np.int64] | None) -> None: ...
    def count(self, depth: int, counts: npt.NDArray[np.int64] | None) -> Any: ...
    def fill(
        self,
        depth: int,
        gamma: npt.NDArray[np.float64] | None,
        sums: npt.NDArray[np.float64] | None,
        first_kind: npt.NDArray[np.int64] | None,
        kinds: npt.NDArray[np.int32] | None,
        cursor: npt.NDArray[np.int64] | None,
        node: npt.NDArray[np.int32] | None,
        kind: npt.NDArray[np.uint16] | None,
        factors: npt.NDArray[np.float64] | None,
        own: npt.NDArray[np.float64] | None,
    ) -> None: ...

def any_masked(
    codes: npt.NDArray[np.uint8] | None, starts: npt.NDArray[np.int64] | None, length: int, size: int
) -> Any: ...

class DegreeOperations:
    def __init__(self, arrays: Any, numbers: Any) -> None: ...
    @property
    def capsule(self) -> Any: ...

FIRST_CELL: Any

def level() -> Any: ...
def set_level(chosen: int) -> None: ...

class ClusterSearch:
    def __init__(
        self,
        codes: npt.NDArray[np.uint8] | None,
        starts: npt.NDArray[np.int64] | None,
        length: Any,
        size: Any,
        reach: Any,
        gamma: npt.NDArray[np.float64] | None,
        sums: npt.NDArray[np.float64] | None,
        most: Any,
    ) -> None: ...
    def census(
        self, depth: Any, cells: npt.NDArray[np.int64] | None, entries: npt.NDArray[np.int64] | None
    ) -> None: ...
    def count(self, depth: Any, counts: npt.NDArray[np.int64] | None) -> Any: ...
    def fill(
        self,
        depth: Any,
        cursor: npt.NDArray[np.int64] | None,
        cell: npt.NDArray[np.int32] | None,
        kinds: npt.NDArray[np.int32] | None,
        places: npt.NDArray[np.uint8] | None,
        factors: npt.NDArray[np.float64] | None,
        own: npt.NDArray[np.float64] | None,
    ) -> None: ...

class ShiftedOperations:
    def __init__(self, arrays: Any, numbers: Any) -> None: ...
    @property
    def capsule(self) -> Any: ...
