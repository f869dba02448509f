import numpy as np
import numpy.typing as npt

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
