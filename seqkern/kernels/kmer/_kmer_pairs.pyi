from typing import Any

import numpy as np
import numpy.typing as npt

def code_words(
    symbols: npt.NDArray[np.uint16],
    start: npt.NDArray[np.int64],
    k: int,
    size: int,
    complement: npt.NDArray[np.uint16],
    words: npt.NDArray[np.uint32],
    reverse: npt.NDArray[np.uint32],
    found: npt.NDArray[np.int64],
) -> None: ...
def code_pairs(
    words: npt.NDArray[np.uint32],
    reverse: npt.NDArray[np.uint32],
    start: npt.NDArray[np.int64],
    found: npt.NDArray[np.int64],
    k: int,
    distances: npt.NDArray[np.int64],
    space: int,
    codes: npt.NDArray[np.uint32 | np.uint64],
    positions: npt.NDArray[np.int32],
    pair_start: npt.NDArray[np.int64],
) -> None: ...
def tally_pairs(
    words: npt.NDArray[np.uint32],
    reverse: npt.NDArray[np.uint32],
    start: npt.NDArray[np.int64],
    k: int,
    distances: npt.NDArray[np.int64],
    space: int,
    row: int,
    tables: npt.NDArray[Any],
) -> None: ...
