from typing import Any

import numpy as np
import numpy.typing as npt

def counts_vector_bits() -> Any: ...
def count_vector_bits(use: bool) -> None: ...
def pack(
    codes: npt.NDArray[np.uint8] | None,
    starts: npt.NDArray[np.int64] | None,
    length: int,
    size: int,
    words: int,
    planes: int,
    packed: npt.NDArray[np.uint64] | None,
) -> None: ...

class DegreeSum:
    def __init__(
        self,
        words: int,
        planes: int,
        degree: int,
        shift: int,
        unchecked: int,
        divisor: float,
        length_weights: npt.NDArray[np.float64] | None,
        shift_weights: npt.NDArray[np.float64] | None,
        filters: npt.NDArray[np.uint64] | None,
        starts: npt.NDArray[np.float64] | None,
    ) -> None: ...
    @property
    def counts(self) -> bool: ...
    @property
    def divisor(self) -> float: ...
    def fill(
        self,
        level: int,
        rows: npt.NDArray[np.uint64] | None,
        row: int,
        cols: npt.NDArray[np.uint64] | None,
        col: int,
        row_diagonal: npt.NDArray[np.float64] | None,
        col_diagonal: npt.NDArray[np.float64] | None,
        out: npt.NDArray[np.float64] | None,
        look: bool = True,
        table: npt.NDArray[np.float64] | None = None,
    ) -> float: ...
    def fill_single(
        self,
        level: int,
        rows: npt.NDArray[np.uint64] | None,
        row: int,
        cols: npt.NDArray[np.uint64] | None,
        col: int,
        table: npt.NDArray[np.float32],
        out: npt.NDArray[np.float32] | None,
    ) -> None: ...
    def squares(
        self, level: int, packed: npt.NDArray[np.uint64] | None, first: int, out: npt.NDArray[np.float64] | None
    ) -> None: ...
    def note(
        self,
        packed: npt.NDArray[np.uint64] | None,
        record: int,
        others: npt.NDArray[np.uint64] | None,
        coefficients: npt.NDArray[np.float64] | None,
        places: npt.NDArray[np.float64] | None,
    ) -> None: ...

def share(
    places: npt.NDArray[np.float64] | None,
    length_weights: npt.NDArray[np.float64] | None,
    shares: npt.NDArray[np.float64] | None,
) -> None: ...
