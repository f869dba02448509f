from typing import Any

import numpy as np
import numpy.typing as npt

def count_windows(
    letters: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    k: int,
    size: int,
    stretches: bool,
    number: npt.NDArray[np.int64],
) -> None: ...
def code_windows(
    letters: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    k: int,
    size: int,
    positions: npt.NDArray[np.int64],
    complement: npt.NDArray[np.uint8],
    canonical: bool,
    both: bool,
    offset: int,
    codes: npt.NDArray[np.uint32 | np.uint64],
) -> None: ...
def code_ends(
    letters: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    k: int,
    size: int,
    pattern: npt.NDArray[np.int64],
    shifts: int,
    complement: npt.NDArray[np.uint8],
    step: int,
    offset: int,
    codes: npt.NDArray[np.uint32 | np.uint64],
) -> None: ...
def radix_sort(
    codes: npt.NDArray[np.uint32 | np.uint64],
    places: npt.NDArray[np.int32],
    spare_codes: npt.NDArray[np.uint32 | np.uint64],
    spare_places: npt.NDArray[np.int32],
    cursor: npt.NDArray[np.int64],
    digit_bits: int,
    passes: int,
) -> None: ...
def rank_sorted(
    codes: npt.NDArray[np.uint32 | np.uint64], places: npt.NDArray[np.int32], ranks: npt.NDArray[np.uint32]
) -> int: ...
def count_rows(
    codes: npt.NDArray[np.uint32],
    start: npt.NDArray[np.int64],
    slot: npt.NDArray[np.int32],
    entry_start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    weight: npt.NDArray[np.int32] | None = None,
) -> int: ...
def tally(codes: npt.NDArray[np.uint32], start: npt.NDArray[np.int64], row: int, tables: npt.NDArray[Any]) -> None: ...
def list_neighbours(
    codes: npt.NDArray[np.uint32 | np.uint64], k: int, m: int, size: int, neighbours: npt.NDArray[np.uint32 | np.uint64]
) -> None: ...
def window_sums(
    letters: npt.NDArray[np.uint8],
    size: int,
    k: int,
    length: int,
    table: npt.NDArray[np.int64],
    tail: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    sums: npt.NDArray[np.int64],
) -> None: ...
