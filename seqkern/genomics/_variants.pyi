import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]

def snv_sums(
    codes: Codes,
    places: Places,
    alts: Codes,
    table: Floats,
    length: int,
    size: int,
    ref_sums: Floats,
    alt_sums: Floats,
    change: Floats,
    offset: Integers,
) -> None: ...
def window_sums(
    codes: Codes, starts: Places, stops: Places, table: Floats, length: int, size: int, sums: Floats
) -> None: ...
def kmer_rows(
    codes: Codes, starts: Places, stops: Places, length: int, ranks: Integers, size: int, rows: Integers
) -> None: ...
def row_sums(rows: Integers, starts: Places, stops: Places, table: Floats, sums: Floats) -> None: ...
def best_scores(
    codes: Codes,
    starts: Places,
    stops: Places,
    first: Places,
    last: Places,
    scores: Integers,
    best: Integers,
) -> None: ...
