from typing import Any

import numpy as np
import numpy.typing as npt

NODE_BYTES: Any
ROOT_BYTES: Any
TASK_BYTES: Any
PLACEMENT: Any
TRIE: Any

def highest_level() -> Any: ...
def table_entries(bits: int, prefix: int) -> Any: ...

class Letters:
    n: int
    bits: int
    size: int
    outside: int
    def __init__(self, codes: npt.NDArray[np.uint8] | None, size: int, bits: int) -> None: ...

class Support:
    def __init__(
        self, letters: Letters | None, coefficients: npt.NDArray[np.float64] | None, length: int, prefix: int
    ) -> None: ...

def fill_table(
    support: Support | None,
    placements: npt.NDArray[np.uint8] | None,
    weights: npt.NDArray[np.float64] | None,
    table: npt.NDArray[np.float64] | None,
) -> None: ...
def fill_tail(
    support: Support | None, tables: npt.NDArray[np.float64] | None, tail: npt.NDArray[np.float64] | None
) -> None: ...
def make_tries(support: Support | None, places: Any, degree: int) -> Any: ...

class Tables:
    def __init__(
        self,
        bits: int,
        prefix: int,
        tables: npt.NDArray[np.float64] | None,
        tail: npt.NDArray[np.float64] | None,
        cumulative: npt.NDArray[np.float64] | None,
        tries: Any,
        placements: Any,
    ) -> None: ...

def scan(
    tables: Tables | None,
    letters: Letters | None,
    starts: npt.NDArray[np.int64] | None,
    out: npt.NDArray[np.float64] | None,
    level: int = ...,
) -> None: ...
