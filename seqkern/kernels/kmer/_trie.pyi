from typing import Any

import numpy as np
import numpy.typing as npt

class Rule:
    arrays: tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]
    def __init__(
        self,
        length: int,
        k: int,
        size: int,
        costs: npt.NDArray[np.int64],
        letters: npt.NDArray[np.uint8],
        least: npt.NDArray[np.int64],
        limit: int,
        places: bool = False,
    ) -> None: ...

def guess(rule: Rule, words: npt.NDArray[np.uint8], ways: int) -> float: ...
def count(rule: Rule, words: npt.NDArray[np.uint8], numbers: npt.NDArray[np.int64]) -> None: ...
def write_lists(rule: Rule, words: npt.NDArray[np.uint8], features: npt.NDArray[np.uint64]) -> None: ...
def count_lists(
    start: npt.NDArray[np.int64],
    word: npt.NDArray[np.int32],
    times: npt.NDArray[np.int32],
    list_start: npt.NDArray[np.int64],
    listed: npt.NDArray[np.int32],
    slot: npt.NDArray[np.int32],
    entry_start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
) -> int: ...
def tally_lists(
    start: npt.NDArray[np.int64],
    word: npt.NDArray[np.int32],
    times: npt.NDArray[np.int32],
    list_start: npt.NDArray[np.int64],
    listed: npt.NDArray[np.int32],
    row: int,
    tables: npt.NDArray[Any],
) -> None: ...
def square(
    rule: Rule,
    letters: npt.NDArray[np.uint8],
    record: npt.NDArray[np.int32],
    times: npt.NDArray[np.int32],
    presence: bool,
    squares: npt.NDArray[np.int64],
    rounded: npt.NDArray[np.float64],
) -> None: ...
def multiply(
    rule: Rule,
    col_rule: Rule,
    row_letters: npt.NDArray[np.uint8],
    row_record: npt.NDArray[np.int32],
    row_times: npt.NDArray[np.int32],
    row_start: npt.NDArray[np.int64],
    col_letters: npt.NDArray[np.uint8],
    col_record: npt.NDArray[np.int32],
    col_times: npt.NDArray[np.int32],
    col_start: npt.NDArray[np.int64],
    presence: bool,
    row: int,
    first: int,
    last: int,
    factor: int,
    upper: bool,
    sums: npt.NDArray[np.int32 | np.int64],
) -> None: ...
def share(
    rule: Rule,
    letters: npt.NDArray[np.uint8],
    window_start: npt.NDArray[np.int64],
    word: npt.NDArray[np.int32],
    place: npt.NDArray[np.int64],
    reverse: npt.NDArray[np.uint8],
    list_start: npt.NDArray[np.int64],
    listed: npt.NDArray[np.int32],
    feature_letters: npt.NDArray[np.uint8],
    values: npt.NDArray[np.float64],
    presence: bool,
    slot: npt.NDArray[np.int32],
    ways: npt.NDArray[np.float64],
    out: npt.NDArray[np.float64],
) -> None: ...
