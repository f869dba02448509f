from typing import Any

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.float64] | npt.NDArray[np.float32]

def count_codes(
    letters: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    length: int,
    size: int,
    folded: int,
    bits: int,
    window_codes: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
) -> None: ...
def list_codes(
    letters: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    length: int,
    size: int,
    folded: int,
    bits: int,
    window_codes: npt.NDArray[np.int64],
    cursor: npt.NDArray[np.int64],
    given: npt.NDArray[np.uint8],
    codes: npt.NDArray[Any],
    weights: npt.NDArray[np.uint8],
    ends: npt.NDArray[np.uint32],
) -> None: ...
def collect(
    codes: npt.NDArray[Any],
    weights: npt.NDArray[np.uint8],
    ends: npt.NDArray[np.uint32],
    base: npt.NDArray[np.int64],
    folded: int,
    bits: int,
    space: int,
    rows: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    first: int,
    last: int,
    part_table: npt.NDArray[np.float64],
    table: Table,
) -> None: ...
def dots(
    codes: npt.NDArray[Any],
    weights: npt.NDArray[np.uint8],
    ends: npt.NDArray[np.uint32],
    base: npt.NDArray[np.int64],
    folded: int,
    bits: int,
    space: int,
    rows: npt.NDArray[np.int64],
    table: Table,
    part_table: npt.NDArray[np.float64],
    sums: npt.NDArray[np.float64],
) -> None: ...
