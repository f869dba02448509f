from typing import Any

import numpy as np
import numpy.typing as npt

def transform_counts(level: int, tables: npt.NDArray[np.int16]) -> None: ...
def choose_transformed(
    tables: npt.NDArray[np.int16], order: npt.NDArray[np.int32], halved: int, chosen: npt.NDArray[np.int16]
) -> None: ...
def smooth(level: int, tables: npt.NDArray[Any], m: int, size: int, planes: npt.NDArray[Any]) -> None: ...
def choose_smoothed(
    tables: npt.NDArray[Any], order: npt.NDArray[np.int32], halved: int, folded: npt.NDArray[Any]
) -> None: ...

ROW: int
STRIP_COLUMNS: int
TILE_SIZE: int

Table = npt.NDArray[np.float64] | npt.NDArray[np.float32]

def transform_rows(table: Table, letters: int, first: int, last: int, level: int = ...) -> None: ...
def multiply_columns(
    table: Table,
    letters: int,
    width: int,
    first: int,
    last: int,
    eigenvalues: Table,
    strip: Table,
    level: int = ...,
) -> None: ...
def fold_strands(table: Table, letters: int, tile: Table) -> None: ...

LANE_COUNT: int

def highest_level() -> int: ...
def reflect(
    table: npt.NDArray[np.float64], size: int, high: int, low: int, strip: npt.NDArray[np.float64], level: int = ...
) -> None: ...
def scale(
    table: npt.NDArray[np.float64],
    size: int,
    place: int,
    first: npt.NDArray[np.float64],
    other: npt.NDArray[np.float64],
    out: npt.NDArray[np.float64],
) -> None: ...
def share(
    marks: npt.NDArray[np.uint8],
    windows: npt.NDArray[np.float64],
    pad: int,
    x: npt.NDArray[np.uint8],
    own: npt.NDArray[np.float64],
    length: int,
    least: int,
    shares: npt.NDArray[np.float64],
    unmatched: float,
    letters: npt.NDArray[np.float64],
    whole: npt.NDArray[np.float64],
    level: int = ...,
) -> None: ...
def word_sums(
    marks: npt.NDArray[np.uint8],
    windows: npt.NDArray[np.float64],
    words: npt.NDArray[np.uint8],
    least: int,
    values: npt.NDArray[np.float64],
    out: npt.NDArray[np.float64],
    level: int = ...,
) -> None: ...
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
    base: npt.NDArray[np.int64],
    cursor: npt.NDArray[np.int64],
    first: int,
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
    first: int,
    last: int,
    part_table: npt.NDArray[np.float64],
    sums: npt.NDArray[np.float64],
) -> None: ...
def d2s_sums(
    x: npt.NDArray[np.float64] | None,
    y: npt.NDArray[np.float64] | None,
    out: npt.NDArray[np.float64] | None,
    level: int,
) -> None: ...
