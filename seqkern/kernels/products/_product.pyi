from typing import Any

import numpy as np
import numpy.typing as npt

SMALL: int
BYTES: int
SIGNED: int
WORDS: int
INTEGERS: int

def level() -> int: ...
def set_level(level: int) -> None: ...
def set_vnni(used: bool) -> bool: ...
def row_squares(
    start: npt.NDArray[np.int64], count: npt.NDArray[np.int32], squares: npt.NDArray[np.int64]
) -> float: ...
def relabel(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    labels: npt.NDArray[np.int32],
) -> int: ...
def list_lengths(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    tile: int,
    lengths: npt.NDArray[np.int64],
) -> None: ...
def make_postings(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    tile: int,
    ends: npt.NDArray[np.int64],
    cursor: npt.NDArray[np.int64],
    postings: npt.NDArray[np.uint32],
    enter: npt.NDArray[np.int32],
    rest: npt.NDArray[np.int32],
) -> None: ...
def enter_lists(
    feature: npt.NDArray[np.int32],
    bounds: npt.NDArray[np.int64],
    enter: npt.NDArray[np.int32],
    rest: npt.NDArray[np.int32],
) -> None: ...
def walk(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    enter: npt.NDArray[np.int32],
    rest: npt.NDArray[np.int32],
    same: bool,
    bounds: npt.NDArray[np.int64],
    postings: npt.NDArray[np.uint32],
    n_features: int,
    tile: int,
    row: int,
    first: int,
    last: int,
    weight: int,
    upper: bool,
    sums: npt.NDArray[np.int32 | np.int64],
) -> None: ...
def multiply(
    rows: npt.NDArray[np.uint8],
    cols: npt.NDArray[np.uint8],
    totals: npt.NDArray[np.int64],
    col_totals: npt.NDArray[np.int64],
    mode: int,
    safe: int,
    row: int,
    first: int,
    last: int,
    weight: int,
    upper: bool,
    sums: npt.NDArray[np.int32 | np.int64],
) -> None: ...
def store(
    sums: npt.NDArray[np.int32 | np.int64 | np.float64],
    values: npt.NDArray[np.float64],
    divisor: int,
    weight: float,
    add: bool,
) -> None: ...
def finish(
    sums: npt.NDArray[np.int32 | np.int64 | np.float64],
    values: npt.NDArray[np.float64],
    divisor: int,
    weight: float,
    add: bool,
    scale: float,
    row_diagonal: npt.NDArray[np.float64],
    col_diagonal: npt.NDArray[np.float64],
    upper: bool,
    search: bool,
) -> float: ...

TILE_COLUMNS: int
TILE_WORDS: int

def count_bitmaps(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    needed: npt.NDArray[np.uint8],
) -> None: ...
def set_bitmaps(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    bounds: npt.NDArray[np.int32],
    n_features: int,
    bitmaps: npt.NDArray[np.uint64],
) -> None: ...
def add_products(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    bounds: npt.NDArray[np.int32],
    bitmaps: npt.NDArray[np.uint64],
    n_features: int,
    planes: int,
    row: int,
    first: int,
    last: int,
    weight: int,
    upper: bool,
    sums: npt.NDArray[np.int32 | np.int64],
    level: int,
) -> None: ...
def measure(
    level: int, tables: npt.NDArray[Any], totals: npt.NDArray[np.int64], squares: npt.NDArray[np.int64]
) -> int: ...
def pack(level: int, tables: npt.NDArray[Any], kind: int, packed: npt.NDArray[np.uint8]) -> None: ...
def multiply_real(
    rows: npt.NDArray[np.float64],
    cols: npt.NDArray[np.float64],
    row: int,
    first: int,
    last: int,
    upper: bool,
    sums: npt.NDArray[np.float64],
    level: int = ...,
) -> None: ...
def walk_real(
    start: npt.NDArray[np.int64],
    feature: npt.NDArray[np.int32],
    value: npt.NDArray[np.float64],
    bounds: npt.NDArray[np.int64],
    post_rows: npt.NDArray[np.int32],
    post_values: npt.NDArray[np.float64],
    row: int,
    first: int,
    last: int,
    upper: bool,
    sums: npt.NDArray[np.float64],
) -> None: ...
def real_row_squares(
    start: npt.NDArray[np.int64], value: npt.NDArray[np.float64], squares: npt.NDArray[np.float64]
) -> None: ...
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
